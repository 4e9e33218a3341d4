// What exists after a set of tasks: the only place where the memory model is computed. Tasks can be
// run, and taken back in any order that leaves a valid set.
#ifndef STOWAGE_SRC_FLOW_STATE_H_
#define STOWAGE_SRC_FLOW_STATE_H_

#include "flow/net.h"

typedef struct stowi_flow_state {
  const stowi_flow_net* net;
  uint64_t bytes;      // bytes(X)
  uint32_t* left;      // readers of a block that have not run
  uint32_t* waits;     // predecessors of a task that have not run
  uint32_t* followed;  // successors of a task that have run
  bool* ran;
  bool* exists;
  bool* covered;
  uint32_t* owner;  // the last walk that had this task in its stretch
  uint32_t walk;    // number of the last walk
  uint64_t* used;   // the query in which a block was used in a pair
  uint64_t question;
} stowi_flow_state;

// Starts with no task run. |net| must outlive the state. Close it even after a failure.
stow_status stowi_flow_state_open(stowi_flow_state* state, const stowi_flow_net* net,
                                  stow_diag* diag);
void stowi_flow_state_close(stowi_flow_state* state);
// Back to no task run.
void stowi_flow_state_reset(stowi_flow_state* state);

// |task| has not run and may run. O(what it makes and reads and what depends on that).
void stowi_flow_state_run(stowi_flow_state* state, stowi_flow_task task);
// |task| has run, and nothing that needs it has.
void stowi_flow_state_take_back(stowi_flow_state* state, stowi_flow_task task);

static inline bool stowi_flow_state_is_ready(const stowi_flow_state* state, stowi_flow_task task) {
  return !state->ran[task] && state->waits[task] == 0;
}
// Whether |task| has run and can be taken back.
static inline bool stowi_flow_state_is_last(const stowi_flow_state* state, stowi_flow_task task) {
  return state->ran[task] && state->followed[task] == 0;
}

// need(task, X), for a task that has not run.
uint64_t stowi_flow_state_need(stowi_flow_state* state, stowi_flow_task task);
// bytes(X + task), for a task that is ready.
uint64_t stowi_flow_state_bytes_after(stowi_flow_state* state, stowi_flow_task task);

// Runs |count| tasks from the current state. Returns the highest need, and the first place that has
// it.
uint64_t stowi_flow_order_peak(stowi_flow_state* state, const stowi_flow_task* order,
                               uint32_t count, uint32_t* out_place);
// 0, 1, 2 …
void stowi_flow_given_order(stowi_flow_task* order, uint32_t count);

#endif  // STOWAGE_SRC_FLOW_STATE_H_
