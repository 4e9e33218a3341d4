// Image ops: crop and scale_image.
#include <string.h>

#include "exec/kernels/spatial/window.h"
#include "exec/kernels/support/convert.h"
#include "exec/kernels/support/kernel.h"

// ---------------------------------------------------------------------------------------------
// crop: an image without its border. Rows move to their own offset or a lower one, in ascending
// order, so the result may be in place.

static stow_status run_crop(stow_kernel_call* call) {
  const stow_tensor* x = stow_kernel_operand(call, 0);
  stow_tensor* y = stow_kernel_result(call, 0);
  size_t size = stowi_kernel_bits(x->dtype) / 8;
  int64_t left = stowi_kernel_list_at(call, STOWI_KERNEL_ATTR_BORDER, 0, 0);
  int64_t top = stowi_kernel_list_at(call, STOWI_KERNEL_ATTR_BORDER, 1, 0);
  if (size == 0) {
    return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED,
                            "elements of less than a byte are unsupported");
  }
  if (top > x->dims[2] - y->dims[2] || left > x->dims[3] - y->dims[3]) {
    return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT,
                            "%lld x %lld elements after a border of %lld and %lld are out of range",
                            (long long)y->dims[2], (long long)y->dims[3], (long long)top,
                            (long long)left);
  }
  size_t planes = (size_t)(y->dims[0] * y->dims[1]);
  size_t rows = (size_t)y->dims[2];
  size_t width = (size_t)y->dims[3] * size;
  for (size_t i = 0; i < planes * rows && width != 0; ++i) {
    size_t row = i / rows * (size_t)x->dims[2] + (size_t)top + i % rows;
    size_t from = (row * (size_t)x->dims[3] + (size_t)left) * size;
    memmove((unsigned char*)y->data + i * width, (const unsigned char*)x->data + from, width);
  }
  return STOW_OK;
}

STOWI_KERNEL(CROP, NULL, run_crop);

// ---------------------------------------------------------------------------------------------
// scale_image: x × scale, plus a bias per channel of [N, C, …], element by element in ascending
// order, so the result may be in place.

typedef struct job {
  const stow_tensor* x;
  stow_tensor* y;
  float scale;
  const stow_attr* bias;  // NULL: none
  size_t plane;
} job;

static void scale_task(void* user, size_t begin, size_t end, uint32_t worker) {
  (void)worker;
  const job* j = user;
  for (size_t i = begin; i < end;) {
    size_t left = j->plane - i % j->plane;
    size_t count = left < end - i ? left : end - i;
    count = count < STOWI_KERNEL_BLOCK ? count : STOWI_KERNEL_BLOCK;
    double bias = j->bias == NULL ? 0 : j->bias->floats[i / j->plane % j->bias->count];
    float block[STOWI_KERNEL_BLOCK];
    stowi_kernel_load_f32(j->x->dtype, j->x->data, i, count, block);
    for (size_t k = 0; k < count; ++k) {
      block[k] = block[k] * j->scale + (float)bias;
    }
    stowi_kernel_store_f32(j->y->dtype, j->y->data, i, count, block);
    i += count;
  }
}

static stow_status run_scale_image(stow_kernel_call* call) {
  job j = {.x = stow_kernel_operand(call, 0),
           .y = stow_kernel_result(call, 0),
           .scale = (float)stowi_kernel_float(call, STOWI_KERNEL_ATTR_SCALE, 1),
           .plane = 1};
  stow_dtype dtype = j.x->dtype;
  if (dtype != STOW_F32 && dtype != STOW_F16 && dtype != STOW_BF16) {
    return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED, "x must be f32, f16 or bf16");
  }
  const stow_attr* bias = stowi_kernel_attr(call, STOWI_KERNEL_ATTR_BIAS);
  if (bias != NULL && bias->kind == STOW_ATTR_FLOATS && bias->count != 0) {
    if (j.x->rank < 2 || bias->count != (size_t)j.x->dims[1]) {
      return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT,
                              "bias has %zu elements, expected one per channel", bias->count);
    }
    j.bias = bias;
  }
  for (uint32_t i = 2; i < j.x->rank; ++i) {
    j.plane *= (size_t)j.x->dims[i];
  }
  stow_kernel_split(call, stow_tensor_elements(j.y), 16384, scale_task, &j);
  return STOW_OK;
}

STOWI_KERNEL(SCALE_IMAGE, NULL, run_scale_image);
