// window: weights of the samples of a frame, as sums of cosines. In f64, rounded once.
#include <math.h>

#include "exec/kernels/support/convert.h"
#include "exec/kernels/support/kernel.h"

// a - b cos(2πn / N) + c cos(4πn / N)
typedef struct weights {
  double a, b, c;
} weights;

static weights weights_of(const stow_kernel_call* call) {
  if (stow_kernel_is(call, "kind", "hann")) {
    return (weights){0.5, 0.5, 0};
  }
  if (stow_kernel_is(call, "kind", "hamming")) {
    return (weights){25.0 / 46.0, 21.0 / 46.0, 0};
  }
  return (weights){0.42, 0.5, 0.08};
}

static stow_status run_window(stow_kernel_call* call) {
  const double turn = 2 * 3.14159265358979323846;
  stow_tensor* out = stow_kernel_result(call, 0);
  int64_t size = stowi_int_at(stow_kernel_operand(call, 0), 0);
  if (size < 0 || size > out->dims[0]) {
    return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT, "a window of %lld samples",
                            (long long)size);
  }
  out->dims[0] = size;
  weights w = weights_of(call);
  double period = (double)(stow_kernel_bool(call, "periodic", true) ? size : size - 1);
  for (int64_t n = 0; n < size; ++n) {
    double share = (double)n / period;
    double value = w.a - w.b * cos(turn * share) + w.c * cos(2 * turn * share);
    value = period == 0 ? 1 : value;  // one sample, which is its window's middle
    stowi_store_f64(out->dtype, out->data, (size_t)n, 1, &value);
  }
  return STOW_OK;
}

STOWI_KERNEL(WINDOW, NULL, run_window);
