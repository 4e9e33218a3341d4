// Bytes in use at each step, and their highest over any stretch of steps.
#ifndef STOWAGE_SRC_ANALYSIS_SHARING_LOAD_CURVE_H_
#define STOWAGE_SRC_ANALYSIS_SHARING_LOAD_CURVE_H_

#include <stowage/base.h>

// Loads above this are refused by whoever fills a curve: sums of two still fit.
#define STOWI_LOAD_MAX (INT64_MAX / 2)

typedef struct stowi_load_curve {
  int64_t* highest;  // by node of the tree: of the steps below it, with what was added to it
  int64_t* added;    // by node: to all steps below it
  size_t size;       // leaves, a power of two; leaf |size| + 1 + s is step s
} stowi_load_curve;

// 0 at each of |step_count| steps. STOW_ERR_OUT_OF_MEMORY leaves nothing to free.
stow_status stowi_load_curve_init(stowi_load_curve* curve, uint32_t step_count,
                                  stow_allocator allocator);
// Also of a zeroed struct.
void stowi_load_curve_free(stowi_load_curve* curve, stow_allocator allocator);

// Adds |bytes|, which may be negative, at steps [begin, end); begin <= end. O(log steps), as the
// next.
void stowi_load_curve_add(stowi_load_curve* curve, uint32_t begin, uint32_t end, int64_t bytes);
// The highest load at steps [begin, end), which are not none.
int64_t stowi_load_curve_highest(const stowi_load_curve* curve, uint32_t begin, uint32_t end);
// The highest of all. O(1).
int64_t stowi_load_curve_peak(const stowi_load_curve* curve);

#endif  // STOWAGE_SRC_ANALYSIS_SHARING_LOAD_CURVE_H_
