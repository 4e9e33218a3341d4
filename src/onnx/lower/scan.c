// Scan as the core's `loop`: the body picks the slices of the scan inputs by the number of the
// round, and scan outputs are turned afterwards where they collect along another axis or backwards.
//
// In opset 8 everything has a batch axis before: there a loop over the batch is put around, whose
// body is that of opset 9 on slices of the operands, and which collects what it makes.
#include <string.h>

#include "onnx/lower/loop.h"

typedef struct scanning {
  stowi_onnx_looping loop;
  size_t inputs;    // scan inputs, the node's last operands
  stow_value last;  // number of the last round
  bool is_inner;    // of the loop over a batch: results have no names, and are not turned
} scanning;

static const char* directions_of(const stowi_onnx_lowering* l) {
  return l->version < 9 ? "directions" : "scan_input_directions";
}

// Element |i| of an optional list; 0 where there is none.
static int64_t element(const stowi_onnx_lowering* l, const char* name, size_t i) {
  size_t count;
  const int64_t* list = stowi_onnx_lower_ints(l, name, &count);
  return i < count ? list[i] : 0;
}

static stow_status axis_of(stowi_onnx_lowering* l, const char* name, size_t i, uint32_t rank,
                           uint32_t* out_axis) {
  int64_t axis = element(l, name, i);
  axis += axis < 0 ? rank : 0;
  if (axis < 0 || axis >= (int64_t)rank) {
    return stowi_fail(l->imp->diag, STOW_ERR_TYPE, "element %zu of %s is out of range", i, name);
  }
  *out_axis = (uint32_t)axis;
  return STOW_OK;
}

static size_t operand_of(const scanning* s, size_t i) { return s->loop.carried + i; }

// ---------------------------------------------------------------------------------------------
// How many rounds

// The dim as a value: a constant, or by the `shape` of the tensor.
static stow_status dim_value(stowi_onnx_lowering* l, size_t operand, uint32_t axis,
                             stow_value* out_value) {
  int64_t dim = stowi_onnx_lower_type(l, operand)->dims[axis];
  if (stow_dim_is_const(dim)) {
    return stowi_onnx_lower_constant_i64(l, &dim, 1, true, out_value);
  }
  stow_op shape = stow_ops_find(NULL, stow_str_of("shape"));
  if (shape == STOW_OP_NONE) {
    return stowi_onnx_lower_unsupported(l, "the trip count is not an integer");
  }
  stow_call* call = stowi_onnx_lower_begin(l, shape);
  stow_call_operand(call, stowi_onnx_lower_operand(l, operand));
  stow_call_attr_int(call, "start", axis);
  stow_call_attr_int(call, "end", (int64_t)axis + 1);
  STOW_TRY(stowi_onnx_lower_finish(l, call, out_value));
  return stowi_onnx_lower_scalar(l, *out_value, out_value);
}

static stow_status count_rounds(scanning* s) {
  stowi_onnx_lowering* l = s->loop.l;
  uint32_t axis = 0;
  const stow_type* type = stowi_onnx_lower_type(l, operand_of(s, 0));
  STOW_TRY(axis_of(l, "scan_input_axes", 0, type->rank, &axis));
  STOW_TRY(dim_value(l, operand_of(s, 0), axis, &s->loop.trip));
  int64_t one = 1;
  stow_value one_value;
  STOW_TRY(stowi_onnx_lower_constant_i64(l, &one, 1, true, &one_value));
  stow_call* call = stowi_onnx_lower_begin(l, STOW_OP_SUB);
  stow_call_operand(call, s->loop.trip);
  stow_call_operand(call, one_value);
  return stowi_onnx_lower_finish(l, call, &s->last);
}

// ---------------------------------------------------------------------------------------------
// The body

// The number of the slice that scan input |i| gives this round.
static stow_status slice_index(scanning* s, size_t i, stow_value* out_index) {
  stowi_onnx_lowering* l = s->loop.l;
  *out_index = s->loop.args;
  if (element(l, directions_of(l), i) == 0) {
    return STOW_OK;
  }
  stow_call* call = stowi_onnx_lower_begin(l, STOW_OP_SUB);
  stow_call_operand(call, s->last);
  stow_call_operand(call, s->loop.args);
  return stowi_onnx_lower_finish(l, call, out_index);
}

static stow_status add_slice(scanning* s, size_t i) {
  stowi_onnx_lowering* l = s->loop.l;
  stowi_import_importer* imp = l->imp;
  stow_str text = s->loop.body->inputs[operand_of(s, i)].name;
  uint32_t axis = 0;
  stow_value index;
  stow_str name;
  STOW_TRY(
      axis_of(l, "scan_input_axes", i, stowi_onnx_lower_type(l, operand_of(s, i))->rank, &axis));
  STOW_TRY(slice_index(s, i, &index));
  STOW_TRY(stowi_import_fresh_name(imp, text, &name));
  stow_call* call = stowi_onnx_lower_begin(l, STOW_OP_GATHER);
  stow_call_operand(call, stowi_onnx_lower_operand(l, operand_of(s, i)));
  stow_call_operand(call, index);
  stow_call_attr_int(call, "axis", axis);
  stow_call_name(call, 0, name);
  stow_value slice;
  STOW_TRY(stowi_onnx_lower_finish(l, call, &slice));
  return stowi_import_bind(imp, text, slice, STOWI_IMPORT_VALUE);
}

// ---------------------------------------------------------------------------------------------
// The results

static bool is_turned(const scanning* s, size_t k) {
  const stowi_onnx_lowering* l = s->loop.l;
  size_t i = k - s->loop.carried;
  return !s->is_inner && k >= s->loop.carried &&
         (element(l, "scan_output_axes", i) != 0 || element(l, "scan_output_directions", i) != 0);
}

static stow_status flip(stowi_onnx_lowering* l, size_t k, stow_value value, bool is_last,
                        stow_value* out_value) {
  stow_op slice = stow_ops_find(NULL, stow_str_of("slice"));
  if (slice == STOW_OP_NONE) {
    return stowi_onnx_lower_unsupported(l, "reversed scan outputs are not supported");
  }
  const int64_t start = -1, end = INT64_MIN, axis = 0, step = -1;
  stow_call* call = stowi_onnx_lower_begin(l, slice);
  stow_call_operand(call, value);
  stow_call_attr_ints(call, "starts", &start, 1);
  stow_call_attr_ints(call, "ends", &end, 1);
  stow_call_attr_ints(call, "axes", &axis, 1);
  stow_call_attr_ints(call, "steps", &step, 1);
  return is_last ? stowi_onnx_lower_finish_results(l, call, k, 1)
                 : stowi_onnx_lower_finish(l, call, out_value);
}

// Moves dim 0 to |axis|.
static stow_status move_axis(stowi_onnx_lowering* l, size_t k, stow_value value, uint32_t axis) {
  uint32_t rank = stow_graph_type(l->imp->graph, value)->rank;
  int64_t perm[STOW_MAX_RANK];
  for (uint32_t d = 0; d < rank; ++d) {
    perm[d] = d < axis ? (int64_t)d + 1 : d == axis ? 0 : (int64_t)d;
  }
  stow_call* call = stowi_onnx_lower_begin(l, STOW_OP_TRANSPOSE);
  stow_call_operand(call, value);
  stow_call_attr_ints(call, "perm", perm, rank);
  return stowi_onnx_lower_finish_results(l, call, k, 1);
}

static stow_status turn(scanning* s, size_t k, stow_value value) {
  stowi_onnx_lowering* l = s->loop.l;
  size_t i = k - s->loop.carried;
  uint32_t axis = 0;
  uint32_t rank = stow_graph_type(l->imp->graph, value)->rank;
  STOW_TRY(axis_of(l, "scan_output_axes", i, rank, &axis));
  if (element(l, "scan_output_directions", i) != 0) {
    STOW_TRY(flip(l, k, value, axis == 0, &value));
  }
  return axis == 0 ? STOW_OK : move_axis(l, k, value, axis);
}

static stow_status finish_scan(scanning* s) {
  stowi_onnx_lowering* l = s->loop.l;
  stow_call* call = stowi_onnx_loop_begin(&s->loop);
  for (size_t k = 0; k < l->result_count; ++k) {
    if (!s->is_inner && stowi_onnx_lower_wants(l, k) && !is_turned(s, k)) {
      stow_str name;
      STOW_TRY(stowi_import_fresh_name(l->imp, l->node->outputs[k], &name));
      stow_call_name(call, k, name);
    }
  }
  stow_value first;
  STOW_TRY(stowi_onnx_lower_finish(l, call, &first));
  for (size_t k = 0; k < l->result_count; ++k) {
    stow_value value = first + (stow_value)k;
    stowi_onnx_lower_set_result(l, k, value);
    if (stowi_onnx_lower_wants(l, k) && is_turned(s, k)) {
      STOW_TRY(turn(s, k, value));
    }
  }
  return STOW_OK;
}

static stow_status run_scan(stowi_onnx_looping* loop) {
  scanning* s = (scanning*)loop;  // its first member
  const stowi_onnx_graph* body = loop->body;
  stow_status reason;
  STOW_TRY(stowi_onnx_loop_add_args(loop, body->inputs, NULL));
  STOW_TRY(stowi_onnx_loop_bind_args(loop, body->inputs, STOWI_ONNX_LOOP_LEADING, loop->carried));
  for (size_t i = 0; i < s->inputs; ++i) {
    STOW_TRY(add_slice(s, i));
  }
  loop->yields[0] = loop->args + 1;
  STOW_TRY(stowi_onnx_import_inner(loop->l->onnx, body, loop->yields + 1));
  loop->is_whole = stowi_onnx_are_whole(loop->yields, loop->yield_count);
  STOW_TRY(stowi_onnx_loop_close(loop, &reason));
  return loop->is_whole ? finish_scan(s) : stowi_onnx_loop_give_up(loop, reason);
}

static stow_status scan(stowi_onnx_lowering* l, bool is_inner) {
  const stowi_onnx_graph* body = stowi_onnx_lower_subgraph(l, "body");
  int64_t inputs = stowi_onnx_lower_int(l, "num_scan_inputs", 0);
  if (body == NULL || inputs < 1 || (uint64_t)inputs > l->operand_count ||
      body->input_count != l->operand_count ||
      body->output_count < l->operand_count - (size_t)inputs ||
      body->output_count < l->result_count) {
    return stowi_fail(l->imp->diag, STOW_ERR_TYPE,
                      "the body's inputs and outputs do not fit the node's");
  }
  for (size_t k = 0; k < l->operand_count; ++k) {
    if (stowi_onnx_lower_operand(l, k) == STOW_VALUE_NONE) {
      return stowi_fail(l->imp->diag, STOW_ERR_SYNTAX, "input %zu is absent", k);
    }
  }
  scanning s = {.inputs = (size_t)inputs, .is_inner = is_inner};
  s.loop = (stowi_onnx_looping){.l = l,
                                .body = body,
                                .carried = l->operand_count - (size_t)inputs,
                                .condition = STOW_VALUE_NONE,
                                .yield_count = body->output_count + 1};
  STOW_TRY(count_rounds(&s));
  return stowi_onnx_loop_run(&s.loop, run_scan);
}

stow_status stowi_onnx_lower_scan(stowi_onnx_lowering* l) { return scan(l, false); }

// ---------------------------------------------------------------------------------------------
// Opset 8

enum { FIRST_BATCHED = 1 };  // operand 0 has the sequences' lengths

static stow_status fail_lengths(stowi_onnx_lowering* l) {
  return stowi_onnx_lower_unsupported(l, "sequences of different lengths are not supported");
}

// All sequences must be as long as the axis.
static stow_status check_lengths(stowi_onnx_lowering* l) {
  const stow_graph* graph = l->imp->graph;
  stow_value lengths = stowi_onnx_lower_operand(l, 0);
  const stow_type* type = stowi_onnx_lower_type(l, 0);
  const stow_type* scanned = stowi_onnx_lower_type(l, l->operand_count - 1);
  if (lengths == STOW_VALUE_NONE) {
    return STOW_OK;
  }
  uint64_t count;
  if (scanned->rank < 2 || !stow_graph_is_known(graph, lengths) ||
      stow_type_elements(type, &count) != STOW_OK) {
    return fail_lengths(l);
  }
  for (size_t i = 0; i < count; ++i) {
    if (stow_graph_known(graph, lengths, i) != scanned->dims[1]) {
      return fail_lengths(l);
    }
  }
  return STOW_OK;
}

// Slice |round| of every operand, on the importer's stack.
static stow_status push_slices(stowi_onnx_lowering* l, stow_value round) {
  stowi_import_importer* imp = l->imp;
  for (size_t k = FIRST_BATCHED; k < l->operand_count; ++k) {
    stow_call* call = stowi_onnx_lower_begin(l, STOW_OP_GATHER);
    stow_call_operand(call, stowi_onnx_lower_operand(l, k));
    stow_call_operand(call, round);
    stow_call_attr_int(call, "axis", 0);
    stow_value slice;
    STOW_TRY(stowi_onnx_lower_finish(l, call, &slice));
    if (STOWI_VEC_RESERVE(imp->allocator, &l->onnx->stack, 1) != STOW_OK) {
      return stowi_import_memory(imp);
    }
    l->onnx->stack.data[l->onnx->stack.count++] = slice;
  }
  return STOW_OK;
}

// The scan of one slice; its results become yields.
static stow_status scan_slices(stowi_onnx_looping* loop) {
  stowi_onnx_lowering* l = loop->l;
  stowi_import_importer* imp = l->imp;
  stowi_onnx_importer* onnx = l->onnx;
  stowi_onnx_node node = *l->node;
  node.inputs += FIRST_BATCHED;
  node.input_count -= FIRST_BATCHED;
  stowi_onnx_lowering inner = *l;
  inner.node = &node;
  inner.first_operand = onnx->stack.count;
  inner.operand_count = l->operand_count - FIRST_BATCHED;
  STOW_TRY(push_slices(l, loop->args));
  inner.first_result = onnx->stack.count;
  if (STOWI_VEC_RESERVE(imp->allocator, &onnx->stack, l->result_count) != STOW_OK) {
    return stowi_import_memory(imp);
  }
  for (size_t k = 0; k < l->result_count; ++k) {
    onnx->stack.data[onnx->stack.count++] = STOW_VALUE_NONE;
  }
  ++imp->depth;
  stow_status status = scan(&inner, true);
  --imp->depth;
  for (size_t k = 0; k < l->result_count; ++k) {
    loop->yields[1 + k] = stowi_onnx_lower_result(&inner, k);
  }
  return status;
}

static stow_status run_batch(stowi_onnx_looping* loop) {
  stowi_onnx_lowering* l = loop->l;
  STOW_TRY(stowi_onnx_loop_add_args(loop, NULL, NULL));
  loop->yields[0] = loop->args + 1;
  stow_status reason = scan_slices(loop);
  if (reason != STOW_OK && reason != STOW_ERR_UNSUPPORTED && reason != STOW_ERR_DATA_DEPENDENT) {
    return reason;
  }
  stow_diag kept = *l->imp->diag;
  loop->is_whole = reason == STOW_OK && stowi_onnx_are_whole(loop->yields, loop->yield_count);
  stow_status changed;  // nothing is carried
  STOW_TRY(stowi_onnx_loop_close(loop, &changed));
  if (loop->is_whole) {
    return stowi_onnx_lower_finish_results(l, stowi_onnx_loop_begin(loop), 0, l->result_count);
  }
  *l->imp->diag = kept;
  return stowi_onnx_loop_give_up(loop, reason);
}

stow_status stowi_onnx_lower_scan_batch(stowi_onnx_lowering* l) {
  if (l->operand_count <= FIRST_BATCHED) {
    return stowi_fail(l->imp->diag, STOW_ERR_SYNTAX, "needs an input to scan");
  }
  for (size_t k = FIRST_BATCHED; k < l->operand_count; ++k) {
    const stow_type* type = stowi_onnx_lower_type(l, k);
    if (type == NULL || type->rank == 0) {
      return stowi_fail(l->imp->diag, STOW_ERR_TYPE, "input %zu has no batch axis", k);
    }
  }
  STOW_TRY(check_lengths(l));
  stowi_onnx_looping loop = {
      .l = l, .condition = STOW_VALUE_NONE, .yield_count = 1 + l->result_count};
  STOW_TRY(dim_value(l, FIRST_BATCHED, 0, &loop.trip));
  return stowi_onnx_loop_run(&loop, run_batch);
}
