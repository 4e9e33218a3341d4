// Indices of images are checked before anything is read by them: linear in the regions.
#include "exec/kernels/spatial/regions.h"

#include "exec/kernels/support/convert.h"

stow_status stowi_check_images(const stow_kernel_call* call, const stow_tensor* x,
                               const stow_tensor* images) {
  for (size_t i = 0; i < stow_tensor_elements(images); ++i) {
    int64_t image = stowi_int_at(images, i);
    if (image < 0 || image >= x->dims[0]) {
      return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT,
                              "region %zu is of image %lld, where there are %lld", i,
                              (long long)image, (long long)x->dims[0]);
    }
  }
  return STOW_OK;
}
