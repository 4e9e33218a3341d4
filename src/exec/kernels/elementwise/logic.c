// and, or, xor, bit_shift: on bools, which are 0 or 1, and bitwise on integers.
#include "exec/kernels/elementwise/binary.h"
#include "exec/kernels/support/kernel.h"

STOWI_BINARY_INT(and_i64, int64, (x & y))
STOWI_BINARY_INT(and_u64, uint64, (x & y))
STOWI_BINARY_INT(or_i64, int64, x | y)
STOWI_BINARY_INT(or_u64, uint64, x | y)
STOWI_BINARY_INT(xor_i64, int64, x ^ y)
STOWI_BINARY_INT(xor_u64, uint64, x ^ y)

// Nothing is left of a number that is shifted by all its bits, but the sign of one that has one. A
// negative shift counts as such.
static inline uint64_t shift_left(uint64_t x, uint64_t y) { return y < 64 ? x << y : 0; }
static inline uint64_t shift_right(uint64_t x, uint64_t y) { return y < 64 ? x >> y : 0; }

static inline int64_t shift_right_signed(int64_t x, int64_t y) {
  uint64_t n = (uint64_t)y < 63 ? (uint64_t)y : 63;
  uint64_t bits = (uint64_t)x;
  return (int64_t)(x < 0 ? ~(~bits >> n) : bits >> n);
}

STOWI_BINARY_INT(left_i64, int64, (int64_t)shift_left((uint64_t)x, (uint64_t)y))
STOWI_BINARY_INT(left_u64, uint64, shift_left(x, y))
STOWI_BINARY_INT(right_i64, int64, shift_right_signed(x, y))
STOWI_BINARY_INT(right_u64, uint64, shift_right(x, y))

static const stowi_binary left = {STOW_OP_BIT_SHIFT, 4, NULL, NULL, left_i64, left_u64, NULL};
static const stowi_binary right = {STOW_OP_BIT_SHIFT, 4, NULL, NULL, right_i64, right_u64, NULL};
static const stowi_binary rows[] = {
    {STOW_OP_AND, 4, NULL, NULL, and_i64, and_u64, NULL},
    {STOW_OP_OR, 4, NULL, NULL, or_i64, or_u64, NULL},
    {STOW_OP_XOR, 4, NULL, NULL, xor_i64, xor_u64, NULL},
};

static stow_status run(stow_kernel_call* call) {
  return stowi_binary_run(call, stowi_binary_row(call, rows, sizeof(rows) / sizeof(rows[0])));
}

static stow_status run_shift(stow_kernel_call* call) {
  return stowi_binary_run(call, stow_kernel_is(call, "direction", "left") ? &left : &right);
}

STOWI_KERNEL(AND, NULL, run);
STOWI_KERNEL(OR, NULL, run);
STOWI_KERNEL(XOR, NULL, run);
STOWI_KERNEL(BIT_SHIFT, NULL, run_shift);
