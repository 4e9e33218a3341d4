// rfft: real numbers along the last dim to a spectrum, or back.
#include "exec/kernels/signal/lines.h"
#include "exec/kernels/support/convert.h"
#include "exec/kernels/support/kernel.h"

// |count| numbers of |parts| each along the end of |t|.
static stowi_lines rows_of(const stow_tensor* t, size_t parts) {
  stowi_lines lines = {.tensor = t, .inner = 1, .parts = parts, .stride = parts};
  lines.count = (size_t)t->dims[t->rank - (parts == 2 ? 2 : 1)];
  lines.outer_stride = lines.count * parts;
  return lines;
}

static stowi_transforms read_transforms(const stow_kernel_call* call) {
  const stow_tensor* x = stow_kernel_operand(call, 0);
  stow_tensor* out = stow_kernel_result(call, 0);
  stowi_transforms t = {.inverse = stow_kernel_bool(call, "inverse", false), .factor = 1};
  t.in = rows_of(x, t.inverse ? 2 : 1);
  t.out = rows_of(out, t.inverse ? 1 : 2);
  t.length = t.inverse ? t.out.count : t.in.count;
  t.mirrors = t.inverse && stow_kernel_bool(call, "onesided", true);
  t.lines = t.in.outer_stride == 0 ? 0 : stow_tensor_elements(x) / t.in.outer_stride;
  return t;
}

static stow_status scratch_rfft(const stow_kernel_call* call, uint64_t* out_bytes) {
  stowi_transforms t = read_transforms(call);
  stowi_carve carve = {NULL, 0};
  stowi_transforms_carve(&t, call->workers, &carve);
  *out_bytes = carve.used;
  return STOW_OK;
}

static stow_status run_rfft(stow_kernel_call* call) {
  stowi_transforms t = read_transforms(call);
  if (stowi_kind(t.in.tensor->dtype) != STOW_KIND_FLOAT) {
    return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED, "x must be floats");
  }
  if (stow_kernel_int(call, "signal_dims", 1) != 1) {
    return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED,
                            "signals of %lld dims are not supported, only of 1",
                            (long long)stow_kernel_int(call, "signal_dims", 1));
  }
  if (stow_kernel_bool(call, "normalized", false)) {
    return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED, "normalized transforms are not supported");
  }
  stowi_carve carve = {call->scratch, 0};
  stowi_transforms_carve(&t, call->workers, &carve);
  stowi_transforms_run(call, &t);
  return STOW_OK;
}

STOWI_KERNEL(RFFT, scratch_rfft, run_rfft);
