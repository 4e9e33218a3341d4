// Where to cut a chain of pieces into segments, each of which is computed at once, and pieces that
// are computed one by one, by dynamic programming.
#ifndef STOWAGE_SRC_REWRITE_CUTS_H_
#define STOWAGE_SRC_REWRITE_CUTS_H_

#include "base/alloc.h"

typedef struct stowi_rewrite_cuts {
  stow_allocator allocator;
  size_t count;           // pieces
  const uint64_t* loads;  // by piece: bytes that are live if it is computed alone
  const uint64_t* works;  // by piece: what it costs to have it in a segment
  // Bytes that are live while the pieces [first, end) are computed as a segment; any number that is
  // not below |limit| stands for all of these. It is asked again with higher limits.
  stow_status (*cost)(void* user, size_t first, size_t end, uint64_t limit, stow_diag* diag,
                      uint64_t* out_bytes);
  void* user;
  // Results of earlier questions, by first and end: bytes, and whether they are exact.
  uint64_t* known;
  bool* is_exact;
  uint64_t* best;  // by number of pieces
  size_t* from;    // by number of pieces: where the last segment begins; its end: there is none
} stowi_rewrite_cuts;

// Freed also after a failure. The fields before |known| are the caller's, and there already.
stow_status stowi_rewrite_cuts_init(stowi_rewrite_cuts* cuts, stow_diag* diag);
void stowi_rewrite_cuts_free(stowi_rewrite_cuts* cuts);

// The smallest possible number of bytes that are live at any time, but not less than |floor|.
// O(pieces²), and as many questions at most.
stow_status stowi_rewrite_cuts_peak(stowi_rewrite_cuts* cuts, uint64_t floor, stow_diag* diag,
                                    uint64_t* out_peak);
// Of all ways with at most |limit| bytes, which must be possible, finds the one that costs least to
// |from|: from the last piece backwards, a segment [from[end], end), or one piece if that is |end|.
stow_status stowi_rewrite_cuts_choose(stowi_rewrite_cuts* cuts, uint64_t limit, stow_diag* diag);

#endif  // STOWAGE_SRC_REWRITE_CUTS_H_
