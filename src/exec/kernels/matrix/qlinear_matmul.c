// qlinear_matmul: a product of bytes, scaled and rounded to bytes again.
#include "exec/kernels/matrix/scaled_product.h"
#include "exec/kernels/support/convert.h"
#include "exec/kernels/support/kernel.h"

typedef struct requantization {
  stowi_scaled scaled;
  stowi_lane scale;  // of the result's rows
  stowi_lane zero;
} requantization;

static stow_status scratch_qlinear(const stow_kernel_call* call, uint64_t* out_bytes) {
  stowi_product p = stowi_product_of(stow_kernel_operand(call, 0), (stowi_turn){0},
                                     stow_kernel_operand(call, 3), (stowi_turn){0});
  *out_bytes = stowi_quantized_scratch(call, &p);
  return STOW_OK;
}

static void finish_part(const stowi_quantized* q, const stowi_part* part, int32_t* sums) {
  const requantization* r = q->user;
  const stowi_product* p = &q->product;
  stow_tensor* result = r->scaled.result;
  float b_scales[STOWI_BLOCK_COLUMNS];
  float scales[STOWI_BLOCK_COLUMNS];
  stowi_lane_floats(&r->scaled.b_scale, part->batch * p->n + part->column, part->columns, b_scales);
  for (size_t i = 0; i < part->rows; ++i) {
    size_t row = part->batch * p->m + part->row + i;
    float divisor;
    int32_t zero;
    stowi_lane_floats(&r->scale, row, 1, &divisor);
    stowi_lane_ints(&r->zero, row, 1, &zero);
    stowi_scales_of(&r->scaled, row, b_scales, part->columns, scales);
    for (size_t j = 0; j < part->columns; ++j) {
      scales[j] /= divisor;
    }
    size_t at = stowi_product_element(p, part->batch, part->row + i, part->column);
    stowi_requantize_row(sums + i * part->columns, scales, zero, result->dtype == STOW_I8,
                         part->columns, (uint8_t*)result->data + at);
  }
}

static stow_status lanes_of(const stow_kernel_call* call, const stowi_product* p,
                            requantization* r) {
  const stow_tensor* a = stow_kernel_operand(call, 0);
  stow_status status = stowi_lane_of_rows(call, p, a, stow_kernel_operand(call, 1), "scale of a",
                                          &r->scaled.a_scale);
  if (status == STOW_OK) {
    status = stowi_lane_of_columns(call, p, stow_kernel_operand(call, 4), "scale of b",
                                   &r->scaled.b_scale);
  }
  if (status == STOW_OK) {
    status =
        stowi_lane_of_rows(call, p, a, stow_kernel_operand(call, 6), "result's scale", &r->scale);
  }
  if (status == STOW_OK) {
    status = stowi_lane_of_rows(call, p, a, stow_kernel_operand(call, 7), "result's zero point",
                                &r->zero);
  }
  return status;
}

static bool is_byte(const stow_tensor* tensor) {
  return tensor->dtype == STOW_I8 || tensor->dtype == STOW_U8;
}

static stow_status run_qlinear(stow_kernel_call* call) {
  const stow_tensor* a = stow_kernel_operand(call, 0);
  requantization r = {.scaled = {.a_factor = 1, .result = stow_kernel_result(call, 0)}};
  if (!is_byte(a) || !is_byte(r.scaled.result)) {
    return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED, "factors and result must be i8 or u8");
  }
  stowi_quantized q;
  stow_status status =
      stowi_quantized_of(call, a, (stowi_turn){0}, stow_kernel_operand(call, 3), (stowi_turn){0},
                         stow_kernel_operand(call, 2), stow_kernel_operand(call, 5), &q);
  if (status == STOW_OK) {
    status = lanes_of(call, &q.product, &r);
  }
  if (status != STOW_OK) {
    return status;
  }
  q.finish = finish_part;
  q.user = &r;
  stowi_quantized_run(&q, call->scratch);
  return STOW_OK;
}

STOWI_KERNEL(QLINEAR_MATMUL, scratch_qlinear, run_qlinear);
