// instance_norm and group_norm: channels, or groups of them, are normalised each on its own, then
// scaled and shifted by channel. Three passes over a group, sums in double.
#include "exec/kernels/rows/channel_norm.h"

#include "exec/kernels/rows/axes.h"
#include "exec/kernels/rows/reals.h"
#include "exec/kernels/support/kernel.h"

#define REAL float
#define OF(name) name##_f32
#include "exec/kernels/rows/channel_norm_body.h"
#undef REAL
#undef OF
#define REAL double
#define OF(name) name##_f64
#include "exec/kernels/rows/channel_norm_body.h"
#undef REAL
#undef OF

double stowi_run_sum(const stow_tensor* x, size_t first, size_t count) {
  return x->dtype == STOW_F64 ? run_sum_f64(x, first, count) : run_sum_f32(x, first, count);
}

double stowi_run_squares(const stow_tensor* x, size_t first, size_t count, double center) {
  return x->dtype == STOW_F64 ? run_squares_f64(x, first, count, center)
                              : run_squares_f32(x, first, count, center);
}

void stowi_run_affine(const stow_tensor* x, const stow_tensor* y, size_t first, size_t count,
                      double center, double factor, double shift) {
  if (x->dtype == STOW_F64) {
    run_affine_f64(x, y, first, count, center, factor, shift);
  } else {
    run_affine_f32(x, y, first, count, (float)center, (float)factor, (float)shift);
  }
}

double stowi_param_at(const stow_tensor* tensor, size_t i, double fallback) {
  return tensor == NULL ? fallback : stowi_float_at(tensor, i);
}

// ---------------------------------------------------------------------------------------------
// Kernels

typedef struct job {
  const stow_tensor* x;
  const stow_tensor* scale;
  const stow_tensor* shift;
  const stow_tensor* y;
  size_t groups;    // of a sample
  size_t channels;  // of a group
  size_t inner;     // elements of a channel
  double epsilon;
} job;

// Which of a scale's elements is for channel |c| of all: it may have one for each group only.
static size_t param_index(const job* j, const stow_tensor* param, size_t c) {
  size_t count = param == NULL ? 0 : stow_tensor_elements(param);
  return count == j->groups && j->channels != 1 ? c / j->channels : c;
}

static void groups_task(void* user, size_t begin, size_t end, uint32_t worker) {
  const job* j = user;
  size_t count = j->channels * j->inner;
  (void)worker;
  for (size_t g = begin; g < end; ++g) {
    size_t first = g * count;
    double mean = stowi_run_sum(j->x, first, count) / (double)count;
    double squares = stowi_run_squares(j->x, first, count, mean);
    double factor = 1 / sqrt(squares / (double)count + j->epsilon);
    for (size_t k = 0; k < j->channels; ++k) {
      size_t c = g % j->groups * j->channels + k;
      double scale = stowi_param_at(j->scale, param_index(j, j->scale, c), 1);
      double shift = stowi_param_at(j->shift, param_index(j, j->shift, c), 0);
      stowi_run_affine(j->x, j->y, first + k * j->inner, j->inner, mean, factor * scale, shift);
    }
  }
}

static stow_status run_groups(stow_kernel_call* call, size_t groups) {
  const stow_tensor* x = call->operands[0];
  stow_status status = stowi_need_real(call, x, "x");
  if (status != STOW_OK) {
    return status;
  }
  stowi_rows rows = stowi_rows_along(x, 1);
  job j = {.x = x,
           .scale = stow_kernel_operand(call, 1),
           .shift = stow_kernel_operand(call, 2),
           .y = call->results[0],
           .groups = groups,
           .channels = groups == 0 ? 0 : rows.count / groups,
           .inner = rows.inner,
           .epsilon = stow_kernel_float(call, "epsilon", 1e-5)};
  if (groups != 0 && rows.count % groups != 0) {
    return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT,
                            "%zu channels cannot be cut into %zu groups", rows.count, groups);
  }
  if (j.channels * j.inner != 0) {
    stow_kernel_split(call, rows.outer * groups, stowi_grain_of(j.channels * j.inner * 3),
                      groups_task, &j);
  }
  return STOW_OK;
}

static stow_status run_instance_norm(stow_kernel_call* call) {
  return run_groups(call, (size_t)call->operands[0]->dims[1]);
}

static stow_status run_group_norm(stow_kernel_call* call) {
  int64_t groups = stow_kernel_int(call, "groups", 1);
  if (groups < 1) {
    return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT, "there must be 1 group or more");
  }
  return run_groups(call, (size_t)groups);
}

STOWI_KERNEL(INSTANCE_NORM, NULL, run_instance_norm);
STOWI_KERNEL(GROUP_NORM, NULL, run_group_norm);
