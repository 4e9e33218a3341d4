// Convolution of bytes: conv_integer, whose result is the sums of conv_int.h, and qlinear_conv,
// which scales them.
#include <stdint.h>

#include "exec/kernels/spatial/conv_int.h"
#include "exec/kernels/support/kernel.h"

// ---------------------------------------------------------------------------------------------
// conv_integer

static void finish_sums(void* user, size_t image, size_t channel, size_t first, size_t count,
                        const int32_t* sums, size_t step) {
  const stow_tensor* y = user;
  size_t positions = 1;
  for (uint32_t i = 2; i < y->rank; ++i) {
    positions *= (size_t)y->dims[i];
  }
  int32_t* to = (int32_t*)y->data + (image * (size_t)y->dims[1] + channel) * positions + first;
  for (size_t i = 0; i < count; ++i) {
    to[i] = sums[i * step];
  }
}

static stow_status read_conv_integer(const stow_kernel_call* call, stowi_kernel_conv_int* out) {
  stow_tensor* y = stow_kernel_result(call, 0);
  stow_status status = stowi_kernel_conv_int_read(call, stow_kernel_operand(call, 0),
                                                  stow_kernel_operand(call, 1), y, out);
  out->x_zero = stow_kernel_operand(call, 2);
  out->w_zero = stow_kernel_operand(call, 3);
  out->finish = finish_sums;
  out->user = y;
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
static inline float round_even(float v) { return (v + 12582912.0F) - 12582912.0F; }

#define REQUANTIZE(type, least, most)                                                \
  do {                                                                               \
    type* to = (type*)j->y->data + at;                                               \
    float low = (float)((least)-zero);                                               \
    float high = (float)((most)-zero);                                               \
    for (size_t i = 0; i < count; ++i) {                                             \
      float v = (float)(int32_t)((uint32_t)sums[i * step] + (uint32_t)bias) * scale; \
      v = v > low ? v : low;                                                         \
      v = v < high ? v : high;                                                       \
      to[i * to_step] = (type)((int32_t)round_even(v) + zero);                       \
    }                                                                                \
  } while (0)

static void finish_qlinear(void* user, size_t image, size_t channel, size_t first, size_t count,
                           const int32_t* sums, size_t step) {
  const requantization* j = user;
  bool single = stow_tensor_elements(j->w_scale) == 1;
  float w_scale = (float)stowi_kernel_float_at(j->w_scale, single ? 0 : channel);
  float scale = j->x_scale * w_scale / j->y_scale;
  int32_t bias = j->bias == NULL ? 0 : (int32_t)stowi_kernel_int_at(j->bias, channel);
  int32_t zero = j->y_zero;
  size_t to_step = j->channels_last ? j->channels : 1;
  size_t at = j->channels_last ? (image * j->positions + first) * j->channels + channel
                               : (image * j->channels + channel) * j->positions + first;
  if (j->y->dtype == STOW_U8) {
    REQUANTIZE(uint8_t, 0, UINT8_MAX);
  } else {
    REQUANTIZE(int8_t, INT8_MIN, INT8_MAX);
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
