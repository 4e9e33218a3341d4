// Shapes of what slides a window over spatial dims, or samples them: conv, conv_transpose, pool,
// resize. Tensors are [batch, channels, spatial…] with one to three spatial dims. Dims may be
// expressions: the formulas go through stow_dim_* throughout, and only what is a number is checked
// for sense.
#include <inttypes.h>

#include "base/diag.h"
#include "graph/shapes.h"

#define MAX_SPATIAL 3
#define FIRST_SPATIAL 2  // after batch and channels

typedef enum auto_pad {
  AUTO_PAD_NOTSET,
  AUTO_PAD_SAME_UPPER,
  AUTO_PAD_SAME_LOWER,
  AUTO_PAD_VALID
} auto_pad;

typedef struct window {
  uint32_t spatial;
  stow_dim kernel[MAX_SPATIAL];
  int64_t strides[MAX_SPATIAL];
  int64_t dilations[MAX_SPATIAL];
  int64_t pads[2 * MAX_SPATIAL];  // all begins, then all ends
  auto_pad padding;
} window;

// ---------------------------------------------------------------------------------------------
// Reading

// A list of |count| numbers, none below |least|, or |count| times |fallback| where it is absent.
static stow_status read_list(stow_shape_call* call, const char* name, size_t count, int64_t least,
                             int64_t fallback, int64_t* out) {
  size_t given_count;
  const int64_t* given = stowi_shape_ints(call, name, &given_count);
  if (given != NULL && given_count != count) {
    return stow_shape_fail(call, "%s has %zu numbers, %zu are needed", name, given_count, count);
  }
  for (size_t i = 0; i < count; ++i) {
    out[i] = given == NULL ? fallback : given[i];
    if (out[i] < least) {
      return stow_shape_fail(call, "%s has %" PRId64 ", at least %" PRId64 " is needed", name,
                             out[i], least);
    }
  }
  return STOW_OK;
}

static stow_status read_spatial(stow_shape_call* call, uint32_t* out_spatial) {
  uint32_t rank = stow_shape_operand(call, 0)->rank;
  if (rank <= FIRST_SPATIAL || rank > FIRST_SPATIAL + MAX_SPATIAL) {
    return stow_shape_fail(
        call, "operand 0 has rank %" PRIu32 ": batch, channels and 1 to %d spatial dims are needed",
        rank, MAX_SPATIAL);
  }
  *out_spatial = rank - FIRST_SPATIAL;
  return STOW_OK;
}

static stow_status read_auto_pad(stow_shape_call* call, auto_pad* out) {
  static const char* const choices[] = {"notset", "same_upper", "same_lower", "valid", NULL};
  size_t choice;
  STOW_TRY(stowi_shape_choice(call, "auto_pad", choices, &choice));
  size_t pad_count;
  stowi_shape_ints(call, "pads", &pad_count);
  if (choice != AUTO_PAD_NOTSET && pad_count != 0) {
    return stow_shape_fail(call, "pads and auto_pad \"%s\" exclude each other", choices[choice]);
  }
  *out = (auto_pad)choice;
  return STOW_OK;
}

// All but the kernel and auto_pad.
static stow_status read_window(stow_shape_call* call, window* out) {
  out->padding = AUTO_PAD_NOTSET;
  out->spatial = 0;
  STOW_TRY(read_spatial(call, &out->spatial));
  STOW_TRY(read_list(call, "strides", out->spatial, 1, 1, out->strides));
  STOW_TRY(read_list(call, "dilations", out->spatial, 1, 1, out->dilations));
  return read_list(call, "pads", 2 * (size_t)out->spatial, 0, 0, out->pads);
}

static stow_status kernel_from_weights(stow_shape_call* call, window* out) {
  const stow_type* x = stow_shape_operand(call, 0);
  const stow_type* w = stow_shape_operand(call, 1);
  STOW_TRY(stowi_shape_same_dtype(call, 0, 1));
  if (w->rank != x->rank) {
    return stow_shape_fail(call, "the weights have rank %" PRIu32 ", the operand has %" PRIu32,
                           w->rank, x->rank);
  }
  for (uint32_t i = 0; i < out->spatial; ++i) {
    out->kernel[i] = w->dims[FIRST_SPATIAL + i];
    if (out->kernel[i] == 0) {
      return stow_shape_fail(call, "dim %" PRIu32 " of the weights is 0", FIRST_SPATIAL + i);
    }
  }
  return STOW_OK;
}

static stow_status read_group(stow_shape_call* call, stow_dim divided, int64_t* out_group) {
  *out_group = stow_shape_attr_int(call, "group", 1);
  if (*out_group < 1 || (stow_dim_is_const(divided) && divided % *out_group != 0)) {
    return stow_shape_fail(call, "%s channels cannot be cut into %" PRId64 " groups",
                           stowi_shape_dim_text(call, divided).text, *out_group);
  }
  return STOW_OK;
}

static stow_status check_bias(stow_shape_call* call, stow_dim channels) {
  const stow_type* bias = stow_shape_operand(call, 2);
  if (bias == NULL) {
    return STOW_OK;
  }
  STOW_TRY(stowi_shape_same_dtype(call, 0, 2));
  if (bias->rank != 1 || stowi_shape_differ(call, bias->dims[0], channels)) {
    return stow_shape_fail(call, "operand 2 (bias) must have one dim, of %s channels",
                           stowi_shape_dim_text(call, channels).text);
  }
  return STOW_OK;
}

static stow_status check_channels(stow_shape_call* call, stow_dim actual, stow_dim wanted) {
  if (stowi_shape_differ(call, actual, wanted)) {
    return stow_shape_fail(call, "the operand has %s channels, the weights are for %s",
                           stowi_shape_dim_text(call, actual).text,
                           stowi_shape_dim_text(call, wanted).text);
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Arithmetic

// What a dilated kernel covers: (kernel - 1) × dilation + 1.
static stow_dim extent(stow_dims* dims, const window* w, uint32_t i) {
  stow_dim gaps = stow_dim_mul(dims, stow_dim_sub(dims, w->kernel[i], 1), w->dilations[i]);
  return stow_dim_add(dims, gaps, 1);
}

// How many windows fit along spatial dim |i|. With |up|, one more that hangs over the end is
// allowed as long as it begins within the data or the padding before it.
static stow_status count_windows(stow_shape_call* call, const window* w, uint32_t i, stow_dim in,
                                 bool up, stow_dim* out) {
  stow_dims* dims = stow_shape_dims(call);
  if (w->padding == AUTO_PAD_SAME_UPPER || w->padding == AUTO_PAD_SAME_LOWER) {
    *out = stow_dim_ceil_div(dims, in, w->strides[i]);
    return STOW_OK;
  }
  stow_dim begun = stow_dim_add(dims, in, w->pads[i]);
  stow_dim padded = stow_dim_add(dims, begun, w->pads[w->spatial + i]);
  stow_dim covered = extent(dims, w, i);
  if (stow_dim_is_const(padded) && stow_dim_is_const(covered) && covered > padded) {
    return stow_shape_fail(call,
                           "a window of %" PRId64 " does not fit in spatial dim %" PRIu32
                           ", which is %" PRId64 " with its padding",
                           covered, i, padded);
  }
  stow_dim room = stow_dim_sub(dims, padded, covered);
  if (!up) {
    *out = stow_dim_add(dims, stow_dim_floor_div(dims, room, w->strides[i]), 1);
    return STOW_OK;
  }
  stow_dim hanging = stow_dim_add(dims, stow_dim_ceil_div(dims, room, w->strides[i]), 1);
  *out = stow_dim_min(dims, hanging, stow_dim_ceil_div(dims, begun, w->strides[i]));
  return STOW_OK;
}

static stow_status slide(stow_shape_call* call, const window* w, bool up, stow_type* result) {
  for (uint32_t i = 0; i < w->spatial; ++i) {
    stow_dim* dim = &result->dims[FIRST_SPATIAL + i];
    STOW_TRY(count_windows(call, w, i, *dim, up, dim));
  }
  return stowi_shape_set(call, 0, result);
}

// ---------------------------------------------------------------------------------------------
// Ops

stow_status stowi_shape_conv(stow_shape_call* call) {
  window w;
  STOW_TRY(read_window(call, &w));
  STOW_TRY(read_auto_pad(call, &w.padding));
  STOW_TRY(kernel_from_weights(call, &w));
  stow_type result = *stow_shape_operand(call, 0);
  const stow_type* weights = stow_shape_operand(call, 1);
  int64_t group;
  STOW_TRY(read_group(call, weights->dims[0], &group));
  stow_dim wanted = stow_dim_mul(stow_shape_dims(call), weights->dims[1], group);
  STOW_TRY(check_channels(call, result.dims[1], wanted));
  STOW_TRY(check_bias(call, weights->dims[0]));
  result.dims[1] = weights->dims[0];
  return slide(call, &w, false, &result);
}

// (in - 1) × stride + extent + output padding - pads
static stow_dim spread(stow_dims* dims, const window* w, uint32_t i, stow_dim in, int64_t extra) {
  stow_dim steps = stow_dim_mul(dims, stow_dim_sub(dims, in, 1), w->strides[i]);
  stow_dim whole = stow_dim_add(dims, stow_dim_add(dims, steps, extent(dims, w, i)), extra);
  return stow_dim_sub(dims, stow_dim_sub(dims, whole, w->pads[i]), w->pads[w->spatial + i]);
}

stow_status stowi_shape_conv_transpose(stow_shape_call* call) {
  window w;
  int64_t extra[MAX_SPATIAL];
  int64_t group;
  STOW_TRY(read_window(call, &w));
  STOW_TRY(read_list(call, "output_padding", w.spatial, 0, 0, extra));
  STOW_TRY(kernel_from_weights(call, &w));
  stow_type result = *stow_shape_operand(call, 0);
  const stow_type* weights = stow_shape_operand(call, 1);
  STOW_TRY(read_group(call, weights->dims[0], &group));
  STOW_TRY(check_channels(call, result.dims[1], weights->dims[0]));
  stow_dims* dims = stow_shape_dims(call);
  result.dims[1] = stow_dim_mul(dims, weights->dims[1], group);
  STOW_TRY(check_bias(call, result.dims[1]));
  for (uint32_t i = 0; i < w.spatial; ++i) {
    stow_dim* dim = &result.dims[FIRST_SPATIAL + i];
    if (*dim == 0) {
      return stow_shape_fail(call, "spatial dim %" PRIu32 " is 0: nothing to spread", i);
    }
    *dim = spread(dims, &w, i, *dim, extra[i]);
  }
  return stowi_shape_set(call, 0, &result);
}

static stow_status pool_all(stow_shape_call* call) {
  size_t kernel_count;
  uint32_t spatial = 0;
  STOW_TRY(read_spatial(call, &spatial));
  if (stowi_shape_ints(call, "kernel", &kernel_count) != NULL) {
    return stow_shape_fail(call, "a global pool takes no kernel");
  }
  stow_type result = *stow_shape_operand(call, 0);
  for (uint32_t i = 0; i < spatial; ++i) {
    result.dims[FIRST_SPATIAL + i] = 1;
  }
  return stowi_shape_set(call, 0, &result);
}

stow_status stowi_shape_pool(stow_shape_call* call) {
  static const char* const choices[] = {"max", "avg", NULL};
  size_t choice;
  STOW_TRY(stowi_shape_choice(call, "op", choices, &choice));
  if (stow_shape_attr_bool(call, "global", false)) {
    return pool_all(call);
  }
  window w;
  STOW_TRY(read_window(call, &w));
  STOW_TRY(read_auto_pad(call, &w.padding));
  size_t kernel_count;
  if (stowi_shape_ints(call, "kernel", &kernel_count) == NULL) {
    return stow_shape_fail(call, "a kernel is needed unless the pool is global");
  }
  STOW_TRY(read_list(call, "kernel", w.spatial, 1, 1, w.kernel));
  stow_type result = *stow_shape_operand(call, 0);
  return slide(call, &w, stow_shape_attr_bool(call, "ceil_mode", false), &result);
}

stow_status stowi_shape_resize(stow_shape_call* call) {
  static const char* const modes[] = {"nearest", "linear", "cubic", NULL};
  static const char* const coordinates[] = {"half_pixel", "align_corners", "asymmetric", NULL};
  size_t choice;
  STOW_TRY(stowi_shape_choice(call, "mode", modes, &choice));
  STOW_TRY(stowi_shape_choice(call, "coordinates", coordinates, &choice));
  const stow_type* x = stow_shape_operand(call, 0);
  const stow_type* declared = stowi_shape_need_declared(call, 0);
  if (declared == NULL) {
    return STOW_ERR_TYPE;
  }
  if (declared->dtype != x->dtype || declared->rank != x->rank) {
    return stow_shape_fail(call, "the declared result must have the operand's dtype and rank");
  }
  for (uint32_t i = 0; i < x->rank; ++i) {
    if (x->dims[i] == 0 && declared->dims[i] != 0) {
      return stow_shape_fail(call, "dim %" PRIu32 " of the operand is 0: nothing to sample", i);
    }
  }
  return stowi_shape_set(call, 0, declared);
}
