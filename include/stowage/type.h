// Element types, dimensions as expressions, and tensor types.
#ifndef STOWAGE_TYPE_H_
#define STOWAGE_TYPE_H_

#include <stowage/base.h>

#ifdef __cplusplus
extern "C" {
#endif

// ---------------------------------------------------------------------------------------------
// Element types. Widths are in bits; sub-byte types are packed and rounded up per tensor.

// name, number, text, bits, kind. Numbers are part of the ABI: new types are added at the end.
#define STOW_DTYPE_LIST(X)                  \
  X(F32, 0, "f32", 32, FLOAT)               \
  X(F16, 1, "f16", 16, FLOAT)               \
  X(BF16, 2, "bf16", 16, FLOAT)             \
  X(F64, 3, "f64", 64, FLOAT)               \
  X(I8, 4, "i8", 8, SIGNED)                 \
  X(I16, 5, "i16", 16, SIGNED)              \
  X(I32, 6, "i32", 32, SIGNED)              \
  X(I64, 7, "i64", 64, SIGNED)              \
  X(U8, 8, "u8", 8, UNSIGNED)               \
  X(U16, 9, "u16", 16, UNSIGNED)            \
  X(U32, 10, "u32", 32, UNSIGNED)           \
  X(U64, 11, "u64", 64, UNSIGNED)           \
  X(BOOL, 12, "bool", 8, BOOL)              \
  X(C64, 13, "c64", 64, COMPLEX)            \
  X(C128, 14, "c128", 128, COMPLEX)         \
  X(I4, 15, "i4", 4, SIGNED)                \
  X(U4, 16, "u4", 4, UNSIGNED)              \
  X(I2, 17, "i2", 2, SIGNED)                \
  X(U2, 18, "u2", 2, UNSIGNED)              \
  X(F8E4M3FN, 19, "f8e4m3fn", 8, FLOAT)     \
  X(F8E4M3FNUZ, 20, "f8e4m3fnuz", 8, FLOAT) \
  X(F8E5M2, 21, "f8e5m2", 8, FLOAT)         \
  X(F8E5M2FNUZ, 22, "f8e5m2fnuz", 8, FLOAT) \
  X(F8E8M0, 23, "f8e8m0", 8, FLOAT)         \
  X(F4E2M1, 24, "f4e2m1", 4, FLOAT)

typedef enum stow_dtype {
#define STOW_DTYPE_ENUM(name, number, text, bits, kind) STOW_##name = (number),
  STOW_DTYPE_LIST(STOW_DTYPE_ENUM)
#undef STOW_DTYPE_ENUM
      STOW_DTYPE_COUNT
} stow_dtype;

typedef enum stow_dtype_kind {
  STOW_KIND_FLOAT,
  STOW_KIND_SIGNED,
  STOW_KIND_UNSIGNED,
  STOW_KIND_BOOL,
  STOW_KIND_COMPLEX
} stow_dtype_kind;

// "f32"; "?" for a value that is no dtype.
STOW_API const char* stow_dtype_name(stow_dtype dtype);
// 0 for a value that is no dtype.
STOW_API uint32_t stow_dtype_bits(stow_dtype dtype);
STOW_API stow_dtype_kind stow_dtype_kind_of(stow_dtype dtype);
STOW_API bool stow_dtype_from_name(stow_str name, stow_dtype* out_dtype);

// ---------------------------------------------------------------------------------------------
// Dimensions. A dim is a number (0 or more) or, where negative, a handle to an expression in the
// graph's stow_dims table: a named symbol, or + - * floor-div ceil-div min max of dims. Expressions
// are kept in one normal form (a sum of products of symbols and of opaque div/min/max terms) and
// interned, so that equal expressions are the same number: compare dims with ==.

typedef int64_t stow_dim;

// What a dim function returns when it failed; it goes through further dim functions unchanged.
#define STOW_DIM_INVALID INT64_MIN

typedef struct stow_dims stow_dims;

static inline bool stow_dim_is_const(stow_dim dim) { return dim >= 0; }

// Each returns the dim, or STOW_DIM_INVALID: out of memory, overflow of a coefficient, division by
// a constant that is not positive, or an expression above the size limit. Why is in
// stow_dims_status. A negative number may pass through (`max(3 - 5, x)`), but no type can have it.
// A symbol's name may be any bytes but must not be empty.
STOW_API stow_dim stow_dim_symbol(stow_dims* dims, stow_str name);
STOW_API stow_dim stow_dim_add(stow_dims* dims, stow_dim a, stow_dim b);
STOW_API stow_dim stow_dim_sub(stow_dims* dims, stow_dim a, stow_dim b);
STOW_API stow_dim stow_dim_mul(stow_dims* dims, stow_dim a, stow_dim b);
STOW_API stow_dim stow_dim_floor_div(stow_dims* dims, stow_dim a, stow_dim b);
STOW_API stow_dim stow_dim_ceil_div(stow_dims* dims, stow_dim a, stow_dim b);
STOW_API stow_dim stow_dim_min(stow_dims* dims, stow_dim a, stow_dim b);
STOW_API stow_dim stow_dim_max(stow_dims* dims, stow_dim a, stow_dim b);

// Any number as a dim, also a negative one; STOW_DIM_INVALID as above.
STOW_API stow_dim stow_dim_of_int(stow_dims* dims, int64_t number);
// Whether |dim| is a number, also a negative one.
STOW_API bool stow_dim_to_int(const stow_dims* dims, stow_dim dim, int64_t* out_number);
// Whether |dim| is at least |bound| whatever its symbols are, if each is at least |symbol_min| (0
// or more). False also where that cannot be shown.
STOW_API bool stow_dim_at_least(const stow_dims* dims, stow_dim dim, int64_t bound,
                                int64_t symbol_min);

// The first failure since the last call of stow_dims_clear_status; STOW_OK where there was none.
STOW_API stow_status stow_dims_status(const stow_dims* dims);
STOW_API void stow_dims_clear_status(stow_dims* dims);

// Writes the dim as the text format does: `384`, `?batch`, `?"p2o.Dim.0"`, `?(past + seq)`.
STOW_API stow_status stow_dim_print(const stow_dims* dims, stow_dim dim, stow_writer writer);

// Symbols in the table, in order of first use. stow_dim_uses tells whether |dim| mentions symbol
// |index|.
STOW_API size_t stow_dims_symbol_count(const stow_dims* dims);
STOW_API stow_str stow_dims_symbol_name(const stow_dims* dims, size_t index);
STOW_API bool stow_dim_uses(const stow_dims* dims, stow_dim dim, size_t symbol_index);

// ---------------------------------------------------------------------------------------------
// Types have a fixed size, so that shape functions never allocate. Closed: stow_type never grows.

#define STOW_MAX_RANK 16

typedef struct stow_type {
  stow_dtype dtype;
  uint32_t rank;                 // 0 … STOW_MAX_RANK
  stow_dim dims[STOW_MAX_RANK];  // those at rank and above are 0
} stow_type;

// |rank| above STOW_MAX_RANK is cut to it; check before where that can happen.
STOW_API stow_type stow_type_make(stow_dtype dtype, uint32_t rank, const stow_dim* dims);
STOW_API bool stow_type_equal(const stow_type* a, const stow_type* b);
// STOW_ERR_UNBOUND_DIM where a dim is not a number, STOW_ERR_OVERFLOW where the count needs more
// than 64 bits.
STOW_API stow_status stow_type_elements(const stow_type* type, uint64_t* out_elements);
// Elements × width, rounded up to whole bytes. Errors as above.
STOW_API stow_status stow_type_bytes(const stow_type* type, uint64_t* out_bytes);
// `f32[100, ?seq]`
STOW_API stow_status stow_type_print(const stow_dims* dims, const stow_type* type,
                                     stow_writer writer);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // STOWAGE_TYPE_H_
