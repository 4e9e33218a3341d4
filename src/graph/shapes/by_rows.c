// Which nodes can be computed row by row: in one call of the same kernel for each index of the
// leading dims, which are 1 there. Each element of a result must depend on its own row alone, and
// be computed from the same numbers in the same order as in one call for all rows. Attributes stay
// as they are, so those that name a dim must name one behind the leading ones.
#include "base/checked.h"
#include "graph/api.h"
#include "graph/graph_internal.h"
#include "graph/shapes/call.h"
#include "graph/shapes/shapes.h"

// Operands that can be told apart.
#define MOST_OPERANDS 64

// ---------------------------------------------------------------------------------------------
// Leading dims

// The fewest dims of |type| that have |rows| indices together; false if none have.
static bool find_lead(const stow_type* type, uint64_t rows, uint32_t* out_lead) {
  uint64_t product = 1;
  uint32_t lead = 0;
  while (lead < type->rank && product < rows) {
    if (type->dims[lead] <= 0 || !stowi_mul_u64(product, (uint64_t)type->dims[lead], &product)) {
      return false;
    }
    ++lead;
  }
  *out_lead = lead;
  return product == rows;
}

bool stowi_graph_begins_with_rows(const stow_type* type, uint64_t rows) {
  uint32_t lead;
  return find_lead(type, rows, &lead);
}

// ---------------------------------------------------------------------------------------------
// Operands

typedef struct rows_call {
  const stow_shape_call* call;
  uint64_t rows;
  uint32_t lead;   // of the results
  uint64_t still;  // bit k: operand k is the same for every row
} rows_call;

static bool stand(rows_call* r, size_t k) {
  r->still |= UINT64_C(1) << k;
  return true;
}

// Operand |k| has the leading dims, or lacks them all; dims are aligned at the last one.
static bool align(rows_call* r, size_t k) {
  const stow_type* result = stow_shape_declared(r->call, 0);
  const stow_type* type = stow_shape_operand(r->call, k);
  bool has_all = true, has_none = true;
  if (type == NULL) {
    return true;
  }
  if (type->rank > result->rank) {
    return false;
  }
  for (uint32_t i = 0, missing = result->rank - type->rank; i < r->lead; ++i) {
    int64_t dim = i < missing ? 1 : type->dims[i - missing];
    has_all = has_all && dim == result->dims[i];
    has_none = has_none && dim == 1;
  }
  return has_all || (has_none && stand(r, k));
}

static bool align_all(rows_call* r) {
  bool fits = true;
  for (size_t k = 0; k < stow_shape_operand_count(r->call); ++k) {
    fits = fits && align(r, k);
  }
  return fits;
}

// Operand 0 begins with the rows, the others have none.
static bool lead_first(rows_call* r) {
  uint32_t lead;
  for (size_t k = 1; k < stow_shape_operand_count(r->call); ++k) {
    stand(r, k);
  }
  return find_lead(stow_shape_operand(r->call, 0), r->rows, &lead);
}

// The same, and rows are samples.
static bool lead_samples(rows_call* r) { return r->lead == 1 && lead_first(r); }

// ---------------------------------------------------------------------------------------------
// Kinds of ops

static bool has_axis_behind(const rows_call* r, int64_t fallback) {
  uint32_t axis;
  return stowi_graph_normal_axis(stow_shape_attr_int(r->call, "axis", fallback),
                                 stow_shape_operand(r->call, 0)->rank, &axis) &&
         axis >= r->lead;
}

static bool reduces_behind(const rows_call* r) {
  size_t count;
  const int64_t* axes = stowi_graph_shape_ints(r->call, "axes", &count);
  uint32_t rank = stow_shape_operand(r->call, 0)->rank;
  bool fits = stow_shape_operand(r->call, 1) == NULL && axes != NULL && count != 0;
  for (size_t i = 0; fits && i < count; ++i) {
    uint32_t axis;
    fits = stowi_graph_normal_axis(axes[i], rank, &axis) && axis >= r->lead;
  }
  return fits;
}

// Scale and shift may have a part for each row.
static bool is_norm(rows_call* r) { return has_axis_behind(r, -1) && align_all(r); }

static bool is_product(rows_call* r) {
  const stow_type* a = stow_shape_operand(r->call, 0);
  const stow_type* b = stow_shape_operand(r->call, 1);
  return a->rank >= 2 && b->rank >= 2 && r->lead + 2 <= stow_shape_declared(r->call, 0)->rank &&
         align_all(r);
}

static bool is_fused_conv(rows_call* r) {
  bool fits = lead_samples(r);
  r->still &= ~(UINT64_C(1) << 3);
  return fits && align(r, 3);
}

static bool keeps_leading_dims(const rows_call* r) {
  uint32_t perm[STOW_MAX_RANK];
  bool keeps = stowi_graph_shape_perm(r->call, stow_shape_operand(r->call, 0)->rank, perm);
  for (uint32_t i = 0; keeps && i < r->lead; ++i) {
    keeps = perm[i] == i;
  }
  return keeps;
}

static bool slices_behind(const rows_call* r) {
  const stow_type* type = stow_shape_operand(r->call, 0);
  const stow_type* result = stow_shape_declared(r->call, 0);
  int64_t starts[STOW_MAX_RANK];
  int64_t steps[STOW_MAX_RANK];
  bool fits = stowi_graph_slice_starts(r->call, type, starts, steps);
  for (uint32_t i = 0; fits && i < r->lead; ++i) {
    fits =
        type->dims[i] == result->dims[i] && starts[i] == 0 && (steps[i] == 1 || type->dims[i] == 1);
  }
  return fits;
}

// A scale for each index of the axis, or one for all.
static bool has_scales_behind(const rows_call* r) {
  const stow_type* scale = stow_shape_operand(r->call, 1);
  return stow_shape_attr_int(r->call, "block_size", 0) == 0 && scale != NULL &&
         (scale->rank == 0 || (scale->rank == 1 && has_axis_behind(r, 1)));
}

static bool is_qlinear_binary(rows_call* r) {
  bool fits = align(r, 0) && align(r, 3);
  for (size_t k = 1; k < stow_shape_operand_count(r->call); ++k) {
    fits = fits && (k == 3 || stand(r, k));
  }
  return fits;
}

static bool is_true(const rows_call* r, const char* name) {
  const stow_attr* attr = stow_shape_attr(r->call, name);
  return attr != NULL && attr->kind == STOW_ATTR_BOOL && attr->b;
}

// Rows are whole groups, and operands have as many slices as there are groups, or repeat in each
// row. Kernels find the number of groups from the result.
static bool is_blocks(const stow_graph* graph, stow_node node, rows_call* r) {
  uint64_t groups = (uint64_t)stow_graph_attr(graph, node, "groups")->i;
  uint64_t share = groups / r->rows;
  stowi_graph_cut cut;
  if (groups % r->rows != 0) {
    return false;
  }
  for (size_t k = 0; k < stow_shape_operand_count(r->call); ++k) {
    if (!stowi_graph_cut_operand(graph, node, k, &cut)) {
      return false;
    }
    bool repeats =
        cut.slices == 1 || (share % cut.divide == 0 && share / cut.divide % cut.slices == 0);
    bool has_all = cut.slices * cut.divide == groups && cut.slices % r->rows == 0;
    uint32_t lead;
    if (!repeats && !(has_all && find_lead(stow_shape_operand(r->call, k), r->rows, &lead))) {
      return false;
    }
    r->still |= (uint64_t)repeats << k;
  }
  return true;
}

// One function for each kind of op.
static bool has_rows(const stow_graph* graph, stow_node node, rows_call* r) {
  const stow_shape_call* call = r->call;
  if (stowi_graph_is_elementwise(graph, node)) {
    return align_all(r);
  }
  switch (stow_graph_op(graph, node)) {
    case STOW_OP_BLOCKS: return is_blocks(graph, node, r);
    case STOW_OP_MATMUL: return is_product(r);
    case STOW_OP_FUSED_CONV: return is_fused_conv(r);
    case STOW_OP_CONV:
    case STOW_OP_CONV_TRANSPOSE:
    case STOW_OP_CONV_INTEGER:
    case STOW_OP_RESIZE:
    case STOW_OP_DEPTH_TO_SPACE:
    case STOW_OP_SPACE_TO_DEPTH:
    case STOW_OP_LRN:
    case STOW_OP_LAYER_NORM_2D:
    case STOW_OP_GROUP_NORM:
    case STOW_OP_INSTANCE_NORM: return lead_samples(r);
    case STOW_OP_QLINEAR_CONV:
    case STOW_OP_QLINEAR_POOL: return !is_true(r, "channels_last") && lead_samples(r);
    case STOW_OP_POOL:  // indices count from the first sample
    case STOW_OP_BATCH_NORM:
      return stow_shape_result_count(call) == 1 && !is_true(r, "training") && lead_samples(r);
    case STOW_OP_LAYER_NORM:
    case STOW_OP_RMS_NORM: return is_norm(r);
    case STOW_OP_SOFTMAX:
    case STOW_OP_LOG_SOFTMAX: return has_axis_behind(r, -1) && lead_first(r);
    case STOW_OP_REDUCE: return reduces_behind(r) && lead_first(r);
    case STOW_OP_CONCAT: return has_axis_behind(r, 0) && align_all(r) && r->still == 0;
    case STOW_OP_SPLIT:
    case STOW_OP_NARROW: return has_axis_behind(r, 0) && lead_first(r);
    case STOW_OP_SLICE: return slices_behind(r) && lead_first(r);
    case STOW_OP_TRANSPOSE: return keeps_leading_dims(r) && lead_first(r);
    case STOW_OP_RESHAPE:
    case STOW_OP_SQUEEZE:
    case STOW_OP_UNSQUEEZE:
    case STOW_OP_FLATTEN: return lead_first(r);
    case STOW_OP_QUANTIZE_LINEAR:
    case STOW_OP_DEQUANTIZE_LINEAR: return has_scales_behind(r) && lead_first(r);
    case STOW_OP_QLINEAR_ADD:
    case STOW_OP_QLINEAR_MUL: return is_qlinear_binary(r);
    case STOW_OP_QLINEAR_SIGMOID:
    case STOW_OP_QLINEAR_LEAKY_RELU: return lead_first(r);
    default: return false;
  }
}

// ---------------------------------------------------------------------------------------------
// Asking

static bool has_plain_bytes(const stow_graph* graph, stow_value value) {
  return value == STOW_VALUE_NONE ||
         (stow_dtype_bits(stow_graph_type(graph, value)->dtype) % 8 == 0 &&
          !stow_graph_is_bounded(graph, value) && !stow_graph_is_data_dependent(graph, value));
}

// Whether all results begin with the rows.
static bool leads_results(const stow_graph* graph, stow_node node, rows_call* r) {
  stow_value first = stow_graph_first_result(graph, node);
  size_t count = stow_graph_result_count(graph, node);
  for (size_t k = 0; k < count; ++k) {
    uint32_t lead = 0;
    if (!has_plain_bytes(graph, first + (stow_value)k) ||
        !find_lead(stow_shape_declared(r->call, k), r->rows, &lead) ||
        (k != 0 && lead != r->lead)) {
      return false;
    }
    r->lead = lead;
  }
  return count != 0;
}

bool stowi_graph_takes_rows(const stow_graph* graph, stow_node node, uint64_t rows,
                            uint64_t* out_still) {
  *out_still = 0;
  size_t count = stow_graph_operand_count(graph, node);
  const stow_value* operands = stow_graph_operands(graph, node);
  if (rows < 2 || count == 0 || count > MOST_OPERANDS ||
      stow_graph_op(graph, node) >= STOW_OP_CORE_COUNT) {
    return false;
  }
  for (size_t k = 0; k < count; ++k) {
    if (!has_plain_bytes(graph, operands[k])) {
      return false;
    }
  }
  stow_shape_call call =
      stowi_graph_shape_of_node(graph, graph->value_types.data, &graph->known, node, NULL, NULL);
  rows_call r = {.call = &call, .rows = rows};
  if (!leads_results(graph, node, &r) || operands[0] == STOW_VALUE_NONE ||
      !has_rows(graph, node, &r)) {
    return false;
  }
  *out_still = r.still;
  return true;
}

// ---------------------------------------------------------------------------------------------
// Views that are a part of each row

static uint64_t count_from(const stow_type* type, uint32_t first, uint32_t end) {
  uint64_t product = 1;
  for (uint32_t i = first; i < end; ++i) {
    product *= (uint64_t)type->dims[i];
  }
  return product;
}

// Where result |k| begins along |*out_axis|, the only dim that it does not have all of.
static bool find_part(const stow_graph* graph, stow_node node, const stow_shape_call* call,
                      size_t k, uint32_t* out_axis, int64_t* out_start) {
  const stow_type* type = stow_shape_operand(call, 0);
  int64_t starts[STOW_MAX_RANK];
  int64_t steps[STOW_MAX_RANK];
  switch (stow_graph_op(graph, node)) {
    case STOW_OP_NARROW:
      *out_start = stow_shape_attr_int(call, "start", 0);
      return stowi_graph_normal_axis(stow_shape_attr_int(call, "axis", 0), type->rank, out_axis);
    case STOW_OP_SPLIT:
      return stowi_graph_normal_axis(stow_shape_attr_int(call, "axis", 0), type->rank, out_axis) &&
             stowi_graph_part_start(call, k, *out_axis, out_start);
    case STOW_OP_SLICE: break;
    default: return false;
  }
  const stow_type* result = stow_shape_declared(call, k);
  uint32_t cuts = 0;
  if (!stowi_graph_slice_starts(call, type, starts, steps)) {
    return false;
  }
  for (uint32_t i = 0; i < type->rank; ++i) {
    bool is_whole = result->dims[i] == type->dims[i] && starts[i] == 0;
    if (!is_whole) {
      *out_axis = i;
      *out_start = starts[i];
      ++cuts;
    }
    if (steps[i] != 1 && result->dims[i] > 1) {
      return false;
    }
  }
  return cuts == 1;
}

bool stowi_graph_row_view(const stow_graph* graph, stow_node node, size_t k,
                          stowi_graph_row_part* out_part) {
  uint64_t still;
  stow_shape_call call =
      stowi_graph_shape_of_node(graph, graph->value_types.data, &graph->known, node, NULL, NULL);
  uint32_t axis;
  int64_t start;
  const stow_value* operands = stow_graph_operands(graph, node);
  if (k >= call.result_count || call.operand_count == 0 || operands[0] == STOW_VALUE_NONE ||
      !find_part(graph, node, &call, k, &axis, &start) || start < 0) {
    return false;
  }
  const stow_type* type = stow_shape_operand(&call, 0);
  const stow_type* result = stow_shape_declared(&call, k);
  *out_part =
      (stowi_graph_row_part){.rows = count_from(type, 0, axis),
                             .pitch = count_from(type, axis, type->rank),
                             .row = count_from(result, axis, result->rank),
                             .offset = (uint64_t)start * count_from(type, axis + 1, type->rank)};
  return out_part->row != 0 && stowi_graph_takes_rows(graph, node, out_part->rows, &still);
}
