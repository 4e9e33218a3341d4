// Tensors repeated along their dims: a dim that is repeated has stride 0 in the source.
#include "exec/kernels/layout/elements.h"
#include "exec/kernels/layout/numbers.h"
#include "exec/kernels/layout/strided.h"
#include "exec/kernels/support/kernel.h"

static stow_status fail_dim(const stow_kernel_call* call, uint32_t i, int64_t have, int64_t want) {
  return stow_kernel_fail(call, STOW_ERR_TYPE,
                          "dim %u of the result is %lld, that of the operand %lld", (unsigned)i,
                          (long long)want, (long long)have);
}

static void copy(const stow_kernel_call* call, const stowi_kernel_strided* s) {
  stow_tensor* result = call->results[0];
  stowi_kernel_clear_tail_beside(result, call->operands[0]);
  stowi_kernel_strided_copy(call, result->dtype, call->operands[0]->data, result->data, s);
}

// Leading dims that the operand does not have count as 1.
static stow_status run_expand(stow_kernel_call* call) {
  const stow_tensor* x = call->operands[0];
  const stow_tensor* result = call->results[0];
  int64_t from[STOW_MAX_RANK];
  int64_t to[STOW_MAX_RANK];
  stowi_kernel_strides_of(x, from);
  stowi_kernel_strides_of(result, to);
  stowi_kernel_strided s = {0};
  if (x->rank > result->rank) {
    return stow_kernel_fail(call, STOW_ERR_TYPE, "rank %u cannot become %u", (unsigned)x->rank,
                            (unsigned)result->rank);
  }
  uint32_t added = result->rank - x->rank;
  for (uint32_t i = 0; i < result->rank; ++i) {
    int64_t have = i < added ? 1 : x->dims[i - added];
    if (have != 1 && have != result->dims[i]) {
      return fail_dim(call, i, have, result->dims[i]);
    }
    stowi_kernel_strided_add(&s, result->dims[i], have == 1 ? 0 : from[i - added], to[i]);
  }
  copy(call, &s);
  return STOW_OK;
}

static stow_status run_tile(stow_kernel_call* call) {
  const stow_tensor* x = call->operands[0];
  const stow_tensor* result = call->results[0];
  int64_t from[STOW_MAX_RANK];
  int64_t to[STOW_MAX_RANK];
  stowi_kernel_strides_of(x, from);
  stowi_kernel_strides_of(result, to);
  stowi_kernel_strided s = {0};
  for (uint32_t i = 0; i < result->rank; ++i) {
    int64_t have = x->dims[i];
    if (have == 0 ? result->dims[i] != 0 : result->dims[i] % have != 0) {
      return fail_dim(call, i, have, result->dims[i]);
    }
    stowi_kernel_strided_add(&s, have == 0 ? 0 : result->dims[i] / have, 0, have * to[i]);
    stowi_kernel_strided_add(&s, have, from[i], to[i]);
  }
  copy(call, &s);
  return STOW_OK;
}

STOWI_KERNEL(EXPAND, NULL, run_expand);
STOWI_KERNEL(TILE, NULL, run_tile);
