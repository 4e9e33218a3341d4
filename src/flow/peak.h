// Peaks of orders and of parts of orders.
#ifndef STOWAGE_SRC_FLOW_PEAK_H_
#define STOWAGE_SRC_FLOW_PEAK_H_

#include "flow/state.h"

// Runs |count| tasks from the current state. Returns the highest need, and the first place that has
// it.
uint64_t stowi_flow_order_peak(stowi_flow_state* state, const stowi_flow_task* order,
                               uint32_t count, uint32_t* out_place);
// 0, 1, 2 …
void stowi_flow_given_order(stowi_flow_task* order, uint32_t count);

#endif  // STOWAGE_SRC_FLOW_PEAK_H_
