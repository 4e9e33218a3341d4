// Convolution of u8 and i8 with zero points, with exact sums in i32, which wrap: what conv_integer
// and qlinear_conv have in common.
//
// The sums of a group are a product (matrix/integer_gemm.h): weights are the first factor, as they
// lie, a row for each channel of the result; the second one, whose columns are positions, is made
// panel by panel of what the taps read.
#ifndef STOWAGE_SRC_EXEC_KERNELS_SPATIAL_CONV_INT_H_
#define STOWAGE_SRC_EXEC_KERNELS_SPATIAL_CONV_INT_H_

#include "exec/kernels/matrix/integer_gemm.h"
#include "exec/kernels/spatial/window.h"
#include "exec/kernels/support/convert.h"

// The fastest, with a padded copy of the image; three that read x where it is: with up to 24 KiB
// for each worker, with up to 8 KiB, and without scratch.
#define STOWI_KERNEL_CONV_INT_VARIANTS 4

// Sums of positions [first, first + count) of a channel of the result. Called by any worker.
typedef void (*stowi_kernel_conv_int_finish)(void* user, size_t image, size_t channel, size_t first,
                                             size_t count, const int32_t* sums);

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
  int32_t* result;  // where sums are the result: it has them before they are finished
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

// Scratch of a worker, and the convolution with that; |variant| is 1, 2 or 3.
uint64_t stowi_kernel_conv_int_lean_size(const stowi_kernel_conv_int* c, uint32_t variant);
void stowi_kernel_conv_int_lean(stowi_kernel_conv_int* c, uint32_t variant);

// ---------------------------------------------------------------------------------------------
// Bytes as tiles see them: weights are u8, and x is i8.

static inline size_t stowi_kernel_conv_int_depth(const stowi_kernel_conv_int* c) {
  return c->in_channels * c->slide.taps;
}

static inline uint8_t stowi_kernel_conv_int_w_flip(const stowi_kernel_conv_int* c) {
  return c->w->dtype == STOW_I8 ? 0x80 : 0;
}

static inline uint8_t stowi_kernel_conv_int_x_flip(const stowi_kernel_conv_int* c) {
  return c->x->dtype == STOW_I8 ? 0 : 0x80;
}

static inline int32_t stowi_kernel_conv_int_zero(const stow_tensor* zero, size_t channel) {
  if (zero == NULL) {
    return 0;
  }
  size_t at = stow_tensor_elements(zero) == 1 ? 0 : channel;
  if (zero->dtype == STOW_U8) {
    return ((const uint8_t*)zero->data)[at];
  }
  return zero->dtype == STOW_I8 ? ((const int8_t*)zero->data)[at]
                                : (int32_t)stowi_kernel_int_at(zero, at);
}

static inline int32_t stowi_kernel_conv_int_x_zero(const stowi_kernel_conv_int* c) {
  return stowi_kernel_conv_int_zero(c->x_zero, 0) - stowi_kernel_conv_int_x_flip(c);
}

static inline int32_t stowi_kernel_conv_int_w_zero(const stowi_kernel_conv_int* c, size_t channel) {
  return stowi_kernel_conv_int_zero(c->w_zero, channel) + stowi_kernel_conv_int_w_flip(c);
}

// The sum of a channel's weights, unless x's zero point makes it useless.
static inline uint32_t stowi_kernel_conv_int_row_sum(const stowi_kernel_conv_int* c,
                                                     size_t channel) {
  size_t depth = stowi_kernel_conv_int_depth(c);
  const uint8_t* weights = (const uint8_t*)c->w->data + channel * depth;
  return stowi_kernel_conv_int_x_zero(c) == 0
             ? 0
             : stowi_kernel_integer_row_sum(weights, depth, stowi_kernel_conv_int_w_flip(c));
}

#endif  // STOWAGE_SRC_EXEC_KERNELS_SPATIAL_CONV_INT_H_
