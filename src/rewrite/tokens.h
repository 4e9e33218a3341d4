// Nodes over the same rows as one node: `blocks`, and the function that it applies. Rows may move
// between them.
#ifndef STOWAGE_SRC_REWRITE_TOKENS_H_
#define STOWAGE_SRC_REWRITE_TOKENS_H_

#include "rewrite/pass.h"
#include "rewrite/rows.h"

#define STOWI_REWRITE_MOST_TOKEN_NODES 40
#define STOWI_REWRITE_MOST_USES 64  // operands of a node

typedef struct stowi_rewrite_member {
  stow_node node;
  stowi_rewrite_rows rows;  // of its result
} stowi_rewrite_member;

// Members that are computed head by head, all of them for one index of a dim before the rows, so
// that what is between has no other: scores are as large as those of one head.
typedef struct stowi_rewrite_heads {
  size_t first, end;  // of members in ascending order; none: first == end
  int64_t parts;      // one or several heads each
  int64_t length;
} stowi_rewrite_heads;

// The longest run of |members|, in ascending order, that have the same heads, and a product with a
// matrix for each.
stowi_rewrite_heads stowi_rewrite_find_heads(const stow_graph* graph,
                                             const stowi_rewrite_member* members, size_t count);

// Notes a `blocks` node in place of the last of |count| nodes, ascending, from |first| on in the
// pass's list: STOWI_REWRITE_MOST_TOKEN_NODES at most. |rows| are those of its result. O(outputs).
stow_status stowi_rewrite_tokens_at(stowi_rewrite_pass* pass, const stowi_rewrite_rows* rows,
                                    size_t first, size_t count);

#endif  // STOWAGE_SRC_REWRITE_TOKENS_H_
