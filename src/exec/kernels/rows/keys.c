// Floats are sign and magnitude: as bits of a double the positive ones are in order, and so are the
// negative ones with all other bits turned over. u64 is moved down by half its range.
#include "exec/kernels/rows/keys.h"

#include <string.h>

#include "exec/kernels/support/convert.h"

stow_status stowi_kernel_need_keys(const stow_kernel_call* call, const stow_tensor* x) {
  if (stowi_kernel_kind(x->dtype) != STOW_KIND_COMPLEX && stowi_kernel_bits(x->dtype) % 8 == 0) {
    return STOW_OK;
  }
  return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED, "elements of %u bits cannot be compared",
                          (unsigned)stowi_kernel_bits(x->dtype));
}

static void load_float_keys(const stow_tensor* x, size_t first, size_t count, int64_t nan,
                            int64_t* out) {
  double room[STOWI_KERNEL_BLOCK];
  stowi_kernel_load_f64(x->dtype, x->data, first, count, room);
  for (size_t i = 0; i < count; ++i) {
    double number = room[i] + 0.0;
    int64_t bits;
    memcpy(&bits, &number, sizeof(bits));
    int64_t key = bits < 0 ? bits ^ INT64_MAX : bits;
    out[i] = number != number ? nan : key;
  }
}

void stowi_kernel_load_keys(const stow_tensor* x, size_t first, size_t count, int64_t nan,
                            int64_t* out) {
  if (stowi_kernel_kind(x->dtype) == STOW_KIND_FLOAT) {
    load_float_keys(x, first, count, nan, out);
    return;
  }
  stowi_kernel_load_i64(x->dtype, x->data, first, count, out);
  if (x->dtype == STOW_U64) {
    for (size_t i = 0; i < count; ++i) {
      out[i] ^= INT64_MIN;
    }
  }
}
