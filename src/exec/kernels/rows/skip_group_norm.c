// skip_group_norm: groups of channels of x + skip + bias, normalised, scaled and shifted by
// channel, then perhaps silu. Channels come second or last; what lies together is a run of a
// channel's elements, or of a group's channels. Three passes over a group in doubles, the sum added
// up anew in each, so that both results may lie over x or skip.
#include "exec/kernels/rows/axes.h"
#include "exec/kernels/rows/channel_norm.h"
#include "exec/kernels/rows/reals.h"
#include "exec/kernels/support/kernel.h"

typedef struct job {
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
} job;

// A run: where it begins, the channel of its first element, how long it is.
typedef struct run {
  size_t first;
  size_t channel;
  size_t count;
} run;

static size_t run_count(const job* j) { return j->is_last ? j->inner : j->part; }

static run run_at(const job* j, size_t sample, size_t group, size_t i) {
  size_t base = sample * j->channels * j->inner;
  size_t channel = group * j->part;
  if (j->is_last) {
    return (run){base + i * j->channels + channel, channel, j->part};
  }
  return (run){base + (channel + i) * j->inner, channel + i, j->inner};
}

// Adds to each element of a run what |param| has for its channel, from number |first| on.
static void add_by_channel(const job* j, const stow_tensor* param, size_t first, size_t count,
                           double* out) {
  double room[STOWI_BLOCK];
  if (j->is_last) {
    stowi_load_f64(param->dtype, param->data, first, count, room);
  }
  double one = j->is_last ? 0 : stowi_float_at(param, first);
  for (size_t k = 0; k < count; ++k) {
    out[k] += j->is_last ? room[k] : one;
  }
}

// |count| elements from number |i| of the run on.
static void load_sum(const job* j, size_t sample, run r, size_t i, size_t count, double* out) {
  double room[STOWI_BLOCK];
  size_t channel = r.channel + (j->is_last ? i : 0);
  stowi_load_f64(j->x->dtype, j->x->data, r.first + i, count, out);
  if (j->skip != NULL && j->is_shared) {
    add_by_channel(j, j->skip, sample * j->channels + channel, count, out);
  } else if (j->skip != NULL) {
    stowi_load_f64(j->skip->dtype, j->skip->data, r.first + i, count, room);
    for (size_t k = 0; k < count; ++k) {
      out[k] += room[k];
    }
  }
  if (j->bias != NULL) {
    add_by_channel(j, j->bias, channel, count, out);
  }
}

// The sum over a group, or of squares of distances from |mean|.
static double add_up(const job* j, size_t sample, size_t group, const double* mean) {
  double room[STOWI_BLOCK];
  double sum = 0;
  for (size_t n = 0; n < run_count(j); ++n) {
    run r = run_at(j, sample, group, n);
    for (size_t i = 0; i < r.count; i += STOWI_BLOCK) {
      size_t count = stowi_smaller(STOWI_BLOCK, r.count - i);
      load_sum(j, sample, r, i, count, room);
      sum += mean == NULL ? stowi_sum_f64(room, count) : stowi_squares_f64(room, count, *mean);
    }
  }
  return sum;
}

static double silu(stow_dtype dtype, double x) {
  return dtype == STOW_F64 ? x / (1 + exp(-x)) : x * (double)stowi_sigmoidf((float)x);
}

static void write_block(const job* j, run r, size_t i, size_t count, double mean, double factor,
                        double* block) {
  if (j->sums != NULL) {
    stowi_store_f64(j->sums->dtype, j->sums->data, r.first + i, count, block);
  }
  for (size_t k = 0; k < count; ++k) {
    size_t c = r.channel + (j->is_last ? i + k : 0);
    double x = (block[k] - mean) * factor * stowi_param_at(j->scale, c, 1) +
               stowi_param_at(j->shift, c, 0);
    block[k] = j->has_silu ? silu(j->x->dtype, x) : x;
  }
  stowi_store_f64(j->y->dtype, j->y->data, r.first + i, count, block);
}

static void groups_task(void* user, size_t begin, size_t end, uint32_t worker) {
  const job* j = user;
  double block[STOWI_BLOCK];
  size_t groups = j->channels / j->part;
  double size = (double)(j->part * j->inner);
  (void)worker;
  for (size_t g = begin; g < end; ++g) {
    size_t sample = g / groups;
    double mean = add_up(j, sample, g % groups, NULL) / size;
    double factor = 1 / sqrt(add_up(j, sample, g % groups, &mean) / size + j->epsilon);
    for (size_t n = 0; n < run_count(j); ++n) {
      run r = run_at(j, sample, g % groups, n);
      for (size_t i = 0; i < r.count; i += STOWI_BLOCK) {
        size_t count = stowi_smaller(STOWI_BLOCK, r.count - i);
        load_sum(j, sample, r, i, count, block);
        write_block(j, r, i, count, mean, factor, block);
      }
    }
  }
}

// A skip has x's elements, or one for each channel of each sample.
static stow_status check(const stow_kernel_call* call, const job* j, size_t samples) {
  stow_status status = stowi_need_real(call, j->x, "x");
  status = status == STOW_OK ? stowi_need_plain(call) : status;
  size_t params[] = {1, 2, 4};
  for (size_t i = 0; status == STOW_OK && i < 3; ++i) {
    const stow_tensor* param = stow_kernel_operand(call, params[i]);
    if (param != NULL && stow_tensor_elements(param) != j->channels) {
      status = stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT,
                                "operand %zu has %zu elements, not one for each of %zu channels",
                                params[i], stow_tensor_elements(param), j->channels);
    }
  }
  size_t skips = j->skip == NULL ? 0 : stow_tensor_elements(j->skip);
  if (status == STOW_OK && j->skip != NULL && skips != stow_tensor_elements(j->x) &&
      skips != samples * j->channels) {
    status = stow_kernel_fail(call, STOW_ERR_UNSUPPORTED,
                              "a skip must have x's dims, or one element for each channel");
  }
  return status;
}

static stow_status run_skip_group_norm(stow_kernel_call* call) {
  const stow_tensor* x = call->operands[0];
  bool is_last = stow_kernel_bool(call, "channels_last", false);
  int64_t groups = stow_kernel_int(call, "groups", 1);
  stowi_rows rows = stowi_rows_along(x, is_last ? x->rank - 1 : 1);
  size_t samples = (size_t)x->dims[0];
  size_t elements = stow_tensor_elements(x);
  if (groups < 1 || rows.count % (size_t)groups != 0) {
    return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT, "groups must divide the channels");
  }
  job j = {.x = x,
           .scale = stow_kernel_operand(call, 1),
           .shift = stow_kernel_operand(call, 2),
           .skip = stow_kernel_operand(call, 3),
           .bias = stow_kernel_operand(call, 4),
           .y = call->results[0],
           .sums = stow_kernel_result(call, 1),
           .channels = rows.count,
           .part = rows.count / (size_t)groups,
           .is_last = is_last,
           .has_silu = stow_kernel_is(call, "activation", "silu"),
           .epsilon = stow_kernel_float(call, "epsilon", 1e-5)};
  stow_status status = check(call, &j, samples);
  if (status != STOW_OK || elements == 0) {
    return status;
  }
  j.inner = elements / samples / j.channels;
  j.is_shared = j.skip != NULL && stow_tensor_elements(j.skip) != elements;
  stow_kernel_split(call, samples * (size_t)groups, stowi_grain_of(j.part * j.inner * 4),
                    groups_task, &j);
  return STOW_OK;
}

STOWI_KERNEL(SKIP_GROUP_NORM, NULL, run_skip_group_norm);
