// A binary heap. Keys and ids form a total order, so the output does not depend on the order of
// insertion.
#include "place/skyline/heap.h"

#include "base/alloc.h"

stow_status stowi_place_heap_make(size_t bound, stow_allocator allocator,
                                  stowi_place_heap* out_heap) {
  *out_heap = (stowi_place_heap){.bound = bound};
  out_heap->entries = STOWI_ARRAY(allocator, stowi_place_heap_entry, bound);
  return out_heap->entries != NULL ? STOW_OK : STOW_ERR_OUT_OF_MEMORY;
}

void stowi_place_heap_free(stowi_place_heap* heap, stow_allocator allocator) {
  STOWI_ARRAY_FREE(allocator, heap->entries, heap->bound);
}

static bool is_before(stowi_place_heap_entry a, stowi_place_heap_entry b) {
  return a.key != b.key ? a.key < b.key : a.id < b.id;
}

void stowi_place_heap_push(stowi_place_heap* heap, uint64_t key, uint32_t id) {
  stowi_place_heap_entry entry = {key, id};
  size_t slot = heap->count++;
  for (; slot > 0 && is_before(entry, heap->entries[(slot - 1) / 2]); slot = (slot - 1) / 2) {
    heap->entries[slot] = heap->entries[(slot - 1) / 2];
  }
  heap->entries[slot] = entry;
}

stowi_place_heap_entry stowi_place_heap_pop(stowi_place_heap* heap) {
  stowi_place_heap_entry lowest = heap->entries[0];
  stowi_place_heap_entry last = heap->entries[--heap->count];
  size_t slot = 0;
  for (size_t child = 1; child < heap->count; child = 2 * slot + 1) {
    if (child + 1 < heap->count && is_before(heap->entries[child + 1], heap->entries[child])) {
      ++child;
    }
    if (!is_before(heap->entries[child], last)) {
      break;
    }
    heap->entries[slot] = heap->entries[child];
    slot = child;
  }
  heap->entries[slot] = last;
  return lowest;
}
