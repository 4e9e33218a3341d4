// Only one call exists at a time: a few pointers are written for each step, instead of a table of
// calls for each executor.
#include "exec/program/frame.h"

#include <string.h>

#include "base/alloc.h"
#include "base/diag.h"
#include "exec/kernels/support/rows.h"

_Alignas(64) unsigned char stowi_exec_nothing[64];

stow_tensor stowi_exec_tensor_of(const stow_type* type) {
  stow_tensor tensor = {.dtype = type->dtype, .rank = type->rank};
  memcpy(tensor.dims, type->dims, sizeof(tensor.dims));
  return tensor;
}

size_t stowi_exec_dtype_alignment(stow_dtype dtype) {
  size_t bytes = stow_dtype_bits(dtype) / 8;
  return bytes < 1 ? 1 : (bytes > 8 ? 8 : bytes);
}

stow_status stowi_exec_frame_init(stowi_exec_frame* frame, const stowi_exec_program* program,
                                  stow_allocator allocator, stow_diag* diag) {
  *frame = (stowi_exec_frame){.allocator = allocator, .program = program, .call = {.workers = 1}};
  frame->tensors = STOWI_ARRAY(allocator, stow_tensor, program->value_count);
  frame->operands = STOWI_ARRAY(allocator, const stow_tensor*, program->most_operands);
  frame->results = STOWI_ARRAY(allocator, stow_tensor*, program->most_results);
  STOW_TRY(stowi_need_memory(
      frame->tensors != NULL && frame->operands != NULL && frame->results != NULL, diag));
  for (stow_value value = 0; value < program->value_count; ++value) {
    frame->tensors[value] = stowi_exec_tensor_of(program->values[value].type);
  }
  return STOW_OK;
}

void stowi_exec_frame_measure(stowi_exec_frame* frame) {
  for (stow_value value = 0; value < frame->program->value_count; ++value) {
    const stow_type* type = frame->program->values[value].type;
    if (!frame->program->values[value].is_steady) {
      memcpy(frame->tensors[value].dims, type->dims, type->rank * sizeof(type->dims[0]));
    }
  }
}

void stowi_exec_frame_free(stowi_exec_frame* frame) {
  if (frame->program != NULL) {
    STOWI_ARRAY_FREE(frame->allocator, frame->tensors, frame->program->value_count);
    STOWI_ARRAY_FREE(frame->allocator, frame->operands, frame->program->most_operands);
    STOWI_ARRAY_FREE(frame->allocator, frame->results, frame->program->most_results);
    STOWI_ARRAY_FREE(frame->allocator, frame->row_tensors,
                     frame->program->most_operands + frame->program->most_results);
    STOWI_ARRAY_FREE(frame->allocator, frame->row_operands, frame->program->most_operands);
    STOWI_ARRAY_FREE(frame->allocator, frame->row_results, frame->program->most_results);
  }
}

stow_status stowi_exec_frame_init_rows(stowi_exec_frame* frame, stow_diag* diag) {
  size_t operands = frame->program->most_operands;
  size_t results = frame->program->most_results;
  frame->row_tensors = STOWI_ARRAY(frame->allocator, stow_tensor, operands + results);
  frame->row_operands = STOWI_ARRAY(frame->allocator, const stow_tensor*, operands);
  frame->row_results = STOWI_ARRAY(frame->allocator, stow_tensor*, results);
  return stowi_need_memory(
      frame->row_tensors != NULL && frame->row_operands != NULL && frame->row_results != NULL,
      diag);
}

stow_kernel_call stowi_exec_frame_row(stowi_exec_frame* frame, uint64_t rows, uint64_t still,
                                      uint64_t row) {
  stow_kernel_call call = frame->call;
  stow_tensor* next = frame->row_tensors;
  for (size_t k = 0; k < call.operand_count; ++k) {
    const stow_tensor* whole = call.operands[k];
    bool is_whole = whole == NULL || (still >> k & 1) != 0;
    frame->row_operands[k] = is_whole ? whole : next;
    if (!is_whole) {
      *next++ = stowi_kernel_row(whole, rows, row);
    }
  }
  for (size_t k = 0; k < call.result_count; ++k) {
    *next = stowi_kernel_row(call.results[k], rows, row);
    frame->row_results[k] = next++;
  }
  call.operands = frame->row_operands;
  call.results = frame->row_results;
  return call;
}

void stowi_exec_frame_call(stowi_exec_frame* frame, stow_node node) {
  const stowi_exec_step* step = &frame->program->steps[node];
  stow_kernel_call* call = &frame->call;
  for (size_t k = 0; k < step->operand_count; ++k) {
    stow_value operand = step->operands[k];
    frame->operands[k] = operand == STOW_VALUE_NONE ? NULL : &frame->tensors[operand];
  }
  for (size_t k = 0; k < step->result_count; ++k) {
    frame->results[k] = &frame->tensors[step->first_result + k];
  }
  call->struct_size = sizeof(*call);
  call->op = step->op;
  call->operand_count = step->operand_count;
  call->operands = frame->operands;
  call->result_count = step->result_count;
  call->results = frame->results;
  call->attr_count = step->attr_count;
  call->attrs = step->attrs;
  call->attr_ids = step->attr_ids;
  call->scratch = stowi_exec_nothing;
  call->scratch_size = 0;
  call->variant = 0;
  call->packed = step->packed;
  call->user = step->kernel.user;
}
