// What was prepared: the kernel of every node, and what it needs.
#ifndef STOWAGE_SRC_EXEC_RUN_PREPARE_H_
#define STOWAGE_SRC_EXEC_RUN_PREPARE_H_

#include <stowage/exec.h>

#include "exec/run/calls.h"

#define STOWI_EXEC_MAX_THREADS 256
#define STOWI_EXEC_DIMS_SIZE (STOW_MAX_RANK * sizeof(int64_t))

// Variants of a kernel that are considered, the fastest first; the last of them is the kernel's.
#define STOWI_EXEC_MOST_VARIANTS 4

typedef struct stowi_exec_prepared_node {
  stow_kernel kernel;  // |run| is NULL where the executor itself carries the node out
  // Of the node's pieces of scratch, the one that it asked for here; SIZE_MAX: none.
  size_t scratch_index;
  uint64_t scratch_size;
  uint32_t variant;  // of the kernel
  // What the node could ask for: bytes of each variant, none more than the one before.
  uint32_t price_count;
  uint64_t prices[STOWI_EXEC_MOST_VARIANTS];
} stowi_exec_prepared_node;

struct stow_prepared {
  stow_allocator allocator;
  const stow_graph* graph;
  stow_effects* effects;
  uint32_t threads;
  uint32_t node_count;
  stowi_exec_prepared_node* nodes;
  bool has_foreign;  // some kernels may be the caller's
};

// Chooses the variant of a node's kernel, of which there are |count|.
typedef uint32_t (*stowi_exec_choose)(void* user, stow_node node, uint32_t count);
// stow_prepare with variants that |choose| chooses; NULL: the fastest.
stow_status stowi_exec_prepare(const stow_graph* graph, const stow_prepare_options* options,
                               stowi_exec_choose choose, void* user, stow_allocator allocator,
                               stow_diag* diag, stow_prepared** out_prepared);

// The fastest variant of |node| that needs at most |bytes| of scratch; UINT32_MAX if none does.
uint32_t stowi_exec_variant_within(const stow_prepared* prepared, stow_node node, uint64_t bytes);

// Whether |node| computes with data-dependent dims: a value that it reads or makes is
// bounded, or its dims depend on data.
bool stowi_exec_is_bounded(const stow_graph* graph, stow_node node);

// Of a loop: how its parts belong together (stow_carry), and how many values it carries.
typedef struct stowi_exec_body {
  stow_node owner;
  stow_node args;  // STOW_NODE_NONE if there is none
  stow_node yield;
  size_t carried;
  stow_carry carry;
} stowi_exec_body;

stowi_exec_body stowi_exec_body_of(const stow_graph* graph, stow_node loop);
// Whether yield |i| of what is carried is another carried value's bytes, which the yields before it
// may have written over: it is moved aside first.
bool stowi_exec_body_swaps(const stow_graph* graph, const stowi_exec_body* body, size_t i);

#endif  // STOWAGE_SRC_EXEC_RUN_PREPARE_H_
