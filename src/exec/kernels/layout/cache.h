// Caches that new entries are put into along an axis: operand 0 is the cache, operand 1 has the
// entries, result 0 is the cache with them, most often in its place.
#ifndef STOWAGE_SRC_EXEC_KERNELS_LAYOUT_CACHE_H_
#define STOWAGE_SRC_EXEC_KERNELS_LAYOUT_CACHE_H_

#include <stowage/kernel.h>

// Entries |first| … |first| + |count| - 1 of rows |row| … |row| + |rows| - 1 of dim 0. Where the
// axis is dim 0, rows are entries: |row| is 0 then, and |rows| is not asked.
typedef struct stowi_entries {
  uint32_t axis;
  int64_t row, rows;
  int64_t first, count;
} stowi_entries;

// Copies the cache, unless the result is in its place.
void stowi_keep_cache(const stow_kernel_call* call);
// Puts entries to |position| and after along the axis of the result.
void stowi_put_entries(const stow_kernel_call* call, const stowi_entries* e, int64_t position);
// The error that all entries at |position| go beyond the cache.
stow_status stowi_refuse_entries(const stow_kernel_call* call, uint32_t axis, int64_t position);

#endif  // STOWAGE_SRC_EXEC_KERNELS_LAYOUT_CACHE_H_
