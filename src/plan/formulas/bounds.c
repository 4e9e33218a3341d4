// Bounds for a range with too many points to look at each: over a box of shapes each size is
// between two numbers. An arena only grows if sizes do, and if parts begin lower; so the arena with
// the largest sizes is not below that of any shape of the box, and the load with the smallest ones
// is not above any. The gap between these two bounds all gaps of the box. Boxes with the largest
// gaps are divided, until no gap is notable or there are too many boxes: branch and bound.
//
//     arena ▲          ┌───┐          arena of the box: with its largest sizes
//           │      ┌───┘ ·´│
//           │  ┌───┘·´ ·´┌─┘          load of the box: with its smallest ones
//           │  │·´  ·´┌──┘
//           └──┴──────┴──────▶ shapes
//
// A box that is one shape has the arena and the load of that shape. O(boxes × (parts + edges)).
#include <string.h>

#include "base/diag.h"
#include "base/sort.h"
#include "graph/api.h"
#include "plan/formulas/formula.h"

#define MOST_BOXES 65536
// Boxes times parts.
#define MOST_WORK 40000000
// A gap of one in so many is not worth dividing a box.
#define FINE 100

typedef struct event {
  uint64_t key;  // step, ends first
  uint32_t part;
} event;

typedef struct box {
  uint32_t region;
  uint64_t first[STOW_MAX_RANK];  // steps from the least value
  uint64_t last[STOW_MAX_RANK];
  uint64_t arena;  // UINT64_MAX: no bound
  uint64_t load;
} box;

typedef struct bounder {
  stow_formula* formula;
  stow_allocator allocator;
  stow_dims* dims;
  stow_formula_walk* walk;  // its arrays for parts and buffers
  uint64_t* least;          // by expression
  uint64_t* most;
  event** events;  // by region
  box* boxes;      // a heap: the largest gap first
  size_t box_count;
  size_t box_room;
} bounder;

// ---------------------------------------------------------------------------------------------
// One box

static stow_status enter(const bounder* b, const box* at) {
  const stow_formula* formula = b->formula;
  for (size_t i = 0; i < formula->symbol_count; ++i) {
    stow_dim_range range = {stowi_plan_formula_value_at(formula, i, at->first[i]),
                            stowi_plan_formula_value_at(formula, i, at->last[i]),
                            formula->ranges[i].step};
    STOW_TRY(stow_dims_set_range(b->dims, formula->symbols[i], &range));
  }
  return STOW_OK;
}

static stow_status leave(const bounder* b) {
  const stow_formula* formula = b->formula;
  for (size_t i = 0; i < formula->symbol_count; ++i) {
    STOW_TRY(stow_dims_set_range(b->dims, formula->symbols[i], &formula->ranges[i]));
  }
  return STOW_OK;
}

static bool find_numbers(const bounder* b, const stowi_plan_formula_region* region) {
  uint64_t largest = (UINT64_C(1) << 61) / (region->buffer_count + 1);
  for (size_t i = 0; i < region->used_count; ++i) {
    uint32_t expr = region->used[i];
    const stowi_plan_formula_expr* from = &b->formula->exprs.data[expr];
    int64_t least = 0;
    int64_t most = INT64_MAX;
    if (from->table == NULL) {
      stowi_graph_dim_interval(b->dims, from->dim, &least, &most);
    }
    b->least[expr] = least < 0 ? 0 : (uint64_t)least;
    b->most[expr] = most < 0 ? 0 : (uint64_t)most;
    if (b->most[expr] >= largest) {
      return false;
    }
  }
  return true;
}

static uint64_t limit(const uint64_t* numbers, const uint32_t* terms, size_t count, bool is_most) {
  uint64_t found = numbers[terms[0]];
  for (size_t i = 1; i < count; ++i) {
    uint64_t number = numbers[terms[i]];
    found = (number > found) == is_most ? number : found;
  }
  return found;
}

static uint64_t at_least(uint64_t size, uint64_t least) { return size > least ? size : least; }

// Parts as large as they get.
static void fill_most(const bounder* b, const stowi_plan_formula_region* region) {
  for (size_t i = 0; i < region->part_count; ++i) {
    const stowi_plan_formula_part* part = &region->parts[i];
    const stowi_plan_formula_buffer* buffer = &region->buffers[part->buffer];
    uint64_t high = limit(b->most, &region->terms[part->first_high],
                          part[1].first_low - part->first_high, true);
    b->walk->low[i] = part->at_bottom ? 0
                                      : limit(b->least, &region->terms[part->first_low],
                                              part->first_high - part->first_low, false);
    // A size of 0 counts as |empty_size|, which may be more than others of the box.
    b->walk->high[i] = at_least(at_least(high, buffer->empty_size), buffer->most) + buffer->guard;
  }
}

static uint64_t arena_of(const bounder* b, const stowi_plan_formula_region* region) {
  fill_most(b, region);
  if (stowi_place_orientation_offsets(region->orientation, b->walk->low, b->walk->high,
                                      region->constraints,
                                      b->walk->offsets) != STOWI_PLACE_ORIENTED) {
    return UINT64_MAX;
  }
  uint64_t height = 0;
  for (size_t i = 0; i < region->buffer_count; ++i) {
    const stowi_plan_formula_buffer* buffer = &region->buffers[i];
    uint64_t size = at_least(at_least(b->most[buffer->size], buffer->empty_size), buffer->most);
    height = size == 0 ? height : at_least(height, b->walk->offsets[i] + size + buffer->guard);
  }
  return height;
}

// What a part has at least.
static uint64_t least_of_part(const bounder* b, const stowi_plan_formula_region* region,
                              const stowi_plan_formula_part* part) {
  const stowi_plan_formula_buffer* buffer = &region->buffers[part->buffer];
  uint64_t high =
      limit(b->least, &region->terms[part->first_high], part[1].first_low - part->first_high, true);
  uint64_t low = part->at_bottom ? 0
                                 : limit(b->most, &region->terms[part->first_low],
                                         part->first_high - part->first_low, false);
  high = at_least(high, buffer->most) + buffer->guard;
  return high > low ? high - low : 0;
}

static uint64_t load_of(const bounder* b, const stowi_plan_formula_region* region,
                        const event* events) {
  uint64_t bytes = 0;
  uint64_t most = 0;
  for (size_t i = 0; i < 2 * region->part_count; ++i) {
    uint64_t own = least_of_part(b, region, &region->parts[events[i].part]);
    bytes = (events[i].key & 1) == 0 ? bytes - own : bytes + own;
    most = at_least(most, bytes);
  }
  return most;
}

static stow_status measure(const bounder* b, box* at) {
  const stow_formula* formula = b->formula;
  STOW_TRY(enter(b, at));
  at->load = UINT64_MAX;
  at->arena = UINT64_MAX;
  for (size_t i = 0; i < formula->regions.count; ++i) {
    const stowi_plan_formula_region* region = formula->regions.data[i];
    bool has_numbers = find_numbers(b, region);
    uint64_t load = has_numbers ? load_of(b, region, b->events[i]) : 0;
    at->load = load < at->load ? load : at->load;
    if (i == at->region) {
      at->arena = has_numbers ? arena_of(b, region) : UINT64_MAX;
    }
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Boxes

static double gap_of(const box* at) { return (double)at->arena / ((double)at->load + 1); }

static bool is_notable(const box* at) { return at->arena > stowi_plan_formula_tolerable(at->load); }

// Whether smaller boxes would tell more.
static bool is_coarse(const box* at) {
  return is_notable(at) || (at->arena > at->load && at->arena - at->load > at->load / FINE);
}

// Notable gaps come first.
static bool is_worse(const box* a, const box* b) {
  bool x = is_notable(a);
  return x != is_notable(b) ? x : gap_of(a) > gap_of(b);
}

static void push(bounder* b, const box* added) {
  size_t at = b->box_count++;
  while (at > 0 && is_worse(added, &b->boxes[(at - 1) / 2])) {
    b->boxes[at] = b->boxes[(at - 1) / 2];
    at = (at - 1) / 2;
  }
  b->boxes[at] = *added;
}

static void pop(bounder* b) {
  const box last = b->boxes[--b->box_count];
  size_t at = 0;
  for (;;) {
    size_t next = 2 * at + 1;
    if (next >= b->box_count) {
      break;
    }
    next += next + 1 < b->box_count && is_worse(&b->boxes[next + 1], &b->boxes[next]) ? 1 : 0;
    if (!is_worse(&b->boxes[next], &last)) {
      break;
    }
    b->boxes[at] = b->boxes[next];
    at = next;
  }
  b->boxes[at] = last;
}

// The symbol whose values differ most, as a ratio; SIZE_MAX: the box is one shape.
static size_t widest(const stow_formula* formula, const box* at) {
  size_t found = SIZE_MAX;
  double most = 0;
  for (size_t i = 0; i < formula->symbol_count; ++i) {
    double low = (double)stowi_plan_formula_value_at(formula, i, at->first[i]);
    double high = (double)stowi_plan_formula_value_at(formula, i, at->last[i]);
    if (at->last[i] > at->first[i] && (high + 1) / (low + 1) > most) {
      most = (high + 1) / (low + 1);
      found = i;
    }
  }
  return found;
}

static stow_status divide(bounder* b) {
  box halves[2] = {b->boxes[0], b->boxes[0]};
  size_t symbol = widest(b->formula, &halves[0]);
  uint64_t middle =
      halves[0].first[symbol] + (halves[0].last[symbol] - halves[0].first[symbol]) / 2;
  halves[0].last[symbol] = middle;
  halves[1].first[symbol] = middle + 1;
  pop(b);
  for (int i = 0; i < 2; ++i) {
    STOW_TRY(measure(b, &halves[i]));
    push(b, &halves[i]);
  }
  return STOW_OK;
}

static stow_status add_boxes(bounder* b) {
  const stow_formula* formula = b->formula;
  for (size_t i = 0; i < formula->boxes.count; ++i) {
    const stowi_plan_formula_box* from = &formula->boxes.data[i];
    box added = {.region = from->region};
    for (size_t k = 0; k < formula->symbol_count; ++k) {
      added.first[k] = stowi_plan_formula_step(formula, k, from->first[k]);
      added.last[k] = stowi_plan_formula_last_step(formula, k, from->last[k]);
    }
    STOW_TRY(measure(b, &added));
    push(b, &added);
  }
  return STOW_OK;
}

static stow_status search(bounder* b) {
  STOW_TRY(add_boxes(b));
  while (b->box_count < b->box_room && is_coarse(&b->boxes[0]) &&
         widest(b->formula, &b->boxes[0]) != SIZE_MAX) {
    STOW_TRY(divide(b));
  }
  const box* worst = &b->boxes[0];
  uint64_t arena = 0;
  for (size_t i = 0; i < b->box_count; ++i) {
    arena = at_least(arena, b->boxes[i].arena);
    worst = gap_of(&b->boxes[i]) > gap_of(worst) ? &b->boxes[i] : worst;
  }
  b->formula->bound = (stowi_plan_formula_bound){arena, worst->arena, worst->load};
  return leave(b);
}

// ---------------------------------------------------------------------------------------------

static stow_status make_events(bounder* b, size_t number) {
  const stowi_plan_formula_region* region = b->formula->regions.data[number];
  size_t count = 2 * region->part_count;
  event* events = STOWI_ARRAY(b->allocator, event, count);
  b->events[number] = events;
  if (events == NULL) {
    return STOW_ERR_OUT_OF_MEMORY;
  }
  for (uint32_t i = 0; i < region->part_count; ++i) {
    events[2 * i] = (event){(uint64_t)region->parts[i].begin << 1 | 1, i};
    events[2 * i + 1] = (event){(uint64_t)region->parts[i].end << 1, i};
  }
  return stowi_sort_by_key(events, count, sizeof(event), b->allocator);
}

static stow_status prepare(bounder* b) {
  const stow_formula* formula = b->formula;
  size_t parts = 1;
  for (size_t i = 0; i < formula->regions.count; ++i) {
    parts += formula->regions.data[i]->part_count;
  }
  b->box_room = MOST_WORK / parts < MOST_BOXES ? MOST_WORK / parts : MOST_BOXES;
  b->box_room += formula->boxes.count + 1;
  b->least = STOWI_ARRAY(b->allocator, uint64_t, formula->exprs.count);
  b->most = STOWI_ARRAY(b->allocator, uint64_t, formula->exprs.count);
  b->boxes = STOWI_ARRAY(b->allocator, box, b->box_room);
  b->events = (event**)stowi_alloc_zero(b->allocator, formula->regions.count, sizeof(event*));
  if (b->least == NULL || b->most == NULL || b->boxes == NULL || b->events == NULL) {
    return STOW_ERR_OUT_OF_MEMORY;
  }
  for (size_t i = 0; i < formula->regions.count; ++i) {
    STOW_TRY(make_events(b, i));
  }
  return STOW_OK;
}

static void release(bounder* b) {
  const stow_formula* formula = b->formula;
  for (size_t i = 0; i < formula->regions.count && b->events != NULL; ++i) {
    STOWI_ARRAY_FREE(b->allocator, b->events[i], 2 * formula->regions.data[i]->part_count);
  }
  if (b->events != NULL) {
    stowi_free(b->allocator, (void*)b->events, formula->regions.count, sizeof(event*));
  }
  STOWI_ARRAY_FREE(b->allocator, b->least, formula->exprs.count);
  STOWI_ARRAY_FREE(b->allocator, b->most, formula->exprs.count);
  STOWI_ARRAY_FREE(b->allocator, b->boxes, b->box_room);
  stow_formula_walk_destroy(b->walk);
}

stow_status stowi_plan_formula_find_bounds(stow_formula* formula, stow_diag* diag) {
  bounder b = {.formula = formula,
               .allocator = formula->allocator,
               .dims = stow_graph_edit_dims(formula->graph)};
  STOW_TRY(stow_formula_walk_create(formula, formula->allocator, diag, &b.walk));
  stow_status status = stowi_need_memory(prepare(&b) == STOW_OK, diag);
  if (status == STOW_OK) {
    status = search(&b);
  }
  release(&b);
  if (status == STOW_OK && formula->bound.arena == UINT64_MAX) {
    return stowi_fail(diag, STOW_ERR_LIMIT,
                      "the ranges are too large for bounds of all sizes; give smaller ranges");
  }
  return status;
}
