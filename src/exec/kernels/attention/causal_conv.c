// causal_conv: each channel with its own few taps, over what came before and the state that an
// earlier call left. One pass; the state is the last taps - 1 elements of both.
#include <string.h>

#include "exec/kernels/support/convert.h"
#include "exec/kernels/support/kernel.h"
#include "exec/kernels/support/math.h"
#include "exec/kernels/support/vector.h"

typedef struct layer {
  const stow_tensor *x, *w, *bias, *past;
  stow_tensor *out, *state;
  size_t channels, length, taps;
  bool is_silu;
} layer;

// |count| elements of one channel from |position| on, which is below 0 in the state.
static void load_padded(const layer* l, size_t channel, int64_t position, size_t count,
                        float* out) {
  size_t kept = l->taps - 1;
  for (size_t i = 0; i < count && position + (int64_t)i < 0; ++i) {
    size_t at = channel * kept + (size_t)(position + (int64_t)i + (int64_t)kept);
    out[i] = l->past == NULL ? 0.0F : (float)stowi_kernel_float_at(l->past, at);
  }
  size_t skipped = position >= 0 ? 0 : (uint64_t)-position < count ? (size_t)-position : count;
  size_t first = channel * l->length + (size_t)(position + (int64_t)skipped);
  if (skipped < count) {
    stowi_kernel_load_f32(l->x->dtype, l->x->data, first, count - skipped, out + skipped);
  }
}

STOWI_KERNEL_LOOP(add_tap, (const float* inputs, float weight, float* sums, size_t count),
                  (inputs, weight, sums, count)) {
  STOWI_KERNEL_INDEPENDENT
  for (size_t i = 0; i < count; ++i) {
    sums[i] = stowi_kernel_fma(has_fma, weight, inputs[i], sums[i]);
  }
}

STOWI_KERNEL_LOOP(finish, (float bias, bool is_silu, float* sums, size_t count),
                  (bias, is_silu, sums, count)) {
  for (size_t i = 0; i < count; ++i) {
    float sum = sums[i] + bias;
    sums[i] = is_silu ? sum * stowi_kernel_sigmoidf(has_fma, sum) : sum;
  }
}

static void run_block(const layer* l, size_t row, size_t begin, size_t count) {
  float sums[STOWI_KERNEL_BLOCK];
  float inputs[STOWI_KERNEL_BLOCK];
  size_t channel = row % l->channels;
  float bias = l->bias == NULL ? 0.0F
                               : (float)stowi_kernel_float_at(
                                     l->bias, stow_tensor_elements(l->bias) == 1 ? 0 : channel);
  for (size_t i = 0; i < count; ++i) {
    sums[i] = 0;
  }
  for (size_t t = 0; t < l->taps; ++t) {
    float weight = (float)stowi_kernel_float_at(l->w, channel * l->taps + t);
    int64_t position = (int64_t)(begin + t) - (int64_t)(l->taps - 1);
    load_padded(l, row, position, count, inputs);
    add_tap(inputs, weight, sums, count);
  }
  finish(bias, l->is_silu, sums, count);
  stowi_kernel_store_f32(l->out->dtype, l->out->data, row * l->length + begin, count, sums);
}

static void keep_state(const layer* l, size_t row) {
  size_t kept = l->taps - 1;
  float block[STOWI_KERNEL_BLOCK];
  for (size_t i = 0; i < kept; i += STOWI_KERNEL_BLOCK) {
    size_t count = kept - i < STOWI_KERNEL_BLOCK ? kept - i : STOWI_KERNEL_BLOCK;
    int64_t position = (int64_t)(l->length + i) - (int64_t)kept;
    load_padded(l, row, position, count, block);
    stowi_kernel_store_f32(l->state->dtype, l->state->data, row * kept + i, count, block);
  }
}

static void run_task(void* user, size_t begin, size_t end, uint32_t worker) {
  const layer* l = user;
  (void)worker;
  for (size_t row = begin; row < end; ++row) {
    for (size_t i = 0; i < l->length; i += STOWI_KERNEL_BLOCK) {
      run_block(l, row, i, l->length - i < STOWI_KERNEL_BLOCK ? l->length - i : STOWI_KERNEL_BLOCK);
    }
    keep_state(l, row);
  }
}

static stow_status run_causal_conv(stow_kernel_call* call) {
  layer l = {.x = stow_kernel_operand(call, 0),
             .w = stow_kernel_operand(call, 1),
             .bias = stow_kernel_operand(call, 2),
             .past = stow_kernel_operand(call, 3),
             .out = stow_kernel_result(call, 0),
             .state = stow_kernel_result(call, 1)};
  l.channels = (size_t)l.x->dims[1];
  l.length = (size_t)l.x->dims[2];
  l.taps = (size_t)l.w->dims[2];
  l.is_silu = stowi_kernel_is(call, STOWI_KERNEL_ATTR_ACTIVATION, "silu") ||
              stowi_kernel_is(call, STOWI_KERNEL_ATTR_ACTIVATION, "swish");
  if (l.x->dtype != STOW_F32 && l.x->dtype != STOW_F16 && l.x->dtype != STOW_BF16) {
    return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED, "x must be f32, f16 or bf16");
  }
  if (!l.is_silu && !stowi_kernel_is(call, STOWI_KERNEL_ATTR_ACTIVATION, "none")) {
    return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED, "activation must be none, silu or swish");
  }
  if (l.past != NULL && stow_tensor_elements(l.past) != stow_tensor_elements(l.state)) {
    return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED, "the state is incomplete");
  }
  STOWI_KERNEL_TRY(stowi_kernel_need_plain(call));
  size_t work = l.length * l.taps + 1;
  stow_kernel_split(call, (size_t)l.x->dims[0] * l.channels, work > 16384 ? 1 : 16384 / work,
                    run_task, &l);
  return STOW_OK;
}

STOWI_KERNEL(CAUSAL_CONV, NULL, run_causal_conv);
