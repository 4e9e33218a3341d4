// Setting aside buffers that are always live loses nothing: heights and bounds are those of brute
// force.
#include <stowage/place.h>
#include <string.h>

#include "place/api.h"
#include "place/problem.h"
#include "place/quest.h"
#include "support/brute_place.h"
#include "support/fault.h"
#include "support/test.h"

#define STEPS 6

static stow_problem* new_problem(stow_allocator allocator) {
  stow_problem* problem = NULL;
  return stow_problem_create(allocator, NULL, &problem) == STOW_OK ? problem : NULL;
}

static stow_status add(stow_problem* problem, uint64_t size, uint64_t begin, uint64_t end,
                       uint64_t alignment) {
  stow_buffer desc;
  stow_buffer_init(&desc);
  desc.size = size;
  desc.begin = begin;
  desc.end = end;
  desc.alignment = alignment;
  return stow_problem_add(problem, &desc, NULL, NULL);
}

static stow_status add_window(stow_problem* problem, uint64_t begin, uint64_t end, uint64_t low,
                              uint64_t high) {
  stow_window_desc desc;
  stow_window_desc_init(&desc);
  desc.begin = begin;
  desc.end = end;
  desc.low = low;
  desc.high = high;
  return stow_problem_add_window(problem, &desc, NULL);
}

// ---------------------------------------------------------------------------------------------
// Random problems

// Whole at the step between its two windows.
static void add_staircase(test_random* random, stow_problem* problem, uint64_t alignment) {
  uint64_t size = 2 + test_random_below(random, 6);
  uint64_t whole = 1 + test_random_below(random, STEPS - 2);
  uint64_t low = test_random_below(random, size);
  uint64_t high = low + test_random_below(random, size - low + 1);
  CHECK(add(problem, size, 0, STEPS, alignment) == STOW_OK);
  CHECK(add_window(problem, 0, whole, low, high) == STOW_OK);
  low = test_random_below(random, size);
  CHECK(add_window(problem, whole + 1, STEPS, low, size) == STOW_OK);
}

// Those that are always live come first.
static stow_problem* random_problem(test_random* random, size_t always) {
  stow_problem* problem = new_problem(stow_allocator_default());
  uint64_t alignment = UINT64_C(1) << test_random_below(random, 3);
  for (size_t i = 0; i < always; ++i) {
    CHECK(add(problem, 1 + test_random_below(random, 5), 0, STEPS, alignment) == STOW_OK);
  }
  for (size_t i = 0; i < 2; ++i) {
    add_staircase(random, problem, alignment);
  }
  for (size_t i = 0; i < 2; ++i) {
    uint64_t begin = test_random_below(random, STEPS);
    uint64_t end = begin + 1 + test_random_below(random, STEPS - begin);
    bool is_always = begin == 0 && end == STEPS;
    CHECK(add(problem, 1 + test_random_below(random, 6), begin, is_always ? end - 1 : end,
              alignment) == STOW_OK);
  }
  return problem;
}

static stow_placement* place(const stow_problem* problem, const char* strategy, uint64_t capacity) {
  stow_place_options options;
  stow_place_options_init(&options);
  options.capacity = capacity;
  stow_placement* placement = NULL;
  CHECK(stow_strategy_find(stow_str_of(strategy))
            ->place(problem, &options, stow_allocator_default(), NULL, &placement) == STOW_OK);
  uint64_t offsets[BRUTE_MAX_BUFFERS];
  for (size_t i = 0; i < stow_problem_count(problem); ++i) {
    offsets[i] = stow_placement_offset(placement, i);
  }
  CHECK(stow_placement_check(problem, offsets, stow_problem_count(problem),
                             stow_placement_height(placement), stow_allocator_default(), NULL,
                             NULL) == STOW_OK);
  return placement;
}

static void check_outcome(const stow_problem* problem, const char* strategy, uint64_t capacity,
                          uint64_t optimum) {
  stow_placement* placement = place(problem, strategy, capacity);
  stow_outcome outcome = stow_placement_outcome(placement);
  CHECK((outcome == STOW_OUTCOME_INFEASIBLE) == (capacity < optimum));
  CHECK(outcome != STOW_OUTCOME_GAVE_UP);
  CHECK(stowi_place_placement_bound(placement) <= optimum);
  CHECK(stow_placement_height(placement) >= optimum);
  if (capacity == STOW_PLACE_SMALLEST || capacity == optimum) {
    CHECK_U64(stow_placement_height(placement), optimum);
  }
  CHECK(capacity != STOW_PLACE_SMALLEST || outcome == STOW_OUTCOME_OPTIMAL);
  stow_placement_destroy(placement);
}

TEST(BedrockKeepsTheOptimum) {
  static const char* const strategies[] = {"auto", "exact"};
  uint64_t seeds = test_is_long() ? 2000 : 150;
  for (uint64_t seed = 0; seed < seeds; ++seed) {
    test_random random = {seed};
    stow_problem* problem = random_problem(&random, (size_t)(seed % 4));
    uint64_t optimum = brute_height(problem);
    for (size_t i = 0; i < 2; ++i) {
      check_outcome(problem, strategies[i], STOW_PLACE_SMALLEST, optimum);
      check_outcome(problem, strategies[i], optimum, optimum);
      check_outcome(problem, strategies[i], optimum - 1, optimum);
      check_outcome(problem, strategies[i], 1, optimum);
    }
    stow_problem_destroy(problem);
  }
}

// ---------------------------------------------------------------------------------------------
// What is set aside

static size_t seen;  // buffers of the problem that was worked on

static stow_status lay_apart(stowi_place_quest* quest) {
  uint64_t offsets[BRUTE_MAX_BUFFERS];
  uint64_t top = 0;
  seen = quest->problem->buffers.count;
  for (size_t i = 0; i < seen; ++i) {
    const stowi_place_buffer* b = &quest->problem->buffers.data[i];
    offsets[i] = (top + b->alignment - 1) / b->alignment * b->alignment;
    top = offsets[i] + stowi_place_footprint(b);
  }
  stowi_place_quest_offer(quest, offsets, top);
  return STOW_OK;
}

static uint64_t height_on_bedrock(const stow_problem* problem, uint64_t capacity) {
  uint64_t offsets[BRUTE_MAX_BUFFERS];
  stowi_place_quest quest;
  memset(&quest, 0, sizeof(quest));
  quest.problem = problem;
  quest.allocator = stow_allocator_default();
  quest.height = UINT64_MAX;
  quest.offsets = offsets;
  stow_place_options_init(&quest.options);
  quest.options.capacity = capacity;
  quest.turn_end = STOW_PLACE_NO_LIMIT;
  CHECK(stowi_place_on_bedrock(&quest, lay_apart) == STOW_OK);
  CHECK(stow_placement_check(problem, offsets, stow_problem_count(problem), quest.height,
                             stow_allocator_default(), NULL, NULL) == STOW_OK);
  return quest.height;
}

// Three that are always live; of these the second gains most by being on top.
static stow_problem* three_and_one(uint64_t alignment_of_last) {
  stow_problem* problem = new_problem(stow_allocator_default());
  CHECK(add(problem, 8, 0, 4, 8) == STOW_OK);
  CHECK(add(problem, 9, 0, 4, 8) == STOW_OK);
  CHECK(add(problem, 14, 0, 4, 8) == STOW_OK);
  CHECK(add(problem, 16, 0, 3, alignment_of_last) == STOW_OK);
  return problem;
}

TEST(AllButTheMostPaddedAreSetAside) {
  stow_problem* problem = three_and_one(8);
  CHECK(add_window(problem, 1, 2, 4, 8) == STOW_OK);
  CHECK_U64(height_on_bedrock(problem, STOW_PLACE_SMALLEST), 24 + 16 + 16);
  CHECK_U64(seen, 2);
  CHECK_U64(height_on_bedrock(problem, 24), 56);  // only just not above the capacity
  CHECK_U64(seen, 2);
  height_on_bedrock(problem, 23);
  CHECK_U64(seen, 4);
  stow_problem_destroy(problem);
}

TEST(NothingIsSetAsideIfItCouldCost) {
  stow_problem* problem = three_and_one(16);  // alignments differ
  height_on_bedrock(problem, STOW_PLACE_SMALLEST);
  CHECK_U64(seen, 4);
  stow_problem_destroy(problem);
  problem = three_and_one(8);
  CHECK(add_window(problem, 0, 1, 0, 4) == STOW_OK);  // never whole: 4 … 7 are free for another
  CHECK(add_window(problem, 1, 3, 8, 16) == STOW_OK);
  height_on_bedrock(problem, STOW_PLACE_SMALLEST);
  CHECK_U64(seen, 4);
  stow_problem_destroy(problem);
}

// Two of 4 bytes are in the hole of one that is never whole, and nothing is below it.
TEST(AlwaysLiveBuffersMayBeInAHole) {
  stow_problem* problem = new_problem(stow_allocator_default());
  CHECK(add(problem, 4, 0, 2, 1) == STOW_OK);
  CHECK(add(problem, 4, 0, 2, 1) == STOW_OK);
  CHECK(add(problem, 16, 0, 2, 1) == STOW_OK);
  CHECK(add_window(problem, 0, 1, 0, 4) == STOW_OK);
  CHECK(add_window(problem, 1, 2, 12, 16) == STOW_OK);
  check_outcome(problem, "auto", STOW_PLACE_SMALLEST, 16);
  stow_problem_destroy(problem);
}

// ---------------------------------------------------------------------------------------------
// Callbacks and memory

typedef struct heard {
  uint64_t best;
  uint64_t calls;
  uint64_t most_calls;
} heard;

static bool listen(void* user, const stow_place_progress* progress) {
  heard* h = user;
  CHECK(progress->bound <= progress->best);
  CHECK(progress->best <= h->best);
  h->best = progress->best;
  return ++h->calls < h->most_calls;
}

static stow_status place_listening(stow_allocator allocator, void* user) {
  test_random random = {7};
  stow_problem* problem = random_problem(&random, 3);
  stow_place_options options;
  stow_place_options_init(&options);
  options.on_progress = listen;
  options.user = user;
  stow_placement* placement = NULL;
  stow_status status = stow_place_auto(problem, &options, allocator, NULL, &placement);
  if (status == STOW_OK) {
    const heard* h = user;
    CHECK_U64(h->best, stow_placement_height(placement));
    CHECK(stowi_place_placement_stopped(placement) == (h->calls == h->most_calls));
  }
  stow_placement_destroy(placement);
  stow_problem_destroy(problem);
  return status;
}

TEST(TheCallbackGetsTheWholeProblem) {
  heard h = {UINT64_MAX, 0, UINT64_MAX};
  CHECK(place_listening(stow_allocator_default(), &h) == STOW_OK);
  CHECK(h.calls > 0);
  h = (heard){UINT64_MAX, 0, 1};
  CHECK(place_listening(stow_allocator_default(), &h) == STOW_OK);
  CHECK_U64(h.calls, 1);
}

static stow_status place_once(stow_allocator allocator, void* user) {
  heard h = {UINT64_MAX, 0, UINT64_MAX};
  (void)user;
  return place_listening(allocator, &h);
}

TEST(FailingAllocationsAreSurvived) { CHECK(test_fault_sweep(place_once, NULL) > 10); }
