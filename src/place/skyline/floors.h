// A number per section that only rises: the height to which the section is filled.
#ifndef STOWAGE_SRC_PLACE_SKYLINE_FLOORS_H_
#define STOWAGE_SRC_PLACE_SKYLINE_FLOORS_H_

#include <stowage/base.h>

typedef struct stowi_place_floors {
  size_t leaves;   // a power of two
  uint64_t* most;  // per node: the highest below it
  uint64_t* all;   // per node: what everything below it was raised to
} stowi_place_floors;

// All 0. Free it even after a failure.
stow_status stowi_place_floors_make(size_t count, stow_allocator allocator,
                                    stowi_place_floors* out_floors);
void stowi_place_floors_free(stowi_place_floors* floors, stow_allocator allocator);

// Sets all of them at once. O(n).
void stowi_place_floors_set(stowi_place_floors* floors, const uint64_t* heights, size_t count);
// Back to all 0. O(n).
void stowi_place_floors_clear(stowi_place_floors* floors);
// Raises those of [begin, end), not empty, that are below |height|. O(log n).
void stowi_place_floors_raise(stowi_place_floors* floors, uint32_t begin, uint32_t end,
                              uint64_t height);
// The highest of [begin, end), not empty. O(log n).
uint64_t stowi_place_floors_max(const stowi_place_floors* floors, uint32_t begin, uint32_t end);

#endif  // STOWAGE_SRC_PLACE_SKYLINE_FLOORS_H_
