#include "plan/make/contest.h"

#include "base/diag.h"

// What an attempt may spend in its first search. There are at most twelve attempts, so that more
// than half of the default is left for longer searches.
#define FIRST_NODES (STOW_PLAN_DEFAULT_NODES / 25)
#define FIRST_PATIENCE 12000
// Of patience from one round to the next and from others to the best, and of nodes over patience.
#define GROWTH 4
// With the usual budget, an attempt is not searched longer if it can make the arena smaller only by
// less than one part in this many.
#define SMALL_GAIN 128
// Its patience then is the default for each part in this many that it can save, at least once.
#define LARGE_GAIN 20

static uint64_t min_u64(uint64_t a, uint64_t b) { return a < b ? a : b; }
static uint64_t max_u64(uint64_t a, uint64_t b) { return a > b ? a : b; }

static uint64_t times(uint64_t a, uint64_t b) {
  return a > STOW_PLACE_NO_LIMIT / b ? STOW_PLACE_NO_LIMIT : a * b;
}

static bool is_proven(const stow_plan* plan) { return plan->arena_size <= plan->search.bound; }

// What is left of |nodes| for all attempts.
static uint64_t left_of(const stowi_plan_contest* c, uint64_t nodes) {
  return nodes == STOW_PLACE_NO_LIMIT ? nodes : nodes > c->spent ? nodes - c->spent : 0;
}

void stowi_plan_contest_free(stowi_plan_contest* contest) {
  stow_plan_destroy(contest->races[0].best);
  stow_plan_destroy(contest->races[1].best);
}

// ---------------------------------------------------------------------------------------------
// One attempt

// Replaces |*best| by |longer|, which differs in its offsets only, if that is smaller or proves
// more. A search that was stopped may do neither.
static void keep_longer(stow_plan** best, stow_plan* longer) {
  stow_plan* before = *best;
  bool is_lower = longer->arena_size < before->arena_size;
  bool proves_more =
      longer->arena_size == before->arena_size && longer->search.bound > before->search.bound;
  if (!is_lower && !proves_more) {
    stow_plan_destroy(longer);
    return;
  }
  stow_decision* decisions = longer->decisions;
  size_t count = longer->decision_count;
  longer->decisions = before->decisions;  // with what was refused on the way to it
  longer->decision_count = before->decision_count;
  before->decisions = decisions;
  before->decision_count = count;
  *best = longer;
  stow_plan_destroy(before);
}

// Whether a plan with |choice| and the arena of |best| is better, if it is proven. Otherwise, a
// budget that finds this arena with more sharing, but no proof, would prove less than a smaller
// budget that does not find it. Copies that are not made are worth more than a proof.
static bool is_beaten_by_proof(const stow_plan* best, const stowi_plan_choice* choice) {
  return !is_proven(best) &&
         (choice->elide_copies || !stowi_plan_has_elision(best, STOW_REASON_TAKEN));
}

static bool is_better(const stow_plan* plan, const stowi_plan_choice* choice,
                      const stow_plan* best) {
  return plan->arena_size < best->arena_size ||
         (plan->arena_size == best->arena_size && is_proven(plan) &&
          is_beaten_by_proof(best, choice));
}

// |limits|: what the search that |plan| comes from was given.
static void count(stowi_plan_contest* c, stowi_plan_entrant* entrant,
                  const stow_plan_options* limits, const stow_plan* plan) {
  uint64_t nodes = plan->search.nodes;
  c->spent += nodes;
  c->stopped |= plan->search.stopped;
  entrant->is_over = nodes < min_u64(limits->nodes, limits->patience) ||
                     (entrant->nodes > 0 && nodes == entrant->nodes);
  entrant->is_cut = nodes >= limits->nodes;
  entrant->patience = limits->patience;
  entrant->bound = max_u64(entrant->bound, plan->search.bound);
  entrant->nodes = max_u64(entrant->nodes, nodes);
}

// Takes |plan|, of the entrant |index|, if it is better. What only the one before shared is then
// recorded as refused: its list has all that the first entrant could share.
static stow_status offer(const stowi_plan_contest* c, stowi_plan_race* race, size_t index,
                         stow_plan* plan) {
  if (race->best != NULL && index == race->leader) {
    keep_longer(&race->best, plan);
    return STOW_OK;
  }
  if (race->best != NULL && !is_better(plan, &race->entrants[index].choice, race->best)) {
    stow_plan_destroy(plan);
    return STOW_OK;
  }
  stow_status status = STOW_OK;
  if (race->best != NULL && index != 0) {
    status = stowi_plan_add_refused(plan, race->best, c->request.diag);
  }
  stow_plan_destroy(race->best);
  race->best = plan;
  race->leader = index;
  return status;
}

stow_status stowi_plan_contest_enter(stowi_plan_contest* contest, stowi_plan_race* race,
                                     stowi_plan_choice choice, uint64_t* out_bound) {
  stowi_plan_request request = contest->request;
  uint64_t nodes = min_u64(request.options.nodes, STOW_PLAN_DEFAULT_NODES);
  request.options.nodes = min_u64(left_of(contest, nodes), FIRST_NODES);
  request.options.patience = min_u64(request.options.patience, FIRST_PATIENCE);
  uint64_t below = race->best == NULL
                       ? UINT64_MAX
                       : race->best->arena_size + is_beaten_by_proof(race->best, &choice);
  stow_plan* plan;
  STOW_TRY(stowi_plan_make_attempt(&request, choice, below, out_bound, &plan));
  race->entrants[race->count++] = (stowi_plan_entrant){.choice = choice, .bound = *out_bound};
  if (plan == NULL) {
    return STOW_OK;
  }
  count(contest, &race->entrants[race->count - 1], &request.options, plan);
  return offer(contest, race, race->count - 1, plan);
}

// ---------------------------------------------------------------------------------------------
// Rounds

bool stowi_plan_contest_is_reordered(const stowi_plan_contest* contest) {
  const stow_plan* given = contest->races[0].best;
  const stow_plan* other = contest->races[1].best;
  return other != NULL && other->arena_size < given->arena_size &&
         given->arena_size - other->arena_size > contest->request.options.order_margin;
}

static stowi_plan_race* winner(stowi_plan_contest* c) {
  return &c->races[stowi_plan_contest_is_reordered(c)];
}

const stow_plan* stowi_plan_contest_best(stowi_plan_contest* contest) {
  return winner(contest)->best;
}

// What longer searches may spend.
typedef struct stage {
  uint64_t nodes;  // of all attempts together, also before
  uint64_t patience;
  uint64_t small_gain;  // an arena is not smaller by much if it is by one part in this many
  bool rewards_gain;    // more patience for what may save much
  bool is_spent;        // the nodes are
} stage;

// The most patience for a search of the entrant, which may still win.
static uint64_t patience_for(stowi_plan_contest* c, const stage* s,
                             const stowi_plan_entrant* entrant) {
  uint64_t arena = winner(c)->best->arena_size;
  if (!s->rewards_gain || entrant->bound >= arena) {
    return s->patience;
  }
  uint64_t parts = (arena - entrant->bound) / (arena / LARGE_GAIN + 1);
  return times(s->patience, max_u64(parts, 1));
}

// Whether a longer search of the entrant may win.
static bool may_win(stowi_plan_contest* c, const stage* s, const stowi_plan_race* race,
                    size_t index) {
  const stowi_plan_entrant* entrant = &race->entrants[index];
  if (entrant->is_over || (!entrant->is_cut && entrant->patience >= patience_for(c, s, entrant))) {
    return false;
  }
  uint64_t arena = winner(c)->best->arena_size;
  uint64_t margin = race == winner(c) ? 0 : c->request.options.order_margin;
  return entrant->bound < arena && arena - entrant->bound > max_u64(margin, arena / s->small_gain);
}

static size_t count_hopeful(stowi_plan_contest* c, const stage* s) {
  size_t hopeful = 0;
  for (size_t r = 0; r < 2; ++r) {
    for (size_t i = 0; i < c->races[r].count; ++i) {
      hopeful += may_win(c, s, &c->races[r], i);
    }
  }
  return hopeful;
}

// |nodes|, |patience|: the most for this attempt. It repeats the search so far before it goes on.
// If there are no nodes for that, nobody gets them: with more nodes, it would be the next.
static stow_status search_longer(stowi_plan_contest* c, stage* s, stowi_plan_race* race,
                                 size_t index, uint64_t nodes, uint64_t patience) {
  stowi_plan_entrant* entrant = &race->entrants[index];
  patience = min_u64(patience, patience_for(c, s, entrant));
  bool goes_on = entrant->is_cut || entrant->patience < patience;
  if (c->stopped || s->is_spent || !goes_on || !may_win(c, s, race, index)) {
    return STOW_OK;
  }
  if (left_of(c, s->nodes) <= entrant->nodes) {
    s->is_spent = true;
    return STOW_OK;
  }
  stowi_plan_request request = c->request;
  request.options.nodes = min_u64(left_of(c, s->nodes), nodes);
  request.options.patience = patience;
  uint64_t bound;
  stow_plan* plan;
  STOW_TRY(stowi_plan_make_attempt(&request, entrant->choice, UINT64_MAX, &bound, &plan));
  count(c, entrant, &request.options, plan);
  return offer(c, race, index, plan);
}

// The best is the first, and may spend more than the others.
static stow_status play_round(stowi_plan_contest* c, stage* s, uint64_t nodes, uint64_t patience) {
  stowi_plan_race* first = winner(c);
  size_t leader = first->leader;
  STOW_TRY(search_longer(c, s, first, leader, times(nodes, GROWTH), times(patience, GROWTH)));
  for (size_t r = 0; r < 2; ++r) {
    stowi_plan_race* race = &c->races[r];
    for (size_t i = 0; i < race->count; ++i) {
      if (race != first || i != leader) {
        STOW_TRY(search_longer(c, s, race, i, nodes, patience));
      }
    }
  }
  return STOW_OK;
}

// An attempt without rivals gets everything at once.
static stow_status play_rounds(stowi_plan_contest* c, stage* s) {
  uint64_t patience = STOW_PLAN_DEFAULT_PATIENCE;
  while (!c->stopped && !s->is_spent) {
    size_t hopeful = count_hopeful(c, s);
    if (hopeful == 0) {
      break;
    }
    STOW_TRY(hopeful == 1 ? play_round(c, s, STOW_PLACE_NO_LIMIT, STOW_PLACE_NO_LIMIT)
                          : play_round(c, s, times(patience, GROWTH), patience));
    patience = times(patience, GROWTH);
  }
  return STOW_OK;
}

stow_status stowi_plan_contest_go_on(stowi_plan_contest* contest) {
  const stow_plan_options* options = &contest->request.options;
  stage usual = {.nodes = min_u64(options->nodes, STOW_PLAN_DEFAULT_NODES),
                 .patience = min_u64(options->patience, STOW_PLAN_DEFAULT_PATIENCE),
                 .small_gain = SMALL_GAIN,
                 .rewards_gain = options->patience >= STOW_PLAN_DEFAULT_PATIENCE};
  stage asked = {.nodes = options->nodes, .patience = options->patience, .small_gain = UINT64_MAX};
  if (!winner(contest)->best->facts.reuse) {
    return STOW_OK;
  }
  STOW_TRY(play_rounds(contest, &usual));
  bool has_more_nodes = options->nodes > STOW_PLAN_DEFAULT_NODES;
  bool has_more_patience = options->patience > STOW_PLAN_DEFAULT_PATIENCE;
  return has_more_nodes || (has_more_patience && !usual.is_spent) ? play_rounds(contest, &asked)
                                                                  : STOW_OK;
}

// ---------------------------------------------------------------------------------------------

// No placement of any attempt is lower.
static uint64_t lowest_bound(const stowi_plan_contest* c) {
  uint64_t lowest = UINT64_MAX;
  for (size_t r = 0; r < 2; ++r) {
    for (size_t i = 0; i < c->races[r].count; ++i) {
      lowest = min_u64(lowest, c->races[r].entrants[i].bound);
    }
  }
  return lowest;
}

stow_plan* stowi_plan_contest_take(stowi_plan_contest* contest) {
  stowi_plan_race* race = winner(contest);
  stow_plan* plan = race->best;
  race->best = NULL;
  plan->search.nodes = contest->spent;
  plan->search.stopped = contest->stopped;
  // A capacity is ruled out if it is for every attempt.
  if (plan->search.outcome == STOW_OUTCOME_INFEASIBLE &&
      lowest_bound(contest) <= plan->facts.capacity) {
    plan->search.outcome = STOW_OUTCOME_GAVE_UP;
    plan->fit.possible = true;
  }
  return plan;
}
