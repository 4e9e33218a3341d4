// The best order of a stretch, by search over its sets.
#ifndef STOWAGE_SRC_FLOW_EXACT_H_
#define STOWAGE_SRC_FLOW_EXACT_H_

#include "flow/walk.h"

typedef struct stowi_flow_exact_task {
  uint64_t floor;  // any lower peak is as good
  uint64_t limit;  // a peak from here on is useless; above |floor|
  uint64_t nodes;
  bool backwards;
} stowi_flow_exact_task;

typedef enum stowi_flow_verdict {
  STOWI_FLOW_ORDER_FOUND,  // the best peak, or one not above the floor
  STOWI_FLOW_ORDER_NONE,   // every order needs |limit|
  STOWI_FLOW_ORDER_UNKNOWN
} stowi_flow_verdict;

typedef struct stowi_flow_exact_result {
  stowi_flow_verdict verdict;
  uint64_t bound;  // no order of the stretch has a lower peak; 0 if nothing is known
  uint64_t nodes;
} stowi_flow_exact_result;

// |state| is at the beginning of the stretch, before and after. The order found replaces that of
// the stretch.
stow_status stowi_flow_exact(stowi_flow_state* state, stowi_flow_stretch stretch,
                             const stowi_flow_exact_task* task,
                             stowi_flow_exact_result* out_result);

// For stretches that are too wide for an exact search. Like stowi_flow_exact, but proves nothing:
// STOWI_FLOW_ORDER_FOUND, with the stretch's order replaced and a peak below |task|->limit, or
// STOWI_FLOW_ORDER_UNKNOWN.
stow_status stowi_flow_beam(stowi_flow_state* state, stowi_flow_stretch stretch,
                            const stowi_flow_exact_task* task, stowi_flow_exact_result* out_result);

#endif  // STOWAGE_SRC_FLOW_EXACT_H_
