// Describes a node. Each call checks what it can and keeps the first error for stow_call_finish
// (finish.c), so that callers need to check only finish. The arrays are reused from node to node:
// no allocation per node.
#include <stdarg.h>
#include <stdio.h>

#include "base/diag.h"
#include "graph/dims/dims.h"
#include "graph/graph_internal.h"

bool stowi_graph_call_is_well(const stow_call* call) {
  return call->is_open && call->error.status == STOW_OK;
}

void stowi_graph_call_fail(stow_call* call, stow_status status, const char* format, ...) {
  if (!stowi_graph_call_is_well(call)) {
    return;
  }
  char reason[STOW_DIAG_MESSAGE_SIZE];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(reason, sizeof(reason), format, arguments);
  va_end(arguments);
  (void)stowi_fail(&call->error, status, "%s: %s",
                   call->desc == NULL ? "unknown op" : call->desc->name, reason);
}

// Fails the call if |status| is not STOW_OK: out of memory or of ids.
static void keep(stow_call* call, stow_status status) {
  if (status != STOW_OK) {
    stowi_graph_call_fail(call, status, "%s", stow_status_text(status));
  }
}

void stowi_graph_call_drop(stow_call* call) {
  if (call->has_data && call->data.is_owned) {
    stowi_free(call->graph->allocator, (void*)(uintptr_t)call->data.bytes, call->data.size, 1);
  }
  call->has_data = false;
  call->is_open = false;
}

void stowi_graph_call_free(stow_call* call) {
  if (call->graph == NULL) {
    return;
  }
  stow_allocator allocator = call->graph->allocator;
  stowi_graph_call_drop(call);
  STOWI_VEC_FREE(allocator, &call->operands);
  STOWI_VEC_FREE(allocator, &call->attrs);
  STOWI_VEC_FREE(allocator, &call->withs);
  STOWI_VEC_FREE(allocator, &call->declared);
  STOWI_VEC_FREE(allocator, &call->results);
  STOWI_VEC_FREE(allocator, &call->marks);
  STOWI_VEC_FREE(allocator, &call->names);
  STOWI_VEC_FREE(allocator, &call->bounded);
}

stow_call* stowi_graph_call_begin(stow_graph* graph, stow_op op) {
  stow_call* call = &graph->call;
  bool was_open = call->is_open;
  stowi_graph_call_drop(call);
  call->is_open = true;
  call->op = op;
  call->desc = stow_ops_get(graph->ops, op);
  call->line = 0;
  call->error.struct_size = sizeof(call->error);
  call->error.status = STOW_OK;
  call->operands.count = 0;
  call->attrs.count = 0;
  call->withs.count = 0;
  call->declared.count = 0;
  call->results.count = 0;
  call->marks.count = 0;
  call->names.count = 0;
  call->bounded.count = 0;
  call->result_count = SIZE_MAX;
  if (call->desc == NULL) {
    stowi_graph_call_fail(call, STOW_ERR_INVALID_ARGUMENT, "%u is not in the graph's op table",
                          (unsigned)op);
  }
  if (was_open) {
    stowi_graph_call_fail(call, STOW_ERR_CONFLICT,
                          "was begun while another call is open: finish or cancel that first");
  }
  return call;
}

void stow_graph_cancel(stow_graph* graph) { stowi_graph_call_drop(&graph->call); }

stow_call* stow_graph_begin(stow_graph* graph, stow_op op) {
  stow_call* call = stowi_graph_call_begin(graph, op);
  if (op == STOW_OP_YIELD) {
    stowi_graph_call_fail(call, STOW_ERR_INVALID_ARGUMENT,
                          "cannot be added by hand; stow_graph_end_region adds it");
  }
  return call;
}

// ---------------------------------------------------------------------------------------------
// Operands

// A value is visible while the region that made it is open.
static bool is_visible(const stow_graph* graph, stow_value value) {
  stow_region region = graph->nodes.data[graph->values.data[value].producer].region;
  return graph->regions.data[region].last == STOW_NODE_NONE;
}

void stow_call_operand(stow_call* call, stow_value operand) {
  if (!stowi_graph_call_is_well(call)) {
    return;
  }
  const stow_graph* graph = call->graph;
  size_t k = call->operands.count;
  if (operand != STOW_VALUE_NONE && operand >= graph->values.count) {
    stowi_graph_call_fail(call, STOW_ERR_INVALID_ARGUMENT,
                          "operand %zu is %%%u, which does not exist yet: the graph has %zu values",
                          k, (unsigned)operand, graph->values.count);
  } else if (operand != STOW_VALUE_NONE && !is_visible(graph, operand)) {
    stowi_graph_call_fail(
        call, STOW_ERR_INVALID_ARGUMENT,
        "operand %zu is %%%u, which is defined inside a region and not visible outside it", k,
        (unsigned)operand);
  } else {
    keep(call, STOWI_VEC_RESERVE(graph->allocator, &call->operands, 1));
  }
  if (stowi_graph_call_is_well(call)) {
    call->operands.data[call->operands.count++] = operand;
  }
}

// ---------------------------------------------------------------------------------------------
// Attributes

static const char* const kind_names[] = {
    "an integer",         "a float",          "a boolean",        "a string",
    "a list of integers", "a list of floats", "a list of strings"};

static bool is_kind(stow_attr_kind kind) {
  return (unsigned)kind < sizeof(kind_names) / sizeof(kind_names[0]);
}

// Interns |attr|, which is well-formed, and appends it to the list.
static void append_attr(stow_call* call, const stow_attr* attr, uint32_t** list, size_t* count,
                        size_t* capacity) {
  stow_graph* graph = call->graph;
  if (*count == STOW_MAX_ATTRS) {
    stowi_graph_call_fail(call, STOW_ERR_LIMIT, "has too many attributes, the maximum is %d",
                          STOW_MAX_ATTRS);
    return;
  }
  if (stowi_graph_find_attr(graph, *list, *count, attr->name) != NULL) {
    stowi_graph_call_fail(call, STOW_ERR_DUPLICATE, "attribute \"%.*s\" is given twice",
                          STOWI_STR_ARG(attr->name));
    return;
  }
  uint32_t id;
  keep(call, stowi_graph_intern_attr(&graph->attrs, &graph->pool, graph->allocator, attr, &id));
  keep(call,
       stowi_vec_reserve(graph->allocator, (void**)list, *count, capacity, sizeof(**list), 1));
  if (stowi_graph_call_is_well(call)) {
    (*list)[(*count)++] = id;
  }
}

// Whether the attribute is well-formed. An empty list of any kind is INTS.
static bool is_well_formed(stow_call* call, stow_attr* attr) {
  if (attr->name.size == 0 || !is_kind(attr->kind)) {
    stowi_graph_call_fail(call, STOW_ERR_INVALID_ARGUMENT, "an attribute has no name or no kind");
    return false;
  }
  if (stowi_graph_attr_is_list(attr->kind) && attr->count == 0) {
    attr->kind = STOW_ATTR_INTS;
  }
  return true;
}

// Inline data keeps the kind of list that it is written as.
static bool is_inline_data(const stow_call* call, const stow_attr* attr) {
  return stowi_graph_is_boundary_op(call->op) && stow_str_equal(attr->name, stow_str_of("data")) &&
         (attr->kind == STOW_ATTR_INTS || attr->kind == STOW_ATTR_FLOATS);
}

static bool has_kind(const stow_call* call, const stow_attr* attr, stow_attr_kind kind) {
  bool is_empty = attr->kind == STOW_ATTR_INTS && attr->count == 0;
  return attr->kind == kind || (is_empty && stowi_graph_attr_is_list(kind)) ||
         is_inline_data(call, attr);
}

// Appends a list of integers as one of floats.
static void append_as_floats(stow_call* call, const stow_attr* attr) {
  stow_allocator allocator = call->graph->allocator;
  double* floats = STOWI_ARRAY(allocator, double, attr->count);
  if (floats == NULL) {
    keep(call, STOW_ERR_OUT_OF_MEMORY);
    return;
  }
  for (size_t i = 0; i < attr->count; ++i) {
    floats[i] = (double)attr->ints[i];
  }
  stow_attr converted = {
      .name = attr->name, .kind = STOW_ATTR_FLOATS, .count = attr->count, .floats = floats};
  append_attr(call, &converted, &call->attrs.data, &call->attrs.count, &call->attrs.capacity);
  STOWI_ARRAY_FREE(allocator, floats, attr->count);
}

// Appends an attribute of the op's schema.
static void append_known(stow_call* call, stow_attr* attr, stow_attr_kind kind) {
  if (!has_kind(call, attr, kind) && attr->kind == STOW_ATTR_INTS && kind == STOW_ATTR_FLOATS) {
    append_as_floats(call, attr);
    return;
  }
  if (attr->kind == STOW_ATTR_INT && kind == STOW_ATTR_FLOAT) {
    attr->f = (double)attr->i;
    attr->kind = STOW_ATTR_FLOAT;
  }
  if (!has_kind(call, attr, kind)) {
    stowi_graph_call_fail(call, STOW_ERR_TYPE, "attribute \"%.*s\" must be %s, not %s",
                          STOWI_STR_ARG(attr->name), kind_names[kind], kind_names[attr->kind]);
    return;
  }
  append_attr(call, attr, &call->attrs.data, &call->attrs.count, &call->attrs.capacity);
}

void stow_call_attr(stow_call* call, const stow_attr* attr) {
  stow_attr given = *attr;
  if (!stowi_graph_call_is_well(call) || !is_well_formed(call, &given)) {
    return;
  }
  const stow_attr* schema = stowi_graph_find_schema(call->graph->ops, call->op, given.name, NULL);
  if (schema != NULL) {
    append_known(call, &given, schema->kind);
  } else if (call->desc->any_attrs) {
    append_attr(call, &given, &call->attrs.data, &call->attrs.count, &call->attrs.capacity);
  } else {
    stowi_graph_call_fail(call, STOW_ERR_INVALID_ARGUMENT, "has no attribute \"%.*s\"",
                          STOWI_STR_ARG(given.name));
  }
}

void stow_call_with(stow_call* call, const stow_attr* attr) {
  stow_attr given = *attr;
  if (stowi_graph_call_is_well(call) && is_well_formed(call, &given)) {
    append_attr(call, &given, &call->withs.data, &call->withs.count, &call->withs.capacity);
  }
}

// ---------------------------------------------------------------------------------------------
// Results

// STOW_OK if |type| is valid for a result; otherwise why not.
static stow_status check_type(const stow_graph* graph, const stow_type* type) {
  if ((unsigned)type->dtype >= STOW_DTYPE_COUNT || type->rank > STOW_MAX_RANK) {
    return STOW_ERR_INVALID_ARGUMENT;
  }
  for (uint32_t i = 0; i < type->rank; ++i) {
    if (!stowi_graph_dim_is_valid(graph->dims, type->dims[i])) {
      stow_status status = stow_dims_status(graph->dims);
      return status == STOW_OK ? STOW_ERR_INVALID_ARGUMENT : status;
    }
  }
  return STOW_OK;
}

void stow_call_result_type(stow_call* call, const stow_type* type) {
  if (!stowi_graph_call_is_well(call)) {
    return;
  }
  stow_status status = check_type(call->graph, type);
  if (status != STOW_OK) {
    stowi_graph_call_fail(call, status,
                          "declared type %zu has a rank, dtype or dim that is out of range: %s",
                          call->declared.count, stow_status_text(status));
    return;
  }
  keep(call, STOWI_VEC_RESERVE(call->graph->allocator, &call->declared, 1));
  if (stowi_graph_call_is_well(call)) {
    call->declared.data[call->declared.count++] =
        stow_type_make(type->dtype, type->rank, type->dims);
  }
}

void stow_call_name(stow_call* call, size_t k, stow_str name) {
  if (!stowi_graph_call_is_well(call) || name.size == 0) {
    return;
  }
  stow_graph* graph = call->graph;
  stowi_graph_result_name entry = {k, {NULL, 0}};
  keep(call, STOWI_VEC_RESERVE(graph->allocator, &call->names, 1));
  keep(call, stowi_pool_copy_str(&graph->pool, graph->allocator, name, &entry.name));
  if (stowi_graph_call_is_well(call)) {
    call->names.data[call->names.count++] = entry;
  }
}

void stow_call_result_count(stow_call* call, size_t count) { call->result_count = count; }

static void mark_bounded(stow_call* call, stowi_graph_bounded_dims dims) {
  if (!stowi_graph_call_is_well(call)) {
    return;
  }
  keep(call, STOWI_VEC_RESERVE(call->graph->allocator, &call->bounded, 1));
  if (stowi_graph_call_is_well(call)) {
    call->bounded.data[call->bounded.count++] = dims;
  }
}

void stow_call_bounded(stow_call* call, size_t k) {
  mark_bounded(call, (stowi_graph_bounded_dims){k, STOWI_GRAPH_EVERY_AXIS});
}

void stow_call_bounded_dim(stow_call* call, size_t k, uint32_t axis) {
  // past all ranks if it means every one, so that it is refused
  axis = axis == STOWI_GRAPH_EVERY_AXIS ? axis - 1 : axis;
  mark_bounded(call, (stowi_graph_bounded_dims){k, axis});
}

void stow_call_line(stow_call* call, uint32_t line) { call->line = line; }
