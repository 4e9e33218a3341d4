// Runs a graph, rewritten or not.
#ifndef STOWAGE_TESTS_REWRITE_RUN_TEXT_H_
#define STOWAGE_TESTS_REWRITE_RUN_TEXT_H_

#include <stowage/exec.h>
#include <stowage/rewrite.h>

#define RUN_MOST 4096  // bytes of an output

typedef struct run_output {
  stow_dtype dtype;
  size_t count;
  unsigned char data[RUN_MOST];
} run_output;

// Runs |graph|, or what |rewritten| made of it, if that is not NULL, with inputs that follow from
// |seed|: integers are any, floats between -2 and 2, some of them -0. Params without data have such
// elements, too, the same in each run. There is a kernel for custom ops with the name `custom`.
// Ends the program on failure.
void run_first_output(const stow_graph* graph, const stow_rewritten* rewritten, uint64_t seed,
                      run_output* out);
// A hash of types and bits of all outputs.
uint64_t run_outputs(const stow_graph* graph, const stow_rewritten* rewritten, uint64_t seed);
// The same of |bound|, a copy of what |rewritten| made that has been bound.
uint64_t run_bound_outputs(const stow_graph* bound, const stow_rewritten* rewritten, uint64_t seed);

#endif  // STOWAGE_TESTS_REWRITE_RUN_TEXT_H_
