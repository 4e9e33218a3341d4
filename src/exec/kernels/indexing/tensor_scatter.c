// A cache [batch, …, sequence, …] with new entries along the sequence, from a position of each
// batch on; circular ones go on at the beginning. The result may lie over the cache.
#include "exec/kernels/layout/cache.h"
#include "exec/kernels/layout/numbers.h"
#include "exec/kernels/support/convert.h"
#include "exec/kernels/support/kernel.h"

static int64_t position_of(const stow_kernel_call* call, int64_t batch) {
  const stow_tensor* positions = stow_kernel_operand(call, 2);
  return positions == NULL ? 0 : stowi_int_at(positions, (size_t)batch);
}

static stow_status check_positions(const stow_kernel_call* call, uint32_t axis, bool is_circular) {
  const stow_tensor* cache = call->operands[0];
  const stow_tensor* positions = stow_kernel_operand(call, 2);
  int64_t entries = call->operands[1]->dims[axis];
  int64_t room = cache->dims[axis];
  if (positions != NULL && stow_tensor_elements(positions) != (size_t)cache->dims[0]) {
    return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT,
                            "there are %zu positions for a batch of %lld",
                            stow_tensor_elements(positions), (long long)cache->dims[0]);
  }
  for (int64_t i = 0; i < cache->dims[0]; ++i) {
    int64_t at = position_of(call, i);
    if (at < 0 || entries > room || (!is_circular && at > room - entries)) {
      return stowi_refuse_entries(call, axis, at);
    }
  }
  return STOW_OK;
}

static stow_status run_tensor_scatter(stow_kernel_call* call) {
  const stow_tensor* cache = call->operands[0];
  bool is_circular = stow_kernel_is(call, "mode", "circular");
  uint32_t axis;
  stow_status status = stowi_axis_attr(call, cache->rank, &axis);
  if (status != STOW_OK || stow_tensor_elements(cache) == 0) {
    return status;
  }
  status = check_positions(call, axis, is_circular);
  if (status != STOW_OK) {
    return status;
  }
  stowi_keep_cache(call);
  int64_t entries = call->operands[1]->dims[axis];
  int64_t room = cache->dims[axis];
  for (int64_t i = 0; i < cache->dims[0]; ++i) {
    int64_t position = position_of(call, i) % room;
    int64_t straight = entries < room - position ? entries : room - position;
    stowi_put_entries(call, &(stowi_entries){axis, i, 1, 0, straight}, position);
    stowi_put_entries(call, &(stowi_entries){axis, i, 1, straight, entries - straight}, 0);
  }
  stowi_clear_rest(call->results[0]);
  return STOW_OK;
}

STOWI_KERNEL(TENSOR_SCATTER, NULL, run_tensor_scatter);
