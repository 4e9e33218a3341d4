// Exponentials and what is made of them without parameters.
#include <math.h>

#include "exec/kernels/elementwise/unary.h"
#include "exec/kernels/support/kernel.h"
#include "exec/kernels/support/math.h"

// x tanh(log(1 + e)) with e = exp(x), which is x n / (n + 2) with n = e (e + 2). Above 20 n is so
// large that only x is left.
STOWI_KERNEL_INLINE float mish(bool has_fma, float x) {
  float e = stowi_kernel_expf(has_fma, x > 20.0F ? 20.0F : x);
  float n = e * (e + 2.0F);
  return x * (n / (n + 2.0F));
}

STOWI_KERNEL_UNARY_F32(exp, stowi_kernel_expf(has_fma, x))
STOWI_KERNEL_UNARY_F64(exp, exp(x))
STOWI_KERNEL_UNARY_F32(log, stowi_kernel_logf(x))
STOWI_KERNEL_UNARY_F64(log, log(x))
STOWI_KERNEL_UNARY_F32(sigmoid, stowi_kernel_sigmoidf(has_fma, x))
STOWI_KERNEL_UNARY_F64(sigmoid, stowi_kernel_sigmoid(x))
STOWI_KERNEL_UNARY_F32(tanh, stowi_kernel_tanhf(has_fma, x))
STOWI_KERNEL_UNARY_F64(tanh, tanh(x))
STOWI_KERNEL_UNARY_F32(erf, stowi_kernel_erff(has_fma, x))
STOWI_KERNEL_UNARY_F64(erf, erf(x))
STOWI_KERNEL_UNARY_F32(softplus, stowi_kernel_softplusf(has_fma, x))
STOWI_KERNEL_UNARY_F64(softplus, stowi_kernel_softplus(x))
STOWI_KERNEL_UNARY_F32(softsign, x / (1.0F + stowi_kernel_abs(x)))
STOWI_KERNEL_UNARY_F64(softsign, x / (1.0 + fabs(x)))
STOWI_KERNEL_UNARY_F32(mish, mish(has_fma, x))
STOWI_KERNEL_UNARY_F64(mish, (x * tanh(stowi_kernel_softplus(x))))

static const stowi_kernel_unary rows[] = {
    {STOW_OP_EXP, 8, exp_f32, exp_f64, NULL, NULL, false, {0}},
    {STOW_OP_LOG, 8, log_f32, log_f64, NULL, NULL, false, {0}},
    {STOW_OP_SIGMOID, 12, sigmoid_f32, sigmoid_f64, NULL, NULL, false, {0}},
    {STOW_OP_TANH, 16, tanh_f32, tanh_f64, NULL, NULL, false, {0}},
    {STOW_OP_ERF, 16, erf_f32, erf_f64, NULL, NULL, false, {0}},
    {STOW_OP_SOFTPLUS, 24, softplus_f32, softplus_f64, NULL, NULL, false, {0}},
    {STOW_OP_SOFTSIGN, 4, softsign_f32, softsign_f64, NULL, NULL, false, {0}},
    {STOW_OP_MISH, 12, mish_f32, mish_f64, NULL, NULL, false, {0}},
};

static stow_status run(stow_kernel_call* call) {
  return stowi_kernel_unary_run(call, rows, sizeof(rows) / sizeof(rows[0]));
}

STOWI_KERNEL(EXP, NULL, run);
STOWI_KERNEL(LOG, NULL, run);
STOWI_KERNEL(SIGMOID, NULL, run);
STOWI_KERNEL(TANH, NULL, run);
STOWI_KERNEL(ERF, NULL, run);
STOWI_KERNEL(SOFTPLUS, NULL, run);
STOWI_KERNEL(SOFTSIGN, NULL, run);
STOWI_KERNEL(MISH, NULL, run);
