// `--start`: the buffers of an earlier plan or placement, to start from.
#ifndef STOWAGE_TOOLS_PLAN_START_H_
#define STOWAGE_TOOLS_PLAN_START_H_

#include <stowage/plan.h>

#include "files/output.h"
#include "terminal/fail.h"

// Reads a plan or placement as CSV, or a saved plan of |graph| (NULL: there is none). Complains.
cli_exit cli_start_read(const char* path, const stow_graph* graph, stow_start** out_start);

// A line of a summary, and a member of a JSON object.
void cli_print_moves(cli_output* output, const stow_moves* moves);
void cli_print_json_moves(cli_output* output, const stow_moves* moves);

#endif  // STOWAGE_TOOLS_PLAN_START_H_
