// Recurrent layers: what rnn, gru and lstm have in common. They differ in how many gates the
// weights stack, and in how a step computes the next state from the gates.
#ifndef STOWAGE_SRC_EXEC_KERNELS_RECURRENT_LAYER_H_
#define STOWAGE_SRC_EXEC_KERNELS_RECURRENT_LAYER_H_

#include <stowage/kernel.h>

#include "exec/kernels/support/carve.h"

typedef enum stowi_kernel_activation_kind {
  STOWI_KERNEL_ACT_SIGMOID,
  STOWI_KERNEL_ACT_TANH,
  STOWI_KERNEL_ACT_RELU,
  STOWI_KERNEL_ACT_AFFINE,
  STOWI_KERNEL_ACT_LEAKY_RELU,
  STOWI_KERNEL_ACT_THRESHOLDED_RELU,
  STOWI_KERNEL_ACT_SCALED_TANH,
  STOWI_KERNEL_ACT_HARD_SIGMOID,
  STOWI_KERNEL_ACT_ELU,
  STOWI_KERNEL_ACT_SOFTSIGN,
  STOWI_KERNEL_ACT_SOFTPLUS,
  STOWI_KERNEL_ACT_COUNT
} stowi_kernel_activation_kind;

typedef struct stowi_kernel_activation {
  stowi_kernel_activation_kind kind;
  double alpha;
  double beta;
} stowi_kernel_activation;

void stowi_kernel_activate_f32(const stowi_kernel_activation* activation, size_t count, float* x);
void stowi_kernel_activate_f64(const stowi_kernel_activation* activation, size_t count, double* x);

// ---------------------------------------------------------------------------------------------
// Layers

typedef enum stowi_kernel_cell {
  STOWI_KERNEL_CELL_RNN,
  STOWI_KERNEL_CELL_GRU,
  STOWI_KERNEL_CELL_LSTM
} stowi_kernel_cell;

enum {
  STOWI_KERNEL_LAYER_X,
  STOWI_KERNEL_LAYER_W,
  STOWI_KERNEL_LAYER_R,
  STOWI_KERNEL_LAYER_BIAS,
  STOWI_KERNEL_LAYER_LENGTHS,
  STOWI_KERNEL_LAYER_H,
  STOWI_KERNEL_LAYER_C,
  STOWI_KERNEL_LAYER_PEEPHOLES,
  STOWI_KERNEL_LAYER_W_SCALE,
  STOWI_KERNEL_LAYER_W_ZERO,
  STOWI_KERNEL_LAYER_R_SCALE,
  STOWI_KERNEL_LAYER_R_ZERO
};

typedef struct stowi_kernel_layer {
  const stow_kernel_call* call;
  stowi_kernel_cell cell;
  bool is_quantized;  // weights are integers, [directions, in, gates × hidden]
  size_t gates;
  size_t directions, sequence, batch, input, hidden;
  bool batch_first;
  bool linear_before_reset;
  bool input_forget;
  double clip;         // 0: none
  bool spares_copies;  // weights are read where they are if they can be
  // Of the direction that is computed.
  size_t direction;
  bool is_reverse;
  stowi_kernel_activation activations[3];
} stowi_kernel_layer;

// Makes direction |d| the one that is computed.
void stowi_kernel_layer_choose(stowi_kernel_layer* layer, size_t d);

size_t stowi_kernel_layer_length(const stowi_kernel_layer* layer, size_t batch);
// Where a row of x, of all h and of a state begins.
size_t stowi_kernel_layer_x_row(const stowi_kernel_layer* layer, size_t step, size_t batch);
size_t stowi_kernel_layer_y_row(const stowi_kernel_layer* layer, size_t step, size_t batch);
size_t stowi_kernel_layer_state_row(const stowi_kernel_layer* layer, size_t batch);

// ---------------------------------------------------------------------------------------------
// All steps of a layer that has been checked, in f32.

uint64_t stowi_kernel_steps_f32_scratch(const stowi_kernel_layer* layer);
void stowi_kernel_steps_f32(stowi_kernel_layer* layer);

// ---------------------------------------------------------------------------------------------
// Recurrent layers in f64.

// All steps of a layer that has been checked, in f64.
uint64_t stowi_kernel_steps_f64_scratch(const stowi_kernel_layer* layer);
void stowi_kernel_steps_f64(stowi_kernel_layer* layer);

#endif  // STOWAGE_SRC_EXEC_KERNELS_RECURRENT_LAYER_H_
