// layer_norm and rms_norm over the last dims, and skip_norm, which does the same to a sum of
// tensors. Three passes over a row (two without a mean): mean, mean square of what is left, result.
// Sums are doubles. The sum of skip_norm is recomputed in each pass, which costs less than the
// memory that would keep it, and lets all results be in place of operands.
#include "exec/kernels/rows/axes.h"
#include "exec/kernels/rows/params.h"
#include "exec/kernels/rows/reals.h"
#include "exec/kernels/support/kernel.h"

typedef struct job {
  const stow_tensor* x;
  stowi_kernel_param skip;
  stowi_kernel_param bias;  // of the sum
  stowi_kernel_param scale;
  stowi_kernel_param shift;
  const stow_tensor* y;
  const stow_tensor* means;    // these three may be NULL
  const stow_tensor* factors;  // 1 / deviation
  const stow_tensor* sums;
  size_t count;  // of a row
  double epsilon;
  bool is_rms;
} job;

typedef struct moments {
  double mean;
  double factor;
} moments;

enum { ELEMENTS = 112 };  // that are normalised at a time

#define REAL float
#define REAL_DTYPE STOW_F32
#define OF(name) name##_f32
#include "exec/kernels/rows/row_norm_body.h"
#define REAL double
#define REAL_DTYPE STOW_F64
#define OF(name) name##_f64
#include "exec/kernels/rows/row_norm_body.h"

static void rows_task(void* user, size_t begin, size_t end, uint32_t worker) {
  const job* j = user;
  (void)worker;
  for (size_t r = begin; r < end; ++r) {
    size_t first = r * j->count;
    moments m = j->x->dtype == STOW_F64 ? measure_f64(j, first) : measure_f32(j, first);
    if (j->x->dtype == STOW_F64) {
      normalize_f64(j, first, m);
    } else {
      normalize_f32(j, first, m);
    }
    if (j->means != NULL) {
      stowi_kernel_store_f64(j->means->dtype, j->means->data, r, 1, &m.mean);
    }
    if (j->factors != NULL) {
      stowi_kernel_store_f64(j->factors->dtype, j->factors->data, r, 1, &m.factor);
    }
  }
}

// All tensors must be of real numbers.
static stow_status check(const stow_kernel_call* call) {
  for (size_t k = 0; k < call->operand_count; ++k) {
    const stow_tensor* operand = call->operands[k];
    stow_status status =
        operand == NULL
            ? STOW_OK
            : stowi_kernel_need_real(call, operand, k == 0 ? "x" : "scale, shift or skip");
    if (status != STOW_OK) {
      return status;
    }
  }
  return STOW_OK;
}

// Rows without elements have moments, too: NaN.
static void divide(const stow_kernel_call* call, job* j, size_t rows) {
  if (j->count != 0 || j->means != NULL || j->factors != NULL) {
    stow_kernel_split(call, rows, stowi_kernel_grain_of(j->count * 3), rows_task, j);
  }
}

// ---------------------------------------------------------------------------------------------
// Kernels

static stow_status run_row_norm(stow_kernel_call* call, bool is_rms) {
  const stow_tensor* x = call->operands[0];
  stowi_kernel_rows rows;
  stow_status status = check(call);
  status = status == STOW_OK ? stowi_kernel_rows_of(call, x, -1, &rows) : status;
  if (status != STOW_OK) {
    return status;
  }
  size_t count = rows.count * rows.inner;
  job j = {.x = x,
           .scale = stowi_kernel_param_of(stow_kernel_operand(call, 1), x, count),
           .shift = stowi_kernel_param_of(stow_kernel_operand(call, 2), x, count),
           .y = call->results[0],
           .means = stow_kernel_result(call, 1),
           .factors = stow_kernel_result(call, 2),
           .count = count,
           .epsilon = stowi_kernel_float(call, STOWI_KERNEL_ATTR_EPSILON, 1e-5),
           .is_rms = is_rms};
  divide(call, &j, rows.outer);
  return STOW_OK;
}

static stow_status run_layer_norm(stow_kernel_call* call) { return run_row_norm(call, false); }
static stow_status run_rms_norm(stow_kernel_call* call) { return run_row_norm(call, true); }

static stow_status run_skip_norm(stow_kernel_call* call) {
  const stow_tensor* x = call->operands[0];
  STOWI_KERNEL_TRY(check(call));
  stowi_kernel_rows rows = stowi_kernel_rows_along(x, x->rank - 1);
  job j = {.x = x,
           .skip = stowi_kernel_param_of(stow_kernel_operand(call, 1), x, rows.count),
           .scale = stowi_kernel_param_of(stow_kernel_operand(call, 2), x, rows.count),
           .shift = stowi_kernel_param_of(stow_kernel_operand(call, 3), x, rows.count),
           .bias = stowi_kernel_param_of(stow_kernel_operand(call, 4), x, rows.count),
           .y = call->results[0],
           .means = stow_kernel_result(call, 1),
           .factors = stow_kernel_result(call, 2),
           .sums = stow_kernel_result(call, 3),
           .count = rows.count,
           .epsilon = stowi_kernel_float(call, STOWI_KERNEL_ATTR_EPSILON, 1e-12),
           .is_rms = stowi_kernel_is(call, STOWI_KERNEL_ATTR_OP, "rms")};
  divide(call, &j, rows.outer);
  return STOW_OK;
}

STOWI_KERNEL(LAYER_NORM, NULL, run_layer_norm);
STOWI_KERNEL(RMS_NORM, NULL, run_rms_norm);
STOWI_KERNEL(SKIP_NORM, NULL, run_skip_norm);
