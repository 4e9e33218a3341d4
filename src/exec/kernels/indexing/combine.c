// Reductions of scattered elements: in double for f64, in f32 for all narrower floats, in 64 bits
// for integers, a block at a time.
#include "exec/kernels/indexing/combine.h"

#include "exec/kernels/layout/elements.h"
#include "exec/kernels/support/convert.h"

stow_status stowi_reduction_of(const stow_kernel_call* call, stow_dtype dtype,
                               stowi_reduction* out) {
  static const char* const names[] = {"none", "add", "mul", "max", "min"};
  *out = STOWI_REDUCE_NONE;
  for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); ++i) {
    if (stow_kernel_is(call, "reduction", names[i])) {
      *out = (stowi_reduction)i;
    }
  }
  if (*out != STOWI_REDUCE_NONE && stowi_kind(dtype) == STOW_KIND_COMPLEX) {
    return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED,
                            "complex numbers are scattered with reduction \"none\" only");
  }
  return STOW_OK;
}

// A macro, as the same holds for float and double. What is not equal to itself is a NaN.
#define COMBINE_FLOATS(name, type)                                                    \
  static void name(stowi_reduction reduction, type* a, const type* b, size_t count) { \
    for (size_t i = 0; i < count; ++i) {                                              \
      bool is_nan = a[i] != a[i];                                                     \
      switch (reduction) {                                                            \
        case STOWI_REDUCE_NONE:                                                       \
          a[i] = b[i];                                                                \
          break;                                                                      \
        case STOWI_REDUCE_ADD:                                                        \
          a[i] += b[i];                                                               \
          break;                                                                      \
        case STOWI_REDUCE_MUL:                                                        \
          a[i] *= b[i];                                                               \
          break;                                                                      \
        case STOWI_REDUCE_MAX:                                                        \
          a[i] = is_nan || a[i] >= b[i] ? a[i] : b[i];                                \
          break;                                                                      \
        case STOWI_REDUCE_MIN:                                                        \
          a[i] = is_nan || a[i] <= b[i] ? a[i] : b[i];                                \
          break;                                                                      \
      }                                                                               \
    }                                                                                 \
  }

COMBINE_FLOATS(combine_f32, float)
COMBINE_FLOATS(combine_f64, double)

static int64_t combine_integer(stowi_reduction reduction, bool is_unsigned, int64_t a, int64_t b) {
  bool is_less = is_unsigned ? (uint64_t)a < (uint64_t)b : a < b;
  switch (reduction) {
    case STOWI_REDUCE_NONE:
      break;
    case STOWI_REDUCE_ADD:
      return (int64_t)((uint64_t)a + (uint64_t)b);
    case STOWI_REDUCE_MUL:
      return (int64_t)((uint64_t)a * (uint64_t)b);
    case STOWI_REDUCE_MAX:
      return is_less ? b : a;
    case STOWI_REDUCE_MIN:
      return is_less ? a : b;
  }
  return b;
}

// |count| is at most STOWI_BLOCK.
static void combine_block(stowi_reduction reduction, stow_dtype dtype, void* to, size_t to_at,
                          const void* from, size_t from_at, size_t count) {
  union {
    float f32[STOWI_BLOCK];
    double f64[STOWI_BLOCK];
    int64_t i64[STOWI_BLOCK];
  } a, b;
  if (dtype == STOW_F64) {
    stowi_load_f64(dtype, to, to_at, count, a.f64);
    stowi_load_f64(dtype, from, from_at, count, b.f64);
    combine_f64(reduction, a.f64, b.f64, count);
    stowi_store_f64(dtype, to, to_at, count, a.f64);
  } else if (stowi_kind(dtype) == STOW_KIND_FLOAT) {
    stowi_load_f32(dtype, to, to_at, count, a.f32);
    stowi_load_f32(dtype, from, from_at, count, b.f32);
    combine_f32(reduction, a.f32, b.f32, count);
    stowi_store_f32(dtype, to, to_at, count, a.f32);
  } else {
    stowi_load_i64(dtype, to, to_at, count, a.i64);
    stowi_load_i64(dtype, from, from_at, count, b.i64);
    for (size_t i = 0; i < count; ++i) {
      a.i64[i] = combine_integer(reduction, dtype == STOW_U64, a.i64[i], b.i64[i]);
    }
    stowi_store_i64(dtype, to, to_at, count, a.i64);
  }
}

void stowi_combine(stowi_reduction reduction, stow_dtype dtype, void* to, size_t to_at,
                   const void* from, size_t from_at, size_t count) {
  if (reduction == STOWI_REDUCE_NONE) {
    stowi_copy_elements(stowi_bits(dtype), to, to_at, from, from_at, count);
    return;
  }
  for (size_t i = 0; i < count; i += STOWI_BLOCK) {
    size_t size = count - i < STOWI_BLOCK ? count - i : STOWI_BLOCK;
    combine_block(reduction, dtype, to, to_at + i, from, from_at + i, size);
  }
}
