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

static stow_status run(stowi_place_quest* quest, const stowi_place_orders* orders,
                       uint32_t* buffers) {
  for (size_t i = 0; i < ENTRY_COUNT && (i == 0 || !stowi_place_quest_done(quest)); ++i) {
    if (quest->problem->buffers.count <= entries[i].max_count) {
      size_t count;
      STOW_TRY(stowi_place_orders_fill(orders, entries[i].order, buffers, &count));
      STOW_TRY(stowi_place_greedy(quest, buffers, count, entries[i].pick));
      stowi_place_quest_spend(quest, count);
    }
  }
  return STOW_OK;
}

stow_status stowi_place_portfolio_work(stowi_place_quest* quest) {
  size_t count = quest->problem->buffers.count;
  stowi_place_sections sections = {0};
  stowi_place_orders orders = {.quest = quest};
  uint32_t* buffers = STOWI_ARRAY(quest->allocator, uint32_t, count);
  quest->phase = "portfolio";
  stow_status status = STOW_ERR_OUT_OF_MEMORY;
  if (buffers != NULL) {
    status = stowi_place_sections_make(quest->problem, quest->allocator, &sections);
  }
  if (status != STOW_OK) {
    stowi_fail_memory(quest->diag);
  } else {
    status = stowi_place_orders_make(quest, &sections, &orders);
  }
  if (status == STOW_OK) {
    status = run(quest, &orders, buffers);
  }
  stowi_place_orders_free(&orders);
  stowi_place_sections_free(&sections, quest->problem, quest->allocator);
  STOWI_ARRAY_FREE(quest->allocator, buffers, count);
  return status;
}
