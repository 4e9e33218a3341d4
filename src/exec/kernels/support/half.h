// f16 and bf16 in terms of f32. To nearest, ties to even; a NaN stays one.
#ifndef STOWAGE_SRC_EXEC_KERNELS_SUPPORT_HALF_H_
#define STOWAGE_SRC_EXEC_KERNELS_SUPPORT_HALF_H_

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static inline uint32_t stowi_kernel_bits_of_f32(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof(bits));
  return bits;
}

static inline float stowi_kernel_f32_of_bits(uint32_t bits) {
  float x;
  memcpy(&x, &bits, sizeof(x));
  return x;
}

static inline float stowi_kernel_f32_of_bf16(uint16_t bits) {
  return stowi_kernel_f32_of_bits((uint32_t)bits << 16);
}

// All are free of branches, so that loops over them become vectors.
static inline uint16_t stowi_kernel_bf16_of_f32(float x) {
  uint32_t bits = stowi_kernel_bits_of_f32(x);
  uint32_t rounded = (bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16;
  uint32_t nan = (bits >> 16) | 0x40U;
  return (uint16_t)((bits & 0x7fffffffU) > 0x7f800000U ? nan : rounded);
}

// The exponent is brought to where an f32 has it by a multiplication, which is exact, also for
// subnormal numbers.
static inline float stowi_kernel_f32_of_f16(uint16_t half) {
  uint32_t sign = (uint32_t)(half & 0x8000U) << 16;
  uint32_t moved = (uint32_t)(half & 0x7fffU) << 13;
  uint32_t number = stowi_kernel_bits_of_f32(stowi_kernel_f32_of_bits(moved) * 0x1p112F);
  uint32_t beyond = moved | 0x7f800000U;
  return stowi_kernel_f32_of_bits(sign | (moved >= 0x0f800000U ? beyond : number));
}

// Below the smallest normal f16 the addition of 0.5 brings the fraction to where an f32 rounds it.
static inline uint16_t stowi_kernel_f16_of_f32(float x) {
  uint32_t bits = stowi_kernel_bits_of_f32(x);
  uint32_t sign = (bits >> 16) & 0x8000U;
  bits &= 0x7fffffffU;
  uint32_t tiny = stowi_kernel_bits_of_f32(stowi_kernel_f32_of_bits(bits) + 0.5F) - 0x3f000000U;
  uint32_t normal = (bits - 0x38000000U + 0xfffU + ((bits >> 13) & 1U)) >> 13;
  uint32_t beyond = bits > 0x7f800000U ? 0x7e00U : 0x7c00U;
  uint32_t number = bits < 0x38800000U ? tiny : normal;
  return (uint16_t)(sign | (bits >= 0x477ff000U ? beyond : number));
}

// The f32 next to |x| that has an odd last bit, where |x| is none: what is rounded from that again
// is as if rounded from |x| at once.
static inline float stowi_kernel_odd_f32_of_f64(double x) {
  float near = (float)x;
  uint32_t bits = stowi_kernel_bits_of_f32(near);
  double back = (double)near;
  if (back == x || x != x || (bits & 1U) != 0) {
    return near;
  }
  bool is_below = (back < x) == (x > 0);  // nearer to zero than x
  return stowi_kernel_f32_of_bits(is_below ? bits + 1 : bits - 1);
}

static inline uint16_t stowi_kernel_f16_of_f64(double x) {
  return stowi_kernel_f16_of_f32(stowi_kernel_odd_f32_of_f64(x));
}

static inline uint16_t stowi_kernel_bf16_of_f64(double x) {
  return stowi_kernel_bf16_of_f32(stowi_kernel_odd_f32_of_f64(x));
}

#endif  // STOWAGE_SRC_EXEC_KERNELS_SUPPORT_HALF_H_
