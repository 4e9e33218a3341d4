// `--order FILE`: the order in which nodes run, as a file has it.
#ifndef STOWAGE_TOOLS_PLAN_ORDER_FILE_H_
#define STOWAGE_TOOLS_PLAN_ORDER_FILE_H_

#include <stowage/schedule.h>

#include "terminal/fail.h"

// Reads a saved plan, whose order is taken, or a list of nodes: numbers, or results by id (`%7`) or
// name. Boundary nodes that are not listed come first. Complains.
cli_exit cli_order_read(const char* path, const stow_graph* graph, stow_schedule** out_schedule);

#endif  // STOWAGE_TOOLS_PLAN_ORDER_FILE_H_
