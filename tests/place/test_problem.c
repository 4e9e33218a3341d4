// Problems and their load: what is refused, what is kept, and the sweep against brute force.
#include <stowage/place.h>
#include <string.h>

#include "support/fault.h"
#include "support/test.h"

static stow_buffer desc_of(uint64_t size, uint64_t begin, uint64_t end) {
  stow_buffer desc;
  stow_buffer_init(&desc);
  desc.size = size;
  desc.begin = begin;
  desc.end = end;
  return desc;
}

static stow_problem* new_problem(void) {
  stow_problem* problem = NULL;
  CHECK(stow_problem_create(stow_allocator_default(), NULL, &problem) == STOW_OK);
  return problem;
}

// Adds |desc| to |problem| and expects |status| with |part| in the message, and no change.
static void check_refused(stow_problem* problem, const stow_buffer* desc, stow_status status,
                          const char* part) {
  stow_diag diag;
  stow_diag_init(&diag);
  size_t count = stow_problem_count(problem);
  size_t number = 0;
  CHECK(stow_problem_add(problem, desc, &diag, &number) == status);
  CHECK(diag.status == status);
  CHECK_HAS(diag.message, part);
  CHECK(number == STOW_BUFFER_NONE);
  CHECK_U64(stow_problem_count(problem), count);
  CHECK(stow_problem_add(problem, desc, NULL, NULL) == status);
}

TEST(DescriptorInitWritesEveryField) {
  stow_buffer desc = {.struct_size = sizeof(desc)};
  memset(&desc, 0xff, sizeof(desc));
  stow_buffer_init(&desc);
  CHECK_U64(desc.struct_size, sizeof(desc));
  CHECK_U64(desc.size, 0);
  CHECK_U64(desc.guard, 0);
  CHECK_U64(desc.begin, 0);
  CHECK_U64(desc.end, 0);
  CHECK_U64(desc.alignment, 1);
  CHECK(desc.fixed_offset == STOW_PLACE_ANYWHERE);
  CHECK_U64(desc.pool, 0);
}

TEST(BuffersAreNumberedInOrderAndKeptAsGiven) {
  stow_problem* problem = new_problem();
  for (uint64_t i = 0; i < 100; ++i) {
    stow_buffer desc = desc_of(i + 1, i, 2 * i + 1);
    desc.guard = i * 3;
    desc.alignment = UINT64_C(1) << (i % 13);
    desc.fixed_offset = i % 4 == 0 ? desc.alignment * i : STOW_PLACE_ANYWHERE;
    size_t number = 0;
    CHECK(stow_problem_add(problem, &desc, NULL, &number) == STOW_OK);
    CHECK_U64(number, i);
    stow_buffer kept = {.struct_size = sizeof(kept)};
    CHECK(stow_problem_describe_buffer(problem, number, &kept) == STOW_OK);
    CHECK(kept.size == desc.size && kept.guard == desc.guard && kept.begin == desc.begin);
    CHECK(kept.end == desc.end && kept.alignment == desc.alignment && kept.pool == desc.pool);
    CHECK_U64(kept.fixed_offset, desc.fixed_offset);
    CHECK(stow_problem_describe_buffer(problem, number + 1, &kept) == STOW_ERR_NOT_FOUND);
    CHECK(stow_problem_describe_window(problem, number, 0, NULL) == STOW_ERR_NOT_FOUND);
  }
  CHECK_U64(stow_problem_count(problem), 100);
  stow_problem_destroy(problem);
  stow_problem_destroy(NULL);
}

TEST(MalformedBuffersAreRefusedByName) {
  stow_problem* problem = new_problem();
  stow_buffer good = desc_of(8, 0, 1);
  REQUIRE(stow_problem_add(problem, &good, NULL, NULL) == STOW_OK);
  stow_buffer bad = desc_of(0, 0, 1);
  check_refused(problem, &bad, STOW_ERR_INVALID_ARGUMENT, "buffer 1 has size 0");
  bad = desc_of(8, 5, 5);
  check_refused(problem, &bad, STOW_ERR_INVALID_ARGUMENT, "buffer 1 has an empty lifetime [5, 5)");
  bad = desc_of(8, 6, 5);
  check_refused(problem, &bad, STOW_ERR_INVALID_ARGUMENT, "[6, 5)");
  for (uint64_t alignment = 0; alignment < 100; ++alignment) {
    if (alignment == 0 || (alignment & (alignment - 1)) != 0) {
      bad = desc_of(8, 0, 1);
      bad.alignment = alignment;
      check_refused(problem, &bad, STOW_ERR_INVALID_ARGUMENT, "is not a power of two");
    }
  }
  bad = desc_of(8, 0, 1);
  bad.alignment = 64;
  bad.fixed_offset = 96;
  check_refused(problem, &bad, STOW_ERR_INVALID_ARGUMENT, "fixed offset 96 is not aligned to 64");
  bad.struct_size = 0;
  check_refused(problem, &bad, STOW_ERR_INVALID_ARGUMENT, "stow_buffer.struct_size is 0");
  bad = desc_of(8, 0, 1);
  bad.pool = 1;
  check_refused(problem, &bad, STOW_ERR_UNSUPPORTED, "buffer 1: pool 1: only pool 0 exists");
  bad.struct_size = sizeof(bad) + 1;
  check_refused(problem, &bad, STOW_ERR_INVALID_ARGUMENT, "stow_buffer.struct_size");
  stow_problem_destroy(problem);
}

TEST(FootprintsBeyond63BitsAreRefused) {
  stow_problem* problem = new_problem();
  stow_buffer desc = desc_of(UINT64_MAX, 0, 1);
  check_refused(problem, &desc, STOW_ERR_OVERFLOW, "63 bits");
  desc.guard = UINT64_MAX;
  check_refused(problem, &desc, STOW_ERR_OVERFLOW, "63 bits");
  desc = desc_of(UINT64_C(1) << 63, 0, 1);
  check_refused(problem, &desc, STOW_ERR_OVERFLOW, "63 bits");
  desc = desc_of(1, 0, 1);
  desc.alignment = UINT64_C(1) << 63;
  check_refused(problem, &desc, STOW_ERR_OVERFLOW, "63 bits");
  desc = desc_of(8, 0, 1);
  desc.fixed_offset = UINT64_MAX - 7;
  check_refused(problem, &desc, STOW_ERR_OVERFLOW, "63 bits");
  desc.fixed_offset = INT64_MAX - 7;
  check_refused(problem, &desc, STOW_ERR_OVERFLOW, "63 bits");
  stow_problem_destroy(problem);
}

TEST(TheSumOfAllFootprintsIsLimited) {
  stow_problem* problem = new_problem();
  stow_buffer desc = desc_of(UINT64_C(1) << 62, 0, 1);
  CHECK(stow_problem_add(problem, &desc, NULL, NULL) == STOW_OK);
  check_refused(problem, &desc, STOW_ERR_OVERFLOW, "buffer 1");
  desc = desc_of((UINT64_C(1) << 62) - 1, 7, 9);  // live at another time, but counts
  CHECK(stow_problem_add(problem, &desc, NULL, NULL) == STOW_OK);
  desc = desc_of(1, 0, 1);
  check_refused(problem, &desc, STOW_ERR_OVERFLOW, "buffer 2");
  stow_problem_destroy(problem);
}

// ---------------------------------------------------------------------------------------------
// Windows

static stow_window_desc window_of(uint64_t begin, uint64_t end, uint64_t low, uint64_t high) {
  stow_window_desc desc;
  stow_window_desc_init(&desc);
  desc.begin = begin;
  desc.end = end;
  desc.low = low;
  desc.high = high;
  return desc;
}

// Adds [begin, end) × [low, high) to the last buffer and expects |part| in the message, and no
// change.
static void check_window_refused(stow_problem* problem, stow_window_desc desc, const char* part) {
  stow_diag diag;
  stow_diag_init(&diag);
  size_t last = stow_problem_count(problem) - 1;
  size_t count = stow_problem_window_count(problem, last);
  CHECK(stow_problem_add_window(problem, &desc, &diag) == STOW_ERR_INVALID_ARGUMENT);
  CHECK_HAS(diag.message, part);
  CHECK_U64(stow_problem_window_count(problem, last), count);
}

TEST(WindowInitWritesEveryField) {
  stow_window_desc desc = {.struct_size = sizeof(desc)};
  memset(&desc, 0xff, sizeof(desc));
  stow_window_desc_init(&desc);
  CHECK_U64(desc.struct_size, sizeof(desc));
  CHECK(desc.begin == 0 && desc.end == 0 && desc.low == 0 && desc.high == 0);
}

TEST(WindowsAreKeptWithTheirBuffers) {
  stow_problem* problem = new_problem();
  for (uint64_t i = 0; i < 20; ++i) {
    stow_buffer desc = desc_of(10, i, i + 30);
    desc.guard = 2;
    CHECK(stow_problem_add(problem, &desc, NULL, NULL) == STOW_OK);
    for (uint64_t k = 0; k < i % 4; ++k) {
      stow_window_desc window = window_of(i + 3 * k, i + 3 * k + 3, k, 12 - k);
      CHECK(stow_problem_add_window(problem, &window, NULL) == STOW_OK);
    }
  }
  for (uint64_t i = 0; i < 20; ++i) {
    CHECK_U64(stow_problem_window_count(problem, i), i % 4);
    for (uint64_t k = 0; k < i % 4; ++k) {
      stow_window_desc window = {.struct_size = sizeof(window)};
      CHECK(stow_problem_describe_window(problem, i, k, &window) == STOW_OK);
      CHECK_U64(window.struct_size, sizeof(window));
      CHECK_U64(window.begin, i + 3 * k);
      CHECK_U64(window.end, i + 3 * k + 3);
      CHECK_U64(window.low, k);
      CHECK_U64(window.high, 12 - k);
    }
  }
  stow_problem_destroy(problem);
}

TEST(ImpossibleWindowsAreRefused) {
  stow_problem* problem = new_problem();
  stow_window_desc window = window_of(0, 1, 0, 1);
  CHECK(stow_problem_add_window(problem, &window, NULL) == STOW_ERR_INVALID_ARGUMENT);
  stow_buffer desc = desc_of(8, 5, 15);
  desc.guard = 2;
  CHECK(stow_problem_add(problem, &desc, NULL, NULL) == STOW_OK);
  check_window_refused(problem, window_of(4, 6, 0, 1), "[4, 6) is not within the lifetime [5, 15)");
  check_window_refused(problem, window_of(14, 16, 0, 1), "is not within the lifetime");
  check_window_refused(problem, window_of(7, 7, 0, 1), "is not within the lifetime");
  check_window_refused(problem, window_of(8, 7, 0, 1), "is not within the lifetime");
  check_window_refused(problem, window_of(6, 7, 0, 11), "bytes [0, 11) of a window are not");
  check_window_refused(problem, window_of(6, 7, 3, 2), "footprint of 10 bytes");
  check_window_refused(problem, window_of(6, 7, 11, 11), "footprint of 10 bytes");
  check_window_refused(problem, window_of(5, 15, 4, 4), "gaps cover the whole lifetime [5, 15)");
  window = window_of(6, 9, 0, 10);
  CHECK(stow_problem_add_window(problem, &window, NULL) == STOW_OK);
  check_window_refused(problem, window_of(8, 10, 0, 1),
                       "begins before the previous one ends, at 9");
  check_window_refused(problem, window_of(6, 9, 0, 1), "begins before the previous one ends, at 9");
  window.struct_size = 3;
  check_window_refused(problem, window, "struct_size");
  CHECK(stow_problem_add_window(problem, NULL, NULL) == STOW_ERR_INVALID_ARGUMENT);
  stow_problem_destroy(problem);
}

TEST(GapsMayLeaveOneStepOrOneByte) {
  static const stow_window_desc cases[][3] = {
      {{0, 0, 3, 0, 0}, {0, 4, 10, 0, 0}, {0, 0, 0, 0, 0}},   // a step between gaps
      {{0, 0, 3, 0, 0}, {0, 3, 4, 7, 8}, {0, 4, 10, 0, 0}},   // a byte at that step
      {{0, 1, 10, 0, 0}, {0, 0, 0, 0, 0}, {0, 0, 0, 0, 0}}};  // the first step
  for (size_t i = 0; i < 3; ++i) {
    stow_problem* problem = new_problem();
    stow_buffer desc = desc_of(8, 0, 10);
    CHECK(stow_problem_add(problem, &desc, NULL, NULL) == STOW_OK);
    for (size_t k = 0; k < 3 && cases[i][k].end != 0; ++k) {
      stow_window_desc window = cases[i][k];
      window.struct_size = sizeof(window);
      CHECK(stow_problem_add_window(problem, &window, NULL) == STOW_OK);
    }
    stow_problem_destroy(problem);
  }
  stow_problem* problem = new_problem();
  stow_buffer desc = desc_of(8, 0, 10);
  CHECK(stow_problem_add(problem, &desc, NULL, NULL) == STOW_OK);
  stow_window_desc window = window_of(0, 3, 0, 0);
  CHECK(stow_problem_add_window(problem, &window, NULL) == STOW_OK);
  window = window_of(3, 9, 1, 1);
  CHECK(stow_problem_add_window(problem, &window, NULL) == STOW_OK);
  check_window_refused(problem, window_of(9, 10, 8, 8), "gaps cover the whole life");
  stow_problem_destroy(problem);
}

// ---------------------------------------------------------------------------------------------
// Load

static uint64_t brute_load_at(const stow_problem* problem, uint64_t step) {
  uint64_t sum = 0;
  for (size_t i = 0; i < stow_problem_count(problem); ++i) {
    stow_buffer desc = {.struct_size = sizeof(desc)};
    stow_problem_describe_buffer(problem, i, &desc);
    sum += desc.begin <= step && step < desc.end ? desc.size + desc.guard : 0;
  }
  return sum;
}

static stow_load brute_load(const stow_problem* problem, uint64_t horizon) {
  stow_load load = {0};
  for (uint64_t step = 0; step < horizon; ++step) {
    uint64_t sum = brute_load_at(problem, step);
    if (sum > load.bytes) {
      load.bytes = sum;
      load.step = step;
    }
  }
  for (size_t i = 0; i < stow_problem_count(problem); ++i) {
    stow_buffer a = {.struct_size = sizeof(a)};
    stow_problem_describe_buffer(problem, i, &a);
    for (size_t j = 0; j < i; ++j) {
      stow_buffer b = {.struct_size = sizeof(b)};
      stow_problem_describe_buffer(problem, j, &b);
      load.pair_count += a.begin < b.end && b.begin < a.end;
    }
  }
  return load;
}

static uint64_t padded_to(uint64_t bytes, uint64_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

// The highest load with every footprint but one in whole units: the bound is at most a unit below
// that with all of them, and never below the plain load or a fixed end.
static void check_bound(const stow_problem* problem, uint64_t horizon, uint64_t unit,
                        const stow_load* load) {
  uint64_t padded = 0;
  for (uint64_t step = 0; step < horizon; ++step) {
    uint64_t sum = 0;
    for (size_t i = 0; i < stow_problem_count(problem); ++i) {
      stow_buffer d = {.struct_size = sizeof(d)};
      stow_problem_describe_buffer(problem, i, &d);
      sum += d.begin <= step && step < d.end ? padded_to(d.size + d.guard, unit) : 0;
      bool is_fixed = d.fixed_offset != STOW_PLACE_ANYWHERE;
      CHECK(!is_fixed || load->lower_bound >= d.fixed_offset + d.size + d.guard);
    }
    padded = sum > padded ? sum : padded;
  }
  CHECK(load->lower_bound >= load->bytes);
  CHECK(load->lower_bound + unit > padded);
}

static void check_load(test_random* random) {
  stow_problem* problem = new_problem();
  uint64_t horizon = 1 + test_random_below(random, 50);
  size_t count = (size_t)test_random_below(random, 60);
  uint64_t unit = UINT64_C(1) << test_random_below(random, 4);
  uint64_t smallest = unit << 2;
  for (size_t i = 0; i < count; ++i) {
    uint64_t begin = test_random_below(random, horizon);
    uint64_t end = begin + 1 + test_random_below(random, horizon - begin);
    stow_buffer desc = desc_of(1 + test_random_below(random, 9), begin, end);
    desc.guard = test_random_below(random, 3);
    desc.alignment = unit << test_random_below(random, 3);
    if (test_random_below(random, 10) == 0) {
      desc.fixed_offset = desc.alignment * test_random_below(random, 50);
    }
    smallest = desc.alignment < smallest ? desc.alignment : smallest;
    CHECK(stow_problem_add(problem, &desc, NULL, NULL) == STOW_OK);
  }
  stow_load load;
  memset(&load, 0xff, sizeof(load));
  load.struct_size = sizeof(load);
  CHECK(stow_problem_load(problem, stow_allocator_default(), NULL, &load) == STOW_OK);
  stow_load expected = brute_load(problem, horizon);
  CHECK_U64(load.bytes, expected.bytes);
  CHECK_U64(load.step, expected.step);
  CHECK_U64(load.pair_count, expected.pair_count);
  check_bound(problem, horizon, smallest, &load);
  stow_problem_destroy(problem);
}

TEST(LoadAgreesWithBruteForce) {
  test_random random = {1};
  int cases = test_is_long() ? 30000 : 1500;
  for (int i = 0; i < cases; ++i) {
    check_load(&random);
  }
}

TEST(PaddingCountsInTheBound) {
  stow_problem* problem = new_problem();
  for (int i = 0; i < 3; ++i) {
    stow_buffer desc = desc_of(65, 0, 1);
    desc.alignment = 64;
    CHECK(stow_problem_add(problem, &desc, NULL, NULL) == STOW_OK);
  }
  stow_load load = {.struct_size = sizeof(load)};
  CHECK(stow_problem_load(problem, stow_allocator_default(), NULL, &load) == STOW_OK);
  CHECK_U64(load.bytes, 195);
  CHECK_U64(load.lower_bound, 128 + 128 + 65);  // two in whole units, the topmost as it is
  stow_problem_destroy(problem);
}

TEST(NoPlacementIsBelowTheLowerBound) {
  test_random random = {2};
  for (int k = 0; k < 300; ++k) {
    stow_problem* problem = new_problem();
    size_t count = 1 + (size_t)test_random_below(&random, 30);
    for (size_t i = 0; i < count; ++i) {
      uint64_t begin = test_random_below(&random, 20);
      stow_buffer desc = desc_of(1 + test_random_below(&random, 99), begin,
                                 begin + 1 + test_random_below(&random, 9));
      desc.alignment = UINT64_C(4) << test_random_below(&random, 5);
      desc.guard = test_random_below(&random, 9);
      CHECK(stow_problem_add(problem, &desc, NULL, NULL) == STOW_OK);
    }
    stow_load load = {.struct_size = sizeof(load)};
    CHECK(stow_problem_load(problem, stow_allocator_default(), NULL, &load) == STOW_OK);
    for (size_t s = 0; s < stow_strategy_count(); ++s) {
      stow_place_options options;
      stow_place_options_init(&options);
      options.nodes = 1000;
      stow_placement* placement = NULL;
      CHECK(stow_strategy_at(s)->place(problem, &options, stow_allocator_default(), NULL,
                                       &placement) == STOW_OK);
      CHECK(stow_placement_height(placement) >= load.lower_bound);
      stow_placement_destroy(placement);
    }
    stow_problem_destroy(problem);
  }
}

TEST(AnEmptyProblemHasNoLoad) {
  stow_problem* problem = new_problem();
  stow_load load;
  memset(&load, 0xff, sizeof(load));
  load.struct_size = sizeof(load);
  CHECK(stow_problem_load(problem, stow_allocator_default(), NULL, &load) == STOW_OK);
  CHECK(load.bytes == 0 && load.step == 0 && load.lower_bound == 0 && load.pair_count == 0);
  stow_problem_destroy(problem);
}

TEST(PairsThatAllLiveTogetherAreCountedWithoutBeingVisited) {
  enum { COUNT = 200000 };
  stow_problem* problem = new_problem();
  for (uint64_t i = 0; i < COUNT; ++i) {
    stow_buffer desc = desc_of(2, i, COUNT);
    CHECK(stow_problem_add(problem, &desc, NULL, NULL) == STOW_OK);
  }
  stow_load load = {.struct_size = sizeof(load)};
  CHECK(stow_problem_load(problem, stow_allocator_default(), NULL, &load) == STOW_OK);
  CHECK_U64(load.pair_count, UINT64_C(199999) * 100000);
  CHECK_U64(load.bytes, 2 * COUNT);
  CHECK_U64(load.step, COUNT - 1);
  stow_problem_destroy(problem);
}

TEST(StepsUseAll64Bits) {
  stow_problem* problem = new_problem();
  stow_buffer desc = desc_of(4, UINT64_MAX - 1, UINT64_MAX);
  CHECK(stow_problem_add(problem, &desc, NULL, NULL) == STOW_OK);
  desc = desc_of(3, 0, UINT64_MAX);
  CHECK(stow_problem_add(problem, &desc, NULL, NULL) == STOW_OK);
  stow_load load = {.struct_size = sizeof(load)};
  CHECK(stow_problem_load(problem, stow_allocator_default(), NULL, &load) == STOW_OK);
  CHECK_U64(load.bytes, 7);
  CHECK(load.step == UINT64_MAX - 1);
  CHECK_U64(load.pair_count, 1);
  stow_problem_destroy(problem);
}

// ---------------------------------------------------------------------------------------------
// Failing allocations

static stow_status build_and_load(stow_allocator allocator, void* user) {
  stow_load* load = (stow_load*)user;
  stow_problem* problem = NULL;
  stow_status status = stow_problem_create(allocator, NULL, &problem);
  CHECK((problem == NULL) == (status != STOW_OK));
  for (uint64_t i = 0; i < 100 && status == STOW_OK; ++i) {
    stow_buffer desc = desc_of(1 + i, 100 - i, 200 - i);
    size_t before = stow_problem_count(problem);
    status = stow_problem_add(problem, &desc, NULL, NULL);
    CHECK_U64(stow_problem_count(problem), before + (status == STOW_OK));
  }
  if (status == STOW_OK) {
    memset(load, 0xff, sizeof(*load));
    load->struct_size = sizeof(*load);
    status = stow_problem_load(problem, allocator, NULL, load);
    CHECK((load->bytes == 0) == (status != STOW_OK));
  }
  stow_problem_destroy(problem);
  return status;
}

TEST(EveryFailedAllocationIsReportedAndLeaksNothing) {
  stow_load load = {.struct_size = sizeof(load)};
  CHECK(test_fault_sweep(build_and_load, &load) >= 6);
  CHECK_U64(load.bytes, 5050);
}
