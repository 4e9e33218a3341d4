// Schedules: the order in which a graph's nodes run. A node's place in the order is its step.
#ifndef STOWAGE_SCHEDULE_H_
#define STOWAGE_SCHEDULE_H_

#include <stowage/base.h>
#include <stowage/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct stow_schedule stow_schedule;

// The graph's own order. The schedule does not refer to the graph afterwards.
STOW_API stow_status stow_schedule_create(const stow_graph* graph, stow_allocator allocator,
                                          stow_diag* diag, stow_schedule** out_schedule);
// An explicit order, all nodes of the graph once each. STOW_ERR_CONFLICT where a node would run
// before one it depends on, a reader of a value after an op that writes into it, or a node outside
// its region's stretch of steps (a region's nodes run together, `args` first and `yield` last,
// regions of one owner in order, the owner after).
STOW_API stow_status stow_schedule_create_order(const stow_graph* graph, const stow_node* order,
                                                size_t count, stow_allocator allocator,
                                                stow_diag* diag, stow_schedule** out_schedule);
STOW_API void stow_schedule_destroy(stow_schedule* schedule);

// Number of steps, n. Step n itself stands for "the caller reads the results".
STOW_API uint32_t stow_schedule_count(const stow_schedule* schedule);
STOW_API const stow_node* stow_schedule_order(const stow_schedule* schedule);
STOW_API uint32_t stow_schedule_step(const stow_schedule* schedule, stow_node node);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // STOWAGE_SCHEDULE_H_
