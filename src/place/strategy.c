// The table of strategies: one row each.
#include <stowage/place.h>

#include "place/api.h"
#include "place/beam/beam.h"
#include "place/exact/exact.h"
#include "place/greedy/greedy.h"
#include "place/improve/improve.h"
#include "place/skyline/skyline.h"

// A strategy is its work on a quest.
#define STRATEGY(linkage, name, work)                                                      \
  linkage stow_status name(const stow_problem* problem, const stow_place_options* options, \
                           stow_allocator allocator, stow_diag* diag,                      \
                           stow_placement** out_placement) {                               \
    return stowi_place_quest_run(problem, options, allocator, diag, work, out_placement);  \
  }
STRATEGY(extern, stowi_place_first_fit, stowi_place_first_fit_work)
STRATEGY(extern, stowi_place_best_fit, stowi_place_best_fit_work)
STRATEGY(static, place_portfolio, stowi_place_portfolio_work)
STRATEGY(static, place_on_skyline, stowi_place_skyline_work)
STRATEGY(static, place_and_compact, stowi_place_compact_work)
STRATEGY(static, place_by_local_search, stowi_place_local_search_work)
STRATEGY(static, place_by_lns, stowi_place_lns_work)
STRATEGY(static, place_by_beams, stowi_place_beam_work)
STRATEGY(static, place_exactly, stowi_place_exact_work)

static const stow_strategy strategies[] = {
    {"auto", "something good at once, then better within the budget", stow_place_auto},
    {"first-fit", "largest first, each at the lowest free offset", stowi_place_first_fit},
    {"best-fit", "largest first, each in the smallest gap that holds it", stowi_place_best_fit},
    {"portfolio", "first fit and best fit in several orders", place_portfolio},
    {"skyline", "from the bottom up, lowest first, in several orders", place_on_skyline},
    {"compact", "first fit, then dropped and mirrored while that helps", place_and_compact},
    {"local-search", "skyline passes; buffers that stuck out go earlier in the next",
     place_by_local_search},
    {"lns", "skyline, then parts are re-solved exactly", place_by_lns},
    {"beam", "many partial placements side by side, from the bottom up", place_by_beams},
    {"exact", "search with proof; first-fit above 16384 buffers", place_exactly},
};

size_t stow_strategy_count(void) { return sizeof(strategies) / sizeof(strategies[0]); }

const stow_strategy* stow_strategy_at(size_t index) {
  return index < stow_strategy_count() ? &strategies[index] : NULL;
}

const stow_strategy* stow_strategy_find(stow_str name) {
  for (size_t i = 0; i < stow_strategy_count(); ++i) {
    if (stow_str_equal(stow_str_of(strategies[i].name), name)) {
      return &strategies[i];
    }
  }
  return NULL;
}
