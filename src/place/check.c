// Proof of a placement, by a sweep over time that keeps the live footprints in order of address.
//
// Nothing here is shared with the strategies: not the ordering, not the occupancy, not the
// alignment arithmetic. A fault in one must not be able to hide in the other.
//
//     offset            At each birth the neighbours below and above are looked up among the live
//       ▲  ┌──┐         footprints. As long as no fault was found these are disjoint, so only
//       │  │b │┌────┐   those two neighbours can overlap the newborn.
//       │ ┌┴──┴┤ d  │
//       └─┴────┴────┴─▶ step
//
// All offsets are known beforehand, so the ordered set needs no balancing: buffers are ranked by
// offset once. O(n log n) for the sorts, whatever the input.
#include <inttypes.h>

#include "base/diag.h"
#include "base/rank_set.h"
#include "base/sort.h"
#include "place/problem.h"

typedef struct checker {
  const stow_problem* problem;
  const uint64_t* offsets;
  size_t count;
  uint32_t* by_offset;  // buffers in order of offset
  uint32_t* rank;       // the inverse
  uint32_t* births;     // buffers in order of begin
  uint32_t* deaths;     // buffers in order of end
  stowi_rank_set live;
} checker;

// ---------------------------------------------------------------------------------------------
// One buffer by itself

static stow_status report(stow_placement_violation violation, stow_placement_violation* out) {
  if (out != NULL) {
    *out = violation;
  }
  return STOW_ERR_VIOLATION;
}

static stow_status check_buffer(const checker* c, size_t i, uint64_t height, stow_diag* diag,
                                stow_placement_violation* out) {
  const stowi_buffer* buffer = &c->problem->buffers.data[i];
  uint64_t offset = c->offsets[i];
  stow_placement_violation violation = {STOW_PLACEMENT_OK, i, STOW_BUFFER_NONE, buffer->begin};
  if (offset % buffer->alignment != 0) {
    violation.fault = STOW_PLACEMENT_MISALIGNED;
    stowi_fail(diag, STOW_ERR_VIOLATION,
               "buffer %zu lies at %" PRIu64 ", which is not aligned to %" PRIu64, i, offset,
               buffer->alignment);
    return report(violation, out);
  }
  if (buffer->fixed_offset != STOW_PLACE_ANYWHERE && offset != buffer->fixed_offset) {
    violation.fault = STOW_PLACEMENT_MOVED;
    stowi_fail(diag, STOW_ERR_VIOLATION, "buffer %zu lies at %" PRIu64 " but is fixed at %" PRIu64,
               i, offset, buffer->fixed_offset);
    return report(violation, out);
  }
  if (offset > height || buffer->size + buffer->guard > height - offset) {
    violation.fault = STOW_PLACEMENT_OUTSIDE;
    stowi_fail(diag, STOW_ERR_VIOLATION,
               "buffer %zu at %" PRIu64 " with %" PRIu64 " + %" PRIu64
               " bytes ends above the height %" PRIu64,
               i, offset, buffer->size, buffer->guard, height);
    return report(violation, out);
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Pairs

static int compare_u64(uint64_t a, uint64_t b) { return (a > b) - (a < b); }

static int compare_numbers(uint32_t a, uint32_t b) { return (a > b) - (a < b); }

static int by_offset(const void* a, const void* b, const void* context) {
  const checker* c = (const checker*)context;
  uint32_t x = *(const uint32_t*)a;
  uint32_t y = *(const uint32_t*)b;
  int order = compare_u64(c->offsets[x], c->offsets[y]);
  return order != 0 ? order : compare_numbers(x, y);
}

static int by_begin(const void* a, const void* b, const void* context) {
  const stowi_buffer* buffers = ((const checker*)context)->problem->buffers.data;
  uint32_t x = *(const uint32_t*)a;
  uint32_t y = *(const uint32_t*)b;
  int order = compare_u64(buffers[x].begin, buffers[y].begin);
  return order != 0 ? order : compare_numbers(x, y);
}

static int by_end(const void* a, const void* b, const void* context) {
  const stowi_buffer* buffers = ((const checker*)context)->problem->buffers.data;
  uint32_t x = *(const uint32_t*)a;
  uint32_t y = *(const uint32_t*)b;
  int order = compare_u64(buffers[x].end, buffers[y].end);
  return order != 0 ? order : compare_numbers(x, y);
}

static stow_status sort_all(checker* c, stow_allocator allocator) {
  for (size_t i = 0; i < c->count; ++i) {
    c->by_offset[i] = c->births[i] = c->deaths[i] = (uint32_t)i;
  }
  STOW_TRY(stowi_sort(c->by_offset, c->count, sizeof(uint32_t), by_offset, c, allocator));
  STOW_TRY(stowi_sort(c->births, c->count, sizeof(uint32_t), by_begin, c, allocator));
  STOW_TRY(stowi_sort(c->deaths, c->count, sizeof(uint32_t), by_end, c, allocator));
  for (size_t i = 0; i < c->count; ++i) {
    c->rank[c->by_offset[i]] = (uint32_t)i;
  }
  return STOW_OK;
}

// |lower| lies no higher than |upper|; every end is known to be below the height.
static bool reaches_into(const checker* c, uint32_t lower, uint32_t upper) {
  const stowi_buffer* buffer = &c->problem->buffers.data[lower];
  return c->offsets[upper] - c->offsets[lower] < buffer->size + buffer->guard;
}

static stow_status report_overlap(const checker* c, uint32_t a, uint32_t b, stow_diag* diag,
                                  stow_placement_violation* out) {
  size_t first = a < b ? a : b;
  size_t second = a < b ? b : a;
  const stowi_buffer* x = &c->problem->buffers.data[first];
  const stowi_buffer* y = &c->problem->buffers.data[second];
  uint64_t step = x->begin > y->begin ? x->begin : y->begin;
  stowi_fail(diag, STOW_ERR_VIOLATION,
             "buffers %zu (at %" PRIu64 ", %" PRIu64 " + %" PRIu64 " bytes) and %zu (at %" PRIu64
             ", %" PRIu64 " + %" PRIu64 " bytes) overlap while both live at step %" PRIu64,
             first, c->offsets[first], x->size, x->guard, second, c->offsets[second], y->size,
             y->guard, step);
  stow_placement_violation violation = {STOW_PLACEMENT_OVERLAP, first, second, step};
  return report(violation, out);
}

static stow_status sweep(checker* c, stow_diag* diag, stow_placement_violation* out) {
  const stowi_buffer* buffers = c->problem->buffers.data;
  size_t dead = 0;
  for (size_t born = 0; born < c->count; ++born) {
    uint32_t buffer = c->births[born];
    while (buffers[c->deaths[dead]].end <= buffers[buffer].begin) {
      stowi_rank_set_remove(&c->live, c->rank[c->deaths[dead++]]);
    }
    size_t below = stowi_rank_set_previous(&c->live, c->rank[buffer]);
    if (below != STOWI_NO_RANK && reaches_into(c, c->by_offset[below], buffer)) {
      return report_overlap(c, c->by_offset[below], buffer, diag, out);
    }
    size_t above = stowi_rank_set_next(&c->live, c->rank[buffer]);
    if (above != STOWI_NO_RANK && reaches_into(c, buffer, c->by_offset[above])) {
      return report_overlap(c, buffer, c->by_offset[above], diag, out);
    }
    stowi_rank_set_insert(&c->live, c->rank[buffer]);
  }
  return STOW_OK;
}

static stow_status check_pairs(checker* c, stow_allocator allocator, stow_diag* diag,
                               stow_placement_violation* out) {
  stow_status status = STOW_ERR_OUT_OF_MEMORY;
  c->by_offset = STOWI_ARRAY(allocator, uint32_t, c->count);
  c->rank = STOWI_ARRAY(allocator, uint32_t, c->count);
  c->births = STOWI_ARRAY(allocator, uint32_t, c->count);
  c->deaths = STOWI_ARRAY(allocator, uint32_t, c->count);
  if (stowi_rank_set_init(&c->live, c->count, allocator) == STOW_OK && c->by_offset != NULL &&
      c->rank != NULL && c->births != NULL && c->deaths != NULL) {
    status = sort_all(c, allocator);
  }
  status = status == STOW_OK ? sweep(c, diag, out) : stowi_fail_memory(diag);
  STOWI_ARRAY_FREE(allocator, c->by_offset, c->count);
  STOWI_ARRAY_FREE(allocator, c->rank, c->count);
  STOWI_ARRAY_FREE(allocator, c->births, c->count);
  STOWI_ARRAY_FREE(allocator, c->deaths, c->count);
  stowi_rank_set_free(&c->live, allocator);
  return status;
}

stow_status stow_placement_check(const stow_problem* problem, const uint64_t* offsets, size_t count,
                                 uint64_t height, stow_allocator allocator, stow_diag* diag,
                                 stow_placement_violation* out_violation) {
  stow_placement_violation none = {STOW_PLACEMENT_OK, STOW_BUFFER_NONE, STOW_BUFFER_NONE, 0};
  if (out_violation != NULL) {
    *out_violation = none;
  }
  if (count != problem->buffers.count) {
    return stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT, "%zu offsets for %zu buffers", count,
                      problem->buffers.count);
  }
  checker c = {.problem = problem, .offsets = offsets, .count = count};
  for (size_t i = 0; i < count; ++i) {
    STOW_TRY(check_buffer(&c, i, height, diag, out_violation));
  }
  return check_pairs(&c, allocator, diag, out_violation);
}
