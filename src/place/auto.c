// `auto`: a good placement at once, then better ones.
//
// Skyline passes come first: they cost little, and on most real models one of them meets the bound.
// First fit by size follows, since users compare with it. Then the exact search tries the goal
// itself, which is often easier to reach than to approach, and all searches take turns. No part
// waits for another to end, so whichever suits the problem is found soon.
#include "base/diag.h"
#include "place/beam/beam.h"
#include "place/exact/exact.h"
#include "place/greedy/greedy.h"
#include "place/improve/improve.h"
#include "place/problem.h"
#include "place/quest.h"
#include "place/skyline/skyline.h"

// Above this many buffers, a node of the exact search costs more than it gains.
#define MAX_EXACT 4096
// Above this many pairs of buffers live together, first fit can take minutes.
#define MAX_FIRST_FIT_PAIRS UINT64_C(2000000000)
#define FIRST_NODES 12288          // of the first player
#define FIRST_WINDOWED_NODES 3072  // with windows, where others do better
// Shares of turns, of all but these: 1.
#define GOAL_SHARE 3    // the exact search, without windows: it alone meets a tight goal
#define SOLID_SHARE 24  // with solid blocks, where nothing else comes near it
// Up to this many buffers, a neighbourhood is nearly all of them, and the exact search does better.
#define FEW 32
#define MAX_PLAYERS 4

static bool is_fit_for_gaps(const stowi_place_quest* quest) {
  return quest->pair_count <= MAX_FIRST_FIT_PAIRS;
}

static bool has_windows(const stowi_place_quest* quest) {
  return quest->problem->windows.count > 0;
}

typedef struct team {
  stowi_place_prover* prover;
  stowi_place_portfolio* portfolio;
  stowi_place_local_search* local_search;
  stowi_place_beam* beam;
  stowi_place_lns* lns;
  stowi_place_player players[MAX_PLAYERS];
  size_t count;
} team;

static void add(team* t, uint64_t share, stow_status (*play)(void* state, bool* out_idle),
                void* state) {
  t->players[t->count++] = (stowi_place_player){.play = play, .state = state, .share = share};
}

static uint64_t goal_share(const stowi_place_quest* quest, const stowi_place_prover* prover) {
  return has_windows(quest) ? 1 : stowi_place_prover_is_solid(prover) ? SOLID_SHARE : GOAL_SHARE;
}

static stow_status gather(stowi_place_quest* quest, team* t) {
  if (quest->problem->buffers.count <= MAX_EXACT) {
    STOW_TRY(stowi_place_prover_create(quest, STOWI_PLACE_RULE_ALL, &t->prover));
    add(t, goal_share(quest, t->prover), stowi_place_prover_goal, t->prover);
    STOW_TRY(stowi_place_beam_create(quest, stowi_place_prover_model(t->prover), &t->beam));
    if (t->beam != NULL) {
      add(t, 1, stowi_place_beam_play, t->beam);
    } else if (quest->problem->buffers.count > FEW) {
      STOW_TRY(stowi_place_lns_create(quest, &t->lns));
      add(t, 1, stowi_place_lns_play, t->lns);
    }
  }
  if (is_fit_for_gaps(quest)) {
    STOW_TRY(stowi_place_portfolio_create(quest, &t->portfolio));
    add(t, 1, stowi_place_portfolio_play, t->portfolio);
  }
  STOW_TRY(stowi_place_local_search_create(quest, &t->local_search));
  add(t, 1, stowi_place_local_search_play, t->local_search);
  return STOW_OK;
}

static stow_status search(stowi_place_quest* quest) {
  team t = {.count = 0};
  stow_status status = gather(quest, &t);
  if (status == STOW_OK) {
    status = stowi_place_take_turns(quest, has_windows(quest) ? FIRST_WINDOWED_NODES : FIRST_NODES,
                                    t.players, t.count);
  }
  stowi_place_local_search_destroy(t.local_search);
  stowi_place_portfolio_destroy(t.portfolio);
  stowi_place_lns_destroy(t.lns);
  stowi_place_beam_destroy(t.beam);
  stowi_place_prover_destroy(t.prover);
  return status;
}

static bool needs_first_fit(const stowi_place_quest* quest) {
  return !stowi_place_quest_answered(quest) && !quest->stopped && is_fit_for_gaps(quest);
}

static stow_status search_all(stowi_place_quest* quest) {
  STOW_TRY(stowi_place_skyline_work(quest));
  if (needs_first_fit(quest)) {
    STOW_TRY(stowi_place_first_fit_work(quest));
  }
  return stowi_place_quest_done(quest) ? STOW_OK : search(quest);
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
