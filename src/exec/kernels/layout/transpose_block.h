// A small block of a transposed copy.
#ifndef STOWAGE_SRC_EXEC_KERNELS_LAYOUT_TRANSPOSE_BLOCK_H_
#define STOWAGE_SRC_EXEC_KERNELS_LAYOUT_TRANSPOSE_BLOCK_H_

#include <stddef.h>
#include <stdint.h>

// Unit (i, j), i < height, j < width, is read at from + i × unit + j × from_stride and written at
// to + i × to_stride + j × unit; strides are in bytes. |unit| is 1, 2, 4, 8 or 16.
void stowi_transpose_block(size_t unit, uint8_t* to, int64_t to_stride, const uint8_t* from,
                           int64_t from_stride, size_t height, size_t width);

#endif  // STOWAGE_SRC_EXEC_KERNELS_LAYOUT_TRANSPOSE_BLOCK_H_
