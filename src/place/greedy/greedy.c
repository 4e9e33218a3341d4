// The common part of the greedy strategies: fixed buffers first, the others one by one in a given
// order.
#include "place/greedy/greedy.h"

#include "base/alloc.h"
#include "base/diag.h"
#include "place/problem.h"

#define MIN_RUN 64   // shorter runs are placed as fast without a sweep
#define RUN_GAIN 16  // a sweep costs as much as placing one in 16 of the remaining buffers

#define POLL_EVERY 64  // buffers; with adverse lifetimes one may take half a millisecond

typedef struct pass {
  stowi_place_quest* quest;
  const uint32_t* order;  // of the buffers that are not fixed
  size_t order_count;
  uint64_t* offsets;
  uint64_t height;
  size_t placed;
  bool is_stopped;  // before its end
} pass;

// The very first pass is not cut short: there is always a placement.
static bool may_go_on(pass* p) {
  if (++p->placed % POLL_EVERY == 0 && !stowi_place_quest_poll(p->quest)) {
    p->is_stopped = p->quest->height != UINT64_MAX;
  }
  return !p->is_stopped;
}

static uint64_t size_at(const pass* p, size_t i) {
  return p->quest->problem->buffers.data[p->order[i]].size;
}

// ---------------------------------------------------------------------------------------------
// Runs

// The number of buffers from |first| on that have one size and come in order of birth.
static size_t run_length(const pass* p, const stowi_place_occupancy* occupancy, size_t first) {
  size_t i = first + 1;
  while (i < p->order_count && size_at(p, i) == size_at(p, first) &&
         stowi_place_occupancy_birth(occupancy, p->order[i]) >=
             stowi_place_occupancy_birth(occupancy, p->order[i - 1])) {
    ++i;
  }
  return i - first;
}

static uint64_t smallest_alignment(const pass* p, size_t first, size_t length) {
  uint64_t smallest = UINT64_MAX;
  for (size_t i = first; i < first + length; ++i) {
    uint64_t alignment = p->quest->problem->buffers.data[p->order[i]].alignment;
    smallest = alignment < smallest ? alignment : smallest;
  }
  return smallest;
}

static bool is_worth_a_run(const pass* p, size_t first, size_t length) {
  return length >= MIN_RUN &&
         length >= (p->quest->problem->buffers.count - p->order_count + first) / RUN_GAIN;
}

static bool has_runs(const pass* p, const stowi_place_occupancy* occupancy) {
  size_t length;
  for (size_t i = 0; i < p->order_count; i += length) {
    length = run_length(p, occupancy, i);
    if (is_worth_a_run(p, i, length)) {
      return true;
    }
  }
  return false;
}

static stow_status place_stretch(pass* p, stowi_place_occupancy* occupancy, stowi_place_pick pick,
                                 size_t first, size_t length) {
  for (size_t i = first; i < first + length && may_go_on(p); ++i) {
    size_t buffer = p->order[i];
    uint64_t footprint = stowi_place_footprint(&p->quest->problem->buffers.data[buffer]);
    uint64_t offset = pick(stowi_place_search_start(occupancy, buffer), footprint);
    uint64_t end = offset + footprint;
    p->offsets[buffer] = offset;
    p->height = end > p->height ? end : p->height;
    STOW_TRY(stowi_need_memory(stowi_place_occupancy_take(occupancy, buffer, offset) == STOW_OK,
                               p->quest->diag));
  }
  return STOW_OK;
}

static stow_status place_in_order(pass* p, stowi_place_occupancy* occupancy,
                                  stowi_place_pick pick) {
  bool runs = has_runs(p, occupancy);
  if (runs && stowi_place_occupancy_expect_runs(occupancy) != STOW_OK) {
    return stowi_fail_memory(p->quest->diag);
  }
  STOW_TRY(stowi_place_take_fixed(p->quest, occupancy, p->offsets));
  size_t length;
  for (size_t i = 0; i < p->order_count && !p->is_stopped; i += length) {
    length = run_length(p, occupancy, i);
    bool is_run = runs && is_worth_a_run(p, i, length);
    if (is_run) {
      stowi_place_occupancy_start_run(occupancy, p->order[i], smallest_alignment(p, i, length));
    }
    stow_status status = place_stretch(p, occupancy, pick, i, length);
    if (is_run) {
      stowi_place_occupancy_stop_run(occupancy);
    }
    STOW_TRY(status);
  }
  return STOW_OK;
}

static stow_status place_in_gaps(pass* p, stowi_place_pick pick) {
  stowi_place_occupancy* occupancy = NULL;
  STOW_TRY(stowi_need_memory(
      stowi_place_occupancy_create(p->quest->problem, p->quest->allocator, &occupancy) == STOW_OK,
      p->quest->diag));
  stow_status status = place_in_order(p, occupancy, pick);
  stowi_place_occupancy_destroy(occupancy);
  return status;
}

stow_status stowi_place_greedy_aside(stowi_place_quest* quest, const uint32_t* order,
                                     size_t order_count, stowi_place_pick pick, uint64_t* offsets,
                                     uint64_t* out_height) {
  pass p = {quest, order, order_count, offsets, quest->problem->fixed_end, 0, false};
  stow_status status = place_in_gaps(&p, pick);
  *out_height = p.is_stopped ? UINT64_MAX : p.height;
  return status;
}

stow_status stowi_place_greedy(stowi_place_quest* quest, const uint32_t* order, size_t order_count,
                               stowi_place_pick pick) {
  size_t count = quest->problem->buffers.count;
  uint64_t height;
  uint64_t* offsets = STOWI_ARRAY(quest->allocator, uint64_t, count);
  STOW_TRY(stowi_need_memory(offsets != NULL, quest->diag));
  stow_status status = stowi_place_greedy_aside(quest, order, order_count, pick, offsets, &height);
  if (status == STOW_OK) {
    stowi_place_quest_offer(quest, offsets, height);
  }
  STOWI_ARRAY_FREE(quest->allocator, offsets, count);
  return status;
}

stow_status stowi_place_greedy_by_size(stowi_place_quest* quest, stowi_place_pick pick) {
  uint32_t* order = NULL;
  size_t order_count = 0;
  STOW_TRY(stowi_place_order_make(quest, STOWI_PLACE_ORDER_SIZE, &order, &order_count));
  stow_status status = stowi_place_greedy(quest, order, order_count, pick);
  stowi_place_order_free(quest, order);
  return status;
}

// ---------------------------------------------------------------------------------------------

// First fit: the lowest offset that is free over the whole lifetime. Simple, reproducible, and on
// models of some size rarely more than a few percent above the lower bound (28–41 % above it on
// instances built to be hard).
uint64_t stowi_place_pick_lowest(stowi_place_search* search, uint64_t footprint) {
  (void)footprint;
  return stowi_place_search_next(search, 0);
}

// Best fit: among the gaps that hold a buffer, the one with the least left over. A gap is a maximal
// range that is free over the buffer's whole lifetime and ends at a live footprint; its length
// counts from the first aligned offset in it, since that is what the buffer can use. If there is no
// such gap, the buffer goes on top.
//
// Visits every gap below the top that holds the buffer: O(gaps × log n) for each.
uint64_t stowi_place_pick_tightest(stowi_place_search* search, uint64_t footprint) {
  uint64_t best = 0;
  uint64_t best_room = UINT64_MAX;
  uint64_t at = stowi_place_search_next(search, 0);
  while (true) {
    uint64_t end = stowi_place_search_room(search, at);
    if (end == UINT64_MAX) {
      return best_room == UINT64_MAX ? at : best;
    }
    if (end - at < best_room) {
      best = at;
      best_room = end - at;
      if (best_room == footprint) {
        return best;
      }
    }
    at = stowi_place_search_next(search, end);
  }
}

stow_status stowi_place_first_fit_work(stowi_place_quest* quest) {
  quest->phase = "first-fit";
  return stowi_place_greedy_by_size(quest, stowi_place_pick_lowest);
}

stow_status stowi_place_best_fit_work(stowi_place_quest* quest) {
  quest->phase = "best-fit";
  return stowi_place_greedy_by_size(quest, stowi_place_pick_tightest);
}
