// Improving placements: compaction, where every buffer drops as far as it can; local search on the
// order in which buffers are placed; and large neighbourhood search, where parts of a placement are
// taken out and re-solved by the exact search.
#ifndef STOWAGE_SRC_PLACE_IMPROVE_IMPROVE_H_
#define STOWAGE_SRC_PLACE_IMPROVE_IMPROVE_H_

#include "place/quest.h"

// First fit in |order|, which are all buffers that are not fixed, without touching the quest's
// best. A node per buffer. |height| is UINT64_MAX if the callback stopped it.
stow_status stowi_place_fit_aside(stowi_place_quest* quest, const uint32_t* order, size_t count,
                                  uint64_t* offsets, uint64_t* height);

// Drops the buffers of a placement, lowest first, each to the lowest offset that those before it
// leave free. Without windows none ends higher than it was, and none could drop further. Costs a
// node per buffer, which the caller spends. |height| as above.
stow_status stowi_place_drop(stowi_place_quest* quest, uint64_t* offsets, uint64_t* height);
// Turns a placement upside down and drops it. Without fixed buffers, windows and alignments it is
// not higher than before.
stow_status stowi_place_drop_mirrored(stowi_place_quest* quest, uint64_t* offsets,
                                      uint64_t* height);

// Strategy `compact`: improves the best placement so far, or first fit by size if there is none, by
// dropping and mirroring in turn as long as that helps.
stow_status stowi_place_compact_work(stowi_place_quest* quest);

// Improves the best placement of the quest, which has one. |quest| must outlive it. The player is
// idle if nothing has improved for long.
typedef struct stowi_place_lns stowi_place_lns;
stow_status stowi_place_lns_create(stowi_place_quest* quest, stowi_place_lns** out_lns);
void stowi_place_lns_destroy(stowi_place_lns* l);
stow_status stowi_place_lns_play(void* state, bool* out_idle);
// Strategy `lns`: skyline passes, then that.
stow_status stowi_place_lns_work(stowi_place_quest* quest);

// Passes until the goal is reached; the player is idle once nothing has improved for long. |quest|
// must outlive it.
typedef struct stowi_place_local_search stowi_place_local_search;
stow_status stowi_place_local_search_create(stowi_place_quest* quest,
                                            stowi_place_local_search** out_search);
void stowi_place_local_search_destroy(stowi_place_local_search* s);
stow_status stowi_place_local_search_play(void* state, bool* out_idle);
// Strategy `local-search`.
stow_status stowi_place_local_search_work(stowi_place_quest* quest);

#endif  // STOWAGE_SRC_PLACE_IMPROVE_IMPROVE_H_
