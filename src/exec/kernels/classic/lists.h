// The tables of a model: lists of numbers that are attributes, or tensors among the operands, which
// the attribute `tensors` names from operand 1 on.
#ifndef STOWAGE_SRC_EXEC_KERNELS_CLASSIC_LISTS_H_
#define STOWAGE_SRC_EXEC_KERNELS_CLASSIC_LISTS_H_

#include <stowage/kernel.h>

#include "exec/kernels/support/attrs.h"

typedef struct stowi_kernel_list {
  size_t count;  // 0 if there is none
  const stow_attr* attr;
  const stow_tensor* tensor;
} stowi_kernel_list;

// The attribute |name|, or the tensor of that name with or without `_as_tensor` after it.
stowi_kernel_list stowi_kernel_list_of(const stow_kernel_call* call, stowi_kernel_attr_id name);

// Element |i|, which must be there. Of strings these are 0.
double stowi_kernel_list_real(const stowi_kernel_list* list, size_t i);
int64_t stowi_kernel_list_int(const stowi_kernel_list* list, size_t i);
bool stowi_kernel_list_is(const stowi_kernel_list* list, size_t i, const char* text);

// |count| elements from |first| on, which must be there.
void stowi_kernel_list_load(const stowi_kernel_list* list, size_t first, size_t count, double* out);

// The sum of products of |count| elements of both, in doubles and 8 lanes.
double stowi_kernel_list_dot(const stowi_kernel_list* list, size_t first, const stow_tensor* x,
                             size_t x_first, size_t count);

// Rows and columns of a table; a tensor of rank 1 is one row.
typedef struct stowi_kernel_table {
  size_t rows;
  size_t columns;
} stowi_kernel_table;

stowi_kernel_table stowi_kernel_table_of(const stow_tensor* x);

#endif  // STOWAGE_SRC_EXEC_KERNELS_CLASSIC_LISTS_H_
