// The inside of the effects table.
#ifndef STOWAGE_SRC_EFFECTS_EFFECTS_H_
#define STOWAGE_SRC_EFFECTS_EFFECTS_H_

#include "base/alloc.h"
#include "base/bits.h"
#include "effects/api.h"

// The effects of one value. Few values have any.
typedef struct stowi_effects_value_effect {
  uint64_t storage;         // STOW_BYTES_DEFAULT: elements × width
  uint64_t offset;          // STOW_OFFSET_NONE
  uint64_t alignment;       // 0: none
  uint64_t inside_offset;   // if |inside| is set
  uint32_t inside_operand;  // if |inside| is set
  stow_io_policy io;
  bool inside;
  bool own;
  bool state;
} stowi_effects_value_effect;

struct stow_effects {
  stow_allocator allocator;
  const stow_graph* graph;
  uint32_t node_count;
  uint32_t value_count;
  stowi_effects_kernels kernels;
  bool is_verified;  // the graph was, when they were made
  stowi_bits outputs;
  // The lists are sorted by node, then by order of calls.
  STOWI_VEC(stowi_effects_scratch_entry) scratch;
  STOWI_VEC(stowi_effects_offer_entry) offers;
  STOWI_VEC(stowi_effects_hold_entry) holds;
  STOWI_VEC(stowi_effects_early_write_entry) early_writes;
  STOWI_VEC(stowi_effects_in_place_entry) overwrites;
  STOWI_VEC(stowi_effects_in_place_entry) forbidden;
  STOWI_VEC(stowi_effects_node_entry) whole;
  STOWI_VEC(stowi_effects_value_effect) values;
  uint32_t* index;  // by value: index + 1 into |values|, 0: none. NULL until the first
};

// Interprets the `with { … }` clauses of the graph of |effects|.
stow_status stowi_effects_read_clauses(stow_effects* effects, stow_diag* diag);

#endif  // STOWAGE_SRC_EFFECTS_EFFECTS_H_
