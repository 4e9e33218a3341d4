// The bytes that roots occupy over time, and what merging two roots does to the load. At each step
// a root occupies the smallest range of bytes that covers its live values.
#ifndef STOWAGE_SRC_ANALYSIS_SHARING_HULLS_H_
#define STOWAGE_SRC_ANALYSIS_SHARING_HULLS_H_

#include "analysis/sharing/load_curve.h"
#include "analysis/sharing/sharing.h"

// A range of bytes over a range of steps.
typedef struct stowi_analysis_hull_piece {
  uint64_t low, high;  // relative to |anchor|
  uint32_t begin, end;
  uint32_t previous;  // the piece before it in time
  stow_value anchor;  // the root when the piece was made
} stowi_analysis_hull_piece;

// A piece of the merged root, and by how much it exceeds what the two occupy together.
typedef struct stowi_analysis_hull_merge {
  uint64_t low, high;  // in the root that stays
  uint32_t begin, end;
  int64_t rise;
} stowi_analysis_hull_merge;

typedef struct stowi_analysis_hulls {
  stow_allocator allocator;
  uint32_t value_count;
  const uint64_t* bytes;  // by value
  stow_value* parent;     // by root: what it was merged into, itself if still a root
  uint64_t* shift;        // by root: offset in that
  uint32_t* last;         // by root: its last piece
  STOWI_VEC(stowi_analysis_hull_piece) pieces;
  uint32_t unused;  // pieces, linked by |previous|
  STOWI_VEC(stowi_analysis_hull_merge) merged;
  uint32_t
      rest[2];  // for both roots: the last piece that |merged| leaves, unchanged except that one
  uint32_t rest_end;  // is cut there
  uint64_t work;      // pieces visited
  bool too_large;     // loads need more than 62 bits: nothing may be merged
  stowi_analysis_load_curve load;
} stowi_analysis_hulls;

// The limit on pieces visited in all, far more than real programs need. It bounds the time for
// programs in which every root changes at every step.
#define STOWI_ANALYSIS_HULLS_WORK (UINT64_C(1) << 22)

// Computes the roots and loads of |call|'s views; the load counts what is in the arena, and
// scratch. O(n log n). On failure the diagnostic is filled and there is nothing to free.
stow_status stowi_analysis_hulls_init(stowi_analysis_hulls* hulls,
                                      const stowi_analysis_sharing_call* call);
// Also valid for a zeroed struct.
void stowi_analysis_hulls_free(stowi_analysis_hulls* hulls);

// The root that |value|, once a root, is in now, and its offset there, which means nothing if it,
// or what it moved with, was pitched by a merge. Near O(1).
stow_value stowi_analysis_hulls_find(stowi_analysis_hulls* hulls, stow_value value,
                                     uint64_t* out_offset);

// How the load changes if |root| is merged into |into| at |place|; both are roots. Only steps at
// which both occupy bytes can change: O(pieces of both from there on; all of |root|'s if it is
// pitched).
typedef enum stowi_analysis_rise {
  STOWI_ANALYSIS_RISE_NONE,        // at no step
  STOWI_ANALYSIS_RISE_BELOW_PEAK,  // somewhere, but not the peak
  STOWI_ANALYSIS_RISE_OF_PEAK,
  STOWI_ANALYSIS_RISE_UNKNOWN,  // out of memory
} stowi_analysis_rise;
stowi_analysis_rise stowi_analysis_hulls_try(stowi_analysis_hulls* hulls, stow_value root,
                                             stow_value into, stowi_analysis_layout place);
// Applies the merge tried last. False, with nothing changed, if out of memory.
bool stowi_analysis_hulls_merge(stowi_analysis_hulls* hulls, stow_value root, stow_value into,
                                stowi_analysis_layout place);

#endif  // STOWAGE_SRC_ANALYSIS_SHARING_HULLS_H_
