// Known elements of ops that make tensors from shapes and numbers. This is where symbolic
// expressions become values: `shape` gives the dims themselves.
#include "graph/folds/fold.h"
#include "graph/shapes/call.h"
#include "graph/shapes/shapes.h"

// An element computed from dims of operand 0, which may be upper-bounded.
static stowi_graph_element dim_element(stow_dim dim, bool is_upper_bounded) {
  stowi_graph_element element = stowi_graph_whole(dim);
  element.exactness = is_upper_bounded ? STOWI_GRAPH_UPPER_BOUND : STOWI_GRAPH_EXACT;
  return element;
}

stow_status stowi_graph_fold_shape(stow_shape_call* call) {
  uint32_t first;
  uint32_t end;
  stowi_graph_shape_dims_range(call, &first, &end);
  stowi_graph_axes bounded = stowi_graph_shape_bounded_axes(call, 0);
  for (uint32_t i = first; i < end; ++i) {
    stow_dim dim = stow_shape_operand(call, 0)->dims[i];
    stowi_graph_fold_put(call, 0, i - first, dim_element(dim, (bounded >> i & 1) != 0));
  }
  return stowi_graph_fold_end(call);
}

stow_status stowi_graph_fold_size(stow_shape_call* call) {
  const stow_type* type = stow_shape_operand(call, 0);
  stow_dim elements = stowi_graph_shape_product(call, type, 0, type->rank);
  stowi_graph_fold_put(call, 0, 0,
                       dim_element(elements, stowi_graph_shape_is_upper_bounded(call, 0)));
  return stowi_graph_fold_end(call);
}

stow_status stowi_graph_fold_range(stow_shape_call* call) {
  stow_dims* dims = stow_shape_dims(call);
  stowi_graph_element start = stowi_graph_fold_get(call, 0, 0);
  stowi_graph_element delta = stowi_graph_fold_get(call, 2, 0);
  uint64_t count = stowi_graph_fold_count(stow_shape_declared(call, 0));
  for (uint64_t i = 0; i < count; ++i) {
    if (start.kind != delta.kind || start.kind == STOWI_GRAPH_ELEMENT_UNKNOWN) {
      break;
    }
    if (start.exactness != STOWI_GRAPH_EXACT || delta.exactness != STOWI_GRAPH_EXACT) {
      break;
    }
    stow_dim by = stow_dim_mul(dims, delta.whole, (stow_dim)i);
    stowi_graph_fold_put(call, 0, i,
                         start.kind == STOWI_GRAPH_ELEMENT_REAL
                             ? stowi_graph_real(start.real + (double)i * delta.real)
                             : stowi_graph_whole(stow_dim_add(dims, start.whole, by)));
  }
  return stowi_graph_fold_end(call);
}

stow_status stowi_graph_fold_fill(stow_shape_call* call) {
  const stow_type* result = stow_shape_declared(call, 0);
  stowi_graph_element value =
      stow_shape_operand(call, 1) == NULL ? stowi_graph_real(0) : stowi_graph_fold_get(call, 1, 0);
  uint64_t count = stowi_graph_fold_count(result);
  for (uint64_t i = 0; i < count; ++i) {
    stowi_graph_fold_put(call, 0, i, value);
  }
  return stowi_graph_fold_end(call);
}

stow_status stowi_graph_fold_one_hot(stow_shape_call* call) {
  const stow_type* indices = stowi_graph_fold_operand(call, 0);
  const stow_type* result = stow_shape_declared(call, 0);
  uint32_t axis;
  if (indices == NULL ||
      !stowi_graph_normal_axis(stow_shape_attr_int(call, "axis", -1), result->rank, &axis)) {
    return STOW_OK;
  }
  uint64_t count = stowi_graph_fold_count(result);
  for (uint64_t i = 0; i < count; ++i) {
    int64_t at[STOW_MAX_RANK];
    int64_t index;
    stowi_graph_unravel(result, i, at);
    int64_t here = at[axis];
    for (uint32_t j = axis; j + 1 < result->rank; ++j) {
      at[j] = at[j + 1];
    }
    if (!stowi_graph_element_number(
            call, stowi_graph_fold_get(call, 0, stowi_graph_ravel(indices, at)), &index)) {
      continue;
    }
    bool is_on = stowi_graph_normal_index(index, result->dims[axis], &index) && index == here;
    stowi_graph_fold_put(call, 0, i, stowi_graph_fold_get(call, 2, is_on ? 1 : 0));
  }
  return stowi_graph_fold_end(call);
}

stow_status stowi_graph_fold_eye_like(stow_shape_call* call) {
  const stow_type* result = stow_shape_declared(call, 0);
  int64_t k = stow_shape_attr_int(call, "k", 0);
  uint64_t count = stowi_graph_fold_count(result);
  for (uint64_t i = 0; i < count; ++i) {
    int64_t at[STOW_MAX_RANK];
    stowi_graph_unravel(result, i, at);
    stowi_graph_fold_put(call, 0, i,
                         stowi_graph_element_of(call, result->dtype, at[1] - at[0] == k));
  }
  return stowi_graph_fold_end(call);
}

stow_status stowi_graph_fold_trilu(stow_shape_call* call) {
  const stow_type* type = stowi_graph_fold_operand(call, 0);
  int64_t k = 0;
  bool is_upper = stow_shape_attr_bool(call, "upper", true);
  if (type == NULL || (stow_shape_operand(call, 1) != NULL &&
                       !stowi_graph_element_number(call, stowi_graph_fold_get(call, 1, 0), &k))) {
    return stowi_graph_fold_end(call);
  }
  uint64_t count = stowi_graph_fold_count(type);
  for (uint64_t i = 0; i < count; ++i) {
    int64_t at[STOW_MAX_RANK];
    stowi_graph_unravel(type, i, at);
    int64_t across = at[type->rank - 1] - at[type->rank - 2];
    bool is_kept = is_upper ? across >= k : across <= k;
    stowi_graph_fold_put(
        call, 0, i,
        is_kept ? stowi_graph_fold_get(call, 0, i) : stowi_graph_element_of(call, type->dtype, 0));
  }
  return stowi_graph_fold_end(call);
}
