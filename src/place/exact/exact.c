// Schedules the exact search. The time that one way of choosing takes has a heavy tail: a problem
// that one solves in a few hundred nodes another does not solve in a million. So the search is made
// of attempts that end after some nodes, with one way, one capacity, and slightly shuffled ranks.
//
// For one capacity they come in rounds: every way gets a few nodes, then a few more with perturbed
// ranks, and as many as all of them together go to restarts in corners, which learn from each other
// where it is hard. The next round has twice the nodes. That costs a small factor over the
// luckiest.
//
// How long it takes to find a placement is not monotone in the capacity: one may succeed in a
// moment where those above it fail for long. To minimise, capacities between the goal and the best
// height are therefore probed by short attempts, spread evenly; a way that succeeds is tried more
// often.
//
// At the load, where sections are full, what must form blocks is merged first (solid.h): the search
// then has fewer buffers, and a verdict on them holds for the whole problem.
#include "place/exact/exact.h"

#include "base/alloc.h"
#include "base/diag.h"
#include "place/exact/solid.h"
#include "place/greedy/greedy.h"
#include "place/problem.h"
#include "place/spread.h"

#define FIRST_NODES 49152     // at the goal, before capacities are probed
#define NODES_PER_BUFFER 8    // of the first attempt of a way
#define CREDIT_PER_BUFFER 64  // nodes without success after which a way is half as promising

static const stowi_place_way ways[] = {
    {STOWI_PLACE_LOWEST, STOWI_PLACE_TWA},
    {STOWI_PLACE_CORNER, STOWI_PLACE_TWA},
    {STOWI_PLACE_LOWEST, STOWI_PLACE_TAW},
    {STOWI_PLACE_LOWEST_TIGHTEST, STOWI_PLACE_TWA},
    {STOWI_PLACE_TIGHTEST_LOW, STOWI_PLACE_TWA},
    {STOWI_PLACE_DEEPEST, STOWI_PLACE_TWA},
    {STOWI_PLACE_LOWEST, STOWI_PLACE_WAT},
    {STOWI_PLACE_LOWEST_LARGEST, STOWI_PLACE_TWA},
    {STOWI_PLACE_DEEPEST, STOWI_PLACE_WAT},
    // Only in probes:
    {STOWI_PLACE_DEEPEST, STOWI_PLACE_TAW},
    {STOWI_PLACE_LOWEST_LARGEST, STOWI_PLACE_TAW},
    {STOWI_PLACE_TIGHTEST_LOW, STOWI_PLACE_WAT},
    {STOWI_PLACE_LOWEST_LARGEST, STOWI_PLACE_WAT},
};
#define ROUND_WAYS 9
#define CORNER_WAY 1
#define CORNER_NOISE 2
// Of turns in a round, for corners: about half of them, or most.
#define CORNER_SHARE 16
#define SOLID_CORNER_SHARE 64
#define WAY_COUNT (sizeof(ways) / sizeof(ways[0]))
// How many places a rank may be off.
static const uint32_t noises[] = {0, 3, 10, 24};
#define NOISE_COUNT (sizeof(noises) / sizeof(noises[0]))

// Attempts at one capacity: where in which round.
typedef struct rounds {
  uint64_t turn;      // nodes of an attempt without noise
  size_t step;        // ways and noises tried in this round
  uint64_t left;      // nodes for corners after that
  uint64_t restarts;  // of these
} rounds;

typedef struct probes {
  uint64_t point;             // in [0, 2^64), as a fraction of what is between goal and best
  uint64_t tried[WAY_COUNT];  // probes
  uint64_t spent[WAY_COUNT];  // nodes
  uint64_t successes[WAY_COUNT];
} probes;

typedef struct attempt {
  size_t way;
  size_t noise;
  uint64_t nodes;
} attempt;

// What is searched.
typedef struct board {
  stowi_place_model* model;
  stowi_place_exact_search* exact;
  uint64_t* offsets;
  uint64_t corner_share;
} board;

struct stowi_place_prover {
  stowi_place_quest* quest;
  board whole;
  board blocks;              // instead of it at |solid_capacity|
  stowi_place_solid* solid;  // NULL if there are none
  uint64_t solid_capacity;
  uint64_t seed;
  rounds goal;
  probes probes;
};

static const board* board_for(const stowi_place_prover* prover, uint64_t capacity) {
  return prover->solid != NULL && capacity == prover->solid_capacity ? &prover->blocks
                                                                     : &prover->whole;
}

static void offer(stowi_place_prover* prover, const board* b) {
  uint64_t height = stowi_place_exact_result(b->exact, b->offsets);
  if (b == &prover->blocks) {
    stowi_place_solid_expand(prover->solid, b->offsets, prover->whole.offsets);
  }
  stowi_place_quest_offer(prover->quest, prover->whole.offsets, height);
}

static stowi_place_verdict try_once(stowi_place_prover* prover, attempt a, uint64_t capacity) {
  stowi_place_quest* quest = prover->quest;
  const board* b = board_for(prover, capacity);
  prover->seed = prover->seed * UINT64_C(6364136223846793005) + 1442695040888963407;
  stowi_place_run run = {capacity, a.nodes, ways[a.way], noises[a.noise], prover->seed | 1};
  stowi_place_verdict verdict = stowi_place_exact_run(b->exact, &run, quest);
  if (verdict == STOWI_PLACE_FOUND) {
    offer(prover, b);
  } else if (verdict == STOWI_PLACE_REFUTED) {
    stowi_place_quest_raise(quest, stowi_place_model_next_height(prover->whole.model, capacity));
  }
  return verdict;
}

// ---------------------------------------------------------------------------------------------
// One capacity

static attempt next_of(const board* b, rounds* r) {
  if (r->step == ROUND_WAYS * NOISE_COUNT && r->left == 0) {
    r->step = 0;
    r->turn *= 2;
  }
  if (r->step < ROUND_WAYS * NOISE_COUNT) {
    size_t noise = r->step / ROUND_WAYS;
    size_t way = r->step++ % ROUND_WAYS;
    r->left = r->turn * b->corner_share;
    return (attempt){way, noise, noise == 0 ? r->turn : r->turn / NOISE_COUNT};
  }
  uint64_t nodes =
      (uint64_t)b->model->count * NODES_PER_BUFFER / 4 * stowi_place_luby(++r->restarts);
  r->left -= nodes < r->left ? nodes : r->left;
  return (attempt){CORNER_WAY, CORNER_NOISE, nodes};
}

static rounds first_round(const board* b) {
  return (rounds){(uint64_t)b->model->count * NODES_PER_BUFFER, 0, 0, 0};
}

static stowi_place_verdict take_attempt(stowi_place_prover* prover, rounds* r, uint64_t capacity) {
  return try_once(prover, next_of(board_for(prover, capacity), r), capacity);
}

stowi_place_verdict stowi_place_prover_fit(stowi_place_prover* prover, uint64_t capacity) {
  rounds r = first_round(board_for(prover, capacity));
  stowi_place_verdict verdict = STOWI_PLACE_UNKNOWN;
  while (verdict == STOWI_PLACE_UNKNOWN && !stowi_place_quest_done(prover->quest)) {
    verdict = take_attempt(prover, &r, capacity);
  }
  return verdict;
}

stow_status stowi_place_prover_goal(void* state, bool* out_idle) {
  stowi_place_prover* prover = state;
  stowi_place_quest* quest = prover->quest;
  (void)out_idle;
  quest->phase = "exact";
  while (!stowi_place_quest_turn_over(quest)) {
    take_attempt(prover, &prover->goal, stowi_place_quest_goal(quest));
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Many capacities

// The one with the most successes for its nodes: so each is tried until it is no better than the
// others.
static size_t best_way(const stowi_place_prover* prover) {
  const probes* p = &prover->probes;
  uint64_t base = (uint64_t)prover->whole.model->count * CREDIT_PER_BUFFER;
  size_t best = 0;
  for (size_t way = 1; way < WAY_COUNT; ++way) {
    if ((p->successes[way] + 1) * (p->spent[best] + base) >
        (p->successes[best] + 1) * (p->spent[way] + base)) {
      best = way;
    }
  }
  return best;
}

// How many capacities are between the goal and the best height.
static uint64_t count_between(const stowi_place_prover* prover) {
  const stowi_place_quest* quest = prover->quest;
  uint64_t goal = stowi_place_quest_goal(quest);
  bool fits = quest->options.capacity != STOW_PLACE_SMALLEST;
  return fits || quest->height <= goal ? 0 : (quest->height - 1 - goal) / prover->whole.model->unit;
}

static void probe(stowi_place_prover* prover, size_t way) {
  stowi_place_quest* quest = prover->quest;
  probes* p = &prover->probes;
  uint64_t count = count_between(prover);
  uint64_t steps = count - stowi_place_spread(&p->point, count);
  uint64_t nodes =
      ((uint64_t)prover->whole.model->count + 1) / 2 * stowi_place_luby(++p->tried[way]);
  uint64_t before = quest->nodes;
  uint64_t capacity = stowi_place_quest_goal(quest) + steps * prover->whole.model->unit;
  attempt a = {way, p->tried[way] % NOISE_COUNT, nodes};
  p->successes[way] += try_once(prover, a, capacity) == STOWI_PLACE_FOUND;
  p->spent[way] += quest->nodes - before;
}

stow_status stowi_place_prover_probe(void* state, bool* out_idle) {
  stowi_place_prover* prover = state;
  prover->quest->phase = "capacities";
  while (!stowi_place_quest_turn_over(prover->quest) && count_between(prover) > 0) {
    probe(prover, best_way(prover));
  }
  *out_idle = count_between(prover) == 0;
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------

static stow_status create_board(stowi_place_quest* quest, const stow_problem* problem,
                                uint32_t rules, uint64_t corner_share, board* out) {
  out->corner_share = corner_share;
  STOW_TRY(stowi_place_model_create(problem, quest->allocator, quest->diag, &out->model));
  STOW_TRY(stowi_place_exact_create(out->model, rules, quest->allocator, quest->diag, &out->exact));
  out->offsets = STOWI_ARRAY(quest->allocator, uint64_t, problem->buffers.count);
  return stowi_need_memory(out->offsets != NULL, quest->diag);
}

static void destroy_board(stow_allocator allocator, board* b) {
  if (b->model != NULL) {
    STOWI_ARRAY_FREE(allocator, b->offsets, b->model->problem->buffers.count);
  }
  stowi_place_exact_destroy(b->exact);
  stowi_place_model_destroy(b->model);
}

static stow_status create_blocks(stowi_place_prover* prover, uint32_t rules) {
  stowi_place_quest* quest = prover->quest;
  prover->solid_capacity = stowi_place_quest_goal(quest);
  STOW_TRY(stowi_place_solid_create(quest->problem, prover->solid_capacity, quest->allocator,
                                    quest->diag, &prover->solid));
  return prover->solid == NULL ? STOW_OK
                               : create_board(quest, stowi_place_solid_problem(prover->solid),
                                              rules, SOLID_CORNER_SHARE, &prover->blocks);
}

stow_status stowi_place_prover_create(stowi_place_quest* quest, uint32_t rules,
                                      stowi_place_prover** out_prover) {
  *out_prover = NULL;
  stowi_place_prover* prover = STOWI_NEW(quest->allocator, stowi_place_prover);
  STOW_TRY(stowi_need_memory(prover != NULL, quest->diag));
  prover->quest = quest;
  prover->seed = 1;
  stow_status status = create_board(quest, quest->problem, rules, CORNER_SHARE, &prover->whole);
  if (status == STOW_OK) {
    status = create_blocks(prover, rules);
  }
  if (status != STOW_OK) {
    stowi_place_prover_destroy(prover);
    return status;
  }
  prover->goal = first_round(board_for(prover, stowi_place_quest_goal(quest)));
  *out_prover = prover;
  return STOW_OK;
}

const stowi_place_model* stowi_place_prover_model(const stowi_place_prover* prover) {
  return prover->whole.model;
}

bool stowi_place_prover_is_solid(const stowi_place_prover* prover) { return prover->solid != NULL; }

void stowi_place_prover_destroy(stowi_place_prover* prover) {
  if (prover != NULL) {
    stow_allocator allocator = prover->quest->allocator;
    destroy_board(allocator, &prover->blocks);
    destroy_board(allocator, &prover->whole);
    stowi_place_solid_destroy(prover->solid);
    STOWI_DELETE(allocator, prover);
  }
}

static stow_status search_all(stowi_place_quest* quest) {
  STOW_TRY(stowi_place_first_fit_work(quest));
  if (stowi_place_quest_done(quest) ||
      quest->problem->buffers.count > STOWI_PLACE_MODEL_MAX_BUFFERS) {
    return STOW_OK;
  }
  stowi_place_prover* prover = NULL;
  STOW_TRY(stowi_place_prover_create(quest, STOWI_PLACE_RULE_ALL, &prover));
  stowi_place_player players[] = {{.play = stowi_place_prover_goal, .state = prover, .share = 1},
                                  {.play = stowi_place_prover_probe, .state = prover, .share = 1}};
  size_t count = quest->options.capacity == STOW_PLACE_SMALLEST ? 2 : 1;
  stow_status status = stowi_place_take_turns(quest, FIRST_NODES, players, count);
  stowi_place_prover_destroy(prover);
  return status;
}

// First fit of a part may be higher than first fit of all.
stow_status stowi_place_exact_work(stowi_place_quest* quest) {
  if (quest->problem->windows.count == 0) {
    return search_all(quest);
  }
  STOW_TRY(stowi_place_on_bedrock(quest, search_all));
  return stowi_place_quest_answered(quest) || quest->stopped ? STOW_OK
                                                             : stowi_place_first_fit_work(quest);
}
