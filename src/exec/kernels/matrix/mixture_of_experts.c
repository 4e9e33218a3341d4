// mixture_of_experts: each token goes through the two layers of the experts that its router
// prefers, and their results are added, weighted by the token's shares. Weights are floats (x,
// router, weights, bias, weights, bias, gate weights, gate bias), or have 2, 4 or 8 bits, with a
// tensor of scales after each tensor of weights, and zero points of each layer and routing weights
// at the end.
//
// Experts are processed one after the other, 64 of their tokens at a time, and every token sums its
// experts in ascending order.
//
// Routing: the k largest logits of a token, by k passes over them; both are small.
#include <stowage/kernel.h>
#include <string.h>

#include "exec/kernels/matrix/gemm.h"
#include "exec/kernels/matrix/nbits.h"
#include "exec/kernels/support/convert.h"
#include "exec/kernels/support/kernel.h"
#include "exec/kernels/support/math.h"
#include "exec/kernels/support/size.h"
#include "exec/kernels/support/vector.h"

typedef struct router {
  const stow_tensor* logits;   // [tokens, experts]
  const stow_tensor* weights;  // the same; NULL: they follow from the logits
  size_t tokens, experts;
  size_t k;         // experts of a token, at most |experts|
  bool normalizes;  // a token's weights add up to 1
  int32_t* chosen;  // [tokens, k]
  float* shares;    // [tokens, k]
} router;

static float logit_at(const stow_tensor* tensor, size_t i) {
  float x;
  stowi_kernel_load_f32(tensor->dtype, tensor->data, i, 1, &x);
  return x;
}

static bool is_chosen(const int32_t* chosen, size_t count, size_t expert) {
  for (size_t j = 0; j < count; ++j) {
    if ((size_t)chosen[j] == expert) {
      return true;
    }
  }
  return false;
}

static void choose(const router* r, size_t token, int32_t* chosen) {
  for (size_t j = 0; j < r->k; ++j) {
    size_t best = r->experts;
    float largest = 0;
    for (size_t e = 0; e < r->experts; ++e) {
      float x = logit_at(r->logits, token * r->experts + e);
      if (!is_chosen(chosen, j, e) && (best == r->experts || x >= largest)) {
        best = e;
        largest = x;
      }
    }
    chosen[j] = (int32_t)best;
  }
}

static float sum_of(const float* x, size_t count) {
  float sum = 0;
  for (size_t i = 0; i < count; ++i) {
    sum += x[i];
  }
  return sum;
}

STOWI_KERNEL_LOOP(set_exp, (float x, float* out), (x, out)) {
  *out = stowi_kernel_expf(has_fma, x);
}

static float exp_of(float x) {
  set_exp(x, &x);
  return x;
}

static void share(const router* r, size_t token, const int32_t* chosen, float* shares) {
  size_t first = token * r->experts;
  float largest = logit_at(r->logits, first + (size_t)chosen[0]);
  for (size_t j = 0; j < r->k; ++j) {
    size_t at = first + (size_t)chosen[j];
    shares[j] =
        r->weights != NULL ? logit_at(r->weights, at) : exp_of(logit_at(r->logits, at) - largest);
  }
  float sum = 1;
  if (r->normalizes) {
    sum = sum_of(shares, r->k);
  } else if (r->weights == NULL) {
    sum = 0;
    for (size_t e = 0; e < r->experts; ++e) {
      sum += exp_of(logit_at(r->logits, first + e) - largest);
    }
  }
  for (size_t j = 0; j < r->k; ++j) {
    shares[j] = sum == 0 ? 0 : shares[j] / sum;
  }
}

// Fills |chosen| and |shares|. The largest logits win, of equal ones the last. Without weights a
// share is the softmax over all experts; |normalizes|: over the chosen ones.
static void route(const router* r) {
  for (size_t token = 0; token < r->tokens && r->k != 0; ++token) {
    choose(r, token, r->chosen + token * r->k);
    share(r, token, r->chosen + token * r->k, r->shares + token * r->k);
  }
}

// ---------------------------------------------------------------------------------------------
// A layer of one expert: rows · weightsᵀ + bias. Outputs are computed 64 at a time; weights that
// are not f32 are converted in scratch for these outputs only.

typedef struct expert_layer {
  const stow_tensor* weights;  // [experts, outputs, inputs], or packed
  const stow_tensor* bias;     // [experts, outputs]; NULL: none
  size_t inputs, outputs;
  bool is_packed;
  stowi_kernel_nbits nbits;  // of expert 0, where weights are packed
} expert_layer;

enum { OUTPUTS = 64 };

typedef struct layer_run {
  const expert_layer* layer;
  stowi_kernel_nbits nbits;
  size_t expert;
  size_t rows;
  const float* x;
  float* out;
  char* scratch;
  uint64_t scratch_size;  // of a worker
} layer_run;

static uint64_t bytes_of_weights(size_t inputs, size_t outputs) {
  return stowi_kernel_align64((uint64_t)inputs * stowi_kernel_smaller(outputs, OUTPUTS) *
                              sizeof(float));
}

// Bytes of scratch for products of up to |rows| rows.
static uint64_t expert_scratch(size_t rows, size_t inputs, size_t outputs, uint32_t workers) {
  uint64_t gemm =
      stowi_kernel_gemm_scratch(rows, stowi_kernel_smaller(outputs, OUTPUTS), inputs, 1, 0);
  return (bytes_of_weights(inputs, outputs) + gemm) * workers;
}

static const float* load_weights(const layer_run* r, size_t first, size_t count, float* to) {
  const expert_layer* layer = r->layer;
  size_t at = (r->expert * layer->outputs + first) * layer->inputs;
  if (layer->weights->dtype == STOW_F32) {
    return (const float*)layer->weights->data + at;
  }
  for (size_t j = 0; j < count; ++j) {
    float* row = to + j * layer->inputs;
    if (layer->is_packed) {
      stowi_kernel_nbits_load(&r->nbits, first + j, 0, layer->inputs, row);
    } else {
      stowi_kernel_load_f32(layer->weights->dtype, layer->weights->data, at + j * layer->inputs,
                            layer->inputs, row);
    }
  }
  return to;
}

static void begin_rows(const layer_run* r, size_t first, size_t count) {
  const stow_tensor* bias = r->layer->bias;
  size_t outputs = r->layer->outputs;
  for (size_t i = 0; i < r->rows; ++i) {
    float* row = r->out + i * outputs + first;
    for (size_t j = 0; j < count; ++j) {
      row[j] = 0;
    }
    if (bias != NULL) {
      stowi_kernel_load_f32(bias->dtype, bias->data, r->expert * outputs + first, count, row);
    }
  }
}

static void run_outputs(void* user, size_t begin, size_t end, uint32_t worker) {
  const layer_run* r = user;
  const expert_layer* layer = r->layer;
  char* scratch = r->scratch + worker * r->scratch_size;
  for (size_t i = begin; i < end; ++i) {
    size_t first = i * OUTPUTS;
    size_t count = stowi_kernel_smaller(layer->outputs - first, OUTPUTS);
    begin_rows(r, first, count);
    stowi_kernel_gemm g = {
        .m = r->rows, .n = count, .k = layer->inputs, .alpha = 1, .accumulate = true};
    g.a = (stowi_kernel_matrix){r->x, layer->inputs, 1};
    g.b = (stowi_kernel_matrix){load_weights(r, first, count, (float*)scratch), 1, layer->inputs};
    g.c = r->out + first;
    g.c_row = layer->outputs;
    stowi_kernel_gemm_alone(&g, scratch + bytes_of_weights(layer->inputs, layer->outputs));
  }
}

// out[rows × outputs] of |expert|, divided among workers.
static void expert_run(const stow_kernel_call* call, const expert_layer* layer, size_t expert,
                       size_t rows, const float* x, float* out, void* scratch) {
  layer_run r = {layer, layer->nbits, expert, rows, x, out, scratch, 0};
  r.scratch_size = expert_scratch(rows, layer->inputs, layer->outputs, 1);
  if (layer->is_packed) {
    size_t blocks = expert * layer->outputs * r.nbits.blocks;
    r.nbits.packed += blocks * r.nbits.blob;
    r.nbits.first_scale = blocks;
    r.nbits.first_zero = expert * stowi_kernel_nbits_zero_bytes(&r.nbits, layer->outputs);
  }
  stow_kernel_split(call, (layer->outputs + OUTPUTS - 1) / OUTPUTS, 1, run_outputs, &r);
}

// ---------------------------------------------------------------------------------------------
// The kernel

enum { ROWS = 64 };

typedef enum expert_activation { RELU, GELU, SILU, IDENTITY, SWIGLU } expert_activation;

typedef struct mixture {
  const stow_tensor* x;
  stow_tensor* result;
  size_t tokens, hidden, inter;
  expert_layer first, second, gate;  // gate: outputs 0 if there is none
  expert_activation activation;
  int64_t fusion;  // of swiglu: 0 a layer of its own, 1 interleaved, 2 halves
  float alpha, beta, limit;
  router routing;
} mixture;

typedef struct room {
  float* sums;     // [tokens, hidden]
  float* rows;     // [ROWS, hidden]
  float* middle;   // [ROWS, outputs of the first layer]
  float* gated;    // [ROWS, inter]
  float* results;  // [ROWS, hidden]
  size_t* tokens;  // whose rows they are
  float* shares;
  void* layers;
} room;

// ---------------------------------------------------------------------------------------------
// What is asked

static stow_status activation_of(const stow_kernel_call* call, mixture* x) {
  static const char* const names[] = {"relu", "gelu", "silu", "identity", "swiglu"};
  x->activation = RELU;
  const stow_attr* name = stowi_kernel_attr(call, STOWI_KERNEL_ATTR_ACTIVATION_TYPE);
  for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); ++i) {
    if (name == NULL || stowi_kernel_is(call, STOWI_KERNEL_ATTR_ACTIVATION_TYPE, names[i])) {
      x->activation = name == NULL ? RELU : (expert_activation)i;
      return STOW_OK;
    }
  }
  return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED,
                          "activation_type must be relu, gelu, silu, identity or swiglu");
}

static const stow_tensor* matrix_operand(const stow_kernel_call* call, size_t k) {
  const stow_tensor* tensor = stow_kernel_operand(call, k);
  return tensor != NULL && tensor->rank == 3 ? tensor : NULL;
}

static bool is_float(const stow_tensor* tensor) {
  return stowi_kernel_kind(tensor->dtype) == STOW_KIND_FLOAT &&
         stowi_kernel_bits(tensor->dtype) >= 16 && tensor->dtype != STOW_F64;
}

// How the weights of layer |index|, 0 to 2, are packed.
static stow_status packing_of(const stow_kernel_call* call, size_t index, expert_layer* layer) {
  static const stowi_kernel_attr_id bits[] = {STOWI_KERNEL_ATTR_FC1_EXPERT_WEIGHT_BITS,
                                              STOWI_KERNEL_ATTR_FC2_EXPERT_WEIGHT_BITS,
                                              STOWI_KERNEL_ATTR_FC3_EXPERT_WEIGHT_BITS};
  stowi_kernel_nbits* w = &layer->nbits;
  int64_t block = stowi_kernel_int(call, STOWI_KERNEL_ATTR_BLOCK_SIZE, 0);
  int64_t width = stowi_kernel_int(call, bits[index], 0);
  width = width != 0 ? width : stowi_kernel_int(call, STOWI_KERNEL_ATTR_EXPERT_WEIGHT_BITS, 4);
  w->bits = (size_t)width;
  w->block = block > 0 ? (size_t)block : layer->inputs;
  if ((width != 2 && width != 4 && width != 8) || w->block == 0 || layer->inputs % w->block != 0 ||
      w->block * w->bits % 8 != 0) {
    return stow_kernel_fail(
        call, STOW_ERR_UNSUPPORTED,
        "weights must have 2, 4 or 8 bits, in blocks of whole bytes that divide %zu inputs",
        layer->inputs);
  }
  w->blocks = layer->inputs / w->block;
  w->blob = w->block * w->bits / 8;
  w->zero_bits = block > 0 ? (w->blocks * w->bits + 7) / 8 * 8 : w->bits;
  w->packed = layer->weights->data;
  w->scales = stow_kernel_operand(call, 3 + index * 3);
  w->zeros = stow_kernel_operand(call, 11 + index);
  size_t experts = (size_t)layer->weights->dims[0];
  if (w->scales == NULL ||
      stow_tensor_elements(w->scales) != experts * layer->outputs * w->blocks ||
      (w->zeros != NULL && (w->zeros->dtype != STOW_U8 ||
                            stow_tensor_elements(w->zeros) !=
                                experts * stowi_kernel_nbits_zero_bytes(w, layer->outputs)))) {
    return stow_kernel_fail(
        call, STOW_ERR_TYPE,
        "layer %zu needs a scale, and a zero point if it has any, for each block", index + 1);
  }
  return STOW_OK;
}

// Layer |index|, 0 to 2, with |inputs| inputs; without outputs if there is none.
static stow_status layer_of(const stow_kernel_call* call, bool is_packed, size_t index,
                            size_t inputs, expert_layer* out) {
  size_t step = is_packed ? 3 : 2;
  *out = (expert_layer){.weights = matrix_operand(call, 2 + index * step)};
  if (out->weights == NULL) {
    return STOW_OK;
  }
  out->bias = stow_kernel_operand(call, 2 + index * step + step - 1);
  out->inputs = inputs;
  out->outputs = (size_t)out->weights->dims[1];
  out->is_packed = is_packed;
  if (is_packed) {
    STOWI_KERNEL_TRY(packing_of(call, index, out));
  }
  size_t experts = (size_t)out->weights->dims[0];
  size_t row = is_packed ? out->nbits.blocks * out->nbits.blob : inputs;
  if ((size_t)out->weights->dims[2] != row ||
      (out->bias != NULL && stow_tensor_elements(out->bias) != experts * out->outputs)) {
    return stow_kernel_fail(call, STOW_ERR_TYPE, "weights of layer %zu do not fit %zu inputs",
                            index + 1, inputs);
  }
  return STOW_OK;
}

static stow_status refuse(const stow_kernel_call* call) {
  return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED,
                          "the weights are neither those of com.microsoft's MoE nor of an integer "
                          "QMoE; set a kernel for them with stow_kernels_set");
}

static stow_status check(const stow_kernel_call* call, const mixture* x) {
  bool is_gated = x->activation == SWIGLU;
  size_t wanted = is_gated && x->fusion != 0 ? 2 * x->inter : x->inter;
  if (x->second.outputs != x->hidden || x->first.outputs != wanted ||
      (x->gate.weights != NULL && x->gate.outputs != x->inter) ||
      (is_gated && x->fusion == 0 && x->gate.weights == NULL)) {
    return stow_kernel_fail(call, STOW_ERR_TYPE,
                            "layers of %zu and %zu outputs do not fit together", x->first.outputs,
                            x->second.outputs);
  }
  size_t experts = (size_t)x->first.weights->dims[0];
  if (x->routing.experts != experts || x->routing.k > experts ||
      stow_tensor_elements(x->routing.logits) != x->tokens * experts ||
      (x->routing.weights != NULL &&
       stow_tensor_elements(x->routing.weights) != x->tokens * experts) ||
      (size_t)x->second.weights->dims[0] != experts ||
      (x->gate.weights != NULL && (size_t)x->gate.weights->dims[0] != experts)) {
    return stow_kernel_fail(call, STOW_ERR_TYPE, "the router does not fit %zu experts", experts);
  }
  return STOW_OK;
}

static stow_status routing_of(const stow_kernel_call* call, bool is_packed, mixture* x) {
  router* r = &x->routing;
  int64_t k = stowi_kernel_int(call, STOWI_KERNEL_ATTR_K, 1);
  if (k < 1 || stowi_kernel_bool(call, STOWI_KERNEL_ATTR_USE_SPARSE_MIXER, false)) {
    return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED,
                            "k must be at least 1, and use_sparse_mixer is unsupported");
  }
  r->logits = stow_kernel_operand(call, 1);
  r->tokens = x->tokens;
  r->experts = r->logits->rank != 0 ? (size_t)r->logits->dims[r->logits->rank - 1] : 0;
  r->k = (size_t)k;
  r->weights = is_packed ? stow_kernel_operand(call, 14) : NULL;
  r->normalizes = stowi_kernel_bool(call, STOWI_KERNEL_ATTR_NORMALIZE_ROUTING_WEIGHTS, false) ||
                  (is_packed && r->weights == NULL);
  return STOW_OK;
}

static stow_status mixture_of(const stow_kernel_call* call, mixture* x) {
  *x = (mixture){.x = stow_kernel_operand(call, 0), .result = stow_kernel_result(call, 0)};
  const stow_tensor* weights = matrix_operand(call, 2);
  if (weights == NULL || x->x->rank == 0 || !is_float(x->x) ||
      (!is_float(weights) && weights->dtype != STOW_U8)) {
    return refuse(call);
  }
  bool is_packed = weights->dtype == STOW_U8;
  const stow_attr* type = stowi_kernel_attr(call, STOWI_KERNEL_ATTR_QUANT_TYPE);
  if (is_packed && type != NULL && !stowi_kernel_is(call, STOWI_KERNEL_ATTR_QUANT_TYPE, "int")) {
    return refuse(call);
  }
  x->hidden = (size_t)x->x->dims[x->x->rank - 1];
  x->tokens = x->hidden != 0 ? stow_tensor_elements(x->x) / x->hidden : 0;
  x->fusion = stowi_kernel_int(call, STOWI_KERNEL_ATTR_SWIGLU_FUSION, 0);
  x->alpha = (float)stowi_kernel_float(call, STOWI_KERNEL_ATTR_ACTIVATION_ALPHA, 1);
  x->beta = (float)stowi_kernel_float(call, STOWI_KERNEL_ATTR_ACTIVATION_BETA, 0);
  x->limit = (float)stowi_kernel_float(call, STOWI_KERNEL_ATTR_SWIGLU_LIMIT, (double)INFINITY);
  stow_status status = activation_of(call, x);
  status = status == STOW_OK ? layer_of(call, is_packed, 0, x->hidden, &x->first) : status;
  x->inter = x->activation == SWIGLU && x->fusion != 0 ? x->first.outputs / 2 : x->first.outputs;
  status = status == STOW_OK ? layer_of(call, is_packed, 1, x->inter, &x->second) : status;
  if (status == STOW_OK && x->second.weights == NULL) {
    return refuse(call);
  }
  status = status == STOW_OK ? layer_of(call, is_packed, 2, x->hidden, &x->gate) : status;
  return status == STOW_OK ? routing_of(call, is_packed, x) : status;
}

// ---------------------------------------------------------------------------------------------
// Scratch

static uint64_t layers_scratch(const mixture* x, size_t rows, uint32_t workers) {
  const expert_layer* layers[] = {&x->first, &x->second, &x->gate};
  uint64_t most = 0;
  for (size_t i = 0; i < 3; ++i) {
    uint64_t bytes = expert_scratch(rows, layers[i]->inputs, layers[i]->outputs, workers);
    most = bytes > most ? bytes : most;
  }
  return most;
}

// Where things are in scratch; returns how much of it there is.
static uint64_t room_of(mixture* x, char* scratch, uint32_t workers, room* out) {
  size_t rows = x->tokens < ROWS ? x->tokens : ROWS;
  uint64_t sizes[] = {(uint64_t)x->tokens * x->hidden * sizeof(float),
                      (uint64_t)rows * x->hidden * sizeof(float),
                      (uint64_t)rows * x->first.outputs * sizeof(float),
                      (uint64_t)rows * x->inter * sizeof(float),
                      (uint64_t)rows * x->hidden * sizeof(float),
                      rows * sizeof(size_t),
                      rows * sizeof(float),
                      (uint64_t)x->tokens * x->routing.k * sizeof(int32_t),
                      (uint64_t)x->tokens * x->routing.k * sizeof(float)};
  uint64_t at[10] = {0};
  for (size_t i = 0; i < 9; ++i) {
    at[i + 1] = at[i] + stowi_kernel_align64(sizes[i]);
  }
  if (scratch != NULL) {
    *out = (room){(float*)(scratch + at[0]), (float*)(scratch + at[1]),
                  (float*)(scratch + at[2]), (float*)(scratch + at[3]),
                  (float*)(scratch + at[4]), (size_t*)(scratch + at[5]),
                  (float*)(scratch + at[6]), scratch + at[9]};
    x->routing.chosen = (int32_t*)(scratch + at[7]);
    x->routing.shares = (float*)(scratch + at[8]);
  }
  return at[9] + layers_scratch(x, rows, workers);
}

static stow_status scratch_mixture(const stow_kernel_call* call, uint64_t* out_bytes) {
  mixture x;
  room r;
  *out_bytes = mixture_of(call, &x) == STOW_OK ? room_of(&x, NULL, call->workers, &r) : 0;
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Experts

STOWI_KERNEL_INLINE float gelu(bool has_fma, float x) {
  float cubic = 0.7978845608F * (x + 0.044715F * x * x * x);
  return 0.5F * x * (1 + stowi_kernel_tanhf(has_fma, cubic));
}

STOWI_KERNEL_LOOP(activate, (const mixture* x, float* values, size_t count), (x, values, count)) {
  for (size_t i = 0; i < count; ++i) {
    float v = values[i];
    switch (x->activation) {
      case RELU: values[i] = v > 0 ? v : 0; break;
      case GELU: values[i] = gelu(has_fma, v); break;
      case SILU: values[i] = v * stowi_kernel_sigmoidf(has_fma, v); break;
      case IDENTITY:
      case SWIGLU: break;
    }
  }
}

STOWI_KERNEL_INLINE float swiglu(bool has_fma, const mixture* x, float gate, float linear) {
  gate = gate < x->limit ? gate : x->limit;
  linear = linear < x->limit ? linear : x->limit;
  linear = linear > -x->limit ? linear : -x->limit;
  return gate * stowi_kernel_sigmoidf(has_fma, x->alpha * gate) * (linear + x->beta);
}

STOWI_KERNEL_LOOP(gate_row, (const mixture* x, const float* from, float* to), (x, from, to)) {
  for (size_t j = 0; j < x->inter; ++j) {
    float gate = x->fusion == 1 ? from[2 * j] : from[j];
    float linear = x->fusion == 0 ? to[j] : x->fusion == 1 ? from[2 * j + 1] : from[x->inter + j];
    to[j] = swiglu(has_fma, x, gate, linear);
  }
}

// What the second layer reads: |r->middle| itself, or |r->gated|.
static const float* middle_of(const stow_kernel_call* call, const mixture* x, const room* r,
                              size_t expert, size_t rows) {
  bool has_gate = x->gate.weights != NULL;
  if (has_gate) {
    expert_run(call, &x->gate, expert, rows, r->rows, r->gated, r->layers);
  }
  if (x->activation != SWIGLU) {
    activate(x, r->middle, rows * x->first.outputs);
    for (size_t i = 0; i < rows * x->inter && has_gate; ++i) {
      r->middle[i] *= r->gated[i];
    }
    return r->middle;
  }
  for (size_t i = 0; i < rows; ++i) {
    gate_row(x, r->middle + i * x->first.outputs, r->gated + i * x->inter);
  }
  return r->gated;
}

STOWI_KERNEL_LOOP(add_share, (const float* from, float share, float* to, size_t count),
                  (from, share, to, count)) {
  STOWI_KERNEL_INDEPENDENT
  for (size_t j = 0; j < count; ++j) {
    to[j] = stowi_kernel_fma(has_fma, share, from[j], to[j]);
  }
}

static void run_rows(const stow_kernel_call* call, const mixture* x, const room* r, size_t expert,
                     size_t rows) {
  for (size_t i = 0; i < rows; ++i) {
    stowi_kernel_load_f32(x->x->dtype, x->x->data, r->tokens[i] * x->hidden, x->hidden,
                          r->rows + i * x->hidden);
  }
  expert_run(call, &x->first, expert, rows, r->rows, r->middle, r->layers);
  const float* middle = middle_of(call, x, r, expert, rows);
  expert_run(call, &x->second, expert, rows, middle, r->results, r->layers);
  for (size_t i = 0; i < rows; ++i) {
    add_share(r->results + i * x->hidden, r->shares[i], r->sums + r->tokens[i] * x->hidden,
              x->hidden);
  }
}

static void run_expert(const stow_kernel_call* call, const mixture* x, const room* r,
                       size_t expert) {
  size_t rows = 0;
  for (size_t i = 0; i < x->tokens * x->routing.k; ++i) {
    if ((size_t)x->routing.chosen[i] == expert) {
      r->tokens[rows] = i / x->routing.k;
      r->shares[rows++] = x->routing.shares[i];
    }
    if (rows == ROWS) {
      run_rows(call, x, r, expert, rows);
      rows = 0;
    }
  }
  if (rows != 0) {
    run_rows(call, x, r, expert, rows);
  }
}

static stow_status run_mixture(stow_kernel_call* call) {
  mixture x;
  STOWI_KERNEL_TRY(mixture_of(call, &x));
  STOWI_KERNEL_TRY(check(call, &x));
  if (x.tokens == 0) {
    return STOW_OK;
  }
  room r;
  (void)room_of(&x, call->scratch, call->workers, &r);
  memset(r.sums, 0, x.tokens * x.hidden * sizeof(float));
  route(&x.routing);
  for (size_t expert = 0; expert < x.routing.experts; ++expert) {
    run_expert(call, &x, &r, expert);
  }
  stowi_kernel_store_f32(x.result->dtype, x.result->data, 0, x.tokens * x.hidden, r.sums);
  return STOW_OK;
}

STOWI_KERNEL(MIXTURE_OF_EXPERTS, scratch_mixture, run_mixture);
