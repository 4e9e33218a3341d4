// How a scattered element is put to what is there.
#ifndef STOWAGE_SRC_EXEC_KERNELS_INDEXING_COMBINE_H_
#define STOWAGE_SRC_EXEC_KERNELS_INDEXING_COMBINE_H_

#include <stowage/kernel.h>

typedef enum stowi_reduction {
  STOWI_REDUCE_NONE,  // it takes its place
  STOWI_REDUCE_ADD,
  STOWI_REDUCE_MUL,
  STOWI_REDUCE_MAX,
  STOWI_REDUCE_MIN
} stowi_reduction;

// The attribute `reduction`; fails where elements of |dtype| cannot be combined so.
stow_status stowi_reduction_of(const stow_kernel_call* call, stow_dtype dtype,
                               stowi_reduction* out);
// |count| elements of |to| from |to_at| on, each with one of |from|. Integers keep their low bits;
// a NaN stays one; of bools, add and max are "or", mul and min "and".
void stowi_combine(stowi_reduction reduction, stow_dtype dtype, void* to, size_t to_at,
                   const void* from, size_t from_at, size_t count);

#endif  // STOWAGE_SRC_EXEC_KERNELS_INDEXING_COMBINE_H_
