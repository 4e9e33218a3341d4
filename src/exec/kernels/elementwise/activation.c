// Activations: functions of one element with up to two parameters. Each is written once where the
// same expression serves f32 and f64, else once for either.
#include <math.h>

#include "exec/kernels/elementwise/unary.h"
#include "exec/kernels/support/kernel.h"
#include "exec/kernels/support/math.h"

#define SQRT_HALF 0.70710678118654752440
#define SQRT_2_OVER_PI 0.79788456080286535588
#define CUBIC 0.044715

STOWI_KERNEL_UNARY_F32(gelu, 0.5F * x * (1.0F + stowi_kernel_erff(has_fma, x*(float)SQRT_HALF)))
STOWI_KERNEL_UNARY_F64(gelu, 0.5 * x * (1.0 + erf(x * SQRT_HALF)))
STOWI_KERNEL_UNARY_F32(
    gelu_tanh,
    0.5F * x *
        (1.0F + stowi_kernel_tanhf(has_fma, (float)SQRT_2_OVER_PI*(x + (float)CUBIC * x * x * x))))
STOWI_KERNEL_UNARY_F64(gelu_tanh, 0.5 * x * (1.0 + tanh(SQRT_2_OVER_PI * (x + CUBIC * x * x * x))))
STOWI_KERNEL_UNARY_F32(silu, (x * stowi_kernel_sigmoidf(has_fma, p[0] * x)))
STOWI_KERNEL_UNARY_F64(silu, (x * stowi_kernel_sigmoid(p[0] * x)))
STOWI_KERNEL_UNARY_BOTH(leaky_relu, x < 0 ? p[0] * x : x)
STOWI_KERNEL_UNARY_F32(elu, x < 0 ? p[0] * stowi_kernel_expm1f(has_fma, x) : x)
STOWI_KERNEL_UNARY_F64(elu, x < 0 ? p[0] * expm1(x) : x)
STOWI_KERNEL_UNARY_F32(selu, p[1] * (x > 0 ? x : p[0] * stowi_kernel_expm1f(has_fma, x)))
STOWI_KERNEL_UNARY_F64(selu, p[1] * (x > 0 ? x : p[0] * expm1(x)))
STOWI_KERNEL_UNARY_F32(celu, x < 0 ? p[0] * stowi_kernel_expm1f(has_fma, x / p[0]) : x)
STOWI_KERNEL_UNARY_F64(celu, x < 0 ? p[0] * expm1(x / p[0]) : x)
STOWI_KERNEL_UNARY_BOTH(thresholded_relu, x > p[0] ? x : 0)

static inline float unit_f32(float x) { return x < 0 ? 0 : x > 1 ? 1 : x; }
static inline double unit_f64(double x) { return x < 0 ? 0 : x > 1 ? 1 : x; }

STOWI_KERNEL_UNARY_F32(hard_swish, (x * unit_f32(x * (1.0F / 6.0F) + 0.5F)))
STOWI_KERNEL_UNARY_F64(hard_swish, (x * unit_f64(x * (1.0 / 6.0) + 0.5)))
STOWI_KERNEL_UNARY_F32(hard_sigmoid, unit_f32(p[0] * x + p[1]))
STOWI_KERNEL_UNARY_F64(hard_sigmoid, unit_f64(p[0] * x + p[1]))
STOWI_KERNEL_UNARY_BOTH(shrink, (x < -p[1] ? x + p[0] : x > p[1] ? x - p[0] : 0))
STOWI_KERNEL_UNARY_BOTH(affine, p[0] * x + p[1])
STOWI_KERNEL_UNARY_F32(scaled_tanh, p[0] * stowi_kernel_tanhf(has_fma, p[1] * x))
STOWI_KERNEL_UNARY_F64(scaled_tanh, p[0] * tanh(p[1] * x))

STOWI_KERNEL_UNARY_F32(parametric_softplus, p[0] * stowi_kernel_softplusf(has_fma, p[1] * x))
STOWI_KERNEL_UNARY_F64(parametric_softplus, p[0] * stowi_kernel_softplus(p[1] * x))

#define ROW(op, name, cost, ...)                                                   \
  {                                                                                \
    STOW_OP_##op, cost, name##_f32, name##_f64, NULL, NULL, false, { __VA_ARGS__ } \
  }

static const stowi_kernel_unary gelu_tanh_row[] = {
    ROW(GELU, gelu_tanh, 24, STOWI_KERNEL_ATTR_NONE)};
static const stowi_kernel_unary rows[] = {
    ROW(GELU, gelu, 20, STOWI_KERNEL_ATTR_NONE),
    ROW(SILU, silu, 14, STOWI_KERNEL_ATTR_ALPHA),
    ROW(LEAKY_RELU, leaky_relu, 1, STOWI_KERNEL_ATTR_ALPHA),
    ROW(ELU, elu, 10, STOWI_KERNEL_ATTR_ALPHA),
    ROW(SELU, selu, 10, STOWI_KERNEL_ATTR_ALPHA, STOWI_KERNEL_ATTR_GAMMA),
    ROW(CELU, celu, 14, STOWI_KERNEL_ATTR_ALPHA),
    ROW(THRESHOLDED_RELU, thresholded_relu, 1, STOWI_KERNEL_ATTR_ALPHA),
    ROW(HARD_SWISH, hard_swish, 2, STOWI_KERNEL_ATTR_NONE),
    ROW(HARD_SIGMOID, hard_sigmoid, 2, STOWI_KERNEL_ATTR_ALPHA, STOWI_KERNEL_ATTR_BETA),
    {STOW_OP_SHRINK,
     2,
     shrink_f32,
     shrink_f64,
     NULL,
     NULL,
     true,
     {STOWI_KERNEL_ATTR_BIAS, STOWI_KERNEL_ATTR_LAMBD}},
    ROW(AFFINE, affine, 1, STOWI_KERNEL_ATTR_ALPHA, STOWI_KERNEL_ATTR_BETA),
    ROW(SCALED_TANH, scaled_tanh, 16, STOWI_KERNEL_ATTR_ALPHA, STOWI_KERNEL_ATTR_BETA),
    ROW(PARAMETRIC_SOFTPLUS, parametric_softplus, 24, STOWI_KERNEL_ATTR_ALPHA,
        STOWI_KERNEL_ATTR_BETA),
};

static stow_status run(stow_kernel_call* call) {
  return stowi_kernel_unary_run(call, rows, sizeof(rows) / sizeof(rows[0]));
}

static stow_status run_gelu(stow_kernel_call* call) {
  return stowi_kernel_is(call, STOWI_KERNEL_ATTR_APPROXIMATE, "tanh")
             ? stowi_kernel_unary_run(call, gelu_tanh_row, 1)
             : run(call);
}

STOWI_KERNEL(GELU, NULL, run_gelu);
STOWI_KERNEL(SILU, NULL, run);
STOWI_KERNEL(LEAKY_RELU, NULL, run);
STOWI_KERNEL(ELU, NULL, run);
STOWI_KERNEL(SELU, NULL, run);
STOWI_KERNEL(CELU, NULL, run);
STOWI_KERNEL(THRESHOLDED_RELU, NULL, run);
STOWI_KERNEL(HARD_SWISH, NULL, run);
STOWI_KERNEL(HARD_SIGMOID, NULL, run);
STOWI_KERNEL(SHRINK, NULL, run);
STOWI_KERNEL(AFFINE, NULL, run);
STOWI_KERNEL(SCALED_TANH, NULL, run);
STOWI_KERNEL(PARAMETRIC_SOFTPLUS, NULL, run);
