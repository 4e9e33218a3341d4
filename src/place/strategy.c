// The table of strategies: one row each.
#include <stowage/place.h>

#include "place/api.h"
#include "place/exact/exact.h"
#include "place/greedy/portfolio.h"
#include "place/improve/compact.h"
#include "place/improve/lns.h"
#include "place/improve/local_search.h"
#include "place/skyline/skyline.h"

static const stow_strategy strategies[] = {
    {"auto", "something good at once, then better within the budget", stow_place_auto},
    {"first-fit", "largest first, each at the lowest free offset", stowi_place_first_fit},
    {"best-fit", "largest first, each in the smallest gap that holds it", stowi_place_best_fit},
    {"portfolio", "first fit and best fit in several orders", stowi_place_portfolio},
    {"skyline", "from the bottom up, lowest first, in several orders", stowi_place_skyline},
    {"compact", "first fit, then dropped and mirrored while that helps", stowi_place_compact},
    {"local-search", "skyline passes; buffers that stuck out go earlier in the next",
     stowi_place_local_search},
    {"lns", "skyline, then parts are re-solved exactly", stowi_place_lns},
    {"exact", "search with proof; first-fit above 16384 buffers", stowi_place_exact},
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
