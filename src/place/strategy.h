// What the strategies share: the order of buffers, fixed ones first, no reuse. A greedy strategy is
// this and a rule that picks an offset.
#ifndef STOWAGE_SRC_PLACE_STRATEGY_H_
#define STOWAGE_SRC_PLACE_STRATEGY_H_

#include <stowage/place.h>

#include "place/occupancy.h"

// Picks an offset among those that |search| offers.
typedef uint64_t (*stowi_pick)(stowi_search* search, uint64_t footprint);

// Places fixed buffers first, then the others by size, largest first, equal ones by number, each
// where |pick| says.
stow_status stowi_place_greedy(const stow_problem* problem, const stow_place_options* options,
                               stow_allocator allocator, stow_diag* diag, stowi_pick pick,
                               stow_placement** out_placement);

#endif  // STOWAGE_SRC_PLACE_STRATEGY_H_
