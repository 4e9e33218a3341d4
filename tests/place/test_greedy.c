// First fit and best fit against their plain definitions, on random problems of every kind.
#include <stdlib.h>
#include <stowage/place.h>
#include <string.h>

#include "place/api.h"
#include "support/fault.h"
#include "support/test.h"

enum { MAX_BUFFERS = 3000 };

typedef struct plain_buffer {
  stow_buffer desc;
  uint64_t offset;
  bool placed;
} plain_buffer;

static plain_buffer buffers[MAX_BUFFERS];
static size_t order[MAX_BUFFERS];

static uint64_t end_of(const plain_buffer* b) { return b->offset + b->desc.size + b->desc.guard; }

static bool live_together(const plain_buffer* a, const plain_buffer* b) {
  return a->desc.begin < b->desc.end && b->desc.begin < a->desc.end;
}

static uint64_t align_up(uint64_t x, uint64_t alignment) {
  return (x + alignment - 1) / alignment * alignment;
}

// Where the lowest live footprint that overlaps [at, at + footprint) ends; 0 if none does.
static uint64_t blocked_until(const plain_buffer* b, size_t count, uint64_t at) {
  uint64_t footprint = b->desc.size + b->desc.guard;
  for (size_t i = 0; i < count; ++i) {
    const plain_buffer* other = &buffers[i];
    if (other->placed && live_together(b, other) && other->offset < at + footprint &&
        at < end_of(other)) {
      return end_of(other);
    }
  }
  return 0;
}

static uint64_t lowest_fit(const plain_buffer* b, size_t count, uint64_t from) {
  uint64_t at = align_up(from, b->desc.alignment);
  for (uint64_t end; (end = blocked_until(b, count, at)) != 0;) {
    at = align_up(end, b->desc.alignment);
  }
  return at;
}

// The start of the first live footprint above |at|.
static uint64_t room_above(const plain_buffer* b, size_t count, uint64_t at) {
  uint64_t room = UINT64_MAX;
  for (size_t i = 0; i < count; ++i) {
    const plain_buffer* other = &buffers[i];
    if (other->placed && live_together(b, other) && other->offset >= at && other->offset < room) {
      room = other->offset;
    }
  }
  return room;
}

static uint64_t tightest_fit(const plain_buffer* b, size_t count) {
  uint64_t best = UINT64_MAX;
  uint64_t best_room = UINT64_MAX;
  uint64_t at = lowest_fit(b, count, 0);
  for (uint64_t end; (end = room_above(b, count, at)) != UINT64_MAX;) {
    if (end - at < best_room) {
      best = at;
      best_room = end - at;
    }
    at = lowest_fit(b, count, end);
  }
  return best == UINT64_MAX ? at : best;
}

static int by_size(const void* a, const void* b) {
  size_t x = *(const size_t*)a;
  size_t y = *(const size_t*)b;
  if (buffers[x].desc.size != buffers[y].desc.size) {
    return buffers[x].desc.size > buffers[y].desc.size ? -1 : 1;
  }
  return x < y ? -1 : 1;
}

static void place_plainly(size_t count, bool tight) {
  for (size_t i = 0; i < count; ++i) {
    order[i] = i;
    buffers[i].placed = buffers[i].desc.fixed_offset != STOW_PLACE_ANYWHERE;
    buffers[i].offset = buffers[i].placed ? buffers[i].desc.fixed_offset : 0;
  }
  qsort(order, count, sizeof(order[0]), by_size);
  for (size_t i = 0; i < count; ++i) {
    plain_buffer* b = &buffers[order[i]];
    if (!b->placed) {
      b->offset = tight ? tightest_fit(b, count) : lowest_fit(b, count, 0);
      b->placed = true;
    }
  }
}

// How lifetimes and sizes are drawn.
typedef struct shape {
  uint64_t horizon;
  uint64_t sizes;       // how many different ones
  uint64_t alignments;  // powers of two below this
  bool guards;
  bool in_birth_order;
  uint64_t whole;   // of 8: always live
  uint64_t suffix;  // of 8: live to the end
  uint64_t longest;
} shape;

static void draw(test_random* random, const shape* s, size_t index, size_t count, plain_buffer* b) {
  stow_buffer_init(&b->desc);
  b->desc.size = (1 + test_random_below(random, s->sizes)) * 13;
  b->desc.alignment = UINT64_C(1) << test_random_below(random, s->alignments);
  b->desc.guard =
      s->guards && test_random_below(random, 3) == 0 ? test_random_below(random, 40) : 0;
  uint64_t kind = test_random_below(random, 8);
  b->desc.begin =
      s->in_birth_order ? index * s->horizon / count : test_random_below(random, s->horizon);
  b->desc.end = b->desc.begin + 1 + test_random_below(random, s->longest);
  if (b->desc.end > s->horizon) {
    b->desc.end = s->horizon;
  }
  if (kind < s->whole) {
    b->desc.begin = 0;
    b->desc.end = s->horizon;
  } else if (kind < s->whole + s->suffix) {
    b->desc.end = s->horizon;
  }
}

static void compare(const stow_problem* problem, size_t count, const stow_strategy* strategy) {
  stow_placement* placement = NULL;
  stow_diag diag;
  stow_diag_init(&diag);
  stow_place_options options;
  stow_place_options_init(&options);
  REQUIRE(strategy->place(problem, &options, stow_allocator_default(), &diag, &placement) ==
          STOW_OK);
  uint64_t height = 0;
  for (size_t i = 0; i < count; ++i) {
    if (!CHECK_U64(stow_placement_offset(placement, i), buffers[i].offset)) {
      break;
    }
    height = end_of(&buffers[i]) > height ? end_of(&buffers[i]) : height;
  }
  CHECK_U64(stow_placement_height(placement), height);
  stow_placement_destroy(placement);
}

static stow_problem* make_problem(size_t count) {
  stow_problem* problem = NULL;
  CHECK(stow_problem_create(stow_allocator_default(), NULL, &problem) == STOW_OK);
  for (size_t i = 0; i < count; ++i) {
    CHECK(stow_problem_add(problem, &buffers[i].desc, NULL, NULL) == STOW_OK);
  }
  return problem;
}

// A few fixed buffers where a first fit places them: they cannot overlap.
static void fix_some(test_random* random, size_t count) {
  place_plainly(count, false);
  for (size_t i = 0; i < count; ++i) {
    if (test_random_below(random, 6) == 0) {
      buffers[i].desc.fixed_offset = buffers[i].offset;
    }
  }
}

static void run_case(test_random* random, const shape* s, size_t count, bool fixed) {
  for (size_t i = 0; i < count; ++i) {
    draw(random, s, i, count, &buffers[i]);
  }
  if (fixed) {
    fix_some(random, count);
  }
  stow_problem* problem = make_problem(count);
  place_plainly(count, false);
  compare(problem, count, stow_strategy_find(stow_str_of("first-fit")));
  place_plainly(count, true);
  compare(problem, count, stow_strategy_find(stow_str_of("best-fit")));
  stow_problem_destroy(problem);
}

static shape random_shape(test_random* random, size_t count) {
  shape s = {0};
  s.horizon = 1 + test_random_below(random, 2 * count);
  s.sizes = test_random_below(random, 2) ? 1 + test_random_below(random, 4) : 1 + count;
  s.alignments = test_random_below(random, 2) ? 1 : 1 + test_random_below(random, 8);
  s.guards = test_random_below(random, 2);
  s.in_birth_order = test_random_below(random, 2);
  s.whole = test_random_below(random, 3);
  s.suffix = test_random_below(random, 2) ? test_random_below(random, 6) : 0;
  s.longest = test_random_below(random, 2) ? 1 + s.horizon / 16 : s.horizon;
  return s;
}

TEST(SmallProblemsArePlacedAsDefined) {
  test_random random = {11};
  int cases = test_is_long() ? 60000 : 4000;
  for (int i = 0; i < cases; ++i) {
    size_t count = 1 + test_random_below(&random, 60);
    shape s = random_shape(&random, count);
    run_case(&random, &s, count, test_random_below(&random, 3) == 0);
  }
}

TEST(LargerProblemsArePlacedAsDefined) {
  test_random random = {12};
  int cases = test_is_long() ? 300 : 40;
  for (int i = 0; i < cases; ++i) {
    size_t count = 200 + test_random_below(&random, 400);
    shape s = random_shape(&random, count);
    run_case(&random, &s, count, test_random_below(&random, 4) == 0);
  }
}

// Few sizes, thousands live at once: the case that runs are for. With alignments above the sizes
// most ends are padded.
TEST(LongRunsOfEqualSizesArePlacedAsDefined) {
  test_random random = {13};
  for (uint64_t i = 0; i < 6; ++i) {
    shape s = {.horizon = 1500,
               .sizes = 1 + i % 3,
               .alignments = i < 3 ? 1 : 7,
               .in_birth_order = true,
               .longest = 600,
               .whole = i % 3,
               .guards = i % 2 == 1};
    run_case(&random, &s, test_is_long() ? 3000 : 900, false);
  }
}

TEST(WithoutReuseBuffersAreStacked) {
  test_random random = {14};
  for (int i = 0; i < 200; ++i) {
    size_t count = 1 + test_random_below(&random, 40);
    shape s = random_shape(&random, count);
    for (size_t k = 0; k < count; ++k) {
      draw(&random, &s, k, count, &buffers[k]);
      order[k] = k;
    }
    stow_problem* problem = make_problem(count);
    stow_place_options options;
    stow_place_options_init(&options);
    options.reuse = false;
    stow_placement* placement = NULL;
    REQUIRE(stowi_place_first_fit(problem, &options, stow_allocator_default(), NULL, &placement) ==
            STOW_OK);
    qsort(order, count, sizeof(order[0]), by_size);
    uint64_t top = 0;
    for (size_t k = 0; k < count; ++k) {
      plain_buffer* b = &buffers[order[k]];
      b->offset = align_up(top, b->desc.alignment);
      CHECK_U64(stow_placement_offset(placement, order[k]), b->offset);
      top = end_of(b);
    }
    CHECK_U64(stow_placement_height(placement), top);
    stow_placement_destroy(placement);
    stow_problem_destroy(problem);
  }
}

TEST(EveryStrategyPlacesNothing) {
  stow_problem* problem = make_problem(0);
  for (size_t i = 0; i < stow_strategy_count(); ++i) {
    place_plainly(0, false);
    compare(problem, 0, stow_strategy_at(i));
    CHECK(stow_strategy_find(stow_str_of(stow_strategy_at(i)->name)) == stow_strategy_at(i));
    CHECK(strlen(stow_strategy_at(i)->summary) > 10);
  }
  CHECK(stow_strategy_find(stow_str_of("none such")) == NULL);
  CHECK(stow_strategy_at(stow_strategy_count()) == NULL);
  stow_problem_destroy(problem);
}

static void add(stow_problem* problem, uint64_t size, uint64_t begin, uint64_t end, uint64_t at) {
  stow_buffer desc;
  stow_buffer_init(&desc);
  desc.size = size;
  desc.begin = begin;
  desc.end = end;
  desc.fixed_offset = at;
  CHECK(stow_problem_add(problem, &desc, NULL, NULL) == STOW_OK);
}

// The two that overlap are neighbours in memory, not in the problem.
TEST(FixedBuffersApartAreComparedInOrderOfOffset) {
  stow_problem* problem = make_problem(0);
  add(problem, 10, 0, 5, 0);
  add(problem, 10, 0, 5, 40);
  add(problem, 10, 7, 9, 8);
  stow_place_options options;
  stow_place_options_init(&options);
  options.reuse = false;
  stow_placement* placement = NULL;
  CHECK(stowi_place_best_fit(problem, &options, stow_allocator_default(), NULL, &placement) ==
        STOW_ERR_CONFLICT);
  stow_placement_destroy(placement);
  stow_problem_destroy(problem);
}

TEST(OverlappingFixedBuffersAreNamed) {
  stow_problem* problem = make_problem(0);
  add(problem, 10, 0, 5, 0);
  add(problem, 10, 5, 9, 4);  // overlaps in space, not in time
  add(problem, 10, 3, 6, 8);  // overlaps both
  stow_place_options options;
  stow_place_options_init(&options);
  stow_diag diag;
  stow_diag_init(&diag);
  stow_placement* placement = NULL;
  CHECK(stowi_place_first_fit(problem, &options, stow_allocator_default(), &diag, &placement) ==
        STOW_ERR_CONFLICT);
  CHECK(placement == NULL);
  CHECK_HAS(diag.message, "fixed buffers 0, [0, 10), and 2, [8, 18), overlap");
  CHECK_HAS(diag.message, "step 3");
  options.reuse = false;
  CHECK(stowi_place_best_fit(problem, &options, stow_allocator_default(), &diag, &placement) ==
        STOW_ERR_CONFLICT);
  CHECK_HAS(diag.message, "although reuse is off");
  options.struct_size = 0;
  CHECK(stowi_place_first_fit(problem, &options, stow_allocator_default(), &diag, &placement) ==
        STOW_ERR_INVALID_ARGUMENT);
  stow_problem_destroy(problem);
}

static stow_status place_all(stow_allocator allocator, void* user) {
  const stow_strategy* strategy = (const stow_strategy*)user;
  test_random random = {15};
  shape s = {.horizon = 200,
             .sizes = 2,
             .alignments = 2,
             .in_birth_order = true,
             .longest = 60,
             .whole = 1,
             .suffix = 2};
  stow_problem* problem = NULL;
  stow_status status = stow_problem_create(allocator, NULL, &problem);
  for (size_t i = 0; i < 300 && status == STOW_OK; ++i) {
    draw(&random, &s, i, 300, &buffers[i]);
    buffers[i].desc.fixed_offset = i == 7 ? 4096 : STOW_PLACE_ANYWHERE;
    status = stow_problem_add(problem, &buffers[i].desc, NULL, NULL);
  }
  for (int reuse = 0; reuse < 2 && status == STOW_OK; ++reuse) {
    stow_place_options options;
    stow_place_options_init(&options);
    options.reuse = reuse != 0;
    stow_placement* placement = NULL;
    status = strategy->place(problem, &options, allocator, NULL, &placement);
    CHECK((placement == NULL) == (status != STOW_OK));
    stow_placement_destroy(placement);
  }
  stow_problem_destroy(problem);
  return status;
}

TEST(EveryStrategySurvivesEveryFailedAllocation) {
  for (size_t i = 0; i < stow_strategy_count(); ++i) {
    stow_strategy strategy = *stow_strategy_at(i);
    CHECK(test_fault_sweep(place_all, &strategy) > 10);
  }
}
