// Bitwise and boolean ops, and predicates of numbers.
#include <math.h>
#include <string.h>

#include "exec/kernels/elementwise/binary.h"
#include "exec/kernels/support/convert.h"
#include "exec/kernels/support/kernel.h"
#include "exec/kernels/support/walk.h"

// ---------------------------------------------------------------------------------------------
// and, or, xor, bit_shift: logical on bools, which are 0 or 1, and bitwise on integers.

STOWI_KERNEL_BINARY_INT(and_i64, int64, (x & y))
STOWI_KERNEL_BINARY_INT(and_u64, uint64, (x & y))
STOWI_KERNEL_BINARY_INT(or_i64, int64, x | y)
STOWI_KERNEL_BINARY_INT(or_u64, uint64, x | y)
STOWI_KERNEL_BINARY_INT(xor_i64, int64, x ^ y)
STOWI_KERNEL_BINARY_INT(xor_u64, uint64, x ^ y)

// Nothing is left of a number that is shifted by all its bits, but the sign of one that has one. A
// negative shift counts as such.
static inline uint64_t shift_left(uint64_t x, uint64_t y) { return y < 64 ? x << y : 0; }
static inline uint64_t shift_right(uint64_t x, uint64_t y) { return y < 64 ? x >> y : 0; }

static inline int64_t shift_right_signed(int64_t x, int64_t y) {
  uint64_t n = (uint64_t)y < 63 ? (uint64_t)y : 63;
  uint64_t bits = (uint64_t)x;
  return (int64_t)(x < 0 ? ~(~bits >> n) : bits >> n);
}

STOWI_KERNEL_BINARY_INT(left_i64, int64, (int64_t)shift_left((uint64_t)x, (uint64_t)y))
STOWI_KERNEL_BINARY_INT(left_u64, uint64, shift_left(x, y))
STOWI_KERNEL_BINARY_INT(right_i64, int64, shift_right_signed(x, y))
STOWI_KERNEL_BINARY_INT(right_u64, uint64, shift_right(x, y))

static const stowi_kernel_binary left = {
    STOW_OP_BIT_SHIFT, 4, NULL, NULL, left_i64, left_u64, STOWI_KERNEL_ATTR_NONE, NULL};
static const stowi_kernel_binary right = {
    STOW_OP_BIT_SHIFT, 4, NULL, NULL, right_i64, right_u64, STOWI_KERNEL_ATTR_NONE, NULL};
static const stowi_kernel_binary rows[] = {
    {STOW_OP_AND, 4, NULL, NULL, and_i64, and_u64, STOWI_KERNEL_ATTR_NONE, NULL},
    {STOW_OP_OR, 4, NULL, NULL, or_i64, or_u64, STOWI_KERNEL_ATTR_NONE, NULL},
    {STOW_OP_XOR, 4, NULL, NULL, xor_i64, xor_u64, STOWI_KERNEL_ATTR_NONE, NULL},
};

static stow_status run(stow_kernel_call* call) {
  return stowi_kernel_binary_run(
      call, stowi_kernel_binary_row(call, rows, sizeof(rows) / sizeof(rows[0])));
}

static stow_status run_shift(stow_kernel_call* call) {
  return stowi_kernel_binary_run(
      call, stowi_kernel_is(call, STOWI_KERNEL_ATTR_DIRECTION, "left") ? &left : &right);
}

STOWI_KERNEL(AND, NULL, run);
STOWI_KERNEL(OR, NULL, run);
STOWI_KERNEL(XOR, NULL, run);
STOWI_KERNEL(BIT_SHIFT, NULL, run_shift);

// ---------------------------------------------------------------------------------------------
// not, bit_not, is_nan, is_inf. Each block is read as a whole before narrower results are written
// in place.

typedef struct bits_task {
  const stow_tensor* in;
  stow_tensor* out;
} bits_task;

static void run_not_blocks(void* user, size_t begin, size_t end, uint32_t worker) {
  const bits_task* t = (const bits_task*)user;
  bool is_bool = t->in->dtype == STOW_BOOL;
  int64_t block[STOWI_KERNEL_BLOCK];
  (void)worker;
  for (size_t i = begin; i < end; i += STOWI_KERNEL_BLOCK) {
    size_t n = end - i < STOWI_KERNEL_BLOCK ? end - i : STOWI_KERNEL_BLOCK;
    stowi_kernel_load_i64(t->in->dtype, t->in->data, i, n, block);
    for (size_t j = 0; j < n; ++j) {
      block[j] = is_bool ? block[j] == 0 : ~block[j];
    }
    stowi_kernel_store_i64(t->out->dtype, t->out->data, i, n, block);
  }
}

static stow_status run_not(stow_kernel_call* call) {
  bits_task t = {call->operands[0], call->results[0]};
  stow_dtype_kind kind = stowi_kernel_kind(t.in->dtype);
  if (kind == STOW_KIND_FLOAT || kind == STOW_KIND_COMPLEX) {
    return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED,
                            "operand 0 is %s, expected bool or integers",
                            stowi_kernel_dtype_text(t.in->dtype));
  }
  stowi_kernel_split_elements(call, stow_tensor_elements(t.out), 4, run_not_blocks, &t);
  return STOW_OK;
}

typedef struct kind_task {
  const stow_tensor* in;
  uint8_t* out;
  bool nan;
  bool positive;  // infinity
  bool negative;
} kind_task;

static void run_kind_blocks(void* user, size_t begin, size_t end, uint32_t worker) {
  const kind_task* t = (const kind_task*)user;
  double block[STOWI_KERNEL_BLOCK];
  (void)worker;
  for (size_t i = begin; i < end; i += STOWI_KERNEL_BLOCK) {
    size_t n = end - i < STOWI_KERNEL_BLOCK ? end - i : STOWI_KERNEL_BLOCK;
    stowi_kernel_load_f64(t->in->dtype, t->in->data, i, n, block);
    for (size_t j = 0; j < n; ++j) {
      double x = block[j];
      t->out[i + j] = (t->nan && x != x) || (t->positive && x == (double)INFINITY) ||
                      (t->negative && x == -(double)INFINITY);
    }
  }
}

static stow_status run_kind(stow_kernel_call* call) {
  bool is_nan = call->op == STOW_OP_IS_NAN;
  kind_task t = {call->operands[0], call->results[0]->data, is_nan,
                 !is_nan && stowi_kernel_bool(call, STOWI_KERNEL_ATTR_DETECT_POSITIVE, true),
                 !is_nan && stowi_kernel_bool(call, STOWI_KERNEL_ATTR_DETECT_NEGATIVE, true)};
  if (stowi_kernel_kind(t.in->dtype) == STOW_KIND_COMPLEX) {
    return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED, "operand 0 is %s, expected floats",
                            stowi_kernel_dtype_text(t.in->dtype));
  }
  stowi_kernel_split_elements(call, stow_tensor_elements(call->results[0]), 4, run_kind_blocks, &t);
  return STOW_OK;
}

STOWI_KERNEL(NOT, NULL, run_not);
STOWI_KERNEL(BIT_NOT, NULL, run_not);
STOWI_KERNEL(IS_NAN, NULL, run_kind);
STOWI_KERNEL(IS_INF, NULL, run_kind);
