// What the rule `blocks` does, for rules that come before it.
#ifndef STOWAGE_SRC_REWRITE_CLUSTERS_H_
#define STOWAGE_SRC_REWRITE_CLUSTERS_H_

#include "rewrite/load.h"
#include "rewrite/pass.h"

typedef struct stowi_rewrite_homes {
  uint32_t* of;                // by node: 1 + the number of the node that it will be part of; 0
  STOWI_VEC(uint32_t) counts;  // of its nodes, by number
} stowi_rewrite_homes;

// Notes in |load|, not in the pass, what `blocks` would fuse if it came now: nothing if it is off.
// |homes->of| is zeroed by the caller, who frees both also after a failure; NULL: nobody asks.
// O(nodes).
stow_status stowi_rewrite_note_clusters(stowi_rewrite_pass* pass, stowi_rewrite_load* load,
                                        stowi_rewrite_homes* homes);

#endif  // STOWAGE_SRC_REWRITE_CLUSTERS_H_
