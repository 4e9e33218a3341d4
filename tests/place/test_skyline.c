// Skyline passes against their definition, and the structures under them against plain arrays.
#include <string.h>

#include "base/alloc.h"
#include "place/problem.h"
#include "place/skyline/floors.h"
#include "place/skyline/heap.h"
#include "place/skyline/nest.h"
#include "place/skyline/plateaus.h"
#include "place/skyline/skyline.h"
#include "random_problem.h"

enum { MAX_COUNT = 128, MAX_SECTIONS = 256 };

// ---------------------------------------------------------------------------------------------
// Structures

TEST(FloorsAnswerLikeAnArray) {
  test_random random = {1};
  for (size_t count = 1; count < 40; ++count) {
    uint64_t plain[40] = {0};
    stowi_place_floors floors;
    REQUIRE(stowi_place_floors_make(count, stow_allocator_default(), &floors) == STOW_OK);
    for (size_t i = 0; i < 300; ++i) {
      uint32_t begin = (uint32_t)test_random_below(&random, count);
      uint32_t end = begin + 1 + (uint32_t)test_random_below(&random, count - begin);
      uint64_t height = test_random_below(&random, 10 + i);
      uint64_t most = 0;
      for (uint32_t s = begin; s < end; ++s) {
        most = plain[s] > most ? plain[s] : most;
        if (i % 2 == 0 && plain[s] < height) {
          plain[s] = height;
        }
      }
      CHECK_U64(stowi_place_floors_max(&floors, begin, end), most);
      if (i % 2 == 0) {
        stowi_place_floors_raise(&floors, begin, end, height);
      }
    }
    stowi_place_floors_clear(&floors);
    CHECK_U64(stowi_place_floors_max(&floors, 0, (uint32_t)count), 0);
    stowi_place_floors_free(&floors, stow_allocator_default());
  }
}

TEST(HeapPopsTheLowestKeyThenTheLowestId) {
  test_random random = {2};
  stowi_place_heap heap;
  REQUIRE(stowi_place_heap_make(50, stow_allocator_default(), &heap) == STOW_OK);
  for (size_t round = 0; round < 50; ++round) {
    for (uint32_t id = 0; id < 50; ++id) {
      stowi_place_heap_push(&heap, test_random_below(&random, 1 + round), (id * 7) % 50);
    }
    stowi_place_heap_entry last = stowi_place_heap_pop(&heap);
    while (heap.count > 0) {
      stowi_place_heap_entry next = stowi_place_heap_pop(&heap);
      CHECK(next.key > last.key || (next.key == last.key && next.id > last.id));
      last = next;
    }
  }
  stowi_place_heap_free(&heap, stow_allocator_default());
}

TEST(NestFindsTheFirstLifetimeWithinARange) {
  test_random random = {3};
  uint32_t begins[MAX_COUNT];
  uint32_t ends[MAX_COUNT];
  uint32_t order[MAX_COUNT];
  for (size_t count = 0; count < 60; ++count) {
    for (uint32_t i = 0; i < count; ++i) {
      begins[i] = (uint32_t)test_random_below(&random, 50);
      ends[i] = begins[i] + 1 + (uint32_t)test_random_below(&random, 30);
      order[i] = i;
    }
    stowi_place_sections sections = {
        .count = 80, .piece_count = count, .begin = begins, .end = ends};
    stowi_place_nest nest;
    REQUIRE(stowi_place_nest_make(&sections, count, stow_allocator_default(), &nest) == STOW_OK);
    stowi_place_nest_fill(&nest, order, count);
    bool out[MAX_COUNT] = {false};
    for (size_t i = 0; i < 200; ++i) {
      uint32_t begin = (uint32_t)test_random_below(&random, 60);
      uint32_t end = begin + (uint32_t)test_random_below(&random, 40);
      uint32_t expected = STOWI_PLACE_NEST_NONE;
      for (uint32_t k = 0; k < count && expected == STOWI_PLACE_NEST_NONE; ++k) {
        expected = !out[k] && begins[k] >= begin && ends[k] <= end ? k : STOWI_PLACE_NEST_NONE;
      }
      uint32_t place = stowi_place_nest_first(&nest, begin, end);
      CHECK_U64(place == STOWI_PLACE_NEST_NONE ? place : nest.buffers[place], expected);
      if (expected != STOWI_PLACE_NEST_NONE && i % 4 == 0) {
        stowi_place_nest_remove(&nest, place);
        out[expected] = true;
      }
    }
    stowi_place_nest_free(&nest, stow_allocator_default());
  }
}

// Every valley is one of the plain array, and maximal.
static void check_valley(const uint64_t* plain, uint32_t sections, stowi_place_plateau v) {
  CHECK(v.begin < v.end && v.end <= sections);
  for (uint32_t s = v.begin; s < v.end; ++s) {
    CHECK_U64(plain[s], v.floor);
  }
  CHECK(v.begin == 0 || plain[v.begin - 1] > v.floor);
  CHECK(v.end == sections || plain[v.end] > v.floor);
}

TEST(PlateausMatchAnArray) {
  test_random random = {4};
  for (uint32_t sections = 1; sections < 30; ++sections) {
    uint64_t plain[30] = {0};
    stowi_place_plateaus plateaus;
    REQUIRE(stowi_place_plateaus_make(sections, stow_allocator_default(), &plateaus) == STOW_OK);
    stowi_place_plateaus_clear(&plateaus);
    for (size_t i = 0; i < 200; ++i) {
      stowi_place_plateau v = stowi_place_plateaus_valley(&plateaus);
      check_valley(plain, sections, v);
      bool alone = v.begin == 0 && v.end == sections;
      uint32_t begin = v.begin;
      uint32_t end = v.end;
      uint64_t floor = v.floor + 1 + test_random_below(&random, 4);
      if (!alone && test_random_below(&random, 2) == 0) {
        uint64_t left = v.begin > 0 ? plain[v.begin - 1] : UINT64_MAX;
        uint64_t right = v.end < sections ? plain[v.end] : UINT64_MAX;
        floor = left < right ? left : right;
        stowi_place_plateaus_level(&plateaus, v);
      } else {
        begin += (uint32_t)test_random_below(&random, v.end - v.begin);
        end = begin + 1 + (uint32_t)test_random_below(&random, v.end - begin);
        stowi_place_plateaus_build(&plateaus, v, begin, end, floor);
      }
      for (uint32_t s = begin; s < end; ++s) {
        plain[s] = floor;
      }
    }
    stowi_place_plateaus_free(&plateaus, stow_allocator_default());
  }
}

// ---------------------------------------------------------------------------------------------
// Passes

typedef struct reference {
  const stow_problem* problem;
  const stowi_place_sections* sections;
  bool any_fixed;
  bool whole;  // windows count as the whole footprint
  bool placed[MAX_COUNT];
  uint64_t floors[MAX_SECTIONS];
  uint64_t offsets[MAX_COUNT];
} reference;

static uint64_t align(uint64_t x, uint64_t alignment) {
  return (x + alignment - 1) / alignment * alignment;
}

static bool meets_fixed(const reference* r, size_t buffer, uint64_t offset) {
  const stowi_place_sections* s = r->sections;
  const stowi_place_buffer* buffers = r->problem->buffers.data;
  for (size_t other = 0; other < r->problem->buffers.count; ++other) {
    if (!stowi_place_is_fixed(&buffers[other])) {
      continue;
    }
    for (uint32_t i = stowi_place_piece_first(s, buffer); i < stowi_place_piece_end(s, buffer);
         ++i) {
      for (uint32_t k = stowi_place_piece_first(s, other); k < stowi_place_piece_end(s, other);
           ++k) {
        uint64_t at = buffers[other].fixed_offset;
        if (s->begin[i] < s->end[k] && s->begin[k] < s->end[i] &&
            offset + stowi_place_piece_low(s, i) <
                at + stowi_place_piece_high(s, k, &buffers[other]) &&
            at + stowi_place_piece_low(s, k) <
                offset + stowi_place_piece_high(s, i, &buffers[buffer])) {
          return true;
        }
      }
    }
  }
  return false;
}

static uint64_t rest_of(const reference* r, size_t buffer) {
  uint64_t rest = 0;
  const stowi_place_sections* s = r->sections;
  uint32_t last = stowi_place_piece_end(s, buffer) - 1;
  for (uint32_t i = stowi_place_piece_first(s, buffer); i <= last; ++i) {
    uint32_t end = r->whole ? s->end[last] : s->end[i];
    uint64_t low = r->whole ? 0 : stowi_place_piece_low(s, i);
    for (uint32_t k = s->begin[i]; k < end; ++k) {
      rest = r->floors[k] > low + rest ? r->floors[k] - low : rest;
    }
  }
  return rest;
}

static uint64_t above_fixed(const reference* r, size_t buffer, uint64_t rest) {
  uint64_t alignment = r->problem->buffers.data[buffer].alignment;
  uint64_t offset = align(rest, alignment);
  while (meets_fixed(r, buffer, offset)) {
    offset += alignment;
  }
  return offset;
}

// How low it can be, for the choice.
static uint64_t key_of(const reference* r, size_t buffer) {
  uint64_t rest = rest_of(r, buffer);
  return r->any_fixed ? above_fixed(r, buffer, rest) : align(rest, r->problem->min_alignment);
}

static void take(reference* r, size_t buffer) {
  const stowi_place_sections* s = r->sections;
  const stowi_place_buffer* b = &r->problem->buffers.data[buffer];
  uint64_t offset = above_fixed(r, buffer, rest_of(r, buffer));
  uint32_t last = stowi_place_piece_end(s, buffer) - 1;
  r->placed[buffer] = true;
  r->offsets[buffer] = offset;
  for (uint32_t i = stowi_place_piece_first(s, buffer); i <= last; ++i) {
    uint32_t end = r->whole ? s->end[last] : s->end[i];
    uint64_t high = r->whole ? stowi_place_footprint(b) : stowi_place_piece_high(s, i, b);
    for (uint32_t k = s->begin[i]; k < end; ++k) {
      r->floors[k] = offset + high;
    }
  }
}

static void place_by_definition(reference* r, const uint32_t* order, size_t count) {
  for (size_t placed = 0; placed < count; ++placed) {
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < count; ++i) {
      if (!r->placed[order[i]] &&
          (best == SIZE_MAX || key_of(r, order[i]) < key_of(r, order[best]))) {
        best = i;
      }
    }
    take(r, order[best]);
  }
}

static size_t shuffled(test_random* random, const stow_problem* problem, uint32_t* order) {
  size_t count = 0;
  for (size_t i = 0; i < problem->buffers.count; ++i) {
    if (!stowi_place_is_fixed(&problem->buffers.data[i])) {
      size_t at = test_random_below(random, count + 1);
      order[count++] = order[at];
      order[at] = (uint32_t)i;
    }
  }
  return count;
}

static void compare(stowi_place_skyline_state* skyline, const stow_problem* problem,
                    const stowi_place_sections* sections, const uint32_t* order, size_t count,
                    bool quick) {
  reference r = {.problem = problem, .sections = sections, .whole = quick};
  r.any_fixed = count < problem->buffers.count;
  uint64_t offsets[MAX_COUNT];
  stowi_place_skyline_pass pass = {.order = order, .count = count, .offsets = offsets};
  pass.too_high = pass.max_steps = UINT64_MAX;
  (quick ? stowi_place_skyline_quick : stowi_place_skyline_lowest)(skyline, &pass);
  place_by_definition(&r, order, count);
  uint64_t height = problem->fixed_end;
  for (size_t i = 0; i < count; ++i) {
    const stowi_place_buffer* b = &problem->buffers.data[order[i]];
    uint64_t end = r.offsets[order[i]] + stowi_place_footprint(b);
    CHECK_U64(offsets[order[i]], r.offsets[order[i]]);
    height = end > height ? end : height;
  }
  CHECK_U64(pass.height, height);
  CHECK(pass.steps >= count);
  pass.too_high = height;
  (quick ? stowi_place_skyline_quick : stowi_place_skyline_lowest)(skyline, &pass);
  CHECK_U64(pass.height, UINT64_MAX);
  pass.too_high = UINT64_MAX;
  pass.max_steps = pass.steps - 1;
  (quick ? stowi_place_skyline_quick : stowi_place_skyline_lowest)(skyline, &pass);
  CHECK(pass.steps <= pass.max_steps || pass.height != UINT64_MAX);
}

static void run_case(test_random* random, const random_shape* shape) {
  stow_problem* problem = random_problem(random, shape);
  stowi_place_quest quest = {.problem = problem, .allocator = stow_allocator_default()};
  stowi_place_sections sections;
  stowi_place_skyline_state* skyline = NULL;
  uint32_t order[MAX_COUNT];
  size_t count = shuffled(random, problem, order);
  CHECK(stowi_place_sections_make(problem, quest.allocator, &sections) == STOW_OK);
  CHECK(stowi_place_skyline_create(&quest, &sections, &skyline) == STOW_OK);
  CHECK(stowi_place_skyline_is_plain(skyline) ==
        (sections.first == NULL && count == problem->buffers.count));
  if (count > 0) {
    compare(skyline, problem, &sections, order, count, false);
    // What is below a fixed buffer is given up in an order that has no simple definition.
    if (count == problem->buffers.count) {
      compare(skyline, problem, &sections, order, count, true);
    }
  }
  stowi_place_skyline_destroy(skyline);
  stowi_place_sections_free(&sections, problem, quest.allocator);
  stow_problem_destroy(problem);
}

TEST(PassesTakeTheLowestThenTheFirst) {
  test_random random = {5};
  size_t cases = test_is_long() ? 20000 : 600;
  for (size_t i = 0; i < cases; ++i) {
    random_shape shape = random_shape_of(&random, i % 20 == 0 ? 60 : 16);
    run_case(&random, &shape);
  }
}

TEST(SkylineMeetsTheContract) { check_strategy("skyline"); }

// Nested lifetimes, as on a stack, need no more than the load.
TEST(NestedLifetimesReachTheBound) {
  stow_problem* problem = NULL;
  REQUIRE(stow_problem_create(stow_allocator_default(), NULL, &problem) == STOW_OK);
  for (uint64_t i = 0; i < 100; ++i) {
    stow_buffer desc;
    stow_buffer_init(&desc);
    desc.size = 1 + i * 37 % 101;
    desc.begin = i;
    desc.end = 200 - i;
    REQUIRE(stow_problem_add(problem, &desc, NULL, NULL) == STOW_OK);
  }
  stow_placement* placement = place_and_check(problem, "skyline", NULL);
  REQUIRE(placement != NULL);
  CHECK(stow_placement_outcome(placement) == STOW_OUTCOME_OPTIMAL);
  stow_placement_destroy(placement);
  stow_problem_destroy(problem);
}
