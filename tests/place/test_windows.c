// Windows and gaps, against a bitmap of bytes × steps: first fit, best fit, the checker, the load
// and the sections agree with the bitmap.
#include <stowage/place.h>
#include <string.h>

#include "place/api.h"
#include "place/sections.h"
#include "support/fault.h"
#include "support/test.h"

#define STEPS 14
#define BYTES 1024
#define MOST 9

static stow_problem* new_problem(stow_allocator allocator) {
  stow_problem* problem = NULL;
  return stow_problem_create(allocator, NULL, &problem) == STOW_OK ? problem : NULL;
}

static stow_buffer desc_of(uint64_t size, uint64_t begin, uint64_t end) {
  stow_buffer desc;
  stow_buffer_init(&desc);
  desc.size = size;
  desc.begin = begin;
  desc.end = end;
  return desc;
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

static void add_random_windows(test_random* random, stow_problem* problem,
                               const stow_buffer* buffer) {
  uint64_t footprint = buffer->size + buffer->guard;
  uint64_t at = buffer->begin;
  while (at < buffer->end && test_random_below(random, 4) != 0) {
    uint64_t begin = at + test_random_below(random, 3);
    if (begin >= buffer->end) {
      return;
    }
    uint64_t end = begin + 1 + test_random_below(random, buffer->end - begin);
    uint64_t low = test_random_below(random, footprint + 1);
    uint64_t high = low + test_random_below(random, footprint - low + 1);
    if (test_random_below(random, 3) == 0) {
      low = high = 0;
    }
    if (add_window(problem, begin, end, low, high) != STOW_OK) {
      return;  // it would leave nothing
    }
    at = end;
  }
}

// Sizes in units of |unit|.
static void add_random_buffer(test_random* random, stow_problem* problem, uint64_t unit,
                              bool may_be_fixed) {
  uint64_t begin = test_random_below(random, STEPS);
  stow_buffer desc = desc_of(unit * (1 + test_random_below(random, 12)), begin,
                             begin + 1 + test_random_below(random, STEPS - begin));
  desc.guard = test_random_below(random, 4) == 0 ? test_random_below(random, 4) : 0;
  desc.alignment = unit * (UINT64_C(1) << test_random_below(random, 4));
  if (may_be_fixed && test_random_below(random, 4) == 0) {
    desc.fixed_offset = desc.alignment * test_random_below(random, 6);
  }
  CHECK(stow_problem_add(problem, &desc, NULL, NULL) == STOW_OK);
  if (test_random_below(random, 2) == 0) {
    add_random_windows(random, problem, &desc);
  }
}

static stow_problem* random_problem(test_random* random, bool may_be_fixed) {
  stow_problem* problem = new_problem(stow_allocator_default());
  uint64_t unit = UINT64_C(1) << (test_random_below(random, 3) == 0 ? 2 : 0);
  size_t count = (size_t)test_random_below(random, MOST + 1);
  for (size_t i = 0; i < count; ++i) {
    add_random_buffer(random, problem, unit, may_be_fixed);
  }
  return problem;
}

// ---------------------------------------------------------------------------------------------
// The bitmap

typedef struct bitmap {
  uint8_t taken[STEPS][BYTES];  // 1 + the buffer
} bitmap;

// The bytes that |buffer| occupies at |step|.
static void bytes_at(const stow_problem* problem, size_t buffer, uint64_t step, uint64_t* low,
                     uint64_t* high) {
  stow_buffer desc = {.struct_size = sizeof(desc)};
  stow_problem_describe_buffer(problem, buffer, &desc);
  *low = *high = 0;
  if (step < desc.begin || step >= desc.end) {
    return;
  }
  *high = desc.size + desc.guard;
  for (size_t i = 0; i < stow_problem_window_count(problem, buffer); ++i) {
    stow_window_desc window = {.struct_size = sizeof(window)};
    stow_problem_describe_window(problem, buffer, i, &window);
    if (window.begin <= step && step < window.end) {
      *low = window.low;
      *high = window.high;
    }
  }
}

// Finds one that |buffer| at |offset| overlaps, at the first step at which it does.
static bool meets(const bitmap* map, const stow_problem* problem, size_t buffer, uint64_t offset,
                  size_t* out_other, uint64_t* out_step) {
  for (uint64_t step = 0; step < STEPS; ++step) {
    uint64_t low;
    uint64_t high;
    bytes_at(problem, buffer, step, &low, &high);
    for (uint64_t byte = offset + low; byte < offset + high; ++byte) {
      if (map->taken[step][byte] != 0) {
        *out_other = map->taken[step][byte] - 1u;
        *out_step = step;
        return true;
      }
    }
  }
  return false;
}

static void take(bitmap* map, const stow_problem* problem, size_t buffer, uint64_t offset) {
  for (uint64_t step = 0; step < STEPS; ++step) {
    uint64_t low;
    uint64_t high;
    bytes_at(problem, buffer, step, &low, &high);
    for (uint64_t byte = offset + low; byte < offset + high; ++byte) {
      map->taken[step][byte] = (uint8_t)(buffer + 1);
    }
  }
}

// First fit by definition. False if fixed buffers overlap.
static bool first_fit(const stow_problem* problem, uint64_t* offsets) {
  bitmap map;
  size_t other;
  uint64_t step;
  bool is_placed[MOST] = {false};
  size_t count = stow_problem_count(problem);
  stow_buffer desc = {.struct_size = sizeof(desc)};
  memset(&map, 0, sizeof(map));
  for (size_t i = 0; i < count; ++i) {
    stow_problem_describe_buffer(problem, i, &desc);
    if (desc.fixed_offset != STOW_PLACE_ANYWHERE) {
      if (meets(&map, problem, i, desc.fixed_offset, &other, &step)) {
        return false;
      }
      take(&map, problem, i, desc.fixed_offset);
      offsets[i] = desc.fixed_offset;
      is_placed[i] = true;
    }
  }
  for (;;) {
    size_t largest = MOST;
    uint64_t largest_size = 0;
    for (size_t i = 0; i < count; ++i) {
      stow_problem_describe_buffer(problem, i, &desc);
      if (!is_placed[i] && desc.size > largest_size) {
        largest = i;
        largest_size = desc.size;
      }
    }
    if (largest == MOST) {
      return true;
    }
    stow_problem_describe_buffer(problem, largest, &desc);
    offsets[largest] = 0;
    while (meets(&map, problem, largest, offsets[largest], &other, &step)) {
      offsets[largest] += desc.alignment;
    }
    take(&map, problem, largest, offsets[largest]);
    is_placed[largest] = true;
  }
}

static uint64_t height_of(const stow_problem* problem, const uint64_t* offsets) {
  uint64_t height = 0;
  for (size_t i = 0; i < stow_problem_count(problem); ++i) {
    stow_buffer desc = {.struct_size = sizeof(desc)};
    stow_problem_describe_buffer(problem, i, &desc);
    uint64_t end = offsets[i] + desc.size + desc.guard;
    height = end > height ? end : height;
  }
  return height;
}

// ---------------------------------------------------------------------------------------------
// Strategies

// Places |problem| by |strategy|; NULL if fixed buffers overlap, with the names of the two in
// |diag|.
static stow_placement* place(const stow_problem* problem, const char* strategy, stow_diag* diag) {
  stow_place_options options;
  stow_place_options_init(&options);
  stow_placement* placement = NULL;
  stow_status status = stow_strategy_find(stow_str_of(strategy))
                           ->place(problem, &options, stow_allocator_default(), diag, &placement);
  CHECK(status == STOW_OK || status == STOW_ERR_CONFLICT);
  return placement;
}

static void check_placement(const stow_problem* problem, const stow_placement* placement) {
  uint64_t offsets[MOST + 1] = {0};
  size_t count = stow_problem_count(problem);
  for (size_t i = 0; i < count; ++i) {
    offsets[i] = stow_placement_offset(placement, i);
  }
  CHECK_U64(stow_placement_height(placement), height_of(problem, offsets));
  CHECK(stowi_place_placement_bound(placement) <= stow_placement_height(placement));
  CHECK(stow_placement_check(problem, offsets, count, stow_placement_height(placement),
                             stow_allocator_default(), NULL, NULL) == STOW_OK);
}

TEST(FirstFitFindsTheLowestPlaceOfTheBitmap) {
  test_random random = {41};
  int cases = test_is_long() ? 100000 : 3000;
  int collisions = 0;
  for (int k = 0; k < cases; ++k) {
    stow_problem* problem = random_problem(&random, k % 2 == 0);
    uint64_t expected[MOST + 1] = {0};
    bool can = first_fit(problem, expected);
    stow_diag diag;
    stow_diag_init(&diag);
    stow_placement* placement = place(problem, "first-fit", &diag);
    CHECK(can == (placement != NULL));
    if (placement == NULL) {
      ++collisions;
      CHECK_HAS(diag.message, "while both are live at step");
    } else {
      check_placement(problem, placement);
      for (size_t i = 0; i < stow_problem_count(problem); ++i) {
        CHECK_U64(stow_placement_offset(placement, i), expected[i]);
      }
    }
    stow_placement_destroy(placement);
    stow_problem_destroy(problem);
  }
  CHECK(collisions > cases / 50 && collisions < cases / 3);
}

TEST(BestFitIsCorrectWithWindows) {
  test_random random = {43};
  int cases = test_is_long() ? 100000 : 3000;
  for (int k = 0; k < cases; ++k) {
    stow_problem* problem = random_problem(&random, k % 2 == 0);
    stow_placement* placement = place(problem, "best-fit", NULL);
    if (placement != NULL) {
      check_placement(problem, placement);
    }
    stow_placement_destroy(placement);
    stow_problem_destroy(problem);
  }
}

TEST(BuffersInAGapShareItsBytes) {
  stow_problem* problem = new_problem(stow_allocator_default());
  stow_buffer cache = desc_of(100, 0, 10);
  stow_buffer inside = desc_of(90, 4, 6);
  stow_buffer across = desc_of(80, 5, 7);
  REQUIRE(stow_problem_add(problem, &cache, NULL, NULL) == STOW_OK);
  REQUIRE(add_window(problem, 4, 6, 0, 0) == STOW_OK);
  REQUIRE(stow_problem_add(problem, &inside, NULL, NULL) == STOW_OK);
  REQUIRE(stow_problem_add(problem, &across, NULL, NULL) == STOW_OK);
  stow_placement* placement = place(problem, "first-fit", NULL);
  REQUIRE(placement != NULL);
  CHECK_U64(stow_placement_offset(placement, 0), 0);
  CHECK_U64(stow_placement_offset(placement, 1), 0);
  CHECK_U64(stow_placement_offset(placement, 2), 100);
  stow_placement_destroy(placement);
  stow_problem_destroy(problem);
}

TEST(TheWholeFootprintStaysInside) {
  stow_problem* problem = new_problem(stow_allocator_default());
  stow_buffer low = desc_of(10, 0, 2);
  stow_buffer high = desc_of(30, 0, 2);
  REQUIRE(stow_problem_add(problem, &low, NULL, NULL) == STOW_OK);
  REQUIRE(stow_problem_add(problem, &high, NULL, NULL) == STOW_OK);
  REQUIRE(add_window(problem, 0, 2, 20, 25) == STOW_OK);
  stow_load load = {.struct_size = sizeof(load)};
  REQUIRE(stow_problem_load(problem, stow_allocator_default(), NULL, &load) == STOW_OK);
  CHECK_U64(load.bytes, 15);
  CHECK_U64(load.lower_bound, 30);
  stow_placement* placement = place(problem, "first-fit", NULL);
  REQUIRE(placement != NULL);
  CHECK_U64(stow_placement_offset(placement, 0), 0);
  CHECK_U64(stow_placement_offset(placement, 1), 0);
  CHECK_U64(stow_placement_height(placement), 30);
  CHECK(stow_placement_outcome(placement) == STOW_OUTCOME_OPTIMAL);
  uint64_t offsets[2] = {0, 0};
  stow_placement_violation violation = {.struct_size = sizeof(violation)};
  CHECK(stow_placement_check(problem, offsets, 2, 29, stow_allocator_default(), NULL, &violation) ==
        STOW_ERR_VIOLATION);
  CHECK(violation.fault == STOW_PLACEMENT_OUTSIDE && violation.first == 1);
  stow_placement_destroy(placement);
  stow_problem_destroy(problem);
}

TEST(WithoutReuseWindowsDoNotShare) {
  test_random random = {47};
  for (int k = 0; k < 500; ++k) {
    stow_problem* problem = random_problem(&random, false);
    stow_place_options options;
    stow_place_options_init(&options);
    options.reuse = false;
    stow_placement* placement = NULL;
    REQUIRE(stowi_place_first_fit(problem, &options, stow_allocator_default(), NULL, &placement) ==
            STOW_OK);
    for (size_t i = 0; i < stow_problem_count(problem); ++i) {
      for (size_t j = 0; j < i; ++j) {
        stow_buffer a = {.struct_size = sizeof(a)};
        stow_buffer b = {.struct_size = sizeof(b)};
        stow_problem_describe_buffer(problem, i, &a);
        stow_problem_describe_buffer(problem, j, &b);
        uint64_t x = stow_placement_offset(placement, i);
        uint64_t y = stow_placement_offset(placement, j);
        CHECK(x + a.size + a.guard <= y || y + b.size + b.guard <= x);
      }
    }
    stow_placement_destroy(placement);
    stow_problem_destroy(problem);
  }
}

TEST(FixedBuffersThatOverlapInAWindowAreNamedWithTheStep) {
  stow_problem* problem = new_problem(stow_allocator_default());
  stow_buffer a = desc_of(10, 0, 10);
  stow_buffer b = desc_of(10, 2, 9);
  a.fixed_offset = 0;
  b.fixed_offset = 5;
  REQUIRE(stow_problem_add(problem, &a, NULL, NULL) == STOW_OK);
  REQUIRE(add_window(problem, 1, 4, 0, 0) == STOW_OK);
  REQUIRE(add_window(problem, 4, 7, 0, 5) == STOW_OK);
  REQUIRE(stow_problem_add(problem, &b, NULL, NULL) == STOW_OK);
  stow_diag diag;
  stow_diag_init(&diag);
  CHECK(place(problem, "first-fit", &diag) == NULL);
  CHECK_TEXT(diag.message,
             "fixed buffers 0, [0, 10), and 1, [5, 15), overlap while both are live at step 7");
  stow_problem_destroy(problem);

  problem = new_problem(stow_allocator_default());
  REQUIRE(stow_problem_add(problem, &a, NULL, NULL) == STOW_OK);
  REQUIRE(add_window(problem, 1, 9, 0, 0) == STOW_OK);
  REQUIRE(stow_problem_add(problem, &b, NULL, NULL) == STOW_OK);
  stow_placement* placement = place(problem, "first-fit", NULL);
  CHECK(placement != NULL);
  stow_placement_destroy(placement);
  stow_place_options options;
  stow_place_options_init(&options);
  options.reuse = false;
  CHECK(stowi_place_first_fit(problem, &options, stow_allocator_default(), &diag, &placement) ==
        STOW_ERR_CONFLICT);
  CHECK_TEXT(diag.message,
             "fixed buffers 0, [0, 10), and 1, [5, 15), overlap although reuse is off");
  stow_problem_destroy(problem);
}

// ---------------------------------------------------------------------------------------------
// The checker

// The first step at which two overlap, STEPS if none do.
static uint64_t first_collision(const stow_problem* problem, const uint64_t* offsets) {
  bitmap map;
  uint64_t first = STEPS;
  memset(&map, 0, sizeof(map));
  for (size_t i = 0; i < stow_problem_count(problem); ++i) {
    size_t other;
    uint64_t step;
    if (meets(&map, problem, i, offsets[i], &other, &step)) {
      first = step < first ? step : first;
    }
    take(&map, problem, i, offsets[i]);
  }
  return first;
}

static bool collide_at(const stow_problem* problem, const uint64_t* offsets, size_t a, size_t b,
                       uint64_t step) {
  uint64_t a_low;
  uint64_t a_high;
  uint64_t b_low;
  uint64_t b_high;
  bytes_at(problem, a, step, &a_low, &a_high);
  bytes_at(problem, b, step, &b_low, &b_high);
  return a_low < a_high && b_low < b_high && offsets[a] + a_low < offsets[b] + b_high &&
         offsets[b] + b_low < offsets[a] + a_high;
}

static bool check_against_bitmap(const stow_problem* problem, const uint64_t* offsets) {
  size_t count = stow_problem_count(problem);
  stow_placement_violation violation = {.struct_size = sizeof(violation)};
  uint64_t step = first_collision(problem, offsets);
  stow_status status = stow_placement_check(problem, offsets, count, height_of(problem, offsets),
                                            stow_allocator_default(), NULL, &violation);
  if (step == STEPS) {
    CHECK(status == STOW_OK);
    return true;
  }
  CHECK(status == STOW_ERR_VIOLATION && violation.fault == STOW_PLACEMENT_OVERLAP);
  CHECK_U64(violation.step, step);
  CHECK(violation.first < violation.second &&
        collide_at(problem, offsets, violation.first, violation.second, step));
  return false;
}

TEST(TheCheckerAgreesWithTheBitmap) {
  test_random random = {53};
  int cases = test_is_long() ? 100000 : 3000;
  int wrong = 0;
  for (int k = 0; k < cases; ++k) {
    stow_problem* problem = random_problem(&random, false);
    size_t count = stow_problem_count(problem);
    uint64_t offsets[MOST + 1] = {0};
    CHECK(first_fit(problem, offsets));
    CHECK(check_against_bitmap(problem, offsets));
    for (int mutation = 0; count > 0 && mutation < 6; ++mutation) {
      size_t moved = (size_t)test_random_below(&random, count);
      stow_buffer desc = {.struct_size = sizeof(desc)};
      stow_problem_describe_buffer(problem, moved, &desc);
      uint64_t kept = offsets[moved];
      offsets[moved] = desc.alignment * test_random_below(&random, 80 / desc.alignment + 1);
      wrong += !check_against_bitmap(problem, offsets);
      offsets[moved] = test_random_below(&random, 2) == 0 ? kept : offsets[moved];
    }
    stow_problem_destroy(problem);
  }
  CHECK(wrong > cases);
}

// ---------------------------------------------------------------------------------------------
// Load and sections

TEST(LoadMatchesTheBitmap) {
  test_random random = {59};
  int cases = test_is_long() ? 50000 : 3000;
  for (int k = 0; k < cases; ++k) {
    stow_problem* problem = random_problem(&random, false);
    size_t count = stow_problem_count(problem);
    uint64_t most = 0;
    uint64_t most_step = 0;
    uint64_t pairs = 0;
    for (uint64_t step = 0; step < STEPS; ++step) {
      uint64_t bytes = 0;
      for (size_t i = 0; i < count; ++i) {
        uint64_t low;
        uint64_t high;
        bytes_at(problem, i, step, &low, &high);
        bytes += high - low;
      }
      most_step = bytes > most ? step : most_step;
      most = bytes > most ? bytes : most;
    }
    for (size_t i = 0; i < count; ++i) {
      for (size_t j = 0; j < i; ++j) {
        stow_buffer a = {.struct_size = sizeof(a)};
        stow_buffer b = {.struct_size = sizeof(b)};
        stow_problem_describe_buffer(problem, i, &a);
        stow_problem_describe_buffer(problem, j, &b);
        pairs += a.begin < b.end && b.begin < a.end;
      }
    }
    stow_load load = {.struct_size = sizeof(load)};
    REQUIRE(stow_problem_load(problem, stow_allocator_default(), NULL, &load) == STOW_OK);
    CHECK_U64(load.bytes, most);
    CHECK_U64(load.step, most_step);
    CHECK_U64(load.pair_count, pairs);
    CHECK(load.lower_bound >= most);
    uint64_t offsets[MOST + 1] = {0};
    CHECK(first_fit(problem, offsets));
    CHECK(load.lower_bound <= height_of(problem, offsets));
    stow_problem_destroy(problem);
  }
}

// All placements of up to three buffers: no height is below the bound.
static uint64_t lowest_height(const stow_problem* problem, size_t buffer, uint64_t* offsets,
                              const bitmap* map, uint64_t best) {
  if (buffer == stow_problem_count(problem)) {
    uint64_t height = height_of(problem, offsets);
    return height < best ? height : best;
  }
  stow_buffer desc = {.struct_size = sizeof(desc)};
  stow_problem_describe_buffer(problem, buffer, &desc);
  for (offsets[buffer] = 0; offsets[buffer] + desc.size + desc.guard < best;
       offsets[buffer] += desc.alignment) {
    size_t other;
    uint64_t step;
    if (!meets(map, problem, buffer, offsets[buffer], &other, &step)) {
      bitmap with = *map;
      take(&with, problem, buffer, offsets[buffer]);
      best = lowest_height(problem, buffer + 1, offsets, &with, best);
    }
  }
  return best;
}

TEST(NoPlacementIsBelowTheBound) {
  test_random random = {61};
  int cases = test_is_long() ? 5000 : 300;
  int reached = 0;
  for (int k = 0; k < cases; ++k) {
    stow_problem* problem = new_problem(stow_allocator_default());
    uint64_t unit = UINT64_C(1) << (k % 2 * 2);
    for (size_t i = 0; i < 3; ++i) {
      add_random_buffer(&random, problem, unit, false);
    }
    stow_load load = {.struct_size = sizeof(load)};
    REQUIRE(stow_problem_load(problem, stow_allocator_default(), NULL, &load) == STOW_OK);
    uint64_t offsets[MOST + 1] = {0};
    bitmap map;
    memset(&map, 0, sizeof(map));
    CHECK(first_fit(problem, offsets));
    uint64_t best = lowest_height(problem, 0, offsets, &map, height_of(problem, offsets) + 1);
    CHECK(load.lower_bound <= best);
    reached += load.lower_bound == best;
    stow_problem_destroy(problem);
  }
  CHECK(reached > cases / 2);
}

static void check_sections(const stow_problem* problem) {
  stowi_place_sections sections;
  CHECK(stowi_place_sections_make(problem, stow_allocator_default(), &sections) == STOW_OK);
  size_t count = stow_problem_count(problem);
  CHECK(sections.count <= sections.piece_count && sections.piece_count >= count);
  CHECK((sections.first == NULL) == (problem->windows.count == 0));
  for (size_t i = 0; i < count; ++i) {
    uint32_t first = stowi_place_piece_first(&sections, i);
    CHECK(first < stowi_place_piece_end(&sections, i));
    for (uint32_t p = first; p < stowi_place_piece_end(&sections, i); ++p) {
      CHECK(sections.begin[p] < sections.end[p] && sections.end[p] <= sections.count);
      CHECK(p == first || sections.begin[p] >= sections.end[p - 1]);
    }
  }
  // Two buffers share a section with given bytes where they share a step with them.
  for (size_t i = 0; i < count; ++i) {
    for (size_t j = 0; j < i; ++j) {
      uint64_t in_sections = 0;
      uint64_t in_steps = 0;
      for (uint32_t p = stowi_place_piece_first(&sections, i);
           p < stowi_place_piece_end(&sections, i); ++p) {
        for (uint32_t q = stowi_place_piece_first(&sections, j);
             q < stowi_place_piece_end(&sections, j); ++q) {
          if (sections.begin[p] < sections.end[q] && sections.begin[q] < sections.end[p]) {
            in_sections |= UINT64_C(1)
                           << (stowi_place_piece_low(&sections, p) * 31 +
                               stowi_place_piece_high(&sections, q, &problem->buffers.data[j])) %
                                  64;
          }
        }
      }
      for (uint64_t step = 0; step < STEPS; ++step) {
        uint64_t a_low;
        uint64_t a_high;
        uint64_t b_low;
        uint64_t b_high;
        bytes_at(problem, i, step, &a_low, &a_high);
        bytes_at(problem, j, step, &b_low, &b_high);
        if (a_low < a_high && b_low < b_high) {
          in_steps |= UINT64_C(1) << (a_low * 31 + b_high) % 64;
        }
      }
      CHECK_U64(in_sections, in_steps);
    }
  }
  stowi_place_sections_free(&sections, problem, stow_allocator_default());
}

TEST(PiecesShareSectionsIfTheyShareSteps) {
  test_random random = {67};
  int cases = test_is_long() ? 20000 : 2000;
  for (int k = 0; k < cases; ++k) {
    stow_problem* problem = random_problem(&random, false);
    check_sections(problem);
    stow_problem_destroy(problem);
  }
}

TEST(WindowsWithTheSameBytesAreOnePiece) {
  stow_problem* problem = new_problem(stow_allocator_default());
  stow_buffer desc = desc_of(10, 0, 20);
  REQUIRE(stow_problem_add(problem, &desc, NULL, NULL) == STOW_OK);
  REQUIRE(add_window(problem, 2, 4, 0, 10) == STOW_OK);  // as if there were none
  REQUIRE(add_window(problem, 6, 8, 3, 5) == STOW_OK);
  REQUIRE(add_window(problem, 8, 10, 3, 5) == STOW_OK);  // goes on
  REQUIRE(add_window(problem, 10, 12, 0, 0) == STOW_OK);
  REQUIRE(add_window(problem, 12, 14, 3, 5) == STOW_OK);
  stowi_place_sections sections;
  REQUIRE(stowi_place_sections_make(problem, stow_allocator_default(), &sections) == STOW_OK);
  CHECK_U64(sections.piece_count, 4);
  CHECK_U64(sections.count, 4);
  CHECK_U64(sections.high[0], 10);
  CHECK_U64(sections.low[1], 3);
  CHECK_U64(sections.low[2], 3);
  CHECK_U64(sections.high[3], 10);
  stowi_place_sections_free(&sections, problem, stow_allocator_default());
  stow_problem_destroy(problem);
}

// ---------------------------------------------------------------------------------------------
// Runs and memory

#define RUN_COUNT 400
#define RUN_STEPS 250
#define RUN_BYTES 2048

// Many buffers of two sizes in order of birth, some with windows.
static stow_problem* random_run(test_random* random) {
  stow_problem* problem = new_problem(stow_allocator_default());
  for (uint64_t i = 0; i < RUN_COUNT; ++i) {
    stow_buffer desc =
        desc_of(i % 8 == 0 ? 24 : 16, i / 2, i / 2 + 4 + test_random_below(random, 40));
    desc.alignment = UINT64_C(1) << test_random_below(random, 4);
    CHECK(stow_problem_add(problem, &desc, NULL, NULL) == STOW_OK);
    if (test_random_below(random, 3) == 0) {
      uint64_t begin = desc.begin + test_random_below(random, 2);
      uint64_t low = test_random_below(random, 8);
      // A gap at its begin delays its birth, and that ends the run.
      uint64_t least = begin == desc.begin && i % 100 != 0 ? 1 : 0;
      CHECK(add_window(problem, begin, begin + 1, low,
                       low + least + test_random_below(random, 5)) == STOW_OK);
      CHECK(add_window(problem, begin + 2, desc.end, 0, test_random_below(random, 9)) == STOW_OK);
    }
  }
  return problem;
}

// Sets or only checks the bytes of |buffer| at |offset|; false if one is taken.
static bool visit_run_bytes(const stow_problem* problem, size_t buffer, uint64_t offset,
                            bool is_taking) {
  static bool taken[RUN_STEPS][RUN_BYTES];
  if (problem == NULL) {
    memset(taken, 0, sizeof(taken));
    return true;
  }
  for (uint64_t step = 0; step < RUN_STEPS; ++step) {
    uint64_t low;
    uint64_t high;
    bytes_at(problem, buffer, step, &low, &high);
    for (uint64_t byte = offset + low; byte < offset + high; ++byte) {
      if (taken[step][byte]) {
        return false;
      }
      taken[step][byte] = is_taking;
    }
  }
  return true;
}

static void check_run(const stow_problem* problem, const stow_placement* placement) {
  visit_run_bytes(NULL, 0, 0, false);
  for (size_t i = 0; i < 2 * RUN_COUNT; ++i) {
    size_t buffer = i % RUN_COUNT;
    bool is_large = buffer % 8 == 0;
    if (is_large != (i < RUN_COUNT)) {
      continue;  // large ones first
    }
    stow_buffer desc = {.struct_size = sizeof(desc)};
    stow_problem_describe_buffer(problem, buffer, &desc);
    uint64_t offset = 0;
    while (!visit_run_bytes(problem, buffer, offset, false)) {
      offset += desc.alignment;
    }
    CHECK(visit_run_bytes(problem, buffer, offset, true));
    CHECK_U64(stow_placement_offset(placement, buffer), offset);
  }
}

TEST(RunsFindTheLowestPlaceOfTheBitmap) {
  uint64_t cases = test_is_long() ? 300 : 5;
  for (uint64_t seed = 0; seed < cases; ++seed) {
    test_random random = {71 + seed};
    stow_problem* problem = random_run(&random);
    stow_placement* placement = place(problem, "first-fit", NULL);
    REQUIRE(placement != NULL);
    check_run(problem, placement);
    stow_placement_destroy(placement);
    stow_problem_destroy(problem);
  }
}

static stow_status work(const stow_problem* problem, stow_allocator allocator) {
  stow_load load = {.struct_size = sizeof(load)};
  stow_status status = stow_problem_load(problem, allocator, NULL, &load);
  if (status != STOW_OK) {
    return status;
  }
  stow_place_options options;
  stow_place_options_init(&options);
  stow_placement* placement = NULL;
  status = stowi_place_first_fit(problem, &options, allocator, NULL, &placement);
  if (status != STOW_OK) {
    return status;
  }
  uint64_t offsets[MOST];
  for (size_t i = 0; i < stow_problem_count(problem); ++i) {
    offsets[i] = stow_placement_offset(placement, i);
  }
  status = stow_placement_check(problem, offsets, stow_problem_count(problem),
                                stow_placement_height(placement), allocator, NULL, NULL);
  stow_placement_destroy(placement);
  return status;
}

static stow_status build_and_work(stow_allocator allocator, void* user) {
  (void)user;
  stow_problem* problem = new_problem(allocator);
  if (problem == NULL) {
    return STOW_ERR_OUT_OF_MEMORY;
  }
  stow_status status = STOW_OK;
  for (uint64_t i = 0; i < MOST && status == STOW_OK; ++i) {
    stow_buffer desc = desc_of(10 + i, i, i + 6);
    status = stow_problem_add(problem, &desc, NULL, NULL);
    for (uint64_t k = 0; k < 2 && status == STOW_OK; ++k) {
      status = add_window(problem, i + 1 + 2 * k, i + 2 + 2 * k, k, k + 3 * k);
    }
  }
  status = status == STOW_OK ? work(problem, allocator) : status;
  stow_problem_destroy(problem);
  return status;
}

TEST(WindowsSurviveEveryAllocationFailure) { CHECK(test_fault_sweep(build_and_work, NULL) > 25); }
