// Converts floats to bits and back.
//
// Both directions use integer arithmetic on the bits of a double, so that the bytes are the same on
// every machine, whatever its floating-point unit and rounding mode. O(1).
#include "graph/floats.h"

#include <string.h>

// A binary format: 1 sign bit, exponent, fraction.
typedef struct format {
  unsigned exponent_bits, fraction_bits;
} format;

// False for f64, which needs no conversion.
static bool format_of(stow_dtype dtype, format* out) {
  switch (dtype) {
    case STOW_F32: *out = (format){8, 23}; return true;
    case STOW_F16: *out = (format){5, 10}; return true;
    case STOW_BF16: *out = (format){8, 7}; return true;
    default: return false;
  }
}

bool stowi_graph_float_has(stow_dtype dtype) {
  format unused;
  return dtype == STOW_F64 || format_of(dtype, &unused);
}

static bool round_float(double number, format to, uint64_t* out) {
  uint64_t bits;
  memcpy(&bits, &number, sizeof(bits));
  uint64_t sign = bits >> 63 << (to.exponent_bits + to.fraction_bits);
  int exponent = (int)(bits >> 52 & 0x7ff);
  uint64_t fraction = bits & ((UINT64_C(1) << 52) - 1);
  uint64_t infinity = ((UINT64_C(1) << to.exponent_bits) - 1) << to.fraction_bits;
  if (exponent == 0x7ff) {
    uint64_t quiet = fraction == 0 ? 0 : UINT64_C(1) << (to.fraction_bits - 1);
    *out = sign | infinity | quiet;
    return true;
  }
  // number = significand × 2^(exponent - 1075); a double's subnormals round to 0 in narrower
  // formats
  int bias = (1 << (to.exponent_bits - 1)) - 1;
  int target = exponent - 1023 + bias;
  unsigned shift = 52 - to.fraction_bits + (target < 1 ? (unsigned)(1 - target) : 0);
  uint64_t significand = exponent == 0 ? 0 : fraction | UINT64_C(1) << 52;
  uint64_t rounded = 0;
  if (shift < 54) {
    uint64_t rest = significand & ((UINT64_C(1) << shift) - 1);
    uint64_t half = UINT64_C(1) << (shift - 1);
    rounded = significand >> shift;
    rounded += rest > half || (rest == half && (rounded & 1) != 0);
  }
  // the hidden bit, or a carry into it, counts as 1 in the exponent
  uint64_t magnitude = rounded + (target < 1 ? 0 : (uint64_t)(target - 1) << to.fraction_bits);
  *out = sign | magnitude;
  return magnitude < infinity;
}

bool stowi_graph_float_encode(stow_dtype dtype, double number, uint64_t* out_bits) {
  format to;
  if (format_of(dtype, &to)) {
    return round_float(number, to, out_bits);
  }
  memcpy(out_bits, &number, sizeof(number));
  return true;
}

// The bits of a double that has the value of |bits|.
static uint64_t widen(uint64_t bits, format from) {
  uint64_t sign = bits >> (from.exponent_bits + from.fraction_bits) << 63;
  uint64_t largest = (UINT64_C(1) << from.exponent_bits) - 1;
  uint64_t exponent = bits >> from.fraction_bits & largest;
  uint64_t fraction = (bits & ((UINT64_C(1) << from.fraction_bits) - 1))
                      << (52 - from.fraction_bits);
  if (exponent == largest) {
    return sign | UINT64_C(0x7ff) << 52 | (fraction == 0 ? 0 : UINT64_C(1) << 51);
  }
  uint64_t rebased = exponent + 1023 - (largest >> 1);
  if (exponent == 0) {
    if (fraction == 0) {
      return sign;
    }
    for (++rebased; fraction >> 52 == 0; --rebased) {  // subnormal here, but not as a double
      fraction <<= 1;
    }
    fraction &= (UINT64_C(1) << 52) - 1;
  }
  return sign | rebased << 52 | fraction;
}

double stowi_graph_float_decode(stow_dtype dtype, uint64_t bits) {
  format from;
  double number;
  bits = format_of(dtype, &from) ? widen(bits, from) : bits;
  memcpy(&number, &bits, sizeof(number));
  return number;
}
