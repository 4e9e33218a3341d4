// Random graphs with patterns planted in them that rules look for.
#ifndef STOWAGE_TESTS_REWRITE_PLANT_H_
#define STOWAGE_TESTS_REWRITE_PLANT_H_

#include <stowage/graph.h>

#include "support/test.h"

// A copy of |graph| in which most params have data, and nodes are followed by identities, pairs of
// transposes, duplicates and broadcasts, which later nodes read in their place; only a copy if
// shapes depend on numbers and do not take these. The caller destroys it. Ends the program on
// failure.
stow_graph* plant_patterns(test_random* random, const stow_graph* graph, stow_allocator allocator);

#endif  // STOWAGE_TESTS_REWRITE_PLANT_H_
