// Sampling grids: affine_grid makes one, grid_sample reads an image by one.
#include <math.h>

#include "exec/kernels/support/convert.h"
#include "exec/kernels/support/kernel.h"

// ---------------------------------------------------------------------------------------------
// affine_grid: grid positions, from -1 to 1 along each dim, times an affine matrix per image, in
// double.

typedef struct affine_job {
  const stow_tensor* theta;
  stow_tensor* y;
  uint32_t rank;  // spatial
  bool align_corners;
} affine_job;

static double coordinate(const affine_job* j, size_t i, int64_t size) {
  if (j->align_corners) {
    return size == 1 ? -1 : -1 + 2 * (double)i / (double)(size - 1);
  }
  return (2 * (double)i + 1) / (double)size - 1;
}

// The first row of theta makes the position along the last spatial dim.
static void grid_task(void* user, size_t begin, size_t end, uint32_t worker) {
  (void)worker;
  const affine_job* j = user;
  for (size_t i = begin; i < end; ++i) {
    double at[3] = {0};
    size_t rest = i;
    for (uint32_t d = 0; d < j->rank; ++d) {
      int64_t size = j->y->dims[j->rank - d];
      at[d] = coordinate(j, rest % (size_t)size, size);
      rest /= (size_t)size;
    }
    for (uint32_t row = 0; row < j->rank; ++row) {
      size_t first = (rest * j->rank + row) * (j->rank + 1);
      double sum = stowi_kernel_float_at(j->theta, first + j->rank);
      for (uint32_t d = 0; d < j->rank; ++d) {
        sum += stowi_kernel_float_at(j->theta, first + d) * at[d];
      }
      stowi_kernel_store_f64(j->y->dtype, j->y->data, i * j->rank + row, 1, &sum);
    }
  }
}

static stow_status run_affine_grid(stow_kernel_call* call) {
  affine_job j = {.theta = stow_kernel_operand(call, 0),
                  .y = stow_kernel_result(call, 0),
                  .align_corners = stowi_kernel_bool(call, STOWI_KERNEL_ATTR_ALIGN_CORNERS, false)};
  j.rank = j.y->rank - 2;
  if (stowi_kernel_kind(j.theta->dtype) != STOW_KIND_FLOAT ||
      stowi_kernel_bits(j.theta->dtype) < 16) {
    return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED, "theta must be f32, f16, bf16 or f64");
  }
  stow_kernel_split(call, stow_tensor_elements(j.y) / j.rank, 1024, grid_task, &j);
  return STOW_OK;
}

STOWI_KERNEL(AFFINE_GRID, NULL, run_affine_grid);

// ---------------------------------------------------------------------------------------------
// grid_sample: elements at the positions of a grid. The taps of a position along each spatial dim
// (one, two or four elements and their weights) are found once for all channels; a channel's
// element is the sum over all combinations, in double.

#define MAX_SPATIAL 3
#define MAX_TAPS 64  // four to the power of three
#define FAR 1e9      // positions beyond are as good as there

typedef enum mode { NEAREST, LINEAR, CUBIC } mode;
typedef enum padding { ZEROS, BORDER, REFLECTION } padding;

typedef struct sample_job {
  const stow_tensor* x;
  const stow_tensor* grid;
  stow_tensor* y;
  uint32_t rank;  // spatial
  mode mode;
  padding padding;
  bool align_corners;
  size_t in_count, out_count;
} sample_job;

// Elements of a channel, with weights; those in the padding are left off.
typedef struct sample {
  size_t count;
  size_t at[MAX_TAPS];
  double weights[MAX_TAPS];
} sample;

// ---------------------------------------------------------------------------------------------
// Positions

// In f32 where the grid is: a tie that rounds the other way picks another element.
static double position_of(const sample_job* j, double g, int64_t size) {
  if (j->grid->dtype == STOW_F64) {
    return j->align_corners ? (g + 1) / 2 * (double)(size - 1) : ((g + 1) * (double)size - 1) / 2;
  }
  float f = (float)g;
  return (double)(j->align_corners ? (f + 1) / 2 * (float)(size - 1)
                                   : ((f + 1) * (float)size - 1) / 2);
}

static double reflect(const sample_job* j, double x, int64_t size) {
  double low = j->align_corners ? 0 : -0.5;
  double range = j->align_corners ? (double)(size - 1) : (double)size;
  if (range <= 0) {
    return 0;
  }
  double beyond = x < low ? low - x : x - low;
  double turns = floor(beyond / range);
  double rest = beyond - turns * range;
  return fmod(turns, 2) == 0 ? low + rest : low + range - rest;
}

static double limit(double x, double low, double high) {
  return x < low ? low : x > high ? high : x;
}

// |x| where padding is a copy of what lies inside. Cubic weights are those of the position itself:
// only the elements are moved.
static double move_inside(const sample_job* j, double x, int64_t size) {
  double low = j->align_corners ? 0 : -0.5;
  double high = (double)size - 1 - low;
  if ((x >= low && x <= high) || j->mode == CUBIC) {
    return x;
  }
  return j->padding == BORDER       ? limit(x, 0, (double)(size - 1))
         : j->padding == REFLECTION ? reflect(j, x, size)
                                    : x;
}

// The element that index |i| stands for; -1: none.
static int64_t element_of(const sample_job* j, double i, int64_t size) {
  if (i >= 0 && i < (double)size) {
    return (int64_t)i;
  }
  if (j->padding == ZEROS) {
    return -1;
  }
  double moved = j->padding == BORDER ? i : reflect(j, i, size);
  return (int64_t)limit(moved, 0, (double)(size - 1));
}

static double cubic_weight(double distance) {
  const double a = -0.75;
  double x = fabs(distance);
  return x <= 1 ? ((a + 2) * x - (a + 3)) * x * x + 1 : ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
}

// Elements and weights along one dim; how many.
static size_t taps_of(const sample_job* j, double g, int64_t size, int64_t* at, double* weights) {
  double x = position_of(j, g, size);
  x = x == x ? limit(x, -FAR, FAR) : -1;
  if (j->mode == NEAREST) {
    x = nearbyint(x);
  }
  x = move_inside(j, x, size);
  size_t count = j->mode == NEAREST ? 1 : j->mode == LINEAR ? 2 : 4;
  double first = j->mode == NEAREST ? x : floor(x) - (j->mode == CUBIC ? 1 : 0);
  for (size_t k = 0; k < count; ++k) {
    double distance = fabs(x - (first + (double)k));
    at[k] = element_of(j, first + (double)k, size);
    weights[k] = j->mode == NEAREST ? 1 : j->mode == LINEAR ? 1 - distance : cubic_weight(distance);
  }
  return count;
}

// ---------------------------------------------------------------------------------------------

// The last number of the grid belongs to the first spatial dim.
static void find_sample(const sample_job* j, size_t position, sample* out) {
  out->count = 1;
  out->at[0] = 0;
  out->weights[0] = 1;
  for (uint32_t i = 0; i < j->rank; ++i) {
    int64_t size = j->x->dims[2 + i];
    int64_t at[4];
    double weights[4];
    double g = stowi_kernel_float_at(j->grid, position * j->rank + (j->rank - 1 - i));
    size_t taps = taps_of(j, g, size, at, weights);
    sample next = {0};
    for (size_t s = 0; s < out->count; ++s) {
      for (size_t k = 0; k < taps; ++k) {
        if (at[k] >= 0) {
          next.at[next.count] = out->at[s] * (size_t)size + (size_t)at[k];
          next.weights[next.count++] = out->weights[s] * weights[k];
        }
      }
    }
    *out = next;
  }
}

static void sample_task(void* user, size_t begin, size_t end, uint32_t worker) {
  (void)worker;
  const sample_job* j = user;
  size_t channels = (size_t)j->x->dims[1];
  for (size_t i = begin; i < end; ++i) {
    sample s;
    find_sample(j, i, &s);
    size_t image = i / j->out_count;
    for (size_t c = 0; c < channels; ++c) {
      size_t plane = image * channels + c;
      double sum = 0;
      for (size_t k = 0; k < s.count; ++k) {
        size_t at = plane * j->in_count + s.at[k];
        double x = j->x->dtype == STOW_F32 ? (double)((const float*)j->x->data)[at]
                                           : stowi_kernel_float_at(j->x, at);
        sum += s.weights[k] * x;
      }
      stowi_kernel_store_f64(j->y->dtype, j->y->data, plane * j->out_count + i % j->out_count, 1,
                             &sum);
    }
  }
}

static stow_status run_grid_sample(stow_kernel_call* call) {
  sample_job j = {
      .x = stow_kernel_operand(call, 0),
      .grid = stow_kernel_operand(call, 1),
      .y = stow_kernel_result(call, 0),
      .mode = stowi_kernel_is(call, STOWI_KERNEL_ATTR_MODE, "nearest") ? NEAREST
              : stowi_kernel_is(call, STOWI_KERNEL_ATTR_MODE, "cubic") ? CUBIC
                                                                       : LINEAR,
      .padding = stowi_kernel_is(call, STOWI_KERNEL_ATTR_PADDING_MODE, "border")       ? BORDER
                 : stowi_kernel_is(call, STOWI_KERNEL_ATTR_PADDING_MODE, "reflection") ? REFLECTION
                                                                                       : ZEROS,
      .align_corners = stowi_kernel_bool(call, STOWI_KERNEL_ATTR_ALIGN_CORNERS, false),
      .in_count = 1,
      .out_count = 1};
  j.rank = j.x->rank - 2;
  if (j.rank > MAX_SPATIAL || stowi_kernel_kind(j.x->dtype) == STOW_KIND_COMPLEX ||
      stowi_kernel_kind(j.grid->dtype) != STOW_KIND_FLOAT) {
    return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED,
                            "expected a grid of floats over 1 to 3 spatial dims of real numbers");
  }
  for (uint32_t i = 2; i < j.x->rank; ++i) {
    j.in_count *= (size_t)j.x->dims[i];
    j.out_count *= (size_t)j.y->dims[i];
  }
  if (stow_tensor_elements(j.y) == 0) {
    return STOW_OK;
  }
  if (j.in_count == 0) {
    return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT, "x is empty");
  }
  stow_kernel_split(call, (size_t)j.x->dims[0] * j.out_count, 2048 / (size_t)(j.x->dims[1] + 1) + 1,
                    sample_task, &j);
  return STOW_OK;
}

STOWI_KERNEL(GRID_SAMPLE, NULL, run_grid_sample);
