// A plan in the making: what `stowage plan` does before it writes, for whoever needs the same plan.
#ifndef STOWAGE_TOOLS_PLAN_JOB_H_
#define STOWAGE_TOOLS_PLAN_JOB_H_

#include <stowage/exec.h>
#include <stowage/graph.h>
#include <stowage/plan.h>
#include <stowage/schedule.h>

#include "arguments/search.h"
#include "graphs/source.h"
#include "plan/layout.h"
#include "plan/request.h"
#include "plan/summary.h"
#include "terminal/fail.h"

// What a run owns.
typedef struct cli_plan_job {
  cli_plan_request request;
  cli_source source;
  cli_layout_source layout_from;
  stow_weight_layout* layout;
  stow_start* start;
  const stow_prepare_options* runs;  // how the plan is to run; NULL: with kernels of others
  stow_prepare_options kernels;      // of a plan that another command may run
  uint32_t saved_threads;            // of kernels, for which a saved plan was made
  bool runs_at_once;                 // an executor is made of it, which proves the plan
  bool takes_ranges;                 // symbols may have ranges: the plan is a formula plan
  stow_prepared* prepared;           // where it is
  stow_effects* effects;             // of what is prepared, where it is
  cli_order_kind order;
  stow_schedule* schedule;  // NULL: none was given
  stow_plan* plan;
  const stow_graph* given;              // as it was read; owned by the source
  const stow_graph* graph;              // as it is planned: the given one, or rewritten
  stow_rewritten* rewritten;            // NULL: it is the given one
  stow_rewritten* before;               // of another plan of the same file; NULL: none
  cli_rungs rungs;                      // of the ladder that ends with rows that stream
  char stamp[STOW_REWRITE_STAMP_SIZE];  // empty: no rule fired
  cli_search search;
  uint64_t budget;  // in nodes
} cli_plan_job;

// Reads the request's first file, binds and plans its graph, and proves the plan unless that is
// done later. If it takes ranges and the graph has some, there is no plan then: see formula.h.
// Complains. All
// but the request and |runs| is zero before; end with cli_plan_job_close, whatever it returned.
cli_exit cli_plan_job_make(cli_plan_job* job);
// The same with a plan that was saved in |path|, proven: of the graph that the job has found, or
// else of the one that it is for. Whether its params have their places from another plan is told,
// too. Complains.
cli_exit cli_plan_job_load(cli_plan_job* job, const char* path, bool* out_shares_params,
                           stow_plan** out_plan);
// Takes |graph|, which is bound, as the job's, rewritten with |options|; NULL: as it is. Complains.
cli_exit cli_plan_job_take(cli_plan_job* job, const stow_graph* graph,
                           const stow_rewrite_options* options);
// Effects of the graph that the job has found, with the scratch of kernels if it is to run here.
// Complains.
cli_exit cli_plan_job_effects(cli_plan_job* job);
void cli_plan_job_free_effects(cli_plan_job* job);
// The job's plan, of its effects, layout, start, schedule and order, and whether it is right. Do
// not complain.
stow_status cli_plan_job_search(cli_plan_job* job, const stow_plan_options* asked, stow_diag* diag);
stow_status cli_plan_job_prove(const cli_plan_job* job, stow_diag* diag);
// Lets the job have the scratch of the library's kernels; with 0 threads none.
void cli_plan_job_set_kernels(cli_plan_job* job, const stow_prepare_options* kernels);
// Frees all but the request.
void cli_plan_job_close(cli_plan_job* job);

// `--hints` (hints.c). Plans with other options, if that was not forbidden, and notes in the job's
// plan which make the arena smaller, the smallest first. The same input gives the same hints.
// Complains.
cli_exit cli_plan_job_add_hints(cli_plan_job* job);

// `--capacity` (capacity.c). Complains that |plan|, which does not fit in its capacity, does not:
// what reaches above it, and whether another placement or another order can help. CLI_NO where it
// is proven that none can (or the order is settled, and none in it can), else CLI_GAVE_UP.
cli_exit cli_fail_capacity(const char* label, const stow_graph* graph, const stow_plan* plan);

// `--order FILE` (order_file.c). Reads a saved plan, whose order is taken, or a list of nodes:
// numbers, or results by id (`%7`) or name. Boundary nodes that are not listed come first.
// Complains.
cli_exit cli_order_read(const char* path, const stow_graph* graph, stow_schedule** out_schedule);

#endif  // STOWAGE_TOOLS_PLAN_JOB_H_
