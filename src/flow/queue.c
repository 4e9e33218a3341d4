// A binary heap: the children of entry i are 2i + 1 and 2i + 2. A moving entry is held aside until
// its place is found.
#include "flow/queue.h"

#include "base/diag.h"

bool stowi_flow_queue_is_less(const stowi_flow_queue_entry* a, const stowi_flow_queue_entry* b) {
  if (a->first != b->first) {
    return a->first < b->first;
  }
  if (a->second != b->second) {
    return a->second < b->second;
  }
  return a->third != b->third ? a->third < b->third : a->id < b->id;
}

stow_status stowi_flow_queue_push(stowi_flow_queue* queue, stow_allocator allocator,
                                  stowi_flow_queue_entry entry) {
  STOW_TRY(STOWI_VEC_RESERVE(allocator, queue, 1));
  size_t at = queue->count++;
  while (at > 0 && stowi_flow_queue_is_less(&entry, &queue->data[(at - 1) / 2])) {
    queue->data[at] = queue->data[(at - 1) / 2];
    at = (at - 1) / 2;
  }
  queue->data[at] = entry;
  return STOW_OK;
}

stowi_flow_queue_entry stowi_flow_queue_pop(stowi_flow_queue* queue) {
  stowi_flow_queue_entry top = queue->data[0];
  stowi_flow_queue_entry entry = queue->data[--queue->count];
  size_t at = 0;
  for (size_t child = 1; child < queue->count; child = 2 * at + 1) {
    child += child + 1 < queue->count &&
             stowi_flow_queue_is_less(&queue->data[child + 1], &queue->data[child]);
    if (!stowi_flow_queue_is_less(&queue->data[child], &entry)) {
      break;
    }
    queue->data[at] = queue->data[child];
    at = child;
  }
  queue->data[at] = entry;
  return top;
}
