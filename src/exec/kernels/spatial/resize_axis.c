// Tables of one axis. Positions are computed in f32, as onnxruntime does, since a tie that rounds
// the other way picks another element; weights in double. Cost: taps for each position, which is
// nothing beside the resizing.
#include "exec/kernels/spatial/resize_axis.h"

#include <math.h>

#include "exec/kernels/support/attrs.h"

// ---------------------------------------------------------------------------------------------
// Positions

static float crop_position(const stowi_kernel_resize_axis* a, float x, float length) {
  float range = (a->roi_end - a->roi_begin) * (float)(a->in - 1);
  float begin = a->roi_begin * (float)(a->in - 1);
  return length == 1 ? range / 2 + begin : x * range / (length - 1) + begin;
}

// Which element, or place between elements, position |x| of the result is.
static float position_of(const stow_kernel_call* call, const stowi_kernel_resize_axis* a, float x) {
  float length = a->scale * (float)a->in;  // of the result, before it is cut to an integer
  if (stowi_kernel_is(call, STOWI_KERNEL_ATTR_COORDINATES, "asymmetric")) {
    return x / a->scale;
  }
  if (stowi_kernel_is(call, STOWI_KERNEL_ATTR_COORDINATES, "align_corners")) {
    return length == 1 ? 0 : x * (float)(a->in - 1) / (length - 1);
  }
  if (stowi_kernel_is(call, STOWI_KERNEL_ATTR_COORDINATES, "tf_crop_and_resize")) {
    return crop_position(a, x, length);
  }
  if (stowi_kernel_is(call, STOWI_KERNEL_ATTR_COORDINATES, "tf_half_pixel_for_nn")) {
    return (x + 0.5F) / a->scale;
  }
  if (stowi_kernel_is(call, STOWI_KERNEL_ATTR_COORDINATES, "pytorch_half_pixel") && length == 1) {
    return -0.5F;
  }
  float half_pixel = (x + 0.5F) / a->scale - 0.5F;
  if (stowi_kernel_is(call, STOWI_KERNEL_ATTR_COORDINATES, "half_pixel_symmetric")) {
    return (float)a->in / 2 * (1 - (float)a->out / length) + half_pixel;
  }
  return half_pixel;
}

static double round_position(const stow_kernel_call* call, const stowi_kernel_resize_axis* a,
                             double x) {
  if (stowi_kernel_is(call, STOWI_KERNEL_ATTR_NEAREST_MODE, "floor")) {
    return floor(x);
  }
  if (stowi_kernel_is(call, STOWI_KERNEL_ATTR_NEAREST_MODE, "ceil_if_smaller")) {
    return a->scale < 1 ? ceil(x) : floor(x);
  }
  if (stowi_kernel_is(call, STOWI_KERNEL_ATTR_NEAREST_MODE, "ceil")) {
    return ceil(x);
  }
  return stowi_kernel_is(call, STOWI_KERNEL_ATTR_NEAREST_MODE, "round_prefer_ceil") ? floor(x + 0.5)
                                                                                    : ceil(x - 0.5);
}

// ---------------------------------------------------------------------------------------------
// Weights

static double linear_weight(double distance) {
  double x = fabs(distance);
  return x < 1 ? 1 - x : 0;
}

static double cubic_weight(double a, double distance) {
  double x = fabs(distance);
  if (x <= 1) {
    return ((a + 2) * x - (a + 3)) * x * x + 1;
  }
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

// How far taps reach from a position, in elements: further where a smaller result is not to alias.
static double stretch(const stowi_kernel_resize_way* way, const stowi_kernel_resize_axis* axis) {
  return way->antialias && axis->scale < 1 ? 1 / (double)axis->scale : 1;
}

size_t stowi_kernel_resize_taps(const stowi_kernel_resize_way* way,
                                const stowi_kernel_resize_axis* axis) {
  if (axis->is_identity || way->mode == STOWI_KERNEL_RESIZE_NEAREST) {
    return 1;
  }
  double reach = (way->mode == STOWI_KERNEL_RESIZE_LINEAR ? 1 : 2) * stretch(way, axis);
  return reach < INT32_MAX ? 2 * (size_t)ceil(reach) : INT32_MAX;
}

// Without antialiasing at most 4 taps. With it, a scale is no less than half of out / in, so that
// 2 × ⌈2 × 2 × in / out⌉ taps are the most.
uint64_t stowi_kernel_resize_entries(const stowi_kernel_resize_way* way, int64_t in, int64_t out) {
  return way->antialias ? 8 * ((uint64_t)in + (uint64_t)out) + 16 : 4 * (uint64_t)out;
}

static int32_t clamp_index(double index, int64_t in) {
  return (int32_t)(index < 0 ? 0 : index > (double)(in - 1) ? (double)(in - 1) : index);
}

static void fill_weights(const stowi_kernel_resize_way* way, stowi_kernel_resize_axis* a, size_t i,
                         double x) {
  size_t out = (size_t)a->out;
  double wide = stretch(way, a);
  // An element on the position itself is the last of the left half.
  double first = ceil(x) - (double)(a->taps / 2);
  double sum = 0;
  for (size_t k = 0; k < a->taps; ++k) {
    double index = first + (double)k;
    double distance = (index - x) / wide;
    double weight = way->mode == STOWI_KERNEL_RESIZE_LINEAR ? linear_weight(distance)
                                                            : cubic_weight(way->cubic_a, distance);
    bool is_outside = index < 0 || index > (double)(a->in - 1);
    weight = way->exclude_outside && is_outside ? 0 : weight;
    a->indices[k * out + i] = clamp_index(index, a->in);
    a->weights[k * out + i] = weight;
    sum += weight;
  }
  for (size_t k = 0; k < a->taps && (way->exclude_outside || way->antialias) && sum != 0; ++k) {
    a->weights[k * out + i] /= sum;
  }
}

void stowi_kernel_resize_fill(const stow_kernel_call* call, const stowi_kernel_resize_way* way,
                              stowi_kernel_resize_axis* a) {
  bool is_crop = stowi_kernel_is(call, STOWI_KERNEL_ATTR_COORDINATES, "tf_crop_and_resize");
  a->has_outside = false;
  for (size_t i = 0; i < (size_t)a->out; ++i) {
    a->outside[i] = 0;
    if (a->is_identity) {
      a->indices[i] = (int32_t)i;
      a->weights[i] = 1;
      continue;
    }
    double x = (double)position_of(call, a, (float)i);
    if (is_crop && !(x >= 0 && x <= (double)(a->in - 1))) {
      a->outside[i] = 1;
      a->has_outside = true;
      x = 0;
    }
    x = x >= -INT32_MAX && x <= INT32_MAX ? x : 0;
    if (way->mode == STOWI_KERNEL_RESIZE_NEAREST) {
      a->indices[i] = clamp_index(round_position(call, a, x), a->in);
      a->weights[i] = 1;
    } else {
      fill_weights(way, a, i, x);
    }
  }
}
