// A pass: what one rule changes in a graph, noted first and then carried out at once. Rules see the
// old graph only.
//
//     rule ─▶ instead, is_dropped, changes ─ stowi_rewrite_pass_build ─▶ a new graph
#ifndef STOWAGE_SRC_REWRITE_PASS_H_
#define STOWAGE_SRC_REWRITE_PASS_H_

#include <stowage/rewrite.h>

#include "graph/api.h"
#include "rewrite/facts.h"

typedef struct stowi_rewrite_pass stowi_rewrite_pass;
typedef struct stowi_rewrite_change stowi_rewrite_change;

// Something in the place of a dropped node. Results of the old graph that it makes have their types
// and names in the new one.
struct stowi_rewrite_change {
  stow_node at;      // noted in about ascending order
  bool is_outside;   // before the regions around |at|, which stays
  bool is_before;    // beside |at|, which stays
  size_t before;     // values that it adds before its results
  stow_value first;  // its results are those of the old graph from |first| on, |count| of them
  size_t count;
  bool is_listed;  // results are in the pass's list instead, from |first| on
  // Adds nodes, with regions or without, to the copier's graph. |stowi_rewrite_begin| helps.
  stow_status (*add)(stowi_rewrite_pass* pass, const stowi_rewrite_change* change);
  stow_value operand;           // for |add|
  int64_t list[STOW_MAX_RANK];  // for |add|
  size_t list_count;
};

struct stowi_rewrite_pass {
  const stow_graph* graph;
  // The same nodes and values at the largest point of the symbols' ranges: what is decided by sizes
  // is decided there. |graph| itself if all its dims are numbers. Dims of |graph| are compared as
  // expressions: what is equal at one point need not be at others.
  const stow_graph* sized;
  stow_graph* bound;          // |sized|, if the pass owns it
  stow_rewritten* rewritten;  // for firings
  stow_rewrite_rule rule;
  stow_allocator allocator;
  stow_diag* diag;
  stowi_rewrite_facts facts;
  stow_value* instead;  // by value: the one to read in its place; itself at first
  stow_value* named;    // by value: whose name it has; its own at first
  bool* is_dropped;     // by node
  bool* is_folded;      // by node: moved into the fold graph; NULL: none is
  STOWI_VEC(stowi_rewrite_change) changes;
  STOWI_VEC(stow_node) nodes;  // for |add|: what changes are about
  STOWI_VEC(stow_value) results;
  size_t fired;
  stowi_graph_copier copier;  // while building
};

// The same nodes and values with all symbols at the ends of their ranges; the caller destroys it.
// NULL: all dims are numbers. STOW_ERR_UNBOUND_DIM, naming a value, if a symbol has no range.
stow_status stowi_rewrite_bind_largest(const stow_graph* graph, stow_allocator allocator,
                                       stow_diag* diag, stow_graph** out_graph);

// Freed also after a failure.
stow_status stowi_rewrite_pass_init(stowi_rewrite_pass* pass, const stow_graph* graph,
                                    stow_allocator allocator, stow_diag* diag);
void stowi_rewrite_pass_free(stowi_rewrite_pass* pass);

// What |value| is read as, after what was noted so far.
stow_value stowi_rewrite_read(const stowi_rewrite_pass* pass, stow_value value);
// Whether every reader may have |other|, whose elements are the same, in place of |value|. Both are
// computed; where |value| is an output, |other| takes its name.
bool stowi_rewrite_can_stand_for(const stowi_rewrite_pass* pass, stow_value other,
                                 stow_value value);
// Notes that. The nodes that make |value| are to be dropped by the caller.
void stowi_rewrite_stand_for(stowi_rewrite_pass* pass, stow_value other, stow_value value);
// Notes |change|, and drops the node that is there.
stow_status stowi_rewrite_change_at(stowi_rewrite_pass* pass, const stowi_rewrite_change* change);
// For the function of a change: a call with the types and names of its results, and the line.
// Operands and attributes are missing; finish it with stow_call_finish.
stow_call* stowi_rewrite_begin(stowi_rewrite_pass* pass, const stowi_rewrite_change* change,
                               stow_op op);
// The value of the old graph that result |k| of a change is.
stow_value stowi_rewrite_result(const stowi_rewrite_pass* pass, const stowi_rewrite_change* change,
                                size_t k);
// Whether |node| only gives its operand 0 other dims.
bool stowi_rewrite_is_reshape(const stow_graph* graph, stow_node node);
// Of a transpose: where each dim of the result comes from.
void stowi_rewrite_read_perm(const stow_graph* graph, stow_node node, size_t rank,
                             int64_t* out_perm);
// The function of a change: a reshape of its operand.
stow_status stowi_rewrite_add_reshape(stowi_rewrite_pass* pass, const stowi_rewrite_change* change);
// For functions of changes: |value|, of the new graph, with other dims.
stow_status stowi_rewrite_reshape(stowi_rewrite_pass* pass, stow_value value, const stow_type* type,
                                  stow_value* out);
// Attributes of |node| of the old graph, as they are.
void stowi_rewrite_copy_attrs(const stowi_rewrite_pass* pass, stow_call* call, stow_node node);
// Names result 0 of |call| after |value|, by its id in the graph that was handed in: `%7.zero`.
void stowi_rewrite_name(const stowi_rewrite_pass* pass, stow_call* call, stow_value value,
                        const char* suffix);
// Counts a firing and keeps a line about it: the |count| nodes that it is about.
stow_status stowi_rewrite_fire(stowi_rewrite_pass* pass, const stow_node* nodes, size_t count);

// Drops nodes whose results nothing reads any more, among those that |may_go|: last of all, and
// once. Readers that changes add are not counted.
void stowi_rewrite_drop_unread(stowi_rewrite_pass* pass,
                               bool (*may_go)(const void* user, stow_node node), const void* user);

// Makes the new graph; the caller destroys it. |copier.map| then says where values are.
stow_status stowi_rewrite_pass_build(stowi_rewrite_pass* pass, stow_graph** out_graph);

#endif  // STOWAGE_SRC_REWRITE_PASS_H_
