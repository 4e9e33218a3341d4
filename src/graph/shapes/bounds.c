// Which dims of a node's results are upper bounds, one by one.
//
// A dim is exact if it depends on nothing that is upper-bounded, and the shape function itself can
// tell: it runs a second time, the *trial*, with an unknown in place of every upper-bounded dim and
// element. An unknown is a new symbol minus 1, since symbols stand for 1 or more, and an
// upper-bounded dim may be 0. What comes out as in the first run holds for all numbers; any other
// dim is an upper bound. So no op needs a rule of its own:
//     x : f32[1, 64, at most 50]        trial: f32[1, 64, ?u - 1]
//     concat(x, x), axis 1              f32[1, 128, ?u - 1]: only dim 2 differs
// If the trial fails (some functions need numbers) or types are declared, all dims are upper
// bounds.
//
// An element with the bound of an upper-bounded dim of operand 0 counts as that dim. It nearly
// always is: reshape(x, [shape(x)[0], -1]), and `reshape` deduces the other dim in the same way.
// While a graph runs, actual dims are compared with exact ones, so that an exception is an error.
#include "base/diag.h"
#include "graph/dims/dims.h"
#include "graph/graph_internal.h"
#include "graph/shapes/call.h"

// ---------------------------------------------------------------------------------------------
// Unknowns

static stow_dim unknown_size(stow_dims* dims) {
  return stow_dim_sub(dims, stowi_graph_dim_unknown(dims), 1);
}

stow_dim stowi_graph_trial_element(stow_shape_call* call, stow_dim bound,
                                   stowi_graph_exactness exactness) {
  stow_dims* dims = call->dims;
  if (exactness == STOWI_GRAPH_UPPER_BOUND_SIGNED) {
    return stow_dim_sub(dims, stowi_graph_dim_unknown(dims), stowi_graph_dim_unknown(dims));
  }
  const stow_type* trial = stow_shape_operand(call, 0);
  const stow_type* type = trial == NULL ? NULL : stowi_graph_shape_largest(call, 0);
  for (uint32_t i = 0; type != NULL && i < type->rank; ++i) {
    if (type->dims[i] == bound && trial->dims[i] != bound) {
      return trial->dims[i];
    }
  }
  return unknown_size(dims);
}

static void set_operands(const stow_shape_call* call, stow_type* types) {
  for (size_t k = 0; k < call->operand_count; ++k) {
    const stow_type* type = stow_shape_operand(call, k);
    stowi_graph_axes axes = stowi_graph_shape_bounded_axes(call, k);
    types[k] = type == NULL ? stow_type_make(STOW_BOOL, 0, NULL) : *type;
    for (uint32_t i = 0; i < types[k].rank && axes != 0; ++i) {
      types[k].dims[i] = (axes >> i & 1) != 0 ? unknown_size(call->dims) : types[k].dims[i];
    }
  }
}

// ---------------------------------------------------------------------------------------------
// The trial

// The dims of result |k| that are not those of the trial, and those that the trial marks.
static stowi_graph_axes differing(const stow_shape_call* call, const stow_shape_call* trial,
                                  size_t k) {
  const stow_type* a = &call->results[k];
  const stow_type* b = &trial->results[k];
  if (a->dtype != b->dtype || a->rank != b->rank || a->rank > STOW_MAX_RANK) {
    return STOWI_GRAPH_ALL_AXES;
  }
  uint32_t axes = trial->marks[k].bounded;
  for (uint32_t i = 0; i < a->rank; ++i) {
    axes |= (uint32_t)(a->dims[i] != b->dims[i]) << i;
  }
  return (stowi_graph_axes)(axes & ~(uint32_t)call->marks[k].data);
}

static void inherit(stow_shape_call* call, size_t k, stowi_graph_axes axes) {
  call->marks[k].bounded |= axes;
  call->marks[k].limited |= call->reads_bound ? axes : 0;
}

static void inherit_all(stow_shape_call* call) {
  for (size_t k = 0; k < call->result_count; ++k) {
    inherit(call, k, STOWI_GRAPH_ALL_AXES);
  }
}

// |trial| is a copy of |call| with its own results and marks.
static stow_status try_unknowns(stow_shape_call* call, stow_shape_call* trial, stow_type* types) {
  set_operands(call, types);
  stowi_graph_trial operands = {types};
  trial->trial = &operands;
  stow_status status = stow_dims_status(call->dims);
  for (size_t k = 0; k < call->result_count; ++k) {
    trial->results[k] = stow_type_make(STOW_DTYPE_COUNT, 0, NULL);
    trial->marks[k] = (stowi_graph_marks){0, 0, 0};
  }
  status = status == STOW_OK ? stowi_graph_shape_run(trial) : status;
  for (size_t k = 0; k < call->result_count && status == STOW_OK; ++k) {
    inherit(call, k, differing(call, trial, k));
  }
  if (status != STOW_OK) {
    stow_dims_clear_status(call->dims);
    inherit_all(call);
  }
  return status == STOW_ERR_OUT_OF_MEMORY ? status : STOW_OK;
}

static stow_status run_trial(stow_shape_call* call) {
  stow_allocator allocator = call->graph->allocator;
  stow_type* types = STOWI_ARRAY(allocator, stow_type, call->operand_count);
  stow_shape_call trial = *call;
  trial.results = STOWI_ARRAY(allocator, stow_type, call->result_count);
  trial.marks = STOWI_ARRAY(allocator, stowi_graph_marks, call->result_count);
  stow_status status = STOW_ERR_OUT_OF_MEMORY;
  if (types != NULL && trial.results != NULL && trial.marks != NULL) {
    stowi_graph_dims_mark mark = stowi_graph_dims_get_mark(call->dims);
    status = try_unknowns(call, &trial, types);
    stowi_graph_dims_rewind(call->dims, mark);
  }
  STOWI_ARRAY_FREE(allocator, types, call->operand_count);
  STOWI_ARRAY_FREE(allocator, trial.results, call->result_count);
  STOWI_ARRAY_FREE(allocator, trial.marks, call->result_count);
  return status;
}

// ---------------------------------------------------------------------------------------------

static void take_marks(stow_shape_call* call) {
  for (size_t k = 0; k < call->result_count; ++k) {
    inherit(call, k, call->graph->values.data[call->made + k].bounded);
  }
}

// `if` and `loop` mark the dims of their results themselves.
static stow_status find_inherited(stow_shape_call* call) {
  bool has_bounds = call->reads_bound || stowi_graph_shape_has_upper_bounded(call);
  if (!has_bounds || call->op == STOW_OP_IF || call->op == STOW_OP_LOOP) {
    return STOW_OK;
  }
  if (call->desc->typing != STOW_TYPING_INFERRED || call->desc->region_count != 0) {
    inherit_all(call);
    return STOW_OK;
  }
  return run_trial(call);
}

stow_status stowi_graph_shape_mark_inherited(stow_shape_call* call) {
  if (call->actual != NULL) {
    return STOW_OK;
  }
  if (call->keeps_marks) {
    take_marks(call);
  } else {
    STOW_TRY(find_inherited(call));
  }
  for (size_t k = 0; k < call->result_count; ++k) {
    uint32_t rank = call->results[k].rank < STOW_MAX_RANK ? call->results[k].rank : STOW_MAX_RANK;
    call->marks[k].bounded &= stowi_graph_axes_below(rank);
  }
  return STOW_OK;
}
