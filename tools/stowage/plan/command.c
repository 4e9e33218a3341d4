// `stowage plan`: read, bind, plan, prove, write. What is written has been proven by the checker,
// in every format; a plan that the checker refuses is an error of this program and is not written.
#include "arguments/options.h"
#include "files/file.h"
#include "files/output.h"
#include "graphs/info.h"
#include "plan/formula.h"
#include "plan/job.h"
#include "plan/set.h"
#include "plan/start.h"
#include "plan/summary.h"

typedef cli_plan_job job;

cli_exit cli_plan_job_take(cli_plan_job* j, const stow_graph* graph,
                           const stow_rewrite_options* options) {
  j->given = j->graph = graph;
  j->stamp[0] = '\0';
  if (options == NULL) {
    return CLI_YES;
  }
  CLI_TRY(cli_rewrite_graph(graph, options, j->source.label, &j->rewritten));
  j->graph = stow_rewritten_graph(j->rewritten);
  if (j->graph != graph) {
    stow_rewritten_stamp(j->rewritten, j->stamp);
  }
  return CLI_YES;
}

// As it was asked to be rewritten, but rows stream only if |rung| says so.
static cli_exit take_rewritten(job* j, const stow_graph* graph, cli_rung rung) {
  bool is_model = cli_source_is_model(&j->source);
  stowi_request_choices choices = j->request.choices;
  choices.rewrite.streams = rung >= CLI_STREAMED;
  if (rung == CLI_STREAMED_SINGLY) {
    choices.rewrite.stream_rows = 1;
  }
  stow_rewrite_options options = stowi_request_rewrite_options(&choices, is_model);
  return cli_plan_job_take(j, graph, stowi_request_rewrites(&choices, is_model) ? &options : NULL);
}

static cli_exit find_graphs(job* j) {
  const char* const* names = j->request.graphs.items;
  stow_graph* graph;
  CLI_TRY(cli_source_choose(&j->source, names == NULL ? NULL : names[0], &graph));
  if (!cli_source_is_model(&j->source)) {
    CLI_TRY(cli_known_bind_graph(j->request.model.known, graph));
  }
  CLI_TRY(cli_source_bind(&j->source, &j->request.model.binds, graph));
  if (j->request.layout_from != NULL) {
    CLI_TRY(cli_layout_source_open(&j->layout_from, j->request.layout_from, &j->request.model.binds,
                                   &j->source));
  }
  CLI_TRY(cli_source_require_used(&j->source, &j->request.model.binds, graph));
  if (j->request.layout_from != NULL) {
    CLI_TRY(cli_require_bound(j->source.label, j->layout_from.graph));
  }
  if (!j->takes_ranges || !cli_has_ranges(graph)) {
    CLI_TRY(cli_source_require_sizes(&j->source, &j->request.model, graph));
  }
  return take_rewritten(j, graph, CLI_REWRITTEN);
}

// A time limit is for both plans. The forward plan then has the usual budget: searching it for
// longer would leave nothing for the plan that is asked for.
static cli_exit make_layout(job* j) {
  stow_plan_options options;
  cli_exit code = cli_plan_request_forward_options(&j->request, &options);
  if (code == CLI_YES) {
    if (!j->request.budget.has_nodes) {
      options.nodes = STOW_PLAN_DEFAULT_NODES;
      options.patience = STOW_PLAN_DEFAULT_PATIENCE;
    }
    cli_search_begin(&j->search, &j->request.budget, true);
    options.on_progress = cli_search_progress;
    options.user = &j->search;
    code = cli_layout_make(&j->layout_from, &options, &j->request.io, &j->source, &j->layout);
    cli_search_end(&j->search);
  }
  return code;
}

void cli_plan_job_set_kernels(cli_plan_job* j, const stow_prepare_options* kernels) {
  j->kernels = *kernels;
  j->runs = kernels->threads == 0 ? NULL : &j->kernels;
}

void cli_plan_job_free_effects(cli_plan_job* j) {
  if (j->prepared == NULL) {
    stow_effects_destroy(j->effects);
  }
  stow_prepared_destroy(j->prepared);
  j->effects = NULL;
  j->prepared = NULL;
}

// Whether the job was asked to run; if not, it may do without kernels.
static bool is_to_run(const job* j) { return j->runs != &j->kernels; }

static cli_exit fail_kernels(const job* j, stow_status status, const stow_diag* diag) {
  cli_exit code = cli_fail_graph(j->source.label, j->graph, status, diag);
  if (!is_to_run(j)) {
    cli_tell_more("to plan for another executor, give --kernels none");
  }
  return code;
}

static cli_exit make_effects(cli_plan_job* j) {
  const stow_graph* forward = j->layout_from.graph;
  if (j->runs == NULL) {
    return cli_effects_create(&j->request.io, j->source.label, j->graph, forward, &j->effects);
  }
  stow_diag diag = cli_diag();
  stow_status status =
      stow_prepare(j->graph, j->runs, stow_allocator_default(), &diag, &j->prepared);
  if (status != STOW_OK) {
    return fail_kernels(j, status, &diag);
  }
  j->effects = stow_prepared_effects(j->prepared);
  return cli_effects_apply(&j->request.io, j->graph, forward, j->effects);
}

static void tell_rewritten(void* user, stow_str name) {
  const job* j = user;
  cli_tell_rewritten(j->rewritten, j->given, name);
}

cli_exit cli_plan_job_effects(cli_plan_job* j) {
  cli_plan_job_free_effects(j);
  cli_exit code = make_effects(j);
  if (code == CLI_USAGE) {
    cli_io_policies_each(&j->request.io, tell_rewritten, j);
  }
  return code;
}

stow_status cli_plan_job_search(cli_plan_job* j, const stow_plan_options* asked, stow_diag* diag) {
  stow_plan_options options = *asked;
  options.layout = j->layout;
  options.rewrite = j->stamp[0] == '\0' ? NULL : j->stamp;
  options.start = j->start;
  options.least_row =
      stowi_request_least_row(&j->request.choices, j->runs != NULL, j->request.no_pitch);
  options.schedule = j->order == CLI_ORDER_FILE ? j->schedule : NULL;
  options.order = j->order == CLI_ORDER_AUTO ? STOW_ORDER_AUTO : STOW_ORDER_GIVEN;
  options.on_progress = cli_search_progress;
  options.user = &j->search;
  cli_budget rest = cli_budget_after(&j->request.budget, j->search.elapsed);
  cli_search_begin(&j->search, &rest, true);
  stow_status status =
      stow_plan_make(j->graph, j->effects, &options, stow_allocator_default(), diag, &j->plan);
  cli_search_end(&j->search);
  return status;
}

static cli_exit make_plan(job* j) {
  stow_plan_options options;
  CLI_TRY(cli_plan_request_options(&j->request, &options));
  if (j->request.layout_from != NULL) {
    CLI_TRY(make_layout(j));
  }
  CLI_TRY(cli_plan_job_effects(j));
  j->order = cli_plan_request_order(&j->request, cli_source_is_model(&j->source));
  CLI_TRY(j->order == CLI_ORDER_FILE ? cli_order_read(j->request.order, j->graph, &j->schedule)
                                     : CLI_YES);
  CLI_TRY(j->request.start == NULL ? CLI_YES
                                   : cli_start_read(j->request.start, j->graph, &j->start));
  j->budget = options.nodes;
  stow_diag diag = cli_diag();
  stow_status status = cli_plan_job_search(j, &options, &diag);
  return status == STOW_OK ? cli_aliases_check(&j->request.io, j->source.label, j->graph, j->plan)
                           : cli_fail_graph(j->source.label, j->graph, status, &diag);
}

static void free_plan(job* j) {
  stow_plan_destroy(j->plan);
  stow_schedule_destroy(j->schedule);
  cli_plan_job_free_effects(j);
  stow_rewritten_destroy(j->rewritten);
}

static void forget_plan(job* j) {
  j->plan = NULL;
  j->schedule = NULL;
  j->prepared = NULL;
  j->effects = NULL;
  j->rewritten = NULL;
}

static bool has_streams(const job* j) {
  return j->rewritten != NULL && stow_rewritten_count(j->rewritten, STOW_REWRITE_STREAM) != 0;
}

// As |rung| says. Without rows that could stream there is no plan.
static cli_exit plan_rung(job* trial, cli_rung rung) {
  trial->request.order = rung == CLI_GIVEN ? "given" : trial->request.order;
  if (rung < CLI_STREAMED) {
    CLI_TRY(cli_plan_job_take(trial, trial->given, NULL));
    return make_plan(trial);
  }
  CLI_TRY(take_rewritten(trial, trial->given, rung));
  return has_streams(trial) ? make_plan(trial) : CLI_YES;
}

// Notes the arena of |rung|, and takes its plan if rows stream and it has the smallest arena.
static cli_exit try_rung(job* j, cli_rung rung) {
  job trial = *j;
  bool has_own_kernels = j->runs == &j->kernels;
  forget_plan(&trial);
  trial.runs = has_own_kernels ? &trial.kernels : trial.runs;
  cli_exit code = plan_rung(&trial, rung);
  bool is_planned = code == CLI_YES && trial.plan != NULL;
  uint64_t arena = is_planned ? stow_plan_arena_size(trial.plan) : 0;
  uint64_t before = stow_plan_arena_size(j->plan);
  bool is_taken = is_planned && rung >= CLI_STREAMED && arena < before;
  free_plan(is_taken ? j : &trial);
  j->search = trial.search;
  if (is_taken) {
    trial.rungs = j->rungs;
    *j = trial;
    j->runs = has_own_kernels ? &j->kernels : j->runs;
    j->rungs.before = j->rungs.before == 0 ? before : j->rungs.before;
  }
  j->rungs.arenas[rung] = arena;
  return code;
}

// `--stream auto`: with a capacity, only if the plan that is there does not fit. Then what other
// means save is found, too. Single rows are tried where more at a time gain nothing, or too little.
static cli_exit try_streams(job* j) {
  bool has_capacity = j->request.capacity != STOW_NO_CAPACITY;
  if (!j->request.choices.rewrite.streams || (has_capacity && cli_plan_fit(j->plan).fits)) {
    return CLI_YES;
  }
  bool is_ordered = j->order == CLI_ORDER_AUTO;
  cli_rung here = j->graph != j->given ? CLI_REWRITTEN : is_ordered ? CLI_ORDERED : CLI_GIVEN;
  j->rungs.arenas[here] = stow_plan_arena_size(j->plan);
  if (has_capacity && is_ordered && here == CLI_REWRITTEN) {
    CLI_TRY(try_rung(j, CLI_ORDERED));
  }
  if (has_capacity && here != CLI_GIVEN) {
    CLI_TRY(try_rung(j, CLI_GIVEN));
  }
  CLI_TRY(try_rung(j, CLI_STREAMED));
  bool is_given = j->request.choices.rewrite.stream_rows != 0;
  bool is_enough = has_capacity ? cli_plan_fit(j->plan).fits : j->rungs.before != 0;
  return is_given || is_enough ? CLI_YES : try_rung(j, CLI_STREAMED_SINGLY);
}

stow_status cli_plan_job_prove(const cli_plan_job* j, stow_diag* diag) {
  stow_status status =
      stow_plan_check(j->plan, j->graph, j->effects, stow_allocator_default(), diag, NULL);
  return status == STOW_OK && j->layout != NULL
             ? stow_plan_check_layout(j->plan, j->graph, j->layout, diag, NULL)
             : status;
}

static cli_exit prove_plan(const job* j) {
  stow_diag diag = cli_diag();
  stow_status status = cli_plan_job_prove(j, &diag);
  if (status == STOW_ERR_VIOLATION) {
    return cli_fail(CLI_NO, "internal error: the plan is wrong: %s", cli_diag_text(status, &diag));
  }
  return status == STOW_OK ? CLI_YES : cli_fail_diag(status, &diag);
}

static stow_status write_plan(const job* j, cli_output* output, stow_diag* diag) {
  if (j->request.format != CLI_FORMAT_SUMMARY) {
    return cli_plan_write(j->plan, j->request.format, j->request.c_prefix,
                          cli_output_writer(output), diag);
  }
  cli_summary summary = {.label = j->source.label,
                         .graph = j->graph,
                         .plan = j->plan,
                         .layout = j->layout,
                         .model = cli_source_is_model(&j->source) ? &j->source.model : NULL,
                         .order = j->order,
                         .rungs = j->rungs,
                         .rewritten = j->graph == j->given ? NULL : j->rewritten,
                         .capacity = j->request.capacity != STOW_NO_CAPACITY,
                         .budget = j->budget,
                         .stopped_by = j->search.stopped_by};
  if (!cli_shares_count(j->plan, &summary.shares)) {
    return STOW_ERR_OUT_OF_MEMORY;
  }
  cli_summary_print(&summary, output);
  if (j->request.explain) {
    cli_explain_print(&summary, output);
  }
  return STOW_OK;
}

// A plan that does not fit is shown on standard output, but never replaces a file.
static cli_exit write_result(const job* j) {
  bool fits = j->request.capacity == STOW_NO_CAPACITY || cli_plan_fit(j->plan).fits;
  cli_output output;
  cli_exit code = cli_output_open(&output, j->request.output);
  if (code == CLI_YES) {
    stow_diag diag = cli_diag();
    stow_status status = write_plan(j, &output, &diag);
    if (status != STOW_OK && status != STOW_ERR_IO) {
      code = cli_fail_diag(status, &diag);
    }
  }
  cli_exit closed = cli_output_close(&output, code == CLI_YES && fits);
  if (code != CLI_YES || closed != CLI_YES) {
    return code != CLI_YES ? code : closed;
  }
  return fits ? CLI_YES : cli_fail_capacity(j->source.label, j->graph, j->plan);
}

// A saved plan in place of the graph that it is for would be a loss.
static cli_exit check_output(const cli_plan_request* request) {
  const char* inputs[] = {request->files[0], request->layout_from,
                          cli_plan_request_order_file(request)};
  // A new plan in place of the earlier one is what a loop wants.
  for (size_t i = 0; i < 3 && request->output != NULL; ++i) {
    if (inputs[i] != NULL && cli_same_file(inputs[i], request->output)) {
      return cli_fail(CLI_USAGE, "--output: '%s' is the input file", request->output);
    }
  }
  return CLI_YES;
}

cli_exit cli_plan_job_make(cli_plan_job* j) {
  CLI_TRY(cli_source_open(&j->source, j->request.files[0], &j->request.model));
  if (j->runs == NULL &&
      stowi_request_has_kernels(&j->request.choices, cli_source_is_model(&j->source))) {
    stow_prepare_options kernels =
        stowi_request_prepare(&j->request.choices, cli_source_is_model(&j->source));
    cli_plan_job_set_kernels(j, &kernels);
  }
  bool in_file = cli_source_is_model(&j->source) || j->runs != NULL;
  cli_plan_request_place_weights(&j->request, in_file);
  CLI_TRY(find_graphs(j));
  if (j->takes_ranges && cli_has_ranges(j->graph)) {
    return CLI_YES;
  }
  CLI_TRY(make_plan(j));
  CLI_TRY(try_streams(j));
  return j->runs_at_once ? CLI_YES : prove_plan(j);
}

void cli_plan_job_close(cli_plan_job* j) {
  stow_plan_destroy(j->plan);
  stow_schedule_destroy(j->schedule);
  cli_plan_job_free_effects(j);
  stow_weight_layout_destroy(j->layout);
  stow_start_destroy(j->start);
  cli_layout_source_close(&j->layout_from);
  stow_rewritten_destroy(j->rewritten);
  stow_rewritten_destroy(j->before);
  cli_source_close(&j->source);
}

static cli_exit run_job(job* j) {
  cli_exit code = check_output(&j->request);
  j->takes_ranges = true;
  code = code == CLI_YES ? cli_plan_job_make(j) : code;
  if (code == CLI_YES && j->plan == NULL) {
    code = cli_formula_run(j);
    cli_plan_job_close(j);
    return code;
  }
  bool shows_hints =
      j->request.format == CLI_FORMAT_SUMMARY || j->request.format == CLI_FORMAT_JSON;
  code = code == CLI_YES && shows_hints ? cli_plan_job_add_hints(j) : code;
  code = code == CLI_YES ? write_result(j) : code;
  cli_plan_job_close(j);
  return code;
}

cli_exit cli_plan_run(int argc, char** argv) {
  job j = {0};
  cli_arguments arguments;
  cli_exit code = cli_plan_request_read(&j.request, argc, argv, &arguments);
  if (code == CLI_YES && !arguments.help) {
    code = cli_plan_request_is_set(&j.request) ? cli_plan_set_run(&j.request) : run_job(&j);
  }
  cli_plan_request_free(&j.request);
  return code;
}
