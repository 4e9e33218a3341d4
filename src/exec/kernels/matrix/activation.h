// What fused products do to their sums.
#ifndef STOWAGE_SRC_EXEC_KERNELS_MATRIX_ACTIVATION_H_
#define STOWAGE_SRC_EXEC_KERNELS_MATRIX_ACTIVATION_H_

#include <stowage/kernel.h>

typedef enum stowi_activation_kind {
  STOWI_ACTIVATION_NONE,
  STOWI_ACTIVATION_ELU,
  STOWI_ACTIVATION_HARD_SIGMOID,
  STOWI_ACTIVATION_LEAKY_RELU,
  STOWI_ACTIVATION_RELU,
  STOWI_ACTIVATION_SELU,
  STOWI_ACTIVATION_SIGMOID,
  STOWI_ACTIVATION_SOFTPLUS,
  STOWI_ACTIVATION_SOFTSIGN,
  STOWI_ACTIVATION_TANH,
  STOWI_ACTIVATION_THRESHOLDED_RELU
} stowi_activation_kind;

typedef struct stowi_activation {
  stowi_activation_kind kind;
  float alpha, beta, gamma;
} stowi_activation;

// From the attributes `activation`, `activation_alpha`, `activation_beta` and `activation_gamma`.
stow_status stowi_activation_of(const stow_kernel_call* call, stowi_activation* out);
void stowi_activate(const stowi_activation* activation, float* x, size_t count);

#endif  // STOWAGE_SRC_EXEC_KERNELS_MATRIX_ACTIVATION_H_
