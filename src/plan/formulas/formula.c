// Formula plans as data: creation, points, expressions, boxes, getters.
#include "plan/formulas/formula.h"

#include <inttypes.h>
#include <string.h>

#include "base/checked.h"
#include "base/diag.h"

// ---------------------------------------------------------------------------------------------
// Creation

static stow_status find_symbols(stow_formula* formula, const stow_graph* graph, stow_diag* diag) {
  const stow_dims* dims = stow_graph_dims(graph);
  formula->all_symbols = stow_dims_symbol_count(dims);
  formula->symbols = STOWI_ARRAY(formula->allocator, size_t, formula->all_symbols);
  formula->ranges = STOWI_ARRAY(formula->allocator, stow_dim_range, formula->all_symbols);
  STOW_TRY(stowi_need_memory(formula->symbols != NULL && formula->ranges != NULL, diag));
  for (size_t i = 0; i < formula->all_symbols; ++i) {
    stow_str name = stow_dims_symbol_name(dims, i);
    if (!stowi_graph_uses_symbol(graph, i)) {
      continue;
    }
    if (!stow_dims_range(dims, i, &formula->ranges[formula->symbol_count])) {
      return stowi_fail(diag, STOW_ERR_UNBOUND_DIM,
                        "the symbol \"%.*s\" has neither a value nor a range", STOWI_STR_ARG(name));
    }
    if (formula->symbol_count >= STOW_MAX_RANK) {
      return stowi_fail(diag, STOW_ERR_LIMIT, "more than %d symbols have ranges", STOW_MAX_RANK);
    }
    formula->symbols[formula->symbol_count++] = i;
  }
  return STOW_OK;
}

static stow_status fail_count(uint64_t work, uint64_t values, stow_diag* diag) {
  return stowi_fail(diag, STOW_ERR_LIMIT,
                    "the ranges have more than %" PRIu64 " points, the most for %" PRIu64
                    " values, each of which is proven; give smaller ranges or larger steps",
                    work / values, values);
}

static stow_status count_points(stow_formula* formula, const stowi_plan_formula_limits* limits,
                                stow_diag* diag) {
  uint64_t points = 1;
  uint64_t work = 0;
  bool fits = true;
  formula->value_counts = STOWI_ARRAY(formula->allocator, size_t, formula->all_symbols);
  formula->elsewhere = STOWI_ARRAY_ZERO(formula->allocator, int64_t, formula->all_symbols);
  STOW_TRY(stowi_need_memory(formula->value_counts != NULL && formula->elsewhere != NULL, diag));
  for (size_t i = 0; i < formula->symbol_count; ++i) {
    uint64_t count = stow_dim_range_count(&formula->ranges[i]);
    formula->value_counts[i] = (size_t)count;
    fits = fits && stowi_mul_u64(points, count, &points);
  }
  formula->shape_count = fits ? points : UINT64_MAX;
  uint64_t values = formula->value_count == 0 ? 1 : formula->value_count;
  bool is_small = fits && stowi_mul_u64(points, values, &work) && work <= limits->work;
  if (!is_small && !limits->by_bounds) {
    return fail_count(limits->work, values, diag);
  }
  if (!is_small) {
    formula->by_bounds = true;
    STOW_TRY(stowi_need_memory(stowi_plan_formula_sample(formula, limits) == STOW_OK, diag));
    points = stowi_plan_formula_points_with(formula, SIZE_MAX);
    if (points > STOW_FORMULA_MAX_WORK / values) {
      return fail_count(STOW_FORMULA_MAX_WORK, values, diag);
    }
  }
  formula->point_count = (size_t)points;
  formula->region_at = STOWI_ARRAY_ZERO(formula->allocator, uint32_t, formula->point_count);
  return stowi_need_memory(formula->region_at != NULL, diag);
}

stow_status stowi_plan_formula_create(const stow_graph* graph,
                                      const stowi_plan_formula_limits* limits,
                                      stow_allocator allocator, stow_diag* diag,
                                      stow_formula** out_formula) {
  *out_formula = NULL;
  stow_formula* formula = STOWI_NEW(allocator, stow_formula);
  STOW_TRY(stowi_need_memory(formula != NULL, diag));
  formula->allocator = allocator;
  formula->fingerprint = stow_graph_fingerprint(graph);
  formula->value_count = stow_graph_value_count(graph);
  formula->step_count = stow_graph_node_count(graph);
  stow_status status = find_symbols(formula, graph, diag);
  if (status == STOW_OK) {
    status = count_points(formula, limits, diag);
  }
  if (status == STOW_OK) {
    status = stowi_graph_twin_create(graph, allocator, diag, &formula->twin);
  }
  if (status != STOW_OK) {
    stow_formula_destroy(formula);
    return status;
  }
  formula->graph = stowi_graph_twin_graph(formula->twin);
  *out_formula = formula;
  return STOW_OK;
}

void stowi_plan_formula_region_destroy(stow_formula* formula, stowi_plan_formula_region* region) {
  if (region == NULL) {
    return;
  }
  stow_allocator allocator = formula->allocator;
  STOWI_ARRAY_FREE(allocator, region->order, formula->step_count);
  STOWI_ARRAY_FREE(allocator, region->values, formula->value_count);
  STOWI_ARRAY_FREE(allocator, region->buffers, region->buffer_count + 1);
  STOWI_ARRAY_FREE(allocator, region->constraints, region->buffer_count);
  STOWI_ARRAY_FREE(allocator, region->reserved, region->reserved_count);
  STOWI_ARRAY_FREE(allocator, region->parts, region->part_count + 1);
  STOWI_ARRAY_FREE(allocator, region->terms, region->term_count);
  STOWI_ARRAY_FREE(allocator, region->used, region->term_count + region->buffer_count);
  STOWI_ARRAY_FREE(allocator, region->arena, formula->point_count);
  STOWI_ARRAY_FREE(allocator, region->load, formula->point_count);
  STOWI_ARRAY_FREE(allocator, region->sums, region->sum_count);
  stowi_place_orientation_destroy(region->orientation);
  STOWI_DELETE(allocator, region);
}

void stow_formula_destroy(stow_formula* formula) {
  if (formula == NULL) {
    return;
  }
  stow_allocator allocator = formula->allocator;
  for (size_t i = 0; i < formula->regions.count; ++i) {
    stowi_plan_formula_region_destroy(formula, formula->regions.data[i]);
  }
  for (size_t i = 0; i < formula->tables.count; ++i) {
    STOWI_ARRAY_FREE(allocator, formula->tables.data[i], formula->point_count);
  }
  STOWI_VEC_FREE(allocator, &formula->regions);
  STOWI_VEC_FREE(allocator, &formula->tables);
  STOWI_VEC_FREE(allocator, &formula->exprs);
  STOWI_VEC_FREE(allocator, &formula->boxes);
  STOWI_ARRAY_FREE(allocator, formula->region_at, formula->point_count);
  stowi_plan_formula_free_samples(formula);
  STOWI_ARRAY_FREE(allocator, formula->value_counts, formula->all_symbols);
  STOWI_ARRAY_FREE(allocator, formula->elsewhere, formula->all_symbols);
  STOWI_ARRAY_FREE(allocator, formula->symbols, formula->all_symbols);
  STOWI_ARRAY_FREE(allocator, formula->ranges, formula->all_symbols);
  stowi_graph_twin_destroy(formula->twin);
  STOWI_DELETE(allocator, formula);
}

// ---------------------------------------------------------------------------------------------
// Expressions. There are few different ones: values of a model have a few dozen shapes.

static stow_status add_expr(stow_formula* formula, stowi_plan_formula_expr expr,
                            uint32_t* out_expr) {
  STOW_TRY(STOWI_VEC_RESERVE(formula->allocator, &formula->exprs, 1));
  *out_expr = (uint32_t)formula->exprs.count;
  formula->exprs.data[formula->exprs.count++] = expr;
  return STOW_OK;
}

stow_status stowi_plan_formula_add_dim(stow_formula* formula, stow_dim dim, uint32_t* out_expr) {
  for (size_t i = 0; i < formula->exprs.count; ++i) {
    if (formula->exprs.data[i].table == NULL && formula->exprs.data[i].dim == dim) {
      *out_expr = (uint32_t)i;
      return STOW_OK;
    }
  }
  return add_expr(formula, (stowi_plan_formula_expr){dim, NULL}, out_expr);
}

stow_status stowi_plan_formula_add_table(stow_formula* formula, const uint64_t* table,
                                         uint32_t* out_expr) {
  size_t bytes = formula->point_count * sizeof(uint64_t);
  for (size_t i = 0; i < formula->exprs.count; ++i) {
    const uint64_t* other = formula->exprs.data[i].table;
    if (other != NULL && memcmp(other, table, bytes) == 0) {
      *out_expr = (uint32_t)i;
      return STOW_OK;
    }
  }
  STOW_TRY(STOWI_VEC_RESERVE(formula->allocator, &formula->tables, 1));
  uint64_t* copy = STOWI_ARRAY(formula->allocator, uint64_t, formula->point_count);
  if (copy == NULL) {
    return STOW_ERR_OUT_OF_MEMORY;
  }
  memcpy(copy, table, bytes);
  formula->tables.data[formula->tables.count++] = copy;
  return add_expr(formula, (stowi_plan_formula_expr){STOW_DIM_INVALID, copy}, out_expr);
}

const stowi_plan_formula_expr* stowi_plan_formula_exprs(const stow_formula* formula,
                                                        size_t* out_count) {
  *out_count = formula->exprs.count;
  return formula->exprs.data;
}

stowi_plan_formula_structure stowi_plan_formula_structure_of(const stow_formula* formula,
                                                             size_t region) {
  const stowi_plan_formula_region* from = formula->regions.data[region];
  return (stowi_plan_formula_structure){.order = from->order,
                                        .values = from->values,
                                        .buffer_count = from->buffer_count,
                                        .buffers = from->buffers,
                                        .part_count = from->part_count,
                                        .parts = from->parts,
                                        .terms = from->terms,
                                        .orientation = from->orientation,
                                        .constraints = from->constraints};
}

stow_status stowi_plan_formula_fail_dim(const stow_formula* formula, stow_value value,
                                        stow_diag* diag) {
  stow_dims* dims = stow_graph_edit_dims(formula->graph);
  stow_status status = stow_dims_status(dims);
  stow_dims_clear_status(dims);
  status = status == STOW_OK ? STOW_ERR_LIMIT : status;
  stowi_fail(diag, status, "%s: its place is not an expression of the symbols: %s",
             stowi_graph_describe_value(formula->graph, value).text, stow_status_text(status));
  stowi_diag_value(diag, value);
  return status;
}

// ---------------------------------------------------------------------------------------------
// Points

void stowi_plan_formula_values(const stow_formula* formula, size_t point, int64_t* out_values) {
  if (point == formula->point_count) {
    memcpy(out_values, formula->elsewhere, formula->all_symbols * sizeof(*out_values));
    return;
  }
  memset(out_values, 0, formula->all_symbols * sizeof(*out_values));
  for (size_t i = formula->symbol_count; i-- > 0;) {
    size_t count = formula->value_counts[i];
    out_values[formula->symbols[i]] =
        stowi_plan_formula_value_at(formula, i, stowi_plan_formula_step(formula, i, point % count));
    point /= count;
  }
}

const stow_graph* stowi_plan_formula_graph(const stow_formula* formula) { return formula->graph; }

size_t stow_formula_symbol_count(const stow_formula* formula) { return formula->symbol_count; }

stow_str stow_formula_symbol(const stow_formula* formula, size_t index, stow_dim_range* out_range) {
  if (index >= formula->symbol_count) {
    return stow_str_of("");
  }
  if (out_range != NULL) {
    *out_range = formula->ranges[index];
  }
  return stow_dims_symbol_name(stow_graph_dims(formula->graph), formula->symbols[index]);
}

size_t stow_formula_point_count(const stow_formula* formula) { return formula->point_count; }

// The point as indices of values.
static void split_point(const stow_formula* formula, size_t point, uint64_t* out_steps) {
  for (size_t i = formula->symbol_count; i-- > 0;) {
    size_t count = formula->value_counts[i];
    out_steps[i] = point % count;
    point /= count;
  }
}

bool stow_formula_point_values(const stow_formula* formula, size_t point, int64_t* out_values) {
  uint64_t steps[STOW_MAX_RANK];
  if (point >= formula->point_count) {
    return false;
  }
  split_point(formula, point, steps);
  for (size_t i = 0; i < formula->symbol_count; ++i) {
    out_values[i] =
        stowi_plan_formula_value_at(formula, i, stowi_plan_formula_step(formula, i, steps[i]));
  }
  return true;
}

// The index of the value; SIZE_MAX: no point has it.
static size_t index_of(const stow_formula* formula, size_t symbol, int64_t value) {
  const stow_dim_range* range = &formula->ranges[symbol];
  if (!stow_dim_range_has(range, value)) {
    return SIZE_MAX;
  }
  uint64_t step = (uint64_t)((value - range->min) / range->step);
  if (formula->samples == NULL) {
    return (size_t)step;
  }
  size_t low = 0;
  size_t high = formula->value_counts[symbol];
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (formula->samples[symbol][middle] < step) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < formula->value_counts[symbol] && formula->samples[symbol][low] == step ? low
                                                                                      : SIZE_MAX;
}

stow_status stow_formula_find_point(const stow_formula* formula, const int64_t* values,
                                    size_t* out_point) {
  size_t point = 0;
  *out_point = SIZE_MAX;
  for (size_t i = 0; i < formula->symbol_count; ++i) {
    size_t index = index_of(formula, i, values[i]);
    if (index == SIZE_MAX) {
      return STOW_ERR_NOT_FOUND;
    }
    point = point * formula->value_counts[i] + index;
  }
  *out_point = point;
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Boxes: runs along the last symbol, then equal runs of neighbours along the one before, and so on.

static bool is_next(const stow_formula* formula, const stowi_plan_formula_box* a,
                    const stowi_plan_formula_box* b, size_t symbol) {
  for (size_t i = 0; i < formula->symbol_count; ++i) {
    if (i != symbol && (a->first[i] != b->first[i] || a->last[i] != b->last[i])) {
      return false;
    }
  }
  return a->region == b->region && a->last[symbol] + 1 == b->first[symbol];
}

// Joins each box with the first one before it that it continues along |symbol|.
static void join_boxes(stow_formula* formula, size_t symbol) {
  stowi_plan_formula_box* boxes = formula->boxes.data;
  size_t kept = 0;
  for (size_t i = 0; i < formula->boxes.count; ++i) {
    size_t at = kept;
    // Only boxes that end right before this one along |symbol| can be continued, and boxes are in
    // order of their first points.
    while (at > 0 && !is_next(formula, &boxes[at - 1], &boxes[i], symbol)) {
      --at;
    }
    if (at > 0) {
      boxes[at - 1].last[symbol] = boxes[i].last[symbol];
    } else {
      boxes[kept++] = boxes[i];
    }
  }
  formula->boxes.count = kept;
}

stow_status stowi_plan_formula_make_boxes(stow_formula* formula) {
  formula->boxes.count = 0;
  size_t last = formula->symbol_count == 0 ? 0 : formula->symbol_count - 1;
  for (size_t point = 0; point < formula->point_count; ++point) {
    stowi_plan_formula_box box = {.region = formula->region_at[point]};
    split_point(formula, point, box.first);
    memcpy(box.last, box.first, sizeof(box.last));
    stowi_plan_formula_box* before =
        formula->boxes.count == 0 ? NULL : &formula->boxes.data[formula->boxes.count - 1];
    if (before != NULL && formula->symbol_count != 0 && is_next(formula, before, &box, last)) {
      before->last[last] = box.last[last];
      continue;
    }
    STOW_TRY(STOWI_VEC_RESERVE(formula->allocator, &formula->boxes, 1));
    formula->boxes.data[formula->boxes.count++] = box;
  }
  for (size_t symbol = last; symbol-- > 0;) {
    join_boxes(formula, symbol);
  }
  return STOW_OK;
}

bool stowi_plan_formula_is_in_box(const stow_formula* formula, const stowi_plan_formula_box* box,
                                  size_t point) {
  uint64_t steps[STOW_MAX_RANK];
  split_point(formula, point, steps);
  for (size_t i = 0; i < formula->symbol_count; ++i) {
    if (steps[i] < box->first[i] || steps[i] > box->last[i]) {
      return false;
    }
  }
  return true;
}

// ---------------------------------------------------------------------------------------------
// Getters

static const stowi_plan_formula_region* region_of(const stow_formula* formula, size_t point) {
  return formula->regions.data[formula->region_at[point]];
}

// Whether the arena is more above the load at |a| than at |b|.
static bool is_worse(const stow_formula* formula, size_t a, size_t b) {
  const stowi_plan_formula_region* x = region_of(formula, a);
  const stowi_plan_formula_region* y = region_of(formula, b);
  double gap_a = (double)(x->arena[a] - x->load[a]) / (double)(x->load[a] + 1);
  double gap_b = (double)(y->arena[b] - y->load[b]) / (double)(y->load[b] + 1);
  return gap_a > gap_b;
}

stow_status stow_formula_describe_point(const stow_formula* formula, size_t point,
                                        stow_formula_point* out_point) {
  stow_formula_point one = {.region = SIZE_MAX};
  if (point < formula->point_count) {
    const stowi_plan_formula_region* region = region_of(formula, point);
    one = (stow_formula_point){0, region->arena[point], region->load[point],
                               formula->region_at[point]};
  }
  STOW_TRY(stowi_fill_struct(out_point, &one, sizeof(one), "stow_formula_point", NULL));
  return point < formula->point_count ? STOW_OK : STOW_ERR_NOT_FOUND;
}

stow_status stow_formula_describe(const stow_formula* formula, stow_formula_info* out_info) {
  size_t last = formula->point_count - 1;
  stow_formula_info info = {.graph_name = stow_graph_name(formula->graph),
                            .fingerprint = formula->fingerprint,
                            .point_count = formula->point_count,
                            .region_count = formula->regions.count,
                            .plan_count = formula->plan_count,
                            .buffer_count = region_of(formula, last)->buffer_count,
                            .worst_point = last};
  for (size_t i = formula->point_count; i-- > 0;) {
    uint64_t arena = region_of(formula, i)->arena[i];
    if (arena > info.largest_arena) {
      info.largest_arena = arena;
      info.largest_point = i;
    }
    info.worst_point = is_worse(formula, i, info.worst_point) ? i : info.worst_point;
  }
  info.by_bounds = formula->by_bounds;
  info.shape_count = formula->shape_count;
  const stowi_plan_formula_region* worst = region_of(formula, info.worst_point);
  info.arena_bound = formula->by_bounds ? formula->bound.arena : info.largest_arena;
  info.gap_arena = formula->by_bounds ? formula->bound.gap_arena : worst->arena[info.worst_point];
  info.gap_load = formula->by_bounds ? formula->bound.gap_load : worst->load[info.worst_point];
  info.alignment = region_of(formula, last)->facts.alignment;
  for (size_t i = 0; i < formula->regions.count; ++i) {
    const stowi_plan_formula_region* region = formula->regions.data[i];
    for (size_t b = 0; b < region->buffer_count; ++b) {
      uint64_t alignment = region->constraints[b].alignment;
      info.alignment = alignment > info.alignment ? alignment : info.alignment;
    }
  }
  return stowi_fill_struct(out_info, &info, sizeof(info), "stow_formula_info", NULL);
}

stow_status stow_formula_describe_region(const stow_formula* formula, size_t region,
                                         stow_formula_region* out_region) {
  stow_formula_region one = {0};
  if (region < formula->regions.count) {
    const stowi_plan_formula_region* from = formula->regions.data[region];
    one.planned_at = from->planned_at;
    one.buffer_count = from->buffer_count;
    one.edge_count = from->orientation->edge_count;
    one.sum_count = from->sum_count;
    one.slack = from->slack;
    one.worst_point = SIZE_MAX;
    for (size_t i = formula->point_count; i-- > 0;) {
      if (formula->region_at[i] == region) {
        ++one.point_count;
        bool is_first = one.worst_point == SIZE_MAX;
        one.worst_point = is_first || is_worse(formula, i, one.worst_point) ? i : one.worst_point;
      }
    }
    for (size_t i = 0; i < formula->boxes.count; ++i) {
      one.box_count += formula->boxes.data[i].region == region ? 1 : 0;
    }
  }
  STOW_TRY(stowi_fill_struct(out_region, &one, sizeof(one), "stow_formula_region", NULL));
  return region < formula->regions.count ? STOW_OK : STOW_ERR_NOT_FOUND;
}

bool stow_formula_box(const stow_formula* formula, size_t region, size_t box, int64_t* out_first,
                      int64_t* out_last) {
  for (size_t i = 0; i < formula->boxes.count; ++i) {
    const stowi_plan_formula_box* from = &formula->boxes.data[i];
    if (from->region != region || box-- > 0) {
      continue;
    }
    for (size_t k = 0; k < formula->symbol_count; ++k) {
      out_first[k] = stowi_plan_formula_value_at(
          formula, k, stowi_plan_formula_step(formula, k, from->first[k]));
      out_last[k] = stowi_plan_formula_value_at(
          formula, k, stowi_plan_formula_last_step(formula, k, from->last[k]));
    }
    return true;
  }
  return false;
}

stow_status stow_formula_write(const stow_formula* formula, stow_plan_format format,
                               stow_writer writer) {
  switch (format) {
    case STOW_PLAN_JSON: return stowi_plan_formula_write_json(formula, writer);
    case STOW_PLAN_SAVED: return stowi_plan_formula_write_saved(formula, writer);
    default: return STOW_ERR_INVALID_ARGUMENT;
  }
}
