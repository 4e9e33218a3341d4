// The bytes in use at each step, and their maximum over any range of steps.
#ifndef STOWAGE_SRC_ANALYSIS_SHARING_LOAD_CURVE_H_
#define STOWAGE_SRC_ANALYSIS_SHARING_LOAD_CURVE_H_

#include <stowage/base.h>

// Callers must not add loads above this: sums of two still fit.
#define STOWI_ANALYSIS_LOAD_MAX (INT64_MAX / 2)

typedef struct stowi_analysis_load_curve {
  int64_t*
      highest;  // by node of the tree: the maximum of the steps below it, with what was added to it
  int64_t* added;  // by node: added to all steps below it
  size_t size;     // leaves, a power of two; leaf |size| + 1 + s is step s
} stowi_analysis_load_curve;

// 0 at each of |step_count| steps. STOW_ERR_OUT_OF_MEMORY leaves nothing to free.
stow_status stowi_analysis_load_curve_init(stowi_analysis_load_curve* curve, uint32_t step_count,
                                           stow_allocator allocator);
// Also valid for a zeroed struct.
void stowi_analysis_load_curve_free(stowi_analysis_load_curve* curve, stow_allocator allocator);

// Adds |bytes|, which may be negative, at steps [begin, end); begin <= end. O(log steps), like
// stowi_analysis_load_curve_highest.
void stowi_analysis_load_curve_add(stowi_analysis_load_curve* curve, uint32_t begin, uint32_t end,
                                   int64_t bytes);
// The highest load at steps [begin, end); begin < end.
int64_t stowi_analysis_load_curve_highest(const stowi_analysis_load_curve* curve, uint32_t begin,
                                          uint32_t end);
// The highest load of all. O(1).
int64_t stowi_analysis_load_curve_peak(const stowi_analysis_load_curve* curve);

#endif  // STOWAGE_SRC_ANALYSIS_SHARING_LOAD_CURVE_H_
