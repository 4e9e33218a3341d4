// Answers a quest by exact search.
#ifndef STOWAGE_SRC_PLACE_EXACT_EXACT_H_
#define STOWAGE_SRC_PLACE_EXACT_EXACT_H_

#include "place/exact/search.h"

// The exact search at work for a quest.
typedef struct stowi_place_prover stowi_place_prover;

// |quest| must outlive it. STOW_ERR_LIMIT for problems that are too large for a model.
stow_status stowi_place_prover_create(stowi_place_quest* quest, uint32_t rules,
                                      stowi_place_prover** out_prover);
void stowi_place_prover_destroy(stowi_place_prover* prover);

// Searches for a placement within |capacity| bytes, alternating between ways, each round with twice
// the nodes of the previous one, until |nodes| are spent or the quest is done. Offers what it
// finds, and raises the bound if it refutes.
stowi_place_verdict stowi_place_prover_fit(stowi_place_prover* prover, uint64_t capacity,
                                           uint64_t nodes);

// Answers the quest's question, if its budget, or |nodes| of it, suffices. Called again, it
// continues.
void stowi_place_prover_answer(stowi_place_prover* prover, uint64_t nodes);

// The work of `exact`: first fit, then the search. Problems too large for a model get first fit
// only.
stow_status stowi_place_exact_work(stowi_place_quest* quest);
stow_status stowi_place_exact(const stow_problem* problem, const stow_place_options* options,
                              stow_allocator allocator, stow_diag* diag,
                              stow_placement** out_placement);

#endif  // STOWAGE_SRC_PLACE_EXACT_EXACT_H_
