// resize. A table per axis holds the elements and weights of each position (resize_axis.c). Rows of
// the result are made one by one: rows of x are summed with the weights of all other axes, then the
// last axis is applied to that sum; or, for the nearest, elements are copied. Cost: the taps of one
// axis per element, and the taps of the others per row.
#include <string.h>

#include "exec/kernels/spatial/resize_axis.h"
#include "exec/kernels/support/convert.h"
#include "exec/kernels/support/kernel.h"
#include "exec/kernels/support/size.h"

typedef struct resizing {
  const stow_kernel_call* call;
  const stow_tensor* x;
  stow_tensor* y;
  stowi_kernel_resize_way way;
  stowi_kernel_resize_axis axes[STOW_MAX_RANK];
  float* weights_f32;   // of the last axis
  unsigned char* rows;  // a row of x for each worker
  uint64_t row_size;    // bytes of one
  double extrapolation;
} resizing;

// Which element of x the row begins at that tap k of each axis but the last reads for row |row| of
// y; taps[i] is the tap of axis i. The product of the weights is |*weight|. False where the row is
// outside.
static bool resize_row(const resizing* r, size_t row, const size_t* taps, size_t* out_first,
                       double* out_weight) {
  uint32_t last = r->x->rank - 1;
  size_t stride = (size_t)r->x->dims[last];
  *out_first = 0;
  *out_weight = 1;
  for (uint32_t i = last; i-- > 0;) {
    const stowi_kernel_resize_axis* a = &r->axes[i];
    size_t at = row % (size_t)a->out - a->first;
    if (a->outside[at]) {
      return false;
    }
    *out_first += (size_t)a->indices[taps[i] * a->count + at] * stride;
    *out_weight *= a->weights[taps[i] * a->count + at];
    stride *= (size_t)a->in;
    row /= (size_t)a->out;
  }
  return true;
}

// ---------------------------------------------------------------------------------------------
// Nearest: elements are copied by their width. A row that reads the same row of x as the one before
// it is copied whole, as every second row of an image that doubles in size.

#define PICK(type)                       \
  do {                                   \
    const type* from = (const type*)x;   \
    type* to = (type*)y;                 \
    for (size_t i = 0; i < count; ++i) { \
      to[i] = from[indices[i]];          \
    }                                    \
  } while (0)

static void pick(size_t size, const void* x, const int32_t* indices, size_t count, void* y) {
  switch (size) {
    case 1: PICK(uint8_t); break;
    case 2: PICK(uint16_t); break;
    case 4: PICK(uint32_t); break;
    case 8: PICK(uint64_t); break;
    default:
      for (size_t i = 0; i < count; ++i) {
        memcpy((unsigned char*)y + i * size, (const unsigned char*)x + (size_t)indices[i] * size,
               size);
      }
      break;
  }
}

static void fill_outside(const resizing* r, size_t first, size_t count, bool all) {
  const stowi_kernel_resize_axis* last = &r->axes[r->x->rank - 1];
  for (size_t i = 0; i < count && (all || last->has_outside); ++i) {
    if (all || last->outside[i]) {
      stowi_kernel_store_f64(r->y->dtype, r->y->data, first + i, 1, &r->extrapolation);
    }
  }
}

// Rows [begin, end) of y, which is made of elements of x.
static void resize_nearest(void* resize, size_t begin, size_t end, uint32_t worker) {
  (void)worker;
  static const size_t taps[STOW_MAX_RANK] = {0};
  const resizing* r = resize;
  const stowi_kernel_resize_axis* last = &r->axes[r->x->rank - 1];
  size_t size = stowi_kernel_bits(r->x->dtype) / 8;
  size_t width = (size_t)last->out;
  size_t previous = SIZE_MAX;
  for (size_t row = begin; row < end; ++row) {
    size_t first;
    double weight;
    unsigned char* y = (unsigned char*)r->y->data + row * width * size;
    bool is_inside = resize_row(r, row, taps, &first, &weight);
    if (is_inside && first == previous) {
      memcpy(y, y - width * size, width * size);
      continue;
    }
    previous = is_inside ? first : SIZE_MAX;
    if (is_inside) {
      pick(size, (const unsigned char*)r->x->data + first * size, last->indices, width, y);
    }
    fill_outside(r, row * width, width, !is_inside);
  }
}

// ---------------------------------------------------------------------------------------------
// Weighted sums: rows of x are summed with the weights of all axes but the last, whose taps are
// then applied to that row. f32 in f32; all others in double, integers clamped to their range and
// truncated.
//
// Bits: taps in ascending order, the last axis last.

// The next combination of taps of all axes but the last; false after the last one.
static bool next_taps(const resizing* r, size_t* taps) {
  for (uint32_t i = r->x->rank - 1; i-- > 0;) {
    if (++taps[i] < r->axes[i].taps) {
      return true;
    }
    taps[i] = 0;
  }
  return false;
}

// ---------------------------------------------------------------------------------------------
// f32

static bool sum_floats(const resizing* r, size_t row, float* sum) {
  size_t taps[STOW_MAX_RANK] = {0};
  size_t width = (size_t)r->axes[r->x->rank - 1].in;
  bool is_first = true;
  do {
    size_t first;
    double weight;
    if (!resize_row(r, row, taps, &first, &weight)) {
      return false;
    }
    const float* x = (const float*)r->x->data + first;
    float w = (float)weight;
    if (is_first) {
      for (size_t i = 0; i < width; ++i) {
        sum[i] = w * x[i];
      }
    } else if (w != 0) {
      for (size_t i = 0; i < width; ++i) {
        sum[i] += w * x[i];
      }
    }
    is_first = false;
  } while (next_taps(r, taps));
  return true;
}

static void pick_floats(const stowi_kernel_resize_axis* last, const float* weights,
                        const float* sum, float* y) {
  size_t width = (size_t)last->out;
  const int32_t* indices = last->indices;
  if (last->taps == 2) {
    for (size_t i = 0; i < width; ++i) {
      y[i] = weights[i] * sum[indices[i]] + weights[width + i] * sum[indices[width + i]];
    }
    return;
  }
  for (size_t i = 0; i < width; ++i) {
    y[i] = weights[i] * sum[indices[i]];
  }
  for (size_t k = 1; k < last->taps; ++k) {
    for (size_t i = 0; i < width; ++i) {
      y[i] += weights[k * width + i] * sum[indices[k * width + i]];
    }
  }
}

// Rows [begin, end) of y as weighted sums: f32.
static void resize_floats(void* resize, size_t begin, size_t end, uint32_t worker) {
  const resizing* r = resize;
  const stowi_kernel_resize_axis* last = &r->axes[r->x->rank - 1];
  float* sum = (float*)(void*)(r->rows + worker * r->row_size);
  size_t width = (size_t)last->out;
  for (size_t row = begin; row < end; ++row) {
    bool is_inside = sum_floats(r, row, sum);
    if (is_inside) {
      pick_floats(last, r->weights_f32, sum, (float*)r->y->data + row * width);
    }
    fill_outside(r, row * width, width, !is_inside);
  }
}

// ---------------------------------------------------------------------------------------------
// Others

static bool sum_doubles(const resizing* r, size_t row, double* x, double* sum) {
  size_t taps[STOW_MAX_RANK] = {0};
  size_t width = (size_t)r->axes[r->x->rank - 1].in;
  for (size_t i = 0; i < width; ++i) {
    sum[i] = 0;
  }
  do {
    size_t first;
    double weight;
    if (!resize_row(r, row, taps, &first, &weight)) {
      return false;
    }
    stowi_kernel_load_f64(r->x->dtype, r->x->data, first, width, x);
    for (size_t i = 0; i < width && weight != 0; ++i) {
      sum[i] += weight * x[i];
    }
  } while (next_taps(r, taps));
  return true;
}

// What an integer dtype can hold; floats as they are.
static double limit(stow_dtype dtype, double v) {
  stow_dtype_kind kind = stowi_kernel_kind(dtype);
  if (kind != STOW_KIND_SIGNED && kind != STOW_KIND_UNSIGNED) {
    return v;
  }
  bool is_signed = kind == STOW_KIND_SIGNED;
  double range = 1;
  for (uint32_t i = is_signed ? 1 : 0; i < stowi_kernel_bits(dtype); ++i) {
    range *= 2;
  }
  // The largest double below 2^64 and the like.
  double high = stowi_kernel_bits(dtype) == 64 ? range * (1 - 0x1p-53) : range - 1;
  double low = is_signed ? -range : 0;
  return v > high ? high : v > low ? v : low;
}

// The same in double, for every other dtype.
static void resize_doubles(void* resize, size_t begin, size_t end, uint32_t worker) {
  const resizing* r = resize;
  const stowi_kernel_resize_axis* last = &r->axes[r->x->rank - 1];
  double* x = (double*)(void*)(r->rows + worker * r->row_size);
  double* sum = x + last->in;
  size_t width = (size_t)last->out;
  for (size_t row = begin; row < end; ++row) {
    bool is_inside = sum_doubles(r, row, x, sum);
    for (size_t i = 0; i < width && is_inside; ++i) {
      double value = 0;
      for (size_t k = 0; k < last->taps; ++k) {
        value += last->weights[k * width + i] * sum[last->indices[k * width + i]];
      }
      value = limit(r->y->dtype, value);
      stowi_kernel_store_f64(r->y->dtype, r->y->data, row * width + i, 1, &value);
    }
    fill_outside(r, row * width, width, !is_inside);
  }
}

// ---------------------------------------------------------------------------------------------
// In little room: the tables of a row's position on the other axes, and of some positions on the
// last one; the sum of rows is made for each element of it that is read. The same order of sums.

enum { LEAN_POSITIONS = 16, MOST_TAPS = 4 };

typedef struct lean_table {
  double weights[MOST_TAPS];
  int32_t indices[MOST_TAPS];
  unsigned char outside;
} lean_table;

typedef struct lean_last {
  double weights[MOST_TAPS * LEAN_POSITIONS];
  int32_t indices[MOST_TAPS * LEAN_POSITIONS];
  unsigned char outside[LEAN_POSITIONS];
} lean_last;

// Of a worker.
static uint64_t lean_size(const resizing* r) {
  return stowi_kernel_align64(sizeof(lean_last) + (r->x->rank - 1) * sizeof(lean_table));
}

// One element of the sum of rows that |row| of y reads; false where the row is outside.
static bool sum_element(const resizing* r, size_t row, size_t index, double* out) {
  size_t taps[STOW_MAX_RANK] = {0};
  bool is_f32 = r->x->dtype == STOW_F32;
  bool is_first = true;
  float narrow = 0;
  double sum = 0;
  do {
    size_t first;
    double weight;
    if (!resize_row(r, row, taps, &first, &weight)) {
      return false;
    }
    if (is_f32) {
      float w = (float)weight;
      float x = ((const float*)r->x->data)[first + index];
      narrow = is_first ? w * x : w != 0 ? narrow + w * x : narrow;
    } else if (weight != 0) {
      double x;
      stowi_kernel_load_f64(r->x->dtype, r->x->data, first + index, 1, &x);
      sum += weight * x;
    }
    is_first = false;
  } while (next_taps(r, taps));
  *out = is_f32 ? (double)narrow : sum;
  return true;
}

// Position |i| of the last axis's tables; false where the row is outside.
static bool sum_position(const resizing* r, size_t row, size_t i, size_t at) {
  const stowi_kernel_resize_axis* last = &r->axes[r->x->rank - 1];
  float narrow = 0;
  double value = 0;
  for (size_t k = 0; k < last->taps; ++k) {
    double weight = last->weights[k * last->count + i];
    double x;
    if (!sum_element(r, row, (size_t)last->indices[k * last->count + i], &x)) {
      return false;
    }
    narrow = k == 0 ? (float)weight * (float)x : narrow + (float)weight * (float)x;
    value += weight * x;
  }
  if (r->x->dtype == STOW_F32) {
    ((float*)r->y->data)[at] = narrow;
  } else {
    value = limit(r->y->dtype, value);
    stowi_kernel_store_f64(r->y->dtype, r->y->data, at, 1, &value);
  }
  return true;
}

// Positions of the last axis's tables, of row |row| of y; the first is element |at|.
static void resize_piece(const resizing* r, size_t row, size_t at) {
  static const size_t taps[STOW_MAX_RANK] = {0};
  const stowi_kernel_resize_axis* last = &r->axes[r->x->rank - 1];
  size_t first;
  double weight;
  bool is_inside = resize_row(r, row, taps, &first, &weight);
  if (is_inside && r->way.mode == STOWI_KERNEL_RESIZE_NEAREST) {
    size_t size = stowi_kernel_bits(r->x->dtype) / 8;
    pick(size, (const unsigned char*)r->x->data + first * size, last->indices, last->count,
         (unsigned char*)r->y->data + at * size);
  } else {
    for (size_t i = 0; i < last->count && is_inside; ++i) {
      is_inside = sum_position(r, row, i, at + i);
    }
  }
  fill_outside(r, at, last->count, !is_inside);
}

static void fill_row_tables(resizing* r, size_t row) {
  for (uint32_t i = r->x->rank - 1; i-- > 0;) {
    stowi_kernel_resize_axis* a = &r->axes[i];
    size_t at = row % (size_t)a->out;
    if (a->count == 0 || a->first != at) {
      stowi_kernel_resize_fill(r->call, &r->way, a, at, 1);
    }
    row /= (size_t)a->out;
  }
}

static void resize_lean(void* resize, size_t begin, size_t end, uint32_t worker) {
  resizing r = *(const resizing*)resize;
  uint32_t rank = r.x->rank;
  stowi_kernel_resize_axis* last = &r.axes[rank - 1];
  size_t width = (size_t)last->out;
  unsigned char* mine = (unsigned char*)r.call->scratch + worker * lean_size(&r);
  lean_last* table = (lean_last*)(void*)mine;
  lean_table* tables = (lean_table*)(void*)(mine + sizeof(lean_last));
  last->weights = table->weights;
  last->indices = table->indices;
  last->outside = table->outside;
  for (uint32_t i = 0; i + 1 < rank; ++i) {
    r.axes[i].weights = tables[i].weights;
    r.axes[i].indices = tables[i].indices;
    r.axes[i].outside = &tables[i].outside;
  }
  for (size_t row = begin; row < end; ++row) {
    fill_row_tables(&r, row);
    for (size_t column = 0; column < width; column += LEAN_POSITIONS) {
      size_t count = stowi_kernel_smaller(LEAN_POSITIONS, width - column);
      stowi_kernel_resize_fill(r.call, &r.way, last, column, count);
      resize_piece(&r, row, row * width + column);
    }
  }
}

// ---------------------------------------------------------------------------------------------
// The kernel

#define ROI 1
#define SCALES 2
#define SIZES 3

// ---------------------------------------------------------------------------------------------
// Scratch: tables, then rows

static uint64_t axis_size(const resizing* r, uint32_t i) {
  int64_t in = r->x->dims[i];
  int64_t out = r->y->dims[i];
  uint64_t entries = stowi_kernel_resize_entries(&r->way, in, out);
  return stowi_kernel_align64(entries * sizeof(double)) +
         stowi_kernel_align64(entries * sizeof(int32_t)) + stowi_kernel_align64((uint64_t)out);
}

static uint64_t last_size(const resizing* r) {
  uint32_t last = r->x->rank - 1;
  uint64_t entries = stowi_kernel_resize_entries(&r->way, r->x->dims[last], r->y->dims[last]);
  return stowi_kernel_align64(entries * sizeof(float));
}

static uint64_t row_size(const resizing* r) {
  return stowi_kernel_align64((uint64_t)r->x->dims[r->x->rank - 1] * 2 * sizeof(double));
}

static unsigned char* take(unsigned char** from, uint64_t size) {
  unsigned char* taken = *from;
  *from += stowi_kernel_align64(size);
  return taken;
}

static void carve(resizing* r) {
  unsigned char* scratch = r->call->scratch;
  for (uint32_t i = 0; i < r->x->rank; ++i) {
    stowi_kernel_resize_axis* a = &r->axes[i];
    uint64_t entries = stowi_kernel_resize_entries(&r->way, a->in, a->out);
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

static void read_way(const stow_kernel_call* call, resizing* r) {
  *r = (resizing){
      .call = call,
      .x = stow_kernel_operand(call, 0),
      .y = stow_kernel_result(call, 0),
      .extrapolation = stowi_kernel_float(call, STOWI_KERNEL_ATTR_EXTRAPOLATION_VALUE, 0)};
  r->way.mode = stowi_kernel_is(call, STOWI_KERNEL_ATTR_MODE, "linear") ? STOWI_KERNEL_RESIZE_LINEAR
                : stowi_kernel_is(call, STOWI_KERNEL_ATTR_MODE, "cubic")
                    ? STOWI_KERNEL_RESIZE_CUBIC
                    : STOWI_KERNEL_RESIZE_NEAREST;
  r->way.antialias = stowi_kernel_bool(call, STOWI_KERNEL_ATTR_ANTIALIAS, false) &&
                     r->way.mode != STOWI_KERNEL_RESIZE_NEAREST;
  r->way.exclude_outside = stowi_kernel_bool(call, STOWI_KERNEL_ATTR_EXCLUDE_OUTSIDE, false);
  r->way.cubic_a = stowi_kernel_float(call, STOWI_KERNEL_ATTR_CUBIC_COEFF_A, -0.75);
}

static const stow_tensor* list_of(const stow_kernel_call* call, size_t k) {
  const stow_tensor* list = stow_kernel_operand(call, k);
  return list != NULL && stow_tensor_elements(list) != 0 ? list : NULL;
}

// The |i|th axis that is listed, of |count|.
static uint32_t listed_axis(const stow_kernel_call* call, uint32_t rank, size_t i) {
  int64_t axis = (int64_t)i;
  const stow_attr* axes = stowi_kernel_attr(call, STOWI_KERNEL_ATTR_AXES);
  if (axes != NULL && axes->kind == STOW_ATTR_INTS && axes->count != 0) {
    axis = i < axes->count ? axes->ints[i] : 0;
  }
  return (uint32_t)(axis < 0 ? axis + rank : axis);
}

static size_t listed_count(const stow_kernel_call* call, uint32_t rank) {
  const stow_attr* axes = stowi_kernel_attr(call, STOWI_KERNEL_ATTR_AXES);
  return axes != NULL && axes->kind == STOW_ATTR_INTS && axes->count != 0 ? axes->count : rank;
}

// The scale that all listed axes have in common where the aspect ratio is kept; 0: each its own.
static float common_scale(const resizing* r, const stow_tensor* sizes, size_t count) {
  bool smaller = stowi_kernel_is(r->call, STOWI_KERNEL_ATTR_KEEP_ASPECT_RATIO_POLICY, "not_larger");
  bool larger = stowi_kernel_is(r->call, STOWI_KERNEL_ATTR_KEEP_ASPECT_RATIO_POLICY, "not_smaller");
  float best = 0;
  for (size_t i = 0; i < count && sizes != NULL && (smaller || larger); ++i) {
    uint32_t axis = listed_axis(r->call, r->x->rank, i);
    float scale = (float)stowi_kernel_int_at(sizes, i) / (float)r->x->dims[axis];
    if (i == 0 || (larger ? scale > best : scale < best)) {
      best = scale;
    }
  }
  return best;
}

static void read_axes(resizing* r) {
  for (uint32_t i = 0; i < r->x->rank; ++i) {
    stowi_kernel_resize_axis* a = &r->axes[i];
    *a = (stowi_kernel_resize_axis){
        .in = r->x->dims[i], .out = r->y->dims[i], .scale = 1, .roi_end = 1};
    a->scale = (float)a->out / (float)a->in;
  }
  const stow_tensor* roi = list_of(r->call, ROI);
  const stow_tensor* scales = list_of(r->call, SCALES);
  size_t count = listed_count(r->call, r->x->rank);
  float common = common_scale(r, list_of(r->call, SIZES), count);
  bool is_crop = stowi_kernel_is(r->call, STOWI_KERNEL_ATTR_COORDINATES, "tf_crop_and_resize");
  for (size_t i = 0; i < count; ++i) {
    stowi_kernel_resize_axis* a = &r->axes[listed_axis(r->call, r->x->rank, i)];
    if (scales != NULL) {
      a->scale = (float)stowi_kernel_float_at(scales, i);
    } else if (common > 0) {
      a->scale = common;
    }
    if (roi != NULL && is_crop && stow_tensor_elements(roi) == 2 * count) {
      a->roi_begin = (float)stowi_kernel_float_at(roi, i);
      a->roi_end = (float)stowi_kernel_float_at(roi, count + i);
    }
  }
  for (uint32_t i = 0; i < r->x->rank; ++i) {
    stowi_kernel_resize_axis* a = &r->axes[i];
    a->is_identity = a->in == a->out && a->scale == 1 && a->roi_begin == 0 && a->roi_end == 1;
  }
}

static stow_status check(const resizing* r) {
  if (stowi_kernel_bits(r->x->dtype) < 8 || (r->way.mode != STOWI_KERNEL_RESIZE_NEAREST &&
                                             stowi_kernel_kind(r->x->dtype) == STOW_KIND_COMPLEX)) {
    return stow_kernel_fail(
        r->call, STOW_ERR_UNSUPPORTED,
        "elements of less than a byte are unsupported, and complex numbers only in mode nearest");
  }
  for (uint32_t i = 0; i < r->x->rank; ++i) {
    const stowi_kernel_resize_axis* a = &r->axes[i];
    if (a->in > INT32_MAX || !(a->scale > 0)) {
      return stow_kernel_fail(r->call, STOW_ERR_UNSUPPORTED,
                              "dim %u of the operand or its scale is out of range", (unsigned)i);
    }
    if ((uint64_t)a->taps * (uint64_t)a->out >
        stowi_kernel_resize_entries(&r->way, a->in, a->out)) {
      return stow_kernel_fail(r->call, STOW_ERR_UNSUPPORTED,
                              "the scale of dim %u does not agree with its sizes", (unsigned)i);
    }
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------

// Tables and rows.
static uint64_t fast_size(const resizing* r) {
  uint64_t size = last_size(r) + row_size(r) * r->call->workers;
  for (uint32_t i = 0; i < r->x->rank; ++i) {
    size += axis_size(r, i);
  }
  return size;
}

// With antialiasing there may be many taps.
static bool is_lean(const resizing* r) {
  return !r->way.antialias &&
         stowi_kernel_is_lean(r->call, fast_size(r), lean_size(r) * r->call->workers);
}

static stow_status scratch_resize(const stow_kernel_call* call, uint64_t* out_bytes) {
  resizing r;
  read_way(call, &r);
  *out_bytes = 0;
  if (r.x->rank != 0) {
    *out_bytes = is_lean(&r) ? lean_size(&r) * call->workers : fast_size(&r);
  }
  return STOW_OK;
}

static void fill_tables(resizing* r) {
  for (uint32_t i = 0; i < r->x->rank; ++i) {
    stowi_kernel_resize_fill(r->call, &r->way, &r->axes[i], 0, (size_t)r->axes[i].out);
  }
  const stowi_kernel_resize_axis* last = &r->axes[r->x->rank - 1];
  for (size_t i = 0; i < last->taps * (size_t)last->out; ++i) {
    r->weights_f32[i] = (float)last->weights[i];
  }
}

static stow_status run_resize(stow_kernel_call* call) {
  resizing r;
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
    r.axes[i].taps = stowi_kernel_resize_taps(&r.way, &r.axes[i]);
  }
  STOWI_KERNEL_TRY(check(&r));
  stow_split_task task = r.way.mode == STOWI_KERNEL_RESIZE_NEAREST ? resize_nearest
                         : r.x->dtype == STOW_F32                  ? resize_floats
                                                                   : resize_doubles;
  if (is_lean(&r)) {
    task = resize_lean;
  } else {
    carve(&r);
    fill_tables(&r);
  }
  size_t width = (size_t)r.y->dims[r.x->rank - 1];
  stow_kernel_split(call, elements / width, 16384 / (width * 4) + 1, task, &r);
  return STOW_OK;
}

STOWI_KERNEL(RESIZE, scratch_resize, run_resize, .variant_count = 2);
