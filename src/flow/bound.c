// Lower bounds: what must exist while a task runs, whatever the order.
#include "base/diag.h"
#include "flow/search.h"
#include "flow/state.h"

// Whether |block| takes its own bytes while |task|, which reads it, runs: not if the block it is
// part of may cover it.
static bool counts_at(const stowi_flow_net* net, stowi_flow_block block, stowi_flow_task task) {
  stowi_flow_block whole = net->blocks[block].whole;
  return whole == STOWI_FLOW_BLOCK_NONE || net->blocks[whole].maker == task;
}

static uint64_t always_there(const stowi_flow_net* net) {
  uint64_t bytes = 0;
  for (uint32_t b = 0; b < net->block_count; ++b) {
    const stowi_flow_block_info* block = &net->blocks[b];
    if (block->maker == STOWI_FLOW_TASK_NONE && block->to_end &&
        block->whole == STOWI_FLOW_BLOCK_NONE) {
      bytes += block->bytes;
    }
  }
  return bytes;
}

stowi_flow_peak_bound stowi_flow_bound_of_tasks(const stowi_flow_net* net) {
  stowi_flow_peak_bound bound = {0, STOWI_FLOW_TASK_NONE};
  uint64_t base = always_there(net);
  for (uint32_t t = 0; t < net->task_count; ++t) {
    uint64_t bytes = base + net->own[t];
    stowi_flow_span reads = stowi_flow_list(&net->reads, t);
    for (const uint32_t* b = reads.begin; b < reads.end; ++b) {
      bytes += counts_at(net, *b, t) ? net->blocks[*b].bytes : 0;
    }
    bytes -= net->credit[t];
    if (bytes > bound.bytes || bound.critical == STOWI_FLOW_TASK_NONE) {
      bound = (stowi_flow_peak_bound){bytes, t};
    }
  }
  return bound;
}

// Both bounds, the second with the needs of the given order.
static stow_status bound_of(const stowi_flow_net* net, stow_diag* diag,
                            stowi_flow_peak_bound* bound) {
  stowi_flow_state state;
  uint64_t* needs = STOWI_ARRAY(net->allocator, uint64_t, net->task_count);
  stow_status status = stowi_flow_state_open(&state, net, diag);
  if (status == STOW_OK && needs == NULL) {
    status = stowi_fail_memory(diag);
  }
  if (status == STOW_OK) {
    for (uint32_t t = 0; t < net->task_count; ++t) {
      needs[t] = stowi_flow_state_need(&state, t);
      stowi_flow_state_run(&state, t);
    }
    *bound = stowi_flow_bound_of_tasks(net);
    status = stowi_flow_bound_by_cuts(net, needs, STOWI_FLOW_CUT_WORK, bound);
    status = status == STOW_OK ? STOW_OK : stowi_fail_memory(diag);
  }
  STOWI_ARRAY_FREE(net->allocator, needs, net->task_count);
  stowi_flow_state_close(&state);
  return status;
}

stow_status stowi_flow_bound(const stowi_flow* flow, stow_allocator allocator, stow_diag* diag,
                             uint64_t* out_bytes, stowi_flow_task* out_critical) {
  *out_bytes = 0;
  if (out_critical != NULL) {
    *out_critical = STOWI_FLOW_TASK_NONE;
  }
  stowi_flow_net net;
  stow_status status = stowi_flow_net_open(&net, flow, allocator, diag);
  stowi_flow_peak_bound bound = {0, STOWI_FLOW_TASK_NONE};
  if (status == STOW_OK) {
    status = bound_of(&net, diag, &bound);
  }
  if (status == STOW_OK) {
    *out_bytes = bound.bytes;
    if (out_critical != NULL) {
      *out_critical = bound.critical;
    }
  }
  stowi_flow_net_close(&net);
  return status;
}
