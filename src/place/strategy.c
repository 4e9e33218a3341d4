// The table of strategies: one row each.
#include <stowage/place.h>

#include "place/greedy/portfolio.h"
#include "place/improve/compact.h"
#include "place/improve/local_search.h"
#include "place/skyline/skyline.h"

static const stow_strategy strategies[] = {
    {"first-fit", "largest first, each at the lowest offset that is free", stow_place_first_fit},
    {"best-fit", "largest first, each in the smallest gap that holds it", stow_place_best_fit},
    {"portfolio", "first fit and best fit in several orders", stowi_place_portfolio},
    {"compact", "first fit, then dropped and mirrored while that helps", stowi_place_compact},
    {"local-search", "passes in which what sticks out comes earlier each time",
     stowi_place_local_search},
    {"skyline", "from the bottom up, always the lowest, in several orders", stowi_place_skyline},
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
