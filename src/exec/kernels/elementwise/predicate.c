// Ops of one operand on bits and kinds of numbers: not, bit_not, is_nan, is_inf. Blocks are read as
// a whole before narrower results are written over them.
#include <math.h>
#include <string.h>

#include "exec/kernels/support/convert.h"
#include "exec/kernels/support/kernel.h"
#include "exec/kernels/support/walk.h"

typedef struct bits_task {
  const stow_tensor* in;
  stow_tensor* out;
} bits_task;

static void run_not_blocks(void* user, size_t begin, size_t end, uint32_t worker) {
  const bits_task* t = (const bits_task*)user;
  bool is_bool = t->in->dtype == STOW_BOOL;
  int64_t block[STOWI_BLOCK];
  (void)worker;
  for (size_t i = begin; i < end; i += STOWI_BLOCK) {
    size_t n = end - i < STOWI_BLOCK ? end - i : STOWI_BLOCK;
    stowi_load_i64(t->in->dtype, t->in->data, i, n, block);
    for (size_t j = 0; j < n; ++j) {
      block[j] = is_bool ? block[j] == 0 : ~block[j];
    }
    stowi_store_i64(t->out->dtype, t->out->data, i, n, block);
  }
}

static stow_status run_not(stow_kernel_call* call) {
  bits_task t = {call->operands[0], call->results[0]};
  stow_dtype_kind kind = stowi_kind(t.in->dtype);
  if (kind == STOW_KIND_FLOAT || kind == STOW_KIND_COMPLEX) {
    return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED, "bool or integers are needed, not %s",
                            stowi_dtype_text(t.in->dtype));
  }
  stowi_split_elements(call, stow_tensor_elements(t.out), 4, run_not_blocks, &t);
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
  double block[STOWI_BLOCK];
  (void)worker;
  for (size_t i = begin; i < end; i += STOWI_BLOCK) {
    size_t n = end - i < STOWI_BLOCK ? end - i : STOWI_BLOCK;
    stowi_load_f64(t->in->dtype, t->in->data, i, n, block);
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
                 !is_nan && stow_kernel_bool(call, "detect_positive", true),
                 !is_nan && stow_kernel_bool(call, "detect_negative", true)};
  if (stowi_kind(t.in->dtype) == STOW_KIND_COMPLEX) {
    return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED, "floats are needed, not %s",
                            stowi_dtype_text(t.in->dtype));
  }
  stowi_split_elements(call, stow_tensor_elements(call->results[0]), 4, run_kind_blocks, &t);
  return STOW_OK;
}

STOWI_KERNEL(NOT, NULL, run_not);
STOWI_KERNEL(BIT_NOT, NULL, run_not);
STOWI_KERNEL(IS_NAN, NULL, run_kind);
STOWI_KERNEL(IS_INF, NULL, run_kind);
