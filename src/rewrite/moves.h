// Nodes that compute a whole element by element from a source, and are to compute its parts
// instead: of what is picked from the whole, or of what a concat makes the source of.
#ifndef STOWAGE_SRC_REWRITE_MOVES_H_
#define STOWAGE_SRC_REWRITE_MOVES_H_

#include "rewrite/pass.h"

#define STOWI_REWRITE_MOST_NODES 16
#define STOWI_REWRITE_MOST_PARTS 32

// What moves: |nodes|, in ascending order, of which the last makes the whole. The caller drops
// them.
stow_status stowi_rewrite_moved(stowi_rewrite_pass* pass, const stow_node* nodes, size_t count,
                                stow_value source, stowi_rewrite_change* out_change);
// |part| of the whole, by `slice`, `narrow`, `split` or `gather`, is computed of that part of the
// source, in the place of the node that picks it or before |at|. The caller drops what picked it.
stow_status stowi_rewrite_move_behind(stowi_rewrite_pass* pass, stowi_rewrite_change* change,
                                      stow_value part, stow_node at);
// The whole is concatenated of what is computed of the source's parts. The caller drops the concat.
stow_status stowi_rewrite_move_before(stowi_rewrite_pass* pass, stowi_rewrite_change* change);

#endif  // STOWAGE_SRC_REWRITE_MOVES_H_
