// How many bytes are live at each step of a graph in its own order: an estimate by lifetimes and
// views alone, without results in place and the like, and with inputs that are kept. It needs
// neither effects nor kernels, so that what is decided by it is the same for all.
#ifndef STOWAGE_SRC_REWRITE_LIVE_H_
#define STOWAGE_SRC_REWRITE_LIVE_H_

#include "graph/api.h"

typedef struct stowi_rewrite_lives {
  stow_allocator allocator;
  const stow_graph* graph;
  uint32_t value_count;
  uint32_t node_count;
  stow_value* roots;  // by value: whose bytes it has
  uint64_t* bytes;    // by root; weights have none
  stow_node* ends;    // by root: the last node at which it is live
  uint64_t* load;     // by node, while a peak is looked for
} stowi_rewrite_lives;

// All dims are numbers. O(size of the graph). Freed also after a failure.
stow_status stowi_rewrite_lives_init(stowi_rewrite_lives* lives, const stow_graph* graph,
                                     stow_allocator allocator, stow_diag* diag);
void stowi_rewrite_lives_free(stowi_rewrite_lives* lives);

// What is read in a region that it is not of is live until the region's owner is done: the step
// until which |reader| needs |root|.
stow_node stowi_rewrite_end_of_read(const stow_graph* graph, stow_value root, stow_node reader);
// Whether |value| has bytes at |node|.
bool stowi_rewrite_is_live(const stowi_rewrite_lives* lives, stow_value value, stow_node node);
// The most bytes that are live at a step, and the first such step, without values of nodes for
// which |is_left_out| is set; NULL: with all. O(values + nodes).
uint64_t stowi_rewrite_peak(stowi_rewrite_lives* lives, const bool* is_left_out,
                            stow_node* out_node);
// Bytes of params and constants.
uint64_t stowi_rewrite_weights(const stow_graph* graph);

// The largest number instead of an overflow.
static inline uint64_t stowi_rewrite_add(uint64_t a, uint64_t b) {
  return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

#endif  // STOWAGE_SRC_REWRITE_LIVE_H_
