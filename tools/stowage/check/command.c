// `stowage check`: proves a saved plan against its graph, with the checker alone.
#include <inttypes.h>
#include <stowage/exec.h>
#include <string.h>

#include "arguments/options.h"
#include "check/set.h"
#include "files/file.h"
#include "files/output.h"
#include "graphs/io_policy.h"
#include "graphs/rewrite.h"
#include "graphs/source.h"
#include "plan/formula.h"
#include "plan/layout.h"
#include "report/api.h"

enum { OPT_ALIAS, OPT_GRAPH, OPT_IO, OPT_LAYOUT_FROM };

static const cli_option check_options[] = {
    {OPT_GRAPH, 0, "graph", "NAME",
     "the graph that PLAN is for; by default the one\nthat PLAN names"},
    CLI_BIND_OPTION,
    CLI_MODEL_OPTIONS,
    {OPT_IO, 0, "io", "NAME=POLICY", "as it was given to plan; may be repeated"},
    {OPT_ALIAS, 0, "alias", "OUT=IN", "as it was given to plan; may be repeated"},
    {OPT_LAYOUT_FROM, 0, "layout-from", "GRAPH|PLAN",
     "prove that the params are where this saved plan has\nthem; or the plan of this graph of FILE "
     "with the\ndefault options"},
};

typedef struct job {
  const char* graph_name;   // NULL: as the plan says
  const char* layout_name;  // NULL: none
  cli_model_request model;
  cli_io_policies io;
  cli_source source;
  stow_string text;  // of the plan
  const char* plan_label;
  stow_graph* given;        // as it was read; owned by the source
  const stow_graph* graph;  // as the plan says: the same, or rewritten
  stow_rewritten* rewritten;
  cli_layout_source layout_from;
  stow_weight_layout* layout;
} job;

static cli_exit handle(void* user, const cli_option* option, const char* value) {
  job* j = user;
  cli_exit code;
  if (cli_model_request_take(&j->model, option, value, &code)) {
    return code;
  }
  if (option->id == OPT_ALIAS) {
    return cli_io_policies_alias(&j->io, value);
  }
  if (option->id == OPT_IO && strchr(value, '=') == NULL) {
    return cli_fail(CLI_USAGE, "--io: '%s' is not NAME=POLICY; PLAN has the policy for all others",
                    value);
  }
  if (option->id == OPT_IO) {
    return cli_io_policies_add(&j->io, value);
  }
  if (option->id == OPT_LAYOUT_FROM) {
    j->layout_name = value;
  } else {
    j->graph_name = value;
  }
  return CLI_YES;
}

static cli_exit read_files(job* j, const char* file, const char* plan) {
  if (cli_is_stdin(file) && cli_is_stdin(plan)) {
    return cli_fail(CLI_USAGE, "FILE and PLAN cannot both be standard input");
  }
  if (j->layout_name != NULL && cli_is_stdin(j->layout_name) &&
      (cli_is_stdin(file) || cli_is_stdin(plan))) {
    return cli_fail(CLI_USAGE, "only one of FILE, PLAN and --layout-from can be standard input");
  }
  j->plan_label = cli_file_label(plan);
  CLI_TRY(cli_source_open(&j->source, file, &j->model));
  CLI_TRY(cli_plan_text_read(plan, &j->text));
  return j->graph_name != NULL
             ? cli_source_choose(&j->source, j->graph_name, &j->given)
             : cli_plan_text_graph(&j->text, j->plan_label, &j->source, &j->given);
}

static cli_exit print_success(const job* j, const stow_plan* plan) {
  cli_output output;
  cli_exit code = cli_output_open(&output, NULL);
  if (code == CLI_YES) {
    char label[8192];
    char name[1024];
    stowi_report_escape(stow_str_of(j->plan_label), label, sizeof label);
    stowi_report_escape(stow_graph_name(j->graph), name, sizeof name);
    cli_print(&output, "%s: ok: @%s, %" PRIu32 " values, arena of %" PRIu64 " bytes\n", label, name,
              stow_plan_value_count(plan), stow_plan_arena_size(plan));
    if (j->layout == NULL && cli_plan_text_shares_params(&j->text)) {
      cli_print(&output,
                "note: the places of shared weights were not checked; give the plan they come from "
                "with --layout-from\n");
    }
  }
  return cli_output_close(&output, true);
}

static stow_status check_plan(const job* j, const stow_plan* plan, const stow_effects* effects,
                              stow_diag* diag) {
  stow_status status =
      stow_plan_check(plan, j->graph, effects, stow_allocator_default(), diag, NULL);
  if (status == STOW_OK && j->layout != NULL) {
    status = stow_plan_check_layout(plan, j->graph, j->layout, diag, NULL);
  }
  return status;
}

static cli_exit prove(const job* j, const stow_effects* effects) {
  stow_plan* plan = NULL;
  stow_diag diag = cli_diag();
  stow_status status = stow_plan_read(j->text.data, j->text.size, NULL, j->graph,
                                      stow_allocator_default(), &diag, &plan);
  cli_exit code =
      status == STOW_OK ? CLI_YES : cli_fail_saved(j->plan_label, j->graph, status, &diag);
  code = code == CLI_YES ? cli_io_policies_check(&j->io, j->plan_label, j->graph, plan) : code;
  if (code == CLI_YES) {
    status = check_plan(j, plan, effects, &diag);
    code = status == STOW_OK ? print_success(j, plan)
                             : cli_fail_proof(j->plan_label, j->graph, true, status, &diag);
  }
  stow_plan_destroy(plan);
  return code;
}

// ---------------------------------------------------------------------------------------------
// Plans of ranges

static cli_exit print_formula(const job* j, const stow_formula* formula) {
  cli_output output;
  cli_exit code = cli_output_open(&output, NULL);
  if (code == CLI_YES) {
    char label[8192];
    char name[1024];
    stow_formula_info info = {.struct_size = sizeof info};
    stow_formula_describe(formula, &info);
    stowi_report_escape(stow_str_of(j->plan_label), label, sizeof label);
    stowi_report_escape(info.graph_name, name, sizeof name);
    cli_print(&output,
              "%s: ok: @%s, %zu points, %zu region%s, arena of at most %" PRIu64 " bytes\n", label,
              name, info.point_count, info.region_count, info.region_count == 1 ? "" : "s",
              info.largest_arena);
  }
  return cli_output_close(&output, true);
}

static cli_exit check_formula(const job* j) {
  stow_prepare_options kernels = cli_plan_text_kernels(&j->text);
  cli_plan_job made = {
      .request = {.io = j->io}, .graph = j->graph, .runs = kernels.threads == 0 ? NULL : &kernels};
  cli_formula f;
  stow_diag diag = cli_diag();
  stow_allocator heap = stow_allocator_default();
  stow_status status = STOW_OK;
  cli_exit code = cli_formula_take_effects(&f, &made);
  if (code == CLI_YES) {
    status = stow_formula_read(j->text.data, j->text.size, NULL, j->graph, heap, &diag, &f.formula);
    code = status == STOW_OK ? CLI_YES : cli_fail_saved(j->plan_label, j->graph, status, &diag);
  }
  if (code == CLI_YES) {
    status = stow_formula_check(f.formula, &f.options.effects, heap, &diag);
    code = status == STOW_OK   ? print_formula(j, f.formula)
           : f.code != CLI_YES ? f.code
                               : cli_fail_proof(j->plan_label, j->graph, true, status, &diag);
  }
  cli_formula_free(&f);
  return code;
}

// ---------------------------------------------------------------------------------------------

// Of a plan with the scratch of kernels.
static cli_exit check_with_kernels(const job* j, const stow_prepare_options* options) {
  stow_prepared* prepared = NULL;
  stow_diag diag = cli_diag();
  stow_status status = stow_prepare(j->graph, options, stow_allocator_default(), &diag, &prepared);
  cli_exit code = status == STOW_OK ? cli_effects_apply(&j->io, j->graph, j->layout_from.graph,
                                                        stow_prepared_effects(prepared))
                                    : cli_fail_graph(j->source.label, j->graph, status, &diag);
  code = code == CLI_YES ? prove(j, stow_prepared_effects(prepared)) : code;
  stow_prepared_destroy(prepared);
  return code;
}

static cli_exit check_graph(const job* j) {
  stow_effects* effects = NULL;
  stow_prepare_options kernels = cli_plan_text_kernels(&j->text);
  if (cli_plan_text_is_formula(&j->text)) {
    return check_formula(j);
  }
  if (kernels.threads != 0) {
    return check_with_kernels(j, &kernels);
  }
  cli_exit code =
      cli_effects_create(&j->io, j->source.label, j->graph, j->layout_from.graph, &effects);
  code = code == CLI_YES ? prove(j, effects) : code;
  stow_effects_destroy(effects);
  return code;
}

static cli_exit bind_graphs(job* j) {
  stow_rewrite_options options;
  bool is_rewritten;
  CLI_TRY(cli_source_bind(&j->source, &j->model.binds, j->given));
  if (j->layout_name != NULL) {
    CLI_TRY(cli_layout_source_open(&j->layout_from, j->layout_name, &j->model.binds, &j->source));
  }
  CLI_TRY(cli_source_require_used(&j->source, &j->model.binds, j->given));
  if (j->layout_name != NULL) {
    CLI_TRY(cli_require_bound(j->source.label, j->layout_from.graph));
  }
  if (!cli_plan_text_is_formula(&j->text) || !cli_has_ranges(j->given)) {
    CLI_TRY(cli_require_bound(j->source.label, j->given));
  }
  CLI_TRY(cli_plan_text_rewrite(&j->text, j->plan_label, &is_rewritten, &options));
  if (is_rewritten) {
    CLI_TRY(cli_rewrite_graph(j->given, &options, j->source.label, &j->rewritten));
  }
  j->graph = is_rewritten ? stow_rewritten_graph(j->rewritten) : j->given;
  return CLI_YES;
}

static cli_exit make_layout(job* j) {
  stow_plan_options options;
  stow_plan_options_init(&options, STOW_PRESET_DEFAULT);
  return cli_layout_make(&j->layout_from, &options, &j->io, &j->source, &j->layout);
}

static cli_exit run_job(job* j, const cli_arguments* arguments) {
  stow_string_init(&j->text, stow_allocator_default());
  cli_exit code = read_files(j, arguments->operands[0], arguments->operands[1]);
  code = code == CLI_YES ? bind_graphs(j) : code;
  if (code == CLI_YES && j->layout_name != NULL) {
    code = make_layout(j);
  }
  code = code == CLI_YES ? check_graph(j) : code;
  stow_weight_layout_destroy(j->layout);
  cli_layout_source_close(&j->layout_from);
  stow_string_free(&j->text);
  stow_rewritten_destroy(j->rewritten);
  cli_source_close(&j->source);
  return code;
}

static cli_exit run_set(job* j, const cli_arguments* arguments) {
  size_t inputs = 0;
  for (size_t i = 0; i < arguments->operand_count; ++i) {
    inputs += cli_is_stdin(arguments->operands[i]);
  }
  if (arguments->operand_count % 2 != 0) {
    return cli_fail(CLI_USAGE, "'%s' has no PLAN; give one after every FILE",
                    arguments->operands[arguments->operand_count - 1]);
  }
  if (j->graph_name != NULL || j->layout_name != NULL) {
    return cli_fail(CLI_USAGE, "--%s is for one plan, not for several in one arena",
                    j->graph_name != NULL ? "graph" : "layout-from");
  }
  if (inputs > 1) {
    return cli_fail(CLI_USAGE, "only one of the files can be standard input");
  }
  return cli_check_set(arguments->operands, arguments->operand_count, &j->model, &j->io);
}

static cli_exit run_check(int argc, char** argv) {
  job j = {0};
  cli_arguments arguments;
  cli_exit code = cli_parse(&cli_check_command, argc, argv, handle, &j, &arguments);
  if (code == CLI_YES && !arguments.help) {
    code = arguments.operand_count > 2 ? run_set(&j, &arguments) : run_job(&j, &arguments);
  }
  cli_model_request_free(&j.model);
  cli_io_policies_free(&j.io);
  return code;
}

static void print_more(cli_output* output) {
  cli_print(output,
            "PLAN is what 'stowage plan FILE --format plan' wrote. Of several pairs FILE PLAN\nit "
            "is also proven that they can share one arena. Exit status: 0 if all plans "
            "are\ncorrect, 1 if one is wrong, 3 if one is for another graph or cannot be read.\n");
}

const cli_command cli_check_command = {
    .name = "check",
    .summary = "Proves a saved plan against its graph",
    .operand_count = CLI_ANY_NUMBER,
    .required_operands = 2,
    .operands = {"FILE", "PLAN"},
    .option_count = sizeof check_options / sizeof check_options[0],
    .options = check_options,
    .more_help = print_more,
    .run = run_check,
};
