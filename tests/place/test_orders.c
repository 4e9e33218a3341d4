// Orders against explicit comparisons, and the strategy that tries them all.
#include "place/greedy/orders.h"
#include "place/problem.h"
#include "random_problem.h"
#include "support/fault.h"

enum { MAX_COUNT = 64 };

static const char* const letters_of[] = {
#define LETTERS(name, letters) letters,
    STOWI_PLACE_ORDERS(LETTERS)
#undef LETTERS
};

static uint64_t load_at(const stow_problem* problem, uint64_t step) {
  uint64_t load = 0;
  for (size_t i = 0; i < problem->buffers.count; ++i) {
    const stowi_place_buffer* b = &problem->buffers.data[i];
    load += b->begin <= step && step < b->end ? stowi_place_footprint(b) : 0;
  }
  return load;
}

static uint64_t highest_load(const stow_problem* problem, const stowi_place_buffer* b) {
  uint64_t highest = 0;
  for (uint64_t step = b->begin; step < b->end; ++step) {
    uint64_t load = load_at(problem, step);
    highest = load > highest ? load : highest;
  }
  return highest;
}

// Below 0 if |a| comes first by |letter|.
static int compare_by(const stow_problem* problem, char letter, const stowi_place_buffer* a,
                      const stowi_place_buffer* b) {
  uint64_t x = 0;
  uint64_t y = 0;
  bool ascending = letter == 'l' || letter == 'u';
  switch (letter) {
    case 'Z': x = a->size, y = b->size; break;
    case 'W': x = a->end - a->begin, y = b->end - b->begin; break;
    case 'A': x = a->size * (a->end - a->begin), y = b->size * (b->end - b->begin); break;
    case 'T': x = highest_load(problem, a), y = highest_load(problem, b); break;
    case 'L':
    case 'l': x = a->begin, y = b->begin; break;
    default: x = a->end, y = b->end; break;
  }
  int order = (x > y) - (x < y);
  return ascending ? order : -order;
}

static bool comes_before(const stow_problem* problem, const char* letters, uint32_t a, uint32_t b) {
  for (; *letters != 0; ++letters) {
    int order = compare_by(problem, *letters, &problem->buffers.data[a], &problem->buffers.data[b]);
    if (order != 0) {
      return order < 0;
    }
  }
  return a < b;
}

TEST(OrdersFollowTheirLetters) {
  test_random random = {1};
  for (size_t round = 0; round < 60; ++round) {
    random_shape shape = {.count = 1 + round % 40, .guards = true, .fixed = round % 3 == 0};
    stow_problem* problem = random_problem(&random, &shape);
    stowi_place_quest quest = {.problem = problem, .allocator = stow_allocator_default()};
    stowi_place_sections sections;
    stowi_place_orders orders;
    REQUIRE(stowi_place_sections_make(problem, quest.allocator, &sections) == STOW_OK);
    REQUIRE(stowi_place_orders_make(&quest, &sections, &orders) == STOW_OK);
    for (int order = 0; order < STOWI_PLACE_ORDER_COUNT; ++order) {
      uint32_t buffers[MAX_COUNT];
      size_t count;
      REQUIRE(stowi_place_orders_fill(&orders, (stowi_place_order)order, buffers, &count) ==
              STOW_OK);
      for (size_t i = 1; i < count; ++i) {
        CHECK(comes_before(problem, letters_of[order], buffers[i - 1], buffers[i]));
      }
      for (size_t i = 0; i < count; ++i) {
        CHECK(!stowi_place_is_fixed(&problem->buffers.data[buffers[i]]));
      }
    }
    stowi_place_orders_free(&orders);
    stowi_place_sections_free(&sections, problem, quest.allocator);
    stow_problem_destroy(problem);
  }
}

// Sizes near 2^61 have areas of one bit more than 64, or of many, and no bit to spare in them.
TEST(AstronomicalAreasKeepTheirOrder) {
  for (uint32_t life_bits = 4; life_bits <= 61; life_bits += 57) {
    stow_problem* problem = NULL;
    REQUIRE(stow_problem_create(stow_allocator_default(), NULL, &problem) == STOW_OK);
    for (uint64_t i = 0; i < 4; ++i) {
      stow_buffer desc;
      stow_buffer_init(&desc);
      desc.size = (UINT64_C(1) << (58 + i)) - 1;
      desc.end = (UINT64_C(1) << life_bits) - 1;
      REQUIRE(stow_problem_add(problem, &desc, NULL, NULL) == STOW_OK);
    }
    stowi_place_quest quest = {.problem = problem, .allocator = stow_allocator_default()};
    stowi_place_sections sections;
    stowi_place_orders orders;
    uint32_t buffers[4];
    size_t count;
    REQUIRE(stowi_place_sections_make(problem, quest.allocator, &sections) == STOW_OK);
    REQUIRE(stowi_place_orders_make(&quest, &sections, &orders) == STOW_OK);
    REQUIRE(stowi_place_orders_fill(&orders, STOWI_PLACE_ORDER_ATW, buffers, &count) == STOW_OK);
    for (uint32_t i = 0; i < 4; ++i) {
      CHECK_U64(buffers[i], 3 - i);
    }
    stowi_place_orders_free(&orders);
    stowi_place_sections_free(&sections, problem, quest.allocator);
    stow_problem_destroy(problem);
  }
}

TEST(PortfolioMeetsTheContract) { check_strategy("portfolio"); }

TEST(PortfolioIsNeverHigherThanFirstFit) {
  test_random random = {2};
  for (size_t i = 0; i < 100; ++i) {
    random_shape shape = random_shape_of(&random, 80);
    stow_problem* problem = random_problem(&random, &shape);
    CHECK(height_with(problem, "portfolio", i % 2 * 5000) <= height_with(problem, "first-fit", 0));
    stow_problem_destroy(problem);
  }
}
