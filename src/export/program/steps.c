// A call is put together on the stack for each step. Results are shown to the kernel as copies of
// their tensors, since kernels may write dims; where a dim turns out smaller than planned the run
// ends, because steps after it have their dims already.
#include "program/steps.h"

#include <stdio.h>
#include <string.h>

#include "exec/kernels/support/rows.h"
#include "exec/kernels/support/seed.h"

#define TEXT_SIZE 256

void stow_program_begin(stow_program_state* state) {
  state->rounds = 0;
  state->status = STOW_OK;
  state->message[0] = '\0';
}

bool stow_program_fail(stow_program_state* state, stow_status status, const char* label,
                       const char* message) {
  state->status = status;
  if (snprintf(state->message, sizeof state->message, "%s: %s", label, message) < 0) {
    state->message[0] = '\0';
  }
  return false;
}

static bool keeps_dims(const stow_program_step* step, stow_tensor* const* results) {
  for (uint32_t k = 0; k < step->result_count; ++k) {
    if (memcmp(results[k]->dims, step->results[k].dims, sizeof results[k]->dims) != 0) {
      return false;
    }
  }
  return true;
}

static stow_status run_rows(stow_program_state* state, const stow_program_step* step,
                            stow_kernel_call* call) {
  stow_status status = STOW_OK;
  for (uint64_t row = 0; row < step->rows && status == STOW_OK; ++row) {
    for (uint32_t k = 0; k < step->operand_count; ++k) {
      bool is_whole = step->operands[k] == NULL || (step->still >> k & 1) != 0;
      state->row_list[k] = is_whole ? step->operands[k] : &state->row_operands[k];
      if (!is_whole) {
        state->row_operands[k] = stowi_kernel_row(step->operands[k], step->rows, row);
      }
    }
    for (uint32_t k = 0; k < step->result_count; ++k) {
      *state->results[k] = stowi_kernel_row(&step->results[k], step->rows, row);
    }
    call->operands = state->row_list;
    status = step->kernel->run(call);
  }
  return status;
}

static bool run_step(stow_program_state* state, const stow_program_step* step) {
  char text[TEXT_SIZE] = "";
  for (uint32_t k = 0; k < step->result_count; ++k) {
    *state->results[k] = step->results[k];
  }
  stow_kernel_call call = {.struct_size = sizeof call,
                           .op = step->op,
                           .operand_count = step->operand_count,
                           .operands = step->operands,
                           .result_count = step->result_count,
                           .results = state->results,
                           .attr_count = step->attr_count,
                           .attrs = step->attrs,
                           .attr_ids = step->attr_ids,
                           .scratch = step->scratch,
                           .scratch_size = step->scratch_size,
                           .workers = 1,
                           .seed = stowi_kernel_seed(step->seed, state->rounds),
                           .variant = step->variant,
                           .packed = step->packed,
                           .user = (void*)(uintptr_t)step->user,
                           .message = text,
                           .message_size = sizeof text};
  bool has_rows = step->rows > 1;
  stow_status status = has_rows ? run_rows(state, step, &call) : step->kernel->run(&call);
  if (status != STOW_OK) {
    return stow_program_fail(state, status, step->label, text);
  }
  return has_rows || keeps_dims(step, state->results) ||
         stow_program_fail(state, STOW_ERR_DATA_DEPENDENT, step->label,
                           "a dimension is smaller than planned");
}

bool stow_program_run(stow_program_state* state, const stow_program_step* steps, size_t count) {
  bool is_done = true;
  for (size_t i = 0; i < count && is_done; ++i) {
    is_done = run_step(state, &steps[i]);
  }
  return is_done;
}
