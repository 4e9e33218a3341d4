// Windows with holes: pairs of buffers of which neither is entirely above the other.
//     9 │     ┌─────┐
//       │     │  a  │      a occupies its lowest bytes first, then its highest: b is above it
//     6 ├─────┴─────┤      at first, then below it
//       │     b     │
//     3 ├─────┬─────┘
//       │  a  │
//     0 └─────┴───────▶ step
// There, `least` is no longer what the placed ones below leave, but the lowest offset that is yet
// to be tried and that all placed ones leave free, wherever they are. To pass a buffer over is to
// go on to the next such offset. So the search covers all offsets that matter: slower, but
// complete. If the state is not `among_holes`, it considers only placements in which one is
// entirely above the other: it finds them sooner, but may miss others.
#ifndef STOWAGE_SRC_PLACE_EXACT_HOLES_H_
#define STOWAGE_SRC_PLACE_EXACT_HOLES_H_

#include "place/exact/state.h"

// The rules that hold for all windows.
#define STOWI_PLACE_RULES_WITH_HOLES                                                 \
  (STOWI_PLACE_RULE_SECTIONS | STOWI_PLACE_RULE_PASSED | STOWI_PLACE_RULE_BLOCKERS | \
   STOWI_PLACE_RULE_SPLIT | STOWI_PLACE_RULE_TWINS)

// The lowest offset from |from| on at which |buffer| overlaps no placed one. O(pieces of its
// neighbours), repeated while one pushes it up to another.
int64_t stowi_place_holes_next(stowi_place_state* state, uint32_t buffer, int64_t from);
// The same from `least` on, if |placed| is the only one that |buffer| can overlap there.
int64_t stowi_place_holes_beside(stowi_place_state* state, uint32_t placed, uint32_t buffer);

// The lowest offset above `least` at which |buffer| could be: one where it rests on another.
// INT64_MAX if there is none.
int64_t stowi_place_holes_above(stowi_place_state* state, uint32_t buffer);

#endif  // STOWAGE_SRC_PLACE_EXACT_HOLES_H_
