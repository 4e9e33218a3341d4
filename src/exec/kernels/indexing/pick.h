// Single elements picked from anywhere.
#ifndef STOWAGE_SRC_EXEC_KERNELS_INDEXING_PICK_H_
#define STOWAGE_SRC_EXEC_KERNELS_INDEXING_PICK_H_

#include <stowage/kernel.h>

// Element |to_at| + j of |to| becomes element |places|[j] of |from|, j < count, in ascending order.
void stowi_pick(uint32_t bits, void* to, size_t to_at, const void* from, const int64_t* places,
                size_t count);

#endif  // STOWAGE_SRC_EXEC_KERNELS_INDEXING_PICK_H_
