// An allocator that counts, checks its arguments (old sizes, alignments, double frees), and fails
// on request.
#ifndef STOWAGE_TESTS_SUPPORT_FAULT_H_
#define STOWAGE_TESTS_SUPPORT_FAULT_H_

#include <stowage/base.h>

typedef struct test_heap {
  size_t live_blocks;
  size_t live_bytes;
  size_t peak_bytes;
  size_t allocations;  // allocations and growths so far
  size_t fail_at;      // the allocation that fails, from 1; 0: none
  bool fail_onwards;   // and all after it
} test_heap;

// |heap| must be zeroed first and outlive everything allocated from it.
stow_allocator test_heap_allocator(test_heap* heap);

// Runs |attempt| with the 1st, 2nd, … allocation failing until it succeeds without meeting the
// failure. |attempt| must build all it needs with the given allocator, return the status of the
// call under test and free everything. Checks that each failing run reports STOW_ERR_OUT_OF_MEMORY,
// and that no block is left. Returns the number of runs that failed.
size_t test_fault_sweep(stow_status (*attempt)(stow_allocator allocator, void* user), void* user);

#endif  // STOWAGE_TESTS_SUPPORT_FAULT_H_
