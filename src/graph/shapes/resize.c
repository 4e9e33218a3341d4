// The shape of resize. The size is given by `sizes`, or is floor(dim × scale) if known; otherwise
// it is declared. A scale is a float, and the product is rounded to a float before truncation, as
// executors do: 10 × 0.7f is 7, though 0.7f is below 7/10. A symbolic dim is multiplied and divided
// by small integers if the scale is their ratio; otherwise it depends on data until binding makes
// it a number.
#include <inttypes.h>

#include "base/diag.h"
#include "graph/shapes/shapes.h"

#define SCALES 2
#define SIZES 3
#define MAX_DENOMINATOR 16
#define TOO_LARGE 4611686018427387904.0  // 2^62

// The requested sizes or scales, for each axis that changes.
typedef struct request {
  const stow_type* x;
  size_t count;
  uint32_t axes[STOW_MAX_RANK];
} request;

// ---------------------------------------------------------------------------------------------
// Reading

// Operand |k| as a list with one number for each axis; it may be missing or, equivalently, empty.
static bool is_given(const stow_shape_call* call, size_t k) {
  const stow_type* type = stow_shape_operand(call, k);
  return type != NULL && !(type->rank == 1 && type->dims[0] == 0);
}

static stow_status read_axes(stow_shape_call* call, request* r) {
  r->x = stow_shape_operand(call, 0);
  stowi_graph_list list;
  STOW_TRY(stowi_graph_shape_list(call, "axes", SIZE_MAX, &list));
  if (list.is_given) {
    r->count = list.count;
    return stowi_graph_shape_list_axes(call, &list, r->x->rank, r->axes);
  }
  r->count = r->x->rank;
  for (uint32_t i = 0; i < r->x->rank; ++i) {
    r->axes[i] = i;
  }
  return STOW_OK;
}

static stow_status check_count(stow_shape_call* call, size_t k, const char* what, size_t count) {
  const stow_type* type = stow_shape_operand(call, k);
  if (type->rank != 1 || stowi_graph_shape_differ(call, type->dims[0], (stow_dim)count)) {
    return stow_shape_fail(call, "operand %zu (%s) must be a list of %zu", k, what, count);
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Scales

// Finds small integers whose ratio is |scale|.
static bool find_ratio(double scale, int64_t* out_above, int64_t* out_below) {
  for (int64_t below = 1; below <= MAX_DENOMINATOR; ++below) {
    double above = scale * (double)below + 0.5;
    if (above < 1 || above > INT32_MAX) {
      continue;
    }
    *out_above = (int64_t)above;
    *out_below = below;
    if ((float)((double)*out_above / (double)below) == (float)scale) {
      return true;
    }
  }
  // Reciprocals of larger integers.
  double inverse = 1 / scale + 0.5;
  *out_above = 1;
  *out_below = inverse >= 1 && inverse < INT32_MAX ? (int64_t)inverse : 1;
  return (float)(1 / (double)*out_below) == (float)scale;
}

// As kernels round; false if the product is too large.
static bool multiply(int64_t number, double scale, int64_t* out) {
  float product = (float)((float)number * (float)scale);
  if (!(product < (float)TOO_LARGE)) {
    return false;
  }
  *out = (int64_t)product;
  return true;
}

// Whether the second number is the first one, scaled.
static bool is_scaled(const void* user, const int64_t* numbers) {
  int64_t product;
  return multiply(numbers[0], *(const double*)user, &product) && product == numbers[1];
}

static stow_status scale_dim(stow_shape_call* call, uint32_t axis, double scale, stow_dim* dim) {
  stow_dims* dims = stow_shape_dims(call);
  if (!(scale > 0) || scale > TOO_LARGE) {
    return stow_shape_fail(call, "the scale of dim %" PRIu32 " is not a positive number", axis);
  }
  if (stow_dim_is_const(*dim)) {
    return multiply(*dim, scale, dim)
               ? STOW_OK
               : stow_shape_fail(call, "dim %" PRIu32 " of the result would be too large", axis);
  }
  int64_t above;
  int64_t below;
  if (!find_ratio(scale, &above, &below)) {
    *dim = stow_shape_data_dim(call, 0, axis);
    return STOW_OK;
  }
  stow_dim in = *dim;
  *dim = stow_dim_floor_div(dims, stow_dim_mul(dims, in, above), below);
  if (!stowi_graph_shape_holds(call, (stow_dim[]){in, *dim}, 2, is_scaled, &scale, true)) {
    return stow_shape_fail(call, "dim %" PRIu32 ", %s, times %g is rounded differently", axis,
                           stowi_graph_shape_dim_text(call, in).text, scale);
  }
  return STOW_OK;
}

static stow_status apply_scales(stow_shape_call* call, const request* r, stow_type* result) {
  STOW_TRY(check_count(call, SCALES, "scales", r->count));
  for (size_t i = 0; i < r->count; ++i) {
    uint32_t axis = r->axes[i];
    double scale;
    if (stowi_graph_shape_bound_float(call, SCALES, i, &scale)) {
      STOW_TRY(scale_dim(call, axis, scale, &result->dims[axis]));
    } else {
      result->dims[axis] = stow_shape_data_dim(call, 0, axis);
    }
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Sizes

// The scale that keeps the aspect ratio: the smallest, or with |largest| the largest, of size /
// dim. False if a number is unknown.
static bool common_scale(stow_shape_call* call, const request* r, const stowi_graph_list* sizes,
                         bool largest, double* out_scale) {
  for (size_t i = 0; i < r->count; ++i) {
    int64_t size;
    stow_dim dim = r->x->dims[r->axes[i]];
    if (dim <= 0 || !stowi_graph_shape_number(call, sizes->at[i], &size)) {
      return false;
    }
    double scale = (double)size / (double)dim;
    if (i == 0 || (largest ? scale > *out_scale : scale < *out_scale)) {
      *out_scale = scale;
    }
  }
  return r->count != 0;
}

static stow_status keep_aspect(stow_shape_call* call, const request* r,
                               const stowi_graph_list* sizes, bool largest, stow_type* result) {
  double scale = 1;
  bool is_known = common_scale(call, r, sizes, largest, &scale);
  for (size_t i = 0; i < r->count; ++i) {
    uint32_t axis = r->axes[i];
    if (!is_known) {
      result->dims[axis] = stow_shape_data_dim(call, 0, axis);
      continue;
    }
    double size = scale * (double)r->x->dims[axis] + 0.5;
    if (!(size >= 0 && size < TOO_LARGE)) {
      return stow_shape_fail(call, "dim %" PRIu32 " of the result would be negative or too large",
                             axis);
    }
    result->dims[axis] = (stow_dim)size;
  }
  return STOW_OK;
}

static stow_status apply_sizes(stow_shape_call* call, const request* r, size_t policy,
                               stow_type* result) {
  STOW_TRY(check_count(call, SIZES, "sizes", r->count));
  stowi_graph_list sizes;
  STOW_TRY(policy == 0 ? stowi_graph_shape_bounds(call, NULL, SIZES, &sizes)
                       : stowi_graph_shape_list(call, NULL, SIZES, &sizes));
  if (policy != 0) {
    return keep_aspect(call, r, &sizes, policy == 2, result);
  }
  for (size_t i = 0; i < r->count; ++i) {
    uint32_t axis = r->axes[i];
    bool is_known = sizes.at[i] != STOW_DIM_INVALID;
    result->dims[axis] = is_known ? sizes.at[i] : stow_shape_data_dim(call, 0, axis);
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------

static stow_status check_words(stow_shape_call* call, size_t* out_policy) {
  static const char* const modes[] = {"nearest", "linear", "cubic", NULL};
  static const char* const coordinates[] = {
      "half_pixel",         "align_corners",        "asymmetric",         "half_pixel_symmetric",
      "pytorch_half_pixel", "tf_half_pixel_for_nn", "tf_crop_and_resize", NULL};
  static const char* const nearest[] = {
      "round_prefer_floor", "round_prefer_ceil", "floor", "ceil", "ceil_if_smaller", NULL};
  static const char* const policies[] = {"stretch", "not_larger", "not_smaller", NULL};
  size_t choice;
  STOW_TRY(stowi_graph_shape_choice(call, "mode", modes, &choice));
  STOW_TRY(stowi_graph_shape_choice(call, "coordinates", coordinates, &choice));
  STOW_TRY(stowi_graph_shape_choice(call, "nearest_mode", nearest, &choice));
  return stowi_graph_shape_choice(call, "keep_aspect_ratio_policy", policies, out_policy);
}

static stow_status take_declared(stow_shape_call* call, stow_type* result) {
  const stow_type* declared = stowi_graph_shape_need_declared(call, 0);
  if (declared == NULL) {
    return STOW_ERR_TYPE;
  }
  if (declared->dtype != result->dtype || declared->rank != result->rank) {
    return stow_shape_fail(call, "the declared result must have the operand's dtype and rank");
  }
  *result = *declared;
  return STOW_OK;
}

stow_status stowi_graph_shape_resize(stow_shape_call* call) {
  request r;
  size_t policy;
  STOW_TRY(check_words(call, &policy));
  STOW_TRY(read_axes(call, &r));
  stow_type result = *r.x;
  if (is_given(call, SIZES) && is_given(call, SCALES)) {
    return stow_shape_fail(call, "scales and sizes are both given; expected one of them");
  }
  if (is_given(call, SIZES)) {
    STOW_TRY(apply_sizes(call, &r, policy, &result));
  } else if (is_given(call, SCALES)) {
    STOW_TRY(apply_scales(call, &r, &result));
  } else {
    STOW_TRY(take_declared(call, &result));
  }
  for (uint32_t i = 0; i < r.x->rank; ++i) {
    if (r.x->dims[i] == 0 && result.dims[i] != 0) {
      return stow_shape_fail(call, "dim %" PRIu32 " of the operand is 0, expected at least 1", i);
    }
  }
  return stowi_graph_shape_set(call, 0, &result);
}
