// Loops over blocks for every way of reducing, each plain enough to become vectors. Floats of all
// widths are doubles here, integers are i64, whose arithmetic wraps.
#include "exec/kernels/rows/reduction.h"

#include <math.h>

#include "exec/kernels/support/convert.h"

#define EACH(expression)               \
  for (size_t i = 0; i < count; ++i) { \
    into[i] = (expression);            \
  }                                    \
  break

// log_sum_exp is a sum of exponentials, which the caller computes. NaN stays.
void stowi_reduce_reals(stowi_reduction op, const double* in, size_t count, double* into) {
  switch (op) {
    case STOWI_REDUCE_MAX:
      EACH(((in[i] > into[i]) | (in[i] != in[i])) ? in[i] : into[i]);
    case STOWI_REDUCE_MIN:
      EACH(((in[i] < into[i]) | (in[i] != in[i])) ? in[i] : into[i]);
    case STOWI_REDUCE_PROD:
      EACH(into[i] * in[i]);
    case STOWI_REDUCE_L1:
      EACH(into[i] + fabs(in[i]));
    case STOWI_REDUCE_L2:
    case STOWI_REDUCE_SUM_SQUARE:
      EACH(into[i] + in[i] * in[i]);
    default:
      EACH(into[i] + in[i]);
  }
}

static int64_t wrapped_add(int64_t a, int64_t b) { return (int64_t)((uint64_t)a + (uint64_t)b); }
static int64_t wrapped_mul(int64_t a, int64_t b) { return (int64_t)((uint64_t)a * (uint64_t)b); }
static int64_t wrapped_abs(int64_t a) { return a < 0 ? (int64_t)(0 - (uint64_t)a) : a; }

static bool is_less(bool is_unsigned, int64_t a, int64_t b) {
  return is_unsigned ? (uint64_t)a < (uint64_t)b : a < b;
}

void stowi_reduce_ints(stowi_reduction op, bool is_unsigned, const int64_t* in, size_t count,
                       int64_t* into) {
  switch (op) {
    case STOWI_REDUCE_MAX:
      EACH(is_less(is_unsigned, into[i], in[i]) ? in[i] : into[i]);
    case STOWI_REDUCE_MIN:
      EACH(is_less(is_unsigned, in[i], into[i]) ? in[i] : into[i]);
    case STOWI_REDUCE_PROD:
      EACH(wrapped_mul(into[i], in[i]));
    case STOWI_REDUCE_L1:
      EACH(wrapped_add(into[i], is_unsigned ? in[i] : wrapped_abs(in[i])));
    case STOWI_REDUCE_L2:
    case STOWI_REDUCE_SUM_SQUARE:
      EACH(wrapped_add(into[i], wrapped_mul(in[i], in[i])));
    default:
      EACH(wrapped_add(into[i], in[i]));
  }
}

double stowi_reduce_first_real(stowi_reduction op) {
  switch (op) {
    case STOWI_REDUCE_MAX:
      return -(double)INFINITY;
    case STOWI_REDUCE_MIN:
      return (double)INFINITY;
    case STOWI_REDUCE_PROD:
      return 1;
    default:
      return 0;
  }
}

int64_t stowi_reduce_first_int(stowi_reduction op, stow_dtype dtype) {
  stow_dtype_kind kind = stowi_kind(dtype);
  uint32_t bits = kind == STOW_KIND_BOOL ? 1 : stowi_bits(dtype);
  bool is_signed = kind == STOW_KIND_SIGNED;
  uint64_t all = UINT64_MAX >> (64 - bits);
  switch (op) {
    case STOWI_REDUCE_MAX:
      return is_signed ? -(int64_t)(all >> 1) - 1 : 0;
    case STOWI_REDUCE_MIN:
      return (int64_t)(is_signed ? all >> 1 : all);
    case STOWI_REDUCE_PROD:
      return 1;
    default:
      return 0;
  }
}

double stowi_reduce_last_real(stowi_reduction op, double folded, size_t count) {
  switch (op) {
    case STOWI_REDUCE_MEAN:
      return folded / (double)count;
    case STOWI_REDUCE_L2:
      return sqrt(folded);
    case STOWI_REDUCE_LOG_SUM:
    case STOWI_REDUCE_LOG_SUM_EXP:
      return log(folded);
    default:
      return folded;
  }
}

// Towards zero; what is not finite is 0.
static int64_t to_int(double x) {
  if (!(fabs(x) < 0x1p63)) {
    return 0;
  }
  return (int64_t)x;
}

int64_t stowi_reduce_last_int(stowi_reduction op, bool is_unsigned, int64_t folded, size_t count) {
  double number = is_unsigned ? (double)(uint64_t)folded : (double)folded;
  switch (op) {
    case STOWI_REDUCE_MEAN:
      if (count == 0) {
        return 0;
      }
      return is_unsigned ? (int64_t)((uint64_t)folded / count) : folded / (int64_t)count;
    case STOWI_REDUCE_L2:
      return to_int(sqrt(number));
    case STOWI_REDUCE_LOG_SUM:
    case STOWI_REDUCE_LOG_SUM_EXP:
      return to_int(log(number));
    default:
      return folded;
  }
}
