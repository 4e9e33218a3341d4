// Quantising blocks of f32, and back. The loops for u8 and i8 become vectors; other dtypes pass
// through the general stores.
#include "exec/kernels/quantized/quantize.h"

#include <string.h>

#include "exec/kernels/support/convert.h"
#include "exec/kernels/support/small.h"
#include "exec/kernels/support/vector.h"

#define FAR 0x1p21F         // beyond all integers of 16 bits; an f32 rounds up to there
#define ROUNDING 0x1.8p23F  // added and taken away again it rounds to an integer, half to even

stow_status stowi_kernel_read_scale(const stow_kernel_call* call, size_t k,
                                    stowi_kernel_scale* out_scale) {
  const stow_tensor* scale = stow_kernel_operand(call, k);
  const stow_tensor* zero = stow_kernel_operand(call, k + 1);
  if (scale == NULL || stow_tensor_elements(scale) == 0) {
    return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT, "operand %zu (a scale) is missing", k);
  }
  if (stowi_kernel_kind(scale->dtype) != STOW_KIND_FLOAT) {
    return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED,
                            "operand %zu (a scale) is %s, expected floats", k,
                            stowi_kernel_dtype_text(scale->dtype));
  }
  bool has_zero = zero != NULL && stow_tensor_elements(zero) != 0;
  out_scale->scale = (float)stowi_kernel_float_at(scale, 0);
  out_scale->zero = has_zero ? (float)stowi_kernel_float_at(zero, 0) : 0;
  return STOW_OK;
}

static bool is_integer(stow_dtype dtype) {
  stow_dtype_kind kind = stowi_kernel_kind(dtype);
  return kind == STOW_KIND_SIGNED || kind == STOW_KIND_UNSIGNED;
}

bool stowi_kernel_is_quantized(stow_dtype dtype) {
  return is_integer(dtype) ? stowi_kernel_bits(dtype) <= 16 : stowi_kernel_is_small(dtype);
}

STOWI_KERNEL_LOOP(round_block,
                  (float* q, const float* zeros, size_t zero_step, size_t count, float low,
                   float high),
                  (q, zeros, zero_step, count, low, high)) {
  if (zero_step == 0) {
    const float zero = zeros[0];
    for (size_t i = 0; i < count; ++i) {
      float x = q[i] > -FAR ? q[i] : -FAR;
      x = x < FAR ? x : FAR;
      x = ((x + ROUNDING) - ROUNDING) + zero;
      x = x > low ? x : low;
      q[i] = x < high ? x : high;
    }
    return;
  }
  STOWI_KERNEL_INDEPENDENT
  for (size_t i = 0; i < count; ++i) {
    float x = q[i] > -FAR ? q[i] : -FAR;
    x = x < FAR ? x : FAR;
    x = ((x + ROUNDING) - ROUNDING) + zeros[i];
    x = x > low ? x : low;
    q[i] = x < high ? x : high;
  }
}

STOWI_KERNEL_LOOP(store_bytes, (const float* q, uint8_t* out, size_t count), (q, out, count)) {
  for (size_t i = 0; i < count; ++i) {
    out[i] = (uint8_t)(int32_t)q[i];
  }
}

static void quantize_small(stow_dtype dtype, void* data, size_t first, size_t count,
                           const float* quotients, const float* zeros, size_t zero_step,
                           bool saturates) {
  for (size_t i = 0; i < count; ++i) {
    double x = (double)(quotients[i] + zeros[i * zero_step]);
    if (dtype == STOW_F4E2M1) {
      stowi_kernel_store_f64(dtype, data, first + i, 1, &x);
    } else {
      ((uint8_t*)data)[first + i] =
          stowi_kernel_small_of_f64(dtype, x, saturates, STOWI_KERNEL_ROUND_UP);
    }
  }
}

void stowi_kernel_quantize(stow_dtype dtype, void* data, size_t first, size_t count,
                           float* quotients, const float* zeros, size_t zero_step, bool saturates) {
  if (!is_integer(dtype)) {
    quantize_small(dtype, data, first, count, quotients, zeros, zero_step, saturates);
    return;
  }
  bool is_signed = stowi_kernel_kind(dtype) == STOW_KIND_SIGNED;
  float range = (float)(1U << stowi_kernel_bits(dtype));
  float low = is_signed ? -range / 2 : 0;
  round_block(quotients, zeros, zero_step, count, low, low + range - 1);
  if (dtype == STOW_U8 || dtype == STOW_I8) {
    store_bytes(quotients, (uint8_t*)data + first, count);
  } else {
    stowi_kernel_store_f32(dtype, data, first, count, quotients);
  }
}

STOWI_KERNEL_LOOP(divide, (float* numbers, float scale, size_t count), (numbers, scale, count)) {
  for (size_t i = 0; i < count; ++i) {
    numbers[i] = numbers[i] / scale;
  }
}

STOWI_KERNEL_LOOP(bytes_of,
                  (const float* restrict x, stowi_kernel_scale scale, size_t count,
                   uint8_t* restrict out),
                  (x, scale, count, out)) {
  for (size_t i = 0; i < count; ++i) {
    float q = x[i] / scale.scale;
    q = q > -FAR ? q : -FAR;
    q = q < FAR ? q : FAR;
    q = ((q + ROUNDING) - ROUNDING) + scale.zero;
    q = q > 0 ? q : 0;
    q = q < 255 ? q : 255;
    out[i] = (uint8_t)(int32_t)q;
  }
}

void stowi_kernel_quantize_bytes(stowi_kernel_scale scale, const float* x, size_t count,
                                 uint8_t* out) {
  bytes_of(x, scale, count, out);
}

void stowi_kernel_quantize_by(stowi_kernel_scale scale, stow_dtype dtype, void* data, size_t first,
                              size_t count, float* numbers) {
  divide(numbers, scale.scale, count);
  stowi_kernel_quantize(dtype, data, first, count, numbers, &scale.zero, 0, true);
}

void stowi_kernel_quantize_table(stowi_kernel_scale in, stow_dtype from, stowi_kernel_scale out,
                                 stow_dtype to, float (*function)(float x, float p), float p,
                                 uint8_t table[256]) {
  bool is_same = function == NULL && in.scale == out.scale && in.zero == out.zero && from == to;
  uint8_t codes[256];
  float numbers[256];
  for (size_t i = 0; i < 256; ++i) {
    codes[i] = (uint8_t)i;
  }
  if (is_same) {
    memcpy(table, codes, sizeof(codes));
    return;
  }
  stowi_kernel_load_f32(from, codes, 0, 256, numbers);
  for (size_t i = 0; i < 256; ++i) {
    float number = (numbers[i] - in.zero) * in.scale;
    numbers[i] = function == NULL ? number : function(number, p);
  }
  stowi_kernel_quantize_by(out, to, table, 0, 256, numbers);
}

stow_status stowi_kernel_need_bytes(const stow_kernel_call* call, const stow_tensor* tensor,
                                    const char* what) {
  if (tensor->dtype == STOW_U8 || tensor->dtype == STOW_I8) {
    return STOW_OK;
  }
  return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED, "%s is %s, expected u8 or i8", what,
                          stowi_kernel_dtype_text(tensor->dtype));
}
