// A function in the making, for a `blocks` or `stream` node in the place of several nodes. Names
// and order of its values depend on nothing but what it computes, so that nodes that compute the
// same share one.
#ifndef STOWAGE_SRC_REWRITE_MAKER_H_
#define STOWAGE_SRC_REWRITE_MAKER_H_

#include "rewrite/pass.h"

// An operand of the node, and what the function gets of it.
typedef struct stowi_rewrite_input {
  stow_value value;
  int use;           // a value that is used in two ways is given twice
  stow_value input;  // of the function
  int64_t divide;
} stowi_rewrite_input;

typedef struct stowi_rewrite_maker stowi_rewrite_maker;
struct stowi_rewrite_maker {
  stowi_rewrite_pass* pass;
  const stow_graph* graph;  // of the pass
  const stow_node* nodes;   // that become one, ascending; the last one makes the result
  size_t count;
  bool streams;  // it is a `stream` node, with the results of its change; otherwise:
  // Groups are the dims [0, groups) of the result, rows [first_row, end_row).
  uint32_t groups, first_row, end_row;
  // Adds the nodes to |function|, after inputs for what they read from outside.
  stow_status (*fill)(stowi_rewrite_maker* maker);
  const void* user;  // for |fill|
  const stowi_rewrite_change* change;
  stow_graph* function;
  stow_dim rows;     // its symbol
  stow_dim* memo;    // by expression of the graph: that of the function
  stow_value* made;  // by node: its first result in the function
  STOWI_VEC(stowi_rewrite_input) inputs;
};

// The value of the function for operand |value| of one of the nodes, used as |use|: what it makes
// itself, or an input; STOW_VALUE_NONE: an input must be added.
stow_value stowi_rewrite_maker_find(const stowi_rewrite_maker* maker, stow_value value, int use);
// Adds an input of |type|.
stow_status stowi_rewrite_maker_input(stowi_rewrite_maker* maker, stow_value value, int use,
                                      const stow_type* type, int64_t divide);
// |dim| of the graph as one of the function.
stow_dim stowi_rewrite_maker_dim(stowi_rewrite_maker* maker, stow_dim dim);
// Begins node |i|, whose results have |types|; one of any op that only gives other dims is a
// reshape. Operands and attributes are missing; finish it with
// stow_call_finish.
stow_call* stowi_rewrite_maker_begin(stowi_rewrite_maker* maker, size_t i, const stow_type* types);

// Makes the function, or finds one that is the same, and adds the node of |change|.
stow_status stowi_rewrite_maker_add(stowi_rewrite_maker* maker, const stowi_rewrite_change* change);

// Notes |change|, whose function calls the one above, in place of the last of the nodes. Its result
// is that of the last node, or the output that has the same elements with other dims. O(outputs).
stow_status stowi_rewrite_maker_at(stowi_rewrite_pass* pass, stowi_rewrite_change* change);

#endif  // STOWAGE_SRC_REWRITE_MAKER_H_
