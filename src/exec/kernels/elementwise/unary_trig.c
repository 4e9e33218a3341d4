// Trigonometric and hyperbolic functions. Sine and cosine are computed in vectors where all of a
// block is within the range of that; the rarer ones are libm's in double, then rounded.
#include <math.h>

#include "exec/kernels/elementwise/unary.h"
#include "exec/kernels/support/convert.h"
#include "exec/kernels/support/kernel.h"
#include "exec/kernels/support/math.h"

STOWI_KERNEL_LOOP(turn, (const float* in, float* out, size_t count, uint32_t quarters),
                  (in, out, count, quarters)) {
  STOWI_KERNEL_INDEPENDENT
  for (size_t i = 0; i < count; ++i) {
    out[i] = stowi_kernel_sin_turned(in[i], quarters);
  }
}

static bool is_all_small(const float* in, size_t count) {
  bool is_small = true;
  for (size_t i = 0; i < count; ++i) {
    is_small &= stowi_kernel_abs(in[i]) <= STOWI_KERNEL_TURN_LIMIT;
  }
  return is_small;
}

static void turn_blocks(const float* in, float* out, size_t count, uint32_t quarters) {
  for (size_t i = 0; i < count; i += STOWI_KERNEL_BLOCK) {
    size_t n = count - i < STOWI_KERNEL_BLOCK ? count - i : STOWI_KERNEL_BLOCK;
    if (is_all_small(in + i, n)) {
      turn(in + i, out + i, n, quarters);
      continue;
    }
    for (size_t j = i; j < i + n; ++j) {
      out[j] = quarters == 0 ? stowi_kernel_sinf(in[j]) : stowi_kernel_cosf(in[j]);
    }
  }
}

static void sin_f32(const float* in, float* out, size_t count, const float* p) {
  (void)p;
  turn_blocks(in, out, count, 0);
}

static void cos_f32(const float* in, float* out, size_t count, const float* p) {
  (void)p;
  turn_blocks(in, out, count, 1);
}

STOWI_KERNEL_UNARY_F64(sin, sin(x))
STOWI_KERNEL_UNARY_F64(cos, cos(x))

#define LIBM(name)                                       \
  STOWI_KERNEL_UNARY_F32(name, (float)(name)((double)x)) \
  STOWI_KERNEL_UNARY_F64(name, (name)(x))

LIBM(tan)
LIBM(sinh)
LIBM(cosh)
LIBM(asin)
LIBM(acos)
LIBM(atan)
LIBM(asinh)
LIBM(acosh)
LIBM(atanh)

static const stowi_kernel_unary rows[] = {
    {STOW_OP_SIN, 12, sin_f32, sin_f64, NULL, NULL, false, {0}},
    {STOW_OP_COS, 12, cos_f32, cos_f64, NULL, NULL, false, {0}},
    {STOW_OP_TAN, 64, tan_f32, tan_f64, NULL, NULL, false, {0}},
    {STOW_OP_SINH, 64, sinh_f32, sinh_f64, NULL, NULL, false, {0}},
    {STOW_OP_COSH, 64, cosh_f32, cosh_f64, NULL, NULL, false, {0}},
    {STOW_OP_ASIN, 64, asin_f32, asin_f64, NULL, NULL, false, {0}},
    {STOW_OP_ACOS, 64, acos_f32, acos_f64, NULL, NULL, false, {0}},
    {STOW_OP_ATAN, 64, atan_f32, atan_f64, NULL, NULL, false, {0}},
    {STOW_OP_ASINH, 64, asinh_f32, asinh_f64, NULL, NULL, false, {0}},
    {STOW_OP_ACOSH, 64, acosh_f32, acosh_f64, NULL, NULL, false, {0}},
    {STOW_OP_ATANH, 64, atanh_f32, atanh_f64, NULL, NULL, false, {0}},
};

static stow_status run(stow_kernel_call* call) {
  return stowi_kernel_unary_run(call, rows, sizeof(rows) / sizeof(rows[0]));
}

STOWI_KERNEL(SIN, NULL, run);
STOWI_KERNEL(COS, NULL, run);
STOWI_KERNEL(TAN, NULL, run);
STOWI_KERNEL(SINH, NULL, run);
STOWI_KERNEL(COSH, NULL, run);
STOWI_KERNEL(ASIN, NULL, run);
STOWI_KERNEL(ACOS, NULL, run);
STOWI_KERNEL(ATAN, NULL, run);
STOWI_KERNEL(ASINH, NULL, run);
STOWI_KERNEL(ACOSH, NULL, run);
STOWI_KERNEL(ATANH, NULL, run);
