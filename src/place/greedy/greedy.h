// Shared by the greedy strategies: a greedy strategy is an order of the buffers and a rule that
// picks an offset.
#ifndef STOWAGE_SRC_PLACE_GREEDY_GREEDY_H_
#define STOWAGE_SRC_PLACE_GREEDY_GREEDY_H_

#include "place/greedy/occupancy.h"
#include "place/greedy/orders.h"
#include "place/quest.h"

// Picks an offset among those that |search| offers.
typedef uint64_t (*stowi_place_pick)(stowi_place_search* search, uint64_t footprint);
// The lowest.
uint64_t stowi_place_pick_lowest(stowi_place_search* search, uint64_t footprint);
// In the smallest gap that holds it, the lowest of equal ones.
uint64_t stowi_place_pick_tightest(stowi_place_search* search, uint64_t footprint);

// Places fixed buffers first, then those of |order|, which are all others, each where |pick|
// decides; offers the result.
stow_status stowi_place_greedy(stowi_place_quest* quest, const uint32_t* order, size_t order_count,
                               stowi_place_pick pick);
// The same without touching the quest's best. |out_height| is UINT64_MAX if the callback stopped
// it, which it cannot before there is a first placement.
stow_status stowi_place_greedy_aside(stowi_place_quest* quest, const uint32_t* order,
                                     size_t order_count, stowi_place_pick pick, uint64_t* offsets,
                                     uint64_t* out_height);
// Offers the result of the order by size. Large buffers are hard to place; small ones fill what is
// left between them.
stow_status stowi_place_greedy_by_size(stowi_place_quest* quest, stowi_place_pick pick);

// Strategies `first-fit` and `best-fit`.
stow_status stowi_place_first_fit_work(stowi_place_quest* quest);
stow_status stowi_place_best_fit_work(stowi_place_quest* quest);

// First fit and best fit in several orders, by size first: so it is never higher than that. A node
// per buffer and pass. Beyond tens of thousands of buffers, only what is likely to pay. |quest|
// must outlive it; the player is idle after the last pass.
typedef struct stowi_place_portfolio stowi_place_portfolio;
stow_status stowi_place_portfolio_create(stowi_place_quest* quest,
                                         stowi_place_portfolio** out_portfolio);
void stowi_place_portfolio_destroy(stowi_place_portfolio* p);
stow_status stowi_place_portfolio_play(void* state, bool* out_idle);
// Strategy `portfolio`.
stow_status stowi_place_portfolio_work(stowi_place_quest* quest);

// ---------------------------------------------------------------------------------------------
// Fixed buffers, and buffers without reuse: neither needs a search.

// Takes every fixed buffer at its place and writes its offset. STOW_ERR_CONFLICT names two that
// overlap.
stow_status stowi_place_take_fixed(stowi_place_quest* quest, stowi_place_occupancy* occupancy,
                                   uint64_t* offsets);
// STOW_ERR_CONFLICT if two overlap.
stow_status stowi_place_check_fixed(stowi_place_quest* quest);

// The placement of a problem without reuse: fixed buffers where they are, the others above them,
// largest first. STOW_ERR_CONFLICT if two fixed ones share a byte, whatever their lifetimes.
stow_status stowi_place_apart(stowi_place_quest* quest);

#endif  // STOWAGE_SRC_PLACE_GREEDY_GREEDY_H_
