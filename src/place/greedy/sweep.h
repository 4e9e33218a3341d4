// First fit for runs of buffers of equal size in order of birth, as tensors of a graph are.
#ifndef STOWAGE_SRC_PLACE_GREEDY_SWEEP_H_
#define STOWAGE_SRC_PLACE_GREEDY_SWEEP_H_

#include "place/problem.h"
#include "place/sections.h"

typedef struct stowi_place_sweep stowi_place_sweep;

// |problem| and |sections| must outlive it. O(n).
stow_status stowi_place_sweep_create(const stow_problem* problem,
                                     const stowi_place_sections* sections, stow_allocator allocator,
                                     stowi_place_sweep** out_sweep);
void stowi_place_sweep_destroy(stowi_place_sweep* sweep);

// Records where |piece| (sections.h) begins.
void stowi_place_sweep_put(stowi_place_sweep* sweep, uint32_t piece, uint64_t address);

// Begins a run, whose first buffer is born in |section| and whose offsets are all multiples of
// |unit|. O(n log n).
void stowi_place_sweep_start(stowi_place_sweep* sweep, uint32_t section, uint64_t unit);
// Advances to |section|, which is not before the current one.
void stowi_place_sweep_advance(stowi_place_sweep* sweep, uint32_t section);
void stowi_place_sweep_stop(stowi_place_sweep* sweep);

// The lowest aligned offset at or above |from| where |size| bytes overlap nothing that is live in
// the current section. |alignment| is a multiple of the run's unit.
uint64_t stowi_place_sweep_find(const stowi_place_sweep* sweep, uint64_t size, uint64_t alignment,
                                uint64_t from);

#endif  // STOWAGE_SRC_PLACE_GREEDY_SWEEP_H_
