// Actual dims: where the graph's are only the largest possible, those of a run follow from the
// operands' dims and data, by the shape functions that made the graph.
#include <string.h>

#include "base/alloc.h"
#include "base/diag.h"
#include "exec/run/exec.h"

stow_status stowi_exec_inference_create(stow_exec* exec, stow_diag* diag) {
  stowi_exec_inference* in = &exec->inference;
  for (stow_node node = 0; node < exec->program->node_count; ++node) {
    const stowi_exec_step* step = &exec->program->steps[node];
    if (step->is_bounded) {
      in->memory_size = STOW_INFER_MEMORY;
      in->operands = in->operands < step->operand_count ? step->operand_count : in->operands;
      in->results = in->results < step->result_count ? step->result_count : in->results;
    }
  }
  in->memory = stowi_alloc(exec->allocator, in->memory_size, 1);
  in->types = STOWI_ARRAY(exec->allocator, stow_type, in->operands);
  in->pointers = STOWI_ARRAY(exec->allocator, const stow_type*, in->operands);
  in->data = STOWI_ARRAY(exec->allocator, const void*, in->operands);
  in->made = STOWI_ARRAY(exec->allocator, stow_type, in->results);
  bool is_there = in->memory != NULL && in->types != NULL && in->pointers != NULL &&
                  in->data != NULL && in->made != NULL;
  return is_there ? STOW_OK : stowi_fail_memory(diag);
}

void stowi_exec_inference_free(stow_exec* exec) {
  stowi_exec_inference* in = &exec->inference;
  stowi_free(exec->allocator, in->memory, in->memory_size, 1);
  STOWI_ARRAY_FREE(exec->allocator, in->types, in->operands);
  STOWI_ARRAY_FREE(exec->allocator, in->pointers, in->operands);
  STOWI_ARRAY_FREE(exec->allocator, in->data, in->operands);
  STOWI_ARRAY_FREE(exec->allocator, in->made, in->results);
}

static void set_operands(stow_exec* exec, const stow_kernel_call* call) {
  stowi_exec_inference* in = &exec->inference;
  for (size_t k = 0; k < call->operand_count; ++k) {
    const stow_tensor* operand = call->operands[k];
    in->pointers[k] = NULL;
    in->data[k] = NULL;
    if (operand != NULL) {
      in->types[k] = stow_type_make(operand->dtype, operand->rank, operand->dims);
      in->pointers[k] = &in->types[k];
      in->data[k] = operand->data;
    }
  }
}

stow_status stowi_exec_resolve_dims(stow_exec* exec, stow_node node, stow_diag* diag) {
  stowi_exec_inference* in = &exec->inference;
  const stow_kernel_call* call = &exec->frame.call;
  stow_diag inner;
  stow_diag_init(&inner);
  set_operands(exec, call);
  stow_status status = stow_graph_infer_actual(exec->graph, node, in->pointers, in->data,
                                               in->memory, in->memory_size, &inner, in->made);
  if (status != STOW_OK) {
    return stowi_exec_fail(exec, node, status, diag, "%s", inner.message);
  }
  for (size_t k = 0; k < call->result_count; ++k) {
    memcpy(call->results[k]->dims, in->made[k].dims, sizeof(call->results[k]->dims));
  }
  return STOW_OK;
}
