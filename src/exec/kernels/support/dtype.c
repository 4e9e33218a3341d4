// Properties of dtypes, from the list of dtypes. Constant time.
#include "exec/kernels/support/dtype.h"

uint32_t stowi_kernel_bits(stow_dtype dtype) {
  switch (dtype) {
#define BITS(name, number, text, bits, kind) \
  case STOW_##name: return bits;
    STOW_DTYPE_LIST(BITS)
#undef BITS
    case STOW_DTYPE_COUNT: break;
  }
  return 0;
}

stow_dtype_kind stowi_kernel_kind(stow_dtype dtype) {
  switch (dtype) {
#define KIND(name, number, text, bits, kind) \
  case STOW_##name: return STOW_KIND_##kind;
    STOW_DTYPE_LIST(KIND)
#undef KIND
    case STOW_DTYPE_COUNT: break;
  }
  return STOW_KIND_FLOAT;
}

const char* stowi_kernel_dtype_text(stow_dtype dtype) {
  static const char* const texts[] = {
#define TEXT(name, number, text, bits, kind) [number] = text,
      STOW_DTYPE_LIST(TEXT)
#undef TEXT
  };
  return dtype < STOW_DTYPE_COUNT ? texts[dtype] : "?";
}
