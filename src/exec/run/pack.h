// Packing: weights in the order in which the one kernel that reads them does.
#ifndef STOWAGE_SRC_EXEC_RUN_PACK_H_
#define STOWAGE_SRC_EXEC_RUN_PACK_H_

#include <stowage/exec.h>

#include "exec/program/frame.h"

// What all executors of a prepared graph read; made when the first of them is.
typedef struct stowi_exec_packed stowi_exec_packed;

stow_status stowi_exec_packed_create(stow_allocator allocator, stow_diag* diag,
                                     stowi_exec_packed** out_packed);
void stowi_exec_packed_destroy(stowi_exec_packed* packed);

// Who reads each value, and which ones may not be packed.
typedef struct stowi_exec_packer {
  stowi_exec_program* program;
  const stow_effects* effects;
  stow_pack pack;
  uint64_t inputs;    // of a function: bit k is set if input k is given as packed, where it can be
  uint32_t* readers;  // by value: operands of nodes that it is
} stowi_exec_packer;

// Freed also after a failure.
stow_status stowi_exec_packer_init(stowi_exec_packer* packer, stow_diag* diag);
void stowi_exec_packer_free(stowi_exec_packer* packer);
// Operands of |node| that may be packed, if its kernel can, as bits.
uint64_t stowi_exec_packer_candidates(const stowi_exec_packer* packer, stow_node node);
// Decides which operands of |node| are packed, and notes it in the program. The call is the node's.
void stowi_exec_packer_choose(stowi_exec_packer* packer, stow_node node, stow_kernel_call* call);

#endif  // STOWAGE_SRC_EXEC_RUN_PACK_H_
