// reduce: the reductions of blocks, and the loops over a tensor.
#include <math.h>
#include <stowage/kernel.h>
#include <string.h>

#include "exec/kernels/rows/axes.h"
#include "exec/kernels/rows/reals.h"
#include "exec/kernels/support/convert.h"
#include "exec/kernels/support/kernel.h"
#include "exec/kernels/support/vector.h"

// ---------------------------------------------------------------------------------------------
// Reductions of blocks, plain loops that the compiler vectorises. Floats of all widths are double
// here; integers are i64, whose arithmetic wraps.

typedef enum reduction {
  REDUCE_SUM,
  REDUCE_MEAN,
  REDUCE_MAX,
  REDUCE_MIN,
  REDUCE_PROD,
  REDUCE_L1,
  REDUCE_L2,
  REDUCE_LOG_SUM,
  REDUCE_LOG_SUM_EXP,
  REDUCE_SUM_SQUARE,
  REDUCTION_COUNT
} reduction;

#define EACH(expression)               \
  for (size_t i = 0; i < count; ++i) { \
    into[i] = (expression);            \
  }                                    \
  break

// log_sum_exp is a sum of exponentials, which the caller computes. NaN stays.
// Each of |into| takes in the element of the same index.
static void reduce_reals(reduction op, const double* in, size_t count, double* into) {
  switch (op) {
    case REDUCE_MAX: EACH(((in[i] > into[i]) | (in[i] != in[i])) ? in[i] : into[i]);
    case REDUCE_MIN: EACH(((in[i] < into[i]) | (in[i] != in[i])) ? in[i] : into[i]);
    case REDUCE_PROD: EACH(into[i] * in[i]);
    case REDUCE_L1: EACH(into[i] + fabs(in[i]));
    case REDUCE_L2:
    case REDUCE_SUM_SQUARE: EACH(into[i] + in[i] * in[i]);
    default: EACH(into[i] + in[i]);
  }
}

static int64_t wrapped_add(int64_t a, int64_t b) { return (int64_t)((uint64_t)a + (uint64_t)b); }
static int64_t wrapped_mul(int64_t a, int64_t b) { return (int64_t)((uint64_t)a * (uint64_t)b); }
static int64_t wrapped_abs(int64_t a) { return a < 0 ? (int64_t)(0 - (uint64_t)a) : a; }

static bool is_less(bool is_unsigned, int64_t a, int64_t b) {
  return is_unsigned ? (uint64_t)a < (uint64_t)b : a < b;
}

static void reduce_ints(reduction op, bool is_unsigned, const int64_t* in, size_t count,
                        int64_t* into) {
  switch (op) {
    case REDUCE_MAX: EACH(is_less(is_unsigned, into[i], in[i]) ? in[i] : into[i]);
    case REDUCE_MIN: EACH(is_less(is_unsigned, in[i], into[i]) ? in[i] : into[i]);
    case REDUCE_PROD: EACH(wrapped_mul(into[i], in[i]));
    case REDUCE_L1: EACH(wrapped_add(into[i], is_unsigned ? in[i] : wrapped_abs(in[i])));
    case REDUCE_L2:
    case REDUCE_SUM_SQUARE: EACH(wrapped_add(into[i], wrapped_mul(in[i], in[i])));
    default: EACH(wrapped_add(into[i], in[i]));
  }
}

// What nothing has been taken into: 0 for sums, 1 for products, the end of the range of |dtype| for
// max and min.
static double reduce_first_real(reduction op) {
  switch (op) {
    case REDUCE_MAX: return -(double)INFINITY;
    case REDUCE_MIN: return (double)INFINITY;
    case REDUCE_PROD: return 1;
    default: return 0;
  }
}

static int64_t reduce_first_int(reduction op, stow_dtype dtype) {
  stow_dtype_kind kind = stowi_kernel_kind(dtype);
  uint32_t bits = kind == STOW_KIND_BOOL ? 1 : stowi_kernel_bits(dtype);
  bool is_signed = kind == STOW_KIND_SIGNED;
  uint64_t all = UINT64_MAX >> (64 - bits);
  switch (op) {
    case REDUCE_MAX: return is_signed ? -(int64_t)(all >> 1) - 1 : 0;
    case REDUCE_MIN: return (int64_t)(is_signed ? all >> 1 : all);
    case REDUCE_PROD: return 1;
    default: return 0;
  }
}

// The result once all |count| elements have been taken in.
static double reduce_last_real(reduction op, double folded, size_t count) {
  switch (op) {
    case REDUCE_MEAN: return folded / (double)count;
    case REDUCE_L2: return sqrt(folded);
    case REDUCE_LOG_SUM:
    case REDUCE_LOG_SUM_EXP: return log(folded);
    default: return folded;
  }
}

// Towards zero; what is not finite is 0.
static int64_t to_int(double x) {
  if (!(fabs(x) < 0x1p63)) {
    return 0;
  }
  return (int64_t)x;
}

static int64_t reduce_last_int(reduction op, bool is_unsigned, int64_t folded, size_t count) {
  double number = is_unsigned ? (double)(uint64_t)folded : (double)folded;
  switch (op) {
    case REDUCE_MEAN:
      if (count == 0) {
        return 0;
      }
      return is_unsigned ? (int64_t)((uint64_t)folded / count) : folded / (int64_t)count;
    case REDUCE_L2: return to_int(sqrt(number));
    case REDUCE_LOG_SUM:
    case REDUCE_LOG_SUM_EXP: return to_int(log(number));
    default: return folded;
  }
}

// ---------------------------------------------------------------------------------------------
// The kernel: any axes of a real or integer tensor. If the innermost dim is reduced, its runs are
// accumulated in 32 lanes that are then combined; if it is kept, adjacent results are computed
// together. Either way the order depends on the dims alone, and accumulators are double or i64, so
// that a sum of a million f32 is accurate to the last bit. One pass; log_sum_exp makes one more for
// the maximum, so that nothing overflows.

#define LANES 32

typedef struct job {
  const stow_tensor* x;
  stow_tensor* y;
  stowi_kernel_fold fold;
  reduction op;
  size_t count;  // of elements in each result
  bool is_real;
  bool is_unsigned;
} job;

// ---------------------------------------------------------------------------------------------
// Floats

// |in| becomes the exponentials of its distances from |most|, one or each its own.
STOWI_KERNEL_LOOP(exps, (const job* j, double* in, size_t count, const double* most, bool is_one),
                  (j, in, count, most, is_one)) {
  for (size_t i = 0; i < count; ++i) {
    double far = in[i] - most[is_one ? 0 : i];
    in[i] = j->x->dtype == STOW_F64 ? exp(far) : (double)stowi_kernel_expf(has_fma, (float)far);
  }
}

// Where the largest is infinite there is nothing to subtract.
static double finite_or_zero(double x) { return isfinite(x) ? x : 0; }

// Sums of f32, or of their squares, where they lie: the same lanes as below.
STOWI_KERNEL_LOOP(add_floats, (const float* in, size_t count, bool squares, double* lanes),
                  (in, count, squares, lanes)) {
  double sums[LANES] = {0};
  size_t i = 0;
  for (; i + LANES <= count && !squares; i += LANES) {
    for (size_t k = 0; k < LANES; ++k) {
      sums[k] += (double)in[i + k];
    }
  }
  for (; i + LANES <= count; i += LANES) {
    for (size_t k = 0; k < LANES; ++k) {
      sums[k] += (double)in[i + k] * (double)in[i + k];
    }
  }
  for (size_t k = 0; i + k < count; ++k) {
    sums[k] += squares ? (double)in[i + k] * (double)in[i + k] : (double)in[i + k];
  }
  memcpy(lanes, sums, sizeof(sums));
}

// One result: all runs that are folded into it.
static double run_of_reals(const job* j, reduction op, size_t base, const double* most) {
  double room[STOWI_KERNEL_BLOCK];
  double lanes[LANES];
  for (size_t k = 0; k < LANES; ++k) {
    lanes[k] = reduce_first_real(op);
  }
  bool is_sum = op == REDUCE_SUM || op == REDUCE_MEAN;
  bool is_square = op == REDUCE_L2 || op == REDUCE_SUM_SQUARE;
  bool is_quick = j->x->dtype == STOW_F32 && j->fold.gone == 1 && (is_sum || is_square);
  if (is_quick) {
    size_t first = base + stowi_kernel_fold_gone(&j->fold, 0);
    add_floats((const float*)j->x->data + first, j->fold.width, is_square, lanes);
  }
  for (size_t g = 0; g < j->fold.gone && !is_quick; ++g) {
    size_t first = base + stowi_kernel_fold_gone(&j->fold, g);
    for (size_t i = 0; i < j->fold.width; i += STOWI_KERNEL_BLOCK) {
      size_t count = stowi_kernel_smaller(STOWI_KERNEL_BLOCK, j->fold.width - i);
      stowi_kernel_load_f64(j->x->dtype, j->x->data, first + i, count, room);
      if (most != NULL) {
        exps(j, room, count, most, true);
      }
      for (size_t k = 0; k < count; k += LANES) {
        reduce_reals(op, room + k, stowi_kernel_smaller(LANES, count - k), lanes);
      }
    }
  }
  double folded[LANES];
  memcpy(folded, lanes, sizeof(folded));
  if (op == REDUCE_L1 || op == REDUCE_L2 || op == REDUCE_SUM_SQUARE) {
    op = REDUCE_SUM;
  }
  for (size_t half = LANES / 2; half != 0; half /= 2) {
    reduce_reals(op, folded + half, half, folded);
  }
  return folded[0];
}

static void strip_of_reals(const job* j, reduction op, size_t base, size_t width,
                           const double* most, double* into) {
  double room[STOWI_KERNEL_STRIP];
  for (size_t k = 0; k < width; ++k) {
    into[k] = reduce_first_real(op);
  }
  for (size_t g = 0; g < j->fold.gone; ++g) {
    stowi_kernel_load_f64(j->x->dtype, j->x->data, base + stowi_kernel_fold_gone(&j->fold, g),
                          width, room);
    if (most != NULL) {
      exps(j, room, width, most, false);
    }
    reduce_reals(op, room, width, into);
  }
}

static void reduce_real_rows(const job* j, size_t base, size_t width, double* out) {
  double most[STOWI_KERNEL_STRIP];
  bool has_most = j->op == REDUCE_LOG_SUM_EXP;
  if (j->fold.is_run) {
    most[0] = has_most ? finite_or_zero(run_of_reals(j, REDUCE_MAX, base, NULL)) : 0;
    out[0] = run_of_reals(j, j->op, base, has_most ? most : NULL);
  } else {
    if (has_most) {
      strip_of_reals(j, REDUCE_MAX, base, width, NULL, most);
    }
    for (size_t k = 0; has_most && k < width; ++k) {
      most[k] = finite_or_zero(most[k]);
    }
    strip_of_reals(j, j->op, base, width, has_most ? most : NULL, out);
  }
  for (size_t k = 0; k < width; ++k) {
    out[k] = reduce_last_real(j->op, out[k], j->count) + (has_most ? most[k] : 0);
  }
}

// ---------------------------------------------------------------------------------------------
// Integers

static int64_t run_of_ints(const job* j, size_t base) {
  int64_t room[STOWI_KERNEL_BLOCK];
  int64_t folded = reduce_first_int(j->op, j->x->dtype);
  for (size_t g = 0; g < j->fold.gone; ++g) {
    size_t first = base + stowi_kernel_fold_gone(&j->fold, g);
    for (size_t i = 0; i < j->fold.width; i += STOWI_KERNEL_BLOCK) {
      size_t count = stowi_kernel_smaller(STOWI_KERNEL_BLOCK, j->fold.width - i);
      stowi_kernel_load_i64(j->x->dtype, j->x->data, first + i, count, room);
      for (size_t k = 0; k < count; ++k) {
        reduce_ints(j->op, j->is_unsigned, room + k, 1, &folded);
      }
    }
  }
  return folded;
}

static void reduce_int_rows(const job* j, size_t base, size_t width, int64_t* out) {
  int64_t room[STOWI_KERNEL_STRIP];
  if (j->fold.is_run) {
    out[0] = run_of_ints(j, base);
  } else {
    for (size_t k = 0; k < width; ++k) {
      out[k] = reduce_first_int(j->op, j->x->dtype);
    }
    for (size_t g = 0; g < j->fold.gone; ++g) {
      stowi_kernel_load_i64(j->x->dtype, j->x->data, base + stowi_kernel_fold_gone(&j->fold, g),
                            width, room);
      reduce_ints(j->op, j->is_unsigned, room, width, out);
    }
  }
  for (size_t k = 0; k < width; ++k) {
    out[k] = reduce_last_int(j->op, j->is_unsigned, out[k], j->count);
  }
}

// ---------------------------------------------------------------------------------------------
// All results

static void piece(const job* j, size_t base, size_t at, size_t width) {
  if (j->is_real) {
    double out[STOWI_KERNEL_STRIP];
    reduce_real_rows(j, base, width, out);
    stowi_kernel_store_f64(j->y->dtype, j->y->data, at, width, out);
  } else {
    int64_t out[STOWI_KERNEL_STRIP];
    reduce_int_rows(j, base, width, out);
    stowi_kernel_store_i64(j->y->dtype, j->y->data, at, width, out);
  }
}

static void runs_task(void* user, size_t begin, size_t end, uint32_t worker) {
  const job* j = user;
  (void)worker;
  for (size_t k = begin; k < end; ++k) {
    piece(j, stowi_kernel_fold_kept(&j->fold, k), k, 1);
  }
}

static void strips_task(void* user, size_t begin, size_t end, uint32_t worker) {
  const job* j = user;
  size_t strips = (j->fold.width + STOWI_KERNEL_STRIP - 1) / STOWI_KERNEL_STRIP;
  (void)worker;
  for (size_t s = begin; s < end; ++s) {
    size_t column = s % strips * STOWI_KERNEL_STRIP;
    size_t kept = s / strips;
    size_t width = stowi_kernel_smaller(STOWI_KERNEL_STRIP, j->fold.width - column);
    piece(j, stowi_kernel_fold_kept(&j->fold, kept) + column, kept * j->fold.width + column, width);
  }
}

static void divide(const stow_kernel_call* call, job* j) {
  const stowi_kernel_fold* fold = &j->fold;
  if (fold->is_run) {
    stow_kernel_split(call, fold->kept, stowi_kernel_grain_of(j->count), runs_task, j);
  } else {
    size_t strips = (fold->width + STOWI_KERNEL_STRIP - 1) / STOWI_KERNEL_STRIP;
    size_t width = stowi_kernel_smaller(STOWI_KERNEL_STRIP, fold->width);
    stow_kernel_split(call, fold->kept * strips, stowi_kernel_grain_of(j->count * width),
                      strips_task, j);
  }
}

// ---------------------------------------------------------------------------------------------
// Axes

static stow_status add_axis(const stow_kernel_call* call, int64_t number, uint32_t* axes) {
  uint32_t rank = call->operands[0]->rank;
  uint32_t axis;
  if (!stowi_kernel_find_axis(number, rank, &axis) || rank == 0 || (*axes >> axis & 1) != 0) {
    return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT,
                            "axis %lld is out of range (rank %u) or given twice", (long long)number,
                            (unsigned)rank);
  }
  *axes |= UINT32_C(1) << axis;
  return STOW_OK;
}

// As bits. No axes are all of them, or none with `noop_with_empty_axes`.
static stow_status read_axes(const stow_kernel_call* call, uint32_t* out_axes) {
  const stow_attr* attr = stowi_kernel_attr(call, STOWI_KERNEL_ATTR_AXES);
  const stow_tensor* operand = stow_kernel_operand(call, 1);
  size_t given = attr != NULL && attr->kind == STOW_ATTR_INTS ? attr->count : 0;
  size_t count = given == 0 && operand != NULL ? stow_tensor_elements(operand) : given;
  *out_axes = 0;
  for (size_t i = 0; i < count; ++i) {
    stow_status status =
        add_axis(call, given != 0 ? attr->ints[i] : stowi_kernel_int_at(operand, i), out_axes);
    if (status != STOW_OK) {
      return status;
    }
  }
  if (count == 0 && !stowi_kernel_bool(call, STOWI_KERNEL_ATTR_NOOP_WITH_EMPTY_AXES, false)) {
    *out_axes = UINT32_MAX;
  }
  return STOW_OK;
}

// Which axes an operand names may only be known here: the result's dims follow.
static stow_status set_dims(const stow_kernel_call* call, uint32_t axes) {
  const stow_tensor* x = call->operands[0];
  stow_tensor* y = call->results[0];
  bool keepdims = stowi_kernel_bool(call, STOWI_KERNEL_ATTR_KEEPDIMS, true);
  uint32_t rank = 0;
  int64_t dims[STOW_MAX_RANK] = {0};
  for (uint32_t i = 0; i < x->rank; ++i) {
    bool is_gone = (axes >> i & 1) != 0;
    if (!is_gone || keepdims) {
      dims[rank++] = is_gone ? 1 : x->dims[i];
    }
  }
  bool fits = rank == y->rank;
  for (uint32_t i = 0; fits && i < rank; ++i) {
    fits = dims[i] <= y->dims[i];
  }
  if (!fits) {
    return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT,
                            "the result of these axes is larger than planned");
  }
  memcpy(y->dims, dims, sizeof(dims));
  return STOW_OK;
}

static bool find_op(const stow_kernel_call* call, reduction* out_op) {
  static const char* const names[REDUCTION_COUNT] = {
      "sum", "mean", "max", "min", "prod", "l1", "l2", "log_sum", "log_sum_exp", "sum_square"};
  for (size_t i = 0; i < REDUCTION_COUNT; ++i) {
    if (stowi_kernel_is(call, STOWI_KERNEL_ATTR_OP, names[i])) {
      *out_op = (reduction)i;
      return true;
    }
  }
  return false;
}

static stow_status check_dtype(const stow_kernel_call* call, const job* j) {
  stow_dtype_kind kind = stowi_kernel_kind(j->x->dtype);
  bool is_ordered = j->op == REDUCE_MAX || j->op == REDUCE_MIN;
  if (j->is_real) {
    return stowi_kernel_need_real(call, j->x, "x");
  }
  if (kind == STOW_KIND_COMPLEX || stowi_kernel_bits(j->x->dtype) < 8 ||
      (kind == STOW_KIND_BOOL && !is_ordered)) {
    return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED,
                            "elements of x must be floats or integers, or bools for max and min");
  }
  if (j->op == REDUCE_LOG_SUM_EXP) {
    return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED, "log_sum_exp of integers is unsupported");
  }
  return STOW_OK;
}

static stow_status run_reduce(stow_kernel_call* call) {
  job j = {.x = call->operands[0], .y = call->results[0]};
  uint32_t axes;
  stow_dtype_kind kind = stowi_kernel_kind(j.x->dtype);
  j.is_real = kind == STOW_KIND_FLOAT;
  j.is_unsigned = kind == STOW_KIND_UNSIGNED || kind == STOW_KIND_BOOL;
  if (!find_op(call, &j.op)) {
    return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT, "unknown reduction");
  }
  stow_status status = check_dtype(call, &j);
  status = status == STOW_OK ? read_axes(call, &axes) : status;
  status = status == STOW_OK ? set_dims(call, axes) : status;
  if (status != STOW_OK) {
    return status;
  }
  j.fold = stowi_kernel_fold_over(j.x, axes);
  j.count = j.fold.gone * (j.fold.is_run ? j.fold.width : 1);
  divide(call, &j);
  return STOW_OK;
}

STOWI_KERNEL(REDUCE, NULL, run_reduce);
