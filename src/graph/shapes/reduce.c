// Shapes of normalisations and reductions.
#include <inttypes.h>

#include "base/diag.h"
#include "graph/shapes/shapes.h"

stow_status stowi_graph_shape_along_axis(stow_shape_call* call) {
  uint32_t axis;
  STOW_TRY(stowi_graph_shape_axis(call, stow_shape_operand(call, 0)->rank, &axis));
  return stowi_graph_shape_same(call);
}

// With `flatten`, all dims from the axis on count as one; there may be none.
stow_status stowi_graph_shape_softmax(stow_shape_call* call) {
  uint32_t rank = stow_shape_operand(call, 0)->rank;
  bool is_flat = stow_shape_attr_bool(call, "flatten", false);
  if (is_flat && stow_shape_attr_int(call, "axis", -1) == (int64_t)rank) {
    return stowi_graph_shape_same(call);
  }
  return stowi_graph_shape_along_axis(call);
}

stow_status stowi_graph_shape_lrn(stow_shape_call* call) {
  int64_t size = stow_shape_attr_int(call, "size", 1);
  if (size < 1) {
    return stow_shape_fail(call, "size is %" PRId64 ", expected at least 1", size);
  }
  STOW_TRY(stowi_graph_shape_min_rank(call, 0, 2));
  return stowi_graph_shape_same(call);
}

// ---------------------------------------------------------------------------------------------
// Normalisations

// Scales and shifts may be wider or narrower than what they scale, but must be of the same kind.
static stow_status check_kind(stow_shape_call* call, size_t k) {
  const stow_type* type = stow_shape_operand(call, k);
  stow_dtype main = stow_shape_operand(call, 0)->dtype;
  if (type != NULL && stow_dtype_kind_of(type->dtype) != stow_dtype_kind_of(main)) {
    return stow_shape_fail(call, "operand %zu is %s, which does not match %s", k,
                           stow_dtype_name(type->dtype), stow_dtype_name(main));
  }
  return STOW_OK;
}

// The dtype in which means and the like are computed and returned.
static stow_status read_stash(stow_shape_call* call, stow_dtype* out_dtype) {
  const stow_attr* stash = stow_shape_attr(call, "stash");
  if (stash == NULL || !stow_dtype_from_name(stash->s, out_dtype)) {
    return stow_shape_fail(call, "stash is not an element type");
  }
  return STOW_OK;
}

stow_status stowi_graph_shape_rms_norm(stow_shape_call* call) {
  static const char* const names[] = {"", "operand 1 (scale)", "operand 2 (bias)"};
  const stow_type* x = stow_shape_operand(call, 0);
  uint32_t axis;
  stow_dtype stash;
  STOW_TRY(stowi_graph_shape_axis(call, x->rank, &axis));
  STOW_TRY(read_stash(call, &stash));
  for (size_t k = 1; k <= 2; ++k) {
    STOW_TRY(check_kind(call, k));
    STOW_TRY(stowi_graph_shape_broadcast_to(call, k, x, names[k]));
  }
  return stowi_graph_shape_same(call);
}

// Results 1 and 2 are the mean and 1 / deviation, one for each normalised set.
stow_status stowi_graph_shape_layer_norm(stow_shape_call* call) {
  STOW_TRY(stowi_graph_shape_rms_norm(call));
  stow_type kept = *stow_shape_operand(call, 0);
  uint32_t axis;
  STOW_TRY(stowi_graph_shape_axis(call, kept.rank, &axis));
  STOW_TRY(read_stash(call, &kept.dtype));
  for (uint32_t i = axis; i < kept.rank; ++i) {
    kept.dims[i] = 1;
  }
  for (size_t k = 1; k < stow_shape_result_count(call); ++k) {
    STOW_TRY(stowi_graph_shape_set(call, k, &kept));
  }
  return STOW_OK;
}

// Operand |k|, if present, has one dim: the channels.
static stow_status check_channels(stow_shape_call* call, size_t k, stow_dim channels) {
  const stow_type* type = stow_shape_operand(call, k);
  STOW_TRY(check_kind(call, k));
  if (type != NULL &&
      (type->rank != 1 || stowi_graph_shape_differ(call, type->dims[0], channels))) {
    return stow_shape_fail(call, "operand %zu must have one dim, of %s channels", k,
                           stowi_graph_shape_dim_text(call, channels).text);
  }
  return STOW_OK;
}

stow_status stowi_graph_shape_channel_norm(stow_shape_call* call) {
  STOW_TRY(stowi_graph_shape_min_rank(call, 0, 2));
  for (size_t k = 1; k < stow_shape_operand_count(call); ++k) {
    STOW_TRY(check_channels(call, k, stow_shape_operand(call, 0)->dims[1]));
  }
  return stowi_graph_shape_same(call);
}

// Without `spatial`, each element of a sample has its own statistics.
static stow_status check_sample(stow_shape_call* call, size_t k) {
  const stow_type* x = stow_shape_operand(call, 0);
  const stow_type* type = stow_shape_operand(call, k);
  STOW_TRY(check_kind(call, k));
  bool fits = type->rank == x->rank - 1;
  for (uint32_t i = 0; fits && i < type->rank; ++i) {
    fits = !stowi_graph_shape_differ(call, type->dims[i], x->dims[i + 1]);
  }
  if (!fits) {
    return stow_shape_fail(call, "operand %zu must have the dims of one sample", k);
  }
  return STOW_OK;
}

// Results from 1 on alternate between means and variances: running ones, then those of the batch.
stow_status stowi_graph_shape_batch_norm(stow_shape_call* call) {
  STOW_TRY(stowi_graph_shape_min_rank(call, 0, 1));
  const stow_type* x = stow_shape_operand(call, 0);
  bool is_spatial = x->rank == 1 || stow_shape_attr_bool(call, "spatial", true);
  for (size_t k = 1; k <= 4; ++k) {
    if (is_spatial) {
      STOW_TRY(check_channels(call, k, x->rank == 1 ? 1 : x->dims[1]));
    } else {
      STOW_TRY(check_sample(call, k));
    }
  }
  STOW_TRY(stowi_graph_shape_same(call));
  for (size_t k = 1; k < stow_shape_result_count(call); ++k) {
    STOW_TRY(stowi_graph_shape_set(call, k, stow_shape_operand(call, k % 2 == 1 ? 3 : 4)));
  }
  return STOW_OK;
}

// Scale and bias are given for each channel, or for each group.
stow_status stowi_graph_shape_group_norm(stow_shape_call* call) {
  STOW_TRY(stowi_graph_shape_min_rank(call, 0, 2));
  int64_t groups = stow_shape_attr_int(call, "groups", 1);
  stow_dim channels = stow_shape_operand(call, 0)->dims[1];
  if (groups < 1 || !stowi_graph_shape_is_multiple(call, channels, groups)) {
    return stow_shape_fail(call, "%s channels cannot be divided into %" PRId64 " groups",
                           stowi_graph_shape_dim_text(call, channels).text, groups);
  }
  stow_dtype stash;
  STOW_TRY(read_stash(call, &stash));
  for (size_t k = 1; k <= 2; ++k) {
    const stow_type* type = stow_shape_operand(call, k);
    bool is_by_group = type != NULL && type->rank == 1 && type->dims[0] == groups;
    STOW_TRY(check_channels(call, k, is_by_group ? groups : channels));
  }
  return stowi_graph_shape_same(call);
}

// ---------------------------------------------------------------------------------------------
// Reductions

// |type| without the dims whose bits are set in |axes|, or with 1 instead.
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

static stow_status add_axis(stow_shape_call* call, int64_t number, uint32_t rank, uint32_t* axes) {
  uint32_t axis;
  if (!stowi_graph_normal_axis(number, rank, &axis)) {
    return stow_shape_fail(call, "axis %" PRId64 " is out of range for rank %" PRIu32, number,
                           rank);
  }
  if ((*axes >> axis & 1) != 0) {
    return stow_shape_fail(call, "axis %" PRId64 " is repeated", number);
  }
  *axes |= UINT32_C(1) << axis;
  return STOW_OK;
}

// The attribute `axes` as bits; none if it is empty.
static stow_status read_axes(stow_shape_call* call, uint32_t rank, uint32_t* out_axes) {
  size_t count;
  const int64_t* axes = stowi_graph_shape_ints(call, "axes", &count);
  *out_axes = 0;
  for (size_t i = 0; i < count; ++i) {
    STOW_TRY(add_axis(call, axes[i], rank, out_axes));
  }
  return STOW_OK;
}

// Operand 1 as bits; |*out_known|: whether its values are known.
static stow_status read_axes_operand(stow_shape_call* call, uint32_t rank, uint32_t* out_axes,
                                     bool* out_known) {
  const stow_type* type = stow_shape_operand(call, 1);
  STOW_TRY(stowi_graph_shape_integers(call, 1, "operand 1 (axes)"));
  if (type->rank > 1) {
    return stow_shape_fail(call, "operand 1 (axes) has rank %" PRIu32 ", expected 1", type->rank);
  }
  stow_dim count = type->rank == 0 ? 1 : type->dims[0];
  if (stow_dim_is_const(count) && count > (int64_t)rank) {
    return stow_shape_fail(call, "operand 1 has %" PRId64 " axes for rank %" PRIu32, count, rank);
  }
  *out_axes = 0;
  *out_known = stow_dim_is_const(count) && stow_shape_is_known(call, 1);
  for (size_t i = 0; *out_known && i < (size_t)count; ++i) {
    int64_t axis;
    *out_known = stow_dim_to_int(stow_shape_dims(call), stow_shape_known(call, 1, i), &axis);
    if (*out_known) {
      STOW_TRY(add_axis(call, axis, rank, out_axes));
    }
  }
  return STOW_OK;
}

// The reduced axes are unknown: kept dims are no larger than before, or 1 if empty; otherwise dims
// depend on data.
static stow_status reduce_unknown(stow_shape_call* call, bool keepdims) {
  stow_type result = *stow_shape_operand(call, 0);
  const stow_type* axes = stow_shape_operand(call, 1);
  stow_dim count = axes->rank == 0 ? 1 : axes->dims[0];
  if (keepdims) {
    for (uint32_t i = 0; i < result.rank; ++i) {
      result.dims[i] = stow_dim_max(stow_shape_dims(call), result.dims[i], 1);
    }
    stow_shape_set_bounded(call, 0);
    return stowi_graph_shape_set(call, 0, &result);
  }
  if (!stow_dim_is_const(count)) {
    return stow_shape_fail_unknown(call, "the number of reduced axes is unknown");
  }
  result = stow_type_make(result.dtype, 0, NULL);
  result.rank = stow_shape_operand(call, 0)->rank - (uint32_t)count;
  for (uint32_t i = 0; i < result.rank; ++i) {
    result.dims[i] = stow_shape_data_dim(call, 0, i);
  }
  return stowi_graph_shape_set(call, 0, &result);
}

stow_status stowi_graph_shape_reduce(stow_shape_call* call) {
  static const char* const choices[] = {"sum", "mean",    "max",         "min",        "prod", "l1",
                                        "l2",  "log_sum", "log_sum_exp", "sum_square", NULL};
  const stow_type* type = stow_shape_operand(call, 0);
  size_t choice;
  uint32_t axes;
  bool is_known = true;
  bool keepdims = stow_shape_attr_bool(call, "keepdims", true);
  STOW_TRY(stowi_graph_shape_choice(call, "op", choices, &choice));
  STOW_TRY(read_axes(call, type->rank, &axes));
  if (stow_shape_operand(call, 1) != NULL) {
    if (axes != 0) {
      return stow_shape_fail(call, "axes are given both as operand 1 and as an attribute");
    }
    STOW_TRY(read_axes_operand(call, type->rank, &axes, &is_known));
  }
  if (!is_known) {
    return reduce_unknown(call, keepdims);
  }
  if (axes == 0 && !stow_shape_attr_bool(call, "noop_with_empty_axes", false)) {
    axes = UINT32_MAX;
  }
  stow_type result = reduced(type, axes, keepdims);
  return stowi_graph_shape_set(call, 0, &result);
}

stow_status stowi_graph_shape_mean_variance_norm(stow_shape_call* call) {
  uint32_t axes;
  STOW_TRY(read_axes(call, stow_shape_operand(call, 0)->rank, &axes));
  return stowi_graph_shape_same(call);
}

stow_status stowi_graph_shape_argmax(stow_shape_call* call) {
  const stow_type* type = stow_shape_operand(call, 0);
  uint32_t axis;
  STOW_TRY(stowi_graph_shape_axis(call, type->rank, &axis));
  bool keepdims = stow_shape_attr_bool(call, "keepdims", true);
  stow_type result = reduced(type, UINT32_C(1) << axis, keepdims);
  result.dtype = STOW_I64;
  return stowi_graph_shape_set(call, 0, &result);
}
