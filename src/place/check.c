// Proves a placement by a sweep over time that keeps the live footprints in order of address.
// Nothing here is shared with the strategies: not the ordering, not the occupancy, not the
// alignment arithmetic. A bug in one must not be able to hide in the other.
//     offset            At each birth, the neighbours below and above are looked up among the live
//       ▲  ┌──┐         footprints. While no fault has been found these are disjoint, so only
//       │  │b │┌────┐   those two neighbours can overlap the new one.
//       │ ┌┴──┴┤ d  │
//       └─┴────┴────┴─▶ step
// A buffer with windows has several parts, one for each window that is not a gap and one for each
// interval between windows: parts are what is born, dies and is compared.
// All offsets are known in advance, so the ordered set needs no balancing: parts are ranked by
// address once. O(n log n) for the sorts, whatever the input.
#include <inttypes.h>

#include "base/diag.h"
#include "base/rank_set.h"
#include "base/sort.h"
#include "place/problem.h"

// Bytes [low, high) of the arena, which |buffer| occupies over [begin, end).
typedef struct part {
  uint64_t low;
  uint64_t high;
  uint64_t begin;
  uint64_t end;
  uint32_t buffer;
} part;

typedef struct checker {
  const stow_problem* problem;
  const uint64_t* offsets;
  size_t count;  // of parts
  part* parts;
  uint32_t* by_address;  // parts in order of low
  uint32_t* rank;        // the inverse
  uint32_t* births;      // parts in order of begin
  uint32_t* deaths;      // parts in order of end
  stowi_rank_set live;
} checker;

// ---------------------------------------------------------------------------------------------
// One buffer by itself

// |out| may be NULL.
static stow_status fill(stow_placement_violation violation, stow_diag* diag,
                        stow_placement_violation* out) {
  return out == NULL ? STOW_OK
                     : stowi_fill_struct(out, &violation, sizeof(violation),
                                         "stow_placement_violation", diag);
}

static stow_status report(stow_placement_violation violation, stow_placement_violation* out) {
  (void)fill(violation, NULL, out);  // its size was checked at the beginning
  return STOW_ERR_VIOLATION;
}

static stow_status check_buffer(const checker* c, size_t i, uint64_t height, stow_diag* diag,
                                stow_placement_violation* out) {
  const stowi_place_buffer* buffer = &c->problem->buffers.data[i];
  uint64_t offset = c->offsets[i];
  stow_placement_violation violation = {
      .first = i, .second = STOW_BUFFER_NONE, .step = buffer->begin};
  if (offset % buffer->alignment != 0) {
    violation.fault = STOW_PLACEMENT_MISALIGNED;
    stowi_fail(diag, STOW_ERR_VIOLATION,
               "buffer %zu is at %" PRIu64 ", which is not a multiple of its alignment %" PRIu64, i,
               offset, buffer->alignment);
    return report(violation, out);
  }
  if (buffer->fixed_offset != STOW_PLACE_ANYWHERE && offset != buffer->fixed_offset) {
    violation.fault = STOW_PLACEMENT_MOVED;
    stowi_fail(diag, STOW_ERR_VIOLATION, "buffer %zu is at %" PRIu64 ", but is fixed at %" PRIu64,
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

static void add_part(checker* c, size_t buffer, uint64_t begin, uint64_t end, uint64_t low,
                     uint64_t high) {
  if (begin < end && low < high) {
    uint64_t offset = c->offsets[buffer];
    c->parts[c->count++] = (part){offset + low, offset + high, begin, end, (uint32_t)buffer};
  }
}

static int compare(uint64_t a, uint64_t b, uint32_t a_number, uint32_t b_number) {
  if (a != b) {
    return a < b ? -1 : 1;
  }
  return (a_number > b_number) - (a_number < b_number);
}

static int by_address(const void* a, const void* b, const void* context) {
  const part* parts = (const part*)context;
  uint32_t x = *(const uint32_t*)a;
  uint32_t y = *(const uint32_t*)b;
  return compare(parts[x].low, parts[y].low, x, y);
}

static int by_begin(const void* a, const void* b, const void* context) {
  const part* parts = (const part*)context;
  uint32_t x = *(const uint32_t*)a;
  uint32_t y = *(const uint32_t*)b;
  return compare(parts[x].begin, parts[y].begin, x, y);
}

static int by_end(const void* a, const void* b, const void* context) {
  const part* parts = (const part*)context;
  uint32_t x = *(const uint32_t*)a;
  uint32_t y = *(const uint32_t*)b;
  return compare(parts[x].end, parts[y].end, x, y);
}

static stow_status sort_all(checker* c, stow_allocator allocator) {
  for (size_t i = 0; i < c->count; ++i) {
    c->by_address[i] = c->births[i] = c->deaths[i] = (uint32_t)i;
  }
  STOW_TRY(stowi_sort(c->by_address, c->count, sizeof(uint32_t), by_address, c->parts, allocator));
  STOW_TRY(stowi_sort(c->births, c->count, sizeof(uint32_t), by_begin, c->parts, allocator));
  STOW_TRY(stowi_sort(c->deaths, c->count, sizeof(uint32_t), by_end, c->parts, allocator));
  for (size_t i = 0; i < c->count; ++i) {
    c->rank[c->by_address[i]] = (uint32_t)i;
  }
  return STOW_OK;
}

static stow_status report_overlap(const checker* c, uint32_t a, uint32_t b, stow_diag* diag,
                                  stow_placement_violation* out) {
  const part* p = &c->parts[a];
  const part* q = &c->parts[b];
  size_t first = p->buffer < q->buffer ? p->buffer : q->buffer;
  size_t second = p->buffer < q->buffer ? q->buffer : p->buffer;
  const stowi_place_buffer* x = &c->problem->buffers.data[first];
  const stowi_place_buffer* y = &c->problem->buffers.data[second];
  uint64_t step = p->begin > q->begin ? p->begin : q->begin;
  stowi_fail(diag, STOW_ERR_VIOLATION,
             "buffers %zu (at %" PRIu64 ", %" PRIu64 " + %" PRIu64 " bytes) and %zu (at %" PRIu64
             ", %" PRIu64 " + %" PRIu64 " bytes) overlap while both are live at step %" PRIu64,
             first, c->offsets[first], x->size, x->guard, second, c->offsets[second], y->size,
             y->guard, step);
  stow_placement_violation violation = {
      .fault = STOW_PLACEMENT_OVERLAP, .first = first, .second = second, .step = step};
  return report(violation, out);
}

// Whether both live at some step. The strategies have theirs in place/together.h; this one is the
// checker's own, so that a fault there is found here.
static bool are_together(const part* a, const part* b) {
  return a->end > b->begin && b->end > a->begin;
}

// Lives are intervals: of those still there the first to die was born before the newborn dies, so
// that it is together with it or past, and what is past is past for all who come later.
static stow_status sweep(checker* c, stow_diag* diag, stow_placement_violation* out) {
  const part* parts = c->parts;
  size_t dead = 0;
  for (size_t born = 0; born < c->count; ++born) {
    uint32_t newborn = c->births[born];
    while (!are_together(&parts[c->deaths[dead]], &parts[newborn])) {
      stowi_rank_set_remove(&c->live, c->rank[c->deaths[dead++]]);
    }
    size_t below = stowi_rank_set_previous(&c->live, c->rank[newborn]);
    if (below != STOWI_NO_RANK && parts[c->by_address[below]].high > parts[newborn].low) {
      return report_overlap(c, c->by_address[below], newborn, diag, out);
    }
    size_t above = stowi_rank_set_next(&c->live, c->rank[newborn]);
    if (above != STOWI_NO_RANK && parts[newborn].high > parts[c->by_address[above]].low) {
      return report_overlap(c, newborn, c->by_address[above], diag, out);
    }
    stowi_rank_set_insert(&c->live, c->rank[newborn]);
  }
  return STOW_OK;
}

static stow_status check_parts(checker* c, stow_allocator allocator, stow_diag* diag,
                               stow_placement_violation* out) {
  stow_status status = STOW_ERR_OUT_OF_MEMORY;
  size_t count = c->count;
  c->by_address = STOWI_ARRAY(allocator, uint32_t, count);
  c->rank = STOWI_ARRAY(allocator, uint32_t, count);
  c->births = STOWI_ARRAY(allocator, uint32_t, count);
  c->deaths = STOWI_ARRAY(allocator, uint32_t, count);
  if (stowi_rank_set_init(&c->live, count, allocator) == STOW_OK && c->by_address != NULL &&
      c->rank != NULL && c->births != NULL && c->deaths != NULL) {
    status = sort_all(c, allocator);
  }
  status = status == STOW_OK ? sweep(c, diag, out) : stowi_fail_memory(diag);
  STOWI_ARRAY_FREE(allocator, c->by_address, count);
  STOWI_ARRAY_FREE(allocator, c->rank, count);
  STOWI_ARRAY_FREE(allocator, c->births, count);
  STOWI_ARRAY_FREE(allocator, c->deaths, count);
  stowi_rank_set_free(&c->live, allocator);
  return status;
}

static stow_status check_pairs(checker* c, stow_allocator allocator, stow_diag* diag,
                               stow_placement_violation* out) {
  size_t most = c->problem->buffers.count + 2 * c->problem->windows.count;
  c->parts = STOWI_ARRAY(allocator, part, most);
  STOW_TRY(stowi_need_memory(c->parts != NULL, diag));
  for (size_t i = 0; i < c->problem->buffers.count; ++i) {
    // Every end is below the height, so nothing overflows.
    const stowi_place_buffer* buffer = &c->problem->buffers.data[i];
    uint64_t whole = buffer->size + buffer->guard;
    uint64_t at = buffer->begin;
    for (size_t w = 0; w < buffer->window_count; ++w) {
      const stowi_place_window* window = &c->problem->windows.data[buffer->first_window + w];
      add_part(c, i, at, window->begin, 0, whole);
      add_part(c, i, window->begin, window->end, window->low, window->high);
      at = window->end;
    }
    add_part(c, i, at, buffer->end, 0, whole);
  }
  stow_status status = check_parts(c, allocator, diag, out);
  STOWI_ARRAY_FREE(allocator, c->parts, most);
  return status;
}

stow_status stow_placement_check(const stow_problem* problem, const uint64_t* offsets, size_t count,
                                 uint64_t height, stow_allocator allocator, stow_diag* diag,
                                 stow_placement_violation* out_violation) {
  stow_placement_violation none = {.first = STOW_BUFFER_NONE, .second = STOW_BUFFER_NONE};
  STOW_TRY(fill(none, diag, out_violation));
  if (count != problem->buffers.count) {
    return stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT, "%zu offsets for %zu buffers", count,
                      problem->buffers.count);
  }
  checker c = {.problem = problem, .offsets = offsets};
  for (size_t i = 0; i < count; ++i) {
    STOW_TRY(check_buffer(&c, i, height, diag, out_violation));
  }
  return check_pairs(&c, allocator, diag, out_violation);
}
