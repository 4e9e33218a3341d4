// What `slice`, `narrow`, `split`, `gather` and the like read of their operand 0, as numbers.
#ifndef STOWAGE_SRC_REWRITE_PICKS_H_
#define STOWAGE_SRC_REWRITE_PICKS_H_

#include "graph/api.h"

typedef struct stowi_rewrite_pick {
  size_t axis_count;
  int64_t axes[STOW_MAX_RANK];                                               // from the front
  int64_t starts[STOW_MAX_RANK], ends[STOW_MAX_RANK], steps[STOW_MAX_RANK];  // of a slice
} stowi_rewrite_pick;

// Counts an axis from the front; false if it is out of range.
bool stowi_rewrite_read_from_front(int64_t* axis, size_t rank);
// The attribute |name|, or, if that is empty, the known numbers of operand |k|. False if they are
// not known.
bool stowi_rewrite_read_list(const stow_graph* graph, stow_node node, const char* name, size_t k,
                             int64_t* out, size_t* out_count);
// The attribute `axis`, of a node that reads a tensor of |rank|.
bool stowi_rewrite_read_axis(const stow_graph* graph, stow_node node, size_t rank,
                             stowi_rewrite_pick* out_pick);
bool stowi_rewrite_read_slice(const stow_graph* graph, stow_node node, size_t rank,
                              stowi_rewrite_pick* out_pick);

#endif  // STOWAGE_SRC_REWRITE_PICKS_H_
