// Checked arithmetic: each function returns false and leaves |out| unchanged on overflow.
#ifndef STOWAGE_SRC_BASE_CHECKED_H_
#define STOWAGE_SRC_BASE_CHECKED_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline bool stowi_add_u64(uint64_t a, uint64_t b, uint64_t* out) {
  if (a > UINT64_MAX - b) {
    return false;
  }
  *out = a + b;
  return true;
}

static inline bool stowi_mul_u64(uint64_t a, uint64_t b, uint64_t* out) {
  if (b != 0 && a > UINT64_MAX / b) {
    return false;
  }
  *out = a * b;
  return true;
}

static inline bool stowi_add_size(size_t a, size_t b, size_t* out) {
  if (a > SIZE_MAX - b) {
    return false;
  }
  *out = a + b;
  return true;
}

static inline bool stowi_mul_size(size_t a, size_t b, size_t* out) {
  if (b != 0 && a > SIZE_MAX / b) {
    return false;
  }
  *out = a * b;
  return true;
}

static inline bool stowi_add_i64(int64_t a, int64_t b, int64_t* out) {
  if ((b > 0 && a > INT64_MAX - b) || (b < 0 && a < INT64_MIN - b)) {
    return false;
  }
  *out = a + b;
  return true;
}

static inline bool stowi_mul_i64(int64_t a, int64_t b, int64_t* out) {
  if (a == 0 || b == 0) {
    *out = 0;
    return true;
  }
  if ((a == -1 && b == INT64_MIN) || (b == -1 && a == INT64_MIN)) {
    return false;
  }
  int64_t product = (int64_t)((uint64_t)a * (uint64_t)b);
  if (product / b != a) {
    return false;
  }
  *out = product;
  return true;
}

static inline bool stowi_is_power_of_two(uint64_t x) { return x != 0 && (x & (x - 1)) == 0; }

// |alignment| is a power of two. False where the result needs more than 64 bits.
static inline bool stowi_align_up(uint64_t x, uint64_t alignment, uint64_t* out) {
  uint64_t sum;
  if (!stowi_add_u64(x, alignment - 1, &sum)) {
    return false;
  }
  *out = sum & ~(alignment - 1);
  return true;
}

#endif  // STOWAGE_SRC_BASE_CHECKED_H_
