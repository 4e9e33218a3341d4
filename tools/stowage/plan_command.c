// `stowage plan`: read, bind, plan, prove, write. What is written has been proven by the checker,
// in every format; a plan that the checker refuses is an error of this program and is not written.
#include <inttypes.h>

#include "file.h"
#include "help.h"
#include "output.h"
#include "plan_layout.h"
#include "plan_request.h"
#include "source.h"
#include "summary.h"

// What a run owns.
typedef struct job {
  cli_plan_request request;
  cli_source source;
  cli_layout_source layout_from;
  stow_weight_layout* layout;
  stow_effects* effects;
  stow_plan* plan;
  stow_graph* graph;  // owned by the source
  cli_search search;
  uint64_t budget;  // in nodes
} job;

// What a file holds already need not be in the arena as well: a model's weights are mapped.
static void place_weights(job* j) {
  cli_plan_request* request = &j->request;
  bool in_file = request->weights == CLI_WEIGHTS_FILE ||
                 (request->weights == CLI_WEIGHTS_DEFAULT && cli_source_is_model(&j->source));
  request->no_params = request->no_params || in_file;
  request->no_constants = request->no_constants || in_file;
}

static cli_exit find_graphs(job* j) {
  cli_exit code = cli_source_choose(&j->source, j->request.graph, &j->graph);
  if (code == CLI_YES) {
    code = cli_source_bind(&j->source, &j->request.model.binds, j->graph);
  }
  if (code == CLI_YES && j->request.layout_from != NULL) {
    code = cli_layout_source_open(&j->layout_from, j->request.layout_from, &j->request.model.binds,
                                  &j->source);
  }
  if (code == CLI_YES) {
    code = cli_source_require_used(&j->source, &j->request.model.binds, j->graph);
  }
  if (code == CLI_YES && j->request.layout_from != NULL) {
    code = cli_require_bound(j->source.label, j->layout_from.graph);
  }
  return code == CLI_YES ? cli_source_require_bound(&j->source, j->graph) : code;
}

static cli_exit make_layout(job* j) {
  stow_plan_options options;
  cli_exit code = cli_plan_request_forward_options(&j->request, &options);
  if (code == CLI_YES) {
    cli_search_begin(&j->search, &j->request.budget, true);
    options.on_progress = cli_search_progress;
    options.user = &j->search;
    code = cli_layout_make(&j->layout_from, &options, &j->request.io, &j->source, &j->layout);
    cli_search_end(&j->search);
  }
  return code;
}

static cli_exit make_plan(job* j) {
  stow_plan_options options;
  cli_exit code = cli_plan_request_options(&j->request, &options);
  if (code == CLI_YES && j->request.layout_from != NULL) {
    code = make_layout(j);
  }
  if (code == CLI_YES) {
    code = cli_effects_create(&j->request.io, j->source.label, j->graph, j->layout_from.graph,
                              &j->effects);
  }
  if (code != CLI_YES) {
    return code;
  }
  options.layout = j->layout;
  options.on_progress = cli_search_progress;
  options.user = &j->search;
  j->budget = options.nodes;
  stow_diag diag;
  stow_diag_init(&diag);
  cli_search_begin(&j->search, &j->request.budget, true);
  stow_status status =
      stow_plan_make(j->graph, j->effects, &options, stow_allocator_default(), &diag, &j->plan);
  cli_search_end(&j->search);
  return status == STOW_OK ? cli_aliases_check(&j->request.io, j->source.label, j->graph, j->plan)
                           : cli_fail_graph(j->source.label, j->graph, status, &diag);
}

static cli_exit prove_plan(const job* j) {
  stow_diag diag;
  stow_diag_init(&diag);
  stow_status status =
      stow_plan_check(j->plan, j->graph, j->effects, stow_allocator_default(), &diag, NULL);
  if (status == STOW_OK && j->layout != NULL) {
    status = stow_plan_check_layout(j->plan, j->graph, j->layout, &diag, NULL);
  }
  if (status == STOW_ERR_VIOLATION) {
    return cli_fail(CLI_NO, "internal error: the plan is wrong: %s", cli_diag_text(status, &diag));
  }
  return status == STOW_OK ? CLI_YES : cli_fail_diag(status, &diag);
}

static stow_status write_plan(const job* j, cli_output* output, stow_diag* diag) {
  stow_writer writer = cli_output_writer(output);
  switch (j->request.format) {
    case CLI_FORMAT_REPORT:
      return stow_plan_write_report(j->plan, writer);
    case CLI_FORMAT_PLAN:
      return stow_plan_write(j->plan, writer);
    case CLI_FORMAT_JSON:
      return stow_plan_write_json(j->plan, writer);
    case CLI_FORMAT_CSV:
      return stow_plan_write_csv(j->plan, writer);
    case CLI_FORMAT_C:
      return stow_plan_write_c(j->plan, j->request.c_prefix, writer, diag);
    case CLI_FORMAT_SUMMARY:
    case CLI_FORMAT_COUNT:
      break;
  }
  cli_summary_print(
      &(cli_summary){.label = j->source.label,
                     .graph = j->graph,
                     .plan = j->plan,
                     .layout = j->layout,
                     .model = cli_source_is_model(&j->source) ? &j->source.model : NULL,
                     .weights_in_arena = !j->request.no_params,
                     .capacity = j->request.capacity != STOW_NO_CAPACITY,
                     .budget = j->budget,
                     .stopped_by = j->search.stopped_by},
      output);
  return STOW_OK;
}

// Why, or what leaves hope.
static void explain_fit(const job* j, const stow_fit* fit) {
  uint64_t bound = stow_plan_lower_bound(j->plan);
  uint64_t proven = stow_plan_search(j->plan).bound;
  uint64_t load = cli_peak_load(j->plan);
  if (proven <= fit->available) {
    cli_tell_more("the lower bound is %" PRIu64 ": %s", proven,
                  stow_plan_reuse(j->plan) ? "a better placement may fit"
                                           : "a placement that reuses bytes may fit");
  } else if (bound <= fit->available) {
    cli_tell_more("no placement can fit: the search has ruled out all that are below %" PRIu64,
                  proven);
  } else if (load <= fit->available) {
    cli_tell_more(
        "no placement can fit: the lower bound, with padding and fixed places, is %" PRIu64, bound);
  } else {
    char largest[3 * (CLI_VALUE_LABEL_SIZE + 32)];
    cli_largest_at_peak(j->plan, 3, largest, sizeof largest);
    cli_tell_more("no placement can fit: at step %" PRIu32 ", %" PRIu64
                  " bytes live at once, the largest: %s",
                  stow_plan_peak_step(j->plan), load, largest);
  }
}

// Without reuse there is only one placement; with it, another one may fit until that is ruled out.
static cli_exit capacity_exit(const stow_plan* plan) {
  bool gave_up = stow_plan_search(plan).outcome == STOW_OUTCOME_GAVE_UP;
  return gave_up && stow_plan_reuse(plan) ? CLI_GAVE_UP : CLI_NO;
}

static cli_exit fail_capacity(const job* j, const stow_fit* fit) {
  char label[CLI_VALUE_LABEL_SIZE];
  snprintf(label, sizeof label, "%s", fit->value_bytes > 0 ? "scratch" : "a reserved stretch");
  if (fit->value != STOW_VALUE_NONE) {
    cli_value_label(j->plan, fit->value, label);
  }
  stow_str name = stow_graph_name(j->graph);
  cli_exit code = capacity_exit(j->plan);
  cli_fail(
      code, "%s: @%.*s%s: %" PRIu64 " bytes required, %" PRIu64 " available, %" PRIu64 " too many",
      j->source.label, (int)name.size, name.data, code == CLI_NO ? " does not fit" : ": gave up",
      fit->required, fit->available, fit->excess);
  cli_tell_more("%s (%" PRIu64 " bytes, step %" PRIu32
                ") reaches above, the largest hole there has %" PRIu64 " bytes",
                label, fit->value_bytes, fit->step, fit->largest_hole);
  explain_fit(j, fit);
  return code;
}

// A plan that does not fit is shown on standard output, but never replaces a file.
static cli_exit write_result(const job* j) {
  bool fits = j->request.capacity == STOW_NO_CAPACITY || stow_plan_fit(j->plan).fits;
  cli_output output;
  cli_exit code = cli_output_open(&output, j->request.output);
  if (code == CLI_YES) {
    stow_diag diag;
    stow_diag_init(&diag);
    stow_status status = write_plan(j, &output, &diag);
    if (status != STOW_OK && status != STOW_ERR_IO) {
      code = cli_fail_diag(status, &diag);
    }
  }
  cli_exit closed = cli_output_close(&output, code == CLI_YES && fits);
  if (code != CLI_YES || closed != CLI_YES) {
    return code != CLI_YES ? code : closed;
  }
  stow_fit fit = stow_plan_fit(j->plan);
  return fits ? CLI_YES : fail_capacity(j, &fit);
}

// A saved plan in place of the graph that it is for would be a loss.
static cli_exit check_output(const cli_plan_request* request) {
  const char* inputs[] = {request->file, request->layout_from};
  for (size_t i = 0; i < 2 && request->output != NULL; ++i) {
    if (inputs[i] != NULL && cli_same_file(inputs[i], request->output)) {
      return cli_fail(CLI_USAGE, "--output: '%s' is the file that is read", request->output);
    }
  }
  return CLI_YES;
}

static cli_exit run_job(job* j) {
  cli_exit code = check_output(&j->request);
  if (code == CLI_YES) {
    code = cli_source_open(&j->source, j->request.file, &j->request.model);
  }
  if (code == CLI_YES) {
    place_weights(j);
    code = find_graphs(j);
  }
  if (code == CLI_YES) {
    code = make_plan(j);
  }
  if (code == CLI_YES) {
    code = prove_plan(j);
  }
  if (code == CLI_YES) {
    code = write_result(j);
  }
  stow_plan_destroy(j->plan);
  stow_effects_destroy(j->effects);
  stow_weight_layout_destroy(j->layout);
  cli_layout_source_close(&j->layout_from);
  cli_source_close(&j->source);
  return code;
}

cli_exit cli_plan_run(int argc, char** argv) {
  job j = {0};
  cli_arguments arguments;
  cli_exit code = cli_plan_request_read(&j.request, argc, argv, &arguments);
  if (code == CLI_YES) {
    code = arguments.help ? cli_help_for(&cli_plan_command) : run_job(&j);
  }
  cli_plan_request_free(&j.request);
  return code;
}
