// A stable sort with a context. glibc's qsort allocates behind our allocator and is not stable.
#ifndef STOWAGE_SRC_BASE_SORT_H_
#define STOWAGE_SRC_BASE_SORT_H_

#include "base/shared.h"

typedef int (*stowi_compare)(const void* a, const void* b, const void* context);

// Merge sort, O(n log n); needs as much memory again. The order is total where |compare| is, else
// equal elements keep theirs.
STOWI_SHARED stow_status stowi_sort(void* base, size_t count, size_t size, stowi_compare compare,
                                    const void* context, stow_allocator allocator);

// The same for elements that begin with a uint64_t, their key: ascending, equal ones keep their
// order. A radix sort where there are many: O(n) for each 11 bits in which keys differ.
STOWI_SHARED stow_status stowi_sort_by_key(void* base, size_t count, size_t size,
                                           stow_allocator allocator);

#endif  // STOWAGE_SRC_BASE_SORT_H_
