// A bit per number; in each level above, a bit per 64-bit word that is not zero. Insert, remove,
// next and previous touch one word per level (four for a million numbers), and the set takes little
// more than a bit per number, whatever the order of insertion.
#include "base/rank_set.h"

#include <string.h>

#include "base/alloc.h"
#include "base/bits.h"

stow_status stowi_rank_set_init(stowi_rank_set* set, size_t bound, stow_allocator allocator) {
  memset(set, 0, sizeof(*set));
  size_t words = bound;
  do {
    words = words / 64 + 1;
    set->words[set->level_count++] = words;
    set->total += words;
  } while (words > 1);
  set->levels[0] = STOWI_ARRAY_ZERO(allocator, uint64_t, set->total);
  if (set->levels[0] == NULL) {
    return STOW_ERR_OUT_OF_MEMORY;
  }
  for (size_t level = 1; level < set->level_count; ++level) {
    set->levels[level] = set->levels[level - 1] + set->words[level - 1];
  }
  return STOW_OK;
}

void stowi_rank_set_free(stowi_rank_set* set, stow_allocator allocator) {
  STOWI_ARRAY_FREE(allocator, set->levels[0], set->total);
  memset(set, 0, sizeof(*set));
}

void stowi_rank_set_insert(stowi_rank_set* set, size_t rank) {
  for (size_t level = 0; level < set->level_count; ++level) {
    set->levels[level][rank / 64] |= UINT64_C(1) << (rank % 64);
    rank /= 64;
  }
}

void stowi_rank_set_remove(stowi_rank_set* set, size_t rank) {
  for (size_t level = 0; level < set->level_count; ++level) {
    set->levels[level][rank / 64] &= ~(UINT64_C(1) << (rank % 64));
    if (set->levels[level][rank / 64] != 0) {
      return;
    }
    rank /= 64;
  }
}

// |word| is not 0.
static size_t highest_bit(uint64_t word) {
  size_t bit = 0;
  for (unsigned width = 32; width > 0; width /= 2) {
    if (word >> width != 0) {
      word >>= width;
      bit += width;
    }
  }
  return bit;
}

size_t stowi_rank_set_next(const stowi_rank_set* set, size_t rank) {
  for (size_t level = 0; level < set->level_count; ++level) {
    uint64_t above = set->levels[level][rank / 64] & (~UINT64_C(1) << (rank % 64));
    if (above != 0) {
      rank = rank / 64 * 64 + stowi_lowest_bit(above);
      while (level-- > 0) {
        rank = rank * 64 + stowi_lowest_bit(set->levels[level][rank]);
      }
      return rank;
    }
    rank /= 64;
  }
  return STOWI_NO_RANK;
}

size_t stowi_rank_set_previous(const stowi_rank_set* set, size_t rank) {
  for (size_t level = 0; level < set->level_count; ++level) {
    uint64_t below = set->levels[level][rank / 64] & ((UINT64_C(1) << (rank % 64)) - 1);
    if (below != 0) {
      rank = rank / 64 * 64 + highest_bit(below);
      while (level-- > 0) {
        rank = rank * 64 + highest_bit(set->levels[level][rank]);
      }
      return rank;
    }
    rank /= 64;
  }
  return STOWI_NO_RANK;
}
