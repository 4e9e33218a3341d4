// A cluster as one node: `blocks`, and the function that it applies.
#ifndef STOWAGE_SRC_REWRITE_BLOCKS_H_
#define STOWAGE_SRC_REWRITE_BLOCKS_H_

#include "rewrite/load.h"
#include "rewrite/pass.h"
#include "rewrite/space.h"

// Notes a `blocks` node in place of the last of |count| nodes, ascending, from |first| on in the
// pass's list. The result of that one is its result, or the output that has the
// same elements with other dims; |space| says how rows are cut. O(outputs).
stow_status stowi_rewrite_blocks_at(stowi_rewrite_pass* pass, const stowi_rewrite_space* space,
                                    size_t first, size_t count);

#endif  // STOWAGE_SRC_REWRITE_BLOCKS_H_
