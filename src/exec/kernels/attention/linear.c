// linear_attention: a state [d_k, d_v] for each batch and head of k and v, which every step decays,
// corrects and adds to, and which the queries of that step read. In f32 whatever the operands are;
// the state stays in scratch from the first step to the last, so that it may be written over where
// it came from. Time and memory are sequence · d_k · d_v per head.
#include <math.h>
#include <string.h>

#include "exec/kernels/attention/heads.h"
#include "exec/kernels/support/carve.h"
#include "exec/kernels/support/convert.h"
#include "exec/kernels/support/kernel.h"
#include "exec/kernels/support/math.h"
#include "exec/kernels/support/vector.h"

enum { Q, K, V, STATE, DECAY, BETA };

// Scratch of one worker.
typedef struct workspace {
  float* state;
  float* q;
  float* k;
  float* v;
  float* decay;
  float* sum;
} workspace;

typedef struct layer {
  const stow_kernel_call* call;
  size_t batches, steps, heads, kv_heads, key_size, value_size;
  size_t decays;  // of one head: key_size, 1, or 0 if there are none
  size_t betas;   // of one step: kv_heads, 1, or 0
  float scale;
  stowi_kernel_heads q, k, v, out;
  uint64_t stride;
} layer;

static workspace take_workspace(const layer* l, stowi_kernel_carve* carve) {
  workspace w;
  w.state =
      stowi_kernel_carve_take(carve, stowi_kernel_times(l->key_size, l->value_size), sizeof(float));
  w.q = stowi_kernel_carve_take(carve, l->key_size, sizeof(float));
  w.k = stowi_kernel_carve_take(carve, l->key_size, sizeof(float));
  w.v = stowi_kernel_carve_take(carve, l->value_size, sizeof(float));
  w.decay = stowi_kernel_carve_take(carve, l->key_size, sizeof(float));
  w.sum = stowi_kernel_carve_take(carve, l->value_size, sizeof(float));
  return w;
}

static layer read_layer(const stow_kernel_call* call) {
  layer l = {.call = call};
  const stow_tensor* q = stow_kernel_operand(call, Q);
  const stow_tensor* k = stow_kernel_operand(call, K);
  const stow_tensor* v = stow_kernel_operand(call, V);
  stow_tensor* out = stow_kernel_result(call, 0);
  l.batches = (size_t)q->dims[0];
  l.steps = (size_t)q->dims[1];
  l.heads = (size_t)stowi_kernel_int(call, STOWI_KERNEL_ATTR_HEADS, 1);
  l.kv_heads = (size_t)stowi_kernel_int(call, STOWI_KERNEL_ATTR_KV_HEADS, 1);
  l.key_size = (size_t)k->dims[2] / l.kv_heads;
  l.value_size = (size_t)v->dims[2] / l.kv_heads;
  l.q = stowi_kernel_heads_flat(q->data, q->dtype, l.heads, l.steps, l.key_size);
  l.k = stowi_kernel_heads_flat(k->data, k->dtype, l.kv_heads, l.steps, l.key_size);
  l.v = stowi_kernel_heads_flat(v->data, v->dtype, l.kv_heads, l.steps, l.value_size);
  l.out = stowi_kernel_heads_flat(out->data, out->dtype, l.heads, l.steps, l.value_size);
  double scale = stowi_kernel_float(call, STOWI_KERNEL_ATTR_SCALE, 0);
  l.scale = (float)(scale == 0 ? 1 / sqrt((double)l.key_size) : scale);
  stowi_kernel_carve one = {NULL, 0};
  (void)take_workspace(&l, &one);
  l.stride = one.used;
  return l;
}

// Which rates there are must fit the rule.
static stow_status read_rates(layer* l) {
  const stow_kernel_call* call = l->call;
  const stow_tensor* decay = stow_kernel_operand(call, DECAY);
  const stow_tensor* beta = stow_kernel_operand(call, BETA);
  bool is_gated = stowi_kernel_is(call, STOWI_KERNEL_ATTR_RULE, "gated") ||
                  stowi_kernel_is(call, STOWI_KERNEL_ATTR_RULE, "gated_delta");
  bool is_delta = stowi_kernel_is(call, STOWI_KERNEL_ATTR_RULE, "delta") ||
                  stowi_kernel_is(call, STOWI_KERNEL_ATTR_RULE, "gated_delta");
  if (is_gated != (decay != NULL) || is_delta != (beta != NULL)) {
    return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT,
                            "operand 4 (decay) is for gated rules only and operand 5 (beta) for "
                            "delta rules only, which need them");
  }
  size_t rows = l->batches * l->steps;
  if (decay != NULL) {
    size_t count = stow_tensor_elements(decay);
    l->decays = count == rows * l->kv_heads ? 1 : l->key_size;
    if (count != rows * l->kv_heads * l->decays) {
      return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT,
                              "operand 4 (decay) has %zu elements, expected one per head or one "
                              "per element of its keys",
                              count);
    }
  }
  if (beta != NULL) {
    size_t count = stow_tensor_elements(beta);
    l->betas = count == rows ? 1 : l->kv_heads;
    if (count != rows * l->betas) {
      return stow_kernel_fail(
          call, STOW_ERR_INVALID_ARGUMENT,
          "operand 5 (beta) has %zu elements, expected one per step or one per head", count);
    }
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// One step of one head

STOWI_KERNEL_LOOP(exps, (float* x, size_t count), (x, count)) {
  for (size_t i = 0; i < count; ++i) {
    x[i] = stowi_kernel_expf(has_fma, x[i]);
  }
}

static void decay_state(const layer* l, size_t batch, size_t head, size_t step,
                        const workspace* w) {
  const stow_tensor* decay = stow_kernel_operand(l->call, DECAY);
  size_t first = ((batch * l->steps + step) * l->kv_heads + head) * l->decays;
  stowi_kernel_load_f32(decay->dtype, decay->data, first, l->decays, w->decay);
  exps(w->decay, l->decays);
  for (size_t i = 0; i < l->key_size; ++i) {
    float factor = w->decay[l->decays == 1 ? 0 : i];
    float* row = w->state + i * l->value_size;
    for (size_t j = 0; j < l->value_size; ++j) {
      row[j] *= factor;
    }
  }
}

STOWI_KERNEL_LOOP(add_row, (const float* from, float factor, float* to, size_t count),
                  (from, factor, to, count)) {
  STOWI_KERNEL_INDEPENDENT
  for (size_t j = 0; j < count; ++j) {
    to[j] = stowi_kernel_fma(has_fma, factor, from[j], to[j]);
  }
}

// sum = vectorᵀ · state
static void read_state(const layer* l, const float* vector, const workspace* w) {
  memset(w->sum, 0, l->value_size * sizeof(float));
  for (size_t i = 0; i < l->key_size; ++i) {
    add_row(w->state + i * l->value_size, vector[i], w->sum, l->value_size);
  }
}

static void correct_value(const layer* l, size_t batch, size_t head, size_t step,
                          const workspace* w) {
  size_t at = (batch * l->steps + step) * l->betas + (l->betas == 1 ? 0 : head);
  float beta = (float)stowi_kernel_float_at(stow_kernel_operand(l->call, BETA), at);
  read_state(l, w->k, w);
  for (size_t j = 0; j < l->value_size; ++j) {
    w->v[j] = beta * (w->v[j] - w->sum[j]);
  }
}

static void load_row(const stowi_kernel_heads* heads, size_t batch, size_t head, size_t step,
                     size_t size, float* out) {
  stowi_kernel_load_f32(heads->dtype, heads->data, stowi_kernel_heads_at(heads, batch, head, step),
                        size, out);
}

static void run_step(const layer* l, size_t batch, size_t head, size_t step, const workspace* w) {
  load_row(&l->k, batch, head, step, l->key_size, w->k);
  load_row(&l->v, batch, head, step, l->value_size, w->v);
  if (l->decays != 0) {
    decay_state(l, batch, head, step, w);
  }
  if (l->betas != 0) {
    correct_value(l, batch, head, step, w);
  }
  for (size_t i = 0; i < l->key_size; ++i) {
    add_row(w->v, w->k[i], w->state + i * l->value_size, l->value_size);
  }
  size_t group = l->heads / l->kv_heads;
  for (size_t h = head * group; h < (head + 1) * group; ++h) {
    load_row(&l->q, batch, h, step, l->key_size, w->q);
    read_state(l, w->q, w);
    for (size_t j = 0; j < l->value_size; ++j) {
      w->sum[j] *= l->scale;
    }
    size_t at = stowi_kernel_heads_at(&l->out, batch, h, step);
    stowi_kernel_store_f32(l->out.dtype, l->out.data, at, l->value_size, w->sum);
  }
}

static void run_task(void* user, size_t begin, size_t end, uint32_t worker) {
  const layer* l = user;
  const stow_tensor* past = stow_kernel_operand(l->call, STATE);
  stow_tensor* state = stow_kernel_result(l->call, 1);
  stowi_kernel_carve carve = {(unsigned char*)l->call->scratch + worker * l->stride, 0};
  workspace w = take_workspace(l, &carve);
  size_t count = l->key_size * l->value_size;
  for (size_t i = begin; i < end; ++i) {
    memset(w.state, 0, count * sizeof(float));
    if (past != NULL) {
      stowi_kernel_load_f32(past->dtype, past->data, i * count, count, w.state);
    }
    for (size_t step = 0; step < l->steps; ++step) {
      run_step(l, i / l->kv_heads, i % l->kv_heads, step, &w);
    }
    stowi_kernel_store_f32(state->dtype, state->data, i * count, count, w.state);
  }
}

static stow_status scratch_linear(const stow_kernel_call* call, uint64_t* out_bytes) {
  *out_bytes = stowi_kernel_times(call->workers, read_layer(call).stride);
  return STOW_OK;
}

static stow_status run_linear(stow_kernel_call* call) {
  layer l = read_layer(call);
  const stow_tensor* past = stow_kernel_operand(call, STATE);
  if (l.q.dtype != STOW_F32 && l.q.dtype != STOW_F16 && l.q.dtype != STOW_BF16) {
    return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED, "operands must be f32, f16 or bf16");
  }
  if (l.heads % l.kv_heads != 0) {
    return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT,
                            "%zu heads of q cannot share %zu of k and v", l.heads, l.kv_heads);
  }
  if (past != NULL &&
      stow_tensor_elements(past) != l.batches * l.kv_heads * l.key_size * l.value_size) {
    return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED, "the state is incomplete");
  }
  STOWI_KERNEL_TRY(stowi_kernel_need_plain(call));
  STOWI_KERNEL_TRY(read_rates(&l));
  if (l.key_size * l.value_size != 0) {
    stow_kernel_split(call, l.batches * l.kv_heads, 1, run_task, &l);
  }
  return STOW_OK;
}

STOWI_KERNEL(LINEAR_ATTENTION, scratch_linear, run_linear);
