// `stowage plan` of a graph whose symbols have ranges: one plan for every shape.
#ifndef STOWAGE_TOOLS_PLAN_FORMULA_H_
#define STOWAGE_TOOLS_PLAN_FORMULA_H_

#include <stowage/formula.h>

#include "plan/job.h"

// A formula plan in the making. End with cli_formula_free.
typedef struct cli_formula {
  const cli_plan_job* job;
  stow_plan_options plan;
  stow_formula_options options;
  stow_prepared* prepared;  // NULL: no kernels
  cli_exit code;            // of a complaint while effects were made
  stow_formula* formula;
} cli_formula;

// Makes a formula plan of the job's graph, with its request and effects, and proves it. Complains.
cli_exit cli_formula_make(cli_formula* f, const cli_plan_job* job);
// The same in two steps, for those who add to the effects between them: first
// cli_formula_take_effects.
cli_exit cli_formula_plan(cli_formula* f);
void cli_formula_free(cli_formula* f);
// Lets |f| have the effects that the job asks for at each point, for those who prove a plan. End
// with cli_formula_free, also after a failure. Complains.
cli_exit cli_formula_take_effects(cli_formula* f, const cli_plan_job* job);
// `stowage plan` with such a graph, which the job has found. Complains.
cli_exit cli_formula_run(cli_plan_job* job);

// `--bind` of a point, `batch=1,seq=128`, and the values of a box, `seq=2..512`.
void cli_formula_point_text(const stow_formula* formula, size_t point, char* out, size_t capacity);
void cli_formula_box_text(const stow_formula* formula, size_t region, size_t box, char* out,
                          size_t capacity);
// The summary, for people.
void cli_formula_print(const stow_formula* formula, const cli_plan_job* job, cli_output* output);

#endif  // STOWAGE_TOOLS_PLAN_FORMULA_H_
