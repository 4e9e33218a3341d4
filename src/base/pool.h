// Storage for small objects that live as long as their owner and never move.
#ifndef STOWAGE_SRC_BASE_POOL_H_
#define STOWAGE_SRC_BASE_POOL_H_

#include "base/shared.h"

// Zero-initialise.
typedef struct stowi_pool {
  struct stowi_pool_chunk* chunks;  // newest first
  char* at;                         // free bytes of the current chunk
  size_t left;
  size_t next_size;  // of the next chunk
} stowi_pool;

// |alignment| is a power of two up to that of max_align_t. NULL when out of memory. 0 bytes give a
// valid address.
STOWI_SHARED void* stowi_pool_alloc(stowi_pool* pool, stow_allocator allocator, size_t size,
                                    size_t alignment);
// A copy followed by a NUL; |out| is unchanged on failure.
STOWI_SHARED stow_status stowi_pool_copy_str(stowi_pool* pool, stow_allocator allocator,
                                             stow_str string, stow_str* out);
STOWI_SHARED void stowi_pool_free(stowi_pool* pool, stow_allocator allocator);

#endif  // STOWAGE_SRC_BASE_POOL_H_
