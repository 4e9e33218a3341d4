// Bottom-up merge sort over runs of 16 elements sorted by insertion. Stable, not recursive, one
// temporary block. Many elements with a numeric key use radix sort, lowest digit first, skipping
// digits in which all keys agree.
#include "base/sort.h"

#include <string.h>

#include "base/alloc.h"

#define RUN 16
#define MIN_RADIX 1024  // below this, merging is as fast
#define DIGIT_BITS 11
#define DIGITS ((size_t)1 << DIGIT_BITS)

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

// ---------------------------------------------------------------------------------------------
// By key

static uint64_t key_of(const char* element) {
  uint64_t key;
  memcpy(&key, element, sizeof(key));
  return key;
}

static int compare_keys(const void* a, const void* b, const void* context) {
  uint64_t x = key_of((const char*)a);
  uint64_t y = key_of((const char*)b);
  (void)context;
  return (x > y) - (x < y);
}

static void sort_digit(const char* from, char* to, size_t count, size_t size, uint32_t shift) {
  size_t ends[DIGITS + 1] = {0};
  for (size_t i = 0; i < count; ++i) {
    ++ends[((key_of(from + i * size) >> shift) & (DIGITS - 1)) + 1];
  }
  for (size_t digit = 1; digit <= DIGITS; ++digit) {
    ends[digit] += ends[digit - 1];
  }
  for (size_t i = 0; i < count; ++i) {
    size_t digit = (key_of(from + i * size) >> shift) & (DIGITS - 1);
    memcpy(to + ends[digit]++ * size, from + i * size, size);
  }
}

// The bits in which keys differ; also 0 if the keys are already sorted.
static uint64_t varying_bits(const char* base, size_t count, size_t size) {
  uint64_t varying = 0;
  bool in_order = true;
  for (size_t i = 1; i < count; ++i) {
    uint64_t last = key_of(base + (i - 1) * size);
    uint64_t key = key_of(base + i * size);
    varying |= last ^ key;
    in_order = in_order && last <= key;
  }
  return in_order ? 0 : varying;
}

stow_status stowi_sort_by_key(void* base, size_t count, size_t size, stow_allocator allocator) {
  if (count < MIN_RADIX) {
    return stowi_sort(base, count, size, compare_keys, NULL, allocator);
  }
  uint64_t varying = varying_bits((const char*)base, count, size);
  if (varying == 0) {
    return STOW_OK;
  }
  char* spare = (char*)stowi_alloc(allocator, count, size);
  if (spare == NULL) {
    return STOW_ERR_OUT_OF_MEMORY;
  }
  char* from = (char*)base;
  char* to = spare;
  for (uint32_t shift = 0; shift < 64; shift += DIGIT_BITS) {
    if (((varying >> shift) & (DIGITS - 1)) != 0) {
      sort_digit(from, to, count, size, shift);
      char* swap = from;
      from = to;
      to = swap;
    }
  }
  if (from != base) {
    memcpy(base, from, count * size);
  }
  stowi_free(allocator, spare, count, size);
  return STOW_OK;
}
