// Internals of a placement.
#ifndef STOWAGE_SRC_PLACE_PLACEMENT_H_
#define STOWAGE_SRC_PLACE_PLACEMENT_H_

#include <stowage/place.h>

struct stow_placement {
  stow_allocator allocator;
  size_t count;
  uint64_t height;
  uint64_t bound;
  uint64_t nodes;
  stow_outcome outcome;
  bool stopped;
  uint64_t* offsets;
};

// All offsets 0, height 0. NULL if out of memory.
stow_placement* stowi_place_placement_create(stow_allocator allocator, size_t count);

#endif  // STOWAGE_SRC_PLACE_PLACEMENT_H_
