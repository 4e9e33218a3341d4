// Bit operations on a word, and sets of dense ids, a bit each.
#ifndef STOWAGE_SRC_BASE_BITS_H_
#define STOWAGE_SRC_BASE_BITS_H_

#include "base/alloc.h"

// The index of the lowest set bit. |word| is not 0.
static inline uint32_t stowi_lowest_bit(uint64_t word) {
#if defined(__GNUC__)
  return (uint32_t)__builtin_ctzll(word);
#else
  uint32_t bit = 0;
  for (uint32_t step = 32; step > 0; step /= 2) {
    if ((word & ((UINT64_C(1) << step) - 1)) == 0) {
      word >>= step;
      bit += step;
    }
  }
  return bit;
#endif
}

// The number of set bits.
static inline uint32_t stowi_bit_count(uint64_t word) {
  word -= word >> 1 & UINT64_C(0x5555555555555555);
  word = (word & UINT64_C(0x3333333333333333)) + (word >> 2 & UINT64_C(0x3333333333333333));
  word = (word + (word >> 4)) & UINT64_C(0x0F0F0F0F0F0F0F0F);
  return (uint32_t)(word * UINT64_C(0x0101010101010101) >> 56);
}

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

#endif  // STOWAGE_SRC_BASE_BITS_H_
