// lstm, and dynamic_quantize_lstm, whose weights become floats before they are used: see layer.h.
#include "exec/kernels/recurrent/layer.h"
#include "exec/kernels/support/kernel.h"

static stow_status scratch_lstm(const stow_kernel_call* call, uint64_t* out_bytes) {
  return stowi_layer_scratch(call, STOWI_CELL_LSTM, out_bytes);
}

static stow_status run_lstm(stow_kernel_call* call) {
  return stowi_layer_run(call, STOWI_CELL_LSTM);
}

STOWI_KERNEL(LSTM, scratch_lstm, run_lstm);
STOWI_KERNEL(DYNAMIC_QUANTIZE_LSTM, scratch_lstm, run_lstm);
