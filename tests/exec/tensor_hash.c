#include "exec/tensor_hash.h"

#include <string.h>

#include "base/hash.h"

// The bits of infinity; 0: other dtypes, whose bits count as they are.
static uint64_t infinity_of(stow_dtype dtype) {
  switch (dtype) {
    case STOW_C128:
    case STOW_F64: return UINT64_C(0x7ff0000000000000);
    case STOW_C64:
    case STOW_F32: return UINT64_C(0x7f800000);
    case STOW_F16: return UINT64_C(0x7c00);
    case STOW_BF16: return UINT64_C(0x7f80);
    default: return 0;
  }
}

static uint64_t hash_floats(uint64_t hash, const unsigned char* data, size_t bytes,
                            uint64_t infinity) {
  size_t size = infinity >> 32 != 0 ? 8 : infinity >> 16 != 0 ? 4 : 2;
  for (size_t i = 0; i < bytes; i += size) {
    uint64_t bits = 0;
    memcpy(&bits, data + i, size);
    uint64_t sign = UINT64_C(1) << (8 * size - 1);
    hash = stowi_hash_u64(hash, (bits & ~sign) > infinity ? UINT64_MAX : bits);
  }
  return hash;
}

uint64_t tensor_hash(uint64_t hash, const stow_tensor* tensor) {
  hash = stowi_hash_u64(hash, ((uint64_t)tensor->dtype << 8) + tensor->rank);
  for (uint32_t i = 0; i < tensor->rank; ++i) {
    hash = stowi_hash_u64(hash, (uint64_t)tensor->dims[i]);
  }
  const unsigned char* data = (const unsigned char*)tensor->data;
  size_t bits = stow_tensor_elements(tensor) * stow_dtype_bits(tensor->dtype);
  uint64_t infinity = infinity_of(tensor->dtype);
  if (infinity != 0) {
    return hash_floats(hash, data, bits / 8, infinity);
  }
  hash = bits < 8 ? hash : stowi_hash_bytes(hash, data, bits / 8);
  // What follows the last element in its byte is nobody's, or another value's.
  return bits % 8 == 0 ? hash : stowi_hash_u64(hash, data[bits / 8] & ((1U << bits % 8) - 1));
}
