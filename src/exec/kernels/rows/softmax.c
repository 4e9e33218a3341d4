// softmax and log_softmax: exp(x - max) / sum, so that nothing overflows. Three passes over a row.
// Where the axis is the last, a row is walked block by block; else neighbouring rows are walked
// together, so that the inner loop is over elements that are contiguous all the same.
//
// In f32 and along the last axis exponentials are kept in y between passes; elsewhere they are
// computed twice, which spares both scratch and a second rounding of f16.
#include "exec/kernels/rows/softmax.h"

#include "exec/kernels/rows/reals.h"
#include "exec/kernels/support/kernel.h"

typedef struct job {
  stow_dtype dtype;
  const void* x;
  void* y;
  stowi_kernel_rows rows;
  bool is_log;
} job;

#define REAL float
#define REAL_DTYPE STOW_F32
#define OF(name) name##_f32
#include "exec/kernels/rows/softmax_body.h"
#define REAL double
#define REAL_DTYPE STOW_F64
#define OF(name) name##_f64
#include "exec/kernels/rows/softmax_body.h"

static void rows_task(void* user, size_t begin, size_t end, uint32_t worker) {
  const job* j = user;
  size_t first = begin * j->rows.count;
  (void)worker;
  if (!j->is_log && j->dtype == STOW_F32) {
    (void)stowi_kernel_softmax_rows_f32((const float*)j->x + first, end - begin, j->rows.count,
                                        -INFINITY, (float*)j->y + first);
    return;
  }
  if (!j->is_log && j->dtype == STOW_F64) {
    (void)stowi_kernel_softmax_rows_f64((const double*)j->x + first, end - begin, j->rows.count,
                                        -INFINITY, (double*)j->y + first);
    return;
  }
  for (size_t r = begin; r < end; ++r) {
    if (j->dtype == STOW_F64) {
      row_f64(j, r * j->rows.count);
    } else {
      row_f32(j, r * j->rows.count);
    }
  }
}

static void strips_task(void* user, size_t begin, size_t end, uint32_t worker) {
  const job* j = user;
  (void)worker;
  for (size_t i = begin; i < end; ++i) {
    stowi_kernel_strip strip = stowi_kernel_strip_at(&j->rows, i);
    if (j->dtype == STOW_F64) {
      strip_f64(j, strip.first, strip.width);
    } else {
      strip_f32(j, strip.first, strip.width);
    }
  }
}

void stowi_kernel_softmax(const stow_kernel_call* call, const stow_tensor* x, const stow_tensor* y,
                          stowi_kernel_rows rows, bool is_log) {
  job j = {x->dtype, x->data, y->data, rows, is_log};
  if (rows.count == 0) {
    return;
  }
  if (rows.inner == 1) {
    stow_kernel_split(call, rows.outer, stowi_kernel_grain_of(rows.count * 4), rows_task, &j);
  } else {
    stowi_kernel_split_strips(call, &rows, 4, strips_task, &j);
  }
}

static stow_status run(stow_kernel_call* call, bool is_log) {
  const stow_tensor* x = call->operands[0];
  stowi_kernel_rows rows;
  STOWI_KERNEL_TRY(stowi_kernel_need_real(call, x, "x"));
  STOWI_KERNEL_TRY(stowi_kernel_rows_from(call, x, &rows));
  stowi_kernel_softmax(call, x, call->results[0], rows, is_log);
  return STOW_OK;
}

static stow_status run_softmax(stow_kernel_call* call) { return run(call, false); }
static stow_status run_log_softmax(stow_kernel_call* call) { return run(call, true); }

STOWI_KERNEL(SOFTMAX, NULL, run_softmax);
STOWI_KERNEL(LOG_SOFTMAX, NULL, run_log_softmax);
