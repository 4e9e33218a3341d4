// The inside of the effects table, and what the rest of the room asks of it.
#ifndef STOWAGE_SRC_ANALYSIS_EFFECTS_EFFECTS_H_
#define STOWAGE_SRC_ANALYSIS_EFFECTS_EFFECTS_H_

#include <stowage/analysis.h>

#include "analysis/bits.h"
#include "base/alloc.h"

// What is declared of one value. Few values have one.
typedef struct stowi_value_effect {
  uint64_t storage;         // STOW_BYTES_DEFAULT: elements × width
  uint64_t offset;          // STOW_OFFSET_NONE
  uint64_t alignment;       // 0: none
  uint64_t inside_offset;   // where |inside| is set
  uint32_t inside_operand;  // where |inside| is set
  stow_io_policy io;
  bool inside;
  bool own;
  bool state;
} stowi_value_effect;

struct stow_effects {
  stow_allocator allocator;
  const stow_graph* graph;
  uint32_t node_count;
  uint32_t value_count;
  stowi_bits outputs;
  // The lists are kept in order of node, then of call.
  STOWI_VEC(stow_scratch) scratch;
  STOWI_VEC(stow_hold) holds;
  STOWI_VEC(stow_early_write) early_writes;
  STOWI_VEC(stow_overwrite) overwrites;
  STOWI_VEC(stow_overwrite) forbidden;
  STOWI_VEC(stowi_value_effect) values;
  uint32_t* index;  // by value: index + 1 into |values|, 0: none. NULL until the first
};

// Gives the `with { … }` clauses of |effects|' graph meaning.
stow_status stowi_effects_read_clauses(stow_effects* effects, stow_diag* diag);

// Whether operand |k| of |node| is held. |effects| may be NULL. O(log holds).
bool stowi_effects_is_held(const stow_effects* effects, stow_node node, size_t k);
// Whether result |k| of |node| is written before its step. |effects| may be NULL. O(log writes).
bool stowi_effects_is_early(const stow_effects* effects, stow_node node, size_t k);
// Whether result |k| of |node| may, or must not, be written over operand |operand| by what effects
// say. |effects| may be NULL. O(log of all such pairs, and those of the node).
bool stowi_effects_is_allowed(const stow_effects* effects, stow_node node, size_t k,
                              size_t operand);
bool stowi_effects_is_forbidden(const stow_effects* effects, stow_node node, size_t k,
                                size_t operand);
// Whether |value| has a fixed offset. |effects| may be NULL.
bool stowi_effects_is_fixed(const stow_effects* effects, stow_value value);
// Whether reads last longer, writes start sooner or more values share bytes than the graph tells,
// so that its verification says too little about who reads what was written over. |effects| may be
// NULL.
bool stowi_effects_touch_writes(const stow_effects* effects);
bool stowi_is_input(const stow_graph* graph, stow_value value);

// The policy of a boundary value or output, with |fallback| for those that effects leave at
// default: one of keep, consume (inputs only) and external. Keep for every other value.
stow_io_policy stowi_io_policy(const stow_graph* graph, const stow_effects* effects,
                               stow_io_policy fallback, stow_value value, bool is_output);

// Refuses effects of another graph. |effects| may be NULL.
stow_status stowi_effects_check_graph(const stow_effects* effects, const stow_graph* graph,
                                      stow_diag* diag);

#endif  // STOWAGE_SRC_ANALYSIS_EFFECTS_EFFECTS_H_
