// Which rows of its operands each row of a node's results depends on: of [1, channels, rows,
// columns], dim 2. Elements of a row are then computed by a call of the same kernel that has only
// those rows, with rows of padding where the window hangs over the border: the same numbers in the
// same order as in one call for all rows.
#include <string.h>

#include "graph/api.h"
#include "graph/graph_internal.h"
#include "graph/shapes/call.h"
#include "graph/shapes/shapes.h"
#include "graph/shapes/window_dims.h"

#define ROWS 2
#define COLUMNS 3
#define RANK 4
#define MOST_OPERANDS 64
// Larger dims and windows are not mapped, so that products of two numbers cannot overflow.
#define MOST ((int64_t)1 << 30)

typedef struct mapper {
  stow_shape_call* call;
  const stow_type* result;
  stowi_graph_row_map* out;
} mapper;

// ---------------------------------------------------------------------------------------------
// Operands

// An image of one sample, with bytes of its own for each element.
static bool has_rows(const stow_type* type) {
  bool has = type != NULL && type->rank == RANK && type->dims[0] == 1 &&
             stow_dtype_bits(type->dtype) % 8 == 0;
  for (uint32_t i = 1; has && i < RANK; ++i) {
    has = stow_dim_is_const(type->dims[i]) && type->dims[i] > 0 && type->dims[i] <= MOST;
  }
  return has;
}

static void read_whole(const mapper* m, size_t first) {
  for (size_t k = first; k < stow_shape_operand_count(m->call); ++k) {
    m->out->whole |= UINT64_C(1) << k;
  }
}

// Operand |k| has the rows of the result, or is the same for all of them: dims are aligned at the
// last one.
static bool align(const mapper* m, size_t k) {
  const stow_type* type = stow_shape_operand(m->call, k);
  if (type == NULL || type->rank < RANK - ROWS || type->dims[type->rank - (RANK - ROWS)] == 1) {
    bool is_row = has_rows(type) && m->result->dims[ROWS] == 1;
    m->out->whole |= (uint64_t)!is_row << k;
    return true;
  }
  return has_rows(type) && type->dims[ROWS] == m->result->dims[ROWS];
}

static bool align_all(const mapper* m) {
  bool fits = true;
  for (size_t k = 0; k < stow_shape_operand_count(m->call); ++k) {
    fits = fits && align(m, k);
  }
  return fits;
}

// Row r of operand 0, which is an image; all of the others.
static bool align_first(const mapper* m) {
  read_whole(m, 1);
  const stow_type* type = stow_shape_operand(m->call, 0);
  return has_rows(type) && type->dims[ROWS] == m->result->dims[ROWS];
}

// ---------------------------------------------------------------------------------------------
// Windows

// Padding of |in| elements for |out| positions, where `auto_pad` asks for it.
static void pad_same(const stowi_graph_window* w, uint32_t i, int64_t in, int64_t out,
                     int64_t extent, int64_t pads[2]) {
  int64_t total = (out - 1) * w->strides[i] + extent - in;
  total = total > 0 ? total : 0;
  pads[0] = w->padding == STOWI_GRAPH_PAD_SAME_UPPER ? total / 2 : total - total / 2;
  pads[1] = total - pads[0];
}

static bool slide(const mapper* m, const stowi_graph_window* w) {
  const stow_type* x = stow_shape_operand(m->call, 0);
  stowi_graph_row_map* out = m->out;
  if (!has_rows(x) || w->spatial != 2 || w->first != ROWS) {
    return false;
  }
  out->pad_count = 4;
  for (uint32_t i = 0; i < 2; ++i) {
    if (!stow_dim_is_const(w->kernel[i]) || w->kernel[i] > MOST || w->dilations[i] > MOST ||
        w->strides[i] > MOST || w->pads[i] > MOST || w->pads[2 + i] > MOST) {
      return false;
    }
    int64_t extent = (w->kernel[i] - 1) * w->dilations[i] + 1;
    int64_t pads[2] = {w->pads[i], w->pads[2 + i]};
    if (w->padding == STOWI_GRAPH_PAD_SAME_UPPER || w->padding == STOWI_GRAPH_PAD_SAME_LOWER) {
      pad_same(w, i, x->dims[ROWS + i], m->result->dims[ROWS + i], extent, pads);
    }
    out->pads[i] = pads[0];
    out->pads[2 + i] = pads[1];
    if (i == 0) {
      out->stride = w->strides[0];
      out->first = -pads[0];
      out->last = extent - 1 - pads[0];
    }
  }
  out->top = 0;
  out->bottom = 2;
  // No window is in padding alone.
  int64_t extent = out->last - out->first + 1;
  return out->pads[0] < extent &&
         (m->result->dims[ROWS] - 1) * out->stride + out->first < x->dims[ROWS];
}

static bool convolve(const mapper* m, size_t weights) {
  stowi_graph_window w;
  read_whole(m, 1);
  return stowi_graph_window_read(m->call, 0, &w) == STOW_OK &&
         stowi_graph_window_weights(m->call, weights, &w) == STOW_OK && slide(m, &w);
}

static bool convolve_and_add(const mapper* m) {
  bool fits = convolve(m, 1);
  m->out->whole &= ~(UINT64_C(1) << 3);
  return fits && (stow_shape_operand_count(m->call) < 4 || align(m, 3));
}

static bool pool(const mapper* m) {
  stowi_graph_window w;
  read_whole(m, 1);
  return stow_shape_result_count(m->call) == 1 &&  // indices count from the first row
         !stow_shape_attr_bool(m->call, "global", false) &&
         stowi_graph_window_read(m->call, 0, &w) == STOW_OK &&
         stowi_graph_window_kernel(m->call, &w) == STOW_OK && slide(m, &w);
}

static bool is_word(const mapper* m, const char* name, const char* text) {
  const stow_attr* attr = stow_shape_attr(m->call, name);
  return attr != NULL && attr->kind == STOW_ATTR_STRING &&
         stow_str_equal(attr->s, stow_str_of(text));
}

// By the attribute, or an operand whose elements are known.
static bool read_pads(const mapper* m) {
  const stow_attr* pads = stow_shape_attr(m->call, "pads");
  bool is_operand = stow_shape_operand(m->call, 2) != NULL;
  bool fits = is_operand ? stow_shape_operand(m->call, 2)->dims[0] == 2 * RANK
                         : pads != NULL && pads->count == 2 * RANK;
  for (uint32_t i = 0; fits && i < 2 * RANK; ++i) {
    int64_t* pad = &m->out->pads[i];
    *pad = is_operand ? 0 : pads->ints[i];
    fits = (!is_operand || stowi_graph_shape_known_number(m->call, 2, i, pad)) && *pad >= 0 &&
           *pad <= MOST;
  }
  return fits;
}

// A border of a constant, none of it negative.
static bool pad(const mapper* m) {
  const stow_attr* axes = stow_shape_attr(m->call, "axes");
  read_whole(m, 1);
  m->out->pad_count = 2 * RANK;
  m->out->top = ROWS;
  m->out->bottom = RANK + ROWS;
  if (!has_rows(stow_shape_operand(m->call, 0)) || !is_word(m, "mode", "constant") ||
      (axes != NULL && axes->count != 0) || stow_shape_operand(m->call, 3) != NULL ||
      !read_pads(m)) {
    return false;
  }
  m->out->first = m->out->last = -m->out->pads[ROWS];
  return true;
}

static bool is_given(const stow_type* type) {
  return type != NULL && !(type->rank == 1 && type->dims[0] == 0);
}

// Whether nothing but the size of the result says how it is resized: scales and sizes, if they are
// operands, are known to say the same.
static bool is_resized_to_size(const mapper* m, const stow_type* x) {
  bool has_scales = is_given(stow_shape_operand(m->call, 2));
  bool has_sizes = is_given(stow_shape_operand(m->call, 3));
  bool is = true;
  for (uint32_t i = 0; is && i < RANK; ++i) {
    double scale;
    int64_t size;
    is = (!has_scales || (stowi_graph_shape_bound_float(m->call, 2, i, &scale) &&
                          scale * (double)x->dims[i] == (double)m->result->dims[i])) &&
         (!has_sizes ||
          (stowi_graph_shape_known_number(m->call, 3, i, &size) && size == m->result->dims[i]));
  }
  return is;
}

// By an integer, to the nearest of the rows that the row is made of: the result has the declared
// size, so that a row of it is one too.
static bool repeat(const mapper* m) {
  const stow_type* x = stow_shape_operand(m->call, 0);
  bool is_half = is_word(m, "coordinates", "half_pixel");
  bool is_floor =
      is_word(m, "coordinates", "asymmetric") &&
      (is_word(m, "nearest_mode", "floor") || is_word(m, "nearest_mode", "ceil_if_smaller"));
  bool is_round = is_half && is_word(m, "nearest_mode", "round_prefer_floor");
  const stow_attr* axes = stow_shape_attr(m->call, "axes");
  read_whole(m, 1);
  if (!has_rows(x) || !is_word(m, "mode", "nearest") || !(is_floor || is_round) ||
      (axes != NULL && axes->count != 0) || !is_word(m, "keep_aspect_ratio_policy", "stretch") ||
      m->result->dims[ROWS] % x->dims[ROWS] != 0 || !is_resized_to_size(m, x)) {
    return false;
  }
  m->out->divide = m->result->dims[ROWS] / x->dims[ROWS];
  return true;
}

// ---------------------------------------------------------------------------------------------
// Other kinds of ops

static bool is_axis(int64_t axis, bool may_be_channels) {
  axis += axis < 0 ? RANK : 0;
  return axis == COLUMNS || (may_be_channels && axis == 1);
}

static bool has_axis(const mapper* m, int64_t fallback, bool may_be_channels) {
  return is_axis(stow_shape_attr_int(m->call, "axis", fallback), may_be_channels);
}

static bool reduces_others(const mapper* m) {
  size_t count = 0;
  const int64_t* axes = stowi_graph_shape_ints(m->call, "axes", &count);
  bool fits = stow_shape_operand(m->call, 1) == NULL && axes != NULL && count != 0 &&
              stow_shape_attr_bool(m->call, "keepdims", true);
  for (size_t i = 0; fits && i < count; ++i) {
    fits = is_axis(axes[i], true);
  }
  return fits && align_first(m);
}

// Scales are one number each, or one for each index of another dim.
static bool quantizes(const mapper* m) {
  bool fits = stow_shape_attr_int(m->call, "block_size", 0) == 0;
  for (size_t k = 1; fits && k < stow_shape_operand_count(m->call); ++k) {
    const stow_type* type = stow_shape_operand(m->call, k);
    fits = type == NULL || type->rank == 0 || (type->rank == 1 && has_axis(m, 1, true));
  }
  return fits && align_first(m);
}

static bool is_qlinear_binary(const mapper* m) {
  read_whole(m, 1);
  m->out->whole &= ~(UINT64_C(1) << 3);
  return align(m, 0) && align(m, 3);
}

static bool normalizes(const mapper* m) {
  return stow_shape_result_count(m->call) == 1 &&
         !stow_shape_attr_bool(m->call, "training", false) &&
         stow_shape_attr_bool(m->call, "spatial", true) && align_first(m);
}

// One function for each kind of op.
static bool map_op(const stow_graph* graph, stow_node node, const mapper* m) {
  if (stowi_graph_is_elementwise(graph, node)) {
    return align_all(m);
  }
  bool is_last = stow_shape_attr_bool(m->call, "channels_last", false);
  switch (stow_graph_op(graph, node)) {
    case STOW_OP_CONV:
    case STOW_OP_CONV_INTEGER: return convolve(m, 1);
    case STOW_OP_FUSED_CONV: return convolve_and_add(m);
    case STOW_OP_QLINEAR_CONV: return !is_last && convolve(m, 3);
    case STOW_OP_POOL:
    case STOW_OP_QLINEAR_POOL: return !is_last && pool(m);
    case STOW_OP_PAD: return pad(m);
    case STOW_OP_RESIZE: return repeat(m);
    case STOW_OP_BATCH_NORM: return normalizes(m);
    case STOW_OP_LAYER_NORM_2D:
    case STOW_OP_LRN:
    case STOW_OP_QLINEAR_SIGMOID:
    case STOW_OP_QLINEAR_LEAKY_RELU: return align_first(m);
    case STOW_OP_SOFTMAX:
    case STOW_OP_LOG_SOFTMAX:
      return has_axis(m, -1, true) && !stow_shape_attr_bool(m->call, "flatten", false) &&
             align_first(m);
    case STOW_OP_LAYER_NORM:
    case STOW_OP_RMS_NORM: return has_axis(m, -1, false) && align_first(m);
    case STOW_OP_REDUCE: return reduces_others(m);
    case STOW_OP_CONCAT: return has_axis(m, 0, true) && align_all(m) && m->out->whole == 0;
    case STOW_OP_SPLIT:
    case STOW_OP_NARROW: return has_axis(m, 0, true) && align_first(m);
    case STOW_OP_QUANTIZE_LINEAR:
    case STOW_OP_DEQUANTIZE_LINEAR: return quantizes(m);
    case STOW_OP_QLINEAR_ADD:
    case STOW_OP_QLINEAR_MUL: return is_qlinear_binary(m);
    default: return false;
  }
}

// ---------------------------------------------------------------------------------------------

static bool have_rows(const stow_graph* graph, stow_node node) {
  stow_value first = stow_graph_first_result(graph, node);
  size_t count = stow_graph_result_count(graph, node);
  bool have = count != 0;
  for (size_t k = 0; have && k < count; ++k) {
    const stow_type* type = stow_graph_type(graph, first + (stow_value)k);
    have = has_rows(type) && type->dims[ROWS] == stow_graph_type(graph, first)->dims[ROWS] &&
           !stow_graph_is_bounded(graph, first + (stow_value)k);
  }
  return have;
}

bool stowi_graph_map_rows(const stow_graph* graph, stow_node node, stowi_graph_row_map* out_map) {
  stow_shape_call call =
      stowi_graph_shape_of_node(graph, graph->value_types.data, &graph->known, node, NULL, NULL);
  *out_map = (stowi_graph_row_map){.stride = 1, .divide = 1};
  if (stow_graph_op(graph, node) >= STOW_OP_CORE_COUNT || !have_rows(graph, node) ||
      call.operand_count == 0 || call.operand_count > MOST_OPERANDS) {
    return false;
  }
  mapper m = {&call, stow_graph_type(graph, stow_graph_first_result(graph, node)), out_map};
  return map_op(graph, node, &m);
}

bool stowi_graph_row_range(const stowi_graph_row_map* map, int64_t rows, int64_t row,
                           int64_t* out_first, int64_t* out_last) {
  int64_t first = row * map->stride + map->first;
  int64_t last = row * map->stride + map->last;
  first = first < 0 ? 0 : first / map->divide;
  last = last < 0 ? -1 : last / map->divide;
  *out_first = first < rows ? first : rows;
  *out_last = last < rows ? last : rows - 1;
  return *out_first <= *out_last;
}
