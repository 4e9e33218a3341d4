// The table of strategies, and the frame of the greedy ones: fixed buffers first, the others one by
// one in order of size. Large buffers are the hard ones to place; what is left between them is
// filled by small ones.
#include "place/strategy.h"

#include <inttypes.h>

#include "base/alloc.h"
#include "base/diag.h"
#include "base/sort.h"
#include "place/placement.h"

#define MIN_RUN 64   // shorter runs are placed as fast without a sweep
#define RUN_GAIN 16  // a sweep costs as much as it takes to place one in 16 of what is there

static const stow_strategy strategies[] = {
    {"first-fit", "largest first, each at the lowest offset that is free", stow_place_first_fit},
    {"best-fit", "largest first, each in the smallest gap that holds it", stow_place_best_fit},
};

size_t stow_strategy_count(void) { return sizeof(strategies) / sizeof(strategies[0]); }

const stow_strategy* stow_strategy_at(size_t index) {
  return index < stow_strategy_count() ? &strategies[index] : NULL;
}

const stow_strategy* stow_strategy_find(stow_str name) {
  for (size_t i = 0; i < stow_strategy_count(); ++i) {
    if (stow_str_equal(stow_str_of(strategies[i].name), name)) {
      return &strategies[i];
    }
  }
  return NULL;
}

void stow_place_options_init(stow_place_options* options) {
  options->struct_size = sizeof(*options);
  options->reuse = true;
}

// ---------------------------------------------------------------------------------------------
// Order

typedef struct sized {
  uint64_t size;
  uint32_t buffer;
} sized;

static int largest_first(const void* a, const void* b, const void* context) {
  const sized* x = (const sized*)a;
  const sized* y = (const sized*)b;
  (void)context;
  if (x->size != y->size) {
    return x->size > y->size ? -1 : 1;
  }
  return (x->buffer > y->buffer) - (x->buffer < y->buffer);
}

typedef struct pass {
  const stow_problem* problem;
  stow_allocator allocator;
  stow_diag* diag;
  sized* order;  // of the buffers that are not fixed
  size_t order_count;
  stow_placement* placement;
} pass;

static stow_status make_order(pass* p) {
  size_t count = p->problem->buffers.count;
  p->order = STOWI_ARRAY(p->allocator, sized, count);
  if (p->order == NULL) {
    return stowi_fail_memory(p->diag);
  }
  for (size_t i = 0; i < count; ++i) {
    const stowi_buffer* buffer = &p->problem->buffers.data[i];
    if (!stowi_is_fixed(buffer)) {
      p->order[p->order_count++] = (sized){buffer->size, (uint32_t)i};
    }
  }
  if (stowi_sort(p->order, p->order_count, sizeof(sized), largest_first, NULL, p->allocator) !=
      STOW_OK) {
    return stowi_fail_memory(p->diag);
  }
  return STOW_OK;
}

static void put(pass* p, size_t buffer, uint64_t offset) {
  uint64_t end = offset + stowi_footprint(&p->problem->buffers.data[buffer]);
  p->placement->offsets[buffer] = offset;
  if (end > p->placement->height) {
    p->placement->height = end;
  }
}

// ---------------------------------------------------------------------------------------------
// Fixed buffers

static bool footprints_meet(const stowi_buffer* a, const stowi_buffer* b) {
  return a->fixed_offset < b->fixed_offset + stowi_footprint(b) &&
         b->fixed_offset < a->fixed_offset + stowi_footprint(a);
}

// Reports the collision of |buffer| with a fixed one before it. There is one: the caller found no
// room.
static stow_status report_conflict(const pass* p, size_t buffer, bool reuse) {
  const stowi_buffer* buffers = p->problem->buffers.data;
  const stowi_buffer* b = &buffers[buffer];
  size_t other = 0;
  while (!stowi_is_fixed(&buffers[other]) || !footprints_meet(&buffers[other], b) ||
         (reuse && !stowi_live_together(&buffers[other], b))) {
    ++other;
  }
  const stowi_buffer* a = &buffers[other];
  stowi_fail(p->diag, STOW_ERR_CONFLICT,
             "fixed buffers %zu, [%" PRIu64 ", %" PRIu64 "), and %zu, [%" PRIu64 ", %" PRIu64
             "), overlap",
             other, a->fixed_offset, a->fixed_offset + stowi_footprint(a), buffer, b->fixed_offset,
             b->fixed_offset + stowi_footprint(b));
  if (stowi_live_together(a, b)) {
    uint64_t step = a->begin > b->begin ? a->begin : b->begin;
    stowi_diag_append(p->diag, " while both live at step %" PRIu64, step);
  } else {
    stowi_diag_append(p->diag, " although reuse is off");
  }
  return STOW_ERR_CONFLICT;
}

static stow_status place_fixed(pass* p, stowi_occupancy* occupancy) {
  for (size_t i = 0; i < p->problem->buffers.count; ++i) {
    const stowi_buffer* buffer = &p->problem->buffers.data[i];
    if (!stowi_is_fixed(buffer)) {
      continue;
    }
    stowi_search* search = stowi_search_start(occupancy, i);
    if (stowi_search_next(search, buffer->fixed_offset) != buffer->fixed_offset) {
      return report_conflict(p, i, true);
    }
    if (stowi_occupancy_take(occupancy, i, buffer->fixed_offset) != STOW_OK) {
      return stowi_fail_memory(p->diag);
    }
    put(p, i, buffer->fixed_offset);
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// With and without reuse

// How many buffers from |first| on have one size and come in the order of their births.
static size_t run_length(const pass* p, const stowi_occupancy* occupancy, size_t first) {
  size_t i = first + 1;
  while (i < p->order_count && p->order[i].size == p->order[first].size &&
         stowi_occupancy_birth(occupancy, p->order[i].buffer) >=
             stowi_occupancy_birth(occupancy, p->order[i - 1].buffer)) {
    ++i;
  }
  return i - first;
}

static uint64_t smallest_alignment(const pass* p, size_t first, size_t length) {
  uint64_t smallest = UINT64_MAX;
  for (size_t i = first; i < first + length; ++i) {
    uint64_t alignment = p->problem->buffers.data[p->order[i].buffer].alignment;
    smallest = alignment < smallest ? alignment : smallest;
  }
  return smallest;
}

static bool is_worth_a_run(const pass* p, size_t first, size_t length) {
  return length >= MIN_RUN &&
         length >= (p->problem->buffers.count - p->order_count + first) / RUN_GAIN;
}

static bool has_runs(const pass* p, const stowi_occupancy* occupancy) {
  size_t length;
  for (size_t i = 0; i < p->order_count; i += length) {
    length = run_length(p, occupancy, i);
    if (is_worth_a_run(p, i, length)) {
      return true;
    }
  }
  return false;
}

static stow_status place_stretch(pass* p, stowi_occupancy* occupancy, stowi_pick pick, size_t first,
                                 size_t length) {
  for (size_t i = first; i < first + length; ++i) {
    size_t buffer = p->order[i].buffer;
    uint64_t footprint = stowi_footprint(&p->problem->buffers.data[buffer]);
    uint64_t offset = pick(stowi_search_start(occupancy, buffer), footprint);
    put(p, buffer, offset);
    if (stowi_occupancy_take(occupancy, buffer, offset) != STOW_OK) {
      return stowi_fail_memory(p->diag);
    }
  }
  return STOW_OK;
}

static stow_status place_in_order(pass* p, stowi_occupancy* occupancy, stowi_pick pick) {
  bool runs = has_runs(p, occupancy);
  if (runs && stowi_occupancy_expect_runs(occupancy) != STOW_OK) {
    return stowi_fail_memory(p->diag);
  }
  STOW_TRY(place_fixed(p, occupancy));
  size_t length;
  for (size_t i = 0; i < p->order_count; i += length) {
    length = run_length(p, occupancy, i);
    bool is_run = runs && is_worth_a_run(p, i, length);
    if (is_run) {
      stowi_occupancy_start_run(occupancy, p->order[i].buffer, smallest_alignment(p, i, length));
    }
    stow_status status = place_stretch(p, occupancy, pick, i, length);
    if (is_run) {
      stowi_occupancy_stop_run(occupancy);
    }
    STOW_TRY(status);
  }
  return STOW_OK;
}

static stow_status place_in_gaps(pass* p, stowi_pick pick) {
  stowi_occupancy* occupancy = NULL;
  if (stowi_occupancy_create(p->problem, p->allocator, &occupancy) != STOW_OK) {
    return stowi_fail_memory(p->diag);
  }
  stow_status status = place_in_order(p, occupancy, pick);
  stowi_occupancy_destroy(occupancy);
  return status;
}

static int by_fixed_offset(const void* a, const void* b, const void* context) {
  const stowi_buffer* buffers = ((const stow_problem*)context)->buffers.data;
  uint32_t x = *(const uint32_t*)a;
  uint32_t y = *(const uint32_t*)b;
  if (buffers[x].fixed_offset != buffers[y].fixed_offset) {
    return buffers[x].fixed_offset < buffers[y].fixed_offset ? -1 : 1;
  }
  return (x > y) - (x < y);
}

// Neighbours in order of offset tell whether any two overlap.
static stow_status check_fixed_apart(const pass* p, uint32_t* fixed, size_t fixed_count) {
  const stowi_buffer* buffers = p->problem->buffers.data;
  if (stowi_sort(fixed, fixed_count, sizeof(uint32_t), by_fixed_offset, p->problem, p->allocator) !=
      STOW_OK) {
    return stowi_fail_memory(p->diag);
  }
  for (size_t i = 1; i < fixed_count; ++i) {
    if (footprints_meet(&buffers[fixed[i - 1]], &buffers[fixed[i]])) {
      return report_conflict(p, fixed[i - 1] > fixed[i] ? fixed[i - 1] : fixed[i], false);
    }
  }
  return STOW_OK;
}

static stow_status place_fixed_apart(pass* p) {
  size_t count = p->problem->buffers.count;
  size_t fixed_count = 0;
  uint32_t* fixed = STOWI_ARRAY(p->allocator, uint32_t, count - p->order_count);
  if (fixed == NULL) {
    return stowi_fail_memory(p->diag);
  }
  for (size_t i = 0; i < count; ++i) {
    const stowi_buffer* buffer = &p->problem->buffers.data[i];
    if (stowi_is_fixed(buffer)) {
      fixed[fixed_count++] = (uint32_t)i;
      put(p, i, buffer->fixed_offset);
    }
  }
  stow_status status = check_fixed_apart(p, fixed, fixed_count);
  STOWI_ARRAY_FREE(p->allocator, fixed, fixed_count);
  return status;
}

static stow_status place_without_reuse(pass* p) {
  STOW_TRY(place_fixed_apart(p));
  for (size_t i = 0; i < p->order_count; ++i) {
    size_t buffer = p->order[i].buffer;
    uint64_t mask = p->problem->buffers.data[buffer].alignment - 1;
    put(p, buffer, (p->placement->height + mask) & ~mask);
  }
  return STOW_OK;
}

stow_status stowi_place_greedy(const stow_problem* problem, const stow_place_options* options,
                               stow_allocator allocator, stow_diag* diag, stowi_pick pick,
                               stow_placement** out_placement) {
  *out_placement = NULL;
  stow_place_options full;
  stow_place_options_init(&full);
  STOW_TRY(stowi_load_struct(&full, options, sizeof(full), "stow_place_options", diag));
  pass p = {.problem = problem, .allocator = allocator, .diag = diag};
  p.placement = stowi_placement_create(allocator, problem->buffers.count);
  if (p.placement == NULL) {
    return stowi_fail_memory(diag);
  }
  stow_status status = make_order(&p);
  if (status == STOW_OK) {
    status = full.reuse ? place_in_gaps(&p, pick) : place_without_reuse(&p);
  }
  STOWI_ARRAY_FREE(allocator, p.order, problem->buffers.count);
  if (status != STOW_OK) {
    stow_placement_destroy(p.placement);
    return status;
  }
  *out_placement = p.placement;
  return STOW_OK;
}
