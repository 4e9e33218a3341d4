// The graph's storage and getters.
//
// A graph is a few growing arrays: one record per node and per value, pools of operand ids and of
// attribute numbers that records point into, and tables of distinct types and attributes
// (intern.c). A node's operands, results and attributes end where the next node's begin, so no
// counts are stored. That is 28 bytes per node, 12 per value and 4 per operand: a million nodes fit
// in about 50 MB. Getters are O(1), except attributes by name (linear in the node's attributes) and
// data (binary search).
#include "base/diag.h"
#include "graph/api.h"
#include "graph/dims/dims.h"
#include "graph/graph_internal.h"
#include "graph/known.h"

static stow_status init_graph(stow_graph* graph, stow_str name) {
  graph->dims = stowi_graph_dims_create(graph->allocator);
  if (graph->dims == NULL) {
    return STOW_ERR_OUT_OF_MEMORY;
  }
  STOW_TRY(STOWI_VEC_RESERVE(graph->allocator, &graph->regions, 1));
  graph->regions.data[graph->regions.count++] = (stowi_graph_region){
      STOW_NODE_NONE, STOW_REGION_ID_NONE, STOW_REGION_ID_NONE, STOW_NODE_NONE, STOW_NODE_NONE};
  graph->frames[0] = (stowi_graph_frame){STOW_REGION_BODY, STOW_REGION_ID_NONE, 0};
  graph->call.graph = graph;
  return stowi_pool_copy_str(&graph->pool, graph->allocator, name, &graph->name);
}

stow_status stow_graph_create(stow_str name, const stow_ops* ops, stow_allocator allocator,
                              stow_diag* diag, stow_graph** out_graph) {
  *out_graph = NULL;
  stow_graph* graph = STOWI_NEW(allocator, stow_graph);
  STOW_TRY(stowi_need_memory(graph != NULL, diag));
  graph->allocator = allocator;
  graph->ops = ops;
  if (init_graph(graph, name) != STOW_OK) {
    stow_graph_destroy(graph);
    return stowi_fail_memory(diag);
  }
  *out_graph = graph;
  return STOW_OK;
}

void stow_graph_destroy(stow_graph* graph) {
  if (graph == NULL) {
    return;
  }
  stow_allocator allocator = graph->allocator;
  stowi_graph_call_free(&graph->call);
  for (size_t i = 0; i < graph->data.count; ++i) {
    const stowi_graph_data* data = &graph->data.data[i];
    if (data->is_owned) {
      stowi_free(allocator, (void*)(uintptr_t)data->bytes, data->size, 1);
    }
  }
  for (size_t i = 0; i < graph->functions.count; ++i) {
    stow_graph_destroy(graph->functions.data[i]);
  }
  STOWI_VEC_FREE(allocator, &graph->functions);
  STOWI_VEC_FREE(allocator, &graph->nodes);
  STOWI_VEC_FREE(allocator, &graph->operands);
  STOWI_VEC_FREE(allocator, &graph->node_attrs);
  STOWI_VEC_FREE(allocator, &graph->values);
  STOWI_VEC_FREE(allocator, &graph->value_types);
  STOWI_VEC_FREE(allocator, &graph->names);
  STOWI_VEC_FREE(allocator, &graph->data);
  stowi_graph_known_free(&graph->known, allocator);
  STOWI_VEC_FREE(allocator, &graph->outputs);
  STOWI_VEC_FREE(allocator, &graph->regions);
  stowi_index_free(&graph->by_name, allocator);
  stowi_graph_type_table_free(&graph->types, allocator);
  stowi_graph_attr_table_free(&graph->attrs, allocator);
  stowi_pool_free(&graph->pool, allocator);
  stowi_graph_dims_destroy(graph->dims);
  STOWI_DELETE(allocator, graph);
}

stow_status stow_graph_add_output(stow_graph* graph, stow_value value, stow_diag* diag) {
  if (value >= graph->values.count) {
    return stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT,
                      "output %%%u does not exist: the graph has %zu values", (unsigned)value,
                      graph->values.count);
  }
  if (graph->nodes.data[graph->values.data[value].producer].region != STOW_REGION_BODY) {
    stow_status status = stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT,
                                    "output %%%u is defined inside a region", (unsigned)value);
    stowi_diag_value(diag, value);
    return status;
  }
  STOW_TRY(
      stowi_need_memory(STOWI_VEC_RESERVE(graph->allocator, &graph->outputs, 1) == STOW_OK, diag));
  graph->outputs.data[graph->outputs.count++] = value;
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// The whole graph

stow_str stow_graph_name(const stow_graph* graph) { return graph->name; }
const stow_ops* stow_graph_ops(const stow_graph* graph) { return graph->ops; }
const stow_dims* stow_graph_dims(const stow_graph* graph) { return graph->dims; }
stow_dims* stow_graph_edit_dims(stow_graph* graph) { return graph->dims; }

uint32_t stow_graph_node_count(const stow_graph* graph) { return (uint32_t)graph->nodes.count; }
uint32_t stow_graph_value_count(const stow_graph* graph) { return (uint32_t)graph->values.count; }

size_t stow_graph_output_count(const stow_graph* graph) { return graph->outputs.count; }
const stow_value* stow_graph_outputs(const stow_graph* graph) { return graph->outputs.data; }

// ---------------------------------------------------------------------------------------------
// Nodes

static const stowi_graph_node* node_of(const stow_graph* graph, stow_node node) {
  return &graph->nodes.data[node];
}

static bool is_last(const stow_graph* graph, stow_node node) {
  return node + 1 == graph->nodes.count;
}

stow_op stow_graph_op(const stow_graph* graph, stow_node node) { return node_of(graph, node)->op; }

const stow_op_desc* stow_graph_op_desc(const stow_graph* graph, stow_node node) {
  return stow_ops_get(graph->ops, node_of(graph, node)->op);
}

size_t stow_graph_operand_count(const stow_graph* graph, stow_node node) {
  size_t end =
      is_last(graph, node) ? graph->operands.count : node_of(graph, node + 1)->first_operand;
  return end - node_of(graph, node)->first_operand;
}

const stow_value* stow_graph_operands(const stow_graph* graph, stow_node node) {
  return graph->operands.data == NULL ? NULL
                                      : graph->operands.data + node_of(graph, node)->first_operand;
}

size_t stow_graph_result_count(const stow_graph* graph, stow_node node) {
  size_t end = is_last(graph, node) ? graph->values.count : node_of(graph, node + 1)->first_result;
  return end - node_of(graph, node)->first_result;
}

stow_value stow_graph_first_result(const stow_graph* graph, stow_node node) {
  return node_of(graph, node)->first_result;
}

uint32_t stow_graph_line(const stow_graph* graph, stow_node node) {
  return node_of(graph, node)->line;
}

size_t stow_graph_attr_count(const stow_graph* graph, stow_node node) {
  return node_of(graph, node)->first_with - node_of(graph, node)->first_attr;
}

const stow_attr* stow_graph_attr_at(const stow_graph* graph, stow_node node, size_t index) {
  return graph->attrs.list.data[graph->node_attrs.data[node_of(graph, node)->first_attr + index]];
}

const stow_attr* stow_graph_attr(const stow_graph* graph, stow_node node, const char* name) {
  stow_str key = stow_str_of(name);
  size_t count = stow_graph_attr_count(graph, node);
  const stow_attr* found = NULL;
  if (count != 0) {
    found = stowi_graph_find_attr(graph, graph->node_attrs.data + node_of(graph, node)->first_attr,
                                  count, key);
  }
  if (found != NULL) {
    return found;
  }
  bool is_required = false;
  found = stowi_graph_find_schema(graph->ops, node_of(graph, node)->op, key, &is_required);
  return is_required ? NULL : found;
}

size_t stowi_graph_with_count(const stow_graph* graph, stow_node node) {
  size_t end =
      is_last(graph, node) ? graph->node_attrs.count : node_of(graph, node + 1)->first_attr;
  return end - node_of(graph, node)->first_with;
}

const stow_attr* stowi_graph_with_at(const stow_graph* graph, stow_node node, size_t index) {
  return graph->attrs.list.data[graph->node_attrs.data[node_of(graph, node)->first_with + index]];
}

uint32_t stowi_graph_seed(const stow_graph* graph, stow_node node) {
  size_t count = stowi_graph_with_count(graph, node);
  for (size_t i = 0; i < count; ++i) {
    const stow_attr* attr = stowi_graph_with_at(graph, node, i);
    if (attr->kind == STOW_ATTR_INT && stow_str_equal(attr->name, stow_str_of(STOWI_GRAPH_SEED))) {
      return (uint32_t)attr->i;
    }
  }
  return node;
}

const stow_attr* stowi_graph_find_attr(const stow_graph* graph, const uint32_t* ids, size_t count,
                                       stow_str name) {
  for (size_t i = 0; i < count; ++i) {
    const stow_attr* attr = graph->attrs.list.data[ids[i]];
    if (stow_str_equal(attr->name, name)) {
      return attr;
    }
  }
  return NULL;
}

const stow_attr* stowi_graph_find_schema(const stow_ops* ops, stow_op op, stow_str name,
                                         bool* out_required) {
  size_t count = stow_ops_attr_count(ops, op);
  for (size_t i = 0; i < count; ++i) {
    const stow_attr* attr = stow_ops_attr(ops, op, i, out_required);
    if (stow_str_equal(attr->name, name)) {
      return attr;
    }
  }
  return NULL;
}

// ---------------------------------------------------------------------------------------------
// Values

const stow_type* stow_graph_type(const stow_graph* graph, stow_value value) {
  return stowi_graph_type_of(graph, graph->value_types.data, value);
}

stow_str stow_graph_value_name(const stow_graph* graph, stow_value value) {
  uint32_t name = graph->values.data[value].name;
  return name == STOWI_GRAPH_NAME_NONE ? stow_str_of("") : graph->names.data[name];
}

stow_node stow_graph_producer(const stow_graph* graph, stow_value value) {
  return graph->values.data[value].producer;
}

bool stow_graph_is_bounded(const stow_graph* graph, stow_value value) {
  return graph->values.data[value].bounded != 0;
}

bool stow_graph_is_bounded_dim(const stow_graph* graph, stow_value value, uint32_t axis) {
  const stowi_graph_value* record = &graph->values.data[value];
  const stow_type* type = stow_graph_type(graph, value);
  uint32_t bit = axis < type->rank ? UINT32_C(1) << axis : 0;
  return (record->bounded & bit) != 0 ||
         ((record->data_dependent & bit) != 0 && stow_dim_is_const(type->dims[axis]));
}

bool stow_graph_is_data_dependent(const stow_graph* graph, stow_value value) {
  return graph->values.data[value].data_dependent != 0;
}

bool stow_graph_has_data_dims(const stow_graph* graph, stow_value value) {
  const stow_type* type = stow_graph_type(graph, value);
  bool has = false;
  for (uint32_t i = 0; i < type->rank && !has; ++i) {
    has = stowi_graph_dim_uses_data(graph->dims, type->dims[i]);
  }
  return has;
}

bool stow_graph_is_boundary(const stow_graph* graph, stow_value value) {
  return stowi_graph_is_boundary_op(node_of(graph, graph->values.data[value].producer)->op);
}

static bool has_name(const void* context, uint32_t id, const void* key) {
  const stow_graph* graph = (const stow_graph*)context;
  return id < graph->values.count &&
         stow_str_equal(stow_graph_value_name(graph, id), *(const stow_str*)key);
}

stow_value stow_graph_find(const stow_graph* graph, stow_str name) {
  if (name.size == 0) {
    return STOW_VALUE_NONE;
  }
  uint64_t hash = stowi_hash_bytes(STOWI_HASH_SEED, name.data, name.size);
  return stowi_index_find(&graph->by_name, hash, has_name, graph, &name);
}

stow_status stow_graph_describe_region(const stow_graph* graph, stow_region region,
                                       stow_region_info* out_info) {
  if (region >= stow_graph_region_count(graph)) {
    return STOW_ERR_NOT_FOUND;
  }
  stow_region_info info = {.owner = stowi_graph_region_owner(graph, region),
                           .parent = stowi_graph_region_parent(graph, region),
                           .first = stowi_graph_region_first(graph, region),
                           .last = stowi_graph_region_last(graph, region),
                           .args = stowi_graph_region_args(graph, region)};
  return stowi_fill_struct(out_info, &info, sizeof(info), "stow_region_info", NULL);
}
