// What is known of a tensor without its elements: its dims and their product.
#include "exec/kernels/support/kernel.h"

static uint32_t clamp_bound(int64_t bound, uint32_t rank) {
  if (bound < 0) {
    bound = bound < -(int64_t)rank ? 0 : bound + (int64_t)rank;
  }
  return bound > (int64_t)rank ? rank : (uint32_t)bound;
}

static stow_status run_shape(stow_kernel_call* call) {
  const stow_tensor* x = call->operands[0];
  uint32_t first = clamp_bound(stowi_kernel_int(call, STOWI_KERNEL_ATTR_START, 0), x->rank);
  uint32_t end = clamp_bound(stowi_kernel_int(call, STOWI_KERNEL_ATTR_END, INT64_MAX), x->rank);
  int64_t* out = call->results[0]->data;
  for (uint32_t i = first; i < end; ++i) {
    out[i - first] = x->dims[i];
  }
  return STOW_OK;
}

static stow_status run_size(stow_kernel_call* call) {
  *(int64_t*)call->results[0]->data = (int64_t)stow_tensor_elements(call->operands[0]);
  return STOW_OK;
}

STOWI_KERNEL(SHAPE, NULL, run_shape);
STOWI_KERNEL(SIZE, NULL, run_size);
