// Twins: a graph whose symbols get other numbers again and again. Types and known elements are
// evaluated, not inferred, which takes microseconds instead of milliseconds; so plans can be proven
// at every point of a range.
#ifndef STOWAGE_SRC_GRAPH_TWIN_H_
#define STOWAGE_SRC_GRAPH_TWIN_H_

#include <stowage/graph.h>

#include "base/shared.h"

typedef struct stowi_graph_twin stowi_graph_twin;

// A twin of |graph|, whose data it borrows. Values, nodes and symbols have the same numbers.
STOWI_SHARED stow_status stowi_graph_twin_create(const stow_graph* graph, stow_allocator allocator,
                                                 stow_diag* diag, stowi_graph_twin** out_twin);
STOWI_SHARED void stowi_graph_twin_destroy(stowi_graph_twin* twin);
// Gives symbol i the number values[i], one for each symbol. STOW_ERR_TYPE, naming the value, if a
// dim becomes negative or divides by zero; STOW_ERR_OVERFLOW if it is too large. Allocates nothing
// if it was bound to these numbers before. Types stay where they are.
STOWI_SHARED stow_status stowi_graph_twin_bind(stowi_graph_twin* twin, const int64_t* values,
                                               stow_diag* diag);
// Takes the numbers away again: types and known elements have symbols.
STOWI_SHARED void stowi_graph_twin_unbind(stowi_graph_twin* twin);
// The twin as it is bound, or with symbols. What reads it sees other types after the next bind. It
// cannot get nodes, but dims: stow_graph_edit_dims.
STOWI_SHARED stow_graph* stowi_graph_twin_graph(const stowi_graph_twin* twin);
// The numbers that |graph| is bound to, one for each symbol; NULL if it is not a twin's, or not
// bound.
STOWI_SHARED const int64_t* stowi_graph_twin_point(const stow_graph* graph);
// Names all numbers that a bind writes, |size| bytes at |at|; they stay there.
typedef void (*stowi_graph_twin_namer)(void* user, void* at, size_t size);
STOWI_SHARED void stowi_graph_twin_name(stowi_graph_twin* twin, stowi_graph_twin_namer name,
                                        void* user);

#endif  // STOWAGE_SRC_GRAPH_TWIN_H_
