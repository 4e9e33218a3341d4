// What groups of values that move as one occupy over time, and what merging two of them does to the
// load. A group is a root with all that lies in it; at a step it occupies the smallest stretch of
// bytes that holds its values that live then.
#ifndef STOWAGE_SRC_ANALYSIS_SHARING_HULLS_H_
#define STOWAGE_SRC_ANALYSIS_SHARING_HULLS_H_

#include "analysis/sharing/load_curve.h"
#include "analysis/sharing/sharing.h"

// One stretch of bytes over one stretch of steps.
typedef struct stowi_hull_piece {
  uint64_t low, high;  // in |anchor|
  uint32_t begin, end;
  uint32_t previous;  // the piece before it in time
  stow_value anchor;  // a value that was the group's root when the piece was made
} stowi_hull_piece;

// A piece of the group that two would become, and by how much more than they both occupy.
typedef struct stowi_hull_merge {
  uint64_t low, high;  // in the group that stays
  uint32_t begin, end;
  int64_t rise;
} stowi_hull_merge;

typedef struct stowi_hulls {
  stow_allocator allocator;
  uint32_t value_count;
  stow_value* parent;  // by root: what it lies in, itself where it is a root still
  uint64_t* shift;     // by root: where in that
  uint32_t* last;      // by root: the last piece of its group
  STOWI_VEC(stowi_hull_piece) pieces;
  uint32_t unused;  // pieces, linked by |previous|
  STOWI_VEC(stowi_hull_merge) merged;
  uint32_t rest[2];   // of both groups: the last piece that |merged| leaves, none but for one,
  uint32_t rest_end;  // which is to be cut there
  uint64_t work;      // pieces looked at
  bool too_large;     // loads need more than 62 bits: nothing may be merged
  stowi_load_curve load;
} stowi_hulls;

// Pieces that may be looked at in all: far more than real programs need. It bounds the time that a
// program can cost in which every group changes at every step.
#define STOWI_HULLS_WORK (UINT64_C(1) << 22)

// The groups and loads of |call|'s views; the load counts what lies in the arena, and scratch.
// O(n log n). On failure, with the diagnostic filled, there is nothing to free.
stow_status stowi_hulls_init(stowi_hulls* hulls, const stowi_sharing_call* call);
// Also of a zeroed struct.
void stowi_hulls_free(stowi_hulls* hulls);

// The root that |value|, once a root, lies in now, and where. Near O(1).
stow_value stowi_hulls_find(stowi_hulls* hulls, stow_value value, uint64_t* out_offset);

// How the load changes with the group of |root| at |offset| in the group of |into|, both roots.
// Only steps at which both occupy bytes can change: O(pieces of both from there on).
typedef enum stowi_rise {
  STOWI_RISE_NONE,        // at no step
  STOWI_RISE_BELOW_PEAK,  // but the highest of all stays
  STOWI_RISE_OF_PEAK,
  STOWI_RISE_UNKNOWN,  // there is no memory
} stowi_rise;
stowi_rise stowi_hulls_try(stowi_hulls* hulls, stow_value root, stow_value into, uint64_t offset);
// Does what was tried last. False, and nothing done, where there is no memory.
bool stowi_hulls_merge(stowi_hulls* hulls, stow_value root, stow_value into, uint64_t offset);

#endif  // STOWAGE_SRC_ANALYSIS_SHARING_HULLS_H_
