// The upper or lower triangle of each matrix, bits of 0 elsewhere; in place, what stays is not
// touched.
#include "exec/kernels/layout/elements.h"
#include "exec/kernels/layout/numbers.h"
#include "exec/kernels/support/convert.h"
#include "exec/kernels/support/kernel.h"

#define GRAIN 16384  // elements

typedef struct triangle {
  const stow_tensor* x;
  stow_tensor* result;
  uint32_t bits;
  int64_t rows, columns;
  int64_t k;  // the diagonal that belongs to the triangle
  bool is_upper;
} triangle;

static int64_t clamp(int64_t at, int64_t high) { return at < 0 ? 0 : at > high ? high : at; }

static void make_rows(void* user, size_t begin, size_t end, uint32_t worker) {
  (void)worker;
  const triangle* t = user;
  void* to = t->result->data;
  for (size_t r = begin; r < end; ++r) {
    int64_t row = (int64_t)(r % (size_t)t->rows);
    // |k| was brought within the matrix, so that the sums fit.
    int64_t first = t->is_upper ? clamp(row + t->k, t->columns) : 0;
    int64_t last = t->is_upper ? t->columns : clamp(row + t->k + 1, t->columns);
    size_t at = r * (size_t)t->columns;
    stowi_kernel_fill_elements(t->bits, to, at, (size_t)first, NULL);
    if (to != t->x->data) {
      stowi_kernel_copy_elements(t->bits, to, at + (size_t)first, t->x->data, at + (size_t)first,
                                 (size_t)(last - first));
    }
    stowi_kernel_fill_elements(t->bits, to, at + (size_t)last, (size_t)(t->columns - last), NULL);
  }
}

static stow_status run_trilu(stow_kernel_call* call) {
  const stow_tensor* x = call->operands[0];
  const stow_tensor* k = stow_kernel_operand(call, 1);
  triangle t = {.x = x, .result = call->results[0], .bits = stowi_kernel_bits(x->dtype)};
  t.rows = x->dims[x->rank - 2];
  t.columns = x->dims[x->rank - 1];
  t.k = k == NULL ? 0 : stowi_kernel_int_at(k, 0);
  t.k = t.k < -t.rows ? -t.rows : t.k > t.columns ? t.columns : t.k;
  t.is_upper = stowi_kernel_bool(call, STOWI_KERNEL_ATTR_UPPER, true);
  if (stow_tensor_elements(x) == 0) {
    return STOW_OK;
  }
  size_t rows = stowi_kernel_count_of(x, 0, x->rank - 1);
  if (stowi_kernel_is_packed(t.bits)) {
    stowi_kernel_clear_tail(t.result);
    make_rows(&t, 0, rows, 0);
  } else {
    stow_kernel_split(call, rows, GRAIN / (size_t)t.columns + 1, make_rows, &t);
  }
  return STOW_OK;
}

STOWI_KERNEL(TRILU, NULL, run_trilu);
