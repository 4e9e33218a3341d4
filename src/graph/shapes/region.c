// Shapes of ops that own regions. An if's results are large enough for what either branch yields. A
// loop's further yields are collected over its iterations, whose number is bounded by the trip
// count if that is known, and otherwise depends on data.
#include <inttypes.h>

#include "base/diag.h"
#include "graph/dims/dims.h"
#include "graph/shapes/call.h"
#include "graph/shapes/shapes.h"

static bool is_scalar(const stow_type* type, stow_dtype dtype) {
  return type != NULL && type->dtype == dtype && type->rank == 0;
}

// ---------------------------------------------------------------------------------------------
// if

// One bool, whatever its rank.
static stow_status check_condition(stow_shape_call* call, const stow_type* type) {
  bool is_one = type->dtype == STOW_BOOL;
  for (uint32_t i = 0; i < type->rank; ++i) {
    is_one = is_one && !stowi_graph_shape_differ(call, type->dims[i], 1);
  }
  return is_one ? STOW_OK : stow_shape_fail(call, "the condition must be a single bool");
}

stow_status stowi_graph_shape_if(stow_shape_call* call) {
  STOW_TRY(check_condition(call, stow_shape_operand(call, 0)));
  size_t count = stow_shape_yield_count(call, 0);
  size_t other_count = stow_shape_yield_count(call, 1);
  if (stow_shape_region_arg_count(call, 0) != 0 || stow_shape_region_arg_count(call, 1) != 0) {
    return stow_shape_fail(call, "a branch must not have arguments");
  }
  if (count != other_count) {
    return stow_shape_fail(call, "the first branch yields %zu values, but the second yields %zu",
                           count, other_count);
  }
  if (count != stow_shape_result_count(call)) {
    return stow_shape_fail(call, "the branches yield %zu values, but %zu results are declared",
                           count, stow_shape_result_count(call));
  }
  for (size_t k = 0; k < count; ++k) {
    // The larger of each pair of dims, if the branches differ.
    stow_type type = *stow_shape_yield(call, 0, k);
    const stow_type* other = stow_shape_yield(call, 1, k);
    if (type.dtype != other->dtype || type.rank != other->rank) {
      return stow_shape_fail(call, "the branches yield different types for result %zu", k);
    }
    uint32_t bounded = (uint32_t)stowi_graph_shape_bounded_yield(call, 0, k) |
                       stowi_graph_shape_bounded_yield(call, 1, k);
    for (uint32_t i = 0; i < type.rank; ++i) {
      bounded |= (uint32_t)(type.dims[i] != other->dims[i]) << i;
      type.dims[i] = stow_dim_max(stow_shape_dims(call), type.dims[i], other->dims[i]);
    }
    stowi_graph_shape_mark_bounded(call, k, (stowi_graph_axes)bounded);
    STOW_TRY(stowi_graph_shape_set(call, k, &type));
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// loop(trip, cond, init…), args (iteration, cond, carried…), yield (cond, carried…, scans…),
// results (carried…, scans…)

enum { LEADING_OPERANDS = 2, LEADING_ARGS = 2, LEADING_YIELDS = 1 };

static stow_status check_control(stow_shape_call* call) {
  const stow_type* trip = stow_shape_operand(call, 0);
  const stow_type* condition = stow_shape_operand(call, 1);
  if (trip != NULL && !is_scalar(trip, STOW_I64)) {
    return stow_shape_fail(call, "operand 0 (trip count) must be i64[] or absent");
  }
  if (condition != NULL && !is_scalar(condition, STOW_BOOL)) {
    return stow_shape_fail(call, "operand 1 (condition) must be bool[] or absent");
  }
  return STOW_OK;
}

// A body that needs none of its arguments may omit them all, unless it carries something.
static stow_status check_args(stow_shape_call* call, size_t carried) {
  size_t count = stow_shape_region_arg_count(call, 0);
  if (count == 0 && carried == 0) {
    return STOW_OK;
  }
  if (count != LEADING_ARGS + carried) {
    return stow_shape_fail(
        call, "the body has %zu arguments, expected %zu: iteration, condition and carried values",
        count, LEADING_ARGS + carried);
  }
  if (!is_scalar(stow_shape_region_arg(call, 0, 0), STOW_I64) ||
      !is_scalar(stow_shape_region_arg(call, 0, 1), STOW_BOOL)) {
    return stow_shape_fail(call, "the body's first arguments must be i64[] and bool[]");
  }
  return STOW_OK;
}

static stow_status check_yields(stow_shape_call* call, size_t carried) {
  size_t count = stow_shape_yield_count(call, 0);
  size_t results = stow_shape_result_count(call);
  if (count < LEADING_YIELDS + carried) {
    return stow_shape_fail(
        call, "the body yields %zu values, expected at least %zu: the condition and carried values",
        count, LEADING_YIELDS + carried);
  }
  if (!is_scalar(stow_shape_yield(call, 0, 0), STOW_BOOL)) {
    return stow_shape_fail(call, "the body must yield the condition, bool[], first");
  }
  if (results != count - LEADING_YIELDS) {
    return stow_shape_fail(
        call, "the body yields %zu values after the condition, but %zu results are declared",
        count - LEADING_YIELDS, results);
  }
  return STOW_OK;
}

// Whether |a| and |b| may be one type, once their symbols are bound.
static bool can_agree(stow_shape_call* call, const stow_type* a, const stow_type* b) {
  bool can = a->dtype == b->dtype && a->rank == b->rank;
  for (uint32_t i = 0; can && i < a->rank; ++i) {
    can = !stowi_graph_shape_differ(call, a->dims[i], b->dims[i]);
  }
  return can;
}

// Initial value, argument and yield |i| have one type, which is also the result's: the initial one.
static stow_status check_carried(stow_shape_call* call, size_t i) {
  const stow_type* init = stow_shape_operand(call, LEADING_OPERANDS + i);
  if (init == NULL) {
    return stow_shape_fail(call, "operand %zu is missing", LEADING_OPERANDS + i);
  }
  if (!can_agree(call, init, stow_shape_region_arg(call, 0, LEADING_ARGS + i))) {
    return stow_shape_fail(call, "argument %zu of the body differs in type from operand %zu",
                           LEADING_ARGS + i, LEADING_OPERANDS + i);
  }
  if (!can_agree(call, init, stow_shape_yield(call, 0, LEADING_YIELDS + i))) {
    return stow_shape_fail(call, "yield %zu of the body differs in type from operand %zu",
                           LEADING_YIELDS + i, LEADING_OPERANDS + i);
  }
  return stowi_graph_shape_set(call, i, init);
}

// The number of iterations that result |i| collects: the trip count, or fewer if there is a
// condition. A trip count that no loop reaches means none.
static stow_dim rounds(stow_shape_call* call, size_t i) {
  stow_dims* dims = stow_shape_dims(call);
  stow_dim trip = stow_shape_bound(call, 0, 0);
  if (trip == STOW_DIM_INVALID || trip >= INT32_MAX) {
    return stow_shape_data_dim(call, i, 0);
  }
  const stow_type* declared = stow_shape_declared(call, i);
  stow_dim most = stow_dim_max(dims, trip, 0);
  bool is_exact = stowi_graph_shape_exactness(call, 0, 0) == STOWI_GRAPH_EXACT;
  if (stow_shape_operand(call, 1) == NULL && is_exact) {
    return most;
  }
  stowi_graph_shape_mark_bounded(call, i, 1);
  bool is_declared = declared != NULL && declared->rank != 0 &&
                     !stowi_graph_dim_is_larger(dims, declared->dims[0], most);
  return is_declared ? declared->dims[0] : most;
}

// A scan's result is its yield with a leading dim for the iterations.
static stow_status set_scan(stow_shape_call* call, size_t i) {
  stow_type type = *stow_shape_yield(call, 0, LEADING_YIELDS + i);
  if (type.rank == STOW_MAX_RANK) {
    return stow_shape_fail(
        call, "yield %zu of the body has rank %" PRIu32 ", which leaves no room for the scan's dim",
        LEADING_YIELDS + i, type.rank);
  }
  for (uint32_t d = type.rank++; d > 0; --d) {
    type.dims[d] = type.dims[d - 1];
  }
  type.dims[0] = rounds(call, i);
  return stowi_graph_shape_set(call, i, &type);
}

stow_status stowi_graph_shape_loop(stow_shape_call* call) {
  size_t operands = stow_shape_operand_count(call);
  size_t carried = operands < LEADING_OPERANDS ? 0 : operands - LEADING_OPERANDS;
  STOW_TRY(check_control(call));
  STOW_TRY(check_args(call, carried));
  STOW_TRY(check_yields(call, carried));
  for (size_t i = 0; i < stow_shape_result_count(call); ++i) {
    uint32_t yielded = stowi_graph_shape_bounded_yield(call, 0, LEADING_YIELDS + i);
    stowi_graph_axes initial =
        i < carried ? stowi_graph_shape_bounded_axes(call, LEADING_OPERANDS + i) : 0;
    uint32_t axes = i < carried ? yielded | initial : yielded << 1;  // after the scan's dim
    stowi_graph_shape_mark_bounded(call, i, (stowi_graph_axes)axes);
    STOW_TRY(i < carried ? check_carried(call, i) : set_scan(call, i));
  }
  return STOW_OK;
}
