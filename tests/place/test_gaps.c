// Gap sets against plain lists: thousands of pieces, so that pages split on every level.
#include <stdlib.h>
#include <string.h>

#include "place/greedy/gaps.h"
#include "support/fault.h"
#include "support/test.h"

enum { MAX_PIECES = 4000, SPACE = 60000 };

typedef struct piece {
  uint64_t low;
  uint64_t high;
  uint32_t begin;
  uint32_t end;
} piece;

typedef struct model {
  size_t count;
  piece pieces[MAX_PIECES];
} model;

static bool is_live(const piece* p, const stowi_place_need* need) {
  return p->begin < need->end && need->begin < p->end;
}

static uint64_t align_up(uint64_t at, uint64_t alignment) {
  return (at + alignment - 1) / alignment * alignment;
}

static uint64_t find_plainly(const model* m, const stowi_place_need* need, uint64_t from) {
  uint64_t at = align_up(from, need->alignment);
  for (size_t i = 0; i < m->count; ++i) {
    const piece* p = &m->pieces[i];
    if (is_live(p, need) && p->low < at + need->size && at < p->high) {
      at = align_up(p->high, need->alignment);
      i = SIZE_MAX;  // from the start, at the new place
    }
  }
  return at;
}

static uint64_t end_plainly(const model* m, const stowi_place_need* need, uint64_t at) {
  uint64_t end = UINT64_MAX;
  for (size_t i = 0; i < m->count; ++i) {
    const piece* p = &m->pieces[i];
    if (is_live(p, need) && p->low >= at && p->low < end) {
      end = p->low;
    }
  }
  return end;
}

static stowi_place_need draw_need(test_random* random, uint64_t largest, uint32_t horizon) {
  stowi_place_need need;
  need.size = 1 + test_random_below(random, largest);
  need.alignment = UINT64_C(1) << (test_random_below(random, 3) == 0 ? 4 : 0);
  need.begin = (uint32_t)test_random_below(random, horizon);
  need.end = need.begin + 1 + (uint32_t)test_random_below(random, horizon - need.begin);
  return need;
}

// One search from the bottom to the top of the set, as leapfrogging does it.
static void check_search(test_random* random, const stowi_place_gap_pool* pool,
                         stowi_place_gaps set, const model* m, const stowi_place_need* need) {
  stowi_place_gap_finger finger = {.set = set, .top = UINT32_MAX};
  uint64_t from = test_random_below(random, 3) == 0 ? test_random_below(random, SPACE) : 0;
  for (int i = 0; i < 6; ++i) {
    uint64_t end = 0;
    uint64_t at = stowi_place_gaps_find(pool, &finger, need, from, &end);
    if (!CHECK_U64(at, find_plainly(m, need, from))) {
      return;
    }
    uint64_t room = end_plainly(m, need, at);
    CHECK(at + need->size <= end && end <= room);
    CHECK_U64(stowi_place_gaps_end(pool, set, need, at), room);
    from = at + 1 + test_random_below(random, i % 2 == 0 ? 20 : SPACE / 8);
  }
}

// A place for a piece that overlaps none, like a buffer of the same home.
static bool draw_free(test_random* random, const model* m, uint64_t largest, piece* out) {
  stowi_place_need always = {1 + test_random_below(random, largest), 1, 0, UINT32_MAX};
  out->low = find_plainly(m, &always, test_random_below(random, SPACE));
  out->high = out->low + always.size;
  return true;
}

static void run_stack(test_random* random, size_t count, bool ascending, uint32_t horizon) {
  model* m = (model*)calloc(1, sizeof(model));
  REQUIRE(m != NULL);
  stowi_place_gap_pool pool;
  stowi_place_gap_pool_init(&pool, stow_allocator_default());
  stowi_place_gaps set = STOWI_PLACE_GAPS_EMPTY;
  uint64_t top = 0;
  for (size_t i = 0; i < count; ++i) {
    piece p;
    draw_free(random, m, 12, &p);
    if (ascending) {
      p.low = top + test_random_below(random, 2) * test_random_below(random, 9);
      p.high = p.low + 1 + test_random_below(random, 12);
      top = p.high;
    }
    // All cover the middle, as all in a stack share a section.
    p.begin = (uint32_t)test_random_below(random, horizon / 2 + 1);
    p.end = horizon / 2 + 1 + (uint32_t)test_random_below(random, horizon / 2 + 1);
    CHECK(stowi_place_gaps_stack(&pool, &set, p.low, p.high, p.begin, p.end) == STOW_OK);
    m->pieces[m->count++] = p;
    if (i % 16 == 0 || i + 20 > count) {
      stowi_place_need need = draw_need(random, 30, horizon);
      check_search(random, &pool, set, m, &need);
    }
  }
  stowi_place_gap_pool_free(&pool);
  free(m);
}

TEST(StacksAgreeWithPlainLists) {
  test_random random = {41};
  int cases = test_is_long() ? 60 : 12;
  for (int i = 0; i < cases; ++i) {
    size_t count = i % 3 == 0 ? 1500 : 1 + test_random_below(&random, 400);
    run_stack(&random, count, i % 2 == 0, i % 4 == 0 ? 2 : 1000);
  }
}

static void run_shadow(test_random* random, size_t count, uint64_t least, uint64_t longest) {
  model* m = (model*)calloc(1, sizeof(model));
  REQUIRE(m != NULL);
  stowi_place_gap_pool pool;
  stowi_place_gap_pool_init(&pool, stow_allocator_default());
  stowi_place_gaps set = STOWI_PLACE_GAPS_EMPTY;
  for (size_t i = 0; i < count; ++i) {
    piece p = {test_random_below(random, SPACE), 0, 0, UINT32_MAX};
    p.high = p.low + 1 + test_random_below(random, i % 50 == 0 ? 10 * longest : longest);
    CHECK(stowi_place_gaps_shade(&pool, &set, p.low, p.high, least) == STOW_OK);
    m->pieces[m->count++] = p;
    if (i % 16 == 0 || i + 20 > count) {
      stowi_place_need need = draw_need(random, 40, 100);
      need.size += least - 1;  // what is shorter is never asked for
      check_search(random, &pool, set, m, &need);
    }
  }
  stowi_place_gap_pool_free(&pool);
  free(m);
}

TEST(ShadowsAgreeWithPlainLists) {
  test_random random = {42};
  int cases = test_is_long() ? 60 : 12;
  for (int i = 0; i < cases; ++i) {
    size_t count = i % 3 == 0 ? 2500 : 1 + test_random_below(&random, 400);
    run_shadow(&random, count, i % 2 == 0 ? 1 : 17, i % 4 == 0 ? 200 : 12);
  }
}

TEST(APieceOverEverythingLeavesOneGap) {
  stowi_place_gap_pool pool;
  stowi_place_gap_pool_init(&pool, stow_allocator_default());
  stowi_place_gaps set = STOWI_PLACE_GAPS_EMPTY;
  for (uint64_t i = 0; i < 3000; ++i) {
    CHECK(stowi_place_gaps_shade(&pool, &set, 10 * i + 5, 10 * i + 9, 1) == STOW_OK);
  }
  CHECK(stowi_place_gaps_shade(&pool, &set, 0, 40000, 1) == STOW_OK);
  stowi_place_need need = {1, 1, 0, 1};
  stowi_place_gap_finger finger = {.set = set, .top = UINT32_MAX};
  uint64_t end = 0;
  CHECK_U64(stowi_place_gaps_find(&pool, &finger, &need, 0, &end), 40000);
  CHECK(end == UINT64_MAX);
  CHECK(stowi_place_gaps_shade(&pool, &set, 41000, 42000, 1) == STOW_OK);
  stowi_place_gap_finger again = {.set = set, .top = UINT32_MAX};
  CHECK_U64(stowi_place_gaps_find(&pool, &again, &need, 123, &end), 40000);
  CHECK_U64(end, 41000);
  stowi_place_gap_pool_free(&pool);
}

static stow_status fill(stow_allocator allocator, void* user) {
  (void)user;
  stow_status status = STOW_OK;
  stowi_place_gap_pool pool;
  stowi_place_gap_pool_init(&pool, allocator);
  stowi_place_gaps stack = STOWI_PLACE_GAPS_EMPTY;
  stowi_place_gaps shadow = STOWI_PLACE_GAPS_EMPTY;
  for (uint64_t i = 0; i < 6000 && status == STOW_OK; ++i) {
    uint64_t low = i * 4111 % 6000 * 8;
    status = stowi_place_gaps_stack(&pool, &stack, low, low + 4, (uint32_t)i, (uint32_t)i + 9000);
    if (status == STOW_OK) {
      status = stowi_place_gaps_shade(&pool, &shadow, low, low + 4, 1);
    }
  }
  stowi_place_gap_pool_free(&pool);
  return status;
}

TEST(EveryFailedAllocationIsReported) { CHECK(test_fault_sweep(fill, NULL) > 5); }
