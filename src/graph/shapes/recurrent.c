// Shapes of recurrent layers: lstm, gru, rnn, and an lstm with quantised weights. All have the
// operands x, w, r, [bias], [lengths], [first h], and lstm also [first c] and [peepholes]; results
// are the output of each step, the last h and, for lstm, the last c. They differ in the number of
// gates that the weights stack.
#include <inttypes.h>

#include "base/diag.h"
#include "graph/shapes/shapes.h"

typedef struct layer {
  stow_dim gates;  // how many times the weights contain the hidden size
  stow_dim directions;
  stow_dim sequence, batch, input, hidden;
  bool batch_first;
  bool weights_transposed;  // [directions, in, gates × hidden]
} layer;

// Fails unless operand |k|, which may be missing, has these dims.
static stow_status check_dims(stow_shape_call* call, size_t k, const char* what,
                              const stow_dim* wanted, uint32_t rank) {
  const stow_type* type = stow_shape_operand(call, k);
  if (type == NULL) {
    return STOW_OK;
  }
  if (type->rank != rank) {
    return stow_shape_fail(call, "operand %zu (%s) has rank %" PRIu32 ", expected %" PRIu32, k,
                           what, type->rank, rank);
  }
  for (uint32_t i = 0; i < rank; ++i) {
    if (stowi_graph_shape_differ(call, type->dims[i], wanted[i])) {
      return stow_shape_fail(call, "dim %" PRIu32 " of operand %zu (%s) is %s, expected %s", i, k,
                             what, stowi_graph_shape_dim_text(call, type->dims[i]).text,
                             stowi_graph_shape_dim_text(call, wanted[i]).text);
    }
  }
  return STOW_OK;
}

// [directions, batch, hidden], or with the batch first.
static stow_type state_type(const stow_shape_call* call, const layer* l) {
  stow_dim dims[] = {l->batch_first ? l->batch : l->directions,
                     l->batch_first ? l->directions : l->batch, l->hidden};
  return stow_type_make(stow_shape_operand(call, 0)->dtype, 3, dims);
}

static stow_status read_layer(stow_shape_call* call, layer* l) {
  static const char* const directions[] = {"forward", "reverse", "bidirectional", NULL};
  for (size_t k = 0; k < 3; ++k) {
    uint32_t rank = stow_shape_operand(call, k)->rank;
    if (rank != 3) {
      return stow_shape_fail(call, "operand %zu has rank %" PRIu32 ", expected 3", k, rank);
    }
  }
  size_t direction;
  STOW_TRY(stowi_graph_shape_choice(call, "direction", directions, &direction));
  const stow_type* x = stow_shape_operand(call, 0);
  l->directions = direction == 2 ? 2 : 1;
  l->batch_first = stow_shape_attr_bool(call, "batch_first", false);
  l->sequence = x->dims[l->batch_first ? 1 : 0];
  l->batch = x->dims[l->batch_first ? 0 : 1];
  l->input = x->dims[2];
  l->hidden = stow_shape_attr_int(call, "hidden_size", 0);
  if (l->hidden < 0) {
    return stow_shape_fail(call, "hidden_size is %" PRId64 ", expected at least 0", l->hidden);
  }
  if (l->hidden == 0) {  // not given
    l->hidden = stow_shape_operand(call, 2)->dims[l->weights_transposed ? 1 : 2];
  }
  return STOW_OK;
}

static stow_status check_weights(stow_shape_call* call, const layer* l) {
  stow_dim stacked = stow_dim_mul(stow_shape_dims(call), l->hidden, l->gates);
  stow_dim w[] = {l->directions, stacked, l->input};
  stow_dim r[] = {l->directions, stacked, l->hidden};
  if (l->weights_transposed) {
    w[1] = l->input;
    r[1] = l->hidden;
    w[2] = r[2] = stacked;
  }
  stow_dim bias[] = {l->directions, stow_dim_mul(stow_shape_dims(call), stacked, 2)};
  STOW_TRY(check_dims(call, 1, "weights", w, 3));
  STOW_TRY(check_dims(call, 2, "recurrent weights", r, 3));
  return check_dims(call, 3, "bias", bias, 2);
}

static stow_status check_states(stow_shape_call* call, const layer* l, bool has_cell) {
  stow_type state = state_type(call, l);
  stow_dim peepholes[] = {l->directions, stow_dim_mul(stow_shape_dims(call), l->hidden, 3)};
  STOW_TRY(stowi_graph_shape_integers(call, 4, "operand 4 (lengths)"));
  STOW_TRY(check_dims(call, 4, "lengths", &l->batch, 1));
  STOW_TRY(check_dims(call, 5, "first h", state.dims, 3));
  if (has_cell) {
    STOW_TRY(check_dims(call, 6, "first c", state.dims, 3));
    STOW_TRY(check_dims(call, 7, "peepholes", peepholes, 2));
  }
  return STOW_OK;
}

// Result 0 has the state of every step, each further one a last state.
static stow_status set_results(stow_shape_call* call, const layer* l) {
  stow_dim dims[] = {l->sequence, l->directions, l->batch, l->hidden};
  if (l->batch_first) {
    dims[0] = l->batch;
    dims[1] = l->sequence;
    dims[2] = l->directions;
  }
  stow_type state = state_type(call, l);
  stow_type steps = stow_type_make(state.dtype, 4, dims);
  STOW_TRY(stowi_graph_shape_set(call, 0, &steps));
  for (size_t k = 1; k < stow_shape_result_count(call); ++k) {
    STOW_TRY(stowi_graph_shape_set(call, k, &state));
  }
  return STOW_OK;
}

static stow_status infer(stow_shape_call* call, layer l, bool has_cell) {
  STOW_TRY(read_layer(call, &l));
  STOW_TRY(check_weights(call, &l));
  STOW_TRY(check_states(call, &l, has_cell));
  return set_results(call, &l);
}

stow_status stowi_graph_shape_lstm(stow_shape_call* call) {
  return infer(call, (layer){.gates = 4}, true);
}

stow_status stowi_graph_shape_gru(stow_shape_call* call) {
  return infer(call, (layer){.gates = 3}, false);
}

stow_status stowi_graph_shape_rnn(stow_shape_call* call) {
  return infer(call, (layer){.gates = 1}, false);
}

stow_status stowi_graph_shape_dynamic_quantize_lstm(stow_shape_call* call) {
  return infer(call, (layer){.gates = 4, .weights_transposed = true}, true);
}
