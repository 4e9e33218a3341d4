// Elements picked along an axis, each by an index of its own. The result may lie over the indices:
// a block of them is read before its elements are written.
#include "exec/kernels/indexing/elements_at.h"
#include "exec/kernels/indexing/pick.h"
#include "exec/kernels/layout/elements.h"
#include "exec/kernels/support/convert.h"
#include "exec/kernels/support/kernel.h"

#define GRAIN 16384  // elements

typedef struct picking {
  stowi_elements_at at;
  size_t row;
  uint32_t bits;
  void* to;
} picking;

static void pick_rows(void* user, size_t begin, size_t end, uint32_t worker) {
  (void)worker;
  const picking* p = user;
  int64_t places[STOWI_BLOCK];
  for (size_t r = begin; r < end; ++r) {
    for (size_t i = 0; i < p->row; i += STOWI_BLOCK) {
      size_t size = p->row - i < STOWI_BLOCK ? p->row - i : STOWI_BLOCK;
      stowi_elements_at_block(&p->at, r, i, size, places);
      stowi_pick(p->bits, p->to, r * p->row + i, p->at.data->data, places, size);
    }
  }
}

static stow_status run_gather_elements(stow_kernel_call* call) {
  stow_tensor* result = call->results[0];
  picking p = {.to = result->data, .bits = stowi_bits(result->dtype)};
  stow_status status = stowi_elements_at_init(call, &p.at);
  if (status != STOW_OK) {
    return status;
  }
  size_t rows = stowi_elements_at_rows(&p.at, &p.row);
  if (stowi_is_packed(p.bits) || !stowi_is_divisible(call)) {
    stowi_clear_tail(result);
    pick_rows(&p, 0, rows, 0);
  } else {
    stow_kernel_split(call, rows, GRAIN / (p.row + 1) + 1, pick_rows, &p);
  }
  return STOW_OK;
}

STOWI_KERNEL(GATHER_ELEMENTS, NULL, run_gather_elements);
