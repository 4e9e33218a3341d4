// Checks that shape functions of fused and rarer ops have in common: each is one sentence of an
// error message. Constant time, no allocation.
#include <inttypes.h>

#include "base/diag.h"
#include "graph/shapes/shapes_misc.h"

stow_status stowi_need_equal(stow_shape_call* call, const char* what, stow_dim a, stow_dim b) {
  if (stowi_shape_differ(call, a, b)) {
    return stow_shape_fail(call, "%s differ: %s and %s", what, stowi_shape_dim_text(call, a).text,
                           stowi_shape_dim_text(call, b).text);
  }
  return STOW_OK;
}

stow_status stowi_need_rank(stow_shape_call* call, size_t k, uint32_t rank, const char* what) {
  const stow_type* type = stow_shape_operand(call, k);
  if (type == NULL) {
    return stow_shape_fail(call, "operand %zu (%s) is needed", k, what);
  }
  if (type->rank != rank) {
    return stow_shape_fail(call, "operand %zu (%s) has rank %" PRIu32 ", not %" PRIu32, k, what,
                           type->rank, rank);
  }
  return STOW_OK;
}

stow_status stowi_need_positive(stow_shape_call* call, const char* name, int64_t* out_number) {
  *out_number = stow_shape_attr_int(call, name, 0);
  if (*out_number <= 0) {
    return stow_shape_fail(call, "%s is %" PRId64 ", at least 1 is needed", name, *out_number);
  }
  return STOW_OK;
}

stow_status stowi_need_parts(stow_shape_call* call, size_t k, uint32_t axis, int64_t count,
                             const char* what, stow_dim* out_part) {
  stow_dim whole = stow_shape_operand(call, k)->dims[axis];
  if (stow_dim_is_const(whole) && whole % count != 0) {
    return stow_shape_fail(call,
                           "dim %" PRIu32 " of operand %zu, which is %" PRId64
                           ", cannot be cut into %" PRId64 " %s",
                           axis, k, whole, count, what);
  }
  *out_part = stow_dim_floor_div(stow_shape_dims(call), whole, count);
  return STOW_OK;
}

stow_status stowi_known_scalar(stow_shape_call* call, size_t k, const char* what,
                               stow_dim* out_value) {
  *out_value = STOW_DIM_INVALID;
  const stow_type* type = stow_shape_operand(call, k);
  if (type == NULL) {
    return STOW_OK;
  }
  STOW_TRY(stowi_shape_integers(call, k, what));
  for (uint32_t i = 0; i < type->rank; ++i) {
    if (stowi_shape_differ(call, type->dims[i], 1)) {
      return stow_shape_fail(call, "%s must be one number", what);
    }
  }
  *out_value = stow_shape_known(call, k, 0);
  return STOW_OK;
}
