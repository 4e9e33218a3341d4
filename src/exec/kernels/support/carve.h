// Scratch laid out by one function for both who asks for it and who uses it: without a base the
// same calls only count. Parts are aligned to 64.
#ifndef STOWAGE_SRC_EXEC_KERNELS_SUPPORT_CARVE_H_
#define STOWAGE_SRC_EXEC_KERNELS_SUPPORT_CARVE_H_

#include <stddef.h>
#include <stdint.h>

// What a pointer or a size_t is counted as, so that scratch and with it plans are the same on
// machines on which these are smaller.
#define STOWI_KERNEL_WIDE 8

typedef struct stowi_kernel_carve {
  unsigned char* base;  // NULL: count only
  uint64_t used;        // stays at UINT64_MAX where sizes overflow, which nobody grants
} stowi_kernel_carve;

static inline uint64_t stowi_kernel_times(uint64_t a, uint64_t b) {
  return a != 0 && b > UINT64_MAX / a ? UINT64_MAX : a * b;
}

// |count| things of |size| bytes; NULL while counting.
static inline void* stowi_kernel_carve_take(stowi_kernel_carve* carve, uint64_t count,
                                            uint64_t size) {
  uint64_t bytes = stowi_kernel_times(count, size);
  uint64_t begin = carve->used;
  if (bytes > UINT64_MAX - 63 || begin > UINT64_MAX - 63 - bytes) {
    carve->used = UINT64_MAX;
    return NULL;
  }
  carve->used = begin + (bytes + 63) / 64 * 64;
  return carve->base == NULL ? NULL : carve->base + begin;
}

#endif  // STOWAGE_SRC_EXEC_KERNELS_SUPPORT_CARVE_H_
