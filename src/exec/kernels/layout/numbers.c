// Lists, axes and strides: constant time for each.
#include "exec/kernels/layout/numbers.h"

#include "exec/kernels/support/attrs.h"
#include "exec/kernels/support/convert.h"

stowi_kernel_numbers stowi_kernel_numbers_of(const stow_kernel_call* call,
                                             stowi_kernel_attr_id name, size_t k) {
  stowi_kernel_numbers numbers = {NULL, NULL, 0};
  const stow_attr* attr = stowi_kernel_attr(call, name);
  if (attr != NULL && attr->kind == STOW_ATTR_INTS && attr->count != 0) {
    numbers.ints = attr->ints;
    numbers.count = attr->count;
    return numbers;
  }
  numbers.tensor = stow_kernel_operand(call, k);
  numbers.count = numbers.tensor == NULL ? 0 : stow_tensor_elements(numbers.tensor);
  return numbers;
}

int64_t stowi_kernel_number_at(const stowi_kernel_numbers* numbers, size_t i) {
  return numbers->ints != NULL ? numbers->ints[i] : stowi_kernel_int_at(numbers->tensor, i);
}

stow_status stowi_kernel_axis_of(const stow_kernel_call* call, int64_t axis, uint32_t rank,
                                 uint32_t* out_axis) {
  int64_t from_start = axis < 0 ? axis + (int64_t)rank : axis;
  if (from_start < 0 || from_start >= (int64_t)rank) {
    return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT, "axis %lld is out of range (rank %u)",
                            (long long)axis, (unsigned)rank);
  }
  *out_axis = (uint32_t)from_start;
  return STOW_OK;
}

stow_status stowi_kernel_axis_attr(const stow_kernel_call* call, uint32_t rank,
                                   uint32_t* out_axis) {
  return stowi_kernel_axis_of(call, stowi_kernel_int(call, STOWI_KERNEL_ATTR_AXIS, 0), rank,
                              out_axis);
}

size_t stowi_kernel_count_of(const stow_tensor* tensor, uint32_t first, uint32_t end) {
  size_t count = 1;
  for (uint32_t i = first; i < end; ++i) {
    count *= (size_t)tensor->dims[i];
  }
  return count;
}

void stowi_kernel_strides_of(const stow_tensor* tensor, int64_t* out_strides) {
  int64_t stride = 1;
  for (uint32_t i = tensor->rank; i-- > 0;) {
    out_strides[i] = stride;
    stride *= tensor->dims[i];
  }
}

stow_status stowi_kernel_slices_of(const stow_kernel_call* call, stowi_kernel_slices* out) {
  const stow_tensor* x = call->operands[0];
  stowi_kernel_numbers axes = stowi_kernel_numbers_of(call, STOWI_KERNEL_ATTR_AXES, SIZE_MAX);
  *out = (stowi_kernel_slices){1, stow_tensor_elements(x), 1, 0};
  if (axes.count == 0) {
    return STOW_OK;
  }
  stow_status status =
      stowi_kernel_axis_of(call, stowi_kernel_number_at(&axes, 0), x->rank, &out->axis);
  if (status == STOW_OK) {
    out->outer = stowi_kernel_count_of(x, 0, out->axis);
    out->count = (size_t)x->dims[out->axis];
    out->inner = stowi_kernel_count_of(x, out->axis + 1, x->rank);
  }
  return status;
}
