// Schedules: the order in which a graph's nodes run. A node's position in the order is its step.
//
// Lifetimes are counted in steps, so the order decides how much memory a graph needs. Planning uses
// the graph's own order unless stow_plan_options (plan.h) has a schedule, or asks for a better
// order with STOW_ORDER_AUTO. Create a schedule for an executor that runs nodes in an order of its
// own. The checks here are those an in-order executor relies on; nodes that run at the same time
// need lifetime rules (effects.h) instead.
//
// A schedule copies the order and does not refer to the graph afterwards. It never changes, so any
// number of threads may read it.
//
//     #include <stowage/plan.h>
//     #include <stowage/schedule.h>
//
//     // Plans |graph| for an executor that runs its nodes in |order|.
//     stow_status plan_in_order(const stow_graph* graph, const stow_node* order, stow_diag* diag,
//                               stow_plan** out_plan) {
//       stow_allocator heap = stow_allocator_default();
//       stow_schedule* schedule = NULL;
//       stow_plan_options options;
//       stow_plan_options_init(&options, STOW_PRESET_DEFAULT);
//       stow_status status = stow_schedule_create_order(
//           graph, order, stow_graph_node_count(graph), heap, diag, &schedule);
//       options.schedule = schedule;
//       if (status == STOW_OK)
//         status = stow_plan_make(graph, NULL, &options, heap, diag, out_plan);
//       stow_schedule_destroy(schedule);  // the plan has the order: stow_plan_order
//       return status;
//     }
#ifndef STOWAGE_SCHEDULE_H_
#define STOWAGE_SCHEDULE_H_

#include <stowage/base.h>
#include <stowage/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct stow_schedule stow_schedule;

// The graph's own order: node i at step i. Free the result with stow_schedule_destroy. O(nodes).
STOW_API stow_status stow_schedule_create(const stow_graph* graph, stow_allocator allocator,
                                          stow_diag* diag, stow_schedule** out_schedule);
// The order |order|, which has |count| nodes: each node of the graph once. It is copied.
// STOW_ERR_CONFLICT if a node would run before one it depends on, or after an op that overwrites
// what it reads, or outside the steps of its region (a region's nodes run together, `args` first
// and `yield` last, regions of one owner in order, then the owner).
STOW_API stow_status stow_schedule_create_order(const stow_graph* graph, const stow_node* order,
                                                size_t count, stow_allocator allocator,
                                                stow_diag* diag, stow_schedule** out_schedule);
STOW_API void stow_schedule_destroy(stow_schedule* schedule);

// The number of steps, n. At step n, after the last node, the caller reads the results.
STOW_API uint32_t stow_schedule_count(const stow_schedule* schedule);
// The node of each step, n of them; owned by the schedule.
STOW_API const stow_node* stow_schedule_order(const stow_schedule* schedule);
// The step of |node|; UINT32_MAX if it is out of range.
STOW_API uint32_t stow_schedule_step(const stow_schedule* schedule, stow_node node);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // STOWAGE_SCHEDULE_H_
