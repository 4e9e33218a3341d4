// The order in which nodes are imported. ONNX demands that a file lists them in topological order,
// which most do; others are sorted here.
//
// Each node's dependencies on other nodes of the same list are gathered once, those of its
// subgraphs (which see the tensors around them) included: O(inputs). Where all point back, the
// file's order stands. Else a depth-first walk with a stack of its own puts each node right after
// the last one it needs, nodes otherwise in the file's order.
#include <string.h>

#include "onnx/import/importer.h"

typedef struct orderer {
  stowi_import_importer* imp;
  stowi_onnx_importer* onnx;
  const stowi_onnx_node* nodes;
  size_t count;
  STOWI_VEC(uint32_t) needs;  // nodes that nodes read from
  uint32_t* first_need;       // per node; one more at the end
  bool is_sorted;
} orderer;

typedef struct visit {
  uint32_t node;
  uint32_t next;  // into |needs|
} visit;

static stow_status note_producers(orderer* o) {
  stowi_import_importer* imp = o->imp;
  uint32_t serial = o->onnx->serial++;
  for (size_t i = 0; i < o->count; ++i) {
    for (size_t k = 0; k < o->nodes[i].output_count; ++k) {
      uint32_t id;
      STOW_TRY(stowi_import_name_of(imp, o->nodes[i].outputs[k], &id));
      if (imp->names.data[id].serial != serial) {  // of two, the second fails when it is bound
        imp->names.data[id].serial = serial;
        imp->names.data[id].producer = (uint32_t)i;
      }
    }
  }
  return STOW_OK;
}

// |is_inner|: read in a subgraph of |node|, whose own tensors may have the names of the node's.
static stow_status add_need(orderer* o, uint32_t serial, uint32_t node, stow_str input,
                            bool is_inner) {
  const stowi_import_importer* imp = o->imp;
  uint32_t id = input.size == 0 ? STOWI_IMPORT_NONE : stowi_import_name_find(imp, input);
  if (id == STOWI_IMPORT_NONE || imp->names.data[id].serial != serial) {
    return STOW_OK;
  }
  uint32_t producer = imp->names.data[id].producer;
  if (is_inner && producer == node) {
    return STOW_OK;
  }
  o->is_sorted = o->is_sorted && producer < node;
  if (STOWI_VEC_RESERVE(imp->allocator, &o->needs, 1) != STOW_OK) {
    return stowi_import_memory(o->imp);
  }
  o->needs.data[o->needs.count++] = producer;
  return STOW_OK;
}

static stow_status add_needs_of(orderer* o, uint32_t serial, uint32_t index,
                                const stowi_onnx_node* node, uint32_t depth);

// What a subgraph reads from around it.
static stow_status add_graph_needs(orderer* o, uint32_t serial, uint32_t index,
                                   const stowi_onnx_graph* graph, uint32_t depth) {
  if (depth >= STOWI_IMPORT_MAX_DEPTH) {
    return stowi_fail(o->imp->diag, STOW_ERR_LIMIT, "graphs are nested more than %d deep",
                      STOWI_IMPORT_MAX_DEPTH);
  }
  for (size_t i = 0; i < graph->node_count; ++i) {
    STOW_TRY(add_needs_of(o, serial, index, &graph->nodes[i], depth));
  }
  for (size_t i = 0; i < graph->output_count; ++i) {
    STOW_TRY(add_need(o, serial, index, graph->outputs[i].name, true));
  }
  return STOW_OK;
}

static stow_status add_needs_of(orderer* o, uint32_t serial, uint32_t index,
                                const stowi_onnx_node* node, uint32_t depth) {
  for (size_t k = 0; k < node->input_count; ++k) {
    STOW_TRY(add_need(o, serial, index, node->inputs[k], depth != 0));
  }
  for (size_t k = 0; k < node->attr_count; ++k) {
    if (node->attrs[k].graph != NULL) {
      STOW_TRY(add_graph_needs(o, serial, index, node->attrs[k].graph, depth + 1));
    }
  }
  return STOW_OK;
}

static stow_status gather(orderer* o) {
  uint32_t serial = o->onnx->serial;
  STOW_TRY(note_producers(o));
  o->is_sorted = true;
  for (size_t i = 0; i < o->count; ++i) {
    o->first_need[i] = (uint32_t)o->needs.count;
    STOW_TRY(add_needs_of(o, serial, (uint32_t)i, &o->nodes[i], 0));
    if (o->needs.count >= STOWI_IMPORT_NONE) {
      return stowi_fail(o->imp->diag, STOW_ERR_LIMIT, "the model's nodes have too many inputs");
    }
  }
  o->first_need[o->count] = (uint32_t)o->needs.count;
  return STOW_OK;
}

enum { UNSEEN, OPEN, DONE };

// Appends |root| to the order, after all that it needs.
static stow_status walk(const orderer* o, uint32_t root, visit* stack, uint8_t* states,
                        uint32_t* order, size_t* placed) {
  size_t depth = 0;
  stack[depth++] = (visit){root, o->first_need[root]};
  states[root] = OPEN;
  while (depth != 0) {
    visit* top = &stack[depth - 1];
    if (top->next == o->first_need[top->node + 1]) {
      states[top->node] = DONE;
      order[(*placed)++] = top->node;
      --depth;
      continue;
    }
    uint32_t need = o->needs.data[top->next++];
    if (states[need] == OPEN) {
      return stowi_fail(o->imp->diag, STOW_ERR_SYNTAX,
                        "node \"%.*s\" (%.*s) needs its own result: the graph has a cycle",
                        STOWI_STR_ARG(stowi_onnx_node_label(&o->nodes[need])),
                        STOWI_STR_ARG(o->nodes[need].op));
    }
    if (states[need] == UNSEEN) {
      states[need] = OPEN;
      stack[depth++] = (visit){need, o->first_need[need]};
    }
  }
  return STOW_OK;
}

static stow_status sort(const orderer* o, uint32_t* order) {
  stow_allocator allocator = o->imp->allocator;
  visit* stack = STOWI_ARRAY(allocator, visit, o->count);
  uint8_t* states = STOWI_ARRAY_ZERO(allocator, uint8_t, o->count);
  stow_status status = stack == NULL || states == NULL ? stowi_import_memory(o->imp) : STOW_OK;
  size_t placed = 0;
  for (size_t i = 0; status == STOW_OK && i < o->count; ++i) {
    if (states[i] == UNSEEN) {
      status = walk(o, (uint32_t)i, stack, states, order, &placed);
    }
  }
  STOWI_ARRAY_FREE(allocator, stack, o->count);
  STOWI_ARRAY_FREE(allocator, states, o->count);
  return status;
}

stow_status stowi_onnx_order_nodes(stowi_onnx_importer* onnx, const stowi_onnx_node* nodes,
                                   size_t count, uint32_t* out_order) {
  stowi_import_importer* imp = &onnx->imp;
  if (count >= STOWI_IMPORT_NONE - 1) {
    return stowi_fail(imp->diag, STOW_ERR_LIMIT, "a graph has too many nodes");
  }
  orderer o = {.imp = imp, .onnx = onnx, .nodes = nodes, .count = count};
  o.first_need = STOWI_ARRAY(imp->allocator, uint32_t, count + 1);
  stow_status status = o.first_need == NULL ? stowi_import_memory(imp) : gather(&o);
  for (size_t i = 0; i < count; ++i) {
    out_order[i] = (uint32_t)i;
  }
  if (status == STOW_OK && !o.is_sorted) {
    status = sort(&o, out_order);
  }
  STOWI_ARRAY_FREE(imp->allocator, o.first_need, count + 1);
  STOWI_VEC_FREE(imp->allocator, &o.needs);
  return status;
}
