// Runs of a random graph that must be alike: with elements that depend on the graph alone, each run
// in its own way, leaving a trace of all that every node gave.
#ifndef STOWAGE_TESTS_EXEC_RUN_GRAPH_H_
#define STOWAGE_TESTS_EXEC_RUN_GRAPH_H_

#include <stowage/exec.h>

#include "exec/suitable.h"
#include "support/frozen.h"

// How to plan and run.
typedef struct run_way {
  const char* name;
  stow_plan_options plan;
  uint32_t threads;  // among which even the smallest work is divided
  bool paranoid;
  bool poison;
  bool has_effects;   // boundary values and outputs are kept, consumed or bound, as drawn, and some
                      // values have more room, other alignments or bytes of their own
  bool is_repeated;   // the trace is that of a second run
  bool has_variants;  // kernels run with variants that are drawn, and weights are packed
  bool checks_rows;   // nodes that can be run row by row are, once more, with rows that are apart;
                      // nothing may be in place
} run_way;

// A graph, and what its runs have in common.
typedef struct run_graph {
  const stow_graph* graph;
  uint64_t seed;
  suitable_range* ranges;
  stow_kernels* kernels;   // the library's, and one for all custom ops of random graphs. What they
                           // refuse is noted, and the run goes on
  test_frozen* frozen;     // where the graph and |data| are; runs only read them
  void** data;             // by value: elements of boundary values that have none
  stow_node node;          // being run
  stow_status refusal;     // what its kernel said
  stow_splitter splitter;  // of the executor
  bool checks_rows;
  uint64_t* by_rows;  // by op: nodes that were run so, and gave the same bits
} run_graph;

// What a run left.
typedef struct run_trace {
  stow_status status;  // of planning, creating or running
  bool is_run;         // false: it did not come to that
  stow_node failed;    // where the run ended, else the first node that was refused
  uint64_t runs;       // of nodes with a kernel
  size_t packed;       // weights
  uint32_t* counts;    // by node: how often it ran
  uint32_t* refusals;  // by node: how often its kernel refused to
  uint64_t unsuited;   // refusals that are not for a type that the kernel does not know
  uint64_t* hashes;    // by node: of refusals, results' dims and elements, all times that it ran
  uint64_t* outputs;   // by output: of dims and elements
  char message[STOW_DIAG_MESSAGE_SIZE];
} run_trace;

// |graph|, which was allocated from |frozen|, is borrowed. Ends the program where there is no
// memory.
void run_graph_init(run_graph* g, const stow_graph* graph, test_frozen* frozen, uint64_t seed);
void run_graph_free(run_graph* g);

run_trace run_graph_run(run_graph* g, const run_way* way);
void run_trace_free(run_trace* trace);

// What differs between two traces, as text with op, operands and types, or an empty one. Where one
// of them ran in another order, only what came to an end in both is compared.
void run_trace_difference(const run_graph* g, const run_trace* a, const run_trace* b,
                          bool same_order, char* out, size_t size);

#endif  // STOWAGE_TESTS_EXEC_RUN_GRAPH_H_
