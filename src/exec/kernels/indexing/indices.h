// Indices that data gives: they are checked before anything is written, as results may be in place
// of them.
#ifndef STOWAGE_SRC_EXEC_KERNELS_INDEXING_INDICES_H_
#define STOWAGE_SRC_EXEC_KERNELS_INDEXING_INDICES_H_

#include <stowage/kernel.h>

// Fails where an element of |indices| is not in [-dim, dim), dim being that of |axis| of |of|.
stow_status stowi_kernel_check_indices(const stow_kernel_call* call, const stow_tensor* indices,
                                       const stow_tensor* of, uint32_t axis);

// Where negative, counted from the end.
static inline int64_t stowi_kernel_index(int64_t index, int64_t dim) {
  return index < 0 ? index + dim : index;
}

// ---------------------------------------------------------------------------------------------
// Slices named by tuples of indices: what gather_nd reads and scatter_nd writes.

typedef struct stowi_kernel_tuples {
  const stow_tensor* data;
  const stow_tensor* indices;
  uint32_t batch_dims;
  uint32_t length;   // of a tuple
  size_t count;      // of tuples
  size_t per_batch;  // tuples
  size_t slice;      // elements that a tuple names
  int64_t strides[STOW_MAX_RANK];
} stowi_kernel_tuples;

// Fails where an index is out of range.
stow_status stowi_kernel_tuples_init(const stow_kernel_call* call, uint32_t batch_dims,
                                     stowi_kernel_tuples* out);
// The data's first element of what tuple |i| names.
size_t stowi_kernel_tuple_place(const stowi_kernel_tuples* t, size_t i);

// ---------------------------------------------------------------------------------------------
// Elements named by an index along one axis, and by their own place along the others: what
// gather_elements reads and scatter_elements writes.

// A row is the innermost dim of the indices.
typedef struct stowi_kernel_elements_at {
  const stow_tensor* data;
  const stow_tensor* indices;
  uint32_t axis;
  int64_t strides[STOW_MAX_RANK];  // of the data
} stowi_kernel_elements_at;

// Fails where the axis or an index is out of range, or the indices are longer than the data.
stow_status stowi_kernel_elements_at_init(const stow_kernel_call* call,
                                          stowi_kernel_elements_at* out);
// How many rows of how many indices; 0 of 0 if there are none.
size_t stowi_kernel_elements_at_rows(const stowi_kernel_elements_at* e, size_t* out_row);
// The data's elements that indices |first| … |first| + |count| - 1 of row |row| name; at most
// STOWI_KERNEL_BLOCK.
void stowi_kernel_elements_at_block(const stowi_kernel_elements_at* e, size_t row, size_t first,
                                    size_t count, int64_t* out);

// ---------------------------------------------------------------------------------------------
// Single elements picked from anywhere.

// Element |to_at| + j of |to| becomes element |places|[j] of |from|, j < count, in ascending order.
void stowi_kernel_pick(uint32_t bits, void* to, size_t to_at, const void* from,
                       const int64_t* places, size_t count);

#endif  // STOWAGE_SRC_EXEC_KERNELS_INDEXING_INDICES_H_
