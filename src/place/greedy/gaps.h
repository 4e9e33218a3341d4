// Ordered sets of the free gaps of an address space, with the lifetimes of what is between them.
//     address  0                                                          UINT64_MAX
//              │ gap │ piece │ gap │ piece │ piece │        gap (endless)     │
//                            └──── a record ────┘   (a gap may be empty)
// A record is a gap and the lifetime of the piece right above it; the endless gap comes last. There
// are two kinds of sets, searched by the same code:
// - a *stack* holds pieces that never overlap, each with its lifetime. A search passes over the
// pieces that are not live at the requested time.
// - a *shadow* is the union of everything put into it. Its pieces are always live.
// All sets take their pages from one pool. Thread-compatible.
#ifndef STOWAGE_SRC_PLACE_GREEDY_GAPS_H_
#define STOWAGE_SRC_PLACE_GREEDY_GAPS_H_

#include <stowage/base.h>

// A set by its root page. An empty set has no page.
typedef uint32_t stowi_place_gaps;
#define STOWI_PLACE_GAPS_EMPTY UINT32_MAX

#define STOWI_PLACE_GAP_CLASSES 5

// Pages of a few sizes, cut from chunks, addressed by 32-bit numbers of 8-byte words.
typedef struct stowi_place_gap_pool {
  stow_allocator allocator;
  uint64_t** chunks;
  size_t chunk_count;
  size_t chunk_capacity;
  size_t used;  // words of the last chunk
  uint32_t free_pages[STOWI_PLACE_GAP_CLASSES];
} stowi_place_gap_pool;

void stowi_place_gap_pool_init(stowi_place_gap_pool* pool, stow_allocator allocator);
void stowi_place_gap_pool_free(stowi_place_gap_pool* pool);

// A request: |size| bytes, aligned, free during [begin, end).
typedef struct stowi_place_need {
  uint64_t size;
  uint64_t alignment;
  uint32_t begin;
  uint32_t end;
} stowi_place_need;

// Puts [low, high), live over [begin, end), into a stack. It overlaps nothing in it. O(log n).
stow_status stowi_place_gaps_stack(stowi_place_gap_pool* pool, stowi_place_gaps* set, uint64_t low,
                                   uint64_t high, uint32_t begin, uint32_t end);
// Puts [low, high) into a shadow. Gaps that become shorter than |least| vanish. O(log n) amortised.
stow_status stowi_place_gaps_shade(stowi_place_gap_pool* pool, stowi_place_gaps* set, uint64_t low,
                                   uint64_t high, uint64_t least);

// A search through one set, upwards: a leaf and the way to it, page and slot per level.
#define STOWI_PLACE_GAP_LEVELS 12
typedef struct stowi_place_gap_finger {
  stowi_place_gaps set;
  uint32_t top;  // level of the root; UINT32_MAX before the first search
  uint32_t pages[STOWI_PLACE_GAP_LEVELS];
  uint32_t slots[STOWI_PLACE_GAP_LEVELS];
} stowi_place_gap_finger;

// The lowest aligned offset at or above |from| where |need| fits; |out_end| is some point up to
// which the room around it is free, at least the end of the request. O(log n) unless alignments
// waste many gaps.
uint64_t stowi_place_gaps_find(const stowi_place_gap_pool* pool, stowi_place_gap_finger* finger,
                               const stowi_place_need* need, uint64_t from, uint64_t* out_end);
// How far the free room around |at| extends upwards: the start of the next piece that is live
// during |need|, UINT64_MAX if there is none. O(log n) in stacks whose pieces share a step.
uint64_t stowi_place_gaps_end(const stowi_place_gap_pool* pool, stowi_place_gaps set,
                              const stowi_place_need* need, uint64_t at);

#endif  // STOWAGE_SRC_PLACE_GREEDY_GAPS_H_
