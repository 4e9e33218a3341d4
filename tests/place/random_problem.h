// Random placement problems of every kind, for tests of strategies.
#ifndef STOWAGE_TESTS_PLACE_RANDOM_PROBLEM_H_
#define STOWAGE_TESTS_PLACE_RANDOM_PROBLEM_H_

#include <stowage/place.h>

#include "support/test.h"

typedef struct random_shape {
  size_t count;
  bool alignments;
  bool guards;
  bool fixed;
  bool windows;
} random_shape;

// Each of the last four by chance.
random_shape random_shape_of(test_random* random, size_t max_count);
stow_problem* random_problem(test_random* random, const random_shape* shape);

// Places it, and checks the placement and the strategy's outcome. NULL on failure.
stow_placement* place_and_check(const stow_problem* problem, const char* strategy,
                                const stow_place_options* options);
// The same, with default options and this many nodes; returns the height.
uint64_t height_with(const stow_problem* problem, const char* strategy, uint64_t nodes);

// For test_fault_sweep: |user| is a strategy's name. A problem with fixed buffers and windows, or
// one without.
stow_status attempt_mixed(stow_allocator allocator, void* user);
stow_status attempt_plain(stow_allocator allocator, void* user);

// The contract of every strategy: correct on all kinds of problems, the same on every run, within
// its budget, stopped by its callback, and unharmed by failing allocations.
void check_strategy(const char* strategy);

#endif  // STOWAGE_TESTS_PLACE_RANDOM_PROBLEM_H_
