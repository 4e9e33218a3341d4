// Elements for values of random graphs that suit the ops that read them: indices that are in range,
// counts that are small, probabilities. What suits is found backwards, from the readers on.
#ifndef STOWAGE_TESTS_EXEC_SUITABLE_H_
#define STOWAGE_TESTS_EXEC_SUITABLE_H_

#include <stowage/graph.h>
#include <stowage/kernel.h>

// Integers of a value lie in [least, most].
typedef struct suitable_range {
  int64_t least;
  int64_t most;
} suitable_range;

// One for each value of the graph; free with free(). Ends the program where there is no memory.
suitable_range* suitable_ranges(const stow_graph* graph);

// Floats in [-2, 2), bools, integers of |range|: another |seed|, other elements.
void suitable_fill(const stow_tensor* tensor, suitable_range range, uint64_t seed);

#endif  // STOWAGE_TESTS_EXEC_SUITABLE_H_
