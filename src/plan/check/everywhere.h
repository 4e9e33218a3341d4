// Part of the checker of formula plans: what is proven of shapes between the points of a sample.
#ifndef STOWAGE_SRC_PLAN_CHECK_EVERYWHERE_H_
#define STOWAGE_SRC_PLAN_CHECK_EVERYWHERE_H_

#include "plan/formulas/formula.h"

// A shape, of the region that has it.
typedef struct stowi_plan_checked_shape {
  size_t region;
  const int64_t* values;  // of all symbols of the graph
  const stow_graph* bound;
  const stow_effects* effects;
} stowi_plan_checked_shape;

typedef struct stowi_plan_check_shapes {
  // Checks the plan at a shape, as at a point. Until the next call |out_shape| has what it was
  // checked with.
  stow_status (*check)(void* user, size_t region, const int64_t* values,
                       stowi_plan_checked_shape* out_shape);
  void* user;
} stowi_plan_check_shapes;

// Proves a plan by bounds at every shape. STOW_ERR_UNSUPPORTED names what cannot be proven.
stow_status stowi_plan_check_everywhere(const stow_formula* formula,
                                        const stowi_plan_check_shapes* shapes,
                                        stow_allocator allocator, stow_diag* diag);

#endif  // STOWAGE_SRC_PLAN_CHECK_EVERYWHERE_H_
