// Elements of any dtype as f32, f64 and i64, a block at a time. The dtype is tested once per block,
// so that the loops under it are plain.
#include "exec/kernels/support/convert.h"

#include <math.h>

#include "exec/kernels/support/half.h"
#include "exec/kernels/support/small.h"
#include "exec/kernels/support/vector.h"

#define PIECE 64  // elements that pass through f64 at once

// ---------------------------------------------------------------------------------------------
// Lists: dtype, how it lies in memory

#define INTEGER_LIST(X) \
  X(I8, int8_t)         \
  X(I16, int16_t)       \
  X(I32, int32_t)       \
  X(I64, int64_t)       \
  X(U8, uint8_t)        \
  X(U16, uint16_t)      \
  X(U32, uint32_t)      \
  X(U64, uint64_t)

#define FLOAT_LIST(X) \
  X(F32, float)       \
  X(F64, double)

// dtype, bits: those of less than a byte
#define PACKED_LIST(X) \
  X(I4, 4)             \
  X(U4, 4)             \
  X(I2, 2)             \
  X(U2, 2)

#define SMALL_LIST(X) \
  X(F8E4M3FN)         \
  X(F8E4M3FNUZ)       \
  X(F8E5M2)           \
  X(F8E5M2FNUZ)       \
  X(F8E8M0)           \
  X(F4E2M1)

// ---------------------------------------------------------------------------------------------
// Single elements

static uint8_t packed_at(const void* data, size_t i, uint32_t bits) {
  size_t at = i * bits;
  return (uint8_t)(((uint32_t)((const uint8_t*)data)[at / 8] >> (at % 8)) & ((1U << bits) - 1));
}

static void packed_put(void* data, size_t i, uint32_t bits, uint64_t code) {
  size_t at = i * bits;
  uint8_t* byte = (uint8_t*)data + at / 8;
  uint32_t mask = ((1U << bits) - 1) << (at % 8);
  *byte = (uint8_t)((*byte & ~mask) | (((uint32_t)code << (at % 8)) & mask));
}

// The number of an integer of |bits| bits.
static int packed_int(stow_dtype dtype, uint8_t code, uint32_t bits) {
  bool is_negative = stowi_kernel_kind(dtype) == STOW_KIND_SIGNED && code >> (bits - 1) != 0;
  return (int)code - (is_negative ? 1 << bits : 0);
}

static uint8_t small_code_at(stow_dtype dtype, const void* data, size_t i) {
  return dtype == STOW_F4E2M1 ? packed_at(data, i, 4) : ((const uint8_t*)data)[i];
}

static void small_put(stow_dtype dtype, void* data, size_t i, double x) {
  uint8_t code = stowi_kernel_small_of_f64(dtype, x, true, STOWI_KERNEL_ROUND_UP);
  if (dtype == STOW_F4E2M1) {
    packed_put(data, i, 4, code);
  } else {
    ((uint8_t*)data)[i] = code;
  }
}

// A cast in C is not defined where the number does not fit.
static inline double clamp(double x, double low, double high) {
  double above = x < low ? low : x;
  above = above > high ? high : above;
  return above == above ? above : 0;
}

static inline int32_t i32_of(double x) { return (int32_t)clamp(x, -0x1p31, 0x1p31 - 1); }
static inline uint32_t u32_of(double x) { return (uint32_t)(int64_t)clamp(x, -0x1p31, 0x1p32 - 1); }

static inline int64_t i64_of(double x) {
  return x >= 0x1p63 ? INT64_MAX : (int64_t)clamp(x, -0x1p63, 0x1p62 + (0x1p62 - 0x1p10));
}

static inline uint64_t u64_of(double x) {
  if (x >= 0x1p63) {
    return x >= 0x1p64 ? UINT64_MAX : (uint64_t)x;
  }
  return (uint64_t)i64_of(x);
}

// ---------------------------------------------------------------------------------------------
// f16 and f32, for models that are f16 throughout

STOWI_KERNEL_LOOP(widen, (const uint16_t* in, float* out, size_t count), (in, out, count)) {
  for (size_t i = 0; i < count; ++i) {
    out[i] = stowi_kernel_f32_of_f16(in[i]);
  }
}

STOWI_KERNEL_LOOP(shorten, (const float* in, uint16_t* out, size_t count), (in, out, count)) {
  for (size_t i = 0; i < count; ++i) {
    out[i] = stowi_kernel_f16_of_f32(in[i]);
  }
}

// ---------------------------------------------------------------------------------------------
// Loads. In all macros: data, first and count of the function around.

#define EACH(statement)                \
  for (size_t i = 0; i < count; ++i) { \
    statement;                         \
  }                                    \
  break

#define LOAD(name, type) \
  case STOW_##name:      \
    EACH(out[i] = (out_type)((const type*)data)[first + i]);
#define LOAD_PACKED(name, bits) \
  case STOW_##name:             \
    EACH(out[i] = (out_type)packed_int(dtype, packed_at(data, first + i, bits), bits));
#define LOAD_SMALL(name) \
  case STOW_##name:      \
    EACH(out[i] =        \
             (out_type)stowi_kernel_f32_of_small(dtype, small_code_at(dtype, data, first + i)));
#define LOAD_F16 \
  case STOW_F16: \
    EACH(out[i] = (out_type)stowi_kernel_f32_of_f16(((const uint16_t*)data)[first + i]));
#define LOAD_BF16 \
  case STOW_BF16: \
    EACH(out[i] = (out_type)stowi_kernel_f32_of_bf16(((const uint16_t*)data)[first + i]));
#define LOAD_BOOL \
  case STOW_BOOL: EACH(out[i] = ((const uint8_t*)data)[first + i] != 0);

void stowi_kernel_load_f32(stow_dtype dtype, const void* data, size_t first, size_t count,
                           float* out) {
  typedef float out_type;
  switch (dtype) {
    FLOAT_LIST(LOAD)
    INTEGER_LIST(LOAD)
    PACKED_LIST(LOAD_PACKED)
    SMALL_LIST(LOAD_SMALL)
    LOAD_BF16
    case STOW_F16:
      widen((const uint16_t*)data + first, out, count);
      break;
      LOAD_BOOL
    default: break;
  }
}

void stowi_kernel_load_f64(stow_dtype dtype, const void* data, size_t first, size_t count,
                           double* out) {
  typedef double out_type;
  switch (dtype) {
    FLOAT_LIST(LOAD)
    INTEGER_LIST(LOAD)
    PACKED_LIST(LOAD_PACKED)
    SMALL_LIST(LOAD_SMALL)
    LOAD_F16
    LOAD_BF16
    LOAD_BOOL
    default: break;
  }
}

static void floats_to_i64(stow_dtype dtype, const void* data, size_t first, size_t count,
                          int64_t* out) {
  double piece[PIECE];
  for (size_t done = 0; done < count; done += PIECE) {
    size_t n = count - done < PIECE ? count - done : PIECE;
    stowi_kernel_load_f64(dtype, data, first + done, n, piece);
    for (size_t i = 0; i < n; ++i) {
      out[done + i] = i64_of(piece[i]);
    }
  }
}

void stowi_kernel_load_i64(stow_dtype dtype, const void* data, size_t first, size_t count,
                           int64_t* out) {
  typedef int64_t out_type;
  switch (dtype) {
    INTEGER_LIST(LOAD)
    PACKED_LIST(LOAD_PACKED)
    LOAD_BOOL
    default:
      if (stowi_kernel_kind(dtype) == STOW_KIND_FLOAT) {
        floats_to_i64(dtype, data, first, count, out);
      }
      break;
  }
}

// ---------------------------------------------------------------------------------------------
// Stores

// The formatter runs the lines of such macros together.
// clang-format off
#define STORE(name, type) \
  case STOW_##name:       \
    EACH(((type*)data)[first + i] = (type)in[i]);
#define STORE_PACKED(name, bits) \
  case STOW_##name:              \
    EACH(packed_put(data, first + i, bits, (uint64_t)to_int(in[i])));
#define STORE_SMALL(name) \
  case STOW_##name:       \
    EACH(small_put(dtype, data, first + i, (double)in[i]));
#define STORE_BOOL \
  case STOW_BOOL:  \
    EACH(((uint8_t*)data)[first + i] = in[i] != 0);
#define STORE_AS(name, type, expression) \
  case STOW_##name:                      \
    EACH(((type*)data)[first + i] = (type)(expression));
// clang-format on

// Integers of less than 32 bits keep the low ones of what i32 would hold.
void stowi_kernel_store_f64(stow_dtype dtype, void* data, size_t first, size_t count,
                            const double* in) {
#define to_int i32_of
  switch (dtype) {
    FLOAT_LIST(STORE)
    STORE_AS(F16, uint16_t, stowi_kernel_f16_of_f64(in[i]))
    STORE_AS(BF16, uint16_t, stowi_kernel_bf16_of_f64(in[i]))
    STORE_AS(I8, int8_t, i32_of(in[i]))
    STORE_AS(I16, int16_t, i32_of(in[i]))
    STORE_AS(I32, int32_t, i32_of(in[i]))
    STORE_AS(I64, int64_t, i64_of(in[i]))
    STORE_AS(U8, uint8_t, i32_of(in[i]))
    STORE_AS(U16, uint16_t, i32_of(in[i]))
    STORE_AS(U32, uint32_t, u32_of(in[i]))
    STORE_AS(U64, uint64_t, u64_of(in[i]))
    PACKED_LIST(STORE_PACKED)
    SMALL_LIST(STORE_SMALL)
    STORE_BOOL
    default: break;
  }
#undef to_int
}

void stowi_kernel_store_f32(stow_dtype dtype, void* data, size_t first, size_t count,
                            const float* in) {
  switch (dtype) {
    FLOAT_LIST(STORE)
    case STOW_F16:
      shorten(in, (uint16_t*)data + first, count);
      break;
      STORE_AS(BF16, uint16_t, stowi_kernel_bf16_of_f32(in[i]))
      STORE_BOOL
    default: {
      double piece[PIECE];
      for (size_t done = 0; done < count; done += PIECE) {
        size_t n = count - done < PIECE ? count - done : PIECE;
        for (size_t i = 0; i < n; ++i) {
          piece[i] = (double)in[done + i];
        }
        stowi_kernel_store_f64(dtype, data, first + done, n, piece);
      }
      break;
    }
  }
}

void stowi_kernel_store_i64(stow_dtype dtype, void* data, size_t first, size_t count,
                            const int64_t* in) {
#define to_int
  switch (dtype) {
    FLOAT_LIST(STORE)
    INTEGER_LIST(STORE)
    STORE_AS(F16, uint16_t, stowi_kernel_f16_of_f64((double)in[i]))
    STORE_AS(BF16, uint16_t, stowi_kernel_bf16_of_f64((double)in[i]))
    PACKED_LIST(STORE_PACKED)
    SMALL_LIST(STORE_SMALL)
    STORE_BOOL
    default: break;
  }
#undef to_int
}

// ---------------------------------------------------------------------------------------------

void stowi_kernel_clear_rest(stow_tensor* tensor) {
  size_t bits = stow_tensor_elements(tensor) * stowi_kernel_bits(tensor->dtype);
  if (bits % 8 != 0) {
    uint8_t* last = (uint8_t*)tensor->data + bits / 8;
    *last = (uint8_t)(*last & ((1U << bits % 8) - 1));
  }
}

stow_status stowi_kernel_need_plain(const stow_kernel_call* call) {
  for (size_t k = 0; k < call->operand_count; ++k) {
    const stow_tensor* operand = call->operands[k];
    if (operand != NULL && stowi_kernel_kind(operand->dtype) == STOW_KIND_COMPLEX) {
      return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED,
                              "operand %zu is %s, expected real numbers", k,
                              stowi_kernel_dtype_text(operand->dtype));
    }
  }
  for (size_t k = 0; k < call->result_count; ++k) {
    stow_dtype dtype = call->results[k]->dtype;
    if (stowi_kernel_kind(dtype) == STOW_KIND_COMPLEX || stowi_kernel_bits(dtype) < 8) {
      return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED,
                              "result %zu is %s, expected real numbers of at least a byte", k,
                              stowi_kernel_dtype_text(dtype));
    }
  }
  return STOW_OK;
}

int64_t stowi_kernel_int_at(const stow_tensor* tensor, size_t i) {
  int64_t number = 0;
  if (i < stow_tensor_elements(tensor)) {
    stowi_kernel_load_i64(tensor->dtype, tensor->data, i, 1, &number);
  }
  return number;
}

double stowi_kernel_float_at(const stow_tensor* tensor, size_t i) {
  double number = 0;
  if (i < stow_tensor_elements(tensor)) {
    stowi_kernel_load_f64(tensor->dtype, tensor->data, i, 1, &number);
  }
  return number;
}
