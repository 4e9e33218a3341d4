// Hashing and an index from hashed keys to dense ids. The keys themselves stay with the caller.
#ifndef STOWAGE_SRC_BASE_HASH_H_
#define STOWAGE_SRC_BASE_HASH_H_

#include "base/shared.h"

// A running 64-bit hash, the same on every machine: feed numbers, never raw structs.
#define STOWI_HASH_SEED UINT64_C(0x9e3779b97f4a7c15)
STOWI_SHARED uint64_t stowi_hash_u64(uint64_t hash, uint64_t number);
// Mixes in the size too, so that "ab","c" differs from "a","bc".
STOWI_SHARED uint64_t stowi_hash_bytes(uint64_t hash, const void* data, size_t size);

#define STOWI_INDEX_NONE UINT32_MAX

// Open addressing; zero-initialise.
typedef struct stowi_index {
  struct stowi_index_slot* slots;
  size_t capacity;  // a power of two, or 0
  size_t count;
} stowi_index;

typedef bool (*stowi_index_equal)(const void* context, uint32_t id, const void* key);

// The id whose key equals |key|, or STOWI_INDEX_NONE.
STOWI_SHARED uint32_t stowi_index_find(const stowi_index* index, uint64_t hash,
                                       stowi_index_equal equal, const void* context,
                                       const void* key);
// Makes room for one more. After STOW_OK, one insert cannot fail.
STOWI_SHARED stow_status stowi_index_reserve(stowi_index* index, stow_allocator allocator);
STOWI_SHARED void stowi_index_insert(stowi_index* index, uint64_t hash, uint32_t id);
STOWI_SHARED void stowi_index_free(stowi_index* index, stow_allocator allocator);

#endif  // STOWAGE_SRC_BASE_HASH_H_
