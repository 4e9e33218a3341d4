// Sizes compared and rounded up.
#ifndef STOWAGE_SRC_EXEC_KERNELS_SUPPORT_SIZE_H_
#define STOWAGE_SRC_EXEC_KERNELS_SUPPORT_SIZE_H_

#include <stddef.h>
#include <stdint.h>

static inline size_t stowi_kernel_smaller(size_t a, size_t b) { return a < b ? a : b; }
static inline size_t stowi_kernel_larger(size_t a, size_t b) { return a > b ? a : b; }

// |bytes| up to the next multiple of 64, at which parts of scratch begin.
static inline uint64_t stowi_kernel_align64(uint64_t bytes) { return (bytes + 63) / 64 * 64; }

#endif  // STOWAGE_SRC_EXEC_KERNELS_SUPPORT_SIZE_H_
