// First fit: the lowest offset that is free over the whole lifetime. Simple, reproducible, and on
// models of some size rarely more than a few percent above the lower bound (28–41 % above it on
// instances built to be hard).
#include "place/api.h"
#include "place/greedy/greedy.h"

uint64_t stowi_place_pick_lowest(stowi_place_search* search, uint64_t footprint) {
  (void)footprint;
  return stowi_place_search_next(search, 0);
}

static stow_status work(stowi_place_quest* quest) {
  quest->phase = "first-fit";
  return stowi_place_greedy_by_size(quest, stowi_place_pick_lowest);
}

stow_status stowi_place_first_fit(const stow_problem* problem, const stow_place_options* options,
                                  stow_allocator allocator, stow_diag* diag,
                                  stow_placement** out_placement) {
  return stowi_place_quest_run(problem, options, allocator, diag, work, out_placement);
}
