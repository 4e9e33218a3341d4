// Traffic as a flow: nodes become tasks, parts of roots become blocks.
#ifndef STOWAGE_SRC_PLAN_ORDER_NODE_FLOW_H_
#define STOWAGE_SRC_PLAN_ORDER_NODE_FLOW_H_

#include "plan/order/traffic.h"

// Every node of every region is a task; that regions run in one piece is not represented.
#define STOWI_PLAN_FLOW_FLAT STOW_REGION_ID_NONE

typedef struct stowi_plan_flow_options {
  // The nodes of this region are the tasks. A node that owns regions stands for everything in them,
  // and what only they use is its scratch. Or STOWI_PLAN_FLOW_FLAT.
  stow_region region;
  // No order needs less, whatever is shared: what flows cannot represent exactly is left out.
  // Otherwise as close as possible.
  bool for_bound;
  // By node: the bytes needed inside it besides what it shares with the outside. NULL if the flow
  // is flat.
  const uint64_t* inside;
} stowi_plan_flow_options;

typedef struct stowi_plan_node_flow {
  stowi_flow* flow;
  uint32_t count;    // of tasks
  stow_node* nodes;  // by task
  uint32_t capacity;
} stowi_plan_node_flow;

// Tasks are in the given order. In a flat flow without |for_bound| and without sharing, windows and
// consumed inputs, the peak of an order is the highest load of its lifetimes. STOW_ERR_OVERFLOW if
// bytes need more than 63 bits. On failure there is nothing to destroy. O(size of the traffic).
stow_status stowi_plan_node_flow_create(const stowi_plan_traffic* traffic,
                                        const stowi_plan_flow_options* options,
                                        stowi_plan_node_flow* out_flow);
void stowi_plan_node_flow_destroy(const stowi_plan_traffic* traffic, stowi_plan_node_flow* flow);

#endif  // STOWAGE_SRC_PLAN_ORDER_NODE_FLOW_H_
