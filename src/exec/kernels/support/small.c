// Small floats, by formats in a table. The code of a magnitude without its sign grows with the
// magnitude, subnormal numbers included, so that rounding is a multiplication by a power of two,
// rounding to an integer, and an addition. Constant time.
#include "exec/kernels/support/small.h"

#include <math.h>
#include <string.h>

typedef struct format {
  uint8_t fraction_bits;
  int8_t least;     // exponent of the smallest normal number
  uint8_t largest;  // code of the largest number
  uint8_t beyond;   // code of what is larger, where numbers do not saturate
  uint8_t nan;
  uint8_t sign;       // the bit
  bool has_negative;  // zeros and NaNs
} format;

static const format formats[STOW_DTYPE_COUNT] = {
    [STOW_F8E4M3FN] = {3, -6, 0x7e, 0x7f, 0x7f, 0x80, true},
    [STOW_F8E4M3FNUZ] = {3, -7, 0x7f, 0x80, 0x80, 0x80, false},
    [STOW_F8E5M2] = {2, -14, 0x7b, 0x7c, 0x7e, 0x80, true},
    [STOW_F8E5M2FNUZ] = {2, -15, 0x7f, 0x80, 0x80, 0x80, false},
    [STOW_F4E2M1] = {1, 0, 0x7, 0x7, 0x8, 0x8, true},
};

bool stowi_kernel_is_small(stow_dtype dtype) {
  return dtype == STOW_F8E8M0 || (dtype < STOW_DTYPE_COUNT && formats[dtype].sign != 0);
}

static double power_of_two(int exponent) {  // of a normal number
  uint64_t bits = (uint64_t)(exponent + 1023) << 52;
  double power;
  memcpy(&power, &bits, sizeof(power));
  return power;
}

// -1023 for zeros and subnormal numbers.
static int exponent_of(double magnitude) {
  uint64_t bits;
  memcpy(&bits, &magnitude, sizeof(bits));
  return (int)(bits >> 52) - 1023;
}

// ---------------------------------------------------------------------------------------------
// Powers of two

#define POWER_BIAS 127
#define POWER_LARGEST 0xfe
#define POWER_NAN 0xff

static uint8_t power_code(double x, bool saturates, stowi_kernel_round round) {
  if (isnan(x) || x < 0) {
    return POWER_NAN;
  }
  int exponent = exponent_of(x);
  if (isfinite(x) && exponent > -1023) {
    double part = x / power_of_two(exponent);  // 1 up to below 2
    exponent += (round == STOWI_KERNEL_ROUND_UP && part > 1) ||
                (round == STOWI_KERNEL_ROUND_NEAREST && part >= 1.5);
  }
  int code = exponent + POWER_BIAS;
  if (code < 0) {
    return saturates ? 0 : POWER_NAN;
  }
  if (code > POWER_LARGEST) {
    return saturates ? POWER_LARGEST : POWER_NAN;
  }
  return (uint8_t)code;
}

// ---------------------------------------------------------------------------------------------

float stowi_kernel_f32_of_small(stow_dtype dtype, uint8_t code) {
  if (dtype == STOW_F8E8M0) {
    return code == POWER_NAN ? NAN : (float)power_of_two(code - POWER_BIAS);
  }
  const format* f = &formats[dtype];
  bool is_negative = (code & f->sign) != 0;
  int magnitude = code & (f->sign - 1);
  if (f->has_negative ? magnitude > f->largest : code == f->nan) {
    float beyond = dtype == STOW_F8E5M2 && magnitude == f->beyond ? INFINITY : NAN;
    return is_negative ? -beyond : beyond;
  }
  int step = magnitude >> f->fraction_bits;
  int unit = 1 << f->fraction_bits;
  int whole = step == 0 ? magnitude : (magnitude & (unit - 1)) + unit;
  int exponent = f->least - f->fraction_bits + (step == 0 ? 0 : step - 1);
  float number = (float)(whole * power_of_two(exponent));
  return is_negative ? -number : number;
}

uint8_t stowi_kernel_small_of_f64(stow_dtype dtype, double x, bool saturates,
                                  stowi_kernel_round round) {
  if (dtype == STOW_F8E8M0) {
    return power_code(x, saturates, round);
  }
  const format* f = &formats[dtype];
  uint8_t sign = signbit(x) ? f->sign : 0;
  if (isnan(x)) {
    return (uint8_t)(f->nan | (dtype == STOW_F4E2M1 ? 0 : sign));
  }
  double magnitude = fabs(x);
  int exponent = exponent_of(magnitude);
  exponent = exponent < f->least ? f->least : exponent;
  int code = 0x100;
  if (exponent < 64) {
    double scaled = magnitude * power_of_two(f->fraction_bits - exponent);
    double rounded = (scaled + 0x1p52) - 0x1p52;
    code = (int)rounded + (exponent - f->least) * (1 << f->fraction_bits);
  }
  if (code > f->largest) {
    code = saturates ? f->largest : f->beyond;
  }
  if (code == 0 && !f->has_negative) {
    return 0;
  }
  return (uint8_t)(code | sign);
}
