// One engine for copies between two layouts: transposes, slices, repetitions, parts of a whole.
#ifndef STOWAGE_SRC_EXEC_KERNELS_LAYOUT_STRIDED_H_
#define STOWAGE_SRC_EXEC_KERNELS_LAYOUT_STRIDED_H_

#include <stowage/kernel.h>

#define STOWI_KERNEL_STRIDED_RANK (2 * STOW_MAX_RANK)

// Element (i, j, …) is read at from_first + i × from[0] + j × from[1] + … and written at to_first +
// i × to[0] + …; all count elements. Strides may be 0 (from) or negative.
typedef struct stowi_kernel_strided {
  uint32_t rank;
  int64_t from_first, to_first;
  int64_t dims[STOWI_KERNEL_STRIDED_RANK];
  int64_t from[STOWI_KERNEL_STRIDED_RANK];
  int64_t to[STOWI_KERNEL_STRIDED_RANK];
} stowi_kernel_strided;

// Adds a dim inside those there are.
void stowi_kernel_strided_add(stowi_kernel_strided* s, int64_t dim, int64_t from, int64_t to);

// Copies. Where the bytes that are read and those that are written overlap, this goes through the
// elements in ascending order of (i, j, …), alone; a run that lies without gaps in both is moved as
// a whole, in either direction. Writes nothing where all is in place. Else work is divided.
void stowi_kernel_strided_copy(const stow_kernel_call* call, stow_dtype dtype, const void* from,
                               void* to, const stowi_kernel_strided* s);

#endif  // STOWAGE_SRC_EXEC_KERNELS_LAYOUT_STRIDED_H_
