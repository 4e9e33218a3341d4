// The stages of making a plan, and what they hand on.
//
//     make.c     schedule, views, lifetimes ─┐
//     slots.c    who gets a slot, how large ─┼─▶ problem ─▶ placement ─▶ plan
//     fixed.c    who has no choice where    ─┘
#ifndef STOWAGE_SRC_PLAN_MAKE_H_
#define STOWAGE_SRC_PLAN_MAKE_H_

#include "plan/plan_internal.h"

typedef struct stowi_maker {
  const stow_graph* graph;
  const stow_effects* effects;  // may be NULL
  stow_plan_options options;    // checked
  stow_allocator allocator;
  stow_diag* diag;
  stow_schedule* schedule;
  stow_views* views;
  stow_lifetimes* lifetimes;
  stow_plan* plan;
  // Per value: where it must lie, or STOW_PLACE_ANYWHERE. Only that of roots counts in the end.
  uint64_t* fixed;
  stow_problem* problem;
  stow_placement* placement;
} stowi_maker;

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

#endif  // STOWAGE_SRC_PLAN_MAKE_H_
