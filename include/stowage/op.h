// Operations as data: one row per op says its name, attributes, arity, where the result type comes
// from, how shapes follow, and when a result is a view. The core's rows are fixed; a caller adds
// rows of its own to a stow_ops table and builds graphs against that.
#ifndef STOWAGE_OP_H_
#define STOWAGE_OP_H_

#include <stowage/base.h>
#include <stowage/type.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef uint32_t stow_op;
#define STOW_OP_NONE UINT32_MAX

// STOW_OP_INPUT, STOW_OP_RELU, …, with the numbers of ops.def. Ops that a caller registers follow.
enum stow_core_op {
#define STOW_OP(name, number, text) STOW_OP_##name = (number),
#include <stowage/ops.def>
#undef STOW_OP
  STOW_OP_CORE_COUNT = 224  // one above the largest number; grows with the library
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

// One named value. As an argument it is read during the call only; as a result it is borrowed from
// the graph until the graph changes. Fields that |kind| does not name are ignored. Closed: it never
// grows, since callers have lists of it.
typedef struct stow_attr {
  stow_str name;
  stow_attr_kind kind;
  int64_t i;     // INT
  double f;      // FLOAT
  bool b;        // BOOL
  stow_str s;    // STRING
  size_t count;  // of the lists; an empty list is INTS
  const int64_t* ints;
  const double* floats;
  const stow_str* strings;
} stow_attr;

// An attribute without a value: set |kind| and the field that it names.
static inline stow_attr stow_attr_named(const char* name, stow_attr_kind kind) {
  stow_attr attr = {stow_str_of(name), kind, 0, 0.0, false, {NULL, 0}, 0, NULL, NULL, NULL};
  return attr;
}

// ---------------------------------------------------------------------------------------------
// What a shape or view function is given. All calls are cheap and never allocate.

typedef struct stow_shape_call stow_shape_call;

STOW_API size_t stow_shape_operand_count(const stow_shape_call* call);
// NULL where operand |k| is absent (`_`) or left off.
STOW_API const stow_type* stow_shape_operand(const stow_shape_call* call, size_t k);
// The attribute as given, else the schema's default; NULL where there is neither.
STOW_API const stow_attr* stow_shape_attr(const stow_shape_call* call, const char* name);
// The int or bool attribute |name|; |fallback| where it is absent.
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
// How many results the node has; known beforehand from the op's row or from what was declared.
STOW_API size_t stow_shape_result_count(const stow_shape_call* call);
// The type that the text or the caller declared for result |k|; NULL where none was.
STOW_API const stow_type* stow_shape_declared(const stow_shape_call* call, size_t k);
// Types of region |region|'s arguments and of what it yields. NULL and 0 past the end.
STOW_API size_t stow_shape_region_arg_count(const stow_shape_call* call, size_t region);
STOW_API const stow_type* stow_shape_region_arg(const stow_shape_call* call, size_t region,
                                                size_t k);
STOW_API size_t stow_shape_yield_count(const stow_shape_call* call, size_t region);
STOW_API const stow_type* stow_shape_yield(const stow_shape_call* call, size_t region, size_t k);
// The graph's dims, for arithmetic on symbolic dims. A failure there fails the call by itself.
STOW_API stow_dims* stow_shape_dims(stow_shape_call* call);
// Known values: elements of an operand that are known while shapes are inferred, from the data of a
// param, constant or input, or from its producer's fold function. Integers and bools are dims:
// numbers, also negative ones, or expressions of symbols.
//
// Where dims are the largest possible (a bounded value, or given numbers for dims that depend on
// data), `shape` and what is computed from it are
// only known to be at most that. Such elements count as not known, but for stow_shape_bound.
//
// Whether every element of operand |k| is known; false where it is absent.
STOW_API bool stow_shape_is_known(const stow_shape_call* call, size_t k);
// Element |i| of operand |k|, which is of integers or bools. STOW_DIM_INVALID where it is not
// known.
STOW_API stow_dim stow_shape_known(stow_shape_call* call, size_t k, size_t i);
// The same, or else the largest that the element can be, for dims that grow with it or stay. Where
// it is not exact, all results are marked as by stow_shape_set_bounded.
STOW_API stow_dim stow_shape_bound(stow_shape_call* call, size_t k, size_t i);
// Element |i| of operand |k|, which is of floats. False where it is not known.
STOW_API bool stow_shape_known_float(const stow_shape_call* call, size_t k, size_t i, double* out);
// The attribute's list |name| where it is given, else the values of operand |k|, one dim each, at
// most |room| of them (STOW_ERR_LIMIT). Sets |*out_count| to SIZE_MAX where there is neither, or
// the operand's values are not all known; an element then may be STOW_DIM_INVALID.
STOW_API stow_status stow_shape_list(stow_shape_call* call, const char* name, size_t k,
                                     stow_dim* out, size_t room, size_t* out_count);

// Dim |axis| of result |k| where it depends on values that are not known: the declared one, else a
// new symbol named after the result and the axis, `NAME.AXIS`. Marks the result as data-dependent;
// where all its dims are numbers, those are taken as the largest possible.
STOW_API stow_dim stow_shape_data_dim(stow_shape_call* call, size_t k, uint32_t axis);
// Says that result |k|'s dims are the largest possible. Where a type is declared for such a result,
// its dims win over the bound, if they are not larger.
STOW_API void stow_shape_set_bounded(stow_shape_call* call, size_t k);

// Sets result |k|'s type. Every result must be set.
STOW_API void stow_shape_set_result(stow_shape_call* call, size_t k, const stow_type* type);
// Fails the call with STOW_ERR_TYPE and this reason; the graph adds the op, the operands and their
// types to the message. `return stow_shape_fail(call, "axis %d is out of range", axis);`
STOW_API stow_status stow_shape_fail(stow_shape_call* call, const char* format, ...)
    STOW_PRINTF_LIKE(2, 3);

// Fails the call with STOW_ERR_DATA_DEPENDENT: the rank of a result depends on values that are not
// known, so that its type must be declared.
STOW_API stow_status stow_shape_fail_unknown(stow_shape_call* call, const char* format, ...)
    STOW_PRINTF_LIKE(2, 3);

// For fold functions: element |i| of result |k| is known. A number that the result's dtype cannot
// hold stays unknown.
STOW_API void stow_fold_set(stow_shape_call* call, size_t k, size_t i, stow_dim value);
STOW_API void stow_fold_set_float(stow_shape_call* call, size_t k, size_t i, double value);

// A result that needs no bytes of its own. Closed: a view that is not dense would be another
// struct, since who knows only this one would read wrong bytes.
typedef struct stow_view {
  size_t operand;           // whose bytes
  uint64_t element_offset;  // from that operand's first element
  bool extended;            // not a view in the `rlx` presets, which know only the classic three
} stow_view;

// Whether a result may be written over an operand, from its first byte on. The kernel then finds
// both at the same address.
typedef enum stow_in_place {
  STOW_IN_PLACE_NEVER,
  STOW_IN_PLACE_ALONE,  // where no other operand shares the bytes that are written
  STOW_IN_PLACE_INDEX   // element by element in ascending order, each read before it is written:
                        // other operands for which the row says the same may be the very same bytes
} stow_in_place;

// ---------------------------------------------------------------------------------------------
// Rows

typedef enum stow_typing {
  STOW_TYPING_INFERRED,  // the shape function gives the type; a declared one must agree
  STOW_TYPING_DECLARED,  // the caller says; no shape function
  STOW_TYPING_CHECKED    // the caller says, the shape function checks (and copies it to the result)
} stow_typing;

typedef enum stow_region_kind {
  STOW_REGION_NONE,
  STOW_REGION_BRANCH,  // at most one of the regions runs, once; what it yields becomes the results
  STOW_REGION_LOOP     // the one region runs any number of times, carrying values
} stow_region_kind;

// For loops: operand first_operand+i is the initial value, argument first_arg+i the value in the
// body, yield first_yield+i the next value and result first_result+i the final one, for i = 0, 1, …
// to the last operand. Further results collect what the further yields give in each round.
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
  size_t max_results;  // where it differs from min_results, the number comes from what is declared,
                       // or is min_results where nothing is
  stow_typing typing;
  stow_status (*shape)(stow_shape_call* call);  // NULL only with STOW_TYPING_DECLARED
  // Whether result |k| is a view; the dims of the operands and of that result are numbers, and
  // stow_shape_declared gives the results' types. NULL: never.
  bool (*view)(const stow_shape_call* call, size_t k, stow_view* out_view);
  // Whether result |k| may be written over operand |operand|, which is there and has room for it,
  // by its type or by what effects say of its storage. The dims of both are numbers, and
  // stow_shape_declared gives the results' types. NULL: never.
  stow_in_place (*in_place)(const stow_shape_call* call, size_t k, size_t operand);
  // Computes elements of results from known elements of operands. Called after the shape function
  // where each result has numbers as dims and at most STOW_MAX_KNOWN elements, or all of them
  // together STOW_MAX_RANK where nothing is known of any operand; what it does not set stays
  // unknown, as does what could not be computed. stow_shape_declared gives the results' types. Of a
  // result whose dims are the largest possible nothing is known.
  // NULL: never known.
  stow_status (*fold)(stow_shape_call* call);
  bool
      writes_view;  // writes into the operand that its result is a view of (kv_append): not a no-op
  bool any_attrs;   // attributes beyond the schema are allowed
  size_t region_count;
  stow_region_kind region_kind;
  stow_carry carry;  // for STOW_REGION_LOOP
} stow_op_desc;

// No operands, one result, inferred, no functions.
STOW_API void stow_op_desc_defaults(stow_op_desc* desc);
static inline void stow_op_desc_init(stow_op_desc* desc) {
  desc->struct_size = sizeof(*desc);
  stow_op_desc_defaults(desc);
}

typedef struct stow_ops stow_ops;

// A table that holds the core's rows. Graphs built against it borrow it.
STOW_API stow_status stow_ops_create(stow_allocator allocator, stow_diag* diag, stow_ops** out_ops);
STOW_API void stow_ops_destroy(stow_ops* ops);

// Adds a row. STOW_ERR_DUPLICATE where the name is taken.
STOW_API stow_status stow_ops_register(stow_ops* ops, const stow_op_desc* desc, stow_diag* diag,
                                       stow_op* out_op);
// Adds an attribute to a registered op's schema. |default_value| gives name and kind; |required|:
// it has no default and must be given. Fails for core ops.
STOW_API stow_status stow_ops_add_attr(stow_ops* ops, stow_op op, const stow_attr* default_value,
                                       bool required, stow_diag* diag);

// |ops| may be NULL below: the core's rows alone.
// NULL where |op| is not in the table. Borrowed.
STOW_API const stow_op_desc* stow_ops_get(const stow_ops* ops, stow_op op);
// STOW_OP_NONE where there is none.
STOW_API stow_op stow_ops_find(const stow_ops* ops, stow_str name);
STOW_API size_t stow_ops_attr_count(const stow_ops* ops, stow_op op);
// Name, kind and default of attribute |index| of the schema; |out_required| may be NULL.
STOW_API const stow_attr* stow_ops_attr(const stow_ops* ops, stow_op op, size_t index,
                                        bool* out_required);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // STOWAGE_OP_H_
