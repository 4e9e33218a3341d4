// split_gelu: x + bias in two halves of the last dim, the left one times gelu of the right one. One
// pass in ascending order. The result may be in place of x, where row r begins at half the place
// that x's row has: a block of both halves is read before it is written, and what is written there
// has been read before. Rows are divided only where the result lies elsewhere.
#include "exec/kernels/rows/axes.h"
#include "exec/kernels/rows/params.h"
#include "exec/kernels/rows/reals.h"
#include "exec/kernels/support/kernel.h"
#include "exec/kernels/support/vector.h"

typedef struct job {
  const stow_tensor* x;
  stowi_kernel_param bias;
  const stow_tensor* y;
  size_t half;
} job;

enum { ELEMENTS = 128 };  // at a time

static void load_sum(const job* j, size_t at, size_t count, double* out) {
  double room[ELEMENTS];
  const double* bias = stowi_kernel_param_f64(&j->bias, at, count, 0, room);
  stowi_kernel_load_f64(j->x->dtype, j->x->data, at, count, out);
  for (size_t i = 0; i < count; ++i) {
    out[i] += bias[i];
  }
}

STOWI_KERNEL_LOOP(times_gelu, (stow_dtype dtype, const double* x, double* left, size_t count),
                  (dtype, x, left, count)) {
  const double root_half = 0.70710678118654752440;
  for (size_t i = 0; i < count; ++i) {
    double bell = dtype == STOW_F64 ? erf(x[i] * root_half)
                                    : (double)stowi_kernel_erff(has_fma, (float)(x[i] * root_half));
    left[i] *= 0.5 * x[i] * (1 + bell);
  }
}

static void rows_task(void* user, size_t begin, size_t end, uint32_t worker) {
  const job* j = user;
  double left[ELEMENTS];
  double right[ELEMENTS];
  (void)worker;
  for (size_t r = begin; r < end; ++r) {
    for (size_t i = 0; i < j->half; i += ELEMENTS) {
      size_t count = stowi_kernel_smaller(ELEMENTS, j->half - i);
      size_t at = 2 * r * j->half + i;
      load_sum(j, at, count, left);
      load_sum(j, at + j->half, count, right);
      times_gelu(j->x->dtype, right, left, count);
      stowi_kernel_store_f64(j->y->dtype, j->y->data, r * j->half + i, count, left);
    }
  }
}

static stow_status run_split_gelu(stow_kernel_call* call) {
  const stow_tensor* x = call->operands[0];
  STOWI_KERNEL_TRY(stowi_kernel_need_real(call, x, "x"));
  if (stow_tensor_elements(call->results[0]) == 0) {
    return STOW_OK;
  }
  stowi_kernel_rows rows = stowi_kernel_rows_along(x, x->rank - 1);
  job j = {x, stowi_kernel_param_of(call->operands[1], x, rows.count), call->results[0],
           rows.count / 2};
  if (stowi_kernel_is_divisible(call)) {
    stow_kernel_split(call, rows.outer, stowi_kernel_grain_of(rows.count * 4), rows_task, &j);
  } else {
    rows_task(&j, 0, rows.outer, 0);
  }
  return STOW_OK;
}

STOWI_KERNEL(SPLIT_GELU, NULL, run_split_gelu);
