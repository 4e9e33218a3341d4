// Loop as the core's `loop`, and what Scan shares with it.
//
// Where a body cannot be imported, or a carried value changes its type, the loop that is left
// behind carries its values around unchanged, and what the node makes is poisoned.
#include "onnx/lower/loop.h"

enum { LEADING = STOWI_ONNX_LOOP_LEADING };

static stow_graph* graph_of(const stowi_onnx_looping* loop) { return loop->l->imp->graph; }

static const stow_type* type_of(const stowi_onnx_looping* loop, stow_value value) {
  return stow_graph_type(graph_of(loop), value);
}

stow_status stowi_onnx_lower_scalar(stowi_onnx_lowering* l, stow_value value,
                                    stow_value* out_value) {
  *out_value = value;
  if (value == STOW_VALUE_NONE) {
    return STOW_OK;
  }
  stow_type type = *stow_graph_type(l->imp->graph, value);
  if (type.rank == 0) {
    return STOW_OK;
  }
  type = stow_type_make(type.dtype, 0, NULL);
  stow_call* call = stowi_onnx_lower_begin(l, STOW_OP_RESHAPE);
  stow_call_operand(call, value);
  stow_call_result_type(call, &type);
  return stowi_onnx_lower_finish(l, call, out_value);
}

// ---------------------------------------------------------------------------------------------
// The body

static stow_status name_arg(stowi_onnx_looping* loop, stow_call* call, size_t k, stow_str text) {
  stow_str name;
  if (text.size == 0) {
    return STOW_OK;
  }
  STOW_TRY(stowi_import_fresh_name(loop->l->imp, text, &name));
  stow_call_name(call, k, name);
  return STOW_OK;
}

stow_status stowi_onnx_loop_add_args(stowi_onnx_looping* loop, const stowi_onnx_value_info* carried,
                                     const stowi_onnx_value_info* leading) {
  stow_graph* graph = graph_of(loop);
  stow_type round = stow_type_make(STOW_I64, 0, NULL);
  stow_type condition = stow_type_make(STOW_BOOL, 0, NULL);
  stow_call* call = stow_graph_begin(graph, STOW_OP_ARGS);
  stow_call_result_type(call, &round);
  stow_call_result_type(call, &condition);
  for (size_t i = 0; leading != NULL && i < LEADING; ++i) {
    STOW_TRY(name_arg(loop, call, i, leading[i].name));
  }
  for (size_t i = 0; i < loop->carried; ++i) {
    stow_type type = *stowi_onnx_lower_type(loop->l, loop->first_init + i);
    stow_call_result_type(call, &type);
    stow_value init = stowi_onnx_lower_operand(loop->l, loop->first_init + i);
    for (uint32_t axis = 0; axis < type.rank; ++axis) {
      if (stow_graph_is_bounded_dim(graph, init, axis)) {
        stow_call_bounded_dim(call, LEADING + i, axis);
      }
    }
    STOW_TRY(name_arg(loop, call, LEADING + i, carried[i].name));
  }
  stow_node node;
  STOW_TRY(stow_call_finish(call, loop->l->imp->diag, &node));
  loop->args = stow_graph_first_result(graph, node);
  return STOW_OK;
}

stow_status stowi_onnx_loop_bind_args(stowi_onnx_looping* loop, const stowi_onnx_value_info* infos,
                                      size_t first, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    STOW_TRY(stowi_import_bind(loop->l->imp, infos[i].name, loop->args + (stow_value)(first + i),
                               STOWI_IMPORT_VALUE));
  }
  return STOW_OK;
}

// Whether two dims are different numbers whatever their symbols are. One that is too large to be
// computed is not; what ran out of memory is left in the status of |dims|.
static bool differ(stow_dims* dims, stow_dim a, stow_dim b) {
  int64_t distance = 0;
  if (a != b && !stow_dim_to_int(dims, stow_dim_sub(dims, a, b), &distance) &&
      stow_dims_status(dims) != STOW_ERR_OUT_OF_MEMORY) {
    stow_dims_clear_status(dims);
  }
  return distance != 0;
}

// Whether a carried value certainly has another type after a round.
static bool is_changed(const stowi_onnx_looping* loop, size_t i) {
  const stow_type* before = type_of(loop, loop->args + (stow_value)(LEADING + i));
  const stow_type* after = type_of(loop, loop->yields[1 + i]);
  bool is = before->dtype != after->dtype || before->rank != after->rank;
  for (uint32_t axis = 0; !is && axis < before->rank; ++axis) {
    is = differ(stow_graph_edit_dims(graph_of(loop)), before->dims[axis], after->dims[axis]);
  }
  return is;
}

// The first carried value whose type the body changes, or |carried|. Where only the values of
// symbols will tell, it has the initial one, and binding checks again.
static size_t find_changed(const stowi_onnx_looping* loop) {
  size_t i = 0;
  while (i < loop->carried && !is_changed(loop, i)) {
    ++i;
  }
  return i;
}

// Ends the region; a body that is not whole gives back what it was given.
static stow_status end_body(stowi_onnx_looping* loop) {
  stowi_import_importer* imp = loop->l->imp;
  for (size_t i = 0; !loop->is_whole && i < 1 + loop->carried; ++i) {
    loop->yields[i] = loop->args + (stow_value)(1 + i);
  }
  size_t count = loop->is_whole ? loop->yield_count : 1 + loop->carried;
  return stow_graph_end_region(imp->graph, loop->yields, count, imp->diag);
}

stow_call* stowi_onnx_loop_begin(stowi_onnx_looping* loop) {
  stow_call* call = stowi_onnx_lower_begin(loop->l, STOW_OP_LOOP);
  stow_call_operand(call, loop->trip);
  stow_call_operand(call, loop->condition);
  for (size_t i = 0; i < loop->carried; ++i) {
    stow_call_operand(call, stowi_onnx_lower_operand(loop->l, loop->first_init + i));
  }
  return call;
}

stow_status stowi_onnx_loop_close(stowi_onnx_looping* loop, stow_status* out_reason) {
  stowi_onnx_lowering* l = loop->l;
  *out_reason = STOW_OK;
  size_t changed = loop->is_whole ? find_changed(loop) : loop->carried;
  if (stow_dims_status(stow_graph_dims(graph_of(loop))) == STOW_ERR_OUT_OF_MEMORY) {
    return stowi_import_memory(l->imp);
  }
  if (changed != loop->carried) {
    stow_value arg = loop->args + (stow_value)(LEADING + changed);
    stowi_import_type_text before = stowi_import_type_text_of(graph_of(loop), type_of(loop, arg));
    stowi_import_type_text after =
        stowi_import_type_text_of(graph_of(loop), type_of(loop, loop->yields[1 + changed]));
    loop->is_whole = false;
    *out_reason = stowi_onnx_lower_unsupported(
        l,
        "\"%.*s\" is %s before an iteration and %s after it; types that change are not supported",
        STOWI_STR_ARG(l->node->inputs[loop->first_init + changed]), before.text, after.text);
  }
  return end_body(loop);
}

stow_status stowi_onnx_loop_give_up(stowi_onnx_looping* loop, stow_status reason) {
  stow_diag kept = *loop->l->imp->diag;
  stow_value unused;
  STOW_TRY(stowi_onnx_lower_finish(loop->l, stowi_onnx_loop_begin(loop), &unused));
  *loop->l->imp->diag = kept;
  return reason;
}

stow_status stowi_onnx_loop_run(stowi_onnx_looping* loop,
                                stow_status (*run)(stowi_onnx_looping* loop)) {
  stow_allocator allocator = loop->l->imp->allocator;
  for (size_t i = 0; i < loop->carried; ++i) {
    if (stowi_onnx_lower_operand(loop->l, loop->first_init + i) == STOW_VALUE_NONE) {
      return stowi_fail(loop->l->imp->diag, STOW_ERR_SYNTAX, "carried value %zu is absent", i);
    }
  }
  size_t room =
      loop->yield_count < LEADING + loop->carried ? LEADING + loop->carried : loop->yield_count;
  loop->yields = STOWI_ARRAY(allocator, stow_value, room);
  if (loop->yields == NULL) {
    return stowi_import_memory(loop->l->imp);
  }
  stowi_import_scope scope = stowi_import_enter(loop->l->imp, false);
  stow_status status = stow_graph_begin_region(graph_of(loop), loop->l->imp->diag);
  status = status == STOW_OK ? run(loop) : status;
  stowi_import_leave(loop->l->imp, scope);
  STOWI_ARRAY_FREE(allocator, loop->yields, room);
  return status;
}

// ---------------------------------------------------------------------------------------------
// Loop

static bool is_known_true(const stow_graph* graph, stow_value value) {
  int64_t number = 0;
  return stow_graph_is_known(graph, value) && stow_graph_known_int(graph, value, 0, &number) &&
         number != 0;
}

static stow_status run_body(stowi_onnx_looping* loop) {
  stowi_onnx_lowering* l = loop->l;
  const stowi_onnx_graph* body = loop->body;
  stow_status reason;
  STOW_TRY(stowi_onnx_loop_add_args(loop, body->inputs + LEADING, body->inputs));
  STOW_TRY(stowi_onnx_loop_bind_args(loop, body->inputs, 0, LEADING + loop->carried));
  STOW_TRY(stowi_onnx_import_inner(l->onnx, body, loop->yields));
  loop->is_whole = stowi_onnx_are_whole(loop->yields, loop->yield_count);
  if (loop->is_whole) {
    // A condition that always holds is left off: then the number of iterations is the trip count.
    const stow_graph* graph = graph_of(loop);
    bool starts = loop->condition == STOW_VALUE_NONE || is_known_true(graph, loop->condition);
    bool goes_on = loop->yields[0] == loop->args + 1 || is_known_true(graph, loop->yields[0]);
    if (starts && goes_on && loop->trip != STOW_VALUE_NONE) {
      loop->condition = STOW_VALUE_NONE;
    }
    STOW_TRY(stowi_onnx_lower_scalar(l, loop->yields[0], &loop->yields[0]));
  }
  STOW_TRY(stowi_onnx_loop_close(loop, &reason));
  if (!loop->is_whole) {
    return stowi_onnx_loop_give_up(loop, reason);
  }
  return stowi_onnx_lower_finish_results(l, stowi_onnx_loop_begin(loop), 0, loop->yield_count - 1);
}

stow_status stowi_onnx_lower_loop(stowi_onnx_lowering* l) {
  const stowi_onnx_graph* body = stowi_onnx_lower_subgraph(l, "body");
  size_t carried = l->operand_count < LEADING ? 0 : l->operand_count - LEADING;
  if (body == NULL || body->input_count != LEADING + carried || body->output_count < 1 + carried ||
      body->output_count - 1 < l->result_count) {
    return stowi_fail(l->imp->diag, STOW_ERR_TYPE,
                      "the body's inputs and outputs do not fit the node's");
  }
  if (stowi_onnx_lower_operand(l, 0) == STOW_VALUE_NONE &&
      stowi_onnx_lower_operand(l, 1) == STOW_VALUE_NONE) {
    return stowi_onnx_lower_unsupported(
        l, "it has neither a trip count nor a condition, and so never ends");
  }
  stowi_onnx_looping loop = {.l = l,
                             .body = body,
                             .carried = carried,
                             .first_init = LEADING,
                             .yield_count = body->output_count};
  STOW_TRY(stowi_onnx_lower_scalar(l, stowi_onnx_lower_operand(l, 0), &loop.trip));
  STOW_TRY(stowi_onnx_lower_scalar(l, stowi_onnx_lower_operand(l, 1), &loop.condition));
  return stowi_onnx_loop_run(&loop, run_body);
}
