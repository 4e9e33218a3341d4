// Element types: names, widths and kinds, all from one list.
#include <stowage/type.h>

typedef struct dtype_row {
  const char* name;
  uint32_t bits;
  stow_dtype_kind kind;
} dtype_row;

static const dtype_row rows[STOW_DTYPE_COUNT] = {
#define DTYPE_ROW(name, number, text, bits, kind) [STOW_##name] = {text, bits, STOW_KIND_##kind},
    STOW_DTYPE_LIST(DTYPE_ROW)
#undef DTYPE_ROW
};

static bool is_dtype(stow_dtype dtype) { return (unsigned)dtype < STOW_DTYPE_COUNT; }

const char* stow_dtype_name(stow_dtype dtype) { return is_dtype(dtype) ? rows[dtype].name : "?"; }

uint32_t stow_dtype_bits(stow_dtype dtype) { return is_dtype(dtype) ? rows[dtype].bits : 0; }

stow_dtype_kind stow_dtype_kind_of(stow_dtype dtype) {
  return is_dtype(dtype) ? rows[dtype].kind : STOW_KIND_FLOAT;
}

bool stow_dtype_from_name(stow_str name, stow_dtype* out_dtype) {
  for (size_t i = 0; i < STOW_DTYPE_COUNT; ++i) {
    if (stow_str_equal(name, stow_str_of(rows[i].name))) {
      *out_dtype = (stow_dtype)i;
      return true;
    }
  }
  return false;
}
