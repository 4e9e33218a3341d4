// The exact search: decides whether there is a placement within a capacity.
#ifndef STOWAGE_SRC_PLACE_EXACT_SEARCH_H_
#define STOWAGE_SRC_PLACE_EXACT_SEARCH_H_

#include "place/exact/choose.h"
#include "place/quest.h"

typedef struct stowi_exact stowi_exact;

typedef enum stowi_verdict {
  STOWI_FOUND,
  STOWI_REFUTED,  // proven: there is none
  STOWI_UNKNOWN   // the budget ran out first
} stowi_verdict;

// One run of the search.
typedef struct stowi_run {
  uint64_t capacity;  // bytes
  uint64_t nodes;     // at most
  stowi_way way;
  uint32_t noise;  // how many places a rank may be off
  uint64_t seed;   // of the noise, not 0
} stowi_run;

// |model| must outlive it. Allocates all memory that any run needs.
stow_status stowi_exact_create(const stowi_model* model, uint32_t rules, stow_allocator allocator,
                               stow_diag* diag, stowi_exact** out_exact);
void stowi_exact_destroy(stowi_exact* exact);

// Allocates nothing. Spends its nodes on |quest|, and ends when that is done.
stowi_verdict stowi_exact_run(stowi_exact* exact, const stowi_run* run, stowi_quest* quest);

// The state that runs work on, between runs.
stowi_state* stowi_exact_state(const stowi_exact* exact);

// Of the last run, not counting the cost of neighbours.
uint64_t stowi_exact_nodes(const stowi_exact* exact);
// The most buffers placed at once in the last run.
uint32_t stowi_exact_depth(const stowi_exact* exact);

// Writes the offsets, in bytes, of the placement found, by the problem's numbers, and returns its
// height.
uint64_t stowi_exact_result(const stowi_exact* exact, uint64_t* offsets);

#endif  // STOWAGE_SRC_PLACE_EXACT_SEARCH_H_
