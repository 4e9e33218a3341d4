// A priority queue, lowest keys first.
#ifndef STOWAGE_SRC_FLOW_QUEUE_H_
#define STOWAGE_SRC_FLOW_QUEUE_H_

#include "base/alloc.h"

// Compared by keys, then id: only an entry equals itself.
typedef struct stowi_flow_queue_entry {
  uint64_t first;
  uint64_t second;
  uint64_t third;
  uint32_t id;
} stowi_flow_queue_entry;

typedef STOWI_VEC(stowi_flow_queue_entry) stowi_flow_queue;

bool stowi_flow_queue_is_less(const stowi_flow_queue_entry* a, const stowi_flow_queue_entry* b);
// O(log n), like stowi_flow_queue_pop.
stow_status stowi_flow_queue_push(stowi_flow_queue* queue, stow_allocator allocator,
                                  stowi_flow_queue_entry entry);
// Requires a non-empty queue.
stowi_flow_queue_entry stowi_flow_queue_pop(stowi_flow_queue* queue);

#endif  // STOWAGE_SRC_FLOW_QUEUE_H_
