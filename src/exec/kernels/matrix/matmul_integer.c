// matmul_integer: a product of bytes, less their zero points, as i32.
#include <string.h>

#include "exec/kernels/matrix/quantized_product.h"
#include "exec/kernels/support/kernel.h"

static void copy_sums(const stowi_quantized* q, const stowi_part* part, int32_t* sums) {
  int32_t* result = stow_kernel_result(q->call, 0)->data;
  for (size_t i = 0; i < part->rows; ++i) {
    size_t at = stowi_product_element(&q->product, part->batch, part->row + i, part->column);
    memcpy(result + at, sums + i * part->columns, part->columns * sizeof(int32_t));
  }
}

static stow_status run_matmul_integer(stow_kernel_call* call) {
  stowi_quantized q;
  stow_status status = stowi_quantized_operands(call, 2, &q);
  if (status != STOW_OK) {
    return status;
  }
  q.finish = copy_sums;
  stowi_quantized_run(&q, call->scratch);
  return STOW_OK;
}

STOWI_KERNEL(MATMUL_INTEGER, stowi_quantized_operands_scratch, run_matmul_integer);
