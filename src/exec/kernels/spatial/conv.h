// Convolution of floats: what conv and fused_conv have in common.
#ifndef STOWAGE_SRC_EXEC_KERNELS_SPATIAL_CONV_H_
#define STOWAGE_SRC_EXEC_KERNELS_SPATIAL_CONV_H_

#include "exec/kernels/spatial/window.h"

typedef struct stowi_kernel_conv {
  const stow_kernel_call* call;
  const stow_tensor* x;
  const stow_tensor* w;
  const stow_tensor* bias;    // NULL: none
  const stow_tensor* addend;  // of y's dims, or NULL; y may lie there
  stow_tensor* y;
  stowi_kernel_slide window;
  size_t group;
  size_t in_channels;   // of a group
  size_t out_channels;  // of a group
  size_t depth;         // in_channels × taps: products in an element of y
} stowi_kernel_conv;

// With a panel for a block of positions, with a smaller one of f32, and in little room.
#define STOWI_KERNEL_CONV_VARIANTS 3

// Operands x, w, bias and, where |addend| is below SIZE_MAX, the addend at this index.
stow_status stowi_kernel_conv_read(const stow_kernel_call* call, size_t addend,
                                   stowi_kernel_conv* out);
// Where each channel of the result reads one channel of x, in f32; needs no scratch.
void stowi_kernel_conv_depthwise(stowi_kernel_conv* c);
// In f64; needs no scratch.
void stowi_kernel_conv_f64(stowi_kernel_conv* c);
uint64_t stowi_kernel_conv_scratch(const stowi_kernel_conv* c);
stow_status stowi_kernel_conv_run(stowi_kernel_conv* c);

#endif  // STOWAGE_SRC_EXEC_KERNELS_SPATIAL_CONV_H_
