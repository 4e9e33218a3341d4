// Plateaus in a doubly linked list, by the section each begins at.
//
//          ┌──┐                        ┌──┐
//     ┌────┘  │   ┌──      level  ┌────┘  └──────    Levelling makes one plateau of two or
//             └───┘       ──────▶                    three, building makes at most three of one:
//                                                    n buffers cost O(n) steps.
//
// The walk to a valley goes left if that is down, otherwise right. So what is left of it rises to
// the left, except right after something was built: that pays for a step left, and a step right is
// paid for by a step left or by the border that it crosses for the first time.
#include "place/skyline/plateaus.h"

#include "base/alloc.h"

stow_status stowi_place_plateaus_make(uint32_t sections, stow_allocator allocator,
                                      stowi_place_plateaus* out_plateaus) {
  size_t count = (size_t)sections + 1;
  *out_plateaus = (stowi_place_plateaus){.sections = sections};
  out_plateaus->end = STOWI_ARRAY(allocator, uint32_t, count);
  out_plateaus->before = STOWI_ARRAY(allocator, uint32_t, count);
  out_plateaus->floor = STOWI_ARRAY(allocator, uint64_t, count);
  bool fine =
      out_plateaus->end != NULL && out_plateaus->before != NULL && out_plateaus->floor != NULL;
  return fine ? STOW_OK : STOW_ERR_OUT_OF_MEMORY;
}

void stowi_place_plateaus_free(stowi_place_plateaus* plateaus, stow_allocator allocator) {
  size_t count = (size_t)plateaus->sections + 1;
  STOWI_ARRAY_FREE(allocator, plateaus->end, count);
  STOWI_ARRAY_FREE(allocator, plateaus->before, count);
  STOWI_ARRAY_FREE(allocator, plateaus->floor, count);
  *plateaus = (stowi_place_plateaus){0};
}

// Makes [begin, end) what follows the plateau at |before|.
static void link(stowi_place_plateaus* plateaus, uint32_t before, uint32_t begin, uint32_t end) {
  plateaus->before[begin] = before;
  plateaus->end[begin] = end;
  plateaus->before[end] = begin;
}

void stowi_place_plateaus_clear(stowi_place_plateaus* plateaus) {
  link(plateaus, 0, 0, plateaus->sections);
  plateaus->floor[0] = 0;
  plateaus->at = 0;
}

static uint64_t floor_before(const stowi_place_plateaus* plateaus, uint32_t begin) {
  return begin > 0 ? plateaus->floor[plateaus->before[begin]] : UINT64_MAX;
}

static uint64_t floor_at(const stowi_place_plateaus* plateaus, uint32_t begin) {
  return begin < plateaus->sections ? plateaus->floor[begin] : UINT64_MAX;
}

stowi_place_plateau stowi_place_plateaus_valley(stowi_place_plateaus* plateaus) {
  uint32_t at = plateaus->at;
  while (true) {
    uint64_t floor = plateaus->floor[at];
    if (floor_before(plateaus, at) < floor) {
      at = plateaus->before[at];
    } else if (floor_at(plateaus, plateaus->end[at]) < floor) {
      at = plateaus->end[at];
    } else {
      plateaus->at = at;
      return (stowi_place_plateau){at, plateaus->end[at], floor};
    }
  }
}

// Sets the floor of [begin, end), which is linked, and joins it with neighbours that have the same.
static void settle(stowi_place_plateaus* plateaus, uint32_t begin, uint32_t end, uint64_t floor) {
  uint32_t first = floor_before(plateaus, begin) == floor ? plateaus->before[begin] : begin;
  uint32_t last = floor_at(plateaus, end) == floor ? plateaus->end[end] : end;
  link(plateaus, plateaus->before[first], first, last);
  plateaus->floor[first] = floor;
  plateaus->at = first;
}

void stowi_place_plateaus_level(stowi_place_plateaus* plateaus, stowi_place_plateau valley) {
  uint64_t left = floor_before(plateaus, valley.begin);
  uint64_t right = floor_at(plateaus, valley.end);
  settle(plateaus, valley.begin, valley.end, left < right ? left : right);
}

void stowi_place_plateaus_build(stowi_place_plateaus* plateaus, stowi_place_plateau valley,
                                uint32_t begin, uint32_t end, uint64_t floor) {
  if (end < valley.end) {
    link(plateaus, begin, end, valley.end);
    plateaus->floor[end] = valley.floor;
  }
  if (begin > valley.begin) {
    link(plateaus, plateaus->before[valley.begin], valley.begin, begin);
  }
  settle(plateaus, begin, end, floor);
}
