// Calls for all nodes, laid out once in five arrays: running a node then only fills in what
// changes. O(nodes + operands + attributes).
#include "exec/run/calls.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/diag.h"

stow_tensor stowi_exec_tensor_of(const stow_type* type) {
  stow_tensor tensor = {.dtype = type->dtype, .rank = type->rank};
  memcpy(tensor.dims, type->dims, sizeof(tensor.dims));
  return tensor;
}

stow_type stowi_exec_type_of(const stow_tensor* tensor) {
  return stow_type_make(tensor->dtype, tensor->rank, tensor->dims);
}

size_t stowi_exec_dtype_alignment(stow_dtype dtype) {
  size_t bytes = stow_dtype_bits(dtype) / 8;
  return bytes < 1 ? 1 : (bytes > 8 ? 8 : bytes);
}

// ---------------------------------------------------------------------------------------------
// Attributes

static const stow_attr* find_given(const stow_graph* graph, stow_node node, stow_str name) {
  for (size_t i = 0; i < stow_graph_attr_count(graph, node); ++i) {
    const stow_attr* attr = stow_graph_attr_at(graph, node, i);
    if (stow_str_equal(attr->name, name)) {
      return attr;
    }
  }
  return NULL;
}

// Writes the node's attributes to |out| (NULL: none), as given, then defaults; returns how many.
static size_t list_attrs(const stow_graph* graph, stow_node node, stow_attr* out) {
  const stow_ops* ops = stow_graph_ops(graph);
  stow_op op = stow_graph_op(graph, node);
  size_t count = stow_graph_attr_count(graph, node);
  for (size_t i = 0; out != NULL && i < count; ++i) {
    out[i] = *stow_graph_attr_at(graph, node, i);
  }
  for (size_t i = 0; i < stow_ops_attr_count(ops, op); ++i) {
    bool is_required;
    const stow_attr* attr = stow_ops_attr(ops, op, i, &is_required);
    if (is_required || find_given(graph, node, attr->name) != NULL) {
      continue;
    }
    if (out != NULL) {
      out[count] = *attr;
    }
    ++count;
  }
  return count;
}

// ---------------------------------------------------------------------------------------------
// Tables

_Alignas(64) unsigned char stowi_exec_nothing[64];

static void fill_node(stowi_exec_calls* calls, const stow_graph* graph, stow_node node,
                      const stow_tensor** operands, stow_attr* attrs) {
  size_t operand_count = stow_graph_operand_count(graph, node);
  size_t result_count = stow_graph_result_count(graph, node);
  for (size_t k = 0; k < operand_count; ++k) {
    stow_value operand = stow_graph_operands(graph, node)[k];
    operands[k] = operand == STOW_VALUE_NONE ? NULL : &calls->tensors[operand];
  }
  calls->calls[node] = (stow_kernel_call){
      .struct_size = sizeof(stow_kernel_call),
      .op = stow_graph_op(graph, node),
      .operand_count = operand_count,
      .operands = operands,
      .result_count = result_count,
      .results = result_count == 0 ? calls->results
                                   : &calls->results[stow_graph_first_result(graph, node)],
      .attr_count = list_attrs(graph, node, attrs),
      .attrs = attrs,
      .scratch = stowi_exec_nothing,
      .workers = 1,
  };
}

stow_status stowi_exec_calls_init(stowi_exec_calls* calls, const stow_graph* graph,
                                  stow_allocator allocator, stow_diag* diag) {
  *calls = (stowi_exec_calls){.allocator = allocator,
                              .value_count = stow_graph_value_count(graph),
                              .node_count = stow_graph_node_count(graph)};
  for (stow_node node = 0; node < calls->node_count; ++node) {
    calls->operand_count += stow_graph_operand_count(graph, node);
    calls->attr_count += list_attrs(graph, node, NULL);
  }
  calls->tensors = STOWI_ARRAY(allocator, stow_tensor, calls->value_count);
  calls->results = STOWI_ARRAY(allocator, stow_tensor*, calls->value_count);
  calls->operands = STOWI_ARRAY(allocator, const stow_tensor*, calls->operand_count);
  calls->attrs = STOWI_ARRAY(allocator, stow_attr, calls->attr_count);
  calls->calls = STOWI_ARRAY(allocator, stow_kernel_call, calls->node_count);
  if (calls->tensors == NULL || calls->results == NULL || calls->operands == NULL ||
      calls->attrs == NULL || calls->calls == NULL) {
    return stowi_fail_memory(diag);
  }
  for (stow_value value = 0; value < calls->value_count; ++value) {
    calls->tensors[value] = stowi_exec_tensor_of(stow_graph_type(graph, value));
    calls->results[value] = &calls->tensors[value];
  }
  const stow_tensor** operands = calls->operands;
  stow_attr* attrs = calls->attrs;
  for (stow_node node = 0; node < calls->node_count; ++node) {
    fill_node(calls, graph, node, operands, attrs);
    operands += calls->calls[node].operand_count;
    attrs += calls->calls[node].attr_count;
  }
  return STOW_OK;
}

void stowi_exec_calls_free(stowi_exec_calls* calls) {
  STOWI_ARRAY_FREE(calls->allocator, calls->tensors, calls->value_count);
  STOWI_ARRAY_FREE(calls->allocator, calls->results, calls->value_count);
  STOWI_ARRAY_FREE(calls->allocator, calls->operands, calls->operand_count);
  STOWI_ARRAY_FREE(calls->allocator, calls->attrs, calls->attr_count);
  STOWI_ARRAY_FREE(calls->allocator, calls->calls, calls->node_count);
}

// ---------------------------------------------------------------------------------------------
// In words

stowi_exec_words stowi_exec_words_value(const stow_graph* graph, stow_value value) {
  stowi_exec_words label;
  stow_str name = stow_graph_value_name(graph, value);
  if (name.size == 0) {
    (void)snprintf(label.text, sizeof(label.text), "%%%" PRIu32, value);
  } else {
    (void)snprintf(label.text, sizeof(label.text), "%%%" PRIu32 " \"%.*s\"", value,
                   STOWI_STR_ARG(name));
  }
  return label;
}

stowi_exec_words stowi_exec_words_node(const stow_graph* graph, stow_node node) {
  stowi_exec_words label;
  stow_str name = {NULL, 0};
  if (stow_graph_result_count(graph, node) != 0) {
    name = stow_graph_value_name(graph, stow_graph_first_result(graph, node));
  }
  const char* op = stow_graph_op_desc(graph, node)->name;
  if (name.size == 0) {
    (void)snprintf(label.text, sizeof(label.text), "node %" PRIu32 " (%s)", node, op);
  } else {
    (void)snprintf(label.text, sizeof(label.text), "node %" PRIu32 " \"%.*s\" (%s)", node,
                   (int)(name.size < 100 ? name.size : 100), name.data, op);
  }
  return label;
}

stowi_exec_words stowi_exec_words_tensor(const stow_tensor* tensor) {
  stowi_exec_words label;
  size_t room = sizeof(label.text);
  size_t at = (size_t)snprintf(label.text, room, "%s[", stow_dtype_name(tensor->dtype));
  for (uint32_t i = 0; i < tensor->rank && i < STOW_MAX_RANK && at + 32 < room; ++i) {
    at += (size_t)snprintf(label.text + at, room - at, "%s%" PRId64, i == 0 ? "" : ", ",
                           tensor->dims[i]);
  }
  (void)snprintf(label.text + at, room - at, "]");
  return label;
}
