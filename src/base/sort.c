// Bottom-up merge sort over runs of 16 that insertion sort has put in order. Stable, no recursion,
// one temporary block.
#include "base/sort.h"

#include <string.h>

#include "base/alloc.h"
#include "base/checked.h"

#define RUN 16

typedef struct sorter {
  size_t size;
  stowi_compare compare;
  const void* context;
} sorter;

static void insertion_sort(const sorter* s, char* base, size_t count, char* spare) {
  for (size_t i = 1; i < count; ++i) {
    char* element = base + i * s->size;
    size_t at = i;
    while (at > 0 && s->compare(base + (at - 1) * s->size, element, s->context) > 0) {
      --at;
    }
    if (at == i) {
      continue;
    }
    memcpy(spare, element, s->size);
    memmove(base + (at + 1) * s->size, base + at * s->size, (i - at) * s->size);
    memcpy(base + at * s->size, spare, s->size);
  }
}

static void merge(const sorter* s, const char* left, const char* middle, const char* right,
                  char* out) {
  const char* a = left;
  const char* b = middle;
  while (a < middle && b < right) {
    bool take_b = s->compare(a, b, s->context) > 0;
    memcpy(out, take_b ? b : a, s->size);
    if (take_b) {
      b += s->size;
    } else {
      a += s->size;
    }
    out += s->size;
  }
  memcpy(out, a, (size_t)(middle - a));
  memcpy(out + (middle - a), b, (size_t)(right - b));
}

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

stow_status stowi_sort(void* base, size_t count, size_t size, stowi_compare compare,
                       const void* context, stow_allocator allocator) {
  if (count < 2) {
    return STOW_OK;
  }
  char* spare = (char*)stowi_alloc(allocator, count, size);
  if (spare == NULL) {
    return STOW_ERR_OUT_OF_MEMORY;
  }
  sorter s = {size, compare, context};
  char* from = (char*)base;
  for (size_t i = 0; i < count; i += RUN) {
    insertion_sort(&s, from + i * size, smaller(RUN, count - i), spare);
  }
  char* to = spare;
  for (size_t width = RUN; width < count; width *= 2) {
    for (size_t i = 0; i < count; i += 2 * width) {
      size_t middle = smaller(i + width, count);
      size_t end = smaller(i + 2 * width, count);
      merge(&s, from + i * size, from + middle * size, from + end * size, to + i * size);
    }
    char* swap = from;
    from = to;
    to = swap;
  }
  if (from != base) {
    memcpy(base, from, count * size);
  }
  stowi_free(allocator, spare, count, size);
  return STOW_OK;
}
