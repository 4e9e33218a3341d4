// Memory through the caller's allocator, with checked sizes.
#ifndef STOWAGE_SRC_BASE_ALLOC_H_
#define STOWAGE_SRC_BASE_ALLOC_H_

#include <stdalign.h>

#include "base/shared.h"

// |count| × |size| bytes, not cleared; NULL where that overflows or there is no memory. 0 bytes
// give a block of 1 byte, so that NULL always means failure. Freed with the same count and size.
STOWI_SHARED void* stowi_alloc(stow_allocator allocator, size_t count, size_t size);
// The same, zero-filled.
STOWI_SHARED void* stowi_alloc_zero(stow_allocator allocator, size_t count, size_t size);
STOWI_SHARED void stowi_free(stow_allocator allocator, void* block, size_t count, size_t size);

// Typed shorthands: STOWI_NEW(allocator, stow_graph), STOWI_ARRAY(allocator, uint32_t, n).
#define STOWI_NEW(allocator, type) ((type*)stowi_alloc_zero((allocator), 1, sizeof(type)))
#define STOWI_DELETE(allocator, pointer) stowi_free((allocator), (pointer), 1, sizeof(*(pointer)))
#define STOWI_ARRAY(allocator, type, count) ((type*)stowi_alloc((allocator), (count), sizeof(type)))
#define STOWI_ARRAY_ZERO(allocator, type, count) \
  ((type*)stowi_alloc_zero((allocator), (count), sizeof(type)))
#define STOWI_ARRAY_FREE(allocator, pointer, count) \
  stowi_free((allocator), (pointer), (count), sizeof(*(pointer)))

// A growing array: data, how many elements are used, how many fit. Declare with STOWI_VEC(uint32_t)
// and zero-initialise.
#define STOWI_VEC(type) \
  struct {              \
    type* data;         \
    size_t count;       \
    size_t capacity;    \
  }

// Makes room for |extra| more elements; STOW_ERR_OUT_OF_MEMORY leaves the array as it was. After
// STOW_OK, vec.data[vec.count++] = x is fine |extra| times.
STOWI_SHARED stow_status stowi_vec_reserve(stow_allocator allocator, void** data, size_t count,
                                           size_t* capacity, size_t element_size, size_t extra);
#define STOWI_VEC_RESERVE(allocator, vec, extra)                                       \
  stowi_vec_reserve((allocator), (void**)&(vec)->data, (vec)->count, &(vec)->capacity, \
                    sizeof(*(vec)->data), (extra))
#define STOWI_VEC_FREE(allocator, vec)                                           \
  do {                                                                           \
    stowi_free((allocator), (vec)->data, (vec)->capacity, sizeof(*(vec)->data)); \
    (vec)->data = NULL;                                                          \
    (vec)->count = (vec)->capacity = 0;                                          \
  } while (0)

#endif  // STOWAGE_SRC_BASE_ALLOC_H_
