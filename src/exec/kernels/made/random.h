// Random numbers that depend on a seed and a place alone, so that work can be divided: the output
// function of splitmix64 (G. L. Steele, D. Lea, C. H. Flood, "Fast Splittable Pseudorandom Number
// Generators", 2014) of the place's state.
#ifndef STOWAGE_SRC_EXEC_KERNELS_MADE_RANDOM_H_
#define STOWAGE_SRC_EXEC_KERNELS_MADE_RANDOM_H_

#include <stowage/kernel.h>

// What the attribute `seed` says where it is not 0, else the call's.
uint64_t stowi_seed_of(const stow_kernel_call* call);

static inline uint64_t stowi_mix(uint64_t z) {
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

static inline uint64_t stowi_random_bits(uint64_t seed, uint64_t i) {
  return stowi_mix(stowi_mix(seed) + (i + 1) * UINT64_C(0x9e3779b97f4a7c15));
}

// In [0, 1), a multiple of 2^-53.
static inline double stowi_random_unit(uint64_t seed, uint64_t i) {
  return (double)(stowi_random_bits(seed, i) >> 11) * 0x1p-53;
}

#endif  // STOWAGE_SRC_EXEC_KERNELS_MADE_RANDOM_H_
