// The inside of sharing: what its passes work on. Each looks at the views as the one before left
// them, moves whole roots into others and notes what it decided.
//
//     candidates for a home ─▶ in place ─▶ at home ─▶ in place, where no home was found
#ifndef STOWAGE_SRC_ANALYSIS_SHARING_SHARING_H_
#define STOWAGE_SRC_ANALYSIS_SHARING_SHARING_H_

#include "analysis/api.h"
#include "base/alloc.h"
#include "base/bit_set.h"

// A decision, and what the list of them is ordered by.
typedef struct stowi_decision {
  stow_decision decision;
  uint32_t step;     // of the decision's node
  uint32_t operand;  // index of the decision's operand in its node
} stowi_decision;

struct stowi_sharing {
  stow_allocator allocator;
  STOWI_VEC(stowi_decision) decisions;
  size_t taken;
};

// |views| is a copy that the caller of stowi_sharing_apply does not see before all has gone well.
// Between two passes every value's root is final: root[root[v]] == root[v].
typedef struct stowi_sharing_call {
  stowi_views* views;
  const stow_graph* graph;
  const stow_schedule* schedule;
  const stow_effects* effects;       // may be NULL
  const stowi_lifetimes* lifetimes;  // of the views before. What a value's own life is does not
                                     // depend on who shares its bytes
  stowi_sharing_options options;
  stow_allocator allocator;
  stow_diag* diag;
  stowi_bits outputs;  // of values
  // By value: the result of the concat that the value may have its home in, else STOW_VALUE_NONE.
  // Nobody writes over such a value after the concat. Where the value stays outside after all,
  // stowi_share_homes clears the entry. NULL where copies are not elided.
  stow_value* home;
  stowi_sharing* sharing;  // the record
} stowi_sharing_call;

// Notes a decision. Fails only for lack of memory, with the diagnostic filled.
stow_status stowi_sharing_note(stowi_sharing_call* call, stow_decision decision, size_t operand);
// A decision of |node| without others in it.
stow_decision stowi_sharing_decision(const stowi_sharing_call* call, stow_share share,
                                     stow_reason reason, stow_node node, stow_value result,
                                     stow_value operand);

// Moves |root| and all that lies in it to |offset| in |into|, another root; its alignment is passed
// on. What lies in |root| keeps naming it until stowi_sharing_settle.
void stowi_sharing_move(stowi_sharing_call* call, stow_value root, stow_value into,
                        uint64_t offset);
// Lets every value name its root again. O(values × log of the longest chain of moves).
void stowi_sharing_settle(stowi_sharing_call* call);
// Whether no bytes in the arena are |value|'s: its policy is external.
bool stowi_sharing_is_external(const stowi_sharing_call* call, stow_value value);

// in_place.c. Decides for every result, or again for those for which only a home was in the way.
stow_status stowi_share_in_place(stowi_sharing_call* call);
stow_status stowi_share_in_place_again(stowi_sharing_call* call);

// homes.c. Fills |call->home|, which holds STOW_VALUE_NONE; then takes or refuses each.
stow_status stowi_homes_candidates(stowi_sharing_call* call);
stow_status stowi_share_homes(stowi_sharing_call* call);

#endif  // STOWAGE_SRC_ANALYSIS_SHARING_SHARING_H_
