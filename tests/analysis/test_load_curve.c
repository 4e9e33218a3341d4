// The load curve against an array.
#include "analysis/sharing/load_curve.h"
#include "support/fault.h"
#include "support/test.h"

#define MAX_STEPS 40

static int64_t highest_of(const int64_t* loads, uint32_t begin, uint32_t end) {
  int64_t highest = loads[begin];
  for (uint32_t step = begin; step < end; ++step) {
    highest = loads[step] > highest ? loads[step] : highest;
  }
  return highest;
}

static void check_every_stretch(const stowi_analysis_load_curve* curve, const int64_t* loads,
                                uint32_t count) {
  for (uint32_t begin = 0; begin < count; ++begin) {
    for (uint32_t end = begin + 1; end <= count; ++end) {
      CHECK(stowi_analysis_load_curve_highest(curve, begin, end) == highest_of(loads, begin, end));
    }
  }
  CHECK(stowi_analysis_load_curve_peak(curve) == highest_of(loads, 0, count));
}

typedef struct block {
  uint32_t begin, end;
  int64_t bytes;
} block;

static block random_block(test_random* random, uint32_t count) {
  uint32_t begin = (uint32_t)test_random_below(random, count);
  uint32_t length = (uint32_t)test_random_below(random, count - begin + 1);
  return (block){begin, begin + length, (int64_t)test_random_below(random, 100)};
}

static void add(stowi_analysis_load_curve* curve, int64_t* loads, block b, int64_t sign) {
  stowi_analysis_load_curve_add(curve, b.begin, b.end, sign * b.bytes);
  for (uint32_t step = b.begin; step < b.end; ++step) {
    loads[step] += sign * b.bytes;
  }
}

TEST(CurveAgreesWithAnArray) {
  stow_allocator allocator = stow_allocator_default();
  test_random random = {1};
  for (uint32_t count = 1; count <= MAX_STEPS; ++count) {
    stowi_analysis_load_curve curve;
    int64_t loads[MAX_STEPS] = {0};
    block blocks[12];
    REQUIRE(stowi_analysis_load_curve_init(&curve, count, allocator) == STOW_OK);
    check_every_stretch(&curve, loads, count);
    for (size_t i = 0; i < 12; ++i) {
      blocks[i] = random_block(&random, count);
      add(&curve, loads, blocks[i], 1);
      check_every_stretch(&curve, loads, count);
    }
    for (size_t i = 0; i < 12; ++i) {
      add(&curve, loads, blocks[i], -1);
      check_every_stretch(&curve, loads, count);
    }
    stowi_analysis_load_curve_free(&curve, allocator);
  }
}

TEST(LargestLoadsDoNotOverflow) {
  stow_allocator allocator = stow_allocator_default();
  stowi_analysis_load_curve curve;
  REQUIRE(stowi_analysis_load_curve_init(&curve, 5, allocator) == STOW_OK);
  stowi_analysis_load_curve_add(&curve, 0, 5, STOWI_ANALYSIS_LOAD_MAX);
  stowi_analysis_load_curve_add(&curve, 2, 3, STOWI_ANALYSIS_LOAD_MAX);
  CHECK(stowi_analysis_load_curve_peak(&curve) == 2 * STOWI_ANALYSIS_LOAD_MAX);
  CHECK(stowi_analysis_load_curve_highest(&curve, 3, 5) == STOWI_ANALYSIS_LOAD_MAX);
  stowi_analysis_load_curve_free(&curve, allocator);
}

static stow_status attempt(stow_allocator allocator, void* user) {
  (void)user;
  stowi_analysis_load_curve curve;
  stow_status status = stowi_analysis_load_curve_init(&curve, 9, allocator);
  if (status == STOW_OK) {
    stowi_analysis_load_curve_free(&curve, allocator);
  }
  return status;
}

TEST(EveryFailedAllocationIsReported) { CHECK(test_fault_sweep(attempt, NULL) == 2); }
