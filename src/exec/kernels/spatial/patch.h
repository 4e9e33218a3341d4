// Some rows of an image with their padding, as windows over them are walked: by depthwise
// convolutions and pools.
#ifndef STOWAGE_SRC_EXEC_KERNELS_SPATIAL_PATCH_H_
#define STOWAGE_SRC_EXEC_KERNELS_SPATIAL_PATCH_H_

#include <string.h>

#include "exec/kernels/spatial/window.h"

// Some rows of x are copied with their padding, so that every tap reads positions of
// several rows of the result side by side, from its own place on. The columns between rows are
// computed too, and dropped.
//
//     0 0 0 0 0 0      a tap reads, from some element of the patch on, as many elements as
//     0 a b c d 0      there are from the first position of the result to its last
//     0 e f g h 0
//
// With strides the patch is divided into phases: the elements that have the same remainder.

#define STOWI_KERNEL_PATCH 736          // floats, of the stack
#define STOWI_KERNEL_PATCH_LANES 16     // that may be read beyond its last element
#define STOWI_KERNEL_PATCH_TAPS 64      // of a window, at most
#define STOWI_KERNEL_PATCH_STRIDE 4     // in either direction, at most
#define STOWI_KERNEL_PATCH_TILE_ROWS 7  // in registers: most images have 7, 14, 28 or 56 rows

typedef struct stowi_kernel_patch {
  size_t rows;                                // of the result that a patch is for
  size_t pitch;                               // from one row of a phase to the next
  size_t high;                                // rows of a phase
  size_t phase;                               // floats of it
  size_t skip[STOWI_KERNEL_PATCH_STRIDE];     // of a row of each phase across: padding before x
  size_t take[STOWI_KERNEL_PATCH_STRIDE];     // and elements of x
  uint32_t offsets[STOWI_KERNEL_PATCH_TAPS];  // where taps begin
} stowi_kernel_patch;

// Whether windows of |w| are such that it can be done.
bool stowi_kernel_patch_plan(const stowi_kernel_slide* w, stowi_kernel_patch* out);

// Fills |to| for rows of the result from |row| on with elements of |x|; what is padding is left.
void stowi_kernel_patch_fill(const stowi_kernel_slide* w, const stowi_kernel_patch* p,
                             const float* x, size_t row, float* to);

// The floats of a patch.
static inline size_t stowi_kernel_patch_size(const stowi_kernel_slide* w,
                                             const stowi_kernel_patch* p) {
  return p->phase * (size_t)(w->strides[0] * w->strides[1]);
}

// Rows of small images are so short that a call of memcpy would take longer than copying.
static inline void stowi_kernel_copy_row(const float* from, size_t count, float* to) {
  if (count > 16) {
    memcpy(to, from, count * sizeof(float));
  } else if (count >= 8) {
    memcpy(to, from, 8 * sizeof(float));
    memcpy(to + count - 8, from + count - 8, 8 * sizeof(float));
  } else if (count >= 4) {
    memcpy(to, from, 4 * sizeof(float));
    memcpy(to + count - 4, from + count - 4, 4 * sizeof(float));
  } else if (count != 0) {
    to[0] = from[0];
    to[count / 2] = from[count / 2];
    to[count - 1] = from[count - 1];
  }
}

#endif  // STOWAGE_SRC_EXEC_KERNELS_SPATIAL_PATCH_H_
