// Internals of copy elision: the operands of concats, and the roots that they are in.
#ifndef STOWAGE_SRC_ANALYSIS_SHARING_ELIDER_H_
#define STOWAGE_SRC_ANALYSIS_SHARING_ELIDER_H_

#include "analysis/sharing/hulls.h"

#define STOWI_ANALYSIS_NO_PLACE UINT64_MAX

// A root and the values originally in it.
typedef struct stowi_analysis_root {
  uint32_t begin;             // of the first lifetime in it
  uint32_t end;               // of the last, including what has moved into it
  uint32_t own_end;           // without that
  stow_value first_in_place;  // the first result in place in it, or STOW_VALUE_NONE
  stow_value last_in_place;   // the last
  stow_value latest;          // the last, including what has moved into it
  stow_value pinned;          // a value in it that is written by more than its own node
  uint32_t kept;              // for claims: the step until which its bytes must stay
  bool is_claimed;
} stowi_analysis_root;

// One operand of one concat.
typedef struct stowi_analysis_entry {
  stow_node node;
  uint32_t operand;
  uint64_t place;  // offset in the result, or in each row of it; STOWI_ANALYSIS_NO_PLACE: none
  uint64_t rows;   // of the result that it has a part of; 1: its bytes are contiguous
  stow_reason reason;
  stow_value other;
  stow_node other_node;
  bool is_tried;  // counts as elided until the trial ends
} stowi_analysis_entry;

typedef struct stowi_analysis_elider {
  stowi_analysis_sharing_call* call;
  const stow_graph* graph;
  const stow_effects* effects;
  stowi_analysis_root* roots;  // by root
  stow_value* target;          // by root: the concat that it moved into first, or STOW_VALUE_NONE
  stowi_bits joined;           // by root: more than concats inside concats
  // NULL and without words if no value may be pitched.
  stow_value* next;    // by value: the next one in its root now; STOW_VALUE_NONE: it is the last
  stow_value* last;    // by root: the last one in it, which begins with the root
  stowi_bits pitched;  // by root: values in it are
  STOWI_VEC(stowi_analysis_entry)
  entries;  // in the order in which the concats run; those of one concat are adjacent
  stowi_analysis_hulls hulls;
  uint64_t claims;    // made so far
  uint64_t row_work;  // values looked at for rows
} stowi_analysis_elider;

// Finds concats, their operands' places, and roots. There are no entries if there are no concats.
stow_status stowi_analysis_elider_init(stowi_analysis_elider* h, stowi_analysis_sharing_call* call);
void stowi_analysis_elider_free(stowi_analysis_elider* h);

uint32_t stowi_analysis_elider_step(const stowi_analysis_elider* h, stow_node node);
uint32_t stowi_analysis_elider_birth(const stowi_analysis_elider* h, stow_value value);
stow_value stowi_analysis_elider_operand(const stowi_analysis_elider* h,
                                         const stowi_analysis_entry* e);
stow_value stowi_analysis_elider_result(const stowi_analysis_elider* h,
                                        const stowi_analysis_entry* e);
// The root that |value| was in before anything moved.
stow_value stowi_analysis_elider_home(const stowi_analysis_elider* h, stow_value value);
// The root that |value| is in now, and its offset there.
stow_value stowi_analysis_elider_find(stowi_analysis_elider* h, stow_value value,
                                      uint64_t* out_offset);

// Notes why |e| is not elided. Always false.
bool stowi_analysis_elider_refuse(stowi_analysis_entry* e, stow_reason reason, stow_value other);
// Whether something may be built inside |e|'s result. These three fill the reason if not.
bool stowi_analysis_elider_may_contain(const stowi_analysis_elider* h, stowi_analysis_entry* e);
// Whether |root|, which is in |e|'s node's region, may be a part of another.
bool stowi_analysis_elider_may_move(const stowi_analysis_elider* h, stow_value root,
                                    stowi_analysis_entry* e);
// Whether all of |root|, which contains the operand, may move, as far as can be seen without other
// roots. If it would be pitched, nodes must be able to run row by row: O(values in it and readers).
bool stowi_analysis_elider_is_eligible(stowi_analysis_elider* h, stow_value root,
                                       stowi_analysis_entry* e);

// Whether |root| can be at |offset| in |into|: with all entries elided that are, or are tried, no
// byte is needed for two values at one step. O(entries), plus the pairs of values that share bytes.
// On failure the diagnostic is filled.
stow_status stowi_analysis_elider_fits(stowi_analysis_elider* h, stow_value root, stow_value into,
                                       uint64_t offset, bool* out_fits);

// Notes that |root|, which may be at |place| in |into|, moves there.
void stowi_analysis_elider_moved(stowi_analysis_elider* h, stow_value root, stow_value into,
                                 stowi_analysis_layout place);

#endif  // STOWAGE_SRC_ANALYSIS_SHARING_ELIDER_H_
