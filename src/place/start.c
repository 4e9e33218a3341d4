// The earlier placement that a search starts from, for a problem that has changed a little.
//
// First, buffers keep their earlier offsets where these are still free, lowest first; the others go
// where first fit, largest first, puts them. So after a small change few buffers move, mostly into
// holes. If many have grown, few can stay; but the earlier placement still says what lies on top of
// what. So, unless the first attempt meets the goal, everything is dropped in the order of the
// earlier offsets as well: that is lower where the arrangement was good.
//
// Neither is needed: a callback that stops them leaves it to the strategy to make a placement.
// About O(n log n), as first fit.
#include "base/alloc.h"
#include "base/diag.h"
#include "base/sort.h"
#include "place/greedy/greedy.h"
#include "place/improve/improve.h"
#include "place/problem.h"

#define POLL_EVERY 64  // buffers

typedef struct record {
  uint64_t key;  // the earlier offset
  uint32_t buffer;
} record;

typedef struct starter {
  stowi_place_quest* quest;
  stowi_place_occupancy* occupancy;
  record* records;
  uint8_t* is_placed;  // per buffer
  uint64_t* offsets;
  uint64_t height;
  size_t tried;
} starter;

// Whether |buffer| has an earlier offset that can be of use. All buffers end to end are below the
// limit, and nothing overflows there.
static bool is_known(const stowi_place_quest* quest, size_t buffer) {
  const stow_problem* problem = quest->problem;
  const stowi_place_buffer* b = &problem->buffers.data[buffer];
  uint64_t limit = problem->fixed_end + problem->padded_sum;
  return !stowi_place_is_fixed(b) &&
         quest->options.start[buffer] <= limit - stowi_place_footprint(b);
}

static bool may_go_on(starter* s) {
  return ++s->tried % POLL_EVERY != 0 || stowi_place_quest_poll(s->quest);
}

static stow_status put(starter* s, size_t buffer, uint64_t offset) {
  uint64_t end = offset + stowi_place_footprint(&s->quest->problem->buffers.data[buffer]);
  s->offsets[buffer] = offset;
  s->is_placed[buffer] = 1;
  s->height = end > s->height ? end : s->height;
  return stowi_need_memory(stowi_place_occupancy_take(s->occupancy, buffer, offset) == STOW_OK,
                           s->quest->diag);
}

// ---------------------------------------------------------------------------------------------
// Staying

static size_t list_known(const starter* s) {
  const stowi_place_quest* quest = s->quest;
  size_t count = 0;
  for (size_t i = 0; i < quest->problem->buffers.count; ++i) {
    if (is_known(quest, i)) {
      s->records[count++] = (record){quest->options.start[i], (uint32_t)i};
    }
  }
  return count;
}

static stow_status keep(starter* s) {
  size_t count = list_known(s);
  STOW_TRY(stowi_need_memory(
      stowi_sort_by_key(s->records, count, sizeof(record), s->quest->allocator) == STOW_OK,
      s->quest->diag));
  for (size_t i = 0; i < count && may_go_on(s); ++i) {
    uint64_t offset = s->records[i].key;
    uint32_t buffer = s->records[i].buffer;
    stowi_place_search* search = stowi_place_search_start(s->occupancy, buffer);
    if (stowi_place_search_next(search, offset) == offset) {
      STOW_TRY(put(s, buffer, offset));
    }
  }
  return STOW_OK;
}

static stow_status fit_others(starter* s) {
  uint32_t* order = NULL;
  size_t count = 0;
  STOW_TRY(stowi_place_order_make(s->quest, STOWI_PLACE_ORDER_SIZE, &order, &count));
  stow_status status = STOW_OK;
  for (size_t i = 0; i < count && status == STOW_OK && may_go_on(s); ++i) {
    if (!s->is_placed[order[i]]) {
      stowi_place_search* search = stowi_place_search_start(s->occupancy, order[i]);
      status = put(s, order[i], stowi_place_search_next(search, 0));
    }
  }
  stowi_place_order_free(s->quest, order);
  return status;
}

static stow_status stay(starter* s) {
  stowi_place_quest* quest = s->quest;
  s->height = quest->problem->fixed_end;
  STOW_TRY(stowi_need_memory(
      stowi_place_occupancy_create(quest->problem, quest->allocator, &s->occupancy) == STOW_OK,
      quest->diag));
  STOW_TRY(stowi_place_take_fixed(quest, s->occupancy, s->offsets));
  STOW_TRY(keep(s));
  STOW_TRY(fit_others(s));
  if (!quest->stopped) {
    stowi_place_quest_offer(quest, s->offsets, s->height);
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Dropping

// New buffers are in the order of where they have just been put.
static stow_status settle(starter* s) {
  stowi_place_quest* quest = s->quest;
  for (size_t i = 0; i < quest->problem->buffers.count; ++i) {
    s->offsets[i] = is_known(quest, i) ? quest->options.start[i] : s->offsets[i];
  }
  STOW_TRY(stowi_place_drop(quest, s->offsets, &s->height));
  stowi_place_quest_offer(quest, s->offsets, s->height);
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------

stow_status stowi_place_start(stowi_place_quest* quest) {
  if (quest->options.start == NULL) {
    return STOW_OK;
  }
  size_t count = quest->problem->buffers.count;
  starter s = {.quest = quest,
               .records = STOWI_ARRAY(quest->allocator, record, count),
               .is_placed = STOWI_ARRAY_ZERO(quest->allocator, uint8_t, count),
               .offsets = STOWI_ARRAY(quest->allocator, uint64_t, count)};
  bool has_memory = s.records != NULL && s.is_placed != NULL && s.offsets != NULL;
  stow_status status = has_memory ? stay(&s) : stowi_fail_memory(quest->diag);
  if (status == STOW_OK && !quest->stopped && !stowi_place_quest_answered(quest)) {
    status = settle(&s);
  }
  stowi_place_occupancy_destroy(s.occupancy);
  STOWI_ARRAY_FREE(quest->allocator, s.records, count);
  STOWI_ARRAY_FREE(quest->allocator, s.is_placed, count);
  STOWI_ARRAY_FREE(quest->allocator, s.offsets, count);
  return status;
}
