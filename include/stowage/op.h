// Ops as data: one row per op describes its name, attributes and arity, how result types are
// inferred, and when a result is a view or may be computed in place.
//
// The core's ops are fixed (ops.def; docs/ops.md lists them). To add ops, create a stow_ops table,
// register a row for each, and pass the table to stow_graph_create or stow_module_parse. The table
// copies the rows; it is borrowed by the graphs built with it and must outlive them. Register ops
// before building graphs: a table that is only read may be used by several threads.
//
// The functions of a row are called while nodes are added, bound or planned. They get a
// stow_shape_call, valid for that call only, and use the stow_shape_… functions on it: none of them
// allocates, and all are cheap. A function of a row must depend on nothing but its call, since
// types are inferred again when symbols are bound.
//
//     #include <stowage/op.h>
//
//     static stow_status same_as_first(stow_shape_call* call) {
//       const stow_type* type = stow_shape_operand(call, 0);
//       if (type->rank == 0) return stow_shape_fail(call, "expects at least one dim");
//       stow_shape_set_result(call, 0, type);
//       return STOW_OK;
//     }
//
//     // Registers `acme.swizzle`, of one operand, with the attribute `factor`: 4 by default.
//     stow_status add_swizzle(stow_ops* ops, stow_diag* diag, stow_op* out_op) {
//       stow_attr factor = stow_attr_named("factor", STOW_ATTR_INT);
//       factor.i = 4;
//       stow_op_desc desc;
//       stow_op_desc_init(&desc);
//       desc.name = "acme.swizzle";
//       desc.min_operands = desc.max_operands = 1;
//       desc.shape = same_as_first;
//       stow_status status = stow_ops_register(ops, &desc, diag, out_op);
//       return status != STOW_OK ? status
//                                : stow_ops_add_attr(ops, *out_op, &factor, false, diag);
//     }
#ifndef STOWAGE_OP_H_
#define STOWAGE_OP_H_

#include <stowage/base.h>
#include <stowage/type.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef uint32_t stow_op;
#define STOW_OP_NONE UINT32_MAX

// STOW_OP_INPUT, STOW_OP_RELU, …, with the numbers of ops.def. Registered ops have higher numbers.
enum stow_core_op {
#define STOW_OP(name, number, text) STOW_OP_##name = (number),
#include <stowage/ops.def>
#undef STOW_OP
  STOW_OP_CORE_COUNT = 226  // one above the largest number; grows with the library
};

// ---------------------------------------------------------------------------------------------
// Attributes

typedef enum stow_attr_kind {
  STOW_ATTR_INT,
  STOW_ATTR_FLOAT,
  STOW_ATTR_BOOL,
  STOW_ATTR_STRING,
  STOW_ATTR_INTS,
  STOW_ATTR_FLOATS,
  STOW_ATTR_STRINGS
} stow_attr_kind;

// A named value. As an argument it is copied; as a result it is borrowed from the graph until the
// graph changes. Fields of other kinds are ignored.
typedef struct stow_attr {
  stow_str name;
  stow_attr_kind kind;
  int64_t i;     // INT
  double f;      // FLOAT
  bool b;        // BOOL
  stow_str s;    // STRING
  size_t count;  // of elements in the list; an empty list is INTS
  const int64_t* ints;
  const double* floats;
  const stow_str* strings;
} stow_attr;

// An attribute whose value is zero or empty: set the field of |kind| afterwards. Borrows |name|.
static inline stow_attr stow_attr_named(const char* name, stow_attr_kind kind) {
  stow_attr attr = {stow_str_of(name), kind, 0, 0.0, false, {NULL, 0}, 0, NULL, NULL, NULL};
  return attr;
}

// ---------------------------------------------------------------------------------------------
// For the functions of a row. Pointers that are returned are valid until the function returns.

typedef struct stow_shape_call stow_shape_call;

STOW_API size_t stow_shape_operand_count(const stow_shape_call* call);
// The type of operand |k|; NULL if it is absent (`_`) or past the end.
STOW_API const stow_type* stow_shape_operand(const stow_shape_call* call, size_t k);
// The attribute that was given, or the schema's default; NULL if there is neither.
STOW_API const stow_attr* stow_shape_attr(const stow_shape_call* call, const char* name);
// The int or bool attribute |name|; |fallback| if it is absent or of another kind.
static inline int64_t stow_shape_attr_int(const stow_shape_call* call, const char* name,
                                          int64_t fallback) {
  const stow_attr* attr = stow_shape_attr(call, name);
  return attr != NULL && attr->kind == STOW_ATTR_INT ? attr->i : fallback;
}
static inline bool stow_shape_attr_bool(const stow_shape_call* call, const char* name,
                                        bool fallback) {
  const stow_attr* attr = stow_shape_attr(call, name);
  return attr != NULL && attr->kind == STOW_ATTR_BOOL ? attr->b : fallback;
}
// How many results the node has, by the op's row or as declared.
STOW_API size_t stow_shape_result_count(const stow_shape_call* call);
// The declared type of result |k|; NULL if none was declared.
STOW_API const stow_type* stow_shape_declared(const stow_shape_call* call, size_t k);
// The types of the arguments of region |region| and of what it yields. NULL and 0 past the end.
STOW_API size_t stow_shape_region_arg_count(const stow_shape_call* call, size_t region);
STOW_API const stow_type* stow_shape_region_arg(const stow_shape_call* call, size_t region,
                                                size_t k);
STOW_API size_t stow_shape_yield_count(const stow_shape_call* call, size_t region);
STOW_API const stow_type* stow_shape_yield(const stow_shape_call* call, size_t region, size_t k);
// The graph's dims, for arithmetic on symbols. If that fails, so does the call, without a check.
STOW_API stow_dims* stow_shape_dims(stow_shape_call* call);

// Known values: elements of an operand that are known while types are inferred, from the data of a
// param, constant or input, or from its producer's fold function. Integers and bools are dims:
// numbers, negative ones included, or expressions of symbols.
//
// If dims are the largest possible (an upper-bounded value, or numbers given for data-dependent
// dims), only an upper bound is known for `shape` and what is computed from it. Such elements are
// unknown to all calls except stow_shape_bound.

// Whether every element of operand |k| is known; false if it is absent.
STOW_API bool stow_shape_is_known(const stow_shape_call* call, size_t k);
// Element |i| of operand |k|, whose elements are integers or bools. STOW_DIM_INVALID if unknown.
STOW_API stow_dim stow_shape_known(stow_shape_call* call, size_t k, size_t i);
// The same, or an upper bound of the element; use it for dims that never decrease as the element
// increases. Dims that depend on one that is not exact are marked as by
// stow_shape_set_bounded_dim. To find those, a shape function runs once more with an expression in
// place of each such element and upper-bounded dim; it must treat expressions as unknown numbers.
STOW_API stow_dim stow_shape_bound(stow_shape_call* call, size_t k, size_t i);
// Element |i| of operand |k|, whose elements are floats. False if it is unknown.
STOW_API bool stow_shape_known_float(const stow_shape_call* call, size_t k, size_t i, double* out);
// The list attribute |name| if it is given, otherwise the elements of operand |k|, one dim each;
// STOW_ERR_LIMIT if there are more than |room|. |*out_count| is SIZE_MAX if there is neither, or
// not all elements are known; unknown ones are then STOW_DIM_INVALID.
STOW_API stow_status stow_shape_list(stow_shape_call* call, const char* name, size_t k,
                                     stow_dim* out, size_t room, size_t* out_count);

// A data-dependent dim |axis| of result |k|: the declared one, or a new symbol named after the
// result and the axis, `NAME.AXIS`. Marks the dim as data-dependent; if it is a number, it is an
// upper bound.
STOW_API stow_dim stow_shape_data_dim(stow_shape_call* call, size_t k, uint32_t axis);
// Marks result |k| as upper-bounded: its dims are the largest possible. If a type is declared for
// it, the declared dims are used instead, as long as they are not larger.
STOW_API void stow_shape_set_bounded(stow_shape_call* call, size_t k);
// The same for dim |axis| alone.
STOW_API void stow_shape_set_bounded_dim(stow_shape_call* call, size_t k, uint32_t axis);

// Sets the type of result |k|; copied. A shape function must set every result.
STOW_API void stow_shape_set_result(stow_shape_call* call, size_t k, const stow_type* type);
// Fails the call with STOW_ERR_TYPE, which it returns, and this reason; the graph adds the op, the
// operands and their types. `return stow_shape_fail(call, "axis %d is out of range", axis);`
STOW_API stow_status stow_shape_fail(stow_shape_call* call, const char* format, ...)
    STOW_PRINTF_LIKE(2, 3);

// Fails the call with STOW_ERR_DATA_DEPENDENT, which it returns: the rank of a result depends on
// unknown elements, so its type must be declared.
STOW_API stow_status stow_shape_fail_unknown(stow_shape_call* call, const char* format, ...)
    STOW_PRINTF_LIKE(2, 3);

// For fold functions: makes element |i| of result |k| known. A number that the result's dtype
// cannot represent remains unknown.
STOW_API void stow_fold_set(stow_shape_call* call, size_t k, size_t i, stow_dim value);
STOW_API void stow_fold_set_float(stow_shape_call* call, size_t k, size_t i, double value);

// A result that needs no bytes of its own. Closed: a view that is not dense would be another
// struct, since who knows only this one would read wrong bytes.
typedef struct stow_view {
  size_t operand;           // in whose bytes it lies
  uint64_t element_offset;  // from the operand's first element, in elements
  bool extended;            // not a view in the `rlx` presets, which have RLX's three kinds only
} stow_view;

// Whether a result may be computed in place of an operand. The kernel then finds both at the same
// address.
typedef enum stow_in_place {
  STOW_IN_PLACE_NEVER,
  STOW_IN_PLACE_ALONE,  // if no other operand shares the bytes that are written
  STOW_IN_PLACE_INDEX   // element by element in ascending order, each read before it is written;
                        // other operands with STOW_IN_PLACE_INDEX may then have the same bytes
} stow_in_place;

// ---------------------------------------------------------------------------------------------
// Rows

typedef enum stow_typing {
  STOW_TYPING_INFERRED,  // the shape function infers the type; a declared one must agree
  STOW_TYPING_DECLARED,  // the caller declares the type; no shape function
  STOW_TYPING_CHECKED    // the caller declares it, the shape function checks it and sets the result
} stow_typing;

typedef enum stow_region_kind {
  STOW_REGION_NONE,
  STOW_REGION_BRANCH,  // at most one of the regions runs, once; its yields become the results
  STOW_REGION_LOOP     // the one region runs any number of times and carries values
} stow_region_kind;

// For loops: operand first_operand+i is the initial value, argument first_arg+i the value in the
// body, yield first_yield+i the next value and result first_result+i the final one, for i = 0, 1, …
// up to the last operand. The other results collect the other yields of all iterations.
typedef struct stow_carry {
  size_t first_operand, first_arg, first_yield, first_result;
} stow_carry;

#define STOW_ANY_COUNT SIZE_MAX  // no upper limit
#define STOW_MAX_KNOWN 1024      // elements of a value that a fold function may make known

typedef struct stow_op_desc {
  size_t struct_size;   // written by stow_op_desc_init
  const char* name;     // [a-z][a-z0-9_]*, may hold dots; copied
  const char* summary;  // one line; copied; may be NULL
  size_t min_operands;  // operands at this index and above may be absent
  size_t max_operands;  // STOW_ANY_COUNT: variadic
  size_t min_results;
  size_t max_results;  // if it differs from min_results, the node has as many results as types are
                       // declared, or min_results if none are
  stow_typing typing;
  stow_status (*shape)(stow_shape_call* call);  // NULL only with STOW_TYPING_DECLARED
  // Whether result |k| is a view. The dims of the operands and of that result are numbers, and
  // stow_shape_declared returns the results' types. NULL: never.
  bool (*view)(const stow_shape_call* call, size_t k, stow_view* out_view);
  // Whether result |k| may be computed in place of operand |operand|, which is present and has
  // enough bytes, by its type or by its storage in effects. The dims of both are numbers, and
  // stow_shape_declared returns the results' types. NULL: never.
  stow_in_place (*in_place)(const stow_shape_call* call, size_t k, size_t operand);
  // Computes elements of results from known elements of operands. Called after the shape function
  // if the dims of all results are numbers and each has at most STOW_MAX_KNOWN elements; if no
  // operand has known elements, only if all results together have at most STOW_MAX_RANK. Elements
  // that it does not set, or that cannot be computed, remain unknown, as do those of upper-bounded
  // results. stow_shape_declared returns the results' types. NULL: nothing is known.
  stow_status (*fold)(stow_shape_call* call);
  bool writes_view;  // writes into the operand that its result is a view of, as kv_append
  bool any_attrs;    // attributes that are not in the schema are allowed
  size_t region_count;
  stow_region_kind region_kind;
  stow_carry carry;  // for STOW_REGION_LOOP
} stow_op_desc;

// Writes every field: no operands, one result, inferred, no functions.
STOW_API void stow_op_desc_defaults(stow_op_desc* desc);
static inline void stow_op_desc_init(stow_op_desc* desc) {
  desc->struct_size = sizeof(*desc);
  stow_op_desc_defaults(desc);
}

typedef struct stow_ops stow_ops;

// A table with the core's ops. Graphs built with it borrow it. Free it with stow_ops_destroy.
STOW_API stow_status stow_ops_create(stow_allocator allocator, stow_diag* diag, stow_ops** out_ops);
STOW_API void stow_ops_destroy(stow_ops* ops);

// Adds a copy of |desc| and returns its number in |out_op|. STOW_ERR_DUPLICATE if the name is
// taken, STOW_ERR_INVALID_ARGUMENT if a field is not as described above.
STOW_API stow_status stow_ops_register(stow_ops* ops, const stow_op_desc* desc, stow_diag* diag,
                                       stow_op* out_op);
// Adds an attribute to the schema of a registered op: name, kind and default of |default_value|,
// which is copied. |required|: there is no default, and nodes must have the attribute. Fails for
// core ops.
STOW_API stow_status stow_ops_add_attr(stow_ops* ops, stow_op op, const stow_attr* default_value,
                                       bool required, stow_diag* diag);

// Reading. |ops| may be NULL: the ops of the core. What is returned is borrowed from the table.

// NULL if |op| is unknown.
STOW_API const stow_op_desc* stow_ops_get(const stow_ops* ops, stow_op op);
// STOW_OP_NONE if no op has this name.
STOW_API stow_op stow_ops_find(const stow_ops* ops, stow_str name);
STOW_API size_t stow_ops_attr_count(const stow_ops* ops, stow_op op);
// Name, kind and default of attribute |index| of the schema; NULL past the end. |out_required| may
// be NULL.
STOW_API const stow_attr* stow_ops_attr(const stow_ops* ops, stow_op op, size_t index,
                                        bool* out_required);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // STOWAGE_OP_H_
