// batch_norm: each channel is shifted and scaled by statistics that are given, or in training by
// its own over the batch, of which running averages are kept. x counts as [N, C, inner]; without
// `spatial` each element of a sample is a channel. One pass, three in training.
//
// Where inner is 1, channels are neighbours and a block of them is walked together. In training a
// channel is read as a whole before it is written.
#include <math.h>

#include "exec/kernels/rows/axes.h"
#include "exec/kernels/rows/channel_norm.h"
#include "exec/kernels/rows/reals.h"
#include "exec/kernels/support/kernel.h"

typedef struct job {
  const stow_kernel_call* call;
  const stow_tensor* x;
  const stow_tensor* y;
  stowi_rows rows;
  double epsilon;
  double momentum;
} job;

// Of up to a block of channels.
typedef struct channels {
  size_t count;
  double mean[STOWI_BLOCK];
  double var[STOWI_BLOCK];
  double factor[STOWI_BLOCK];
  double shift[STOWI_BLOCK];
} channels;

enum { SCALE = 1, BIAS, MEAN, VAR };

static void load_given(const job* j, size_t first, channels* c) {
  const stow_tensor* const* operands = j->call->operands;
  stowi_load_f64(operands[MEAN]->dtype, operands[MEAN]->data, first, c->count, c->mean);
  stowi_load_f64(operands[VAR]->dtype, operands[VAR]->data, first, c->count, c->var);
}

static void load_factors(const job* j, size_t first, channels* c) {
  const stow_tensor* const* operands = j->call->operands;
  stowi_load_f64(operands[SCALE]->dtype, operands[SCALE]->data, first, c->count, c->factor);
  stowi_load_f64(operands[BIAS]->dtype, operands[BIAS]->data, first, c->count, c->shift);
  for (size_t k = 0; k < c->count; ++k) {
    c->factor[k] /= sqrt(c->var[k] + j->epsilon);
  }
}

// ---------------------------------------------------------------------------------------------
// Statistics

static void measure_runs(const job* j, size_t first, channels* c) {
  size_t inner = j->rows.inner;
  double count = (double)(j->rows.outer * inner);
  for (size_t k = 0; k < c->count; ++k) {
    double sum = 0;
    double squares = 0;
    for (size_t n = 0; n < j->rows.outer; ++n) {
      sum += stowi_run_sum(j->x, (n * j->rows.count + first + k) * inner, inner);
    }
    c->mean[k] = sum / count;
    for (size_t n = 0; n < j->rows.outer; ++n) {
      size_t at = (n * j->rows.count + first + k) * inner;
      squares += stowi_run_squares(j->x, at, inner, c->mean[k]);
    }
    c->var[k] = squares / count;
  }
}

static void measure_neighbours(const job* j, size_t first, channels* c) {
  double room[STOWI_BLOCK];
  double count = (double)j->rows.outer;
  for (size_t k = 0; k < c->count; ++k) {
    c->mean[k] = 0;
    c->var[k] = 0;
  }
  for (size_t n = 0; n < j->rows.outer; ++n) {
    stowi_load_f64(j->x->dtype, j->x->data, n * j->rows.count + first, c->count, room);
    for (size_t k = 0; k < c->count; ++k) {
      c->mean[k] += room[k] / count;
    }
  }
  for (size_t n = 0; n < j->rows.outer; ++n) {
    stowi_load_f64(j->x->dtype, j->x->data, n * j->rows.count + first, c->count, room);
    for (size_t k = 0; k < c->count; ++k) {
      c->var[k] += (room[k] - c->mean[k]) * (room[k] - c->mean[k]) / count;
    }
  }
}

static void store(const job* j, size_t result, size_t first, size_t count, const double* numbers) {
  const stow_tensor* tensor = stow_kernel_result(j->call, result);
  if (tensor != NULL) {
    stowi_store_f64(tensor->dtype, tensor->data, first, count, numbers);
  }
}

// Running averages move towards what was measured by 1 - momentum.
static void store_running(const job* j, size_t operand, size_t result, size_t first, size_t count,
                          const double* measured) {
  double running[STOWI_BLOCK];
  const stow_tensor* given = j->call->operands[operand];
  stowi_load_f64(given->dtype, given->data, first, count, running);
  for (size_t k = 0; k < count; ++k) {
    running[k] = running[k] * j->momentum + measured[k] * (1 - j->momentum);
  }
  store(j, result, first, count, running);
}

static void store_statistics(const job* j, size_t first, const channels* c) {
  store_running(j, MEAN, 1, first, c->count, c->mean);
  store_running(j, VAR, 2, first, c->count, c->var);
  store(j, 3, first, c->count, c->mean);
  store(j, 4, first, c->count, c->var);
}

// ---------------------------------------------------------------------------------------------
// Results

static void apply_neighbours(const job* j, size_t n, size_t first, const channels* c) {
  double room[STOWI_BLOCK];
  size_t at = n * j->rows.count + first;
  stowi_load_f64(j->x->dtype, j->x->data, at, c->count, room);
  for (size_t k = 0; k < c->count; ++k) {
    room[k] = (room[k] - c->mean[k]) * c->factor[k] + c->shift[k];
  }
  stowi_store_f64(j->y->dtype, j->y->data, at, c->count, room);
}

static void apply(const job* j, size_t n, size_t first, const channels* c) {
  if (j->rows.inner == 1) {
    apply_neighbours(j, n, first, c);
    return;
  }
  for (size_t k = 0; k < c->count; ++k) {
    size_t at = (n * j->rows.count + first + k) * j->rows.inner;
    stowi_run_affine(j->x, j->y, at, j->rows.inner, c->mean[k], c->factor[k], c->shift[k]);
  }
}

// Channels [begin, end), of all samples together.
static void train_task(void* user, size_t begin, size_t end, uint32_t worker) {
  const job* j = user;
  channels c;
  (void)worker;
  for (size_t first = begin; first < end; first += STOWI_BLOCK) {
    c.count = stowi_smaller(STOWI_BLOCK, end - first);
    if (j->rows.inner == 1) {
      measure_neighbours(j, first, &c);
    } else {
      measure_runs(j, first, &c);
    }
    load_factors(j, first, &c);
    for (size_t n = 0; n < j->rows.outer; ++n) {
      apply(j, n, first, &c);
    }
    store_statistics(j, first, &c);
  }
}

static void infer_task(void* user, size_t begin, size_t end, uint32_t worker) {
  const job* j = user;
  channels c;
  (void)worker;
  for (size_t at = begin; at < end; at += c.count) {
    size_t first = at % j->rows.count;
    c.count = stowi_smaller(STOWI_BLOCK, stowi_smaller(end - at, j->rows.count - first));
    load_given(j, first, &c);
    load_factors(j, first, &c);
    apply(j, at / j->rows.count, first, &c);
  }
}

// Without training the statistics of the batch are those that were given.
static void copy_statistics(const job* j) {
  channels c;
  for (size_t first = 0; j->call->result_count > 1 && first < j->rows.count; first += c.count) {
    c.count = stowi_smaller(STOWI_BLOCK, j->rows.count - first);
    load_given(j, first, &c);
    for (size_t k = 1; k < 5; ++k) {
      store(j, k, first, c.count, k % 2 == 1 ? c.mean : c.var);
    }
  }
}

static stowi_rows find_channels(const stow_kernel_call* call, const stow_tensor* x) {
  stowi_rows rows = stowi_rows_along(x, 1);
  if (x->rank > 1 && !stow_kernel_bool(call, "spatial", true)) {
    rows.count *= rows.inner;
    rows.inner = 1;
  }
  return rows;
}

static stow_status run_batch_norm(stow_kernel_call* call) {
  const stow_tensor* x = call->operands[0];
  for (size_t k = 0; k <= VAR; ++k) {
    stow_status status = stowi_need_real(call, call->operands[k], k == 0 ? "x" : "a statistic");
    if (status != STOW_OK) {
      return status;
    }
  }
  job j = {call,
           x,
           call->results[0],
           find_channels(call, x),
           stow_kernel_float(call, "epsilon", 1e-5),
           stow_kernel_float(call, "momentum", 0.9)};
  if (stow_kernel_bool(call, "training", false)) {
    size_t size = j.rows.outer * j.rows.inner;
    stow_kernel_split(call, j.rows.count, stowi_grain_of(size), train_task, &j);
    return STOW_OK;
  }
  stow_kernel_split(call, j.rows.outer * j.rows.count, stowi_grain_of(j.rows.inner), infer_task,
                    &j);
  copy_statistics(&j);
  return STOW_OK;
}

STOWI_KERNEL(BATCH_NORM, NULL, run_batch_norm);
