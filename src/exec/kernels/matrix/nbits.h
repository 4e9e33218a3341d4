// Weights of a few bits each, in blocks along k that have a scale and a zero point of their own.
//
//     weight[column, k] = (quantised - zero) · scale
//
// A column's blocks follow each other, each of a whole number of bytes, the first element in the
// lowest bits.
#ifndef STOWAGE_SRC_EXEC_KERNELS_MATRIX_NBITS_H_
#define STOWAGE_SRC_EXEC_KERNELS_MATRIX_NBITS_H_

#include <stowage/kernel.h>

typedef struct stowi_kernel_nbits {
  size_t bits;    // 1 to 8
  size_t block;   // elements in a block
  size_t blocks;  // in a column
  size_t blob;    // bytes of a block
  const uint8_t* packed;
  const stow_tensor* scales;
  size_t first_scale;  // of column 0; a column has one for each block
  // NULL: 2^(bits - 1). Bytes hold packed ones; floats are one for each block.
  const stow_tensor* zeros;
  size_t first_zero;          // the byte, or the element, of column 0
  size_t zero_bits;           // from one column's packed zeros to the next one's
  const stow_tensor* groups;  // for each k the block whose scale it has; NULL: the one it lies in
} stowi_kernel_nbits;

// |count| weights of |column| from |first| on.
void stowi_kernel_nbits_load(const stowi_kernel_nbits* weights, size_t column, size_t first,
                             size_t count, float* out);
// Bytes of the packed zero points of |columns| columns.
size_t stowi_kernel_nbits_zero_bytes(const stowi_kernel_nbits* weights, size_t columns);

#endif  // STOWAGE_SRC_EXEC_KERNELS_MATRIX_NBITS_H_
