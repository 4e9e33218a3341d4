// dynamic_quantize_linear: x as u8 by the smallest scale that holds its range and 0. The range is
// found in one walk before anything is written; smallest and largest do not depend on an order.
#include "exec/kernels/quantized/quantize.h"
#include "exec/kernels/support/convert.h"
#include "exec/kernels/support/kernel.h"
#include "exec/kernels/support/vector.h"
#include "exec/kernels/support/walk.h"

#define LANES 16

typedef struct dynamic_task {
  const stow_tensor* x;
  stow_tensor* out;
  stowi_scale scale;
} dynamic_task;

// Widens the ranges of all lanes to |count| numbers, a multiple of LANES. NaN counts as none.
STOWI_LOOP(widen_range, (const float* x, size_t count, float* low, float* high),
           (x, count, low, high)) {
  float least[LANES];
  float most[LANES];
  for (size_t lane = 0; lane < LANES; ++lane) {
    least[lane] = low[lane];
    most[lane] = high[lane];
  }
  for (size_t i = 0; i < count; i += LANES) {
    for (size_t lane = 0; lane < LANES; ++lane) {
      least[lane] = x[i + lane] < least[lane] ? x[i + lane] : least[lane];
      most[lane] = x[i + lane] > most[lane] ? x[i + lane] : most[lane];
    }
  }
  for (size_t lane = 0; lane < LANES; ++lane) {
    low[lane] = least[lane];
    high[lane] = most[lane];
  }
}

// Of all elements and 0.
static void range_of(const stow_tensor* x, float* out_low, float* out_high) {
  float low[LANES] = {0};
  float high[LANES] = {0};
  float block[STOWI_BLOCK];
  size_t count = stow_tensor_elements(x);
  for (size_t i = 0; i < count; i += STOWI_BLOCK) {
    size_t n = count - i < STOWI_BLOCK ? count - i : STOWI_BLOCK;
    stowi_load_f32(x->dtype, x->data, i, n, block);
    for (; n % LANES != 0; ++n) {
      block[n] = 0;
    }
    widen_range(block, n, low, high);
  }
  *out_low = 0;
  *out_high = 0;
  for (size_t lane = 0; lane < LANES; ++lane) {
    *out_low = low[lane] < *out_low ? low[lane] : *out_low;
    *out_high = high[lane] > *out_high ? high[lane] : *out_high;
  }
}

static void quantize_range(void* user, size_t begin, size_t end, uint32_t worker) {
  const dynamic_task* t = (const dynamic_task*)user;
  float block[STOWI_BLOCK];
  (void)worker;
  for (size_t i = begin; i < end; i += STOWI_BLOCK) {
    size_t n = end - i < STOWI_BLOCK ? end - i : STOWI_BLOCK;
    stowi_load_f32(t->x->dtype, t->x->data, i, n, block);
    stowi_quantize_by(t->scale, STOW_U8, t->out->data, i, n, block);
  }
}

// Where x is all 0 any scale will do: 1.
static stow_status run(stow_kernel_call* call) {
  dynamic_task t = {call->operands[0], call->results[0], {1, 0}};
  if (stowi_kind(t.x->dtype) != STOW_KIND_FLOAT) {
    return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED, "floats are needed, operand 0 is %s",
                            stowi_dtype_text(t.x->dtype));
  }
  float low;
  float high;
  range_of(t.x, &low, &high);
  if (high > low) {
    t.scale.scale = (high - low) / 255.0F;
  }
  float quotient = (0 - low) / t.scale.scale;
  float none = 0;
  uint8_t zero;
  stowi_quantize(STOW_U8, &zero, 0, 1, &quotient, &none, 0, true);
  t.scale.zero = (float)zero;
  stowi_split_elements(call, stow_tensor_elements(t.out), 8, quantize_range, &t);
  stowi_store_f32(call->results[1]->dtype, call->results[1]->data, 0, 1, &t.scale.scale);
  *(uint8_t*)call->results[2]->data = zero;
  return STOW_OK;
}

STOWI_KERNEL(DYNAMIC_QUANTIZE_LINEAR, NULL, run);
