// rnn: see layer.h.
#include "exec/kernels/recurrent/layer.h"
#include "exec/kernels/support/kernel.h"

static stow_status scratch_rnn(const stow_kernel_call* call, uint64_t* out_bytes) {
  return stowi_layer_scratch(call, STOWI_CELL_RNN, out_bytes);
}

static stow_status run_rnn(stow_kernel_call* call) { return stowi_layer_run(call, STOWI_CELL_RNN); }

STOWI_KERNEL(RNN, scratch_rnn, run_rnn);
