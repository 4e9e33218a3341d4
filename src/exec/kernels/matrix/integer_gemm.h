// Products of matrices of bytes, the loop nest under all quantised products and convolutions:
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

// Element (i, j) is data[i * row + j * column], an i8 or a u8.
typedef struct stowi_kernel_bytes {
  const void* data;
  bool is_signed;
  size_t row;
  size_t column;
} stowi_kernel_bytes;

typedef struct stowi_kernel_integer_gemm {
  size_t m, n, k;
  stowi_kernel_bytes a;
  stowi_kernel_bytes b;
  const int32_t* a_zero;  // from -128 to 255; NULL: 0
  size_t a_zero_step;     // 0: the same for all rows, 1: one for each
  const int32_t* b_zero;
  size_t b_zero_step;  // of columns
  int32_t* c;
  size_t c_row;
} stowi_kernel_integer_gemm;

// Bytes of scratch for one worker; grows with each argument.
uint64_t stowi_kernel_integer_gemm_scratch(size_t m, size_t n, size_t k);
// The whole product by the caller alone. |scratch| as above, aligned to 64. c overlaps no factor.
void stowi_kernel_integer_gemm_alone(const stowi_kernel_integer_gemm* gemm, void* scratch);

// The same without scratch, and slower. |accumulate|: added to what c holds.
void stowi_kernel_integer_gemm_lean(const stowi_kernel_integer_gemm* gemm, bool accumulate);

// ---------------------------------------------------------------------------------------------
// The innermost loops of integer products, compiled for several instruction sets; all give the same
// numbers.

#define STOWI_KERNEL_INTEGER_ROWS 8      // largest number of rows of a tile
#define STOWI_KERNEL_INTEGER_COLUMNS 32  // no tile is wider

// |rows| × columns of c, with |pairs| pairs of steps along k. |a| holds, for each pair, the two
// numbers of each row; |b| the two numbers of each column. |rows| is 8, 4, 2 or 1.
typedef void (*stowi_kernel_integer_tile_function)(size_t rows, size_t pairs, const int16_t* a,
                                                   const int16_t* b, int32_t* c, size_t c_row,
                                                   bool accumulate);

// Packs |pairs| pairs of rows of b, |b_row| apart, for one tile: for each pair and each of the
// tile's columns j the two numbers, less zero[j].
typedef void (*stowi_kernel_integer_pack_function)(const void* b, size_t b_row, bool is_signed,
                                                   const int16_t* zero, size_t pairs, int16_t* out);

// out[p] = from[p] - zero
typedef void (*stowi_kernel_integer_widen_function)(const void* from, bool is_signed, int32_t zero,
                                                    size_t count, int16_t* out);

// c[j] += a[0]·b[j] + a[1]·b[b_row + j] + … for |steps| rows of b and j < count
typedef void (*stowi_kernel_integer_stream_function)(const int16_t* a, size_t steps, const void* b,
                                                     size_t b_row, bool is_signed, size_t count,
                                                     int32_t* c);

typedef struct stowi_kernel_integer_tiles {
  const char* name;
  size_t columns;
  stowi_kernel_integer_tile_function tile;
  stowi_kernel_integer_pack_function pack;
  stowi_kernel_integer_widen_function widen;
  stowi_kernel_integer_stream_function stream;
} stowi_kernel_integer_tiles;

// All that this processor has, the plainest first; NULL from some |i| on.
const stowi_kernel_integer_tiles* stowi_kernel_integer_tiles_at(size_t i);

// ---------------------------------------------------------------------------------------------
// An integer product by given inner loops, so that tests can compare all of them.

void stowi_kernel_integer_gemm_by(const stowi_kernel_integer_tiles* tiles,
                                  const stowi_kernel_integer_gemm* gemm, void* scratch);

#endif  // STOWAGE_SRC_EXEC_KERNELS_MATRIX_INTEGER_GEMM_H_
