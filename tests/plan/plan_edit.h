// Plans with sharing made by hand, from plans without: results in place of operands, operands
// inside concats, windows. Nothing is checked: wrong edits make wrong plans.
#ifndef STOWAGE_TESTS_PLAN_PLAN_EDIT_H_
#define STOWAGE_TESTS_PLAN_PLAN_EDIT_H_

#include <stowage/plan.h>

#include "plan/plan_internal.h"

#define PLAN_EDIT_MAX_VALUES 256

typedef struct plan_edit {
  stow_plan* plan;
  const stow_graph* graph;
  const stow_effects* effects;
  uint32_t begin[PLAN_EDIT_MAX_VALUES];  // own lifetimes, before sharing
  uint32_t end[PLAN_EDIT_MAX_VALUES];
} plan_edit;

// Also turns on the facts in_place and elide_copies. At most PLAN_EDIT_MAX_VALUES values.
plan_edit plan_edit_start(stow_plan* plan, const stow_graph* graph, const stow_effects* effects);
// Moves everything that shares |value|'s bytes so that |value| is |inner| bytes into |target|.
// False if one of them has no slot.
bool plan_edit_put(plan_edit* edit, stow_value value, stow_value target, uint64_t inner);
// The place of operand |k| of a concat along the outermost axis in its result.
uint64_t plan_edit_elision(const plan_edit* edit, stow_node concat, size_t k);
// Extends roots to the lifetimes of their values.
void plan_edit_lives(plan_edit* edit);
// Every root without a guard occupies the hull of its live values. Once per plan.
void plan_edit_windows(plan_edit* edit);
// New offsets: first fit, largest first; then the arena's size, peak and lower bound.
void plan_edit_place(plan_edit* edit);

#endif  // STOWAGE_TESTS_PLAN_PLAN_EDIT_H_
