// Regions of images, each with the index of its image.
#ifndef STOWAGE_SRC_EXEC_KERNELS_SPATIAL_REGIONS_H_
#define STOWAGE_SRC_EXEC_KERNELS_SPATIAL_REGIONS_H_

#include <stowage/kernel.h>

// Fails where an element of |images| is no index of dim 0 of |x|.
stow_status stowi_check_images(const stow_kernel_call* call, const stow_tensor* x,
                               const stow_tensor* images);

#endif  // STOWAGE_SRC_EXEC_KERNELS_SPATIAL_REGIONS_H_
