// The functions of `blocks` nodes, prepared and planned for the sizes of blocks that are
// considered.
#ifndef STOWAGE_SRC_EXEC_RUN_BLOCKS_H_
#define STOWAGE_SRC_EXEC_RUN_BLOCKS_H_

#include <stowage/exec.h>

#include "exec/kernels/blocks/blocks.h"
#include "exec/run/changes.h"

typedef struct stowi_exec_blocks stowi_exec_blocks;

// |graph| is |source|, or a twin of it that is bound to numbers. |kernels| is borrowed; NULL: the
// library's. Blocks are small enough to be divided among |workers|.
stow_status stowi_exec_blocks_create(const stow_graph* source, const stow_graph* graph,
                                     const stow_kernels* kernels, uint32_t workers,
                                     stow_allocator allocator, stow_diag* diag,
                                     stowi_exec_blocks** out_blocks);
void stowi_exec_blocks_destroy(stowi_exec_blocks* blocks);
// The graph has other numbers: what nodes are run with is found again by stowi_exec_blocks_of, for
// each of them, in the same order. NULL is fine.
void stowi_exec_blocks_measure(stowi_exec_blocks* blocks);
// Names all numbers that measuring changes and runs read. NULL is fine.
void stowi_exec_blocks_name(stowi_exec_blocks* blocks, stowi_exec_changes* changes);

// What |node| is run with, owned by |blocks|, and how many sizes of blocks that has, the largest
// first: at most STOWI_EXEC_MOST_SIZES. Bit k of |packed|: operand k is packed if it is
// the same for all blocks and a kernel of the function can; after a measurement, those that were
// stay packed. Nodes with the same function and sizes
// share what they can.
#define STOWI_EXEC_MOST_SIZES 4
stow_status stowi_exec_blocks_of(stowi_exec_blocks* blocks, stow_node node, uint64_t packed,
                                 stow_diag* diag, const stowi_kernel_blocks** out_data,
                                 uint32_t* out_sizes);

#endif  // STOWAGE_SRC_EXEC_RUN_BLOCKS_H_
