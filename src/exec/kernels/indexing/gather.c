// gather, gather_elements and gather_nd.
#include "exec/kernels/indexing/indices.h"
#include "exec/kernels/layout/elements.h"
#include "exec/kernels/layout/numbers.h"
#include "exec/kernels/support/convert.h"
#include "exec/kernels/support/kernel.h"

// ---------------------------------------------------------------------------------------------
// gather: slices along an axis. The result may be in place of the indices if each selects a single
// element that is not wider than an index: a block of indices is read before its elements are
// written.

#define SLICE_GRAIN 16384  // bytes

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
    stowi_kernel_copy_elements(g->bits, g->to, (at + j) * g->slice, g->data->data,
                               (size_t)places[j] * g->slice, g->slice);
  }
}

static void gather_range(void* user, size_t begin, size_t end, uint32_t worker) {
  (void)worker;
  const gather* g = user;
  int64_t block[STOWI_KERNEL_BLOCK];
  while (begin < end) {
    size_t first = begin % g->count;
    int64_t row = (int64_t)(begin / g->count) * g->dim;
    size_t size = g->count - first < STOWI_KERNEL_BLOCK ? g->count - first : STOWI_KERNEL_BLOCK;
    size = end - begin < size ? end - begin : size;
    stowi_kernel_load_i64(g->indices->dtype, g->indices->data, first, size, block);
    for (size_t j = 0; j < size; ++j) {
      block[j] = row + stowi_kernel_index(block[j], g->dim);
    }
    if (g->slice == 1) {
      stowi_kernel_pick(g->bits, g->to, begin, g->data->data, block, size);
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
  STOWI_KERNEL_TRY(stowi_kernel_axis_attr(call, data->rank, &axis));
  STOWI_KERNEL_TRY(stowi_kernel_check_indices(call, g.indices, data, axis));
  if (stow_tensor_elements(result) == 0) {
    return STOW_OK;
  }
  g.bits = stowi_kernel_bits(data->dtype);
  g.dim = data->dims[axis];
  g.count = stow_tensor_elements(g.indices);
  g.slice = stowi_kernel_count_of(data, axis + 1, data->rank);
  size_t picks = stowi_kernel_count_of(data, 0, axis) * g.count;
  if (stowi_kernel_is_packed(g.bits) || !stowi_kernel_is_divisible(call)) {
    stowi_kernel_clear_tail(result);
    gather_range(&g, 0, picks, 0);
  } else {
    stow_kernel_split(call, picks, SLICE_GRAIN / (g.slice * g.bits / 8) + 1, gather_range, &g);
  }
  return STOW_OK;
}

STOWI_KERNEL(GATHER, NULL, run_gather, .unaligned = 1);

// ---------------------------------------------------------------------------------------------
// gather_elements: single elements along an axis, each with its own index. The result may be in
// place of the indices: a block of them is read before its elements are written.

#define ELEMENT_GRAIN 16384  // elements

typedef struct element_picking {
  stowi_kernel_elements_at at;
  size_t row;
  uint32_t bits;
  void* to;
} element_picking;

static void pick_rows(void* user, size_t begin, size_t end, uint32_t worker) {
  (void)worker;
  const element_picking* p = user;
  int64_t places[STOWI_KERNEL_BLOCK];
  for (size_t r = begin; r < end; ++r) {
    for (size_t i = 0; i < p->row; i += STOWI_KERNEL_BLOCK) {
      size_t size = p->row - i < STOWI_KERNEL_BLOCK ? p->row - i : STOWI_KERNEL_BLOCK;
      stowi_kernel_elements_at_block(&p->at, r, i, size, places);
      stowi_kernel_pick(p->bits, p->to, r * p->row + i, p->at.data->data, places, size);
    }
  }
}

static stow_status run_gather_elements(stow_kernel_call* call) {
  stow_tensor* result = call->results[0];
  element_picking p = {.to = result->data, .bits = stowi_kernel_bits(result->dtype)};
  STOWI_KERNEL_TRY(stowi_kernel_elements_at_init(call, &p.at));
  size_t rows = stowi_kernel_elements_at_rows(&p.at, &p.row);
  if (stowi_kernel_is_packed(p.bits) || !stowi_kernel_is_divisible(call)) {
    stowi_kernel_clear_tail(result);
    pick_rows(&p, 0, rows, 0);
  } else {
    stow_kernel_split(call, rows, ELEMENT_GRAIN / (p.row + 1) + 1, pick_rows, &p);
  }
  return STOW_OK;
}

STOWI_KERNEL(GATHER_ELEMENTS, NULL, run_gather_elements);

// ---------------------------------------------------------------------------------------------
// gather_nd: slices selected by index tuples.

#define TUPLE_GRAIN 8192  // elements

typedef struct tuple_picking {
  stowi_kernel_tuples tuples;
  uint32_t bits;
  void* to;
} tuple_picking;

static void pick(void* user, size_t begin, size_t end, uint32_t worker) {
  (void)worker;
  const tuple_picking* p = user;
  size_t slice = p->tuples.slice;
  for (size_t i = begin; i < end; ++i) {
    stowi_kernel_copy_elements(p->bits, p->to, i * slice, p->tuples.data->data,
                               stowi_kernel_tuple_place(&p->tuples, i), slice);
  }
}

static stow_status run_gather_nd(stow_kernel_call* call) {
  stow_tensor* result = call->results[0];
  tuple_picking p = {.to = result->data, .bits = stowi_kernel_bits(result->dtype)};
  uint32_t batch_dims = (uint32_t)stowi_kernel_int(call, STOWI_KERNEL_ATTR_BATCH_DIMS, 0);
  STOWI_KERNEL_TRY(stowi_kernel_tuples_init(call, batch_dims, &p.tuples));
  if (stow_tensor_elements(result) == 0) {
    return STOW_OK;
  }
  if (stowi_kernel_is_packed(p.bits)) {
    stowi_kernel_clear_tail(result);
    pick(&p, 0, p.tuples.count, 0);
  } else {
    stow_kernel_split(call, p.tuples.count, TUPLE_GRAIN / p.tuples.slice + 1, pick, &p);
  }
  return STOW_OK;
}

STOWI_KERNEL(GATHER_ND, NULL, run_gather_nd);
