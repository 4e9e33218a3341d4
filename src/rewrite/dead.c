// Nodes that no output needs are left out.
#include "base/diag.h"
#include "rewrite/rules.h"

static stow_status drop(stowi_rewrite_pass* pass, const bool* is_needed) {
  for (stow_node node = 0; node < stow_graph_node_count(pass->graph); ++node) {
    pass->is_dropped[node] = !is_needed[node];
    if (!is_needed[node] && stow_graph_result_count(pass->graph, node) != 0) {
      STOW_TRY(stowi_rewrite_fire(pass, &node, 1));
    }
  }
  return STOW_OK;
}

stow_status stowi_rewrite_dead(stowi_rewrite_pass* pass) {
  uint32_t count = stow_graph_node_count(pass->graph);
  bool* is_needed = STOWI_ARRAY(pass->allocator, bool, count);
  stow_status status = stowi_need_memory(is_needed != NULL, pass->diag);
  if (status == STOW_OK) {
    status = stowi_graph_find_needed(pass->graph, pass->allocator, pass->diag, is_needed);
  }
  if (status == STOW_OK) {
    status = drop(pass, is_needed);
  }
  STOWI_ARRAY_FREE(pass->allocator, is_needed, count);
  return status;
}
