// matmul_integer_to_float: a product of bytes, scaled to floats, with a bias.
#include "exec/kernels/matrix/scaled_product.h"
#include "exec/kernels/support/kernel.h"

static stow_status scales_of(const stow_kernel_call* call, const stowi_product* p,
                             stowi_scaled* s) {
  const stow_tensor* a = stow_kernel_operand(call, 0);
  stow_status status =
      stowi_lane_of_rows(call, p, a, stow_kernel_operand(call, 2), "scale of a", &s->a_scale);
  if (status == STOW_OK) {
    status =
        stowi_lane_of_columns(call, p, stow_kernel_operand(call, 3), "scale of b", &s->b_scale);
  }
  if (status == STOW_OK) {
    status = stowi_lane_of_columns(call, p, stow_kernel_operand(call, 6), "bias", &s->bias);
  }
  return status;
}

static stow_status run_to_float(stow_kernel_call* call) {
  stowi_quantized q;
  stow_status status = stowi_quantized_operands(call, 4, &q);
  stowi_scaled s = {.a_factor = 1, .result = stow_kernel_result(call, 0)};
  if (status == STOW_OK) {
    status = scales_of(call, &q.product, &s);
  }
  if (status != STOW_OK) {
    return status;
  }
  q.finish = stowi_finish_scaled;
  q.user = &s;
  stowi_quantized_run(&q, call->scratch);
  return STOW_OK;
}

STOWI_KERNEL(MATMUL_INTEGER_TO_FLOAT, stowi_quantized_operands_scratch, run_to_float);
