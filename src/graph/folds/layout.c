// Known elements of ops that move elements: each element of a result is one of an operand.
#include "graph/folds/fold.h"
#include "graph/shapes/shapes.h"

// Element |from| of operand |k| becomes element |i| of result |r|.
static void move(stow_shape_call* call, size_t r, uint64_t i, size_t k, uint64_t from) {
  stowi_graph_fold_put(call, r, i, stowi_graph_fold_get(call, k, from));
}

stow_status stowi_graph_fold_same(stow_shape_call* call) {
  if (stowi_graph_fold_known(call, 0) != NULL) {
    uint64_t count = stowi_graph_fold_count(stow_shape_declared(call, 0));
    for (uint64_t i = 0; i < count; ++i) {
      move(call, 0, i, 0, i);
    }
  }
  return stowi_graph_fold_end(call);
}

// Result |r| is operand 0 from |starts| on, in |steps|.
static void fold_steps(stow_shape_call* call, size_t r, const int64_t* starts,
                       const int64_t* steps) {
  const stow_type* from = stowi_graph_fold_operand(call, 0);
  const stow_type* result = stow_shape_declared(call, r);
  uint64_t count = stowi_graph_fold_count(result);
  for (uint64_t i = 0; i < count; ++i) {
    int64_t at[STOW_MAX_RANK];
    stowi_graph_unravel(result, i, at);
    for (uint32_t axis = 0; axis < from->rank; ++axis) {
      // The last index is within the dim, because the shape was inferred that way.
      at[axis] = starts[axis] + at[axis] * (result->dims[axis] == 1 ? 0 : steps[axis]);
    }
    move(call, r, i, 0, stowi_graph_ravel(from, at));
  }
}

// Result |r| is operand 0 from |start| on along the attribute `axis`.
static void fold_part(stow_shape_call* call, size_t r, int64_t start) {
  const stow_type* from = stowi_graph_fold_operand(call, 0);
  int64_t starts[STOW_MAX_RANK] = {0};
  int64_t steps[STOW_MAX_RANK];
  uint32_t axis;
  if (!stowi_graph_normal_axis(stow_shape_attr_int(call, "axis", 0), from->rank, &axis)) {
    return;
  }
  for (uint32_t i = 0; i < from->rank; ++i) {
    steps[i] = 1;
  }
  starts[axis] = start;
  fold_steps(call, r, starts, steps);
}

stow_status stowi_graph_fold_narrow(stow_shape_call* call) {
  if (stowi_graph_fold_known(call, 0) != NULL) {
    fold_part(call, 0, stow_shape_attr_int(call, "start", 0));
  }
  return stowi_graph_fold_end(call);
}

stow_status stowi_graph_fold_split(stow_shape_call* call) {
  const stow_type* from = stowi_graph_fold_known(call, 0);
  uint32_t axis;
  if (from == NULL ||
      !stowi_graph_normal_axis(stow_shape_attr_int(call, "axis", 0), from->rank, &axis)) {
    return STOW_OK;
  }
  int64_t start = 0;
  for (size_t r = 0; r < stow_shape_result_count(call); ++r) {
    int64_t size = stow_shape_declared(call, r)->dims[axis];
    if (size > from->dims[axis] - start) {
      break;  // sizes that were declared but are unknown
    }
    fold_part(call, r, start);
    start += size;
  }
  return stowi_graph_fold_end(call);
}

// Whether the slices' last elements are within the operand: sizes may be declared but unknown.
static bool are_steps_inside(const stow_type* from, const stow_type* result, const int64_t* starts,
                             const int64_t* steps) {
  for (uint32_t i = 0; i < from->rank; ++i) {
    int64_t more = result->dims[i] - 1;
    int64_t room = steps[i] > 0 ? from->dims[i] - 1 - starts[i] : starts[i];
    int64_t step = steps[i] > 0 ? steps[i] : -steps[i];
    if (more >= 0 && (starts[i] < 0 || room < 0 || (more != 0 && step > room / more))) {
      return false;
    }
  }
  return true;
}

stow_status stowi_graph_fold_slice(stow_shape_call* call) {
  const stow_type* from = stowi_graph_fold_known(call, 0);
  int64_t starts[STOW_MAX_RANK];
  int64_t steps[STOW_MAX_RANK];
  if (from != NULL && stowi_graph_slice_starts(call, from, starts, steps) &&
      are_steps_inside(from, stow_shape_declared(call, 0), starts, steps)) {
    fold_steps(call, 0, starts, steps);
  }
  return stowi_graph_fold_end(call);
}

stow_status stowi_graph_fold_transpose(stow_shape_call* call) {
  const stow_type* from = stowi_graph_fold_known(call, 0);
  const stow_type* result = stow_shape_declared(call, 0);
  uint32_t perm[STOW_MAX_RANK];
  if (from == NULL || !stowi_graph_shape_perm(call, from->rank, perm)) {
    return STOW_OK;
  }
  uint64_t count = stowi_graph_fold_count(result);
  for (uint64_t i = 0; i < count; ++i) {
    int64_t at[STOW_MAX_RANK];
    int64_t source[STOW_MAX_RANK];
    stowi_graph_unravel(result, i, at);
    for (uint32_t axis = 0; axis < from->rank; ++axis) {
      source[perm[axis]] = at[axis];
    }
    move(call, 0, i, 0, stowi_graph_ravel(from, source));
  }
  return stowi_graph_fold_end(call);
}

stow_status stowi_graph_fold_expand(stow_shape_call* call) {
  const stow_type* from = stowi_graph_fold_known(call, 0);
  const stow_type* result = stow_shape_declared(call, 0);
  uint64_t count = from == NULL ? 0 : stowi_graph_fold_count(result);
  for (uint64_t i = 0; i < count; ++i) {
    move(call, 0, i, 0, stowi_graph_broadcast_index(from, result, i));
  }
  return stowi_graph_fold_end(call);
}

stow_status stowi_graph_fold_tile(stow_shape_call* call) {
  const stow_type* from = stowi_graph_fold_known(call, 0);
  const stow_type* result = stow_shape_declared(call, 0);
  uint64_t elements;
  if (from == NULL || stow_type_elements(from, &elements) != STOW_OK || elements == 0) {
    return STOW_OK;
  }
  uint64_t count = stowi_graph_fold_count(result);
  for (uint64_t i = 0; i < count; ++i) {
    int64_t at[STOW_MAX_RANK];
    stowi_graph_unravel(result, i, at);
    for (uint32_t axis = 0; axis < from->rank; ++axis) {
      at[axis] %= from->dims[axis];
    }
    move(call, 0, i, 0, stowi_graph_ravel(from, at));
  }
  return stowi_graph_fold_end(call);
}

// The operand that contains index |*at| along |axis|; |*at| becomes the index in it. False if an
// earlier dim is not a number.
static bool find_part(stow_shape_call* call, uint32_t axis, int64_t* at, size_t* out_k) {
  for (size_t k = 0; k < stow_shape_operand_count(call); ++k) {
    const stow_type* part = stowi_graph_fold_operand(call, k);
    if (part == NULL) {
      return false;
    }
    if (*at < part->dims[axis]) {
      *out_k = k;
      return true;
    }
    *at -= part->dims[axis];
  }
  return false;
}

stow_status stowi_graph_fold_concat(stow_shape_call* call) {
  const stow_type* result = stow_shape_declared(call, 0);
  uint32_t axis;
  if (!stowi_graph_normal_axis(stow_shape_attr_int(call, "axis", 0), result->rank, &axis)) {
    return STOW_OK;
  }
  uint64_t count = stowi_graph_fold_count(result);
  for (uint64_t i = 0; i < count; ++i) {
    int64_t at[STOW_MAX_RANK];
    size_t k;
    stowi_graph_unravel(result, i, at);
    if (find_part(call, axis, &at[axis], &k)) {
      move(call, 0, i, k, stowi_graph_ravel(stow_shape_operand(call, k), at));
    }
  }
  return stowi_graph_fold_end(call);
}

// ---------------------------------------------------------------------------------------------
// pad

// The padding before each axis; false if unknown.
static bool pads_before(stow_shape_call* call, const stow_type* from, int64_t* out_before) {
  stowi_graph_list pads;
  stowi_graph_list axes;
  uint32_t order[STOW_MAX_RANK];
  if (stowi_graph_shape_list(call, "pads", 2, &pads) != STOW_OK ||
      stowi_graph_shape_list(call, "axes", 3, &axes) != STOW_OK ||
      (axes.is_given && !axes.is_known) ||
      stowi_graph_shape_list_axes(call, &axes, from->rank, order) != STOW_OK) {
    return false;
  }
  for (uint32_t i = 0; i < from->rank; ++i) {
    out_before[i] = 0;
  }
  for (uint32_t i = 0; i < pads.count / 2; ++i) {
    if (!stowi_graph_shape_number(call, pads.at[i], &out_before[axes.is_given ? order[i] : i])) {
      return false;
    }
  }
  return true;
}

stow_status stowi_graph_fold_pad(stow_shape_call* call) {
  const stow_type* from = stowi_graph_fold_operand(call, 0);
  const stow_type* result = stow_shape_declared(call, 0);
  const stow_attr* mode = stow_shape_attr(call, "mode");
  int64_t before[STOW_MAX_RANK];
  if (from == NULL || mode == NULL || !stow_str_equal(mode->s, stow_str_of("constant")) ||
      !pads_before(call, from, before)) {
    return stowi_graph_fold_end(call);
  }
  stowi_graph_element border = stow_shape_operand(call, 1) == NULL
                                   ? stowi_graph_element_of(call, result->dtype, 0)
                                   : stowi_graph_fold_get(call, 1, 0);
  uint64_t count = stowi_graph_fold_count(result);
  for (uint64_t i = 0; i < count; ++i) {
    int64_t at[STOW_MAX_RANK];
    bool is_inside = true;
    stowi_graph_unravel(result, i, at);
    for (uint32_t axis = 0; axis < from->rank; ++axis) {
      // Pads can have any size: the difference of an index and a pad could overflow.
      bool is_low = at[axis] < before[axis];
      is_inside = is_inside && !is_low && before[axis] >= -from->dims[axis] &&
                  at[axis] - before[axis] < from->dims[axis];
      at[axis] = is_inside ? at[axis] - before[axis] : 0;
    }
    stowi_graph_fold_put(
        call, 0, i,
        is_inside ? stowi_graph_fold_get(call, 0, stowi_graph_ravel(from, at)) : border);
  }
  return stowi_graph_fold_end(call);
}
