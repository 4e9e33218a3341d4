// Calls of the kernels in a function, as `blocks` and `stream` make them, and packing of their
// operands as the kernel that reads one does it.
#ifndef STOWAGE_SRC_EXEC_KERNELS_BLOCKS_CALL_H_
#define STOWAGE_SRC_EXEC_KERNELS_BLOCKS_CALL_H_

#include "exec/kernels/blocks/blocks.h"

// A call of |step|, by one worker, without scratch.
stow_kernel_call stowi_kernel_block_call(const stowi_kernel_block_step* step,
                                         const stow_tensor* const* operands,
                                         stow_tensor* const* results);

// Packing of operand |k| of |call|, of which every step of |body| that reads it reads all.
uint64_t stowi_kernel_block_pack_size(const stow_kernel_call* call,
                                      const stowi_kernel_block_body* body, size_t k);
void stowi_kernel_block_pack(const stow_kernel_call* call, const stowi_kernel_block_body* body,
                             size_t k, void* out);

#endif  // STOWAGE_SRC_EXEC_KERNELS_BLOCKS_CALL_H_
