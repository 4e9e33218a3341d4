// `stowage plan` of a graph whose symbols have ranges: one plan for every shape.
#ifndef STOWAGE_TOOLS_PLAN_FORMULA_H_
#define STOWAGE_TOOLS_PLAN_FORMULA_H_

#include <stowage/formula.h>

#include "plan/job.h"

// Makes a formula plan of the job's graph, with its effects and |options|, and proves it.
// Complains.
cli_exit cli_formula_make(cli_plan_job* job, const stow_plan_options* options,
                          stow_formula** out_formula);
// `stowage plan` with such a graph, which the job has found. Complains.
cli_exit cli_formula_run(cli_plan_job* job);

// `--bind` of a point, `batch=1,seq=128`, and the values of a box, `seq=2..512`.
void cli_formula_point_text(const stow_formula* formula, size_t point, char* out, size_t capacity);
void cli_formula_box_text(const stow_formula* formula, size_t region, size_t box, char* out,
                          size_t capacity);
// The summary, for people.
void cli_formula_print(const stow_formula* formula, const cli_plan_job* job, cli_output* output);

#endif  // STOWAGE_TOOLS_PLAN_FORMULA_H_
