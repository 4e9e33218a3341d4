// Numbers that change from point to point, against copies of all of them.
#include <string.h>

#include "exec/run/changes.h"
#include "support/fault.h"
#include "support/test.h"

#define POINTS 40
#define COUNT 12

typedef struct state {
  uint64_t whole[COUNT];
  uint32_t half[COUNT];
  unsigned char byte[COUNT];
} state;

// Numbers that stay, that change alike, that shrink, of any bits, and that part late.
static state state_at(uint64_t point) {
  state s = {{0}, {0}, {0}};
  for (uint64_t i = 0; i < COUNT; ++i) {
    test_random random = {point * COUNT + i};
    uint64_t any = test_random_u64(&random);
    uint64_t late = point < 30 ? point : point * (i + 1);
    const uint64_t kinds[] = {7,   point * 3 + i, (UINT64_C(1) << 40) - point * i,
                              any, late,          0 - late};
    uint64_t kind = kinds[i % 6];
    s.whole[i] = kind;
    s.half[i] = (uint32_t)kind;
    s.byte[i] = (unsigned char)(i < 6 ? kind : point / 20);
  }
  return s;
}

static void name_all(stowi_exec_changes* changes, state* s) {
  stowi_exec_changes_name(changes, s->whole, sizeof(s->whole));
  for (size_t i = 0; i < COUNT; ++i) {
    stowi_exec_changes_name(changes, &s->byte[i], 1);
    stowi_exec_changes_name(changes, &s->half[i], sizeof(s->half[i]));
  }
}

// Points after each other, but for every fifth, which is not noted.
static stow_status make(stowi_exec_changes** out, state* s, stow_allocator allocator,
                        stow_diag* diag) {
  stow_status status = stowi_exec_changes_create(POINTS, allocator, diag, out);
  if (status != STOW_OK) {
    return status;
  }
  name_all(*out, s);
  for (size_t point = 0; point < POINTS && status == STOW_OK; ++point) {
    bool is_worth = true;
    *s = state_at(point);
    if (point % 5 != 4) {
      status = stowi_exec_changes_note(*out, point, diag, &is_worth);
    }
    CHECK(is_worth || status != STOW_OK);
  }
  return status == STOW_OK ? stowi_exec_changes_finish(*out, diag) : status;
}

TEST(NumbersAreThoseThatWereNoted) {
  state s;
  stowi_exec_changes* changes;
  test_random random = {1};
  stow_diag diag;
  stow_diag_init(&diag);
  REQUIRE(make(&changes, &s, stow_allocator_default(), &diag) == STOW_OK);
  for (size_t i = 0; i < 500; ++i) {
    size_t point = (size_t)test_random_below(&random, POINTS);
    state expected = state_at(point);
    if (point % 5 != 4) {
      stowi_exec_changes_set(changes, point);
      CHECK(memcmp(s.whole, expected.whole, sizeof(s.whole)) == 0);
      CHECK(memcmp(s.half, expected.half, sizeof(s.half)) == 0);
      CHECK(memcmp(s.byte, expected.byte, sizeof(s.byte)) == 0);
    }
  }
  stowi_exec_changes_destroy(changes);
}

// What is the same at each point belongs to others: it is not written.
TEST(NumbersThatNeverChangeAreNotSet) {
  uint64_t numbers[2] = {1, 1};
  bool is_worth;
  stowi_exec_changes* changes;
  REQUIRE(stowi_exec_changes_create(2, stow_allocator_default(), NULL, &changes) == STOW_OK);
  stowi_exec_changes_name(changes, numbers, sizeof(numbers));
  CHECK(stowi_exec_changes_note(changes, 0, NULL, &is_worth) == STOW_OK && is_worth);
  numbers[1] = 2;
  CHECK(stowi_exec_changes_note(changes, 1, NULL, &is_worth) == STOW_OK && is_worth);
  CHECK(stowi_exec_changes_finish(changes, NULL) == STOW_OK);
  numbers[0] = numbers[1] = 9;
  stowi_exec_changes_set(changes, 0);
  CHECK(numbers[0] == 9 && numbers[1] == 1);
  stowi_exec_changes_destroy(changes);
}

// 2^19 entries: 8 columns of 65,536 points, of which one is for what never changes.
TEST(TooManyNumbersAreNotWorthTheirRoom) {
  for (size_t count = 7; count <= 8; ++count) {
    uint64_t numbers[8] = {0};
    bool is_worth;
    stowi_exec_changes* changes;
    REQUIRE(stowi_exec_changes_create(65536, stow_allocator_default(), NULL, &changes) == STOW_OK);
    stowi_exec_changes_name(changes, numbers, count * sizeof(numbers[0]));
    CHECK(stowi_exec_changes_note(changes, 0, NULL, &is_worth) == STOW_OK && is_worth);
    for (size_t i = 0; i < count; ++i) {
      numbers[i] = i + 1;
    }
    CHECK(stowi_exec_changes_note(changes, 1, NULL, &is_worth) == STOW_OK);
    CHECK(is_worth == (count == 7));
    stowi_exec_changes_destroy(changes);
  }
}

static stow_status make_once(stow_allocator allocator, void* user) {
  stowi_exec_changes* changes;
  stow_status status = make(&changes, (state*)user, allocator, NULL);
  stowi_exec_changes_destroy(changes);
  return status;
}

TEST(EveryAllocationMayFail) {
  state s;
  CHECK(test_fault_sweep(make_once, &s) > 5);
}
