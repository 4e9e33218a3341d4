#include "rewrite/space.h"

#include <string.h>

static uint64_t product(const stow_dim* dims, uint32_t begin, uint32_t end) {
  uint64_t result = 1;
  for (uint32_t i = begin; i < end; ++i) {
    result *= (uint64_t)dims[i];
  }
  return result;
}

// ---------------------------------------------------------------------------------------------
// Nodes

stowi_rewrite_use stowi_rewrite_use_of(const stow_graph* graph, stow_node node, size_t k) {
  if (k == 0 || stowi_graph_is_elementwise(graph, node)) {
    return STOWI_REWRITE_ALIGNED;
  }
  return stow_graph_op(graph, node) == STOW_OP_MATMUL ? STOWI_REWRITE_RIGHT : STOWI_REWRITE_WHOLE;
}

static uint32_t from_front(int64_t axis, uint32_t rank) {
  return (uint32_t)(axis < 0 ? axis + (int64_t)rank : axis);
}

static uint32_t first_axis(const stow_graph* graph, stow_node node, uint32_t rank) {
  const stow_attr* axes = stow_graph_attr(graph, node, "axes");
  uint32_t first = axes == NULL || axes->count == 0 ? 0 : rank;
  for (size_t i = 0; first != 0 && i < axes->count; ++i) {
    uint32_t axis = from_front(axes->ints[i], rank);
    first = axis < first ? axis : first;
  }
  return first;
}

static bool has_operand(const stow_graph* graph, stow_node node, size_t k) {
  return k < stow_graph_operand_count(graph, node) &&
         stow_graph_operands(graph, node)[k] != STOW_VALUE_NONE;
}

static bool is_weight(const stow_graph* graph, stow_value value) {
  stow_op op = stow_graph_op(graph, stow_graph_producer(graph, value));
  return op == STOW_OP_PARAM || op == STOW_OP_CONSTANT;
}

// Products with weights are faster without blocks.
static bool is_product(const stow_graph* graph, stow_node node) {
  const stow_value* operands = stow_graph_operands(graph, node);
  return stow_graph_op(graph, node) == STOW_OP_MATMUL && !is_weight(graph, operands[1]) &&
         stow_graph_type(graph, operands[0])->rank >= 2 &&
         stow_graph_type(graph, operands[1])->rank >= 2;
}

// The dims before this one are independent of each other; 0: none are.
static uint32_t free_dims(const stowi_rewrite_space* space, const stow_graph* graph,
                          stow_node node) {
  const stow_value* operands = stow_graph_operands(graph, node);
  uint32_t rank = space->rank;
  if (stowi_graph_is_elementwise(graph, node)) {
    return rank;
  }
  if (is_product(graph, node)) {
    return rank - 1;
  }
  if (!has_operand(graph, node, 0) || stow_graph_type(graph, operands[0])->rank != rank) {
    return 0;
  }
  switch (stow_graph_op(graph, node)) {
    case STOW_OP_SOFTMAX:
    case STOW_OP_LOG_SOFTMAX:
    case STOW_OP_LAYER_NORM:
    case STOW_OP_RMS_NORM: return from_front(stow_graph_attr(graph, node, "axis")->i, rank);
    case STOW_OP_REDUCE: return has_operand(graph, node, 1) ? 0 : first_axis(graph, node, rank);
    default: return 0;
  }
}

bool stowi_rewrite_space_join(stowi_rewrite_space* space, const stow_graph* graph, stow_node node) {
  const stow_type* type = stow_graph_type(graph, stow_graph_first_result(graph, node));
  if (type->rank != space->rank) {
    return false;
  }
  bool has_product = space->has_product || is_product(graph, node);
  uint32_t most = free_dims(space, graph, node);
  most = most < space->most ? most : space->most;
  for (uint32_t i = 0; i < most; ++i) {
    most = type->dims[i] == space->dims[i] ? most : i;
  }
  if (product(space->sizes, 0, most) < 2 || (has_product && most + 1 < space->rank)) {
    return false;
  }
  space->most = has_product ? space->rank - 1 : most;
  space->has_product = has_product;
  return true;
}

bool stowi_rewrite_space_begin(stowi_rewrite_space* space, const stow_graph* graph,
                               const stow_graph* sized, stow_node node) {
  stow_value value = stow_graph_first_result(graph, node);
  const stow_type* type = stow_graph_type(graph, value);
  memset(space, 0, sizeof(*space));
  space->rank = space->most = type->rank;
  memcpy(space->dims, type->dims, sizeof(space->dims));
  memcpy(space->sizes, stow_graph_type(sized, value)->dims, sizeof(space->sizes));
  return stowi_rewrite_space_join(space, graph, node);
}

// ---------------------------------------------------------------------------------------------
// Cutting

uint64_t stowi_rewrite_space_groups(const stowi_rewrite_space* space) {
  return product(space->sizes, 0, space->groups);
}

uint64_t stowi_rewrite_space_rows(const stowi_rewrite_space* space) {
  return product(space->sizes, space->groups, space->units);
}

uint64_t stowi_rewrite_space_unit(const stowi_rewrite_space* space, const stow_type* type) {
  return product(type->dims, space->units, type->rank) * (stow_dtype_bits(type->dtype) / 8);
}

// Which groups have parts of their own: some consecutive dims; false if it is not that.
static bool cut_groups(const stowi_rewrite_space* space, const stow_dim* dims,
                       stowi_rewrite_part* part) {
  bool is_past = false;
  bool has_slices = false;
  bool has_number = true;  // what is divided by does not depend on symbols
  part->slices = 1;
  part->divide = 1;
  for (uint32_t i = space->groups; i-- > 0;) {
    if (space->dims[i] == 1) {
      continue;
    }
    if (dims[i] == 1) {
      is_past = has_slices;
      has_number = has_number && (is_past || stow_dim_is_const(space->dims[i]));
      part->divide *= is_past ? 1 : space->sizes[i];
    } else if (is_past || dims[i] != space->dims[i]) {
      return false;
    } else {
      has_slices = true;
      part->slices *= (uint64_t)space->sizes[i];
    }
  }
  part->divide = has_slices ? part->divide : 1;
  return has_number || !has_slices;
}

// All rows, or the same for each; false if it is neither.
static bool cut_rows(const stowi_rewrite_space* space, const stow_dim* dims,
                     stowi_rewrite_part* part) {
  bool has_all = true, has_none = true;
  for (uint32_t i = space->groups; i < space->units; ++i) {
    has_all = has_all && dims[i] == space->dims[i];
    has_none = has_none && dims[i] == 1;
  }
  part->by_rows = has_all;
  return has_all || has_none;
}

static bool cut_aligned(const stowi_rewrite_space* space, const stow_type* type,
                        stowi_rewrite_part* part) {
  stow_dim dims[STOW_MAX_RANK];
  if (type->rank > space->rank) {
    return false;
  }
  uint32_t missing = space->rank - type->rank;
  for (uint32_t i = 0; i < space->rank; ++i) {
    dims[i] = i < missing ? 1 : type->dims[i - missing];
  }
  part->rank = space->rank - space->units;
  memcpy(part->unit, dims + space->units, part->rank * sizeof(dims[0]));
  return cut_rows(space, dims, part) && cut_groups(space, dims, part);
}

// The dims before the matrix are those of groups; no row has a matrix of its own.
static bool cut_right(const stowi_rewrite_space* space, const stow_type* type,
                      stowi_rewrite_part* part) {
  stow_dim dims[STOW_MAX_RANK];
  if (type->rank > space->rank || space->groups + 1 >= space->rank) {
    return false;
  }
  uint32_t missing = space->rank - type->rank;
  for (uint32_t i = 0; i + 2 < space->rank; ++i) {
    dims[i] = i < missing ? 1 : type->dims[i - missing];
    if (i >= space->groups && dims[i] != 1) {
      return false;
    }
  }
  part->by_rows = false;
  part->rank = 2;
  memcpy(part->unit, type->dims + type->rank - 2, 2 * sizeof(dims[0]));
  return cut_groups(space, dims, part);
}

bool stowi_rewrite_space_cut(const stowi_rewrite_space* space, const stow_type* type,
                             stowi_rewrite_use use, stowi_rewrite_part* out_part) {
  switch (use) {
    case STOWI_REWRITE_ALIGNED: return cut_aligned(space, type, out_part);
    case STOWI_REWRITE_RIGHT: return cut_right(space, type, out_part);
    case STOWI_REWRITE_WHOLE: break;
  }
  *out_part = (stowi_rewrite_part){.slices = 1, .divide = 1, .rank = type->rank};
  memcpy(out_part->unit, type->dims, sizeof(out_part->unit));
  return type->rank <= space->rank - space->units;
}
