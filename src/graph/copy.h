// Copies of graphs with changes: nodes are added to a new graph one by one, in order, each as it is
// or in another form.
//
//     stowi_graph_copier_init ─▶ |map| set ─▶ enter, node … ─▶ outputs ─▶ |into|
//
// |map| has the ids of the new values before the first node is added, since `with` clauses may name
// later ones.
#ifndef STOWAGE_SRC_GRAPH_COPY_H_
#define STOWAGE_SRC_GRAPH_COPY_H_

#include <stowage/graph.h>

#include "base/alloc.h"
#include "base/shared.h"

typedef struct stowi_graph_copier {
  const stow_graph* from;
  stow_graph* into;  // the caller's once all went well
  stow_allocator allocator;
  stow_diag* diag;
  stow_value* map;  // by value of |from|; STOW_VALUE_NONE: it is not in |into|
  stow_dim* memo;   // by expression of the old dims table
  size_t memo_count;
  // The name of a value of |from| in |into|; NULL: as in |from|.
  stow_str (*name)(const void* user, stow_value value);
  const void* user;
  bool keeps_seeds;    // random numbers stay, by clauses, where ids of nodes change
  stow_region region;  // the innermost open one, of |from|
  STOWI_VEC(int64_t) numbers;
} stowi_graph_copier;

// Creates |into|, with the name, ops, symbols and functions of |from|. Freed also after a failure.
stow_status stowi_graph_copier_init(stowi_graph_copier* copier, const stow_graph* from,
                                    stow_allocator allocator, stow_diag* diag);
// Frees all but |into|.
void stowi_graph_copier_free(stowi_graph_copier* copier);

stow_value stowi_graph_copier_mapped(const stowi_graph_copier* copier, stow_value value);
// The value's type in terms of the new dims.
stow_type stowi_graph_copier_type(stowi_graph_copier* copier, stow_value value);
// The value's name, otherwise `%ID` with its old id, and a suffix if that is taken: for result 0.
void stowi_graph_copier_name(const stowi_graph_copier* copier, stow_call* call, stow_value value);

// Opens the regions around |node| that are not open yet. Needed before it, or something in its
// place, is added.
stow_status stowi_graph_copier_enter(stowi_graph_copier* copier, stow_node node);
// Adds |node| as it is, with mapped operands. A `yield` ends its region.
stow_status stowi_graph_copier_node(stowi_graph_copier* copier, stow_node node);
// Last of all.
stow_status stowi_graph_copier_outputs(stowi_graph_copier* copier);

// Copies the functions of |from|.
stow_status stowi_graph_copy_functions(const stow_graph* from, stow_graph* into, stow_diag* diag);

// Whether a `with` clause names values, as pairs (operand or result, value).
bool stowi_graph_names_values(const stow_attr* attr);

#endif  // STOWAGE_SRC_GRAPH_COPY_H_
