// Shapes of ops that keep the elements in their order and change the dims or the element type:
// reshape and similar ops, casts, and expand. The dims come from the values of an operand if known,
// otherwise from the declared type.
#include <inttypes.h>

#include "base/diag.h"
#include "graph/shapes/call.h"
#include "graph/shapes/shapes.h"

// ---------------------------------------------------------------------------------------------
// Counting elements

static bool is_bound(const stow_type* type) {
  for (uint32_t i = 0; i < type->rank; ++i) {
    if (!stow_dim_is_const(type->dims[i])) {
      return false;
    }
  }
  return true;
}

// Counts that are not both numbers: refused if they can never be equal. An expression too large to
// represent proves nothing, so the call goes on; running out of memory fails it.
static stow_status check_symbolic_count(stow_shape_call* call, const stow_type* from,
                                        const stow_type* to) {
  stow_dims* dims = stow_shape_dims(call);
  stow_dim a = stowi_graph_shape_product(call, from, 0, from->rank);
  stow_dim b = stowi_graph_shape_product(call, to, 0, to->rank);
  if (a == STOW_DIM_INVALID || b == STOW_DIM_INVALID) {
    if (stow_dims_status(dims) == STOW_ERR_OUT_OF_MEMORY) {
      return STOW_ERR_OUT_OF_MEMORY;
    }
    stow_dims_clear_status(dims);
    return STOW_OK;
  }
  if (stowi_graph_shape_differ(call, a, b)) {
    return stow_shape_fail(call, "the operand has %s elements, but the result has %s",
                           stowi_graph_shape_dim_text(call, a).text,
                           stowi_graph_shape_dim_text(call, b).text);
  }
  return STOW_OK;
}

static stow_status check_count(stow_shape_call* call, const stow_type* from, const stow_type* to) {
  if (!is_bound(from) || !is_bound(to)) {
    return check_symbolic_count(call, from, to);
  }
  uint64_t a;
  uint64_t b;
  if (stow_type_elements(from, &a) != STOW_OK || stow_type_elements(to, &b) != STOW_OK) {
    return stow_shape_fail(call, "the number of elements does not fit in 64 bits");
  }
  if (a != b) {
    return stow_shape_fail(
        call, "the operand has %" PRIu64 " elements, but the result has %" PRIu64, a, b);
  }
  return STOW_OK;
}

static stow_status check_declared_dtype(stow_shape_call* call, const stow_type* declared) {
  stow_dtype dtype = stow_shape_operand(call, 0)->dtype;
  if (declared->dtype != dtype) {
    return stow_shape_fail(call, "the operand is %s, but the declared result is %s",
                           stow_dtype_name(dtype), stow_dtype_name(declared->dtype));
  }
  return STOW_OK;
}

// The dims given by operand 1. Also counts as not given if even their number is unknown but a type
// is declared.
static stow_status read_target(stow_shape_call* call, bool with_bounds, stowi_graph_list* out) {
  const stow_type* type = stow_shape_operand(call, 1);
  bool is_open = type != NULL && type->rank == 1 && !stow_dim_is_const(type->dims[0]);
  size_t k = is_open && stow_shape_declared(call, 0) != NULL ? SIZE_MAX : 1;
  STOW_TRY(with_bounds ? stowi_graph_shape_bounds(call, NULL, k, out)
                       : stowi_graph_shape_list(call, NULL, k, out));
  if (out->count > STOW_MAX_RANK) {
    return stow_shape_fail(call, "the result would have rank %zu, the maximum is %d", out->count,
                           STOW_MAX_RANK);
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// reshape

// Removes what occurs in both lists, so that division succeeds more often. Zeros too: the rest of
// an empty tensor is that of its other dims, as of any other size.
static void cancel(stow_type* upper, stow_type* lower) {
  for (uint32_t i = 0; i < lower->rank; ++i) {
    for (uint32_t j = 0; j < upper->rank && lower->dims[i] != 1; ++j) {
      if (lower->dims[i] == upper->dims[j]) {
        lower->dims[i] = 1;
        upper->dims[j] = 1;
      }
    }
  }
}

// The dim |at| of |result| that gives it as many elements as |from|.
static stow_status deduce_dim(stow_shape_call* call, const stow_type* from, stow_type* result,
                              uint32_t at) {
  stow_dims* dims = stow_shape_dims(call);
  stow_type upper = *from;
  stow_type lower = *result;
  lower.dims[at] = 1;
  cancel(&upper, &lower);
  stow_dim elements = stowi_graph_shape_product(call, &upper, 0, upper.rank);
  stow_dim rest = stowi_graph_shape_product(call, &lower, 0, lower.rank);
  if (elements == STOW_DIM_INVALID || rest == STOW_DIM_INVALID) {
    return stow_dims_status(dims);
  }
  if (stow_dim_is_const(elements) && stow_dim_is_const(rest)) {
    stow_dim* out = &result->dims[at];
    if (rest == 0 ? elements != 0 : elements % rest != 0) {
      return stow_shape_fail(call, "%" PRId64 " elements cannot be divided into parts of %" PRId64,
                             elements, rest);
    }
    *out = rest == 0 ? 0 : elements / rest;
    return STOW_OK;
  }
  result->dims[at] = stow_dim_floor_div(dims, elements, rest);
  return STOW_OK;
}

// Whether the remaining dim can be deduced: the operand's size divided by the other dims. Those in
// |bounds| must be dims of the operand, and so shrink with it.
static bool can_deduce(const stow_type* from, const stow_type* result, uint32_t bounds) {
  stow_type upper = *from;
  stow_type lower = *result;
  for (uint32_t i = 0; i < lower.rank; ++i) {
    lower.dims[i] = (bounds >> i & 1) != 0 ? lower.dims[i] : 1;
  }
  cancel(&upper, &lower);
  for (uint32_t i = 0; i < lower.rank; ++i) {
    if (lower.dims[i] != 1) {
      return false;
    }
  }
  return true;
}

// The dims given by a shape's numbers, except those to be deduced.
typedef struct target {
  stow_type type;
  uint32_t open;   // bits of dims without a number: -1, or unknown
  uint32_t rests;  // how many are -1
} target;

static bool is_plain(const void* user, const int64_t* numbers) {
  return numbers[0] > 0 || (*(const bool*)user && numbers[0] == 0);
}

// Whether the number is between those in |user|.
static bool is_within(const void* user, const int64_t* numbers) {
  const int64_t* ends = (const int64_t*)user;
  return numbers[0] >= ends[0] && numbers[0] <= ends[1];
}

// A dim with a range that has 0, where 0 means the operand's dim, or -1.
static stow_status check_zero(stow_shape_call* call, const stow_type* from, stow_dim wanted,
                              uint32_t i) {
  bool is_zero_plain =
      stow_shape_attr_bool(call, "allowzero", false) ||
      (i < from->rank && stow_dim_same(stow_shape_dims(call), wanted, from->dims[i]));
  if (stow_dim_at_least(stow_shape_dims(call), wanted, is_zero_plain ? 0 : 1, 1) ||
      stowi_graph_shape_holds(call, &wanted, 1, is_plain, &is_zero_plain, true)) {
    return STOW_OK;
  }
  for (int64_t last = -1; last <= 0 && !call->split.exists; ++last) {
    (void)stowi_graph_shape_holds(call, &wanted, 1, is_within, (int64_t[]){-1, last}, true);
  }
  return stow_shape_fail(call, "dim %" PRIu32 " would be %s, where 0 and -1 mean others", i,
                         stowi_graph_shape_dim_text(call, wanted).text);
}

static stow_status read_dim(stow_shape_call* call, const stow_type* from, stow_dim wanted,
                            uint32_t i, target* out) {
  int64_t number = 1;
  bool is_number = stowi_graph_shape_number(call, wanted, &number);
  bool is_deduced = is_number && number == -1;
  if (number < -1 || (is_deduced && out->rests++ != 0)) {
    return stow_shape_fail(call, "dim %" PRIu32 " would be %" PRId64 "%s", i, number,
                           is_deduced ? " as well as another" : "");
  }
  if (is_deduced || wanted == STOW_DIM_INVALID) {
    out->open |= UINT32_C(1) << i;
    return STOW_OK;
  }
  bool is_copy = is_number && number == 0 && !stow_shape_attr_bool(call, "allowzero", false);
  if (is_copy && i >= from->rank) {
    return stow_shape_fail(call, "dim %" PRIu32 " is to be kept, but the operand has rank %" PRIu32,
                           i, from->rank);
  }
  out->type.dims[i] = is_copy ? from->dims[i] : wanted;
  return is_number ? STOW_OK : check_zero(call, from, wanted, i);
}

static stow_status reshape_to(stow_shape_call* call, const stowi_graph_list* shape) {
  const stow_type* from = stow_shape_operand(call, 0);
  target to = {.type = stow_type_make(from->dtype, 0, NULL)};
  to.type.rank = (uint32_t)shape->count;
  for (uint32_t i = 0; i < to.type.rank; ++i) {
    bool is_signed = (shape->signeds >> i & 1) != 0;  // a negative number would mean something else
    STOW_TRY(read_dim(call, from, is_signed ? STOW_DIM_INVALID : shape->at[i], i, &to));
  }
  bool is_one = to.open != 0 && (to.open & (to.open - 1)) == 0 &&
                can_deduce(from, &to.type, shape->bounds & ~to.open);
  for (uint32_t i = 0; i < to.type.rank; ++i) {
    if ((to.open >> i & 1) == 0) {
      continue;
    }
    if (is_one) {
      STOW_TRY(deduce_dim(call, from, &to.type, i));
    } else {
      to.type.dims[i] = stow_shape_data_dim(call, 0, i);
    }
  }
  STOW_TRY(check_count(call, from, &to.type));
  return stowi_graph_shape_set(call, 0, &to.type);
}

// While a graph runs, a declared type is only an upper bound. If it has the dims of the operand's
// largest type, in their order, with ones added or removed, its dims are those of the operand.
static bool follow_operand(const stow_shape_call* call, stow_type* type) {
  const stow_type* from = stow_shape_operand(call, 0);
  const stow_type* largest = stowi_graph_shape_largest(call, 0);
  uint32_t i = 0;
  for (uint32_t k = 0; k < type->rank; ++k) {
    while (i < largest->rank && largest->dims[i] == 1 && type->dims[k] != 1) {
      ++i;
    }
    bool is_there = i < largest->rank && largest->dims[i] == type->dims[k];
    if (!is_there && type->dims[k] != 1) {
      return false;
    }
    type->dims[k] = is_there ? from->dims[i++] : 1;
  }
  return true;
}

static stow_status reshape_declared(stow_shape_call* call) {
  const stow_type* declared = stowi_graph_shape_need_declared(call, 0);
  if (declared == NULL) {
    return STOW_ERR_TYPE;
  }
  stow_type type = *declared;
  STOW_TRY(check_declared_dtype(call, declared));
  if (call->actual != NULL && !follow_operand(call, &type)) {
    type = *declared;
  }
  STOW_TRY(check_count(call, stow_shape_operand(call, 0), &type));
  return stowi_graph_shape_set(call, 0, &type);
}

stow_status stowi_graph_shape_reshape(stow_shape_call* call) {
  stowi_graph_list shape;
  STOW_TRY(read_target(call, stowi_graph_shape_is_upper_bounded(call, 0), &shape));
  if (shape.is_given) {
    return reshape_to(call, &shape);
  }
  return reshape_declared(call);
}

// ---------------------------------------------------------------------------------------------
// squeeze, unsqueeze, flatten

static bool is_not_one(const void* user, const int64_t* numbers) {
  (void)user;
  return numbers[0] != 1;
}

// Without axes every dim of 1 is removed, so each must be a number, or always or never 1.
static stow_status squeeze_all(stow_shape_call* call, const stow_type* from) {
  stow_type result = stow_type_make(from->dtype, 0, NULL);
  for (uint32_t i = 0; i < from->rank; ++i) {
    if (stow_dim_same(stow_shape_dims(call), from->dims[i], 1)) {
      continue;
    }
    if (!stow_dim_is_const(from->dims[i]) &&
        !stowi_graph_shape_holds(call, &from->dims[i], 1, is_not_one, NULL, false)) {
      const stow_type* declared = stow_shape_declared(call, 0);
      if (declared != NULL && !call->split.exists) {
        STOW_TRY(check_declared_dtype(call, declared));
        STOW_TRY(check_count(call, from, declared));
        return stowi_graph_shape_set(call, 0, declared);
      }
      stowi_graph_dim_text dim = stowi_graph_shape_dim_text(call, from->dims[i]);
      return call->split.exists
                 ? stow_shape_fail(call, "dim %" PRIu32 " is %s, which is sometimes 1", i, dim.text)
                 : stow_shape_fail_unknown(call, "whether dim %" PRIu32 ", which is %s, is 1", i,
                                           dim.text);
    }
    result.dims[result.rank++] = from->dims[i];
  }
  return stowi_graph_shape_set(call, 0, &result);
}

static stow_status squeeze_axes(stow_shape_call* call, const stow_type* from, uint32_t gone) {
  stow_type result = stow_type_make(from->dtype, 0, NULL);
  for (uint32_t i = 0; i < from->rank; ++i) {
    if ((gone >> i & 1) == 0) {
      result.dims[result.rank++] = from->dims[i];
    } else if (stowi_graph_shape_differ(call, from->dims[i], 1)) {
      return stow_shape_fail(call, "dim %" PRIu32 " is %s, expected 1", i,
                             stowi_graph_shape_dim_text(call, from->dims[i]).text);
    }
  }
  return stowi_graph_shape_set(call, 0, &result);
}

// The list of axes as bits, for a tensor of |rank|.
static stow_status axis_bits(stow_shape_call* call, const stowi_graph_list* list, uint32_t rank,
                             uint32_t* out_bits) {
  uint32_t axes[STOW_MAX_RANK];
  *out_bits = 0;
  STOW_TRY(stowi_graph_shape_list_axes(call, list, rank, axes));
  for (size_t i = 0; i < list->count; ++i) {
    *out_bits |= UINT32_C(1) << axes[i];
  }
  return STOW_OK;
}

stow_status stowi_graph_shape_squeeze(stow_shape_call* call) {
  const stow_type* from = stow_shape_operand(call, 0);
  stowi_graph_list axes;
  STOW_TRY(stowi_graph_shape_list(call, "axes", 1, &axes));
  if (!axes.is_given) {
    return squeeze_all(call, from);
  }
  if (axes.count > from->rank) {
    return stow_shape_fail(call, "there are %zu axes for rank %" PRIu32, axes.count, from->rank);
  }
  if (!axes.is_known) {
    return stowi_graph_shape_set_unknown(call, 0, from->dtype, from->rank - (uint32_t)axes.count);
  }
  uint32_t gone;
  STOW_TRY(axis_bits(call, &axes, from->rank, &gone));
  return squeeze_axes(call, from, gone);
}

stow_status stowi_graph_shape_unsqueeze(stow_shape_call* call) {
  const stow_type* from = stow_shape_operand(call, 0);
  stowi_graph_list axes;
  STOW_TRY(stowi_graph_shape_list(call, "axes", 1, &axes));
  if (from->rank + axes.count > STOW_MAX_RANK) {
    return stow_shape_fail(call, "the result would have rank %zu, the maximum is %d",
                           from->rank + axes.count, STOW_MAX_RANK);
  }
  stow_type result = stow_type_make(from->dtype, 0, NULL);
  result.rank = from->rank + (uint32_t)axes.count;
  if (axes.is_given && !axes.is_known) {
    return stowi_graph_shape_set_unknown(call, 0, from->dtype, result.rank);
  }
  uint32_t added;
  STOW_TRY(axis_bits(call, &axes, result.rank, &added));
  uint32_t next = 0;
  for (uint32_t i = 0; i < result.rank; ++i) {
    result.dims[i] = (added >> i & 1) != 0 ? 1 : from->dims[next++];
  }
  return stowi_graph_shape_set(call, 0, &result);
}

stow_status stowi_graph_shape_flatten(stow_shape_call* call) {
  const stow_type* from = stow_shape_operand(call, 0);
  int64_t axis = stow_shape_attr_int(call, "axis", 1);
  int64_t rank = from->rank;
  if (axis < -rank || axis > rank) {
    return stow_shape_fail(call, "axis %" PRId64 " is out of range for rank %" PRIu32, axis,
                           from->rank);
  }
  uint32_t cut = (uint32_t)(axis < 0 ? axis + rank : axis);
  stow_dim dims[2] = {stowi_graph_shape_product(call, from, 0, cut),
                      stowi_graph_shape_product(call, from, cut, from->rank)};
  stow_type result = stow_type_make(from->dtype, 2, dims);
  return stowi_graph_shape_set(call, 0, &result);
}

// ---------------------------------------------------------------------------------------------
// expand

// |want| is an upper bound on the wanted dim, which is 1 or the operand's, if that is not 1.
static stow_dim expand_by_bound(stow_shape_call* call, stow_dim have, bool is_upper_bounded,
                                stow_dim want) {
  bool is_fixed = stow_dim_is_const(have) && have > 1 && !is_upper_bounded;
  return is_fixed ? have : stow_dim_max(stow_shape_dims(call), have, want);
}

// Both sides can broadcast: a dim of the operand stays where 1 is wanted.
static stow_status expand_to(stow_shape_call* call, const stowi_graph_list* shape) {
  const stow_type* from = stow_shape_operand(call, 0);
  uint32_t count = (uint32_t)shape->count;
  stow_type result = stow_type_make(from->dtype, 0, NULL);
  result.rank = count > from->rank ? count : from->rank;
  stowi_graph_axes bounded = stowi_graph_shape_bounded_axes(call, 0);
  for (uint32_t i = 0; i < result.rank; ++i) {
    stow_type have = stow_type_make(from->dtype, 0, NULL);
    stow_type want = have;
    uint32_t end = result.rank - i;
    bool is_upper_bounded = end <= from->rank && (bounded >> (from->rank - end) & 1) != 0;
    have.dims[have.rank++] = end <= from->rank ? from->dims[from->rank - end] : 1;
    want.dims[want.rank++] = end <= count ? shape->at[count - end] : 1;
    if (want.dims[0] == STOW_DIM_INVALID) {
      result.dims[i] = !is_upper_bounded && stow_dim_is_const(have.dims[0]) && have.dims[0] > 1
                           ? have.dims[0]
                           : stow_shape_data_dim(call, 0, i);
      continue;
    }
    if (end <= count && (shape->bounds >> (count - end) & 1) != 0) {
      result.dims[i] = expand_by_bound(call, have.dims[0], is_upper_bounded, want.dims[0]);
      continue;
    }
    if (is_upper_bounded && stow_dim_is_const(want.dims[0]) && want.dims[0] > 1) {
      result.dims[i] = want.dims[0];
      continue;
    }
    STOW_TRY(stowi_graph_shape_broadcast(call, &have, &want, &have));
    result.dims[i] = have.dims[0];
  }
  return stowi_graph_shape_set(call, 0, &result);
}

stow_status stowi_graph_shape_expand(stow_shape_call* call) {
  stowi_graph_list shape;
  STOW_TRY(read_target(call, true, &shape));
  if (shape.is_given) {
    return expand_to(call, &shape);
  }
  const stow_type* declared = stowi_graph_shape_need_declared(call, 0);
  if (declared == NULL) {
    return STOW_ERR_TYPE;
  }
  STOW_TRY(check_declared_dtype(call, declared));
  STOW_TRY(stowi_graph_shape_broadcast_to(call, 0, declared, "the operand"));
  return stowi_graph_shape_set(call, 0, declared);
}

// ---------------------------------------------------------------------------------------------
// Casts

stow_status stowi_graph_shape_cast(stow_shape_call* call) {
  stow_type converted = *stow_shape_operand(call, 0);
  STOW_TRY(stowi_graph_shape_dtype(call, "to", STOW_DTYPE_COUNT, &converted.dtype));
  if (converted.dtype != STOW_DTYPE_COUNT) {
    return stowi_graph_shape_set(call, 0, &converted);
  }
  const stow_type* declared = stowi_graph_shape_need_declared(call, 0);
  if (declared == NULL) {
    return STOW_ERR_TYPE;
  }
  converted.dtype = declared->dtype;
  if (call->actual == NULL && !stow_type_equal(&converted, declared)) {
    return stow_shape_fail(call, "the declared result must have the operand's dims");
  }
  return stowi_graph_shape_set(call, 0, &converted);
}

stow_status stowi_graph_shape_cast_like(stow_shape_call* call) {
  stow_type converted = *stow_shape_operand(call, 0);
  converted.dtype = stow_shape_operand(call, 1)->dtype;
  return stowi_graph_shape_set(call, 0, &converted);
}

stow_status stowi_graph_shape_bitcast(stow_shape_call* call) {
  const stow_type* from = stow_shape_operand(call, 0);
  stow_type result = *from;
  STOW_TRY(stowi_graph_shape_dtype(call, "to", from->dtype, &result.dtype));
  if (stow_dtype_bits(from->dtype) != stow_dtype_bits(result.dtype)) {
    return stow_shape_fail(call, "%s has %" PRIu32 " bits, but %s has %" PRIu32,
                           stow_dtype_name(from->dtype), stow_dtype_bits(from->dtype),
                           stow_dtype_name(result.dtype), stow_dtype_bits(result.dtype));
  }
  return stowi_graph_shape_set(call, 0, &result);
}
