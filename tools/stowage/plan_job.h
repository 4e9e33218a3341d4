// A plan in the making: what `stowage plan` does before it writes, for whoever needs the same plan.
#ifndef STOWAGE_TOOLS_PLAN_JOB_H_
#define STOWAGE_TOOLS_PLAN_JOB_H_

#include "plan_layout.h"
#include "plan_request.h"
#include "search.h"
#include "source.h"

// What a run owns.
typedef struct cli_plan_job {
  cli_plan_request request;
  cli_source source;
  cli_layout_source layout_from;
  stow_weight_layout* layout;
  stow_effects* effects;
  cli_order_kind order;
  stow_schedule* schedule;  // NULL: none was given
  stow_plan* plan;
  stow_graph* graph;  // owned by the source
  cli_search search;
  uint64_t budget;  // in nodes
} cli_plan_job;

// Reads the request's first file, binds and plans its graph, and proves the plan. Complains. All
// but the request is zero before; end with cli_plan_job_close, whatever it returned.
cli_exit cli_plan_job_make(cli_plan_job* job);
// Frees all but the request.
void cli_plan_job_close(cli_plan_job* job);

#endif  // STOWAGE_TOOLS_PLAN_JOB_H_
