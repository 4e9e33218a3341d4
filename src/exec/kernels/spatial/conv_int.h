// Convolution of u8 and i8 with zero points, with exact sums in i32, which wrap: what conv_integer
// and qlinear_conv have in common.
#ifndef STOWAGE_SRC_EXEC_KERNELS_SPATIAL_CONV_INT_H_
#define STOWAGE_SRC_EXEC_KERNELS_SPATIAL_CONV_INT_H_

#include "exec/kernels/spatial/window.h"
#include "exec/kernels/support/convert.h"

// The fastest, the same in smaller blocks, one with a tile of some KiB for each worker, and one
// without scratch, with a tile on the stack.
#define STOWI_KERNEL_CONV_INT_VARIANTS 4

// Sums of positions [first, first + count) of a channel of the result: the i-th is
// sums[i * step]. Called by any worker.
typedef void (*stowi_kernel_conv_int_finish)(void* user, size_t image, size_t channel, size_t first,
                                             size_t count, const int32_t* sums, size_t step);

typedef struct stowi_kernel_conv_int {
  const stow_kernel_call* call;
  const stow_tensor* x;
  const stow_tensor* w;
  const stow_tensor* x_zero;  // NULL: 0
  const stow_tensor* w_zero;  // NULL: 0; one, or one for each channel of the result
  stowi_kernel_slide slide;
  size_t group;
  size_t in_channels;   // of a group
  size_t out_channels;  // of a group
  stowi_kernel_conv_int_finish finish;
  void* user;
} stowi_kernel_conv_int;

// |y| is the result whose dims count.
stow_status stowi_kernel_conv_int_read(const stow_kernel_call* call, const stow_tensor* x,
                                       const stow_tensor* w, const stow_tensor* y,
                                       stowi_kernel_conv_int* out);
uint64_t stowi_kernel_conv_int_scratch(const stowi_kernel_conv_int* c);
// Fails where x or w are not bytes.
stow_status stowi_kernel_conv_int_run(stowi_kernel_conv_int* c);

// ---------------------------------------------------------------------------------------------
// In little room (conv_int_lean.c)

// Scratch of a worker.
uint64_t stowi_kernel_conv_int_lean_size(const stowi_kernel_conv_int* c);
// With that scratch, or without any.
void stowi_kernel_conv_int_lean(stowi_kernel_conv_int* c, bool has_scratch);

static inline int16_t stowi_kernel_conv_int_byte(const stow_tensor* t, size_t i) {
  return t->dtype == STOW_U8 ? (int16_t)((const uint8_t*)t->data)[i]
                             : (int16_t)((const int8_t*)t->data)[i];
}

static inline int16_t stowi_kernel_conv_int_zero(const stow_tensor* zero, size_t channel) {
  if (zero == NULL) {
    return 0;
  }
  return (int16_t)stowi_kernel_int_at(zero, stow_tensor_elements(zero) == 1 ? 0 : channel);
}

#endif  // STOWAGE_SRC_EXEC_KERNELS_SPATIAL_CONV_INT_H_
