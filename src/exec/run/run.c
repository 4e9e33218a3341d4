// The step loop: nodes in the plan's order, each with its kernel. Nothing here allocates.
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "exec/kernels/support/seed.h"
#include "exec/run/exec.h"
#include "graph/api.h"

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

static stow_status tell(stow_exec* exec, stow_node node, bool is_done, stow_diag* diag) {
  bool has_kernel = exec->prepared->nodes[node].kernel.run != NULL;
  stow_exec_event event = {is_done, exec->step, node, has_kernel ? &exec->calls.calls[node] : NULL};
  if (exec->options.on_step == NULL || exec->options.on_step(exec->options.user, &event)) {
    return STOW_OK;
  }
  return stowi_exec_fail(exec, node, STOW_ERR_GAVE_UP, diag, "the run was stopped");
}

// Which rounds the loops around |node| are in.
static uint64_t rounds_around(const stow_exec* exec, stow_node node) {
  uint64_t inner[STOW_MAX_REGION_DEPTH];
  size_t depth = 0;
  stow_region region = stow_graph_node_region(exec->graph, node);
  for (; region != STOW_REGION_BODY; region = stowi_graph_region_parent(exec->graph, region)) {
    if (exec->regions[region].is_loop && depth < STOW_MAX_REGION_DEPTH) {
      inner[depth++] = (uint64_t)exec->regions[region].round;
    }
  }
  uint64_t around = 0;
  while (depth-- > 0) {
    around = stowi_kernel_seed_round(around, inner[depth]);
  }
  return around;
}

// A kernel may write dims of its results, but nothing reads strides. The library's write none.
static stow_status require_dense(stow_exec* exec, stow_node node, stow_diag* diag) {
  const stow_kernel_call* call = &exec->calls.calls[node];
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

stow_status stowi_exec_run_kernel(stow_exec* exec, stow_node node, stow_diag* diag) {
  stow_kernel_call* call = &exec->calls.calls[node];
  if (exec->is_bounded[node]) {
    STOW_TRY(stowi_exec_resolve_dims(exec, node, diag));
  }
  call->seed = stowi_kernel_seed(node, rounds_around(exec, node));
  exec->message[0] = '\0';
  stow_status status = exec->prepared->nodes[node].kernel.run(call);
  if (status != STOW_OK) {
    const char* text = exec->message[0] != '\0' ? exec->message : stow_status_text(status);
    return stowi_exec_fail(exec, node, status, diag, "%s", text);
  }
  return exec->prepared->has_foreign ? require_dense(exec, node, diag) : STOW_OK;
}

static stow_status run_node(stow_exec* exec, stow_node node, stow_diag* diag, bool* out_again) {
  *out_again = false;
  if (exec->prepared->nodes[node].kernel.run != NULL) {
    return stowi_exec_run_kernel(exec, node, diag);
  }
  switch (stow_graph_op(exec->graph, node)) {
    case STOW_OP_ARGS: return stowi_exec_run_args(exec, node, true, diag);
    case STOW_OP_YIELD: return stowi_exec_run_yield(exec, node, diag, out_again);
    case STOW_OP_IF:
    case STOW_OP_LOOP: return stowi_exec_run_owner(exec, node, diag);
    default: return STOW_OK;  // boundary values are there
  }
}

// |is_run|: false where a loop has no round, and only takes its initial values over.
static stow_status run_step(stow_exec* exec, uint32_t step, bool is_run, stow_diag* diag,
                            bool* out_again) {
  stow_node node = stow_plan_order(exec->plan)[step];
  exec->step = step;
  *out_again = false;
  if (exec->paranoia != NULL) {
    stowi_exec_paranoia_before(exec->paranoia, exec, step);
  }
  if (exec->options.poison) {
    STOW_TRY(stow_arena_enter_step(exec->arena, step, diag));
  }
  STOW_TRY(is_run ? tell(exec, node, false, diag) : STOW_OK);
  STOW_TRY(is_run ? run_node(exec, node, diag, out_again)
                  : stowi_exec_run_args(exec, node, false, diag));
  if (exec->paranoia != NULL) {
    stow_arena_leave_steps(exec->arena);
    STOW_TRY(stowi_exec_paranoia_after(exec->paranoia, exec, step, diag));
  }
  return is_run ? tell(exec, node, true, diag) : STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// A run

// Begins the regions inside |outer| that begin at |step|, outermost first. |*out_next| is where to
// go on: |step|, or behind a region none of whose steps run.
static stow_status enter(stow_exec* exec, uint32_t step, stow_region outer, stow_diag* diag,
                         uint32_t* out_next) {
  stow_region begun[STOW_MAX_REGION_DEPTH];
  size_t count = 0;
  stow_region region = stow_graph_node_region(exec->graph, stow_plan_order(exec->plan)[step]);
  while (region != STOW_REGION_BODY && region != outer && exec->regions[region].first == step &&
         count < STOW_MAX_REGION_DEPTH) {
    begun[count++] = region;
    region = stowi_graph_region_parent(exec->graph, region);
  }
  *out_next = step;
  while (count-- > 0 && *out_next == step) {
    const stowi_exec_region* entry = &exec->regions[begun[count]];
    if (stowi_exec_region_begin(exec, begun[count])) {
      continue;
    }
    *out_next = entry->last + 1;
    if (entry->is_loop && entry->body.args != STOW_NODE_NONE) {
      bool unused;
      STOW_TRY(run_step(exec, step, false, diag, &unused));
    }
  }
  return STOW_OK;
}

static stow_status run_steps(stow_exec* exec, stow_diag* diag) {
  uint32_t count = stow_plan_step_count(exec->plan);
  stow_region outer = STOW_REGION_BODY;
  for (uint32_t step = 0; step < count;) {
    uint32_t next;
    bool again;
    STOW_TRY(enter(exec, step, outer, diag, &next));
    outer = STOW_REGION_BODY;
    if (next != step) {
      step = next;
      continue;
    }
    STOW_TRY(run_step(exec, step, true, diag, &again));
    if (again) {
      outer = stow_graph_node_region(exec->graph, stow_plan_order(exec->plan)[step]);
      step = exec->regions[outer].first;
    } else {
      ++step;
    }
  }
  return STOW_OK;
}

stow_status stow_exec_run(stow_exec* exec, stow_diag* diag) {
  STOW_TRY(stowi_exec_idle(exec, "stow_exec_run", diag));
  STOW_TRY(stowi_exec_require(exec, diag));
  exec->step = 0;
  exec->is_running = true;
  if (exec->paranoia != NULL) {
    stowi_exec_paranoia_begin(exec->paranoia, exec);
  }
  stow_status status = run_steps(exec, diag);
  stow_arena_leave_steps(exec->arena);
  if (exec->paranoia != NULL && status == STOW_OK) {
    stowi_exec_paranoia_end(exec->paranoia, exec);
  }
  stowi_exec_consume(exec);
  exec->is_running = false;
  return status;
}
