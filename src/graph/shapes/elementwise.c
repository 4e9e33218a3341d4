// Shapes of elementwise ops: operand 0's type, or the broadcast type.
#include "base/diag.h"
#include "graph/shapes/shapes.h"

stow_status stowi_graph_shape_same(stow_shape_call* call) {
  return stowi_graph_shape_set(call, 0, stow_shape_operand(call, 0));
}

stow_status stowi_graph_shape_gelu(stow_shape_call* call) {
  static const char* const choices[] = {"none", "tanh", NULL};
  size_t choice;
  STOW_TRY(stowi_graph_shape_choice(call, "approximate", choices, &choice));
  return stowi_graph_shape_same(call);
}

static stow_status need_bool(stow_shape_call* call, size_t k) {
  stow_dtype dtype = stow_shape_operand(call, k)->dtype;
  if (dtype != STOW_BOOL) {
    return stow_shape_fail(call, "operand %zu must be bool, not %s", k, stow_dtype_name(dtype));
  }
  return STOW_OK;
}

stow_status stowi_graph_shape_not(stow_shape_call* call) {
  STOW_TRY(need_bool(call, 0));
  return stowi_graph_shape_same(call);
}

static stow_status broadcast_pair(stow_shape_call* call, stow_type* out) {
  STOW_TRY(stowi_graph_shape_same_dtype(call, 0, 1));
  return stowi_graph_shape_broadcast(call, stow_shape_operand(call, 0), stow_shape_operand(call, 1),
                                     out);
}

stow_status stowi_graph_shape_binary(stow_shape_call* call) {
  stow_type result;
  STOW_TRY(broadcast_pair(call, &result));
  return stowi_graph_shape_set(call, 0, &result);
}

stow_status stowi_graph_shape_variadic(stow_shape_call* call) {
  stow_type result = *stow_shape_operand(call, 0);
  for (size_t k = 1; k < stow_shape_operand_count(call); ++k) {
    const stow_type* next = stow_shape_operand(call, k);
    if (next == NULL) {
      return stow_shape_fail(call, "operand %zu is missing", k);
    }
    STOW_TRY(stowi_graph_shape_same_dtype(call, 0, k));
    STOW_TRY(stowi_graph_shape_broadcast(call, &result, next, &result));
  }
  return stowi_graph_shape_set(call, 0, &result);
}

// The exponent may have another dtype: x² with an integer 2.
stow_status stowi_graph_shape_pow(stow_shape_call* call) {
  stow_type result;
  STOW_TRY(stowi_graph_shape_broadcast(call, stow_shape_operand(call, 0),
                                       stow_shape_operand(call, 1), &result));
  return stowi_graph_shape_set(call, 0, &result);
}

stow_status stowi_graph_shape_prelu(stow_shape_call* call) {
  STOW_TRY(stowi_graph_shape_same_dtype(call, 0, 1));
  STOW_TRY(
      stowi_graph_shape_broadcast_to(call, 1, stow_shape_operand(call, 0), "operand 1 (slope)"));
  return stowi_graph_shape_same(call);
}

stow_status stowi_graph_shape_bit_shift(stow_shape_call* call) {
  static const char* const choices[] = {"left", "right", NULL};
  size_t choice;
  STOW_TRY(stowi_graph_shape_choice(call, "direction", choices, &choice));
  STOW_TRY(stowi_graph_shape_integers(call, 0, "operand 0"));
  return stowi_graph_shape_binary(call);
}

stow_status stowi_graph_shape_bit_not(stow_shape_call* call) {
  STOW_TRY(stowi_graph_shape_integers(call, 0, "operand 0"));
  return stowi_graph_shape_same(call);
}

stow_status stowi_graph_shape_logical(stow_shape_call* call) {
  stow_dtype dtype = stow_shape_operand(call, 0)->dtype;
  stow_dtype_kind kind = stow_dtype_kind_of(dtype);
  if (kind == STOW_KIND_FLOAT || kind == STOW_KIND_COMPLEX) {
    return stow_shape_fail(call, "operands must be bool or integers, not %s",
                           stow_dtype_name(dtype));
  }
  return stowi_graph_shape_binary(call);
}

stow_status stowi_graph_shape_compare(stow_shape_call* call) {
  stow_type result;
  STOW_TRY(broadcast_pair(call, &result));
  result.dtype = STOW_BOOL;
  return stowi_graph_shape_set(call, 0, &result);
}

stow_status stowi_graph_shape_where(stow_shape_call* call) {
  STOW_TRY(need_bool(call, 0));
  STOW_TRY(stowi_graph_shape_same_dtype(call, 1, 2));
  stow_type result;
  STOW_TRY(stowi_graph_shape_broadcast(call, stow_shape_operand(call, 1),
                                       stow_shape_operand(call, 2), &result));
  STOW_TRY(stowi_graph_shape_broadcast(call, &result, stow_shape_operand(call, 0), &result));
  return stowi_graph_shape_set(call, 0, &result);
}

// A scalar, or one element in a list, as some exporters write scalars.
static bool is_single(const stow_type* type) {
  return type->rank == 0 || (type->rank == 1 && type->dims[0] == 1);
}

stow_status stowi_graph_shape_clip(stow_shape_call* call) {
  for (size_t k = 1; k <= 2; ++k) {
    const stow_type* bound = stow_shape_operand(call, k);
    if (bound == NULL) {
      continue;
    }
    if (!is_single(bound)) {
      return stow_shape_fail(call, "operand %zu (a bound) must have one element", k);
    }
    STOW_TRY(stowi_graph_shape_same_dtype(call, 0, k));
  }
  return stowi_graph_shape_same(call);
}

stow_status stowi_graph_shape_is(stow_shape_call* call) {
  stow_type result = *stow_shape_operand(call, 0);
  result.dtype = STOW_BOOL;
  return stowi_graph_shape_set(call, 0, &result);
}

stow_status stowi_graph_shape_full_like(stow_shape_call* call) {
  stow_type result = *stow_shape_operand(call, 0);
  const stow_attr* dtype = stow_shape_attr(call, "dtype");
  if (dtype != NULL && dtype->s.size != 0 && !stow_dtype_from_name(dtype->s, &result.dtype)) {
    return stow_shape_fail(call, "unknown dtype \"%.*s\"; expected an element type such as f32",
                           STOWI_STR_ARG(dtype->s));
  }
  return stowi_graph_shape_set(call, 0, &result);
}

stow_status stowi_graph_shape_dropout(stow_shape_call* call) {
  static const char* const names[] = {"", "ratio", "training"};
  for (size_t k = 1; k <= 2; ++k) {
    const stow_type* scalar = stow_shape_operand(call, k);
    if (scalar != NULL && !is_single(scalar)) {
      return stow_shape_fail(call, "operand %zu (%s) must have one element", k, names[k]);
    }
  }
  STOW_TRY(stowi_graph_shape_same(call));
  if (stow_shape_result_count(call) == 1) {
    return STOW_OK;
  }
  stow_type mask = *stow_shape_operand(call, 0);
  mask.dtype = STOW_BOOL;
  return stowi_graph_shape_set(call, 1, &mask);
}
