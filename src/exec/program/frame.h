// What calls of a program's kernels are made of: a tensor for each value, and one call, which is
// put together for each step in turn.
#ifndef STOWAGE_SRC_EXEC_PROGRAM_FRAME_H_
#define STOWAGE_SRC_EXEC_PROGRAM_FRAME_H_

#include "exec/program/program.h"

typedef struct stowi_exec_frame {
  stow_allocator allocator;
  const stowi_exec_program* program;
  stow_tensor* tensors;          // by value
  const stow_tensor** operands;  // of the call
  stow_tensor** results;
  stow_kernel_call call;
  // Of the call for one row; NULL until stowi_exec_frame_init_rows.
  stow_tensor* row_tensors;  // operands, then results
  const stow_tensor** row_operands;
  stow_tensor** row_results;
} stowi_exec_frame;

// Where tensors without elements and scratch of no bytes are, so that kernels may add to pointers.
// Never written.
extern unsigned char stowi_exec_nothing[64];

// Tensors have the largest dims, and no data. Freed also after a failure.
stow_status stowi_exec_frame_init(stowi_exec_frame* frame, const stowi_exec_program* program,
                                  stow_allocator allocator, stow_diag* diag);
void stowi_exec_frame_free(stowi_exec_frame* frame);
// Gives all tensors the dims that values have now, where these change.
void stowi_exec_frame_measure(stowi_exec_frame* frame);
// Makes |frame->call| that of |node|, with scratch of no bytes. Fields that are the same for all
// nodes (workers, splitter, message) stay as they are. O(operands + results).
void stowi_exec_frame_call(stowi_exec_frame* frame, stow_node node);

// Makes room for calls for rows.
stow_status stowi_exec_frame_init_rows(stowi_exec_frame* frame, stow_diag* diag);
// The part of |frame->call| that is for row |row| of |rows|; |still| has operands that are the same
// for all. Valid until the next one is made.
stow_kernel_call stowi_exec_frame_row(stowi_exec_frame* frame, uint64_t rows, uint64_t still,
                                      uint64_t row);

// A tensor of |type|, whose dims are numbers, without data.
stow_tensor stowi_exec_tensor_of(const stow_type* type);
// What data of |dtype| must be aligned to: 1 to 8.
size_t stowi_exec_dtype_alignment(stow_dtype dtype);

#endif  // STOWAGE_SRC_EXEC_PROGRAM_FRAME_H_
