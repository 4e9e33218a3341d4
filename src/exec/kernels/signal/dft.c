// dft: a transform along any axis of [batch, samples…, 1 or 2]. Cut or filled up with zeros to the
// length; one-sided spectra leave out, or make again, what mirrors the rest.
#include "exec/kernels/signal/lines.h"
#include "exec/kernels/support/convert.h"
#include "exec/kernels/support/kernel.h"

static int64_t axis_of(const stow_kernel_call* call) {
  const stow_tensor* axis = stow_kernel_operand(call, 2);
  int64_t rank = (int64_t)stow_kernel_operand(call, 0)->rank;
  int64_t given = stow_kernel_int(call, "axis", -2);
  if (axis != NULL && axis->data != NULL) {
    given = stowi_int_at(axis, 0);
  }
  return given < 0 ? given + rank : given;
}

static stowi_lines lines_of(const stow_tensor* t, size_t axis) {
  stowi_lines lines = {.tensor = t, .parts = (size_t)t->dims[t->rank - 1], .inner = 1};
  for (uint32_t i = (uint32_t)axis + 1; i + 1 < t->rank; ++i) {
    lines.inner *= (size_t)t->dims[i];
  }
  lines.count = (size_t)t->dims[axis];
  lines.inner_stride = lines.parts;
  lines.stride = lines.inner * lines.parts;
  lines.outer_stride = lines.count * lines.stride;
  return lines;
}

// The length is an operand, else what is there, or what half a spectrum is made of.
static int64_t length_of(const stow_kernel_call* call, const stowi_transforms* t) {
  const stow_tensor* length = stow_kernel_operand(call, 1);
  if (length != NULL) {
    return stowi_int_at(length, 0);
  }
  return t->mirrors ? 2 * ((int64_t)t->in.count - 1) : (int64_t)t->in.count;
}

static void read_transforms(const stow_kernel_call* call, size_t axis, stowi_transforms* t) {
  const stow_tensor* x = stow_kernel_operand(call, 0);
  bool onesided = stow_kernel_bool(call, "onesided", false);
  *t = (stowi_transforms){.inverse = stow_kernel_bool(call, "inverse", false), .factor = 1};
  t->mirrors = t->inverse && onesided;
  t->in = lines_of(x, axis);
  t->lines =
      t->in.outer_stride == 0 ? 0 : stow_tensor_elements(x) / t->in.outer_stride * t->in.inner;
}

// A result as long as it may be tells the length, unless it is half of a spectrum.
static size_t longest(const stow_kernel_call* call, size_t axis) {
  const stow_tensor* x = stow_kernel_operand(call, 0);
  const stow_tensor* out = stow_kernel_result(call, 0);
  bool is_half =
      stow_kernel_bool(call, "onesided", false) && !stow_kernel_bool(call, "inverse", false);
  if (is_half && stow_kernel_operand(call, 1) == NULL) {
    return (size_t)x->dims[axis];
  }
  return (size_t)out->dims[axis] * (is_half ? 2 : 1);
}

// Where the axis is not known, the longest of all that it could be.
static stow_status scratch_dft(const stow_kernel_call* call, uint64_t* out_bytes) {
  const stow_tensor* axis = stow_kernel_operand(call, 2);
  const stow_tensor* x = stow_kernel_operand(call, 0);
  bool is_known = axis == NULL || axis->data != NULL;
  stowi_transforms t = {0};
  for (uint32_t i = 0; i + 1 < x->rank; ++i) {
    size_t length = longest(call, i);
    bool may_be = !is_known || axis_of(call) == (int64_t)i;
    t.length = may_be && length > t.length ? length : t.length;
  }
  stowi_carve carve = {NULL, 0};
  stowi_transforms_carve(&t, call->workers, &carve);
  *out_bytes = carve.used;
  return STOW_OK;
}

static stow_status run_dft(stow_kernel_call* call) {
  const stow_tensor* x = stow_kernel_operand(call, 0);
  stow_tensor* out = stow_kernel_result(call, 0);
  int64_t axis = axis_of(call);
  int64_t last = (int64_t)x->rank - 1;
  if (axis < 0 || axis >= last) {
    return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT, "axis %lld is not in [0, %lld)",
                            (long long)axis, (long long)last);
  }
  if (stowi_kind(x->dtype) != STOW_KIND_FLOAT || x->dims[last] < 1 || x->dims[last] > 2) {
    return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED,
                            "x must be floats whose last dim is 1 or 2, not %lld",
                            (long long)x->dims[last]);
  }
  stowi_transforms t;
  read_transforms(call, (size_t)axis, &t);
  int64_t length = length_of(call, &t);
  bool is_half = stow_kernel_bool(call, "onesided", false) && !t.inverse;
  int64_t count = is_half ? length / 2 + 1 : length;
  if (length < 1 || count > out->dims[axis]) {
    return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT, "a transform of length %lld",
                            (long long)length);
  }
  for (int64_t i = 0; i < last; ++i) {
    out->dims[i] = i == axis ? count : x->dims[i];
  }
  t.length = (size_t)length;
  t.out = lines_of(out, (size_t)axis);
  stowi_carve carve = {call->scratch, 0};
  stowi_transforms_carve(&t, call->workers, &carve);
  stowi_transforms_run(call, &t);
  return STOW_OK;
}

STOWI_KERNEL(DFT, scratch_dft, run_dft);
