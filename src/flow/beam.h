// Good orders of stretches that are too wide for an exact search.
#ifndef STOWAGE_SRC_FLOW_BEAM_H_
#define STOWAGE_SRC_FLOW_BEAM_H_

#include "flow/exact.h"

// Like stowi_flow_exact, but proves nothing: STOWI_FLOW_ORDER_FOUND, with the stretch's order
// replaced and a peak below |task|->limit, or STOWI_FLOW_ORDER_UNKNOWN.
stow_status stowi_flow_beam(stowi_flow_state* state, stowi_flow_stretch stretch,
                            const stowi_flow_exact_task* task, stowi_flow_exact_result* out_result);

#endif  // STOWAGE_SRC_FLOW_BEAM_H_
