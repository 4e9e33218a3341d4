// `auto`: a good placement at once, then better ones.
//
// Skyline passes come first: they cost little, and on most real models one of them meets the bound.
// First fit by size follows, since users compare with it. Local search is cheap and gives the later
// stages a good start. The rest of the budget goes to the exact search and, at intervals, to
// neighbourhoods of the best placement; if the problem is too large for the exact search, to more
// orders, local search and neighbourhoods.
#include "base/diag.h"
#include "place/exact/exact.h"
#include "place/greedy/greedy.h"
#include "place/improve/improve.h"
#include "place/problem.h"
#include "place/quest.h"
#include "place/skyline/skyline.h"

// Above this many buffers, a node of the exact search costs more than it gains.
#define MAX_EXACT 4096
// Up to this many, local search seldom finds what the exact search does not.
#define FEW 512
// Above this many pairs of buffers live together, first fit can take minutes.
#define MAX_FIRST_FIT_PAIRS UINT64_C(2000000000)

static bool is_fit_for_gaps(const stowi_place_quest* quest) {
  return quest->pair_count <= MAX_FIRST_FIT_PAIRS;
}

static bool has_windows(const stowi_place_quest* quest) {
  return quest->problem->windows.count > 0;
}

// Tries the goal itself first, which is often easier to reach than to approach; among windows only
// for a while, since local search does well there. Then alternates between the whole problem and
// neighbourhoods of the best placement.
static stow_status search_with(stowi_place_quest* quest, stowi_place_prover* prover) {
  uint64_t turn = STOW_PLACE_DEFAULT_NODES / 8;
  uint64_t share = quest->problem->buffers.count > FEW ? 2 : 8;
  quest->phase = "exact";
  stowi_place_prover_fit(prover, stowi_place_quest_goal(quest),
                         has_windows(quest) ? turn / 16 : turn);
  STOW_TRY(stowi_place_quest_stage(quest, stowi_place_quest_left(quest) / share,
                                   stowi_place_local_search_work));
  while (!stowi_place_quest_done(quest)) {
    uint64_t before = quest->nodes;
    stowi_place_prover_answer(prover, turn);
    STOW_TRY(stowi_place_quest_stage(quest, turn / 8, stowi_place_lns_improve));
    if (quest->nodes == before) {
      break;  // neither finds anything to try
    }
    turn *= 2;
  }
  return STOW_OK;
}

// With windows, more orders come first, because a skyline leaves much unused.
static stow_status search_small(stowi_place_quest* quest) {
  if (has_windows(quest) && is_fit_for_gaps(quest)) {
    STOW_TRY(stowi_place_quest_stage(quest, stowi_place_quest_left(quest) / 8,
                                     stowi_place_portfolio_work));
  }
  if (stowi_place_quest_done(quest)) {
    return STOW_OK;
  }
  stowi_place_prover* prover = NULL;
  STOW_TRY(stowi_place_prover_create(quest, STOWI_PLACE_RULE_ALL, &prover));
  stow_status status = search_with(quest, prover);
  stowi_place_prover_destroy(prover);
  return status;
}

static stow_status search_large(stowi_place_quest* quest) {
  if (is_fit_for_gaps(quest)) {
    STOW_TRY(stowi_place_quest_stage(quest, stowi_place_quest_left(quest) / 2,
                                     stowi_place_portfolio_work));
  }
  STOW_TRY(stowi_place_quest_stage(quest, stowi_place_quest_left(quest) / 2,
                                   stowi_place_local_search_work));
  return stowi_place_quest_stage(quest, STOW_PLACE_NO_LIMIT, stowi_place_lns_improve);
}

static bool needs_first_fit(const stowi_place_quest* quest) {
  return !stowi_place_quest_answered(quest) && !quest->stopped && is_fit_for_gaps(quest);
}

static stow_status search_all(stowi_place_quest* quest) {
  STOW_TRY(stowi_place_skyline_work(quest));
  if (needs_first_fit(quest)) {
    STOW_TRY(stowi_place_first_fit_work(quest));
  }
  bool is_small = quest->problem->buffers.count <= MAX_EXACT;
  return stowi_place_quest_stage(quest, STOW_PLACE_NO_LIMIT,
                                 is_small ? search_small : search_large);
}

// First fit of a part may be higher than first fit of all.
static stow_status work(stowi_place_quest* quest) {
  if (!has_windows(quest)) {
    return search_all(quest);
  }
  STOW_TRY(stowi_place_on_bedrock(quest, search_all));
  return needs_first_fit(quest) ? stowi_place_first_fit_work(quest) : STOW_OK;
}

stow_status stow_place_auto(const stow_problem* problem, const stow_place_options* options,
                            stow_allocator allocator, stow_diag* diag,
                            stow_placement** out_placement) {
  return stowi_place_quest_run(problem, options, allocator, diag, work, out_placement);
}
