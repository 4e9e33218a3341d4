// Fold functions of the core's ops, named after them, and shared helpers. A fold function sets the
// elements of results that follow from known elements of operands, and leaves the others unknown.
#ifndef STOWAGE_SRC_GRAPH_FOLDS_FOLD_H_
#define STOWAGE_SRC_GRAPH_FOLDS_FOLD_H_

#include <stowage/op.h>

#include "graph/exactness.h"

// elementwise.c
stow_status stowi_graph_fold_cast(stow_shape_call* call);
stow_status stowi_graph_fold_relu(stow_shape_call* call);
stow_status stowi_graph_fold_neg(stow_shape_call* call);
stow_status stowi_graph_fold_abs(stow_shape_call* call);
stow_status stowi_graph_fold_sign(stow_shape_call* call);
stow_status stowi_graph_fold_sqrt(stow_shape_call* call);
stow_status stowi_graph_fold_floor(stow_shape_call* call);
stow_status stowi_graph_fold_ceil(stow_shape_call* call);
stow_status stowi_graph_fold_round(stow_shape_call* call);
stow_status stowi_graph_fold_reciprocal(stow_shape_call* call);
stow_status stowi_graph_fold_not(stow_shape_call* call);
stow_status stowi_graph_fold_add(stow_shape_call* call);
stow_status stowi_graph_fold_sub(stow_shape_call* call);
stow_status stowi_graph_fold_mul(stow_shape_call* call);
stow_status stowi_graph_fold_mean(stow_shape_call* call);
stow_status stowi_graph_fold_div(stow_shape_call* call);
stow_status stowi_graph_fold_mod(stow_shape_call* call);
stow_status stowi_graph_fold_pow(stow_shape_call* call);
stow_status stowi_graph_fold_max(stow_shape_call* call);
stow_status stowi_graph_fold_min(stow_shape_call* call);
stow_status stowi_graph_fold_and(stow_shape_call* call);
stow_status stowi_graph_fold_or(stow_shape_call* call);
stow_status stowi_graph_fold_xor(stow_shape_call* call);
stow_status stowi_graph_fold_eq(stow_shape_call* call);
stow_status stowi_graph_fold_ne(stow_shape_call* call);
stow_status stowi_graph_fold_lt(stow_shape_call* call);
stow_status stowi_graph_fold_le(stow_shape_call* call);
stow_status stowi_graph_fold_gt(stow_shape_call* call);
stow_status stowi_graph_fold_ge(stow_shape_call* call);
stow_status stowi_graph_fold_where(stow_shape_call* call);
stow_status stowi_graph_fold_clip(stow_shape_call* call);

// layout.c
stow_status stowi_graph_fold_same(stow_shape_call* call);  // reshape, squeeze, unsqueeze, flatten
stow_status stowi_graph_fold_narrow(stow_shape_call* call);
stow_status stowi_graph_fold_slice(stow_shape_call* call);
stow_status stowi_graph_fold_transpose(stow_shape_call* call);
stow_status stowi_graph_fold_expand(stow_shape_call* call);
stow_status stowi_graph_fold_tile(stow_shape_call* call);
stow_status stowi_graph_fold_concat(stow_shape_call* call);
stow_status stowi_graph_fold_split(stow_shape_call* call);
stow_status stowi_graph_fold_pad(stow_shape_call* call);

// make.c
stow_status stowi_graph_fold_shape(stow_shape_call* call);
stow_status stowi_graph_fold_size(stow_shape_call* call);
stow_status stowi_graph_fold_range(stow_shape_call* call);
stow_status stowi_graph_fold_fill(stow_shape_call* call);
stow_status stowi_graph_fold_one_hot(stow_shape_call* call);
stow_status stowi_graph_fold_eye_like(stow_shape_call* call);
stow_status stowi_graph_fold_trilu(stow_shape_call* call);

// index.c
stow_status stowi_graph_fold_gather(stow_shape_call* call);
stow_status stowi_graph_fold_gather_elements(stow_shape_call* call);
stow_status stowi_graph_fold_gather_nd(stow_shape_call* call);
stow_status stowi_graph_fold_scatter_elements(stow_shape_call* call);
stow_status stowi_graph_fold_scatter_nd(stow_shape_call* call);
stow_status stowi_graph_fold_nonzero(stow_shape_call* call);

// pick.c
stow_status stowi_graph_fold_unique(stow_shape_call* call);
stow_status stowi_graph_fold_compress(stow_shape_call* call);
// The number of results of `unique`; false if unknown.
bool stowi_graph_count_distinct(stow_shape_call* call, stow_dim* out_count);

// reduce.c
stow_status stowi_graph_fold_reduce(stow_shape_call* call);
stow_status stowi_graph_fold_argmax(stow_shape_call* call);
stow_status stowi_graph_fold_argmin(stow_shape_call* call);
stow_status stowi_graph_fold_topk(stow_shape_call* call);
stow_status stowi_graph_fold_cumsum(stow_shape_call* call);
stow_status stowi_graph_fold_cumprod(stow_shape_call* call);

// ---------------------------------------------------------------------------------------------
// Elements: common.c

typedef struct stowi_graph_element {
  enum { STOWI_GRAPH_ELEMENT_UNKNOWN, STOWI_GRAPH_ELEMENT_WHOLE, STOWI_GRAPH_ELEMENT_REAL } kind;
  stow_dim whole;  // of integers and bools, and of floats that are dims with ranges
  double real;
  stowi_graph_exactness exactness;
} stowi_graph_element;

static inline stowi_graph_element stowi_graph_whole(stow_dim dim) {
  stowi_graph_element element = {STOWI_GRAPH_ELEMENT_WHOLE, dim, 0, STOWI_GRAPH_EXACT};
  element.kind = dim == STOW_DIM_INVALID ? STOWI_GRAPH_ELEMENT_UNKNOWN : STOWI_GRAPH_ELEMENT_WHOLE;
  return element;
}
static inline stowi_graph_element stowi_graph_real(double real) {
  stowi_graph_element element = {STOWI_GRAPH_ELEMENT_REAL, 0, real, STOWI_GRAPH_EXACT};
  return element;
}
static inline stowi_graph_element stowi_graph_unknown(void) {
  stowi_graph_element element = {STOWI_GRAPH_ELEMENT_UNKNOWN, 0, 0, STOWI_GRAPH_EXACT};
  return element;
}
// The number |number|, as an element of |dtype|.
stowi_graph_element stowi_graph_element_of(stow_shape_call* call, stow_dtype dtype, int64_t number);
// Element |i| of operand |k|, which must not be missing; may be an upper bound.
stowi_graph_element stowi_graph_fold_get(stow_shape_call* call, size_t k, uint64_t i);
// Sets element |i| of result |k|, unless it is unknown. A failure of dim arithmetic for lack of
// room in the table is ignored: the element stays unknown.
void stowi_graph_fold_put(stow_shape_call* call, size_t k, uint64_t i, stowi_graph_element element);
// Sets element |i| of result |k|, a float, to a dim, if that has bounds within which integers are
// exact (known.c).
void stowi_graph_fold_set_float_dim(stow_shape_call* call, size_t k, size_t i, stow_dim value);
// Sets whether element |i| of result |k| is exact or a bound (known.c); exact by default.
void stowi_graph_fold_set_exactness(stow_shape_call* call, size_t k, size_t i,
                                    stowi_graph_exactness exactness);
// An element that is exactly a number; false for floats, expressions and bounds.
bool stowi_graph_element_number(stow_shape_call* call, stowi_graph_element element,
                                int64_t* out_number);
// The return value of a fold function: out of memory, if dim arithmetic was.
stow_status stowi_graph_fold_end(stow_shape_call* call);

// ---------------------------------------------------------------------------------------------
// Bounds: common.c. What is computed from an element that is only known to be at most some
// number is at most what that number gives, if the op never falls where the element rises; else it
// is not known.

typedef enum stowi_graph_rule {
  STOWI_GRAPH_RULE_EXACT,     // no operand may be a bound
  STOWI_GRAPH_RULE_ITSELF,    // the op handles bounds itself, and its result is exact: comparisons
  STOWI_GRAPH_RULE_RISES,     // non-decreasing: add, min
  STOWI_GRAPH_RULE_MAX,       // the same; not negative if one operand is not
  STOWI_GRAPH_RULE_FIRST,     // increasing in the first operand, decreasing in the second: sub
  STOWI_GRAPH_RULE_POSITIVE,  // increasing if neither operand is negative: mul
  STOWI_GRAPH_RULE_DIVIDE  // increasing in the first operand, if the second is exact and positive
} stowi_graph_rule;

typedef stowi_graph_element (*stowi_graph_binary)(stow_shape_call* call, stowi_graph_element a,
                                                  stowi_graph_element b);

// compute(a, b) under |rule|. |compute| gets elements that count as exact, or unknown ones.
stowi_graph_element stowi_graph_fold_apply(stow_shape_call* call, stowi_graph_rule rule,
                                           stowi_graph_binary compute, stowi_graph_element a,
                                           stowi_graph_element b);
// Whether the element is certainly not negative.
bool stowi_graph_element_is_positive(stow_shape_call* call, stowi_graph_element element);

// ---------------------------------------------------------------------------------------------
// Indices: common.c. Dims are numbers.

// Operand |k|'s type; NULL if it is missing or a dim is not a number.
const stow_type* stowi_graph_fold_operand(const stow_shape_call* call, size_t k);
// The same, and NULL if none of its elements is known.
const stow_type* stowi_graph_fold_known(const stow_shape_call* call, size_t k);
// The number of elements of a result, at most STOW_MAX_KNOWN.
uint64_t stowi_graph_fold_count(const stow_type* type);
// The coordinates of element |i|.
void stowi_graph_unravel(const stow_type* type, uint64_t i, int64_t* out_at);
// The element at coordinates that are within the dims.
uint64_t stowi_graph_ravel(const stow_type* type, const int64_t* at);
// The element of |type| that element |i| of |result| comes from when broadcast.
uint64_t stowi_graph_broadcast_index(const stow_type* type, const stow_type* result, uint64_t i);
// |index| counted from the end if negative; false if it is out of range for |dim|.
bool stowi_graph_normal_index(int64_t index, int64_t dim, int64_t* out_index);

#endif  // STOWAGE_SRC_GRAPH_FOLDS_FOLD_H_
