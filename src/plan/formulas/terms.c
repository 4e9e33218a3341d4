// The arena of a region as a formula: the largest of a few sums, which is not below it at any
// point. A sum is a chain from the bottom of the arena to its top, each buffer on the one below: no
// arena is smaller than any of them, and at each point one reaches it. So chains are collected,
// from the last point down, until at every point the largest of those found so far is the arena.
// Scratch whose sizes are a table counts with the largest one of the region: then the formula may
// be above the arena, by its *slack*.
#include <string.h>

#include "base/diag.h"
#include "plan/formulas/formula.h"

// A formula with more sums is not worth reading.
#define MOST_TERMS 16

typedef struct seeker {
  stow_formula* formula;
  stowi_plan_formula_region* region;
  uint32_t number;  // of the region
  stow_formula_walk* walk;
  stow_dims* dims;
  STOWI_VEC(stow_dim) found;
} seeker;

// The expression, or the number of a table at the walk's point.
static stow_dim dim_of(const seeker* s, uint32_t expr) {
  const stowi_plan_formula_expr* from = &s->formula->exprs.data[expr];
  return from->table == NULL ? from->dim : (stow_dim)from->table[s->walk->point];
}

// The expression of the terms that gives |number| at the walk's point.
static stow_dim term_with(const seeker* s, uint32_t first, uint32_t end, uint64_t number) {
  for (uint32_t i = first; i < end; ++i) {
    uint32_t expr = s->region->terms[i];
    if (stowi_plan_formula_number(s->walk, expr) == number) {
      return dim_of(s, expr);
    }
  }
  return STOW_DIM_INVALID;
}

// Bytes of |part| up to its end, with the guard.
static stow_dim high_of(const seeker* s, uint32_t part) {
  const stowi_plan_formula_part* own = &s->region->parts[part];
  const stowi_plan_formula_buffer* buffer = &s->region->buffers[own->buffer];
  uint64_t high = s->walk->high[part];
  uint64_t bytes = high - buffer->guard;
  stow_dim dim = term_with(s, own->first_high, own[1].first_low, bytes);
  if (bytes == buffer->most || bytes == buffer->empty_size) {
    dim = (stow_dim)bytes;
  }
  return stow_dim_add(s->dims, dim, (stow_dim)buffer->guard);
}

static stow_dim low_of(const seeker* s, uint32_t part) {
  const stowi_plan_formula_part* own = &s->region->parts[part];
  return own->at_bottom ? 0 : term_with(s, own->first_low, own->first_high, s->walk->low[part]);
}

static stow_dim aligned(const seeker* s, stow_dim offset, uint64_t alignment) {
  stow_dim units = stow_dim_ceil_div(s->dims, offset, (stow_dim)alignment);
  return stow_dim_mul(s->dims, units, (stow_dim)alignment);
}

// The edge that holds the buffer at |place| up; SIZE_MAX: none does.
static size_t support_of(const seeker* s, size_t place) {
  const stowi_place_orientation* o = s->region->orientation;
  uint64_t alignment = s->region->constraints[o->order[place]].alignment;
  uint64_t offset = s->walk->offsets[o->order[place]];
  for (size_t e = o->first_edge[place]; e < o->first_edge[place + 1] && offset != 0; ++e) {
    stowi_place_edge edge = o->edges[e];
    uint64_t end = s->walk->offsets[o->buffer_of[edge.below]] + s->walk->high[edge.below];
    uint64_t least = end > s->walk->low[edge.above] ? end - s->walk->low[edge.above] : 0;
    if (((least + (alignment - 1)) & ~(alignment - 1)) == offset) {
      return e;
    }
  }
  return SIZE_MAX;
}

static size_t place_of(const stowi_place_orientation* o, uint32_t buffer) {
  size_t place = 0;
  while (o->order[place] != buffer) {
    ++place;
  }
  return place;
}

// The offset of |buffer|: the edges of its chain from the top down are collected first.
static stow_dim offset_of(seeker* s, uint32_t buffer, size_t* chain) {
  const stowi_place_orientation* o = s->region->orientation;
  size_t count = 0;
  uint64_t fixed;
  for (;;) {
    fixed = s->region->constraints[buffer].fixed_offset;
    size_t e = fixed == STOW_PLACE_ANYWHERE ? support_of(s, place_of(o, buffer)) : SIZE_MAX;
    if (e == SIZE_MAX) {
      break;
    }
    chain[count++] = e;
    buffer = o->buffer_of[o->edges[e].below];
  }
  stow_dim offset = fixed == STOW_PLACE_ANYWHERE ? 0 : (stow_dim)fixed;
  while (count > 0) {
    stowi_place_edge edge = o->edges[chain[--count]];
    uint64_t alignment = s->region->constraints[o->buffer_of[edge.above]].alignment;
    stow_dim end = stow_dim_add(s->dims, offset, high_of(s, edge.below));
    offset = aligned(s, stow_dim_sub(s->dims, end, low_of(s, edge.above)), alignment);
  }
  return offset;
}

static stow_dim size_of(const seeker* s, const stowi_plan_formula_buffer* buffer) {
  uint64_t size = stowi_plan_formula_size(s->walk, buffer);
  if (buffer->most >= size || size == buffer->empty_size) {
    return (stow_dim)(buffer->most > size ? buffer->most : size);
  }
  return dim_of(s, buffer->size);
}

// The chain to the highest end at the walk's point.
static stow_dim chain_at(seeker* s, size_t* chain) {
  for (uint32_t i = 0; i < s->region->buffer_count; ++i) {
    const stowi_plan_formula_buffer* buffer = &s->region->buffers[i];
    uint64_t size = stowi_plan_formula_size(s->walk, buffer);
    size = (size > buffer->most ? size : buffer->most) + buffer->guard;
    if (size != 0 && s->walk->offsets[i] + size == s->walk->arena) {
      stow_dim end = stow_dim_add(s->dims, offset_of(s, i, chain), size_of(s, buffer));
      return stow_dim_add(s->dims, end, (stow_dim)buffer->guard);
    }
  }
  return 0;
}

// The largest of the sums at the walk's point.
static uint64_t largest_sum(const seeker* s) {
  uint64_t largest = 0;
  for (size_t i = 0; i < s->found.count; ++i) {
    int64_t number;
    if (stow_dim_evaluate(s->dims, s->found.data[i], s->walk->values, &number) == STOW_OK &&
        number >= 0 && (uint64_t)number > largest) {
      largest = (uint64_t)number;
    }
  }
  return largest;
}

static bool is_reached(const seeker* s) { return largest_sum(s) >= s->walk->arena; }

static uint64_t slack_of(const seeker* s) {
  uint64_t slack = 0;
  for (size_t point = 0; point < s->formula->point_count; ++point) {
    if (s->formula->region_at[point] == s->number &&
        stowi_plan_formula_walk_region(s->walk, s->region, point)) {
      uint64_t above = largest_sum(s) - s->walk->arena;
      slack = above > slack ? above : slack;
    }
  }
  return slack;
}

// False if there is no such formula, or there are too many chains.
static stow_status seek(seeker* s, size_t* chain, bool* out_found) {
  stow_formula* formula = s->formula;
  *out_found = true;
  for (size_t point = formula->point_count; point-- > 0 && *out_found;) {
    if (formula->region_at[point] != s->number ||
        !stowi_plan_formula_walk_region(s->walk, s->region, point) || is_reached(s)) {
      continue;
    }
    stow_dim found = chain_at(s, chain);
    if (stow_dims_status(s->dims) == STOW_ERR_OUT_OF_MEMORY) {
      return STOW_ERR_OUT_OF_MEMORY;
    }
    stow_dims_clear_status(s->dims);
    if (found == STOW_DIM_INVALID || s->found.count == MOST_TERMS) {
      *out_found = false;
      break;
    }
    STOW_TRY(STOWI_VEC_RESERVE(formula->allocator, &s->found, 1));
    s->found.data[s->found.count++] = found;
    *out_found = is_reached(s);
  }
  return STOW_OK;
}

static stow_status find_terms(stow_formula* formula, uint32_t number, stow_formula_walk* walk) {
  stowi_plan_formula_region* region = formula->regions.data[number];
  seeker s = {.formula = formula,
              .region = region,
              .number = number,
              .walk = walk,
              .dims = stow_graph_edit_dims(formula->graph)};
  size_t* chain = STOWI_ARRAY(formula->allocator, size_t, region->buffer_count);
  if (chain == NULL) {
    return STOW_ERR_OUT_OF_MEMORY;
  }
  bool found;
  stow_status status = seek(&s, chain, &found);
  STOWI_ARRAY_FREE(formula->allocator, chain, region->buffer_count);
  if (status == STOW_OK) {
    region->slack = found ? slack_of(&s) : UINT64_MAX;
    region->sums = STOWI_ARRAY(formula->allocator, stow_dim, s.found.count);
    region->sum_count = s.found.count;
    status = region->sums == NULL ? STOW_ERR_OUT_OF_MEMORY : STOW_OK;
  }
  if (status == STOW_OK && s.found.count != 0) {
    memcpy(region->sums, s.found.data, s.found.count * sizeof(stow_dim));
  }
  STOWI_VEC_FREE(formula->allocator, &s.found);
  return status;
}

stow_status stowi_plan_formula_find_sums(stow_formula* formula, stow_diag* diag) {
  stow_formula_walk* walk;
  stow_status status = STOW_OK;
  STOW_TRY(stow_formula_walk_create(formula, formula->allocator, diag, &walk));
  for (uint32_t i = 0; i < formula->regions.count && status == STOW_OK; ++i) {
    status = find_terms(formula, i, walk);
  }
  stow_formula_walk_destroy(walk);
  return stowi_need_memory(status == STOW_OK, diag);
}

stow_status stow_formula_write_sum(const stow_formula* formula, size_t region, size_t sum,
                                   stow_writer writer) {
  if (region >= formula->regions.count || sum >= formula->regions.data[region]->sum_count) {
    return STOW_ERR_NOT_FOUND;
  }
  return stow_dim_print(stow_graph_dims(formula->graph), formula->regions.data[region]->sums[sum],
                        writer);
}
