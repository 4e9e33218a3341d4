// Properties that show only at scale: thousands of buffers of all sizes and lifetimes against the
// definition, offsets near the limit, the same bytes on every run, and every placement proven by
// the checker.
#include <stdlib.h>
#include <stowage/place.h>
#include <string.h>

#include "place/api.h"
#include "support/test.h"

enum { MAX_BUFFERS = 2000 };

typedef struct sized {
  uint64_t size;
  size_t buffer;
} sized;

typedef struct instance {
  size_t count;
  stow_buffer descs[MAX_BUFFERS];
  uint64_t offsets[MAX_BUFFERS];  // by the definition
  sized order[MAX_BUFFERS];
} instance;

static int largest_first(const void* a, const void* b) {
  const sized* x = (const sized*)a;
  const sized* y = (const sized*)b;
  if (x->size != y->size) {
    return x->size > y->size ? -1 : 1;
  }
  return x->buffer < y->buffer ? -1 : 1;
}

static uint64_t align_up(uint64_t x, uint64_t alignment) {
  return (x + (alignment - 1)) & ~(alignment - 1);
}

static uint64_t footprint(const stow_buffer* d) { return d->size + d->guard; }

// The definition, literally: the lowest aligned offset at which the footprint overlaps none of the
// |placed| first buffers in order that are live at the same time.
static uint64_t lowest_offset(const instance* in, size_t placed, const stow_buffer* d) {
  uint64_t at = 0;
  for (size_t k = 0; k < placed; ++k) {
    const stow_buffer* other = &in->descs[in->order[k].buffer];
    uint64_t low = in->offsets[in->order[k].buffer];
    if (d->begin < other->end && other->begin < d->end && low < at + footprint(d) &&
        at < low + footprint(other)) {
      at = align_up(low + footprint(other), d->alignment);
      k = SIZE_MAX;  // from the start, at the new place
    }
  }
  return at;
}

static void place_by_definition(instance* in) {
  for (size_t i = 0; i < in->count; ++i) {
    in->order[i] = (sized){in->descs[i].size, i};
  }
  qsort(in->order, in->count, sizeof(in->order[0]), largest_first);
  for (size_t k = 0; k < in->count; ++k) {
    size_t buffer = in->order[k].buffer;
    in->offsets[buffer] = lowest_offset(in, k, &in->descs[buffer]);
  }
}

static stow_problem* make_problem(const instance* in) {
  stow_problem* problem = NULL;
  CHECK(stow_problem_create(stow_allocator_default(), NULL, &problem) == STOW_OK);
  for (size_t i = 0; i < in->count; ++i) {
    CHECK(stow_problem_add(problem, &in->descs[i], NULL, NULL) == STOW_OK);
  }
  return problem;
}

static stow_placement* place(const stow_problem* problem, const char* strategy) {
  stow_place_options options;
  stow_place_options_init(&options);
  options.nodes = 10000;
  stow_placement* placement = NULL;
  CHECK(stow_strategy_find(stow_str_of(strategy))
            ->place(problem, &options, stow_allocator_default(), NULL, &placement) == STOW_OK);
  return placement;
}

static void check_proven(const stow_problem* problem, const stow_placement* placement) {
  size_t count = stowi_place_placement_count(placement);
  uint64_t* offsets = (uint64_t*)malloc((count + 1) * sizeof(uint64_t));
  REQUIRE(offsets != NULL);
  for (size_t i = 0; i < count; ++i) {
    offsets[i] = stow_placement_offset(placement, i);
  }
  stow_diag diag;
  stow_diag_init(&diag);
  stow_status status =
      stow_placement_check(problem, offsets, count, stow_placement_height(placement),
                           stow_allocator_default(), &diag, NULL);
  CHECK(status == STOW_OK);
  CHECK_TEXT(diag.message, "");
  free(offsets);
}

static void check_first_fit(instance* in) {
  place_by_definition(in);
  stow_problem* problem = make_problem(in);
  stow_placement* placement = place(problem, "first-fit");
  REQUIRE(placement != NULL);
  for (size_t i = 0; i < in->count; ++i) {
    if (!CHECK_U64(stow_placement_offset(placement, i), in->offsets[i])) {
      break;
    }
  }
  check_proven(problem, placement);
  stow_placement_destroy(placement);
  placement = place(problem, "best-fit");
  check_proven(problem, placement);
  stow_placement_destroy(placement);
  stow_problem_destroy(problem);
}

// How lifetimes are drawn: one family of tensor programs each.
typedef void (*draw_life)(test_random* random, uint64_t i, uint64_t n, stow_buffer* d);

static void draw_short(test_random* random, uint64_t i, uint64_t n, stow_buffer* d) {
  (void)n;
  d->begin = i;
  d->end = i + 2 + test_random_below(random, 3);
}

static void draw_suffix_or_short(test_random* random, uint64_t i, uint64_t n, stow_buffer* d) {
  draw_short(random, i, n, d);
  d->end = test_random_below(random, 2) == 0 ? n + 8 : d->end;
}

static void draw_whole_or_short(test_random* random, uint64_t i, uint64_t n, stow_buffer* d) {
  draw_short(random, i, n, d);
  if (test_random_below(random, 3) == 0) {
    d->begin = 0;
    d->end = n + 8;
  }
}

static void draw_wide(test_random* random, uint64_t i, uint64_t n, stow_buffer* d) {
  d->begin = i;
  d->end = i + n / 12 + test_random_below(random, n / 6 + 1) + 1;
}

static void draw_staircase(test_random* random, uint64_t i, uint64_t n, stow_buffer* d) {
  (void)random;
  d->begin = i;
  d->end = i + n / 8 + 1;
}

static void draw_nested(test_random* random, uint64_t i, uint64_t n, stow_buffer* d) {
  draw_short(random, i, n, d);
  if (i % 2 == 0 && i < n / 2) {
    d->begin = i;
    d->end = n - i;
  }
}

static void draw_layer(test_random* random, uint64_t i, uint64_t n, stow_buffer* d) {
  (void)random;
  d->begin = i / (n / 10 + 1) * 2;
  d->end = d->begin + 4;
}

static void draw_any(test_random* random, uint64_t i, uint64_t n, stow_buffer* d) {
  (void)i;
  d->begin = test_random_below(random, n);
  d->end = d->begin + 1 + test_random_below(random, n >> test_random_below(random, 9));
}

static const draw_life families[] = {
    draw_short,     draw_suffix_or_short, draw_whole_or_short, draw_wide,
    draw_staircase, draw_nested,          draw_layer,          draw_any};

static void draw(test_random* random, draw_life life, size_t count, instance* in) {
  in->count = count;
  uint64_t kinds = test_random_below(random, 3) == 0 ? 5 : 100000;
  uint64_t alignments = test_random_below(random, 2) == 0 ? 1 : 13;
  bool guards = test_random_below(random, 3) == 0;
  for (size_t i = 0; i < count; ++i) {
    stow_buffer* d = &in->descs[i];
    stow_buffer_init(d);
    d->size = (1 + test_random_below(random, kinds)) * 24;
    d->alignment = alignments == 1 ? 64 : UINT64_C(1) << test_random_below(random, alignments);
    d->guard = guards && test_random_below(random, 4) == 0 ? test_random_below(random, 300) : 0;
    life(random, i, count, d);
  }
}

TEST(EveryFamilyIsPlacedAsDefined) {
  test_random random = {51};
  instance* in = (instance*)malloc(sizeof(instance));
  REQUIRE(in != NULL);
  int rounds = test_is_long() ? 12 : 2;
  for (int round = 0; round < rounds; ++round) {
    for (size_t f = 0; f < sizeof(families) / sizeof(families[0]); ++f) {
      size_t count = test_is_long() ? MAX_BUFFERS : 500 + test_random_below(&random, 500);
      draw(&random, families[f], count, in);
      check_first_fit(in);
    }
  }
  free(in);
}

TEST(TheSameProblemGivesTheSameOffsetsEveryTime) {
  test_random random = {52};
  instance* in = (instance*)malloc(sizeof(instance));
  REQUIRE(in != NULL);
  draw(&random, draw_any, MAX_BUFFERS, in);
  stow_problem* problem = make_problem(in);
  for (size_t s = 0; s < stow_strategy_count(); ++s) {
    stow_placement* a = place(problem, stow_strategy_at(s)->name);
    stow_placement* b = place(problem, stow_strategy_at(s)->name);
    CHECK_U64(stow_placement_height(a), stow_placement_height(b));
    for (size_t i = 0; i < in->count; ++i) {
      CHECK_U64(stow_placement_offset(a, i), stow_placement_offset(b, i));
    }
    stow_placement_destroy(a);
    stow_placement_destroy(b);
  }
  stow_problem_destroy(problem);
  free(in);
}

TEST(OffsetsUpToTheLimitDoNotOverflow) {
  instance* in = (instance*)calloc(1, sizeof(instance));
  REQUIRE(in != NULL);
  in->count = 5;
  uint64_t sizes[] = {UINT64_C(1) << 60, (UINT64_C(1) << 60) + 1, 3, UINT64_C(1) << 59, 7};
  for (size_t i = 0; i < in->count; ++i) {
    stow_buffer_init(&in->descs[i]);
    in->descs[i].size = sizes[i];
    in->descs[i].guard = i;
    in->descs[i].alignment = i == 2 ? UINT64_C(1) << 58 : UINT64_C(1) << (3 * i);
    in->descs[i].end = 10;
  }
  check_first_fit(in);
  in->descs[4].fixed_offset = (UINT64_C(1) << 61) + (UINT64_C(1) << 60);
  stow_problem* problem = make_problem(in);
  for (size_t s = 0; s < stow_strategy_count(); ++s) {
    stow_placement* placement = place(problem, stow_strategy_at(s)->name);
    check_proven(problem, placement);
    CHECK(stow_placement_height(placement) >= in->descs[4].fixed_offset);
    stow_placement_destroy(placement);
  }
  stow_problem_destroy(problem);
  free(in);
}

TEST(BuffersThatAllDieAtTheHorizonAreNotComparedPairwise) {
  enum { COUNT = 50000 };  // 1.25e9 pairs
  stow_problem* problem = NULL;
  REQUIRE(stow_problem_create(stow_allocator_default(), NULL, &problem) == STOW_OK);
  uint64_t sum = 0;
  for (uint64_t i = 0; i < COUNT; ++i) {
    stow_buffer desc;
    stow_buffer_init(&desc);
    desc.size = 64 * (1 + i * 7919 % COUNT);
    desc.alignment = 64;
    desc.begin = i % 3 == 0 ? 0 : i;
    desc.end = COUNT;
    sum += desc.size;
    CHECK(stow_problem_add(problem, &desc, NULL, NULL) == STOW_OK);
  }
  stow_placement* placement = place(problem, "first-fit");
  CHECK_U64(stow_placement_height(placement), sum);  // all live at the last step: no gap is left
  check_proven(problem, placement);
  stow_placement_destroy(placement);
  stow_problem_destroy(problem);
}
