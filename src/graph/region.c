// Regions: opening, closing, and reading them.
//
// Open regions form a stack. A value is visible while the region that made it is open, so scope is
// one comparison. Closed regions wait in their enclosing frame for the op that owns them, which
// must be the next node there: the last region of an owner is then the one whose `yield` comes
// right before it, and the others follow from links between siblings.
#include "base/diag.h"
#include "graph/api.h"
#include "graph/graph_internal.h"

stow_status stow_graph_begin_region(stow_graph* graph, stow_diag* diag) {
  stowi_graph_call_drop(&graph->call);
  if (graph->depth == STOW_MAX_REGION_DEPTH) {
    return stowi_fail(diag, STOW_ERR_LIMIT, "regions are nested more than %d deep",
                      STOW_MAX_REGION_DEPTH);
  }
  if (graph->regions.count >= STOWI_GRAPH_ID_LIMIT - 1) {
    return stowi_fail(diag, STOW_ERR_LIMIT, "the graph has too many regions");
  }
  STOW_TRY(
      stowi_need_memory(STOWI_VEC_RESERVE(graph->allocator, &graph->regions, 1) == STOW_OK, diag));
  const stowi_graph_frame* outer = stowi_graph_frame_of(graph);
  stow_region region = (stow_region)graph->regions.count++;
  graph->regions.data[region] = (stowi_graph_region){
      STOW_NODE_NONE, outer->region, outer->last_closed, STOW_NODE_NONE, STOW_NODE_NONE};
  ++graph->depth;
  *stowi_graph_frame_of(graph) = (stowi_graph_frame){region, STOW_REGION_ID_NONE, 0};
  return STOW_OK;
}

stow_status stow_graph_end_region(stow_graph* graph, const stow_value* yields, size_t count,
                                  stow_diag* diag) {
  stow_call* call = stowi_graph_call_begin(graph, STOW_OP_YIELD);
  if (graph->depth == 0) {
    stowi_graph_call_drop(call);
    return stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT, "yield: no region is open");
  }
  for (size_t i = 0; i < count; ++i) {
    stow_call_operand(call, yields[i]);
    if (yields[i] == STOW_VALUE_NONE) {
      stowi_graph_call_fail(call, STOW_ERR_INVALID_ARGUMENT, "operand %zu is missing", i);
    }
  }
  stow_node yield;
  STOW_TRY(stow_call_finish(call, diag, &yield));
  stow_region region = stowi_graph_frame_of(graph)->region;
  graph->regions.data[region].last = yield;
  --graph->depth;
  stowi_graph_frame_of(graph)->last_closed = region;
  ++stowi_graph_frame_of(graph)->closed_count;
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Reading

uint32_t stow_graph_region_count(const stow_graph* graph) { return (uint32_t)graph->regions.count; }

stow_region stow_graph_node_region(const stow_graph* graph, stow_node node) {
  return graph->nodes.data[node].region;
}

stow_region stow_graph_owned_region(const stow_graph* graph, stow_node node, size_t index) {
  size_t count = stow_graph_op_desc(graph, node)->region_count;
  if (index >= count) {
    return STOW_REGION_ID_NONE;
  }
  stow_region region = graph->nodes.data[node - 1].region;
  for (size_t i = count - 1; i > index; --i) {
    region = graph->regions.data[region].previous;
  }
  return region;
}

stow_node stowi_graph_region_owner(const stow_graph* graph, stow_region region) {
  return graph->regions.data[region].owner;
}

stow_region stowi_graph_region_parent(const stow_graph* graph, stow_region region) {
  return graph->regions.data[region].parent;
}

stow_node stowi_graph_region_first(const stow_graph* graph, stow_region region) {
  return graph->regions.data[region].first;
}

stow_node stowi_graph_region_last(const stow_graph* graph, stow_region region) {
  if (region == STOW_REGION_BODY && graph->nodes.count != 0) {
    return (stow_node)(graph->nodes.count - 1);
  }
  return graph->regions.data[region].last;
}

stow_node stowi_graph_region_args(const stow_graph* graph, stow_region region) {
  stow_node first = graph->regions.data[region].first;
  bool has_args = first != STOW_NODE_NONE && graph->nodes.data[first].op == STOW_OP_ARGS &&
                  graph->nodes.data[first].region == region;
  return has_args ? first : STOW_NODE_NONE;
}
