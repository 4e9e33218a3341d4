// Fixed buffers, and buffers without reuse: neither needs a search.
#ifndef STOWAGE_SRC_PLACE_GREEDY_FIXED_H_
#define STOWAGE_SRC_PLACE_GREEDY_FIXED_H_

#include "place/greedy/occupancy.h"
#include "place/quest.h"

// Takes every fixed buffer at its place and writes its offset. STOW_ERR_CONFLICT names two that
// overlap.
stow_status stowi_place_take_fixed(stowi_place_quest* quest, stowi_place_occupancy* occupancy,
                                   uint64_t* offsets);
// STOW_ERR_CONFLICT if two overlap.
stow_status stowi_place_check_fixed(stowi_place_quest* quest);

// The placement of a problem without reuse: fixed buffers where they are, the others above them,
// largest first. STOW_ERR_CONFLICT if two fixed ones share a byte, whatever their lifetimes.
stow_status stowi_place_apart(stowi_place_quest* quest);

#endif  // STOWAGE_SRC_PLACE_GREEDY_FIXED_H_
