// Shapes of elementwise ops: operand 0's type, or what broadcasting gives.
#include <inttypes.h>

#include "base/diag.h"
#include "graph/shapes.h"

stow_status stowi_shape_same(stow_shape_call* call) {
  return stowi_shape_set(call, 0, stow_shape_operand(call, 0));
}

stow_status stowi_shape_gelu(stow_shape_call* call) {
  static const char* const choices[] = {"none", "tanh", NULL};
  size_t choice;
  STOW_TRY(stowi_shape_choice(call, "approximate", choices, &choice));
  return stowi_shape_same(call);
}

static stow_status need_bool(stow_shape_call* call, size_t k) {
  stow_dtype dtype = stow_shape_operand(call, k)->dtype;
  if (dtype != STOW_BOOL) {
    return stow_shape_fail(call, "operand %zu must be bool, not %s", k, stow_dtype_name(dtype));
  }
  return STOW_OK;
}

stow_status stowi_shape_not(stow_shape_call* call) {
  STOW_TRY(need_bool(call, 0));
  return stowi_shape_same(call);
}

static stow_status broadcast_pair(stow_shape_call* call, stow_type* out) {
  STOW_TRY(stowi_shape_same_dtype(call, 0, 1));
  return stowi_shape_broadcast(call, stow_shape_operand(call, 0), stow_shape_operand(call, 1), out);
}

stow_status stowi_shape_binary(stow_shape_call* call) {
  stow_type result;
  STOW_TRY(broadcast_pair(call, &result));
  return stowi_shape_set(call, 0, &result);
}

stow_status stowi_shape_logical(stow_shape_call* call) {
  stow_dtype dtype = stow_shape_operand(call, 0)->dtype;
  stow_dtype_kind kind = stow_dtype_kind_of(dtype);
  if (kind == STOW_KIND_FLOAT || kind == STOW_KIND_COMPLEX) {
    return stow_shape_fail(call, "operands must be bool or integers, not %s",
                           stow_dtype_name(dtype));
  }
  return stowi_shape_binary(call);
}

stow_status stowi_shape_compare(stow_shape_call* call) {
  stow_type result;
  STOW_TRY(broadcast_pair(call, &result));
  result.dtype = STOW_BOOL;
  return stowi_shape_set(call, 0, &result);
}

stow_status stowi_shape_where(stow_shape_call* call) {
  STOW_TRY(need_bool(call, 0));
  STOW_TRY(stowi_shape_same_dtype(call, 1, 2));
  stow_type result;
  STOW_TRY(stowi_shape_broadcast(call, stow_shape_operand(call, 1), stow_shape_operand(call, 2),
                                 &result));
  STOW_TRY(stowi_shape_broadcast(call, &result, stow_shape_operand(call, 0), &result));
  return stowi_shape_set(call, 0, &result);
}

stow_status stowi_shape_clip(stow_shape_call* call) {
  for (size_t k = 1; k <= 2; ++k) {
    const stow_type* bound = stow_shape_operand(call, k);
    if (bound == NULL) {
      continue;
    }
    if (bound->rank != 0) {
      return stow_shape_fail(call, "operand %zu is a bound and must have rank 0, not %" PRIu32, k,
                             bound->rank);
    }
    STOW_TRY(stowi_shape_same_dtype(call, 0, k));
  }
  return stowi_shape_same(call);
}

// x [..., d] turned in pairs by tables of cosines and sines, whose last dim is half of what is
// turned.
stow_status stowi_shape_rope(stow_shape_call* call) {
  STOW_TRY(stowi_shape_min_rank(call, 0, 2));
  const stow_type* x = stow_shape_operand(call, 0);
  const stow_type* cosines = stow_shape_operand(call, 1);
  const stow_type* sines = stow_shape_operand(call, 2);
  if (!stow_type_equal(cosines, sines)) {
    return stow_shape_fail(call, "operands 1 (cosines) and 2 (sines) have different types");
  }
  STOW_TRY(stowi_shape_min_rank(call, 1, 1));
  STOW_TRY(stowi_shape_integers(call, 3, "operand 3 (positions)"));
  int64_t turned = stow_shape_attr_int(call, "rotary_dim", 0);
  stow_dim last = x->dims[x->rank - 1];
  if (turned < 0 || turned % 2 != 0 || (stow_dim_is_const(last) && turned > last)) {
    return stow_shape_fail(call, "rotary_dim %" PRId64 " is not an even part of the last dim, %s",
                           turned, stowi_shape_dim_text(call, last).text);
  }
  stow_dim whole = turned == 0 ? last : turned;
  stow_dim pairs = cosines->dims[cosines->rank - 1];
  if (stowi_shape_differ(call, stow_dim_mul(stow_shape_dims(call), 2, pairs), whole)) {
    return stow_shape_fail(call, "the tables' last dim is %s, half of %s is needed",
                           stowi_shape_dim_text(call, pairs).text,
                           stowi_shape_dim_text(call, whole).text);
  }
  return stowi_shape_same(call);
}
