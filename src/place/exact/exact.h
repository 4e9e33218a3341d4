// Answers a quest by exact search.
#ifndef STOWAGE_SRC_PLACE_EXACT_EXACT_H_
#define STOWAGE_SRC_PLACE_EXACT_EXACT_H_

#include "place/exact/choose.h"
#include "place/quest.h"

// The search: decides whether there is a placement within a capacity.
typedef struct stowi_place_exact_search stowi_place_exact_search;

typedef enum stowi_place_verdict {
  STOWI_PLACE_FOUND,
  STOWI_PLACE_REFUTED,  // proven: there is none
  STOWI_PLACE_UNKNOWN   // the budget ran out first
} stowi_place_verdict;

// One run of the search.
typedef struct stowi_place_run {
  uint64_t capacity;  // bytes
  uint64_t nodes;     // at most, beyond the number of buffers that were placed at once
  stowi_place_way way;
  uint32_t noise;  // how many places a rank may be off
  uint64_t seed;   // of the noise, not 0
} stowi_place_run;

// |model| must outlive it. Allocates all memory that any run needs.
stow_status stowi_place_exact_create(const stowi_place_model* model, uint32_t rules,
                                     stow_allocator allocator, stow_diag* diag,
                                     stowi_place_exact_search** out_exact);
void stowi_place_exact_destroy(stowi_place_exact_search* exact);

// Allocates nothing. Spends its nodes on |quest|, and ends when that is done.
stowi_place_verdict stowi_place_exact_run(stowi_place_exact_search* exact,
                                          const stowi_place_run* run, stowi_place_quest* quest);

// The state that runs work on, between runs.
stowi_place_state* stowi_place_exact_state(const stowi_place_exact_search* exact);

// Of the last run, not counting the cost of neighbours.
uint64_t stowi_place_exact_nodes(const stowi_place_exact_search* exact);
// The most buffers placed at once in the last run.
uint32_t stowi_place_exact_depth(const stowi_place_exact_search* exact);

// Writes the offsets, in bytes, of the placement found, by the problem's numbers, and returns its
// height.
uint64_t stowi_place_exact_result(const stowi_place_exact_search* exact, uint64_t* offsets);

// ---------------------------------------------------------------------------------------------

// The exact search at work for a quest.
typedef struct stowi_place_prover stowi_place_prover;

// |quest| must outlive it. STOW_ERR_LIMIT for problems that are too large for a model.
stow_status stowi_place_prover_create(stowi_place_quest* quest, uint32_t rules,
                                      stowi_place_prover** out_prover);
void stowi_place_prover_destroy(stowi_place_prover* prover);

const stowi_place_model* stowi_place_prover_model(const stowi_place_prover* prover);
// Whether buffers were merged to blocks at the goal.
bool stowi_place_prover_is_solid(const stowi_place_prover* prover);

// Searches for a placement within |capacity| bytes until the quest is done. Offers what it finds,
// and raises the bound if it refutes.
stowi_place_verdict stowi_place_prover_fit(stowi_place_prover* prover, uint64_t capacity);

// Players, whose state is a prover: one searches at the goal, the other at capacities between that
// and the best height.
stow_status stowi_place_prover_goal(void* state, bool* out_idle);
stow_status stowi_place_prover_probe(void* state, bool* out_idle);

// The work of `exact`: first fit, then the search. Problems too large for a model get first fit
// only.
stow_status stowi_place_exact_work(stowi_place_quest* quest);

#endif  // STOWAGE_SRC_PLACE_EXACT_EXACT_H_
