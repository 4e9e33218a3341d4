// What a rule must know of a graph before it changes anything.
#ifndef STOWAGE_SRC_REWRITE_FACTS_H_
#define STOWAGE_SRC_REWRITE_FACTS_H_

#include "base/bits.h"
#include "graph/api.h"

typedef struct stowi_rewrite_facts {
  stow_allocator allocator;
  uint32_t value_count;
  uint32_t* readers;   // by value: operands that it is
  stowi_bits outputs;  // values
  stowi_bits fixed;    // values that no other may stand for, nor they for another: an op may write
                       // into their bytes, a `with` clause names them, or a region yields them or
                       // is given them
} stowi_rewrite_facts;

// O(size of the graph). Freed also after a failure.
stow_status stowi_rewrite_facts_init(stowi_rewrite_facts* facts, const stow_graph* graph,
                                     stow_allocator allocator, stow_diag* diag);
void stowi_rewrite_facts_free(stowi_rewrite_facts* facts);

// Whether |node| must stay as it is, for one reason or another (rewrite.h), or is a boundary value.
bool stowi_rewrite_is_barrier(const stow_graph* graph, stow_node node);
// Whether both values have the same type, and dims that are upper bounds in both or in neither.
bool stowi_rewrite_same_type(const stow_graph* graph, stow_value a, stow_value b);
// Whether dims of a result, or of an operand, are known only while the graph runs.
bool stowi_rewrite_is_bounded(const stow_graph* graph, stow_node node);
// Bytes of a value, whose dims are numbers; UINT64_MAX if that is too small to say.
uint64_t stowi_rewrite_bytes(const stow_graph* graph, stow_value value);

#endif  // STOWAGE_SRC_REWRITE_FACTS_H_
