// Shared by shape functions: axes, choices, broadcasting, and comparing two dims that are not both
// numbers. A shape function refuses what can never match; if it depends on the values of symbols,
// it accepts, and binding infers again.
#include <inttypes.h>
#include <string.h>

#include "base/diag.h"
#include "graph/dims/dims.h"
#include "graph/shapes/call.h"
#include "graph/shapes/shapes.h"

// ---------------------------------------------------------------------------------------------
// Messages

typedef struct cut_buffer {
  char* data;
  size_t size;
  size_t capacity;
} cut_buffer;

// Keeps what fits.
static stow_status write_cut(void* user, const char* data, size_t size) {
  cut_buffer* buffer = (cut_buffer*)user;
  size_t room = buffer->capacity - buffer->size;
  size_t taken = size < room ? size : room;
  memcpy(buffer->data + buffer->size, data, taken);
  buffer->size += taken;
  return STOW_OK;
}

stowi_graph_dim_text stowi_graph_shape_dim_text(stow_shape_call* call, stow_dim dim) {
  stowi_graph_dim_text result;
  cut_buffer buffer = {result.text, 0, sizeof(result.text) - 1};
  stow_writer writer = {write_cut, &buffer};
  if (stow_dim_print(stow_shape_dims(call), dim, writer) != STOW_OK) {
    buffer.size = 0;
  }
  result.text[buffer.size] = '\0';
  return result;
}

// ---------------------------------------------------------------------------------------------
// Attributes

const int64_t* stowi_graph_shape_ints(const stow_shape_call* call, const char* name,
                                      size_t* out_count) {
  const stow_attr* attr = stow_shape_attr(call, name);
  bool is_list = attr != NULL && attr->kind == STOW_ATTR_INTS && attr->count != 0;
  *out_count = is_list ? attr->count : 0;
  return is_list ? attr->ints : NULL;
}

stow_status stowi_graph_shape_choice(stow_shape_call* call, const char* name,
                                     const char* const* choices, size_t* out_choice) {
  const stow_attr* attr = stow_shape_attr(call, name);
  stow_str given = attr != NULL && attr->kind == STOW_ATTR_STRING ? attr->s : stow_str_of("");
  for (size_t i = 0; choices[i] != NULL; ++i) {
    if (stow_str_equal(given, stow_str_of(choices[i]))) {
      *out_choice = i;
      return STOW_OK;
    }
  }
  char listed[128];
  cut_buffer buffer = {listed, 0, sizeof(listed) - 1};
  // "a", "b" or "c"
  for (size_t i = 0; choices[i] != NULL; ++i) {
    const char* before = i == 0 ? "\"" : choices[i + 1] == NULL ? " or \"" : ", \"";
    write_cut(&buffer, before, strlen(before));
    write_cut(&buffer, choices[i], strlen(choices[i]));
    write_cut(&buffer, "\"", 1);
  }
  listed[buffer.size] = '\0';
  return stow_shape_fail(call, "%s is \"%.*s\", not %s", name, STOWI_STR_ARG(given), listed);
}

bool stowi_graph_normal_axis(int64_t axis, uint32_t rank, uint32_t* out_axis) {
  if (axis < -(int64_t)rank || axis >= (int64_t)rank) {
    return false;
  }
  *out_axis = (uint32_t)(axis < 0 ? axis + (int64_t)rank : axis);
  return true;
}

stow_status stowi_graph_shape_axis(stow_shape_call* call, uint32_t rank, uint32_t* out_axis) {
  int64_t axis = stow_shape_attr_int(call, "axis", 0);
  if (!stowi_graph_normal_axis(axis, rank, out_axis)) {
    return stow_shape_fail(call, "axis %" PRId64 " is out of range for rank %" PRIu32, axis, rank);
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Dims

// a - b, or STOW_DIM_INVALID if the table cannot hold it; that does not fail the call, unless
// memory ran out.
static stow_dim difference(stow_dims* dims, stow_dim a, stow_dim b) {
  stow_dim result = stow_dim_sub(dims, a, b);
  if (result == STOW_DIM_INVALID && stow_dims_status(dims) != STOW_ERR_OUT_OF_MEMORY) {
    stow_dims_clear_status(dims);
  }
  return result;
}

bool stowi_graph_shape_holds(stow_shape_call* call, const stow_dim* list, size_t count,
                             stowi_graph_test test, const void* user, bool if_open) {
  stowi_graph_split split;
  switch (stowi_graph_dims_ask(stow_shape_dims(call), list, count, test, user, &split)) {
    case STOWI_GRAPH_ALWAYS: return true;
    case STOWI_GRAPH_OPEN: return if_open;
    default: call->split = split; return false;
  }
}

static bool are_equal(const void* user, const int64_t* numbers) {
  (void)user;
  return numbers[0] == numbers[1];
}

// Whether all symbols of the two have ranges, so that they must be equal at every point.
static bool differ_at_points(stow_shape_call* call, stow_dim a, stow_dim b, bool* out_differ) {
  stow_dim list[2] = {a, b};
  stowi_graph_split split;
  *out_differ = false;
  if (stow_dim_same(stow_shape_dims(call), a, b)) {
    return true;
  }
  stowi_graph_answer answer =
      stowi_graph_dims_ask(stow_shape_dims(call), list, 2, are_equal, NULL, &split);
  call->split = split.exists ? split : call->split;
  *out_differ = answer != STOWI_GRAPH_ALWAYS;
  return answer != STOWI_GRAPH_OPEN;
}

bool stowi_graph_shape_differ(stow_shape_call* call, stow_dim a, stow_dim b) {
  bool differ;
  if (a == b) {
    return false;
  }
  if (stow_dim_is_const(a) && stow_dim_is_const(b)) {
    return true;
  }
  stow_dims* dims = stow_shape_dims(call);
  if (stow_dims_status(dims) != STOW_OK) {
    return false;  // the call fails for another reason; do not hide it
  }
  if (differ_at_points(call, a, b, &differ)) {
    return differ;
  }
  return stow_dim_is_const(difference(dims, a, b)) || stow_dim_is_const(difference(dims, b, a));
}

static bool is_divided(const void* user, const int64_t* numbers) {
  return numbers[0] % *(const int64_t*)user == 0;
}

bool stowi_graph_shape_is_multiple(stow_shape_call* call, stow_dim dim, int64_t of) {
  return stowi_graph_shape_holds(call, &dim, 1, is_divided, &of, true);
}

static bool is_not_less(const void* user, const int64_t* numbers) {
  return numbers[0] >= *(const int64_t*)user;
}

bool stowi_graph_shape_not_less(stow_shape_call* call, stow_dim dim, int64_t bound) {
  return stow_dim_at_least(stow_shape_dims(call), dim, bound, 0) ||
         stowi_graph_shape_holds(call, &dim, 1, is_not_less, &bound, true);
}

stow_dim stowi_graph_dim_known(stow_dim a, stow_dim b) { return stow_dim_is_const(b) ? b : a; }

// ---------------------------------------------------------------------------------------------
// Operands

stow_status stowi_graph_shape_same_dtype(stow_shape_call* call, size_t a, size_t b) {
  stow_dtype x = stow_shape_operand(call, a)->dtype;
  stow_dtype y = stow_shape_operand(call, b)->dtype;
  if (x != y) {
    return stow_shape_fail(call, "operand %zu is %s, but operand %zu is %s", a, stow_dtype_name(x),
                           b, stow_dtype_name(y));
  }
  return STOW_OK;
}

stow_status stowi_graph_shape_integers(stow_shape_call* call, size_t k, const char* what) {
  const stow_type* type = stow_shape_operand(call, k);
  if (type == NULL) {
    return STOW_OK;
  }
  stow_dtype_kind kind = stow_dtype_kind_of(type->dtype);
  if (kind != STOW_KIND_SIGNED && kind != STOW_KIND_UNSIGNED) {
    return stow_shape_fail(call, "%s must be integers, not %s", what, stow_dtype_name(type->dtype));
  }
  return STOW_OK;
}

stow_status stowi_graph_shape_min_rank(stow_shape_call* call, size_t k, uint32_t rank) {
  uint32_t actual = stow_shape_operand(call, k)->rank;
  if (actual < rank) {
    return stow_shape_fail(call, "operand %zu has rank %" PRIu32 ", expected at least %" PRIu32, k,
                           actual, rank);
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Broadcasting

// Dim |i| from the end; 1 if there is none.
static stow_dim dim_from_end(const stow_type* type, uint32_t i) {
  return i < type->rank ? type->dims[type->rank - 1 - i] : 1;
}

// Two different expressions must turn out to be equal, or one of them to be 1. If one cannot be 1,
// it is the result; otherwise the simpler one is taken.
static stow_dim broadcast_symbols(const stow_dims* dims, stow_dim a, stow_dim b) {
  bool is_wide_a = stow_dim_at_least(dims, a, 2, 1);
  bool is_wide_b = stow_dim_at_least(dims, b, 2, 1);
  if (is_wide_a != is_wide_b) {
    return is_wide_a ? a : b;
  }
  return stowi_graph_dim_simpler(dims, a, b);
}

static bool can_broadcast(const void* user, const int64_t* numbers) {
  (void)user;
  return numbers[0] == numbers[1] || numbers[0] == 1 || numbers[1] == 1;
}

// The result of two numbers is the third.
static bool is_broadcast(const void* user, const int64_t* numbers) {
  (void)user;
  return (numbers[0] == 1 ? numbers[1] : numbers[0]) == numbers[2];
}

// The same where all symbols have ranges: one of the two, or the larger one, at every point. Sets
// |out| to STOW_DIM_INVALID if no expression is; false if a symbol has no range.
static bool broadcast_ranges(stow_shape_call* call, stow_dim a, stow_dim b, stow_dim* out) {
  stow_dims* dims = stow_shape_dims(call);
  stow_dim tried[3] = {a, b, stow_dim_max(dims, a, b)};
  stowi_graph_split split;
  stowi_graph_split kept = {false, 0, 0};
  *out = STOW_DIM_INVALID;
  if (stow_dim_same(dims, a, b)) {
    *out = stow_dim_is_const(b)   ? b
           : stow_dim_is_const(a) ? a
                                  : stowi_graph_dim_simpler(dims, a, b);
    return true;
  }
  stowi_graph_answer answer = stowi_graph_dims_ask(dims, tried, 2, can_broadcast, NULL, &split);
  kept = split;
  for (size_t i = 0; i < 3 && answer == STOWI_GRAPH_ALWAYS; ++i) {
    stow_dim list[3] = {a, b, tried[i]};
    if (stowi_graph_dims_ask(dims, list, 3, is_broadcast, NULL, &split) == STOWI_GRAPH_ALWAYS) {
      *out = tried[i];
      return true;
    }
    kept = kept.exists ? kept : split;
  }
  if (answer == STOWI_GRAPH_OPEN) {
    return false;
  }
  call->split = kept;
  return true;
}

// False if the two cannot be broadcast. |is_bounded|: either may be an upper bound, so that no
// number determines the other one.
static bool broadcast_dim(stow_shape_call* call, bool is_bounded, stow_dim a, stow_dim b,
                          stow_dim* out) {
  stow_dims* dims = stow_shape_dims(call);
  bool are_numbers = stow_dim_is_const(a) && stow_dim_is_const(b);
  if (a == b || b == 1) {
    *out = a;
  } else if (a == 1) {
    *out = b;
  } else if (!is_bounded && !are_numbers && broadcast_ranges(call, a, b, out)) {
    return *out != STOW_DIM_INVALID;
  } else if (is_bounded && !are_numbers) {
    *out = stow_dim_max(dims, a, b);
  } else if (stow_dim_is_const(a) != stow_dim_is_const(b)) {
    *out = stowi_graph_dim_known(a, b);  // the symbol must turn out to be 1 or this number
  } else if (!stow_dim_is_const(a)) {
    *out = broadcast_symbols(dims, a, b);
  } else {
    return false;
  }
  return true;
}

stow_status stowi_graph_shape_broadcast(stow_shape_call* call, const stow_type* a,
                                        const stow_type* b, stow_type* out) {
  stow_type result = stow_type_make(a->dtype, 0, NULL);
  result.rank = a->rank > b->rank ? a->rank : b->rank;
  for (uint32_t i = 0; i < result.rank; ++i) {
    stow_dim x = dim_from_end(a, i);
    stow_dim y = dim_from_end(b, i);
    // This visits all operands, so it is called only if needed.
    bool is_bounded = x != y && stowi_graph_shape_has_upper_bounded(call);
    if (!broadcast_dim(call, is_bounded, x, y, &result.dims[result.rank - 1 - i])) {
      return stow_shape_fail(call,
                             "dims %s and %s, at %" PRIu32
                             " from the end, cannot be broadcast: they differ and neither is 1",
                             stowi_graph_shape_dim_text(call, x).text,
                             stowi_graph_shape_dim_text(call, y).text, i + 1);
    }
  }
  *out = result;
  return STOW_OK;
}

stow_status stowi_graph_shape_broadcast_to(stow_shape_call* call, size_t k, const stow_type* target,
                                           const char* what) {
  const stow_type* type = stow_shape_operand(call, k);
  if (type == NULL) {
    return STOW_OK;
  }
  if (type->rank > target->rank) {
    return stow_shape_fail(call, "%s has rank %" PRIu32 ", expected at most %" PRIu32, what,
                           type->rank, target->rank);
  }
  for (uint32_t i = 0; i < type->rank; ++i) {
    stow_dim dim = dim_from_end(type, i);
    stow_dim wanted = dim_from_end(target, i);
    if (dim != 1 && stowi_graph_shape_differ(call, dim, wanted)) {
      return stow_shape_fail(call, "%s has dim %s at %" PRIu32 " from the end, expected %s", what,
                             stowi_graph_shape_dim_text(call, dim).text, i + 1,
                             stowi_graph_shape_dim_text(call, wanted).text);
    }
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Checks

stow_status stowi_graph_need_equal(stow_shape_call* call, const char* what, stow_dim a,
                                   stow_dim b) {
  if (stowi_graph_shape_differ(call, a, b)) {
    return stow_shape_fail(call, "%s differ: %s and %s", what,
                           stowi_graph_shape_dim_text(call, a).text,
                           stowi_graph_shape_dim_text(call, b).text);
  }
  return STOW_OK;
}

stow_status stowi_graph_need_rank(stow_shape_call* call, size_t k, uint32_t rank,
                                  const char* what) {
  const stow_type* type = stow_shape_operand(call, k);
  if (type == NULL) {
    return stow_shape_fail(call, "operand %zu (%s) is missing", k, what);
  }
  if (type->rank != rank) {
    return stow_shape_fail(call, "operand %zu (%s) has rank %" PRIu32 ", expected %" PRIu32, k,
                           what, type->rank, rank);
  }
  return STOW_OK;
}

stow_status stowi_graph_need_positive(stow_shape_call* call, const char* name,
                                      int64_t* out_number) {
  *out_number = stow_shape_attr_int(call, name, 0);
  if (*out_number <= 0) {
    return stow_shape_fail(call, "%s is %" PRId64 ", expected at least 1", name, *out_number);
  }
  return STOW_OK;
}

stow_status stowi_graph_need_parts(stow_shape_call* call, size_t k, uint32_t axis, int64_t count,
                                   const char* what, stow_dim* out_part) {
  stow_dim whole = stow_shape_operand(call, k)->dims[axis];
  if (!stowi_graph_shape_is_multiple(call, whole, count)) {
    return stow_shape_fail(call,
                           "dim %" PRIu32
                           " of operand %zu is %s, which cannot be divided into "
                           "%" PRId64 " %s",
                           axis, k, stowi_graph_shape_dim_text(call, whole).text, count, what);
  }
  *out_part = stow_dim_floor_div(stow_shape_dims(call), whole, count);
  return STOW_OK;
}

stow_status stowi_graph_known_scalar(stow_shape_call* call, size_t k, const char* what,
                                     stow_dim* out_value) {
  *out_value = STOW_DIM_INVALID;
  const stow_type* type = stow_shape_operand(call, k);
  if (type == NULL) {
    return STOW_OK;
  }
  STOW_TRY(stowi_graph_shape_integers(call, k, what));
  for (uint32_t i = 0; i < type->rank; ++i) {
    if (stowi_graph_shape_differ(call, type->dims[i], 1)) {
      return stow_shape_fail(call, "%s must have one element", what);
    }
  }
  *out_value = stow_shape_known(call, k, 0);
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Results

const stow_type* stowi_graph_shape_need_declared(stow_shape_call* call, size_t k) {
  const stow_type* declared = stow_shape_declared(call, k);
  if (declared == NULL) {
    stow_shape_fail(call, "the type of result %zu must be declared", k);
  }
  return declared;
}

stow_status stowi_graph_shape_set(stow_shape_call* call, size_t k, const stow_type* type) {
  stow_dims* dims = stow_shape_dims(call);
  for (uint32_t i = 0; i < type->rank; ++i) {
    if (stowi_graph_dim_is_valid(dims, type->dims[i])) {
      continue;
    }
    if (stow_dims_status(dims) != STOW_OK) {
      return stow_dims_status(dims);
    }
    return stow_shape_fail(call, "dim %" PRIu32 " of result %zu would be negative", i, k);
  }
  stow_shape_set_result(call, k, type);
  return STOW_OK;
}
