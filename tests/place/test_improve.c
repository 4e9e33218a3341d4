// Compaction and local search: never worse, and as good as documented.
#include <stdlib.h>
#include <string.h>

#include "place/api.h"
#include "place/improve/improve.h"
#include "place/problem.h"
#include "random_problem.h"

enum { MAX_COUNT = 64 };

static bool meet(const stow_problem* problem, const uint64_t* offsets, size_t a, size_t b) {
  const stowi_place_buffer* x = &problem->buffers.data[a];
  const stowi_place_buffer* y = &problem->buffers.data[b];
  return x->begin < y->end && y->begin < x->end &&
         offsets[a] < offsets[b] + stowi_place_footprint(y) &&
         offsets[b] < offsets[a] + stowi_place_footprint(x);
}

static bool can_lie_at(const stow_problem* problem, uint64_t* offsets, size_t buffer,
                       uint64_t offset) {
  uint64_t old = offsets[buffer];
  bool free = true;
  offsets[buffer] = offset;
  for (size_t other = 0; free && other < problem->buffers.count; ++other) {
    free = other == buffer || !meet(problem, offsets, buffer, other);
  }
  offsets[buffer] = old;
  return free;
}

static void check_nothing_can_drop(const stow_problem* problem, uint64_t* offsets) {
  for (size_t i = 0; i < problem->buffers.count; ++i) {
    const stowi_place_buffer* b = &problem->buffers.data[i];
    for (uint64_t at = 0; !stowi_place_is_fixed(b) && at < offsets[i]; at += b->alignment) {
      if (!CHECK(!can_lie_at(problem, offsets, i, at))) {
        return;
      }
    }
  }
}

// A correct placement full of gaps: each above all others, fixed ones in place.
static uint64_t scatter(const stow_problem* problem, uint64_t* offsets) {
  uint64_t height = problem->fixed_end;
  for (size_t i = 0; i < problem->buffers.count; ++i) {
    const stowi_place_buffer* b = &problem->buffers.data[i];
    if (stowi_place_is_fixed(b)) {
      offsets[i] = b->fixed_offset;
      continue;
    }
    offsets[i] = (height + 5 + b->alignment - 1) / b->alignment * b->alignment;
    height = offsets[i] + stowi_place_footprint(b);
  }
  return height;
}

TEST(DroppingEndsWhenNothingCanDrop) {
  test_random random = {1};
  size_t cases = test_is_long() ? 5000 : 300;
  for (size_t i = 0; i < cases; ++i) {
    random_shape shape = random_shape_of(&random, 40);
    shape.windows = false;
    stow_problem* problem = random_problem(&random, &shape);
    stowi_place_quest quest = {.problem = problem, .allocator = stow_allocator_default()};
    stow_place_options_init(&quest.options);
    uint64_t offsets[MAX_COUNT];
    uint64_t before[MAX_COUNT];
    uint64_t old_height = scatter(problem, offsets);
    uint64_t height = 0;
    memcpy(before, offsets, sizeof(before));
    CHECK(stowi_place_drop(&quest, offsets, &height) == STOW_OK);
    CHECK(height <= old_height);
    for (size_t k = 0; k < problem->buffers.count; ++k) {
      CHECK(offsets[k] <= before[k]);
    }
    CHECK(stow_placement_check(problem, offsets, problem->buffers.count, height,
                               stow_allocator_default(), NULL, NULL) == STOW_OK);
    check_nothing_can_drop(problem, offsets);
    stow_problem_destroy(problem);
  }
}

TEST(MirroringPlainBuffersNeverRaisesTheHeight) {
  test_random random = {2};
  for (size_t i = 0; i < 200; ++i) {
    random_shape shape = {.count = 1 + i % 50, .guards = i % 2 == 0};
    stow_problem* problem = random_problem(&random, &shape);
    stowi_place_quest quest = {.problem = problem, .allocator = stow_allocator_default()};
    stow_place_options_init(&quest.options);
    uint64_t offsets[MAX_COUNT];
    uint64_t height = 0;
    scatter(problem, offsets);
    CHECK(stowi_place_drop(&quest, offsets, &height) == STOW_OK);
    for (size_t round = 0; round < 4; ++round) {
      uint64_t mirrored = 0;
      CHECK(stowi_place_drop_mirrored(&quest, offsets, &mirrored) == STOW_OK);
      CHECK(mirrored <= height);
      height = mirrored;
    }
    stow_problem_destroy(problem);
  }
}

TEST(CompactionIsNeverHigherThanFirstFit) {
  test_random random = {3};
  for (size_t i = 0; i < 150; ++i) {
    random_shape shape = random_shape_of(&random, 60);
    stow_problem* problem = random_problem(&random, &shape);
    CHECK(height_with(problem, "compact", 10000) <= height_with(problem, "first-fit", 0));
    stow_problem_destroy(problem);
  }
}

TEST(CompactMeetsTheContract) { check_strategy("compact"); }

TEST(LocalSearchMeetsTheContract) { check_strategy("local-search"); }

TEST(MoreNodesNeverRaiseTheHeight) {
  test_random random = {4};
  for (size_t i = 0; i < 20; ++i) {
    random_shape shape = random_shape_of(&random, 60);
    stow_problem* problem = random_problem(&random, &shape);
    uint64_t last = UINT64_MAX;
    for (uint64_t nodes = 0; nodes < 20000; nodes = 3 * nodes + 50) {
      uint64_t height = height_with(problem, "local-search", nodes);
      CHECK(height <= last);
      last = height;
    }
    stow_problem_destroy(problem);
  }
}

// A solid block divided at random: its optimum is known, and it has no slack at all.
static void cut(test_random* random, stow_problem* problem, size_t pieces, uint64_t width,
                uint64_t height, uint64_t begin) {
  bool across = width > 1 && (height < 2 || test_random_below(random, 2) == 0);
  if (pieces <= 1 || (width < 2 && height < 2)) {
    stow_buffer desc;
    stow_buffer_init(&desc);
    desc.size = height;
    desc.begin = begin;
    desc.end = begin + width;
    CHECK(stow_problem_add(problem, &desc, NULL, NULL) == STOW_OK);
  } else if (across) {
    uint64_t at = 1 + test_random_below(random, width - 1);
    cut(random, problem, pieces / 2, at, height, begin);
    cut(random, problem, pieces - pieces / 2, width - at, height, begin + at);
  } else {
    uint64_t at = 1 + test_random_below(random, height - 1);
    cut(random, problem, pieces / 2, width, at, begin);
    cut(random, problem, pieces - pieces / 2, width, height - at, begin);
  }
}

TEST(LocalSearchSolvesSmallTiledBlocks) {
  test_random random = {5};
  size_t solved = 0;
  for (size_t i = 0; i < 50; ++i) {
    stow_problem* problem = NULL;
    REQUIRE(stow_problem_create(stow_allocator_default(), NULL, &problem) == STOW_OK);
    cut(&random, problem, 12, 1000, 1000, 0);
    solved += height_with(problem, "local-search", 200000) == 1000;
    stow_problem_destroy(problem);
  }
  CHECK(solved >= 45);
}

// With so few nodes it is the order that must get better, pass by pass: the best of all orders to
// begin with solves 19 of these.
TEST(BringingForwardLateBuffersHelps) {
  test_random random = {5};
  size_t solved = 0;
  for (size_t i = 0; i < 30; ++i) {
    stow_problem* problem = NULL;
    REQUIRE(stow_problem_create(stow_allocator_default(), NULL, &problem) == STOW_OK);
    cut(&random, problem, 30, 1000, 1000, 0);
    solved += height_with(problem, "local-search", 3500) == 1000;
    stow_problem_destroy(problem);
  }
  CHECK(solved >= 27);
}

// Fixed buffers of a neighbourhood and their footprints together need more than 63 bits.
TEST(NeighbourhoodsThatWouldOverflowAreSkipped) {
  enum { COUNT = 600 };
  test_random random = {23};
  stow_problem* problem = NULL;
  REQUIRE(stow_problem_create(stow_allocator_default(), NULL, &problem) == STOW_OK);
  for (size_t i = 0; i < COUNT; ++i) {
    stow_buffer desc;
    stow_buffer_init(&desc);
    desc.begin = test_random_below(&random, 30);
    desc.end = desc.begin + 1 + test_random_below(&random, 30);
    desc.alignment = i == 0 ? 1 : UINT64_C(1) << 48;
    desc.size = INT64_MAX / COUNT / 5 * 4 + test_random_below(&random, INT64_MAX / COUNT / 10);
    CHECK(stow_problem_add(problem, &desc, NULL, NULL) == STOW_OK);
  }
  CHECK(height_with(problem, "lns", 20000) < INT64_MAX);
  CHECK(height_with(problem, "auto", 20000) < INT64_MAX);
  stow_problem_destroy(problem);
}

typedef struct listener {
  const char* phase;    // the phase that is observed
  size_t calls;         // in it
  size_t calls_within;  // of these, while nothing was spent and nothing found
  size_t stop_after;    // so many of these; 0: never
  stow_place_progress last;
} listener;

static bool listen(void* user, const stow_place_progress* progress) {
  listener* l = (listener*)user;
  if (strcmp(progress->phase, l->phase) == 0) {
    ++l->calls;
    l->calls_within += progress->nodes == l->last.nodes && progress->best == l->last.best;
  }
  l->last = *progress;
  return l->stop_after == 0 || l->calls_within < l->stop_after;
}

// Runs |strategy| on a problem whose bound is out of reach, stopping within a long piece of work.
static void check_asks_within(const char* strategy, const char* phase, bool fixed) {
  test_random random = {29};
  random_shape shape = {.count = 1500, .alignments = true, .guards = true, .fixed = fixed};
  stow_problem* problem = random_problem(&random, &shape);
  stow_place_options options;
  stow_place_options_init(&options);
  for (size_t stop_after = 1; stop_after <= 4; ++stop_after) {
    listener l = {phase, 0, 0, stop_after, {"", 0, 0, 0}};
    options.nodes = 40000;
    options.on_progress = listen;
    options.user = &l;
    stow_placement* placement = place_and_check(problem, strategy, &options);
    REQUIRE(placement != NULL);
    CHECK(stowi_place_placement_stopped(placement));
    CHECK_U64(l.calls_within, stop_after);
    stow_placement_destroy(placement);
  }
  stow_problem_destroy(problem);
}

TEST(LongWorkWithoutResultsPollsTheCallback) {
  check_asks_within("first-fit", "first-fit", false);
  check_asks_within("portfolio", "portfolio", false);
  check_asks_within("compact", "compact", false);
  check_asks_within("lns", "neighbourhoods", false);
  check_asks_within("skyline", "skyline", true);
}
