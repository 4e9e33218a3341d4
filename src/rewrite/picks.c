#include "rewrite/picks.h"

bool stowi_rewrite_read_from_front(int64_t* axis, size_t rank) {
  *axis += *axis < 0 ? (int64_t)rank : 0;
  return *axis >= 0 && *axis < (int64_t)rank;
}

bool stowi_rewrite_read_list(const stow_graph* graph, stow_node node, const char* name, size_t k,
                             int64_t* out, size_t* out_count) {
  const stow_attr* attr = stow_graph_attr(graph, node, name);
  *out_count = attr != NULL && attr->kind == STOW_ATTR_INTS ? attr->count : 0;
  stow_value list = *out_count == 0 && k < stow_graph_operand_count(graph, node)
                        ? stow_graph_operands(graph, node)[k]
                        : STOW_VALUE_NONE;
  uint64_t known = *out_count;
  if (list != STOW_VALUE_NONE &&
      stow_type_elements(stow_graph_type(graph, list), &known) != STOW_OK) {
    return false;
  }
  bool is_known = known <= STOW_MAX_RANK;
  for (size_t i = 0; is_known && i < known; ++i) {
    out[i] = list == STOW_VALUE_NONE ? attr->ints[i] : 0;
    is_known = list == STOW_VALUE_NONE || stow_graph_known_int(graph, list, i, &out[i]);
  }
  *out_count = (size_t)known;
  return is_known;
}

bool stowi_rewrite_read_axis(const stow_graph* graph, stow_node node, size_t rank,
                             stowi_rewrite_pick* out_pick) {
  const stow_attr* attr = stow_graph_attr(graph, node, "axis");
  out_pick->axis_count = 1;
  out_pick->axes[0] = attr != NULL && attr->kind == STOW_ATTR_INT ? attr->i : 0;
  return stowi_rewrite_read_from_front(&out_pick->axes[0], rank);
}

bool stowi_rewrite_read_slice(const stow_graph* graph, stow_node node, size_t rank,
                              stowi_rewrite_pick* out_pick) {
  stowi_rewrite_pick* p = out_pick;
  size_t starts, ends, axes, steps;
  if (!stowi_rewrite_read_list(graph, node, "starts", 1, p->starts, &starts) ||
      !stowi_rewrite_read_list(graph, node, "ends", 2, p->ends, &ends) ||
      !stowi_rewrite_read_list(graph, node, "axes", 3, p->axes, &axes) ||
      !stowi_rewrite_read_list(graph, node, "steps", 4, p->steps, &steps) || starts != ends ||
      (axes != 0 && axes != starts) || (steps != 0 && steps != starts) || starts > rank) {
    return false;
  }
  bool is_good = true;
  p->axis_count = starts;
  for (size_t i = 0; is_good && i < starts; ++i) {
    p->axes[i] = axes == 0 ? (int64_t)i : p->axes[i];
    p->steps[i] = steps == 0 ? 1 : p->steps[i];
    is_good = stowi_rewrite_read_from_front(&p->axes[i], rank);
  }
  return is_good;
}
