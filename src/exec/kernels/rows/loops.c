// Each loop is compiled once for every machine and, on x86-64, for those that have AVX2 and
// AVX-512; all do the same operations in the same order, so that the bits are the same.
#include "exec/kernels/rows/loops.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "exec/kernels/support/convert.h"
#include "exec/kernels/support/math.h"
#include "exec/kernels/support/vector.h"

#define STOWI_KERNEL_LANES 16

#if defined(STOWI_KERNEL_AVX2)
#define LOOP_INLINE STOWI_KERNEL_INLINE
#define VARIANTS(type, name, parameters, arguments)                              \
  STOWI_KERNEL_AVX2 static type name##_avx2 parameters {                         \
    return name##_body(true, STOWI_KERNEL_LIST arguments);                       \
  }                                                                              \
  STOWI_KERNEL_AVX512 static type name##_avx512 parameters {                     \
    return name##_body(true, STOWI_KERNEL_LIST arguments);                       \
  }                                                                              \
  static type name##_best parameters {                                           \
    stowi_kernel_machine machine = stowi_kernel_machine_is();                    \
    return machine >= STOWI_KERNEL_MACHINE_AVX512 ? name##_avx512 arguments      \
           : machine >= STOWI_KERNEL_MACHINE_AVX2                                \
               ? name##_avx2 arguments                                           \
               : name##_body(STOWI_KERNEL_HAS_FMA, STOWI_KERNEL_LIST arguments); \
  }
#else
#define LOOP_INLINE static inline
#define VARIANTS(type, name, parameters, arguments)                        \
  static type name##_best parameters {                                     \
    return name##_body(STOWI_KERNEL_HAS_FMA, STOWI_KERNEL_LIST arguments); \
  }
#endif

LOOP_INLINE double stowi_kernel_add_lanes(double* lanes) {
  for (size_t half = STOWI_KERNEL_LANES / 2; half != 0; half /= 2) {
    for (size_t k = 0; k < half; ++k) {
      lanes[k] += lanes[k + half];
    }
  }
  return lanes[0];
}

#define REAL float
#define INTEGER int32_t
#define UNSIGNED uint32_t
#define BODY(name) name##_f32_body
#define EXP(x) stowi_kernel_expf(has_fma, x)
#define EXP_DOWN(x) stowi_kernel_exp_down(has_fma, x)
#define EXP_LIFTED(x) stowi_kernel_exp_lifted(has_fma, x)
#include "exec/kernels/rows/loops_body.h"
#define REAL double
#define INTEGER int64_t
#define UNSIGNED uint64_t
#define BODY(name) name##_f64_body
#define EXP exp
#define EXP_DOWN exp
#define EXP_LIFTED exp
#include "exec/kernels/rows/loops_body.h"

VARIANTS(double, sum_f32, (const float* in, size_t count), (in, count))
VARIANTS(double, sum_f64, (const double* in, size_t count), (in, count))
VARIANTS(double, squares_f32, (const float* in, size_t count, double center), (in, count, center))
VARIANTS(double, squares_f64, (const double* in, size_t count, double center), (in, count, center))
VARIANTS(float, most_f32, (const float* in, size_t count, float most), (in, count, most))
VARIANTS(double, most_f64, (const double* in, size_t count, double most), (in, count, most))
VARIANTS(float, normalize_f32,
         (const float* in, size_t count, float center, float factor, const float* scale,
          const float* shift, float* out),
         (in, count, center, factor, scale, shift, out))
VARIANTS(float, exps_f32, (const float* in, size_t count, float most, float* out),
         (in, count, most, out))
VARIANTS(float, exps_each_f32, (const float* in, size_t count, const float* most, float* out),
         (in, count, most, out))
VARIANTS(float, softmax_rows_f32,
         (const float* x, size_t rows, size_t count, float extra, float* y),
         (x, rows, count, extra, y))
VARIANTS(float, affine_f32,
         (const float* in, size_t count, float center, float factor, float shift, float* out),
         (in, count, center, factor, shift, out))

double stowi_kernel_sum_f32(const float* in, size_t count) { return sum_f32_best(in, count); }
double stowi_kernel_sum_f64(const double* in, size_t count) { return sum_f64_best(in, count); }

double stowi_kernel_squares_f32(const float* in, size_t count, double center) {
  return squares_f32_best(in, count, center);
}

double stowi_kernel_squares_f64(const double* in, size_t count, double center) {
  return squares_f64_best(in, count, center);
}

float stowi_kernel_most_f32(const float* in, size_t count, float most) {
  return most_f32_best(in, count, most);
}

double stowi_kernel_most_f64(const double* in, size_t count, double most) {
  return most_f64_best(in, count, most);
}

void stowi_kernel_exps_f32(const float* in, size_t count, float most, float* out) {
  (void)exps_f32_best(in, count, most, out);
}

void stowi_kernel_exps_f64(const double* in, size_t count, double most, double* out) {
  (void)exps_f64_body(false, in, count, most, out);
}

void stowi_kernel_exps_each_f32(const float* in, size_t count, const float* most, float* out) {
  (void)exps_each_f32_best(in, count, most, out);
}

void stowi_kernel_exps_each_f64(const double* in, size_t count, const double* most, double* out) {
  (void)exps_each_f64_body(false, in, count, most, out);
}

float stowi_kernel_softmax_rows_f32(const float* x, size_t rows, size_t count, float extra,
                                    float* y) {
  return softmax_rows_f32_best(x, rows, count, extra, y);
}

double stowi_kernel_softmax_rows_f64(const double* x, size_t rows, size_t count, double extra,
                                     double* y) {
  return softmax_rows_f64_body(false, x, rows, count, extra, y);
}

void stowi_kernel_affine_f32(const float* in, size_t count, float center, float factor, float shift,
                             float* out) {
  (void)affine_f32_best(in, count, center, factor, shift, out);
}

void stowi_kernel_affine_f64(const double* in, size_t count, double center, double factor,
                             double shift, double* out) {
  (void)affine_f64_body(false, in, count, center, factor, shift, out);
}

void stowi_kernel_normalize_f32(const float* in, size_t count, float center, float factor,
                                const float* scale, const float* shift, float* out) {
  (void)normalize_f32_best(in, count, center, factor, scale, shift, out);
}

void stowi_kernel_normalize_f64(const double* in, size_t count, double center, double factor,
                                const double* scale, const double* shift, double* out) {
  (void)normalize_f64_body(false, in, count, center, factor, scale, shift, out);
}
