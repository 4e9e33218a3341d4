// Numbers that programs were built with keep their meaning (numbers.def).
#include <stowage/op.h>

#include "support/test.h"

#define OP(name, number, text) +1
#define DTYPE(name, number, text, bits)
static const size_t recorded_ops = 0
#include "numbers.def"
    ;
#undef OP
#undef DTYPE
#define OP(name, number, text)
#define DTYPE(name, number, text, bits) +1
static const size_t recorded_dtypes = 0
#include "numbers.def"
    ;
#undef OP
#undef DTYPE

TEST(OpsKeepTheirNumbersAndNames) {
#define OP(name, number, text)       \
  CHECK_U64(STOW_OP_##name, number); \
  CHECK_U64(stow_ops_find(NULL, stow_str_of(text)), number);
#define DTYPE(name, number, text, bits)
#include "numbers.def"
#undef OP
#undef DTYPE
}

TEST(DtypesKeepTheirNumbersNamesAndWidths) {
#define OP(name, number, text)
#define DTYPE(name, number, text, bits)                  \
  CHECK_U64(STOW_##name, number);                        \
  CHECK_TEXT(stow_dtype_name((stow_dtype)number), text); \
  CHECK_U64(stow_dtype_bits((stow_dtype)number), bits);
#include "numbers.def"
#undef OP
#undef DTYPE
}

// A new op or dtype gets a line in numbers.def.
TEST(EveryNumberIsRecorded) {
  CHECK_U64(recorded_ops, STOW_OP_CORE_COUNT);
  CHECK_U64(recorded_dtypes, STOW_DTYPE_COUNT);
}
