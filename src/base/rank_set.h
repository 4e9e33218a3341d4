// A set of numbers below a bound that finds neighbours fast. The checkers use it for live
// footprints, ranked by offset.
#ifndef STOWAGE_SRC_BASE_RANK_SET_H_
#define STOWAGE_SRC_BASE_RANK_SET_H_

#include <stowage/base.h>

#define STOWI_RANK_LEVELS 6  // 64^6 is above 2^32
#define STOWI_NO_RANK SIZE_MAX

typedef struct stowi_rank_set {
  uint64_t* levels[STOWI_RANK_LEVELS];  // levels[0] holds the members
  size_t words[STOWI_RANK_LEVELS];
  size_t level_count;
  size_t total;
} stowi_rank_set;

// An empty set for numbers below |bound|, which is at most 2^32. Free it even after a failure.
stow_status stowi_rank_set_init(stowi_rank_set* set, size_t bound, stow_allocator allocator);
void stowi_rank_set_free(stowi_rank_set* set, stow_allocator allocator);

void stowi_rank_set_insert(stowi_rank_set* set, size_t rank);
void stowi_rank_set_remove(stowi_rank_set* set, size_t rank);
// The lowest member above |rank|, and the highest below; STOWI_NO_RANK if there is none.
size_t stowi_rank_set_next(const stowi_rank_set* set, size_t rank);
size_t stowi_rank_set_previous(const stowi_rank_set* set, size_t rank);

#endif  // STOWAGE_SRC_BASE_RANK_SET_H_
