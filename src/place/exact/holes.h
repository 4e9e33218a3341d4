// Windows with holes: pairs of buffers of which neither lies clear above the other.
//
//     9 │     ┌─────┐
//       │     │  a  │      a occupies its lowest bytes first, then its highest: b is above it
//     6 ├─────┴─────┤      at first, then below it
//       │     b     │
//     3 ├─────┬─────┘
//       │  a  │
//     0 └─────┴───────▶ step
//
// There `least` is no longer what the placed ones below leave, but the lowest offset that is yet to
// be tried and that all placed ones leave, wherever they are. To pass a buffer over is to go on to
// the next such offset. So the search is through all offsets that matter: slower, but complete.
// Where the state is not `among_holes`, it only knows placements in which one lies clear above the
// other: it finds them sooner, but may miss others.
#ifndef STOWAGE_SRC_PLACE_EXACT_HOLES_H_
#define STOWAGE_SRC_PLACE_EXACT_HOLES_H_

#include "place/exact/state.h"

// The rules that hold for all windows.
#define STOWI_RULES_WITH_HOLES                                                        \
  (STOWI_RULE_SECTIONS | STOWI_RULE_PASSED | STOWI_RULE_BLOCKERS | STOWI_RULE_SPLIT | \
   STOWI_RULE_TWINS)

// The lowest offset from |from| on at which |buffer| meets no placed one. O(pieces of its
// neighbours), times as often as one pushes it up to another.
int64_t stowi_holes_next(stowi_state* state, uint32_t buffer, int64_t from);
// The same from `least` on, where |placed| is the only one that |buffer| can meet there.
int64_t stowi_holes_beside(stowi_state* state, uint32_t placed, uint32_t buffer);

// The lowest offset above `least` at which |buffer| could lie: one where it rests on another.
// INT64_MAX where there is none.
int64_t stowi_holes_above(stowi_state* state, uint32_t buffer);

#endif  // STOWAGE_SRC_PLACE_EXACT_HOLES_H_
