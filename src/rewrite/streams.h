// A segment as one node: `stream`, and the function that it applies.
#ifndef STOWAGE_SRC_REWRITE_STREAMS_H_
#define STOWAGE_SRC_REWRITE_STREAMS_H_

#include "rewrite/pass.h"

// Whether a function needs operand |k| of |node|. Of numbers that its type depends on it does not:
// they are known, and attributes there.
bool stowi_rewrite_streams_operand(const stow_graph* graph, stow_node node, size_t k);

// Most results that a node of a function may have.
#define STOWI_REWRITE_MOST_RESULTS 64

// Notes a `stream` node in place of the last of |count| nodes, ascending, from |first| on in the
// pass's list, with |result_count| results from |first_result| on in its list of results.
stow_status stowi_rewrite_stream_at(stowi_rewrite_pass* pass, size_t first, size_t count,
                                    size_t first_result, size_t result_count);

#endif  // STOWAGE_SRC_REWRITE_STREAMS_H_
