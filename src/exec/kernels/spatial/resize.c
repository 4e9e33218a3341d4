// resize: a table for each axis says which elements a position takes, and with what weights
// (resize_axis.c). Rows of the result are made one by one: rows of x are summed up by the weights
// of all other axes, then the last axis picks from that sum (resize_rows.c); or, for the nearest,
// elements are copied (resize_nearest.c). Cost: taps of one axis for each element, and the taps of
// the others for each row.
#include "exec/kernels/spatial/resize.h"

#include <string.h>

#include "exec/kernels/support/convert.h"
#include "exec/kernels/support/kernel.h"
#include "exec/kernels/support/size.h"

#define ROI 1
#define SCALES 2
#define SIZES 3

// ---------------------------------------------------------------------------------------------
// Scratch: tables, then rows

static uint64_t axis_size(const stowi_resize* r, uint32_t i) {
  int64_t in = r->x->dims[i];
  int64_t out = r->y->dims[i];
  uint64_t entries = stowi_resize_entries(&r->way, in, out);
  return stowi_align64(entries * sizeof(double)) + stowi_align64(entries * sizeof(int32_t)) +
         stowi_align64((uint64_t)out);
}

static uint64_t last_size(const stowi_resize* r) {
  uint32_t last = r->x->rank - 1;
  uint64_t entries = stowi_resize_entries(&r->way, r->x->dims[last], r->y->dims[last]);
  return stowi_align64(entries * sizeof(float));
}

static uint64_t row_size(const stowi_resize* r) {
  return stowi_align64((uint64_t)r->x->dims[r->x->rank - 1] * 2 * sizeof(double));
}

static unsigned char* take(unsigned char** from, uint64_t size) {
  unsigned char* taken = *from;
  *from += stowi_align64(size);
  return taken;
}

static void carve(stowi_resize* r) {
  unsigned char* scratch = r->call->scratch;
  for (uint32_t i = 0; i < r->x->rank; ++i) {
    stowi_resize_axis* a = &r->axes[i];
    uint64_t entries = stowi_resize_entries(&r->way, a->in, a->out);
    a->weights = (double*)(void*)take(&scratch, entries * sizeof(double));
    a->indices = (int32_t*)(void*)take(&scratch, entries * sizeof(int32_t));
    a->outside = take(&scratch, (uint64_t)a->out);
  }
  r->weights_f32 = (float*)(void*)take(&scratch, last_size(r));
  r->rows = scratch;
  r->row_size = row_size(r);
}

// ---------------------------------------------------------------------------------------------
// Reading

static void read_way(const stow_kernel_call* call, stowi_resize* r) {
  *r = (stowi_resize){.call = call,
                      .x = stow_kernel_operand(call, 0),
                      .y = stow_kernel_result(call, 0),
                      .extrapolation = stow_kernel_float(call, "extrapolation_value", 0)};
  r->way.mode = stow_kernel_is(call, "mode", "linear")  ? STOWI_RESIZE_LINEAR
                : stow_kernel_is(call, "mode", "cubic") ? STOWI_RESIZE_CUBIC
                                                        : STOWI_RESIZE_NEAREST;
  r->way.antialias =
      stow_kernel_bool(call, "antialias", false) && r->way.mode != STOWI_RESIZE_NEAREST;
  r->way.exclude_outside = stow_kernel_bool(call, "exclude_outside", false);
  r->way.cubic_a = stow_kernel_float(call, "cubic_coeff_a", -0.75);
}

static const stow_tensor* list_of(const stow_kernel_call* call, size_t k) {
  const stow_tensor* list = stow_kernel_operand(call, k);
  return list != NULL && stow_tensor_elements(list) != 0 ? list : NULL;
}

// The |i|th axis that is listed, of |count|.
static uint32_t listed_axis(const stow_kernel_call* call, uint32_t rank, size_t i) {
  int64_t axis = (int64_t)i;
  const stow_attr* axes = stow_kernel_attr(call, "axes");
  if (axes != NULL && axes->kind == STOW_ATTR_INTS && axes->count != 0) {
    axis = i < axes->count ? axes->ints[i] : 0;
  }
  return (uint32_t)(axis < 0 ? axis + rank : axis);
}

static size_t listed_count(const stow_kernel_call* call, uint32_t rank) {
  const stow_attr* axes = stow_kernel_attr(call, "axes");
  return axes != NULL && axes->kind == STOW_ATTR_INTS && axes->count != 0 ? axes->count : rank;
}

// The scale that all listed axes have in common where the aspect ratio is kept; 0: each its own.
static float common_scale(const stowi_resize* r, const stow_tensor* sizes, size_t count) {
  bool smaller = stow_kernel_is(r->call, "keep_aspect_ratio_policy", "not_larger");
  bool larger = stow_kernel_is(r->call, "keep_aspect_ratio_policy", "not_smaller");
  float best = 0;
  for (size_t i = 0; i < count && sizes != NULL && (smaller || larger); ++i) {
    uint32_t axis = listed_axis(r->call, r->x->rank, i);
    float scale = (float)stowi_int_at(sizes, i) / (float)r->x->dims[axis];
    if (i == 0 || (larger ? scale > best : scale < best)) {
      best = scale;
    }
  }
  return best;
}

static void read_axes(stowi_resize* r) {
  for (uint32_t i = 0; i < r->x->rank; ++i) {
    stowi_resize_axis* a = &r->axes[i];
    *a = (stowi_resize_axis){.in = r->x->dims[i], .out = r->y->dims[i], .scale = 1, .roi_end = 1};
    a->scale = (float)a->out / (float)a->in;
  }
  const stow_tensor* roi = list_of(r->call, ROI);
  const stow_tensor* scales = list_of(r->call, SCALES);
  size_t count = listed_count(r->call, r->x->rank);
  float common = common_scale(r, list_of(r->call, SIZES), count);
  bool is_crop = stow_kernel_is(r->call, "coordinates", "tf_crop_and_resize");
  for (size_t i = 0; i < count; ++i) {
    stowi_resize_axis* a = &r->axes[listed_axis(r->call, r->x->rank, i)];
    if (scales != NULL) {
      a->scale = (float)stowi_float_at(scales, i);
    } else if (common > 0) {
      a->scale = common;
    }
    if (roi != NULL && is_crop && stow_tensor_elements(roi) == 2 * count) {
      a->roi_begin = (float)stowi_float_at(roi, i);
      a->roi_end = (float)stowi_float_at(roi, count + i);
    }
  }
  for (uint32_t i = 0; i < r->x->rank; ++i) {
    stowi_resize_axis* a = &r->axes[i];
    a->is_identity = a->in == a->out && a->scale == 1 && a->roi_begin == 0 && a->roi_end == 1;
  }
}

static stow_status check(const stowi_resize* r) {
  if (stowi_bits(r->x->dtype) < 8 ||
      (r->way.mode != STOWI_RESIZE_NEAREST && stowi_kind(r->x->dtype) == STOW_KIND_COMPLEX)) {
    return stow_kernel_fail(r->call, STOW_ERR_UNSUPPORTED,
                            "resize is of whole bytes, and of complex numbers to the nearest only");
  }
  for (uint32_t i = 0; i < r->x->rank; ++i) {
    const stowi_resize_axis* a = &r->axes[i];
    if (a->in > INT32_MAX || !(a->scale > 0)) {
      return stow_kernel_fail(r->call, STOW_ERR_UNSUPPORTED,
                              "dim %u of the operand or its scale is out of range", (unsigned)i);
    }
    if ((uint64_t)a->taps * (uint64_t)a->out > stowi_resize_entries(&r->way, a->in, a->out)) {
      return stow_kernel_fail(r->call, STOW_ERR_UNSUPPORTED,
                              "the scale of dim %u does not agree with its sizes", (unsigned)i);
    }
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------

bool stowi_resize_row(const stowi_resize* r, size_t row, const size_t* taps, size_t* out_first,
                      double* out_weight) {
  uint32_t last = r->x->rank - 1;
  size_t stride = (size_t)r->x->dims[last];
  *out_first = 0;
  *out_weight = 1;
  for (uint32_t i = last; i-- > 0;) {
    const stowi_resize_axis* a = &r->axes[i];
    size_t out = (size_t)a->out;
    size_t at = row % out;
    if (a->outside[at]) {
      return false;
    }
    *out_first += (size_t)a->indices[taps[i] * out + at] * stride;
    *out_weight *= a->weights[taps[i] * out + at];
    stride *= (size_t)a->in;
    row /= out;
  }
  return true;
}

static stow_status scratch_resize(const stow_kernel_call* call, uint64_t* out_bytes) {
  stowi_resize r;
  read_way(call, &r);
  *out_bytes = 0;
  for (uint32_t i = 0; i < r.x->rank; ++i) {
    *out_bytes += axis_size(&r, i);
  }
  if (r.x->rank != 0) {
    *out_bytes += last_size(&r) + row_size(&r) * call->workers;
  }
  return STOW_OK;
}

static void fill_tables(stowi_resize* r) {
  for (uint32_t i = 0; i < r->x->rank; ++i) {
    stowi_resize_fill(r->call, &r->way, &r->axes[i]);
  }
  const stowi_resize_axis* last = &r->axes[r->x->rank - 1];
  for (size_t i = 0; i < last->taps * (size_t)last->out; ++i) {
    r->weights_f32[i] = (float)last->weights[i];
  }
}

static stow_status run_resize(stow_kernel_call* call) {
  stowi_resize r;
  read_way(call, &r);
  size_t elements = stow_tensor_elements(r.y);
  if (elements == 0) {
    return STOW_OK;
  }
  if (r.x->rank == 0) {
    memcpy(r.y->data, r.x->data, stow_tensor_bytes(r.y));
    return STOW_OK;
  }
  read_axes(&r);
  for (uint32_t i = 0; i < r.x->rank; ++i) {
    r.axes[i].taps = stowi_resize_taps(&r.way, &r.axes[i]);
  }
  stow_status status = check(&r);
  if (status != STOW_OK) {
    return status;
  }
  carve(&r);
  fill_tables(&r);
  size_t width = (size_t)r.y->dims[r.x->rank - 1];
  stow_kernel_task task = r.way.mode == STOWI_RESIZE_NEAREST ? stowi_resize_nearest
                          : r.x->dtype == STOW_F32           ? stowi_resize_floats
                                                             : stowi_resize_doubles;
  stow_kernel_split(call, elements / width, 16384 / (width * 4) + 1, task, &r);
  return STOW_OK;
}

STOWI_KERNEL(RESIZE, scratch_resize, run_resize);
