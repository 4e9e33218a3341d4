// Norms over any axes, in doubles: mean_variance_norm, lp_norm along one, and layer_norm_2d over
// the channels. Runs that are normalised together are walked one by one; where the innermost dim is
// not among those axes, a strip of neighbours is walked together. Two or three passes.
#include "exec/kernels/rows/axes.h"
#include "exec/kernels/rows/reals.h"
#include "exec/kernels/support/kernel.h"

typedef enum norm_kind { BY_VARIANCE, BY_L1, BY_L2, BY_CHANNELS } norm_kind;

typedef struct job {
  norm_kind kind;
  const stow_tensor* x;
  const stow_tensor* y;
  const stow_tensor* scale;  // of channels; these may be NULL
  const stow_tensor* shift;
  stowi_kernel_fold fold;
  double count;  // of elements that are normalised together
  double epsilon;
} job;

// Of a strip of neighbours; a run has one only.
typedef struct strip {
  double sum[STOWI_KERNEL_BLOCK];
  double squares[STOWI_KERNEL_BLOCK];
} strip;

static double weight_of(norm_kind kind, double x) { return kind == BY_L1 ? fabs(x) : x; }

// ---------------------------------------------------------------------------------------------
// Passes

// Adds each element, or the square of its distance from the mean, to its sum.
static void add_strip(const job* j, size_t base, size_t width, const double* mean, double* sums) {
  double room[STOWI_KERNEL_BLOCK];
  for (size_t k = 0; k < width; ++k) {
    sums[k] = 0;
  }
  for (size_t g = 0; g < j->fold.gone; ++g) {
    stowi_kernel_load_f64(j->x->dtype, j->x->data, base + stowi_kernel_fold_gone(&j->fold, g),
                          width, room);
    for (size_t k = 0; k < width; ++k) {
      double far = room[k] - (mean == NULL ? 0 : mean[k]);
      sums[k] += mean == NULL ? weight_of(j->kind, far) : far * far;
    }
  }
}

static double add_block(const job* j, const double* in, size_t count, const double* mean) {
  double sizes[STOWI_KERNEL_BLOCK];
  if (mean != NULL) {
    return stowi_kernel_squares_f64(in, count, *mean);
  }
  for (size_t i = 0; i < count; ++i) {
    sizes[i] = weight_of(j->kind, in[i]);
  }
  return stowi_kernel_sum_f64(sizes, count);
}

static void add_runs(const job* j, size_t base, const double* mean, double* out) {
  double room[STOWI_KERNEL_BLOCK];
  double sum = 0;
  for (size_t g = 0; g < j->fold.gone; ++g) {
    size_t first = base + stowi_kernel_fold_gone(&j->fold, g);
    for (size_t i = 0; i < j->fold.width; i += STOWI_KERNEL_BLOCK) {
      size_t count = stowi_kernel_smaller(STOWI_KERNEL_BLOCK, j->fold.width - i);
      stowi_kernel_load_f64(j->x->dtype, j->x->data, first + i, count, room);
      sum += add_block(j, room, count, mean);
    }
  }
  *out = sum;
}

static void add(const job* j, size_t base, size_t width, const double* mean, double* sums) {
  if (j->fold.is_run) {
    add_runs(j, base, mean, sums);
  } else {
    add_strip(j, base, width, mean, sums);
  }
}

// A norm of 0 leaves zeros as they are.
static double factor_of(const job* j, double sum, double squares) {
  switch (j->kind) {
    case BY_VARIANCE: return 1 / (sqrt(squares / j->count) + j->epsilon);
    case BY_L1: return sum == 0 ? 0 : 1 / sum;
    case BY_L2: return squares == 0 ? 0 : 1 / sqrt(squares);
    case BY_CHANNELS: return 1 / sqrt(squares / j->count + j->epsilon);
  }
  return 1;
}

// |s| becomes center and factor of each.
static void measure(const job* j, size_t base, size_t width, strip* s) {
  bool is_centered = j->kind == BY_VARIANCE || j->kind == BY_CHANNELS;
  for (size_t k = 0; k < width; ++k) {
    s->sum[k] = 0;
    s->squares[k] = 0;
  }
  if (j->kind != BY_L2) {
    add(j, base, width, NULL, s->sum);
  }
  for (size_t k = 0; is_centered && k < width; ++k) {
    s->sum[k] /= j->count;
  }
  if (j->kind != BY_L1) {
    add(j, base, width, s->sum, s->squares);
  }
  for (size_t k = 0; k < width; ++k) {
    s->squares[k] = factor_of(j, s->sum[k], s->squares[k]);
    s->sum[k] = is_centered ? s->sum[k] : 0;
  }
}

// ---------------------------------------------------------------------------------------------
// Results

// Of channels each has its scale; |c| counts the elements of a run or the rows of a strip.
static void apply_block(const job* j, size_t at, size_t count, const strip* s, size_t c) {
  double room[STOWI_KERNEL_BLOCK];
  bool is_run = j->fold.is_run;
  stowi_kernel_load_f64(j->x->dtype, j->x->data, at, count, room);
  for (size_t k = 0; k < count; ++k) {
    room[k] = (room[k] - s->sum[is_run ? 0 : k]) * s->squares[is_run ? 0 : k];
  }
  for (size_t k = 0; j->scale != NULL && k < count; ++k) {
    room[k] *= stowi_kernel_float_at(j->scale, is_run ? c + k : c);
  }
  for (size_t k = 0; j->shift != NULL && k < count; ++k) {
    room[k] += stowi_kernel_float_at(j->shift, is_run ? c + k : c);
  }
  stowi_kernel_store_f64(j->y->dtype, j->y->data, at, count, room);
}

static void apply(const job* j, size_t base, size_t width, const strip* s) {
  for (size_t g = 0; g < j->fold.gone; ++g) {
    size_t first = base + stowi_kernel_fold_gone(&j->fold, g);
    if (!j->fold.is_run) {
      apply_block(j, first, width, s, g);
      continue;
    }
    for (size_t i = 0; i < j->fold.width; i += STOWI_KERNEL_BLOCK) {
      apply_block(j, first + i, stowi_kernel_smaller(STOWI_KERNEL_BLOCK, j->fold.width - i), s, i);
    }
  }
}

static void strips_task(void* user, size_t begin, size_t end, uint32_t worker) {
  const job* j = user;
  size_t width = j->fold.is_run ? 1 : j->fold.width;
  size_t strips = (width + STOWI_KERNEL_BLOCK - 1) / STOWI_KERNEL_BLOCK;
  (void)worker;
  for (size_t n = begin; n < end; ++n) {
    strip s;
    size_t column = n % strips * STOWI_KERNEL_BLOCK;
    size_t base = stowi_kernel_fold_kept(&j->fold, n / strips) + column;
    size_t part = stowi_kernel_smaller(STOWI_KERNEL_BLOCK, width - column);
    measure(j, base, part, &s);
    apply(j, base, part, &s);
  }
}

static stow_status run(stow_kernel_call* call, job* j, uint32_t axes) {
  j->x = call->operands[0];
  j->y = call->results[0];
  STOWI_KERNEL_TRY(stowi_kernel_need_real(call, j->x, "x"));
  if (stow_tensor_elements(j->x) == 0) {
    return STOW_OK;
  }
  j->fold = stowi_kernel_fold_over(j->x, axes);
  size_t width = j->fold.is_run ? 1 : j->fold.width;
  size_t count = j->fold.gone * (j->fold.is_run ? j->fold.width : 1);
  j->count = (double)count;
  size_t strips = (width + STOWI_KERNEL_BLOCK - 1) / STOWI_KERNEL_BLOCK;
  stow_kernel_split(call, j->fold.kept * strips,
                    stowi_kernel_grain_of(count * stowi_kernel_smaller(width, STOWI_KERNEL_BLOCK)),
                    strips_task, j);
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Kernels

static stow_status fail_axis(const stow_kernel_call* call, int64_t axis) {
  return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT, "axis %lld is out of range (rank %u)",
                          (long long)axis, (unsigned)call->operands[0]->rank);
}

static stow_status run_mean_variance_norm(stow_kernel_call* call) {
  job j = {.kind = BY_VARIANCE, .epsilon = 1e-9};
  const stow_attr* list = stowi_kernel_attr(call, STOWI_KERNEL_ATTR_AXES);
  uint32_t axes = 0;
  for (size_t i = 0; list != NULL && i < list->count; ++i) {
    uint32_t axis;
    if (!stowi_kernel_find_axis(list->ints[i], call->operands[0]->rank, &axis)) {
      return fail_axis(call, list->ints[i]);
    }
    axes |= UINT32_C(1) << axis;
  }
  return run(call, &j, axes);
}

static stow_status run_lp_norm(stow_kernel_call* call) {
  int64_t number = stowi_kernel_int(call, STOWI_KERNEL_ATTR_AXIS, -1);
  int64_t p = stowi_kernel_int(call, STOWI_KERNEL_ATTR_P, 2);
  job j = {.kind = p == 1 ? BY_L1 : BY_L2};
  uint32_t axis;
  if (p != 1 && p != 2) {
    return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED, "p is %lld, expected 1 or 2", (long long)p);
  }
  if (!stowi_kernel_find_axis(number, call->operands[0]->rank, &axis)) {
    return fail_axis(call, number);
  }
  return run(call, &j, UINT32_C(1) << axis);
}

static stow_status run_layer_norm_2d(stow_kernel_call* call) {
  job j = {.kind = BY_CHANNELS,
           .scale = stow_kernel_operand(call, 1),
           .shift = stow_kernel_operand(call, 2),
           .epsilon = stowi_kernel_float(call, STOWI_KERNEL_ATTR_EPSILON, 1e-5)};
  return run(call, &j, UINT32_C(1) << 1);
}

STOWI_KERNEL(MEAN_VARIANCE_NORM, NULL, run_mean_variance_norm);
STOWI_KERNEL(LP_NORM, NULL, run_lp_norm);
STOWI_KERNEL(LAYER_NORM_2D, NULL, run_layer_norm_2d);
