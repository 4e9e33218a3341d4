// By how much the offsets of two buffers must not differ, for pairs of which one has windows: found
// once, so that the search need not walk their pieces at every node.
//
//     ┌─────┐
//     │     ├───┐   a clashes with b if b's offset is above a's by [low, high): ranges
//     │  a  │ b │   with holes between them where b fits into what a leaves free, or
//     │     ├───┘   a into what b leaves free
//     └─────┘
#ifndef STOWAGE_SRC_PLACE_EXACT_CLASH_H_
#define STOWAGE_SRC_PLACE_EXACT_CLASH_H_

#include "base/alloc.h"
#include "base/bits.h"
#include "place/problem.h"

struct stowi_place_model;

// Differences [low, high) in units.
typedef struct stowi_place_clash {
  int64_t low;
  int64_t high;
} stowi_place_clash;

typedef struct stowi_place_clashes {
  uint32_t words;
  uint64_t* partners;  // sets, one for each buffer: neighbours, if either has windows
  uint32_t* rank;      // per word of these: how many partners come before it, all buffers counted
  uint32_t* first;     // per partner: its ranges are [first, the next one's first)
  size_t partner_count;
  STOWI_VEC(stowi_place_clash) ranges;  // of a partner in ascending order, with holes between them
} stowi_place_clashes;

// Ranges of a pair.
typedef struct stowi_place_clash_list {
  const stowi_place_clash* begin;
  const stowi_place_clash* end;
} stowi_place_clash_list;

// Leaves |out_clashes| empty, without sets, if there would be too many ranges; also on failure.
stow_status stowi_place_clashes_make(const struct stowi_place_model* model,
                                     stowi_place_clashes* out_clashes);
void stowi_place_clashes_free(stowi_place_clashes* clashes, const struct stowi_place_model* model);

static inline bool stowi_place_clashes_has(const stowi_place_clashes* clashes, uint32_t a,
                                           uint32_t b) {
  return (clashes->partners[(size_t)a * clashes->words + b / 64] >> (b % 64) & 1) != 0;
}

// |a| and |b| are partners.
static inline stowi_place_clash_list stowi_place_clashes_of(const stowi_place_clashes* clashes,
                                                            uint32_t a, uint32_t b) {
  size_t word = (size_t)a * clashes->words + b / 64;
  uint64_t before = clashes->partners[word] & ((UINT64_C(1) << (b % 64)) - 1);
  size_t partner = clashes->rank[word] + stowi_bit_count(before);
  return (stowi_place_clash_list){clashes->ranges.data + clashes->first[partner],
                                  clashes->ranges.data + clashes->first[partner + 1]};
}

#endif  // STOWAGE_SRC_PLACE_EXACT_CLASH_H_
