// Functions of f32 that give the same bits on every machine with IEEE arithmetic: additions,
// multiplications, fused ones (fma.h) and divisions in a fixed order, no libm. Inline and free of
// branches, so that loops over them become vectors: call them in a STOWI_KERNEL_LOOP (vector.h) and
// pass its |has_fma|. Within 2 units of the last place (sigmoid: 2.5), also subnormal;
// tests/exec/test_support_math.c measures that.
//
// The polynomials are minimax fits (by weighted least squares, iterated) on the reduced ranges.
// Where a chain of steps would make the processor wait, they are summed in pairs (Estrin).
#ifndef STOWAGE_SRC_EXEC_KERNELS_SUPPORT_MATH_H_
#define STOWAGE_SRC_EXEC_KERNELS_SUPPORT_MATH_H_

#include <math.h>

#include "exec/kernels/support/fma.h"
#include "exec/kernels/support/half.h"

// ---------------------------------------------------------------------------------------------
// Pieces

#define STOWI_KERNEL_LN2_HIGH 0x1.62e43p-1F  // and LOW: a fused product needs no zeros at the end
#define STOWI_KERNEL_LN2_LOW -0x1.05c61p-29F
#define STOWI_KERNEL_LN2_SHORT 0x1.62e4p-1F  // 15 bits: times a small integer it is exact
#define STOWI_KERNEL_LN2_REST 0x1.7f7d1cp-20F
#define STOWI_KERNEL_INTEGER_F32 0x1.8p23F  // added and taken away again it rounds to an integer

static inline float stowi_kernel_sign_like(float magnitude, float sign) {
  uint32_t bit = stowi_kernel_bits_of_f32(sign) & 0x80000000U;
  return stowi_kernel_f32_of_bits((stowi_kernel_bits_of_f32(magnitude) & 0x7fffffffU) | bit);
}

static inline float stowi_kernel_abs(float x) {
  return stowi_kernel_f32_of_bits(stowi_kernel_bits_of_f32(x) & 0x7fffffffU);
}

// The smaller of |x| and |most|, which is positive; the larger of |x| and |least|, which is
// negative. By the order of bits: a minimum of integers is one instruction, where a comparison of
// floats and a choice, which compilers turn into more, are several. A NaN may become the limit:
// callers choose x where it is a NaN at the end.
static inline float stowi_kernel_at_most(float x, float most) {
  int32_t a = (int32_t)stowi_kernel_bits_of_f32(x);
  int32_t b = (int32_t)stowi_kernel_bits_of_f32(most);
  return stowi_kernel_f32_of_bits((uint32_t)(a < b ? a : b));
}

static inline float stowi_kernel_at_least(float x, float least) {
  uint32_t a = stowi_kernel_bits_of_f32(x);
  uint32_t b = stowi_kernel_bits_of_f32(least);
  return stowi_kernel_f32_of_bits(a < b ? a : b);
}

// exp(x) = 2^n (1 + rest), |rest| is below 0.42; |x| is below 2^20.
typedef struct stowi_kernel_exp_parts {
  float rest;
  uint32_t n;  // n + bias in the lower bits, whatever above the ninth
} stowi_kernel_exp_parts;

STOWI_KERNEL_INLINE stowi_kernel_exp_parts stowi_kernel_exp_split(bool has_fma, float x,
                                                                  float bias) {
  stowi_kernel_exp_parts parts;
  float to_integer = STOWI_KERNEL_INTEGER_F32 + bias;
  float shifted = stowi_kernel_fma(has_fma, x, 0x1.715476p+0F, to_integer);
  float n = shifted - to_integer;
  float r = stowi_kernel_fma(has_fma, n, -STOWI_KERNEL_LN2_HIGH, x);
  r = stowi_kernel_fma(has_fma, n, -STOWI_KERNEL_LN2_LOW, r);
  float square = r * r;
  float high = stowi_kernel_fma(has_fma, r, 0x1.6b97a6p-10F, 0x1.122538p-7F);
  float low = stowi_kernel_fma(has_fma, r, 0x1.5556f6p-5F, 0x1.5554b4p-3F);
  float p = stowi_kernel_fma(has_fma, high, square, low);
  p = stowi_kernel_fma(has_fma, p, r, 0x1.fffffep-2F);
  parts.rest = stowi_kernel_fma(has_fma, p, square, r);
  parts.n = stowi_kernel_bits_of_f32(shifted);
  return parts;
}

// exp(x) - 1 for |x| below 80.
STOWI_KERNEL_INLINE float stowi_kernel_expm1_near(bool has_fma, float x) {
  stowi_kernel_exp_parts parts = stowi_kernel_exp_split(has_fma, x, 127.0F);
  float power = stowi_kernel_f32_of_bits(parts.n << 23);
  return stowi_kernel_fma(has_fma, power, parts.rest, power - 1.0F);
}

// ---------------------------------------------------------------------------------------------

// Two factors make up 2^n, so that the product is rounded once, also to a subnormal number.
STOWI_KERNEL_INLINE float stowi_kernel_expf(bool has_fma, float x) {
  float clamped = stowi_kernel_at_most(stowi_kernel_at_least(x, -104.5F), 89.0F);
  stowi_kernel_exp_parts parts = stowi_kernel_exp_split(has_fma, clamped, 254.0F);
  uint32_t half = parts.n >> 1;
  float first = stowi_kernel_f32_of_bits(half << 23);
  float second = stowi_kernel_f32_of_bits((parts.n - half) << 23);
  float number = (1.0F + parts.rest) * first * second;
  return x == x ? number : x;
}

// 2^32 exp(x) for x up to 0: never subnormal, and never 0. That of a NaN is some number.
STOWI_KERNEL_INLINE float stowi_kernel_exp_lifted(bool has_fma, float x) {
  float clamped = stowi_kernel_at_least(x, -104.5F);
  stowi_kernel_exp_parts parts = stowi_kernel_exp_split(has_fma, clamped, 32.0F);
  return stowi_kernel_f32_of_bits(stowi_kernel_bits_of_f32(1.0F + parts.rest) + (parts.n << 23));
}

// exp(x) for x up to 0, where it takes less.
STOWI_KERNEL_INLINE float stowi_kernel_exp_down(bool has_fma, float x) {
  return stowi_kernel_exp_lifted(has_fma, x) * 0x1p-32F;
}

STOWI_KERNEL_INLINE float stowi_kernel_expm1f(bool has_fma, float x) {
  float clamped = stowi_kernel_at_most(stowi_kernel_at_least(x, -20.0F), 89.0F);
  stowi_kernel_exp_parts parts = stowi_kernel_exp_split(has_fma, clamped, 126.0F);
  float half = stowi_kernel_f32_of_bits(parts.n << 23);  // 2^(n - 1)
  float number = stowi_kernel_fma(has_fma, half, parts.rest, half - 0.5F) * 2.0F;
  return stowi_kernel_abs(x) >= 0x1p-24F ? number : x;
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
  float low = (square * f * p + e * STOWI_KERNEL_LN2_REST) - 0.5F * square;
  float number = (f + low) + e * STOWI_KERNEL_LN2_SHORT;
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

STOWI_KERNEL_INLINE float stowi_kernel_sigmoidf(bool has_fma, float x) {
  float e = stowi_kernel_exp_down(has_fma, -stowi_kernel_abs(x));
  float number = (x < 0.0F ? e : 1.0F) / (1.0F + e);
  return x == x ? number : x;
}

STOWI_KERNEL_INLINE float stowi_kernel_tanhf(bool has_fma, float x) {
  float a = stowi_kernel_abs(x);
  float z = a * a;
  float fourth = z * z;
  float high = stowi_kernel_fma(has_fma, z, 0x1.0e9e9p-9F, -0x1.092852p-7F);
  float middle = stowi_kernel_fma(has_fma, z, 0x1.62fb3cp-6F, -0x1.b9e19p-5F);
  float low = stowi_kernel_fma(has_fma, z, 0x1.111026p-3F, -0x1.555552p-2F);
  float p = stowi_kernel_fma(has_fma, high, fourth, middle);
  p = stowi_kernel_fma(has_fma, p, fourth, low);
  float near = stowi_kernel_fma(has_fma, a * z, p, a);
  float clamped = stowi_kernel_at_most(a, 10.0F);
  stowi_kernel_exp_parts parts = stowi_kernel_exp_split(has_fma, clamped + clamped, 0.0F);
  uint32_t e = stowi_kernel_bits_of_f32(1.0F + parts.rest) + (parts.n << 23);
  float far = 1.0F - 2.0F / (stowi_kernel_f32_of_bits(e) + 1.0F);
  return stowi_kernel_sign_like(a >= 0.625F ? far : near, x);  // near: also NaN
}

// 1 - exp(-q(x)), where q is near to -log(erfc(x)): also near 0, as exp(q) - 1 is accurate there.
STOWI_KERNEL_INLINE float stowi_kernel_erff(bool has_fma, float x) {
  float c = stowi_kernel_at_most(stowi_kernel_abs(x), 3.95F);
  float cube = c * c * c;
  float high = stowi_kernel_fma(has_fma, c, 0x1.3b0282p-17F, -0x1.f28acep-14F);
  float middle = stowi_kernel_fma(has_fma, c, -0x1.b744cep-10F, 0x1.637a16p-13F);
  float low = stowi_kernel_fma(has_fma, c, -0x1.a4f8c4p-4F, -0x1.45f3p-1F);
  high = stowi_kernel_fma(has_fma, high, c, 0x1.4e299ap-11F);
  middle = stowi_kernel_fma(has_fma, middle, c, 0x1.39b7cap-6F);
  low = stowi_kernel_fma(has_fma, low, c, -0x1.06eba8p-3F);  // 1 - 2 / sqrt(pi)
  float p = stowi_kernel_fma(has_fma, high, cube, middle);
  p = stowi_kernel_fma(has_fma, p, cube, low);
  float number = stowi_kernel_expm1_near(has_fma, stowi_kernel_fma(has_fma, p, c, -c));
  number = stowi_kernel_sign_like(number, x);
  return x == x ? number : x;
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

STOWI_KERNEL_INLINE float stowi_kernel_softplusf(bool has_fma, float x) {
  float e = stowi_kernel_exp_down(has_fma, -stowi_kernel_abs(x));
  return (x < 0 ? 0 : x) + stowi_kernel_log1pf(e);
}

static inline double stowi_kernel_softplus(double x) {
  return (x < 0 ? 0 : x) + log1p(exp(-fabs(x)));
}

static inline double stowi_kernel_sigmoid(double x) {
  double e = exp(-fabs(x));
  return (x < 0 ? e : 1) / (1 + e);
}

#endif  // STOWAGE_SRC_EXEC_KERNELS_SUPPORT_MATH_H_
