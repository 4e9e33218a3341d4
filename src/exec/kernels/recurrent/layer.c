// What a call says about a recurrent layer, and where its rows are.
#include "exec/kernels/recurrent/layer.h"

#include "exec/kernels/recurrent/steps.h"
#include "exec/kernels/recurrent/steps_f64.h"
#include "exec/kernels/support/convert.h"

// Activations of each cell: gates, hidden or cell, and lstm's output.
static const size_t gate_counts[] = {1, 3, 4};
static const size_t activation_counts[] = {1, 2, 3};
static const stowi_activation_kind defaults[][3] = {
    {STOWI_ACT_TANH, STOWI_ACT_TANH, STOWI_ACT_TANH},
    {STOWI_ACT_SIGMOID, STOWI_ACT_TANH, STOWI_ACT_TANH},
    {STOWI_ACT_SIGMOID, STOWI_ACT_TANH, STOWI_ACT_TANH},
};

static stowi_layer read_layer(const stow_kernel_call* call, stowi_cell cell) {
  const stow_tensor* x = stow_kernel_operand(call, STOWI_LAYER_X);
  const stow_tensor* r = stow_kernel_operand(call, STOWI_LAYER_R);
  stowi_layer l = {.call = call, .cell = cell, .gates = gate_counts[cell]};
  l.is_quantized = call->op == STOW_OP_DYNAMIC_QUANTIZE_LSTM;
  l.batch_first = stow_kernel_bool(call, "batch_first", false);
  l.directions = stow_kernel_is(call, "direction", "bidirectional") ? 2 : 1;
  l.sequence = (size_t)x->dims[l.batch_first ? 1 : 0];
  l.batch = (size_t)x->dims[l.batch_first ? 0 : 1];
  l.input = (size_t)x->dims[2];
  l.hidden = (size_t)r->dims[l.is_quantized ? 1 : 2];
  l.linear_before_reset = stow_kernel_bool(call, "linear_before_reset", false);
  l.input_forget = stow_kernel_bool(call, "input_forget", false);
  l.clip = stow_kernel_float(call, "clip", 0);
  return l;
}

static bool read_activations(stowi_layer* l, size_t direction) {
  size_t count = activation_counts[l->cell];
  for (size_t i = 0; i < count; ++i) {
    if (!stowi_activation_read(l->call, direction * count + i, defaults[l->cell][i],
                               &l->activations[i])) {
      return false;
    }
  }
  return true;
}

void stowi_layer_choose(stowi_layer* layer, size_t d) {
  layer->direction = d;
  layer->is_reverse = d == 1 || stow_kernel_is(layer->call, "direction", "reverse");
  (void)read_activations(layer, d);
}

static stow_status check_lengths(const stowi_layer* l) {
  const stow_tensor* lengths = stow_kernel_operand(l->call, STOWI_LAYER_LENGTHS);
  for (size_t b = 0; lengths != NULL && b < l->batch; ++b) {
    int64_t length = stowi_int_at(lengths, b);
    if (length < 0 || (uint64_t)length > l->sequence) {
      return stow_kernel_fail(l->call, STOW_ERR_INVALID_ARGUMENT,
                              "length %lld of sequence %zu is not in [0, %zu]", (long long)length,
                              b, l->sequence);
    }
  }
  return STOW_OK;
}

// Scales and zero points: one for each direction, or for each column of it.
static stow_status check_scales(const stowi_layer* l) {
  size_t stacked = l->gates * l->hidden;
  for (size_t k = STOWI_LAYER_W_SCALE; l->is_quantized && k <= STOWI_LAYER_R_ZERO; ++k) {
    const stow_tensor* t = stow_kernel_operand(l->call, k);
    bool is_zero = k == STOWI_LAYER_W_ZERO || k == STOWI_LAYER_R_ZERO;
    size_t count = t == NULL ? 0 : stow_tensor_elements(t);
    if ((t == NULL && !is_zero) ||
        (t != NULL && count != l->directions && count != l->directions * stacked)) {
      return stow_kernel_fail(l->call, STOW_ERR_INVALID_ARGUMENT,
                              "operand %zu must have one element for each of %zu directions, or "
                              "%zu",
                              k, l->directions, stacked);
    }
  }
  return STOW_OK;
}

// Fails where attributes or lengths make no sense, or the dtype is none of f32, f16, bf16, f64.
static stow_status check_layer(const stowi_layer* layer) {
  stow_dtype dtype = stow_kernel_operand(layer->call, STOWI_LAYER_X)->dtype;
  if (stowi_kind(dtype) != STOW_KIND_FLOAT || stowi_bits(dtype) < 16) {
    return stow_kernel_fail(layer->call, STOW_ERR_UNSUPPORTED, "x must be f32, f16, bf16 or f64");
  }
  stowi_layer copy = *layer;
  for (size_t d = 0; d < layer->directions; ++d) {
    if (!read_activations(&copy, d)) {
      return stow_kernel_fail(layer->call, STOW_ERR_UNSUPPORTED,
                              "activations must be %zu of ONNX's for each direction",
                              activation_counts[layer->cell]);
    }
  }
  stow_status status = stowi_need_plain(layer->call);
  status = status == STOW_OK ? check_scales(layer) : status;
  return status == STOW_OK ? check_lengths(layer) : status;
}

// ---------------------------------------------------------------------------------------------
// Rows

size_t stowi_layer_length(const stowi_layer* layer, size_t batch) {
  const stow_tensor* lengths = stow_kernel_operand(layer->call, STOWI_LAYER_LENGTHS);
  return lengths == NULL ? layer->sequence : (size_t)stowi_int_at(lengths, batch);
}

size_t stowi_layer_x_row(const stowi_layer* layer, size_t step, size_t batch) {
  return layer->batch_first ? batch * layer->sequence + step : step * layer->batch + batch;
}

size_t stowi_layer_y_row(const stowi_layer* layer, size_t step, size_t batch) {
  size_t row = layer->batch_first
                   ? (batch * layer->sequence + step) * layer->directions + layer->direction
                   : (step * layer->directions + layer->direction) * layer->batch + batch;
  return row * layer->hidden;
}

size_t stowi_layer_state_row(const stowi_layer* layer, size_t batch) {
  size_t row = layer->batch_first ? batch * layer->directions + layer->direction
                                  : layer->direction * layer->batch + batch;
  return row * layer->hidden;
}

// ---------------------------------------------------------------------------------------------
// Calls

stow_status stowi_layer_scratch(const stow_kernel_call* call, stowi_cell cell,
                                uint64_t* out_bytes) {
  stowi_layer l = read_layer(call, cell);
  bool is_f64 = stow_kernel_operand(call, STOWI_LAYER_X)->dtype == STOW_F64;
  *out_bytes = is_f64 ? stowi_steps_f64_scratch(&l) : stowi_steps_f32_scratch(&l);
  return STOW_OK;
}

stow_status stowi_layer_run(const stow_kernel_call* call, stowi_cell cell) {
  stowi_layer l = read_layer(call, cell);
  stow_status status = check_layer(&l);
  if (status != STOW_OK || l.batch == 0 || l.hidden == 0) {
    return status;  // however many steps there are
  }
  if (stow_kernel_operand(call, STOWI_LAYER_X)->dtype == STOW_F64) {
    stowi_steps_f64(&l);
  } else {
    stowi_steps_f32(&l);
  }
  return STOW_OK;
}
