// Models for the exact search: units, distances, twins, next heights.
#include <stdlib.h>
#include <string.h>

#include "place/exact/model.h"
#include "support/brute_place.h"
#include "support/fault.h"
#include "support/problem_families.h"
#include "support/test.h"

static stow_problem* new_problem(void) {
  stow_problem* problem = NULL;
  CHECK(stow_problem_create(stow_allocator_default(), NULL, &problem) == STOW_OK);
  return problem;
}

typedef struct spec {
  uint64_t size;
  uint64_t guard;
  uint64_t alignment;
  uint64_t fixed;
} spec;

#define ANYWHERE STOW_PLACE_ANYWHERE

// All alive at step 0.
static void add(stow_problem* problem, spec s) {
  stow_buffer desc;
  stow_buffer_init(&desc);
  desc.size = s.size;
  desc.guard = s.guard;
  desc.alignment = s.alignment;
  desc.fixed_offset = s.fixed;
  desc.end = 4;
  CHECK(stow_problem_add(problem, &desc, NULL, NULL) == STOW_OK);
}

static void add_window(stow_problem* problem, uint64_t low, uint64_t high) {
  stow_window_desc window;
  stow_window_desc_init(&window);
  window.begin = 2;
  window.end = 3;
  window.low = low;
  window.high = high;
  CHECK(stow_problem_add_window(problem, &window, NULL) == STOW_OK);
}

static stowi_place_model* model_of(const stow_problem* problem) {
  stowi_place_model* model = NULL;
  CHECK(stowi_place_model_create(problem, stow_allocator_default(), NULL, &model) == STOW_OK);
  return model;
}

// ---------------------------------------------------------------------------------------------
// Units

static uint64_t unit_of(const spec* specs, size_t count) {
  stow_problem* problem = new_problem();
  for (size_t i = 0; i < count; ++i) {
    add(problem, specs[i]);
  }
  stowi_place_model* model = model_of(problem);
  uint64_t unit = model->unit;
  stowi_place_model_destroy(model);
  stow_problem_destroy(problem);
  return unit;
}

TEST(TheUnitDividesAllOffsets) {
  CHECK_U64(unit_of((spec[]){{12, 0, 1, ANYWHERE}, {18, 0, 1, ANYWHERE}}, 2), 6);
  CHECK_U64(unit_of((spec[]){{12, 0, 1, ANYWHERE}, {18, 0, 1, 21}}, 2), 3);
  CHECK_U64(unit_of((spec[]){{12, 0, 1, ANYWHERE}, {17, 1, 1, ANYWHERE}}, 2), 6);
  // Padded up to an alignment that all have.
  CHECK_U64(unit_of((spec[]){{60, 0, 64, ANYWHERE}, {100, 0, 128, ANYWHERE}}, 2), 64);
  // An alignment that some have and the sizes don't: 12, 24, … and 16, 32, … have 4 in common.
  CHECK_U64(unit_of((spec[]){{12, 0, 1, ANYWHERE}, {24, 0, 16, ANYWHERE}}, 2), 4);
  // A unit larger than any alignment.
  CHECK_U64(unit_of((spec[]){{96, 0, 32, ANYWHERE}, {192, 0, 32, ANYWHERE}}, 2), 96);
}

TEST(WindowsMakeTheUnitSmaller) {
  stow_problem* problem = new_problem();
  add(problem, (spec){61, 0, 64, ANYWHERE});
  add(problem, (spec){64, 0, 64, ANYWHERE});
  add_window(problem, 16, 48);
  stowi_place_model* model = model_of(problem);
  CHECK_U64(model->unit, 16);
  CHECK_U64(model->grain, 16);
  CHECK_U64(model->size[0], 4);
  CHECK_U64(model->padding[0], 3);
  CHECK_U64(model->alignment[0], 4);
  stowi_place_model_destroy(model);
  stow_problem_destroy(problem);
}

// ---------------------------------------------------------------------------------------------
// Tiny problems, step by step

typedef struct range {
  int64_t low;
  int64_t high;
} range;

static range range_at(const stow_problem* problem, uint32_t buffer, uint64_t step) {
  stow_buffer desc = {.struct_size = sizeof(desc)};
  stow_problem_describe_buffer(problem, buffer, &desc);
  range r = {0, desc.begin <= step && step < desc.end ? (int64_t)(desc.size + desc.guard) : 0};
  for (size_t i = 0; i < stow_problem_window_count(problem, buffer); ++i) {
    stow_window_desc window = {.struct_size = sizeof(window)};
    stow_problem_describe_window(problem, buffer, i, &window);
    if (window.begin <= step && step < window.end) {
      r = (range){(int64_t)window.low, (int64_t)window.high};
    }
  }
  return r;
}

static bool collide(const stow_problem* problem, uint32_t a, uint32_t b, int64_t apart) {
  for (uint64_t step = 0; step < BRUTE_MAX_STEPS; ++step) {
    range x = range_at(problem, a, step);
    range y = range_at(problem, b, step);
    if (x.low < x.high && y.low < y.high && x.low < apart + y.high && apart + y.low < x.high) {
      return true;
    }
  }
  return false;
}

enum { FAR = 24 };  // more than any footprint

// The highest difference at which they overlap; -FAR if they never do.
static int64_t highest_collision(const stow_problem* problem, uint32_t a, uint32_t b) {
  int64_t apart = FAR;
  while (apart > -FAR && !collide(problem, a, b, apart)) {
    --apart;
  }
  return apart;
}

// From the lowest overlap to the highest, including 0, there is no hole.
static bool has_no_hole(const stow_problem* problem, uint32_t a, uint32_t b) {
  int64_t highest = highest_collision(problem, a, b);
  int64_t lowest = -highest_collision(problem, b, a);
  for (int64_t apart = lowest; apart <= highest; ++apart) {
    if (!collide(problem, a, b, apart)) {
      return false;
    }
  }
  return lowest <= 0 && 0 <= highest;
}

// Ranges are disjoint, in ascending order, and forbid what overlaps.
static void check_clashes(const stowi_place_model* model, uint32_t i, uint32_t j) {
  stowi_place_clash_list list = stowi_place_clashes_of(&model->clashes, i, j);
  CHECK(list.begin < list.end);
  for (const stowi_place_clash* clash = list.begin; clash < list.end; ++clash) {
    CHECK(clash->low < clash->high);
    CHECK(clash == list.begin || clash[-1].high < clash->low);
  }
  int64_t unit = (int64_t)model->unit;
  for (int64_t apart = -FAR; apart <= FAR; ++apart) {
    bool clashes = false;
    for (const stowi_place_clash* clash = list.begin; clash < list.end; ++clash) {
      clashes = clashes || (clash->low <= apart && apart < clash->high);
    }
    CHECK(clashes == collide(model->problem, model->buffer[i], model->buffer[j], apart * unit));
  }
}

static void check_pair(const stowi_place_model* model, uint32_t i, uint32_t j) {
  const stow_problem* problem = model->problem;
  uint32_t a = model->buffer[i];
  uint32_t b = model->buffer[j];
  int64_t highest = highest_collision(problem, a, b);
  bool together = (stowi_place_model_neighbours(model, i)[j / 64] >> (j % 64) & 1) != 0;
  CHECK(together == (highest > -FAR));
  if (together) {
    // Without windows up to where the next one can begin.
    int64_t exact = stowi_place_model_units(model, highest + 1);
    int64_t distance = stowi_place_model_distance(model, i, j);
    bool whole = stowi_place_model_is_whole(model, i) && stowi_place_model_is_whole(model, j);
    CHECK(distance == (whole ? model->size[i] : exact));
    if (model->has_windows) {
      CHECK(stowi_place_clashes_has(&model->clashes, i, j) == !whole);
    }
    if (!whole) {
      check_clashes(model, i, j);
    }
    CHECK(distance >= exact);
    CHECK(!model->is_ordered || has_no_hole(problem, a, b));
  }
}

static bool are_equal(const stow_problem* problem, uint32_t a, uint32_t b) {
  stow_buffer x = {.struct_size = sizeof(x)};
  stow_buffer y = {.struct_size = sizeof(y)};
  stow_problem_describe_buffer(problem, a, &x);
  stow_problem_describe_buffer(problem, b, &y);
  for (uint64_t step = 0; step < BRUTE_MAX_STEPS; ++step) {
    range r = range_at(problem, a, step);
    range s = range_at(problem, b, step);
    bool none = r.low == r.high && s.low == s.high;
    if (!none && (r.low != s.low || r.high != s.high)) {
      return false;
    }
  }
  return x.alignment == y.alignment && x.fixed_offset == ANYWHERE && y.fixed_offset == ANYWHERE &&
         x.size + x.guard == y.size + y.guard;
}

// No third one can distinguish them.
static bool are_alike(const stowi_place_model* model, uint32_t i, uint32_t j) {
  bool alike = model->alignment[i] == model->alignment[j];
  for (uint32_t k = 0; k < model->count; ++k) {
    for (int64_t apart = -FAR; apart <= FAR && k != i && k != j; ++apart) {
      alike = alike && collide(model->problem, model->buffer[k], model->buffer[i], apart) ==
                           collide(model->problem, model->buffer[k], model->buffer[j], apart);
    }
  }
  return alike;
}

// The next equal one is a twin; so is one whose lifetime differs only where nothing begins or ends.
static void check_twin(const stowi_place_model* model, uint32_t i) {
  uint32_t twin = model->twin[i];
  CHECK(twin == STOWI_PLACE_NO_TWIN ||
        (twin > i && twin < model->count && are_alike(model, i, twin)));
  for (uint32_t j = i + 1; j < model->count; ++j) {
    CHECK(!are_equal(model->problem, model->buffer[i], model->buffer[j]) || twin <= j);
  }
}

TEST(DistancesAndTwinsMatchTheBytes) {
  uint64_t seeds = test_is_long() ? 400 : 20;
  for (uint64_t seed = 0; seed < seeds; ++seed) {
    for (unsigned kinds = 0; kinds < TINY_KINDS; ++kinds) {
      stow_problem* problem = tiny_problem_make(seed, kinds);
      stowi_place_model* model = model_of(problem);
      for (uint32_t i = 0; i < model->count; ++i) {
        check_twin(model, i);
        for (uint32_t j = 0; j < model->count; ++j) {
          if (i != j) {
            check_pair(model, i, j);
          }
        }
      }
      stowi_place_model_destroy(model);
      stow_problem_destroy(problem);
    }
  }
}

TEST(ProblemsWithoutWindowsAreOrdered) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    stow_problem* problem = tiny_problem_make(seed, (unsigned)seed % TINY_WINDOWS);
    stowi_place_model* model = model_of(problem);
    CHECK(model->is_ordered);
    CHECK(!model->has_windows);
    stowi_place_model_destroy(model);
    stow_problem_destroy(problem);
  }
}

// Some of the tiny problems with windows have holes, and some have none.
TEST(HolesAreDetected) {
  uint64_t ordered = 0;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    stow_problem* problem = tiny_problem_make(seed, TINY_WINDOWS);
    stowi_place_model* model = model_of(problem);
    ordered += model->is_ordered;
    stowi_place_model_destroy(model);
    stow_problem_destroy(problem);
  }
  CHECK(ordered > 20 && ordered < 180);
}

// ---------------------------------------------------------------------------------------------
// Heights

// The lowest height is a footprint's end at a multiple of the unit; no height below it is skipped
// to above it.
TEST(TheNextHeightNeverPassesTheLowestOne) {
  uint64_t seeds = test_is_long() ? 300 : 15;
  for (uint64_t seed = 0; seed < seeds; ++seed) {
    for (unsigned kinds = 0; kinds < TINY_KINDS; ++kinds) {
      stow_problem* problem = tiny_problem_make(seed, kinds);
      stowi_place_model* model = model_of(problem);
      uint64_t optimum = brute_height(problem);
      for (uint64_t capacity = 0; capacity < optimum; ++capacity) {
        uint64_t next = stowi_place_model_next_height(model, capacity);
        CHECK(capacity < next && next <= optimum);
      }
      stowi_place_model_destroy(model);
      stow_problem_destroy(problem);
    }
  }
}

TEST(HeightsInUnitsAreSkipped) {
  stow_problem* problem = new_problem();
  add(problem, (spec){64, 0, 64, ANYWHERE});
  add(problem, (spec){100, 0, 64, ANYWHERE});
  stowi_place_model* model = model_of(problem);
  CHECK_U64(model->unit, 64);
  CHECK_U64(stowi_place_model_next_height(model, 0), 64);
  CHECK_U64(stowi_place_model_next_height(model, 64), 100);
  CHECK_U64(stowi_place_model_next_height(model, 100), 128);
  CHECK_U64(stowi_place_model_next_height(model, 128), 164);
  CHECK_U64(stowi_place_model_next_height(model, 163), 164);
  stowi_place_model_destroy(model);
  stow_problem_destroy(problem);
}

// ---------------------------------------------------------------------------------------------

static stow_status create_once(stow_allocator allocator, void* user) {
  stowi_place_model* model = NULL;
  stow_diag diag;
  stow_diag_init(&diag);
  stow_status status =
      stowi_place_model_create((const stow_problem*)user, allocator, &diag, &model);
  CHECK((model == NULL) == (status != STOW_OK));
  CHECK(status == STOW_OK || diag.status == status);
  stowi_place_model_destroy(model);
  return status;
}

TEST(AModelSurvivesEveryFailedAllocation) {
  for (unsigned kinds = 0; kinds < TINY_KINDS; ++kinds) {
    stow_problem* problem = tiny_problem_make(3, kinds);
    CHECK(test_fault_sweep(create_once, problem) > 10);
    stow_problem_destroy(problem);
  }
}
