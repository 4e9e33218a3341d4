// Sets of dense ids, a bit each.
#ifndef STOWAGE_SRC_BASE_BIT_SET_H_
#define STOWAGE_SRC_BASE_BIT_SET_H_

#include "base/alloc.h"

typedef struct stowi_bits {
  uint64_t* words;
  uint32_t count;  // of ids
} stowi_bits;

static inline size_t stowi_bits_words(uint32_t count) { return ((size_t)count + 63) / 64; }

// An empty set. False if out of memory.
static inline bool stowi_bits_init(stowi_bits* bits, uint32_t count, stow_allocator allocator) {
  bits->count = count;
  bits->words = STOWI_ARRAY_ZERO(allocator, uint64_t, stowi_bits_words(count));
  return bits->words != NULL;
}

// Also valid for a zeroed struct.
static inline void stowi_bits_free(stowi_bits* bits, stow_allocator allocator) {
  STOWI_ARRAY_FREE(allocator, bits->words, stowi_bits_words(bits->count));
  bits->words = NULL;
}

static inline bool stowi_bits_has(const stowi_bits* bits, uint32_t id) {
  return (bits->words[id / 64] >> (id % 64) & 1) != 0;
}

static inline void stowi_bits_add(stowi_bits* bits, uint32_t id) {
  bits->words[id / 64] |= UINT64_C(1) << (id % 64);
}
#endif  // STOWAGE_SRC_BASE_BIT_SET_H_
