// Caches that grow by new entries along an axis: operand 0 is the cache, operand 1 the new entries,
// result 0 the updated cache, usually in place. The entries are one strided copy.
#include <stowage/kernel.h>

#include "exec/kernels/layout/elements.h"
#include "exec/kernels/layout/numbers.h"
#include "exec/kernels/layout/strided.h"
#include "exec/kernels/support/convert.h"
#include "exec/kernels/support/dtype.h"
#include "exec/kernels/support/kernel.h"

// Entries |first| … |first| + |count| - 1 of rows |row| … |row| + |rows| - 1 of dim 0. Where the
// axis is dim 0, rows are entries: |row| is 0 then, and |rows| is not asked.
typedef struct entry_range {
  uint32_t axis;
  int64_t row, rows;
  int64_t first, count;
} entry_range;

// Copies the cache, unless the result is in its place.
static void keep_cache(const stow_kernel_call* call) {
  const stow_tensor* cache = call->operands[0];
  if (call->results[0]->data != cache->data) {
    stowi_kernel_copy_elements(stowi_kernel_bits(cache->dtype), call->results[0]->data, 0,
                               cache->data, 0, stow_tensor_elements(cache));
  }
}

// Puts entries to |position| and after along the axis of the result.
static void put_entries(const stow_kernel_call* call, const entry_range* e, int64_t position) {
  const stow_tensor* entries = call->operands[1];
  stow_tensor* cache = call->results[0];
  int64_t from[STOW_MAX_RANK];
  int64_t to[STOW_MAX_RANK];
  stowi_kernel_strides_of(entries, from);
  stowi_kernel_strides_of(cache, to);
  stowi_kernel_strided s = {0};
  s.from_first = e->row * from[0] + e->first * from[e->axis];
  s.to_first = e->row * to[0] + position * to[e->axis];
  for (uint32_t i = 0; i < entries->rank; ++i) {
    int64_t rows = i == 0 ? e->rows : entries->dims[i];
    stowi_kernel_strided_add(&s, i == e->axis ? e->count : rows, from[i], to[i]);
  }
  stowi_kernel_strided_copy(call, entries->dtype, entries->data, cache->data, &s);
}

// The error that all entries at |position| go beyond the cache.
static stow_status refuse_entries(const stow_kernel_call* call, uint32_t axis, int64_t position) {
  return stow_kernel_fail(
      call, STOW_ERR_INVALID_ARGUMENT,
      "%lld entries at position %lld do not fit dim %u of the cache, which is %lld",
      (long long)call->operands[1]->dims[axis], (long long)position, (unsigned)axis,
      (long long)call->operands[0]->dims[axis]);
}

// ---------------------------------------------------------------------------------------------
// kv_append. Entries begin at a position: one for all, or one per index of dim 0; 0 if there is
// none.

static stow_status check_positions(const stow_kernel_call* call, uint32_t axis) {
  const stow_tensor* cache = call->operands[0];
  stowi_kernel_numbers positions = stowi_kernel_numbers_of(call, STOWI_KERNEL_ATTR_NONE, 2);
  int64_t entries = call->operands[1]->dims[axis];
  if (positions.count > 1 && (axis == 0 || positions.count != (size_t)cache->dims[0])) {
    return stow_kernel_fail(
        call, STOW_ERR_INVALID_ARGUMENT,
        "%zu positions, expected 1 or one for each of %lld rows before the axis", positions.count,
        (long long)cache->dims[0]);
  }
  for (size_t i = 0; i < (positions.count == 0 ? 1 : positions.count); ++i) {
    int64_t at = positions.count == 0 ? 0 : stowi_kernel_number_at(&positions, i);
    if (at < 0 || entries > cache->dims[axis] || at > cache->dims[axis] - entries) {
      return refuse_entries(call, axis, at);
    }
  }
  return STOW_OK;
}

static stow_status run_kv_append(stow_kernel_call* call) {
  const stow_tensor* cache = call->operands[0];
  const stow_tensor* entries = call->operands[1];
  uint32_t axis;
  STOWI_KERNEL_TRY(stowi_kernel_axis_attr(call, cache->rank, &axis));
  STOWI_KERNEL_TRY(check_positions(call, axis));
  keep_cache(call);
  entry_range e = {.axis = axis, .rows = entries->dims[0], .count = entries->dims[axis]};
  stowi_kernel_numbers positions = stowi_kernel_numbers_of(call, STOWI_KERNEL_ATTR_NONE, 2);
  if (positions.count <= 1) {
    put_entries(call, &e, positions.count == 0 ? 0 : stowi_kernel_number_at(&positions, 0));
    return STOW_OK;
  }
  e.rows = 1;
  for (; e.row < entries->dims[0]; ++e.row) {
    put_entries(call, &e, stowi_kernel_number_at(&positions, (size_t)e.row));
  }
  return STOW_OK;
}

STOWI_KERNEL(KV_APPEND, NULL, run_kv_append);

// ---------------------------------------------------------------------------------------------
// tensor_scatter: a cache [batch, …, sequence, …] with a start position per batch; circular ones
// wrap around.

static int64_t position_of(const stow_kernel_call* call, int64_t batch) {
  const stow_tensor* positions = stow_kernel_operand(call, 2);
  return positions == NULL ? 0 : stowi_kernel_int_at(positions, (size_t)batch);
}

static stow_status check_starts(const stow_kernel_call* call, uint32_t axis, bool is_circular) {
  const stow_tensor* cache = call->operands[0];
  const stow_tensor* positions = stow_kernel_operand(call, 2);
  int64_t entries = call->operands[1]->dims[axis];
  int64_t room = cache->dims[axis];
  if (positions != NULL && stow_tensor_elements(positions) != (size_t)cache->dims[0]) {
    return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT,
                            "%zu positions do not fit a batch of %lld",
                            stow_tensor_elements(positions), (long long)cache->dims[0]);
  }
  for (int64_t i = 0; i < cache->dims[0]; ++i) {
    int64_t at = position_of(call, i);
    if (at < 0 || entries > room || (!is_circular && at > room - entries)) {
      return refuse_entries(call, axis, at);
    }
  }
  return STOW_OK;
}

static stow_status run_tensor_scatter(stow_kernel_call* call) {
  const stow_tensor* cache = call->operands[0];
  bool is_circular = stowi_kernel_is(call, STOWI_KERNEL_ATTR_MODE, "circular");
  uint32_t axis;
  STOWI_KERNEL_TRY(stowi_kernel_axis_attr(call, cache->rank, &axis));
  if (stow_tensor_elements(cache) == 0) {
    return STOW_OK;
  }
  STOWI_KERNEL_TRY(check_starts(call, axis, is_circular));
  keep_cache(call);
  int64_t entries = call->operands[1]->dims[axis];
  int64_t room = cache->dims[axis];
  for (int64_t i = 0; i < cache->dims[0]; ++i) {
    int64_t position = position_of(call, i) % room;
    int64_t straight = entries < room - position ? entries : room - position;
    put_entries(call, &(entry_range){axis, i, 1, 0, straight}, position);
    put_entries(call, &(entry_range){axis, i, 1, straight, entries - straight}, 0);
  }
  stowi_kernel_clear_rest(call->results[0]);
  return STOW_OK;
}

STOWI_KERNEL(TENSOR_SCATTER, NULL, run_tensor_scatter);
