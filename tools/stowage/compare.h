// What of one plan is what of another: the pairing behind comparisons.
#ifndef STOWAGE_TOOLS_COMPARE_H_
#define STOWAGE_TOOLS_COMPARE_H_

#include <stowage/base.h>

typedef struct cli_match_key {
  int group;      // things of different groups are never the same
  stow_str name;  // empty: none
  stow_str op;    // what makes it; empty: not known
  uint64_t id;    // told apart by it where there is no name
} cli_match_key;

#define CLI_UNMATCHED SIZE_MAX

// Pairs things, each with one other at most. |out_then|, of |now_count| items, gets the index of
// the partner in |then| or CLI_UNMATCHED. The same name is the same thing; of several of one name
// the first is the first. Of what has no name, those before the first difference are the same, in
// order, and those after the last; what remains is where id and op are, also where only one of the
// two has a name. False where memory is out. O(n log n).
bool cli_match(const cli_match_key* then, size_t then_count, const cli_match_key* now,
               size_t now_count, size_t* out_then);

#endif  // STOWAGE_TOOLS_COMPARE_H_
