// Where random numbers of a node begin: the same in the executor and in programs that are exported.
#ifndef STOWAGE_SRC_EXEC_KERNELS_SUPPORT_SEED_H_
#define STOWAGE_SRC_EXEC_KERNELS_SUPPORT_SEED_H_

#include <stdint.h>

// The finaliser of splitmix64.
static inline uint64_t stowi_kernel_seed_mix(uint64_t x) {
  x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
  return x ^ (x >> 31);
}

// Of what is in a loop that made |round| rounds before, where |around| is the number of what is
// around it: 0 outside of all loops.
static inline uint64_t stowi_kernel_seed_round(uint64_t around, uint64_t round) {
  return stowi_kernel_seed_mix(around + UINT64_C(0x9e3779b97f4a7c15)) ^
         stowi_kernel_seed_mix(round + 1);
}

// |rounds|: of the loops around the node, as above. The same in whichever order nodes run.
static inline uint64_t stowi_kernel_seed(uint32_t node, uint64_t rounds) {
  const uint64_t step = UINT64_C(0x9e3779b97f4a7c15);
  return stowi_kernel_seed_mix(stowi_kernel_seed_mix(step ^ stowi_kernel_seed_mix(node + step)) ^
                               stowi_kernel_seed_mix(rounds + step));
}

#endif  // STOWAGE_SRC_EXEC_KERNELS_SUPPORT_SEED_H_
