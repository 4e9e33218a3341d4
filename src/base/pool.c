// A bump allocator over chunks that grow geometrically: O(1) per piece, and no allocation per node
// of a graph with a million nodes. A piece that would take a large part of a chunk gets its own
// chunk, so that it does not waste the rest of the current one.
#include "base/pool.h"

#include <stdalign.h>
#include <string.h>

#include "base/alloc.h"
#include "base/checked.h"

#define FIRST_CHUNK 1024
#define LARGEST_CHUNK ((size_t)1 << 20)

typedef struct stowi_pool_chunk {
  alignas(max_align_t) struct stowi_pool_chunk* next;
  size_t size;  // of the whole block
} chunk;

// A new chunk with room for |size| bytes.
static chunk* add_chunk(stowi_pool* pool, stow_allocator allocator, size_t size) {
  size_t total;
  if (!stowi_add_size(size, sizeof(chunk), &total)) {
    return NULL;
  }
  chunk* added = (chunk*)stowi_alloc(allocator, total, 1);
  if (added != NULL) {
    added->next = pool->chunks;
    added->size = total;
    pool->chunks = added;
  }
  return added;
}

// Makes a new chunk the current one.
static bool refill(stowi_pool* pool, stow_allocator allocator) {
  size_t size = pool->next_size == 0 ? FIRST_CHUNK : pool->next_size;
  chunk* added = add_chunk(pool, allocator, size);
  if (added == NULL) {
    return false;
  }
  pool->at = (char*)(added + 1);
  pool->left = size;
  pool->next_size = size < LARGEST_CHUNK ? size * 2 : size;
  return true;
}

void* stowi_pool_alloc(stowi_pool* pool, stow_allocator allocator, size_t size, size_t alignment) {
  if (size > FIRST_CHUNK / 4 && size > pool->next_size / 8) {
    chunk* own = add_chunk(pool, allocator, size);
    return own == NULL ? NULL : own + 1;
  }
  size_t padding = (size_t)(-(uintptr_t)pool->at & (alignment - 1));
  if (pool->left < padding || pool->left - padding < size || pool->at == NULL) {
    if (!refill(pool, allocator)) {
      return NULL;
    }
    padding = 0;
  }
  char* piece = pool->at + padding;
  pool->at = piece + size;
  pool->left -= padding + size;
  return piece;
}

stow_status stowi_pool_copy_str(stowi_pool* pool, stow_allocator allocator, stow_str string,
                                stow_str* out) {
  size_t size;
  char* copy = NULL;
  if (stowi_add_size(string.size, 1, &size)) {
    copy = (char*)stowi_pool_alloc(pool, allocator, size, 1);
  }
  if (copy == NULL) {
    return STOW_ERR_OUT_OF_MEMORY;
  }
  if (string.size != 0) {
    memcpy(copy, string.data, string.size);
  }
  copy[string.size] = '\0';
  *out = (stow_str){copy, string.size};
  return STOW_OK;
}

void stowi_pool_free(stowi_pool* pool, stow_allocator allocator) {
  while (pool->chunks != NULL) {
    chunk* next = pool->chunks->next;
    stowi_free(allocator, pool->chunks, pool->chunks->size, 1);
    pool->chunks = next;
  }
  memset(pool, 0, sizeof(*pool));
}
