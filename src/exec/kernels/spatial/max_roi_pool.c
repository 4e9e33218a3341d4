// max_roi_pool: the largest element of each cell of regions, whose corners are rounded to elements.
// A cell without elements is 0.
#include <math.h>

#include "exec/kernels/support/convert.h"
#include "exec/kernels/support/kernel.h"

typedef struct job {
  const stow_tensor* x;
  const stow_tensor* regions;
  stow_tensor* y;
  double scale;
} job;

static double limit(double x, double low, double high) {
  return x > low ? x < high ? x : high : low;
}

// The elements [begin, end) of cell |cell| along a dim of |size|; numbers |k| and |k| + 2 of the
// region bound it.
static void cell_range(const job* j, size_t region, size_t k, size_t cell, int64_t cells,
                       int64_t size, size_t* begin, size_t* end) {
  double first = round(stowi_float_at(j->regions, region * 5 + k) * j->scale);
  double last = round(stowi_float_at(j->regions, region * 5 + k + 2) * j->scale);
  double length = last - first + 1;
  double each = (length > 1 ? length : 1) / (double)cells;
  *begin = (size_t)limit(floor((double)cell * each) + first, 0, (double)size);
  *end = (size_t)limit(ceil((double)(cell + 1) * each) + first, 0, (double)size);
}

static double cell_max(const job* j, size_t first, size_t region, size_t row, size_t column) {
  size_t top, bottom, left, right;
  int64_t width = j->x->dims[3];
  cell_range(j, region, 2, row, j->y->dims[2], j->x->dims[2], &top, &bottom);
  cell_range(j, region, 1, column, j->y->dims[3], width, &left, &right);
  double best = 0;
  for (size_t y = top; y < bottom; ++y) {
    for (size_t x = left; x < right; ++x) {
      double v = stowi_float_at(j->x, first + y * (size_t)width + x);
      best = (y == top && x == left) || v > best ? v : best;
    }
  }
  return best;
}

// One channel of one region at a time.
static void pool_task(void* user, size_t begin, size_t end, uint32_t worker) {
  (void)worker;
  const job* j = user;
  size_t channels = (size_t)j->x->dims[1];
  size_t plane = (size_t)j->x->dims[2] * (size_t)j->x->dims[3];
  size_t width = (size_t)j->y->dims[3];
  size_t count = (size_t)j->y->dims[2] * width;
  for (size_t i = begin; i < end; ++i) {
    size_t region = i / channels;
    size_t image = (size_t)stowi_float_at(j->regions, region * 5);
    for (size_t k = 0; k < count; ++k) {
      double best =
          cell_max(j, (image * channels + i % channels) * plane, region, k / width, k % width);
      stowi_store_f64(j->y->dtype, j->y->data, i * count + k, 1, &best);
    }
  }
}

static stow_status run_max_roi_pool(stow_kernel_call* call) {
  job j = {.x = stow_kernel_operand(call, 0),
           .regions = stow_kernel_operand(call, 1),
           .y = stow_kernel_result(call, 0),
           .scale = stow_kernel_float(call, "spatial_scale", 1)};
  if (stowi_kind(j.x->dtype) != STOW_KIND_FLOAT || stowi_bits(j.x->dtype) < 16) {
    return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED, "x must be of f32, f16, bf16 or f64");
  }
  for (size_t i = 0; i < (size_t)j.regions->dims[0]; ++i) {
    double image = stowi_float_at(j.regions, i * 5);
    if (!(image >= 0 && image < (double)j.x->dims[0])) {
      return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT,
                              "region %zu is of image %g, where there are %lld", i, image,
                              (long long)j.x->dims[0]);
    }
  }
  stow_kernel_split(call, (size_t)(j.y->dims[0] * j.y->dims[1]), 8, pool_task, &j);
  return STOW_OK;
}

STOWI_KERNEL(MAX_ROI_POOL, NULL, run_max_roi_pool);
