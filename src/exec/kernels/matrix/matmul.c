// matmul: numpy's product of tensors. fused_matmul: the same of factors that may be transposed,
// also over their leading dims.
#include "exec/kernels/matrix/multiply.h"
#include "exec/kernels/support/kernel.h"

static stow_status scratch_matmul(const stow_kernel_call* call, uint64_t* out_bytes) {
  stowi_multiply x = stowi_multiply_of(call);
  *out_bytes = stowi_multiply_scratch(call, &x);
  return STOW_OK;
}

static stow_status run_matmul(stow_kernel_call* call) {
  stowi_multiply x = stowi_multiply_of(call);
  return stowi_multiply_run(call, &x);
}

STOWI_KERNEL(MATMUL, scratch_matmul, run_matmul);
STOWI_KERNEL(FUSED_MATMUL, scratch_matmul, run_matmul);
