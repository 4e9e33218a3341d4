// The stages of making a plan, and what they hand on.
//
//     make.c       which attempts: orders, sharing; the smallest arena wins
//     attempt.c    schedule, views, lifetimes, sharing ─┐
//     slots.c      who gets a slot, how large           ├─▶ problem.c ─▶ placement ─▶ plan
//     fixed.c      who has no choice where             ─┘
//     order.c      a better order of the nodes
#ifndef STOWAGE_SRC_PLAN_MAKE_MAKE_H_
#define STOWAGE_SRC_PLAN_MAKE_MAKE_H_

#include "analysis/api.h"
#include "plan/plan_internal.h"

// What is asked for.
typedef struct stowi_request {
  const stow_graph* graph;
  const stow_effects* effects;  // may be NULL
  stow_plan_options options;    // checked
  stow_allocator allocator;
  stow_diag* diag;
} stowi_request;

// What one attempt makes use of, of all that the options allow.
typedef struct stowi_choice {
  const stow_schedule* schedule;  // NULL: the graph's own order
  bool in_place;
  bool elide_copies;
  bool windows;
} stowi_choice;

typedef struct stowi_maker {
  const stow_graph* graph;
  const stow_effects* effects;
  stow_plan_options options;
  stow_allocator allocator;
  stow_diag* diag;
  stowi_choice choice;
  stow_schedule* schedule;
  stowi_views* views;
  stowi_lifetimes* lifetimes;
  stowi_sharing* sharing;  // NULL without reuse
  stowi_windows* windows;  // NULL where there are to be none
  stow_plan* plan;
  // Per value: where it must lie, or STOW_PLACE_ANYWHERE. Only that of roots counts in the end.
  uint64_t* fixed;
  stow_problem* problem;
  stow_placement* placement;
} stowi_maker;

// attempt.c
void stowi_maker_init(stowi_maker* maker, const stowi_request* request, stowi_choice choice);
void stowi_maker_free(stowi_maker* maker);
// The first two stages.
stow_status stowi_make_schedule(stowi_maker* maker);
stow_status stowi_make_views(stowi_maker* maker);
// The plan without offsets.
stow_status stowi_make_prepare(stowi_maker* maker);
// All stages, where the arena can be smaller than |below|; else |*out_plan| is NULL. |*out_bound|:
// no placement is lower.
stow_status stowi_make_attempt(const stowi_request* request, stowi_choice choice, uint64_t below,
                               uint64_t* out_bound, stow_plan** out_plan);

// problem.c: poses the problem of the prepared plan.
stow_status stowi_make_bound(stowi_maker* maker, uint64_t* out_bound);
// Then gives it its offsets, and finishes it.
stow_status stowi_make_place(stowi_maker* maker);
// Finishes a prepared plan whose offsets are there.
stow_status stowi_make_judge(stowi_maker* maker);
// Runs the strategy that is asked for. A placement is there also where it placed something else:
// STOW_ERR_INVALID_ARGUMENT.
stow_status stowi_place(const stow_problem* problem, const stow_plan_options* asked, bool reuse,
                        stow_allocator allocator, stow_diag* diag, stow_placement** out_placement);
// Adds what the prepared plan has to be placed to |problem|, |shift| steps later: roots in id order
// but for those in |apart| (by value), scratch, reserved stretches. Then takes the offsets of what
// was added from buffer |first| on, and returns the buffer after it; the roots in |apart| have
// theirs. |apart| is NULL where the plan is alone. Where it is not and reuses no bytes, all that it
// has lives during all of its steps, for others do reuse bytes in the same problem.
stow_status stowi_add_buffers(const stowi_maker* maker, stow_problem* problem, uint64_t shift,
                              const bool* apart);
size_t stowi_take_offsets(stowi_maker* maker, const stow_placement* placement, size_t first,
                          const bool* apart);

// decisions.c
// Adds what only |fuller|, a larger plan in the same order, shares to the decisions: refused.
stow_status stowi_plan_add_refused(stow_plan* plan, const stow_plan* fuller, stow_diag* diag);

// slots.c: decides slot, size, guard, alignment and lifetime of every value and scratch. Afterwards
// a value that will have a slot has the offset 0. Offsets that effects or a layout fix are in
// |fixed|.
stow_status stowi_make_slots(stowi_maker* maker);

// fixed.c: gives every param that has a slot the one of the layout, and reserves what else the
// layout holds. STOW_ERR_NOT_FOUND for a param that the layout does not name, STOW_ERR_TYPE for one
// of another size.
stow_status stowi_make_shared(stowi_maker* maker);
// fixed.c: packs params where the options say so, and checks that all that is fixed is aligned and
// apart. STOW_ERR_CONFLICT.
stow_status stowi_make_fixed(stowi_maker* maker);

// What is said of a size that the placer refuses as STOW_ERR_OVERFLOW: it speaks of buffers and
// their numbers, which nobody else knows.
#define STOWI_TOO_LARGE                                                                    \
  " bytes do not fit in an address space of 63 bits together with all that is placed with" \
  " them"

// Fails with a diagnostic about |value|.
stow_status stowi_make_fail(const stowi_maker* maker, stow_status status, stow_value value,
                            const char* format, ...) STOW_PRINTF_LIKE(4, 5);
stowi_value_text stowi_make_name(const stowi_maker* maker, stow_value value);

// Takes over the windows of roots that have a slot and no guard; none where no bytes are reused.
// Slots, lives and facts must be in. Once per plan.
stow_status stowi_plan_set_windows(stow_plan* plan, const stowi_windows* windows, stow_diag* diag);

// Takes the windows of all |roots| (by value) away: they occupy all of themselves.
stow_status stowi_plan_drop_windows(stow_plan* plan, const bool* roots, stow_diag* diag);
// Copies what was decided. Once per plan.
stow_status stowi_plan_set_decisions(stow_plan* plan, const stowi_sharing* sharing,
                                     stow_diag* diag);

#endif  // STOWAGE_SRC_PLAN_MAKE_MAKE_H_
