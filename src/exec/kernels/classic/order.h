// A sorted index of a table, in scratch: what finds nodes, leaves and labels by their ids.
#ifndef STOWAGE_SRC_EXEC_KERNELS_CLASSIC_ORDER_H_
#define STOWAGE_SRC_EXEC_KERNELS_CLASSIC_ORDER_H_

#include <stowage/kernel.h>

typedef struct stowi_kernel_entry {
  int64_t major;
  int64_t minor;
  size_t index;  // where it stands in the table
} stowi_kernel_entry;

// By major, minor and index. O(n log n), O(n) where it is sorted already, which tables mostly are.
void stowi_kernel_sort_entries(stowi_kernel_entry* entries, size_t count);

// The position of the first one with these numbers; SIZE_MAX if there is none.
size_t stowi_kernel_find_entry(const stowi_kernel_entry* entries, size_t count, int64_t major,
                               int64_t minor);

#endif  // STOWAGE_SRC_EXEC_KERNELS_CLASSIC_ORDER_H_
