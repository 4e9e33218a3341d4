// The best order of a stretch, by search over its sets.
#ifndef STOWAGE_SRC_FLOW_EXACT_H_
#define STOWAGE_SRC_FLOW_EXACT_H_

#include "flow/walk.h"

typedef struct stowi_exact_task {
  uint64_t floor;  // any lower peak is as good
  uint64_t limit;  // a peak from here on is useless; above |floor|
  uint64_t nodes;
  bool backwards;
} stowi_exact_task;

typedef enum stowi_verdict {
  STOWI_ORDER_FOUND,  // the best peak, or one not above the floor
  STOWI_ORDER_NONE,   // every order needs |limit|
  STOWI_ORDER_UNKNOWN
} stowi_verdict;

typedef struct stowi_exact_result {
  stowi_verdict verdict;
  uint64_t bound;  // no order of the stretch has a lower peak; 0 if nothing is known
  uint64_t nodes;
} stowi_exact_result;

// |state| is at the beginning of the stretch, before and after. The order found replaces that of
// the stretch.
stow_status stowi_exact(stowi_state* state, stowi_stretch stretch, const stowi_exact_task* task,
                        stowi_exact_result* out_result);

#endif  // STOWAGE_SRC_FLOW_EXACT_H_
