// Internals of a schedule.
#ifndef STOWAGE_SRC_SCHEDULE_SCHEDULE_H_
#define STOWAGE_SRC_SCHEDULE_SCHEDULE_H_

#include <stowage/schedule.h>

struct stow_schedule {
  stow_allocator allocator;
  uint32_t count;
  stow_node* order;  // by step
  uint32_t* step;    // by node
};

#endif  // STOWAGE_SRC_SCHEDULE_SCHEDULE_H_
