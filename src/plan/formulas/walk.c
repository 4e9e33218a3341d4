// A structure at a point: numbers of expressions, then parts, then offsets from bottom to top, then
// the load by one sweep over the steps. Each expression is computed once, when it is first needed:
// there are few different ones. O(buffers + parts + edges), nothing is allocated.
#include <string.h>

#include "base/bits.h"
#include "base/diag.h"
#include "base/sort.h"
#include "plan/formulas/formula.h"

// No sum of offsets, sizes and guards overflows if each number is below this.
static uint64_t largest(const stowi_plan_formula_region* region) {
  return (UINT64_C(1) << 61) / (region->buffer_count + 1);
}

static void most_of(const stow_formula* formula, size_t* out_buffers, size_t* out_parts) {
  *out_buffers = *out_parts = 0;
  for (size_t i = 0; i < formula->regions.count; ++i) {
    const stowi_plan_formula_region* region = formula->regions.data[i];
    *out_buffers = region->buffer_count > *out_buffers ? region->buffer_count : *out_buffers;
    *out_parts = region->part_count > *out_parts ? region->part_count : *out_parts;
  }
}

void stow_formula_walk_destroy(stow_formula_walk* walk) {
  if (walk == NULL) {
    return;
  }
  stow_allocator allocator = walk->allocator;
  STOWI_ARRAY_FREE(allocator, walk->values, walk->formula->all_symbols);
  STOWI_ARRAY_FREE(allocator, walk->numbers, walk->expr_count);
  STOWI_ARRAY_FREE(allocator, walk->computed, walk->expr_count);
  STOWI_ARRAY_FREE(allocator, walk->low, walk->part_capacity);
  STOWI_ARRAY_FREE(allocator, walk->high, walk->part_capacity);
  STOWI_ARRAY_FREE(allocator, walk->offsets, walk->buffer_capacity);
  STOWI_ARRAY_FREE(allocator, walk->buffer_of, walk->formula->value_count);
  STOWI_DELETE(allocator, walk);
}

stow_status stow_formula_walk_create(const stow_formula* formula, stow_allocator allocator,
                                     stow_diag* diag, stow_formula_walk** out_walk) {
  *out_walk = NULL;
  stow_formula_walk* walk = STOWI_NEW(allocator, stow_formula_walk);
  STOW_TRY(stowi_need_memory(walk != NULL, diag));
  walk->allocator = allocator;
  walk->formula = formula;
  walk->expr_count = formula->exprs.count;
  most_of(formula, &walk->buffer_capacity, &walk->part_capacity);
  walk->values = STOWI_ARRAY(allocator, int64_t, formula->all_symbols);
  walk->numbers = STOWI_ARRAY(allocator, uint64_t, walk->expr_count);
  walk->computed = STOWI_ARRAY_ZERO(allocator, uint32_t, walk->expr_count);
  walk->low = STOWI_ARRAY(allocator, uint64_t, walk->part_capacity);
  walk->high = STOWI_ARRAY(allocator, uint64_t, walk->part_capacity);
  walk->offsets = STOWI_ARRAY(allocator, uint64_t, walk->buffer_capacity);
  walk->buffer_of = STOWI_ARRAY(allocator, uint32_t, formula->value_count);
  if (walk->values == NULL || walk->numbers == NULL || walk->computed == NULL ||
      walk->low == NULL || walk->high == NULL || walk->offsets == NULL || walk->buffer_of == NULL) {
    stow_formula_walk_destroy(walk);
    return stowi_fail_memory(diag);
  }
  *out_walk = walk;
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Numbers

uint64_t stowi_plan_formula_compute(stow_formula_walk* walk, uint32_t expr) {
  const stowi_plan_formula_expr* from = &walk->formula->exprs.data[expr];
  int64_t number = 0;
  uint64_t bytes = UINT64_MAX;
  if (from->table != NULL) {
    bytes = from->table[walk->point];
  } else if (stow_dim_evaluate(stow_graph_dims(walk->formula->graph), from->dim, walk->values,
                               &number) == STOW_OK) {
    bytes = number < 0 ? 0 : (uint64_t)number;
  }
  walk->computed[expr] = walk->visit;
  walk->numbers[expr] = bytes;
  return bytes;
}

uint64_t stowi_plan_formula_size(stow_formula_walk* walk, const stowi_plan_formula_buffer* buffer) {
  uint64_t size = stowi_plan_formula_number(walk, buffer->size);
  return size == 0 ? buffer->empty_size : size;
}

// The terms are computed by now.
static uint64_t least_of(const stow_formula_walk* walk, const uint32_t* terms, size_t count) {
  uint64_t least = walk->numbers[terms[0]];
  for (size_t i = 1; i < count; ++i) {
    uint64_t number = walk->numbers[terms[i]];
    least = number < least ? number : least;
  }
  return least;
}

static uint64_t most_among(const stow_formula_walk* walk, const uint32_t* terms, size_t count) {
  uint64_t most = walk->numbers[terms[0]];
  for (size_t i = 1; i < count; ++i) {
    uint64_t number = walk->numbers[terms[i]];
    most = number > most ? number : most;
  }
  return most;
}

static bool fill_parts(stow_formula_walk* walk, const stowi_plan_formula_region* region) {
  uint64_t largest_part = 0;
  for (size_t i = 0; i < region->used_count; ++i) {
    (void)stowi_plan_formula_compute(walk, region->used[i]);
  }
  for (size_t i = 0; i < region->part_count; ++i) {
    const stowi_plan_formula_part* part = &region->parts[i];
    const stowi_plan_formula_buffer* buffer = &region->buffers[part->buffer];
    uint64_t high =
        most_among(walk, &region->terms[part->first_high], part[1].first_low - part->first_high);
    walk->low[i] = part->at_bottom ? 0
                                   : least_of(walk, &region->terms[part->first_low],
                                              part->first_high - part->first_low);
    high = high == 0 ? buffer->empty_size : high;
    high = high > buffer->most ? high : buffer->most;
    largest_part = high > largest_part ? high : largest_part;
    walk->high[i] = high + buffer->guard;
  }
  return largest_part < largest(region);
}

// The highest end. A buffer with windows needs room for all of itself.
static uint64_t height_of(stow_formula_walk* walk, const stowi_plan_formula_region* region) {
  uint64_t height = 0;
  for (size_t i = 0; i < region->buffer_count; ++i) {
    const stowi_plan_formula_buffer* buffer = &region->buffers[i];
    uint64_t size = stowi_plan_formula_size(walk, buffer);
    size = size > buffer->most ? size : buffer->most;
    uint64_t end = walk->offsets[i] + size + buffer->guard;
    height = size != 0 && end > height ? end : height;
  }
  return height;
}

bool stowi_plan_formula_walk_region(stow_formula_walk* walk,
                                    const stowi_plan_formula_region* region, size_t point) {
  walk->point = point;
  walk->region = region;
  ++walk->visit;
  stowi_plan_formula_values(walk->formula, point, walk->values);
  if (!fill_parts(walk, region) ||
      stowi_place_orientation_offsets(region->orientation, walk->low, walk->high,
                                      region->constraints, walk->offsets) != STOWI_PLACE_ORIENTED) {
    return false;
  }
  walk->arena = height_of(walk, region);
  return true;
}

// ---------------------------------------------------------------------------------------------
// Public

static void index_buffers(stow_formula_walk* walk) {
  const stowi_plan_formula_region* region = walk->region;
  memset(walk->buffer_of, 0xff, walk->formula->value_count * sizeof(uint32_t));
  for (uint32_t i = 0; i < region->buffer_count; ++i) {
    if (region->buffers[i].kind == STOWI_PLAN_FORMULA_ROOT) {
      walk->buffer_of[region->buffers[i].id] = i;
    }
  }
}

uint64_t stow_formula_walk_to(stow_formula_walk* walk, size_t point) {
  const stowi_plan_formula_region* before = walk->region;
  const stow_formula* formula = walk->formula;
  (void)stowi_plan_formula_walk_region(walk, formula->regions.data[formula->region_at[point]],
                                       point);
  if (walk->region != before) {
    index_buffers(walk);
  }
  return walk->arena;
}

bool stow_formula_walk_slot(stow_formula_walk* walk, stow_value value, stow_slot* out_slot) {
  *out_slot = (stow_slot){0, 0, 0};
  if (walk->region == NULL || value >= walk->formula->value_count) {
    return false;
  }
  const stowi_plan_formula_value* own = &walk->region->values[value];
  uint32_t buffer = walk->buffer_of[own->root];
  if (!own->has_slot || buffer == UINT32_MAX ||
      stowi_plan_formula_size(walk, &walk->region->buffers[buffer]) == 0) {
    return false;
  }
  out_slot->offset = walk->offsets[buffer] + stowi_plan_formula_number(walk, own->inner);
  out_slot->size = value == own->root
                       ? stowi_plan_formula_size(walk, &walk->region->buffers[buffer])
                       : stowi_plan_formula_number(walk, own->bytes);
  return true;
}

// ---------------------------------------------------------------------------------------------
// Arenas and loads of a whole range

// A part begins or ends.
typedef struct event {
  uint64_t key;  // step, ends first
  uint32_t part;
} event;

typedef struct measure {
  stow_formula_walk* walk;
  stowi_plan_formula_region* region;
  uint64_t mask;  // everything begins at a multiple of mask + 1
  event* events;
} measure;

static void fill_events(const measure* m) {
  for (uint32_t i = 0; i < m->region->part_count; ++i) {
    const stowi_plan_formula_part* part = &m->region->parts[i];
    m->events[2 * i] = (event){(uint64_t)part->begin << 1 | 1, i};
    m->events[2 * i + 1] = (event){(uint64_t)part->end << 1, i};
  }
}

// As stow_problem_load: of what is live together, all but the topmost end in padding.
static uint64_t load_at(const measure* m) {
  const stow_formula_walk* walk = m->walk;
  uint64_t bytes = 0, most = 0, padded = 0, most_padded = 0, padding = 0, bound = 0;
  for (size_t i = 0; i < 2 * m->region->part_count; ++i) {
    uint32_t part = m->events[i].part;
    uint64_t own = walk->high[part] > walk->low[part] ? walk->high[part] - walk->low[part] : 0;
    uint64_t rounded = (own + m->mask) & ~m->mask;
    if ((m->events[i].key & 1) == 0) {
      bytes -= own;
      padded -= rounded;
      continue;
    }
    bytes += own;
    padded += rounded;
    padding = rounded - own > padding ? rounded - own : padding;
    most = bytes > most ? bytes : most;
    most_padded = padded > most_padded ? padded : most_padded;
  }
  for (size_t i = 0; i < m->region->buffer_count; ++i) {
    const stowi_place_constraint* constraint = &m->region->constraints[i];
    const stowi_plan_formula_buffer* buffer = &m->region->buffers[i];
    uint64_t size = stowi_plan_formula_size(m->walk, buffer);
    size = (size > buffer->most ? size : buffer->most) + buffer->guard;
    uint64_t offset =
        constraint->fixed_offset == STOW_PLACE_ANYWHERE ? 0 : constraint->fixed_offset;
    bound = size != 0 && offset + size > bound ? offset + size : bound;
  }
  most_padded = most_padded > padding ? most_padded - padding : 0;
  most = most > most_padded ? most : most_padded;
  return most > bound ? most : bound;
}

static uint64_t unit_of(const stowi_plan_formula_region* region) {
  uint64_t starts = region->facts.alignment;
  for (size_t i = 0; i < region->buffer_count; ++i) {
    starts |= region->constraints[i].alignment;
  }
  // Parts that begin inside their buffers may begin anywhere.
  for (size_t i = 0; i < region->part_count; ++i) {
    starts |= region->parts[i].at_bottom ? 0 : 1;
  }
  return starts & (~starts + 1);
}

static void add_used(stowi_plan_formula_region* region, stowi_bits* seen, uint32_t expr) {
  if (!stowi_bits_has(seen, expr)) {
    stowi_bits_add(seen, expr);
    region->used[region->used_count++] = expr;
  }
}

static stow_status find_used(const stow_formula* formula, stowi_plan_formula_region* region) {
  stowi_bits seen;
  region->used =
      STOWI_ARRAY(formula->allocator, uint32_t, region->term_count + region->buffer_count);
  if (region->used == NULL ||
      !stowi_bits_init(&seen, (uint32_t)formula->exprs.count, formula->allocator)) {
    return STOW_ERR_OUT_OF_MEMORY;
  }
  for (size_t i = 0; i < region->term_count; ++i) {
    add_used(region, &seen, region->terms[i]);
  }
  for (size_t i = 0; i < region->buffer_count; ++i) {
    add_used(region, &seen, region->buffers[i].size);
  }
  stowi_bits_free(&seen, formula->allocator);
  return STOW_OK;
}

stow_status stowi_plan_formula_measure(stow_formula* formula, stowi_plan_formula_region* region,
                                       stow_diag* diag) {
  size_t events = 2 * region->part_count;
  measure m = {.region = region, .mask = unit_of(region) - 1};
  STOW_TRY(stowi_need_memory(find_used(formula, region) == STOW_OK, diag));
  STOW_TRY(stow_formula_walk_create(formula, formula->allocator, diag, &m.walk));
  m.events = STOWI_ARRAY(formula->allocator, event, events);
  region->arena = STOWI_ARRAY(formula->allocator, uint64_t, formula->point_count);
  region->load = STOWI_ARRAY_ZERO(formula->allocator, uint64_t, formula->point_count);
  stow_status status = STOW_ERR_OUT_OF_MEMORY;
  if (m.events != NULL && region->arena != NULL && region->load != NULL) {
    fill_events(&m);
    status = stowi_sort_by_key(m.events, events, sizeof(event), formula->allocator);
  }
  for (size_t point = 0; status == STOW_OK && point < formula->point_count; ++point) {
    region->arena[point] = UINT64_MAX;
    if (stowi_plan_formula_walk_region(m.walk, region, point)) {
      region->arena[point] = m.walk->arena;
      region->load[point] = load_at(&m);
    }
  }
  STOWI_ARRAY_FREE(formula->allocator, m.events, events);
  stow_formula_walk_destroy(m.walk);
  return stowi_need_memory(status == STOW_OK, diag);
}
