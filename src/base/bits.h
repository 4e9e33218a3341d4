// Bit operations on a word.
#ifndef STOWAGE_SRC_BASE_BITS_H_
#define STOWAGE_SRC_BASE_BITS_H_

#include <stdint.h>

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

#endif  // STOWAGE_SRC_BASE_BITS_H_
