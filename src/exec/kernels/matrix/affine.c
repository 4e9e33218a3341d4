// gemm and fused_gemm: alpha · a · b + beta · c of matrices, and an activation of that. The result
// may lie over c: it is written from c, element by element, before anything is added.
#include "exec/kernels/matrix/multiply.h"
#include "exec/kernels/support/convert.h"
#include "exec/kernels/support/kernel.h"

static stow_status scratch_gemm(const stow_kernel_call* call, uint64_t* out_bytes) {
  stowi_multiply x = stowi_multiply_of(call);
  *out_bytes = stowi_multiply_scratch(call, &x);
  return STOW_OK;
}

static stow_status run_gemm(stow_kernel_call* call) {
  stowi_multiply x = stowi_multiply_of(call);
  if (!stowi_spread_of(&x.product, stow_kernel_operand(call, 2), &x.addend)) {
    return stow_kernel_fail(call, STOW_ERR_TYPE, "the addend does not broadcast to the product");
  }
  if (x.addend.tensor != NULL && x.addend.tensor->dtype != x.result->dtype) {
    return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED, "the addend is %s, the product %s",
                            stowi_dtype_text(x.addend.tensor->dtype),
                            stowi_dtype_text(x.result->dtype));
  }
  if (call->op == STOW_OP_FUSED_GEMM) {
    stow_status status = stowi_activation_of(call, &x.activation);
    if (status != STOW_OK) {
      return status;
    }
  }
  return stowi_multiply_run(call, &x);
}

STOWI_KERNEL(GEMM, scratch_gemm, run_gemm);
STOWI_KERNEL(FUSED_GEMM, scratch_gemm, run_gemm);
