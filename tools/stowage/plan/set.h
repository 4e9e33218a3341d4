// `stowage plan` of several graphs for one arena.
#ifndef STOWAGE_TOOLS_PLAN_SET_H_
#define STOWAGE_TOOLS_PLAN_SET_H_

#include <stowage/set.h>

#include "graphs/source.h"
#include "plan/request.h"

// A graph of the set.
typedef struct cli_member {
  const cli_source* source;
  stow_graph* graph;  // owned by the source
  stow_effects* effects;
} cli_member;

// A set that is placed, and proven.
typedef struct cli_set {
  const cli_plan_request* request;
  const cli_member* members;
  size_t count;
  const stow_set* set;
  cli_order_kind order;
} cli_set;

cli_exit cli_plan_set_run(cli_plan_request* request);

// Complains where the set cannot be written as the request wants it; before anything is planned.
cli_exit cli_set_check_output(const cli_plan_request* request);
// Writes a summary, one JSON object, or a file for each graph. |keep|: whether files are put in
// place. Complains.
cli_exit cli_set_write(const cli_set* set, bool keep);

#endif  // STOWAGE_TOOLS_PLAN_SET_H_
