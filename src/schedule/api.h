// What other rooms may ask of schedules beyond <stowage/schedule.h>.
#ifndef STOWAGE_SRC_SCHEDULE_API_H_
#define STOWAGE_SRC_SCHEDULE_API_H_

#include <stowage/schedule.h>

// Whether the order keeps what stow_schedule_create_order promises; STOW_ERR_CONFLICT names who
// does not. |schedule| is a permutation of the graph's nodes.
stow_status stowi_schedule_check(const stow_graph* graph, const stow_schedule* schedule,
                                 stow_allocator allocator, stow_diag* diag);

#endif  // STOWAGE_SRC_SCHEDULE_API_H_
