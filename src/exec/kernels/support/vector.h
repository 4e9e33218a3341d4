// Loops that become vectors, compiled three times on x86-64: for every machine, and for those that
// have AVX2 or AVX-512, which is detected at run time. All do the same operations in the same
// order, so that the bits are the same.
//
//     STOWI_KERNEL_LOOP(scale, (const float* in, float* out, size_t count), (in, out, count)) {
//       STOWI_KERNEL_INDEPENDENT
//       for (size_t i = 0; i < count; ++i) out[i] = in[i] * 2.0F;
//     }
//
// defines the function `scale`. Inside, `has_fma` is for stowi_kernel_fma (fma.h).
#ifndef STOWAGE_SRC_EXEC_KERNELS_SUPPORT_VECTOR_H_
#define STOWAGE_SRC_EXEC_KERNELS_SUPPORT_VECTOR_H_

#include "exec/kernels/support/fma.h"
#include "exec/kernels/support/machine.h"

#if defined(__GNUC__)
#define STOWI_KERNEL_MAY_IGNORE __attribute__((unused))
#else
#define STOWI_KERNEL_MAY_IGNORE
#endif
#define STOWI_KERNEL_LIST(...) __VA_ARGS__

#define STOWI_KERNEL_LOOP_BODY(name, parameters)                             \
  STOWI_KERNEL_INLINE void name##_body(STOWI_KERNEL_MAY_IGNORE bool has_fma, \
                                       STOWI_KERNEL_LIST parameters)

#if defined(STOWI_KERNEL_X86)
#define STOWI_KERNEL_AVX2 __attribute__((target("avx2,fma")))
#define STOWI_KERNEL_AVX512 __attribute__((target("avx512f,avx512bw,avx512vl,fma")))
#define STOWI_KERNEL_LOOP(name, parameters, arguments)                \
  STOWI_KERNEL_LOOP_BODY(name, parameters);                           \
  STOWI_KERNEL_AVX2 static void name##_avx2 parameters {              \
    name##_body(true, STOWI_KERNEL_LIST arguments);                   \
  }                                                                   \
  STOWI_KERNEL_AVX512 static void name##_avx512 parameters {          \
    name##_body(true, STOWI_KERNEL_LIST arguments);                   \
  }                                                                   \
  static void name parameters {                                       \
    stowi_kernel_machine machine = stowi_kernel_machine_is();         \
    if (machine >= STOWI_KERNEL_MACHINE_AVX512) {                     \
      name##_avx512 arguments;                                        \
    } else if (machine >= STOWI_KERNEL_MACHINE_AVX2) {                \
      name##_avx2 arguments;                                          \
    } else {                                                          \
      name##_body(STOWI_KERNEL_HAS_FMA, STOWI_KERNEL_LIST arguments); \
    }                                                                 \
  }                                                                   \
  STOWI_KERNEL_LOOP_BODY(name, parameters)
#else
#define STOWI_KERNEL_LOOP(name, parameters, arguments)                                            \
  STOWI_KERNEL_LOOP_BODY(name, parameters);                                                       \
  static void name parameters { name##_body(STOWI_KERNEL_HAS_FMA, STOWI_KERNEL_LIST arguments); } \
  STOWI_KERNEL_LOOP_BODY(name, parameters)
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
