// Norms by channel: instance_norm, group_norm, batch_norm and skip_group_norm.
#include <math.h>
#include <stowage/kernel.h>

#include "exec/kernels/rows/axes.h"
#include "exec/kernels/rows/reals.h"
#include "exec/kernels/support/kernel.h"
#include "exec/kernels/support/vector.h"

// ---------------------------------------------------------------------------------------------
// instance_norm and group_norm: each channel, or group of channels, is normalised separately, then
// scaled and shifted by channel. Three passes over a group, sums in double.

#define REAL float
#define REAL_DTYPE STOW_F32
#define OF(name) name##_f32
#include "exec/kernels/rows/channel_norm_body.h"
#define REAL double
#define REAL_DTYPE STOW_F64
#define OF(name) name##_f64
#include "exec/kernels/rows/channel_norm_body.h"

// The sum of |count| elements from |first| on, and of the squares of their distances from |center|.
static double run_sum(const stow_tensor* x, size_t first, size_t count) {
  return x->dtype == STOW_F64 ? run_sum_f64(x, first, count) : run_sum_f32(x, first, count);
}

static double run_squares(const stow_tensor* x, size_t first, size_t count, double center) {
  return x->dtype == STOW_F64 ? run_squares_f64(x, first, count, center)
                              : run_squares_f32(x, first, count, center);
}

// y = (x - center) factor + shift. |y| may be |x|.
static void run_affine(const stow_tensor* x, const stow_tensor* y, size_t first, size_t count,
                       double center, double factor, double shift) {
  if (x->dtype == STOW_F64) {
    run_affine_f64(x, y, first, count, center, factor, shift);
  } else {
    run_affine_f32(x, y, first, count, (float)center, (float)factor, (float)shift);
  }
}

// Element |i| of an optional tensor.
static double param_at(const stow_tensor* tensor, size_t i, double fallback) {
  return tensor == NULL ? fallback : stowi_kernel_float_at(tensor, i);
}

// ---------------------------------------------------------------------------------------------
// Kernels

typedef struct group_job {
  const stow_tensor* x;
  const stow_tensor* scale;
  const stow_tensor* shift;
  const stow_tensor* y;
  size_t groups;    // of a sample
  size_t channels;  // of a group
  size_t inner;     // elements of a channel
  double epsilon;
} group_job;

// Which of a scale's elements is for channel |c| of all: it may have one for each group only.
static size_t param_index(const group_job* j, const stow_tensor* param, size_t c) {
  size_t count = param == NULL ? 0 : stow_tensor_elements(param);
  return count == j->groups && j->channels != 1 ? c / j->channels : c;
}

static void groups_task(void* user, size_t begin, size_t end, uint32_t worker) {
  const group_job* j = user;
  size_t count = j->channels * j->inner;
  (void)worker;
  for (size_t g = begin; g < end; ++g) {
    size_t first = g * count;
    double mean = run_sum(j->x, first, count) / (double)count;
    double squares = run_squares(j->x, first, count, mean);
    double factor = 1 / sqrt(squares / (double)count + j->epsilon);
    for (size_t k = 0; k < j->channels; ++k) {
      size_t c = g % j->groups * j->channels + k;
      double scale = param_at(j->scale, param_index(j, j->scale, c), 1);
      double shift = param_at(j->shift, param_index(j, j->shift, c), 0);
      run_affine(j->x, j->y, first + k * j->inner, j->inner, mean, factor * scale, shift);
    }
  }
}

static stow_status run_groups(stow_kernel_call* call, size_t groups) {
  const stow_tensor* x = call->operands[0];
  STOWI_KERNEL_TRY(stowi_kernel_need_real(call, x, "x"));
  stowi_kernel_rows rows = stowi_kernel_rows_along(x, 1);
  group_job j = {.x = x,
                 .scale = stow_kernel_operand(call, 1),
                 .shift = stow_kernel_operand(call, 2),
                 .y = call->results[0],
                 .groups = groups,
                 .channels = groups == 0 ? 0 : rows.count / groups,
                 .inner = rows.inner,
                 .epsilon = stowi_kernel_float(call, STOWI_KERNEL_ATTR_EPSILON, 1e-5)};
  if (groups != 0 && rows.count % groups != 0) {
    return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT,
                            "%zu channels cannot be divided into %zu groups", rows.count, groups);
  }
  if (j.channels * j.inner != 0) {
    stow_kernel_split(call, rows.outer * groups, stowi_kernel_grain_of(j.channels * j.inner * 3),
                      groups_task, &j);
  }
  return STOW_OK;
}

static stow_status run_instance_norm(stow_kernel_call* call) {
  return run_groups(call, (size_t)call->operands[0]->dims[1]);
}

static stow_status run_group_norm(stow_kernel_call* call) {
  int64_t groups = stowi_kernel_int(call, STOWI_KERNEL_ATTR_GROUPS, 1);
  if (groups < 1) {
    return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT, "there must be at least 1 group");
  }
  return run_groups(call, (size_t)groups);
}

STOWI_KERNEL(INSTANCE_NORM, NULL, run_instance_norm);
STOWI_KERNEL(GROUP_NORM, NULL, run_group_norm);

// ---------------------------------------------------------------------------------------------
// batch_norm: each channel is normalised by given statistics, or in training by its own over the
// batch, and running averages are updated. x is viewed as [N, C, inner]; without `spatial` each
// element of a sample is a channel. One pass, three in training.
//
// If inner is 1, channels are adjacent, and a block of them is processed together. In training a
// channel is read as a whole before it is written.

typedef struct batch_job {
  const stow_kernel_call* call;
  const stow_tensor* x;
  const stow_tensor* y;
  stowi_kernel_rows rows;
  double epsilon;
  double momentum;
} batch_job;

enum { CHANNELS = 64 };  // at a time

// Of some channels.
typedef struct channels {
  size_t count;
  double mean[CHANNELS];
  double var[CHANNELS];
  double factor[CHANNELS];
  double shift[CHANNELS];
} channels;

enum { SCALE = 1, BIAS, MEAN, VAR };

static void load_given(const batch_job* j, size_t first, channels* c) {
  const stow_tensor* const* operands = j->call->operands;
  stowi_kernel_load_f64(operands[MEAN]->dtype, operands[MEAN]->data, first, c->count, c->mean);
  stowi_kernel_load_f64(operands[VAR]->dtype, operands[VAR]->data, first, c->count, c->var);
}

static void load_factors(const batch_job* j, size_t first, channels* c) {
  const stow_tensor* const* operands = j->call->operands;
  stowi_kernel_load_f64(operands[SCALE]->dtype, operands[SCALE]->data, first, c->count, c->factor);
  stowi_kernel_load_f64(operands[BIAS]->dtype, operands[BIAS]->data, first, c->count, c->shift);
  for (size_t k = 0; k < c->count; ++k) {
    c->factor[k] /= sqrt(c->var[k] + j->epsilon);
  }
}

// ---------------------------------------------------------------------------------------------
// Statistics

static void measure_runs(const batch_job* j, size_t first, channels* c) {
  size_t inner = j->rows.inner;
  double count = (double)(j->rows.outer * inner);
  for (size_t k = 0; k < c->count; ++k) {
    double sum = 0;
    double squares = 0;
    for (size_t n = 0; n < j->rows.outer; ++n) {
      sum += run_sum(j->x, (n * j->rows.count + first + k) * inner, inner);
    }
    c->mean[k] = sum / count;
    for (size_t n = 0; n < j->rows.outer; ++n) {
      size_t at = (n * j->rows.count + first + k) * inner;
      squares += run_squares(j->x, at, inner, c->mean[k]);
    }
    c->var[k] = squares / count;
  }
}

static void measure_neighbours(const batch_job* j, size_t first, channels* c) {
  double room[CHANNELS];
  double count = (double)j->rows.outer;
  for (size_t k = 0; k < c->count; ++k) {
    c->mean[k] = 0;
    c->var[k] = 0;
  }
  for (size_t n = 0; n < j->rows.outer; ++n) {
    stowi_kernel_load_f64(j->x->dtype, j->x->data, n * j->rows.count + first, c->count, room);
    for (size_t k = 0; k < c->count; ++k) {
      c->mean[k] += room[k] / count;
    }
  }
  for (size_t n = 0; n < j->rows.outer; ++n) {
    stowi_kernel_load_f64(j->x->dtype, j->x->data, n * j->rows.count + first, c->count, room);
    for (size_t k = 0; k < c->count; ++k) {
      c->var[k] += (room[k] - c->mean[k]) * (room[k] - c->mean[k]) / count;
    }
  }
}

static void store(const batch_job* j, size_t result, size_t first, size_t count,
                  const double* numbers) {
  const stow_tensor* tensor = stow_kernel_result(j->call, result);
  if (tensor != NULL) {
    stowi_kernel_store_f64(tensor->dtype, tensor->data, first, count, numbers);
  }
}

// Running averages move towards what was measured by 1 - momentum.
static void store_running(const batch_job* j, size_t operand, size_t result, size_t first,
                          size_t count, const double* measured) {
  double running[CHANNELS];
  const stow_tensor* given = j->call->operands[operand];
  stowi_kernel_load_f64(given->dtype, given->data, first, count, running);
  for (size_t k = 0; k < count; ++k) {
    running[k] = running[k] * j->momentum + measured[k] * (1 - j->momentum);
  }
  store(j, result, first, count, running);
}

// ---------------------------------------------------------------------------------------------
// Results

static void apply_neighbours(const batch_job* j, size_t n, size_t first, const channels* c) {
  double room[CHANNELS];
  size_t at = n * j->rows.count + first;
  stowi_kernel_load_f64(j->x->dtype, j->x->data, at, c->count, room);
  for (size_t k = 0; k < c->count; ++k) {
    room[k] = (room[k] - c->mean[k]) * c->factor[k] + c->shift[k];
  }
  stowi_kernel_store_f64(j->y->dtype, j->y->data, at, c->count, room);
}

static void apply(const batch_job* j, size_t n, size_t first, const channels* c) {
  if (j->rows.inner == 1) {
    apply_neighbours(j, n, first, c);
    return;
  }
  for (size_t k = 0; k < c->count; ++k) {
    size_t at = (n * j->rows.count + first + k) * j->rows.inner;
    run_affine(j->x, j->y, at, j->rows.inner, c->mean[k], c->factor[k], c->shift[k]);
  }
}

// Channels [begin, end), of all samples together.
static void train_task(void* user, size_t begin, size_t end, uint32_t worker) {
  const batch_job* j = user;
  channels c;
  (void)worker;
  for (size_t first = begin; first < end; first += CHANNELS) {
    c.count = stowi_kernel_smaller(CHANNELS, end - first);
    if (j->rows.inner == 1) {
      measure_neighbours(j, first, &c);
    } else {
      measure_runs(j, first, &c);
    }
    load_factors(j, first, &c);
    for (size_t n = 0; n < j->rows.outer; ++n) {
      apply(j, n, first, &c);
    }
    store_running(j, MEAN, 1, first, c.count, c.mean);
    store_running(j, VAR, 2, first, c.count, c.var);
    store(j, 3, first, c.count, c.mean);
    store(j, 4, first, c.count, c.var);
  }
}

static void infer_task(void* user, size_t begin, size_t end, uint32_t worker) {
  const batch_job* j = user;
  channels c;
  (void)worker;
  for (size_t at = begin; at < end; at += c.count) {
    size_t first = at % j->rows.count;
    c.count = stowi_kernel_smaller(CHANNELS, stowi_kernel_smaller(end - at, j->rows.count - first));
    load_given(j, first, &c);
    load_factors(j, first, &c);
    apply(j, at / j->rows.count, first, &c);
  }
}

// Without training the statistics of the batch are those that were given.
static void copy_statistics(const batch_job* j) {
  channels c;
  for (size_t first = 0; j->call->result_count > 1 && first < j->rows.count; first += c.count) {
    c.count = stowi_kernel_smaller(CHANNELS, j->rows.count - first);
    load_given(j, first, &c);
    for (size_t k = 1; k < 5; ++k) {
      store(j, k, first, c.count, k % 2 == 1 ? c.mean : c.var);
    }
  }
}

static stowi_kernel_rows find_channels(const stow_kernel_call* call, const stow_tensor* x) {
  stowi_kernel_rows rows = stowi_kernel_rows_along(x, 1);
  if (x->rank > 1 && !stowi_kernel_bool(call, STOWI_KERNEL_ATTR_SPATIAL, true)) {
    rows.count *= rows.inner;
    rows.inner = 1;
  }
  return rows;
}

static stow_status run_batch_norm(stow_kernel_call* call) {
  const stow_tensor* x = call->operands[0];
  for (size_t k = 0; k <= VAR; ++k) {
    stow_status status =
        stowi_kernel_need_real(call, call->operands[k], k == 0 ? "x" : "a statistic");
    if (status != STOW_OK) {
      return status;
    }
  }
  batch_job j = {call,
                 x,
                 call->results[0],
                 find_channels(call, x),
                 stowi_kernel_float(call, STOWI_KERNEL_ATTR_EPSILON, 1e-5),
                 stowi_kernel_float(call, STOWI_KERNEL_ATTR_MOMENTUM, 0.9)};
  if (stowi_kernel_bool(call, STOWI_KERNEL_ATTR_TRAINING, false)) {
    size_t size = j.rows.outer * j.rows.inner;
    stow_kernel_split(call, j.rows.count, stowi_kernel_grain_of(size), train_task, &j);
    return STOW_OK;
  }
  stow_kernel_split(call, j.rows.outer * j.rows.count, stowi_kernel_grain_of(j.rows.inner),
                    infer_task, &j);
  copy_statistics(&j);
  return STOW_OK;
}

STOWI_KERNEL(BATCH_NORM, NULL, run_batch_norm);

// ---------------------------------------------------------------------------------------------
// skip_group_norm: groups of channels of x + skip + bias, normalised, scaled and shifted by
// channel, then optionally silu. The channel dim is second or last; contiguous runs are one
// channel's elements, or one group's channels. Three passes over a group in double; the sum is
// recomputed in each, so that both results may be in place of x or skip.

typedef struct skip_job {
  const stow_tensor* x;
  const stow_tensor* scale;
  const stow_tensor* shift;
  const stow_tensor* skip;  // these two may be NULL, and so may be scale and shift
  const stow_tensor* bias;
  const stow_tensor* y;
  const stow_tensor* sums;  // may be NULL
  size_t channels;          // of x, and of a group
  size_t part;
  size_t inner;    // elements of a channel
  bool is_last;    // channels are the last dim
  bool is_shared;  // skip has one number for all elements of a channel
  bool has_silu;
  double epsilon;
} skip_job;

// A run: where it begins, the channel of its first element, how long it is.
typedef struct run {
  size_t first;
  size_t channel;
  size_t count;
} run;

static size_t run_count(const skip_job* j) { return j->is_last ? j->inner : j->part; }

static run run_at(const skip_job* j, size_t sample, size_t group, size_t i) {
  size_t base = sample * j->channels * j->inner;
  size_t channel = group * j->part;
  if (j->is_last) {
    return (run){base + i * j->channels + channel, channel, j->part};
  }
  return (run){base + (channel + i) * j->inner, channel + i, j->inner};
}

// Adds to each element of a run what |param| has for its channel, from number |first| on.
static void add_by_channel(const skip_job* j, const stow_tensor* param, size_t first, size_t count,
                           double* out) {
  double room[STOWI_KERNEL_BLOCK];
  if (j->is_last) {
    stowi_kernel_load_f64(param->dtype, param->data, first, count, room);
  }
  double one = j->is_last ? 0 : stowi_kernel_float_at(param, first);
  for (size_t k = 0; k < count; ++k) {
    out[k] += j->is_last ? room[k] : one;
  }
}

// |count| elements from number |i| of the run on.
static void load_sum(const skip_job* j, size_t sample, run r, size_t i, size_t count, double* out) {
  double room[STOWI_KERNEL_BLOCK];
  size_t channel = r.channel + (j->is_last ? i : 0);
  stowi_kernel_load_f64(j->x->dtype, j->x->data, r.first + i, count, out);
  if (j->skip != NULL && j->is_shared) {
    add_by_channel(j, j->skip, sample * j->channels + channel, count, out);
  } else if (j->skip != NULL) {
    stowi_kernel_load_f64(j->skip->dtype, j->skip->data, r.first + i, count, room);
    for (size_t k = 0; k < count; ++k) {
      out[k] += room[k];
    }
  }
  if (j->bias != NULL) {
    add_by_channel(j, j->bias, channel, count, out);
  }
}

// The sum over a group, or of squares of distances from |mean|.
static double add_up(const skip_job* j, size_t sample, size_t group, const double* mean) {
  double room[STOWI_KERNEL_BLOCK];
  double sum = 0;
  for (size_t n = 0; n < run_count(j); ++n) {
    run r = run_at(j, sample, group, n);
    for (size_t i = 0; i < r.count; i += STOWI_KERNEL_BLOCK) {
      size_t count = stowi_kernel_smaller(STOWI_KERNEL_BLOCK, r.count - i);
      load_sum(j, sample, r, i, count, room);
      sum += mean == NULL ? stowi_kernel_sum_f64(room, count)
                          : stowi_kernel_squares_f64(room, count, *mean);
    }
  }
  return sum;
}

STOWI_KERNEL_LOOP(silu, (stow_dtype dtype, double* block, size_t count), (dtype, block, count)) {
  for (size_t i = 0; i < count; ++i) {
    double x = block[i];
    block[i] = dtype == STOW_F64 ? x / (1 + exp(-x))
                                 : x * (double)stowi_kernel_sigmoidf(has_fma, (float)x);
  }
}

static void write_block(const skip_job* j, run r, size_t i, size_t count, double mean,
                        double factor, double* block) {
  if (j->sums != NULL) {
    stowi_kernel_store_f64(j->sums->dtype, j->sums->data, r.first + i, count, block);
  }
  for (size_t k = 0; k < count; ++k) {
    size_t c = r.channel + (j->is_last ? i + k : 0);
    block[k] = (block[k] - mean) * factor * param_at(j->scale, c, 1) + param_at(j->shift, c, 0);
  }
  if (j->has_silu) {
    silu(j->x->dtype, block, count);
  }
  stowi_kernel_store_f64(j->y->dtype, j->y->data, r.first + i, count, block);
}

static void skip_groups_task(void* user, size_t begin, size_t end, uint32_t worker) {
  const skip_job* j = user;
  double block[STOWI_KERNEL_BLOCK];
  size_t groups = j->channels / j->part;
  double size = (double)(j->part * j->inner);
  (void)worker;
  for (size_t g = begin; g < end; ++g) {
    size_t sample = g / groups;
    double mean = add_up(j, sample, g % groups, NULL) / size;
    double factor = 1 / sqrt(add_up(j, sample, g % groups, &mean) / size + j->epsilon);
    for (size_t n = 0; n < run_count(j); ++n) {
      run r = run_at(j, sample, g % groups, n);
      for (size_t i = 0; i < r.count; i += STOWI_KERNEL_BLOCK) {
        size_t count = stowi_kernel_smaller(STOWI_KERNEL_BLOCK, r.count - i);
        load_sum(j, sample, r, i, count, block);
        write_block(j, r, i, count, mean, factor, block);
      }
    }
  }
}

// A skip has x's elements, or one for each channel of each sample.
static stow_status check(const stow_kernel_call* call, const skip_job* j, size_t samples) {
  stow_status status = stowi_kernel_need_real(call, j->x, "x");
  status = status == STOW_OK ? stowi_kernel_need_plain(call) : status;
  size_t params[] = {1, 2, 4};
  for (size_t i = 0; status == STOW_OK && i < 3; ++i) {
    const stow_tensor* param = stow_kernel_operand(call, params[i]);
    if (param != NULL && stow_tensor_elements(param) != j->channels) {
      status =
          stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT,
                           "operand %zu has %zu elements, expected one for each of %zu channels",
                           params[i], stow_tensor_elements(param), j->channels);
    }
  }
  size_t skips = j->skip == NULL ? 0 : stow_tensor_elements(j->skip);
  if (status == STOW_OK && j->skip != NULL && skips != stow_tensor_elements(j->x) &&
      skips != samples * j->channels) {
    status = stow_kernel_fail(call, STOW_ERR_UNSUPPORTED,
                              "skip must have the dims of x, or one element per channel");
  }
  return status;
}

static stow_status run_skip_group_norm(stow_kernel_call* call) {
  const stow_tensor* x = call->operands[0];
  bool is_last = stowi_kernel_bool(call, STOWI_KERNEL_ATTR_CHANNELS_LAST, false);
  int64_t groups = stowi_kernel_int(call, STOWI_KERNEL_ATTR_GROUPS, 1);
  stowi_kernel_rows rows = stowi_kernel_rows_along(x, is_last ? x->rank - 1 : 1);
  size_t samples = (size_t)x->dims[0];
  size_t elements = stow_tensor_elements(x);
  if (groups < 1 || rows.count % (size_t)groups != 0) {
    return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT, "groups must divide the channels");
  }
  skip_job j = {.x = x,
                .scale = stow_kernel_operand(call, 1),
                .shift = stow_kernel_operand(call, 2),
                .skip = stow_kernel_operand(call, 3),
                .bias = stow_kernel_operand(call, 4),
                .y = call->results[0],
                .sums = stow_kernel_result(call, 1),
                .channels = rows.count,
                .part = rows.count / (size_t)groups,
                .is_last = is_last,
                .has_silu = stowi_kernel_is(call, STOWI_KERNEL_ATTR_ACTIVATION, "silu"),
                .epsilon = stowi_kernel_float(call, STOWI_KERNEL_ATTR_EPSILON, 1e-5)};
  STOWI_KERNEL_TRY(check(call, &j, samples));
  if (elements == 0) {
    return STOW_OK;
  }
  j.inner = elements / samples / j.channels;
  j.is_shared = j.skip != NULL && stow_tensor_elements(j.skip) != elements;
  stow_kernel_split(call, samples * (size_t)groups, stowi_kernel_grain_of(j.part * j.inner * 4),
                    skip_groups_task, &j);
  return STOW_OK;
}

STOWI_KERNEL(SKIP_GROUP_NORM, NULL, run_skip_group_norm);
