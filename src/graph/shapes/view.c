// Whether a result is a view. Called only if dims are numbers, so it is arithmetic on them.
#include "base/checked.h"
#include "graph/shapes/shapes.h"

static bool set_view(stow_view* out_view, size_t operand, uint64_t offset, bool extended) {
  out_view->operand = operand;
  out_view->element_offset = offset;
  out_view->extended = extended;
  return true;
}

// Elements before index |start| of |axis|, if the rest is one run: all dims before it are 1.
static bool run_offset(const stow_type* type, uint32_t axis, int64_t start, uint64_t* out_offset) {
  for (uint32_t i = 0; i < axis; ++i) {
    if (type->dims[i] != 1) {
      return false;
    }
  }
  uint64_t offset = (uint64_t)start;
  for (uint32_t i = axis + 1; i < type->rank; ++i) {
    if (!stowi_mul_u64(offset, (uint64_t)type->dims[i], &offset)) {
      return false;
    }
  }
  *out_offset = offset;
  return true;
}

bool stowi_graph_view_reshape(const stow_shape_call* call, size_t k, stow_view* out_view) {
  (void)call;
  (void)k;
  return set_view(out_view, 0, 0, false);
}

bool stowi_graph_view_cast(const stow_shape_call* call, size_t k, stow_view* out_view) {
  const stow_type* result = stow_shape_declared(call, k);
  if (result == NULL || result->dtype != stow_shape_operand(call, 0)->dtype) {
    return false;
  }
  return set_view(out_view, 0, 0, false);
}

bool stowi_graph_view_narrow(const stow_shape_call* call, size_t k, stow_view* out_view) {
  (void)k;
  const stow_type* type = stow_shape_operand(call, 0);
  uint32_t axis;
  uint64_t offset;
  if (!stowi_graph_normal_axis(stow_shape_attr_int(call, "axis", 0), type->rank, &axis) ||
      !run_offset(type, axis, stow_shape_attr_int(call, "start", 0), &offset)) {
    return false;
  }
  return set_view(out_view, 0, offset, axis != 0);
}

// Dims of size 1 may move anywhere; the others must keep their order.
bool stowi_graph_view_transpose(const stow_shape_call* call, size_t k, stow_view* out_view) {
  (void)k;
  const stow_type* type = stow_shape_operand(call, 0);
  uint32_t perm[STOW_MAX_RANK];
  if (!stowi_graph_shape_perm(call, type->rank, perm)) {
    return false;
  }
  uint32_t next = 0;
  for (uint32_t i = 0; i < type->rank; ++i) {
    if (type->dims[perm[i]] == 1) {
      continue;
    }
    if (perm[i] < next) {
      return false;
    }
    next = perm[i];
  }
  return set_view(out_view, 0, 0, true);
}

// Where part |k| of a split begins; false if parts exceed the whole. Without a list of sizes, all
// parts are as large as the first, except those at the end: no need to add up what may be many.
bool stowi_graph_part_start(const stow_shape_call* call, size_t k, uint32_t axis,
                            int64_t* out_start) {
  int64_t whole = stow_shape_operand(call, 0)->dims[axis];
  size_t count;
  if (stowi_graph_shape_ints(call, "sizes", &count) == NULL &&
      stow_shape_operand(call, 1) == NULL) {
    int64_t size = stow_shape_declared(call, 0)->dims[axis];
    *out_start = size == 0 ? 0 : (uint64_t)k > (uint64_t)(whole / size) ? whole : (int64_t)k * size;
    return true;
  }
  *out_start = 0;
  for (size_t i = 0; i < k; ++i) {
    stow_dim size = stow_shape_declared(call, i)->dims[axis];
    if (!stow_dim_is_const(size) || size > whole - *out_start) {
      return false;
    }
    *out_start += size;
  }
  return true;
}

bool stowi_graph_view_split(const stow_shape_call* call, size_t k, stow_view* out_view) {
  const stow_type* type = stow_shape_operand(call, 0);
  uint32_t axis;
  int64_t start;
  if (!stowi_graph_normal_axis(stow_shape_attr_int(call, "axis", 0), type->rank, &axis) ||
      !stowi_graph_part_start(call, k, axis, &start)) {
    return false;
  }
  uint64_t offset;
  return run_offset(type, axis, start, &offset) && set_view(out_view, 0, offset, true);
}

// A slice is one run if all dims before some axis have one index left, and all after it are whole.
bool stowi_graph_view_slice(const stow_shape_call* call, size_t k, stow_view* out_view) {
  const stow_type* type = stow_shape_operand(call, 0);
  const stow_type* result = stow_shape_declared(call, k);
  int64_t starts[STOW_MAX_RANK];
  int64_t steps[STOW_MAX_RANK];
  if (!stowi_graph_slice_starts(call, type, starts, steps)) {
    return false;
  }
  uint32_t cut = 0;
  while (cut < type->rank && result->dims[cut] == 1) {
    ++cut;
  }
  uint64_t offset = 0;
  bool is_inner = false;
  for (uint32_t i = 0; i < type->rank; ++i) {
    bool is_whole = result->dims[i] == type->dims[i];
    bool is_forward = steps[i] == 1 || result->dims[i] == 1;
    if (!is_forward || (i > cut && !is_whole) || starts[i] < 0 || result->dims[i] == 0 ||
        !stowi_mul_u64(offset, (uint64_t)type->dims[i], &offset) ||
        !stowi_add_u64(offset, (uint64_t)starts[i], &offset)) {
      return false;
    }
    is_inner = is_inner || (i > 0 && !is_whole);
  }
  return set_view(out_view, 0, offset, is_inner);
}

bool stowi_graph_view_bitcast(const stow_shape_call* call, size_t k, stow_view* out_view) {
  (void)call;
  (void)k;
  return set_view(out_view, 0, 0, true);
}

bool stowi_graph_view_kv_append(const stow_shape_call* call, size_t k, stow_view* out_view) {
  (void)call;
  (void)k;
  return set_view(out_view, 0, 0, false);
}
