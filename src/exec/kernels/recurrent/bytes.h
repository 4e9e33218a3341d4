// Products of f32 with weights of bytes, which become numbers in registers: weights are read where
// they are, and need no room.
#ifndef STOWAGE_SRC_EXEC_KERNELS_RECURRENT_BYTES_H_
#define STOWAGE_SRC_EXEC_KERNELS_RECURRENT_BYTES_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Columns of a product, at most; packed weights are in panels of so many columns.
#define STOWI_KERNEL_BYTES_COLUMNS 64

// Element (p, j) is (byte p * row + j - zero[j]) × scale[j].
typedef struct stowi_kernel_byte_weights {
  const void* data;
  bool is_signed;
  size_t row;
  const float* zero;
  const float* scale;
} stowi_kernel_byte_weights;

// c[rows × columns] = a[rows × depth] · b, with sums in the order of gemm.h; rows of a and c are
// |a_row| and |c_row| apart. |columns| is at most STOWI_KERNEL_BYTES_COLUMNS.
void stowi_kernel_bytes_multiply(size_t rows, size_t columns, size_t depth, const float* a,
                                 size_t a_row, const stowi_kernel_byte_weights* b, float* c,
                                 size_t c_row);

// The same for many rows, for which weights become numbers once, in |room|, which begins at a
// multiple of 64 and has as many bytes as the second function says.
void stowi_kernel_bytes_multiply_many(size_t rows, size_t columns, size_t depth, const float* a,
                                      size_t a_row, const stowi_kernel_byte_weights* b, float* c,
                                      size_t c_row, float* room);
uint64_t stowi_kernel_bytes_room(size_t depth);

#endif  // STOWAGE_SRC_EXEC_KERNELS_RECURRENT_BYTES_H_
