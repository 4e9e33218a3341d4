// A layer of one expert: rows · weightsᵀ + bias, from weights of floats or of a few bits.
#ifndef STOWAGE_SRC_EXEC_KERNELS_MATRIX_EXPERTS_H_
#define STOWAGE_SRC_EXEC_KERNELS_MATRIX_EXPERTS_H_

#include "exec/kernels/matrix/nbits.h"

typedef struct stowi_expert_layer {
  const stow_tensor* weights;  // [experts, outputs, inputs], or packed
  const stow_tensor* bias;     // [experts, outputs]; NULL: none
  size_t inputs, outputs;
  bool is_packed;
  stowi_nbits nbits;  // of expert 0, where weights are packed
} stowi_expert_layer;

// Bytes of scratch for products of up to |rows| rows.
uint64_t stowi_expert_scratch(size_t rows, size_t inputs, size_t outputs, uint32_t workers);
// out[rows × outputs] of |expert|, divided among workers.
void stowi_expert_run(const stow_kernel_call* call, const stowi_expert_layer* layer, size_t expert,
                      size_t rows, const float* x, float* out, void* scratch);

#endif  // STOWAGE_SRC_EXEC_KERNELS_MATRIX_EXPERTS_H_
