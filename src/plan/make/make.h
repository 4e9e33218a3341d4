// The stages of making a plan, and what they pass on.
//     make.c       which attempts: orders, sharing
//     contest.c    which of them are searched longer; the smallest arena wins
//     attempt.c    schedule, views, lifetimes, sharing ─┐
//     slots.c      which values get a slot, how large   ├─▶ problem.c ─▶ placement ─▶ plan
//     fixed.c      which places are given              ─┘
//     scratch.c    scratch that may be larger, in the plan that won
//     order.c      a better order of the nodes
#ifndef STOWAGE_SRC_PLAN_MAKE_MAKE_H_
#define STOWAGE_SRC_PLAN_MAKE_MAKE_H_

#include "analysis/api.h"
#include "plan/plan_internal.h"

// What the caller asks for.
typedef struct stowi_plan_request {
  const stow_graph* graph;
  const stow_effects* effects;  // may be NULL
  stow_plan_options options;    // checked
  stow_allocator allocator;
  stow_diag* diag;
} stowi_plan_request;

// What one attempt uses, of all that the options allow.
typedef struct stowi_plan_choice {
  const stow_schedule* schedule;  // NULL: the graph's own order
  bool in_place;
  bool elide_copies;
  bool windows;
  uint64_t least_row;  // of pitched values; 0: there are none
} stowi_plan_choice;

typedef struct stowi_plan_maker {
  const stow_graph* graph;
  const stow_effects* effects;
  stow_plan_options options;
  stow_allocator allocator;
  stow_diag* diag;
  stowi_plan_choice choice;
  stow_schedule* schedule;
  stowi_analysis_views* views;
  stowi_analysis_lifetimes* lifetimes;
  stowi_analysis_sharing* sharing;  // NULL without reuse
  stowi_analysis_windows* windows;  // NULL if there are to be none
  stow_plan* plan;
  // Per value: its required offset, or STOW_PLACE_ANYWHERE. Only that of roots counts in the end.
  uint64_t* fixed;
  stow_problem* problem;
  stow_placement* placement;
} stowi_plan_maker;

// attempt.c
void stowi_plan_maker_init(stowi_plan_maker* maker, const stowi_plan_request* request,
                           stowi_plan_choice choice);
void stowi_plan_maker_free(stowi_plan_maker* maker);
// The first two stages.
stow_status stowi_plan_make_schedule(stowi_plan_maker* maker);
stow_status stowi_plan_make_views(stowi_plan_maker* maker);
// The plan without offsets.
stow_status stowi_plan_make_prepare(stowi_plan_maker* maker);
// All stages, if the arena can be smaller than |below|; otherwise |*out_plan| is NULL.
// |*out_bound|: no placement is lower.
stow_status stowi_plan_make_attempt(const stowi_plan_request* request, stowi_plan_choice choice,
                                    uint64_t below, uint64_t* out_bound, stow_plan** out_plan);

// problem.c: builds the problem of the prepared plan.
stow_status stowi_plan_make_bound(stowi_plan_maker* maker, uint64_t* out_bound);
// Then sets the offsets, and finishes the plan.
stow_status stowi_plan_make_place(stowi_plan_maker* maker);
// Finishes a prepared plan whose offsets are set.
stow_status stowi_plan_make_judge(stowi_plan_maker* maker);
// Runs the requested strategy, from the offsets of |start| (NULL: none). A placement is returned
// even if it is invalid: STOW_ERR_INVALID_ARGUMENT.
stow_status stowi_plan_place(const stow_problem* problem, const stow_plan_options* asked,
                             const uint64_t* start, bool reuse, stow_allocator allocator,
                             stow_diag* diag, stow_placement** out_placement);
// Adds the buffers of the prepared plan to |problem|, |shift| steps later: roots in id order except
// those in |apart| (by value), scratch, reserved ranges. Then takes the offsets of what was added
// from buffer |first| on, and returns the buffer after it; the roots in |apart| already have
// theirs. |apart| is NULL if the plan is alone. If it is not and reuses no bytes, everything in it
// is live during all of its steps, since others do reuse bytes in the same problem.
stow_status stowi_plan_add_buffers(const stowi_plan_maker* maker, stow_problem* problem,
                                   uint64_t shift, const bool* apart);
size_t stowi_plan_take_offsets(stowi_plan_maker* maker, const stow_placement* placement,
                               size_t first, const bool* apart);

// decisions.c: whether a decision about the elision of a copy has this reason.
bool stowi_plan_has_elision(const stow_plan* plan, stow_reason reason);
// decisions.c: adds to the decisions, as refused, what only |fuller|, a larger plan in the same
// order, shares.
stow_status stowi_plan_add_refused(stow_plan* plan, const stow_plan* fuller, stow_diag* diag);

// slots.c: decides slot, size, guard, alignment and lifetime of every value and scratch. Afterwards
// a value that will have a slot has offset 0. Offsets that effects or a layout fix are in |fixed|.
stow_status stowi_plan_make_slots(stowi_plan_maker* maker);

// scratch.c: gives scratch the largest of its offers that fits below |limit|, of a plan with
// offsets. On failure the plan is as before.
stow_status stowi_plan_enlarge_scratch(stow_plan* plan, const stow_effects* effects, uint64_t limit,
                                       stow_diag* diag);
// What that needs, to be used again; begin with one that is all 0.
typedef struct stowi_plan_gaps {
  struct stowi_plan_block* blocks;
  struct stowi_plan_block* live;
  size_t capacity;
  uint32_t* first;    // by step: blocks that begin there
  uint32_t* scratch;  // by step: its first piece
  size_t steps;
} stowi_plan_gaps;
void stowi_plan_gaps_free(stowi_plan_gaps* room, stow_allocator allocator);
// The same in |room|, which grows if it is too small.
stow_status stowi_plan_enlarge_scratch_in(stow_plan* plan, const stow_effects* effects,
                                          uint64_t limit, stowi_plan_gaps* room,
                                          stow_allocator allocator, stow_diag* diag);

// fixed.c: gives every param that has a slot the one of the layout, and reserves the rest of the
// layout. STOW_ERR_NOT_FOUND for a param that the layout does not name, STOW_ERR_TYPE for one of
// another size.
stow_status stowi_plan_make_shared(stowi_plan_maker* maker);
// fixed.c: packs params if the options ask for it, and checks that everything fixed is aligned and
// disjoint. STOW_ERR_CONFLICT.
stow_status stowi_plan_make_fixed(stowi_plan_maker* maker);

// The message for a size that the placer refuses with STOW_ERR_OVERFLOW, whose own message has
// buffer numbers that callers cannot map to values.
#define STOWI_PLAN_TOO_LARGE " bytes do not fit in a 63-bit address space with everything else"

// Fails with a diagnostic about |value|.
stow_status stowi_plan_make_fail(const stowi_plan_maker* maker, stow_status status,
                                 stow_value value, const char* format, ...) STOW_PRINTF_LIKE(4, 5);
stowi_plan_value_text stowi_plan_make_name(const stowi_plan_maker* maker, stow_value value);

// Takes over the windows of roots that have a slot and no guard; none where no bytes are reused.
// Slots, lives and facts must be in. Once per plan.
stow_status stowi_plan_set_windows(stow_plan* plan, const stowi_analysis_windows* windows,
                                   stow_diag* diag);

// Takes the windows of all |roots| (by value) away: they occupy all of themselves.
void stowi_plan_drop_windows(stow_plan* plan, const bool* roots);
// Copies what was decided. Once per plan.
stow_status stowi_plan_set_decisions(stow_plan* plan, const stowi_analysis_sharing* sharing,
                                     stow_diag* diag);

#endif  // STOWAGE_SRC_PLAN_MAKE_MAKE_H_
