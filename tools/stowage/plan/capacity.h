// `--capacity`: a plan that does not fit, and why.
#ifndef STOWAGE_TOOLS_PLAN_CAPACITY_H_
#define STOWAGE_TOOLS_PLAN_CAPACITY_H_

#include <stowage/graph.h>
#include <stowage/plan.h>

#include "terminal/fail.h"

// Complains that |plan|, which does not fit in its capacity, does not: what reaches above it, and
// whether another placement or another order can help. CLI_NO where it is proven that none can (or
// the order is settled, and none in it can), else CLI_GAVE_UP.
cli_exit cli_fail_capacity(const char* label, const stow_graph* graph, const stow_plan* plan);

#endif  // STOWAGE_TOOLS_PLAN_CAPACITY_H_
