// Policies of single values.
#include "base/diag.h"
#include "base/text.h"
#include "request/api.h"

stow_value stowi_request_find_value(const stow_graph* graph, stow_str name) {
  uint64_t id;
  stow_value value = stow_graph_find(graph, name);
  if (value == STOW_VALUE_NONE && name.size > 1 && name.data[0] == '%' &&
      stowi_parse_u64((stow_str){name.data + 1, name.size - 1}, &id) &&
      id < stow_graph_value_count(graph)) {
    return (stow_value)id;
  }
  return value;
}

bool stowi_request_has_policy(const stow_graph* graph, stow_value value) {
  if (value == STOW_VALUE_NONE || stow_graph_is_boundary(graph, value)) {
    return value != STOW_VALUE_NONE;
  }
  const stow_value* outputs = stow_graph_outputs(graph);
  for (size_t i = 0; i < stow_graph_output_count(graph); ++i) {
    if (outputs[i] == value) {
      return true;
    }
  }
  return false;
}

stow_status stowi_request_set_policy(stow_effects* effects, const stow_graph* graph, stow_str name,
                                     stow_io_policy policy, stow_diag* diag) {
  stow_value value = stowi_request_find_value(graph, name);
  if (value == STOW_VALUE_NONE) {
    stow_str graph_name = stow_graph_name(graph);
    return stowi_fail(diag, STOW_ERR_NOT_FOUND, "graph @%.*s: unknown value '%.*s'",
                      (int)graph_name.size, graph_name.data, (int)name.size, name.data);
  }
  return stow_effects_set_io(effects, value, policy, diag);
}
