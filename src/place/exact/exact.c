// Schedules the exact search. The time that one way of choosing takes has a heavy tail: a problem
// that one solves in a few hundred nodes another does not solve in a million. So the search is made
// of attempts that end after some nodes, with one way, one capacity, and slightly shuffled ranks.
//
// For one capacity they come in rounds: every way gets a few nodes, then a few more with perturbed
// ranks, and as many as all of them together go to short attempts of the most promising so far. The
// next round has twice the nodes. That costs a small factor over the luckiest.
//
// How long it takes to find a placement is not monotone in the capacity: one may succeed in a
// moment where those above it fail for long. To minimise, capacities between the goal and the best
// height are therefore probed by short attempts, spread evenly; a way that succeeds is tried more
// often.
#include "place/exact/exact.h"

#include "base/alloc.h"
#include "base/diag.h"
#include "base/hash.h"
#include "place/greedy/greedy.h"
#include "place/problem.h"

#define FIRST_NODES 49152     // at the goal, before capacities are probed
#define NODES_PER_BUFFER 8    // of the first attempt of a way
#define CREDIT_PER_BUFFER 64  // nodes without success after which a way is half as promising
#define DEPTH_SHARE 8         // one probe of so many goes by depth

static const stowi_place_way ways[] = {
    {STOWI_PLACE_LOWEST, STOWI_PLACE_TWA},
    {STOWI_PLACE_TIGHTEST, STOWI_PLACE_TWA},
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
    {STOWI_PLACE_TIGHTEST, STOWI_PLACE_WAT},
    {STOWI_PLACE_LOWEST_LARGEST, STOWI_PLACE_WAT},
    // Only with an order that another search gives:
    {STOWI_PLACE_LOWEST, STOWI_PLACE_GIVEN},
    {STOWI_PLACE_DEEPEST, STOWI_PLACE_GIVEN},
};
#define ROUND_WAYS 9
#define OWN_WAYS 14
#define WAY_COUNT (sizeof(ways) / sizeof(ways[0]))
// How many places a rank may be off.
static const uint32_t noises[] = {0, 3, 10, 24};
#define NOISE_COUNT (sizeof(noises) / sizeof(noises[0]))

// How many buffers were placed at once, over all attempts of rounds.
typedef struct promise {
  uint64_t sum;
  uint64_t runs;
} promise;

// Attempts at one capacity: where in which round.
typedef struct rounds {
  uint64_t turn;      // nodes of an attempt without noise
  size_t step;        // ways and noises tried in this round
  uint64_t left;      // nodes for the most promising ones after that
  uint64_t restarts;  // of these
} rounds;

typedef struct probes {
  uint64_t point;             // in [0, 2^64), as a fraction of what is between goal and best
  uint64_t count;             // of those by own ways
  uint64_t tried[WAY_COUNT];  // probes
  uint64_t spent[WAY_COUNT];  // nodes
  uint64_t successes[WAY_COUNT];
} probes;

typedef struct attempt {
  size_t way;
  size_t noise;
  uint64_t nodes;
} attempt;

struct stowi_place_prover {
  stowi_place_model* model;
  stowi_place_exact_search* exact;
  stowi_place_quest* quest;
  uint64_t* offsets;
  uint32_t* place;  // of every buffer in the order that was suggested last
  uint64_t seed;
  promise promises[WAY_COUNT][NOISE_COUNT];
  rounds goal;
  probes probes;
};

// The sequence 1, 1, 2, 1, 1, 2, 4, 1, … of Luby, Sinclair and Zuckerman (1993): within a constant
// and a logarithm of the best restart lengths, whatever these are.
static uint64_t luby(uint64_t i) {
  uint64_t power = 2;
  while (power <= i) {
    power *= 2;
  }
  return power - 1 == i ? power / 2 : luby(i - power / 2 + 1);
}

static stowi_place_verdict try_once(stowi_place_prover* prover, attempt a, uint64_t capacity) {
  stowi_place_quest* quest = prover->quest;
  prover->seed = prover->seed * UINT64_C(6364136223846793005) + 1442695040888963407;
  stowi_place_run run = {capacity,        a.nodes,          ways[a.way],
                         noises[a.noise], prover->seed | 1, prover->place};
  stowi_place_verdict verdict = stowi_place_exact_run(prover->exact, &run, quest);
  if (verdict == STOWI_PLACE_FOUND) {
    uint64_t height = stowi_place_exact_result(prover->exact, prover->offsets);
    stowi_place_quest_offer(quest, prover->offsets, height);
  } else if (verdict == STOWI_PLACE_REFUTED) {
    stowi_place_quest_raise(quest, stowi_place_model_next_height(prover->model, capacity));
  }
  promise* p = &prover->promises[a.way][a.noise];
  p->sum += stowi_place_exact_depth(prover->exact);
  p->runs += 1;
  return verdict;
}

// ---------------------------------------------------------------------------------------------
// One capacity

// The way and noise with the largest average depth; noise 0 gives the same each time, so it is
// excluded.
static attempt most_promising(const stowi_place_prover* prover, uint64_t nodes) {
  promise best = {0, 1};
  attempt found = {0, 1, nodes};
  for (size_t way = 0; way < OWN_WAYS; ++way) {
    for (size_t noise = 1; noise < NOISE_COUNT; ++noise) {
      promise p = prover->promises[way][noise];
      if (p.runs > 0 && p.sum * best.runs > best.sum * p.runs) {
        best = p;
        found.way = way;
        found.noise = noise;
      }
    }
  }
  return found;
}

static attempt next_of(stowi_place_prover* prover, rounds* r) {
  if (r->step == ROUND_WAYS * NOISE_COUNT && r->left == 0) {
    r->step = 0;
    r->turn *= 2;
  }
  if (r->step < ROUND_WAYS * NOISE_COUNT) {
    size_t noise = r->step / ROUND_WAYS;
    size_t way = r->step++ % ROUND_WAYS;
    r->left = r->turn * ROUND_WAYS;
    return (attempt){way, noise, noise == 0 ? r->turn : r->turn / NOISE_COUNT};
  }
  uint64_t nodes = (uint64_t)prover->model->count * NODES_PER_BUFFER / 4 * luby(++r->restarts);
  r->left -= nodes < r->left ? nodes : r->left;
  return most_promising(prover, nodes);
}

static rounds first_round(const stowi_place_prover* prover) {
  return (rounds){(uint64_t)prover->model->count * NODES_PER_BUFFER, 0, 0, 0};
}

static stowi_place_verdict take_attempt(stowi_place_prover* prover, rounds* r, uint64_t capacity) {
  return try_once(prover, next_of(prover, r), capacity);
}

stowi_place_verdict stowi_place_prover_fit(stowi_place_prover* prover, uint64_t capacity) {
  rounds r = first_round(prover);
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

// Of ways [from, end) the one with the most successes for its nodes: so each is tried until it is
// no better than the others.
static size_t best_way(const stowi_place_prover* prover, size_t from, size_t end) {
  const probes* p = &prover->probes;
  uint64_t base = (uint64_t)prover->model->count * CREDIT_PER_BUFFER;
  size_t best = from;
  for (size_t way = from + 1; way < end; ++way) {
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
  return fits || quest->height <= goal ? 0 : (quest->height - 1 - goal) / prover->model->unit;
}

// A number below |count|: the distance to the best is as often one, as two or three, as four to
// seven, and so on.
static uint64_t pick_distance(uint64_t point, uint64_t count) {
  uint32_t scales = 1;
  while (count >> scales != 0) {
    ++scales;
  }
  uint64_t scale = UINT64_C(1) << ((point >> 32) * scales >> 32);
  uint64_t most = count - scale + 1 < scale ? count - scale + 1 : scale;
  return scale - 1 + stowi_hash_u64(point, 0) % most;
}

static void probe(stowi_place_prover* prover, size_t way, size_t noise) {
  stowi_place_quest* quest = prover->quest;
  probes* p = &prover->probes;
  uint64_t count = count_between(prover);
  p->point += UINT64_C(0x9E3779B97F4A7C15);  // the golden ratio spreads evenly
  uint64_t steps = count - pick_distance(p->point, count);
  uint64_t nodes = ((uint64_t)prover->model->count + 1) / 2 * luby(++p->tried[way]);
  uint64_t before = quest->nodes;
  uint64_t capacity = stowi_place_quest_goal(quest) + steps * prover->model->unit;
  attempt a = {way, noise, nodes};
  p->successes[way] += try_once(prover, a, capacity) == STOWI_PLACE_FOUND;
  p->spent[way] += quest->nodes - before;
}

// Some are the most promising by depth, which shows sooner than success.
stow_status stowi_place_prover_probe(void* state, bool* out_idle) {
  stowi_place_prover* prover = state;
  probes* p = &prover->probes;
  prover->quest->phase = "capacities";
  while (!stowi_place_quest_turn_over(prover->quest) && count_between(prover) > 0) {
    size_t way = best_way(prover, 0, OWN_WAYS);
    attempt deepest = most_promising(prover, 0);
    bool by_depth = p->count++ % DEPTH_SHARE == DEPTH_SHARE - 1;
    probe(prover, by_depth ? deepest.way : way,
          by_depth ? deepest.noise : p->tried[way] % NOISE_COUNT);
  }
  *out_idle = count_between(prover) == 0;
  return STOW_OK;
}

void stowi_place_prover_follow(stowi_place_prover* prover, const uint32_t* order, size_t count) {
  if (count_between(prover) > 0) {
    for (size_t i = 0; i < count; ++i) {
      prover->place[order[i]] = (uint32_t)i;
    }
    probe(prover, best_way(prover, OWN_WAYS, WAY_COUNT), 0);
  }
}

// ---------------------------------------------------------------------------------------------

stow_status stowi_place_prover_create(stowi_place_quest* quest, uint32_t rules,
                                      stowi_place_prover** out_prover) {
  *out_prover = NULL;
  stowi_place_prover* prover = STOWI_NEW(quest->allocator, stowi_place_prover);
  STOW_TRY(stowi_need_memory(prover != NULL, quest->diag));
  prover->quest = quest;
  prover->seed = 1;
  stow_status status =
      stowi_place_model_create(quest->problem, quest->allocator, quest->diag, &prover->model);
  if (status == STOW_OK) {
    prover->goal = first_round(prover);
    status = stowi_place_exact_create(prover->model, rules, quest->allocator, quest->diag,
                                      &prover->exact);
  }
  if (status == STOW_OK) {
    prover->offsets = STOWI_ARRAY(quest->allocator, uint64_t, quest->problem->buffers.count);
    prover->place = STOWI_ARRAY_ZERO(quest->allocator, uint32_t, quest->problem->buffers.count);
    status = stowi_need_memory(prover->offsets != NULL && prover->place != NULL, quest->diag);
  }
  if (status != STOW_OK) {
    stowi_place_prover_destroy(prover);
    return status;
  }
  *out_prover = prover;
  return STOW_OK;
}

void stowi_place_prover_destroy(stowi_place_prover* prover) {
  if (prover != NULL) {
    stow_allocator allocator = prover->quest->allocator;
    STOWI_ARRAY_FREE(allocator, prover->offsets, prover->quest->problem->buffers.count);
    STOWI_ARRAY_FREE(allocator, prover->place, prover->quest->problem->buffers.count);
    stowi_place_exact_destroy(prover->exact);
    stowi_place_model_destroy(prover->model);
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
  stowi_place_player players[] = {{.play = stowi_place_prover_goal, .state = prover},
                                  {.play = stowi_place_prover_probe, .state = prover}};
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
