// Recurrent layers: what rnn, gru and lstm have in common. They differ in how many gates the
// weights stack, and in how a step makes the next state of the gates.
#ifndef STOWAGE_SRC_EXEC_KERNELS_RECURRENT_LAYER_H_
#define STOWAGE_SRC_EXEC_KERNELS_RECURRENT_LAYER_H_

#include <stowage/kernel.h>

#include "exec/kernels/recurrent/activation.h"
#include "exec/kernels/support/carve.h"

typedef enum stowi_cell { STOWI_CELL_RNN, STOWI_CELL_GRU, STOWI_CELL_LSTM } stowi_cell;

enum {
  STOWI_LAYER_X,
  STOWI_LAYER_W,
  STOWI_LAYER_R,
  STOWI_LAYER_BIAS,
  STOWI_LAYER_LENGTHS,
  STOWI_LAYER_H,
  STOWI_LAYER_C,
  STOWI_LAYER_PEEPHOLES,
  STOWI_LAYER_W_SCALE,
  STOWI_LAYER_W_ZERO,
  STOWI_LAYER_R_SCALE,
  STOWI_LAYER_R_ZERO
};

typedef struct stowi_layer {
  const stow_kernel_call* call;
  stowi_cell cell;
  bool is_quantized;  // weights are integers, [directions, in, gates × hidden]
  size_t gates;
  size_t directions, sequence, batch, input, hidden;
  bool batch_first;
  bool linear_before_reset;
  bool input_forget;
  double clip;  // 0: none
  // Of the direction that is computed.
  size_t direction;
  bool is_reverse;
  stowi_activation activations[3];
} stowi_layer;

// Makes direction |d| the one that is computed.
void stowi_layer_choose(stowi_layer* layer, size_t d);

size_t stowi_layer_length(const stowi_layer* layer, size_t batch);
// Where a row of x, of all h and of a state begins.
size_t stowi_layer_x_row(const stowi_layer* layer, size_t step, size_t batch);
size_t stowi_layer_y_row(const stowi_layer* layer, size_t step, size_t batch);
size_t stowi_layer_state_row(const stowi_layer* layer, size_t batch);

stow_status stowi_layer_scratch(const stow_kernel_call* call, stowi_cell cell, uint64_t* out_bytes);
stow_status stowi_layer_run(const stow_kernel_call* call, stowi_cell cell);

#endif  // STOWAGE_SRC_EXEC_KERNELS_RECURRENT_LAYER_H_
