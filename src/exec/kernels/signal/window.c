// Weights of samples and of spectra: window and mel_weights.
#include <math.h>

#include "exec/kernels/support/convert.h"
#include "exec/kernels/support/kernel.h"

// ---------------------------------------------------------------------------------------------
// window: weights of the samples of a frame, as sums of cosines. In f64, rounded once.

// a - b cos(2πn / N) + c cos(4πn / N)
typedef struct weights {
  double a, b, c;
} weights;

static weights weights_of(const stow_kernel_call* call) {
  if (stowi_kernel_is(call, STOWI_KERNEL_ATTR_KIND, "hann")) {
    return (weights){0.5, 0.5, 0};
  }
  if (stowi_kernel_is(call, STOWI_KERNEL_ATTR_KIND, "hamming")) {
    return (weights){25.0 / 46.0, 21.0 / 46.0, 0};
  }
  return (weights){0.42, 0.5, 0.08};
}

static stow_status run_window(stow_kernel_call* call) {
  const double turn = 2 * 3.14159265358979323846;
  stow_tensor* out = stow_kernel_result(call, 0);
  int64_t size = stowi_kernel_int_at(stow_kernel_operand(call, 0), 0);
  if (size < 0 || size > out->dims[0]) {
    return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT,
                            "a window of %lld samples is out of range", (long long)size);
  }
  out->dims[0] = size;
  weights w = weights_of(call);
  double period =
      (double)(stowi_kernel_bool(call, STOWI_KERNEL_ATTR_PERIODIC, true) ? size : size - 1);
  for (int64_t n = 0; n < size; ++n) {
    double share = (double)n / period;
    double value = w.a - w.b * cos(turn * share) + w.c * cos(2 * turn * share);
    value = period == 0 ? 1 : value;  // one sample, which is its window's middle
    stowi_kernel_store_f64(out->dtype, out->data, (size_t)n, 1, &value);
  }
  return STOW_OK;
}

STOWI_KERNEL(WINDOW, NULL, run_window);

// ---------------------------------------------------------------------------------------------
// mel_weights: the weight of each spectrum bin in each band. Bands are triangles whose corners are
// evenly spaced in mels, 2595 log10(1 + hertz / 700).

enum { BANDS, LENGTH, RATE, LOW, HIGH };

typedef struct bands {
  int64_t count;
  int64_t bins;
  int64_t length;
  double rate;
  double low, step;  // mels
} bands;

static double mel_of(double hertz) { return 2595 * log10(1 + hertz / 700); }

// Bin at which corner |i| lies; the first where that is not a number.
static int64_t corner(const bands* b, int64_t i) {
  double hertz = 700 * (pow(10, (b->low + (double)i * b->step) / 2595) - 1);
  double bin = floor((double)(b->length + 1) * hertz / b->rate);
  return !(bin > 0) ? 0 : bin > (double)b->bins ? b->bins : (int64_t)bin;
}

static double weight_at(int64_t bin, int64_t left, int64_t top, int64_t right) {
  if (bin == top && left == top) {
    return 1;
  }
  if (bin >= left && bin <= top) {
    return (double)(bin - left) / (double)(top - left);
  }
  return bin > top && bin < right ? (double)(right - bin) / (double)(right - top) : 0;
}

static stow_status run_mel_weights(stow_kernel_call* call) {
  stow_tensor* out = stow_kernel_result(call, 0);
  bands b = {.count = stowi_kernel_int_at(stow_kernel_operand(call, BANDS), 0),
             .length = stowi_kernel_int_at(stow_kernel_operand(call, LENGTH), 0),
             .rate = (double)stowi_kernel_int_at(stow_kernel_operand(call, RATE), 0)};
  b.bins = b.length / 2 + 1;
  if (b.count < 0 || b.length < 0 || b.rate < 1 || b.bins > out->dims[0] ||
      b.count > out->dims[1]) {
    return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT,
                            "%lld bands, length %lld or sample rate %lld is out of range",
                            (long long)b.count, (long long)b.length, (long long)b.rate);
  }
  out->dims[0] = b.bins;
  out->dims[1] = b.count;
  b.low = mel_of(stowi_kernel_float_at(stow_kernel_operand(call, LOW), 0));
  double high = mel_of(stowi_kernel_float_at(stow_kernel_operand(call, HIGH), 0));
  b.step = (high - b.low) / (double)(b.count + 2);
  for (int64_t band = 0; band < b.count; ++band) {
    int64_t left = corner(&b, band);
    int64_t top = corner(&b, band + 1);
    int64_t right = corner(&b, band + 2);
    for (int64_t bin = 0; bin < b.bins; ++bin) {
      double value = weight_at(bin, left, top, right);
      stowi_kernel_store_f64(out->dtype, out->data, (size_t)(bin * b.count + band), 1, &value);
    }
  }
  return STOW_OK;
}

STOWI_KERNEL(MEL_WEIGHTS, NULL, run_mel_weights);
