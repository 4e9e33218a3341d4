// Products of f32 matrices: the one loop nest under matmul, gemm, conv, attention and recurrent
// layers.
//
//     c[m × n] (+)= alpha · a[m × k] · b[k × n]
//
// The sum over k is cut in chains of 256 products, the last one shorter. A chain begins at 0 and
// adds its products in ascending order of k, each with one rounding (support/fma.h); chains are
// added to c in ascending order, whatever the blocking, vectors or threads:
//
//     chain 0 = fma(alpha·a255, b255, … fma(alpha·a1, b1, fma(alpha·a0, b0, 0)))
//     c = ((c' + chain 0) + chain 1) + …          where |accumulate|, c' being what c holds
//     c = (chain 0 + chain 1) + …                 otherwise
//
// so that the bits depend on the numbers alone, and a bias may be written to c before. One chain of
// thousands would lose three more bits. c overlaps neither factor.
#ifndef STOWAGE_SRC_EXEC_KERNELS_MATRIX_GEMM_H_
#define STOWAGE_SRC_EXEC_KERNELS_MATRIX_GEMM_H_

#include <stowage/kernel.h>

// Products in a chain.
#define STOWI_KERNEL_GEMM_CHAIN 256
// Rows of a panel of packed a.
#define STOWI_KERNEL_GEMM_ROWS 6
// Columns of a panel of packed b.
#define STOWI_KERNEL_GEMM_PANEL 32

// Element (i, j) of a factor is data[i * row + j * column]: transposed factors swap the two.
typedef struct stowi_kernel_matrix {
  const float* data;
  size_t row;
  size_t column;
} stowi_kernel_matrix;

// A factor may be packed instead: all of its elements, in the order in which products read them,
// none twice. Of b, panels of 32 columns, the last one narrower: step after step, the columns
// of each. Of a, panels of 6 rows, the last one lower: step after step, the rows of each.
// A product of fewer rows or columns begins at a whole panel, one of fewer steps anywhere.
typedef struct stowi_kernel_gemm {
  size_t m, n, k;
  stowi_kernel_matrix a;
  stowi_kernel_matrix b;
  float* c;
  size_t c_row;     // from one row of c to the next
  float alpha;      // every element of a is multiplied by it
  bool accumulate;  // the chains are added to what c holds
  // Of each row, what the chains are added to instead, in variant 0 if a is packed; NULL: nothing.
  const float* bias;
  // Of 3, which give the same bits: the fastest, one whose scratch is at most 64 KiB, one with at
  // most 2 KiB. Larger numbers are the last.
  uint32_t variant;
  // Of packed factors, how many steps they have in all; 0: the factor is not packed. Its strides
  // mean nothing then, and its data is that of step 0. Where a is packed alpha is 1.
  size_t a_steps, b_steps;
  size_t first_step;  // of both
  // NULL, or where each step of b begins, in elements from its data; its columns are adjacent then,
  // and up to 31 elements more are read behind those of b.
  const uint32_t* b_at;
} stowi_kernel_gemm;

#define STOWI_KERNEL_GEMM_VARIANTS 3

// Bytes of scratch that |stowi_kernel_gemm_run| needs for |workers| workers; grows with each
// argument, but never with the variant.
uint64_t stowi_kernel_gemm_scratch(size_t m, size_t n, size_t k, uint32_t workers,
                                   uint32_t variant);
// The same if one of the factors is packed, or both, or b's steps begin anywhere. Of a that is not,
// whether its rows can be read (a.column and alpha are 1) matters, and whether b's steps begin
// anywhere; data and other strides do not.
uint64_t stowi_kernel_gemm_packed_scratch(const stowi_kernel_gemm* gemm, uint32_t workers);

// Packs a, which is |rows| × |steps|: as many elements.
void stowi_kernel_gemm_pack_a(const stowi_kernel_matrix* a, size_t rows, size_t steps, float* out);
// Packs b, which is |steps| × |columns|, into as many bytes as the second function says: a few
// more, since tiles may read more columns than there are.
void stowi_kernel_gemm_pack_b(const stowi_kernel_matrix* b, size_t steps, size_t columns,
                              float* out);
uint64_t stowi_kernel_gemm_pack_b_size(size_t steps, size_t columns);

// The whole product, divided among the call's workers. |scratch| as above, aligned to 64.
void stowi_kernel_gemm_run(const stow_kernel_call* call, const stowi_kernel_gemm* gemm,
                           void* scratch);
// The same by the caller alone, for kernels that divide something else: scratch of one worker.
void stowi_kernel_gemm_alone(const stowi_kernel_gemm* gemm, void* scratch);

#endif  // STOWAGE_SRC_EXEC_KERNELS_MATRIX_GEMM_H_
