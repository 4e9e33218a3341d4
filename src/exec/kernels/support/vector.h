// Loops that become vectors, compiled twice on x86-64: for every machine, and for those that have
// AVX2, which is detected at run time. Both do the same operations in the same order, so
// that the bits are the same.
//
//     STOWI_KERNEL_LOOP(scale, (const float* in, float* out, size_t count), (in, out, count)) {
//       STOWI_KERNEL_INDEPENDENT
//       for (size_t i = 0; i < count; ++i) out[i] = in[i] * 2.0F;
//     }
//
// defines the function `scale`.
#ifndef STOWAGE_SRC_EXEC_KERNELS_SUPPORT_VECTOR_H_
#define STOWAGE_SRC_EXEC_KERNELS_SUPPORT_VECTOR_H_

#if defined(__GNUC__) && defined(__x86_64__)
#define STOWI_KERNEL_AVX2 __attribute__((target("avx2")))
#define STOWI_KERNEL_HAS_AVX2 __builtin_cpu_supports("avx2")
#define STOWI_KERNEL_INLINE static inline __attribute__((always_inline))
#define STOWI_KERNEL_LOOP(name, parameters, arguments)                            \
  STOWI_KERNEL_INLINE void name##_body parameters;                                \
  STOWI_KERNEL_AVX2 static void name##_avx2 parameters { name##_body arguments; } \
  static void name parameters {                                                   \
    if (STOWI_KERNEL_HAS_AVX2) {                                                  \
      name##_avx2 arguments;                                                      \
    } else {                                                                      \
      name##_body arguments;                                                      \
    }                                                                             \
  }                                                                               \
  STOWI_KERNEL_INLINE void name##_body parameters
#else
#define STOWI_KERNEL_LOOP(name, parameters, arguments) static void name parameters
#endif

// Before a loop whose rounds do not touch each other's elements: the result is an operand, at the
// same address, or is apart from it.
#if defined(__clang__)
#pragma clang diagnostic ignored "-Wpass-failed"  // loops that call libm stay loops
#define STOWI_KERNEL_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define STOWI_KERNEL_INDEPENDENT _Pragma("GCC ivdep")
#else
#define STOWI_KERNEL_INDEPENDENT
#endif

#endif  // STOWAGE_SRC_EXEC_KERNELS_SUPPORT_VECTOR_H_
