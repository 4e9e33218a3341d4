// The default allocator, and checked helpers on top of any allocator.
#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

#include "base/checked.h"

#define NATURAL_ALIGNMENT (alignof(max_align_t))

static void* resize_aligned(void* old, size_t old_size, size_t new_size, size_t alignment) {
  size_t rounded;
  if (!stowi_add_size(new_size, alignment - 1, &rounded)) {
    return NULL;
  }
  rounded &= ~(alignment - 1);  // aligned_alloc needs a multiple
  void* block = aligned_alloc(alignment, rounded);
  if (block != NULL && old != NULL) {
    memcpy(block, old, old_size < new_size ? old_size : new_size);
    free(old);
  }
  return block;
}

static void* default_reallocate(void* user, void* old, size_t old_size, size_t new_size,
                                size_t alignment) {
  (void)user;
  if (new_size == 0) {
    free(old);
    return NULL;
  }
  if (alignment > NATURAL_ALIGNMENT) {
    return resize_aligned(old, old_size, new_size, alignment);
  }
  return realloc(old, new_size);
}

stow_allocator stow_allocator_default(void) {
  stow_allocator allocator = {default_reallocate, NULL};
  return allocator;
}

static size_t nonzero(size_t size) { return size == 0 ? 1 : size; }

void* stowi_alloc(stow_allocator allocator, size_t count, size_t size) {
  size_t bytes;
  if (!stowi_mul_size(count, size, &bytes)) {
    return NULL;
  }
  return allocator.reallocate(allocator.user, NULL, 0, nonzero(bytes), NATURAL_ALIGNMENT);
}

void* stowi_alloc_zero(stow_allocator allocator, size_t count, size_t size) {
  void* block = stowi_alloc(allocator, count, size);
  if (block != NULL) {
    memset(block, 0, count * size);
  }
  return block;
}

void stowi_free(stow_allocator allocator, void* block, size_t count, size_t size) {
  if (block != NULL) {
    allocator.reallocate(allocator.user, block, nonzero(count * size), 0, NATURAL_ALIGNMENT);
  }
}

stow_status stowi_vec_reserve(stow_allocator allocator, void** data, size_t count, size_t* capacity,
                              size_t element_size, size_t extra) {
  size_t needed;
  if (!stowi_add_size(count, extra, &needed)) {
    return STOW_ERR_OUT_OF_MEMORY;
  }
  if (needed <= *capacity) {
    return STOW_OK;
  }
  size_t grown = *capacity + *capacity / 2;
  if (grown < needed) {
    grown = needed;
  }
  if (grown < 8) {
    grown = 8;
  }
  size_t bytes;
  if (!stowi_mul_size(grown, element_size, &bytes)) {
    return STOW_ERR_OUT_OF_MEMORY;
  }
  void* block = allocator.reallocate(allocator.user, *data, *capacity * element_size, bytes,
                                     NATURAL_ALIGNMENT);
  if (block == NULL) {
    return STOW_ERR_OUT_OF_MEMORY;
  }
  *data = block;
  *capacity = grown;
  return STOW_OK;
}
