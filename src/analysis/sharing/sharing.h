// Internals of sharing: the state of its passes. Each pass starts from the views that the previous
// one left, moves whole roots into others and records its decisions.
//     elision candidates ─▶ in place ─▶ copy elision ─▶ in place, for operands not elided
#ifndef STOWAGE_SRC_ANALYSIS_SHARING_SHARING_H_
#define STOWAGE_SRC_ANALYSIS_SHARING_SHARING_H_

#include "analysis/api.h"
#include "analysis/layout.h"
#include "base/alloc.h"
#include "base/bits.h"

// A decision, and the keys that the list is sorted by.
typedef struct stowi_analysis_decision {
  stow_decision decision;
  uint32_t step;     // of the decision's node
  uint32_t operand;  // index of the decision's operand in its node
} stowi_analysis_decision;

struct stowi_analysis_sharing {
  stow_allocator allocator;
  STOWI_VEC(stowi_analysis_decision) decisions;
  size_t taken;
};

// |views| is a copy that becomes visible to the caller of stowi_analysis_sharing_apply only on
// success. Between two passes every value's root is final: root[root[v]] == root[v].
typedef struct stowi_analysis_sharing_call {
  stowi_analysis_views* views;
  const stow_graph* graph;
  const stow_schedule* schedule;
  const stow_effects* effects;                // may be NULL
  const stowi_analysis_lifetimes* lifetimes;  // of the views before sharing. A value's own lifetime
                                              // does not depend on who shares its bytes
  stowi_analysis_sharing_options options;
  stow_allocator allocator;
  stow_diag* diag;
  stowi_bits outputs;  // of values
  // By value: the concat result that the value may be built in, or STOW_VALUE_NONE. Such a value is
  // not overwritten after the concat. If the value is not elided after all,
  // stowi_analysis_elide_copies clears the entry. NULL if copies are not elided.
  stow_value* target;
  stowi_analysis_sharing* sharing;  // the record
} stowi_analysis_sharing_call;

// Records a decision. Fails only when out of memory, with the diagnostic filled.
stow_status stowi_analysis_sharing_note(stowi_analysis_sharing_call* call, stow_decision decision,
                                        size_t operand);
// A decision of |node| that names no other value or node.
stow_decision stowi_analysis_sharing_decision(const stowi_analysis_sharing_call* call,
                                              stow_share share, stow_reason reason, stow_node node,
                                              stow_value result, stow_value operand);

// Moves |root| and everything in it to |place| in |into|, another root, and passes on its
// alignment. Values in |root| keep naming it until stowi_analysis_sharing_settle.
void stowi_analysis_sharing_move(stowi_analysis_sharing_call* call, stow_value root,
                                 stow_value into, stowi_analysis_layout place);
// Makes every value name its root again. O(values × log of the longest chain of moves).
void stowi_analysis_sharing_settle(stowi_analysis_sharing_call* call);
// Whether |value| has no bytes in the arena because its policy is external.
bool stowi_analysis_sharing_is_external(const stowi_analysis_sharing_call* call, stow_value value);

// in_place.c. Decides for every result, or again for those that only a possible elision prevented.
stow_status stowi_analysis_share_in_place(stowi_analysis_sharing_call* call);
stow_status stowi_analysis_share_in_place_again(stowi_analysis_sharing_call* call);

// elision.c. Fills |call->target|, which holds STOW_VALUE_NONE; then takes or refuses each.
stow_status stowi_analysis_elision_candidates(stowi_analysis_sharing_call* call);
stow_status stowi_analysis_elide_copies(stowi_analysis_sharing_call* call);

#endif  // STOWAGE_SRC_ANALYSIS_SHARING_SHARING_H_
