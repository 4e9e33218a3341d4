// roi_align: each cell of a region is the average, or the largest, of samples at a grid of points
// between elements. Samples are taken anew for each channel; sums are in double. As onnxruntime and
// ONNX's reference do, the largest is that of the weighted corners, not of the samples.
#include <math.h>

#include "exec/kernels/spatial/regions.h"
#include "exec/kernels/support/convert.h"
#include "exec/kernels/support/kernel.h"

#define MOST_SAMPLES 1e6  // along one dim of a cell

typedef struct job {
  const stow_tensor* x;
  const stow_tensor* regions;
  const stow_tensor* images;
  stow_tensor* y;
  bool is_max;
  bool is_half_pixel;
  int64_t ratio;
  double scale;
} job;

// Cells of a region along one dim.
typedef struct cells {
  double begin;
  double size;      // of a cell
  int64_t samples;  // in a cell
} cells;

static cells cells_of(const job* j, size_t region, size_t k, int64_t count) {
  double offset = j->is_half_pixel ? 0.5 : 0;
  double begin = stowi_float_at(j->regions, region * 4 + k) * j->scale - offset;
  double end = stowi_float_at(j->regions, region * 4 + 2 + k) * j->scale - offset;
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
static void add_sample(const job* j, size_t first, double y, double x, bool is_first, double* sum) {
  int64_t width = j->x->dims[3];
  size_t y0, y1, x0, x1;
  double dy;
  double dx;
  double corners[4] = {0};
  if (find_pair(y, j->x->dims[2], &y0, &y1, &dy) && find_pair(x, width, &x0, &x1, &dx)) {
    corners[0] = (1 - dy) * (1 - dx) * stowi_float_at(j->x, first + y0 * (size_t)width + x0);
    corners[1] = (1 - dy) * dx * stowi_float_at(j->x, first + y0 * (size_t)width + x1);
    corners[2] = dy * (1 - dx) * stowi_float_at(j->x, first + y1 * (size_t)width + x0);
    corners[3] = dy * dx * stowi_float_at(j->x, first + y1 * (size_t)width + x1);
  }
  if (!j->is_max) {
    *sum += corners[0] + corners[1] + corners[2] + corners[3];
    return;
  }
  for (size_t i = 0; i < 4; ++i) {
    *sum = (is_first && i == 0) || corners[i] > *sum ? corners[i] : *sum;
  }
}

static double cell_at(const job* j, size_t first, const cells* rows, const cells* columns,
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
  const job* j = user;
  size_t channels = (size_t)j->x->dims[1];
  size_t plane = (size_t)j->x->dims[2] * (size_t)j->x->dims[3];
  size_t height = (size_t)j->y->dims[2];
  size_t width = (size_t)j->y->dims[3];
  for (size_t i = begin; i < end; ++i) {
    size_t region = i / channels;
    size_t image = (size_t)stowi_int_at(j->images, region);
    cells columns = cells_of(j, region, 0, j->y->dims[3]);
    cells rows = cells_of(j, region, 1, j->y->dims[2]);
    size_t first = (image * channels + i % channels) * plane;
    for (size_t k = 0; k < height * width; ++k) {
      double value = cell_at(j, first, &rows, &columns, k / width, k % width);
      stowi_store_f64(j->y->dtype, j->y->data, i * height * width + k, 1, &value);
    }
  }
}

static stow_status run_roi_align(stow_kernel_call* call) {
  job j = {.x = stow_kernel_operand(call, 0),
           .regions = stow_kernel_operand(call, 1),
           .images = stow_kernel_operand(call, 2),
           .y = stow_kernel_result(call, 0),
           .is_max = stow_kernel_is(call, "mode", "max"),
           .is_half_pixel = stow_kernel_is(call, "coordinates", "half_pixel"),
           .ratio = stow_kernel_int(call, "sampling_ratio", 0),
           .scale = stow_kernel_float(call, "spatial_scale", 1)};
  if (stowi_kind(j.x->dtype) != STOW_KIND_FLOAT || stowi_bits(j.x->dtype) < 16) {
    return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED, "x must be of f32, f16, bf16 or f64");
  }
  stow_status status = stowi_check_images(call, j.x, j.images);
  if (status != STOW_OK) {
    return status;
  }
  if (stow_tensor_elements(j.y) != 0 && stow_tensor_elements(j.x) == 0) {
    return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT, "x has no elements to sample");
  }
  stow_kernel_split(call, (size_t)(j.y->dims[0] * j.y->dims[1]), 8, align_task, &j);
  return STOW_OK;
}

STOWI_KERNEL(ROI_ALIGN, NULL, run_roi_align);
