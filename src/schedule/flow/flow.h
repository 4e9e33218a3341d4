// The inside of stow_flow: what was added, in the order of adding. net.h makes it fast to walk.
#ifndef STOWAGE_SRC_SCHEDULE_FLOW_FLOW_H_
#define STOWAGE_SRC_SCHEDULE_FLOW_FLOW_H_

#include <stowage/flow.h>

#include "base/alloc.h"
#include "base/hash.h"

typedef struct stowi_flow_block {
  uint64_t bytes;
  uint64_t part_bytes;     // of all its parts together
  stow_task maker;         // or STOW_TASK_NONE
  stow_task first_reader;  // in the given order, or STOW_TASK_NONE
  stow_block whole;        // what it is part of, or STOW_BLOCK_NONE
  bool to_end;
} stowi_flow_block;

typedef struct stowi_flow_read {
  stow_task task;
  stow_block block;
} stowi_flow_read;

typedef struct stowi_flow_link {
  stow_task task;
  stow_task earlier;
} stowi_flow_link;

typedef struct stowi_flow_pair {
  stow_task task;
  stow_block made;
  stow_block read;
} stowi_flow_pair;

struct stow_flow {
  stow_allocator allocator;
  uint64_t total;             // bytes of all blocks and scratches: below 2^63
  STOWI_VEC(uint64_t) tasks;  // scratch
  STOWI_VEC(stowi_flow_block) blocks;
  STOWI_VEC(stowi_flow_read) reads;  // each once
  stowi_index read_index;
  STOWI_VEC(stowi_flow_link) links;
  STOWI_VEC(stowi_flow_pair) pairs;
};

#endif  // STOWAGE_SRC_SCHEDULE_FLOW_FLOW_H_
