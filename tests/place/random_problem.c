#include "random_problem.h"

#include <stdlib.h>

#include "place/api.h"
#include "support/fault.h"

random_shape random_shape_of(test_random* random, size_t max_count) {
  return (random_shape){.count = 1 + test_random_below(random, max_count),
                        .alignments = test_random_below(random, 2) == 0,
                        .guards = test_random_below(random, 2) == 0,
                        .fixed = test_random_below(random, 3) == 0,
                        .windows = test_random_below(random, 3) == 0};
}

static stow_buffer random_buffer(test_random* random, const random_shape* shape, uint64_t horizon) {
  stow_buffer desc;
  stow_buffer_init(&desc);
  desc.size = 1 + test_random_below(random, 40);
  desc.begin = test_random_below(random, horizon);
  desc.end = desc.begin + 1 + test_random_below(random, horizon - desc.begin);
  if (shape->alignments) {
    desc.alignment = UINT64_C(1) << test_random_below(random, 5);
  }
  if (shape->guards && test_random_below(random, 3) == 0) {
    desc.guard = test_random_below(random, 20);
  }
  return desc;
}

// Divides the lifetime into up to three windows, at least one of which occupies something.
static void add_windows(test_random* random, stow_problem* problem, const stow_buffer* desc) {
  uint64_t at = desc->begin;
  uint64_t footprint = desc->size + desc->guard;
  for (size_t i = 0; i < 3 && at + 1 < desc->end; ++i) {
    stow_window_desc window;
    stow_window_desc_init(&window);
    window.begin = at + test_random_below(random, desc->end - at - 1);
    window.end = window.begin + 1 + test_random_below(random, desc->end - 1 - window.begin);
    window.low = test_random_below(random, footprint + 1);
    window.high = window.low + test_random_below(random, footprint - window.low + 1);
    CHECK(stow_problem_add_window(problem, &window, NULL) == STOW_OK);
    at = window.end;
  }
}

static stow_problem* problem_of(test_random* random, const random_shape* shape,
                                const stow_placement* pins, stow_allocator allocator) {
  stow_problem* problem = NULL;
  if (stow_problem_create(allocator, NULL, &problem) != STOW_OK) {
    return NULL;
  }
  uint64_t horizon = 1 + test_random_below(random, 2 * shape->count);
  for (size_t i = 0; i < shape->count; ++i) {
    stow_buffer desc = random_buffer(random, shape, horizon);
    bool pinned = shape->fixed && test_random_below(random, 5) == 0;
    if (pinned && pins != NULL) {
      desc.fixed_offset = stow_placement_offset(pins, i);
    }
    if (stow_problem_add(problem, &desc, NULL, NULL) != STOW_OK) {
      stow_problem_destroy(problem);
      return NULL;
    }
    if (shape->windows && test_random_below(random, 3) == 0) {
      add_windows(random, problem, &desc);
    }
  }
  return problem;
}

// Fixed buffers are where best fit places them: so they cannot overlap.
stow_problem* random_problem(test_random* random, const random_shape* shape) {
  test_random start = *random;
  stow_problem* problem = problem_of(random, shape, NULL, stow_allocator_default());
  if (shape->fixed) {
    stow_placement* pins = place_and_check(problem, "best-fit", NULL);
    stow_problem_destroy(problem);
    *random = start;
    problem = problem_of(random, shape, pins, stow_allocator_default());
    stow_placement_destroy(pins);
  }
  return problem;
}

static bool is_right(const stow_problem* problem, const stow_placement* placement) {
  size_t count = stow_problem_count(problem);
  uint64_t* offsets = (uint64_t*)malloc((count + 1) * sizeof(uint64_t));
  stow_diag diag;
  stow_diag_init(&diag);
  for (size_t i = 0; i < count; ++i) {
    offsets[i] = stow_placement_offset(placement, i);
  }
  stow_status status =
      stow_placement_check(problem, offsets, count, stow_placement_height(placement),
                           stow_allocator_default(), &diag, NULL);
  free(offsets);
  return test_check(status == STOW_OK, __FILE__, __LINE__, "%s", diag.message) &&
         CHECK(stow_placement_height(placement) >= stowi_place_placement_bound(placement));
}

stow_placement* place_and_check(const stow_problem* problem, const char* strategy,
                                const stow_place_options* options) {
  stow_place_options defaults;
  stow_place_options_init(&defaults);
  defaults.nodes = 2000;
  stow_placement* placement = NULL;
  stow_status status = stow_strategy_find(stow_str_of(strategy))
                           ->place(problem, options != NULL ? options : &defaults,
                                   stow_allocator_default(), NULL, &placement);
  if (!CHECK(status == STOW_OK) || !is_right(problem, placement)) {
    stow_placement_destroy(placement);
    return NULL;
  }
  return placement;
}

uint64_t height_with(const stow_problem* problem, const char* strategy, uint64_t nodes) {
  stow_place_options options;
  stow_place_options_init(&options);
  options.nodes = nodes;
  stow_placement* placement = place_and_check(problem, strategy, &options);
  uint64_t height = placement == NULL ? 0 : stow_placement_height(placement);
  stow_placement_destroy(placement);
  return height;
}

// ---------------------------------------------------------------------------------------------
// What every strategy must be

static void check_is_the_same(const stow_problem* problem, const char* strategy,
                              const stow_placement* placement) {
  stow_placement* again = place_and_check(problem, strategy, NULL);
  if (again == NULL) {
    return;
  }
  bool same = stowi_place_placement_nodes(again) == stowi_place_placement_nodes(placement);
  for (size_t i = 0; i < stow_problem_count(problem); ++i) {
    same = same && stow_placement_offset(again, i) == stow_placement_offset(placement, i);
  }
  CHECK(same);
  stow_placement_destroy(again);
}

static void check_all_kinds(const char* strategy) {
  test_random random = {7};
  size_t cases = test_is_long() ? 5000 : 200;
  for (size_t i = 0; i < cases; ++i) {
    random_shape shape = random_shape_of(&random, i % 10 == 0 ? 120 : 30);
    stow_problem* problem = random_problem(&random, &shape);
    stow_placement* placement = place_and_check(problem, strategy, NULL);
    if (placement != NULL && i % 8 == 0) {
      check_is_the_same(problem, strategy, placement);
    }
    stow_placement_destroy(placement);
    stow_problem_destroy(problem);
  }
}

static void check_empty(const char* strategy) {
  stow_problem* problem = NULL;
  REQUIRE(stow_problem_create(stow_allocator_default(), NULL, &problem) == STOW_OK);
  stow_placement* placement = place_and_check(problem, strategy, NULL);
  REQUIRE(placement != NULL);
  CHECK_U64(stow_placement_height(placement), 0);
  CHECK(stow_placement_outcome(placement) == STOW_OUTCOME_OPTIMAL);
  stow_placement_destroy(placement);
  stow_problem_destroy(problem);
}

// A strategy stops at a capacity that its first pass reaches; one below the bound is refuted at
// once.
static void check_fits(const char* strategy) {
  test_random random = {19};
  random_shape shape = {.count = 60};
  stow_problem* problem = random_problem(&random, &shape);
  stow_place_options options;
  stow_place_options_init(&options);
  options.capacity = 60 * 40;
  stow_placement* placement = place_and_check(problem, strategy, &options);
  REQUIRE(placement != NULL);
  CHECK(stow_placement_outcome(placement) == STOW_OUTCOME_FEASIBLE ||
        stow_placement_outcome(placement) == STOW_OUTCOME_OPTIMAL);
  CHECK(stowi_place_placement_nodes(placement) <= 60);
  stow_placement_destroy(placement);
  options.capacity = 1;
  placement = place_and_check(problem, strategy, &options);
  REQUIRE(placement != NULL);
  CHECK(stow_placement_outcome(placement) == STOW_OUTCOME_INFEASIBLE);
  CHECK(stowi_place_placement_nodes(placement) <= 60);
  stow_placement_destroy(placement);
  stow_problem_destroy(problem);
}

static bool count_calls(void* user, const stow_place_progress* progress) {
  (void)progress;
  ++*(size_t*)user;
  return false;
}

// A first pass is always made; if the callback stops the search it is the last.
static void check_stops(const char* strategy) {
  test_random random = {11};
  random_shape shape = {.count = 200};
  stow_problem* problem = random_problem(&random, &shape);
  size_t calls = 0;
  stow_place_options options;
  stow_place_options_init(&options);
  options.on_progress = count_calls;
  options.user = &calls;
  stow_placement* placement = place_and_check(problem, strategy, &options);
  REQUIRE(placement != NULL);
  CHECK(stowi_place_placement_stopped(placement));
  CHECK_U64(calls, 1);
  CHECK(stowi_place_placement_nodes(placement) <= 200);
  stow_placement_destroy(placement);
  stow_problem_destroy(problem);
}

static void check_budget(const char* strategy) {
  test_random random = {13};
  random_shape shape = {.count = 100};
  stow_problem* problem = random_problem(&random, &shape);
  for (uint64_t nodes = 0; nodes < 1500; nodes += 50) {
    stow_place_options options;
    stow_place_options_init(&options);
    options.nodes = nodes;
    stow_placement* placement = place_and_check(problem, strategy, &options);
    REQUIRE(placement != NULL);
    CHECK(stowi_place_placement_nodes(placement) <= nodes + 100);
    stow_placement_destroy(placement);
  }
  stow_problem_destroy(problem);
}

static stow_status attempt(stow_allocator allocator, const char* strategy, bool plain) {
  test_random random = {17};
  random_shape shape = {.count = 12, .alignments = true, .guards = true, .windows = !plain};
  stow_problem* problem = problem_of(&random, &shape, NULL, stow_allocator_default());
  if (!plain) {
    stow_buffer desc;
    stow_buffer_init(&desc);
    desc.size = desc.end = 9;
    desc.fixed_offset = 64;
    CHECK(stow_problem_add(problem, &desc, NULL, NULL) == STOW_OK);
  }
  stow_place_options options;
  stow_place_options_init(&options);
  options.nodes = 100;
  stow_diag diag;
  stow_diag_init(&diag);
  stow_placement* placement = NULL;
  stow_status status = stow_strategy_find(stow_str_of(strategy))
                           ->place(problem, &options, allocator, &diag, &placement);
  CHECK(status == STOW_OK || (placement == NULL && diag.status == status));
  stow_placement_destroy(placement);
  stow_problem_destroy(problem);
  return status;
}

stow_status attempt_mixed(stow_allocator allocator, void* user) {
  return attempt(allocator, *(const char**)user, false);
}

stow_status attempt_plain(stow_allocator allocator, void* user) {
  return attempt(allocator, *(const char**)user, true);
}

void check_strategy(const char* strategy) {
  check_all_kinds(strategy);
  check_empty(strategy);
  check_fits(strategy);
  check_stops(strategy);
  check_budget(strategy);
  CHECK(test_fault_sweep(attempt_plain, &strategy) > 3);
  CHECK(test_fault_sweep(attempt_mixed, &strategy) > 3);
}
