// Effects as declared, for the rooms that plan and check with them.
#ifndef STOWAGE_SRC_EFFECTS_API_H_
#define STOWAGE_SRC_EFFECTS_API_H_

#include <stowage/effects.h>
#include <stowage/graph.h>

#include "base/bits.h"
#include "base/shared.h"

// Reading. |effects| may be NULL everywhere: no effects.
// Whether they were made for |graph| and it has not grown since; true for NULL. No other effects
// can be used with it.
bool stowi_effects_are_of(const stow_effects* effects, const stow_graph* graph);
// Notes that the graph was verified. It must not change afterwards.
STOWI_SHARED void stowi_effects_set_verified(stow_effects* effects);
// Whose scratch it is.
typedef struct stowi_effects_kernels {
  uint32_t threads;       // of the library's kernels; 0: it is others'
  bool fastest;           // stow_prepare_options
  uint8_t pack;           // stow_pack
  uint64_t packed_bytes;  // of weights that are packed
} stowi_effects_kernels;
STOWI_SHARED void stowi_effects_set_kernels(stow_effects* effects, stowi_effects_kernels kernels);
stowi_effects_kernels stowi_effects_kernels_of(const stow_effects* effects);
// Verifies |graph|, unless that was noted.
stow_status stowi_effects_verify_graph(const stow_effects* effects, const stow_graph* graph,
                                       stow_diag* diag);
typedef struct stowi_effects_scratch_entry {
  stow_node node;
  uint64_t bytes;
  uint64_t alignment;
} stowi_effects_scratch_entry;

// More that a piece of scratch may have.
typedef struct stowi_effects_offer_entry {
  stow_node node;
  uint32_t index;  // of the scratch, among those of the node
  uint64_t bytes;
} stowi_effects_offer_entry;
typedef struct stowi_effects_hold_entry {
  stow_node node;
  size_t operand;
  stow_node until;
} stowi_effects_hold_entry;
typedef struct stowi_effects_early_write_entry {
  stow_node node;
  size_t result;
  stow_node from;
} stowi_effects_early_write_entry;
typedef struct stowi_effects_in_place_entry {
  stow_node node;
  size_t result;
  size_t operand;
} stowi_effects_in_place_entry;
typedef struct stowi_effects_node_entry {
  stow_node node;
} stowi_effects_node_entry;
// In order of node, then of call.
// Offers for the scratch of |node|, in order of calls.
bool stowi_effects_has_offers(const stow_effects* effects);
const stowi_effects_offer_entry* stowi_effects_offers(const stow_effects* effects, stow_node node,
                                                      size_t* out_count);
STOWI_SHARED size_t stowi_effects_scratch_count(const stow_effects* effects);
stowi_effects_scratch_entry stowi_effects_scratch(const stow_effects* effects, size_t index);
// Gives piece |index| of the scratch of |node| other bytes, and its |count| offers, as many as it
// has, those of |offers|. For graphs whose dims change (twins). Allocates nothing.
STOWI_SHARED void stowi_effects_change_scratch(stow_effects* effects, stow_node node, size_t index,
                                               uint64_t bytes, const uint64_t* offers,
                                               size_t count);
// The same effects of |graph|, which differs from theirs in dims alone.
STOWI_SHARED stow_status stowi_effects_copy(const stow_effects* effects, const stow_graph* graph,
                                            stow_allocator allocator, stow_diag* diag,
                                            stow_effects** out_effects);
size_t stowi_effects_hold_count(const stow_effects* effects);
stowi_effects_hold_entry stowi_effects_hold(const stow_effects* effects, size_t index);
size_t stowi_effects_early_write_count(const stow_effects* effects);
stowi_effects_early_write_entry stowi_effects_early_write(const stow_effects* effects,
                                                          size_t index);
STOWI_SHARED size_t stowi_effects_overwrite_count(const stow_effects* effects);
// Whether |value| is a consumed input that a node may overwrite, as an output does that takes its
// bytes (stow_effects_alias): the next run finds them there. |effects| may be NULL.
bool stowi_effects_is_handed_on(const stow_effects* effects, stow_value value);
STOWI_SHARED stowi_effects_in_place_entry stowi_effects_overwrite(const stow_effects* effects,
                                                                  size_t index);
size_t stowi_effects_forbidden_count(const stow_effects* effects);
stowi_effects_in_place_entry stowi_effects_forbidden(const stow_effects* effects, size_t index);
// Whether |value| is placed inside an operand of its node, and where.
STOWI_SHARED bool stowi_effects_inside(const stow_effects* effects, stow_value value,
                                       size_t* out_operand, uint64_t* out_offset);
uint64_t stowi_effects_storage(const stow_effects* effects,
                               stow_value value);  // STOW_BYTES_DEFAULT
uint64_t stowi_effects_alignment(const stow_effects* effects, stow_value value);  // 0: none
bool stowi_effects_own(const stow_effects* effects, stow_value value);
STOWI_SHARED bool stowi_effects_state(const stow_effects* effects, stow_value value);
STOWI_SHARED uint64_t stowi_effects_offset(const stow_effects* effects,
                                           stow_value value);  // STOW_OFFSET_NONE
stow_io_policy stowi_effects_io(const stow_effects* effects, stow_value value);

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
// Whether |node| may be run row by row: nothing forbids it, and nothing is declared about when it
// reads and writes, or where. |effects| may be NULL. O(log of such effects).
STOWI_SHARED bool stowi_effects_allows_rows(const stow_effects* effects, stow_node node);
// Whether nothing is declared about where |value| lies, or how large it is. |effects| may be NULL.
bool stowi_effects_is_plain(const stow_effects* effects, stow_value value);
// Whether |value| has a fixed offset. |effects| may be NULL.
bool stowi_effects_is_fixed(const stow_effects* effects, stow_value value);
// Whether reads last longer, writes start sooner or more values share bytes than the graph tells,
// so that its verification says too little about who reads what was written over. |effects| may be
// NULL.
bool stowi_effects_touch_writes(const stow_effects* effects);
bool stowi_effects_is_input(const stow_graph* graph, stow_value value);

// The policy of a boundary value or output, with |fallback| for those that effects leave at
// default: one of keep, consume (inputs only) and external. Keep for every other value.
stow_io_policy stowi_effects_io_policy(const stow_graph* graph, const stow_effects* effects,
                                       stow_io_policy fallback, stow_value value, bool is_output);

// Refuses effects of another graph. |effects| may be NULL.
stow_status stowi_effects_check_graph(const stow_effects* effects, const stow_graph* graph,
                                      stow_diag* diag);

// The graph's outputs, as a set of values.
static inline bool stowi_effects_bits_of_outputs(stowi_bits* bits, const stow_graph* graph,
                                                 stow_allocator allocator) {
  if (!stowi_bits_init(bits, stow_graph_value_count(graph), allocator)) {
    return false;
  }
  const stow_value* outputs = stow_graph_outputs(graph);
  for (size_t i = 0; i < stow_graph_output_count(graph); ++i) {
    stowi_bits_add(bits, outputs[i]);
  }
  return true;
}

#endif  // STOWAGE_SRC_EFFECTS_API_H_
