#include "exec/kernels/blocks/call.h"

#define MOST_OPERANDS 8

stow_kernel_call stowi_kernel_block_call(const stowi_kernel_block_step* step,
                                         const stow_tensor* const* operands,
                                         stow_tensor* const* results) {
  return (stow_kernel_call){.struct_size = sizeof(stow_kernel_call),
                            .op = step->op,
                            .operand_count = step->operand_count,
                            .operands = operands,
                            .result_count = step->result_count,
                            .results = results,
                            .attr_count = step->attr_count,
                            .attrs = step->attrs,
                            .attr_ids = step->attr_ids,
                            .workers = 1,
                            .user = step->kernel->user,
                            .variant = step->variant,
                            .packed = step->packed};
}

// ---------------------------------------------------------------------------------------------
// Packing

typedef struct reader {
  const stowi_kernel_block_step* step;
  size_t k;  // which of its operands
  stow_tensor tensors[MOST_OPERANDS];
  const stow_tensor* operands[MOST_OPERANDS];
  stow_tensor result;
  stow_tensor* results[1];
  stow_kernel_call call;
} reader;

// The step that reads operand |k| of the call as packed; false: none does.
static bool find_step(const stowi_kernel_block_body* body, size_t k, reader* out) {
  for (uint32_t i = 0; i < body->step_count; ++i) {
    const stowi_kernel_block_step* step = &body->steps[i];
    for (uint32_t j = 0; j < step->operand_count && j < MOST_OPERANDS; ++j) {
      const stowi_kernel_block_value* value =
          step->operands[j] == UINT32_MAX ? NULL : &body->values[step->operands[j]];
      if ((step->packed >> j & 1) != 0 && value != NULL &&
          value->home == STOWI_KERNEL_BLOCK_OPERAND && value->index == k) {
        out->step = step;
        out->k = j;
        return step->operand_count <= MOST_OPERANDS && step->result_count == 1;
      }
    }
  }
  return false;
}

static bool find_reader(const stow_kernel_call* call, const stowi_kernel_block_body* body, size_t k,
                        reader* out) {
  if (!find_step(body, k, out)) {
    return false;
  }
  const stowi_kernel_block_step* step = out->step;
  for (uint32_t j = 0; j < step->operand_count; ++j) {
    uint32_t value = step->operands[j];
    out->operands[j] = value == UINT32_MAX ? NULL : &out->tensors[j];
    if (value != UINT32_MAX) {
      out->tensors[j] = body->values[value].tensor;
    }
  }
  out->tensors[out->k].data = call->operands[k]->data;
  out->result = body->values[step->first_result].tensor;
  out->results[0] = &out->result;
  out->call = stowi_kernel_block_call(step, out->operands, out->results);
  out->call.variant = 0;
  out->call.packed = 0;
  return true;
}

uint64_t stowi_kernel_block_pack_size(const stow_kernel_call* call,
                                      const stowi_kernel_block_body* body, size_t k) {
  reader r;
  return find_reader(call, body, k, &r) ? r.step->kernel->pack_size(&r.call, r.k) : 0;
}

void stowi_kernel_block_pack(const stow_kernel_call* call, const stowi_kernel_block_body* body,
                             size_t k, void* out) {
  reader r;
  if (find_reader(call, body, k, &r)) {
    r.step->kernel->pack(&r.call, r.k, out);
  }
}
