// A segment tree for raising ranges and querying the highest of a range. Since numbers only rise,
// updates of a whole subtree never have to be pushed down: a node stores them, and a query collects
// them on the way up. O(log n) for both, without recursion.
#include "place/skyline/floors.h"

#include <string.h>

#include "base/alloc.h"

static uint64_t larger(uint64_t a, uint64_t b) { return a > b ? a : b; }

stow_status stowi_place_floors_make(size_t count, stow_allocator allocator,
                                    stowi_place_floors* out_floors) {
  size_t leaves = 1;
  while (leaves < count) {
    leaves *= 2;
  }
  *out_floors = (stowi_place_floors){.leaves = leaves};
  out_floors->most = STOWI_ARRAY_ZERO(allocator, uint64_t, 2 * leaves);
  out_floors->all = STOWI_ARRAY_ZERO(allocator, uint64_t, 2 * leaves);
  bool fine = out_floors->most != NULL && out_floors->all != NULL;
  return fine ? STOW_OK : STOW_ERR_OUT_OF_MEMORY;
}

void stowi_place_floors_free(stowi_place_floors* floors, stow_allocator allocator) {
  STOWI_ARRAY_FREE(allocator, floors->most, 2 * floors->leaves);
  STOWI_ARRAY_FREE(allocator, floors->all, 2 * floors->leaves);
  floors->most = floors->all = NULL;
}

void stowi_place_floors_clear(stowi_place_floors* floors) {
  memset(floors->most, 0, 2 * floors->leaves * sizeof(*floors->most));
  memset(floors->all, 0, 2 * floors->leaves * sizeof(*floors->all));
}

void stowi_place_floors_set(stowi_place_floors* floors, const uint64_t* heights, size_t count) {
  stowi_place_floors_clear(floors);
  for (size_t i = 0; i < count; ++i) {
    floors->most[floors->leaves + i] = floors->all[floors->leaves + i] = heights[i];
  }
  for (size_t node = floors->leaves - 1; node > 0; --node) {
    floors->most[node] = larger(floors->most[2 * node], floors->most[2 * node + 1]);
  }
}

static void raise_node(stowi_place_floors* floors, size_t node, uint64_t height) {
  floors->most[node] = larger(floors->most[node], height);
  floors->all[node] = larger(floors->all[node], height);
}

static void refresh_above(stowi_place_floors* floors, size_t node) {
  for (node /= 2; node > 0; node /= 2) {
    uint64_t below = larger(floors->most[2 * node], floors->most[2 * node + 1]);
    floors->most[node] = larger(floors->all[node], below);
  }
}

void stowi_place_floors_raise(stowi_place_floors* floors, uint32_t begin, uint32_t end,
                              uint64_t height) {
  size_t low = begin + floors->leaves;
  size_t high = end + floors->leaves;
  for (; low < high; low /= 2, high /= 2) {
    if (low % 2 == 1) {
      raise_node(floors, low++, height);
    }
    if (high % 2 == 1) {
      raise_node(floors, --high, height);
    }
  }
  refresh_above(floors, begin + floors->leaves);
  refresh_above(floors, end - 1 + floors->leaves);
}

// Every ancestor of a node that makes up the range is one of the range's first or last leaf.
uint64_t stowi_place_floors_max(const stowi_place_floors* floors, uint32_t begin, uint32_t end) {
  uint64_t most = 0;
  size_t low = begin + floors->leaves;
  size_t high = end + floors->leaves;
  size_t first = low;
  size_t last = high - 1;
  for (; first > 0; first /= 2, last /= 2) {
    most = larger(most, larger(floors->all[first], floors->all[last]));
    if (low < high) {
      if (low % 2 == 1) {
        most = larger(most, floors->most[low++]);
      }
      if (high % 2 == 1) {
        most = larger(most, floors->most[--high]);
      }
      low /= 2;
      high /= 2;
    }
  }
  return most;
}
