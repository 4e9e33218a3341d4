// 64-bit mixing (the finaliser of splitmix64), and a linear-probing index that stores part of the
// hash with each id, so that growing never needs the keys.
#include "base/hash.h"

#include <string.h>

#include "base/alloc.h"

struct stowi_index_slot {
  uint64_t hash;
  uint32_t id_plus_one;  // 0: free
};

static uint64_t mix(uint64_t x) {
  x ^= x >> 30;
  x *= UINT64_C(0xbf58476d1ce4e5b9);
  x ^= x >> 27;
  x *= UINT64_C(0x94d049bb133111eb);
  return x ^ (x >> 31);
}

uint64_t stowi_hash_u64(uint64_t hash, uint64_t number) {
  return mix(hash ^ mix(number + STOWI_HASH_SEED));
}

// Fewer than 8 bytes, the first one lowest.
static inline uint64_t load(const unsigned char* bytes, size_t count) {
  uint64_t word = 0;
  for (size_t i = 0; i < count; ++i) {
    word |= (uint64_t)bytes[i] << (8 * i);
  }
  return word;
}

// The same for 8 bytes, which compilers turn into one load.
static inline uint64_t load_8(const unsigned char* b) {
  return (uint64_t)b[0] | (uint64_t)b[1] << 8 | (uint64_t)b[2] << 16 | (uint64_t)b[3] << 24 |
         (uint64_t)b[4] << 32 | (uint64_t)b[5] << 40 | (uint64_t)b[6] << 48 | (uint64_t)b[7] << 56;
}

uint64_t stowi_hash_bytes(uint64_t hash, const void* data, size_t size) {
  const unsigned char* bytes = (const unsigned char*)data;
  hash = stowi_hash_u64(hash, size);
  size_t i = 0;
  for (; size - i >= 8; i += 8) {
    hash = stowi_hash_u64(hash, load_8(bytes + i));
  }
  return i == size ? hash : stowi_hash_u64(hash, load(bytes + i, size - i));
}

uint32_t stowi_index_find(const stowi_index* index, uint64_t hash, stowi_index_equal equal,
                          const void* context, const void* key) {
  if (index->capacity == 0) {
    return STOWI_INDEX_NONE;
  }
  size_t mask = index->capacity - 1;
  for (size_t at = (size_t)hash & mask;; at = (at + 1) & mask) {
    const struct stowi_index_slot* slot = &index->slots[at];
    if (slot->id_plus_one == 0) {
      return STOWI_INDEX_NONE;
    }
    if (slot->hash == hash && equal(context, slot->id_plus_one - 1, key)) {
      return slot->id_plus_one - 1;
    }
  }
}

static void put(struct stowi_index_slot* slots, size_t capacity, struct stowi_index_slot entry) {
  size_t at = (size_t)entry.hash & (capacity - 1);
  while (slots[at].id_plus_one != 0) {
    at = (at + 1) & (capacity - 1);
  }
  slots[at] = entry;
}

stow_status stowi_index_reserve(stowi_index* index, stow_allocator allocator) {
  if (index->capacity != 0 && index->count + 1 <= index->capacity / 2) {
    return STOW_OK;
  }
  size_t capacity = index->capacity == 0 ? 16 : index->capacity * 2;
  struct stowi_index_slot* slots = STOWI_ARRAY_ZERO(allocator, struct stowi_index_slot, capacity);
  if (slots == NULL) {
    return STOW_ERR_OUT_OF_MEMORY;
  }
  for (size_t i = 0; i < index->capacity; ++i) {
    if (index->slots[i].id_plus_one != 0) {
      put(slots, capacity, index->slots[i]);
    }
  }
  STOWI_ARRAY_FREE(allocator, index->slots, index->capacity);
  index->slots = slots;
  index->capacity = capacity;
  return STOW_OK;
}

void stowi_index_insert(stowi_index* index, uint64_t hash, uint32_t id) {
  struct stowi_index_slot entry = {hash, id + 1};
  put(index->slots, index->capacity, entry);
  ++index->count;
}

void stowi_index_free(stowi_index* index, stow_allocator allocator) {
  STOWI_ARRAY_FREE(allocator, index->slots, index->capacity);
  memset(index, 0, sizeof(*index));
}
