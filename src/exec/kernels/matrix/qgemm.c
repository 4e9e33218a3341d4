// qgemm: a product of matrices of bytes, to which i32 are added, as floats or as bytes. A result of
// floats may lie over the addend, which is read part by part just before it is written.
#include "exec/kernels/matrix/scaled_product.h"
#include "exec/kernels/support/convert.h"
#include "exec/kernels/support/kernel.h"

typedef struct qgemm {
  stowi_scaled scaled;
  stowi_spread addend;
  const stow_tensor* scale;  // of the result; NULL: it is of floats
  const stow_tensor* zero;
} qgemm;

static stowi_turn turn_of(const stow_kernel_call* call, const char* name) {
  return (stowi_turn){stow_kernel_bool(call, name, false), false};
}

static stow_status scratch_qgemm(const stow_kernel_call* call, uint64_t* out_bytes) {
  stowi_product p = stowi_product_of(stow_kernel_operand(call, 0), turn_of(call, "trans_a"),
                                     stow_kernel_operand(call, 3), turn_of(call, "trans_b"));
  *out_bytes = stowi_quantized_scratch(call, &p);
  return STOW_OK;
}

static void add_addend(const stowi_spread* addend, const stowi_part* part, int32_t* sums) {
  const int32_t* from = addend->tensor->data;
  for (size_t i = 0; i < part->rows; ++i) {
    const int32_t* row = from + (part->row + i) * addend->row + part->column * addend->column;
    int32_t* to = sums + i * part->columns;
    for (size_t j = 0; j < part->columns; ++j) {
      to[j] = (int32_t)((uint32_t)to[j] + (uint32_t)row[j * addend->column]);
    }
  }
}

static void requantize(const stowi_quantized* q, const stowi_part* part, const int32_t* sums) {
  const qgemm* g = q->user;
  stow_tensor* result = g->scaled.result;
  float scales[STOWI_BLOCK_COLUMNS];
  float divisor = (float)stowi_float_at(g->scale, 0);
  int32_t zero = g->zero != NULL ? (int32_t)stowi_int_at(g->zero, 0) : 0;
  stowi_lane_floats(&g->scaled.b_scale, part->column, part->columns, scales);
  stowi_scales_of(&g->scaled, 0, scales, part->columns, scales);
  for (size_t j = 0; j < part->columns; ++j) {
    scales[j] /= divisor;
  }
  for (size_t i = 0; i < part->rows; ++i) {
    size_t at = stowi_product_element(&q->product, 0, part->row + i, part->column);
    stowi_requantize_row(sums + i * part->columns, scales, zero, result->dtype == STOW_I8,
                         part->columns, (uint8_t*)result->data + at);
  }
}

static void finish_part(const stowi_quantized* q, const stowi_part* part, int32_t* sums) {
  const qgemm* g = q->user;
  if (g->addend.tensor != NULL) {
    add_addend(&g->addend, part, sums);
  }
  if (g->scale != NULL) {
    requantize(q, part, sums);
  } else {
    stowi_finish_scaled(q, part, sums);
  }
}

static stow_status lanes_of(const stow_kernel_call* call, const stowi_product* p, qgemm* g) {
  const stow_tensor* addend = stow_kernel_operand(call, 6);
  if (addend != NULL && addend->dtype != STOW_I32) {
    return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED, "the addend must be of i32");
  }
  if (!stowi_spread_of(p, addend, &g->addend)) {
    return stow_kernel_fail(call, STOW_ERR_TYPE, "the addend does not broadcast to the product");
  }
  const stow_tensor* a_scale = stow_kernel_operand(call, 1);
  if (stow_tensor_elements(a_scale) != 1) {
    return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED, "the scale of a must have one element");
  }
  g->scaled.a_scale = (stowi_lane){a_scale, 1};
  return stowi_lane_of_columns(call, p, stow_kernel_operand(call, 4), "scale of b",
                               &g->scaled.b_scale);
}

static bool is_byte(const stow_tensor* tensor) {
  return tensor->dtype == STOW_I8 || tensor->dtype == STOW_U8;
}

static stow_status run_qgemm(stow_kernel_call* call) {
  const stow_tensor* a = stow_kernel_operand(call, 0);
  qgemm g = {.scale = stow_kernel_operand(call, 7), .zero = stow_kernel_operand(call, 8)};
  g.scaled.a_factor = (float)stow_kernel_float(call, "alpha", 1);
  g.scaled.bias.count = 1;
  g.scaled.result = stow_kernel_result(call, 0);
  if (!is_byte(a) || (g.scale != NULL && !is_byte(g.scaled.result))) {
    return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED,
                            "factors must be i8 or u8, and a result that has a scale too");
  }
  if (g.scale == NULL && stowi_kind(g.scaled.result->dtype) != STOW_KIND_FLOAT) {
    return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED, "a result of bytes needs a scale");
  }
  stowi_quantized q;
  stow_status status = stowi_quantized_of(
      call, a, turn_of(call, "trans_a"), stow_kernel_operand(call, 3), turn_of(call, "trans_b"),
      stow_kernel_operand(call, 2), stow_kernel_operand(call, 5), &q);
  if (status == STOW_OK) {
    status = lanes_of(call, &q.product, &g);
  }
  if (status != STOW_OK) {
    return status;
  }
  q.finish = finish_part;
  q.user = &g;
  stowi_quantized_run(&q, call->scratch);
  return STOW_OK;
}

STOWI_KERNEL(QGEMM, scratch_qgemm, run_qgemm);
