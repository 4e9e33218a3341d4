// Shapes of ops that slide a window over spatial dims: convolutions of all kinds, and pools. The
// window itself is in window_dims.c; this file has the rest: channels, groups, biases, element
// types.
#include <inttypes.h>

#include "base/diag.h"
#include "graph/shapes/shapes.h"
#include "graph/shapes/window_dims.h"

#define NO_OPERAND SIZE_MAX

// ---------------------------------------------------------------------------------------------
// Channels

static stow_status read_group(stow_shape_call* call, stow_dim divided, int64_t* out_group) {
  *out_group = stow_shape_attr_int(call, "group", 1);
  if (*out_group < 1 || !stowi_graph_shape_is_multiple(call, divided, *out_group)) {
    return stow_shape_fail(call, "%s channels cannot be divided into %" PRId64 " groups",
                           stowi_graph_shape_dim_text(call, divided).text, *out_group);
  }
  return STOW_OK;
}

// Operand |k| may be missing.
static stow_status check_bias(stow_shape_call* call, size_t k, stow_dim channels) {
  const stow_type* bias = stow_shape_operand(call, k);
  if (bias != NULL &&
      (bias->rank != 1 || stowi_graph_shape_differ(call, bias->dims[0], channels))) {
    return stow_shape_fail(call, "operand %zu (bias) must have one dim, of %s channels", k,
                           stowi_graph_shape_dim_text(call, channels).text);
  }
  return STOW_OK;
}

static stow_status check_channels(stow_shape_call* call, stow_dim actual, stow_dim wanted) {
  if (stowi_graph_shape_differ(call, actual, wanted)) {
    return stow_shape_fail(call, "the operand has %s channels, but the weights are for %s",
                           stowi_graph_shape_dim_text(call, actual).text,
                           stowi_graph_shape_dim_text(call, wanted).text);
  }
  return STOW_OK;
}

// Fails if one of operands 1 to |last|, which may be missing, differs from operand 0 in dtype.
static stow_status check_dtypes(stow_shape_call* call, size_t last) {
  for (size_t k = 1; k <= last; ++k) {
    if (stow_shape_operand(call, k) != NULL) {
      STOW_TRY(stowi_graph_shape_same_dtype(call, 0, k));
    }
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Convolutions

// Operand 0 with weights [M, C / group, kernel…].
static stow_status convolve(stow_shape_call* call, size_t weights, size_t bias, stow_dtype dtype,
                            stow_type* out) {
  stowi_graph_window w;
  STOW_TRY(stowi_graph_window_read(call, 0, &w));
  STOW_TRY(stowi_graph_window_weights(call, weights, &w));
  stow_type result = *stow_shape_operand(call, 0);
  const stow_type* kernels = stow_shape_operand(call, weights);
  int64_t group;
  STOW_TRY(read_group(call, kernels->dims[0], &group));
  stow_dim wanted = stow_dim_mul(stow_shape_dims(call), kernels->dims[1], group);
  STOW_TRY(check_channels(call, result.dims[w.channels], wanted));
  STOW_TRY(check_bias(call, bias, kernels->dims[0]));
  result.dtype = dtype;
  result.dims[w.channels] = kernels->dims[0];
  STOW_TRY(stowi_graph_window_slide(call, &w, false, &result));
  *out = result;
  return STOW_OK;
}

stow_status stowi_graph_shape_conv(stow_shape_call* call) {
  stow_type result;
  STOW_TRY(check_dtypes(call, 2));
  STOW_TRY(convolve(call, 1, 2, stow_shape_operand(call, 0)->dtype, &result));
  return stowi_graph_shape_set(call, 0, &result);
}

stow_status stowi_graph_shape_fused_conv(stow_shape_call* call) {
  stow_type result;
  STOW_TRY(check_dtypes(call, 3));
  STOW_TRY(convolve(call, 1, 2, stow_shape_operand(call, 0)->dtype, &result));
  STOW_TRY(stowi_graph_shape_broadcast_to(call, 3, &result, "operand 3 (the addend)"));
  return stowi_graph_shape_set(call, 0, &result);
}

stow_status stowi_graph_shape_conv_integer(stow_shape_call* call) {
  stow_type result;
  STOW_TRY(stowi_graph_shape_integers(call, 0, "operand 0"));
  STOW_TRY(stowi_graph_shape_integers(call, 1, "operand 1"));
  STOW_TRY(convolve(call, 1, NO_OPERAND, STOW_I32, &result));
  return stowi_graph_shape_set(call, 0, &result);
}

stow_status stowi_graph_shape_qlinear_conv(stow_shape_call* call) {
  stow_type result;
  STOW_TRY(convolve(call, 3, 8, stow_shape_operand(call, 7)->dtype, &result));
  return stowi_graph_shape_set(call, 0, &result);
}

// Fails unless operand |k|, which may be missing, has |each| numbers for every element of the
// kernel and every position of the result.
static stow_status check_offsets(stow_shape_call* call, size_t k, const stow_type* result,
                                 int64_t each) {
  const stow_type* offsets = stow_shape_operand(call, k);
  const stow_type* weights = stow_shape_operand(call, 1);
  if (offsets == NULL) {
    return STOW_OK;
  }
  stow_dims* dims = stow_shape_dims(call);
  stow_type wanted = *result;
  wanted.dims[1] = stow_dim_mul(dims, each, stow_shape_attr_int(call, "offset_group", 1));
  for (uint32_t i = 2; i < weights->rank; ++i) {
    wanted.dims[1] = stow_dim_mul(dims, wanted.dims[1], weights->dims[i]);
  }
  bool fits = offsets->rank == wanted.rank;
  for (uint32_t i = 0; fits && i < wanted.rank; ++i) {
    fits = !stowi_graph_shape_differ(call, offsets->dims[i], wanted.dims[i]);
  }
  return fits ? STOW_OK
              : stow_shape_fail(call,
                                "operand %zu must have the result's dims with %s channels: %" PRId64
                                " for each group of offsets and element of the kernel",
                                k, stowi_graph_shape_dim_text(call, wanted.dims[1]).text, each);
}

stow_status stowi_graph_shape_deform_conv(stow_shape_call* call) {
  stow_type result;
  STOW_TRY(check_dtypes(call, 4));
  STOW_TRY(convolve(call, 1, 3, stow_shape_operand(call, 0)->dtype, &result));
  int64_t groups = stow_shape_attr_int(call, "offset_group", 1);
  stow_dim channels = stow_shape_operand(call, 0)->dims[1];
  if (groups < 1 || !stowi_graph_shape_is_multiple(call, channels, groups)) {
    return stow_shape_fail(call, "%s channels cannot be divided into %" PRId64 " groups of offsets",
                           stowi_graph_shape_dim_text(call, channels).text, groups);
  }
  STOW_TRY(check_offsets(call, 2, &result, (int64_t)result.rank - 2));
  STOW_TRY(check_offsets(call, 4, &result, 1));
  return stowi_graph_shape_set(call, 0, &result);
}

// ---------------------------------------------------------------------------------------------
// Transposed convolutions

// The spatial dims come from the attribute `output_shape`.
static stow_status take_output_shape(stow_shape_call* call, const stowi_graph_window* w,
                                     stow_type* result) {
  size_t pad_count;
  if (stowi_graph_shape_ints(call, "pads", &pad_count) != NULL) {
    return stow_shape_fail(call, "pads and output_shape are both given; expected one of them");
  }
  return stowi_graph_window_list(call, "output_shape", w->spatial, 1, 1, result->dims + w->first);
}

stow_status stowi_graph_shape_conv_transpose(stow_shape_call* call) {
  stowi_graph_window w;
  int64_t extra[STOWI_GRAPH_MAX_SPATIAL];
  int64_t group;
  size_t given;
  STOW_TRY(stowi_graph_window_read(call, 0, &w));
  STOW_TRY(stowi_graph_window_list(call, "output_padding", w.spatial, 0, 0, extra));
  STOW_TRY(check_dtypes(call, 2));
  STOW_TRY(stowi_graph_window_weights(call, 1, &w));
  stow_type result = *stow_shape_operand(call, 0);
  const stow_type* weights = stow_shape_operand(call, 1);
  STOW_TRY(read_group(call, weights->dims[0], &group));
  STOW_TRY(check_channels(call, result.dims[1], weights->dims[0]));
  result.dims[1] = stow_dim_mul(stow_shape_dims(call), weights->dims[1], group);
  STOW_TRY(check_bias(call, 2, result.dims[1]));
  if (stowi_graph_shape_ints(call, "output_shape", &given) != NULL) {
    STOW_TRY(take_output_shape(call, &w, &result));
  } else {
    STOW_TRY(stowi_graph_window_spread(call, &w, extra, &result));
  }
  return stowi_graph_shape_set(call, 0, &result);
}

// ---------------------------------------------------------------------------------------------
// Pools

static stow_status pool_all(stow_shape_call* call, stow_type* result) {
  stowi_graph_window w;
  size_t kernel_count;
  STOW_TRY(stowi_graph_window_dims(call, 0, &w));
  if (stowi_graph_shape_ints(call, "kernel", &kernel_count) != NULL) {
    return stow_shape_fail(call, "a global pool takes no kernel");
  }
  for (uint32_t i = 0; i < w.spatial; ++i) {
    result->dims[w.first + i] = 1;
  }
  return STOW_OK;
}

static stow_status pool_windows(stow_shape_call* call, stow_type* result) {
  stowi_graph_window w;
  STOW_TRY(stowi_graph_window_read(call, 0, &w));
  STOW_TRY(stowi_graph_window_kernel(call, &w));
  return stowi_graph_window_slide(call, &w, stow_shape_attr_bool(call, "ceil_mode", false), result);
}

// |*result| is operand 0's type before, and the pool's after.
static stow_status pool(stow_shape_call* call, stow_type* result) {
  return stow_shape_attr_bool(call, "global", false) ? pool_all(call, result)
                                                     : pool_windows(call, result);
}

stow_status stowi_graph_shape_pool(stow_shape_call* call) {
  static const char* const choices[] = {"max", "avg", "lp", NULL};
  size_t choice;
  STOW_TRY(stowi_graph_shape_choice(call, "op", choices, &choice));
  stow_type result = *stow_shape_operand(call, 0);
  STOW_TRY(pool(call, &result));
  STOW_TRY(stowi_graph_shape_set(call, 0, &result));
  if (stow_shape_result_count(call) == 1) {
    return STOW_OK;
  }
  if (choice != 0) {
    return stow_shape_fail(call, "only a max pool has indices as a result");
  }
  result.dtype = STOW_I64;
  return stowi_graph_shape_set(call, 1, &result);
}

stow_status stowi_graph_shape_qlinear_pool(stow_shape_call* call) {
  stow_type result = *stow_shape_operand(call, 0);
  STOW_TRY(pool(call, &result));
  return stowi_graph_shape_set(call, 0, &result);
}

stow_status stowi_graph_shape_max_unpool(stow_shape_call* call) {
  static const int64_t no_extra[STOWI_GRAPH_MAX_SPATIAL] = {0};
  const stow_type* x = stow_shape_operand(call, 0);
  stow_type result = *x;
  stowi_graph_window w;
  STOW_TRY(stowi_graph_window_read(call, 0, &w));
  STOW_TRY(stowi_graph_window_kernel(call, &w));
  STOW_TRY(stowi_graph_shape_integers(call, 1, "operand 1 (indices)"));
  if (stow_shape_operand(call, 1)->rank != x->rank) {
    return stow_shape_fail(call, "operand 1 (indices) must have the dims of operand 0");
  }
  STOW_TRY(stowi_graph_shape_broadcast_to(call, 1, x, "operand 1 (indices)"));
  if (stow_shape_operand(call, 2) == NULL) {
    STOW_TRY(stowi_graph_window_spread(call, &w, no_extra, &result));
    return stowi_graph_shape_set(call, 0, &result);
  }
  stowi_graph_list sizes;
  STOW_TRY(stowi_graph_shape_list(call, NULL, 2, &sizes));
  // The dims come from |sizes|.
  if (sizes.count != result.rank) {
    return stow_shape_fail(call, "operand 2 has %zu numbers, expected %" PRIu32, sizes.count,
                           result.rank);
  }
  for (uint32_t i = 0; i < result.rank; ++i) {
    bool is_known = sizes.at[i] != STOW_DIM_INVALID;
    result.dims[i] = is_known ? sizes.at[i] : stow_shape_data_dim(call, 0, i);
  }
  return stowi_graph_shape_set(call, 0, &result);
}
