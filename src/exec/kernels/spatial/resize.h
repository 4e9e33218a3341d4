// One resizing, with the tables of all axes; what its ways have in common.
#ifndef STOWAGE_SRC_EXEC_KERNELS_SPATIAL_RESIZE_H_
#define STOWAGE_SRC_EXEC_KERNELS_SPATIAL_RESIZE_H_

#include "exec/kernels/spatial/resize_axis.h"

typedef struct stowi_resize {
  const stow_kernel_call* call;
  const stow_tensor* x;
  stow_tensor* y;
  stowi_resize_way way;
  stowi_resize_axis axes[STOW_MAX_RANK];
  float* weights_f32;   // of the last axis
  unsigned char* rows;  // a row of x for each worker
  uint64_t row_size;    // bytes of one
  double extrapolation;
} stowi_resize;

// Which element of x the row begins at that tap k of each axis but the last reads for row |row| of
// y; taps[i] is the tap of axis i. The product of the weights is |*weight|. False where the row is
// outside.
bool stowi_resize_row(const stowi_resize* r, size_t row, const size_t* taps, size_t* out_first,
                      double* out_weight);

// Rows [begin, end) of y, which is made of elements of x.
void stowi_resize_nearest(void* resize, size_t begin, size_t end, uint32_t worker);
// Rows [begin, end) of y as weighted sums: f32.
void stowi_resize_floats(void* resize, size_t begin, size_t end, uint32_t worker);
// The same in double, for every other dtype.
void stowi_resize_doubles(void* resize, size_t begin, size_t end, uint32_t worker);

#endif  // STOWAGE_SRC_EXEC_KERNELS_SPATIAL_RESIZE_H_
