// Slices picked by tuples of indices.
#include "exec/kernels/indexing/tuples.h"
#include "exec/kernels/layout/elements.h"
#include "exec/kernels/support/convert.h"
#include "exec/kernels/support/kernel.h"

#define GRAIN 8192  // elements

typedef struct picking {
  stowi_tuples tuples;
  uint32_t bits;
  void* to;
} picking;

static void pick(void* user, size_t begin, size_t end, uint32_t worker) {
  (void)worker;
  const picking* p = user;
  size_t slice = p->tuples.slice;
  for (size_t i = begin; i < end; ++i) {
    stowi_copy_elements(p->bits, p->to, i * slice, p->tuples.data->data,
                        stowi_tuple_place(&p->tuples, i), slice);
  }
}

static stow_status run_gather_nd(stow_kernel_call* call) {
  stow_tensor* result = call->results[0];
  picking p = {.to = result->data, .bits = stowi_bits(result->dtype)};
  uint32_t batch_dims = (uint32_t)stow_kernel_int(call, "batch_dims", 0);
  stow_status status = stowi_tuples_init(call, batch_dims, &p.tuples);
  if (status != STOW_OK || stow_tensor_elements(result) == 0) {
    return status;
  }
  if (stowi_is_packed(p.bits)) {
    stowi_clear_tail(result);
    pick(&p, 0, p.tuples.count, 0);
  } else {
    stow_kernel_split(call, p.tuples.count, GRAIN / p.tuples.slice + 1, pick, &p);
  }
  return STOW_OK;
}

STOWI_KERNEL(GATHER_ND, NULL, run_gather_nd);
