// result = activation(beta · addend + alpha · a · b) of tensors of any real dtype: what matmul,
// gemm and their fused forms are. All operands have the result's dtype.
//
// f32 goes through stowi_gemm. Narrower floats are multiplied as f32, in parts of the result, and
// rounded once; f64 and integers (modulo their width) have loops of their own, whose sums go on
// from the addend in ascending order of k.
#ifndef STOWAGE_SRC_EXEC_KERNELS_MATRIX_MULTIPLY_H_
#define STOWAGE_SRC_EXEC_KERNELS_MATRIX_MULTIPLY_H_

#include "exec/kernels/matrix/activation.h"
#include "exec/kernels/matrix/product.h"

typedef struct stowi_multiply {
  stowi_product product;
  const stow_tensor* a;
  const stow_tensor* b;
  stowi_spread addend;  // may be the result itself
  stow_tensor* result;
  double alpha;
  double beta;
  stowi_activation activation;
} stowi_multiply;

// Operands 0 and 1 into result 0, by the attributes `trans_a`, `trans_batch_a`, those of b, `alpha`
// and `beta`, of which an op has some or none. There is no addend yet, and no activation.
stowi_multiply stowi_multiply_of(const stow_kernel_call* call);
uint64_t stowi_multiply_scratch(const stow_kernel_call* call, const stowi_multiply* x);
stow_status stowi_multiply_run(const stow_kernel_call* call, const stowi_multiply* multiply);

#endif  // STOWAGE_SRC_EXEC_KERNELS_MATRIX_MULTIPLY_H_
