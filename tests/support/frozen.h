// Memory that can be made read-only, as the mapped file of a model is: whoever then writes to a
// weight, be it the bytes that are there already, ends the program.
#ifndef STOWAGE_TESTS_SUPPORT_FROZEN_H_
#define STOWAGE_TESTS_SUPPORT_FROZEN_H_

#include <stowage/base.h>

typedef struct test_frozen {
  unsigned char* base;
  size_t used;
} test_frozen;

// An allocator over one stretch of address space, of which nothing is used twice. |frozen| must be
// zeroed first. Ends the program where the stretch is used up.
stow_allocator test_frozen_allocator(test_frozen* frozen);
// From now on what was allocated can only be read, or written again.
void test_freeze(test_frozen* frozen, bool is_frozen);
void test_frozen_free(test_frozen* frozen);

#endif  // STOWAGE_TESTS_SUPPORT_FROZEN_H_
