// A hash of everything that a plan depends on. Ops are hashed by name and dims by content, since
// their numbers differ between builds of a graph; an attribute equal to its default counts as
// omitted, as in the text format. Where data comes from (`data`, `source`, `at`, `bytes`) is not
// included: other weights do not need another plan. O(size of the graph), no allocation.
#include "graph/api.h"
#include "graph/dims/dims.h"
#include "graph/graph_internal.h"

static uint64_t hash_type(const stow_graph* graph, uint64_t hash, const stow_type* type) {
  const char* dtype = stow_dtype_name(type->dtype);
  hash = stowi_hash_bytes(hash, dtype, stow_str_of(dtype).size);
  hash = stowi_hash_u64(hash, type->rank);
  for (uint32_t i = 0; i < type->rank; ++i) {
    hash = stowi_hash_u64(hash, stowi_graph_dim_hash(graph->dims, type->dims[i]));
  }
  return hash;
}

static bool is_default(const stow_graph* graph, stow_op op, const stow_attr* attr) {
  bool is_required = false;
  const stow_attr* schema = stowi_graph_find_schema(graph->ops, op, attr->name, &is_required);
  return schema != NULL && !is_required && stowi_graph_attr_equal(schema, attr);
}

static uint64_t hash_attrs(const stow_graph* graph, uint64_t hash, stow_node node) {
  stow_op op = stow_graph_op(graph, node);
  size_t count = stowi_graph_is_boundary_op(op) ? 0 : stow_graph_attr_count(graph, node);
  size_t hashed = 0;
  for (size_t i = 0; i < count; ++i) {
    const stow_attr* attr = stow_graph_attr_at(graph, node, i);
    if (!is_default(graph, op, attr)) {
      hash = stowi_graph_attr_hash(hash, attr);
      ++hashed;
    }
  }
  hash = stowi_hash_u64(hash, hashed);
  count = stowi_graph_with_count(graph, node);
  for (size_t i = 0; i < count; ++i) {
    hash = stowi_graph_attr_hash(hash, stowi_graph_with_at(graph, node, i));
  }
  return stowi_hash_u64(hash, count);
}

static uint64_t hash_results(const stow_graph* graph, uint64_t hash, stow_node node) {
  size_t count = stow_graph_result_count(graph, node);
  stow_value first = stow_graph_first_result(graph, node);
  hash = stowi_hash_u64(hash, count);
  for (stow_value value = first; value < first + count; ++value) {
    stow_str name = stow_graph_value_name(graph, value);
    hash = hash_type(graph, hash, stow_graph_type(graph, value));
    hash = stowi_hash_u64(hash, graph->values.data[value].bounded);
    hash = stowi_hash_bytes(hash, name.data, name.size);
  }
  return hash;
}

static uint64_t hash_node(const stow_graph* graph, uint64_t hash, stow_node node) {
  stow_str op = stow_str_of(stow_graph_op_desc(graph, node)->name);
  hash = stowi_hash_bytes(hash, op.data, op.size);
  hash = stowi_hash_u64(hash, stow_graph_node_region(graph, node));
  size_t count = stow_graph_operand_count(graph, node);
  hash = stowi_hash_u64(hash, count);
  for (size_t k = 0; k < count; ++k) {
    hash = stowi_hash_u64(hash, stow_graph_operands(graph, node)[k]);
  }
  hash = hash_attrs(graph, hash, node);
  return hash_results(graph, hash, node);
}

uint64_t stow_graph_fingerprint(const stow_graph* graph) {
  uint64_t hash = stowi_hash_u64(STOWI_HASH_SEED, graph->nodes.count);
  for (stow_node node = 0; node < graph->nodes.count; ++node) {
    hash = hash_node(graph, hash, node);
  }
  for (stow_region region = 1; region < graph->regions.count; ++region) {
    hash = stowi_hash_u64(hash, graph->regions.data[region].parent);
    hash = stowi_hash_u64(hash, graph->regions.data[region].owner);
  }
  for (size_t i = 0; i < graph->functions.count; ++i) {
    stow_str name = graph->functions.data[i]->name;
    hash = stowi_hash_bytes(hash, name.data, name.size);
    hash = stowi_hash_u64(hash, stow_graph_fingerprint(graph->functions.data[i]));
  }
  hash = stowi_hash_u64(hash, graph->outputs.count);
  for (size_t i = 0; i < graph->outputs.count; ++i) {
    hash = stowi_hash_u64(hash, graph->outputs.data[i]);
  }
  uint64_t ranges = stowi_graph_dims_hash_ranges(graph->dims);
  return ranges == 0 ? hash : stowi_hash_u64(hash, ranges);
}
