// Maps a loop's operands, arguments, yields and results to each other.
#include "analysis/views.h"
#include "graph/api.h"

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

// |count| - |first|, or 0.
static size_t rest(size_t count, size_t first) { return count > first ? count - first : 0; }

bool stowi_analysis_loop_of(const stow_graph* graph, stow_node owner,
                            stowi_analysis_loop* out_loop) {
  const stow_op_desc* desc = stow_graph_op_desc(graph, owner);
  if (desc->region_kind != STOW_REGION_LOOP) {
    return false;
  }
  stow_region body = stow_graph_owned_region(graph, owner, 0);
  stow_node args = stowi_graph_region_args(graph, body);
  stow_node yield = stowi_graph_region_last(graph, body);
  size_t count = 0;
  if (args != STOW_NODE_NONE) {
    const stow_carry* carry = &desc->carry;
    count = rest(stow_graph_operand_count(graph, owner), carry->first_operand);
    count = smaller(count, rest(stow_graph_result_count(graph, args), carry->first_arg));
    count = smaller(count, rest(stow_graph_operand_count(graph, yield), carry->first_yield));
    count = smaller(count, rest(stow_graph_result_count(graph, owner), carry->first_result));
  }
  *out_loop = (stowi_analysis_loop){owner, body, args, yield, count, desc->carry};
  return true;
}

stow_value stowi_analysis_loop_initial(const stow_graph* graph, const stowi_analysis_loop* loop,
                                       size_t i) {
  return stow_graph_operands(graph, loop->owner)[loop->carry.first_operand + i];
}

stow_value stowi_analysis_loop_argument(const stow_graph* graph, const stowi_analysis_loop* loop,
                                        size_t i) {
  return stow_graph_first_result(graph, loop->args) + (stow_value)(loop->carry.first_arg + i);
}

stow_value stowi_analysis_loop_result(const stow_graph* graph, const stowi_analysis_loop* loop,
                                      size_t i) {
  return stow_graph_first_result(graph, loop->owner) + (stow_value)(loop->carry.first_result + i);
}

bool stowi_analysis_loop_is_initial(const stowi_analysis_loop* loop, size_t k) {
  return k >= loop->carry.first_operand && k - loop->carry.first_operand < loop->count;
}
