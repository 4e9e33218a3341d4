// Random graphs of two symbols with ranges, `s` and `t`.
#ifndef STOWAGE_TESTS_PLAN_RANDOM_RANGE_H_
#define STOWAGE_TESTS_PLAN_RANDOM_RANGE_H_

#include <stowage/graph.h>

#include "support/test.h"

// The range of `s` begins at most 2 later than |of_s| says.
stow_graph* random_range_graph(test_random* random, stow_dim_range of_s, stow_dim_range of_t,
                               stow_allocator allocator);

#endif  // STOWAGE_TESTS_PLAN_RANDOM_RANGE_H_
