// Adds links that keep a best order.
#ifndef STOWAGE_SRC_FLOW_REDUCE_H_
#define STOWAGE_SRC_FLOW_REDUCE_H_

#include "flow/net.h"

// Adds links to the net that exclude orders, but not all best ones, and writes an order that obeys
// them. |out_changed|: whether any were added. O(size).
stow_status stowi_flow_reduce(stowi_flow_net* net, stowi_flow_task* out_order, bool* out_changed);

#endif  // STOWAGE_SRC_FLOW_REDUCE_H_
