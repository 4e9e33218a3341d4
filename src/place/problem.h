// What a problem is inside the room.
#ifndef STOWAGE_SRC_PLACE_PROBLEM_H_
#define STOWAGE_SRC_PLACE_PROBLEM_H_

#include <stowage/place.h>

#include "base/alloc.h"

typedef struct stowi_buffer {
  uint64_t size;
  uint64_t guard;
  uint64_t begin;
  uint64_t end;
  uint64_t alignment;
  uint64_t fixed_offset;
} stowi_buffer;

struct stow_problem {
  stow_allocator allocator;
  STOWI_VEC(stowi_buffer) buffers;
  uint64_t fixed_end;      // of the highest fixed footprint
  uint64_t padded_sum;     // of footprint + alignment - 1 over all buffers
  uint64_t min_alignment;  // UINT64_MAX while there is no buffer
};

// Bytes that nothing else may use while it lives. Cannot overflow: stow_problem_add checked it.
static inline uint64_t stowi_footprint(const stowi_buffer* buffer) {
  return buffer->size + buffer->guard;
}

static inline bool stowi_is_fixed(const stowi_buffer* buffer) {
  return buffer->fixed_offset != STOW_PLACE_ANYWHERE;
}

static inline bool stowi_live_together(const stowi_buffer* a, const stowi_buffer* b) {
  return a->begin < b->end && b->begin < a->end;
}

#endif  // STOWAGE_SRC_PLACE_PROBLEM_H_
