// Copies with a step along dims: narrow, slice and reverse_sequence.
#include "exec/kernels/layout/elements.h"
#include "exec/kernels/layout/numbers.h"
#include "exec/kernels/layout/strided.h"
#include "exec/kernels/support/convert.h"
#include "exec/kernels/support/kernel.h"

// ---------------------------------------------------------------------------------------------
// narrow and slice. The selected elements keep their order, so the copy may be in place if no step
// is negative: it goes in ascending order.

// What is taken of a dim.
typedef struct taken {
  int64_t start, step, count;
} taken;

static void copy_part(const stow_kernel_call* call, const taken* part) {
  const stow_tensor* x = call->operands[0];
  stow_tensor* result = call->results[0];
  int64_t from[STOW_MAX_RANK];
  int64_t to[STOW_MAX_RANK];
  stowi_kernel_strides_of(x, from);
  stowi_kernel_strides_of(result, to);
  stowi_kernel_strided s = {0};
  for (uint32_t i = 0; i < x->rank; ++i) {
    s.from_first += part[i].start * from[i];
    stowi_kernel_strided_add(&s, result->dims[i], part[i].step * from[i], to[i]);
  }
  stowi_kernel_clear_tail_beside(result, x);
  stowi_kernel_strided_copy(call, x->dtype, x->data, result->data, &s);
}

static void take_all(const stow_tensor* x, taken* out) {
  for (uint32_t i = 0; i < x->rank; ++i) {
    out[i] = (taken){0, 1, x->dims[i]};
  }
}

static stow_status run_narrow(stow_kernel_call* call) {
  const stow_tensor* x = call->operands[0];
  stow_tensor* result = call->results[0];
  uint32_t axis;
  STOWI_KERNEL_TRY(stowi_kernel_axis_attr(call, x->rank, &axis));
  int64_t start = stowi_kernel_int(call, STOWI_KERNEL_ATTR_START, 0);
  int64_t len = result->dims[axis];
  if (start < 0 || start > x->dims[axis] || len > x->dims[axis] - start) {
    return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT,
                            "start %lld and len %lld are out of range (dim %u is %lld)",
                            (long long)start, (long long)len, (unsigned)axis,
                            (long long)x->dims[axis]);
  }
  taken parts[STOW_MAX_RANK];
  take_all(x, parts);
  parts[axis].start = start;
  copy_part(call, parts);
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------

// |at| counted from the end where it is negative, and then put into [low, high].
static int64_t clamp(int64_t at, int64_t dim, int64_t low, int64_t high) {
  at = at < 0 ? at + dim : at;
  return at < low ? low : at > high ? high : at;
}

static taken take(int64_t dim, int64_t start, int64_t end, int64_t step) {
  bool is_forward = step > 0;
  int64_t low = is_forward ? 0 : -1;
  int64_t high = is_forward ? dim : dim - 1;
  taken part = {clamp(start, dim, 0, high), step, 0};
  int64_t to = clamp(end, dim, low, high);
  int64_t span = is_forward ? to - part.start : part.start - to;
  if (dim == 0 || span <= 0) {
    return (taken){0, 1, 0};
  }
  // A step beyond the dim takes one element; -step of the lowest number does not exist.
  uint64_t stride = is_forward ? (uint64_t)step : (uint64_t)0 - (uint64_t)step;
  part.count = (int64_t)(((uint64_t)span - 1) / stride) + 1;
  part.step = part.count == 1 ? 1 : step;
  return part;
}

static stow_status read_lists(const stow_kernel_call* call, taken* parts) {
  const stow_tensor* x = call->operands[0];
  stowi_kernel_numbers starts = stowi_kernel_numbers_of(call, STOWI_KERNEL_ATTR_STARTS, 1);
  stowi_kernel_numbers ends = stowi_kernel_numbers_of(call, STOWI_KERNEL_ATTR_ENDS, 2);
  stowi_kernel_numbers axes = stowi_kernel_numbers_of(call, STOWI_KERNEL_ATTR_AXES, 3);
  stowi_kernel_numbers steps = stowi_kernel_numbers_of(call, STOWI_KERNEL_ATTR_STEPS, 4);
  if (starts.count != ends.count || starts.count > x->rank ||
      (axes.count != 0 && axes.count != starts.count) ||
      (steps.count != 0 && steps.count != starts.count)) {
    return stow_kernel_fail(
        call, STOW_ERR_INVALID_ARGUMENT,
        "the numbers of starts (%zu), ends (%zu), axes (%zu) and steps (%zu) differ", starts.count,
        ends.count, axes.count, steps.count);
  }
  for (size_t i = 0; i < starts.count; ++i) {
    uint32_t axis = 0;
    int64_t number = axes.count == 0 ? (int64_t)i : stowi_kernel_number_at(&axes, i);
    STOWI_KERNEL_TRY(stowi_kernel_axis_of(call, number, x->rank, &axis));
    int64_t step = steps.count == 0 ? 1 : stowi_kernel_number_at(&steps, i);
    if (step == 0) {
      return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT, "a step must not be 0");
    }
    parts[axis] = take(x->dims[axis], stowi_kernel_number_at(&starts, i),
                       stowi_kernel_number_at(&ends, i), step);
  }
  return STOW_OK;
}

static stow_status run_slice(stow_kernel_call* call) {
  const stow_tensor* x = call->operands[0];
  stow_tensor* result = call->results[0];
  taken parts[STOW_MAX_RANK];
  take_all(x, parts);
  STOWI_KERNEL_TRY(read_lists(call, parts));
  for (uint32_t i = 0; i < x->rank; ++i) {
    if (parts[i].count > result->dims[i]) {
      return stow_kernel_fail(call, STOW_ERR_TYPE,
                              "dim %u of the slice is %lld, more than the planned %lld",
                              (unsigned)i, (long long)parts[i].count, (long long)result->dims[i]);
    }
    result->dims[i] = parts[i].count;
  }
  copy_part(call, parts);
  return STOW_OK;
}

STOWI_KERNEL(NARROW, NULL, run_narrow);
STOWI_KERNEL(SLICE, NULL, run_slice);

// ---------------------------------------------------------------------------------------------
// reverse_sequence: the first elements of each sequence, as many as its length, in reverse order,
// by a negative stride.

typedef struct axes {
  uint32_t batch, time;
} axes;

// |count| elements of sequence |batch| from |first| on, reversed or as they are.
static void copy_stretch(const stow_kernel_call* call, axes a, int64_t batch, int64_t first,
                         int64_t count, bool is_reversed) {
  const stow_tensor* x = call->operands[0];
  int64_t strides[STOW_MAX_RANK];
  stowi_kernel_strides_of(x, strides);
  stowi_kernel_strided s = {0};
  s.to_first = batch * strides[a.batch] + first * strides[a.time];
  s.from_first = s.to_first + (is_reversed ? (count - 1) * strides[a.time] : 0);
  for (uint32_t i = 0; i < x->rank; ++i) {
    int64_t dim = i == a.batch ? 1 : i == a.time ? count : x->dims[i];
    stowi_kernel_strided_add(&s, dim, i == a.time && is_reversed ? -strides[i] : strides[i],
                             strides[i]);
  }
  stowi_kernel_strided_copy(call, x->dtype, x->data, call->results[0]->data, &s);
}

static stow_status run_reverse_sequence(stow_kernel_call* call) {
  const stow_tensor* x = call->operands[0];
  const stow_tensor* lengths = call->operands[1];
  axes a;
  stow_status status = stowi_kernel_axis_of(
      call, stowi_kernel_int(call, STOWI_KERNEL_ATTR_BATCH_AXIS, 1), x->rank, &a.batch);
  status = status == STOW_OK
               ? stowi_kernel_axis_of(call, stowi_kernel_int(call, STOWI_KERNEL_ATTR_TIME_AXIS, 0),
                                      x->rank, &a.time)
               : status;
  if (status != STOW_OK) {
    return status;
  }
  int64_t whole = x->dims[a.time];
  for (int64_t i = 0; i < x->dims[a.batch]; ++i) {
    int64_t length = stowi_kernel_int_at(lengths, (size_t)i);
    if (length < 0 || length > whole) {
      return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT,
                              "sequence %lld has length %lld, but dim %u is %lld", (long long)i,
                              (long long)length, (unsigned)a.time, (long long)whole);
    }
  }
  stowi_kernel_clear_tail(call->results[0]);
  for (int64_t i = 0; i < x->dims[a.batch]; ++i) {
    int64_t length = stowi_kernel_int_at(lengths, (size_t)i);
    copy_stretch(call, a, i, 0, length, true);
    copy_stretch(call, a, i, length, whole - length, false);
  }
  return STOW_OK;
}

STOWI_KERNEL(REVERSE_SEQUENCE, NULL, run_reverse_sequence);
