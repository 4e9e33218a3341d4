// Nodes that an op's shape function takes, but that nobody in his right mind would write: the cases
// of graph/in_place_cases.h with other dtypes, dims, ranks, attributes, operands and constants. And
// elements that nobody expects: indices beyond everything, NaN, infinities, bits without a meaning.
#ifndef STOWAGE_TESTS_EXEC_HOSTILE_H_
#define STOWAGE_TESTS_EXEC_HOSTILE_H_

#include <stowage/graph.h>

#include "support/test.h"

// Like case |index| of in_place_cases.h, but varied; NULL where the op refuses what came out, or it
// is too large. The last node is the one in question.
stow_graph* hostile_graph(size_t index, test_random* random);

// Fills |count| elements of |dtype|.
void hostile_fill(stow_dtype dtype, void* data, size_t count, test_random* random);

#endif  // STOWAGE_TESTS_EXEC_HOSTILE_H_
