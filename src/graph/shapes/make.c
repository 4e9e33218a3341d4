// Shapes of ops that make tensors from shapes and numbers rather than from elements.
#include <inttypes.h>

#include "base/diag.h"
#include "graph/shapes/shapes.h"

// A bound of `shape`'s range of dims, counted from the end if negative, and clamped.
static uint32_t clamp_bound(int64_t bound, uint32_t rank) {
  if (bound < 0) {
    bound = bound < -(int64_t)rank ? 0 : bound + (int64_t)rank;
  }
  return bound > (int64_t)rank ? rank : (uint32_t)bound;
}

void stowi_graph_shape_dims_range(const stow_shape_call* call, uint32_t* out_first,
                                  uint32_t* out_end) {
  uint32_t rank = stow_shape_operand(call, 0)->rank;
  *out_first = clamp_bound(stow_shape_attr_int(call, "start", 0), rank);
  *out_end = clamp_bound(stow_shape_attr_int(call, "end", INT64_MAX), rank);
  *out_end = *out_end < *out_first ? *out_first : *out_end;
}

stow_status stowi_graph_shape_shape(stow_shape_call* call) {
  uint32_t first;
  uint32_t end;
  stowi_graph_shape_dims_range(call, &first, &end);
  stow_dim count = end - first;
  stow_type result = stow_type_make(STOW_I64, 1, &count);
  return stowi_graph_shape_set(call, 0, &result);
}

stow_status stowi_graph_shape_size(stow_shape_call* call) {
  stow_type result = stow_type_make(STOW_I64, 0, NULL);
  return stowi_graph_shape_set(call, 0, &result);
}

// ---------------------------------------------------------------------------------------------
// range

// The number of steps of |delta| from |start| up to |limit|, exclusive.
static stow_dim count_steps(stow_shape_call* call, stow_dim start, stow_dim limit, int64_t delta) {
  stow_dims* dims = stow_shape_dims(call);
  stow_dim span = delta > 0 ? stow_dim_sub(dims, limit, start) : stow_dim_sub(dims, start, limit);
  stow_dim count = stow_dim_ceil_div(dims, span, delta > 0 ? delta : -delta);
  if (count == STOW_DIM_INVALID || stow_dim_at_least(dims, count, 0, 1)) {
    return count;
  }
  return stow_dim_max(dims, count, 0);
}

// Upwards, a larger limit makes a longer range, so an upper bound suffices.
static stow_status range_of_integers(stow_shape_call* call, stow_dim* out_count) {
  stow_dim start = stowi_graph_shape_scalar(call, 0);
  int64_t delta;
  bool is_known = stowi_graph_shape_number(call, stowi_graph_shape_scalar(call, 2), &delta);
  if (is_known && (delta == 0 || delta == INT64_MIN)) {
    return stow_shape_fail(call, "delta %" PRId64 " is out of range", delta);
  }
  stow_dim limit = is_known && delta > 0 && start != STOW_DIM_INVALID
                       ? stowi_graph_shape_scalar_bound(call, 1)
                       : stowi_graph_shape_scalar(call, 1);
  is_known = is_known && start != STOW_DIM_INVALID && limit != STOW_DIM_INVALID;
  *out_count = is_known ? count_steps(call, start, limit, delta) : stow_shape_data_dim(call, 0, 0);
  return STOW_OK;
}

// A float that is a dim or a whole number; STOW_DIM_INVALID otherwise.
static stow_dim whole_float(stow_shape_call* call, size_t k) {
  double number;
  stow_dim dim = stowi_graph_shape_float_dim(call, k, 0);
  bool is_whole = dim == STOW_DIM_INVALID && stow_shape_known_float(call, k, 0, &number) &&
                  number > -9e15 && number < 9e15 && number == (double)(int64_t)number;
  return is_whole ? stow_dim_of_int(stow_shape_dims(call), (int64_t)number) : dim;
}

// Floats of which at least one is a dim, and all are whole.
static bool range_of_dims(stow_shape_call* call, stow_dim* out_count) {
  stow_dim at[3];
  bool has_dim = false;
  for (size_t k = 0; k < 3; ++k) {
    at[k] = whole_float(call, k);
    has_dim = has_dim || stowi_graph_shape_float_dim(call, k, 0) != STOW_DIM_INVALID;
  }
  int64_t delta = 0;
  bool is_known = has_dim && at[0] != STOW_DIM_INVALID && at[1] != STOW_DIM_INVALID &&
                  stowi_graph_shape_number(call, at[2], &delta) && delta != 0;
  *out_count = is_known ? count_steps(call, at[0], at[1], delta) : STOW_DIM_INVALID;
  return is_known;
}

static stow_status range_of_floats(stow_shape_call* call, stow_dim* out_count) {
  double start;
  double limit;
  double delta;
  if (range_of_dims(call, out_count)) {
    return STOW_OK;
  }
  if (!stow_shape_known_float(call, 0, 0, &start) || !stow_shape_known_float(call, 2, 0, &delta) ||
      !(delta > 0 ? stowi_graph_shape_bound_float(call, 1, 0, &limit)
                  : stow_shape_known_float(call, 1, 0, &limit))) {
    *out_count = stow_shape_data_dim(call, 0, 0);
    return STOW_OK;
  }
  double steps = delta == 0 ? -1.0 : (limit - start) / delta;
  if (delta == 0 || !(steps < 9e15)) {
    return stow_shape_fail(call, "delta is out of range");
  }
  int64_t whole = steps <= 0 ? 0 : (int64_t)steps;
  *out_count = steps > (double)whole ? whole + 1 : whole;
  return STOW_OK;
}

stow_status stowi_graph_shape_range(stow_shape_call* call) {
  static const char* const names[] = {"start", "limit", "delta"};
  for (size_t k = 0; k < 3; ++k) {
    STOW_TRY(stowi_graph_shape_same_dtype(call, 0, k));
    STOW_TRY(stowi_graph_shape_one_element(call, k, names[k]));
  }
  stow_dtype dtype = stow_shape_operand(call, 0)->dtype;
  bool is_float = stow_dtype_kind_of(dtype) == STOW_KIND_FLOAT;
  stow_dim count;
  STOW_TRY(is_float ? range_of_floats(call, &count) : range_of_integers(call, &count));
  stow_type result = stow_type_make(dtype, 1, &count);
  return stowi_graph_shape_set(call, 0, &result);
}

// ---------------------------------------------------------------------------------------------
// fill, one_hot, eye_like, trilu

stow_status stowi_graph_shape_fill(stow_shape_call* call) {
  stowi_graph_list shape;
  STOW_TRY(stowi_graph_shape_bounds(call, NULL, 0, &shape));
  STOW_TRY(stowi_graph_shape_one_element(call, 1, "value"));
  if (shape.count > STOW_MAX_RANK) {
    return stow_shape_fail(call, "the result would have rank %zu, the maximum is %d", shape.count,
                           STOW_MAX_RANK);
  }
  const stow_type* value = stow_shape_operand(call, 1);
  stow_type result = stow_type_make(value == NULL ? STOW_F32 : value->dtype, 0, NULL);
  result.rank = (uint32_t)shape.count;
  for (uint32_t i = 0; i < result.rank; ++i) {
    bool is_known = shape.at[i] != STOW_DIM_INVALID;
    result.dims[i] = is_known ? shape.at[i] : stow_shape_data_dim(call, 0, i);
  }
  return stowi_graph_shape_set(call, 0, &result);
}

// The depth as a dim: an integer, or a float that is a whole number.
static stow_dim known_depth(stow_shape_call* call) {
  double depth;
  if (stow_dtype_kind_of(stow_shape_operand(call, 1)->dtype) != STOW_KIND_FLOAT) {
    return stowi_graph_shape_scalar_bound(call, 1);
  }
  bool is_whole = stowi_graph_shape_bound_float(call, 1, 0, &depth) && depth >= 0 && depth < 9e15 &&
                  depth == (double)(int64_t)depth;
  return is_whole ? (int64_t)depth : STOW_DIM_INVALID;
}

stow_status stowi_graph_shape_one_hot(stow_shape_call* call) {
  const stow_type* indices = stow_shape_operand(call, 0);
  const stow_type* values = stow_shape_operand(call, 2);
  STOW_TRY(stowi_graph_shape_one_element(call, 1, "depth"));
  if (values->rank != 1 || stowi_graph_shape_differ(call, values->dims[0], 2)) {
    return stow_shape_fail(call, "operand 2 must have two values, off and on");
  }
  if (indices->rank == STOW_MAX_RANK) {
    return stow_shape_fail(call, "the result would have rank %d, the maximum is %d",
                           STOW_MAX_RANK + 1, STOW_MAX_RANK);
  }
  uint32_t axis;
  STOW_TRY(stowi_graph_shape_axis(call, indices->rank + 1, &axis));
  stow_dim depth = known_depth(call);
  stow_type result = stow_type_make(values->dtype, 0, NULL);
  for (uint32_t i = 0; i <= indices->rank; ++i) {
    result.dims[i] = i == axis ? depth : indices->dims[i < axis ? i : i - 1];
  }
  result.rank = indices->rank + 1;
  if (depth == STOW_DIM_INVALID) {
    result.dims[axis] = stow_shape_data_dim(call, 0, axis);
  }
  return stowi_graph_shape_set(call, 0, &result);
}

stow_status stowi_graph_shape_eye_like(stow_shape_call* call) {
  stow_type result = *stow_shape_operand(call, 0);
  if (result.rank != 2) {
    return stow_shape_fail(call, "operand 0 has rank %" PRIu32 ", expected 2", result.rank);
  }
  STOW_TRY(stowi_graph_shape_dtype(call, "dtype", result.dtype, &result.dtype));
  return stowi_graph_shape_set(call, 0, &result);
}

stow_status stowi_graph_shape_trilu(stow_shape_call* call) {
  STOW_TRY(stowi_graph_shape_min_rank(call, 0, 2));
  STOW_TRY(stowi_graph_shape_integers(call, 1, "operand 1 (k)"));
  STOW_TRY(stowi_graph_shape_one_element(call, 1, "k"));
  return stowi_graph_shape_same(call);
}
