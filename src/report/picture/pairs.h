// What of one plan is what of another: the pairing behind comparisons.
#ifndef STOWAGE_SRC_REPORT_PICTURE_PAIRS_H_
#define STOWAGE_SRC_REPORT_PICTURE_PAIRS_H_

#include <stowage/base.h>

typedef struct stowi_report_pair_key {
  int group;      // things of different groups are never the same
  stow_str name;  // empty: none
  stow_str op;    // what makes it; empty: not known
  uint64_t id;    // told apart by it where there is no name
} stowi_report_pair_key;

#define STOWI_REPORT_UNPAIRED SIZE_MAX

// Pairs things, each with one other at most. |out_then|, of |now_count| items, gets the index of
// the partner in |then| or STOWI_REPORT_UNPAIRED. The same name is the same thing; of several of
// one name the first is the first. Of what has no name, those before the first difference are the
// same, in order, and those after the last; what remains is where id and op are, also where only
// one of the two has a name. O(n log n).
stow_status stowi_report_pair(const stowi_report_pair_key* then, size_t then_count,
                              const stowi_report_pair_key* now, size_t now_count,
                              stow_allocator allocator, size_t* out_then);

#endif  // STOWAGE_SRC_REPORT_PICTURE_PAIRS_H_
