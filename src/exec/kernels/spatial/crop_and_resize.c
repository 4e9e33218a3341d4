// crop_and_resize: regions of images, in parts of their height and width, each brought to one size.
// Points outside of the image have a value of their own. Computed in f32, as onnxruntime does.
#include <math.h>

#include "exec/kernels/spatial/regions.h"
#include "exec/kernels/support/convert.h"
#include "exec/kernels/support/kernel.h"

typedef struct job {
  const stow_tensor* x;
  const stow_tensor* regions;
  const stow_tensor* images;
  stow_tensor* y;
  bool is_nearest;
  float outside;
} job;

// Where point |i| of |count| is along a dim of |size|; numbers |k| and |k| + 2 of the region bound
// it.
static float place_of(const job* j, size_t region, size_t k, size_t i, int64_t count,
                      int64_t size) {
  float begin = (float)stowi_float_at(j->regions, region * 4 + k);
  float end = (float)stowi_float_at(j->regions, region * 4 + k + 2);
  float most = (float)(size - 1);
  if (count == 1) {
    return 0.5F * (begin + end) * most;
  }
  return begin * most + (float)i * ((end - begin) * most / (float)(count - 1));
}

static float element(const job* j, size_t at) { return (float)stowi_float_at(j->x, at); }

static float sample(const job* j, size_t first, float y, float x) {
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
  const job* j = user;
  size_t channels = (size_t)j->x->dims[1];
  int64_t rows = j->x->dims[2];
  int64_t columns = j->x->dims[3];
  size_t width = (size_t)j->y->dims[3];
  size_t count = (size_t)j->y->dims[2] * width;
  for (size_t i = begin; i < end; ++i) {
    size_t region = i / channels;
    size_t image = (size_t)stowi_int_at(j->images, region);
    size_t first = (image * channels + i % channels) * (size_t)(rows * columns);
    for (size_t k = 0; k < count; ++k) {
      float y = place_of(j, region, 0, k / width, j->y->dims[2], rows);
      float x = place_of(j, region, 1, k % width, j->y->dims[3], columns);
      float value = sample(j, first, y, x);
      stowi_store_f32(j->y->dtype, j->y->data, i * count + k, 1, &value);
    }
  }
}

static stow_status run_crop_and_resize(stow_kernel_call* call) {
  job j = {.x = stow_kernel_operand(call, 0),
           .regions = stow_kernel_operand(call, 1),
           .images = stow_kernel_operand(call, 2),
           .y = stow_kernel_result(call, 0),
           .is_nearest = stow_kernel_is(call, "mode", "nearest"),
           .outside = (float)stow_kernel_float(call, "outside", 0)};
  stow_dtype dtype = j.x->dtype;
  if (dtype != STOW_F32 && dtype != STOW_F16 && dtype != STOW_BF16) {
    return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED, "x must be of f32, f16 or bf16");
  }
  if (j.regions->dims[1] != 4 || stow_tensor_elements(j.images) != (size_t)j.regions->dims[0]) {
    return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT,
                            "each region needs four numbers and the index of its image");
  }
  stow_status status = stowi_check_images(call, j.x, j.images);
  if (status == STOW_OK) {
    stow_kernel_split(call, (size_t)(j.y->dims[0] * j.y->dims[1]), 4, crop_task, &j);
  }
  return status;
}

STOWI_KERNEL(CROP_AND_RESIZE, NULL, run_crop_and_resize);
