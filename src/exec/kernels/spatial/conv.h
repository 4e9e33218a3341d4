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
  bool is_packed;       // w, each group as the first factor of a product (gemm.h)
} stowi_kernel_conv;

// With a panel for a block of positions, and three in little room.
#define STOWI_KERNEL_CONV_VARIANTS 4

// Operands x, w, bias and, where |addend| is below SIZE_MAX, the addend at this index.
stow_status stowi_kernel_conv_read(const stow_kernel_call* call, size_t addend,
                                   stowi_kernel_conv* out);
// Where each channel of the result reads one channel of x, in f32; needs no scratch.
void stowi_kernel_conv_depthwise(stowi_kernel_conv* c);
// In f64; needs no scratch.
void stowi_kernel_conv_f64(stowi_kernel_conv* c);
// Of operand |k| of conv and fused_conv.
uint64_t stowi_kernel_conv_pack_size(const stow_kernel_call* call, size_t k);
void stowi_kernel_conv_pack(const stow_kernel_call* call, size_t k, void* out);
uint64_t stowi_kernel_conv_scratch(const stowi_kernel_conv* c);
stow_status stowi_kernel_conv_run(stowi_kernel_conv* c);

// ---------------------------------------------------------------------------------------------
// Without scratch (conv_direct.c)

// Whether x is read where it lies: f32, windows of up to 128 taps, with stride 1 or 2 along rows.
bool stowi_kernel_conv_is_direct(const stowi_kernel_conv* c);
// Whether that is as fast as copying: it does not matter where rows end, as the result has as many
// columns as x, and the channels of x lie such that they do not compete for the same sets of a
// cache.
bool stowi_kernel_conv_is_spread(const stowi_kernel_conv* c);
void stowi_kernel_conv_direct(stowi_kernel_conv* c);

// ---------------------------------------------------------------------------------------------
// In little room (conv_lean.c)

// For what some positions read there is room: a whole chain, 33 KiB in all, or some steps, 3 KiB,
// or a few, on the stack.
typedef enum stowi_kernel_conv_room {
  STOWI_KERNEL_CONV_CHAIN = 1,
  STOWI_KERNEL_CONV_SOME,
  STOWI_KERNEL_CONV_FEW
} stowi_kernel_conv_room;

// For all workers; UINT64_MAX: there is no such way.
uint64_t stowi_kernel_conv_lean_size(const stowi_kernel_conv* c, stowi_kernel_conv_room room);
void stowi_kernel_conv_lean(stowi_kernel_conv* c, stowi_kernel_conv_room room);

// ---------------------------------------------------------------------------------------------
// For methods of both

static inline bool stowi_kernel_conv_is_half(const stowi_kernel_conv* c) {
  return c->x->dtype != STOW_F32;
}

// Channels [row, row + rows) of a group of the result at positions [first, first + count).
typedef struct stowi_kernel_conv_part {
  size_t image, group, row, rows, first, count;
} stowi_kernel_conv_part;

// Where channel |row| of the part begins in y.
size_t stowi_kernel_conv_at(const stowi_kernel_conv* c, const stowi_kernel_conv_part* p,
                            size_t row);
// Writes bias and addend, to which products are added; false where there is neither.
bool stowi_kernel_conv_begin(const stowi_kernel_conv* c, const stowi_kernel_conv_part* p, float* to,
                             size_t to_row);

#endif  // STOWAGE_SRC_EXEC_KERNELS_SPATIAL_CONV_H_
