// gru: see layer.h.
#include "exec/kernels/recurrent/layer.h"
#include "exec/kernels/support/kernel.h"

static stow_status scratch_gru(const stow_kernel_call* call, uint64_t* out_bytes) {
  return stowi_layer_scratch(call, STOWI_CELL_GRU, out_bytes);
}

static stow_status run_gru(stow_kernel_call* call) { return stowi_layer_run(call, STOWI_CELL_GRU); }

STOWI_KERNEL(GRU, scratch_gru, run_gru);
