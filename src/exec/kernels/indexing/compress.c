// Slices along an axis, or elements of the flat tensor, for which a condition holds. They keep
// their order, so that the result may lie over the operand. A condition may be shorter than the
// dim: the rest is left off.
#include "exec/kernels/layout/elements.h"
#include "exec/kernels/layout/numbers.h"
#include "exec/kernels/support/convert.h"
#include "exec/kernels/support/kernel.h"

static stow_status count_chosen(const stow_kernel_call* call, const stowi_slices* s,
                                size_t* out_count) {
  const stow_tensor* condition = call->operands[1];
  const uint8_t* is_chosen = condition->data;
  size_t planned = (size_t)call->results[0]->dims[s->axis];
  *out_count = 0;
  for (size_t i = 0; i < (size_t)condition->dims[0]; ++i) {
    if (is_chosen[i] != 0 && i >= s->count) {
      return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT,
                              "the condition holds for %zu, but there are %zu to choose from", i,
                              s->count);
    }
    *out_count += is_chosen[i] != 0;
  }
  if (*out_count > planned) {
    return stow_kernel_fail(call, STOW_ERR_TYPE, "the condition holds %zu times, %zu were planned",
                            *out_count, planned);
  }
  return STOW_OK;
}

static stow_status run_compress(stow_kernel_call* call) {
  const stow_tensor* x = call->operands[0];
  const stow_tensor* condition = call->operands[1];
  stow_tensor* result = call->results[0];
  uint32_t bits = stowi_bits(x->dtype);
  const uint8_t* is_chosen = condition->data;
  stowi_slices s;
  size_t count;
  stow_status status = stowi_slices_of(call, &s);
  status = status == STOW_OK ? count_chosen(call, &s, &count) : status;
  if (status != STOW_OK) {
    return status;
  }
  result->dims[s.axis] = (int64_t)count;
  if (stow_tensor_elements(result) == 0) {
    return STOW_OK;
  }
  stowi_clear_tail(result);
  size_t to = 0;
  for (size_t i = 0; i < s.outer; ++i) {
    for (size_t j = 0; j < (size_t)condition->dims[0]; ++j) {
      if (is_chosen[j] != 0) {
        stowi_copy_elements(bits, result->data, to, x->data, (i * s.count + j) * s.inner, s.inner);
        to += s.inner;
      }
    }
  }
  return STOW_OK;
}

STOWI_KERNEL(COMPRESS, NULL, run_compress);
