// Memory that can be made read-only, like the mapped file of a model: a write to a weight, even of
// the bytes already there, then ends the program.
#ifndef STOWAGE_TESTS_SUPPORT_FROZEN_H_
#define STOWAGE_TESTS_SUPPORT_FROZEN_H_

#include <stowage/base.h>

typedef struct test_frozen {
  unsigned char* base;
  size_t used;
} test_frozen;

// An allocator over one range of address space, of which nothing is used twice. |frozen| must be
// zeroed first. Ends the program if the range is used up.
stow_allocator test_frozen_allocator(test_frozen* frozen);
// Makes what was allocated read-only, or writable again.
void test_freeze(test_frozen* frozen, bool is_frozen);
void test_frozen_free(test_frozen* frozen);

#endif  // STOWAGE_TESTS_SUPPORT_FROZEN_H_
