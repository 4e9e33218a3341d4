// Internals of stowi_flow: what was added, in the order it was added. net.h has it in a form that
// is fast to walk.
#ifndef STOWAGE_SRC_FLOW_FLOW_H_
#define STOWAGE_SRC_FLOW_FLOW_H_

#include "base/alloc.h"
#include "base/hash.h"
#include "flow/api.h"

typedef struct stowi_flow_block_info {
  uint64_t bytes;
  uint64_t part_bytes;           // of all its parts
  stowi_flow_task maker;         // or STOWI_FLOW_TASK_NONE
  stowi_flow_task first_reader;  // in the given order, or STOWI_FLOW_TASK_NONE
  stowi_flow_block whole;        // what it is part of, or STOWI_FLOW_BLOCK_NONE
  bool to_end;
} stowi_flow_block_info;

typedef struct stowi_flow_read {
  stowi_flow_task task;
  stowi_flow_block block;
} stowi_flow_read;

typedef struct stowi_flow_link {
  stowi_flow_task task;
  stowi_flow_task earlier;
} stowi_flow_link;

typedef struct stowi_flow_pair {
  stowi_flow_task task;
  stowi_flow_block made;
  stowi_flow_block read;
} stowi_flow_pair;

struct stowi_flow {
  stow_allocator allocator;
  uint64_t total;             // bytes of all blocks and scratches: below 2^63
  STOWI_VEC(uint64_t) tasks;  // scratch
  STOWI_VEC(stowi_flow_block_info) blocks;
  STOWI_VEC(stowi_flow_read) reads;  // each once
  stowi_index read_index;
  STOWI_VEC(stowi_flow_link) links;
  STOWI_VEC(stowi_flow_pair) pairs;
};

#endif  // STOWAGE_SRC_FLOW_FLOW_H_
