// topk: the k best of each row, best first. A heap keeps the k best so far with the worst on top,
// then is emptied from the worst to the best: O(n log k) for a row, k entries of scratch for
// each worker. Of equal elements the one with the lower index is better; NaN is larger than all.
#include <string.h>

#include "exec/kernels/rows/axes.h"
#include "exec/kernels/rows/keys.h"
#include "exec/kernels/rows/reals.h"
#include "exec/kernels/support/carve.h"
#include "exec/kernels/support/kernel.h"

typedef struct entry {
  int64_t key;  // larger is better
  int64_t index;
} entry;

typedef struct job {
  const stow_tensor* x;
  const stow_tensor* values;
  const stow_tensor* indices;
  stowi_kernel_rows rows;
  size_t k;
  bool is_smallest;
  entry* scratch;
} job;

static bool is_worse(const entry* a, const entry* b) {
  return a->key < b->key || (a->key == b->key && a->index > b->index);
}

// |heap|[at] moves down until nothing under it is worse.
static void sift_down(entry* heap, size_t count, size_t at) {
  entry moved = heap[at];
  for (;;) {
    size_t child = 2 * at + 1;
    if (child >= count) {
      break;
    }
    if (child + 1 < count && is_worse(&heap[child + 1], &heap[child])) {
      ++child;
    }
    if (!is_worse(&heap[child], &moved)) {
      break;
    }
    heap[at] = heap[child];
    at = child;
  }
  heap[at] = moved;
}

static void sift_up(entry* heap, size_t at) {
  entry moved = heap[at];
  while (at > 0 && is_worse(&moved, &heap[(at - 1) / 2])) {
    heap[at] = heap[(at - 1) / 2];
    at = (at - 1) / 2;
  }
  heap[at] = moved;
}

static void take(entry* heap, size_t k, entry taken) {
  size_t index = (size_t)taken.index;
  if (index < k) {
    heap[index] = taken;
    sift_up(heap, index);
  } else if (is_worse(&heap[0], &taken)) {
    heap[0] = taken;
    sift_down(heap, k, 0);
  }
}

// The smallest are the largest of keys that are turned over.
static void find(const job* j, size_t first, entry* heap) {
  int64_t keys[STOWI_KERNEL_BLOCK];
  size_t step = j->rows.inner == 1 ? STOWI_KERNEL_BLOCK : 1;
  for (size_t i = 0; i < j->rows.count; i += step) {
    size_t count = stowi_kernel_smaller(step, j->rows.count - i);
    stowi_kernel_load_keys(j->x, first + i * j->rows.inner, count, INT64_MAX, keys);
    for (size_t n = 0; n < count; ++n) {
      take(heap, j->k, (entry){j->is_smallest ? ~keys[n] : keys[n], (int64_t)(i + n)});
    }
  }
  for (size_t left = j->k; left > 1; --left) {
    entry worst = heap[0];
    heap[0] = heap[left - 1];
    heap[left - 1] = worst;
    sift_down(heap, left - 1, 0);
  }
}

static void rows_task(void* user, size_t begin, size_t end, uint32_t worker) {
  const job* j = user;
  entry* heap = j->scratch + worker * j->k;
  size_t inner = j->rows.inner;
  size_t size = stowi_kernel_bits(j->x->dtype) / 8;
  const char* from = j->x->data;
  char* to = j->values->data;
  int64_t* indices = j->indices->data;
  for (size_t r = begin; r < end; ++r) {
    size_t first = r / inner * j->rows.count * inner + r % inner;
    size_t out = r / inner * j->k * inner + r % inner;
    find(j, first, heap);
    for (size_t i = 0; i < j->k; ++i, out += inner) {
      memcpy(to + out * size, from + (first + (size_t)heap[i].index * inner) * size, size);
      indices[out] = heap[i].index;
    }
  }
}

// As many as the attribute or the operand says; the dims of the results follow.
static stow_status find_k(const stow_kernel_call* call, uint32_t axis, size_t* out_k) {
  const stow_tensor* x = call->operands[0];
  const stow_tensor* operand = stow_kernel_operand(call, 1);
  int64_t most = call->results[0]->dims[axis];
  int64_t k = stowi_kernel_int(call, STOWI_KERNEL_ATTR_K, -1);
  if (k < 0) {
    k = operand == NULL || stow_tensor_elements(operand) == 0 ? most
                                                              : stowi_kernel_int_at(operand, 0);
  }
  int64_t dim = x->rank == 0 ? 1 : x->dims[axis];
  if (k < 0 || k > dim || (x->rank != 0 && k > most)) {
    return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT,
                            "k is %lld, but there are %lld elements", (long long)k, (long long)dim);
  }
  if (x->rank != 0) {
    call->results[0]->dims[axis] = k;
    call->results[1]->dims[axis] = k;
  }
  *out_k = (size_t)k;
  return STOW_OK;
}

static stow_status find_axis(const stow_kernel_call* call, uint32_t* out_axis) {
  int64_t number = stowi_kernel_int(call, STOWI_KERNEL_ATTR_AXIS, -1);
  if (!stowi_kernel_find_axis(number, call->operands[0]->rank, out_axis)) {
    return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT, "axis %lld is out of range",
                            (long long)number);
  }
  return STOW_OK;
}

static stow_status scratch_topk(const stow_kernel_call* call, uint64_t* out_bytes) {
  uint32_t axis;
  STOWI_KERNEL_TRY(find_axis(call, &axis));
  const stow_tensor* values = call->results[0];
  uint64_t k = values->rank == 0 ? 1 : (uint64_t)values->dims[axis];
  *out_bytes = stowi_kernel_times(stowi_kernel_times(k, sizeof(entry)), call->workers);
  return STOW_OK;
}

static stow_status run_topk(stow_kernel_call* call) {
  const stow_tensor* x = call->operands[0];
  uint32_t axis;
  size_t k = 0;
  STOWI_KERNEL_TRY(stowi_kernel_need_keys(call, x));
  STOWI_KERNEL_TRY(find_axis(call, &axis));
  STOWI_KERNEL_TRY(find_k(call, axis, &k));
  if (k == 0) {
    return STOW_OK;
  }
  job j = {x,
           call->results[0],
           call->results[1],
           stowi_kernel_rows_along(x, axis),
           k,
           !stowi_kernel_bool(call, STOWI_KERNEL_ATTR_LARGEST, true),
           call->scratch};
  stow_kernel_split(call, j.rows.outer * j.rows.inner, stowi_kernel_grain_of(j.rows.count * 4),
                    rows_task, &j);
  return STOW_OK;
}

STOWI_KERNEL(TOPK, scratch_topk, run_topk);
