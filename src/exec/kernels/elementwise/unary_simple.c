// Functions of one element that are exact or rounded once: signs, rounding, roots, reciprocals.
#include <math.h>

#include "exec/kernels/elementwise/unary.h"
#include "exec/kernels/support/kernel.h"
#include "exec/kernels/support/math.h"

// Above 2^23 (2^52) all numbers are whole; below, an addition rounds them, half to even.
static inline float round_even_f32(float x) {
  float a = stowi_kernel_abs(x);
  float rounded = (a + 0x1p23F) - 0x1p23F;
  return a < 0x1p23F ? stowi_kernel_sign_like(rounded, x) : x;
}

static inline double round_even_f64(double x) {
  double a = fabs(x);
  double rounded = (a + 0x1p52) - 0x1p52;
  return a < 0x1p52 ? copysign(rounded, x) : x;
}

STOWI_KERNEL_UNARY_BOTH(relu, x < 0 ? 0 : x)
STOWI_KERNEL_UNARY_INT(relu_i64, int64, x < 0 ? 0 : x)
STOWI_KERNEL_UNARY_INT(same_u64, uint64, x)

STOWI_KERNEL_UNARY_BOTH(neg, -x)
STOWI_KERNEL_UNARY_INT(neg_i64, int64, (int64_t)(0 - (uint64_t)x))
STOWI_KERNEL_UNARY_INT(neg_u64, uint64, 0 - x)

STOWI_KERNEL_UNARY_F32(abs, stowi_kernel_abs(x))
STOWI_KERNEL_UNARY_F64(abs, fabs(x))
STOWI_KERNEL_UNARY_INT(abs_i64, int64, x < 0 ? (int64_t)(0 - (uint64_t)x) : x)

STOWI_KERNEL_UNARY_BOTH(sign, x > 0 ? 1 : x < 0 ? -1 : x)  // zeros and NaN stay
STOWI_KERNEL_UNARY_INT(sign_i64, int64, (x > 0) - (x < 0))
STOWI_KERNEL_UNARY_INT(sign_u64, uint64, x != 0)

STOWI_KERNEL_UNARY_F32(floor, floorf(x))
STOWI_KERNEL_UNARY_F64(floor, floor(x))
STOWI_KERNEL_UNARY_F32(ceil, ceilf(x))
STOWI_KERNEL_UNARY_F64(ceil, ceil(x))
STOWI_KERNEL_UNARY_F32(round, round_even_f32(x))
STOWI_KERNEL_UNARY_F64(round, round_even_f64(x))
STOWI_KERNEL_UNARY_INT(same_i64, int64, x)

STOWI_KERNEL_UNARY_F32(sqrt, sqrtf(x))
STOWI_KERNEL_UNARY_F64(sqrt, sqrt(x))
STOWI_KERNEL_UNARY_F32(rsqrt, 1.0F / sqrtf(x))
STOWI_KERNEL_UNARY_F64(rsqrt, 1.0 / sqrt(x))
STOWI_KERNEL_UNARY_BOTH(reciprocal, 1 / x)

static const stowi_kernel_unary rows[] = {
    {STOW_OP_RELU, 1, relu_f32, relu_f64, relu_i64, same_u64, false, {0}},
    {STOW_OP_NEG, 1, neg_f32, neg_f64, neg_i64, neg_u64, false, {0}},
    {STOW_OP_ABS, 1, abs_f32, abs_f64, abs_i64, same_u64, false, {0}},
    {STOW_OP_SIGN, 1, sign_f32, sign_f64, sign_i64, sign_u64, false, {0}},
    {STOW_OP_FLOOR, 2, floor_f32, floor_f64, same_i64, same_u64, false, {0}},
    {STOW_OP_CEIL, 2, ceil_f32, ceil_f64, same_i64, same_u64, false, {0}},
    {STOW_OP_ROUND, 2, round_f32, round_f64, same_i64, same_u64, false, {0}},
    {STOW_OP_SQRT, 4, sqrt_f32, sqrt_f64, NULL, NULL, false, {0}},
    {STOW_OP_RSQRT, 6, rsqrt_f32, rsqrt_f64, NULL, NULL, false, {0}},
    {STOW_OP_RECIPROCAL, 4, reciprocal_f32, reciprocal_f64, NULL, NULL, false, {0}},
};

static stow_status run(stow_kernel_call* call) {
  return stowi_kernel_unary_run(call, rows, sizeof(rows) / sizeof(rows[0]));
}

STOWI_KERNEL(RELU, NULL, run);
STOWI_KERNEL(NEG, NULL, run);
STOWI_KERNEL(ABS, NULL, run);
STOWI_KERNEL(SIGN, NULL, run);
STOWI_KERNEL(FLOOR, NULL, run);
STOWI_KERNEL(CEIL, NULL, run);
STOWI_KERNEL(ROUND, NULL, run);
STOWI_KERNEL(SQRT, NULL, run);
STOWI_KERNEL(RSQRT, NULL, run);
STOWI_KERNEL(RECIPROCAL, NULL, run);
