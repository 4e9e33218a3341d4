// Strategy `portfolio`. Which order suits a problem shows only when it is tried: large buffers
// first is a good rule, and if a few moments are congested, those live then first is a better one.
// Unlike skyline passes these fill gaps, at the price of a search for each buffer: O(n log n) a
// pass with benign lifetimes, up to O(n²) otherwise, and more for best fit. So the sizes of what is
// tried are limited.
#include "base/alloc.h"
#include "base/diag.h"
#include "place/greedy/greedy.h"
#include "place/problem.h"

#define ANY_COUNT SIZE_MAX
#define SOME_COUNT 65536
#define FEW_COUNT 16384

typedef struct entry {
  stowi_place_order order;
  stowi_place_pick pick;
  size_t max_count;  // for problems of at most this many buffers
} entry;

static const entry entries[] = {
    {STOWI_PLACE_ORDER_SIZE, stowi_place_pick_lowest, ANY_COUNT},
    {STOWI_PLACE_ORDER_TZL, stowi_place_pick_lowest, SOME_COUNT},
    {STOWI_PLACE_ORDER_T_SIZE_DEATH, stowi_place_pick_lowest, SOME_COUNT},
    {STOWI_PLACE_ORDER_TZW, stowi_place_pick_lowest, SOME_COUNT},
    {STOWI_PLACE_ORDER_ZWT, stowi_place_pick_lowest, SOME_COUNT},
    {STOWI_PLACE_ORDER_T_BIRTH_W, stowi_place_pick_lowest, SOME_COUNT},
    {STOWI_PLACE_ORDER_WAT, stowi_place_pick_lowest, SOME_COUNT},
    {STOWI_PLACE_ORDER_TWA, stowi_place_pick_lowest, SOME_COUNT},
    {STOWI_PLACE_ORDER_TAW, stowi_place_pick_lowest, SOME_COUNT},
    {STOWI_PLACE_ORDER_ATW, stowi_place_pick_lowest, SOME_COUNT},
    {STOWI_PLACE_ORDER_BIRTH_WA, stowi_place_pick_lowest, SOME_COUNT},
    {STOWI_PLACE_ORDER_SIZE, stowi_place_pick_tightest, FEW_COUNT},
    {STOWI_PLACE_ORDER_TZL, stowi_place_pick_tightest, FEW_COUNT},
    {STOWI_PLACE_ORDER_ZWT, stowi_place_pick_tightest, FEW_COUNT},
    {STOWI_PLACE_ORDER_BIRTH, stowi_place_pick_tightest, FEW_COUNT},
};
#define ENTRY_COUNT (sizeof(entries) / sizeof(entries[0]))

struct stowi_place_portfolio {
  stowi_place_quest* quest;
  stowi_place_sections sections;
  stowi_place_orders orders;
  uint32_t* buffers;
  size_t next;  // entry
};

stow_status stowi_place_portfolio_create(stowi_place_quest* quest,
                                         stowi_place_portfolio** out_portfolio) {
  stowi_place_portfolio* p = STOWI_NEW(quest->allocator, stowi_place_portfolio);
  *out_portfolio = NULL;
  STOW_TRY(stowi_need_memory(p != NULL, quest->diag));
  p->quest = quest;
  p->orders.quest = quest;
  p->buffers = STOWI_ARRAY(quest->allocator, uint32_t, quest->problem->buffers.count);
  stow_status status = STOW_ERR_OUT_OF_MEMORY;
  if (p->buffers != NULL) {
    status = stowi_place_sections_make(quest->problem, quest->allocator, &p->sections);
  }
  if (status != STOW_OK) {
    stowi_fail_memory(quest->diag);
  } else {
    status = stowi_place_orders_make(quest, &p->sections, &p->orders);
  }
  if (status != STOW_OK) {
    stowi_place_portfolio_destroy(p);
    return status;
  }
  *out_portfolio = p;
  return STOW_OK;
}

void stowi_place_portfolio_destroy(stowi_place_portfolio* p) {
  if (p != NULL) {
    stow_allocator allocator = p->quest->allocator;
    stowi_place_orders_free(&p->orders);
    stowi_place_sections_free(&p->sections, p->quest->problem, allocator);
    STOWI_ARRAY_FREE(allocator, p->buffers, p->quest->problem->buffers.count);
    STOWI_DELETE(allocator, p);
  }
}

stow_status stowi_place_portfolio_play(void* state, bool* out_idle) {
  stowi_place_portfolio* p = state;
  stowi_place_quest* quest = p->quest;
  quest->phase = "portfolio";
  while (p->next < ENTRY_COUNT && (p->next == 0 || !stowi_place_quest_turn_over(quest))) {
    const entry* e = &entries[p->next++];
    if (quest->problem->buffers.count <= e->max_count) {
      size_t count;
      STOW_TRY(stowi_place_orders_fill(&p->orders, e->order, p->buffers, &count));
      STOW_TRY(stowi_place_greedy(quest, p->buffers, count, e->pick));
      stowi_place_quest_spend(quest, count);
    }
  }
  *out_idle = p->next == ENTRY_COUNT;
  return STOW_OK;
}

stow_status stowi_place_portfolio_work(stowi_place_quest* quest) {
  stowi_place_portfolio* p = NULL;
  bool is_idle = false;
  STOW_TRY(stowi_place_portfolio_create(quest, &p));
  stow_status status = stowi_place_portfolio_play(p, &is_idle);
  stowi_place_portfolio_destroy(p);
  return status;
}
