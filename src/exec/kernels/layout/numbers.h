// Lists of integers that an attribute or an operand gives: axes, sizes, pads.
#ifndef STOWAGE_SRC_EXEC_KERNELS_LAYOUT_NUMBERS_H_
#define STOWAGE_SRC_EXEC_KERNELS_LAYOUT_NUMBERS_H_

#include <stowage/kernel.h>

#include "exec/kernels/support/attrs.h"

typedef struct stowi_kernel_numbers {
  const int64_t* ints;        // the attribute's; NULL: the tensor's, if there is one
  const stow_tensor* tensor;  // of integers
  size_t count;               // 0 where neither is given
} stowi_kernel_numbers;

// The attribute |name| (STOWI_KERNEL_ATTR_NONE: none) where its list is not empty, else operand
// |k|.
stowi_kernel_numbers stowi_kernel_numbers_of(const stow_kernel_call* call,
                                             stowi_kernel_attr_id name, size_t k);
int64_t stowi_kernel_number_at(const stowi_kernel_numbers* numbers, size_t i);

// |axis| as an index of |rank| dims, counted from the end where it is negative; fails where there
// is not such a dim.
stow_status stowi_kernel_axis_of(const stow_kernel_call* call, int64_t axis, uint32_t rank,
                                 uint32_t* out_axis);
// The same of the attribute `axis`.
stow_status stowi_kernel_axis_attr(const stow_kernel_call* call, uint32_t rank, uint32_t* out_axis);

// A tensor as [outer, count, inner]: |axis| is the dim in the middle.
typedef struct stowi_kernel_slices {
  size_t outer, count, inner;
  uint32_t axis;
} stowi_kernel_slices;

// Slices of operand 0 along the only number of the attribute `axes`; without one its elements, as
// if it were flat.
stow_status stowi_kernel_slices_of(const stow_kernel_call* call, stowi_kernel_slices* out);

// How many elements dims |first| … |end| - 1 have together.
size_t stowi_kernel_count_of(const stow_tensor* tensor, uint32_t first, uint32_t end);
// |out_strides|[i] is how many elements lie between neighbours along dim i.
void stowi_kernel_strides_of(const stow_tensor* tensor, int64_t* out_strides);

#endif  // STOWAGE_SRC_EXEC_KERNELS_LAYOUT_NUMBERS_H_
