// The functions of `stream` nodes, prepared for some rows at a time.
#ifndef STOWAGE_SRC_EXEC_RUN_STREAM_H_
#define STOWAGE_SRC_EXEC_RUN_STREAM_H_

#include <stowage/exec.h>

#include "exec/kernels/blocks/stream.h"

typedef struct stowi_exec_streams stowi_exec_streams;

// |kernels| is borrowed; NULL: the library's.
stow_status stowi_exec_streams_create(const stow_graph* graph, const stow_kernels* kernels,
                                      uint32_t threads, stow_allocator allocator, stow_diag* diag,
                                      stowi_exec_streams** out_streams);
void stowi_exec_streams_destroy(stowi_exec_streams* streams);
// What |node| is run with, by variant, STOWI_KERNEL_STREAM_VARIANTS of them, owned by |streams|;
// what an earlier call made is destroyed. Bit k of |packed|: operand k is packed, if a kernel of
// the function can. It has been checked.
stow_status stowi_exec_streams_of(stowi_exec_streams* streams, stow_node node, uint64_t packed,
                                  stow_diag* diag, const stowi_kernel_stream** out_data);

// Ring |index| in variant |variant| of |node|; false past the end.
bool stowi_exec_streams_ring(const stowi_exec_streams* streams, stow_node node, uint32_t variant,
                             size_t index, stow_ring* out_ring);

// Proves from |function| that a run with |stream|, one variant, reads each row that it should,
// where it was written and before it is overwritten, and stays inside its bytes: STOW_ERR_VIOLATION
// if not. It trusts neither tables nor order. O(rows × (operands + rows of windows)).
stow_status stowi_exec_stream_check(const stow_graph* function, const stowi_kernel_stream* stream,
                                    stow_allocator allocator, stow_diag* diag);

#endif  // STOWAGE_SRC_EXEC_RUN_STREAM_H_
