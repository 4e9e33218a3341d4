// The fold graph: folded nodes in their order, and all that they need. Regions around them are
// gone: none of their operands is an argument.
#include "base/diag.h"
#include "rewrite/rules.h"

// From the last node to the first: what a needed node reads is needed.
static void find_needed(const stowi_rewrite_pass* pass, bool* is_needed) {
  const stow_graph* graph = pass->graph;
  for (stow_node node = stow_graph_node_count(graph); node-- > 0;) {
    is_needed[node] = is_needed[node] || pass->is_folded[node];
    for (size_t k = 0; is_needed[node] && k < stow_graph_operand_count(graph, node); ++k) {
      stow_value operand = stow_graph_operands(graph, node)[k];
      if (operand != STOW_VALUE_NONE) {
        is_needed[stow_graph_producer(graph, operand)] = true;
      }
    }
  }
}

static void number_values(const stow_graph* graph, const bool* is_needed, stow_value* map) {
  stow_value next = 0;
  for (stow_node node = 0; node < stow_graph_node_count(graph); ++node) {
    for (size_t k = 0; is_needed[node] && k < stow_graph_result_count(graph, node); ++k) {
      map[stow_graph_first_result(graph, node) + k] = next++;
    }
  }
}

typedef struct namer {
  const stowi_rewrite_pass* pass;
  const stow_graph* made;
} namer;

// As in the rewritten graph, where a param has a name even if the value had none.
static stow_str name_of(const void* user, stow_value value) {
  const namer* n = (const namer*)user;
  bool is_folded = n->pass->is_folded[stow_graph_producer(n->pass->graph, value)];
  stow_value now = is_folded ? n->pass->copier.map[value] : STOW_VALUE_NONE;
  return now != STOW_VALUE_NONE ? stow_graph_value_name(n->made, now)
                                : stow_graph_value_name(n->pass->graph, value);
}

static stow_status add_nodes(stowi_graph_copier* copier, const bool* is_needed) {
  for (stow_node node = 0; node < stow_graph_node_count(copier->from); ++node) {
    STOW_TRY(is_needed[node] ? stowi_graph_copier_node(copier, node) : STOW_OK);
  }
  return STOW_OK;
}

static stow_status add_outputs(const stowi_rewrite_pass* pass, stowi_graph_copier* copier) {
  for (size_t i = 0; i < pass->changes.count; ++i) {
    stow_value value = copier->map[pass->changes.data[i].first];
    STOW_TRY(stow_graph_add_output(copier->into, value, pass->diag));
  }
  return STOW_OK;
}

static stow_status build(const stowi_rewrite_pass* pass, bool* is_needed,
                         stowi_graph_copier* copier) {
  STOW_TRY(stowi_need_memory(is_needed != NULL, pass->diag));
  find_needed(pass, is_needed);
  number_values(pass->graph, is_needed, copier->map);
  STOW_TRY(add_nodes(copier, is_needed));
  return add_outputs(pass, copier);
}

stow_status stowi_rewrite_fold_graph(const stowi_rewrite_pass* pass, const stow_graph* made,
                                     stow_graph** out_graph) {
  *out_graph = NULL;
  uint32_t count = stow_graph_node_count(pass->graph);
  bool* is_needed = STOWI_ARRAY_ZERO(pass->allocator, bool, count);
  stowi_graph_copier copier;
  stow_status status = stowi_graph_copier_init(&copier, pass->graph, pass->allocator, pass->diag);
  namer names = {pass, made};
  copier.name = name_of;
  copier.user = &names;
  if (status == STOW_OK) {
    status = build(pass, is_needed, &copier);
  }
  stowi_graph_copier_free(&copier);
  STOWI_ARRAY_FREE(pass->allocator, is_needed, count);
  if (status != STOW_OK) {
    stow_graph_destroy(copier.into);
    return status;
  }
  *out_graph = copier.into;
  return STOW_OK;
}
