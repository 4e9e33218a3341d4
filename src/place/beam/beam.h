// Beam search: many partial placements are built from the bottom up side by side, and the most
// promising of those that are equally high are kept.
#ifndef STOWAGE_SRC_PLACE_BEAM_BEAM_H_
#define STOWAGE_SRC_PLACE_BEAM_BEAM_H_

#include "place/exact/model.h"
#include "place/quest.h"

typedef struct stowi_place_beam stowi_place_beam;

// NULL, with STOW_OK, if there are windows, fixed buffers, or too many units or buffers for a beam.
// |quest| and |model| must outlive it.
stow_status stowi_place_beam_create(stowi_place_quest* quest, const stowi_place_model* model,
                                    stowi_place_beam** out_beam);
void stowi_place_beam_destroy(stowi_place_beam* beam);
// A player: searches at capacities between the goal and the best height, with beams of all widths.
stow_status stowi_place_beam_play(void* state, bool* out_idle);

// Strategy `beam`: skyline passes, then that.
stow_status stowi_place_beam_work(stowi_place_quest* quest);

#endif  // STOWAGE_SRC_PLACE_BEAM_BEAM_H_
