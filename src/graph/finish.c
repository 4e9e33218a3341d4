// Adds a described node: all checks, then room for everything, then counters, which cannot fail. A
// refused node leaves nothing but spare capacity and entries of the name index that point past the
// end, which cannot be found.
#include <stddef.h>
#include <string.h>

#include "base/diag.h"
#include "graph/dims/dims.h"
#include "graph/graph_internal.h"
#include "graph/shapes/call.h"

// ---------------------------------------------------------------------------------------------
// Position of the node

static bool is_first_in_region(const stow_graph* graph) {
  return graph->depth != 0 &&
         graph->regions.data[graph->frames[graph->depth].region].first == STOW_NODE_NONE;
}

static void check_place(stow_call* call) {
  const stow_graph* graph = call->graph;
  uint32_t closed = graph->frames[graph->depth].closed_count;
  size_t needed = call->desc->region_count;
  if (needed != 0 && closed != needed) {
    stowi_graph_call_fail(call, STOW_ERR_INVALID_ARGUMENT, "needs %zu region%s, got %u", needed,
                          needed == 1 ? "" : "s", (unsigned)closed);
  } else if (needed == 0 && closed != 0) {
    stowi_graph_call_fail(call, STOW_ERR_INVALID_ARGUMENT,
                          "owns no regions, but %u region(s) before it need an owner",
                          (unsigned)closed);
  } else if (call->op == STOW_OP_ARGS && !is_first_in_region(graph)) {
    stowi_graph_call_fail(call, STOW_ERR_INVALID_ARGUMENT, "must be the first node of a region");
  } else if (graph->depth != 0 && stowi_graph_is_boundary_op(call->op) &&
             call->op != STOW_OP_CONSTANT) {
    stowi_graph_call_fail(call, STOW_ERR_INVALID_ARGUMENT,
                          "cannot be inside a region; of boundary values only a constant can");
  }
}

// ---------------------------------------------------------------------------------------------
// Operands, attributes and the number of results

// "%s: takes 2 to 3 operands, got 1"; the same for results.
static void fail_count(stow_call* call, const char* verb, const char* resident, size_t least,
                       size_t most, size_t got) {
  if (most == STOW_ANY_COUNT) {
    stowi_graph_call_fail(call, STOW_ERR_TYPE, "%s at least %zu %s%s, got %zu", verb, least,
                          resident, least == 1 ? "" : "s", got);
  } else if (least == most) {
    stowi_graph_call_fail(call, STOW_ERR_TYPE, "%s %zu %s%s, got %zu", verb, least, resident,
                          least == 1 ? "" : "s", got);
  } else {
    stowi_graph_call_fail(call, STOW_ERR_TYPE, "%s %zu to %zu %ss, got %zu", verb, least, most,
                          resident, got);
  }
}

static void check_operands(stow_call* call) {
  const stow_op_desc* desc = call->desc;
  size_t count = call->operands.count;
  if (count < desc->min_operands || count > desc->max_operands) {
    fail_count(call, "takes", "operand", desc->min_operands, desc->max_operands, count);
    return;
  }
  for (size_t k = 0; k < desc->min_operands; ++k) {
    if (call->operands.data[k] == STOW_VALUE_NONE) {
      stowi_graph_call_fail(call, STOW_ERR_TYPE, "operand %zu is missing", k);
      return;
    }
  }
}

static void check_required_attrs(stow_call* call) {
  const stow_graph* graph = call->graph;
  size_t count = stow_ops_attr_count(graph->ops, call->op);
  for (size_t i = 0; i < count; ++i) {
    bool is_required = false;
    stow_str name = stow_ops_attr(graph->ops, call->op, i, &is_required)->name;
    if (is_required &&
        stowi_graph_find_attr(graph, call->attrs.data, call->attrs.count, name) == NULL) {
      stowi_graph_call_fail(call, STOW_ERR_INVALID_ARGUMENT, "needs attribute \"%.*s\"",
                            STOWI_STR_ARG(name));
      return;
    }
  }
}

// Without a declaration, an op with regions has as many results as its regions yield.
static size_t default_result_count(const stow_shape_call* shape) {
  const stow_op_desc* desc = shape->desc;
  size_t yields = stow_shape_yield_count(shape, 0);
  if (desc->region_kind == STOW_REGION_LOOP) {
    yields = yields < desc->carry.first_yield ? 0 : yields - desc->carry.first_yield;
    yields += desc->carry.first_result;
  }
  return desc->region_kind == STOW_REGION_NONE || yields < desc->min_results ? desc->min_results
                                                                             : yields;
}

static size_t choose_result_count(stow_call* call, const stow_shape_call* shape) {
  const stow_op_desc* desc = call->desc;
  size_t declared = call->declared.count;
  bool is_fixed = desc->min_results == desc->max_results;
  bool is_said = call->result_count != SIZE_MAX;
  size_t count = is_fixed        ? desc->min_results
                 : declared != 0 ? declared
                 : is_said       ? call->result_count
                                 : default_result_count(shape);
  if (count < desc->min_results || count > desc->max_results) {
    fail_count(call, "has", "result", desc->min_results, desc->max_results, count);
  } else if (!is_fixed && is_said && call->result_count != count) {
    fail_count(call, "has", "result", count, count, call->result_count);
  } else if (declared != 0 && declared != count) {
    fail_count(call, "needs", "result type", count, count, declared);
  } else if (desc->typing != STOW_TYPING_INFERRED && declared != count) {
    stowi_graph_call_fail(call, STOW_ERR_TYPE, "needs %zu declared result type%s, got none", count,
                          count == 1 ? "" : "s");
  }
  return count;
}

// A pending failure of dim arithmetic is reported for the node whose types the dims were made for.
static void check_dims(stow_call* call) {
  stow_dims* dims = call->graph->dims;
  stow_status status = stow_dims_status(dims);
  if (status != STOW_OK) {
    stowi_graph_call_fail(call, status, "a dim could not be computed: %s",
                          stow_status_text(status));
    stow_dims_clear_status(dims);
  }
}

// ---------------------------------------------------------------------------------------------
// Inference

static stow_shape_call shape_of_call(const stow_call* call) {
  const stow_graph* graph = call->graph;
  stow_shape_call shape;
  memset(&shape, 0, offsetof(stow_shape_call, reason));
  shape.reason[0] = '\0';
  shape.graph = graph;
  shape.dims = graph->dims;
  shape.types = graph->value_types.data;
  shape.op = call->op;
  shape.desc = call->desc;
  shape.operands = call->operands.data;
  shape.operand_count = call->operands.count;
  shape.attrs = call->attrs.data;
  shape.attr_count = call->attrs.count;
  shape.last_region = graph->frames[graph->depth].last_closed;
  shape.declared = call->declared.data;
  shape.declared_count = call->declared.count;
  shape.made = STOW_VALUE_NONE;
  shape.description = call;
  shape.known = &graph->known;
  return shape;
}

// Fails with the error that the call has kept.
static stow_status report(const stow_call* call, stow_diag* diag) {
  return call->error.status == STOW_OK
             ? STOW_OK
             : stowi_fail(diag, call->error.status, "%s", call->error.message);
}

// Checks the description and fills call->results.
static stow_status infer(stow_call* call, stow_diag* diag) {
  check_dims(call);
  STOW_TRY(report(call, diag));
  check_place(call);
  check_operands(call);
  check_required_attrs(call);
  STOW_TRY(report(call, diag));
  stow_shape_call shape = shape_of_call(call);
  size_t count = choose_result_count(call, &shape);
  STOW_TRY(report(call, diag));
  STOW_TRY(stowi_need_memory(
      STOWI_VEC_RESERVE(call->graph->allocator, &call->results, count) == STOW_OK &&
          STOWI_VEC_RESERVE(call->graph->allocator, &call->marks, count) == STOW_OK,
      diag));
  call->results.count = count;
  call->marks.count = count;
  shape.results = call->results.data;
  shape.marks = call->marks.data;
  shape.result_count = count;
  stow_status status = stowi_graph_shape_infer(&shape, true, diag);
  call->asked = shape.asked;
  return status;
}

// The arguments of a loop's body precede both its initial values and what it yields, so only now is
// it known which of them are upper-bounded; that may in turn change what is yielded. |mark|
// advances: the graph uses the dims made here.
static stow_status infer_with_args(stow_call* call, stowi_graph_dims_mark* mark, stow_diag* diag) {
  bool is_changed = true;
  while (is_changed) {
    STOW_TRY(infer(call, diag));
    stow_shape_call shape = shape_of_call(call);
    STOW_TRY(stowi_graph_bind_args(call->graph, &shape, &is_changed, diag));
    if (is_changed) {
      *mark = stowi_graph_dims_get_mark(call->graph->dims);
    }
  }
  return STOW_OK;
}

// Computes the known elements of the results; the last step that can fail.
static stow_status fold(const stow_call* call, stow_diag* diag) {
  stow_graph* graph = call->graph;
  size_t unused;
  if (!stowi_graph_known_can_fold(call->desc, call->results.data, call->results.count, &unused)) {
    return STOW_OK;  // true for most nodes; the call below is expensive
  }
  stow_shape_call shape = shape_of_call(call);
  shape.results = call->results.data;
  shape.marks = call->marks.data;
  shape.result_count = call->results.count;
  shape.declared = call->results.data;
  shape.declared_count = call->results.count;
  return stowi_graph_known_fold(&shape, &graph->known, (stow_value)graph->values.count, diag);
}

static bool has_data_operand(const stow_call* call) {
  const stow_graph* graph = call->graph;
  size_t k = 0;
  while (k < call->operands.count && (call->operands.data[k] == STOW_VALUE_NONE ||
                                      !graph->values.data[call->operands.data[k]].has_data)) {
    ++k;
  }
  return k < call->operands.count;
}

static void note_reads(const stow_call* call) {
  if (!has_data_operand(call)) {
    return;
  }
  stow_shape_call shape = shape_of_call(call);
  shape.result_count = call->results.count;
  shape.asked = call->asked;
  stowi_graph_known_note_reads(&shape, &call->graph->known, (stow_value)call->graph->values.count);
}

// ---------------------------------------------------------------------------------------------
// Committing

static bool has_room(size_t count, size_t extra, size_t limit) {
  return count < limit && extra < limit - count;
}

// Reserves room for everything that the node adds, so that adding it cannot fail.
static stow_status reserve(stow_call* call) {
  stow_graph* graph = call->graph;
  stow_allocator allocator = graph->allocator;
  size_t results = call->results.count;
  size_t attrs = call->attrs.count + call->withs.count;
  if (!has_room(graph->nodes.count, 1, STOWI_GRAPH_ID_LIMIT) ||
      !has_room(graph->values.count, results, STOWI_GRAPH_ID_LIMIT) ||
      !has_room(graph->operands.count, call->operands.count, STOWI_GRAPH_ID_LIMIT) ||
      !has_room(graph->node_attrs.count, attrs, STOWI_GRAPH_ID_LIMIT) ||
      !has_room(graph->names.count, call->names.count, STOWI_GRAPH_NAME_NONE)) {
    return STOW_ERR_LIMIT;
  }
  STOW_TRY(STOWI_VEC_RESERVE(allocator, &graph->nodes, 1));
  STOW_TRY(STOWI_VEC_RESERVE(allocator, &graph->values, results));
  STOW_TRY(STOWI_VEC_RESERVE(allocator, &graph->value_types, results));
  STOW_TRY(STOWI_VEC_RESERVE(allocator, &graph->operands, call->operands.count));
  STOW_TRY(STOWI_VEC_RESERVE(allocator, &graph->node_attrs, attrs));
  STOW_TRY(STOWI_VEC_RESERVE(allocator, &graph->names, call->names.count));
  STOW_TRY(STOWI_VEC_RESERVE(allocator, &graph->known.is_read, 1));
  return STOWI_VEC_RESERVE(allocator, &graph->data, 1);
}

// Adds the dims that the caller marks as upper bounds to those that the op does.
static void take_bounded(stow_call* call) {
  for (size_t i = 0; i < call->bounded.count && stowi_graph_call_is_well(call); ++i) {
    stowi_graph_bounded_dims dims = call->bounded.data[i];
    if (dims.result >= call->results.count) {
      stowi_graph_call_fail(call, STOW_ERR_INVALID_ARGUMENT,
                            "marks result %zu as bounded, out of range (%zu results)", dims.result,
                            call->results.count);
      continue;
    }
    uint32_t rank = call->results.data[dims.result].rank;
    bool is_every = dims.axis == STOWI_GRAPH_EVERY_AXIS;
    if (!is_every && dims.axis >= rank) {
      stowi_graph_call_fail(call, STOW_ERR_INVALID_ARGUMENT,
                            "marks dim %u of result %zu as bounded, out of range (rank %u)",
                            (unsigned)dims.axis, dims.result, (unsigned)rank);
      continue;
    }
    uint32_t axes = is_every ? stowi_graph_axes_below(rank) : UINT32_C(1) << dims.axis;
    call->marks.data[dims.result].bounded |= (stowi_graph_axes)axes;
  }
}

// Writes the results' records behind the values; they are not counted until the end.
static stow_status write_results(stow_call* call) {
  stow_graph* graph = call->graph;
  size_t first = graph->values.count;
  take_bounded(call);
  for (size_t k = 0; k < call->results.count; ++k) {
    graph->values.data[first + k] = (stowi_graph_value){
        .producer = (stow_node)graph->nodes.count,
        .name = STOWI_GRAPH_NAME_NONE,
        .bounded = call->marks.data[k].bounded,
        .data_dependent = call->marks.data[k].data,
        .has_data = call->has_data && call->data.bytes != NULL,
    };
    STOW_TRY(stowi_graph_intern_type(&graph->types, &graph->pool, graph->allocator,
                                     &call->results.data[k], &graph->value_types.data[first + k]));
  }
  return STOW_OK;
}

// Looks up names, including those of results that are not counted yet.
static bool has_pending_name(const void* context, uint32_t id, const void* key) {
  const stow_call* call = (const stow_call*)context;
  const stow_graph* graph = call->graph;
  if (id >= graph->values.count + call->results.count) {
    return false;
  }
  uint32_t name = graph->values.data[id].name;
  return name != STOWI_GRAPH_NAME_NONE &&
         stow_str_equal(graph->names.data[name], *(const stow_str*)key);
}

static stow_status write_names(stow_call* call) {
  if (stowi_graph_is_boundary_op(call->op) && call->names.count == 0) {
    stowi_graph_call_fail(call, STOW_ERR_INVALID_ARGUMENT, "needs a name");
  }
  for (size_t i = 0; i < call->names.count && stowi_graph_call_is_well(call); ++i) {
    // Gives the |i|-th named result its name.
    stow_graph* graph = call->graph;
    const stowi_graph_result_name* entry = &call->names.data[i];
    if (entry->result >= call->results.count) {
      stowi_graph_call_fail(call, STOW_ERR_INVALID_ARGUMENT,
                            "names result %zu, out of range (%zu results)", entry->result,
                            call->results.count);
      continue;
    }
    stow_str name = entry->name;
    uint64_t hash = stowi_hash_bytes(STOWI_HASH_SEED, name.data, name.size);
    uint32_t taken = stowi_index_find(&graph->by_name, hash, has_pending_name, call, &name);
    size_t id = graph->values.count + entry->result;
    if (taken != STOWI_INDEX_NONE || graph->values.data[id].name != STOWI_GRAPH_NAME_NONE) {
      stowi_graph_call_fail(call, STOW_ERR_DUPLICATE, "the name \"%.*s\" is taken by %%%u",
                            STOWI_STR_ARG(name),
                            (unsigned)(taken == STOWI_INDEX_NONE ? id : taken));
      continue;
    }
    STOW_TRY(stowi_index_reserve(&graph->by_name, graph->allocator));
    graph->names.data[graph->names.count + i] = name;
    graph->values.data[id].name = (uint32_t)(graph->names.count + i) & STOWI_GRAPH_NAME_NONE;
    stowi_index_insert(&graph->by_name, hash, (uint32_t)id);
  }
  return STOW_OK;
}

// The owner takes the regions closed before it; open regions without a node get their first.
static void link_regions(stow_graph* graph, stow_node node, size_t owned) {
  stowi_graph_frame* frame = stowi_graph_frame_of(graph);
  for (size_t i = 0; i < owned; ++i) {
    stowi_graph_region* region = &graph->regions.data[frame->last_closed];
    region->owner = node;
    frame->last_closed = region->previous;
  }
  frame->closed_count -= (uint32_t)owned;
  for (uint32_t depth = graph->depth + 1; depth-- > 0;) {
    stowi_graph_region* region = &graph->regions.data[graph->frames[depth].region];
    if (region->first != STOW_NODE_NONE) {
      break;
    }
    region->first = node;
  }
}

static void append_all(uint32_t* to, size_t* count, const uint32_t* from, size_t extra) {
  if (extra != 0) {
    memcpy(to + *count, from, extra * sizeof(*from));
    *count += extra;
  }
}

// Records what new symbols stand for. Only declared types and data-dependent dims introduce any.
static void settle_symbols(const stow_call* call) {
  for (size_t k = 0; k < call->results.count; ++k) {
    const stow_type* type = &call->results.data[k];
    uint32_t data = (uint32_t)call->marks.data[k].data | call->marks.data[k].bounded;
    bool has_new = data != 0 || call->declared.count != 0;
    for (uint32_t i = 0; has_new && i < type->rank; ++i) {
      stowi_graph_dim_settle(call->graph->dims, type->dims[i], (data >> i & 1) != 0);
    }
  }
}

static stow_node commit(stow_call* call) {
  stow_graph* graph = call->graph;
  stow_node node = (stow_node)graph->nodes.count;
  stowi_graph_node* record = &graph->nodes.data[node];
  record->op = call->op;
  record->first_operand = (uint32_t)graph->operands.count;
  record->first_result = (stow_value)graph->values.count;
  record->first_attr = (uint32_t)graph->node_attrs.count;
  record->first_with = record->first_attr + (uint32_t)call->attrs.count;
  record->region = stowi_graph_frame_of(graph)->region;
  record->line = call->line;
  append_all(graph->operands.data, &graph->operands.count, call->operands.data,
             call->operands.count);
  append_all(graph->node_attrs.data, &graph->node_attrs.count, call->attrs.data, call->attrs.count);
  append_all(graph->node_attrs.data, &graph->node_attrs.count, call->withs.data, call->withs.count);
  if (call->has_data) {
    call->data.value = record->first_result;
    graph->data.data[graph->data.count++] = call->data;
    graph->known.is_read.data[graph->known.is_read.count++] = false;
    call->has_data = false;
  }
  graph->names.count += call->names.count;
  graph->values.count += call->results.count;
  graph->value_types.count += call->results.count;
  ++graph->nodes.count;
  settle_symbols(call);
  link_regions(graph, node, call->desc->region_count);
  return node;
}

static stow_status finish(stow_call* call, stowi_graph_dims_mark* mark, stow_diag* diag,
                          stow_node* out_node) {
  if (!call->is_open) {
    return stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT, "no call is open; it has been finished");
  }
  STOW_TRY(infer_with_args(call, mark, diag));
  if (stowi_graph_is_boundary_op(call->op)) {
    stowi_graph_call_take_data(call, &call->results.data[0]);
  }
  stow_status status = reserve(call);
  status = status == STOW_OK ? write_results(call) : status;
  status = status == STOW_OK ? write_names(call) : status;
  if (status != STOW_OK) {
    stowi_graph_call_fail(call, status, "%s", stow_status_text(status));
  }
  STOW_TRY(report(call, diag));
  STOW_TRY(fold(call, diag));
  note_reads(call);
  stow_node node = commit(call);
  if (out_node != NULL) {
    *out_node = node;
  }
  return STOW_OK;
}

stow_status stow_call_infer(stow_call* call, stow_diag* diag, const stow_type** out_types,
                            size_t* out_count) {
  *out_types = NULL;
  *out_count = 0;
  if (!call->is_open) {
    return stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT, "no call is open; it has been finished");
  }
  stowi_graph_dims_mark mark = stowi_graph_dims_get_mark(call->graph->dims);
  stow_status status = infer(call, diag);
  if (status != STOW_OK) {
    stowi_graph_dims_rewind(call->graph->dims, mark);
    return status;
  }
  *out_types = call->results.data;
  *out_count = call->results.count;
  return STOW_OK;
}

stow_status stow_call_finish(stow_call* call, stow_diag* diag, stow_node* out_node) {
  if (out_node != NULL) {
    *out_node = STOW_NODE_NONE;
  }
  stowi_graph_dims_mark mark = stowi_graph_dims_get_mark(call->graph->dims);
  stow_status status = finish(call, &mark, diag, out_node);
  if (status != STOW_OK) {
    stowi_graph_dims_rewind(call->graph->dims, mark);
    if (call->line != 0) {
      stowi_diag_at(diag, call->line, 0);
    }
  }
  stowi_graph_call_drop(call);
  return status;
}

// ---------------------------------------------------------------------------------------------
// Shorthands

static stow_status finish_value(stow_call* call, stow_diag* diag, stow_value* out_value) {
  stow_node node;
  STOW_TRY(stow_call_finish(call, diag, &node));
  if (out_value != NULL && stow_graph_result_count(call->graph, node) != 0) {
    *out_value = stow_graph_first_result(call->graph, node);
  }
  return STOW_OK;
}

static stow_status add_boundary(stow_graph* graph, stow_op op, const char* name,
                                const stow_type* type, stow_diag* diag, stow_value* out_value) {
  if (out_value != NULL) {
    *out_value = STOW_VALUE_NONE;
  }
  stow_call* call = stow_graph_begin(graph, op);
  stow_call_name(call, 0, stow_str_of(name));
  stow_call_result_type(call, type);
  return finish_value(call, diag, out_value);
}

stow_status stow_graph_input(stow_graph* graph, const char* name, const stow_type* type,
                             stow_diag* diag, stow_value* out_value) {
  return add_boundary(graph, STOW_OP_INPUT, name, type, diag, out_value);
}

stow_status stow_graph_param(stow_graph* graph, const char* name, const stow_type* type,
                             stow_diag* diag, stow_value* out_value) {
  return add_boundary(graph, STOW_OP_PARAM, name, type, diag, out_value);
}

stow_status stow_graph_constant(stow_graph* graph, const char* name, const stow_type* type,
                                stow_diag* diag, stow_value* out_value) {
  return add_boundary(graph, STOW_OP_CONSTANT, name, type, diag, out_value);
}

stow_status stow_graph_add(stow_graph* graph, stow_op op, const stow_value* operands,
                           size_t operand_count, stow_diag* diag, stow_value* out_value) {
  stow_call* call = stow_graph_begin(graph, op);
  for (size_t i = 0; i < operand_count; ++i) {
    stow_call_operand(call, operands[i]);
  }
  if (out_value != NULL) {
    *out_value = STOW_VALUE_NONE;  // only now: |out_value| may be one of the operands
  }
  return finish_value(call, diag, out_value);
}
