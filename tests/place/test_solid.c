// Merging buffers to blocks loses nothing: what fits within the capacity afterwards is what fitted
// before, by brute force, also where nothing does.
#include <stowage/place.h>

#include "place/exact/solid.h"
#include "support/brute_place.h"
#include "support/fault.h"
#include "support/problem_families.h"
#include "support/test.h"

#define STEPS 12
#define MOST BRUTE_MAX_BUFFERS  // buffers, for brute force

static stow_problem* new_problem(void) {
  stow_problem* problem = NULL;
  CHECK(stow_problem_create(stow_allocator_default(), NULL, &problem) == STOW_OK);
  return problem;
}

static void add(stow_problem* problem, uint64_t size, uint64_t begin, uint64_t end) {
  stow_buffer desc;
  stow_buffer_init(&desc);
  desc.size = size;
  desc.begin = begin;
  desc.end = end;
  CHECK(stow_problem_add(problem, &desc, NULL, NULL) == STOW_OK);
}

// ---------------------------------------------------------------------------------------------
// Random problems that are full at most steps

typedef struct live {
  uint64_t size;
  uint64_t begin;
} live;

typedef struct maker {
  test_random* random;
  stow_problem* problem;
  live lives[MOST];
  size_t live_count;
  size_t left;  // buffers that may still be born
} maker;

static void kill(maker* m, size_t i, uint64_t step) {
  add(m->problem, m->lives[i].size, m->lives[i].begin, step);
  m->lives[i] = m->lives[--m->live_count];
}

// What is born takes the bytes that are free, or nearly all. At first it is many small ones: if
// those that die together are apart, what is born next does not fit.
static void fill(maker* m, uint64_t free, uint64_t step) {
  free -= free > 1 && test_random_below(m->random, 12) == 0;
  while (free > 0 && m->left > 0) {
    bool is_last = m->left == 1 || test_random_below(m->random, step == 0 ? 6 : 2) == 0;
    uint64_t most = step == 0 ? free / 3 + 1 : free;
    uint64_t size = is_last ? free : 1 + test_random_below(m->random, most);
    m->lives[m->live_count++] = (live){size, step};
    m->left -= 1;
    free -= size;
  }
}

static stow_problem* random_problem(uint64_t seed, uint64_t capacity) {
  test_random random = {seed};
  maker m = {.random = &random, .problem = new_problem(), .left = MOST};
  fill(&m, capacity, 0);
  for (uint64_t step = 1; step < STEPS && m.left > 0; ++step) {
    uint64_t used = 0;
    for (size_t i = m.live_count; i > 0; --i) {
      if (test_random_below(&random, 3) == 0) {
        kill(&m, i - 1, step);
      }
    }
    for (size_t i = 0; i < m.live_count; ++i) {
      used += m.lives[i].size;
    }
    fill(&m, capacity - used, step);
  }
  while (m.live_count > 0) {
    kill(&m, 0, STEPS);
  }
  return m.problem;
}

static void check_expansion(const stow_problem* problem, const stowi_place_solid* solid,
                            uint64_t capacity) {
  const stow_problem* blocks = stowi_place_solid_problem(solid);
  uint64_t offsets[MOST];
  uint64_t expanded[MOST];
  stow_placement* placement = NULL;
  stow_place_options options;
  stow_place_options_init(&options);
  options.capacity = capacity;
  CHECK(stow_strategy_find(stow_str_of("exact"))
            ->place(blocks, &options, stow_allocator_default(), NULL, &placement) == STOW_OK);
  for (size_t i = 0; i < stow_problem_count(blocks); ++i) {
    offsets[i] = stow_placement_offset(placement, i);
  }
  stowi_place_solid_expand(solid, offsets, expanded);
  CHECK(stow_placement_check(problem, expanded, stow_problem_count(problem), capacity,
                             stow_allocator_default(), NULL, NULL) == STOW_OK);
  stow_placement_destroy(placement);
}

TEST(BlocksFitExactlyWhereTheirMembersDo) {
  uint64_t seeds = test_is_long() ? 1000000 : 20000;
  uint64_t merged = 0;
  uint64_t refuted = 0;
  for (uint64_t seed = 0; seed < seeds; ++seed) {
    uint64_t capacity = 4 + seed % 13;
    stow_problem* problem = random_problem(seed, capacity);
    stowi_place_solid* solid = NULL;
    CHECK(stowi_place_solid_create(problem, capacity, stow_allocator_default(), NULL, &solid) ==
          STOW_OK);
    if (solid != NULL) {
      bool fits = brute_fits(problem, BRUTE_ALL, capacity);
      test_check(brute_fits(stowi_place_solid_problem(solid), BRUTE_ALL, capacity) == fits,
                 __FILE__, __LINE__, "seed %llu", (unsigned long long)seed);
      merged += 1;
      refuted += !fits;
      if (fits) {
        check_expansion(problem, solid, capacity);
      }
    }
    stowi_place_solid_destroy(solid);
    stow_problem_destroy(problem);
  }
  CHECK(merged > seeds / 2);
  CHECK(refuted > seeds / 400);
}

// ---------------------------------------------------------------------------------------------
// What is merged

static size_t count_blocks(const stow_problem* problem, uint64_t capacity) {
  stowi_place_solid* solid = NULL;
  CHECK(stowi_place_solid_create(problem, capacity, stow_allocator_default(), NULL, &solid) ==
        STOW_OK);
  size_t count = solid == NULL ? stow_problem_count(problem)
                               : stow_problem_count(stowi_place_solid_problem(solid));
  stowi_place_solid_destroy(solid);
  return count;
}

// Four around a fifth, as in the picture in solid.c.
static stow_problem* pinwheel(void) {
  stow_problem* problem = new_problem();
  add(problem, 5, 0, 1);
  add(problem, 2, 1, 3);
  add(problem, 3, 1, 2);
  add(problem, 4, 0, 2);
  add(problem, 7, 2, 3);
  return problem;
}

TEST(APinwheelIsOneBlock) {
  stow_problem* problem = pinwheel();
  CHECK_U64(count_blocks(problem, 9), 1);
  CHECK_U64(count_blocks(problem, 10), 5);
  stow_problem_destroy(problem);
}

TEST(WhatMayBeApartIsNotMerged) {
  stow_problem* problem = new_problem();
  for (uint64_t step = 0; step < 2; ++step) {
    add(problem, 3, step, step + 1);
    add(problem, 3, step, step + 1);
  }
  add(problem, 4, 0, 2);
  add(problem, 4, 0, 1);
  add(problem, 4, 1, 2);
  // Those of size 3 may be on both sides of those of size 4; at the ends of time all is in one
  // piece, but in the middle it need not be.
  CHECK_U64(count_blocks(problem, 14), 7);
  stow_problem_destroy(problem);
}

TEST(OnlyPlainProblemsAreMerged) {
  for (int kind = 0; kind < 3; ++kind) {
    stow_problem* problem = pinwheel();
    stow_buffer desc;
    stow_buffer_init(&desc);
    desc.size = 2;
    desc.begin = 0;
    desc.end = 3;
    desc.alignment = kind == 0 ? 2 : 1;
    desc.fixed_offset = kind == 1 ? 0 : desc.fixed_offset;
    CHECK(stow_problem_add(problem, &desc, NULL, NULL) == STOW_OK);
    if (kind == 2) {
      stow_window_desc window;
      stow_window_desc_init(&window);
      window.begin = 1;
      window.end = 2;
      window.high = 1;
      CHECK(stow_problem_add_window(problem, &window, NULL) == STOW_OK);
    }
    CHECK_U64(count_blocks(problem, 11), 6);
    stow_problem_destroy(problem);
  }
}

TEST(TiledProblemsBecomeMuchSmaller) {
  for (uint64_t seed = 0; seed < 10; ++seed) {
    uint64_t optimum = 0;
    stow_problem* problem = problem_family_make(problem_family_find("tiled"), seed, 1000, &optimum);
    CHECK(count_blocks(problem, optimum) < 700);
    stow_problem_destroy(problem);
  }
}

static stow_status merge_once(stow_allocator allocator, void* user) {
  stowi_place_solid* solid = NULL;
  stow_diag diag;
  stow_diag_init(&diag);
  stow_status status =
      stowi_place_solid_create((const stow_problem*)user, 9, allocator, &diag, &solid);
  CHECK((solid == NULL) == (status != STOW_OK));
  CHECK(status == STOW_OK || diag.status == status);
  stowi_place_solid_destroy(solid);
  return status;
}

TEST(FailingAllocationsAreSurvived) {
  stow_problem* problem = pinwheel();
  CHECK(test_fault_sweep(merge_once, problem) > 8);
  stow_problem_destroy(problem);
}
