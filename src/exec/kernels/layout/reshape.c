// Views: the same elements in the same order. Nothing to do where the result lies on its operand.
#include "exec/kernels/layout/strided.h"
#include "exec/kernels/support/kernel.h"

static stow_status run_reshape(stow_kernel_call* call) {
  const stow_tensor* x = call->operands[0];
  stow_tensor* result = call->results[0];
  size_t size = stow_tensor_bytes(x);
  if (size != stow_tensor_bytes(result)) {
    return stow_kernel_fail(call, STOW_ERR_TYPE, "the operand has %zu bytes, the result %zu", size,
                            stow_tensor_bytes(result));
  }
  stowi_kernel_strided bytes = {0};
  stowi_kernel_strided_add(&bytes, (int64_t)size, 1, 1);
  stowi_kernel_strided_copy(call, STOW_U8, x->data, result->data, &bytes);
  return STOW_OK;
}

STOWI_KERNEL(RESHAPE, NULL, run_reshape);
STOWI_KERNEL(SQUEEZE, NULL, run_reshape);
STOWI_KERNEL(UNSQUEEZE, NULL, run_reshape);
STOWI_KERNEL(FLATTEN, NULL, run_reshape);
