// Products with weights whose packing only the caller knows: their rows say that they are opaque
// bytes, so there is nothing here that could read them.
#include "exec/kernels/support/kernel.h"

static stow_status refuse(stow_kernel_call* call) {
  return stow_kernel_fail(
      call, STOW_ERR_UNSUPPORTED,
      "the packing of the weights is unknown; set a kernel for them with stow_kernels_set");
}

STOWI_KERNEL(DEQUANT_MATMUL, NULL, refuse);
STOWI_KERNEL(DEQUANT_GROUPED_MATMUL, NULL, refuse);
