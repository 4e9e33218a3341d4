// Numbers in equal steps: start + i × delta, each from start, so that errors do not add up. In
// double, rounded once, or in integers that keep their low bits.
#include "exec/kernels/support/convert.h"
#include "exec/kernels/support/kernel.h"

#define GRAIN 16384

typedef struct steps {
  stow_tensor* result;
  bool is_float;
  double start, delta;
  int64_t whole_start, whole_delta;
} steps;

static void count_up(void* user, size_t begin, size_t end, uint32_t worker) {
  (void)worker;
  const steps* s = user;
  for (size_t i = begin; i < end; ++i) {
    if (s->is_float) {
      double number = s->start + (double)i * s->delta;
      stowi_store_f64(s->result->dtype, s->result->data, i, 1, &number);
    } else {
      int64_t number = (int64_t)((uint64_t)s->whole_start + (uint64_t)i * (uint64_t)s->whole_delta);
      stowi_store_i64(s->result->dtype, s->result->data, i, 1, &number);
    }
  }
}

static stow_status run_range(stow_kernel_call* call) {
  stow_tensor* result = call->results[0];
  steps s = {.result = result, .is_float = stowi_kind(result->dtype) == STOW_KIND_FLOAT};
  if (s.is_float) {
    s.start = stowi_float_at(call->operands[0], 0);
    s.delta = stowi_float_at(call->operands[2], 0);
  } else {
    s.whole_start = stowi_int_at(call->operands[0], 0);
    s.whole_delta = stowi_int_at(call->operands[2], 0);
  }
  size_t count = stow_tensor_elements(result);
  if (stowi_bits(result->dtype) % 8 != 0) {
    return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED,
                            "numbers of whole bytes are needed, these are packed");
  }
  stow_kernel_split(call, count, GRAIN, count_up, &s);
  return STOW_OK;
}

STOWI_KERNEL(RANGE, NULL, run_range);
