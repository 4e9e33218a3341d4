// What was prepared: the program of a graph, and the effects to plan it with.
#ifndef STOWAGE_SRC_EXEC_RUN_PREPARE_H_
#define STOWAGE_SRC_EXEC_RUN_PREPARE_H_

#include <stowage/exec.h>

#include "base/alloc.h"
#include "exec/api.h"
#include "exec/program/frame.h"
#include "exec/program/program.h"
#include "exec/run/blocks.h"
#include "exec/run/pack.h"
#include "exec/run/stream.h"
#include "graph/api.h"

#define STOWI_EXEC_MAX_THREADS 256

// Chooses the variant of a node's kernel, of which there are |count|.
typedef uint32_t (*stowi_exec_choose)(void* user, stow_node node, uint32_t count);

// An output that is an input of the next run (carry.c).
typedef struct stowi_exec_carry {
  stow_value output;
  stow_value input;
  // Of an executor:
  uint64_t rows;   // of a cache that grows in place: where it is cut to let it; 0: it does not
  uint64_t pitch;  // of these, in bytes
  bool is_apart;   // the input's rows are as far apart as that; else they are dense
  unsigned char* buffers[2];  // the input's, then the output's; NULL where it grows in the former
  size_t size;                // of each
  bool is_pending;            // a run has written the output, and the input was not set since
  stow_tensor left;           // the output, as it was left
} stowi_exec_carry;

struct stow_prepared {
  stow_allocator allocator;
  const stow_graph* source;  // the caller's
  stow_prepare_options options;
  stow_effects* effects;
  uint32_t threads;
  bool has_foreign;  // some kernels may be the caller's
  stowi_exec_program program;
  stowi_exec_packed* packed;    // what its executors share
  stowi_exec_blocks* blocks;    // NULL: there are no such nodes
  stowi_exec_streams* streams;  // the same
  stowi_graph_twin* twin;       // of |source|, if that has ranges: the program's graph; else NULL
  // Whether dims change after this was made; then also what kernels are asked for scratch with.
  bool changes;
  stowi_exec_choose choose;  // NULL: all variants are priced
  void* user;                // of |choose|
  stowi_exec_frame frame;
  STOWI_VEC(stowi_exec_carry) carries;
};

// After the graph's dims have changed: sizes, blocks and scratch again, and effects with them.
// Allocates nothing if they were so before.
stow_status stowi_exec_prepared_measure(stow_prepared* prepared, stow_diag* diag);
// A prepared object like |prepared|, which may change on its own. Packed weights are not shared.
stow_status stowi_exec_prepared_copy(const stow_prepared* prepared, stow_allocator allocator,
                                     stow_diag* diag, stow_prepared** out_prepared);
// stow_prepare with variants that |choose| chooses; NULL: what fits into the plan.
stow_status stowi_exec_prepare(const stow_graph* graph, const stow_prepare_options* options,
                               stowi_exec_choose choose, void* user, stow_allocator allocator,
                               stow_diag* diag, stow_prepared** out_prepared);
// stow_prepare for a function, whose dims change: input k is packed, where its kernel can, if bit k
// of |inputs| is set.
stow_status stowi_exec_prepare_function(const stow_graph* graph,
                                        const stow_prepare_options* options, uint64_t inputs,
                                        stow_allocator allocator, stow_diag* diag,
                                        stow_prepared** out_prepared);

#endif  // STOWAGE_SRC_EXEC_RUN_PREPARE_H_
