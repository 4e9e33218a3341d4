// What was prepared: the program of a graph, and the effects to plan it with.
#ifndef STOWAGE_SRC_EXEC_RUN_PREPARE_H_
#define STOWAGE_SRC_EXEC_RUN_PREPARE_H_

#include <stowage/exec.h>

#include "exec/program/program.h"
#include "exec/run/blocks.h"
#include "exec/run/pack.h"

#define STOWI_EXEC_MAX_THREADS 256

struct stow_prepared {
  stow_allocator allocator;
  stow_effects* effects;
  uint32_t threads;
  bool has_foreign;  // some kernels may be the caller's
  stowi_exec_program program;
  stowi_exec_packed* packed;  // what its executors share
  stowi_exec_blocks* blocks;  // NULL: there are no such nodes
};

// Chooses the variant of a node's kernel, of which there are |count|.
typedef uint32_t (*stowi_exec_choose)(void* user, stow_node node, uint32_t count);
// stow_prepare with variants that |choose| chooses; NULL: what fits into the plan.
stow_status stowi_exec_prepare(const stow_graph* graph, const stow_prepare_options* options,
                               stowi_exec_choose choose, void* user, stow_allocator allocator,
                               stow_diag* diag, stow_prepared** out_prepared);
// stow_prepare for a function: input k is packed, where its kernel can, if bit k of |inputs| is
// set.
stow_status stowi_exec_prepare_function(const stow_graph* graph,
                                        const stow_prepare_options* options, uint64_t inputs,
                                        stow_allocator allocator, stow_diag* diag,
                                        stow_prepared** out_prepared);

#endif  // STOWAGE_SRC_EXEC_RUN_PREPARE_H_
