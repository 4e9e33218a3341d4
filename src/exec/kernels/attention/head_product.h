// Products with keys or values of attention: f32 is read in place; narrower floats are converted,
// all rows at once or, in little room, as they are needed.
#ifndef STOWAGE_SRC_EXEC_KERNELS_ATTENTION_HEAD_PRODUCT_H_
#define STOWAGE_SRC_EXEC_KERNELS_ATTENTION_HEAD_PRODUCT_H_

#include "exec/kernels/attention/heads.h"
#include "exec/kernels/matrix/gemm.h"

// |count| rows as a matrix: in place where they are f32, else in |buffer|.
stowi_kernel_matrix stowi_kernel_head_rows(const stowi_kernel_heads* heads, size_t batch,
                                           size_t head, size_t first, size_t count, size_t size,
                                           float* buffer);

// A product whose second factor is rows of a head.
typedef struct stowi_kernel_head_product {
  stowi_kernel_gemm gemm;  // without b and variant
  const stowi_kernel_heads* heads;
  size_t batch, head, begin;  // the first row
  bool is_turned;             // rows of the head are columns of b
  bool is_lean;               // in little room, without a copy of these rows
} stowi_kernel_head_product;

// Bytes for a product of |rows| rows of the first factor, besides the copy.
uint64_t stowi_kernel_head_product_scratch(const stowi_kernel_heads* heads, size_t rows, size_t n,
                                           size_t k, bool is_lean);
// |buffer| is for a copy of the head's rows, |room| has the bytes above.
void stowi_kernel_head_product_run(stowi_kernel_head_product* p, float* buffer, void* room);

#endif  // STOWAGE_SRC_EXEC_KERNELS_ATTENTION_HEAD_PRODUCT_H_
