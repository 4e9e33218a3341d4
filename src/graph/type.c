// Tensor types. Sizes are computed with overflow checks; a dim of 0 gives a type of 0 bytes,
// whatever its other dims.
#include <stowage/type.h>
#include <string.h>

#include "base/checked.h"
#include "base/diag.h"
#include "base/text.h"

stow_type stow_type_make(stow_dtype dtype, uint32_t rank, const stow_dim* dims) {
  stow_type type;
  memset(&type, 0, sizeof(type));
  type.dtype = dtype;
  type.rank = rank < STOW_MAX_RANK ? rank : STOW_MAX_RANK;
  if (type.rank != 0) {
    memcpy(type.dims, dims, type.rank * sizeof(*dims));
  }
  return type;
}

bool stow_type_equal(const stow_type* a, const stow_type* b) {
  return a->dtype == b->dtype && a->rank == b->rank &&
         memcmp(a->dims, b->dims, a->rank * sizeof(*a->dims)) == 0;
}

stow_status stow_type_elements(const stow_type* type, uint64_t* out_elements) {
  *out_elements = 0;
  bool is_empty = false;
  for (uint32_t i = 0; i < type->rank; ++i) {
    if (!stow_dim_is_const(type->dims[i])) {
      return STOW_ERR_UNBOUND_DIM;
    }
    is_empty = is_empty || type->dims[i] == 0;
  }
  if (is_empty) {
    return STOW_OK;
  }
  uint64_t elements = 1;
  for (uint32_t i = 0; i < type->rank; ++i) {
    if (!stowi_mul_u64(elements, (uint64_t)type->dims[i], &elements)) {
      return STOW_ERR_OVERFLOW;
    }
  }
  *out_elements = elements;
  return STOW_OK;
}

stow_status stow_type_bytes(const stow_type* type, uint64_t* out_bytes) {
  *out_bytes = 0;
  uint64_t elements;
  STOW_TRY(stow_type_elements(type, &elements));
  uint32_t bits = stow_dtype_bits(type->dtype);
  if (bits >= 8) {
    return stowi_mul_u64(elements, bits / 8, out_bytes) ? STOW_OK : STOW_ERR_OVERFLOW;
  }
  uint64_t per_byte = bits == 0 ? 1 : 8 / bits;
  *out_bytes = elements / per_byte + (elements % per_byte != 0);
  return STOW_OK;
}

stow_status stow_type_print(const stow_dims* dims, const stow_type* type, stow_writer writer) {
  STOW_TRY(stowi_printf(writer, "%s[", stow_dtype_name(type->dtype)));
  for (uint32_t i = 0; i < type->rank; ++i) {
    if (i != 0) {
      STOW_TRY(stowi_put(writer, ", "));
    }
    STOW_TRY(stow_dim_print(dims, type->dims[i], writer));
  }
  return stowi_put(writer, "]");
}
