// What is live at one moment, ordered by address: for runs of buffers that are placed in order of
// birth.
#ifndef STOWAGE_SRC_PLACE_GREEDY_ACTIVE_H_
#define STOWAGE_SRC_PLACE_GREEDY_ACTIVE_H_

#include <stowage/base.h>

typedef struct stowi_place_active stowi_place_active;

// For pieces numbered 0 … count-1, none of them in it.
stow_status stowi_place_active_create(size_t count, stow_allocator allocator,
                                      stowi_place_active** out_active);
void stowi_place_active_destroy(stowi_place_active* active);

// Removes all pieces. O(1).
void stowi_place_active_clear(stowi_place_active* active);
// Puts piece |id| at [low, high). No other begins at |low|. O(log n).
void stowi_place_active_insert(stowi_place_active* active, uint32_t id, uint64_t low,
                               uint64_t high);
// Removes piece |id|, which is in it. O(log n).
void stowi_place_active_remove(stowi_place_active* active, uint32_t id);

// The lowest multiple of |alignment| at or above |from| where |size| bytes overlap no piece. O(log
// n) unless alignment wastes many gaps: so insert pieces with ends rounded up to it.
uint64_t stowi_place_active_find(const stowi_place_active* active, uint64_t size,
                                 uint64_t alignment, uint64_t from);

#endif  // STOWAGE_SRC_PLACE_GREEDY_ACTIVE_H_
