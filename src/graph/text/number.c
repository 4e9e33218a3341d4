// Floats without strtod and printf, which obey the locale, and without floating-point arithmetic,
// which obeys the rounding mode and the width of registers: the bits of a double are assembled with
// integers.
//
// Hex floats need only shifts. Decimal floats are read if both the digits (as an integer m ≤ 2^53)
// and 5^|e| with |e| ≤ 22 fit in 53 bits: Clinger's fast path ("How to read floating point numbers
// accurately", 1990), here with the product and the quotient as exact integers and one rounding to
// even. Everything else is refused with the advice to write a hex float.
#include "graph/text/number.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

#define MANTISSA_BITS 53  // with the leading one
#define MIN_EXPONENT (-1074)
#define MAX_EXPONENT 1023
#define EXPONENT_BIAS 1023
#define FRACTION_MASK ((UINT64_C(1) << 52) - 1)

static const char malformed[] = "is malformed; write 12, 2.5, 2.5e-3 or, exactly, 0x1.8p+1";
static const char not_exact[] = "is not exact as a double";
static const char too_large[] = "is too large for a double";
static const char needs_hex[] = "cannot be read exactly; write it as a hex float, as in 0x1.8p+1";

bool stowi_graph_number_int(stow_str text, bool negative, int64_t* out) {
  uint64_t magnitude;
  if (!stowi_parse_u64(text, &magnitude) || magnitude > (uint64_t)INT64_MAX + negative) {
    return false;
  }
  bool is_below_zero = negative && magnitude != 0;
  *out = is_below_zero ? -(int64_t)(magnitude - 1) - 1 : (int64_t)magnitude;
  return true;
}

static double from_bits(uint64_t bits) {
  double number;
  memcpy(&number, &bits, sizeof(number));
  return number;
}

static int bit_width(uint64_t number) {
  int width = 0;
  for (; number != 0; number >>= 1) {
    ++width;
  }
  return width;
}

// |mantissa| × 2^|exponent|, which must be exact as a double.
static const char* make_exact(uint64_t mantissa, int64_t exponent, double* out) {
  if (mantissa == 0) {
    *out = 0;
    return NULL;
  }
  for (; (mantissa & 1) == 0; mantissa >>= 1) {
    ++exponent;
  }
  int width = bit_width(mantissa);
  int64_t top = exponent + width - 1;  // the power of two of the leading bit
  if (top > MAX_EXPONENT) {
    return too_large;
  }
  if (width > MANTISSA_BITS || exponent < MIN_EXPONENT) {
    return not_exact;
  }
  if (top < 1 - EXPONENT_BIAS) {
    *out = from_bits(mantissa << (exponent - MIN_EXPONENT));
    return NULL;
  }
  uint64_t fraction = (mantissa << (MANTISSA_BITS - width)) & FRACTION_MASK;
  *out = from_bits((uint64_t)(top + EXPONENT_BIAS) << 52 | fraction);
  return NULL;
}

// ---------------------------------------------------------------------------------------------
// Reading digits

typedef struct scanner {
  const char* cursor;
  const char* end;
} scanner;

static bool at(const scanner* scan, char lower) {
  return scan->cursor < scan->end && (*scan->cursor | 0x20) == lower;
}

// The exponent's digits, with or without a sign. Values out of range of any float are clamped, far
// beyond what digits can compensate.
static bool scan_exponent(scanner* scan, int64_t* out) {
  const int64_t limit = INT64_MAX / 64;
  bool negative = scan->cursor < scan->end && *scan->cursor == '-';
  if (scan->cursor < scan->end && (*scan->cursor == '-' || *scan->cursor == '+')) {
    ++scan->cursor;
  }
  const char* first = scan->cursor;
  int64_t number = 0;
  for (; scan->cursor < scan->end && stowi_is_digit(*scan->cursor); ++scan->cursor) {
    number = number < limit / 10 ? number * 10 + (*scan->cursor - '0') : limit;
  }
  *out = negative ? -number : number;
  return scan->cursor > first && scan->cursor == scan->end;
}

static int digit_of(char c, unsigned base) {
  if (stowi_is_digit(c)) {
    return c - '0';
  }
  char lower = (char)(c | 0x20);
  return base == 16 && lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

// The digits before and after the point: |number| × base^|scale|. Zeros wait until a digit follows
// them, so `1.50` is read as `1.5`.
typedef struct digits {
  uint64_t number;
  uint64_t limit;  // of the number
  int64_t scale;
  int64_t zeros;   // pending
  bool is_formed;  // has digits on both sides of a point
  bool fits;       // within the limit
} digits;

static void push_digit(digits* all, unsigned digit, unsigned base) {
  all->fits = all->fits && all->number <= (all->limit - digit) / base;
  all->number = all->fits ? all->number * base + digit : 0;
}

static void add_digit(digits* all, unsigned digit, unsigned base) {
  if (digit == 0) {
    ++all->zeros;
    return;
  }
  int64_t zeros = all->number == 0 ? 0 : all->zeros;
  all->zeros = 0;
  for (; zeros > 0 && all->fits; --zeros) {
    push_digit(all, 0, base);
  }
  push_digit(all, digit, base);
}

static digits scan_digits(scanner* scan, unsigned base, uint64_t limit) {
  digits all = {0, limit, 0, 0, false, true};
  bool after_point = false;
  for (; scan->cursor < scan->end; ++scan->cursor) {
    int digit = digit_of(*scan->cursor, base);
    if (digit >= 0) {
      all.is_formed = true;
      all.scale -= after_point;
      add_digit(&all, (unsigned)digit, base);
    } else if (*scan->cursor == '.' && all.is_formed && !after_point) {
      after_point = true;
      all.is_formed = false;
    } else {
      break;
    }
  }
  all.scale += all.zeros;
  return all;
}

// ---------------------------------------------------------------------------------------------

static const char* read_hex(scanner scan, double* out) {
  int64_t exponent;
  digits all = scan_digits(&scan, 16, UINT64_MAX);
  if (!all.is_formed || !at(&scan, 'p')) {
    return malformed;
  }
  ++scan.cursor;
  if (!scan_exponent(&scan, &exponent)) {
    return malformed;
  }
  return all.fits ? make_exact(all.number, exponent + 4 * all.scale, out) : not_exact;
}

// Rounds |high|, whose top bit is set and which holds the leading 64 bits of a longer number, to 53
// bits, to even. |rest|: whether any lower bit is set.
static double round_to_double(uint64_t high, bool rest, int64_t exponent) {
  const int dropped = 64 - MANTISSA_BITS;
  uint64_t kept = high >> dropped;
  uint64_t below = high & ((UINT64_C(1) << dropped) - 1);
  uint64_t half = UINT64_C(1) << (dropped - 1);
  if (below > half || (below == half && (rest || (kept & 1) != 0))) {
    ++kept;
  }
  double number = 0;
  make_exact(kept, exponent + dropped, &number);
  return number;
}

static double multiply(uint64_t a, uint64_t b, int64_t exponent) {
  uint64_t a_low = a & UINT32_MAX, a_high = a >> 32;
  uint64_t b_low = b & UINT32_MAX, b_high = b >> 32;
  uint64_t low = a_low * b_low;
  uint64_t middle = a_high * b_low + (low >> 32);
  uint64_t other = a_low * b_high + (middle & UINT32_MAX);
  uint64_t high = a_high * b_high + (middle >> 32) + (other >> 32);
  low = other << 32 | (low & UINT32_MAX);
  int64_t shift = 64;
  for (; (high >> 63) == 0; --shift) {
    high = high << 1 | low >> 63;
    low <<= 1;
  }
  return round_to_double(high, low != 0, exponent + shift);
}

// Bit by bit: the remainder is below |divisor| < 2^53, so doubling it can't overflow.
static double divide(uint64_t number, uint64_t divisor, int64_t exponent) {
  uint64_t quotient = number / divisor;
  uint64_t remainder = number % divisor;
  for (; (quotient >> 63) == 0; --exponent) {
    remainder <<= 1;
    bool one = remainder >= divisor;
    remainder -= one ? divisor : 0;
    quotient = quotient << 1 | one;
  }
  return round_to_double(quotient, remainder != 0, exponent);
}

static const char* read_decimal(scanner scan, double* out) {
  const int largest_power = 22;  // 5^22 < 2^53
  int64_t exponent = 0;
  digits all = scan_digits(&scan, 10, UINT64_C(1) << MANTISSA_BITS);
  if (!all.is_formed) {
    return malformed;
  }
  if (at(&scan, 'e')) {
    ++scan.cursor;
    if (!scan_exponent(&scan, &exponent)) {
      return malformed;
    }
  } else if (scan.cursor != scan.end) {
    return malformed;
  }
  if (all.fits && all.number == 0) {
    *out = 0;
    return NULL;
  }
  exponent += all.scale;
  for (; all.fits && exponent > largest_power && all.number <= all.limit / 10; --exponent) {
    all.number *= 10;  // 1e24 is 100e22
  }
  if (!all.fits || exponent > largest_power || exponent < -largest_power) {
    return needs_hex;
  }
  uint64_t power = 1;
  for (int64_t i = exponent < 0 ? -exponent : exponent; i > 0; --i) {
    power *= 5;
  }
  *out = exponent < 0 ? divide(all.number, power, exponent) : multiply(all.number, power, exponent);
  return NULL;
}

const char* stowi_graph_number_float(stow_str text, double* out) {
  scanner scan = {text.data, text.data + text.size};
  if (text.size >= 2 && text.data[0] == '0' && (text.data[1] | 0x20) == 'x') {
    scan.cursor += 2;
    return read_hex(scan, out);
  }
  return read_decimal(scan, out);
}

bool stowi_graph_number_int_to_float(int64_t number, double* out) {
  uint64_t magnitude = number < 0 ? UINT64_C(0) - (uint64_t)number : (uint64_t)number;
  if (make_exact(magnitude, 0, out) != NULL) {
    return false;
  }
  *out = number < 0 ? -*out : *out;
  return true;
}

// ---------------------------------------------------------------------------------------------

// Subnormal numbers are also printed with a leading one, so that there is one form for all.
static stow_status put_finite(stow_writer writer, const char* sign, uint64_t fraction,
                              int exponent) {
  if (exponent == 0 && fraction == 0) {
    return stowi_printf(writer, "%s0x0p+0", sign);
  }
  if (exponent == 0) {
    for (exponent = 1; fraction <= FRACTION_MASK; --exponent) {
      fraction <<= 1;
    }
  }
  exponent -= EXPONENT_BIAS;
  fraction &= FRACTION_MASK;
  if (fraction == 0) {
    return stowi_printf(writer, "%s0x1p%+d", sign, exponent);
  }
  int count = 13;
  for (; (fraction & 15) == 0; fraction >>= 4) {
    --count;
  }
  return stowi_printf(writer, "%s0x1.%0*" PRIx64 "p%+d", sign, count, fraction, exponent);
}

stow_status stowi_graph_put_float(stow_writer writer, double number) {
  uint64_t bits;
  memcpy(&bits, &number, sizeof(bits));
  const char* sign = bits >> 63 != 0 ? "-" : "";
  uint64_t fraction = bits & FRACTION_MASK;
  int exponent = (int)(bits >> 52 & 0x7ff);
  if (exponent != 0x7ff) {
    return put_finite(writer, sign, fraction, exponent);
  }
  if (fraction != 0) {
    return stowi_put(writer, "nan");
  }
  return stowi_printf(writer, "%sinf", sign);
}
