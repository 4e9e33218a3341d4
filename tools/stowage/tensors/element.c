// Elements as numbers. Every small float is the same record of three numbers: bits of exponent and
// mantissa, and the exponent's bias; what is infinite or no number differs from type to type.
#include "tensors/element.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct small_float {
  unsigned mantissa;  // bits
  unsigned exponent;  // bits
  int bias;
} small_float;

// All exponents are for numbers.
static double decode_finite(uint32_t bits, small_float f) {
  uint32_t exponent = bits >> f.mantissa & ((1u << f.exponent) - 1);
  uint32_t mantissa = bits & ((1u << f.mantissa) - 1);
  double sign = (bits >> (f.mantissa + f.exponent) & 1) != 0 ? -1.0 : 1.0;
  int lowest = 1 - f.bias - (int)f.mantissa;
  return exponent == 0 ? sign * ldexp(mantissa, lowest)
                       : sign * ldexp(mantissa + (1u << f.mantissa), lowest + (int)exponent - 1);
}

// IEEE 754's own shape: the highest exponent is for infinities and what is no number.
static double decode_ieee(uint32_t bits, small_float f) {
  uint32_t magnitude = bits & ((1u << (f.mantissa + f.exponent)) - 1);
  uint32_t infinity = ((1u << f.exponent) - 1) << f.mantissa;
  if (magnitude < infinity) {
    return decode_finite(bits, f);
  }
  return magnitude > infinity ? (double)NAN
         : magnitude == bits  ? (double)INFINITY
                              : -(double)INFINITY;
}

static double decode_small(uint32_t bits, stow_dtype dtype) {
  switch (dtype) {
    case STOW_F16: return decode_ieee(bits, (small_float){10, 5, 15});
    case STOW_BF16: return decode_ieee(bits, (small_float){7, 8, 127});
    case STOW_F8E5M2: return decode_ieee(bits, (small_float){2, 5, 15});
    case STOW_F8E4M3FN:
      return (bits & 0x7F) == 0x7F ? (double)NAN : decode_finite(bits, (small_float){3, 4, 7});
    case STOW_F8E4M3FNUZ:
      return bits == 0x80 ? (double)NAN : decode_finite(bits, (small_float){3, 4, 8});
    case STOW_F8E5M2FNUZ:
      return bits == 0x80 ? (double)NAN : decode_finite(bits, (small_float){2, 5, 16});
    case STOW_F8E8M0: return bits == 0xFF ? (double)NAN : ldexp(1.0, (int)bits - 127);
    default: return decode_finite(bits, (small_float){1, 2, 1});  // F4E2M1
  }
}

// Up to 64 bits of element |index|, the lowest first.
static uint64_t raw_bits(const stow_tensor* tensor, size_t index) {
  uint32_t bits = stow_dtype_bits(tensor->dtype);
  const unsigned char* bytes = tensor->data;
  if (bits < 8) {
    size_t per_byte = 8 / bits;
    uint32_t byte = bytes[index / per_byte];
    return byte >> (index % per_byte * bits) & ((1u << bits) - 1);
  }
  uint64_t number = 0;
  for (size_t i = 0; i < bits / 8; ++i) {
    number |= (uint64_t)bytes[index * (bits / 8) + i] << (8 * i);
  }
  return number;
}

static int64_t sign_extend(uint64_t number, uint32_t bits) {
  uint64_t sign = UINT64_C(1) << (bits - 1);
  return bits == 64 ? (int64_t)number : (int64_t)((number ^ sign) - sign);
}

unsigned cli_element_parts(stow_dtype dtype) {
  return stow_dtype_kind_of(dtype) == STOW_KIND_COMPLEX ? 2 : 1;
}

bool cli_is_float(stow_dtype dtype) {
  stow_dtype_kind kind = stow_dtype_kind_of(dtype);
  return kind == STOW_KIND_FLOAT || kind == STOW_KIND_COMPLEX;
}

double cli_element(const stow_tensor* tensor, size_t index, unsigned part) {
  const char* bytes = tensor->data;
  float f;
  double d;
  switch (tensor->dtype) {
    case STOW_F32:
    case STOW_C64:
      index = tensor->dtype == STOW_C64 ? 2 * index + part : index;
      memcpy(&f, bytes + index * sizeof f, sizeof f);
      return f;
    case STOW_F64:
    case STOW_C128:
      index = tensor->dtype == STOW_C128 ? 2 * index + part : index;
      memcpy(&d, bytes + index * sizeof d, sizeof d);
      return d;
    default: break;
  }
  uint64_t bits = raw_bits(tensor, index);
  switch (stow_dtype_kind_of(tensor->dtype)) {
    case STOW_KIND_SIGNED: return (double)sign_extend(bits, stow_dtype_bits(tensor->dtype));
    case STOW_KIND_UNSIGNED: return (double)bits;
    case STOW_KIND_BOOL: return bits != 0 ? 1.0 : 0.0;
    default: return decode_small((uint32_t)bits, tensor->dtype);
  }
}

static int significant_digits(stow_dtype dtype) {
  return dtype == STOW_F64 || dtype == STOW_C128 ? 12 : stow_dtype_bits(dtype) < 32 ? 4 : 6;
}

void cli_element_format(const stow_tensor* tensor, size_t index, char out[CLI_ELEMENT_SIZE]) {
  int digits = significant_digits(tensor->dtype);
  switch (stow_dtype_kind_of(tensor->dtype)) {
    case STOW_KIND_SIGNED:
      snprintf(out, CLI_ELEMENT_SIZE, "%" PRId64,
               sign_extend(raw_bits(tensor, index), stow_dtype_bits(tensor->dtype)));
      return;
    case STOW_KIND_UNSIGNED:
      snprintf(out, CLI_ELEMENT_SIZE, "%" PRIu64, raw_bits(tensor, index));
      return;
    case STOW_KIND_BOOL:
      snprintf(out, CLI_ELEMENT_SIZE, "%s", raw_bits(tensor, index) != 0 ? "true" : "false");
      return;
    case STOW_KIND_COMPLEX:
      snprintf(out, CLI_ELEMENT_SIZE, "%.*g%+.*gi", digits, cli_element(tensor, index, 0), digits,
               cli_element(tensor, index, 1));
      return;
    case STOW_KIND_FLOAT: break;
  }
  snprintf(out, CLI_ELEMENT_SIZE, "%.*g", digits, cli_element(tensor, index, 0));
}

void cli_format_json_number(double number, char out[CLI_ELEMENT_SIZE]) {
  if (isfinite(number)) {
    snprintf(out, CLI_ELEMENT_SIZE, "%.17g", number);
  } else {
    snprintf(out, CLI_ELEMENT_SIZE, "null");
  }
}
