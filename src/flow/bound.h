// Lower bounds on the bytes that every order needs at some task.
#ifndef STOWAGE_SRC_FLOW_BOUND_H_
#define STOWAGE_SRC_FLOW_BOUND_H_

#include "flow/net.h"

typedef struct stowi_flow_peak_bound {
  uint64_t bytes;
  stowi_flow_task critical;  // or STOWI_FLOW_TASK_NONE
} stowi_flow_peak_bound;

// The highest need of a single task: what it reads, what it makes, and what is always there.
// O(size).
stowi_flow_peak_bound stowi_flow_bound_of_tasks(const stowi_flow_net* net);

#define STOWI_FLOW_CUT_WORK 20000000  // arcs: some 100 ms

// Raises |bound| by minimum cuts at the tasks with the highest |needs|, the needs of some order: no
// bound at a task exceeds its need there. |work| counts the arcs and tasks visited.
stow_status stowi_flow_bound_by_cuts(const stowi_flow_net* net, const uint64_t* needs,
                                     uint64_t work, stowi_flow_peak_bound* bound);

#endif  // STOWAGE_SRC_FLOW_BOUND_H_
