// New entries put into a cache along an axis. The result is the cache's own bytes; where it is not,
// the cache is copied first. Entries begin at the position, which is one number for all or one for
// each index of dim 0; without one they begin at 0.
#include "exec/kernels/layout/cache.h"
#include "exec/kernels/layout/numbers.h"
#include "exec/kernels/support/kernel.h"

static stow_status check_positions(const stow_kernel_call* call, uint32_t axis) {
  const stow_tensor* cache = call->operands[0];
  stowi_numbers positions = stowi_numbers_of(call, NULL, 2);
  int64_t entries = call->operands[1]->dims[axis];
  if (positions.count > 1 && (axis == 0 || positions.count != (size_t)cache->dims[0])) {
    return stow_kernel_fail(
        call, STOW_ERR_INVALID_ARGUMENT,
        "there are %zu positions, one is needed for all or for each of %lld rows before the axis",
        positions.count, (long long)cache->dims[0]);
  }
  for (size_t i = 0; i < (positions.count == 0 ? 1 : positions.count); ++i) {
    int64_t at = positions.count == 0 ? 0 : stowi_number_at(&positions, i);
    if (at < 0 || entries > cache->dims[axis] || at > cache->dims[axis] - entries) {
      return stowi_refuse_entries(call, axis, at);
    }
  }
  return STOW_OK;
}

static stow_status run_kv_append(stow_kernel_call* call) {
  const stow_tensor* cache = call->operands[0];
  const stow_tensor* entries = call->operands[1];
  uint32_t axis;
  stow_status status = stowi_axis_attr(call, cache->rank, &axis);
  status = status == STOW_OK ? check_positions(call, axis) : status;
  if (status != STOW_OK) {
    return status;
  }
  stowi_keep_cache(call);
  stowi_entries e = {.axis = axis, .rows = entries->dims[0], .count = entries->dims[axis]};
  stowi_numbers positions = stowi_numbers_of(call, NULL, 2);
  if (positions.count <= 1) {
    stowi_put_entries(call, &e, positions.count == 0 ? 0 : stowi_number_at(&positions, 0));
    return STOW_OK;
  }
  e.rows = 1;
  for (; e.row < entries->dims[0]; ++e.row) {
    stowi_put_entries(call, &e, stowi_number_at(&positions, (size_t)e.row));
  }
  return STOW_OK;
}

STOWI_KERNEL(KV_APPEND, NULL, run_kv_append);
