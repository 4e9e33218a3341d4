#include "exec/suitable.h"

#include <stdlib.h>
#include <string.h>

#include "exec/kernels/support/convert.h"
#include "support/test.h"

// ---------------------------------------------------------------------------------------------
// What readers need

static const stow_type* operand_type(const stow_graph* graph, stow_node node, size_t k) {
  if (k >= stow_graph_operand_count(graph, node) ||
      stow_graph_operands(graph, node)[k] == STOW_VALUE_NONE) {
    return NULL;
  }
  return stow_graph_type(graph, stow_graph_operands(graph, node)[k]);
}

static int64_t dim_at(const stow_type* type, int64_t axis) {
  int64_t at = axis < 0 ? axis + (int64_t)type->rank : axis;
  return at >= 0 && at < (int64_t)type->rank ? type->dims[at] : 1;
}

static int64_t int_attr(const stow_graph* graph, stow_node node, const char* name) {
  const stow_attr* attr = stow_graph_attr(graph, node, name);
  return attr == NULL ? 0 : attr->i;
}

static int64_t smallest_dim(const stow_type* type) {
  int64_t least = INT64_MAX;
  for (uint32_t i = 0; i < type->rank; ++i) {
    least = type->dims[i] < least ? type->dims[i] : least;
  }
  return type->rank == 0 ? 1 : least;
}

// Indices into |dim| things.
static suitable_range indices(int64_t dim) { return (suitable_range){0, dim > 0 ? dim - 1 : 0}; }

static const suitable_range anything = {INT64_MIN, INT64_MAX};
static const suitable_range positive = {1, INT64_MAX};

// What suits operand |k| of |node| itself.
static suitable_range of_reader(const stow_graph* graph, stow_node node, size_t k) {
  const stow_type* first = operand_type(graph, node, 0);
  switch (stow_graph_op(graph, node)) {
    case STOW_OP_GATHER:
    case STOW_OP_GATHER_ELEMENTS:
    case STOW_OP_SCATTER_ELEMENTS:
      return k == 1 ? indices(dim_at(first, int_attr(graph, node, "axis"))) : anything;
    case STOW_OP_GATHER_ND:
    case STOW_OP_SCATTER_ND: return k == 1 ? indices(smallest_dim(first)) : anything;
    case STOW_OP_ROI_ALIGN:
    case STOW_OP_CROP_AND_RESIZE: return k == 2 ? indices(dim_at(first, 0)) : anything;
    case STOW_OP_DIV:
    case STOW_OP_MOD: return k == 1 ? positive : anything;
    case STOW_OP_MEL_WEIGHTS: return positive;
    default: return anything;
  }
}

// ---------------------------------------------------------------------------------------------

static void narrow_to(suitable_range* range, suitable_range by) {
  range->least = by.least > range->least ? by.least : range->least;
  range->most = by.most < range->most ? by.most : range->most;
}

// Whether results of |op| are elements of operand |k|.
static bool passes(stow_op op, size_t k) {
  switch (op) {
    case STOW_OP_RESHAPE:
    case STOW_OP_SQUEEZE:
    case STOW_OP_UNSQUEEZE:
    case STOW_OP_FLATTEN:
    case STOW_OP_NARROW:
    case STOW_OP_SLICE:
    case STOW_OP_TRANSPOSE:
    case STOW_OP_EXPAND:
    case STOW_OP_TILE:
    case STOW_OP_SPLIT:
    case STOW_OP_CAST:
    case STOW_OP_RELU:
    case STOW_OP_ABS:
    case STOW_OP_GATHER:
    case STOW_OP_GATHER_ELEMENTS:
    case STOW_OP_TOPK: return k == 0;
    case STOW_OP_CONCAT: return true;
    default: return false;
  }
}

suitable_range* suitable_ranges(const stow_graph* graph) {
  uint32_t count = stow_graph_value_count(graph);
  suitable_range* ranges = (suitable_range*)malloc(count * sizeof(*ranges));
  if (ranges == NULL) {
    abort();
  }
  for (stow_value value = 0; value < count; ++value) {
    ranges[value] = (suitable_range){0, 1};
  }
  for (stow_node node = stow_graph_node_count(graph); node-- > 0;) {
    for (size_t k = 0; k < stow_graph_operand_count(graph, node); ++k) {
      stow_value operand = stow_graph_operands(graph, node)[k];
      if (operand == STOW_VALUE_NONE) {
        continue;
      }
      narrow_to(&ranges[operand], of_reader(graph, node, k));
      if (passes(stow_graph_op(graph, node), k)) {
        narrow_to(&ranges[operand], ranges[stow_graph_first_result(graph, node)]);
      }
    }
  }
  return ranges;
}

// ---------------------------------------------------------------------------------------------
// Elements

static void fill_complex(const stow_tensor* tensor, test_random* random) {
  size_t width = stow_dtype_bits(tensor->dtype) / 16;
  size_t count = 2 * stow_tensor_elements(tensor);
  for (size_t i = 0; i < count; ++i) {
    double number = (double)test_random_below(random, 1000) / 250 - 2;
    float narrow = (float)number;
    unsigned char* at = (unsigned char*)tensor->data + i * width;
    memcpy(at, width == 8 ? (const void*)&number : (const void*)&narrow, width);
  }
}

void suitable_fill(const stow_tensor* tensor, suitable_range range, uint64_t seed) {
  test_random random = {seed};
  size_t count = stow_tensor_elements(tensor);
  stow_dtype_kind kind = stow_dtype_kind_of(tensor->dtype);
  if (kind == STOW_KIND_COMPLEX) {
    fill_complex(tensor, &random);
    return;
  }
  if (stow_dtype_bits(tensor->dtype) < 8 && count != 0) {
    memset(tensor->data, 0, stow_tensor_bytes(tensor));
  }
  uint64_t width = range.most > range.least ? (uint64_t)(range.most - range.least) + 1 : 1;
  for (size_t i = 0; i < count; ++i) {
    uint64_t bits = test_random_u64(&random);
    if (kind == STOW_KIND_FLOAT) {
      float number = (float)(bits >> 40) / 4194304.0F - 2.0F;
      stowi_kernel_store_f32(tensor->dtype, tensor->data, i, 1, &number);
    } else {
      int64_t number = range.least + (int64_t)(bits % width);
      stowi_kernel_store_i64(tensor->dtype, tensor->data, i, 1, &number);
    }
  }
}
