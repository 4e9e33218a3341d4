// add, sub, mul, div, prelu, swiglu. Integers keep the low bits of what does not fit; a division by
// 0 is an error, and is rounded towards zero.
#include "exec/kernels/elementwise/binary.h"
#include "exec/kernels/support/kernel.h"
#include "exec/kernels/support/math.h"

STOWI_KERNEL_BINARY_BOTH(add, x + y)
STOWI_KERNEL_BINARY_I32(add, x + y)
STOWI_KERNEL_BINARY_INT(add_i64, int64, (int64_t)((uint64_t)x + (uint64_t)y))
STOWI_KERNEL_BINARY_INT(add_u64, uint64, x + y)

STOWI_KERNEL_BINARY_BOTH(sub, x - y)
STOWI_KERNEL_BINARY_I32(sub, x - y)
STOWI_KERNEL_BINARY_INT(sub_i64, int64, (int64_t)((uint64_t)x - (uint64_t)y))
STOWI_KERNEL_BINARY_INT(sub_u64, uint64, x - y)

STOWI_KERNEL_BINARY_BOTH(mul, (x * y))
STOWI_KERNEL_BINARY_I32(mul, (x * y))
STOWI_KERNEL_BINARY_INT(mul_i64, int64, (int64_t)((uint64_t)x*(uint64_t)y))
STOWI_KERNEL_BINARY_INT(mul_u64, uint64, (x * y))

// The smallest integer divided by -1 does not fit.
STOWI_KERNEL_BINARY_BOTH(div, x / y)
STOWI_KERNEL_BINARY_INT(div_i64, int64, y == -1 ? (int64_t)(0 - (uint64_t)x) : x / y)
STOWI_KERNEL_BINARY_INT(div_u64, uint64, x / y)

STOWI_KERNEL_BINARY_BOTH(prelu, x < 0 ? x * y : x)
STOWI_KERNEL_BINARY_INT(prelu_i64, int64, x < 0 ? (int64_t)((uint64_t)x * (uint64_t)y) : x)
STOWI_KERNEL_BINARY_INT(prelu_u64, uint64, ((void)y, x))

STOWI_KERNEL_BINARY_F32(swiglu, (x * stowi_kernel_sigmoidf(has_fma, p* x) * y))
STOWI_KERNEL_BINARY_F64(swiglu, (x * stowi_kernel_sigmoid(p * x) * y))

static const stowi_kernel_binary rows[] = {
    {STOW_OP_ADD, 1, add_f32, add_f64, add_i64, add_u64, STOWI_KERNEL_ATTR_NONE, add_i32},
    {STOW_OP_SUB, 1, sub_f32, sub_f64, sub_i64, sub_u64, STOWI_KERNEL_ATTR_NONE, sub_i32},
    {STOW_OP_MUL, 1, mul_f32, mul_f64, mul_i64, mul_u64, STOWI_KERNEL_ATTR_NONE, mul_i32},
    {STOW_OP_DIV, 4, div_f32, div_f64, div_i64, div_u64, STOWI_KERNEL_ATTR_NONE, NULL},
    {STOW_OP_PRELU, 1, prelu_f32, prelu_f64, prelu_i64, prelu_u64, STOWI_KERNEL_ATTR_NONE, NULL},
    {STOW_OP_SWIGLU, 14, swiglu_f32, swiglu_f64, NULL, NULL, STOWI_KERNEL_ATTR_ALPHA, NULL},
};

static stow_status run(stow_kernel_call* call) {
  return stowi_kernel_binary_run(
      call, stowi_kernel_binary_row(call, rows, sizeof(rows) / sizeof(rows[0])));
}

static stow_status run_div(stow_kernel_call* call) {
  STOWI_KERNEL_TRY(stowi_kernel_check_divisor(call));
  return run(call);
}

STOWI_KERNEL(ADD, NULL, run);
STOWI_KERNEL(SUB, NULL, run);
STOWI_KERNEL(MUL, NULL, run);
STOWI_KERNEL(DIV, NULL, run_div);
STOWI_KERNEL(PRELU, NULL, run);
STOWI_KERNEL(SWIGLU, NULL, run);
