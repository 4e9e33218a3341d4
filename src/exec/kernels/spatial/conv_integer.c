// Convolution of bytes: conv_integer, whose result is the sums of conv_int.h, and qlinear_conv,
// which scales them.
#include <stdint.h>
#include <string.h>

#include "exec/kernels/spatial/conv_int.h"
#include "exec/kernels/support/kernel.h"
#include "exec/kernels/support/size.h"
#include "exec/kernels/support/vector.h"

enum { AT_ONCE = 64 };  // bytes of a channel that are made before they are spread

// ---------------------------------------------------------------------------------------------
// conv_integer

// The result's own sums are there already.
static void finish_sums(void* user, size_t image, size_t channel, size_t first, size_t count,
                        const int32_t* sums) {
  const stowi_kernel_conv_int* c = user;
  size_t at = (image * c->group * c->out_channels + channel) * c->slide.out_count + first;
  if (sums != c->result + at) {
    memcpy(c->result + at, sums, count * sizeof(int32_t));
  }
}

static stow_status read_conv_integer(const stow_kernel_call* call, stowi_kernel_conv_int* out) {
  stow_tensor* y = stow_kernel_result(call, 0);
  stow_status status = stowi_kernel_conv_int_read(call, stow_kernel_operand(call, 0),
                                                  stow_kernel_operand(call, 1), y, out);
  out->x_zero = stow_kernel_operand(call, 2);
  out->w_zero = stow_kernel_operand(call, 3);
  out->finish = finish_sums;
  out->result = y->data;
  return status;
}

static stow_status scratch_conv_integer(const stow_kernel_call* call, uint64_t* out_bytes) {
  stowi_kernel_conv_int c;
  stow_status status = read_conv_integer(call, &c);
  *out_bytes = status == STOW_OK ? stowi_kernel_conv_int_scratch(&c) : 0;
  return status;
}

static stow_status run_conv_integer(stow_kernel_call* call) {
  stowi_kernel_conv_int c;
  STOWI_KERNEL_TRY(read_conv_integer(call, &c));
  c.user = &c;
  return stowi_kernel_conv_int_run(&c);
}

STOWI_KERNEL(CONV_INTEGER, scratch_conv_integer, run_conv_integer,
             .variant_count = STOWI_KERNEL_CONV_INT_VARIANTS);

// ---------------------------------------------------------------------------------------------
// qlinear_conv: sums scaled once in f32 by x's scale × the weights' / the result's, rounded half to
// even, plus the zero point, clamped to the dtype's range.

typedef struct requantization {
  stow_tensor* y;
  const stow_tensor* w_scale;
  const stow_tensor* bias;  // NULL: none
  float x_scale, y_scale;
  int32_t y_zero;
  size_t channels, positions;
  bool channels_last;
} requantization;

// |v| is within [-512, 512], where adding 1.5 × 2^23 leaves no room for a fraction.
STOWI_KERNEL_INLINE float round_even(float v) { return (v + 12582912.0F) - 12582912.0F; }

typedef struct rounding {
  uint32_t bias;
  float scale, low, high;
  int32_t zero;
} rounding;

STOWI_KERNEL_LOOP(requantize,
                  (const rounding* r, const int32_t* restrict sums, size_t count,
                   uint8_t* restrict to),
                  (r, sums, count, to)) {
  rounding k = *r;
  for (size_t i = 0; i < count; ++i) {
    float v = (float)(int32_t)((uint32_t)sums[i] + k.bias) * k.scale;
    v = v > k.low ? v : k.low;
    v = v < k.high ? v : k.high;
    to[i] = (uint8_t)((int32_t)round_even(v) + k.zero);
  }
}

static void finish_qlinear(void* user, size_t image, size_t channel, size_t first, size_t count,
                           const int32_t* sums) {
  const requantization* j = user;
  bool single = stow_tensor_elements(j->w_scale) == 1;
  float w_scale;
  stowi_kernel_load_f32(j->w_scale->dtype, j->w_scale->data, single ? 0 : channel, 1, &w_scale);
  bool is_signed = j->y->dtype == STOW_I8;
  rounding r = {.scale = j->x_scale * w_scale / j->y_scale,
                .low = (float)((is_signed ? INT8_MIN : 0) - j->y_zero),
                .high = (float)((is_signed ? INT8_MAX : UINT8_MAX) - j->y_zero),
                .zero = j->y_zero};
  if (j->bias != NULL) {
    r.bias = j->bias->dtype == STOW_I32 ? ((const uint32_t*)j->bias->data)[channel]
                                        : (uint32_t)stowi_kernel_int_at(j->bias, channel);
  }
  uint8_t* y = j->y->data;
  if (!j->channels_last) {
    requantize(&r, sums, count, y + (image * j->channels + channel) * j->positions + first);
    return;
  }
  y += (image * j->positions + first) * j->channels + channel;
  for (size_t done = 0; done < count; done += AT_ONCE) {
    uint8_t some[AT_ONCE];
    size_t left = stowi_kernel_smaller(count - done, AT_ONCE);
    requantize(&r, sums + done, left, some);
    for (size_t i = 0; i < left; ++i) {
      y[(done + i) * j->channels] = some[i];
    }
  }
}

static stow_status read_qlinear_conv(const stow_kernel_call* call, stowi_kernel_conv_int* out) {
  stow_status status =
      stowi_kernel_conv_int_read(call, stow_kernel_operand(call, 0), stow_kernel_operand(call, 3),
                                 stow_kernel_result(call, 0), out);
  out->x_zero = stow_kernel_operand(call, 2);
  out->w_zero = stow_kernel_operand(call, 5);
  out->finish = finish_qlinear;
  return status;
}

static stow_status scratch_qlinear_conv(const stow_kernel_call* call, uint64_t* out_bytes) {
  stowi_kernel_conv_int c;
  stow_status status = read_qlinear_conv(call, &c);
  *out_bytes = status == STOW_OK ? stowi_kernel_conv_int_scratch(&c) : 0;
  return status;
}

static stow_status run_qlinear_conv(stow_kernel_call* call) {
  stowi_kernel_conv_int c;
  STOWI_KERNEL_TRY(read_qlinear_conv(call, &c));
  const stow_tensor* y_zero = stow_kernel_operand(call, 7);
  requantization j = {.y = stow_kernel_result(call, 0),
                      .w_scale = stow_kernel_operand(call, 4),
                      .bias = stow_kernel_operand(call, 8),
                      .x_scale = (float)stowi_kernel_float_at(stow_kernel_operand(call, 1), 0),
                      .y_scale = (float)stowi_kernel_float_at(stow_kernel_operand(call, 6), 0),
                      .y_zero = (int32_t)stowi_kernel_int_at(y_zero, 0),
                      .channels = c.group * c.out_channels,
                      .positions = c.slide.out_count,
                      .channels_last = c.slide.channels_last};
  if (j.y->dtype != STOW_U8 && j.y->dtype != STOW_I8) {
    return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED, "the result must be u8 or i8");
  }
  c.user = &j;
  return stowi_kernel_conv_int_run(&c);
}

STOWI_KERNEL(QLINEAR_CONV, scratch_qlinear_conv, run_qlinear_conv,
             .variant_count = STOWI_KERNEL_CONV_INT_VARIANTS);
