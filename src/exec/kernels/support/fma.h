// a·b + c with one rounding, as IEEE 754 defines it: the step of which all sums of products of f32
// are made. Processors that have the instruction use it; others get the same bits from operations
// of double. Never the C library's fmaf, which a compiler calls where the processor has none: it is
// slow, and not every one rounds once. The sign and the bits of a NaN may differ.
#ifndef STOWAGE_SRC_EXEC_KERNELS_SUPPORT_FMA_H_
#define STOWAGE_SRC_EXEC_KERNELS_SUPPORT_FMA_H_

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#if defined(__GNUC__)
#define STOWI_KERNEL_INLINE static inline __attribute__((always_inline))
#else
#define STOWI_KERNEL_INLINE static inline
#endif

// Whether every processor that the program is compiled for has the instruction.
#if defined(__GNUC__) && !defined(STOWI_KERNEL_PLAIN) &&                    \
    (defined(__FP_FAST_FMAF) || defined(__FMA__) || defined(__aarch64__) || \
     (defined(__ARM_FEATURE_FMA) && defined(__ARM_FP) && (__ARM_FP & 4)) || \
     (defined(__riscv_flen) && __riscv_flen >= 32))
#define STOWI_KERNEL_HAS_FMA 1
#else
#define STOWI_KERNEL_HAS_FMA 0
#endif

// By doubles. The product is exact: 24 + 24 bits are no more than 53. The sum is rounded to odd: if
// it is not exact, its last bit becomes 1, so that rounding it again to f32, which has more than
// two bits less, gives what rounding once would have given, subnormal numbers too. The error of the
// sum is Knuth's (TAOCP 2, 4.2.2, theorem B); of infinities and NaN it is a NaN, which is not above
// 0. Without branches, so that loops become vectors.
STOWI_KERNEL_INLINE float stowi_kernel_fma_by_doubles(float a, float b, float c) {
  double product = (double)a * (double)b;
  double addend = (double)c;
  double sum = product + addend;
  double back = sum - product;
  double error = (product - (sum - back)) + (addend - back);
  double mark = fabs(error) > 0 ? 1.0 : 0.0;  // a double, so that gcc makes vectors of SSE2
  uint64_t bits;
  uint64_t error_bits;
  uint64_t is_rounded;
  memcpy(&bits, &sum, sizeof(bits));
  memcpy(&error_bits, &error, sizeof(error_bits));
  memcpy(&is_rounded, &mark, sizeof(is_rounded));
  is_rounded = is_rounded >> 52 & 1;
  // Towards 0: one less, where the last bit is not 1 already.
  uint64_t is_too_far = (bits ^ error_bits) >> 63;
  bits = (bits - (is_rounded & is_too_far & ~bits)) | is_rounded;
  memcpy(&sum, &bits, sizeof(sum));
  return (float)sum;
}

// |has_fma| must be a constant once the function is inlined, and false in functions that are
// compiled for processors without the instruction.
STOWI_KERNEL_INLINE float stowi_kernel_fma(bool has_fma, float a, float b, float c) {
#if defined(__GNUC__)
  return has_fma ? __builtin_fmaf(a, b, c) : stowi_kernel_fma_by_doubles(a, b, c);
#else
  (void)has_fma;
  return stowi_kernel_fma_by_doubles(a, b, c);
#endif
}

#endif  // STOWAGE_SRC_EXEC_KERNELS_SUPPORT_FMA_H_
