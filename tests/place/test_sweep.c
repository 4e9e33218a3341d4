// First fit in a run agrees with a scan of everything that is live.
#include "place/greedy/sweep.h"
#include "support/fault.h"
#include "support/test.h"

enum { MAX_COUNT = 40, UNIT = 4 };

static stow_problem* random_run(test_random* random, size_t count) {
  stow_problem* problem = NULL;
  CHECK(stow_problem_create(stow_allocator_default(), NULL, &problem) == STOW_OK);
  uint64_t begin = 0;
  for (size_t i = 0; i < count; ++i) {
    stow_buffer desc;
    stow_buffer_init(&desc);
    begin += test_random_below(random, 3);
    desc.size = 1 + test_random_below(random, 12);
    desc.begin = begin;
    desc.end = begin + 1 + test_random_below(random, 8);
    CHECK(stow_problem_add(problem, &desc, NULL, NULL) == STOW_OK);
  }
  return problem;
}

typedef struct run {
  const stow_problem* problem;
  stowi_place_sections sections;
  bool is_placed[MAX_COUNT];
  uint64_t offsets[MAX_COUNT];
} run;

static bool is_free(const run* r, uint32_t section, uint64_t at, uint64_t size) {
  for (size_t i = 0; i < stow_problem_count(r->problem); ++i) {
    bool is_live = r->sections.begin[i] <= section && section < r->sections.end[i];
    uint64_t end = r->offsets[i] + r->problem->buffers.data[i].size;
    if (r->is_placed[i] && is_live && r->offsets[i] < at + size && at < end) {
      return false;
    }
  }
  return true;
}

static uint64_t first_fit(const run* r, uint32_t section, uint64_t size, uint64_t from) {
  uint64_t at = (from + UNIT - 1) / UNIT * UNIT;
  while (!is_free(r, section, at, size)) {
    at += UNIT;
  }
  return at;
}

// Where |i| overlaps nothing over its whole lifetime, at or above |from|.
static uint64_t place(const run* r, uint32_t i, uint64_t from) {
  uint64_t at = from;
  for (uint32_t section = r->sections.begin[i]; section < r->sections.end[i]; ++section) {
    if (!is_free(r, section, at, r->problem->buffers.data[i].size)) {
      at += UNIT;
      section = r->sections.begin[i] - 1;
    }
  }
  return at;
}

// Some are placed before the run, disjoint from each other; the others in it, in order of birth.
static void check_run(test_random* random) {
  run r = {.problem = NULL};
  size_t count = 1 + (size_t)test_random_below(random, MAX_COUNT);
  stow_problem* problem = random_run(random, count);
  stow_allocator allocator = stow_allocator_default();
  stowi_place_sweep* sweep = NULL;
  r.problem = problem;
  CHECK(stowi_place_sections_make(problem, allocator, &r.sections) == STOW_OK);
  CHECK(stowi_place_sweep_create(problem, &r.sections, allocator, &sweep) == STOW_OK);
  size_t first = (size_t)test_random_below(random, count);
  for (uint32_t i = 0; i < count; ++i) {
    if (i < first || test_random_below(random, 4) == 0) {
      r.is_placed[i] = true;
      r.offsets[i] = i * 16 + test_random_below(random, 4);
      stowi_place_sweep_put(sweep, i, r.offsets[i]);
    }
  }
  stowi_place_sweep_start(sweep, r.sections.begin[first], UNIT);
  for (uint32_t i = (uint32_t)first; i < count; ++i) {
    if (r.is_placed[i]) {
      continue;
    }
    uint64_t size = problem->buffers.data[i].size;
    uint64_t from = test_random_below(random, 2) * test_random_below(random, 30) * UNIT;
    uint32_t section = r.sections.begin[i];
    stowi_place_sweep_advance(sweep, section);
    uint64_t found = stowi_place_sweep_find(sweep, size, UNIT, from);
    CHECK_U64(found, first_fit(&r, section, size, from));
    r.offsets[i] = place(&r, i, found);
    r.is_placed[i] = true;
    stowi_place_sweep_put(sweep, i, r.offsets[i]);
  }
  stowi_place_sweep_stop(sweep);
  stowi_place_sweep_destroy(sweep);
  stowi_place_sections_free(&r.sections, problem, allocator);
  stow_problem_destroy(problem);
}

TEST(FirstFitOverlapsNothingLive) {
  test_random random = {41};
  int cases = test_is_long() ? 50000 : 2000;
  for (int k = 0; k < cases && test_failures() == 0; ++k) {
    check_run(&random);
  }
}

static stow_status attempt(stow_allocator allocator, void* user) {
  const run* r = (const run*)user;
  stowi_place_sweep* sweep = NULL;
  stow_status status = stowi_place_sweep_create(r->problem, &r->sections, allocator, &sweep);
  stowi_place_sweep_destroy(sweep);
  return status;
}

TEST(EveryFailedAllocationIsReported) {
  test_random random = {43};
  run r = {.problem = NULL};
  stow_problem* problem = random_run(&random, 20);
  r.problem = problem;
  CHECK(stowi_place_sections_make(problem, stow_allocator_default(), &r.sections) == STOW_OK);
  CHECK(test_fault_sweep(attempt, &r) > 3);
  stowi_place_sections_free(&r.sections, problem, stow_allocator_default());
  stow_problem_destroy(problem);
}
