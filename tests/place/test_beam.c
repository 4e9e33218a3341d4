// Beam search: correct placements, as low as brute force finds on nearly all small problems, and
// the same ones however the work is split.

#include <string.h>

#include "place/api.h"
#include "place/spread.h"
#include "random_problem.h"
#include "support/brute_place.h"
#include "support/fault.h"
#include "support/problem_families.h"

TEST(BeamMeetsTheContract) { check_strategy("beam"); }

static stow_place_options options_with(uint64_t nodes) {
  stow_place_options options;
  stow_place_options_init(&options);
  options.nodes = nodes;
  return options;
}

// Skyline passes come first and meet most optima; those that they miss are for the beams.
TEST(BeamsFindNearlyAllOptimaThatSkylinesMiss) {
  uint64_t seeds = test_is_long() ? 20000 : 1500;
  size_t missed = 0;
  size_t found = 0;
  for (uint64_t seed = 0; seed < seeds; ++seed) {
    unsigned kinds = TINY_FULL | (seed % 2 == 0 ? TINY_GUARDS : 0);
    stow_problem* problem = tiny_problem_make(seed, kinds);
    uint64_t optimum = brute_height(problem);
    stow_place_options options = options_with(20000);
    stow_placement* placement = place_and_check(problem, "beam", &options);
    REQUIRE(placement != NULL);
    CHECK(stow_placement_height(placement) >= optimum);
    if (height_with(problem, "skyline", 0) > optimum) {
      missed += 1;
      found += stow_placement_height(placement) == optimum;
    }
    stow_placement_destroy(placement);
    stow_problem_destroy(problem);
  }
  CHECK(missed > seeds / 20);
  test_check(found * 100 >= missed * 97, __FILE__, __LINE__, "%zu of %zu", found, missed);
}

// Solid blocks cut into pieces, of which some are left out: dense, and not quite tight.
TEST(BeamsAreLowerThanSkylines) {
  size_t lower = 0;
  for (uint64_t seed = 0; seed < 6; ++seed) {
    stow_problem* block = problem_family_make(problem_family_find("tiled"), seed, 150, NULL);
    stow_problem* problem = NULL;
    CHECK(stow_problem_create(stow_allocator_default(), NULL, &problem) == STOW_OK);
    for (size_t i = 0; i < stow_problem_count(block); ++i) {
      stow_buffer desc = {.struct_size = sizeof(desc)};
      stow_problem_describe_buffer(block, i, &desc);
      if (i % 8 != 0) {
        CHECK(stow_problem_add(problem, &desc, NULL, NULL) == STOW_OK);
      }
    }
    uint64_t skyline = height_with(problem, "skyline", 400000);
    uint64_t beam = height_with(problem, "beam", 400000);
    CHECK(beam <= skyline);
    lower += beam < skyline;
    stow_problem_destroy(problem);
    stow_problem_destroy(block);
  }
  CHECK(lower == 6);
}

// ---------------------------------------------------------------------------------------------
// Splitters

// Gives single items to its workers, the last items first; while it does, nothing may be allocated.
typedef struct odd_pool {
  uint32_t workers;
  size_t calls;
  bool is_splitting;
  bool has_allocated;
} odd_pool;

static void split_oddly(void* pool, size_t count, size_t grain, stow_split_task task, void* user) {
  odd_pool* p = pool;
  (void)grain;
  p->calls += 1;
  p->is_splitting = true;
  for (size_t i = count; i > 0; --i) {
    task(user, i - 1, i, (uint32_t)(i % p->workers));
  }
  p->is_splitting = false;
}

static void* note_allocation(void* user, void* block, size_t old_size, size_t new_size,
                             size_t alignment) {
  odd_pool* p = user;
  stow_allocator heap = stow_allocator_default();
  p->has_allocated = p->has_allocated || p->is_splitting;
  return heap.reallocate(heap.user, block, old_size, new_size, alignment);
}

TEST(ASplitterChangesNothingAndItsTasksAllocateNothing) {
  static const char* const names[] = {"long", "tiled"};
  size_t calls = 0;
  for (size_t f = 0; f < sizeof(names) / sizeof(names[0]); ++f) {
    stow_problem* problem = problem_family_make(problem_family_find(names[f]), 2, 150, NULL);
    stow_place_options options = options_with(400000);
    stow_placement* alone = place_and_check(problem, "beam", &options);
    REQUIRE(alone != NULL);
    for (uint32_t workers = 1; workers <= 5; workers += 2) {
      odd_pool pool = {.workers = workers};
      stow_allocator allocator = {note_allocation, &pool};
      stow_placement* together = NULL;
      options.splitter = (stow_splitter){split_oddly, &pool};
      options.workers = workers;
      CHECK(stow_strategy_find(stow_str_of("beam"))
                ->place(problem, &options, allocator, NULL, &together) == STOW_OK);
      CHECK_U64(stowi_place_placement_nodes(together), stowi_place_placement_nodes(alone));
      for (size_t i = 0; i < stow_problem_count(problem); ++i) {
        CHECK_U64(stow_placement_offset(together, i), stow_placement_offset(alone, i));
      }
      CHECK(!pool.has_allocated);
      calls += pool.calls;
      stow_placement_destroy(together);
    }
    stow_placement_destroy(alone);
    stow_problem_destroy(problem);
  }
  CHECK(calls > 0);
}

// ---------------------------------------------------------------------------------------------

TEST(LubysSequenceBeginsAsPublished) {
  static const uint64_t first[] = {1, 1, 2, 1, 1, 2, 4, 1, 1, 2, 1, 1, 2, 4, 8, 1};
  for (size_t i = 0; i < sizeof(first) / sizeof(first[0]); ++i) {
    CHECK_U64(stowi_place_luby(i + 1), first[i]);
  }
}

TEST(SpreadCoversAllNumbersAndPrefersSmallOnes) {
  for (uint64_t count = 1; count < 40; ++count) {
    uint64_t point = 0;
    uint64_t seen[40] = {0};
    for (size_t i = 0; i < 4000; ++i) {
      uint64_t number = stowi_place_spread(&point, count);
      REQUIRE(number < count);
      seen[number] += 1;
    }
    for (uint64_t i = 0; i < count; ++i) {
      CHECK(seen[i] > 0);
    }
    CHECK(seen[0] * 10 >= seen[count - 1]);
  }
  uint64_t point = 5;
  CHECK(stowi_place_spread(&point, UINT64_MAX) < UINT64_MAX);
}
