// Fixed buffers, and buffers without reuse: neither needs a search.
#include <inttypes.h>

#include "base/alloc.h"
#include "base/diag.h"
#include "base/sort.h"
#include "place/greedy/greedy.h"
#include "place/greedy/orders.h"

static bool footprints_meet(const stowi_place_buffer* a, const stowi_place_buffer* b) {
  return a->fixed_offset < b->fixed_offset + stowi_place_footprint(b) &&
         b->fixed_offset < a->fixed_offset + stowi_place_footprint(a);
}

// Whether fixed buffers |a| and |b| ever occupy the same byte, and the first step at which they do.
static bool collide(const stow_problem* problem, size_t a, size_t b, uint64_t* out_step) {
  uint64_t a_offset = problem->buffers.data[a].fixed_offset;
  uint64_t b_offset = problem->buffers.data[b].fixed_offset;
  stowi_place_walk a_walk = stowi_place_walk_start(problem, a);
  stowi_place_walk b_walk = stowi_place_walk_start(problem, b);
  stowi_place_stretch x;
  stowi_place_stretch y;
  bool more = stowi_place_walk_next(&a_walk, &x) && stowi_place_walk_next(&b_walk, &y);
  while (more) {
    if (stowi_place_together((stowi_place_life){x.begin, x.end},
                             (stowi_place_life){y.begin, y.end}) &&
        a_offset + x.low < b_offset + y.high && b_offset + y.low < a_offset + x.high) {
      *out_step = x.begin > y.begin ? x.begin : y.begin;
      return true;
    }
    more = x.end <= y.end ? stowi_place_walk_next(&a_walk, &x) : stowi_place_walk_next(&b_walk, &y);
  }
  return false;
}

// Reports the overlap of |buffer| with an earlier fixed one. There is one: the caller found no
// room.
static stow_status report_conflict(const stowi_place_quest* quest, size_t buffer, bool reuse) {
  const stowi_place_buffer* buffers = quest->problem->buffers.data;
  const stowi_place_buffer* b = &buffers[buffer];
  uint64_t step;
  size_t other = 0;
  while (!stowi_place_is_fixed(&buffers[other]) || !footprints_meet(&buffers[other], b) ||
         (reuse && !collide(quest->problem, other, buffer, &step))) {
    ++other;
  }
  const stowi_place_buffer* a = &buffers[other];
  stowi_fail(quest->diag, STOW_ERR_CONFLICT,
             "fixed buffers %zu, [%" PRIu64 ", %" PRIu64 "), and %zu, [%" PRIu64 ", %" PRIu64
             "), overlap",
             other, a->fixed_offset, a->fixed_offset + stowi_place_footprint(a), buffer,
             b->fixed_offset, b->fixed_offset + stowi_place_footprint(b));
  if (collide(quest->problem, other, buffer, &step)) {
    stowi_diag_append(quest->diag, " while both are live at step %" PRIu64, step);
  } else {
    stowi_diag_append(quest->diag, " although reuse is off");
  }
  return STOW_ERR_CONFLICT;
}

stow_status stowi_place_take_fixed(stowi_place_quest* quest, stowi_place_occupancy* occupancy,
                                   uint64_t* offsets) {
  for (size_t i = 0; i < quest->problem->buffers.count; ++i) {
    const stowi_place_buffer* buffer = &quest->problem->buffers.data[i];
    if (!stowi_place_is_fixed(buffer)) {
      continue;
    }
    stowi_place_search* search = stowi_place_search_start(occupancy, i);
    if (stowi_place_search_next(search, buffer->fixed_offset) != buffer->fixed_offset) {
      return report_conflict(quest, i, true);
    }
    STOW_TRY(stowi_need_memory(
        stowi_place_occupancy_take(occupancy, i, buffer->fixed_offset) == STOW_OK, quest->diag));
    offsets[i] = buffer->fixed_offset;
  }
  return STOW_OK;
}

static bool has_fixed(const stow_problem* problem) {
  for (size_t i = 0; i < problem->buffers.count; ++i) {
    if (stowi_place_is_fixed(&problem->buffers.data[i])) {
      return true;
    }
  }
  return false;
}

stow_status stowi_place_check_fixed(stowi_place_quest* quest) {
  if (!has_fixed(quest->problem)) {
    return STOW_OK;
  }
  stowi_place_occupancy* occupancy = NULL;
  STOW_TRY(stowi_need_memory(
      stowi_place_occupancy_create(quest->problem, quest->allocator, &occupancy) == STOW_OK,
      quest->diag));
  stow_status status = stowi_place_take_fixed(quest, occupancy, quest->offsets);
  stowi_place_occupancy_destroy(occupancy);
  return status;
}

// ---------------------------------------------------------------------------------------------
// Without reuse

static int by_fixed_offset(const void* a, const void* b, const void* context) {
  const stowi_place_buffer* buffers = ((const stow_problem*)context)->buffers.data;
  uint32_t x = *(const uint32_t*)a;
  uint32_t y = *(const uint32_t*)b;
  if (buffers[x].fixed_offset != buffers[y].fixed_offset) {
    return buffers[x].fixed_offset < buffers[y].fixed_offset ? -1 : 1;
  }
  return (x > y) - (x < y);
}

// Neighbours in order of offset show whether any two overlap.
static stow_status check_fixed_apart(const stowi_place_quest* quest, uint32_t* fixed,
                                     size_t fixed_count) {
  const stowi_place_buffer* buffers = quest->problem->buffers.data;
  STOW_TRY(stowi_need_memory(stowi_sort(fixed, fixed_count, sizeof(uint32_t), by_fixed_offset,
                                        quest->problem, quest->allocator) == STOW_OK,
                             quest->diag));
  for (size_t i = 1; i < fixed_count; ++i) {
    if (footprints_meet(&buffers[fixed[i - 1]], &buffers[fixed[i]])) {
      return report_conflict(quest, fixed[i - 1] > fixed[i] ? fixed[i - 1] : fixed[i], false);
    }
  }
  return STOW_OK;
}

static uint64_t sum_of_footprints(const stow_problem* problem) {
  uint64_t sum = 0;
  for (size_t i = 0; i < problem->buffers.count; ++i) {
    sum += stowi_place_footprint(&problem->buffers.data[i]);
  }
  return sum;
}

static stow_status take_fixed_apart(stowi_place_quest* quest) {
  size_t count = quest->problem->buffers.count;
  size_t fixed_count = 0;
  uint32_t* fixed = STOWI_ARRAY(quest->allocator, uint32_t, count);
  STOW_TRY(stowi_need_memory(fixed != NULL, quest->diag));
  for (size_t i = 0; i < count; ++i) {
    const stowi_place_buffer* buffer = &quest->problem->buffers.data[i];
    if (stowi_place_is_fixed(buffer)) {
      fixed[fixed_count++] = (uint32_t)i;
      quest->offsets[i] = buffer->fixed_offset;
    }
  }
  stow_status status = check_fixed_apart(quest, fixed, fixed_count);
  STOWI_ARRAY_FREE(quest->allocator, fixed, count);
  return status;
}

stow_status stowi_place_apart(stowi_place_quest* quest) {
  uint32_t* order = NULL;
  size_t order_count = 0;
  STOW_TRY(take_fixed_apart(quest));
  STOW_TRY(stowi_place_order_make(quest, STOWI_PLACE_ORDER_SIZE, &order, &order_count));
  uint64_t height = quest->problem->fixed_end;
  for (size_t i = 0; i < order_count; ++i) {
    const stowi_place_buffer* buffer = &quest->problem->buffers.data[order[i]];
    uint64_t mask = buffer->alignment - 1;
    uint64_t offset = (height + mask) & ~mask;
    quest->offsets[order[i]] = offset;
    height = offset + stowi_place_footprint(buffer);
  }
  stowi_place_order_free(quest, order);
  quest->height = height;
  // All bytes are disjoint, so their sum is a bound.
  stowi_place_quest_raise(quest, quest->problem->fixed_end);
  stowi_place_quest_raise(quest, sum_of_footprints(quest->problem));
  return STOW_OK;
}
