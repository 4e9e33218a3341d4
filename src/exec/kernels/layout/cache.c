// Entries are copied as one strided block: O(elements) of them, and of the cache where it is
// copied.
#include "exec/kernels/layout/cache.h"

#include "exec/kernels/layout/elements.h"
#include "exec/kernels/layout/numbers.h"
#include "exec/kernels/layout/strided.h"
#include "exec/kernels/support/dtype.h"

void stowi_keep_cache(const stow_kernel_call* call) {
  const stow_tensor* cache = call->operands[0];
  if (call->results[0]->data != cache->data) {
    stowi_copy_elements(stowi_bits(cache->dtype), call->results[0]->data, 0, cache->data, 0,
                        stow_tensor_elements(cache));
  }
}

void stowi_put_entries(const stow_kernel_call* call, const stowi_entries* e, int64_t position) {
  const stow_tensor* entries = call->operands[1];
  stow_tensor* cache = call->results[0];
  int64_t from[STOW_MAX_RANK];
  int64_t to[STOW_MAX_RANK];
  stowi_strides_of(entries, from);
  stowi_strides_of(cache, to);
  stowi_strided s = {0};
  s.from_first = e->row * from[0] + e->first * from[e->axis];
  s.to_first = e->row * to[0] + position * to[e->axis];
  for (uint32_t i = 0; i < entries->rank; ++i) {
    int64_t rows = i == 0 ? e->rows : entries->dims[i];
    stowi_strided_add(&s, i == e->axis ? e->count : rows, from[i], to[i]);
  }
  stowi_strided_copy(call, entries->dtype, entries->data, cache->data, &s);
}

stow_status stowi_refuse_entries(const stow_kernel_call* call, uint32_t axis, int64_t position) {
  return stow_kernel_fail(
      call, STOW_ERR_INVALID_ARGUMENT,
      "%lld entries at position %lld do not fit dim %u of the cache, which is %lld",
      (long long)call->operands[1]->dims[axis], (long long)position, (unsigned)axis,
      (long long)call->operands[0]->dims[axis]);
}
