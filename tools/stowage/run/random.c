// Random tensors. Every value has a stream of its own, which its name and the seed begin, so that
// one more input changes no other's numbers. Numbers are chosen among those that the type has
// exactly: nothing is rounded, and nothing depends on the machine.
#include "run/random.h"

#include <string.h>

typedef struct element {
  uint32_t bits;
  stow_dtype_kind kind;
} element;

static element element_of(stow_dtype dtype) {
  switch (dtype) {
#define ELEMENT(name, number, text, bits, kind) \
  case STOW_##name: return (element){bits, STOW_KIND_##kind};
    STOW_DTYPE_LIST(ELEMENT)
#undef ELEMENT
    default: return (element){8, STOW_KIND_UNSIGNED};
  }
}

// splitmix64 (Steele, Lea, Flood, Fast splittable pseudorandom number generators, 2014)
static uint64_t next(uint64_t* state) {
  uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);
  z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
  return z ^ (z >> 31);
}

// FNV-1a
static uint64_t hash_name(stow_str name) {
  uint64_t hash = UINT64_C(0xCBF29CE484222325);
  for (size_t i = 0; i < name.size; ++i) {
    hash = (hash ^ (unsigned char)name.data[i]) * UINT64_C(0x100000001B3);
  }
  return hash;
}

// In [-1, 1), a multiple of 2^-|digits|.
static double random_real(uint64_t* state, unsigned digits) {
  uint64_t steps = next(state) >> (63 - digits);  // digits + 1 bits
  return (double)steps / (double)(UINT64_C(1) << digits) - 1.0;
}

// The upper half of a float's bits is the bf16 of the same value; a multiple of 2^-7 has no others.
static uint16_t random_bf16(uint64_t* state) {
  float number = (float)random_real(state, 7);
  uint32_t bits;
  memcpy(&bits, &number, sizeof bits);
  return (uint16_t)(bits >> 16);
}

// A multiple of 2^-10 in [-1, 1) as f16: of a normal one the exponent moves by 112.
static uint16_t random_f16(uint64_t* state) {
  float number = (float)random_real(state, 10);
  uint32_t bits;
  memcpy(&bits, &number, sizeof bits);
  uint32_t sign = bits >> 31 << 15;
  uint32_t magnitude = bits & 0x7FFFFFFF;
  return (uint16_t)(magnitude == 0 ? 0 : sign | ((magnitude >> 13) - (112u << 10)));
}

// Bits of a float of 8 bits or less: below 1 where |one| is the bits of 1, with a sign.
static uint64_t random_small(uint64_t* state, unsigned one, unsigned sign) {
  uint64_t bits = next(state);
  uint64_t magnitude = (bits >> 8) % one;
  return magnitude != 0 && (bits & 1) != 0 ? magnitude | sign : magnitude;
}

static uint64_t random_bits(stow_dtype dtype, uint64_t* state) {
  switch (dtype) {
    case STOW_F16: return random_f16(state);
    case STOW_BF16: return random_bf16(state);
    case STOW_F8E4M3FN: return random_small(state, 0x38, 0x80);
    case STOW_F8E5M2: return random_small(state, 0x3C, 0x80);
    case STOW_F8E4M3FNUZ:
    case STOW_F8E5M2FNUZ: return random_small(state, 0x40, 0x80);
    case STOW_F8E8M0: return 120 + next(state) % 8;  // 2^-7 … 1
    case STOW_F4E2M1: return random_small(state, 2, 8);
    default:  // an integer or bool: 0 and 1 are in range wherever they pick something
      return next(state) >> 63;
  }
}

static void put_bits(stow_tensor* tensor, size_t index, uint64_t number) {
  uint32_t bits = element_of(tensor->dtype).bits;
  unsigned char* bytes = tensor->data;
  if (bits < 8) {
    size_t per_byte = 8 / bits;
    bytes[index / per_byte] |= (unsigned char)(number << (index % per_byte * bits));
    return;
  }
  for (size_t i = 0; i < bits / 8; ++i) {
    bytes[index * (bits / 8) + i] = (unsigned char)(number >> (8 * i));
  }
}

void cli_fill_random(stow_tensor* tensor, uint64_t seed, stow_str name) {
  uint64_t state = seed ^ hash_name(name);
  size_t count = stow_tensor_elements(tensor);
  bool is_complex = element_of(tensor->dtype).kind == STOW_KIND_COMPLEX;
  if (count == 0) {
    return;
  }
  memset(tensor->data, 0, stow_tensor_bytes(tensor));
  count *= is_complex ? 2 : 1;
  for (size_t i = 0; i < count; ++i) {
    if (tensor->dtype == STOW_F32 || tensor->dtype == STOW_C64) {
      ((float*)tensor->data)[i] = (float)random_real(&state, 23);
    } else if (tensor->dtype == STOW_F64 || tensor->dtype == STOW_C128) {
      ((double*)tensor->data)[i] = random_real(&state, 52);
    } else {
      put_bits(tensor, i, random_bits(tensor->dtype, &state));
    }
  }
}
