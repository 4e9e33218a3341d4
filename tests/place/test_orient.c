// Orientations: right for every size (proven by the placement checker), complete and irreducible
// (against the closure of all pairs), never higher than the placement they come from.
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/diag.h"
#include "place/orient/orient.h"
#include "random_problem.h"
#include "support/fault.h"
#include "support/test.h"

#define MOST_PARTS 128

static stow_allocator heap(void) { return stow_allocator_default(); }

typedef struct scene {
  stow_problem* problem;
  stow_placement* placement;
  uint64_t* offsets;
  size_t count;
  stowi_place_part* parts;
  size_t part_count;
  stowi_place_orientation* orientation;
  uint32_t cycle;
} scene;

static void scene_free(scene* s) {
  stowi_place_orientation_destroy(s->orientation);
  STOWI_ARRAY_FREE(heap(), s->parts, s->part_count);
  free(s->offsets);
  stow_placement_destroy(s->placement);
  stow_problem_destroy(s->problem);
}

// The buffer without windows.
static stow_problem* widen(const stow_problem* problem, size_t buffer) {
  stow_problem* wider = NULL;
  if (!CHECK(stow_problem_create(heap(), NULL, &wider) == STOW_OK)) {
    return NULL;
  }
  for (size_t i = 0; i < stow_problem_count(problem); ++i) {
    stow_buffer desc = {.struct_size = sizeof(desc)};
    stow_problem_describe_buffer(problem, i, &desc);
    CHECK(stow_problem_add(wider, &desc, NULL, NULL) == STOW_OK);
    for (size_t k = 0; i != buffer && k < stow_problem_window_count(problem, i); ++k) {
      stow_window_desc window = {.struct_size = sizeof(window)};
      stow_problem_describe_window(problem, i, k, &window);
      CHECK(stow_problem_add_window(wider, &window, NULL) == STOW_OK);
    }
  }
  return wider;
}

static scene scene_of(stow_problem* problem) {
  scene s = {.problem = problem, .count = stow_problem_count(problem)};
  stow_place_options options;
  stow_place_options_init(&options);
  options.nodes = 1000;
  CHECK(stow_place_auto(problem, &options, heap(), NULL, &s.placement) == STOW_OK);
  s.offsets = malloc((s.count + 1) * sizeof(*s.offsets));
  for (size_t i = 0; i < s.count; ++i) {
    s.offsets[i] = stow_placement_offset(s.placement, i);
  }
  CHECK(stowi_place_parts_of(problem, heap(), NULL, &s.parts, &s.part_count) == STOW_OK);
  CHECK(stowi_place_orient(s.parts, s.part_count, s.offsets, s.count, heap(), NULL, &s.orientation,
                           &s.cycle) == STOW_OK);
  CHECK((s.orientation != NULL) == (s.cycle == STOWI_PLACE_ORIENTED));
  return s;
}

// Buffers in cycles are widened until there is none.
static scene random_scene(test_random* random, size_t most, bool fixed, size_t* cycles) {
  random_shape shape = random_shape_of(random, most);
  shape.fixed = shape.fixed && fixed;
  scene s = scene_of(random_problem(random, &shape));
  while (s.cycle != STOWI_PLACE_ORIENTED) {
    ++*cycles;
    CHECK(s.cycle < s.count && stow_problem_window_count(s.problem, s.cycle) != 0);
    stow_problem* wider = widen(s.problem, s.cycle);
    scene_free(&s);
    s = scene_of(wider);
  }
  return s;
}

// ---------------------------------------------------------------------------------------------
// Other sizes

typedef struct sizes {
  uint64_t low[MOST_PARTS];
  uint64_t high[MOST_PARTS];
  stowi_place_constraint needs[MOST_PARTS];
  uint64_t offsets[MOST_PARTS];
} sizes;

static uint64_t random_size(test_random* random, uint64_t size) {
  switch (test_random_below(random, 4)) {
    case 0: return size;
    case 1: return 1 + test_random_below(random, 4);
    default: return 1 + test_random_below(random, 2 * size + 4);
  }
}

static void add_window(stow_problem* problem, uint64_t begin, uint64_t end, uint64_t low,
                       uint64_t high) {
  stow_window_desc window;
  stow_window_desc_init(&window);
  window.begin = begin;
  window.end = end;
  window.low = low;
  window.high = high;
  if (begin < end) {
    CHECK(stow_problem_add_window(problem, &window, NULL) == STOW_OK);
  }
}

// The same lifetimes and parts, with other bytes.
static stow_problem* resize(const scene* s, test_random* random, sizes* out) {
  stow_problem* other = NULL;
  if (!CHECK(stow_problem_create(heap(), NULL, &other) == STOW_OK)) {
    return NULL;
  }
  size_t part = 0;
  for (size_t i = 0; i < s->count; ++i) {
    stow_buffer desc = {.struct_size = sizeof(desc)};
    stow_problem_describe_buffer(s->problem, i, &desc);
    if (random != NULL) {
      desc.size = random_size(random, desc.size);
      desc.alignment = test_random_below(random, 4) == 0 ? 1 : desc.alignment;
    }
    CHECK(stow_problem_add(other, &desc, NULL, NULL) == STOW_OK);
    out->needs[i] = (stowi_place_constraint){desc.alignment, desc.fixed_offset};
    uint64_t footprint = desc.size + desc.guard;
    uint64_t at = desc.begin;
    for (; part < s->part_count && s->parts[part].buffer == i; ++part) {
      const stowi_place_part* p = &s->parts[part];
      uint64_t low = random == NULL ? p->low : test_random_below(random, footprint);
      low = p->at_bottom ? 0 : low;
      uint64_t high =
          random == NULL ? p->high : low + 1 + test_random_below(random, footprint - low);
      high = p->at_top ? footprint : high;
      out->low[part] = low;
      out->high[part] = high;
      add_window(other, at, p->begin, 0, 0);
      add_window(other, p->begin, p->end, low, high);
      at = p->end;
    }
    add_window(other, at, desc.end, 0, 0);
  }
  return other;
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

static void check_other_sizes(const scene* s, test_random* random) {
  sizes at;
  stow_problem* other = resize(s, random, &at);
  uint32_t blocked =
      stowi_place_orientation_offsets(s->orientation, at.low, at.high, at.needs, at.offsets);
  if (blocked == STOWI_PLACE_ORIENTED) {
    stow_diag diag;
    stow_diag_init(&diag);
    stow_status status = stow_placement_check(other, at.offsets, s->count,
                                              height_of(other, at.offsets), heap(), &diag, NULL);
    if (!CHECK(status == STOW_OK)) {
      test_check(false, __FILE__, __LINE__, "%s", diag.message);
    }
  } else {
    CHECK(at.needs[blocked].fixed_offset != STOW_PLACE_ANYWHERE);
  }
  stow_problem_destroy(other);
}

TEST(OffsetsAreRightForEverySize) {
  size_t cycles = 0;
  for (uint64_t seed = 0; seed < 400; ++seed) {
    test_random random = {seed};
    scene s = random_scene(&random, 24, true, &cycles);
    REQUIRE(s.part_count < MOST_PARTS);
    for (int i = 0; i < 12; ++i) {
      check_other_sizes(&s, &random);
    }
    scene_free(&s);
  }
}

TEST(NoBufferIsHigherThanWhereItWasPlaced) {
  size_t cycles = 0;
  for (uint64_t seed = 1000; seed < 1300; ++seed) {
    test_random random = {seed};
    scene s = random_scene(&random, 24, true, &cycles);
    sizes at;
    stow_problem* same = resize(&s, NULL, &at);
    CHECK(stowi_place_orientation_offsets(s.orientation, at.low, at.high, at.needs, at.offsets) ==
          STOWI_PLACE_ORIENTED);
    for (size_t i = 0; i < s.count; ++i) {
      CHECK(at.offsets[i] <= s.offsets[i]);
    }
    stow_problem_destroy(same);
    scene_free(&s);
  }
}

// ---------------------------------------------------------------------------------------------
// Completeness and reduction, by closing the relation over all triples

typedef struct relation {
  bool above[MOST_PARTS][MOST_PARTS];  // [a][b]: b lies above a
} relation;

static bool passes(const stowi_place_part* c, const stowi_place_part* e) {
  return c->buffer == e->buffer && (c == e || c->at_bottom || e->at_top);
}

// What follows from the edges but |without|.
static void close_relation(const scene* s, size_t without, relation* r) {
  memset(r, 0, sizeof(*r));
  for (size_t e = 0; e < s->orientation->edge_count; ++e) {
    if (e != without) {
      r->above[s->orientation->edges[e].below][s->orientation->edges[e].above] = true;
    }
  }
  for (bool changes = true; changes;) {
    changes = false;
    for (size_t a = 0; a < s->part_count; ++a) {
      for (size_t b = 0; b < s->part_count; ++b) {
        for (size_t c = 0; r->above[a][b] && c < s->part_count; ++c) {
          // From b on; to another part of b's buffer; from another part of a's buffer.
          const stowi_place_part* p = s->parts;
          for (size_t d = 0; p[b].buffer == p[c].buffer && d < s->part_count; ++d) {
            if (passes(&p[b], &p[c]) && r->above[c][d] && !r->above[a][d]) {
              r->above[a][d] = changes = true;
            }
          }
          if (p[c].buffer == p[b].buffer && p[b].at_bottom && !r->above[a][c]) {
            r->above[a][c] = changes = true;
          }
          if (p[c].buffer == p[a].buffer && p[a].at_top && !r->above[c][b]) {
            r->above[c][b] = changes = true;
          }
        }
      }
    }
  }
}

static bool are_together(const stowi_place_part* a, const stowi_place_part* b) {
  return a->begin < b->end && b->begin < a->end;
}

TEST(EveryPairFollowsFromTheKeptOnesAndNoneIsKeptInVain) {
  size_t cycles = 0;
  static relation r;
  for (uint64_t seed = 2000; seed < 2120; ++seed) {
    test_random random = {seed};
    scene s = random_scene(&random, 9, false, &cycles);
    REQUIRE(s.part_count < MOST_PARTS);
    close_relation(&s, SIZE_MAX, &r);
    for (size_t a = 0; a < s.part_count; ++a) {
      for (size_t b = 0; b < s.part_count; ++b) {
        const stowi_place_part* p = &s.parts[a];
        const stowi_place_part* q = &s.parts[b];
        bool is_below = s.offsets[p->buffer] + p->high <= s.offsets[q->buffer] + q->low;
        if (p->buffer != q->buffer && are_together(p, q)) {
          CHECK(r.above[a][b] == is_below);
        }
      }
    }
    CHECK(s.orientation->edge_count <= 3 * s.part_count);
    for (size_t e = 0; e < s.orientation->edge_count; ++e) {
      close_relation(&s, e, &r);
      CHECK(!r.above[s.orientation->edges[e].below][s.orientation->edges[e].above]);
    }
    scene_free(&s);
  }
}

// ---------------------------------------------------------------------------------------------

TEST(AFixedBufferWithoutRoomBelowItIsNamed) {
  stow_problem* problem = NULL;
  REQUIRE(stow_problem_create(heap(), NULL, &problem) == STOW_OK);
  stow_buffer desc;
  stow_buffer_init(&desc);
  desc.end = 1;
  desc.size = 8;
  CHECK(stow_problem_add(problem, &desc, NULL, NULL) == STOW_OK);
  desc.fixed_offset = 8;
  CHECK(stow_problem_add(problem, &desc, NULL, NULL) == STOW_OK);
  scene s = scene_of(problem);
  stowi_place_constraint needs[] = {{1, STOW_PLACE_ANYWHERE}, {1, 8}};
  uint64_t low[] = {0, 0};
  uint64_t high[] = {8, 100};
  uint64_t offsets[2];
  CHECK(stowi_place_orientation_offsets(s.orientation, low, high, needs, offsets) ==
        STOWI_PLACE_ORIENTED);
  CHECK_U64(offsets[0], 0);
  CHECK_U64(offsets[1], 8);
  high[0] = 9;
  CHECK_U64(stowi_place_orientation_offsets(s.orientation, low, high, needs, offsets), 1);
  scene_free(&s);
}

// Two buffers that change sides: at step 0 the first is below the second, at step 1 above it.
static void add_half(stow_problem* problem, uint64_t first_low) {
  stow_buffer desc;
  stow_buffer_init(&desc);
  desc.end = 2;
  desc.size = 10;
  CHECK(stow_problem_add(problem, &desc, NULL, NULL) == STOW_OK);
  add_window(problem, 0, 1, first_low, first_low + 5);
  add_window(problem, 1, 2, 5 - first_low, 10 - first_low);
}

TEST(ABufferInACycleIsNamedAndOrientedOnceItIsWhole) {
  stow_problem* problem = NULL;
  REQUIRE(stow_problem_create(heap(), NULL, &problem) == STOW_OK);
  add_half(problem, 0);
  add_half(problem, 5);
  scene s = scene_of(problem);
  REQUIRE(stow_placement_height(s.placement) == 10);
  CHECK_U64(s.cycle, 0);
  stow_problem* wider = widen(s.problem, s.cycle);
  scene_free(&s);
  s = scene_of(wider);
  CHECK(s.orientation != NULL);
  scene_free(&s);
}

TEST(NothingHasAnOrientationToo) {
  stow_problem* problem = NULL;
  REQUIRE(stow_problem_create(heap(), NULL, &problem) == STOW_OK);
  scene s = scene_of(problem);
  REQUIRE(s.orientation != NULL);
  CHECK_U64(s.orientation->edge_count, 0);
  scene_free(&s);
}

static stow_status attempt(stow_allocator allocator, void* user) {
  const scene* s = (const scene*)user;
  stowi_place_part* parts = NULL;
  size_t count = 0;
  STOW_TRY(stowi_place_parts_of(s->problem, allocator, NULL, &parts, &count));
  stowi_place_orientation* orientation = NULL;
  uint32_t cycle;
  stow_status status =
      stowi_place_orient(parts, count, s->offsets, s->count, allocator, NULL, &orientation, &cycle);
  stowi_place_orientation_destroy(orientation);
  STOWI_ARRAY_FREE(allocator, parts, count);
  return status;
}

TEST(FailedAllocationsAreReported) {
  test_random random = {7};
  random_shape shape = {12, true, true, true, true};
  scene s = scene_of(random_problem(&random, &shape));
  CHECK(test_fault_sweep(attempt, &s) > 10);
  scene_free(&s);
}
