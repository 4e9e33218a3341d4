// Structs of callers that were built against earlier headers: shorter than the library's.
#ifndef STOWAGE_TESTS_SUPPORT_STRUCT_SIZE_H_
#define STOWAGE_TESTS_SUPPORT_STRUCT_SIZE_H_

#include <string.h>

#include "support/test.h"

#define STRUCT_SIZE_PATTERN 0xa5

static inline bool struct_size_has_pattern(const unsigned char* bytes, size_t begin, size_t end) {
  while (begin < end && bytes[begin] == STRUCT_SIZE_PATTERN) {
    ++begin;
  }
  return begin == end;
}

// Does |statement|, which fills |out|, a |type|*, with every struct_size from |least| on: it must
// write something, and nothing behind that size.
#define CHECK_EVERY_SIZE(type, least, statement)                           \
  for (size_t size_ = (least); size_ <= sizeof(type); ++size_) {           \
    union {                                                                \
      type out;                                                            \
      unsigned char bytes[sizeof(type) + 64];                              \
    } memory_;                                                             \
    memset(&memory_, STRUCT_SIZE_PATTERN, sizeof(memory_));                \
    type* out = &memory_.out;                                              \
    out->struct_size = size_;                                              \
    statement;                                                             \
    CHECK_U64(out->struct_size, size_);                                    \
    CHECK(struct_size_has_pattern(memory_.bytes, size_, sizeof(memory_))); \
    CHECK(size_ == sizeof(size_t) ||                                       \
          !struct_size_has_pattern(memory_.bytes, sizeof(size_t), size_)); \
  }

#endif  // STOWAGE_TESTS_SUPPORT_STRUCT_SIZE_H_
