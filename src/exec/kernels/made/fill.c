// Constant and regular tensors: fill, full_like, eye_like, one_hot and range.
#include "exec/kernels/layout/elements.h"
#include "exec/kernels/layout/numbers.h"
#include "exec/kernels/support/convert.h"
#include "exec/kernels/support/kernel.h"

// ---------------------------------------------------------------------------------------------
// fill, full_like, eye_like and one_hot. The result does not depend on the data of an operand, so
// it may be in place.

static stow_status run_fill(stow_kernel_call* call) {
  const stow_tensor* value = stow_kernel_operand(call, 1);
  stow_tensor* result = call->results[0];
  if (stow_tensor_elements(result) != 0) {
    stowi_kernel_fill_result(call, result, value == NULL ? NULL : value->data);
  }
  return STOW_OK;
}

// |number| as an element of |dtype|, in the first bytes of |out|. Fails for those that have none.
static stow_status make_element(const stow_kernel_call* call, stow_dtype dtype, double number,
                                uint64_t* out) {
  float real = (float)number;
  bool fits = number >= -0x1p63 && number < 0x1p63;
  out[0] = out[1] = 0;
  switch (stowi_kernel_kind(dtype)) {
    case STOW_KIND_COMPLEX:
      stowi_kernel_store_f64(dtype == STOW_C64 ? STOW_F32 : STOW_F64, out, 0, 1, &number);
      return STOW_OK;
    case STOW_KIND_FLOAT:
      if (dtype == STOW_F64) {
        stowi_kernel_store_f64(dtype, out, 0, 1, &number);
      } else {
        stowi_kernel_store_f32(dtype, out, 0, 1, &real);
      }
      return STOW_OK;
    default: {
      if (!fits) {
        return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT, "%g is not a 64-bit integer",
                                number);
      }
      int64_t integer = stowi_kernel_kind(dtype) == STOW_KIND_BOOL ? number != 0 : (int64_t)number;
      stowi_kernel_store_i64(dtype, out, 0, 1, &integer);
      return STOW_OK;
    }
  }
}

static stow_status run_full_like(stow_kernel_call* call) {
  stow_tensor* result = call->results[0];
  uint64_t element[2];
  stow_status status = make_element(
      call, result->dtype, stowi_kernel_float(call, STOWI_KERNEL_ATTR_VALUE, 0.0), element);
  if (status == STOW_OK && stow_tensor_elements(result) != 0) {
    stowi_kernel_fill_result(call, result, element);
  }
  return status;
}

static stow_status run_eye_like(stow_kernel_call* call) {
  stow_tensor* result = call->results[0];
  uint32_t bits = stowi_kernel_bits(result->dtype);
  int64_t k = stowi_kernel_int(call, STOWI_KERNEL_ATTR_K, 0);
  uint64_t one[2];
  STOWI_KERNEL_TRY(make_element(call, result->dtype, 1.0, one));
  if (stow_tensor_elements(result) == 0) {
    return STOW_OK;
  }
  stowi_kernel_fill_result(call, result, NULL);
  if (k <= -result->dims[0] || k >= result->dims[1]) {
    return STOW_OK;
  }
  for (int64_t row = k < 0 ? -k : 0; row < result->dims[0] && row + k < result->dims[1]; ++row) {
    stowi_kernel_fill_elements(bits, result->data, (size_t)(row * result->dims[1] + row + k), 1,
                               one);
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------

// Index |i| of the indices, which may be floats; -1 where it names none of |depth|.
static int64_t index_at(const stow_tensor* indices, size_t i, int64_t depth) {
  int64_t index = -1;
  if (stowi_kernel_kind(indices->dtype) == STOW_KIND_FLOAT) {
    double number = stowi_kernel_float_at(indices, i);
    bool is_inside = number > -0x1p62 && number < 0x1p62;
    index = is_inside ? (int64_t)number : INT64_MIN;
  } else {
    index = stowi_kernel_int_at(indices, i);
  }
  index = index < 0 && index >= -depth ? index + depth : index;
  return index >= 0 && index < depth ? index : -1;
}

// Off everywhere, then on where an index says so; one that is out of range says nothing.
static stow_status run_one_hot(stow_kernel_call* call) {
  const stow_tensor* indices = call->operands[0];
  const stow_tensor* values = call->operands[2];
  stow_tensor* result = call->results[0];
  uint32_t bits = stowi_kernel_bits(values->dtype);
  uint32_t axis;
  STOWI_KERNEL_TRY(stowi_kernel_axis_attr(call, result->rank, &axis));
  if (stow_tensor_elements(result) == 0) {
    return STOW_OK;
  }
  if (stowi_kernel_kind(indices->dtype) == STOW_KIND_COMPLEX) {
    return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED, "indices must be real numbers");
  }
  uint8_t on[16] = {0};
  stowi_kernel_copy_elements(bits, on, 0, values->data, 1, 1);
  stowi_kernel_fill_result(call, result, values->data);
  int64_t depth = result->dims[axis];
  size_t inner = stowi_kernel_count_of(result, axis + 1, result->rank);
  size_t count = stow_tensor_elements(indices);
  for (size_t i = 0; i < count; ++i) {
    int64_t index = index_at(indices, i, depth);
    if (index >= 0) {
      size_t at = (i / inner * (size_t)depth + (size_t)index) * inner + i % inner;
      stowi_kernel_fill_elements(bits, result->data, at, 1, on);
    }
  }
  return STOW_OK;
}

STOWI_KERNEL(FILL, NULL, run_fill);
STOWI_KERNEL(FULL_LIKE, NULL, run_full_like);
STOWI_KERNEL(EYE_LIKE, NULL, run_eye_like);
STOWI_KERNEL(ONE_HOT, NULL, run_one_hot);

// ---------------------------------------------------------------------------------------------
// range: start + i × delta, each from start, so that errors do not add up. In double, rounded once,
// or in integers modulo their width.

#define GRAIN 16384

typedef struct steps {
  stow_tensor* result;
  bool is_float;
  double start, delta;
  int64_t whole_start, whole_delta;
} steps;

static void count_up(void* user, size_t begin, size_t end, uint32_t worker) {
  (void)worker;
  const steps* s = user;
  for (size_t i = begin; i < end; ++i) {
    if (s->is_float) {
      double number = s->start + (double)i * s->delta;
      stowi_kernel_store_f64(s->result->dtype, s->result->data, i, 1, &number);
    } else {
      int64_t number = (int64_t)((uint64_t)s->whole_start + (uint64_t)i * (uint64_t)s->whole_delta);
      stowi_kernel_store_i64(s->result->dtype, s->result->data, i, 1, &number);
    }
  }
}

static stow_status run_range(stow_kernel_call* call) {
  stow_tensor* result = call->results[0];
  steps s = {.result = result, .is_float = stowi_kernel_kind(result->dtype) == STOW_KIND_FLOAT};
  if (s.is_float) {
    s.start = stowi_kernel_float_at(call->operands[0], 0);
    s.delta = stowi_kernel_float_at(call->operands[2], 0);
  } else {
    s.whole_start = stowi_kernel_int_at(call->operands[0], 0);
    s.whole_delta = stowi_kernel_int_at(call->operands[2], 0);
  }
  size_t count = stow_tensor_elements(result);
  if (stowi_kernel_bits(result->dtype) % 8 != 0) {
    return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED,
                            "elements of less than a byte are unsupported");
  }
  stow_kernel_split(call, count, GRAIN, count_up, &s);
  return STOW_OK;
}

STOWI_KERNEL(RANGE, NULL, run_range);
