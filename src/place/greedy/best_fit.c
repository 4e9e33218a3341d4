// Best fit: among the gaps that hold a buffer, the one with the least left over. A gap is a maximal
// range that is free over the buffer's whole lifetime and ends at a live footprint; its length
// counts from the first aligned offset in it, since that is what the buffer can use. If there is no
// such gap, the buffer goes on top.
//
// Visits every gap below the top that holds the buffer: O(gaps × log n) for each.
#include "place/api.h"
#include "place/greedy/greedy.h"

uint64_t stowi_place_pick_tightest(stowi_place_search* search, uint64_t footprint) {
  uint64_t best = 0;
  uint64_t best_room = UINT64_MAX;
  uint64_t at = stowi_place_search_next(search, 0);
  while (true) {
    uint64_t end = stowi_place_search_room(search, at);
    if (end == UINT64_MAX) {
      return best_room == UINT64_MAX ? at : best;
    }
    if (end - at < best_room) {
      best = at;
      best_room = end - at;
      if (best_room == footprint) {
        return best;
      }
    }
    at = stowi_place_search_next(search, end);
  }
}

static stow_status work(stowi_place_quest* quest) {
  quest->phase = "best-fit";
  return stowi_place_greedy_by_size(quest, stowi_place_pick_tightest);
}

stow_status stowi_place_best_fit(const stow_problem* problem, const stow_place_options* options,
                                 stow_allocator allocator, stow_diag* diag,
                                 stow_placement** out_placement) {
  return stowi_place_quest_run(problem, options, allocator, diag, work, out_placement);
}
