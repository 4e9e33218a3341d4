// A better order of a graph's nodes: one in which fewer bytes are in use at the same time.
//     traffic.c    which nodes use which bytes, and precedence ─┐
//     node_flow.c  that, as flows of tasks and blocks           ├─▶ order.c ─▶ schedule
//     "flow/api.h"  the search                             ─┘
//     earlier.c    the order of an earlier plan instead
#ifndef STOWAGE_SRC_PLAN_ORDER_ORDER_H_
#define STOWAGE_SRC_PLAN_ORDER_ORDER_H_

#include <stowage/plan.h>

#include "analysis/api.h"
#include "flow/api.h"

// What an order of the nodes needs, for the sharing that |options| allow.
typedef struct stowi_plan_order_request {
  const stow_graph* graph;
  const stow_effects* effects;        // may be NULL
  const stowi_analysis_views* views;  // before sharing
  const stow_plan_options* options;   // checked
  stow_allocator allocator;
  stow_diag* diag;
  const stow_start* earlier;  // whose order to follow instead of a search; NULL: none
} stowi_plan_order_request;

// Searches for an order with a lower peak than |given|, which stowi_analysis_lifetimes_create has
// accepted and which has an arena of |arena| bytes. |out_schedule| is NULL if none is better, and
// if none is searched for: every order needs |arena| bytes, options.order is not STOW_ORDER_AUTO,
// bytes are not reused, rules apply, the given order runs something between a node and its regions,
// or another order could contradict effects (values with fixed offsets that would overlap, reads
// that effects extend beyond a write into the same bytes).
//
// Fills |any_bound|, |critical| and |nodes| of |out_ordering|, and clears the rest. The bound holds
// for every order, every sharing that the options allow, and every placement; it is 0 if bytes need
// more than 63 bits. Near-linear, plus the search's budget.
//
// With |earlier| and without regions, that plan's order is followed, and nothing is searched;
// |out_schedule| is NULL if its peak is not lower than that of |given|.
stow_status stowi_plan_find_order(const stowi_plan_order_request* request,
                                  const stow_schedule* given, uint64_t arena,
                                  stow_schedule** out_schedule, stow_ordering* out_ordering);

// earlier.c: the order of |request|'s earlier plan, for the nodes of its graph, which has no
// regions. Nodes that are not known from there run as early or as late as possible. Keeps
// dependencies, except those between reads and writes of the same bytes.
stow_status stowi_plan_follow_order(const stowi_plan_order_request* request, bool is_eager,
                                    stow_node* out_order);

#endif  // STOWAGE_SRC_PLAN_ORDER_ORDER_H_
