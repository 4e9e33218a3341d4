// Compaction: every buffer drops as far as it can.
#ifndef STOWAGE_SRC_PLACE_IMPROVE_COMPACT_H_
#define STOWAGE_SRC_PLACE_IMPROVE_COMPACT_H_

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
stow_status stowi_place_compact(const stow_problem* problem, const stow_place_options* options,
                                stow_allocator allocator, stow_diag* diag,
                                stow_placement** out_placement);

#endif  // STOWAGE_SRC_PLACE_IMPROVE_COMPACT_H_
