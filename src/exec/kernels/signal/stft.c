// stft: transforms of frames that begin |step| samples after each other, each sample times its
// place's weight in the window.
#include "exec/kernels/signal/lines.h"
#include "exec/kernels/support/convert.h"
#include "exec/kernels/support/kernel.h"

enum { X, STEP, WINDOW, LENGTH };

static bool is_known(const stow_tensor* t) { return t != NULL && t->data != NULL; }

// Samples in a frame; at most all that there are while that is not known.
static int64_t frame_length(const stow_kernel_call* call) {
  const stow_tensor* x = stow_kernel_operand(call, X);
  const stow_tensor* window = stow_kernel_operand(call, WINDOW);
  const stow_tensor* length = stow_kernel_operand(call, LENGTH);
  if (is_known(length)) {
    return stowi_int_at(length, 0);
  }
  return window != NULL ? window->dims[0] : x->dims[1];
}

static stow_status scratch_stft(const stow_kernel_call* call, uint64_t* out_bytes) {
  int64_t samples = stow_kernel_operand(call, X)->dims[1];
  int64_t length = frame_length(call);
  stowi_transforms t = {.length = (size_t)(length > samples || length < 0 ? samples : length)};
  stowi_carve carve = {NULL, 0};
  stowi_transforms_carve(&t, call->workers, &carve);
  *out_bytes = carve.used;
  return STOW_OK;
}

static stow_status check(const stow_kernel_call* call, int64_t step, int64_t length) {
  const stow_tensor* x = stow_kernel_operand(call, X);
  const stow_tensor* window = stow_kernel_operand(call, WINDOW);
  if (stowi_kind(x->dtype) != STOW_KIND_FLOAT || (x->rank == 3 && x->dims[2] > 2)) {
    return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED,
                            "x must be floats whose last dim is 1 or 2");
  }
  if (step < 1 || length < 1 || length > x->dims[1]) {
    return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT,
                            "frames of %lld, %lld after each other, of %lld samples",
                            (long long)length, (long long)step, (long long)x->dims[1]);
  }
  if (window != NULL && window->dims[0] != length) {
    return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT, "a window of %lld for frames of %lld",
                            (long long)window->dims[0], (long long)length);
  }
  return STOW_OK;
}

static stow_status run_stft(stow_kernel_call* call) {
  const stow_tensor* x = stow_kernel_operand(call, X);
  stow_tensor* out = stow_kernel_result(call, 0);
  int64_t step = stowi_int_at(stow_kernel_operand(call, STEP), 0);
  int64_t length = frame_length(call);
  stow_status status = check(call, step, length);
  if (status != STOW_OK) {
    return status;
  }
  int64_t frames = (x->dims[1] - length) / step + 1;
  int64_t bins = stow_kernel_bool(call, "onesided", true) ? length / 2 + 1 : length;
  if (frames > out->dims[1] || bins > out->dims[2]) {
    return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT,
                            "%lld frames of %lld bins do not fit the result", (long long)frames,
                            (long long)bins);
  }
  out->dims[1] = frames;
  out->dims[2] = bins;
  size_t parts = x->rank == 3 ? (size_t)x->dims[2] : 1;
  size_t count = (size_t)frames;
  stowi_transforms t = {.lines = (size_t)x->dims[0] * count, .length = (size_t)length, .factor = 1};
  t.window = stow_kernel_operand(call, WINDOW);
  t.in = (stowi_lines){
      x, count, (size_t)x->dims[1] * parts, (size_t)step * parts, parts, parts, (size_t)length};
  t.out = (stowi_lines){out, count, count * (size_t)bins * 2, (size_t)bins * 2, 2, 2, (size_t)bins};
  stowi_carve carve = {call->scratch, 0};
  stowi_transforms_carve(&t, call->workers, &carve);
  stowi_transforms_run(call, &t);
  return STOW_OK;
}

STOWI_KERNEL(STFT, scratch_stft, run_stft);
