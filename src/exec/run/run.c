// The loop over the program's code. Nothing here allocates.
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "exec/kernels/support/seed.h"
#include "exec/run/exec.h"

stow_status stowi_exec_fail(stow_exec* exec, stow_node node, stow_status status, stow_diag* diag,
                            const char* format, ...) {
  char message[STOWI_EXEC_MESSAGE_SIZE];
  va_list arguments;
  va_start(arguments, format);
  (void)vsnprintf(message, sizeof(message), format, arguments);
  va_end(arguments);
  stowi_fail(diag, status, "step %" PRIu32 ": %s: %s", exec->step,
             stowi_exec_words_node(exec->graph, node).text, message);
  stowi_diag_node(diag, node);
  return status;
}

// ---------------------------------------------------------------------------------------------
// A step

static stow_status tell(stow_exec* exec, const stowi_exec_instruction* in, bool is_done,
                        stow_diag* diag) {
  bool has_call = in->action == STOWI_EXEC_CALL;
  stow_exec_event event = {is_done, in->step, in->node, has_call ? &exec->frame.call : NULL};
  if (exec->options.on_step == NULL || in->is_quiet ||
      exec->options.on_step(exec->options.user, &event)) {
    return STOW_OK;
  }
  return stowi_exec_fail(exec, in->node, STOW_ERR_GAVE_UP, diag, "the run was stopped");
}

// A kernel may write dims of its results, but nothing reads strides. The library's write none.
static stow_status require_dense(stow_exec* exec, stow_node node, stow_diag* diag) {
  const stow_kernel_call* call = &exec->frame.call;
  if (exec->code.rows != NULL && exec->code.rows[node].rows > 1) {
    return STOW_OK;  // strides are the plan's
  }
  for (size_t k = 0; k < call->result_count; ++k) {
    stow_tensor* result = call->results[k];
    int64_t any = 0;
    for (uint32_t i = 0; i < result->rank; ++i) {
      any |= result->strides[i];
    }
    if (any != 0) {
      memset(result->strides, 0, sizeof(result->strides));
      stow_value value = stow_graph_first_result(exec->graph, node) + (stow_value)k;
      return stowi_exec_fail(exec, node, STOW_ERR_UNSUPPORTED, diag,
                             "the kernel gave %s strides: results are dense",
                             stowi_exec_words_value(exec->graph, value).text);
    }
  }
  return STOW_OK;
}

// One call for all rows, or one for each.
static stow_status call_kernel(stow_exec* exec, stow_node node) {
  const stowi_exec_step* step = &exec->program->steps[node];
  const stowi_exec_rows* by = exec->code.rows == NULL ? NULL : &exec->code.rows[node];
  if (by == NULL || by->rows < 2) {
    return step->kernel.run(&exec->frame.call);
  }
  stow_status status = STOW_OK;
  for (uint64_t row = 0; row < by->rows && status == STOW_OK; ++row) {
    stow_kernel_call call = stowi_exec_frame_row(&exec->frame, by->rows, by->still, row);
    status = step->kernel.run(&call);
  }
  return status;
}

stow_status stowi_exec_run_kernel(stow_exec* exec, stow_node node, stow_diag* diag) {
  const stowi_exec_step* step = &exec->program->steps[node];
  if (step->is_bounded) {
    STOW_TRY(stowi_exec_resolve_dims(exec, node, diag));
  }
  exec->message[0] = '\0';
  stow_status status = call_kernel(exec, node);
  if (status != STOW_OK) {
    const char* text = exec->message[0] != '\0' ? exec->message : stow_status_text(status);
    return stowi_exec_fail(exec, node, status, diag, "%s", text);
  }
  return exec->prepared->has_foreign ? require_dense(exec, node, diag) : STOW_OK;
}

static void set_call(stow_exec* exec, stow_node node) {
  stow_kernel_call* call = &exec->frame.call;
  stow_slot scratch = exec->code.scratch[node];
  stowi_exec_frame_call(&exec->frame, node);
  call->seed = stowi_kernel_seed(exec->program->steps[node].seed, exec->rounds);
  call->variant = exec->code.variants[node];
  if (scratch.size != 0) {
    call->scratch = exec->base + scratch.offset;
    call->scratch_size = (size_t)scratch.size;
  }
}

static stow_status begin_step(stow_exec* exec, const stowi_exec_instruction* in, stow_diag* diag) {
  exec->step = in->step;
  if (exec->paranoia != NULL) {
    stowi_exec_paranoia_before(exec->paranoia, exec, in->step);
  }
  if (exec->options.poison) {
    STOW_TRY(stow_arena_enter_step(exec->arena, in->step, diag));
  }
  if (in->action == STOWI_EXEC_CALL) {
    set_call(exec, in->node);
  }
  return tell(exec, in, false, diag);
}

static void leave_steps(const stow_exec* exec) {
  if (exec->arena != NULL) {
    stow_arena_leave_steps(exec->arena);
  }
}

static stow_status end_step(stow_exec* exec, size_t at, stow_diag* diag) {
  if (exec->paranoia != NULL) {
    leave_steps(exec);
    STOW_TRY(stowi_exec_paranoia_after(exec->paranoia, exec, at, diag));
  }
  return tell(exec, &exec->code.instructions[at], true, diag);
}

// ---------------------------------------------------------------------------------------------
// A run

static stow_status run_code(stow_exec* exec, stow_diag* diag) {
  for (size_t at = 0; at < exec->code.count;) {
    const stowi_exec_instruction* in = &exec->code.instructions[at];
    size_t here = at;
    STOW_TRY(in->begins ? begin_step(exec, in, diag) : STOW_OK);
    if (in->action == STOWI_EXEC_CALL) {
      STOW_TRY(stowi_exec_run_kernel(exec, in->node, diag));
      ++at;
    } else {
      STOW_TRY(stowi_exec_move(exec, &at, diag));
    }
    STOW_TRY(in->ends ? end_step(exec, here, diag) : STOW_OK);
  }
  return STOW_OK;
}

stow_status stow_exec_run(stow_exec* exec, stow_diag* diag) {
  STOW_TRY(stowi_exec_idle(exec, "stow_exec_run", diag));
  STOW_TRY(stowi_exec_carry_begin(exec, diag));
  STOW_TRY(stowi_exec_require(exec, diag));
  exec->step = 0;
  exec->rounds = 0;
  exec->is_running = true;
  if (exec->paranoia != NULL) {
    stowi_exec_paranoia_begin(exec->paranoia, exec);
  }
  stow_status status = run_code(exec, diag);
  leave_steps(exec);
  if (exec->paranoia != NULL && status == STOW_OK) {
    stowi_exec_paranoia_end(exec->paranoia, exec);
  }
  stowi_exec_consume(exec);
  if (status == STOW_OK) {
    stowi_exec_carry_end(exec);
  }
  if (exec->range != NULL) {
    exec->range->is_told = false;
  }
  exec->is_running = false;
  return status;
}
