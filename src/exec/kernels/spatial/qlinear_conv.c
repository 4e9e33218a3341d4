// qlinear_conv: sums of integers, scaled once in f32 by x's scale × the weights' / the result's,
// rounded half to even, moved by the zero point and cut to the range of the dtype.
#include "exec/kernels/spatial/conv_int.h"
#include "exec/kernels/support/convert.h"
#include "exec/kernels/support/kernel.h"

typedef struct job {
  stow_tensor* y;
  const stow_tensor* w_scale;
  const stow_tensor* bias;  // NULL: none
  float x_scale, y_scale;
  int32_t y_zero;
  size_t channels, positions;
  bool channels_last;
} job;

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

static void finish(void* user, size_t image, size_t channel, size_t first, size_t count,
                   const int32_t* sums, size_t step) {
  const job* j = user;
  bool single = stow_tensor_elements(j->w_scale) == 1;
  float w_scale = (float)stowi_float_at(j->w_scale, single ? 0 : channel);
  float scale = j->x_scale * w_scale / j->y_scale;
  int32_t bias = j->bias == NULL ? 0 : (int32_t)stowi_int_at(j->bias, channel);
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

static stow_status read_call(const stow_kernel_call* call, stowi_conv_int* out) {
  stow_status status =
      stowi_conv_int_read(call, stow_kernel_operand(call, 0), stow_kernel_operand(call, 3),
                          stow_kernel_result(call, 0), out);
  out->x_zero = stow_kernel_operand(call, 2);
  out->w_zero = stow_kernel_operand(call, 5);
  out->finish = finish;
  return status;
}

static stow_status scratch_qlinear_conv(const stow_kernel_call* call, uint64_t* out_bytes) {
  stowi_conv_int c;
  stow_status status = read_call(call, &c);
  *out_bytes = status == STOW_OK ? stowi_conv_int_scratch(&c) : 0;
  return status;
}

static stow_status run_qlinear_conv(stow_kernel_call* call) {
  stowi_conv_int c;
  stow_status status = read_call(call, &c);
  if (status != STOW_OK) {
    return status;
  }
  const stow_tensor* y_zero = stow_kernel_operand(call, 7);
  job j = {.y = stow_kernel_result(call, 0),
           .w_scale = stow_kernel_operand(call, 4),
           .bias = stow_kernel_operand(call, 8),
           .x_scale = (float)stowi_float_at(stow_kernel_operand(call, 1), 0),
           .y_scale = (float)stowi_float_at(stow_kernel_operand(call, 6), 0),
           .y_zero = (int32_t)stowi_int_at(y_zero, 0),
           .channels = c.group * c.out_channels,
           .positions = c.slide.out_count,
           .channels_last = c.slide.channels_last};
  if (j.y->dtype != STOW_U8 && j.y->dtype != STOW_I8) {
    return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED, "the result must be of u8 or i8");
  }
  c.user = &j;
  return stowi_conv_int_run(&c);
}

STOWI_KERNEL(QLINEAR_CONV, scratch_qlinear_conv, run_qlinear_conv);
