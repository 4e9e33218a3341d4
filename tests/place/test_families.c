// Tests of the generators and the oracle that other tests rely on: problems are as described, and
// brute force is correct where the answer is known.
#include <stowage/place.h>

#include "support/brute_place.h"
#include "support/problem_families.h"
#include "support/test.h"

static stow_load load_of(const stow_problem* problem) {
  stow_load load = {.struct_size = sizeof(load)};
  CHECK(stow_problem_load(problem, stow_allocator_default(), NULL, &load) == STOW_OK);
  return load;
}

static bool is_same(const stow_problem* a, const stow_problem* b) {
  bool same = stow_problem_count(a) == stow_problem_count(b);
  for (size_t i = 0; i < stow_problem_count(a) && same; ++i) {
    stow_buffer x = {.struct_size = sizeof(x)};
    stow_buffer y = {.struct_size = sizeof(y)};
    stow_problem_describe_buffer(a, i, &x);
    stow_problem_describe_buffer(b, i, &y);
    same = x.size == y.size && x.begin == y.begin && x.end == y.end;
  }
  return same;
}

TEST(FamiliesAreFoundByName) {
  for (size_t i = 0; i < problem_family_count; ++i) {
    CHECK(problem_family_find(problem_families[i].name) == &problem_families[i]);
  }
  CHECK(problem_family_find("none such") == NULL);
}

TEST(FamiliesGiveTheRequestedNumberOfBuffers) {
  for (size_t i = 0; i < problem_family_count; ++i) {
    for (size_t count = 1; count <= 3000; count = count * 3 + 1) {
      stow_problem* problem = problem_family_make(&problem_families[i], 5, count, NULL);
      CHECK_U64(stow_problem_count(problem), count);
      stow_problem_destroy(problem);
    }
  }
}

TEST(TheSeedDecidesTheProblem) {
  for (size_t i = 0; i < problem_family_count; ++i) {
    stow_problem* first = problem_family_make(&problem_families[i], 1, 100, NULL);
    stow_problem* again = problem_family_make(&problem_families[i], 1, 100, NULL);
    stow_problem* other = problem_family_make(&problem_families[i], 2, 100, NULL);
    CHECK(is_same(first, again));
    test_check(!is_same(first, other), __FILE__, __LINE__, "%s ignores its seed",
               problem_families[i].name);
    stow_problem_destroy(first);
    stow_problem_destroy(again);
    stow_problem_destroy(other);
  }
}

// For these three the highest load is reached; anything else would be a mistake in them.
TEST(KnownOptimaAreTheHighestLoad) {
  for (size_t i = 0; i < problem_family_count; ++i) {
    for (uint64_t seed = 0; seed < 20; ++seed) {
      uint64_t optimum;
      stow_problem* problem = problem_family_make(&problem_families[i], seed, 77, &optimum);
      CHECK(problem_families[i].optimum_known == (optimum != OPTIMUM_UNKNOWN));
      if (optimum != OPTIMUM_UNKNOWN) {
        CHECK_U64(optimum, load_of(problem).bytes);
      }
      stow_problem_destroy(problem);
    }
  }
}

TEST(TiledProblemsLeaveNoByteFree) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    uint64_t optimum;
    uint64_t area = 0;
    uint64_t last = 0;
    stow_problem* problem =
        problem_family_make(problem_family_find("tiled"), seed, 20 + seed * 11, &optimum);
    for (size_t i = 0; i < stow_problem_count(problem); ++i) {
      stow_buffer desc = {.struct_size = sizeof(desc)};
      stow_problem_describe_buffer(problem, i, &desc);
      area += desc.size * (desc.end - desc.begin);
      last = desc.end > last ? desc.end : last;
    }
    CHECK_U64(area, optimum * last);
    stow_problem_destroy(problem);
  }
}

TEST(ThreeInTenGapsAreInTheMiddleOfALife) {
  size_t gaps = 0;
  stow_problem* problem = problem_family_make(problem_family_find("gaps"), 0, 1000, NULL);
  for (size_t i = 0; i < stow_problem_count(problem); ++i) {
    stow_buffer desc = {.struct_size = sizeof(desc)};
    stow_window_desc gap = {.struct_size = sizeof(gap)};
    stow_problem_describe_buffer(problem, i, &desc);
    if (stow_problem_describe_window(problem, i, 0, &gap) == STOW_OK) {
      CHECK(stow_problem_window_count(problem, i) == 1 && gap.low == gap.high);
      CHECK(gap.begin > desc.begin && gap.begin - desc.begin == desc.end - gap.end);
      ++gaps;
    }
  }
  CHECK(gaps > 250 && gaps < 350);
  stow_problem_destroy(problem);
}

// At the second step of every fourth; what is born in the last one may be cut off.
TEST(AllBurstsReachTheSameLoad) {
  stow_problem* problem = problem_family_make(problem_family_find("burst"), 0, 1000, NULL);
  uint64_t most = load_of(problem).bytes;
  uint64_t last = 0;
  for (size_t i = 0; i < stow_problem_count(problem); ++i) {
    stow_buffer desc = {.struct_size = sizeof(desc)};
    stow_problem_describe_buffer(problem, i, &desc);
    CHECK(desc.begin % 4 < 2 && desc.end - desc.begin <= 8);
    last = desc.begin / 4;
  }
  CHECK(last > 20);
  for (uint64_t burst = 0; burst < last; ++burst) {
    uint64_t bytes = 0;
    for (size_t i = 0; i < stow_problem_count(problem); ++i) {
      stow_buffer desc = {.struct_size = sizeof(desc)};
      stow_problem_describe_buffer(problem, i, &desc);
      bytes += desc.begin <= burst * 4 + 1 && burst * 4 + 1 < desc.end ? desc.size : 0;
    }
    CHECK_U64(bytes, most);
  }
  stow_problem_destroy(problem);
}

// ---------------------------------------------------------------------------------------------
// Brute force

static stow_problem* empty_problem(void) {
  stow_problem* problem = NULL;
  CHECK(stow_problem_create(stow_allocator_default(), NULL, &problem) == STOW_OK);
  return problem;
}

static void add(stow_problem* problem, uint64_t size, uint64_t begin, uint64_t end,
                uint64_t alignment, uint64_t fixed) {
  stow_buffer desc;
  stow_buffer_init(&desc);
  desc.size = size;
  desc.begin = begin;
  desc.end = end;
  desc.alignment = alignment;
  desc.fixed_offset = fixed;
  CHECK(stow_problem_add(problem, &desc, NULL, NULL) == STOW_OK);
}

static void add_window(stow_problem* problem, uint64_t begin, uint64_t end, uint64_t low,
                       uint64_t high) {
  stow_window_desc desc;
  stow_window_desc_init(&desc);
  desc.begin = begin;
  desc.end = end;
  desc.low = low;
  desc.high = high;
  CHECK(stow_problem_add_window(problem, &desc, NULL) == STOW_OK);
}

TEST(AnEmptyProblemHasHeightZero) {
  stow_problem* problem = empty_problem();
  CHECK_U64(brute_height(problem), 0);
  CHECK(brute_fits(problem, BRUTE_ALL, 0));
  stow_problem_destroy(problem);
}

TEST(BruteForceCountsAlignments) {
  stow_problem* problem = empty_problem();
  add(problem, 3, 0, 2, 4, STOW_PLACE_ANYWHERE);
  add(problem, 3, 0, 2, 4, STOW_PLACE_ANYWHERE);
  CHECK_U64(brute_height(problem), 7);
  CHECK(!brute_fits(problem, BRUTE_ALL, 6));
  CHECK(brute_fits(problem, 1, 3) && brute_fits(problem, 2, 3));
  stow_problem_destroy(problem);
}

TEST(BruteForceKeepsFixedBuffers) {
  stow_problem* problem = empty_problem();
  add(problem, 2, 0, 2, 1, 3);
  add(problem, 4, 1, 3, 1, STOW_PLACE_ANYWHERE);
  CHECK_U64(brute_height(problem), 9);
  add(problem, 2, 0, 1, 1, 4);
  CHECK(!brute_fits(problem, BRUTE_ALL, 100));
  CHECK(brute_fits(problem, 1 | 2, 9));
  stow_problem_destroy(problem);
}

// A buffer of 5 with a gap holds another of 5 in it; with a window of [1, 3) only one of 2.
TEST(BruteForceUsesWindows) {
  stow_problem* problem = empty_problem();
  add(problem, 5, 0, 6, 1, STOW_PLACE_ANYWHERE);
  add_window(problem, 2, 3, 0, 0);
  add_window(problem, 4, 5, 1, 3);
  add(problem, 5, 2, 3, 1, STOW_PLACE_ANYWHERE);
  CHECK_U64(brute_height(problem), 5);
  add(problem, 2, 4, 5, 1, STOW_PLACE_ANYWHERE);
  CHECK_U64(brute_height(problem), 5);
  add(problem, 1, 4, 5, 1, STOW_PLACE_ANYWHERE);
  CHECK_U64(brute_height(problem), 5);
  add(problem, 1, 4, 5, 1, STOW_PLACE_ANYWHERE);
  CHECK_U64(brute_height(problem), 6);
  stow_problem_destroy(problem);
}

TEST(BruteForceReportsItsHeight) {
  for (uint64_t seed = 0; seed < 40; ++seed) {
    for (unsigned kinds = 0; kinds < TINY_KINDS; ++kinds) {
      stow_problem* problem = tiny_problem_make(seed, kinds);
      uint64_t height = brute_height(problem);
      CHECK(brute_fits(problem, BRUTE_ALL, height + 1));
      CHECK(height == 0 || !brute_fits(problem, BRUTE_ALL, height - 1));
      stow_problem_destroy(problem);
    }
  }
}

// Otherwise tests against brute force would test nothing but the load.
TEST(SomeTinyProblemsAreHigherThanTheirLoad) {
  size_t above = 0;
  for (uint64_t seed = 0; seed < 1000; ++seed) {
    stow_problem* problem = tiny_problem_make(seed, TINY_FULL);
    uint64_t height = brute_height(problem);
    CHECK(height >= load_of(problem).lower_bound);
    above += height > load_of(problem).lower_bound;
    stow_problem_destroy(problem);
  }
  CHECK(above > 0);
}
