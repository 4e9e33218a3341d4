// A lifetime is a point in the plane of begin and end, and those within [b, e) are the points right
// of b and below e. The points are sorted along a Z-shaped curve through the plane (Morton order),
// so that neighbours in the array are neighbours in the plane, and a binary tree over the array
// keeps a box around the remaining points, and their lowest rank. A search visits the lowest ranks
// first and skips boxes that are outside or have nothing lower than what it has found.
//     end ▲   ┆ · ·
//         │ · ┆·   ·
//       e ┼┄┄┄┼┄┄┄┄┄┄┄      The ranges queried are plateaus of the skyline: most hold a point
//         │   ┆  · ·        of low rank, or none at all.
//         │   ┆ ·
//         └───┼──────▶ begin
//             b
#include "place/skyline/nest.h"

#include "base/alloc.h"
#include "base/diag.h"
#include "base/sort.h"

#define LEAF_POINTS 8
#define STACK_DEPTH 64  // one box waits for each level

typedef struct spot {
  uint64_t code;
  uint32_t buffer;
} spot;

// Moves bit i to bit 2i.
static uint64_t spread(uint32_t bits) {
  uint64_t x = bits;
  x = (x | (x << 16)) & UINT64_C(0x0000ffff0000ffff);
  x = (x | (x << 8)) & UINT64_C(0x00ff00ff00ff00ff);
  x = (x | (x << 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
  x = (x | (x << 2)) & UINT64_C(0x3333333333333333);
  return (x | (x << 1)) & UINT64_C(0x5555555555555555);
}

static stow_status lay_out(const stowi_place_sections* sections, spot* spots,
                           stow_allocator allocator, stowi_place_nest* nest) {
  for (size_t i = 0; i < nest->count; ++i) {
    uint64_t code = spread(stowi_place_hull_begin(sections, i)) << 1 |
                    spread(stowi_place_hull_end(sections, i));
    spots[i] = (spot){code, (uint32_t)i};
  }
  STOW_TRY(stowi_sort_by_key(spots, nest->count, sizeof(spot), allocator));
  for (size_t i = 0; i < nest->count; ++i) {
    uint32_t buffer = spots[i].buffer;
    nest->place[buffer] = (uint32_t)i;
    nest->buffers[i] = buffer;
    nest->points[i] =
        (stowi_place_nest_point){stowi_place_hull_begin(sections, buffer),
                                 stowi_place_hull_end(sections, buffer), STOWI_PLACE_NEST_NONE};
  }
  return STOW_OK;
}

stow_status stowi_place_nest_make(const stowi_place_sections* sections, size_t count,
                                  stow_allocator allocator, stowi_place_nest* out_nest) {
  *out_nest = (stowi_place_nest){.count = count, .leaves = 1};
  while (out_nest->leaves * LEAF_POINTS < count) {
    out_nest->leaves *= 2;
  }
  out_nest->points = STOWI_ARRAY(allocator, stowi_place_nest_point, count);
  out_nest->place = STOWI_ARRAY(allocator, uint32_t, count);
  out_nest->buffers = STOWI_ARRAY(allocator, uint32_t, count);
  out_nest->ranked = STOWI_ARRAY(allocator, uint32_t, count);
  out_nest->boxes = STOWI_ARRAY(allocator, stowi_place_nest_box, 2 * out_nest->leaves);
  spot* spots = STOWI_ARRAY(allocator, spot, count);
  stow_status status = STOW_ERR_OUT_OF_MEMORY;
  if (out_nest->points != NULL && out_nest->place != NULL && out_nest->buffers != NULL &&
      out_nest->ranked != NULL && out_nest->boxes != NULL && spots != NULL) {
    status = lay_out(sections, spots, allocator, out_nest);
  }
  STOWI_ARRAY_FREE(allocator, spots, count);
  return status;
}

void stowi_place_nest_free(stowi_place_nest* nest, stow_allocator allocator) {
  STOWI_ARRAY_FREE(allocator, nest->points, nest->count);
  STOWI_ARRAY_FREE(allocator, nest->place, nest->count);
  STOWI_ARRAY_FREE(allocator, nest->buffers, nest->count);
  STOWI_ARRAY_FREE(allocator, nest->ranked, nest->count);
  STOWI_ARRAY_FREE(allocator, nest->boxes, 2 * nest->leaves);
  *nest = (stowi_place_nest){0};
}

// ---------------------------------------------------------------------------------------------
// Boxes

static const stowi_place_nest_box no_box = {STOWI_PLACE_NEST_NONE, UINT32_MAX, 0, UINT32_MAX, 0};

static uint32_t smaller(uint32_t a, uint32_t b) { return a < b ? a : b; }
static uint32_t larger(uint32_t a, uint32_t b) { return a > b ? a : b; }

static stowi_place_nest_box around(stowi_place_nest_box a, stowi_place_nest_box b) {
  return (stowi_place_nest_box){smaller(a.rank, b.rank), smaller(a.first_begin, b.first_begin),
                                larger(a.last_begin, b.last_begin),
                                smaller(a.first_end, b.first_end), larger(a.last_end, b.last_end)};
}

// The points of a leaf are [first, end).
static size_t first_point(const stowi_place_nest* nest, size_t leaf) {
  size_t point = (leaf - nest->leaves) * LEAF_POINTS;
  return point < nest->count ? point : nest->count;
}

static size_t end_point(const stowi_place_nest* nest, size_t leaf) {
  return first_point(nest, leaf + 1);
}

static stowi_place_nest_box box_of_leaf(const stowi_place_nest* nest, size_t leaf) {
  stowi_place_nest_box box = no_box;
  size_t end = end_point(nest, leaf);
  for (size_t i = first_point(nest, leaf); i < end; ++i) {
    stowi_place_nest_point p = nest->points[i];
    if (p.rank != STOWI_PLACE_NEST_NONE) {
      box = around(box, (stowi_place_nest_box){p.rank, p.begin, p.begin, p.end, p.end});
    }
  }
  return box;
}

static stowi_place_nest_box box_of_node(const stowi_place_nest* nest, size_t node) {
  return around(nest->boxes[2 * node], nest->boxes[2 * node + 1]);
}

void stowi_place_nest_fill(stowi_place_nest* nest, const uint32_t* order, size_t count) {
  for (size_t i = 0; i < nest->count; ++i) {
    nest->points[i].rank = STOWI_PLACE_NEST_NONE;
  }
  for (size_t i = 0; i < count; ++i) {
    nest->ranked[i] = nest->place[order[i]];
    nest->points[nest->ranked[i]].rank = (uint32_t)i;
  }
  for (size_t leaf = nest->leaves; leaf < 2 * nest->leaves; ++leaf) {
    nest->boxes[leaf] = box_of_leaf(nest, leaf);
  }
  for (size_t node = nest->leaves - 1; node > 0; --node) {
    nest->boxes[node] = box_of_node(nest, node);
  }
}

// Returns whether the box is another one.
static bool replace(stowi_place_nest* nest, size_t node, stowi_place_nest_box box) {
  stowi_place_nest_box before = nest->boxes[node];
  nest->boxes[node] = box;
  return box.rank != before.rank || box.first_begin != before.first_begin ||
         box.last_begin != before.last_begin || box.first_end != before.first_end ||
         box.last_end != before.last_end;
}

void stowi_place_nest_remove(stowi_place_nest* nest, uint32_t place) {
  size_t node = nest->leaves + place / LEAF_POINTS;
  nest->points[place].rank = STOWI_PLACE_NEST_NONE;
  bool changes = replace(nest, node, box_of_leaf(nest, node));
  for (node /= 2; changes && node > 0; node /= 2) {
    changes = replace(nest, node, box_of_node(nest, node));
  }
}

// ---------------------------------------------------------------------------------------------
// Search

static uint32_t first_in_leaf(const stowi_place_nest* nest, size_t leaf, uint32_t begin,
                              uint32_t end, uint32_t best) {
  size_t last = end_point(nest, leaf);
  for (size_t i = first_point(nest, leaf); i < last; ++i) {
    stowi_place_nest_point p = nest->points[i];
    if (p.rank < best && p.begin >= begin && p.end <= end) {
      best = p.rank;
    }
  }
  return best;
}

// Whether no point of the box is within [begin, end).
static bool is_outside(const stowi_place_nest_box* box, uint32_t begin, uint32_t end) {
  return box->last_begin < begin || box->first_end > end;
}

// Only boxes that are not outside wait.
uint32_t stowi_place_nest_first(const stowi_place_nest* nest, uint32_t begin, uint32_t end) {
  size_t stack[STACK_DEPTH];
  size_t depth = 0;
  uint32_t best = STOWI_PLACE_NEST_NONE;
  size_t node = is_outside(&nest->boxes[1], begin, end) ? 0 : 1;
  while (node != 0) {
    const stowi_place_nest_box* box = &nest->boxes[node];
    size_t next = 0;
    if (box->rank >= best) {
      // Nothing lower is in it.
    } else if (box->first_begin >= begin && box->last_end <= end) {
      best = box->rank;
    } else if (node >= nest->leaves) {
      best = first_in_leaf(nest, node, begin, end, best);
    } else {
      size_t left_first = nest->boxes[2 * node].rank < nest->boxes[2 * node + 1].rank;
      size_t later = 2 * node + left_first;
      size_t sooner = 2 * node + 1 - left_first;
      bool has_later = !is_outside(&nest->boxes[later], begin, end);
      next = has_later ? later : 0;
      if (!is_outside(&nest->boxes[sooner], begin, end)) {
        stack[depth] = later;
        depth += has_later;
        next = sooner;
      }
    }
    node = next != 0 ? next : depth > 0 ? stack[--depth] : 0;
  }
  return best == STOWI_PLACE_NEST_NONE ? best : nest->ranked[best];
}
