// Orientations: who lies below whom in a placement, without the offsets.
//
// If of every two buffers that are live together one is known to lie below the other, and these
// relations have no cycle, then offsets follow for sizes of any kind: each buffer as low as those
// below it allow. The offsets are right whatever the sizes are, since the upper one of each pair
// begins at or above the end of the lower one.
//
// A buffer that occupies different bytes at different times (windows) has several *parts*, one for
// each time. The relation is between parts: `a` below `b` means
//     offset(buffer of b) + low(b) >= offset(buffer of a) + high(a)
// Only neighbours are kept, those between which nothing lies at some step. Every other pair follows
// through a chain of them, and there are at most three for each part.
//
//     offset
//       ▲  ┌───────────┐   kept: b above a, c above b
//       │  │     c     │   c above a follows from these two, and
//       │  ├───────┬───┘   holds for all sizes at the last steps too
//       │  │   b   │
//       │  ├───────┴───┐
//       │  │     a     │
//       └──┴───────────┴──▶ step
//
// A chain passes through a buffer from the part c that it enters to the part e that it leaves; it
// holds for all sizes only if high(e) >= low(c) for all sizes: c and e are the same part, or c
// begins at the buffer's first byte, or e ends at its last one.
#ifndef STOWAGE_SRC_PLACE_ORIENT_ORIENT_H_
#define STOWAGE_SRC_PLACE_ORIENT_ORIENT_H_

#include <stowage/place.h>

// Bytes [low, high) of a buffer over steps [begin, end).
typedef struct stowi_place_part {
  uint32_t buffer;
  uint64_t begin;
  uint64_t end;
  uint64_t low;
  uint64_t high;
  bool at_bottom;  // low is 0, whatever the sizes
  bool at_top;     // high is the end of the footprint, whatever the sizes
} stowi_place_part;

// Part |above| lies above part |below|.
typedef struct stowi_place_edge {
  uint32_t below;
  uint32_t above;
} stowi_place_edge;

typedef struct stowi_place_orientation {
  stow_allocator allocator;
  size_t buffer_count;
  size_t part_count;
  uint32_t* buffer_of;  // by part
  uint32_t* order;      // the buffers, each after all that lie below it
  size_t edge_count;
  stowi_place_edge* edges;  // by the place of the upper buffer in |order|, then by lower part
  size_t* first_edge;       // by place in |order|; one more entry ends the last
} stowi_place_orientation;

// What cannot be oriented: a buffer with several parts, in a cycle of relations. Placed again with
// one part, its whole footprint over its whole lifetime, it is in none.
#define STOWI_PLACE_ORIENTED UINT32_MAX

// The orientation of a placement with these |offsets|. |parts| are in order of buffer, then of
// time; they do not overlap in time and are not empty. |*out_cycle| is STOWI_PLACE_ORIENTED, or a
// buffer in a cycle; there is no orientation then. Relations that follow from others are left out.
// O(p log p + p * w) for p parts, w of which are live at once; |diag| is for lack of memory.
stow_status stowi_place_orient(const stowi_place_part* parts, size_t part_count,
                               const uint64_t* offsets, size_t buffer_count,
                               stow_allocator allocator, stow_diag* diag,
                               stowi_place_orientation** out_orientation, uint32_t* out_cycle);
// The parts of a problem, for stowi_place_orient; free with STOWI_ARRAY_FREE. What begins at 0 or
// ends at the footprint's end is taken to do so whatever the sizes.
stow_status stowi_place_parts_of(const stow_problem* problem, stow_allocator allocator,
                                 stow_diag* diag, stowi_place_part** out_parts, size_t* out_count);
void stowi_place_orientation_destroy(stowi_place_orientation* orientation);

// What a buffer needs of its offset.
typedef struct stowi_place_constraint {
  uint64_t alignment;     // a power of two
  uint64_t fixed_offset;  // or STOW_PLACE_ANYWHERE
} stowi_place_constraint;

// The lowest offsets in which the orientation holds, for parts that are bytes [low, high) of their
// buffers. The caller sees to it that no sum overflows. Returns STOWI_PLACE_ORIENTED, or a fixed
// buffer below which there is not enough room. O(buffers + edges).
uint32_t stowi_place_orientation_offsets(const stowi_place_orientation* orientation,
                                         const uint64_t* low, const uint64_t* high,
                                         const stowi_place_constraint* needs,
                                         uint64_t* out_offsets);

#endif  // STOWAGE_SRC_PLACE_ORIENT_ORIENT_H_
