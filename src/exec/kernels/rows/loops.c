// Each loop is compiled once for every machine and, on x86-64, for those that have AVX2 and
// AVX-512; all do the same operations in the same order, so that the bits are the same.
#include "exec/kernels/rows/loops.h"

#include <math.h>
#include <stdint.h>

#include "exec/kernels/support/math.h"
#include "exec/kernels/support/vector.h"

#define STOWI_KERNEL_LANES 8

#if defined(STOWI_KERNEL_AVX2)
#define LOOP_INLINE STOWI_KERNEL_INLINE
#define VARIANTS(type, name, parameters, arguments)                                          \
  STOWI_KERNEL_AVX2 static type name##_avx2 parameters { return name##_body arguments; }     \
  STOWI_KERNEL_AVX512 static type name##_avx512 parameters { return name##_body arguments; } \
  static type name##_best parameters {                                                       \
    stowi_kernel_machine machine = stowi_kernel_machine_is();                                \
    return machine >= STOWI_KERNEL_MACHINE_AVX512 ? name##_avx512 arguments                  \
           : machine >= STOWI_KERNEL_MACHINE_AVX2 ? name##_avx2 arguments                    \
                                                  : name##_body arguments;                   \
  }
#else
#define LOOP_INLINE static inline
#define VARIANTS(type, name, parameters, arguments) \
  static type name##_best parameters { return name##_body arguments; }
#endif

LOOP_INLINE double stowi_kernel_add_lanes(const double* lanes) {
  return ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) +
         ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]));
}

#define REAL float
#define INTEGER int32_t
#define BODY(name) name##_f32_body
#define EXP stowi_kernel_expf
#include "exec/kernels/rows/loops_body.h"
#define REAL double
#define INTEGER int64_t
#define BODY(name) name##_f64_body
#define EXP exp
#include "exec/kernels/rows/loops_body.h"

VARIANTS(double, sum_f32, (const float* in, size_t count), (in, count))
VARIANTS(double, sum_f64, (const double* in, size_t count), (in, count))
VARIANTS(double, squares_f32, (const float* in, size_t count, double center), (in, count, center))
VARIANTS(double, squares_f64, (const double* in, size_t count, double center), (in, count, center))
VARIANTS(float, most_f32, (const float* in, size_t count, float most), (in, count, most))
VARIANTS(double, most_f64, (const double* in, size_t count, double most), (in, count, most))
VARIANTS(float, exps_f32,
         (const float* in, size_t count, const float* most, size_t step, float* out),
         (in, count, most, step, out))
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

void stowi_kernel_exps_f32(const float* in, size_t count, const float* most, size_t step,
                           float* out) {
  (void)exps_f32_best(in, count, most, step, out);
}

void stowi_kernel_exps_f64(const double* in, size_t count, const double* most, size_t step,
                           double* out) {
  (void)exps_f64_body(in, count, most, step, out);
}

void stowi_kernel_affine_f32(const float* in, size_t count, float center, float factor, float shift,
                             float* out) {
  (void)affine_f32_best(in, count, center, factor, shift, out);
}

void stowi_kernel_affine_f64(const double* in, size_t count, double center, double factor,
                             double shift, double* out) {
  (void)affine_f64_body(in, count, center, factor, shift, out);
}
