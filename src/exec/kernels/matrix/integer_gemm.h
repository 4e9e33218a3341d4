// Products of matrices of bytes, the loop nest under all quantised products and convolutions:
//
//     c[i, j] = Σ over p of (a[i, p] - a_zero[i]) · (b[p, j] - b_zero[j])    modulo 2^32
//
// Sums of integers are exact, so they are taken in whatever order is fast.
#ifndef STOWAGE_SRC_EXEC_KERNELS_MATRIX_INTEGER_GEMM_H_
#define STOWAGE_SRC_EXEC_KERNELS_MATRIX_INTEGER_GEMM_H_

#include <stowage/kernel.h>

// Element (i, j) is data[i * row + j * column], an i8 or a u8.
typedef struct stowi_bytes {
  const void* data;
  bool is_signed;
  size_t row;
  size_t column;
} stowi_bytes;

typedef struct stowi_integer_gemm {
  size_t m, n, k;
  stowi_bytes a;
  stowi_bytes b;
  const int32_t* a_zero;  // from -128 to 255; NULL: 0
  size_t a_zero_step;     // 0: the same for all rows, 1: one for each
  const int32_t* b_zero;
  size_t b_zero_step;  // of columns
  int32_t* c;
  size_t c_row;
} stowi_integer_gemm;

// Bytes of scratch for one worker; grows with each argument.
uint64_t stowi_integer_gemm_scratch(size_t m, size_t n, size_t k);
// The whole product by the caller alone. |scratch| as above, aligned to 64. c overlaps no factor.
void stowi_integer_gemm_alone(const stowi_integer_gemm* gemm, void* scratch);

#endif  // STOWAGE_SRC_EXEC_KERNELS_MATRIX_INTEGER_GEMM_H_
