// Activation functions of recurrent layers, by the names that ONNX gives them.
#ifndef STOWAGE_SRC_EXEC_KERNELS_RECURRENT_ACTIVATION_H_
#define STOWAGE_SRC_EXEC_KERNELS_RECURRENT_ACTIVATION_H_

#include <stowage/kernel.h>

typedef enum stowi_activation_kind {
  STOWI_ACT_SIGMOID,
  STOWI_ACT_TANH,
  STOWI_ACT_RELU,
  STOWI_ACT_AFFINE,
  STOWI_ACT_LEAKY_RELU,
  STOWI_ACT_THRESHOLDED_RELU,
  STOWI_ACT_SCALED_TANH,
  STOWI_ACT_HARD_SIGMOID,
  STOWI_ACT_ELU,
  STOWI_ACT_SOFTSIGN,
  STOWI_ACT_SOFTPLUS,
  STOWI_ACT_COUNT
} stowi_activation_kind;

typedef struct stowi_activation {
  stowi_activation_kind kind;
  double alpha;
  double beta;
} stowi_activation;

// Function |index| of the attribute `activations`, with its share of activation_alpha and
// activation_beta: each list is used up in the order of the functions that have such a number.
// False where the name is none of the above. |fallback| is for an empty list.
bool stowi_activation_read(const stow_kernel_call* call, size_t index,
                           stowi_activation_kind fallback, stowi_activation* out);

void stowi_activate_f32(const stowi_activation* activation, size_t count, float* x);
void stowi_activate_f64(const stowi_activation* activation, size_t count, double* x);

#endif  // STOWAGE_SRC_EXEC_KERNELS_RECURRENT_ACTIVATION_H_
