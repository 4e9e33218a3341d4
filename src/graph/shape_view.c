// When a result is a view. The question is only asked where dims are numbers, so it is arithmetic
// on them.
#include "base/checked.h"
#include "graph/shapes.h"

static bool set_view(stow_view* out_view, size_t operand, uint64_t offset, bool extended) {
  out_view->operand = operand;
  out_view->element_offset = offset;
  out_view->extended = extended;
  return true;
}

// Elements before index |start| of |axis|, where what lies there is one run: all dims before it
// are 1.
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

bool stowi_view_reshape(const stow_shape_call* call, size_t k, stow_view* out_view) {
  (void)call;
  (void)k;
  return set_view(out_view, 0, 0, false);
}

bool stowi_view_cast(const stow_shape_call* call, size_t k, stow_view* out_view) {
  const stow_type* result = stow_shape_declared(call, k);
  if (result == NULL || result->dtype != stow_shape_operand(call, 0)->dtype) {
    return false;
  }
  return set_view(out_view, 0, 0, false);
}

bool stowi_view_narrow(const stow_shape_call* call, size_t k, stow_view* out_view) {
  (void)k;
  const stow_type* type = stow_shape_operand(call, 0);
  uint32_t axis;
  uint64_t offset;
  if (!stowi_normal_axis(stow_shape_attr_int(call, "axis", 0), type->rank, &axis) ||
      !run_offset(type, axis, stow_shape_attr_int(call, "start", 0), &offset)) {
    return false;
  }
  return set_view(out_view, 0, offset, axis != 0);
}

// Dims of size 1 may go anywhere; the others must keep their order.
bool stowi_view_transpose(const stow_shape_call* call, size_t k, stow_view* out_view) {
  (void)k;
  const stow_type* type = stow_shape_operand(call, 0);
  uint32_t perm[STOW_MAX_RANK];
  if (!stowi_shape_perm(call, type->rank, perm)) {
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

bool stowi_view_split(const stow_shape_call* call, size_t k, stow_view* out_view) {
  const stow_type* type = stow_shape_operand(call, 0);
  uint32_t axis;
  if (!stowi_normal_axis(stow_shape_attr_int(call, "axis", 0), type->rank, &axis)) {
    return false;
  }
  size_t count;
  const int64_t* sizes = stowi_shape_ints(call, "sizes", &count);
  int64_t equal = type->dims[axis] / (int64_t)stow_shape_result_count(call);
  int64_t start = 0;
  for (size_t i = 0; i < k; ++i) {
    start += sizes == NULL ? equal : sizes[i];  // at most the dim: the shape was checked
  }
  uint64_t offset;
  return run_offset(type, axis, start, &offset) && set_view(out_view, 0, offset, true);
}

bool stowi_view_kv_append(const stow_shape_call* call, size_t k, stow_view* out_view) {
  (void)call;
  (void)k;
  return set_view(out_view, 0, 0, false);
}
