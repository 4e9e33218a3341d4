// Shapes of ops that pick or place elements by index, and of those that pick them by value: the
// number that these find depends on data, so their dims are upper-bounded.
#include <inttypes.h>

#include "base/diag.h"
#include "graph/folds/fold.h"
#include "graph/shapes/shapes.h"

// ---------------------------------------------------------------------------------------------
// Gathering

stow_status stowi_graph_shape_gather(stow_shape_call* call) {
  const stow_type* data = stow_shape_operand(call, 0);
  const stow_type* indices = stow_shape_operand(call, 1);
  uint32_t axis;
  STOW_TRY(stowi_graph_shape_axis(call, data->rank, &axis));
  STOW_TRY(stowi_graph_shape_integers(call, 1, "operand 1 (indices)"));
  uint32_t rank = data->rank - 1 + indices->rank;
  if (rank > STOW_MAX_RANK) {
    return stow_shape_fail(call, "the result would have rank %" PRIu32 ", the maximum is %d", rank,
                           STOW_MAX_RANK);
  }
  stow_type result = stow_type_make(data->dtype, 0, NULL);
  for (uint32_t i = 0; i < axis; ++i) {
    result.dims[result.rank++] = data->dims[i];
  }
  for (uint32_t i = 0; i < indices->rank; ++i) {
    result.dims[result.rank++] = indices->dims[i];
  }
  for (uint32_t i = axis + 1; i < data->rank; ++i) {
    result.dims[result.rank++] = data->dims[i];
  }
  return stowi_graph_shape_set(call, 0, &result);
}

// Indices have the data's rank, and along other axes no larger dims than the data.
static stow_status check_element_indices(stow_shape_call* call, uint32_t* out_axis) {
  const stow_type* data = stow_shape_operand(call, 0);
  const stow_type* indices = stow_shape_operand(call, 1);
  STOW_TRY(stowi_graph_shape_axis(call, data->rank, out_axis));
  STOW_TRY(stowi_graph_shape_integers(call, 1, "operand 1 (indices)"));
  if (indices->rank != data->rank) {
    return stow_shape_fail(call,
                           "the indices have rank %" PRIu32 ", but the data has rank %" PRIu32,
                           indices->rank, data->rank);
  }
  for (uint32_t i = 0; i < data->rank; ++i) {
    bool is_number = stow_dim_is_const(data->dims[i]) && stow_dim_is_const(indices->dims[i]);
    if (i != *out_axis && is_number && indices->dims[i] > data->dims[i]) {
      return stow_shape_fail(
          call, "dim %" PRIu32 " of the indices is %" PRId64 ", above %" PRId64 " of the data", i,
          indices->dims[i], data->dims[i]);
    }
  }
  return STOW_OK;
}

stow_status stowi_graph_shape_gather_elements(stow_shape_call* call) {
  uint32_t axis;
  STOW_TRY(check_element_indices(call, &axis));
  stow_type result = *stow_shape_operand(call, 1);
  result.dtype = stow_shape_operand(call, 0)->dtype;
  return stowi_graph_shape_set(call, 0, &result);
}

// The last dim of the indices: how many dims of the data each index names.
static stow_status index_length(stow_shape_call* call, uint32_t batch, uint32_t* out_length) {
  const stow_type* data = stow_shape_operand(call, 0);
  const stow_type* indices = stow_shape_operand(call, 1);
  STOW_TRY(stowi_graph_shape_integers(call, 1, "operand 1 (indices)"));
  STOW_TRY(stowi_graph_shape_min_rank(call, 1, 1));
  stow_dim length = indices->dims[indices->rank - 1];
  if (!stow_dim_is_const(length)) {
    return stow_shape_fail_unknown(call, "the number of dims an index names, %s",
                                   stowi_graph_shape_dim_text(call, length).text);
  }
  if (batch >= indices->rank || batch > data->rank || length > data->rank - batch) {
    return stow_shape_fail(call,
                           "indices of %" PRId64 " numbers after %" PRIu32
                           " batch dims do not fit rank %" PRIu32,
                           length, batch, data->rank);
  }
  *out_length = (uint32_t)length;
  return STOW_OK;
}

stow_status stowi_graph_shape_gather_nd(stow_shape_call* call) {
  const stow_type* data = stow_shape_operand(call, 0);
  const stow_type* indices = stow_shape_operand(call, 1);
  int64_t batch = stow_shape_attr_int(call, "batch_dims", 0);
  if (batch < 0 || batch > STOW_MAX_RANK) {
    return stow_shape_fail(call, "batch_dims %" PRId64 " is out of range", batch);
  }
  uint32_t length;
  STOW_TRY(index_length(call, (uint32_t)batch, &length));
  for (uint32_t i = 0; i < (uint32_t)batch; ++i) {
    STOW_TRY(stowi_graph_need_equal(call, "leading dims of data and indices", data->dims[i],
                                    indices->dims[i]));
  }
  uint32_t first = (uint32_t)batch + length;
  uint32_t rank = indices->rank - 1 + data->rank - first;
  if (rank > STOW_MAX_RANK) {
    return stow_shape_fail(call, "the result would have rank %" PRIu32 ", the maximum is %d", rank,
                           STOW_MAX_RANK);
  }
  stow_type result = stow_type_make(data->dtype, 0, NULL);
  for (uint32_t i = 0; i + 1 < indices->rank; ++i) {
    result.dims[result.rank++] = indices->dims[i];
  }
  for (uint32_t i = first; i < data->rank; ++i) {
    result.dims[result.rank++] = data->dims[i];
  }
  return stowi_graph_shape_set(call, 0, &result);
}

// ---------------------------------------------------------------------------------------------
// Scattering

static stow_status check_reduction(stow_shape_call* call) {
  static const char* const choices[] = {"none", "add", "mul", "max", "min", NULL};
  size_t choice;
  STOW_TRY(stowi_graph_shape_same_dtype(call, 0, 2));
  return stowi_graph_shape_choice(call, "reduction", choices, &choice);
}

// Fails if dim |i| of the updates and |wanted| differ.
static stow_status check_update(stow_shape_call* call, uint32_t i, stow_dim wanted) {
  const stow_type* updates = stow_shape_operand(call, 2);
  if (stowi_graph_shape_differ(call, updates->dims[i], wanted)) {
    return stow_shape_fail(call, "dim %" PRIu32 " of the updates is %s, expected %s", i,
                           stowi_graph_shape_dim_text(call, updates->dims[i]).text,
                           stowi_graph_shape_dim_text(call, wanted).text);
  }
  return STOW_OK;
}

static stow_status check_update_rank(stow_shape_call* call, uint32_t rank) {
  uint32_t actual = stow_shape_operand(call, 2)->rank;
  if (actual != rank) {
    return stow_shape_fail(call, "the updates have rank %" PRIu32 ", expected %" PRIu32, actual,
                           rank);
  }
  return STOW_OK;
}

stow_status stowi_graph_shape_scatter_elements(stow_shape_call* call) {
  const stow_type* indices = stow_shape_operand(call, 1);
  uint32_t axis;
  STOW_TRY(check_element_indices(call, &axis));
  STOW_TRY(check_reduction(call));
  STOW_TRY(check_update_rank(call, indices->rank));
  for (uint32_t i = 0; i < indices->rank; ++i) {
    STOW_TRY(check_update(call, i, indices->dims[i]));
  }
  return stowi_graph_shape_same(call);
}

stow_status stowi_graph_shape_scatter_nd(stow_shape_call* call) {
  const stow_type* data = stow_shape_operand(call, 0);
  const stow_type* indices = stow_shape_operand(call, 1);
  uint32_t length;
  STOW_TRY(check_reduction(call));
  STOW_TRY(index_length(call, 0, &length));
  uint32_t lead = indices->rank - 1;
  STOW_TRY(check_update_rank(call, lead + data->rank - length));
  for (uint32_t i = 0; i < lead; ++i) {
    STOW_TRY(check_update(call, i, indices->dims[i]));
  }
  for (uint32_t i = length; i < data->rank; ++i) {
    STOW_TRY(check_update(call, lead + i - length, data->dims[i]));
  }
  return stowi_graph_shape_same(call);
}

stow_status stowi_graph_shape_tensor_scatter(stow_shape_call* call) {
  static const char* const modes[] = {"linear", "circular", NULL};
  const stow_type* cache = stow_shape_operand(call, 0);
  const stow_type* updates = stow_shape_operand(call, 1);
  size_t mode;
  uint32_t axis;
  STOW_TRY(stowi_graph_shape_choice(call, "mode", modes, &mode));
  STOW_TRY(stowi_graph_shape_axis(call, cache->rank, &axis));
  STOW_TRY(stowi_graph_shape_same_dtype(call, 0, 1));
  STOW_TRY(stowi_graph_shape_integers(call, 2, "operand 2 (positions)"));
  if (axis == 0 || updates->rank != cache->rank) {
    return stow_shape_fail(
        call, "the cache has rank %" PRIu32 ", the updates %" PRIu32 ", and the axis is %" PRIu32,
        cache->rank, updates->rank, axis);
  }
  for (uint32_t i = 0; i < cache->rank; ++i) {
    bool is_number = stow_dim_is_const(cache->dims[i]) && stow_dim_is_const(updates->dims[i]);
    bool fits = i == axis ? !is_number || updates->dims[i] <= cache->dims[i]
                          : !stowi_graph_shape_differ(call, cache->dims[i], updates->dims[i]);
    if (!fits) {
      return stow_shape_fail(call, "dim %" PRIu32 " of the updates is %s, but the cache has %s", i,
                             stowi_graph_shape_dim_text(call, updates->dims[i]).text,
                             stowi_graph_shape_dim_text(call, cache->dims[i]).text);
    }
  }
  return stowi_graph_shape_same(call);
}

// ---------------------------------------------------------------------------------------------
// Picking by value

// The number of operand |k|'s elements that are not zero; false if unknown.
static bool count_true(stow_shape_call* call, size_t k, int64_t* out_count) {
  uint64_t elements;
  *out_count = 0;
  if (!stow_shape_is_known(call, k) ||
      stow_type_elements(stow_shape_operand(call, k), &elements) != STOW_OK ||
      elements > STOW_MAX_KNOWN) {
    return false;
  }
  for (size_t i = 0; i < elements; ++i) {
    bool truth;
    if (!stowi_graph_shape_known_truth(call, k, i, &truth)) {
      return false;
    }
    *out_count += truth;
  }
  return true;
}

stow_status stowi_graph_shape_nonzero(stow_shape_call* call) {
  const stow_type* type = stow_shape_operand(call, 0);
  int64_t count;
  bool is_known = count_true(call, 0, &count);
  stow_dim dims[2] = {type->rank,
                      is_known ? count : stowi_graph_shape_product(call, type, 0, type->rank)};
  stow_type result = stow_type_make(STOW_I64, 2, dims);
  if (!is_known) {
    stow_shape_set_bounded_dim(call, 0, 1);
  }
  return stowi_graph_shape_set(call, 0, &result);
}

// The single axis in the attribute `axes`; if it is empty, the operand is treated as flat:
// |out_type| has one dim.
static stow_status axis_or_flat(stow_shape_call* call, stow_type* out_type, uint32_t* out_axis) {
  const stow_type* type = stow_shape_operand(call, 0);
  stowi_graph_list axes;
  STOW_TRY(stowi_graph_shape_list(call, "axes", SIZE_MAX, &axes));
  if (axes.count > 1) {
    return stow_shape_fail(call, "axes has %zu entries, expected at most one", axes.count);
  }
  *out_type = *type;
  *out_axis = 0;
  if (axes.count == 0) {
    stow_dim elements = stowi_graph_shape_product(call, type, 0, type->rank);
    *out_type = stow_type_make(type->dtype, 1, &elements);
  }
  return stowi_graph_shape_list_axes(call, &axes, type->rank, out_axis);
}

stow_status stowi_graph_shape_unique(stow_shape_call* call) {
  stow_type result;
  uint32_t axis;
  STOW_TRY(axis_or_flat(call, &result, &axis));
  stow_type inverse = stow_type_make(STOW_I64, 1, &result.dims[axis]);
  stow_type list = inverse;
  stow_dim count;
  bool is_known = stowi_graph_count_distinct(call, &count);
  if (is_known) {
    result.dims[axis] = list.dims[0] = count;
  }
  for (size_t k = 0; k < stow_shape_result_count(call); ++k) {
    bool is_inverse = k == 2;  // one for each element or slice of the operand
    if (!is_inverse && !is_known) {
      stow_shape_set_bounded_dim(call, k, k == 0 ? axis : 0);
    }
    STOW_TRY(stowi_graph_shape_set(call, k, k == 0 ? &result : is_inverse ? &inverse : &list));
  }
  return STOW_OK;
}

stow_status stowi_graph_shape_compress(stow_shape_call* call) {
  stow_type result;
  uint32_t axis;
  const stow_type* condition = stow_shape_operand(call, 1);
  STOW_TRY(axis_or_flat(call, &result, &axis));
  if (condition->rank != 1 || condition->dtype != STOW_BOOL) {
    return stow_shape_fail(call, "operand 1 (condition) must be bools of rank 1");
  }
  int64_t count;
  if (count_true(call, 1, &count)) {
    result.dims[axis] = count;
  } else {
    stow_dim dim = result.dims[axis];
    bool is_shorter = stow_dim_is_const(condition->dims[0]) &&
                      !(stow_dim_is_const(dim) && dim < condition->dims[0]);
    result.dims[axis] = is_shorter ? condition->dims[0] : dim;
    stow_shape_set_bounded_dim(call, 0, axis);
  }
  return stowi_graph_shape_set(call, 0, &result);
}

// ---------------------------------------------------------------------------------------------
// topk, cumsum, cumprod

// The attribute k, otherwise the value of operand 1.
static stow_status read_k(stow_shape_call* call, stow_dim* out_k) {
  int64_t number = stow_shape_attr_int(call, "k", -1);
  *out_k = number;
  if (stow_shape_operand(call, 1) != NULL) {
    STOW_TRY(stowi_graph_shape_integers(call, 1, "operand 1 (k)"));
    STOW_TRY(stowi_graph_shape_one_element(call, 1, "k"));
    *out_k = stowi_graph_shape_scalar_bound(call, 1);
    number = 0;
    (void)stowi_graph_shape_number(call, *out_k, &number);
  }
  return number < 0 ? stow_shape_fail(call, "k is %" PRId64 ", expected 0 or more", number)
                    : STOW_OK;
}

stow_status stowi_graph_shape_topk(stow_shape_call* call) {
  stow_type result = *stow_shape_operand(call, 0);
  uint32_t axis;
  stow_dim k;
  STOW_TRY(stowi_graph_shape_axis(call, result.rank, &axis));
  STOW_TRY(read_k(call, &k));
  stow_dim dim = result.dims[axis];
  bool is_bound = stow_shape_operand(call, 1) != NULL && stow_shape_known(call, 1, 0) != k;
  if (is_bound && k != STOW_DIM_INVALID) {
    k = stow_dim_min(stow_shape_dims(call), k, dim);
  } else if (stow_dim_is_const(k) && stow_dim_is_const(dim) && k > dim) {
    return stow_shape_fail(call, "k is %" PRId64 ", but dim %" PRIu32 " is only %s", k, axis,
                           stowi_graph_shape_dim_text(call, dim).text);
  }
  for (size_t i = 0; i < 2; ++i) {
    result.dims[axis] = k == STOW_DIM_INVALID ? stow_shape_data_dim(call, i, axis) : k;
    STOW_TRY(stowi_graph_shape_set(call, i, &result));
    result.dtype = STOW_I64;
  }
  return STOW_OK;
}

stow_status stowi_graph_shape_cumulate(stow_shape_call* call) {
  uint32_t rank = stow_shape_operand(call, 0)->rank;
  int64_t number;
  uint32_t axis;
  STOW_TRY(stowi_graph_shape_integers(call, 1, "operand 1 (axis)"));
  STOW_TRY(stowi_graph_shape_one_element(call, 1, "axis"));
  if (stow_shape_operand(call, 1) == NULL) {
    STOW_TRY(stowi_graph_shape_axis(call, rank, &axis));
  } else if (stowi_graph_shape_number(call, stowi_graph_shape_scalar(call, 1), &number) &&
             !stowi_graph_normal_axis(number, rank, &axis)) {
    return stow_shape_fail(call, "axis %" PRId64 " is out of range for rank %" PRIu32, number,
                           rank);
  }
  return stowi_graph_shape_same(call);
}
