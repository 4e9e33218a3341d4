// Starting from an earlier placement: always correct, never higher than it, and few buffers move.
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "place/api.h"
#include "random_problem.h"
#include "support/brute_place.h"
#include "support/fault.h"

#define MAX_COUNT 120

static stow_place_options options_with(const uint64_t* start, uint64_t nodes) {
  stow_place_options options;
  stow_place_options_init(&options);
  options.nodes = nodes;
  options.start = start;
  return options;
}

static void take_offsets(const stow_placement* placement, size_t count, uint64_t* out) {
  for (size_t i = 0; i < count; ++i) {
    out[i] = stow_placement_offset(placement, i);
  }
}

static size_t count_moved(const stow_placement* placement, const uint64_t* start, size_t count) {
  size_t moved = 0;
  for (size_t i = 0; i < count; ++i) {
    moved += start[i] != STOW_PLACE_ANYWHERE && stow_placement_offset(placement, i) != start[i];
  }
  return moved;
}

// The height with |start|, checked; 0 on failure. |out_moved| may be NULL.
static uint64_t height_from(const stow_problem* problem, const char* strategy,
                            const uint64_t* start, uint64_t nodes, size_t* out_moved) {
  stow_place_options options = options_with(start, nodes);
  stow_placement* placement = place_and_check(problem, strategy, &options);
  if (placement == NULL) {
    return 0;
  }
  if (out_moved != NULL) {
    *out_moved = count_moved(placement, start, stow_problem_count(problem));
  }
  uint64_t height = stow_placement_height(placement);
  stow_placement_destroy(placement);
  return height;
}

static stow_problem* new_problem(stow_allocator allocator) {
  stow_problem* problem = NULL;
  return stow_problem_create(allocator, NULL, &problem) == STOW_OK ? problem : NULL;
}

static stow_status add(stow_problem* problem, uint64_t size, uint64_t begin, uint64_t end) {
  stow_buffer desc;
  stow_buffer_init(&desc);
  desc.size = size;
  desc.begin = begin;
  desc.end = end;
  return stow_problem_add(problem, &desc, NULL, NULL);
}

// ---------------------------------------------------------------------------------------------
// Any start

// Some known, some not, some out of range.
static void random_start(test_random* random, size_t count, uint64_t* out) {
  for (size_t i = 0; i < count; ++i) {
    uint64_t kind = test_random_below(random, 8);
    out[i] = kind == 0   ? STOW_PLACE_ANYWHERE
             : kind == 1 ? UINT64_MAX - 1 - test_random_below(random, 100)
             : kind == 2 ? INT64_MAX - test_random_below(random, 100)
                         : test_random_below(random, 200);
  }
}

TEST(AnyStartGivesACorrectPlacementOnceAndAgain) {
  test_random random = {3};
  size_t cases = test_is_long() ? 3000 : 150;
  for (size_t c = 0; c < cases; ++c) {
    random_shape shape = random_shape_of(&random, c % 10 == 0 ? MAX_COUNT : 30);
    stow_problem* problem = random_problem(&random, &shape);
    size_t count = stow_problem_count(problem);
    uint64_t start[MAX_COUNT];
    random_start(&random, count, start);
    const char* strategy = stow_strategy_at(c % stow_strategy_count())->name;
    stow_place_options options = options_with(start, 1000);
    stow_placement* first = place_and_check(problem, strategy, &options);
    stow_placement* second = place_and_check(problem, strategy, &options);
    REQUIRE(first != NULL && second != NULL);
    uint64_t offsets[MAX_COUNT];
    take_offsets(first, count, offsets);
    CHECK_U64(count_moved(second, offsets, count), 0);
    CHECK_U64(stowi_place_placement_nodes(first), stowi_place_placement_nodes(second));
    stow_placement_destroy(first);
    stow_placement_destroy(second);
    stow_problem_destroy(problem);
  }
}

TEST(AnyStartLeavesTheOptimum) {
  test_random random = {5};
  size_t cases = test_is_long() ? 2000 : 100;
  for (size_t c = 0; c < cases; ++c) {
    stow_problem* problem = new_problem(stow_allocator_default());
    size_t count = 3 + (size_t)test_random_below(&random, 4);
    for (size_t i = 0; i < count; ++i) {
      bool is_always = i < c % 3;
      uint64_t begin = is_always ? 0 : test_random_below(&random, 5);
      CHECK(add(problem, 1 + test_random_below(&random, 6), begin,
                is_always ? 6 : begin + 1 + test_random_below(&random, 6 - begin)) == STOW_OK);
      if (i + 1 == count && begin == 0 && c % 2 == 0) {  // with windows, bedrock is set aside
        stow_window_desc window;
        stow_window_desc_init(&window);
        window.end = 1;
        window.high = 1;
        CHECK(stow_problem_add_window(problem, &window, NULL) == STOW_OK);
      }
    }
    uint64_t start[BRUTE_MAX_BUFFERS];
    random_start(&random, count, start);
    uint64_t optimum = brute_height(problem);
    CHECK_U64(height_from(problem, "auto", start, 100000, NULL), optimum);
    CHECK_U64(height_from(problem, "exact", start, 100000, NULL), optimum);
    stow_problem_destroy(problem);
  }
}

// ---------------------------------------------------------------------------------------------
// Starts that are placements

// Whatever a search does with its budget, it ends no higher; and where it ends as high, nothing has
// moved.
TEST(APlacementIsKeptUnlessThereIsALowerOne) {
  test_random random = {7};
  size_t cases = test_is_long() ? 3000 : 150;
  for (size_t c = 0; c < cases; ++c) {
    random_shape shape = random_shape_of(&random, c % 10 == 0 ? MAX_COUNT : 30);
    stow_problem* problem = random_problem(&random, &shape);
    size_t count = stow_problem_count(problem);
    uint64_t start[MAX_COUNT];
    stow_placement* earlier = place_and_check(problem, c % 2 == 0 ? "best-fit" : "auto", NULL);
    REQUIRE(earlier != NULL);
    take_offsets(earlier, count, start);
    for (size_t i = 0; i < stow_strategy_count(); ++i) {
      size_t moved = 0;
      uint64_t height = height_from(problem, stow_strategy_at(i)->name, start, 500, &moved);
      CHECK(height <= stow_placement_height(earlier));
      CHECK(height < stow_placement_height(earlier) || moved == 0);
    }
    stow_placement_destroy(earlier);
    stow_problem_destroy(problem);
  }
}

// What one pass finds is found with a start, too: so strategies of passes are never higher with
// one, and auto is never higher than first fit.
TEST(PassesAreNeverHigherWithAStart) {
  static const char* const passes[] = {"first-fit", "best-fit", "portfolio"};
  test_random random = {9};
  size_t cases = test_is_long() ? 3000 : 100;
  for (size_t c = 0; c < cases; ++c) {
    random_shape shape = random_shape_of(&random, 40);
    stow_problem* problem = random_problem(&random, &shape);
    uint64_t start[MAX_COUNT];
    random_start(&random, stow_problem_count(problem), start);
    for (size_t i = 0; i < 3; ++i) {
      CHECK(height_from(problem, passes[i], start, 100000, NULL) <=
            height_with(problem, passes[i], 100000));
    }
    uint64_t first_fit = height_with(problem, "first-fit", 0);
    CHECK(height_from(problem, "auto", start, 0, NULL) <= first_fit);
    CHECK(height_from(problem, "auto", start, 500, NULL) <= first_fit);
    stow_problem_destroy(problem);
  }
}

// ---------------------------------------------------------------------------------------------
// Small changes

// A chain in which each buffer is live with the next one, in steps of two.
static stow_problem* chain(size_t count, uint64_t size, size_t grown, uint64_t growth) {
  stow_problem* problem = new_problem(stow_allocator_default());
  for (size_t i = 0; i < count; ++i) {
    CHECK(add(problem, i == grown ? size + growth : size, i, i + 2) == STOW_OK);
  }
  return problem;
}

TEST(ANewBufferGoesIntoAHoleAndNothingMoves) {
  uint64_t start[21];
  stow_problem* problem = chain(20, 64, 20, 0);
  CHECK(add(problem, 16, 7, 8) == STOW_OK);
  for (size_t i = 0; i < 20; ++i) {
    start[i] = i % 2 * 64;
  }
  start[20] = STOW_PLACE_ANYWHERE;
  size_t moved = 0;
  CHECK_U64(height_from(problem, "auto", start, 1000, &moved), 128 + 16);
  CHECK_U64(moved, 0);
  stow_problem_destroy(problem);
}

TEST(OnlyWhatIsInTheWayOfAGrownBufferMoves) {
  stow_problem* problem = chain(20, 64, 8, 32);
  uint64_t start[20];
  for (size_t i = 0; i < 20; ++i) {
    start[i] = i % 2 * 64;
  }
  size_t moved = 0;
  CHECK_U64(height_from(problem, "auto", start, 1000, &moved), 160);
  CHECK(moved >= 1 && moved <= 2);  // both neighbours lie above it
  stow_problem_destroy(problem);
}

// All buffers grow, none can stay; the arrangement can.
TEST(AnArrangementIsKeptWhenAllBuffersGrow) {
  test_random random = {21};
  random_shape shape = {.count = 60};
  for (size_t c = 0; c < 20; ++c) {
    stow_problem* problem = random_problem(&random, &shape);
    stow_problem* larger = new_problem(stow_allocator_default());
    stow_placement* earlier = place_and_check(problem, "auto", NULL);
    uint64_t start[MAX_COUNT];
    take_offsets(earlier, shape.count, start);
    for (size_t i = 0; i < shape.count; ++i) {
      stow_buffer desc = {.struct_size = sizeof(desc)};
      stow_problem_describe_buffer(problem, i, &desc);
      CHECK(add(larger, 3 * desc.size, desc.begin, desc.end) == STOW_OK);
    }
    CHECK(height_from(larger, "first-fit", start, 0, NULL) <= 3 * stow_placement_height(earlier));
    stow_placement_destroy(earlier);
    stow_problem_destroy(larger);
    stow_problem_destroy(problem);
  }
}

// ---------------------------------------------------------------------------------------------
// Ends

TEST(AStartThatMeetsTheGoalEndsTheSearch) {
  stow_problem* problem = chain(20, 64, 20, 0);
  uint64_t start[20];
  for (size_t i = 0; i < 20; ++i) {
    start[i] = i % 3 * 64;
  }
  stow_place_options options = options_with(start, 1000);
  options.capacity = 192;
  stow_placement* placement = place_and_check(problem, "auto", &options);
  REQUIRE(placement != NULL);
  CHECK(stow_placement_outcome(placement) == STOW_OUTCOME_FEASIBLE);
  CHECK_U64(stowi_place_placement_nodes(placement), 0);
  CHECK_U64(count_moved(placement, start, 20), 0);
  stow_placement_destroy(placement);
  options.capacity = 100;
  placement = place_and_check(problem, "auto", &options);
  REQUIRE(placement != NULL);
  CHECK(stow_placement_outcome(placement) == STOW_OUTCOME_INFEASIBLE);
  stow_placement_destroy(placement);
  stow_problem_destroy(problem);
}

typedef struct stopper {
  size_t calls;
  size_t allowed;
} stopper;

static bool stop_later(void* user, const stow_place_progress* progress) {
  stopper* s = user;
  (void)progress;
  return ++s->calls < s->allowed;
}

TEST(ACallbackStopsAtAnyTime) {
  test_random random = {23};
  random_shape shape = {.count = MAX_COUNT, .windows = true};
  stow_problem* problem = random_problem(&random, &shape);
  uint64_t start[MAX_COUNT];
  random_start(&random, MAX_COUNT, start);
  for (size_t i = 0; i < stow_strategy_count(); ++i) {
    for (size_t allowed = 1; allowed < 12; ++allowed) {
      stopper s = {0, allowed};
      stow_place_options options = options_with(start, 3000);
      options.on_progress = stop_later;
      options.user = &s;
      stow_placement_destroy(place_and_check(problem, stow_strategy_at(i)->name, &options));
      CHECK(s.calls <= allowed);
    }
  }
  stow_problem_destroy(problem);
}

TEST(WithoutReuseAStartIsIgnored) {
  stow_problem* problem = chain(3, 64, 3, 0);
  const uint64_t start[] = {0, 64, 0};
  stow_place_options options = options_with(start, 1000);
  options.reuse = false;
  stow_placement* placement = place_and_check(problem, "auto", &options);
  REQUIRE(placement != NULL);
  CHECK_U64(stow_placement_height(placement), 192);
  stow_placement_destroy(placement);
  stow_problem_destroy(problem);
}

TEST(CallersWithoutAStartHaveNone) {
  stow_problem* problem = chain(3, 64, 3, 0);
  static const uint64_t trap[1] = {0};
  stow_place_options options = options_with(trap + 1, 1000);
  options.struct_size = offsetof(stow_place_options, start);
  stow_placement* placement = place_and_check(problem, "auto", &options);
  REQUIRE(placement != NULL);
  CHECK_U64(stow_placement_height(placement), 128);
  stow_placement_destroy(placement);
  stow_problem_destroy(problem);
}

// It asks about parts of the problem, which have fewer buffers than the start.
TEST(ExplanationsTakeNoStart) {
  stow_problem* problem = chain(9, 64, 4, 64);
  const uint64_t start[] = {0, 64, 0, 64, 128, 64, 0, 64, 0};
  stow_place_options options = options_with(start, 1000);
  options.capacity = 150;
  stow_explanation set = {.struct_size = sizeof(set)};
  REQUIRE(stow_place_explain(problem, &options, stow_allocator_default(), NULL, &set) == STOW_OK);
  REQUIRE(set.count == 2);
  CHECK(set.irreducible && (set.buffers[0] == 4 || set.buffers[1] == 4));
  stow_explanation_free(&set, stow_allocator_default());
  stow_problem_destroy(problem);
}

// ---------------------------------------------------------------------------------------------
// Out of memory

// With windows and buffers that are always live: the start is handed on to the part above them.
static stow_status attempt(stow_allocator allocator, void* user) {
  static const uint64_t start[] = {40, 7, 1, STOW_PLACE_ANYWHERE, 21, 9, 0, 33};
  stow_problem* problem = new_problem(allocator);
  stow_status status = problem == NULL ? STOW_ERR_OUT_OF_MEMORY : STOW_OK;
  for (uint64_t i = 0; i < 8 && status == STOW_OK; ++i) {
    status = i < 3 ? add(problem, 5 + i, 0, 8) : add(problem, 3 + i * 5 % 7, i - 3, i);
  }
  stow_window_desc window;
  stow_window_desc_init(&window);
  window.begin = 4;
  window.end = 5;
  window.high = 2;
  if (status == STOW_OK) {
    status = stow_problem_add_window(problem, &window, NULL);
  }
  stow_placement* placement = NULL;
  if (status == STOW_OK) {
    stow_place_options options = options_with(start, 300);
    status = stow_strategy_find(stow_str_of(user))
                 ->place(problem, &options, allocator, NULL, &placement);
  }
  stow_placement_destroy(placement);
  stow_problem_destroy(problem);
  return status;
}

TEST(FailingAllocationsAreReported) {
  CHECK(test_fault_sweep(attempt, "first-fit") > 10);
  CHECK(test_fault_sweep(attempt, "auto") > 20);
  CHECK(test_fault_sweep(attempt, "exact") > 20);
}
