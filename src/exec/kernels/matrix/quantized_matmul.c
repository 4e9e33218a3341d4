// Products of byte tensors: how each op turns the sums of quantized_product.h into its result.
#include <string.h>

#include "exec/kernels/matrix/quantized_product.h"
#include "exec/kernels/support/convert.h"
#include "exec/kernels/support/kernel.h"
#include "exec/kernels/support/size.h"

// ---------------------------------------------------------------------------------------------
// matmul_integer: the sums themselves, as i32.

// Of the second factor, operand 1.
static uint64_t pack_size(const stow_kernel_call* call, size_t k) {
  return k == 1 ? stowi_kernel_quantized_pack_size(stow_kernel_operand(call, k),
                                                   (stowi_kernel_turn){0})
                : 0;
}

static void pack(const stow_kernel_call* call, size_t k, void* out) {
  stowi_kernel_quantized_pack(stow_kernel_operand(call, k), (stowi_kernel_turn){0}, out);
}

static stow_status run_matmul_integer(stow_kernel_call* call) {
  stowi_kernel_quantized q;
  STOWI_KERNEL_TRY(stowi_kernel_quantized_operands(call, 2, &q));
  stowi_kernel_quantized_run(&q, call->scratch);
  return STOW_OK;
}

STOWI_KERNEL(MATMUL_INTEGER, stowi_kernel_quantized_operands_scratch, run_matmul_integer,
             .variant_count = STOWI_KERNEL_QUANTIZED_VARIANTS, .pack_size = pack_size,
             .pack = pack);

// ---------------------------------------------------------------------------------------------
// matmul_integer_to_float: sums scaled to floats, plus a bias.

static stow_status scales_of(const stow_kernel_call* call, const stowi_kernel_product* p,
                             stowi_kernel_scaled* s) {
  const stow_tensor* a = stow_kernel_operand(call, 0);
  STOWI_KERNEL_TRY(stowi_kernel_lane_of_rows(call, p, a, stow_kernel_operand(call, 2), "scale of a",
                                             &s->a_scale));
  STOWI_KERNEL_TRY(stowi_kernel_lane_of_columns(call, p, stow_kernel_operand(call, 3), "scale of b",
                                                &s->b_scale));
  return stowi_kernel_lane_of_columns(call, p, stow_kernel_operand(call, 6), "bias", &s->bias);
}

static stow_status run_to_float(stow_kernel_call* call) {
  stowi_kernel_quantized q;
  stow_status status = stowi_kernel_quantized_operands(call, 4, &q);
  stowi_kernel_scaled s = {.a_factor = 1, .result = stow_kernel_result(call, 0)};
  status = status == STOW_OK ? scales_of(call, &q.product, &s) : status;
  if (status != STOW_OK) {
    return status;
  }
  q.finish = stowi_kernel_finish_scaled;
  q.user = &s;
  stowi_kernel_quantized_run(&q, call->scratch);
  return STOW_OK;
}

STOWI_KERNEL(MATMUL_INTEGER_TO_FLOAT, stowi_kernel_quantized_operands_scratch, run_to_float,
             .variant_count = STOWI_KERNEL_QUANTIZED_VARIANTS, .pack_size = pack_size,
             .pack = pack);

// ---------------------------------------------------------------------------------------------
// dynamic_quantize_matmul: a is quantised to u8 by its own range, as dynamic_quantize_linear does,
// in two passes before the product; its bytes are in scratch.

typedef struct quantization {
  stowi_kernel_scaled scaled;  // first: finishers take it for the whole
  const stow_tensor* a;
  uint8_t* bytes;
  float scale;
  float zero;
} quantization;

static uint64_t bytes_of_a(const stow_tensor* a) {
  return ((uint64_t)stow_tensor_elements(a) + 63) / 64 * 64;
}

static stowi_kernel_product product_of(const stow_kernel_call* call) {
  return stowi_kernel_product_of(stow_kernel_operand(call, 0), (stowi_kernel_turn){0},
                                 stow_kernel_operand(call, 1), (stowi_kernel_turn){0});
}

// All but the last variant keep a's bytes, and that one too where they are few.
static bool keeps_bytes(const stow_kernel_call* call, const stowi_kernel_product* p) {
  uint64_t made = stowi_kernel_quantized_made_size(call, p, stow_kernel_operand(call, 1));
  return stowi_kernel_variant(call) + 1 < STOWI_KERNEL_QUANTIZED_VARIANTS ||
         bytes_of_a(stow_kernel_operand(call, 0)) <= made;
}

static stow_status scratch_dynamic(const stow_kernel_call* call, uint64_t* out_bytes) {
  stowi_kernel_product p = product_of(call);
  bool keeps = keeps_bytes(call, &p);
  *out_bytes = (keeps ? bytes_of_a(stow_kernel_operand(call, 0)) : 0) +
               stowi_kernel_quantized_scratch(call, &p, stow_kernel_operand(call, 1), !keeps);
  return STOW_OK;
}

// To nearest, ties to even, for what lies between 0 and 255; a NaN becomes 0.
static float round_byte(float x) {
  float clamped = x > 0 ? x : 0;
  clamped = clamped < 255 ? clamped : 255;
  return (clamped + 0x1.8p23F) - 0x1.8p23F;
}

// The range holds 0, so that 0 is exact.
static void find_range(quantization* q) {
  float low = 0;
  float high = 0;
  size_t count = stow_tensor_elements(q->a);
  for (size_t first = 0; first < count; first += STOWI_KERNEL_BLOCK) {
    float block[STOWI_KERNEL_BLOCK];
    size_t size = count - first < STOWI_KERNEL_BLOCK ? count - first : STOWI_KERNEL_BLOCK;
    stowi_kernel_load_f32(q->a->dtype, q->a->data, first, size, block);
    for (size_t i = 0; i < size; ++i) {
      low = block[i] < low ? block[i] : low;
      high = block[i] > high ? block[i] : high;
    }
  }
  q->scale = high == low ? 1 : (high - low) / 255;
  q->zero = round_byte(-low / q->scale);
}

static void quantize_block(const quantization* q, size_t first, size_t count, uint8_t* out) {
  float block[STOWI_KERNEL_FINISH_COLUMNS];
  for (size_t done = 0; done < count; done += STOWI_KERNEL_FINISH_COLUMNS) {
    size_t size = stowi_kernel_smaller(count - done, STOWI_KERNEL_FINISH_COLUMNS);
    stowi_kernel_load_f32(q->a->dtype, q->a->data, first + done, size, block);
    for (size_t i = 0; i < size; ++i) {
      float x = block[i] / q->scale;
      x = x > -256 ? x : -256;
      x = x < 256 ? x : 256;
      out[done + i] = (uint8_t)round_byte(((x + 0x1.8p23F) - 0x1.8p23F) + q->zero);
    }
  }
}

static void quantize(void* user, size_t begin, size_t end, uint32_t worker) {
  (void)worker;
  const quantization* q = user;
  quantize_block(q, begin, end - begin, q->bytes + begin);
}

static void make_bytes(const stowi_kernel_quantized* q, size_t first, size_t count, uint8_t* out) {
  quantize_block((const quantization*)q->user, first, count, out);
}

static stow_status run_dynamic(stow_kernel_call* call) {
  const stow_tensor* a = stow_kernel_operand(call, 0);
  if (stowi_kernel_kind(a->dtype) != STOW_KIND_FLOAT) {
    return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED, "operand 0 must have floats");
  }
  stowi_kernel_quantized q;
  stow_status status =
      stowi_kernel_quantized_of(call, a, (stowi_kernel_turn){0}, stow_kernel_operand(call, 1),
                                (stowi_kernel_turn){0}, NULL, stow_kernel_operand(call, 3), &q);
  quantization z = {.a = a, .bytes = call->scratch};
  z.scaled = (stowi_kernel_scaled){.a_scale = {NULL, 1}, .result = stow_kernel_result(call, 0)};
  if (status == STOW_OK) {
    status = stowi_kernel_lane_of_columns(call, &q.product, stow_kernel_operand(call, 2),
                                          "scale of b", &z.scaled.b_scale);
  }
  if (status == STOW_OK) {
    status = stowi_kernel_lane_of_columns(call, &q.product, stow_kernel_operand(call, 4), "bias",
                                          &z.scaled.bias);
  }
  if (status != STOW_OK) {
    return status;
  }
  find_range(&z);
  stowi_kernel_product p = product_of(call);
  bool keeps = keeps_bytes(call, &p);
  if (keeps) {
    stow_kernel_split(call, stow_tensor_elements(a), 1 << 14, quantize, &z);
  } else {
    q.make_a = make_bytes;
  }
  int32_t zero = (int32_t)z.zero;
  stow_tensor zero_point = {.data = &zero, .dtype = STOW_I32};
  q.a = z.bytes;
  q.a_is_signed = false;
  q.a_zero.tensor = &zero_point;
  z.scaled.a_factor = z.scale;
  q.finish = stowi_kernel_finish_scaled;
  q.user = &z;
  stowi_kernel_quantized_run(&q, z.bytes + (keeps ? bytes_of_a(a) : 0));
  return STOW_OK;
}

STOWI_KERNEL(DYNAMIC_QUANTIZE_MATMUL, scratch_dynamic, run_dynamic,
             .variant_count = STOWI_KERNEL_QUANTIZED_VARIANTS, .pack_size = pack_size,
             .pack = pack);

// ---------------------------------------------------------------------------------------------
// qlinear_matmul: sums scaled and rounded to bytes.

typedef struct requantization {
  stowi_kernel_scaled scaled;
  stowi_kernel_lane scale;  // of the result's rows
  stowi_kernel_lane zero;
} requantization;

static stow_status scratch_qlinear(const stow_kernel_call* call, uint64_t* out_bytes) {
  stowi_kernel_product p =
      stowi_kernel_product_of(stow_kernel_operand(call, 0), (stowi_kernel_turn){0},
                              stow_kernel_operand(call, 3), (stowi_kernel_turn){0});
  *out_bytes = stowi_kernel_quantized_scratch(call, &p, stow_kernel_operand(call, 3), false);
  return STOW_OK;
}

static void finish_qlinear(const stowi_kernel_quantized* q, const stowi_kernel_part* part,
                           int32_t* sums, size_t sums_row) {
  const requantization* r = q->user;
  const stowi_kernel_product* p = &q->product;
  stow_tensor* result = r->scaled.result;
  float b_scales[STOWI_KERNEL_FINISH_COLUMNS];
  float scales[STOWI_KERNEL_FINISH_COLUMNS];
  stowi_kernel_lane_floats(&r->scaled.b_scale, part->batch * p->n + part->column, part->columns,
                           b_scales);
  bool is_single = r->scaled.a_scale.count == 1 && r->scale.count == 1 && r->zero.count == 1;
  int32_t zero = 0;
  for (size_t i = 0; i < part->rows; ++i) {
    size_t row = part->batch * p->m + part->row + i;
    if (i == 0 || !is_single) {
      float divisor;
      stowi_kernel_lane_floats(&r->scale, row, 1, &divisor);
      stowi_kernel_lane_ints(&r->zero, row, 1, &zero);
      stowi_kernel_scales_of(&r->scaled, row, b_scales, part->columns, scales);
      for (size_t j = 0; j < part->columns; ++j) {
        scales[j] /= divisor;
      }
    }
    size_t at = stowi_kernel_product_element(p, part->batch, part->row + i, part->column);
    stowi_kernel_requantize_row(sums + i * sums_row, scales, zero, result->dtype == STOW_I8,
                                part->columns, (uint8_t*)result->data + at);
  }
}

static stow_status qlinear_lanes_of(const stow_kernel_call* call, const stowi_kernel_product* p,
                                    requantization* r) {
  const stow_tensor* a = stow_kernel_operand(call, 0);
  STOWI_KERNEL_TRY(stowi_kernel_lane_of_rows(call, p, a, stow_kernel_operand(call, 1), "scale of a",
                                             &r->scaled.a_scale));
  STOWI_KERNEL_TRY(stowi_kernel_lane_of_columns(call, p, stow_kernel_operand(call, 4), "scale of b",
                                                &r->scaled.b_scale));
  STOWI_KERNEL_TRY(stowi_kernel_lane_of_rows(call, p, a, stow_kernel_operand(call, 6),
                                             "result's scale", &r->scale));
  return stowi_kernel_lane_of_rows(call, p, a, stow_kernel_operand(call, 7), "result's zero point",
                                   &r->zero);
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
  stowi_kernel_quantized q;
  stow_status status = stowi_kernel_quantized_of(
      call, a, (stowi_kernel_turn){0}, stow_kernel_operand(call, 3), (stowi_kernel_turn){0},
      stow_kernel_operand(call, 2), stow_kernel_operand(call, 5), &q);
  status = status == STOW_OK ? qlinear_lanes_of(call, &q.product, &r) : status;
  if (status != STOW_OK) {
    return status;
  }
  q.finish = finish_qlinear;
  q.user = &r;
  stowi_kernel_quantized_run(&q, call->scratch);
  return STOW_OK;
}

// Of the second factor, operand 3; qgemm's may be turned.
static uint64_t pack_size_third(const stow_kernel_call* call, size_t k) {
  stowi_kernel_turn turn = {stowi_kernel_bool(call, STOWI_KERNEL_ATTR_TRANS_B, false), false};
  return k == 3 ? stowi_kernel_quantized_pack_size(stow_kernel_operand(call, k), turn) : 0;
}

static void pack_third(const stow_kernel_call* call, size_t k, void* out) {
  stowi_kernel_turn turn = {stowi_kernel_bool(call, STOWI_KERNEL_ATTR_TRANS_B, false), false};
  stowi_kernel_quantized_pack(stow_kernel_operand(call, k), turn, out);
}

STOWI_KERNEL(QLINEAR_MATMUL, scratch_qlinear, run_qlinear,
             .variant_count = STOWI_KERNEL_QUANTIZED_VARIANTS, .pack_size = pack_size_third,
             .pack = pack_third);

// ---------------------------------------------------------------------------------------------
// qgemm: a product of byte matrices plus an i32 addend, as floats or as bytes. A float result may
// be in place of the addend, which is read part by part just before the part is written.

typedef struct qgemm {
  stowi_kernel_scaled scaled;
  stowi_kernel_spread addend;
  const stow_tensor* scale;  // of the result; NULL: it is of floats
  const stow_tensor* zero;
} qgemm;

static stowi_kernel_turn turn_of(const stow_kernel_call* call, stowi_kernel_attr_id name) {
  return (stowi_kernel_turn){stowi_kernel_bool(call, name, false), false};
}

static stow_status scratch_qgemm(const stow_kernel_call* call, uint64_t* out_bytes) {
  stowi_kernel_product p = stowi_kernel_product_of(
      stow_kernel_operand(call, 0), turn_of(call, STOWI_KERNEL_ATTR_TRANS_A),
      stow_kernel_operand(call, 3), turn_of(call, STOWI_KERNEL_ATTR_TRANS_B));
  *out_bytes = stowi_kernel_quantized_scratch(call, &p, stow_kernel_operand(call, 3), false);
  return STOW_OK;
}

static void add_addend(const stowi_kernel_spread* addend, const stowi_kernel_part* part,
                       int32_t* sums, size_t sums_row) {
  const int32_t* from = addend->tensor->data;
  for (size_t i = 0; i < part->rows; ++i) {
    const int32_t* row = from + (part->row + i) * addend->row + part->column * addend->column;
    int32_t* to = sums + i * sums_row;
    for (size_t j = 0; j < part->columns; ++j) {
      to[j] = (int32_t)((uint32_t)to[j] + (uint32_t)row[j * addend->column]);
    }
  }
}

static void requantize(const stowi_kernel_quantized* q, const stowi_kernel_part* part,
                       const int32_t* sums, size_t sums_row) {
  const qgemm* g = q->user;
  stow_tensor* result = g->scaled.result;
  float scales[STOWI_KERNEL_FINISH_COLUMNS];
  float divisor = (float)stowi_kernel_float_at(g->scale, 0);
  int32_t zero = g->zero != NULL ? (int32_t)stowi_kernel_int_at(g->zero, 0) : 0;
  stowi_kernel_lane_floats(&g->scaled.b_scale, part->column, part->columns, scales);
  stowi_kernel_scales_of(&g->scaled, 0, scales, part->columns, scales);
  for (size_t j = 0; j < part->columns; ++j) {
    scales[j] /= divisor;
  }
  for (size_t i = 0; i < part->rows; ++i) {
    size_t at = stowi_kernel_product_element(&q->product, 0, part->row + i, part->column);
    stowi_kernel_requantize_row(sums + i * sums_row, scales, zero, result->dtype == STOW_I8,
                                part->columns, (uint8_t*)result->data + at);
  }
}

static void finish_qgemm(const stowi_kernel_quantized* q, const stowi_kernel_part* part,
                         int32_t* sums, size_t sums_row) {
  const qgemm* g = q->user;
  if (g->addend.tensor != NULL) {
    add_addend(&g->addend, part, sums, sums_row);
  }
  if (g->scale != NULL) {
    requantize(q, part, sums, sums_row);
  } else {
    stowi_kernel_finish_scaled(q, part, sums, sums_row);
  }
}

static stow_status qgemm_lanes_of(const stow_kernel_call* call, const stowi_kernel_product* p,
                                  qgemm* g) {
  const stow_tensor* addend = stow_kernel_operand(call, 6);
  if (addend != NULL && addend->dtype != STOW_I32) {
    return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED, "the addend must be i32");
  }
  if (!stowi_kernel_spread_of(p, addend, &g->addend)) {
    return stow_kernel_fail(call, STOW_ERR_TYPE, "the addend does not broadcast to the product");
  }
  const stow_tensor* a_scale = stow_kernel_operand(call, 1);
  if (stow_tensor_elements(a_scale) != 1) {
    return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED, "the scale of a must have one element");
  }
  g->scaled.a_scale = (stowi_kernel_lane){a_scale, 1};
  return stowi_kernel_lane_of_columns(call, p, stow_kernel_operand(call, 4), "scale of b",
                                      &g->scaled.b_scale);
}

static stow_status run_qgemm(stow_kernel_call* call) {
  const stow_tensor* a = stow_kernel_operand(call, 0);
  qgemm g = {.scale = stow_kernel_operand(call, 7), .zero = stow_kernel_operand(call, 8)};
  g.scaled.a_factor = (float)stowi_kernel_float(call, STOWI_KERNEL_ATTR_ALPHA, 1);
  g.scaled.bias.count = 1;
  g.scaled.result = stow_kernel_result(call, 0);
  if (!is_byte(a) || (g.scale != NULL && !is_byte(g.scaled.result))) {
    return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED,
                            "factors must be i8 or u8, and so must a result with a scale");
  }
  if (g.scale == NULL && stowi_kernel_kind(g.scaled.result->dtype) != STOW_KIND_FLOAT) {
    return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED, "a result of bytes needs a scale");
  }
  stowi_kernel_quantized q;
  stow_status status = stowi_kernel_quantized_of(
      call, a, turn_of(call, STOWI_KERNEL_ATTR_TRANS_A), stow_kernel_operand(call, 3),
      turn_of(call, STOWI_KERNEL_ATTR_TRANS_B), stow_kernel_operand(call, 2),
      stow_kernel_operand(call, 5), &q);
  status = status == STOW_OK ? qgemm_lanes_of(call, &q.product, &g) : status;
  if (status != STOW_OK) {
    return status;
  }
  q.finish = finish_qgemm;
  q.user = &g;
  stowi_kernel_quantized_run(&q, call->scratch);
  return STOW_OK;
}

STOWI_KERNEL(QGEMM, scratch_qgemm, run_qgemm, .variant_count = STOWI_KERNEL_QUANTIZED_VARIANTS,
             .pack_size = pack_size_third, .pack = pack_third);
