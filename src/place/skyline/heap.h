// A heap of numbered entries with keys.
#ifndef STOWAGE_SRC_PLACE_SKYLINE_HEAP_H_
#define STOWAGE_SRC_PLACE_SKYLINE_HEAP_H_

#include <stowage/base.h>

typedef struct stowi_place_heap_entry {
  uint64_t key;
  uint32_t id;
} stowi_place_heap_entry;

typedef struct stowi_place_heap {
  size_t bound;
  size_t count;
  stowi_place_heap_entry* entries;
} stowi_place_heap;

// Empty, with room for |bound|. Free it even after a failure.
stow_status stowi_place_heap_make(size_t bound, stow_allocator allocator,
                                  stowi_place_heap* out_heap);
void stowi_place_heap_free(stowi_place_heap* heap, stow_allocator allocator);

static inline void stowi_place_heap_clear(stowi_place_heap* heap) { heap->count = 0; }
// Requires room. O(log n).
void stowi_place_heap_push(stowi_place_heap* heap, uint64_t key, uint32_t id);
// Removes the entry with the lowest key, of equal ones the lowest id; requires a non-empty heap.
// O(log n).
stowi_place_heap_entry stowi_place_heap_pop(stowi_place_heap* heap);

#endif  // STOWAGE_SRC_PLACE_SKYLINE_HEAP_H_
