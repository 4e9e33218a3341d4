// scatter_elements and scatter_nd.
#include <stowage/kernel.h>

#include "exec/kernels/indexing/indices.h"
#include "exec/kernels/layout/elements.h"
#include "exec/kernels/layout/strided.h"
#include "exec/kernels/support/convert.h"
#include "exec/kernels/support/kernel.h"

// ---------------------------------------------------------------------------------------------
// Combining an update with the element it meets: in double for f64, in f32 for narrower floats, in
// 64 bits for integers, a block at a time.

typedef enum scatter_reduction {
  REDUCE_NONE,  // it takes its place
  REDUCE_ADD,
  REDUCE_MUL,
  REDUCE_MAX,
  REDUCE_MIN
} scatter_reduction;

// The attribute `reduction`; fails where elements of |dtype| cannot be combined so.
static stow_status reduction_of(const stow_kernel_call* call, stow_dtype dtype,
                                scatter_reduction* out) {
  static const char* const names[] = {"none", "add", "mul", "max", "min"};
  *out = REDUCE_NONE;
  for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); ++i) {
    if (stowi_kernel_is(call, STOWI_KERNEL_ATTR_REDUCTION, names[i])) {
      *out = (scatter_reduction)i;
    }
  }
  if (*out != REDUCE_NONE && stowi_kernel_kind(dtype) == STOW_KIND_COMPLEX) {
    return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED,
                            "complex numbers support only reduction \"none\"");
  }
  return STOW_OK;
}

// A macro, as the same holds for float and double. What is not equal to itself is a NaN.
#define COMBINE_FLOATS(name, type)                                                      \
  static void name(scatter_reduction reduction, type* a, const type* b, size_t count) { \
    for (size_t i = 0; i < count; ++i) {                                                \
      bool is_nan = a[i] != a[i];                                                       \
      switch (reduction) {                                                              \
        case REDUCE_NONE: a[i] = b[i]; break;                                           \
        case REDUCE_ADD: a[i] += b[i]; break;                                           \
        case REDUCE_MUL: a[i] *= b[i]; break;                                           \
        case REDUCE_MAX: a[i] = is_nan || a[i] >= b[i] ? a[i] : b[i]; break;            \
        case REDUCE_MIN: a[i] = is_nan || a[i] <= b[i] ? a[i] : b[i]; break;            \
      }                                                                                 \
    }                                                                                   \
  }

COMBINE_FLOATS(combine_f32, float)
COMBINE_FLOATS(combine_f64, double)

static int64_t combine_integer(scatter_reduction reduction, bool is_unsigned, int64_t a,
                               int64_t b) {
  bool is_less = is_unsigned ? (uint64_t)a < (uint64_t)b : a < b;
  switch (reduction) {
    case REDUCE_NONE: break;
    case REDUCE_ADD: return (int64_t)((uint64_t)a + (uint64_t)b);
    case REDUCE_MUL: return (int64_t)((uint64_t)a * (uint64_t)b);
    case REDUCE_MAX: return is_less ? b : a;
    case REDUCE_MIN: return is_less ? a : b;
  }
  return b;
}

// |count| is at most STOWI_KERNEL_BLOCK.
static void combine_block(scatter_reduction reduction, stow_dtype dtype, void* to, size_t to_at,
                          const void* from, size_t from_at, size_t count) {
  union {
    float f32[STOWI_KERNEL_BLOCK];
    double f64[STOWI_KERNEL_BLOCK];
    int64_t i64[STOWI_KERNEL_BLOCK];
  } a, b;
  if (dtype == STOW_F64) {
    stowi_kernel_load_f64(dtype, to, to_at, count, a.f64);
    stowi_kernel_load_f64(dtype, from, from_at, count, b.f64);
    combine_f64(reduction, a.f64, b.f64, count);
    stowi_kernel_store_f64(dtype, to, to_at, count, a.f64);
  } else if (stowi_kernel_kind(dtype) == STOW_KIND_FLOAT) {
    stowi_kernel_load_f32(dtype, to, to_at, count, a.f32);
    stowi_kernel_load_f32(dtype, from, from_at, count, b.f32);
    combine_f32(reduction, a.f32, b.f32, count);
    stowi_kernel_store_f32(dtype, to, to_at, count, a.f32);
  } else {
    stowi_kernel_load_i64(dtype, to, to_at, count, a.i64);
    stowi_kernel_load_i64(dtype, from, from_at, count, b.i64);
    for (size_t i = 0; i < count; ++i) {
      a.i64[i] = combine_integer(reduction, dtype == STOW_U64, a.i64[i], b.i64[i]);
    }
    stowi_kernel_store_i64(dtype, to, to_at, count, a.i64);
  }
}

// |count| elements of |to| from |to_at| on, each with one of |from|. Integers keep their low bits;
// a NaN stays one; of bools, add and max are "or", mul and min "and".
static void combine(scatter_reduction reduction, stow_dtype dtype, void* to, size_t to_at,
                    const void* from, size_t from_at, size_t count) {
  if (reduction == REDUCE_NONE) {
    stowi_kernel_copy_elements(stowi_kernel_bits(dtype), to, to_at, from, from_at, count);
    return;
  }
  for (size_t i = 0; i < count; i += STOWI_KERNEL_BLOCK) {
    size_t size = count - i < STOWI_KERNEL_BLOCK ? count - i : STOWI_KERNEL_BLOCK;
    combine_block(reduction, dtype, to, to_at + i, from, from_at + i, size);
  }
}

// ---------------------------------------------------------------------------------------------
// The kernels. The result is operand 0, copied unless it is in place, and then updated in ascending
// order by one worker: several updates may target one element, and their order decides the result.

static void copy_data(const stow_kernel_call* call) {
  stowi_kernel_strided bytes = {0};
  stowi_kernel_strided_add(&bytes, (int64_t)stow_tensor_bytes(call->operands[0]), 1, 1);
  stowi_kernel_strided_copy(call, STOW_U8, call->operands[0]->data, call->results[0]->data, &bytes);
}

static stow_status run_scatter_elements(stow_kernel_call* call) {
  const stow_tensor* updates = call->operands[2];
  stow_tensor* result = call->results[0];
  stowi_kernel_elements_at e;
  scatter_reduction reduction;
  STOWI_KERNEL_TRY(reduction_of(call, call->results[0]->dtype, &reduction));
  STOWI_KERNEL_TRY(stowi_kernel_elements_at_init(call, &e));
  copy_data(call);
  size_t length;
  size_t rows = stowi_kernel_elements_at_rows(&e, &length);
  for (size_t row = 0; row < rows; ++row) {
    int64_t places[STOWI_KERNEL_BLOCK];
    for (size_t i = 0; i < length; i += STOWI_KERNEL_BLOCK) {
      size_t size = length - i < STOWI_KERNEL_BLOCK ? length - i : STOWI_KERNEL_BLOCK;
      stowi_kernel_elements_at_block(&e, row, i, size, places);
      for (size_t j = 0; j < size; ++j) {
        combine(reduction, result->dtype, result->data, (size_t)places[j], updates->data,
                row * length + i + j, 1);
      }
    }
  }
  return STOW_OK;
}

static stow_status run_scatter_nd(stow_kernel_call* call) {
  stow_tensor* result = call->results[0];
  stowi_kernel_tuples tuples;
  scatter_reduction reduction;
  STOWI_KERNEL_TRY(reduction_of(call, result->dtype, &reduction));
  STOWI_KERNEL_TRY(stowi_kernel_tuples_init(call, 0, &tuples));
  copy_data(call);
  for (size_t i = 0; i < tuples.count; ++i) {
    combine(reduction, result->dtype, result->data, stowi_kernel_tuple_place(&tuples, i),
            call->operands[2]->data, i * tuples.slice, tuples.slice);
  }
  return STOW_OK;
}

STOWI_KERNEL(SCATTER_ELEMENTS, NULL, run_scatter_elements);
STOWI_KERNEL(SCATTER_ND, NULL, run_scatter_nd);
