// Windows: reading them from attributes, and their arithmetic. Dims may be expressions: the
// formulas use stow_dim_* throughout, and only numbers are checked. Cost: a few dim operations for
// each spatial dim.
#include "graph/shapes/window_dims.h"

#include <inttypes.h>
#include <string.h>

#include "base/diag.h"
#include "graph/shapes/shapes.h"

// ---------------------------------------------------------------------------------------------
// Reading

stow_status stowi_graph_window_list(stow_shape_call* call, const char* name, size_t count,
                                    int64_t least, int64_t fallback, int64_t* out) {
  size_t given_count;
  const int64_t* given = stowi_graph_shape_ints(call, name, &given_count);
  if (given != NULL && given_count != count) {
    return stow_shape_fail(call, "%s has %zu numbers, expected %zu", name, given_count, count);
  }
  for (size_t i = 0; i < count; ++i) {
    out[i] = given == NULL ? fallback : given[i];
    if (out[i] < least) {
      return stow_shape_fail(call, "%s has %" PRId64 ", expected at least %" PRId64, name, out[i],
                             least);
    }
  }
  return STOW_OK;
}

stow_status stowi_graph_window_dims(stow_shape_call* call, size_t x, stowi_graph_window* out) {
  memset(out, 0, sizeof(*out));
  uint32_t rank = stow_shape_operand(call, x)->rank;
  if (rank < 3) {
    return stow_shape_fail(
        call, "operand %zu has rank %" PRIu32 "; expected batch, channels and 1 to %d spatial dims",
        x, rank, STOWI_GRAPH_MAX_SPATIAL);
  }
  bool is_last = stow_shape_attr_bool(call, "channels_last", false);
  out->spatial = rank - 2;
  out->first = is_last ? 1 : 2;
  out->channels = is_last ? rank - 1 : 1;
  return STOW_OK;
}

stow_status stowi_graph_window_read(stow_shape_call* call, size_t x, stowi_graph_window* out) {
  STOW_TRY(stowi_graph_window_dims(call, x, out));
  STOW_TRY(stowi_graph_window_list(call, "strides", out->spatial, 1, 1, out->strides));
  STOW_TRY(stowi_graph_window_list(call, "dilations", out->spatial, 1, 1, out->dilations));
  STOW_TRY(stowi_graph_window_list(call, "pads", 2 * (size_t)out->spatial, 0, 0, out->pads));
  static const char* const choices[] = {"notset", "same_upper", "same_lower", "valid", NULL};
  if (stow_shape_attr(call, "auto_pad") == NULL) {
    out->padding = STOWI_GRAPH_PAD_NOTSET;  // the op has no such attribute
    return STOW_OK;
  }
  size_t choice;
  STOW_TRY(stowi_graph_shape_choice(call, "auto_pad", choices, &choice));
  size_t pad_count;
  stowi_graph_shape_ints(call, "pads", &pad_count);
  if (choice != STOWI_GRAPH_PAD_NOTSET && pad_count != 0) {
    return stow_shape_fail(call, "pads cannot be given with auto_pad \"%s\"", choices[choice]);
  }
  out->padding = (stowi_graph_auto_pad)choice;
  return STOW_OK;
}

stow_status stowi_graph_window_kernel(stow_shape_call* call, stowi_graph_window* out) {
  size_t count;
  if (stowi_graph_shape_ints(call, "kernel", &count) == NULL) {
    return stow_shape_fail(call, "a kernel is required unless the pool is global");
  }
  return stowi_graph_window_list(call, "kernel", out->spatial, 1, 1, out->kernel);
}

stow_status stowi_graph_window_weights(stow_shape_call* call, size_t weights,
                                       stowi_graph_window* out) {
  const stow_type* w = stow_shape_operand(call, weights);
  if (w->rank != out->spatial + 2) {
    return stow_shape_fail(call, "the weights have rank %" PRIu32 ", but the operand has %" PRIu32,
                           w->rank, out->spatial + 2);
  }
  for (uint32_t i = 0; i < out->spatial; ++i) {
    out->kernel[i] = w->dims[2 + i];
    if (out->kernel[i] == 0) {
      return stow_shape_fail(call, "dim %" PRIu32 " of the weights is 0", 2 + i);
    }
  }
  // Fails if the attribute `kernel` is given and contradicts the weights.
  size_t count;
  if (stowi_graph_shape_ints(call, "kernel", &count) == NULL) {
    return STOW_OK;
  }
  int64_t given[STOWI_GRAPH_MAX_SPATIAL];
  STOW_TRY(stowi_graph_window_list(call, "kernel", out->spatial, 1, 1, given));
  for (uint32_t i = 0; i < out->spatial; ++i) {
    if (stowi_graph_shape_differ(call, given[i], out->kernel[i])) {
      return stow_shape_fail(call, "kernel has %" PRId64 ", but the weights have %s", given[i],
                             stowi_graph_shape_dim_text(call, out->kernel[i]).text);
    }
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Arithmetic

// The extent of a dilated kernel: (kernel - 1) × dilation + 1.
static stow_dim extent(stow_dims* dims, const stowi_graph_window* w, uint32_t i) {
  stow_dim gaps = stow_dim_mul(dims, stow_dim_sub(dims, w->kernel[i], 1), w->dilations[i]);
  return stow_dim_add(dims, gaps, 1);
}

static bool is_same(const stowi_graph_window* w) {
  return w->padding == STOWI_GRAPH_PAD_SAME_UPPER || w->padding == STOWI_GRAPH_PAD_SAME_LOWER;
}

stow_status stowi_graph_window_slide(stow_shape_call* call, const stowi_graph_window* w, bool up,
                                     stow_type* type) {
  for (uint32_t i = 0; i < w->spatial; ++i) {
    stow_dim* dim = &type->dims[w->first + i];
    // The number of windows that fit along spatial dim |i|, which is |in|; with |up|, the last one
    // may extend past the end by less than a stride, even if it is the only one.
    stow_dim in = *dim;
    stow_dims* dims = stow_shape_dims(call);
    if (is_same(w)) {
      *dim = stow_dim_ceil_div(dims, in, w->strides[i]);
      continue;
    }
    stow_dim begun = stow_dim_add(dims, in, w->pads[i]);
    stow_dim padded = stow_dim_add(dims, begun, w->pads[w->spatial + i]);
    stow_dim covered = extent(dims, w, i);
    int64_t over = up ? w->strides[i] - 1 : 0;
    stow_dim room = stow_dim_sub(dims, padded, covered);
    if (!stowi_graph_shape_not_less(call, room, -over)) {
      return stow_shape_fail(call,
                             "a window of %s does not fit in spatial dim %" PRIu32
                             ", which is %s with its padding",
                             stowi_graph_shape_dim_text(call, covered).text, i,
                             stowi_graph_shape_dim_text(call, padded).text);
    }
    if (!up) {
      *dim = stow_dim_add(dims, stow_dim_floor_div(dims, room, w->strides[i]), 1);
      continue;
    }
    stow_dim hanging = stow_dim_add(dims, stow_dim_ceil_div(dims, room, w->strides[i]), 1);
    *dim = stow_dim_min(dims, hanging, stow_dim_ceil_div(dims, begun, w->strides[i]));
  }
  return STOW_OK;
}

// (in - 1) × stride + extent + extra - pads; in × stride if auto_pad asks for that.
static stow_dim spread(stow_dims* dims, const stowi_graph_window* w, uint32_t i, stow_dim in,
                       int64_t extra) {
  if (is_same(w)) {
    return stow_dim_mul(dims, in, w->strides[i]);
  }
  stow_dim steps = stow_dim_mul(dims, stow_dim_sub(dims, in, 1), w->strides[i]);
  stow_dim whole = stow_dim_add(dims, stow_dim_add(dims, steps, extent(dims, w, i)), extra);
  return stow_dim_sub(dims, stow_dim_sub(dims, whole, w->pads[i]), w->pads[w->spatial + i]);
}

stow_status stowi_graph_window_spread(stow_shape_call* call, const stowi_graph_window* w,
                                      const int64_t* extra, stow_type* type) {
  for (uint32_t i = 0; i < w->spatial; ++i) {
    stow_dim* dim = &type->dims[w->first + i];
    if (!stowi_graph_shape_not_less(call, *dim, 1)) {
      return stow_shape_fail(call, "spatial dim %" PRIu32 " is %s, expected at least 1", i,
                             stowi_graph_shape_dim_text(call, *dim).text);
    }
    *dim = spread(stow_shape_dims(call), w, i, *dim, extra[i]);
  }
  return STOW_OK;
}
