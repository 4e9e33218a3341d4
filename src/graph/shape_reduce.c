// Shapes of normalisations and reductions.
#include <inttypes.h>

#include "base/diag.h"
#include "graph/shapes.h"

stow_status stowi_shape_softmax(stow_shape_call* call) {
  uint32_t axis;
  STOW_TRY(stowi_shape_axis(call, stow_shape_operand(call, 0)->rank, &axis));
  return stowi_shape_same(call);
}

// Scales and shifts may be wider or narrower than what they scale, but not of another kind.
static stow_status check_kind(stow_shape_call* call, size_t k) {
  const stow_type* type = stow_shape_operand(call, k);
  stow_dtype main = stow_shape_operand(call, 0)->dtype;
  if (type != NULL && stow_dtype_kind_of(type->dtype) != stow_dtype_kind_of(main)) {
    return stow_shape_fail(call, "operand %zu is %s, which does not go with %s", k,
                           stow_dtype_name(type->dtype), stow_dtype_name(main));
  }
  return STOW_OK;
}

stow_status stowi_shape_layer_norm(stow_shape_call* call) {
  static const char* const names[] = {"", "operand 1 (scale)", "operand 2 (bias)"};
  const stow_type* x = stow_shape_operand(call, 0);
  uint32_t axis;
  STOW_TRY(stowi_shape_axis(call, x->rank, &axis));
  for (size_t k = 1; k <= 2; ++k) {
    STOW_TRY(check_kind(call, k));
    STOW_TRY(stowi_shape_broadcast_to(call, k, x, names[k]));
  }
  return stowi_shape_same(call);
}

stow_status stowi_shape_channel_norm(stow_shape_call* call) {
  STOW_TRY(stowi_shape_min_rank(call, 0, 2));
  stow_dim channels = stow_shape_operand(call, 0)->dims[1];
  for (size_t k = 1; k < stow_shape_operand_count(call); ++k) {
    const stow_type* type = stow_shape_operand(call, k);
    STOW_TRY(check_kind(call, k));
    if (type == NULL) {
      continue;
    }
    if (type->rank != 1 || stowi_shape_differ(call, type->dims[0], channels)) {
      return stow_shape_fail(call, "operand %zu must have one dim, of %s channels", k,
                             stowi_shape_dim_text(call, channels).text);
    }
  }
  return stowi_shape_same(call);
}

stow_status stowi_shape_group_norm(stow_shape_call* call) {
  STOW_TRY(stowi_shape_min_rank(call, 0, 2));
  int64_t groups = stow_shape_attr_int(call, "groups", 1);
  stow_dim channels = stow_shape_operand(call, 0)->dims[1];
  if (groups < 1 || (stow_dim_is_const(channels) && channels % groups != 0)) {
    return stow_shape_fail(call, "%s channels cannot be cut into %" PRId64 " groups",
                           stowi_shape_dim_text(call, channels).text, groups);
  }
  return stowi_shape_channel_norm(call);
}

// ---------------------------------------------------------------------------------------------
// Reductions

// |type| without the dims whose bits are set in |axes|, or with 1 in their place.
static stow_type reduced(const stow_type* type, uint32_t axes, bool keepdims) {
  stow_type result = stow_type_make(type->dtype, 0, NULL);
  for (uint32_t i = 0; i < type->rank; ++i) {
    bool is_reduced = (axes >> i & 1) != 0;
    if (!is_reduced || keepdims) {
      result.dims[result.rank++] = is_reduced ? 1 : type->dims[i];
    }
  }
  return result;
}

// The attribute `axes` as bits; all of them where it is empty.
static stow_status read_axes(stow_shape_call* call, uint32_t rank, uint32_t* out_axes) {
  size_t count;
  const int64_t* axes = stowi_shape_ints(call, "axes", &count);
  *out_axes = count == 0 ? UINT32_MAX : 0;
  for (size_t i = 0; i < count; ++i) {
    uint32_t axis;
    if (!stowi_normal_axis(axes[i], rank, &axis)) {
      return stow_shape_fail(call, "axis %" PRId64 " is out of range for rank %" PRIu32, axes[i],
                             rank);
    }
    if ((*out_axes >> axis & 1) != 0) {
      return stow_shape_fail(call, "axis %" PRId64 " is named twice", axes[i]);
    }
    *out_axes |= UINT32_C(1) << axis;
  }
  return STOW_OK;
}

stow_status stowi_shape_reduce(stow_shape_call* call) {
  static const char* const choices[] = {"sum", "mean", "max", "min", "prod", NULL};
  const stow_type* type = stow_shape_operand(call, 0);
  size_t choice;
  uint32_t axes;
  STOW_TRY(stowi_shape_choice(call, "op", choices, &choice));
  STOW_TRY(read_axes(call, type->rank, &axes));
  stow_type result = reduced(type, axes, stow_shape_attr_bool(call, "keepdims", true));
  return stowi_shape_set(call, 0, &result);
}

stow_status stowi_shape_argmax(stow_shape_call* call) {
  const stow_type* type = stow_shape_operand(call, 0);
  uint32_t axis;
  STOW_TRY(stowi_shape_axis(call, type->rank, &axis));
  bool keepdims = stow_shape_attr_bool(call, "keepdims", true);
  stow_type result = reduced(type, UINT32_C(1) << axis, keepdims);
  result.dtype = STOW_I64;
  return stowi_shape_set(call, 0, &result);
}

stow_status stowi_shape_topk(stow_shape_call* call) {
  stow_type result = *stow_shape_operand(call, 0);
  uint32_t axis;
  STOW_TRY(stowi_shape_axis(call, result.rank, &axis));
  int64_t k = stow_shape_attr_int(call, "k", 0);
  stow_dim dim = result.dims[axis];
  if (k < 0 || (stow_dim_is_const(dim) && k > dim)) {
    return stow_shape_fail(call, "k is %" PRId64 " and dim %" PRIu32 " is %s", k, axis,
                           stowi_shape_dim_text(call, dim).text);
  }
  result.dims[axis] = k;
  STOW_TRY(stowi_shape_set(call, 0, &result));
  result.dtype = STOW_I64;
  return stowi_shape_set(call, 1, &result);
}
