// First fit and best fit in several orders.
#ifndef STOWAGE_SRC_PLACE_GREEDY_PORTFOLIO_H_
#define STOWAGE_SRC_PLACE_GREEDY_PORTFOLIO_H_

#include "place/quest.h"

// Strategy `portfolio`: first fit by size first, so it is never higher than that. A node per buffer
// and pass. Beyond tens of thousands of buffers, only what is likely to pay.
stow_status stowi_place_portfolio_work(stowi_place_quest* quest);
stow_status stowi_place_portfolio(const stow_problem* problem, const stow_place_options* options,
                                  stow_allocator allocator, stow_diag* diag,
                                  stow_placement** out_placement);

#endif  // STOWAGE_SRC_PLACE_GREEDY_PORTFOLIO_H_
