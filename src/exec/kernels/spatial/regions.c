// Regions of images, each resampled to one size: crop_and_resize, max_roi_pool and roi_align.
#include <math.h>
#include <stowage/kernel.h>

#include "exec/kernels/support/convert.h"
#include "exec/kernels/support/kernel.h"

// ---------------------------------------------------------------------------------------------
// Image indices are checked before anything is read by them: linear in the regions.

// Fails where an element of |images| is not an index of dim 0 of |x|.
static stow_status check_images(const stow_kernel_call* call, const stow_tensor* x,
                                const stow_tensor* images) {
  for (size_t i = 0; i < stow_tensor_elements(images); ++i) {
    int64_t image = stowi_kernel_int_at(images, i);
    if (image < 0 || image >= x->dims[0]) {
      return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT,
                              "image %lld of region %zu is out of range (%lld images)",
                              (long long)image, i, (long long)x->dims[0]);
    }
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// crop_and_resize: regions as fractions of height and width. Points outside the image have the
// extrapolation value. Computed in f32, as in onnxruntime.

typedef struct crop_job {
  const stow_tensor* x;
  const stow_tensor* regions;
  const stow_tensor* images;
  stow_tensor* y;
  bool is_nearest;
  float outside;
} crop_job;

// Where point |i| of |count| is along a dim of |size|; numbers |k| and |k| + 2 of the region bound
// it.
static float place_of(const crop_job* j, size_t region, size_t k, size_t i, int64_t count,
                      int64_t size) {
  float begin = (float)stowi_kernel_float_at(j->regions, region * 4 + k);
  float end = (float)stowi_kernel_float_at(j->regions, region * 4 + k + 2);
  float most = (float)(size - 1);
  if (count == 1) {
    return 0.5F * (begin + end) * most;
  }
  return begin * most + (float)i * ((end - begin) * most / (float)(count - 1));
}

static float element(const crop_job* j, size_t at) {
  return (float)stowi_kernel_float_at(j->x, at);
}

static float sample(const crop_job* j, size_t first, float y, float x) {
  size_t width = (size_t)j->x->dims[3];
  if (!(y >= 0 && y <= (float)(j->x->dims[2] - 1) && x >= 0 && x <= (float)(width - 1))) {
    return j->outside;
  }
  if (j->is_nearest) {
    return element(j, first + (size_t)roundf(y) * width + (size_t)roundf(x));
  }
  size_t top = (size_t)floorf(y) * width;
  size_t bottom = (size_t)ceilf(y) * width;
  size_t left = (size_t)floorf(x);
  size_t right = (size_t)ceilf(x);
  float dy = y - floorf(y);
  float dx = x - floorf(x);
  float a = element(j, first + top + left);
  float b = element(j, first + bottom + left);
  a += (element(j, first + top + right) - a) * dx;
  b += (element(j, first + bottom + right) - b) * dx;
  return a + (b - a) * dy;
}

// One channel of one region at a time.
static void crop_task(void* user, size_t begin, size_t end, uint32_t worker) {
  (void)worker;
  const crop_job* j = user;
  size_t channels = (size_t)j->x->dims[1];
  int64_t rows = j->x->dims[2];
  int64_t columns = j->x->dims[3];
  size_t width = (size_t)j->y->dims[3];
  size_t count = (size_t)j->y->dims[2] * width;
  for (size_t i = begin; i < end; ++i) {
    size_t region = i / channels;
    size_t image = (size_t)stowi_kernel_int_at(j->images, region);
    size_t first = (image * channels + i % channels) * (size_t)(rows * columns);
    for (size_t k = 0; k < count; ++k) {
      float y = place_of(j, region, 0, k / width, j->y->dims[2], rows);
      float x = place_of(j, region, 1, k % width, j->y->dims[3], columns);
      float value = sample(j, first, y, x);
      stowi_kernel_store_f32(j->y->dtype, j->y->data, i * count + k, 1, &value);
    }
  }
}

static stow_status run_crop_and_resize(stow_kernel_call* call) {
  crop_job j = {.x = stow_kernel_operand(call, 0),
                .regions = stow_kernel_operand(call, 1),
                .images = stow_kernel_operand(call, 2),
                .y = stow_kernel_result(call, 0),
                .is_nearest = stowi_kernel_is(call, STOWI_KERNEL_ATTR_MODE, "nearest"),
                .outside = (float)stowi_kernel_float(call, STOWI_KERNEL_ATTR_OUTSIDE, 0)};
  stow_dtype dtype = j.x->dtype;
  if (dtype != STOW_F32 && dtype != STOW_F16 && dtype != STOW_BF16) {
    return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED, "x must be f32, f16 or bf16");
  }
  if (j.regions->dims[1] != 4 || stow_tensor_elements(j.images) != (size_t)j.regions->dims[0]) {
    return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT,
                            "a region must have four coordinates and an image index");
  }
  STOWI_KERNEL_TRY(check_images(call, j.x, j.images));
  stow_kernel_split(call, (size_t)(j.y->dims[0] * j.y->dims[1]), 4, crop_task, &j);
  return STOW_OK;
}

STOWI_KERNEL(CROP_AND_RESIZE, NULL, run_crop_and_resize);

// ---------------------------------------------------------------------------------------------
// max_roi_pool: the maximum of each cell of a region, whose corners are rounded to elements. An
// empty cell is 0.

typedef struct pool_job {
  const stow_tensor* x;
  const stow_tensor* regions;
  stow_tensor* y;
  double scale;
} pool_job;

static double limit(double x, double low, double high) {
  return x > low ? x < high ? x : high : low;
}

// The elements [begin, end) of cell |cell| along a dim of |size|; numbers |k| and |k| + 2 of the
// region bound it.
static void cell_range(const pool_job* j, size_t region, size_t k, size_t cell, int64_t cells,
                       int64_t size, size_t* begin, size_t* end) {
  double first = round(stowi_kernel_float_at(j->regions, region * 5 + k) * j->scale);
  double last = round(stowi_kernel_float_at(j->regions, region * 5 + k + 2) * j->scale);
  double length = last - first + 1;
  double each = (length > 1 ? length : 1) / (double)cells;
  *begin = (size_t)limit(floor((double)cell * each) + first, 0, (double)size);
  *end = (size_t)limit(ceil((double)(cell + 1) * each) + first, 0, (double)size);
}

static double cell_max(const pool_job* j, size_t first, size_t region, size_t row, size_t column) {
  size_t top, bottom, left, right;
  int64_t width = j->x->dims[3];
  cell_range(j, region, 2, row, j->y->dims[2], j->x->dims[2], &top, &bottom);
  cell_range(j, region, 1, column, j->y->dims[3], width, &left, &right);
  double best = 0;
  for (size_t y = top; y < bottom; ++y) {
    for (size_t x = left; x < right; ++x) {
      double v = stowi_kernel_float_at(j->x, first + y * (size_t)width + x);
      best = (y == top && x == left) || v > best ? v : best;
    }
  }
  return best;
}

// One channel of one region at a time.
static void pool_task(void* user, size_t begin, size_t end, uint32_t worker) {
  (void)worker;
  const pool_job* j = user;
  size_t channels = (size_t)j->x->dims[1];
  size_t plane = (size_t)j->x->dims[2] * (size_t)j->x->dims[3];
  size_t width = (size_t)j->y->dims[3];
  size_t count = (size_t)j->y->dims[2] * width;
  for (size_t i = begin; i < end; ++i) {
    size_t region = i / channels;
    size_t image = (size_t)stowi_kernel_float_at(j->regions, region * 5);
    for (size_t k = 0; k < count; ++k) {
      double best =
          cell_max(j, (image * channels + i % channels) * plane, region, k / width, k % width);
      stowi_kernel_store_f64(j->y->dtype, j->y->data, i * count + k, 1, &best);
    }
  }
}

static stow_status run_max_roi_pool(stow_kernel_call* call) {
  pool_job j = {.x = stow_kernel_operand(call, 0),
                .regions = stow_kernel_operand(call, 1),
                .y = stow_kernel_result(call, 0),
                .scale = stowi_kernel_float(call, STOWI_KERNEL_ATTR_SPATIAL_SCALE, 1)};
  if (stowi_kernel_kind(j.x->dtype) != STOW_KIND_FLOAT || stowi_kernel_bits(j.x->dtype) < 16) {
    return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED, "x must be f32, f16, bf16 or f64");
  }
  for (size_t i = 0; i < (size_t)j.regions->dims[0]; ++i) {
    double image = stowi_kernel_float_at(j.regions, i * 5);
    if (!(image >= 0 && image < (double)j.x->dims[0])) {
      return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT,
                              "image %g of region %zu is out of range (%lld images)", image, i,
                              (long long)j.x->dims[0]);
    }
  }
  stow_kernel_split(call, (size_t)(j.y->dims[0] * j.y->dims[1]), 8, pool_task, &j);
  return STOW_OK;
}

STOWI_KERNEL(MAX_ROI_POOL, NULL, run_max_roi_pool);

// ---------------------------------------------------------------------------------------------
// roi_align: each cell of a region is the average, or the maximum, of samples at a grid of points
// between elements. Samples are computed per channel; sums are in double. As in onnxruntime and
// ONNX's reference, the maximum is that of the weighted corners, not of the samples.

#define MOST_SAMPLES 1e6  // along one dim of a cell

typedef struct align_job {
  const stow_tensor* x;
  const stow_tensor* regions;
  const stow_tensor* images;
  stow_tensor* y;
  bool is_max;
  bool is_half_pixel;
  int64_t ratio;
  double scale;
} align_job;

// Cells of a region along one dim.
typedef struct cells {
  double begin;
  double size;      // of a cell
  int64_t samples;  // in a cell
} cells;

static cells cells_of(const align_job* j, size_t region, size_t k, int64_t count) {
  double offset = j->is_half_pixel ? 0.5 : 0;
  double begin = stowi_kernel_float_at(j->regions, region * 4 + k) * j->scale - offset;
  double end = stowi_kernel_float_at(j->regions, region * 4 + 2 + k) * j->scale - offset;
  double length = end - begin;
  if (!j->is_half_pixel && !(length >= 1)) {
    length = 1;
  }
  double size = length / (double)count;
  double samples = j->ratio > 0 ? (double)j->ratio : ceil(size);
  bool is_sane = samples >= 0 && samples <= MOST_SAMPLES;
  return (cells){begin, size, is_sane ? (int64_t)samples : 0};
}

// The two elements around a point along one dim, and how far it is from the first. False where it
// is too far outside.
static bool find_pair(double at, int64_t size, size_t* first, size_t* second, double* part) {
  if (!(at >= -1 && at <= (double)size)) {
    return false;
  }
  at = at > 0 ? at : 0;
  *first = (size_t)at;
  if (*first + 1 >= (size_t)size) {
    *first = *second = (size_t)size - 1;
    *part = 0;
  } else {
    *second = *first + 1;
    *part = at - (double)*first;
  }
  return true;
}

// Adds one sample to |*sum|, or keeps the largest of its corners there.
static void add_sample(const align_job* j, size_t first, double y, double x, bool is_first,
                       double* sum) {
  int64_t width = j->x->dims[3];
  size_t y0, y1, x0, x1;
  double dy;
  double dx;
  double corners[4] = {0};
  if (find_pair(y, j->x->dims[2], &y0, &y1, &dy) && find_pair(x, width, &x0, &x1, &dx)) {
    corners[0] = (1 - dy) * (1 - dx) * stowi_kernel_float_at(j->x, first + y0 * (size_t)width + x0);
    corners[1] = (1 - dy) * dx * stowi_kernel_float_at(j->x, first + y0 * (size_t)width + x1);
    corners[2] = dy * (1 - dx) * stowi_kernel_float_at(j->x, first + y1 * (size_t)width + x0);
    corners[3] = dy * dx * stowi_kernel_float_at(j->x, first + y1 * (size_t)width + x1);
  }
  if (!j->is_max) {
    *sum += corners[0] + corners[1] + corners[2] + corners[3];
    return;
  }
  for (size_t i = 0; i < 4; ++i) {
    *sum = (is_first && i == 0) || corners[i] > *sum ? corners[i] : *sum;
  }
}

static double cell_at(const align_job* j, size_t first, const cells* rows, const cells* columns,
                      size_t row, size_t column) {
  double sum = 0;
  for (int64_t i = 0; i < rows->samples; ++i) {
    double y = rows->begin + rows->size * ((double)row + ((double)i + 0.5) / (double)rows->samples);
    for (int64_t k = 0; k < columns->samples; ++k) {
      double x = columns->begin +
                 columns->size * ((double)column + ((double)k + 0.5) / (double)columns->samples);
      add_sample(j, first, y, x, i == 0 && k == 0, &sum);
    }
  }
  int64_t count = rows->samples * columns->samples;
  return j->is_max || count == 0 ? sum : sum / (double)count;
}

// One channel of one region at a time.
static void align_task(void* user, size_t begin, size_t end, uint32_t worker) {
  (void)worker;
  const align_job* j = user;
  size_t channels = (size_t)j->x->dims[1];
  size_t plane = (size_t)j->x->dims[2] * (size_t)j->x->dims[3];
  size_t height = (size_t)j->y->dims[2];
  size_t width = (size_t)j->y->dims[3];
  for (size_t i = begin; i < end; ++i) {
    size_t region = i / channels;
    size_t image = (size_t)stowi_kernel_int_at(j->images, region);
    cells columns = cells_of(j, region, 0, j->y->dims[3]);
    cells rows = cells_of(j, region, 1, j->y->dims[2]);
    size_t first = (image * channels + i % channels) * plane;
    for (size_t k = 0; k < height * width; ++k) {
      double value = cell_at(j, first, &rows, &columns, k / width, k % width);
      stowi_kernel_store_f64(j->y->dtype, j->y->data, i * height * width + k, 1, &value);
    }
  }
}

static stow_status run_roi_align(stow_kernel_call* call) {
  align_job j = {
      .x = stow_kernel_operand(call, 0),
      .regions = stow_kernel_operand(call, 1),
      .images = stow_kernel_operand(call, 2),
      .y = stow_kernel_result(call, 0),
      .is_max = stowi_kernel_is(call, STOWI_KERNEL_ATTR_MODE, "max"),
      .is_half_pixel = stowi_kernel_is(call, STOWI_KERNEL_ATTR_COORDINATES, "half_pixel"),
      .ratio = stowi_kernel_int(call, STOWI_KERNEL_ATTR_SAMPLING_RATIO, 0),
      .scale = stowi_kernel_float(call, STOWI_KERNEL_ATTR_SPATIAL_SCALE, 1)};
  if (stowi_kernel_kind(j.x->dtype) != STOW_KIND_FLOAT || stowi_kernel_bits(j.x->dtype) < 16) {
    return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED, "x must be f32, f16, bf16 or f64");
  }
  STOWI_KERNEL_TRY(check_images(call, j.x, j.images));
  if (stow_tensor_elements(j.y) != 0 && stow_tensor_elements(j.x) == 0) {
    return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT, "x is empty");
  }
  stow_kernel_split(call, (size_t)(j.y->dims[0] * j.y->dims[1]), 8, align_task, &j);
  return STOW_OK;
}

STOWI_KERNEL(ROI_ALIGN, NULL, run_roi_align);
