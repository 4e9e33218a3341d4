// Random graphs, effects and schedules for property tests: small, valid, and full of what makes
// planning hard (views of weights, of views and of outputs, several results, regions in regions,
// caches written in place, empty tensors, dead values, boundary values anywhere, outputs that are
// views or appear twice).
#ifndef STOWAGE_TESTS_SUPPORT_RANDOM_GRAPH_H_
#define STOWAGE_TESTS_SUPPORT_RANDOM_GRAPH_H_

#include <stowage/graph.h>
#include <stowage/schedule.h>

#include "analysis/api.h"
#include "support/test.h"

// Adds some nodes of its own choice to |graph|. They read only values of |visible|, which are not
// written into later, or what was added with them.
typedef void (*random_nodes)(void* user, test_random* random, stow_graph* graph,
                             const stow_value* visible, size_t count);

typedef struct random_graph_options {
  size_t nodes;       // about so many
  bool regions;       // ifs and loops
  bool appends;       // kv_append
  bool all_types;     // not only f32
  stow_dim most;      // the largest dim of random types; 0: as it comes
  random_nodes more;  // makes half of the nodes; NULL: there are none of that kind
  void* user;
} random_graph_options;

// Everything, |nodes| nodes.
random_graph_options random_graph_everything(size_t nodes);

// A graph that verifies; the same state of |random| gives the same graph. Params are named p0, p1,
// … and a name always has the same type, so that graphs can share weights. Ends the program on
// failure.
stow_graph* random_graph(test_random* random, const random_graph_options* options,
                         stow_allocator allocator);

// Some effects of every kind, as far as the graph allows. They may still contradict each other in
// planning. Ends the program if out of memory.
stow_effects* random_effects(test_random* random, const stow_graph* graph,
                             stow_allocator allocator);

// A random order that keeps dependencies and regions; NULL if the order drawn reads a cache after a
// write.
stow_schedule* random_schedule(test_random* random, const stow_graph* graph,
                               stow_allocator allocator);

#endif  // STOWAGE_TESTS_SUPPORT_RANDOM_GRAPH_H_
