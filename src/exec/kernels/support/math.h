// Functions of f32 that give the same bits on every machine with IEEE arithmetic: additions,
// multiplications and divisions in a fixed order, no libm. Inline and free of branches, so that
// loops over them become vectors. Within 2 units of the last place (sigmoid: 2.5), also subnormal;
// tests/exec/test_support_math.c measures that.
//
// The polynomials are minimax fits (by weighted least squares, iterated) on the reduced ranges.
#ifndef STOWAGE_SRC_EXEC_KERNELS_SUPPORT_MATH_H_
#define STOWAGE_SRC_EXEC_KERNELS_SUPPORT_MATH_H_

#include <math.h>

#include "exec/kernels/support/half.h"

// ---------------------------------------------------------------------------------------------
// Pieces

#define STOWI_KERNEL_LN2_HIGH 0x1.62e4p-1F  // 15 bits: times a small integer it is exact
#define STOWI_KERNEL_LN2_LOW 0x1.7f7d1cp-20F
#define STOWI_KERNEL_INTEGER_F32 0x1.8p23F  // added and taken away again it rounds to an integer

// x = n ln 2 + rest; |x| is below 2^20.
typedef struct stowi_kernel_exp_parts {
  float rest;
  float n;
  uint32_t biased_n;  // n + 512
} stowi_kernel_exp_parts;

static inline stowi_kernel_exp_parts stowi_kernel_exp_split(float x) {
  stowi_kernel_exp_parts parts;
  float shifted = x * 0x1.715476p+0F + STOWI_KERNEL_INTEGER_F32;
  parts.biased_n = stowi_kernel_bits_of_f32(shifted) - 0x4b400000U + 512U;
  parts.n = shifted - STOWI_KERNEL_INTEGER_F32;
  parts.rest = (x - parts.n * STOWI_KERNEL_LN2_HIGH) - parts.n * STOWI_KERNEL_LN2_LOW;
  return parts;
}

// exp(r) - 1 for |r| up to ln 2 / 2.
static inline float stowi_kernel_expm1_poly(float r) {
  float p = 0x1.6a234ep-10F;
  p = p * r + 0x1.123a6cp-7F;
  p = p * r + 0x1.5558f4p-5F;
  p = p * r + 0x1.55549p-3F;
  p = p * r + 0x1.fffffcp-2F;
  return r + r * r * p;
}

static inline float stowi_kernel_sign_like(float magnitude, float sign) {
  uint32_t bit = stowi_kernel_bits_of_f32(sign) & 0x80000000U;
  return stowi_kernel_f32_of_bits((stowi_kernel_bits_of_f32(magnitude) & 0x7fffffffU) | bit);
}

static inline float stowi_kernel_abs(float x) {
  return stowi_kernel_f32_of_bits(stowi_kernel_bits_of_f32(x) & 0x7fffffffU);
}

// ---------------------------------------------------------------------------------------------

// Two factors make up 2^n, so that the product is rounded once, also to a subnormal number.
static inline float stowi_kernel_expf(float x) {
  float clamped = x < -104.5F ? -104.5F : x;
  clamped = clamped > 89.0F ? 89.0F : clamped;
  stowi_kernel_exp_parts parts = stowi_kernel_exp_split(clamped);
  uint32_t half = parts.biased_n >> 1;
  float first = stowi_kernel_f32_of_bits((half - 129U) << 23);
  float second = stowi_kernel_f32_of_bits((parts.biased_n - half - 129U) << 23);
  return (1.0F + stowi_kernel_expm1_poly(parts.rest)) * first * second;
}

static inline float stowi_kernel_expm1f(float x) {
  float clamped = x < -20.0F ? -20.0F : x;
  clamped = clamped > 89.0F ? 89.0F : clamped;
  stowi_kernel_exp_parts parts = stowi_kernel_exp_split(clamped);
  float half = stowi_kernel_f32_of_bits((parts.biased_n - 512U + 126U) << 23);  // 2^(n - 1)
  float number = (stowi_kernel_expm1_poly(parts.rest) * half + (half - 0.5F)) * 2.0F;
  return stowi_kernel_abs(x) < 0x1p-24F ? x : number;
}

// x = m 2^e with m from sqrt(1/2) to sqrt(2).
static inline float stowi_kernel_logf(float x) {
  float scaled = x < 0x1p-126F ? x * 0x1p24F : x;
  float lift = x < 0x1p-126F ? 24.0F : 0.0F;
  uint32_t bits = stowi_kernel_bits_of_f32(scaled) + (0x3f800000U - 0x3f3504f3U);
  float e = (float)((int32_t)(bits >> 23) - 127) - lift;
  float f = stowi_kernel_f32_of_bits((bits & 0x7fffffU) + 0x3f3504f3U) - 1.0F;
  float p = 0x1.14573ep-4F;
  p = p * f + -0x1.de3bf8p-4F;
  p = p * f + 0x1.e6f08cp-4F;
  p = p * f + -0x1.fc220ep-4F;
  p = p * f + 0x1.233766p-3F;
  p = p * f + -0x1.555c4ep-3F;
  p = p * f + 0x1.99a4b6p-3F;
  p = p * f + -0x1.000006p-2F;
  p = p * f + 0x1.555548p-2F;
  float square = f * f;
  float low = (square * f * p + e * STOWI_KERNEL_LN2_LOW) - 0.5F * square;
  float number = (f + low) + e * STOWI_KERNEL_LN2_HIGH;
  number = x == 0.0F ? -INFINITY : number;
  number = x < INFINITY ? number : x;  // infinity and NaN
  return x < 0.0F ? NAN : number;
}

// log(1 + x): what the addition rounds away is put right by its share.
static inline float stowi_kernel_log1pf(float x) {
  float sum = 1.0F + x;
  float lost = x - (sum - 1.0F);
  float number = stowi_kernel_logf(sum) + lost / sum;
  number = x < INFINITY ? number : x;
  return x == -1.0F ? -INFINITY : number;
}

static inline float stowi_kernel_sigmoidf(float x) {
  float e = stowi_kernel_expf(-stowi_kernel_abs(x));
  return (x < 0.0F ? e : 1.0F) / (1.0F + e);
}

static inline float stowi_kernel_tanhf(float x) {
  float a = stowi_kernel_abs(x);
  float z = x * x;
  float p = 0x1.0e9e9p-9F;
  p = p * z + -0x1.092852p-7F;
  p = p * z + 0x1.62fb3cp-6F;
  p = p * z + -0x1.b9e19p-5F;
  p = p * z + 0x1.111026p-3F;
  p = p * z + -0x1.555552p-2F;
  float near = stowi_kernel_sign_like(x + x * z * p, x);
  float e = stowi_kernel_expf(2.0F * (a > 10.0F ? 10.0F : a));
  float far = stowi_kernel_sign_like(1.0F - 2.0F / (e + 1.0F), x);
  return a < 0.625F ? near : far;
}

// Away from 0: 1 - exp(-q(x)), where q is near to -log(erfc(x)).
static inline float stowi_kernel_erff(float x) {
  float a = stowi_kernel_abs(x);
  float z = x * x;
  float p = 0x1.5cd4aap-14F;
  p = p * z + -0x1.aa3f2cp-11F;
  p = p * z + 0x1.54c7f4p-8F;
  p = p * z + -0x1.b80e9p-6F;
  p = p * z + 0x1.ce2e0ap-4F;
  p = p * z + -0x1.812742p-2F;
  p = p * z + 0x1.06eba8p-3F;  // 2 / sqrt(pi) - 1
  float near = x + x * p;
  float c = a > 4.0F ? 4.0F : a;
  float q = 0x1.5d723cp-16F;
  q = q * c + -0x1.c45954p-12F;
  q = q * c + 0x1.106262p-8F;
  q = q * c + -0x1.9aebbap-6F;
  q = q * c + 0x1.bb454cp-4F;
  q = q * c + 0x1.444d1ep-1F;
  q = q * c + 0x1.212626p+0F;
  q = q * c + -0x1.62d95p-13F;
  float far = stowi_kernel_sign_like(1.0F - stowi_kernel_expf(-q), x);
  return a < 0.9F ? near : far;
}

// ---------------------------------------------------------------------------------------------
// Sine and cosine, in double. A quarter turn has three parts of 33 bits, so that its multiples are
// exact up to STOWI_KERNEL_TURN_LIMIT; beyond that libm's double functions are used.

#define STOWI_KERNEL_TURN_LIMIT 0x1p20F

// sin(x + quarters * pi / 2), |x| up to STOWI_KERNEL_TURN_LIMIT.
static inline float stowi_kernel_sin_turned(float x, uint32_t quarters) {
  double shifted = (double)x * 0x1.45f306dc9c883p-1 + 0x1.8p52;
  double n = shifted - 0x1.8p52;
  double r = (((double)x - n * 0x1.921fb544p+0) - n * 0x1.0b4611a6p-34) - n * 0x1.3198a2e037073p-69;
  uint64_t bits;
  memcpy(&bits, &shifted, sizeof(bits));
  uint64_t quarter = bits + quarters;
  double z = r * r;
  double s = 0x1.6cbecd5c9e6d9p-19;
  s = s * z + -0x1.a00f32afd82abp-13;
  s = s * z + 0x1.11110811e604p-7;
  s = s * z + -0x1.5555554c04cc4p-3;
  double sine = r * (1.0 + z * s);
  double c = -0x1.2417dc7266f14p-22;
  c = c * z + 0x1.a010c4a1ea9cp-16;
  c = c * z + -0x1.6c16b80ed7354p-10;
  c = c * z + 0x1.5555554ecf45dp-5;
  double cosine = 1.0 - 0.5 * z + z * z * c;
  double number = (quarter & 1U) != 0 ? cosine : sine;
  return (float)((quarter & 2U) != 0 ? -number : number);
}

static inline float stowi_kernel_sinf(float x) {
  return stowi_kernel_abs(x) <= STOWI_KERNEL_TURN_LIMIT ? stowi_kernel_sin_turned(x, 0)
                                                        : (float)sin((double)x);
}

static inline float stowi_kernel_cosf(float x) {
  return stowi_kernel_abs(x) <= STOWI_KERNEL_TURN_LIMIT ? stowi_kernel_sin_turned(x, 1)
                                                        : (float)cos((double)x);
}

// ---------------------------------------------------------------------------------------------
// Made of others; those of f64 stand on libm.

static inline float stowi_kernel_softplusf(float x) {
  return (x < 0 ? 0 : x) + stowi_kernel_log1pf(stowi_kernel_expf(-stowi_kernel_abs(x)));
}

static inline double stowi_kernel_softplus(double x) {
  return (x < 0 ? 0 : x) + log1p(exp(-fabs(x)));
}

static inline double stowi_kernel_sigmoid(double x) {
  double e = exp(-fabs(x));
  return (x < 0 ? e : 1) / (1 + e);
}

#endif  // STOWAGE_SRC_EXEC_KERNELS_SUPPORT_MATH_H_
