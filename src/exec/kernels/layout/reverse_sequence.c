// Sequences with their first elements, as many as each is long, in reverse order. A negative stride
// turns them round.
#include "exec/kernels/layout/elements.h"
#include "exec/kernels/layout/numbers.h"
#include "exec/kernels/layout/strided.h"
#include "exec/kernels/support/convert.h"
#include "exec/kernels/support/kernel.h"

typedef struct axes {
  uint32_t batch, time;
} axes;

// |count| elements of sequence |batch| from |first| on, reversed or as they are.
static void copy_stretch(const stow_kernel_call* call, axes a, int64_t batch, int64_t first,
                         int64_t count, bool is_reversed) {
  const stow_tensor* x = call->operands[0];
  int64_t strides[STOW_MAX_RANK];
  stowi_strides_of(x, strides);
  stowi_strided s = {0};
  s.to_first = batch * strides[a.batch] + first * strides[a.time];
  s.from_first = s.to_first + (is_reversed ? (count - 1) * strides[a.time] : 0);
  for (uint32_t i = 0; i < x->rank; ++i) {
    int64_t dim = i == a.batch ? 1 : i == a.time ? count : x->dims[i];
    stowi_strided_add(&s, dim, i == a.time && is_reversed ? -strides[i] : strides[i], strides[i]);
  }
  stowi_strided_copy(call, x->dtype, x->data, call->results[0]->data, &s);
}

static stow_status run_reverse_sequence(stow_kernel_call* call) {
  const stow_tensor* x = call->operands[0];
  const stow_tensor* lengths = call->operands[1];
  axes a;
  stow_status status =
      stowi_axis_of(call, stow_kernel_int(call, "batch_axis", 1), x->rank, &a.batch);
  status = status == STOW_OK
               ? stowi_axis_of(call, stow_kernel_int(call, "time_axis", 0), x->rank, &a.time)
               : status;
  if (status != STOW_OK) {
    return status;
  }
  int64_t whole = x->dims[a.time];
  for (int64_t i = 0; i < x->dims[a.batch]; ++i) {
    int64_t length = stowi_int_at(lengths, (size_t)i);
    if (length < 0 || length > whole) {
      return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT,
                              "sequence %lld has length %lld, dim %u is %lld", (long long)i,
                              (long long)length, (unsigned)a.time, (long long)whole);
    }
  }
  stowi_clear_tail(call->results[0]);
  for (int64_t i = 0; i < x->dims[a.batch]; ++i) {
    int64_t length = stowi_int_at(lengths, (size_t)i);
    copy_stretch(call, a, i, 0, length, true);
    copy_stretch(call, a, i, length, whole - length, false);
  }
  return STOW_OK;
}

STOWI_KERNEL(REVERSE_SEQUENCE, NULL, run_reverse_sequence);
