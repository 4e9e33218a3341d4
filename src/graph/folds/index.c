// Known elements of ops that pick or place elements by index. An unknown or out-of-range index
// leaves the elements it affects unknown.
#include "graph/folds/fold.h"
#include "graph/shapes/shapes.h"

// Element |i| of the indices, operand 1, as an index into a dim.
static bool known_index(stow_shape_call* call, uint64_t i, int64_t dim, int64_t* out_index) {
  int64_t index;
  return stowi_graph_element_number(call, stowi_graph_fold_get(call, 1, i), &index) &&
         stowi_graph_normal_index(index, dim, out_index);
}

// The attribute `axis`, for operands 0 and 1 whose dims are numbers.
static bool can_index(stow_shape_call* call, uint32_t* out_axis) {
  const stow_type* data = stowi_graph_fold_operand(call, 0);
  return data != NULL && stowi_graph_fold_operand(call, 1) != NULL &&
         stowi_graph_normal_axis(stow_shape_attr_int(call, "axis", 0), data->rank, out_axis);
}

stow_status stowi_graph_fold_gather(stow_shape_call* call) {
  const stow_type* data = stow_shape_operand(call, 0);
  const stow_type* indices = stow_shape_operand(call, 1);
  const stow_type* result = stow_shape_declared(call, 0);
  uint32_t axis;
  if (stowi_graph_fold_known(call, 0) == NULL || !can_index(call, &axis)) {
    return STOW_OK;
  }
  uint64_t count = stowi_graph_fold_count(result);
  for (uint64_t i = 0; i < count; ++i) {
    int64_t at[STOW_MAX_RANK];
    int64_t source[STOW_MAX_RANK] = {0};
    stowi_graph_unravel(result, i, at);
    for (uint32_t j = 0; j < data->rank; ++j) {
      source[j] = j < axis ? at[j] : j > axis ? at[j + indices->rank - 1] : 0;
    }
    if (known_index(call, stowi_graph_ravel(indices, at + axis), data->dims[axis], &source[axis])) {
      stowi_graph_fold_put(call, 0, i,
                           stowi_graph_fold_get(call, 0, stowi_graph_ravel(data, source)));
    }
  }
  return stowi_graph_fold_end(call);
}

stow_status stowi_graph_fold_gather_elements(stow_shape_call* call) {
  const stow_type* data = stow_shape_operand(call, 0);
  const stow_type* result = stow_shape_declared(call, 0);
  uint32_t axis;
  if (stowi_graph_fold_known(call, 0) == NULL || !can_index(call, &axis)) {
    return STOW_OK;
  }
  uint64_t count = stowi_graph_fold_count(result);
  for (uint64_t i = 0; i < count; ++i) {
    int64_t at[STOW_MAX_RANK];
    stowi_graph_unravel(result, i, at);
    if (known_index(call, i, data->dims[axis], &at[axis])) {
      stowi_graph_fold_put(call, 0, i, stowi_graph_fold_get(call, 0, stowi_graph_ravel(data, at)));
    }
  }
  return stowi_graph_fold_end(call);
}

// The coordinates given by index tuple |tuple|, of |length| numbers, from dim |first| on.
static bool known_tuple(stow_shape_call* call, uint64_t tuple, uint32_t first, uint32_t length,
                        int64_t* at) {
  const stow_type* data = stow_shape_operand(call, 0);
  for (uint32_t i = 0; i < length; ++i) {
    if (!known_index(call, tuple * length + i, data->dims[first + i], &at[first + i])) {
      return false;
    }
  }
  return true;
}

stow_status stowi_graph_fold_gather_nd(stow_shape_call* call) {
  const stow_type* data = stowi_graph_fold_known(call, 0);
  const stow_type* indices = stowi_graph_fold_known(call, 1);
  const stow_type* result = stow_shape_declared(call, 0);
  if (data == NULL || indices == NULL) {
    return STOW_OK;
  }
  uint32_t batch = (uint32_t)stow_shape_attr_int(call, "batch_dims", 0);
  uint32_t lead = indices->rank - 1;
  uint32_t length = (uint32_t)indices->dims[lead];
  stow_type tuples = stow_type_make(STOW_I64, lead, indices->dims);
  uint64_t count = stowi_graph_fold_count(result);
  for (uint64_t i = 0; i < count; ++i) {
    int64_t at[STOW_MAX_RANK];
    int64_t source[STOW_MAX_RANK];
    stowi_graph_unravel(result, i, at);
    for (uint32_t j = 0; j < data->rank; ++j) {
      source[j] = j < batch ? at[j] : j >= batch + length ? at[lead + j - batch - length] : 0;
    }
    if (known_tuple(call, stowi_graph_ravel(&tuples, at), batch, length, source)) {
      stowi_graph_fold_put(call, 0, i,
                           stowi_graph_fold_get(call, 0, stowi_graph_ravel(data, source)));
    }
  }
  return stowi_graph_fold_end(call);
}

// ---------------------------------------------------------------------------------------------
// Scattering: which update each element of the result comes from is found first, since an update
// may overwrite another. Without all indices nothing is known.

#define FROM_DATA UINT64_MAX

typedef struct scatter {
  uint64_t source[STOW_MAX_KNOWN];  // the update, or FROM_DATA
} scatter;

// Whether updates replace and the dims of all operands are numbers; returns the number of updates.
static bool begin_scatter(stow_shape_call* call, scatter* out, uint64_t* out_updates) {
  const stow_attr* reduction = stow_shape_attr(call, "reduction");
  const stow_type* updates = stowi_graph_fold_operand(call, 2);
  for (size_t i = 0; i < STOW_MAX_KNOWN; ++i) {
    out->source[i] = FROM_DATA;
  }
  return stowi_graph_fold_operand(call, 0) != NULL && stowi_graph_fold_operand(call, 1) != NULL &&
         updates != NULL && stow_type_elements(updates, out_updates) == STOW_OK &&
         *out_updates <= STOW_MAX_KNOWN &&
         (reduction == NULL || stow_str_equal(reduction->s, stow_str_of("none")));
}

static stow_status end_scatter(stow_shape_call* call, const scatter* found) {
  uint64_t count = stowi_graph_fold_count(stow_shape_declared(call, 0));
  for (uint64_t i = 0; i < count; ++i) {
    bool is_data = found->source[i] == FROM_DATA;
    stowi_graph_fold_put(
        call, 0, i, stowi_graph_fold_get(call, is_data ? 0 : 2, is_data ? i : found->source[i]));
  }
  return stowi_graph_fold_end(call);
}

stow_status stowi_graph_fold_scatter_elements(stow_shape_call* call) {
  const stow_type* data = stow_shape_operand(call, 0);
  const stow_type* indices = stow_shape_operand(call, 1);
  scatter found;
  uint64_t updates;
  uint32_t axis;
  if (!begin_scatter(call, &found, &updates) || !can_index(call, &axis)) {
    return stowi_graph_fold_end(call);
  }
  for (uint64_t i = 0; i < updates; ++i) {
    int64_t at[STOW_MAX_RANK];
    stowi_graph_unravel(indices, i, at);
    if (!known_index(call, i, data->dims[axis], &at[axis])) {
      return stowi_graph_fold_end(call);
    }
    found.source[stowi_graph_ravel(data, at)] = i;
  }
  return end_scatter(call, &found);
}

stow_status stowi_graph_fold_scatter_nd(stow_shape_call* call) {
  const stow_type* data = stow_shape_operand(call, 0);
  const stow_type* indices = stow_shape_operand(call, 1);
  const stow_type* type = stow_shape_operand(call, 2);
  scatter found;
  uint64_t updates;
  if (!begin_scatter(call, &found, &updates)) {
    return stowi_graph_fold_end(call);
  }
  uint32_t lead = indices->rank - 1;
  uint32_t length = (uint32_t)indices->dims[lead];
  stow_type tuples = stow_type_make(STOW_I64, lead, indices->dims);
  for (uint64_t i = 0; i < updates; ++i) {
    int64_t at[STOW_MAX_RANK];
    int64_t target[STOW_MAX_RANK];
    stowi_graph_unravel(type, i, at);
    for (uint32_t j = length; j < data->rank; ++j) {
      target[j] = at[lead + j - length];
    }
    if (!known_tuple(call, stowi_graph_ravel(&tuples, at), 0, length, target)) {
      return stowi_graph_fold_end(call);
    }
    found.source[stowi_graph_ravel(data, target)] = i;
  }
  return end_scatter(call, &found);
}

// ---------------------------------------------------------------------------------------------
// nonzero

stow_status stowi_graph_fold_nonzero(stow_shape_call* call) {
  const stow_type* type = stowi_graph_fold_operand(call, 0);
  const stow_type* result = stow_shape_declared(call, 0);
  if (type == NULL || !stow_shape_is_known(call, 0)) {
    return STOW_OK;
  }
  uint64_t columns = (uint64_t)result->dims[1];
  uint64_t column = 0;
  uint64_t count = stowi_graph_fold_count(type);
  for (uint64_t i = 0; i < count && column < columns; ++i) {
    int64_t at[STOW_MAX_RANK];
    bool truth;
    if (!stowi_graph_shape_known_truth(call, 0, (size_t)i, &truth)) {
      break;
    }
    stowi_graph_unravel(type, i, at);
    for (uint32_t row = 0; truth && row < type->rank; ++row) {
      stowi_graph_fold_put(call, 0, row * columns + column, stowi_graph_whole(at[row]));
    }
    column += truth;
  }
  return stowi_graph_fold_end(call);
}
