// Where the elements along one axis of a resized tensor come from.
#ifndef STOWAGE_SRC_EXEC_KERNELS_SPATIAL_RESIZE_AXIS_H_
#define STOWAGE_SRC_EXEC_KERNELS_SPATIAL_RESIZE_AXIS_H_

#include <stowage/kernel.h>

typedef enum stowi_kernel_resize_mode {
  STOWI_KERNEL_RESIZE_NEAREST,
  STOWI_KERNEL_RESIZE_LINEAR,
  STOWI_KERNEL_RESIZE_CUBIC
} stowi_kernel_resize_mode;

// What is the same for all axes.
typedef struct stowi_kernel_resize_way {
  stowi_kernel_resize_mode mode;
  bool antialias;
  bool exclude_outside;
  double cubic_a;
} stowi_kernel_resize_way;

// Tables have |count| positions of the result, from |first| on. Position first + i is the sum over
// taps k of weights[k * count + i] × element indices[k * count + i]; where outside[i] is set it is
// the extrapolation value instead.
typedef struct stowi_kernel_resize_axis {
  int64_t in, out;
  float scale;
  float roi_begin, roi_end;  // of tf_crop_and_resize, in [0, 1] of the axis
  bool is_identity;
  bool has_outside;
  size_t taps;
  size_t first, count;
  int32_t* indices;
  double* weights;
  unsigned char* outside;
} stowi_kernel_resize_axis;

// Entries, taps × positions, that tables for |in| and |out| need at most.
uint64_t stowi_kernel_resize_entries(const stowi_kernel_resize_way* way, int64_t in, int64_t out);
// Taps for the axis's scale.
size_t stowi_kernel_resize_taps(const stowi_kernel_resize_way* way,
                                const stowi_kernel_resize_axis* axis);
// Fills the tables, which have room, for these positions.
void stowi_kernel_resize_fill(const stow_kernel_call* call, const stowi_kernel_resize_way* way,
                              stowi_kernel_resize_axis* axis, size_t first, size_t count);

#endif  // STOWAGE_SRC_EXEC_KERNELS_SPATIAL_RESIZE_AXIS_H_
