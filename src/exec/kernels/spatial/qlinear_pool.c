// qlinear_pool: averages of windows of a quantised tensor. Sums are exact integers; the average is
// scaled once, in f32, and rounded half to even.
#include <math.h>

#include "exec/kernels/spatial/window.h"
#include "exec/kernels/support/convert.h"
#include "exec/kernels/support/kernel.h"

typedef struct job {
  const stow_tensor* x;
  stow_tensor* y;
  stowi_kernel_slide slide;
  bool count_include_pad;
  int64_t x_zero;
  float y_zero;
  float ratio;  // x's scale / y's
  float low, high;
} job;

static float limit(float v, float low, float high) { return v < low ? low : v > high ? high : v; }

static void pool_window(const job* j, size_t image, size_t channel, size_t at, size_t to) {
  const stowi_kernel_slide* s = &j->slide;
  size_t channels = (size_t)s->channels;
  size_t first = s->channels_last ? image * s->in_count * channels + channel
                                  : (image * channels + channel) * s->in_count;
  size_t step = s->channels_last ? channels : 1;
  stowi_kernel_visit visit;
  stowi_kernel_slide_visit(s, at, &visit);
  int64_t sum = 0;
  for (int64_t i; (i = stowi_kernel_slide_next(s, &visit)) >= 0;) {
    sum += stowi_kernel_int_at(j->x, first + (size_t)i * step) - j->x_zero;
  }
  size_t count = j->count_include_pad ? visit.padded : visit.count;
  float average = count == 0 ? 0 : (float)sum / (float)count;
  float number =
      limit(nearbyintf(limit(average * j->ratio, -65536, 65536)) + j->y_zero, j->low, j->high);
  stowi_kernel_store_f32(j->y->dtype, j->y->data, to, 1, &number);
}

static void pool_task(void* user, size_t begin, size_t end, uint32_t worker) {
  (void)worker;
  const job* j = user;
  size_t channels = (size_t)j->slide.channels;
  size_t count = j->slide.out_count;
  for (size_t i = begin; i < end; ++i) {
    if (j->slide.channels_last) {
      size_t pixel = i / channels;
      pool_window(j, pixel / count, i % channels, pixel % count, i);
    } else {
      pool_window(j, i / count / channels, i / count % channels, i % count, i);
    }
  }
}

static stow_status run_qlinear_pool(stow_kernel_call* call) {
  const stow_tensor* scale = stow_kernel_operand(call, 1);
  const stow_tensor* zero = stow_kernel_operand(call, 2);
  const stow_tensor* y_scale = stow_kernel_operand(call, 3);
  const stow_tensor* y_zero = stow_kernel_operand(call, 4);
  job j = {
      .x = stow_kernel_operand(call, 0),
      .y = stow_kernel_result(call, 0),
      .count_include_pad = stowi_kernel_bool(call, STOWI_KERNEL_ATTR_COUNT_INCLUDE_PAD, false)};
  if (j.x->dtype != STOW_U8 && j.x->dtype != STOW_I8) {
    return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED, "x must be u8 or i8");
  }
  if (y_scale == NULL) {
    return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED,
                            "operand 3 (the result's scale) is missing");
  }
  STOWI_KERNEL_TRY(stowi_kernel_slide_read(call, j.x, j.y, NULL, &j.slide));
  j.x_zero = zero == NULL ? 0 : stowi_kernel_int_at(zero, 0);
  j.y_zero = y_zero == NULL ? 0 : (float)stowi_kernel_int_at(y_zero, 0);
  j.ratio = (float)stowi_kernel_float_at(scale, 0) / (float)stowi_kernel_float_at(y_scale, 0);
  j.low = j.y->dtype == STOW_U8 ? 0 : INT8_MIN;
  j.high = j.y->dtype == STOW_U8 ? UINT8_MAX : INT8_MAX;
  stow_kernel_split(call, stow_tensor_elements(j.y), 16384 / (j.slide.taps * 8 + 1) + 1, pool_task,
                    &j);
  return STOW_OK;
}

STOWI_KERNEL(QLINEAR_POOL, NULL, run_qlinear_pool);
