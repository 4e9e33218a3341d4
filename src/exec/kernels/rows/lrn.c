// lrn: each element divided by a power of the sum of squares over neighbouring channels. x counts
// as [N, C, inner]; blocks of a channel are computed together. |size| passes over x, which are in
// the cache for small sizes. Powers of the usual 0.75 are square roots.
#include "exec/kernels/rows/axes.h"
#include "exec/kernels/rows/reals.h"
#include "exec/kernels/support/kernel.h"

typedef struct job {
  const stow_tensor* x;
  const stow_tensor* y;
  stowi_kernel_rows rows;
  size_t before;  // channels of the window before the one in question, and after it
  size_t after;
  double alpha;  // of one square
  double beta;
  double bias;
} job;

static void divide_by_powers(const job* j, double* x, const double* sums, size_t count) {
  if (j->beta == 0.75) {
    for (size_t k = 0; k < count; ++k) {
      double root = sqrt(j->bias + j->alpha * sums[k]);
      x[k] /= root * sqrt(root);
    }
    return;
  }
  for (size_t k = 0; k < count; ++k) {
    x[k] /= pow(j->bias + j->alpha * sums[k], j->beta);
  }
}

static void block(const job* j, size_t sample, size_t channel, size_t column, size_t count) {
  double sums[STOWI_KERNEL_BLOCK] = {0};
  double room[STOWI_KERNEL_BLOCK];
  size_t inner = j->rows.inner;
  size_t first = channel > j->before ? channel - j->before : 0;
  size_t last = stowi_kernel_smaller(j->rows.count - 1, channel + j->after);
  for (size_t c = first; c <= last; ++c) {
    size_t at = (sample * j->rows.count + c) * inner + column;
    stowi_kernel_load_f64(j->x->dtype, j->x->data, at, count, room);
    for (size_t k = 0; k < count; ++k) {
      sums[k] += room[k] * room[k];
    }
  }
  size_t at = (sample * j->rows.count + channel) * inner + column;
  stowi_kernel_load_f64(j->x->dtype, j->x->data, at, count, room);
  divide_by_powers(j, room, sums, count);
  stowi_kernel_store_f64(j->y->dtype, j->y->data, at, count, room);
}

static void channels_task(void* user, size_t begin, size_t end, uint32_t worker) {
  const job* j = user;
  (void)worker;
  for (size_t n = begin; n < end; ++n) {
    for (size_t column = 0; column < j->rows.inner; column += STOWI_KERNEL_BLOCK) {
      size_t count = stowi_kernel_smaller(STOWI_KERNEL_BLOCK, j->rows.inner - column);
      block(j, n / j->rows.count, n % j->rows.count, column, count);
    }
  }
}

static stow_status run_lrn(stow_kernel_call* call) {
  const stow_tensor* x = call->operands[0];
  stow_status status = stowi_kernel_need_real(call, x, "x");
  int64_t size = stowi_kernel_int(call, STOWI_KERNEL_ATTR_SIZE, 1);
  if (status != STOW_OK) {
    return status;
  }
  if (size < 1) {
    return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT, "size is %lld, expected at least 1",
                            (long long)size);
  }
  if (stow_tensor_elements(x) == 0) {
    return STOW_OK;
  }
  job j = {.x = x,
           .y = call->results[0],
           .rows = stowi_kernel_rows_along(x, 1),
           .before = (size_t)(size - 1) / 2,
           .after = (size_t)size / 2,
           .alpha = stowi_kernel_float(call, STOWI_KERNEL_ATTR_ALPHA, 1e-4) / (double)size,
           .beta = stowi_kernel_float(call, STOWI_KERNEL_ATTR_BETA, 0.75),
           .bias = stowi_kernel_float(call, STOWI_KERNEL_ATTR_BIAS, 1.0)};
  // A window that reaches past both ends is as good as a larger one.
  j.before = stowi_kernel_smaller(j.before, j.rows.count);
  j.after = stowi_kernel_smaller(j.after, j.rows.count);
  size_t squares = j.rows.inner * (j.before + j.after + 1);
  stow_kernel_split(call, j.rows.outer * j.rows.count, stowi_kernel_grain_of(squares),
                    channels_task, &j);
  return STOW_OK;
}

STOWI_KERNEL(LRN, NULL, run_lrn);
