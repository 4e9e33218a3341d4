// Explanations against brute force: the set does not fit, and without any one member it does.
#include <stowage/place.h>
#include <string.h>

#include "support/brute_place.h"
#include "support/fault.h"
#include "support/problem_families.h"
#include "support/test.h"

static stow_place_options options_of(uint64_t capacity, uint64_t nodes) {
  stow_place_options options;
  stow_place_options_init(&options);
  options.capacity = capacity;
  options.nodes = nodes;
  return options;
}

static bool is_fixed(const stow_problem* problem, size_t buffer) {
  stow_buffer desc = {.struct_size = sizeof(desc)};
  stow_problem_describe_buffer(problem, buffer, &desc);
  return desc.fixed_offset != STOW_PLACE_ANYWHERE;
}

static uint64_t bit(size_t buffer) { return UINT64_C(1) << buffer; }

// Fixed buffers are in the way whether they are in the set or not.
static uint64_t fixed_ones(const stow_problem* problem) {
  uint64_t members = 0;
  for (size_t i = 0; i < stow_problem_count(problem); ++i) {
    members |= is_fixed(problem, i) ? bit(i) : 0;
  }
  return members;
}

static uint64_t members_of(const stow_problem* problem, const stow_explanation* explanation) {
  uint64_t members = 0;
  for (size_t i = 0; i < explanation->count; ++i) {
    CHECK(explanation->buffers[i] < stow_problem_count(problem));
    CHECK(i == 0 || explanation->buffers[i - 1] < explanation->buffers[i]);
    members |= bit(explanation->buffers[i]);
  }
  return members;
}

// A fixed member is needed only where it ends above the capacity itself: dropping it from the set
// does not take it out of the way.
static void check_needed(const stow_problem* problem, uint64_t present, size_t buffer,
                         uint64_t capacity) {
  if (is_fixed(problem, buffer)) {
    CHECK(!brute_fits(problem, bit(buffer), capacity));
  } else {
    CHECK(brute_fits(problem, present & ~bit(buffer), capacity));
  }
}

static void check_explanation(const stow_problem* problem, const stow_explanation* explanation,
                              uint64_t capacity) {
  uint64_t present = members_of(problem, explanation) | fixed_ones(problem);
  CHECK(explanation->count > 0);
  CHECK(!brute_fits(problem, present, capacity));
  for (size_t i = 0; i < explanation->count && explanation->irreducible; ++i) {
    check_needed(problem, present, explanation->buffers[i], capacity);
  }
}

static stow_status explain(const stow_problem* problem, uint64_t capacity, uint64_t nodes,
                           stow_explanation* out_explanation) {
  stow_place_options options = options_of(capacity, nodes);
  return stow_place_explain(problem, &options, stow_allocator_default(), NULL, out_explanation);
}

static void explain_tiny(const stow_problem* problem, uint64_t capacity) {
  stow_explanation explanation = {.struct_size = sizeof(explanation)};
  if (CHECK(explain(problem, capacity, STOW_PLACE_DEFAULT_NODES, &explanation) == STOW_OK)) {
    CHECK(explanation.irreducible);
    check_explanation(problem, &explanation, capacity);
    stow_explanation_free(&explanation, stow_allocator_default());
  }
}

TEST(ExplanationsDoNotFitAndNoMemberCanBeDropped) {
  uint64_t seeds = test_is_long() ? 300 : 15;
  for (uint64_t seed = 0; seed < seeds; ++seed) {
    for (unsigned kinds = 0; kinds < TINY_KINDS; ++kinds) {
      stow_problem* problem = tiny_problem_make(seed, kinds);
      uint64_t optimum = brute_height(problem);
      explain_tiny(problem, optimum - 1);
      explain_tiny(problem, optimum / 2);
      explain_tiny(problem, 0);
      stow_problem_destroy(problem);
    }
  }
}

// No load is above the capacity, so only a search can decide.
TEST(SetsThatOnlyASearchRefutesAreExplained) {
  size_t found = 0;
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    stow_problem* problem = tiny_problem_make(seed, TINY_FULL);
    stow_load load = {.struct_size = sizeof(load)};
    CHECK(stow_problem_load(problem, stow_allocator_default(), NULL, &load) == STOW_OK);
    uint64_t optimum = brute_height(problem);
    if (optimum > load.lower_bound) {
      found += 1;
      explain_tiny(problem, optimum - 1);
    }
    stow_problem_destroy(problem);
  }
  CHECK(found > 5);
}

TEST(FittingProblemsHaveNoExplanation) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    stow_problem* problem = tiny_problem_make(seed, (unsigned)seed % TINY_KINDS);
    stow_explanation explanation = {.struct_size = sizeof(explanation)};
    uint64_t optimum = brute_height(problem);
    CHECK(explain(problem, optimum, STOW_PLACE_DEFAULT_NODES, &explanation) == STOW_ERR_NOT_FOUND);
    CHECK(explanation.buffers == NULL && explanation.count == 0);
    stow_explanation_free(&explanation, stow_allocator_default());
    stow_problem_destroy(problem);
  }
}

TEST(AQuestionWithoutCapacityIsRefused) {
  stow_problem* problem = tiny_problem_make(1, 0);
  stow_explanation explanation = {.struct_size = sizeof(explanation)};
  CHECK(explain(problem, STOW_PLACE_SMALLEST, 1000, &explanation) == STOW_ERR_INVALID_ARGUMENT);
  CHECK(explanation.buffers == NULL && explanation.count == 0);
  stow_problem_destroy(problem);
}

TEST(SmallBudgetsAreReported) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    stow_problem* problem = tiny_problem_make(seed, TINY_FULL | (unsigned)seed % TINY_FULL);
    uint64_t capacity = brute_height(problem) - 1;
    for (uint64_t nodes = 0; nodes < 100; nodes = nodes * 4 + 1) {
      stow_explanation explanation = {.struct_size = sizeof(explanation)};
      stow_status status = explain(problem, capacity, nodes, &explanation);
      CHECK(status == STOW_OK || status == STOW_ERR_GAVE_UP);
      if (status == STOW_OK) {
        check_explanation(problem, &explanation, capacity);
      }
      stow_explanation_free(&explanation, stow_allocator_default());
    }
    stow_problem_destroy(problem);
  }
}

// The members but |left_out| as a problem of their own, or all with STOW_BUFFER_NONE.
static bool members_fit(const stow_problem* problem, const stow_explanation* explanation,
                        size_t left_out, uint64_t capacity) {
  stow_problem* part = NULL;
  stow_placement* placement = NULL;
  stow_place_options options = options_of(capacity, STOW_PLACE_DEFAULT_NODES);
  CHECK(stow_problem_create(stow_allocator_default(), NULL, &part) == STOW_OK);
  for (size_t i = 0; i < explanation->count; ++i) {
    stow_buffer desc = {.struct_size = sizeof(desc)};
    stow_problem_describe_buffer(problem, explanation->buffers[i], &desc);
    if (i != left_out) {
      CHECK(stow_problem_add(part, &desc, NULL, NULL) == STOW_OK);
    }
  }
  CHECK(stow_place_auto(part, &options, stow_allocator_default(), NULL, &placement) == STOW_OK);
  stow_outcome outcome = stow_placement_outcome(placement);
  CHECK(outcome != STOW_OUTCOME_GAVE_UP);
  stow_placement_destroy(placement);
  stow_problem_destroy(part);
  return outcome != STOW_OUTCOME_INFEASIBLE;
}

TEST(LargerSetsAreIrreducibleToo) {
  uint64_t optimum;
  stow_problem* problem = problem_family_make(problem_family_find("tiled"), 4, 60, &optimum);
  stow_explanation explanation = {.struct_size = sizeof(explanation)};
  REQUIRE(explain(problem, optimum - 1, STOW_PLACE_DEFAULT_NODES, &explanation) == STOW_OK);
  CHECK(explanation.irreducible);
  CHECK(!members_fit(problem, &explanation, STOW_BUFFER_NONE, optimum - 1));
  for (size_t i = 0; i < explanation.count; ++i) {
    CHECK(members_fit(problem, &explanation, i, optimum - 1));
  }
  stow_explanation_free(&explanation, stow_allocator_default());
  stow_problem_destroy(problem);
}

static bool stop_at_last(void* user, const stow_place_progress* progress) {
  (void)progress;
  return --*(uint64_t*)user > 0;
}

TEST(AStoppedExplanationSearchesNoFurther) {
  uint64_t optimum;
  stow_problem* problem = problem_family_make(problem_family_find("tiled"), 4, 60, &optimum);
  for (uint64_t calls = 1; calls <= 4; ++calls) {
    uint64_t calls_left = calls;
    stow_place_options options = options_of(optimum - 1, STOW_PLACE_DEFAULT_NODES);
    options.on_progress = stop_at_last;
    options.user = &calls_left;
    stow_explanation explanation = {.struct_size = sizeof(explanation)};
    REQUIRE(stow_place_explain(problem, &options, stow_allocator_default(), NULL, &explanation) ==
            STOW_OK);
    CHECK_U64(calls_left, 0);
    CHECK(!members_fit(problem, &explanation, STOW_BUFFER_NONE, optimum - 1));
    stow_explanation_free(&explanation, stow_allocator_default());
  }
  stow_problem_destroy(problem);
}

// One step's load determines which to keep: the budget is spent on showing that none can be
// dropped.
TEST(TheLoadOfAStepIsExplainedWithoutASearch) {
  enum { COUNT = 2000 };
  stow_problem* problem = NULL;
  REQUIRE(stow_problem_create(stow_allocator_default(), NULL, &problem) == STOW_OK);
  for (size_t i = 0; i < COUNT; ++i) {
    stow_buffer desc;
    stow_buffer_init(&desc);
    desc.size = 1 + i;
    desc.begin = i % 2;
    desc.end = 2;
    CHECK(stow_problem_add(problem, &desc, NULL, NULL) == STOW_OK);
  }
  stow_explanation explanation = {.struct_size = sizeof(explanation)};
  REQUIRE(explain(problem, COUNT * 3, 0, &explanation) == STOW_OK);
  CHECK_U64(explanation.count, 4);
  CHECK(!members_fit(problem, &explanation, STOW_BUFFER_NONE, COUNT * 3));
  stow_explanation_free(&explanation, stow_allocator_default());
  stow_problem_destroy(problem);
}

static stow_status explain_once(stow_allocator allocator, void* user) {
  const stow_problem* problem = (const stow_problem*)user;
  stow_place_options options = options_of(brute_height(problem) - 1, 10000);
  stow_explanation explanation = {.struct_size = sizeof(explanation)};
  stow_diag diag;
  stow_diag_init(&diag);
  stow_status status = stow_place_explain(problem, &options, allocator, &diag, &explanation);
  CHECK(status == STOW_OK || (explanation.buffers == NULL && explanation.count == 0));
  stow_explanation_free(&explanation, allocator);
  return status;
}

TEST(ExplainingSurvivesEveryFailedAllocation) {
  for (unsigned kinds = 0; kinds < TINY_KINDS; kinds += 5) {
    stow_problem* problem = tiny_problem_make(2, kinds);
    CHECK(test_fault_sweep(explain_once, problem) > 0);
    stow_problem_destroy(problem);
  }
}
