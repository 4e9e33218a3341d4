// Sections keep exactly one fact about time: which buffers are live together.
#include "place/sections.h"
#include "support/fault.h"
#include "support/test.h"

static void add(stow_problem* problem, uint64_t begin, uint64_t end) {
  stow_buffer desc;
  stow_buffer_init(&desc);
  desc.size = 1;
  desc.begin = begin;
  desc.end = end;
  CHECK(stow_problem_add(problem, &desc, NULL, NULL) == STOW_OK);
}

static void check_sections(const stow_problem* problem) {
  stow_allocator allocator = stow_allocator_default();
  stowi_place_sections sections;
  CHECK(stowi_place_sections_make(problem, allocator, &sections) == STOW_OK);
  size_t count = stow_problem_count(problem);
  CHECK(sections.count <= count);
  for (size_t i = 0; i < count; ++i) {
    CHECK(sections.begin[i] < sections.end[i] && sections.end[i] <= sections.count);
    for (size_t j = 0; j < i; ++j) {
      const stowi_place_buffer* a = &problem->buffers.data[i];
      const stowi_place_buffer* b = &problem->buffers.data[j];
      bool share = sections.begin[i] < sections.end[j] && sections.begin[j] < sections.end[i];
      CHECK(share == (a->begin < b->end && b->begin < a->end));
      CHECK(share == stowi_place_together((stowi_place_life){a->begin, a->end},
                                          (stowi_place_life){b->begin, b->end}));
    }
  }
  stowi_place_sections_free(&sections, problem, allocator);
}

TEST(BuffersShareASectionIfLiveTogether) {
  test_random random = {31};
  int cases = test_is_long() ? 20000 : 1000;
  for (int k = 0; k < cases; ++k) {
    stow_problem* problem = NULL;
    REQUIRE(stow_problem_create(stow_allocator_default(), NULL, &problem) == STOW_OK);
    uint64_t horizon = 1 + test_random_below(&random, 60);
    size_t count = (size_t)test_random_below(&random, 40);
    bool in_order = test_random_below(&random, 2) == 0;
    uint64_t begin = 0;
    for (size_t i = 0; i < count; ++i) {
      begin =
          in_order ? begin + test_random_below(&random, 3) : test_random_below(&random, horizon);
      add(problem, begin, begin + 1 + test_random_below(&random, horizon));
    }
    check_sections(problem);
    stow_problem_destroy(problem);
  }
}

static uint32_t section_count(const stow_problem* problem) {
  stowi_place_sections sections;
  CHECK(stowi_place_sections_make(problem, stow_allocator_default(), &sections) == STOW_OK);
  uint32_t count = sections.count;
  stowi_place_sections_free(&sections, problem, stow_allocator_default());
  return count;
}

TEST(LifetimesThatEndTogetherOrNestMakeOneSection) {
  stow_problem* suffixes = NULL;
  stow_problem* nested = NULL;
  REQUIRE(stow_problem_create(stow_allocator_default(), NULL, &suffixes) == STOW_OK);
  REQUIRE(stow_problem_create(stow_allocator_default(), NULL, &nested) == STOW_OK);
  CHECK_U64(section_count(suffixes), 0);
  for (uint64_t i = 0; i < 500; ++i) {
    add(suffixes, i, 500);
    add(nested, i, 1000 - i);
  }
  CHECK_U64(section_count(suffixes), 1);
  CHECK_U64(section_count(nested), 1);
  add(suffixes, 500, 501);  // touches none of them
  CHECK_U64(section_count(suffixes), 2);
  stow_problem_destroy(suffixes);
  stow_problem_destroy(nested);
}

static stow_status make(stow_allocator allocator, void* user) {
  const stow_problem* problem = (const stow_problem*)user;
  stowi_place_sections sections;
  stow_status status = stowi_place_sections_make(problem, allocator, &sections);
  stowi_place_sections_free(&sections, problem, allocator);
  return status;
}

TEST(EveryFailedAllocationIsReported) {
  stow_problem* problem = NULL;
  REQUIRE(stow_problem_create(stow_allocator_default(), NULL, &problem) == STOW_OK);
  for (uint64_t i = 0; i < 30; ++i) {
    add(problem, 30 - i, 31 + i * 7 % 30);
  }
  CHECK(test_fault_sweep(make, problem) >= 5);
  stow_problem_destroy(problem);
}
