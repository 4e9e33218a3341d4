// The peak of an order: run it. O(size of the flow).
#include "base/diag.h"
#include "flow/state.h"

uint64_t stowi_flow_order_peak(stowi_flow_state* state, const stowi_flow_task* order,
                               uint32_t count, uint32_t* out_place) {
  uint64_t peak = 0;
  *out_place = 0;
  for (uint32_t i = 0; i < count; ++i) {
    uint64_t need = stowi_flow_state_need(state, order[i]);
    if (need > peak) {
      peak = need;
      *out_place = i;
    }
    stowi_flow_state_run(state, order[i]);
  }
  return peak;
}

void stowi_flow_given_order(stowi_flow_task* order, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    order[i] = i;
  }
}

// Runs |order| task by task, checking that each may run next.
static stow_status run_checked(stowi_flow_state* state, const stowi_flow_task* order,
                               stow_diag* diag) {
  const stowi_flow_net* net = state->net;
  for (uint32_t i = 0; i < net->task_count; ++i) {
    if (order[i] >= net->task_count) {
      return stowi_fail(diag, STOW_ERR_CONFLICT,
                        "place %u of the order names task %u, out of range (%u tasks)", (unsigned)i,
                        (unsigned)order[i], (unsigned)net->task_count);
    }
    if (state->ran[order[i]]) {
      return stowi_fail(diag, STOW_ERR_CONFLICT, "task %u is in the order twice",
                        (unsigned)order[i]);
    }
    if (state->waits[order[i]] > 0) {
      return stowi_fail(diag, STOW_ERR_CONFLICT, "task %u comes before a task that it needs",
                        (unsigned)order[i]);
    }
    stowi_flow_state_run(state, order[i]);
  }
  return STOW_OK;
}

static stow_status peak_of(stowi_flow_state* state, const stowi_flow_task* order, stow_diag* diag,
                           uint64_t* out_bytes, uint32_t* out_place) {
  uint32_t count = state->net->task_count;
  if (order != NULL) {
    STOW_TRY(run_checked(state, order, diag));
    stowi_flow_state_reset(state);
    *out_bytes = stowi_flow_order_peak(state, order, count, out_place);
    return STOW_OK;
  }
  stowi_flow_task* given = STOWI_ARRAY(state->net->allocator, stowi_flow_task, count);
  STOW_TRY(stowi_need_memory(given != NULL, diag));
  stowi_flow_given_order(given, count);
  *out_bytes = stowi_flow_order_peak(state, given, count, out_place);
  STOWI_ARRAY_FREE(state->net->allocator, given, count);
  return STOW_OK;
}

stow_status stowi_flow_peak(const stowi_flow* flow, const stowi_flow_task* order,
                            stow_allocator allocator, stow_diag* diag, uint64_t* out_bytes,
                            uint32_t* out_place) {
  uint32_t place = 0;
  *out_bytes = 0;
  if (out_place != NULL) {
    *out_place = 0;
  }
  stowi_flow_net net;
  stowi_flow_state state = {0};
  stow_status status = stowi_flow_net_open(&net, flow, allocator, diag);
  if (status == STOW_OK) {
    status = stowi_flow_state_open(&state, &net, diag);
  }
  if (status == STOW_OK) {
    status = peak_of(&state, order, diag, out_bytes, &place);
  }
  if (status == STOW_OK && out_place != NULL) {
    *out_place = place;
  }
  stowi_flow_state_close(&state);
  stowi_flow_net_close(&net);
  return status;
}
