// Functions: graphs that nodes of another graph apply to their operands. Those of `blocks` nodes
// are applied to one block of rows after the other. The symbol `rows` stands for the rows of a
// block: a value with rows has it as one of its dims, and each of its rows depends only on the same
// row of others and on values without rows. So it does not matter how many rows a block has.
//
//     function @silu {                          function @project {
//       %0 = input "x" : f32[?rows]               %0 = input "x" : f32[64, ?rows]
//       %1 = sigmoid(%0) : f32[?rows]             %1 = input "w" : f32[8, 64]
//       %2 = mul(%0, %1) : f32[?rows]             %2 = matmul(%1, %0) : f32[8, ?rows]
//       return %2                                 return %2
//     }                                         }
//
// Functions without ?rows are for `stream` nodes, which apply them to whole images row by row: see
// shapes/row_map.c.
#include <string.h>

#include "base/checked.h"
#include "base/diag.h"
#include "graph/api.h"
#include "graph/copy.h"
#include "graph/dims/dims.h"
#include "graph/graph_internal.h"
#include "graph/shapes/in_place.h"

size_t stow_graph_function_count(const stow_graph* graph) { return graph->functions.count; }

const stow_graph* stow_graph_function(const stow_graph* graph, size_t index) {
  return index < graph->functions.count ? graph->functions.data[index] : NULL;
}

const stow_graph* stowi_graph_find_function(const stow_graph* graph, stow_str name) {
  for (size_t i = 0; i < graph->functions.count; ++i) {
    if (stow_str_equal(graph->functions.data[i]->name, name)) {
      return graph->functions.data[i];
    }
  }
  return NULL;
}

const char* stow_graph_op_name(const stow_graph* graph, stow_node node) {
  const stow_graph* function = NULL;
  stow_op op = stow_graph_op(graph, node);
  if (op == STOW_OP_BLOCKS || op == STOW_OP_STREAM) {
    function = stowi_graph_find_function(graph, stow_graph_attr(graph, node, "function")->s);
  }
  return function != NULL ? function->name.data : stow_graph_op_desc(graph, node)->name;
}

// ---------------------------------------------------------------------------------------------
// Rows

uint32_t stowi_graph_rows_axis(const stow_type* type) {
  for (uint32_t i = 0; i < type->rank; ++i) {
    if (type->dims[i] == STOWI_GRAPH_ROWS) {
      return i;
    }
  }
  return UINT32_MAX;
}

static uint32_t axis_of(const stow_graph* function, stow_value value) {
  return value == STOW_VALUE_NONE ? UINT32_MAX
                                  : stowi_graph_rows_axis(stow_graph_type(function, value));
}

static bool has_rows(const stow_graph* function, stow_value value) {
  return axis_of(function, value) != UINT32_MAX;
}

// `impute` and `scale_image` have numbers for each index of a dim.
bool stowi_graph_is_elementwise(const stow_graph* graph, stow_node node) {
  stow_op op = stow_graph_op(graph, node);
  return op == STOW_OP_CAST || op == STOW_OP_CLIP ||
         (op != STOW_OP_IMPUTE && op != STOW_OP_SCALE_IMAGE &&
          stow_graph_op_desc(graph, node)->in_place == stowi_graph_in_place_index);
}

// Dims are aligned at the last one: whether the rows of all operands are the same dim.
static bool has_aligned_rows(const stow_graph* graph, stow_node node) {
  const stow_value* operands = stow_graph_operands(graph, node);
  uint32_t from_end = UINT32_MAX;
  for (size_t k = 0; k < stow_graph_operand_count(graph, node); ++k) {
    if (has_rows(graph, operands[k])) {
      uint32_t rank = stow_graph_type(graph, operands[k])->rank;
      uint32_t here = rank - axis_of(graph, operands[k]);
      if (from_end != UINT32_MAX && from_end != here) {
        return false;
      }
      from_end = here;
    }
  }
  return true;
}

// The product of the dims before the rows; false if there are none, or it is not a number.
static bool multiply_before_rows(const stow_type* type, uint64_t* out) {
  uint32_t axis = stowi_graph_rows_axis(type);
  bool is_number = axis != UINT32_MAX;
  *out = 1;
  for (uint32_t i = 0; is_number && i < axis; ++i) {
    is_number =
        stow_dim_is_const(type->dims[i]) && stowi_mul_u64(*out, (uint64_t)type->dims[i], out);
  }
  return is_number;
}

static bool only_has_rows(const stow_graph* graph, stow_node node, size_t operand) {
  const stow_value* operands = stow_graph_operands(graph, node);
  for (size_t k = 0; k < stow_graph_operand_count(graph, node); ++k) {
    if (k != operand && has_rows(graph, operands[k])) {
      return false;
    }
  }
  return true;
}

// The rows of all operands are the same dim from the front, and not |axis|.
static bool joins_other_dims(const stow_graph* graph, stow_node node, int64_t axis) {
  const stow_value* operands = stow_graph_operands(graph, node);
  uint32_t rows = axis_of(graph, operands[0]);
  bool does = axis != (int64_t)rows;
  for (size_t k = 1; k < stow_graph_operand_count(graph, node); ++k) {
    does = does && axis_of(graph, operands[k]) == rows;
  }
  return does;
}

// |axis| of operand 0, which may count from the end.
static int64_t normal_axis(const stow_graph* graph, stow_node node, int64_t axis) {
  return axis < 0
             ? axis + (int64_t)stow_graph_type(graph, stow_graph_operands(graph, node)[0])->rank
             : axis;
}

static bool reduces_other_axes(const stow_graph* graph, stow_node node, int64_t rows) {
  const stow_attr* axes = stow_graph_attr(graph, node, "axes");
  bool are_others = axes != NULL && axes->count != 0;
  for (size_t i = 0; are_others && i < axes->count; ++i) {
    are_others = normal_axis(graph, node, axes->ints[i]) != rows;
  }
  return are_others;
}

static bool is_local_product(const stow_graph* graph, stow_node node) {
  const stow_value* operands = stow_graph_operands(graph, node);
  uint32_t left = stow_graph_type(graph, operands[0])->rank;
  uint32_t right = stow_graph_type(graph, operands[1])->rank;
  if (has_rows(graph, operands[0])) {
    uint32_t axis = axis_of(graph, operands[0]);
    return left >= 2 && right >= 2 && (right == 2 ? axis <= left - 2 : axis == left - 2);
  }
  return right >= 2 && left == 2 && axis_of(graph, operands[1]) == right - 1;
}

// The rows stay a dim, before which there are as many elements as there were.
static bool keeps_rows(const stow_graph* graph, stow_node node) {
  const stow_value* operands = stow_graph_operands(graph, node);
  const stow_type* from = stow_graph_type(graph, operands[0]);
  const stow_type* to = stow_graph_type(graph, stow_graph_first_result(graph, node));
  stow_value other = stow_graph_operand_count(graph, node) > 1 ? operands[1] : STOW_VALUE_NONE;
  uint64_t before, after;
  return other == STOW_VALUE_NONE && has_rows(graph, operands[0]) &&
         multiply_before_rows(from, &before) && multiply_before_rows(to, &after) && before == after;
}

// The last of a list for each spatial dim, which may be empty.
static int64_t last_of(const stow_graph* graph, stow_node node, const char* name, int64_t none) {
  const stow_attr* list = stow_graph_attr(graph, node, name);
  return list == NULL || list->count == 0 ? none : list->ints[list->count - 1];
}

// Along the last dim the window is one element, which moves by one.
static bool is_local_conv(const stow_graph* graph, stow_node node) {
  const stow_type* image = stow_graph_type(graph, stow_graph_operands(graph, node)[0]);
  const stow_type* window = stow_graph_type(graph, stow_graph_operands(graph, node)[1]);
  const stow_attr* pads = stow_graph_attr(graph, node, "pads");
  bool has_pads = pads->count != 0 &&
                  (pads->ints[pads->count / 2 - 1] != 0 || pads->ints[pads->count - 1] != 0);
  return image->rank >= 3 && stowi_graph_rows_axis(image) == image->rank - 1 &&
         window->rank == image->rank && window->dims[window->rank - 1] == 1 && !has_pads &&
         last_of(graph, node, "strides", 1) == 1 &&
         stow_str_equal(stow_graph_attr(graph, node, "auto_pad")->s, stow_str_of("notset"));
}

// Scales and zero points are one number each, or a list along a dim, which has rows if that is the
// rows.
static bool is_local_quantization(const stow_graph* graph, stow_node node) {
  const stow_value* operands = stow_graph_operands(graph, node);
  const stow_attr* block = stow_graph_attr(graph, node, "block_size");
  bool is_along_rows = normal_axis(graph, node, stow_graph_attr(graph, node, "axis")->i) ==
                       (int64_t)axis_of(graph, operands[0]);
  bool is = block == NULL || block->i == 0;
  for (size_t k = 1; is && k < stow_graph_operand_count(graph, node); ++k) {
    if (operands[k] != STOW_VALUE_NONE) {
      uint32_t rank = stow_graph_type(graph, operands[k])->rank;
      is = rank == 0 || (rank == 1 && has_rows(graph, operands[k]) == is_along_rows);
    }
  }
  return is && has_rows(graph, operands[0]);
}

// Whether row i of every result depends on row i of operands with rows alone.
static bool is_local(const stow_graph* graph, stow_node node) {
  const stow_value* operands = stow_graph_operands(graph, node);
  stow_op op = stow_graph_op(graph, node);
  if (stowi_graph_is_elementwise(graph, node)) {
    return has_aligned_rows(graph, node);
  }
  if (op == STOW_OP_MATMUL) {
    return (only_has_rows(graph, node, 0) || only_has_rows(graph, node, 1)) &&
           is_local_product(graph, node);
  }
  if (op == STOW_OP_QUANTIZE_LINEAR || op == STOW_OP_DEQUANTIZE_LINEAR) {
    return is_local_quantization(graph, node);
  }
  if (op == STOW_OP_CONCAT) {
    return joins_other_dims(graph, node,
                            normal_axis(graph, node, stow_graph_attr(graph, node, "axis")->i));
  }
  if (stow_graph_operand_count(graph, node) == 0 || !only_has_rows(graph, node, 0)) {
    return false;
  }
  int64_t rows = axis_of(graph, operands[0]);  // or above all others: none
  switch (op) {
    case STOW_OP_NARROW:
      return rows != normal_axis(graph, node, stow_graph_attr(graph, node, "axis")->i);
    case STOW_OP_SOFTMAX:
    case STOW_OP_LOG_SOFTMAX:
    case STOW_OP_LAYER_NORM:
    case STOW_OP_RMS_NORM:
      return !has_rows(graph, operands[0]) ||
             rows < normal_axis(graph, node, stow_graph_attr(graph, node, "axis")->i);
    case STOW_OP_REDUCE: return reduces_other_axes(graph, node, rows);
    case STOW_OP_BATCH_NORM:
      return rows != 1 && stow_graph_result_count(graph, node) == 1 &&
             !stow_graph_attr(graph, node, "training")->b &&
             stow_graph_attr(graph, node, "spatial")->b;
    case STOW_OP_CONV: return is_local_conv(graph, node);
    case STOW_OP_TRANSPOSE: return true;
    case STOW_OP_RESHAPE: return keeps_rows(graph, node);
    default: return false;
  }
}

// ---------------------------------------------------------------------------------------------
// Checks

static stow_status fail(const stow_graph* function, stow_node node, stow_diag* diag,
                        const char* what) {
  stow_str name = function->name;
  if (node == STOW_NODE_NONE) {
    return stowi_fail(diag, STOW_ERR_TYPE, "function @%.*s %s", STOWI_STR_ARG(name), what);
  }
  return stowi_fail(diag, STOW_ERR_TYPE, "function @%.*s: %s %s", STOWI_STR_ARG(name),
                    stowi_graph_describe_node(function, node).text, what);
}

// Other symbols than the rows are those of the graph.
static stow_status check_type(stow_graph* function, stow_value value, stow_diag* diag) {
  const stow_type* type = stow_graph_type(function, value);
  stow_node node = stow_graph_producer(function, value);
  if (stow_dtype_bits(type->dtype) % 8 != 0) {
    return fail(function, node, diag, "has elements below a byte");
  }
  if (function->values.data[value].bounded != 0) {
    return fail(function, node, diag, "has upper-bounded dims");
  }
  for (uint32_t i = 0; i < type->rank; ++i) {
    if (i != stowi_graph_rows_axis(type) && stow_dim_uses(function->dims, type->dims[i], 0)) {
      return fail(function, node, diag, "has ?rows in an expression or more than once");
    }
    if (type->dims[i] == 0) {
      return fail(function, node, diag, "has no elements");
    }
  }
  return STOW_OK;
}

bool stowi_graph_function_streams(const stow_graph* function) {
  bool streams = true;
  for (stow_value value = 0; streams && value < stow_graph_value_count(function); ++value) {
    streams = !has_rows(function, value);
  }
  return streams;
}

// Values of which every row needs all are inputs.
static stow_status check_streams(const stow_graph* function, stow_node node, stow_diag* diag) {
  stowi_graph_row_map map;
  if (!stowi_graph_map_rows(function, node, &map)) {
    return fail(function, node, diag, "is not computed row by row, as in functions without ?rows");
  }
  const stow_value* operands = stow_graph_operands(function, node);
  for (size_t k = 0; k < stow_graph_operand_count(function, node); ++k) {
    if ((map.whole >> k & 1) != 0 && operands[k] != STOW_VALUE_NONE &&
        !stow_graph_is_boundary(function, operands[k])) {
      return fail(function, node, diag, "needs all rows of a value that is not an input");
    }
  }
  return STOW_OK;
}

static stow_status check_local(const stow_graph* function, stow_node node, stow_diag* diag) {
  return is_local(function, node)
             ? STOW_OK
             : fail(function, node, diag, "does not compute each row from the same row alone");
}

static stow_status check_node(stow_graph* function, stow_node node, bool streams, stow_diag* diag) {
  stow_value first = stow_graph_first_result(function, node);
  for (size_t k = 0; k < stow_graph_result_count(function, node); ++k) {
    STOW_TRY(check_type(function, first + (stow_value)k, diag));
  }
  if (stowi_graph_with_count(function, node) != 0) {
    return fail(function, node, diag, "has a `with` clause");
  }
  if (stow_graph_op(function, node) == STOW_OP_INPUT) {
    return stow_graph_data(function, first, NULL) == NULL ? STOW_OK
                                                          : fail(function, node, diag, "has data");
  }
  return streams ? check_streams(function, node, diag) : check_local(function, node, diag);
}

static stow_status check_output(const stow_graph* function, size_t k, bool streams,
                                stow_diag* diag) {
  stow_value output = function->outputs.data[k];
  stow_node node = stow_graph_producer(function, output);
  if (stow_graph_is_boundary(function, output) || !(streams || has_rows(function, output))) {
    return fail(function, node, diag, "is an output, but not computed for each row");
  }
  for (size_t i = 0; i < k; ++i) {
    if (function->outputs.data[i] == output) {
      return fail(function, node, diag, "is an output twice");
    }
  }
  return STOW_OK;
}

static stow_status check_function(const stow_graph* graph, stow_graph* function, stow_diag* diag) {
  if (function == graph || function->functions.count != 0) {
    return fail(function, STOW_NODE_NONE, diag, "has functions itself");
  }
  if (function->ops != graph->ops) {
    return fail(function, STOW_NODE_NONE, diag, "has another table of ops");
  }
  if (stowi_graph_find_function(graph, function->name) != NULL) {
    return stowi_fail(diag, STOW_ERR_DUPLICATE, "function @%.*s is defined twice",
                      STOWI_STR_ARG(function->name));
  }
  if (function->regions.count != 1) {
    return fail(function, STOW_NODE_NONE, diag, "has regions");
  }
  stow_dim rows = stow_dim_symbol(function->dims, stow_str_of("rows"));
  STOW_TRY(stowi_need_memory(rows != STOW_DIM_INVALID, diag));
  if (rows != STOWI_GRAPH_ROWS) {
    return fail(function, STOW_NODE_NONE, diag, "has another symbol before ?rows");
  }
  bool streams = stowi_graph_function_streams(function);
  for (stow_node node = 0; node < function->nodes.count; ++node) {
    STOW_TRY(check_node(function, node, streams, diag));
  }
  if (function->outputs.count == 0) {
    return fail(function, STOW_NODE_NONE, diag, "has no output");
  }
  for (size_t k = 0; k < function->outputs.count; ++k) {
    STOW_TRY(check_output(function, k, streams, diag));
  }
  return STOW_OK;
}

stow_status stow_graph_add_function(stow_graph* graph, stow_graph* function, stow_diag* diag) {
  STOW_TRY(check_function(graph, function, diag));
  STOW_TRY(stowi_need_memory(STOWI_VEC_RESERVE(graph->allocator, &graph->functions, 1) == STOW_OK,
                             diag));
  graph->functions.data[graph->functions.count++] = function;
  return STOW_OK;
}

stow_status stowi_graph_copy_functions(const stow_graph* from, stow_graph* into, stow_diag* diag) {
  for (size_t i = 0; i < from->functions.count; ++i) {
    stow_graph* copy = NULL;
    STOW_TRY(stowi_graph_copy(from->functions.data[i], into->allocator, diag, &copy));
    stow_status status = stow_graph_add_function(into, copy, diag);
    if (status != STOW_OK) {
      stow_graph_destroy(copy);
      return status;
    }
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Overwriting

static bool is_input(const stow_graph* function, stow_value value, size_t index) {
  stow_node node = stow_graph_producer(function, value);
  size_t before = 0;
  if (stow_graph_op(function, node) != STOW_OP_INPUT) {
    return false;
  }
  for (stow_node other = 0; other < node; ++other) {
    before += stow_graph_op(function, other) == STOW_OP_INPUT;
  }
  return before == index;
}

// Whether |value| may be the bytes of input |index|: it, or what ops that can make views make of
// it.
static bool may_be_input(const stow_graph* function, stow_value value, size_t index) {
  stow_node node = stow_graph_producer(function, value);
  const stow_value* operands = stow_graph_operands(function, node);
  bool may = is_input(function, value, index);
  bool makes_views = stow_graph_op_desc(function, node)->view != NULL;
  for (size_t k = 0; makes_views && !may && k < stow_graph_operand_count(function, node); ++k) {
    may = operands[k] != STOW_VALUE_NONE && may_be_input(function, operands[k], index);
  }
  return may;
}

// Whether |node|, which makes |output|, may write it where operand |k| lies.
static bool reads_in_time(const stow_graph* function, stow_node node, size_t k, stow_value output) {
  const stow_type* from = stow_graph_type(function, stow_graph_operands(function, node)[k]);
  const stow_type* to = stow_graph_type(function, output);
  return stowi_graph_is_elementwise(function, node) && from->rank == to->rank &&
         memcmp(from->dims, to->dims, from->rank * sizeof(from->dims[0])) == 0;
}

bool stowi_graph_function_overwrites(const stow_graph* function, size_t result, size_t operand) {
  stow_value output = function->outputs.data[result];
  stow_node maker = stow_graph_producer(function, output);
  for (stow_node node = maker; node < function->nodes.count; ++node) {
    const stow_value* operands = stow_graph_operands(function, node);
    for (size_t k = 0; k < stow_graph_operand_count(function, node); ++k) {
      if (operands[k] != STOW_VALUE_NONE && may_be_input(function, operands[k], operand) &&
          !(node == maker && is_input(function, operands[k], operand) &&
            reads_in_time(function, node, k, output))) {
        return false;
      }
    }
  }
  return true;
}
