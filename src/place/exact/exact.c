// Schedules the exact search. The time that one way of choosing takes has a heavy tail: a problem
// that one solves in a few hundred nodes another does not solve in a million. So in a round each
// gets a few nodes, then a few more with perturbed ranks, and as many as all of them together go to
// short turns of the most promising so far. The next round has twice the nodes. That costs a small
// factor over the luckiest.
//
// To minimise, capacities between the bound and the best height are tried: the bound itself, then
// the middle, going up when the nodes run out, and starting over with twice the nodes when they ran
// out too often.
#include "place/exact/exact.h"

#include "base/alloc.h"
#include "base/diag.h"
#include "place/greedy/greedy.h"
#include "place/problem.h"

#define NODES_PER_BUFFER 8  // of the first turn of a way
#define MAX_FAILURES 4      // capacities in a row, before all get more nodes

static const stowi_place_way ways[] = {
    {STOWI_PLACE_LOWEST, STOWI_PLACE_TWA},       {STOWI_PLACE_TIGHTEST, STOWI_PLACE_TWA},
    {STOWI_PLACE_LOWEST, STOWI_PLACE_TAW},       {STOWI_PLACE_LOWEST_TIGHTEST, STOWI_PLACE_TWA},
    {STOWI_PLACE_TIGHTEST_LOW, STOWI_PLACE_TWA}, {STOWI_PLACE_DEEPEST, STOWI_PLACE_TWA},
    {STOWI_PLACE_LOWEST, STOWI_PLACE_WAT},       {STOWI_PLACE_LOWEST_LARGEST, STOWI_PLACE_TWA},
    {STOWI_PLACE_DEEPEST, STOWI_PLACE_WAT},
};
#define WAY_COUNT (sizeof(ways) / sizeof(ways[0]))
// How many places a rank may be off.
static const uint32_t noises[] = {0, 3, 10, 24};
#define NOISE_COUNT (sizeof(noises) / sizeof(noises[0]))

// How many buffers were placed at once, over all runs.
typedef struct promise {
  uint64_t sum;
  uint64_t runs;
} promise;

struct stowi_place_prover {
  stowi_place_model* model;
  stowi_place_exact_search* exact;
  stowi_place_quest* quest;
  uint64_t* offsets;
  uint64_t seed;
  promise promises[WAY_COUNT][NOISE_COUNT];
  uint64_t restarts;  // of the most promising
  uint64_t lowest;    // the lowest capacity that is not ruled out
  uint64_t effort;    // nodes for one capacity
};

// ---------------------------------------------------------------------------------------------
// One capacity

static stowi_place_verdict take_turn(stowi_place_prover* prover, const stowi_place_run* run) {
  stowi_place_quest* quest = prover->quest;
  stowi_place_verdict verdict = stowi_place_exact_run(prover->exact, run, quest);
  if (verdict == STOWI_PLACE_FOUND) {
    uint64_t height = stowi_place_exact_result(prover->exact, prover->offsets);
    stowi_place_quest_offer(quest, prover->offsets, height);
  } else if (verdict == STOWI_PLACE_REFUTED) {
    stowi_place_quest_raise(quest, stowi_place_model_next_height(prover->model, run->capacity));
  }
  return verdict;
}

// One way, for |turn| nodes, or fewer if not so many are left.
static stowi_place_verdict try_way(stowi_place_prover* prover, size_t way, size_t noise,
                                   uint64_t capacity, uint64_t turn, uint64_t* left) {
  if (*left == 0 || stowi_place_quest_done(prover->quest)) {
    return STOWI_PLACE_UNKNOWN;
  }
  uint64_t before = prover->quest->nodes;
  prover->seed = prover->seed * UINT64_C(6364136223846793005) + 1442695040888963407;
  stowi_place_run run = {capacity, turn < *left ? turn : *left, ways[way], noises[noise],
                         prover->seed | 1};
  stowi_place_verdict verdict = take_turn(prover, &run);
  uint64_t spent = prover->quest->nodes - before;
  *left -= spent < *left ? spent : *left;
  promise* p = &prover->promises[way][noise];
  p->sum += stowi_place_exact_depth(prover->exact);
  p->runs += 1;
  return verdict;
}

static stowi_place_verdict try_all(stowi_place_prover* prover, size_t noise, uint64_t capacity,
                                   uint64_t turn, uint64_t* left) {
  stowi_place_verdict verdict = STOWI_PLACE_UNKNOWN;
  for (size_t i = 0; i < WAY_COUNT && verdict == STOWI_PLACE_UNKNOWN; ++i) {
    verdict = try_way(prover, i, noise, capacity, turn, left);
  }
  return verdict;
}

// The sequence 1, 1, 2, 1, 1, 2, 4, 1, … of Luby, Sinclair and Zuckerman (1993): within a constant
// and a logarithm of the best restart lengths, whatever these are.
static uint64_t luby(uint64_t i) {
  uint64_t power = 2;
  while (power <= i) {
    power *= 2;
  }
  return power - 1 == i ? power / 2 : luby(i - power / 2 + 1);
}

// The way and noise with the largest average depth; noise 0 gives the same each time, so it is
// excluded.
static void find_most_promising(const stowi_place_prover* prover, size_t* out_way,
                                size_t* out_noise) {
  promise best = {0, 1};
  *out_way = 0;
  *out_noise = 1;
  for (size_t way = 0; way < WAY_COUNT; ++way) {
    for (size_t noise = 1; noise < NOISE_COUNT; ++noise) {
      promise p = prover->promises[way][noise];
      if (p.runs > 0 && p.sum * best.runs > best.sum * p.runs) {
        best = p;
        *out_way = way;
        *out_noise = noise;
      }
    }
  }
}

static stowi_place_verdict try_promising(stowi_place_prover* prover, uint64_t capacity,
                                         uint64_t nodes, uint64_t* left) {
  stowi_place_verdict verdict = STOWI_PLACE_UNKNOWN;
  uint64_t turn = (uint64_t)prover->model->count * NODES_PER_BUFFER / 4;
  uint64_t end = *left > nodes ? *left - nodes : 0;
  while (verdict == STOWI_PLACE_UNKNOWN && *left > end && !stowi_place_quest_done(prover->quest)) {
    size_t way;
    size_t noise;
    find_most_promising(prover, &way, &noise);
    verdict = try_way(prover, way, noise, capacity, turn * luby(++prover->restarts), left);
  }
  return verdict;
}

static stowi_place_verdict take_round(stowi_place_prover* prover, uint64_t capacity, uint64_t turn,
                                      uint64_t* left) {
  stowi_place_verdict verdict = try_all(prover, 0, capacity, turn, left);
  for (size_t i = 1; i < NOISE_COUNT && verdict == STOWI_PLACE_UNKNOWN; ++i) {
    verdict = try_all(prover, i, capacity, turn / NOISE_COUNT, left);
  }
  return verdict == STOWI_PLACE_UNKNOWN ? try_promising(prover, capacity, turn * WAY_COUNT, left)
                                        : verdict;
}

stowi_place_verdict stowi_place_prover_fit(stowi_place_prover* prover, uint64_t capacity,
                                           uint64_t nodes) {
  stowi_place_quest* quest = prover->quest;
  uint64_t end = quest->stage_end;
  uint64_t left = stowi_place_quest_left(quest);
  uint64_t turn = (uint64_t)prover->model->count * NODES_PER_BUFFER;
  stowi_place_verdict verdict = STOWI_PLACE_UNKNOWN;
  quest->stage_end = nodes < left ? quest->nodes + nodes : end;
  while (verdict == STOWI_PLACE_UNKNOWN && nodes > 0 && !stowi_place_quest_done(quest)) {
    verdict = take_round(prover, capacity, turn, &nodes);
    turn *= 2;
  }
  quest->stage_end = end;
  return verdict;
}

// ---------------------------------------------------------------------------------------------
// The smallest capacity

static uint64_t middle(uint64_t low, uint64_t high) { return low + (high - low) / 2; }

// Tries |capacity|, then those between it and the best, the lower ones first: a success there is
// worth more, and is often as easy.
static void sweep_capacities(stowi_place_prover* prover, uint64_t capacity) {
  stowi_place_quest* quest = prover->quest;
  int failures = 0;
  while (!stowi_place_quest_done(quest) && capacity < quest->height && failures < MAX_FAILURES) {
    stowi_place_verdict verdict = stowi_place_prover_fit(prover, capacity, prover->effort);
    if (verdict == STOWI_PLACE_UNKNOWN) {
      capacity = middle(capacity, quest->height + 1);
      ++failures;
      continue;
    }
    if (verdict == STOWI_PLACE_REFUTED) {
      prover->lowest = stowi_place_model_next_height(prover->model, capacity);
    }
    failures = 0;
    capacity =
        prover->lowest < quest->height ? middle(prover->lowest, quest->height) : quest->height;
  }
}

static void minimise(stowi_place_prover* prover) {
  stowi_place_quest* quest = prover->quest;
  prover->lowest = quest->bound > prover->lowest ? quest->bound : prover->lowest;
  while (!stowi_place_quest_done(quest) && prover->lowest < quest->height) {
    sweep_capacities(prover, prover->lowest);
    if (prover->lowest < quest->height) {
      sweep_capacities(prover, middle(prover->lowest, quest->height));
    }
    if (!stowi_place_quest_done(quest)) {
      prover->effort *= 2;
    }
  }
}

void stowi_place_prover_answer(stowi_place_prover* prover, uint64_t nodes) {
  stowi_place_quest* quest = prover->quest;
  uint64_t end = quest->stage_end;
  uint64_t left = stowi_place_quest_left(quest);
  quest->stage_end = nodes < left ? quest->nodes + nodes : end;
  quest->phase = "exact";
  if (quest->options.capacity == STOW_PLACE_SMALLEST) {
    minimise(prover);
  } else if (!stowi_place_quest_done(quest)) {
    stowi_place_prover_fit(prover, quest->options.capacity, nodes);
  }
  quest->stage_end = end;
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
    prover->effort = (uint64_t)prover->model->count * NODES_PER_BUFFER * 4 * WAY_COUNT;
    status = stowi_place_exact_create(prover->model, rules, quest->allocator, quest->diag,
                                      &prover->exact);
  }
  if (status == STOW_OK) {
    prover->offsets = STOWI_ARRAY(quest->allocator, uint64_t, quest->problem->buffers.count);
    status = prover->offsets != NULL ? STOW_OK : stowi_fail_memory(quest->diag);
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
  stowi_place_prover_answer(prover, STOW_PLACE_NO_LIMIT);
  stowi_place_prover_destroy(prover);
  return STOW_OK;
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
