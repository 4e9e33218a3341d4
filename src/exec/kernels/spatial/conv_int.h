// Convolution of u8 and i8 with zero points: exact sums in i32, which wrap.
#ifndef STOWAGE_SRC_EXEC_KERNELS_SPATIAL_CONV_INT_H_
#define STOWAGE_SRC_EXEC_KERNELS_SPATIAL_CONV_INT_H_

#include "exec/kernels/spatial/window.h"

// Sums of positions [first, first + count) of a channel of the result: the i-th is
// sums[i * step]. Called by any worker.
typedef void (*stowi_conv_int_finish)(void* user, size_t image, size_t channel, size_t first,
                                      size_t count, const int32_t* sums, size_t step);

typedef struct stowi_conv_int {
  const stow_kernel_call* call;
  const stow_tensor* x;
  const stow_tensor* w;
  const stow_tensor* x_zero;  // NULL: 0
  const stow_tensor* w_zero;  // NULL: 0; one, or one for each channel of the result
  stowi_slide slide;
  size_t group;
  size_t in_channels;   // of a group
  size_t out_channels;  // of a group
  stowi_conv_int_finish finish;
  void* user;
} stowi_conv_int;

// |y| is the result whose dims count.
stow_status stowi_conv_int_read(const stow_kernel_call* call, const stow_tensor* x,
                                const stow_tensor* w, const stow_tensor* y, stowi_conv_int* out);
uint64_t stowi_conv_int_scratch(const stowi_conv_int* c);
stow_status stowi_conv_int_run(stowi_conv_int* c);

#endif  // STOWAGE_SRC_EXEC_KERNELS_SPATIAL_CONV_INT_H_
