// Buffers that must form a solid block, merged into one.
#ifndef STOWAGE_SRC_PLACE_EXACT_SOLID_H_
#define STOWAGE_SRC_PLACE_EXACT_SOLID_H_

#include "place/problem.h"

typedef struct stowi_place_solid stowi_place_solid;

// Merges what must form blocks in every placement within |capacity|. NULL if too little can be
// merged to be worth it; so it is with windows, fixed offsets or padding. O(n log n) and a constant
// amount of work for each buffer, several times.
stow_status stowi_place_solid_create(const stow_problem* problem, uint64_t capacity,
                                     stow_allocator allocator, stow_diag* diag,
                                     stowi_place_solid** out_solid);
void stowi_place_solid_destroy(stowi_place_solid* solid);

// The problem with blocks in place of their members. It has a placement within the capacity exactly
// if the whole problem has one.
const stow_problem* stowi_place_solid_problem(const stowi_place_solid* solid);

// Writes the offsets of all buffers of the whole problem, from those of the blocks.
void stowi_place_solid_expand(const stowi_place_solid* solid, const uint64_t* offsets,
                              uint64_t* out_offsets);

#endif  // STOWAGE_SRC_PLACE_EXACT_SOLID_H_
