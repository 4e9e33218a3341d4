// Attempts at a plan that compete: with more and with less sharing, in the given order and in a
// better one.
//
// First every attempt is made with a short search. Then those that may still win by much are
// searched longer; and if the budget is more than the default, all that may win, in rounds of ever
// more nodes. What is done next never depends on how many nodes are left: a smaller budget does the
// same as a larger one until it ends, so that a larger one is never worse.
#ifndef STOWAGE_SRC_PLAN_MAKE_CONTEST_H_
#define STOWAGE_SRC_PLAN_MAKE_CONTEST_H_

#include "plan/make/make.h"

#define STOWI_PLAN_MAX_ENTRANTS 6

// An attempt, and what is known of it.
typedef struct stowi_plan_entrant {
  stowi_plan_choice choice;
  uint64_t bound;  // no placement is lower
  // Of its longest search:
  uint64_t nodes;  // spent
  uint64_t patience;
  bool is_cut;   // it was ended by its nodes, not by its patience
  bool is_over;  // it ended by itself; a longer one would do the same
} stowi_plan_entrant;

// The attempts in one order.
typedef struct stowi_plan_race {
  stowi_plan_entrant entrants[STOWI_PLAN_MAX_ENTRANTS];  // the first one shares most
  size_t count;
  size_t leader;
  stow_plan* best;  // the leader's; NULL before the first
} stowi_plan_race;

typedef struct stowi_plan_contest {
  stowi_plan_request request;
  uint64_t spent;            // nodes, by all attempts
  bool stopped;              // by the callback
  stowi_plan_race races[2];  // in the given order, and in another one, if one was tried
} stowi_plan_contest;

void stowi_plan_contest_free(stowi_plan_contest* contest);

// A short attempt, if its arena can be better than the best of its race. |*out_bound|: no placement
// is lower.
stow_status stowi_plan_contest_enter(stowi_plan_contest* contest, stowi_plan_race* race,
                                     stowi_plan_choice choice, uint64_t* out_bound);
// Searches longer where that is worth it.
stow_status stowi_plan_contest_go_on(stowi_plan_contest* contest);
// Whether the other order saves more than the margin.
bool stowi_plan_contest_is_reordered(const stowi_plan_contest* contest);
// The best plan so far; borrowed.
const stow_plan* stowi_plan_contest_best(stowi_plan_contest* contest);
// Takes the best plan, and says in it what all attempts have spent and proven.
stow_plan* stowi_plan_contest_take(stowi_plan_contest* contest);

#endif  // STOWAGE_SRC_PLAN_MAKE_CONTEST_H_
