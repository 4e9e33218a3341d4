// Ordered sets of the free gaps of an address space, with the lives of what lies between them.
//
//     address  0                                                          UINT64_MAX
//              │ gap │ piece │ gap │ piece │ piece │        gap (endless)     │
//                            └──── a record ────┘   (a gap may be empty)
//
// A record is a gap and the life of the piece that lies right above it; the endless gap comes last.
// Two kinds of sets are made of this, and are searched by the same code:
// - a *stack* keeps pieces that never overlap, each with its life. A search passes over the pieces
// that do not live at the time asked for.
// - a *shadow* is the union of everything put into it. Its pieces live always.
//
// All sets take their pages from one pool. Thread-compatible, like all else.
#ifndef STOWAGE_SRC_PLACE_GREEDY_GAPS_H_
#define STOWAGE_SRC_PLACE_GREEDY_GAPS_H_

#include <stowage/base.h>

// A set by its root page. A set that nothing was put into has no page.
typedef uint32_t stowi_gaps;
#define STOWI_GAPS_EMPTY UINT32_MAX

#define STOWI_GAP_CLASSES 5

// Pages of a few sizes, cut from chunks, found by 32-bit numbers: an 8-byte word each.
typedef struct stowi_gap_pool {
  stow_allocator allocator;
  uint64_t** chunks;
  size_t chunk_count;
  size_t chunk_capacity;
  size_t used;  // words of the last chunk
  uint32_t free_pages[STOWI_GAP_CLASSES];
} stowi_gap_pool;

void stowi_gap_pool_init(stowi_gap_pool* pool, stow_allocator allocator);
void stowi_gap_pool_free(stowi_gap_pool* pool);

// What is looked for: |size| bytes, aligned, free while [begin, end) lasts.
typedef struct stowi_need {
  uint64_t size;
  uint64_t alignment;
  uint32_t begin;
  uint32_t end;
} stowi_need;

// Puts [low, high), living over [begin, end), into a stack. Overlaps nothing in it. O(log n).
stow_status stowi_gaps_stack(stowi_gap_pool* pool, stowi_gaps* set, uint64_t low, uint64_t high,
                             uint32_t begin, uint32_t end);
// Puts [low, high) into a shadow. Gaps that become shorter than |least| vanish. O(log n) amortised.
stow_status stowi_gaps_shade(stowi_gap_pool* pool, stowi_gaps* set, uint64_t low, uint64_t high,
                             uint64_t least);

// A search through one set, upwards: a leaf and the way to it, page and slot per level.
#define STOWI_GAP_LEVELS 12
typedef struct stowi_gap_finger {
  stowi_gaps set;
  uint32_t top;  // level of the root; UINT32_MAX before the first search
  uint32_t pages[STOWI_GAP_LEVELS];
  uint32_t slots[STOWI_GAP_LEVELS];
} stowi_gap_finger;

// The lowest aligned offset at or above |from| where |need| fits; |out_end| is some point up to
// which the room it lies in is free, at least the end of what was asked for. O(log n) unless
// alignments waste many gaps.
uint64_t stowi_gaps_find(const stowi_gap_pool* pool, stowi_gap_finger* finger,
                         const stowi_need* need, uint64_t from, uint64_t* out_end);
// How far the free room around |at| reaches up: the start of the next piece that lives during
// |need|, UINT64_MAX where there is none. O(log n) in stacks whose pieces share a step.
uint64_t stowi_gaps_end(const stowi_gap_pool* pool, stowi_gaps set, const stowi_need* need,
                        uint64_t at);

#endif  // STOWAGE_SRC_PLACE_GREEDY_GAPS_H_
