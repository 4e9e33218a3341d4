// Strategy `skyline`. No order is best everywhere, and a pass is cheap: so several are tried, those
// that reach the bound most often first. Each stops once it is as high as the best so far.
#include "base/alloc.h"
#include "base/diag.h"
#include "place/greedy/orders.h"
#include "place/problem.h"
#include "place/skyline/skyline.h"

static const stowi_place_order orders_to_try[] = {
    STOWI_PLACE_ORDER_TWA,       STOWI_PLACE_ORDER_BIRTH_WA, STOWI_PLACE_ORDER_T_BIRTH_W,
    STOWI_PLACE_ORDER_T_DEATH_W, STOWI_PLACE_ORDER_TWL,      STOWI_PLACE_ORDER_DEATH_TW,
    STOWI_PLACE_ORDER_ATW,       STOWI_PLACE_ORDER_BIRTH_AT, STOWI_PLACE_ORDER_DEATH_AT,
    STOWI_PLACE_ORDER_TAW,       STOWI_PLACE_ORDER_DEATH_ZW, STOWI_PLACE_ORDER_WAT};
#define ORDER_COUNT (sizeof(orders_to_try) / sizeof(orders_to_try[0]))

#define CAREFUL_STEPS 65536  // steps of a pass with care for windows and fixed buffers,
#define CAREFUL_SHARE 32     // plus this many for each buffer: no pass lasts long
#define WINDOWED_SHARE 4     // as many parts of that with windows: first fit does better there

typedef struct passes {
  stowi_place_quest* quest;
  stowi_place_sections sections;
  stowi_place_orders orders;
  stowi_place_skyline_state* skyline;
  uint32_t* order;
  uint64_t* offsets;
} passes;

static stow_status prepare(passes* p) {
  stowi_place_quest* quest = p->quest;
  size_t count = quest->problem->buffers.count;
  p->order = STOWI_ARRAY(quest->allocator, uint32_t, count);
  p->offsets = STOWI_ARRAY(quest->allocator, uint64_t, count);
  STOW_TRY(stowi_need_memory(
      p->order != NULL && p->offsets != NULL &&
          stowi_place_sections_make(quest->problem, quest->allocator, &p->sections) == STOW_OK,
      quest->diag));
  STOW_TRY(stowi_place_orders_make(quest, &p->sections, &p->orders));
  return stowi_place_skyline_create(quest, &p->sections, &p->skyline);
}

static void finish(passes* p) {
  stow_allocator allocator = p->quest->allocator;
  size_t count = p->quest->problem->buffers.count;
  stowi_place_skyline_destroy(p->skyline);
  stowi_place_orders_free(&p->orders);
  stowi_place_sections_free(&p->sections, p->quest->problem, allocator);
  STOWI_ARRAY_FREE(allocator, p->offsets, count);
  STOWI_ARRAY_FREE(allocator, p->order, count);
}

static void offer(passes* p, const stowi_place_skyline_pass* pass) {
  if (pass->height != UINT64_MAX) {
    stowi_place_quest_offer(p->quest, p->offsets, pass->height);
  }
  stowi_place_quest_spend(p->quest, pass->nodes);
}

// False if the pass was too long, as the next ones would be. Without windows all are tried.
static bool run_carefully(passes* p, stowi_place_skyline_pass* pass) {
  bool windowed = p->sections.first != NULL;
  uint64_t steps = CAREFUL_STEPS + CAREFUL_SHARE * (uint64_t)pass->count;
  pass->too_high = p->quest->height;
  pass->max_steps = windowed ? steps / WINDOWED_SHARE : steps;
  stowi_place_skyline_lowest(p->skyline, pass);
  offer(p, pass);
  return !windowed || pass->steps < pass->max_steps;
}

static stow_status run(passes* p) {
  bool careful = !stowi_place_skyline_is_plain(p->skyline);
  for (size_t i = 0; i < ORDER_COUNT && (i == 0 || !stowi_place_quest_done(p->quest)); ++i) {
    stowi_place_skyline_pass pass = {.order = p->order, .offsets = p->offsets};
    STOW_TRY(stowi_place_orders_fill(&p->orders, orders_to_try[i], p->order, &pass.count));
    pass.too_high = p->quest->height;
    pass.max_steps = UINT64_MAX;
    stowi_place_skyline_quick(p->skyline, &pass);
    offer(p, &pass);
    if (careful && !stowi_place_quest_done(p->quest)) {
      careful = run_carefully(p, &pass);
    }
  }
  return STOW_OK;
}

stow_status stowi_place_skyline_work(stowi_place_quest* quest) {
  passes p = {.quest = quest, .orders = {.quest = quest}};
  quest->phase = "skyline";
  stow_status status = prepare(&p);
  if (status == STOW_OK) {
    status = run(&p);
  }
  finish(&p);
  return status;
}
