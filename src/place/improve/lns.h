// Large neighbourhood search: parts of a placement are taken out and re-solved by the exact search.
#ifndef STOWAGE_SRC_PLACE_IMPROVE_LNS_H_
#define STOWAGE_SRC_PLACE_IMPROVE_LNS_H_

#include "place/quest.h"

// Improves the best placement of the quest, which has one, until the quest is done.
stow_status stowi_place_lns_improve(stowi_place_quest* quest);

// Strategy `lns`: skyline passes, then stowi_place_lns_improve.
stow_status stowi_place_lns_work(stowi_place_quest* quest);
stow_status stowi_place_lns(const stow_problem* problem, const stow_place_options* options,
                            stow_allocator allocator, stow_diag* diag,
                            stow_placement** out_placement);

#endif  // STOWAGE_SRC_PLACE_IMPROVE_LNS_H_
