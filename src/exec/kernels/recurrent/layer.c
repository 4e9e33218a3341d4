// Recurrent layers: rnn, gru and lstm. The steps are computed in steps_body.h.
#include "exec/kernels/recurrent/layer.h"

#include <math.h>
#include <string.h>

#include "exec/kernels/matrix/gemm.h"
#include "exec/kernels/recurrent/bytes.h"
#include "exec/kernels/support/convert.h"
#include "exec/kernels/support/kernel.h"
#include "exec/kernels/support/math.h"
#include "exec/kernels/support/size.h"
#include "exec/kernels/support/vector.h"

// ---------------------------------------------------------------------------------------------
// Activation functions. sigmoid and tanh have vectorised loops; the others are computed one by one
// in f64.

typedef struct activation_row {
  const char* name;  // small letters
  bool has_alpha;
  bool has_beta;
  double alpha;  // where not given
  double beta;
} activation_row;

static const activation_row rows[STOWI_KERNEL_ACT_COUNT] = {
    [STOWI_KERNEL_ACT_SIGMOID] = {"sigmoid", false, false, 0, 0},
    [STOWI_KERNEL_ACT_TANH] = {"tanh", false, false, 0, 0},
    [STOWI_KERNEL_ACT_RELU] = {"relu", false, false, 0, 0},
    [STOWI_KERNEL_ACT_AFFINE] = {"affine", true, true, 1, 0},
    [STOWI_KERNEL_ACT_LEAKY_RELU] = {"leakyrelu", true, false, 0.01, 0},
    [STOWI_KERNEL_ACT_THRESHOLDED_RELU] = {"thresholdedrelu", true, false, 1, 0},
    [STOWI_KERNEL_ACT_SCALED_TANH] = {"scaledtanh", true, true, 1, 1},
    [STOWI_KERNEL_ACT_HARD_SIGMOID] = {"hardsigmoid", true, true, 0.2, 0.5},
    [STOWI_KERNEL_ACT_ELU] = {"elu", true, false, 1, 0},
    [STOWI_KERNEL_ACT_SOFTSIGN] = {"softsign", false, false, 0, 0},
    [STOWI_KERNEL_ACT_SOFTPLUS] = {"softplus", false, false, 0, 0},
};

static char small(char c) { return (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c); }

static bool is_name(stow_str text, const char* name) {
  size_t i = 0;
  for (; i < text.size && name[i] != '\0'; ++i) {
    if (small(text.data[i]) != name[i]) {
      return false;
    }
  }
  return i == text.size && name[i] == '\0';
}

static const activation_row* find(stow_str text) {
  for (size_t i = 0; i < STOWI_KERNEL_ACT_COUNT; ++i) {
    if (is_name(text, rows[i].name)) {
      return &rows[i];
    }
  }
  return NULL;
}

// Number |index| of a list of floats, which may hold integers.
static double number_at(const stow_attr* list, size_t index, double fallback) {
  if (list == NULL || index >= list->count) {
    return fallback;
  }
  if (list->kind == STOW_ATTR_INTS) {
    return (double)list->ints[index];
  }
  return list->kind == STOW_ATTR_FLOATS ? list->floats[index] : fallback;
}

// Function |index| of the attribute `activations`, with its share of activation_alpha and
// activation_beta: each list is used up in the order of the functions that have such a number.
// False if the name is unknown. |fallback| is for an empty list.
static bool activation_read(const stow_kernel_call* call, size_t index,
                            stowi_kernel_activation_kind fallback, stowi_kernel_activation* out) {
  const stow_attr* names = stowi_kernel_attr(call, STOWI_KERNEL_ATTR_ACTIVATIONS);
  const stow_attr* alphas = stowi_kernel_attr(call, STOWI_KERNEL_ATTR_ACTIVATION_ALPHA);
  const stow_attr* betas = stowi_kernel_attr(call, STOWI_KERNEL_ATTR_ACTIVATION_BETA);
  size_t alpha = 0;
  size_t beta = 0;
  *out = (stowi_kernel_activation){fallback, rows[fallback].alpha, rows[fallback].beta};
  if (names == NULL || names->count == 0 || names->kind != STOW_ATTR_STRINGS) {
    return true;
  }
  if (index >= names->count) {
    return false;
  }
  for (size_t i = 0; i <= index; ++i) {
    const activation_row* found = find(names->strings[i]);
    if (found == NULL) {
      return false;
    }
    out->kind = (stowi_kernel_activation_kind)(found - rows);
    out->alpha = found->has_alpha ? number_at(alphas, alpha++, found->alpha) : 0;
    out->beta = found->has_beta ? number_at(betas, beta++, found->beta) : 0;
  }
  return true;
}

static double activate(const stowi_kernel_activation* a, double x) {
  switch (a->kind) {
    case STOWI_KERNEL_ACT_SIGMOID: return 1 / (1 + exp(-x));
    case STOWI_KERNEL_ACT_TANH: return tanh(x);
    case STOWI_KERNEL_ACT_RELU: return x > 0 ? x : 0;
    case STOWI_KERNEL_ACT_AFFINE: return a->alpha * x + a->beta;
    case STOWI_KERNEL_ACT_LEAKY_RELU: return x >= 0 ? x : a->alpha * x;
    case STOWI_KERNEL_ACT_THRESHOLDED_RELU: return x > a->alpha ? x : 0;
    case STOWI_KERNEL_ACT_SCALED_TANH: return a->alpha * tanh(a->beta * x);
    case STOWI_KERNEL_ACT_HARD_SIGMOID: return fmin(fmax(a->alpha * x + a->beta, 0), 1);
    case STOWI_KERNEL_ACT_ELU: return x >= 0 ? x : a->alpha * expm1(x);
    case STOWI_KERNEL_ACT_SOFTSIGN: return x / (1 + fabs(x));
    case STOWI_KERNEL_ACT_SOFTPLUS: return x > 0 ? x + log1p(exp(-x)) : log1p(exp(x));
    case STOWI_KERNEL_ACT_COUNT: break;
  }
  return x;
}

STOWI_KERNEL_LOOP(sigmoid, (size_t count, float* x), (count, x)) {
  for (size_t i = 0; i < count; ++i) {
    x[i] = stowi_kernel_sigmoidf(has_fma, x[i]);
  }
}

STOWI_KERNEL_LOOP(hyperbolic_tangent, (size_t count, float* x), (count, x)) {
  for (size_t i = 0; i < count; ++i) {
    x[i] = stowi_kernel_tanhf(has_fma, x[i]);
  }
}

void stowi_kernel_activate_f32(const stowi_kernel_activation* activation, size_t count, float* x) {
  if (activation->kind == STOWI_KERNEL_ACT_SIGMOID) {
    sigmoid(count, x);
  } else if (activation->kind == STOWI_KERNEL_ACT_TANH) {
    hyperbolic_tangent(count, x);
  } else {
    for (size_t i = 0; i < count; ++i) {
      x[i] = (float)activate(activation, (double)x[i]);
    }
  }
}

void stowi_kernel_activate_f64(const stowi_kernel_activation* activation, size_t count, double* x) {
  for (size_t i = 0; i < count; ++i) {
    x[i] = activate(activation, x[i]);
  }
}

// ---------------------------------------------------------------------------------------------
// Reading a call, and the offsets of its rows.

// Activations of each cell: gates, hidden or cell, and lstm's output.
static const size_t gate_counts[] = {1, 3, 4};
static const size_t activation_counts[] = {1, 2, 3};
static const stowi_kernel_activation_kind defaults[][3] = {
    {STOWI_KERNEL_ACT_TANH, STOWI_KERNEL_ACT_TANH, STOWI_KERNEL_ACT_TANH},
    {STOWI_KERNEL_ACT_SIGMOID, STOWI_KERNEL_ACT_TANH, STOWI_KERNEL_ACT_TANH},
    {STOWI_KERNEL_ACT_SIGMOID, STOWI_KERNEL_ACT_TANH, STOWI_KERNEL_ACT_TANH},
};

static stowi_kernel_layer read_layer(const stow_kernel_call* call) {
  stowi_kernel_cell cell = call->op == STOW_OP_RNN   ? STOWI_KERNEL_CELL_RNN
                           : call->op == STOW_OP_GRU ? STOWI_KERNEL_CELL_GRU
                                                     : STOWI_KERNEL_CELL_LSTM;
  const stow_tensor* x = stow_kernel_operand(call, STOWI_KERNEL_LAYER_X);
  const stow_tensor* r = stow_kernel_operand(call, STOWI_KERNEL_LAYER_R);
  stowi_kernel_layer l = {.call = call, .cell = cell, .gates = gate_counts[cell]};
  l.is_quantized = call->op == STOW_OP_DYNAMIC_QUANTIZE_LSTM;
  l.batch_first = stowi_kernel_bool(call, STOWI_KERNEL_ATTR_BATCH_FIRST, false);
  l.directions = stowi_kernel_is(call, STOWI_KERNEL_ATTR_DIRECTION, "bidirectional") ? 2 : 1;
  l.sequence = (size_t)x->dims[l.batch_first ? 1 : 0];
  l.batch = (size_t)x->dims[l.batch_first ? 0 : 1];
  l.input = (size_t)x->dims[2];
  l.hidden = (size_t)r->dims[l.is_quantized ? 1 : 2];
  l.linear_before_reset = stowi_kernel_bool(call, STOWI_KERNEL_ATTR_LINEAR_BEFORE_RESET, false);
  l.input_forget = stowi_kernel_bool(call, STOWI_KERNEL_ATTR_INPUT_FORGET, false);
  l.clip = stowi_kernel_float(call, STOWI_KERNEL_ATTR_CLIP, 0);
  return l;
}

static bool read_activations(stowi_kernel_layer* l, size_t direction) {
  size_t count = activation_counts[l->cell];
  for (size_t i = 0; i < count; ++i) {
    if (!activation_read(l->call, direction * count + i, defaults[l->cell][i],
                         &l->activations[i])) {
      return false;
    }
  }
  return true;
}

void stowi_kernel_layer_choose(stowi_kernel_layer* layer, size_t d) {
  layer->direction = d;
  layer->is_reverse =
      d == 1 || stowi_kernel_is(layer->call, STOWI_KERNEL_ATTR_DIRECTION, "reverse");
  (void)read_activations(layer, d);
}

// Fails where attributes or lengths make no sense, or the dtype is not f32, f16, bf16 or f64.
static stow_status check_layer(const stowi_kernel_layer* layer) {
  stow_dtype dtype = stow_kernel_operand(layer->call, STOWI_KERNEL_LAYER_X)->dtype;
  if (stowi_kernel_kind(dtype) != STOW_KIND_FLOAT || stowi_kernel_bits(dtype) < 16) {
    return stow_kernel_fail(layer->call, STOW_ERR_UNSUPPORTED, "x must be f32, f16, bf16 or f64");
  }
  stowi_kernel_layer copy = *layer;
  for (size_t d = 0; d < layer->directions; ++d) {
    if (!read_activations(&copy, d)) {
      return stow_kernel_fail(layer->call, STOW_ERR_UNSUPPORTED,
                              "unknown activation, or not %zu for each direction",
                              activation_counts[layer->cell]);
    }
  }
  STOWI_KERNEL_TRY(stowi_kernel_need_plain(layer->call));
  // Scales and zero points: one for each direction, or for each column of it.
  size_t stacked = layer->gates * layer->hidden;
  for (size_t k = STOWI_KERNEL_LAYER_W_SCALE; layer->is_quantized && k <= STOWI_KERNEL_LAYER_R_ZERO;
       ++k) {
    const stow_tensor* t = stow_kernel_operand(layer->call, k);
    bool is_zero = k == STOWI_KERNEL_LAYER_W_ZERO || k == STOWI_KERNEL_LAYER_R_ZERO;
    size_t count = t == NULL ? 0 : stow_tensor_elements(t);
    if ((t == NULL && !is_zero) ||
        (t != NULL && count != layer->directions && count != layer->directions * stacked)) {
      return stow_kernel_fail(layer->call, STOW_ERR_INVALID_ARGUMENT,
                              "operand %zu must have 1 or %zu elements for each of %zu directions",
                              k, stacked, layer->directions);
    }
  }
  const stow_tensor* lengths = stow_kernel_operand(layer->call, STOWI_KERNEL_LAYER_LENGTHS);
  for (size_t b = 0; lengths != NULL && b < layer->batch; ++b) {
    int64_t length = stowi_kernel_int_at(lengths, b);
    if (length < 0 || (uint64_t)length > layer->sequence) {
      return stow_kernel_fail(layer->call, STOW_ERR_INVALID_ARGUMENT,
                              "length %lld of sequence %zu is out of range (0 to %zu)",
                              (long long)length, b, layer->sequence);
    }
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Rows

size_t stowi_kernel_layer_length(const stowi_kernel_layer* layer, size_t batch) {
  const stow_tensor* lengths = stow_kernel_operand(layer->call, STOWI_KERNEL_LAYER_LENGTHS);
  return lengths == NULL ? layer->sequence : (size_t)stowi_kernel_int_at(lengths, batch);
}

size_t stowi_kernel_layer_x_row(const stowi_kernel_layer* layer, size_t step, size_t batch) {
  return layer->batch_first ? batch * layer->sequence + step : step * layer->batch + batch;
}

size_t stowi_kernel_layer_y_row(const stowi_kernel_layer* layer, size_t step, size_t batch) {
  size_t row = layer->batch_first
                   ? (batch * layer->sequence + step) * layer->directions + layer->direction
                   : (step * layer->directions + layer->direction) * layer->batch + batch;
  return row * layer->hidden;
}

size_t stowi_kernel_layer_state_row(const stowi_kernel_layer* layer, size_t batch) {
  size_t row = layer->batch_first ? batch * layer->directions + layer->direction
                                  : layer->direction * layer->batch + batch;
  return row * layer->hidden;
}

// ---------------------------------------------------------------------------------------------
// The kernels. dynamic_quantize_lstm dequantises its weights where they are used.

static stow_status scratch_layer(const stow_kernel_call* call, uint64_t* out_bytes) {
  stowi_kernel_layer l = read_layer(call);
  bool is_f64 = stow_kernel_operand(call, STOWI_KERNEL_LAYER_X)->dtype == STOW_F64;
  *out_bytes = is_f64 ? stowi_kernel_steps_f64_scratch(&l) : stowi_kernel_steps_f32_scratch(&l);
  return STOW_OK;
}

static stow_status run_layer(stow_kernel_call* call) {
  stowi_kernel_layer l = read_layer(call);
  stow_status status = check_layer(&l);
  if (status != STOW_OK || l.batch == 0 || l.hidden == 0) {
    return status;  // however many steps there are
  }
  if (stow_kernel_operand(call, STOWI_KERNEL_LAYER_X)->dtype == STOW_F64) {
    stowi_kernel_steps_f64(&l);
  } else {
    stowi_kernel_steps_f32(&l);
  }
  return STOW_OK;
}

static bool is_byte(const stow_kernel_call* call, size_t k) {
  stow_dtype dtype = stow_kernel_operand(call, k)->dtype;
  return dtype == STOW_I8 || dtype == STOW_U8;
}

static bool is_f32(const stow_kernel_call* call, size_t k) {
  return stow_kernel_operand(call, k)->dtype == STOW_F32;
}

// Weights of f32 are second factors. A product of gru's third gate alone begins inside of them.
// Bytes are in panels of columns.
static uint64_t pack_size_layer(const stow_kernel_call* call, size_t k) {
  stowi_kernel_layer l = read_layer(call);
  bool is_w = k == STOWI_KERNEL_LAYER_W;
  bool is_real = is_f32(call, STOWI_KERNEL_LAYER_W) && is_f32(call, STOWI_KERNEL_LAYER_R);
  bool is_bytes =
      l.is_quantized && is_byte(call, STOWI_KERNEL_LAYER_W) && is_byte(call, STOWI_KERNEL_LAYER_R);
  bool is_even = l.cell != STOWI_KERNEL_CELL_GRU || 2 * l.hidden % STOWI_KERNEL_GEMM_PANEL == 0;
  size_t inner = is_w ? l.input : l.hidden;
  size_t columns = l.directions * l.gates * l.hidden;
  if ((!is_w && k != STOWI_KERNEL_LAYER_R) || !is_f32(call, STOWI_KERNEL_LAYER_X) || inner == 0 ||
      l.hidden == 0 || !is_even) {
    return 0;
  }
  return is_bytes                     ? (uint64_t)inner * columns
         : is_real && !l.is_quantized ? stowi_kernel_gemm_pack_b_size(inner, columns)
                                      : 0;
}

static void pack_bytes(const uint8_t* from, size_t inner, size_t stacked, uint8_t* out) {
  for (size_t first = 0; first < stacked; first += STOWI_KERNEL_BYTES_COLUMNS) {
    size_t columns = stowi_kernel_smaller(stacked - first, STOWI_KERNEL_BYTES_COLUMNS);
    for (size_t p = 0; p < inner; ++p, out += columns) {
      memcpy(out, from + p * stacked + first, columns);
    }
  }
}

static void pack_layer(const stow_kernel_call* call, size_t k, void* out) {
  stowi_kernel_layer l = read_layer(call);
  size_t inner = k == STOWI_KERNEL_LAYER_W ? l.input : l.hidden;
  size_t stacked = l.gates * l.hidden;
  const void* data = stow_kernel_operand(call, k)->data;
  for (size_t d = 0; d < l.directions; ++d) {
    size_t first = d * stacked * inner;
    if (l.is_quantized) {
      pack_bytes((const uint8_t*)data + first, inner, stacked, (uint8_t*)out + first);
    } else {
      stowi_kernel_matrix w = {(const float*)data + first, 1, inner};
      stowi_kernel_gemm_pack_b(&w, inner, stacked, (float*)out + first);
    }
  }
}

STOWI_KERNEL(RNN, scratch_layer, run_layer, .variant_count = 3, .pack_size = pack_size_layer,
             .pack = pack_layer);
STOWI_KERNEL(GRU, scratch_layer, run_layer, .variant_count = 3, .pack_size = pack_size_layer,
             .pack = pack_layer);
STOWI_KERNEL(LSTM, scratch_layer, run_layer, .variant_count = 3, .pack_size = pack_size_layer,
             .pack = pack_layer);
STOWI_KERNEL(DYNAMIC_QUANTIZE_LSTM, scratch_layer, run_layer, .variant_count = 3,
             .pack_size = pack_size_layer, .pack = pack_layer);
