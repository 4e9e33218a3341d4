// Tensor types: an element type (dtype) and the dims.
//
// A dim is a number of elements, or an expression of named symbols such as `?batch` or
// `?(past + seq)`, which gets its value later (stow_graph_bind, graph.h). Expressions live in the
// stow_dims table of a graph; stow_graph_dims returns it for reading, stow_graph_edit_dims for
// adding to it. A dim is a handle into that table, so a type with symbols means something only with
// the graph it belongs to, and dims of different graphs cannot be compared.
//
// Types are plain structs of a fixed size that are copied freely; nothing here needs to be freed.
// Calls that only read a table may run at the same time; those that make dims change it and need a
// lock.
//
//     #include <stdio.h>
//     #include <stowage/graph.h>
//     #include <stowage/type.h>
//
//     // Prints f32[?n, ?(2*n + 1)]
//     stow_status print_type(stow_graph* graph, stow_string* out) {
//       stow_dims* dims = stow_graph_edit_dims(graph);
//       stow_dim n = stow_dim_symbol(dims, stow_str_of("n"));
//       stow_dim more = stow_dim_add(dims, stow_dim_mul(dims, n, 2), 1);
//       if (more == STOW_DIM_INVALID) return stow_dims_status(dims);  // that of any of the three
//       stow_type type = stow_type_make(STOW_F32, 2, (stow_dim[]){n, more});
//       stow_status status = stow_type_print(dims, &type, stow_string_writer(out));
//       if (status == STOW_OK) puts(out->data);
//       return status;
//     }
#ifndef STOWAGE_TYPE_H_
#define STOWAGE_TYPE_H_

#include <stowage/base.h>

#ifdef __cplusplus
extern "C" {
#endif

// ---------------------------------------------------------------------------------------------
// Element types. Widths are in bits; types below a byte are packed, and the tensor is rounded up to
// whole bytes.

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

// "f32"; "?" for an unknown dtype. Static.
STOW_API const char* stow_dtype_name(stow_dtype dtype);
// Bits per element; 0 for an unknown dtype.
STOW_API uint32_t stow_dtype_bits(stow_dtype dtype);
// STOW_KIND_FLOAT for an unknown dtype.
STOW_API stow_dtype_kind stow_dtype_kind_of(stow_dtype dtype);
// False, and |out_dtype| is unchanged, if no dtype has this name.
STOW_API bool stow_dtype_from_name(stow_str name, stow_dtype* out_dtype);

// ---------------------------------------------------------------------------------------------
// Dims. A dim that is 0 or more is a number; a negative one is a handle to an expression in the
// graph's stow_dims table: a named symbol, or + - * floor-div ceil-div min max of dims. Expressions
// have one normal form (a sum of products of symbols and of opaque div/min/max terms) and are
// interned, so equal expressions have the same handle: compare dims with ==.

typedef int64_t stow_dim;

// What a dim function returns if it fails, or if it is given this.
#define STOW_DIM_INVALID INT64_MIN

typedef struct stow_dims stow_dims;

static inline bool stow_dim_is_const(stow_dim dim) { return dim >= 0; }

// Each returns the dim, or STOW_DIM_INVALID: out of memory, overflow of a coefficient, division by
// a constant that is not positive, or an expression above the size limit; stow_dims_status returns
// which. Intermediate results may be negative (`max(3 - 5, x)`), dims of a type may not. A symbol's
// name may be any bytes but not empty; the same name is the same symbol.
STOW_API stow_dim stow_dim_symbol(stow_dims* dims, stow_str name);
STOW_API stow_dim stow_dim_add(stow_dims* dims, stow_dim a, stow_dim b);
STOW_API stow_dim stow_dim_sub(stow_dims* dims, stow_dim a, stow_dim b);
STOW_API stow_dim stow_dim_mul(stow_dims* dims, stow_dim a, stow_dim b);
STOW_API stow_dim stow_dim_floor_div(stow_dims* dims, stow_dim a, stow_dim b);
STOW_API stow_dim stow_dim_ceil_div(stow_dims* dims, stow_dim a, stow_dim b);
STOW_API stow_dim stow_dim_min(stow_dims* dims, stow_dim a, stow_dim b);
STOW_API stow_dim stow_dim_max(stow_dims* dims, stow_dim a, stow_dim b);

// A dim for any number, negative ones included; STOW_DIM_INVALID as above.
STOW_API stow_dim stow_dim_of_int(stow_dims* dims, int64_t number);
// Whether |dim| is a number, negative ones included; if so, |out_number| is set to it.
STOW_API bool stow_dim_to_int(const stow_dims* dims, stow_dim dim, int64_t* out_number);

// The first failure since the last stow_dims_clear_status, or STOW_OK.
STOW_API stow_status stow_dims_status(const stow_dims* dims);
STOW_API void stow_dims_clear_status(stow_dims* dims);

// Writes the dim as the text format does: `384`, `?batch`, `?"p2o.Dim.0"`, `?(past + seq)`.
STOW_API stow_status stow_dim_print(const stow_dims* dims, stow_dim dim, stow_writer writer);

// Symbols of the table, in order of first use. Names are borrowed from it; empty past the end.
STOW_API size_t stow_dims_symbol_count(const stow_dims* dims);
STOW_API stow_str stow_dims_symbol_name(const stow_dims* dims, size_t index);
// The index of the symbol with this name, or SIZE_MAX.
STOW_API size_t stow_dims_find_symbol(const stow_dims* dims, stow_str name);
// Whether the expression |dim| contains symbol |symbol_index|.
STOW_API bool stow_dim_uses(const stow_dims* dims, stow_dim dim, size_t symbol_index);

// ---------------------------------------------------------------------------------------------
// Ranges. A symbol may have a range: the values that it can be given, which is what makes one graph
// stand for many shapes. A *point* gives each symbol with a range one of its values. Proofs below
// hold for all points; a symbol without a range may be any number, 0 or more.

// All multiples of |step| in [min, max]. |step| is 1 or more; 1: all integers.
typedef struct stow_dim_range {
  int64_t min;
  int64_t max;
  int64_t step;
} stow_dim_range;

// The largest |max| of a range.
#define STOW_DIM_RANGE_MAX ((int64_t)1 << 40)

// Sets the range of a symbol, or removes it if |range| is NULL. The ends are moved to the first and
// last multiple of the step. Expressions that exist stay as they are, though more could be
// simplified now: set ranges before dims are made, or call stow_graph_bind afterwards, which infers
// all types again. Where dims were made with a range, a new one may only be a part of it. A range
// of one value is a binding to that call and to the parser. STOW_ERR_NOT_FOUND for an index past
// the end; STOW_ERR_INVALID_ARGUMENT, and nothing changes, if |min| is negative, |max| below |min|
// or above STOW_DIM_RANGE_MAX, the step below 1, or no multiple of it in the range.
STOW_API stow_status stow_dims_set_range(stow_dims* dims, size_t symbol_index,
                                         const stow_dim_range* range);
// False, and |out_range| is unchanged, if the symbol has no range.
STOW_API bool stow_dims_range(const stow_dims* dims, size_t symbol_index,
                              stow_dim_range* out_range);
// Moves the ends to the first and last multiple of the step; false, and nothing changes, if it is
// not a range, for one of the reasons above.
STOW_API bool stow_dim_range_trim(stow_dim_range* range);
// How many values a trimmed range has, and whether |value| is one of them.
STOW_API uint64_t stow_dim_range_count(const stow_dim_range* range);
STOW_API bool stow_dim_range_has(const stow_dim_range* range, int64_t value);

// The value of |dim| where symbol i has values[i]; there must be one for each symbol that |dim|
// uses. The result may be negative. STOW_ERR_OVERFLOW if something on the way does not fit in 64
// bits, STOW_ERR_TYPE if it divides by a number below 1, STOW_ERR_INVALID_ARGUMENT if |dim| is not
// of this table. O(size of the expression), which is limited; allocates nothing.
STOW_API stow_status stow_dim_evaluate(const stow_dims* dims, stow_dim dim, const int64_t* values,
                                       int64_t* out_value);

// Proofs for all points. They are found by bounds of the expression and, if its symbols have at
// most STOW_DIM_MAX_POINTS points, by trying all of them, so that |false| is then a counterexample
// (or an overflow at a point); otherwise it means that there is no proof.
#define STOW_DIM_MAX_POINTS 4096

// Whether |dim| is at least |bound| for all values of its symbols: those of ranges, and for symbols
// without one |symbol_min| (0 or more) or larger.
STOW_API bool stow_dim_at_least(const stow_dims* dims, stow_dim dim, int64_t bound,
                                int64_t symbol_min);
STOW_API bool stow_dim_at_most(const stow_dims* dims, stow_dim dim, int64_t bound);
// Whether a is at least b, or equal to it, at every point.
STOW_API bool stow_dim_not_less(const stow_dims* dims, stow_dim a, stow_dim b);
STOW_API bool stow_dim_same(const stow_dims* dims, stow_dim a, stow_dim b);
// Whether a is less than b at one point, equal at another or greater: what depends on their order
// is undecided. If so, |out_symbol| is the symbol whose range to divide, and |out_at| the first
// value of its second part. False if that is decided, or not known.
STOW_API bool stow_dim_split(const stow_dims* dims, stow_dim a, stow_dim b, size_t* out_symbol,
                             int64_t* out_at);
// Numbers between which |dim| is at every point: the smallest and largest it takes if all points
// are tried, else bounds. False if one of them is not known.
STOW_API bool stow_dim_bounds(const stow_dims* dims, stow_dim dim, int64_t* out_least,
                              int64_t* out_most);

// ---------------------------------------------------------------------------------------------
// Types. Of a fixed size, so that shape functions never allocate.

#define STOW_MAX_RANK 16

typedef struct stow_type {
  stow_dtype dtype;
  uint32_t rank;                 // 0 … STOW_MAX_RANK
  stow_dim dims[STOW_MAX_RANK];  // those at rank and above are 0
} stow_type;

// Copies |rank| dims, at most STOW_MAX_RANK: check larger ranks before the call. |dims| may be NULL
// for rank 0.
STOW_API stow_type stow_type_make(stow_dtype dtype, uint32_t rank, const stow_dim* dims);
// Same dtype, rank and dims. Dims must be of one table.
STOW_API bool stow_type_equal(const stow_type* a, const stow_type* b);
// The product of the dims; 1 for rank 0. STOW_ERR_UNBOUND_DIM if a dim is not a number,
// STOW_ERR_OVERFLOW if the product does not fit in 64 bits.
STOW_API stow_status stow_type_elements(const stow_type* type, uint64_t* out_elements);
// Elements × width, rounded up to whole bytes. Errors as above.
STOW_API stow_status stow_type_bytes(const stow_type* type, uint64_t* out_bytes);
// Writes the type as the text format does: `f32[100, ?seq]`.
STOW_API stow_status stow_type_print(const stow_dims* dims, const stow_type* type,
                                     stow_writer writer);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // STOWAGE_TYPE_H_
