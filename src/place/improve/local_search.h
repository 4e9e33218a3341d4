// Local search on the order in which buffers are placed.
#ifndef STOWAGE_SRC_PLACE_IMPROVE_LOCAL_SEARCH_H_
#define STOWAGE_SRC_PLACE_IMPROVE_LOCAL_SEARCH_H_

#include "place/quest.h"

// Strategy `local-search`: passes until the goal is reached, the budget is spent, or nothing has
// improved for long. A node per buffer and pass.
stow_status stowi_place_local_search_work(stowi_place_quest* quest);
stow_status stowi_place_local_search(const stow_problem* problem, const stow_place_options* options,
                                     stow_allocator allocator, stow_diag* diag,
                                     stow_placement** out_placement);

#endif  // STOWAGE_SRC_PLACE_IMPROVE_LOCAL_SEARCH_H_
