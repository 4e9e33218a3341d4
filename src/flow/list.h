// Orders made in one pass: cheap, often good, and a first limit for the searches.
#ifndef STOWAGE_SRC_FLOW_LIST_H_
#define STOWAGE_SRC_FLOW_LIST_H_

#include "flow/state.h"

typedef enum stowi_flow_pick {
  STOWI_FLOW_PICK_GROWTH,  // what adds least, then what needs least
  STOWI_FLOW_PICK_TIGHT,   // the same among those that do not raise the peak so far
  STOWI_FLOW_PICK_RECENT,  // what adds least, then what became ready last
  STOWI_FLOW_PICK_COUNT
} stowi_flow_pick;

// From the first task on, or |backwards|, choosing the last task first. The order is valid for the
// net; |state| is used up. O(n log n) if each task reads few blocks.
stow_status stowi_flow_list_order(stowi_flow_state* state, stowi_flow_pick pick, bool backwards,
                                  stowi_flow_task* out_order);
// Depth first: what a task waits for is made just before it, what needs most first. |backwards|:
// what waits for a task runs just after it. |sorted| is any order of the net.
stow_status stowi_flow_post_order(const stowi_flow_net* net, const stowi_flow_task* sorted,
                                  bool backwards, stowi_flow_task* out_order);

#endif  // STOWAGE_SRC_FLOW_LIST_H_
