// What only effects know. How much scratch a node needs is asked at all points once: sizes become
// tables, of which nodes that are alike have the same. What has the same size at every point, or
// grows along a parabola with one symbol, becomes an expression. What is kept between runs gets a
// place at the bottom, one after the other, with the largest size that it has anywhere.
#include "base/checked.h"
#include "base/diag.h"
#include "effects/api.h"
#include "plan/formulas/formula.h"

typedef struct row {
  stow_node node;
  uint32_t index;
  uint64_t* sizes;  // by point
} row;

typedef struct collector {
  stowi_plan_formula_maker* maker;
  STOWI_VEC(row) rows;  // by node and index
} collector;

stow_status stowi_plan_formula_begin_effects(const stow_formula_effects* source,
                                             const stow_graph* bound, stow_allocator allocator,
                                             stow_diag* diag, stow_effects** out_effects) {
  *out_effects = NULL;
  return source->begin == NULL ? stow_effects_create(bound, allocator, diag, out_effects)
                               : source->begin(source->user, bound, allocator, diag, out_effects);
}

void stowi_plan_formula_end_effects(const stow_formula_effects* source, stow_effects* effects) {
  if (source->begin == NULL || source->end == NULL) {
    stow_effects_destroy(effects);
  } else if (effects != NULL) {
    source->end(source->user, effects);
  }
}

stow_status stowi_plan_formula_bind(stowi_plan_formula_maker* maker, size_t point) {
  stowi_plan_formula_values(maker->formula, point, maker->values);
  return stowi_graph_twin_bind(maker->formula->twin, maker->values, maker->diag);
}

// The row of a piece of scratch, added if it is new.
static stow_status find_row(collector* c, stow_node node, uint32_t index, row** out_row) {
  stow_allocator allocator = c->maker->allocator;
  size_t at = c->rows.count;
  while (at > 0 && (c->rows.data[at - 1].node > node ||
                    (c->rows.data[at - 1].node == node && c->rows.data[at - 1].index > index))) {
    --at;
  }
  if (at > 0 && c->rows.data[at - 1].node == node && c->rows.data[at - 1].index == index) {
    *out_row = &c->rows.data[at - 1];
    return STOW_OK;
  }
  STOW_TRY(STOWI_VEC_RESERVE(allocator, &c->rows, 1));
  uint64_t* sizes = STOWI_ARRAY_ZERO(allocator, uint64_t, c->maker->formula->point_count);
  if (sizes == NULL) {
    return STOW_ERR_OUT_OF_MEMORY;
  }
  for (size_t i = c->rows.count++; i > at; --i) {
    c->rows.data[i] = c->rows.data[i - 1];
  }
  c->rows.data[at] = (row){node, index, sizes};
  *out_row = &c->rows.data[at];
  return STOW_OK;
}

static stow_status note_point(collector* c, size_t point, const stow_effects* effects) {
  uint32_t index = 0;
  for (size_t i = 0; i < stowi_effects_scratch_count(effects); ++i) {
    stowi_effects_scratch_entry entry = stowi_effects_scratch(effects, i);
    bool is_same = i > 0 && stowi_effects_scratch(effects, i - 1).node == entry.node;
    index = is_same ? index + 1 : 0;
    row* own;
    STOW_TRY(find_row(c, entry.node, index, &own));
    own->sizes[point] = entry.bytes;
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// What is kept

// Whether the options give such values slots that a second run finds again. Views have those of
// others; a shared layout has places already.
static bool is_kept(const stowi_plan_formula_maker* maker, const stow_effects* effects,
                    stow_value value) {
  const stow_graph* graph = maker->formula->graph;
  const stow_plan_options* options = &maker->options;
  stow_node node = stow_graph_producer(graph, value);
  stow_io_policy policy = stowi_effects_io_policy(graph, effects, options->io, value, false);
  if (stowi_effects_offset(effects, value) != STOW_OFFSET_NONE || policy == STOW_IO_EXTERNAL) {
    return false;
  }
  switch (stow_graph_op(graph, node)) {
    case STOW_OP_PARAM: return options->params && options->layout == NULL;
    case STOW_OP_CONSTANT: return options->constants;
    case STOW_OP_INPUT:
      return options->inputs &&
             (stowi_effects_state(effects, value) || stowi_effects_is_handed_on(effects, value));
    default: break;
  }
  stow_view view;
  size_t k = value - stow_graph_first_result(graph, node);
  return stowi_effects_state(effects, value) &&
         (stowi_effects_own(effects, value) || !stow_graph_view(graph, node, k, &view));
}

static stow_status find_kept(stowi_plan_formula_maker* maker, const stow_effects* effects) {
  uint32_t count = maker->formula->value_count;
  size_t kept = 0;
  for (stow_value v = 0; v < count; ++v) {
    kept += is_kept(maker, effects, v) ? 1 : 0;
  }
  maker->kept = STOWI_ARRAY_ZERO(maker->allocator, stowi_plan_formula_kept, kept);
  STOW_TRY(stowi_need_memory(maker->kept != NULL, maker->diag));
  maker->kept_count = kept;
  kept = 0;
  for (stow_value v = 0; v < count; ++v) {
    if (is_kept(maker, effects, v)) {
      uint64_t alignment = stowi_effects_alignment(effects, v);
      uint64_t common = maker->options.alignment;
      maker->kept[kept].value = v;
      maker->kept[kept++].offset = alignment > common ? alignment : common;
    }
  }
  return STOW_OK;
}

static void note_kept(stowi_plan_formula_maker* maker, const stow_effects* effects) {
  for (size_t i = 0; i < maker->kept_count; ++i) {
    stowi_plan_formula_kept* kept = &maker->kept[i];
    uint64_t bytes = stowi_effects_storage(effects, kept->value);
    if (bytes == STOW_BYTES_DEFAULT) {
      bytes = 0;
      (void)stow_type_bytes(stow_graph_type(maker->formula->graph, kept->value), &bytes);
    }
    kept->most = bytes > kept->most ? bytes : kept->most;
  }
}

// Until now the offsets are alignments.
static stow_status place_kept(stowi_plan_formula_maker* maker) {
  const stow_plan_options* options = &maker->options;
  uint64_t end = 0;
  for (size_t i = 0; i < maker->kept_count; ++i) {
    stowi_plan_formula_kept* kept = &maker->kept[i];
    uint64_t alignment = kept->offset;
    bool has_guard = stow_graph_is_boundary(maker->formula->graph, kept->value);
    uint64_t guard = has_guard && options->tail_guard != 0 ? options->tail_guard : 0;
    guard = guard != 0 && guard < options->alignment ? options->alignment : guard;
    kept->most = kept->most == 0 && options->zero_size_slots ? options->alignment : kept->most;
    if (kept->most > INT64_MAX / 2 || end > INT64_MAX / 2) {
      return stowi_fail(maker->diag, STOW_ERR_OVERFLOW, "%s", stow_status_text(STOW_ERR_OVERFLOW));
    }
    kept->offset = (end + (alignment - 1)) & ~(alignment - 1);
    end = kept->offset + kept->most + guard;
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------

static stow_status collect(collector* c) {
  stowi_plan_formula_maker* maker = c->maker;
  for (size_t point = 0; point < maker->formula->point_count; ++point) {
    stow_effects* effects;
    STOW_TRY(stowi_plan_formula_bind(maker, point));
    STOW_TRY(stowi_plan_formula_begin_effects(&maker->effects, maker->formula->graph,
                                              maker->allocator, maker->diag, &effects));
    stow_status status = point == 0 ? find_kept(maker, effects) : STOW_OK;
    if (status == STOW_OK) {
      note_kept(maker, effects);
      status = stowi_need_memory(note_point(c, point, effects) == STOW_OK, maker->diag);
    }
    stowi_plan_formula_end_effects(&maker->effects, effects);
    STOW_TRY(status);
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Tables that are expressions

// a + b * n + c * n * (n - 1) / 2 for step n of the range of one symbol, but not above |most|.
typedef struct curve {
  int64_t a, b, c;
  uint64_t most;
  bool is_cut;  // |most| matters
} curve;

// The curve through the first three sizes, up to the last one; false if it does not go through all
// others.
static bool find_curve(const uint64_t* sizes, size_t count, curve* out) {
  out->a = (int64_t)sizes[0];
  out->b = count > 1 ? (int64_t)(sizes[1] - sizes[0]) : 0;
  out->c = count > 2 ? (int64_t)(sizes[2] - 2 * sizes[1] + sizes[0]) : 0;
  out->most = sizes[count - 1];
  out->is_cut = false;
  for (size_t n = 0; n < count; ++n) {
    int64_t pairs = (int64_t)(n % 2 == 0 ? n / 2 * (n - (n != 0)) : (n - 1) / 2 * n);
    int64_t bend, line, size;
    if (!stowi_mul_i64(out->c, pairs, &bend) || !stowi_mul_i64(out->b, (int64_t)n, &line) ||
        !stowi_add_i64(bend, line, &size) || !stowi_add_i64(size, out->a, &size)) {
      return false;
    }
    bool is_above = size >= 0 && (uint64_t)size > out->most;
    if (sizes[n] != (is_above ? out->most : (uint64_t)size)) {
      return false;
    }
    out->is_cut |= is_above;
  }
  return true;
}

static stow_dim dim_of(stow_formula* formula, const curve* from) {
  const stow_dim_range* range = &formula->ranges[0];
  stow_dims* dims = stow_graph_edit_dims(formula->graph);
  stow_str name = stow_dims_symbol_name(dims, formula->symbols[0]);
  // n = (symbol - min) / step, which is whole at every point.
  stow_dim n = stow_dim_sub(dims, stow_dim_symbol(dims, name), range->min);
  n = stow_dim_floor_div(dims, n, range->step);
  stow_dim pairs = stow_dim_mul(dims, n, stow_dim_sub(dims, n, 1));
  stow_dim bend = stow_dim_mul(dims, pairs, stow_dim_of_int(dims, from->c));
  stow_dim line = stow_dim_mul(dims, n, stow_dim_of_int(dims, from->b));
  stow_dim dim = stow_dim_add(dims, stow_dim_floor_div(dims, bend, 2), line);
  dim = stow_dim_add(dims, dim, from->a);
  dim = from->is_cut ? stow_dim_min(dims, dim, (stow_dim)from->most) : dim;
  if (dim == STOW_DIM_INVALID && stow_dims_status(dims) != STOW_ERR_OUT_OF_MEMORY) {
    stow_dims_clear_status(dims);
  }
  return dim;
}

static bool is_constant(const stow_formula* formula, const uint64_t* sizes) {
  size_t point = 1;
  while (point < formula->point_count && sizes[point] == sizes[0]) {
    ++point;
  }
  return point >= formula->point_count;
}

stow_status stowi_plan_formula_fit_sizes(stow_formula* formula, const uint64_t* sizes,
                                         uint32_t* out_expr) {
  stow_dim dim = STOW_DIM_INVALID;
  if (is_constant(formula, sizes) && sizes[0] <= INT64_MAX) {
    dim = (stow_dim)sizes[0];
  } else if (formula->symbol_count == 1) {
    curve found;
    dim = find_curve(sizes, formula->point_count, &found) ? dim_of(formula, &found) : dim;
  }
  return dim == STOW_DIM_INVALID ? stowi_plan_formula_add_table(formula, sizes, out_expr)
                                 : stowi_plan_formula_add_dim(formula, dim, out_expr);
}

static stow_status take_rows(collector* c) {
  stowi_plan_formula_maker* maker = c->maker;
  maker->scratch = STOWI_ARRAY(maker->allocator, stowi_plan_formula_scratch, c->rows.count);
  STOW_TRY(stowi_need_memory(maker->scratch != NULL, maker->diag));
  maker->scratch_count = c->rows.count;
  for (size_t i = 0; i < c->rows.count; ++i) {
    const row* from = &c->rows.data[i];
    maker->scratch[i] = (stowi_plan_formula_scratch){from->node, from->index, 0};
    stow_status status =
        stowi_plan_formula_fit_sizes(maker->formula, from->sizes, &maker->scratch[i].size);
    STOW_TRY(stowi_need_memory(status == STOW_OK, maker->diag));
  }
  return STOW_OK;
}

stow_status stowi_plan_formula_survey(stowi_plan_formula_maker* maker) {
  collector c = {.maker = maker};
  stow_status status = collect(&c);
  stowi_graph_twin_unbind(maker->formula->twin);
  status = status == STOW_OK ? take_rows(&c) : status;
  status = status == STOW_OK ? place_kept(maker) : status;
  for (size_t i = 0; i < c.rows.count; ++i) {
    STOWI_ARRAY_FREE(maker->allocator, c.rows.data[i].sizes, maker->formula->point_count);
  }
  STOWI_VEC_FREE(maker->allocator, &c.rows);
  return status;
}

const stowi_plan_formula_scratch* stowi_plan_formula_scratch_of(
    const stowi_plan_formula_maker* maker, stow_node node, uint32_t index) {
  for (size_t i = 0; i < maker->scratch_count; ++i) {
    if (maker->scratch[i].node == node && maker->scratch[i].index == index) {
      return &maker->scratch[i];
    }
  }
  return NULL;
}
