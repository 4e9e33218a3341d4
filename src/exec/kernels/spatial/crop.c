// crop: rows of an image without its border. Rows move to where they stood or before, in ascending
// order, so that the result may lie over x.
#include <string.h>

#include "exec/kernels/spatial/window.h"
#include "exec/kernels/support/convert.h"
#include "exec/kernels/support/kernel.h"

static stow_status run_crop(stow_kernel_call* call) {
  const stow_tensor* x = stow_kernel_operand(call, 0);
  stow_tensor* y = stow_kernel_result(call, 0);
  size_t size = stowi_bits(x->dtype) / 8;
  int64_t left = stowi_list_at(call, "border", 0, 0);
  int64_t top = stowi_list_at(call, "border", 1, 0);
  if (size == 0) {
    return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED, "elements must be whole bytes");
  }
  if (top > x->dims[2] - y->dims[2] || left > x->dims[3] - y->dims[3]) {
    return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT,
                            "%lld x %lld elements after a border of %lld and %lld lie outside",
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
