// The lowest height of tiny problems by trying every offset: an oracle that shares no code with the
// library. Ends the program if a problem is too large for it.
#ifndef STOWAGE_TESTS_SUPPORT_BRUTE_PLACE_H_
#define STOWAGE_TESTS_SUPPORT_BRUTE_PLACE_H_

#include <stowage/place.h>

enum {
  BRUTE_MAX_BUFFERS = 16,
  BRUTE_MAX_STEPS = 16,   // lifetimes end at or before it
  BRUTE_MAX_HEIGHT = 128  // of the lowest placement
};

#define BRUTE_ALL UINT64_MAX

// Whether the buffers whose bits are set in |members| fit within |capacity| together, as if there
// were no others. Fixed buffers that overlap never do.
bool brute_fits(const stow_problem* problem, uint64_t members, uint64_t capacity);

// The lowest height of all buffers together. Fixed buffers must not overlap.
uint64_t brute_height(const stow_problem* problem);

#endif  // STOWAGE_TESTS_SUPPORT_BRUTE_PLACE_H_
