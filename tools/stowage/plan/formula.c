// Plans of ranges: the same request as for one shape, with effects that are asked for at every
// point.
#include "plan/formula.h"

#include "files/output.h"

// The effects of the job at a point: what kernels need there, and what the caller asks for.
static stow_status begin_effects(void* user, const stow_graph* bound, stow_allocator allocator,
                                 stow_diag* diag, stow_effects** out_effects) {
  cli_formula* f = user;
  stow_effects* effects = NULL;
  stow_status status = STOW_OK;
  if (f->prepared == NULL) {
    status = stow_effects_create(bound, allocator, diag, &effects);
  } else {
    stow_formula_effects kernels = stow_prepared_formula_effects(f->prepared);
    status = kernels.begin(kernels.user, bound, allocator, diag, &effects);
  }
  if (status == STOW_OK) {
    f->code = cli_effects_apply(&f->job->request.io, bound, NULL, effects);
    status = f->code == CLI_YES ? STOW_OK : STOW_ERR_CONFLICT;
  }
  if (status != STOW_OK) {
    stow_effects_destroy(effects);
    return status;
  }
  *out_effects = effects;
  return STOW_OK;
}

// What is for one shape, or one graph.
static cli_exit check_request(const cli_plan_request* request) {
  const char* option = request->layout_from != NULL                   ? "layout-from"
                       : request->start != NULL                       ? "start"
                       : request->explain                             ? "explain"
                       : request->choices.rewrite.streams             ? "stream"
                       : cli_plan_request_order_file(request) != NULL ? "order FILE"
                                                                      : NULL;
  return option == NULL ? CLI_YES
                        : cli_fail(CLI_USAGE, "--%s is for one shape, not for a range", option);
}

cli_exit cli_formula_take_effects(cli_formula* f, const cli_plan_job* job) {
  *f = (cli_formula){.job = job, .code = CLI_YES};
  stow_formula_options_init(&f->options);
  f->options.effects = (stow_formula_effects){begin_effects, NULL, f, job->runs == NULL};
  if (job->runs == NULL) {
    return CLI_YES;
  }
  stow_diag diag = cli_diag();
  stow_status status =
      stow_prepare(job->graph, job->runs, stow_allocator_default(), &diag, &f->prepared);
  return status == STOW_OK ? CLI_YES : cli_fail_graph(job->source.label, job->graph, status, &diag);
}

cli_exit cli_formula_make(cli_formula* f, const cli_plan_job* job) {
  CLI_TRY(cli_formula_take_effects(f, job));
  return cli_formula_plan(f);
}

static bool is_by_bounds(const stow_formula* formula) {
  stow_formula_info info = {.struct_size = sizeof info};
  stow_formula_describe(formula, &info);
  return info.by_bounds;
}

cli_exit cli_formula_plan(cli_formula* f) {
  const cli_plan_job* job = f->job;
  CLI_TRY(check_request(&job->request));
  CLI_TRY(cli_plan_request_options(&job->request, &f->plan));
  f->plan.rewrite = job->stamp[0] == '\0' ? NULL : job->stamp;
  f->plan.capacity = STOW_NO_CAPACITY;
  bool is_model = cli_source_is_model(&job->source);
  bool is_free = cli_plan_request_order(&job->request, is_model) == CLI_ORDER_AUTO;
  f->plan.order = is_free ? STOW_ORDER_AUTO : STOW_ORDER_GIVEN;
  f->options.plan = &f->plan;
  stow_diag diag = cli_diag();
  stow_allocator heap = stow_allocator_default();
  stow_status status = stow_formula_make(job->graph, &f->options, heap, &diag, &f->formula);
  if (status != STOW_OK) {
    return f->code != CLI_YES ? f->code
                              : cli_fail_graph(job->source.label, job->graph, status, &diag);
  }
  status = stow_formula_check(f->formula, &f->options.effects, heap, &diag);
  if (status == STOW_ERR_VIOLATION && f->options.by_bounds && is_by_bounds(f->formula)) {
    return cli_fail(
        CLI_BAD_INPUT,
        "%s: the plan does not hold at a shape that was not looked at: %s; give smaller "
        "ranges or larger steps",
        job->source.label, cli_diag_text(status, &diag));
  }
  if (status == STOW_ERR_VIOLATION) {
    return cli_fail(CLI_NO, "internal error: the plan is wrong: %s", cli_diag_text(status, &diag));
  }
  return status == STOW_OK ? CLI_YES : cli_fail_graph(job->source.label, job->graph, status, &diag);
}

void cli_formula_free(cli_formula* f) {
  stow_formula_destroy(f->formula);
  stow_prepared_destroy(f->prepared);
  *f = (cli_formula){.code = CLI_YES};
}

static cli_exit write_formula(const stow_formula* formula, const cli_plan_job* job,
                              cli_output* output) {
  switch (job->request.format) {
    case CLI_FORMAT_SUMMARY: cli_formula_print(formula, job, output); return CLI_YES;
    case CLI_FORMAT_JSON:
      return cli_output_reported(
          stow_formula_write(formula, STOW_PLAN_JSON, cli_output_writer(output)), NULL);
    case CLI_FORMAT_PLAN:
      return cli_output_reported(
          stow_formula_write(formula, STOW_PLAN_SAVED, cli_output_writer(output)), NULL);
    case CLI_FORMAT_C: {
      stow_diag diag = cli_diag();
      stow_status status =
          stow_formula_write_c(formula, job->request.c_prefix, cli_output_writer(output), &diag);
      return cli_output_reported(status, &diag);
    }
    default:
      return cli_fail(CLI_USAGE, "--format: a plan of a range is a summary, json, plan or c");
  }
}

cli_exit cli_formula_run(cli_plan_job* job) {
  if (job->request.capacity != STOW_NO_CAPACITY) {
    return cli_fail(CLI_USAGE, "--capacity is for one shape; for a range use stowage fit");
  }
  cli_formula f;
  cli_exit code = cli_formula_take_effects(&f, job);
  f.options.by_bounds = true;
  code = code == CLI_YES ? cli_formula_plan(&f) : code;
  if (code == CLI_YES) {
    cli_output output;
    code = cli_output_open(&output, job->request.output);
    if (code == CLI_YES) {
      code = write_formula(f.formula, job, &output);
    }
    code = cli_output_end(&output, code);
  }
  cli_formula_free(&f);
  return code;
}
