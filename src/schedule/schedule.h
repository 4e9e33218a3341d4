// The inside of a schedule, shared by the two ways of making one.
#ifndef STOWAGE_SRC_SCHEDULE_SCHEDULE_H_
#define STOWAGE_SRC_SCHEDULE_SCHEDULE_H_

#include <stowage/schedule.h>

struct stow_schedule {
  stow_allocator allocator;
  uint32_t count;
  stow_node* order;  // by step
  uint32_t* step;    // by node
};

// Whether the order keeps what stow_schedule_create_order promises; STOW_ERR_CONFLICT names who
// does not. |schedule| is a permutation of the graph's nodes.
stow_status stowi_schedule_check(const stow_graph* graph, const stow_schedule* schedule,
                                 stow_diag* diag);

#endif  // STOWAGE_SRC_SCHEDULE_SCHEDULE_H_
