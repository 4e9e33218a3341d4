// The exact search: is there a placement within a capacity?
#ifndef STOWAGE_SRC_PLACE_EXACT_SEARCH_H_
#define STOWAGE_SRC_PLACE_EXACT_SEARCH_H_

#include "place/exact/choose.h"
#include "place/quest.h"

typedef struct stowi_exact stowi_exact;

typedef enum stowi_verdict {
  STOWI_FOUND,
  STOWI_REFUTED,  // proven: there is none
  STOWI_UNKNOWN   // the budget ended first
} stowi_verdict;

// One run of the search.
typedef struct stowi_run {
  uint64_t capacity;  // bytes
  uint64_t nodes;     // at most
  stowi_way way;
  uint32_t noise;  // how many places a rank may be off
  uint64_t seed;   // of the noise, not 0
} stowi_run;

// |model| must outlive it. All memory that any run needs.
stow_status stowi_exact_create(const stowi_model* model, uint32_t rules, stow_allocator allocator,
                               stow_diag* diag, stowi_exact** out_exact);
void stowi_exact_destroy(stowi_exact* exact);

// Allocates nothing. Spends its nodes on |quest|, and ends where that is done.
stowi_verdict stowi_exact_run(stowi_exact* exact, const stowi_run* run, stowi_quest* quest);

// What runs work on, between runs.
stowi_state* stowi_exact_state(const stowi_exact* exact);

// Of the last run, without what neighbours cost.
uint64_t stowi_exact_nodes(const stowi_exact* exact);
// How many buffers were placed at once in the last run, at most.
uint32_t stowi_exact_depth(const stowi_exact* exact);

// Writes the offsets, in bytes, of the placement that was found, by the problem's numbers, and
// returns its height.
uint64_t stowi_exact_result(const stowi_exact* exact, uint64_t* offsets);

#endif  // STOWAGE_SRC_PLACE_EXACT_SEARCH_H_
