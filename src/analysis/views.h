// Internals of the views table, and the carried values of loops, which lifetimes need too.
#ifndef STOWAGE_SRC_ANALYSIS_VIEWS_H_
#define STOWAGE_SRC_ANALYSIS_VIEWS_H_

#include "analysis/api.h"
#include "base/bits.h"

struct stowi_analysis_views {
  stow_allocator allocator;
  uint32_t value_count;
  stow_io_policy io;   // default from the options
  bool inputs;         // from the options: inputs have bytes in the arena
  stow_value* root;    // by value
  uint64_t* offset;    // by value: offset in the root
  uint64_t* bytes;     // by value
  uint8_t* alignment;  // by value: log2 + 1, 0: none; NULL if effects ask for no alignment
  stowi_bits noops;    // of nodes
  stowi_bits laid;     // values that were moved into another root; has no words until the first
};

// A loop and the values that it carries between iterations.
typedef struct stowi_analysis_loop {
  stow_node owner;
  stow_region body;
  stow_node args;  // STOW_NODE_NONE if there is none
  stow_node yield;
  size_t count;  // of carried values; 0 without `args`
  stow_carry carry;
} stowi_analysis_loop;

// False if |owner| is not a loop.
bool stowi_analysis_loop_of(const stow_graph* graph, stow_node owner,
                            stowi_analysis_loop* out_loop);
// The i-th carried value as it enters the loop (may be STOW_VALUE_NONE), in the body, and as it
// leaves.
stow_value stowi_analysis_loop_initial(const stow_graph* graph, const stowi_analysis_loop* loop,
                                       size_t i);
stow_value stowi_analysis_loop_argument(const stow_graph* graph, const stowi_analysis_loop* loop,
                                        size_t i);
stow_value stowi_analysis_loop_result(const stow_graph* graph, const stowi_analysis_loop* loop,
                                      size_t i);
// Whether operand |k| of the owner is an initial value.
bool stowi_analysis_loop_is_initial(const stowi_analysis_loop* loop, size_t k);

// Whether |value| was moved into another root, which makes it a view that its node writes.
static inline bool stowi_analysis_views_is_in_place(const stowi_analysis_views* views,
                                                    stow_value value) {
  return views->laid.words != NULL && stowi_bits_has(&views->laid, value);
}

// How stowi_analysis_views.alignment encodes an alignment, a power of two or 0.
uint8_t stowi_analysis_views_alignment_code(uint64_t alignment);

// Fails if the views were made for another graph.
stow_status stowi_analysis_views_check_graph(const stowi_analysis_views* views,
                                             const stow_graph* graph, stow_diag* diag);

#endif  // STOWAGE_SRC_ANALYSIS_VIEWS_H_
