// Indices that data gives: they are checked before anything is written, as results may lie over
// them.
#ifndef STOWAGE_SRC_EXEC_KERNELS_INDEXING_INDICES_H_
#define STOWAGE_SRC_EXEC_KERNELS_INDEXING_INDICES_H_

#include <stowage/kernel.h>

// Fails where an element of |indices| is not in [-dim, dim), dim being that of |axis| of |of|.
stow_status stowi_check_indices(const stow_kernel_call* call, const stow_tensor* indices,
                                const stow_tensor* of, uint32_t axis);
// The same of tuples, as long as the last dim of |indices|, whose number i is an index of dim
// |first| + i of |of|.
stow_status stowi_check_tuples(const stow_kernel_call* call, const stow_tensor* indices,
                               const stow_tensor* of, uint32_t first);

// Where negative, counted from the end.
static inline int64_t stowi_index(int64_t index, int64_t dim) {
  return index < 0 ? index + dim : index;
}

#endif  // STOWAGE_SRC_EXEC_KERNELS_INDEXING_INDICES_H_
