// Slices named by tuples of indices: what gather_nd reads and scatter_nd writes.
#ifndef STOWAGE_SRC_EXEC_KERNELS_INDEXING_TUPLES_H_
#define STOWAGE_SRC_EXEC_KERNELS_INDEXING_TUPLES_H_

#include <stowage/kernel.h>

typedef struct stowi_tuples {
  const stow_tensor* data;
  const stow_tensor* indices;
  uint32_t batch_dims;
  uint32_t length;   // of a tuple
  size_t count;      // of tuples
  size_t per_batch;  // tuples
  size_t slice;      // elements that a tuple names
  int64_t strides[STOW_MAX_RANK];
} stowi_tuples;

// Fails where an index is out of range.
stow_status stowi_tuples_init(const stow_kernel_call* call, uint32_t batch_dims, stowi_tuples* out);
// The data's first element of what tuple |i| names.
size_t stowi_tuple_place(const stowi_tuples* t, size_t i);

#endif  // STOWAGE_SRC_EXEC_KERNELS_INDEXING_TUPLES_H_
