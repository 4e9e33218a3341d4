// One run of an op's shape or view function, over a node that exists or one that is being
// described.
#ifndef STOWAGE_SRC_GRAPH_SHAPE_CALL_H_
#define STOWAGE_SRC_GRAPH_SHAPE_CALL_H_

#include <stowage/graph.h>

struct stow_shape_call {
  const stow_graph* graph;
  const uint32_t* types;  // number of an interned type per value
  stow_op op;
  const stow_op_desc* desc;
  const stow_value* operands;
  size_t operand_count;
  const uint32_t* attrs;  // numbers of interned attributes
  size_t attr_count;
  stow_region last_region;  // of those that the node owns; STOW_REGION_ID_NONE: it owns none
  // What is declared: a list, or else the types of the values from |made| on.
  const stow_type* declared;
  size_t declared_count;
  stow_value made;     // STOW_VALUE_NONE: the node has no results yet
  stow_type* results;  // NULL for a view function
  size_t result_count;
  stow_status status;
  char reason[320];
};

// Over an existing node. |types| as above: the graph's own, or those of a binding in the making.
stow_shape_call stowi_shape_of_node(const stow_graph* graph, const uint32_t* types, stow_node node,
                                    stow_type* results);

// Runs the shape function and checks the types that it gives; where types are declared for an op
// that infers, they must agree if |must_agree|. Fills call->results.
stow_status stowi_shape_infer(stow_shape_call* call, bool must_agree, stow_diag* diag);

// Fails with `op(operands): ` before the reason.
stow_status stowi_shape_fail_as(const stow_shape_call* call, stow_status status, const char* reason,
                                stow_diag* diag);

#endif  // STOWAGE_SRC_GRAPH_SHAPE_CALL_H_
