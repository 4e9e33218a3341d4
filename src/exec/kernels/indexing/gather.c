// Slices of a tensor along an axis, picked by index. The result may lie over the indices where each
// picks one element that is not wider: a block of indices is read before its elements are written.
#include "exec/kernels/indexing/indices.h"
#include "exec/kernels/indexing/pick.h"
#include "exec/kernels/layout/elements.h"
#include "exec/kernels/layout/numbers.h"
#include "exec/kernels/support/convert.h"
#include "exec/kernels/support/kernel.h"

#define GRAIN 16384  // bytes

// data is [outer, dim, slice], the result [outer, count, slice].
typedef struct gather {
  const stow_tensor* data;
  const stow_tensor* indices;
  void* to;
  uint32_t bits;
  int64_t dim;
  size_t count;
  size_t slice;
} gather;

// Slice |at| + j of the result is slice |places|[j] of the data.
static void copy_slices(const gather* g, size_t at, const int64_t* places, size_t size) {
  for (size_t j = 0; j < size; ++j) {
    stowi_copy_elements(g->bits, g->to, (at + j) * g->slice, g->data->data,
                        (size_t)places[j] * g->slice, g->slice);
  }
}

static void gather_range(void* user, size_t begin, size_t end, uint32_t worker) {
  (void)worker;
  const gather* g = user;
  int64_t block[STOWI_BLOCK];
  while (begin < end) {
    size_t first = begin % g->count;
    int64_t row = (int64_t)(begin / g->count) * g->dim;
    size_t size = g->count - first < STOWI_BLOCK ? g->count - first : STOWI_BLOCK;
    size = end - begin < size ? end - begin : size;
    stowi_load_i64(g->indices->dtype, g->indices->data, first, size, block);
    for (size_t j = 0; j < size; ++j) {
      block[j] = row + stowi_index(block[j], g->dim);
    }
    if (g->slice == 1) {
      stowi_pick(g->bits, g->to, begin, g->data->data, block, size);
    } else {
      copy_slices(g, begin, block, size);
    }
    begin += size;
  }
}

static stow_status run_gather(stow_kernel_call* call) {
  const stow_tensor* data = call->operands[0];
  stow_tensor* result = call->results[0];
  gather g = {.data = data, .indices = call->operands[1], .to = result->data};
  uint32_t axis;
  stow_status status = stowi_axis_attr(call, data->rank, &axis);
  status = status == STOW_OK ? stowi_check_indices(call, g.indices, data, axis) : status;
  if (status != STOW_OK || stow_tensor_elements(result) == 0) {
    return status;
  }
  g.bits = stowi_bits(data->dtype);
  g.dim = data->dims[axis];
  g.count = stow_tensor_elements(g.indices);
  g.slice = stowi_count_of(data, axis + 1, data->rank);
  size_t picks = stowi_count_of(data, 0, axis) * g.count;
  if (stowi_is_packed(g.bits) || !stowi_is_divisible(call)) {
    stowi_clear_tail(result);
    gather_range(&g, 0, picks, 0);
  } else {
    stow_kernel_split(call, picks, GRAIN / (g.slice * g.bits / 8) + 1, gather_range, &g);
  }
  return STOW_OK;
}

STOWI_KERNEL(GATHER, NULL, run_gather);
