// Elements named by an index along one axis, and by their own place along the others: what
// gather_elements reads and scatter_elements writes.
#ifndef STOWAGE_SRC_EXEC_KERNELS_INDEXING_ELEMENTS_AT_H_
#define STOWAGE_SRC_EXEC_KERNELS_INDEXING_ELEMENTS_AT_H_

#include <stowage/kernel.h>

// A row is the innermost dim of the indices.
typedef struct stowi_elements_at {
  const stow_tensor* data;
  const stow_tensor* indices;
  uint32_t axis;
  int64_t strides[STOW_MAX_RANK];  // of the data
} stowi_elements_at;

// Fails where the axis or an index is out of range, or the indices are longer than the data.
stow_status stowi_elements_at_init(const stow_kernel_call* call, stowi_elements_at* out);
// How many rows of how many indices; 0 of 0 where there are none.
size_t stowi_elements_at_rows(const stowi_elements_at* e, size_t* out_row);
// The data's elements that indices |first| … |first| + |count| - 1 of row |row| name; at most
// STOWI_BLOCK.
void stowi_elements_at_block(const stowi_elements_at* e, size_t row, size_t first, size_t count,
                             int64_t* out);

#endif  // STOWAGE_SRC_EXEC_KERNELS_INDEXING_ELEMENTS_AT_H_
