// Which addresses are occupied when: the data structure under the strategies.
#ifndef STOWAGE_SRC_PLACE_GREEDY_OCCUPANCY_H_
#define STOWAGE_SRC_PLACE_GREEDY_OCCUPANCY_H_

#include "place/greedy/gaps.h"
#include "place/problem.h"
#include "place/sections.h"

typedef struct stowi_place_occupancy stowi_place_occupancy;

// |problem| must outlive it. O(n log n).
stow_status stowi_place_occupancy_create(const stow_problem* problem, stow_allocator allocator,
                                         stowi_place_occupancy** out_occupancy);
void stowi_place_occupancy_destroy(stowi_place_occupancy* occupancy);

// Takes the bytes of |buffer| at |offset| for its lifetime, or those of its windows. Must overlap
// nothing that is live with it.
stow_status stowi_place_occupancy_take(stowi_place_occupancy* occupancy, size_t buffer,
                                       uint64_t offset);

// Runs: sequences of buffers that are taken in order of birth are searched faster (sweep.h). Must
// be called before the first buffer is taken, if there will be runs.
stow_status stowi_place_occupancy_expect_runs(stowi_place_occupancy* occupancy);
// A number that orders births.
uint32_t stowi_place_occupancy_birth(const stowi_place_occupancy* occupancy, size_t buffer);
// From here on buffers are searched and taken in order of birth, |buffer| first, all at multiples
// of |unit|. O(n log n).
void stowi_place_occupancy_start_run(stowi_place_occupancy* occupancy, size_t buffer,
                                     uint64_t unit);
void stowi_place_occupancy_stop_run(stowi_place_occupancy* occupancy);

// A search for room for one buffer. No buffer may be taken while it is in use.
typedef struct stowi_place_search stowi_place_search;
stowi_place_search* stowi_place_search_start(stowi_place_occupancy* occupancy, size_t buffer);
// The lowest aligned offset at or above |from| where the buffer's bytes are free over its whole
// lifetime. If |from| is not below that of the previous call, it continues from there.
uint64_t stowi_place_search_next(stowi_place_search* search, uint64_t from);
// How far the free room above |offset|, a result of stowi_place_search_next, extends: to where the
// footprint ends when it is moved up until one of its bytes meets a live one, or UINT64_MAX.
uint64_t stowi_place_search_room(stowi_place_search* search, uint64_t offset);

#endif  // STOWAGE_SRC_PLACE_GREEDY_OCCUPANCY_H_
