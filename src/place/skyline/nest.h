// The buffers that wait to be placed, queried for the first of those whose lifetime is within a
// range of sections.
#ifndef STOWAGE_SRC_PLACE_SKYLINE_NEST_H_
#define STOWAGE_SRC_PLACE_SKYLINE_NEST_H_

#include "place/sections.h"

#define STOWI_PLACE_NEST_NONE UINT32_MAX

typedef struct stowi_place_nest_point {
  uint32_t begin;
  uint32_t end;
  uint32_t rank;  // STOWI_PLACE_NEST_NONE: not in
} stowi_place_nest_point;

typedef struct stowi_place_nest_box {
  uint32_t rank;  // the lowest below it
  uint32_t first_begin;
  uint32_t last_begin;
  uint32_t first_end;
  uint32_t last_end;
} stowi_place_nest_box;

typedef struct stowi_place_nest {
  size_t count;
  size_t leaves;                   // a power of two
  stowi_place_nest_point* points;  // by place on a curve through begin × end
  uint32_t* place;                 // per buffer
  uint32_t* buffers;               // per place
  uint32_t* ranked;                // place, per rank
  stowi_place_nest_box* boxes;     // a tree over points: children of i are 2i and 2i + 1
} stowi_place_nest;

// The sections from a buffer's first piece to its last: [begin, end).
static inline uint32_t stowi_place_hull_begin(const stowi_place_sections* sections, size_t buffer) {
  return sections->begin[stowi_place_piece_first(sections, buffer)];
}
static inline uint32_t stowi_place_hull_end(const stowi_place_sections* sections, size_t buffer) {
  return sections->end[stowi_place_piece_end(sections, buffer) - 1];
}

// All out. Free it even after a failure. O(n log n).
stow_status stowi_place_nest_make(const stowi_place_sections* sections, size_t count,
                                  stow_allocator allocator, stowi_place_nest* out_nest);
void stowi_place_nest_free(stowi_place_nest* nest, stow_allocator allocator);

// Puts order[0 … count-1] in, the others out; an order's places are the ranks. O(n).
void stowi_place_nest_fill(stowi_place_nest* nest, const uint32_t* order, size_t count);
// Removes the buffer at |place|. O(log n).
void stowi_place_nest_remove(stowi_place_nest* nest, uint32_t place);
// The place of the lowest rank among those that are live only in sections [begin, end), or
// STOWI_PLACE_NEST_NONE. O(√n) in the worst case, much less if the first ones fit.
uint32_t stowi_place_nest_first(const stowi_place_nest* nest, uint32_t begin, uint32_t end);

#endif  // STOWAGE_SRC_PLACE_SKYLINE_NEST_H_
