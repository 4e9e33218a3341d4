// The set of what is live at a moment, against a plain list.
#include <string.h>

#include "place/greedy/active.h"
#include "support/fault.h"
#include "support/test.h"

enum { PIECES = 60 };

typedef struct model {
  bool in[PIECES];
  uint64_t low[PIECES];
  uint64_t high[PIECES];
} model;

static uint64_t find_plainly(const model* m, uint64_t size, uint64_t alignment, uint64_t from) {
  uint64_t at = (from + alignment - 1) / alignment * alignment;
  for (int i = 0; i < PIECES; ++i) {
    if (m->in[i] && m->low[i] < at + size && at < m->high[i]) {
      at = (m->high[i] + alignment - 1) / alignment * alignment;
      i = -1;  // from the start, at the new place
    }
  }
  return at;
}

static void run(test_random* random, uint64_t largest) {
  stowi_place_active* active = NULL;
  REQUIRE(stowi_place_active_create(PIECES, stow_allocator_default(), &active) == STOW_OK);
  model m;
  memset(&m, 0, sizeof(m));
  for (int i = 0; i < 400; ++i) {
    uint32_t id = (uint32_t)test_random_below(random, PIECES);
    uint64_t size = 1 + test_random_below(random, largest);
    uint64_t alignment = UINT64_C(1) << test_random_below(random, 4);
    uint64_t from = test_random_below(random, 4) == 0 ? test_random_below(random, 4 * largest) : 0;
    uint64_t found = stowi_place_active_find(active, size, alignment, from);
    CHECK_U64(found, find_plainly(&m, size, alignment, from));
    if (m.in[id]) {
      stowi_place_active_remove(active, id);
      m.in[id] = false;
    } else {
      stowi_place_active_insert(active, id, found, found + size);
      m.in[id] = true;
      m.low[id] = found;
      m.high[id] = found + size;
    }
  }
  stowi_place_active_clear(active);
  CHECK_U64(stowi_place_active_find(active, 100, 8, 3), 8);
  stowi_place_active_destroy(active);
}

TEST(RoomIsFoundAsByAPlainList) {
  test_random random = {5};
  int count = test_is_long() ? 3000 : 200;
  for (int i = 0; i < count; ++i) {
    run(&random, 1 + test_random_below(&random, 30));
  }
}

static stow_status create(stow_allocator allocator, void* user) {
  (void)user;
  stowi_place_active* active = NULL;
  stow_status status = stowi_place_active_create(10, allocator, &active);
  stowi_place_active_destroy(active);
  return status;
}

TEST(CreationIsOneAllocation) {
  CHECK_U64(test_fault_sweep(create, NULL), 1);
  stowi_place_active* active = NULL;
  CHECK(stowi_place_active_create(SIZE_MAX / 8, stow_allocator_default(), &active) ==
        STOW_ERR_OUT_OF_MEMORY);
  CHECK(active == NULL);
}
