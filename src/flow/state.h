// What exists after a set of tasks: the one place where the memory model is computed. Tasks can be
// run, and taken back in any order that leaves a set which may have run.
#ifndef STOWAGE_SRC_FLOW_STATE_H_
#define STOWAGE_SRC_FLOW_STATE_H_

#include "flow/net.h"

typedef struct stowi_state {
  const stowi_net* net;
  uint64_t bytes;      // bytes(X)
  uint32_t* left;      // readers of a block that did not run
  uint32_t* waits;     // tasks before a task that did not run
  uint32_t* followed;  // tasks after a task that ran
  bool* ran;
  bool* exists;
  bool* covered;
  uint32_t* owner;  // the number of the last walk that had a task in its stretch
  uint32_t walk;    // number of the last walk
  uint64_t* used;   // the number of the question for which a block is in a pair
  uint64_t question;
} stowi_state;

// Nothing ran. |net| must outlive the state. Close it also after a failure.
stow_status stowi_state_open(stowi_state* state, const stowi_net* net, stow_diag* diag);
void stowi_state_close(stowi_state* state);
// Nothing ran, again.
void stowi_state_reset(stowi_state* state);

// |task| has not run and may. O(what it makes and reads and what hangs on that).
void stowi_state_run(stowi_state* state, stowi_flow_task task);
// |task| has run and nothing that needs it.
void stowi_state_take_back(stowi_state* state, stowi_flow_task task);

static inline bool stowi_state_is_ready(const stowi_state* state, stowi_flow_task task) {
  return !state->ran[task] && state->waits[task] == 0;
}
// Whether |task| ran and can be taken back.
static inline bool stowi_state_is_last(const stowi_state* state, stowi_flow_task task) {
  return state->ran[task] && state->followed[task] == 0;
}

// need(task, X): the task has not run.
uint64_t stowi_state_need(stowi_state* state, stowi_flow_task task);
// bytes(X with task), for one that is ready.
uint64_t stowi_state_bytes_after(stowi_state* state, stowi_flow_task task);

#endif  // STOWAGE_SRC_FLOW_STATE_H_
