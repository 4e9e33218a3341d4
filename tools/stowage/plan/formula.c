// Plans of ranges: the same request as for one shape, with effects that are asked for at every
// point.
#include "plan/formula.h"

#include <stdlib.h>

#include "files/output.h"

// Effects at one point, and what owns them.
typedef struct local_effects {
  struct local_effects* next;
  stow_effects* effects;
  stow_prepared* prepared;
} local_effects;

typedef struct source {
  const cli_plan_job* job;
  local_effects* first;
  cli_exit code;  // of a complaint
} source;

static stow_status begin_effects(void* user, const stow_graph* bound, stow_allocator allocator,
                                 stow_diag* diag, stow_effects** out_effects) {
  source* s = user;
  const cli_plan_job* job = s->job;
  local_effects* own = calloc(1, sizeof *own);
  if (own == NULL) {
    return STOW_ERR_OUT_OF_MEMORY;
  }
  stow_status status = STOW_OK;
  if (job->runs == NULL) {
    status = stow_effects_create(bound, allocator, diag, &own->effects);
  } else {
    status = stow_prepare(bound, job->runs, allocator, diag, &own->prepared);
    own->effects = status == STOW_OK ? stow_prepared_effects(own->prepared) : NULL;
  }
  if (status == STOW_OK) {
    s->code = cli_effects_apply(&job->request.io, bound, NULL, own->effects);
    status = s->code == CLI_YES ? STOW_OK : STOW_ERR_CONFLICT;
  }
  if (status != STOW_OK) {
    stow_prepared_destroy(own->prepared);
    free(own);
    return status;
  }
  own->next = s->first;
  s->first = own;
  *out_effects = own->effects;
  return STOW_OK;
}

static void end_effects(void* user, stow_effects* effects) {
  source* s = user;
  local_effects** at = &s->first;
  while ((*at)->effects != effects) {
    at = &(*at)->next;
  }
  local_effects* own = *at;
  *at = own->next;
  if (own->prepared == NULL) {
    stow_effects_destroy(own->effects);
  }
  stow_prepared_destroy(own->prepared);
  free(own);
}

cli_exit cli_formula_make(cli_plan_job* job, const stow_plan_options* options,
                          stow_formula** out_formula) {
  source s = {.job = job, .code = CLI_YES};
  stow_plan_options plan = *options;
  plan.rewrite = job->stamp[0] == '\0' ? NULL : job->stamp;
  plan.order =
      cli_plan_request_order(&job->request, cli_source_is_model(&job->source)) == CLI_ORDER_AUTO
          ? STOW_ORDER_AUTO
          : STOW_ORDER_GIVEN;
  stow_formula_options asked;
  stow_formula_options_init(&asked);
  asked.plan = &plan;
  asked.effects = (stow_formula_effects){begin_effects, end_effects, &s};
  stow_diag diag = cli_diag();
  stow_allocator heap = stow_allocator_default();
  stow_status status = stow_formula_make(job->graph, &asked, heap, &diag, out_formula);
  if (status != STOW_OK) {
    return s.code != CLI_YES ? s.code
                             : cli_fail_graph(job->source.label, job->graph, status, &diag);
  }
  status = stow_formula_check(*out_formula, &asked.effects, heap, &diag);
  if (status == STOW_ERR_VIOLATION) {
    return cli_fail(CLI_NO, "internal error: the plan is wrong: %s", cli_diag_text(status, &diag));
  }
  return status == STOW_OK ? CLI_YES : cli_fail_diag(status, &diag);
}

static cli_exit write_formula(const stow_formula* formula, const cli_plan_job* job,
                              cli_output* output) {
  switch (job->request.format) {
    case CLI_FORMAT_SUMMARY: cli_formula_print(formula, job, output); return CLI_YES;
    case CLI_FORMAT_JSON:
      return cli_output_reported(
          stow_formula_write(formula, STOW_PLAN_JSON, cli_output_writer(output)), NULL);
    default:
      return cli_fail(CLI_USAGE, "--format: a plan of a range is written as summary or json");
  }
}

cli_exit cli_formula_run(cli_plan_job* job) {
  stow_plan_options options;
  stow_formula* formula = NULL;
  cli_exit code = cli_plan_request_options(&job->request, &options);
  code = code == CLI_YES ? cli_formula_make(job, &options, &formula) : code;
  if (code == CLI_YES) {
    cli_output output;
    code = cli_output_open(&output, job->request.output);
    if (code == CLI_YES) {
      code = write_formula(formula, job, &output);
    }
    code = cli_output_end(&output, code);
  }
  stow_formula_destroy(formula);
  return code;
}
