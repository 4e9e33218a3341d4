// Answers a quest by exact search.
#ifndef STOWAGE_SRC_PLACE_EXACT_EXACT_H_
#define STOWAGE_SRC_PLACE_EXACT_EXACT_H_

#include "place/exact/search.h"

// The exact search at work for a quest.
typedef struct stowi_prover stowi_prover;

// |quest| must outlive it. STOW_ERR_LIMIT for problems that are too large for a model.
stow_status stowi_prover_create(stowi_quest* quest, uint32_t rules, stowi_prover** out_prover);
void stowi_prover_destroy(stowi_prover* prover);

// Searches for a placement within |capacity| bytes, alternating between ways, each round with twice
// the nodes of the previous one, until |nodes| are spent or the quest is done. Offers what it
// finds, and raises the bound if it refutes.
stowi_verdict stowi_prover_fit(stowi_prover* prover, uint64_t capacity, uint64_t nodes);

// Answers the quest's question, if its budget, or |nodes| of it, suffices. Called again, it
// continues.
void stowi_prover_answer(stowi_prover* prover, uint64_t nodes);

// The work of `exact`: first fit, then the search. Problems too large for a model get first fit
// only.
stow_status stowi_exact_work(stowi_quest* quest);
stow_status stowi_place_exact(const stow_problem* problem, const stow_place_options* options,
                              stow_allocator allocator, stow_diag* diag,
                              stow_placement** out_placement);

#endif  // STOWAGE_SRC_PLACE_EXACT_EXACT_H_
