// A heap of numbered entries with keys.
#ifndef STOWAGE_SRC_PLACE_SKYLINE_HEAP_H_
#define STOWAGE_SRC_PLACE_SKYLINE_HEAP_H_

#include <stowage/base.h>

typedef struct stowi_heap_entry {
  uint64_t key;
  uint32_t id;
} stowi_heap_entry;

typedef struct stowi_heap {
  size_t bound;
  size_t count;
  stowi_heap_entry* entries;
} stowi_heap;

// Empty, with room for |bound|. Free it even after a failure.
stow_status stowi_heap_make(size_t bound, stow_allocator allocator, stowi_heap* out_heap);
void stowi_heap_free(stowi_heap* heap, stow_allocator allocator);

static inline void stowi_heap_clear(stowi_heap* heap) { heap->count = 0; }
// Requires room. O(log n).
void stowi_heap_push(stowi_heap* heap, uint64_t key, uint32_t id);
// Removes the entry with the lowest key, of equal ones the lowest id; requires a non-empty heap.
// O(log n).
stowi_heap_entry stowi_heap_pop(stowi_heap* heap);

#endif  // STOWAGE_SRC_PLACE_SKYLINE_HEAP_H_
