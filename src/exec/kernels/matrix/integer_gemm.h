// Products of matrices of bytes, the loop nest under all quantised products:
//
//     c[i, j] = Σ over p of (a[i, p] - a_zero[i]) · (b[p, j] - b_zero[j])    modulo 2^32
//
// Sums of integers are exact, so they are taken in whatever order is fast.
#ifndef STOWAGE_SRC_EXEC_KERNELS_MATRIX_INTEGER_GEMM_H_
#define STOWAGE_SRC_EXEC_KERNELS_MATRIX_INTEGER_GEMM_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stowage/kernel.h>

#include "exec/kernels/matrix/integer_tile.h"

// Element (i, j) is data[i * row + j * column], an i8 or a u8.
typedef struct stowi_kernel_bytes {
  const void* data;
  bool is_signed;
  size_t row;
  size_t column;
} stowi_kernel_bytes;

static inline int32_t stowi_kernel_byte_at(const stowi_kernel_bytes* x, size_t i, size_t j) {
  size_t at = i * x->row + j * x->column;
  return x->is_signed ? ((const int8_t*)x->data)[at] : ((const uint8_t*)x->data)[at];
}

// Where a packed second factor is read: |steps| and |columns| are those of all of it from b.data
// on, whose first column begins a panel; |step|, a multiple of 4, is the first step of the product.
// |steps| is 0 where it is not packed.
typedef struct stowi_kernel_packed_bytes {
  size_t steps, columns;
  size_t step;
} stowi_kernel_packed_bytes;

typedef struct stowi_kernel_integer_gemm {
  size_t m, n, k;
  stowi_kernel_bytes a;
  stowi_kernel_bytes b;
  stowi_kernel_packed_bytes packed;
  const int32_t* a_zero;  // from -128 to 255; NULL: 0
  size_t a_zero_step;     // 0: the same for all rows, 1: one for each
  const int32_t* b_zero;
  size_t b_zero_step;  // of columns
  int32_t* c;
  size_t c_row;
  bool accumulate;  // added to what c holds
} stowi_kernel_integer_gemm;

// Bytes of scratch for one worker; grows with m, n and k. Nothing where b is packed and the numbers
// of a row of a follow each other.
uint64_t stowi_kernel_integer_gemm_scratch(const stowi_kernel_integer_gemm* gemm);
// The whole product by the caller alone. |scratch| as above, aligned to 64. c overlaps no factor.
void stowi_kernel_integer_gemm_alone(const stowi_kernel_integer_gemm* gemm, void* scratch);
// The same without scratch, and slower where that would have been needed.
void stowi_kernel_integer_gemm_lean(const stowi_kernel_integer_gemm* gemm);
// By given inner loops, so that tests can compare all of them. |scratch| may be NULL: without.
void stowi_kernel_integer_gemm_by(const stowi_kernel_integer_tiles* tiles,
                                  const stowi_kernel_integer_gemm* gemm, void* scratch);

// Bytes of a packed b of |k| × |n|, and b packed: panels one after the other. The column of b where
// a panel begins, times the first number for one column, is where that begins.
uint64_t stowi_kernel_integer_pack_size(size_t k, size_t n);
void stowi_kernel_integer_pack(const stowi_kernel_bytes* b, size_t k, size_t n, void* out);

// ---------------------------------------------------------------------------------------------
// Parts of it

// Adds the products of few rows to c (integer_stream.c); the rows of b are contiguous.
void stowi_kernel_integer_stream(const stowi_kernel_integer_gemm* gemm);

// Takes off zero points, as tiles see them: c[i, j] -= a_zero[i] · b_sums[j] + b_zero[j] ·
// a_sums[i]. Of b_sums each is less by the number of steps times its zero point.
typedef struct stowi_kernel_integer_zeros {
  const int32_t* a_zero;
  const uint32_t* a_sums;
  const int32_t* b_zero;
  const uint32_t* b_sums;
} stowi_kernel_integer_zeros;

void stowi_kernel_integer_correct(size_t rows, size_t columns, const stowi_kernel_integer_zeros* z,
                                  int32_t* c, size_t c_row);
// The sum of |count| bytes of a row of a, and those of all columns of |groups| groups of a panel.
uint32_t stowi_kernel_integer_row_sum(const uint8_t* from, size_t count, uint8_t flip);
void stowi_kernel_integer_column_sums(const stowi_kernel_integer_tiles* tiles, const uint8_t* panel,
                                      size_t groups, size_t width, int32_t* out);
// Rows of a times a panel: |k| steps, of which the last few need not be a group; |columns| of the
// panel's are in c.
void stowi_kernel_integer_rows(const stowi_kernel_integer_tiles* tiles,
                               const stowi_kernel_integer_tile* all, size_t k, size_t columns);

#endif  // STOWAGE_SRC_EXEC_KERNELS_MATRIX_INTEGER_GEMM_H_
