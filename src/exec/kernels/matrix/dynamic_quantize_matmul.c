// dynamic_quantize_matmul: a is quantised to u8 by its own range, as dynamic_quantize_linear does,
// then multiplied with bytes. Two passes over a before the product; its bytes are in scratch.
#include "exec/kernels/matrix/scaled_product.h"
#include "exec/kernels/support/convert.h"
#include "exec/kernels/support/kernel.h"

typedef struct quantization {
  const stow_tensor* a;
  uint8_t* bytes;
  float scale;
  float zero;
} quantization;

static uint64_t bytes_of_a(const stow_tensor* a) {
  return ((uint64_t)stow_tensor_elements(a) + 63) / 64 * 64;
}

static stow_status scratch_dynamic(const stow_kernel_call* call, uint64_t* out_bytes) {
  const stow_tensor* a = stow_kernel_operand(call, 0);
  stowi_product p =
      stowi_product_of(a, (stowi_turn){0}, stow_kernel_operand(call, 1), (stowi_turn){0});
  *out_bytes = bytes_of_a(a) + stowi_quantized_scratch(call, &p);
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
  for (size_t first = 0; first < count; first += STOWI_BLOCK) {
    float block[STOWI_BLOCK];
    size_t size = count - first < STOWI_BLOCK ? count - first : STOWI_BLOCK;
    stowi_load_f32(q->a->dtype, q->a->data, first, size, block);
    for (size_t i = 0; i < size; ++i) {
      low = block[i] < low ? block[i] : low;
      high = block[i] > high ? block[i] : high;
    }
  }
  q->scale = high == low ? 1 : (high - low) / 255;
  q->zero = round_byte(-low / q->scale);
}

static void quantize(void* user, size_t begin, size_t end, uint32_t worker) {
  (void)worker;
  const quantization* q = user;
  for (size_t first = begin; first < end; first += STOWI_BLOCK) {
    float block[STOWI_BLOCK];
    size_t size = end - first < STOWI_BLOCK ? end - first : STOWI_BLOCK;
    stowi_load_f32(q->a->dtype, q->a->data, first, size, block);
    for (size_t i = 0; i < size; ++i) {
      float x = block[i] / q->scale;
      x = x > -256 ? x : -256;
      x = x < 256 ? x : 256;
      q->bytes[first + i] = (uint8_t)round_byte(((x + 0x1.8p23F) - 0x1.8p23F) + q->zero);
    }
  }
}

static stow_status run_dynamic(stow_kernel_call* call) {
  const stow_tensor* a = stow_kernel_operand(call, 0);
  if (stowi_kind(a->dtype) != STOW_KIND_FLOAT) {
    return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED, "what is quantised must be of floats");
  }
  stowi_quantized q;
  stow_status status = stowi_quantized_of(call, a, (stowi_turn){0}, stow_kernel_operand(call, 1),
                                          (stowi_turn){0}, NULL, stow_kernel_operand(call, 3), &q);
  stowi_scaled s = {.a_scale = {NULL, 1}, .result = stow_kernel_result(call, 0)};
  if (status == STOW_OK) {
    status = stowi_lane_of_columns(call, &q.product, stow_kernel_operand(call, 2), "scale of b",
                                   &s.b_scale);
  }
  if (status == STOW_OK) {
    status = stowi_lane_of_columns(call, &q.product, stow_kernel_operand(call, 4), "bias", &s.bias);
  }
  if (status != STOW_OK) {
    return status;
  }
  quantization z = {.a = a, .bytes = call->scratch};
  find_range(&z);
  stow_kernel_split(call, stow_tensor_elements(a), 1 << 14, quantize, &z);
  int32_t zero = (int32_t)z.zero;
  stow_tensor zero_point = {.data = &zero, .dtype = STOW_I32};
  q.a = z.bytes;
  q.a_is_signed = false;
  q.a_zero.tensor = &zero_point;
  s.a_factor = z.scale;
  q.finish = stowi_finish_scaled;
  q.user = &s;
  stowi_quantized_run(&q, z.bytes + bytes_of_a(a));
  return STOW_OK;
}

STOWI_KERNEL(DYNAMIC_QUANTIZE_MATMUL, scratch_dynamic, run_dynamic);
