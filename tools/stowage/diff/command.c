// `stowage diff`: what changed between two plans. Each side is loaded as `stowage view` loads it:
// planned, read or placed, and proven.
#include <string.h>

#include "arguments/number.h"
#include "arguments/options.h"
#include "files/file.h"
#include "view/load.h"

// Above those of `plan` and of models.
enum { OPT_ALL = 2000, OPT_FOR, OPT_FORMAT, OPT_IGNORE_UNKNOWN, OPT_MAX_GROWTH };

static const cli_option diff_options[] = {
    {OPT_MAX_GROWTH, 0, "max-growth", "SIZE|PERCENT",
     "how much the arena may grow before the exit status\nis 1: 64KiB, 2.5%; by default, not at "
     "all"},
    {OPT_ALL, 0, "all", NULL, "list every tensor that changed"},
    {OPT_FORMAT, 0, "format", "NAME", "text (the default), json, markdown"},
    {OPT_FOR, 0, "for", "FILE",
     "the graph or model that saved plans are for; given\ntwice, that of A and that of B"},
    {OPT_IGNORE_UNKNOWN, 0, "ignore-unknown", NULL,
     "ignore names of --bind, --value and --shape that a\nfile does not have: one line for several "
     "models"},
};

static const char* const format_names[] = {
    [STOW_DIFF_TEXT] = "text", [STOW_DIFF_JSON] = "json", [STOW_DIFF_MARKDOWN] = "markdown"};
#define FORMAT_COUNT (sizeof format_names / sizeof format_names[0])

typedef struct job {
  cli_plan_request request;
  const char* files[2];     // A and B
  const char* for_file[2];  // NULL: not given
  size_t for_count;
  stow_growth growth;
  bool has_format;
  stow_diff_format format;
  bool all;
  stow_string sources[2];  // the files with the graphs or rows
  cli_view_load sides[2];
  bool loaded[2];
} job;

// ---------------------------------------------------------------------------------------------
// The command line

static cli_exit read_format(job* j, const char* value) {
  size_t found;
  CLI_TRY(cli_read_word("format", value, format_names, FORMAT_COUNT, &found));
  j->has_format = true;
  j->format = (stow_diff_format)found;
  return CLI_YES;
}

static cli_exit read_growth(job* j, const char* value) {
  j->growth = (stow_growth){0};
  return strchr(value, '%') != NULL ? cli_parse_share("max-growth", value, &j->growth.millionths)
                                    : cli_parse_size("max-growth", value, &j->growth.bytes);
}

static cli_exit add_for(job* j, const char* value) {
  if (j->for_count == 2) {
    return cli_fail(CLI_USAGE, "--for: '%s' is one too many; give at most two", value);
  }
  j->for_file[j->for_count++] = value;
  return CLI_YES;
}

static cli_exit handle(void* user, const cli_option* option, const char* value) {
  job* j = user;
  switch (option->id) {
    case OPT_ALL: return cli_set_switch(&j->all);
    case OPT_FOR: return add_for(j, value);
    case OPT_FORMAT: return read_format(j, value);
    case OPT_IGNORE_UNKNOWN: return cli_set_switch(&j->request.model.binds.allows_unknown);
    case OPT_MAX_GROWTH: return read_growth(j, value);
    default: return cli_plan_request_take(&j->request, option, value);
  }
}

static cli_exit check_together(const job* j) {
  if (j->request.graphs.count > 2) {
    return cli_fail(CLI_USAGE, "--graph: give at most two, for A and for B");
  }
  static const cli_ending endings[] = {{".json", "json"}, {".md", "markdown"}};
  const char* inputs[] = {j->files[0],
                          j->files[1],
                          j->for_file[0],
                          j->for_file[1],
                          j->request.layout_from,
                          cli_plan_request_order_file(&j->request)};
  CLI_TRY(cli_check_files(inputs, sizeof inputs / sizeof inputs[0], j->request.output));
  if (!j->has_format) {
    CLI_TRY(cli_refuse_endings(j->request.output, endings, 2));
  }
  return cli_plan_request_check(&j->request);
}

// ---------------------------------------------------------------------------------------------
// Sides

// The file with the graph that the saved plan |side| is for.
static cli_exit find_graph_file(const job* j, size_t side, const char** out_file) {
  const char* other = j->files[1 - side];
  *out_file = j->for_count == 2 ? j->for_file[side] : j->for_file[0];
  if (*out_file == NULL && cli_file_holds(other) == CLI_HOLDS_GRAPHS && !cli_reads_once(other)) {
    *out_file = other;
  }
  return *out_file != NULL
             ? CLI_YES
             : cli_fail(CLI_USAGE, "'%s' is a saved plan; give its graph with --for FILE",
                        j->files[side]);
}

// What a side is loaded from: its file, or that of its graph.
static cli_exit prepare_side(job* j, size_t side) {
  cli_view_load* load = &j->sides[side];
  const char* source = j->files[side];
  cli_exit code = CLI_YES;
  load->is_diff = true;
  load->job.request = j->request;
  if (cli_file_holds(source) == CLI_HOLDS_PLAN) {
    load->plan = source;
    code = find_graph_file(j, side, &source);
  }
  if (code == CLI_YES && stow_string_append(&j->sources[side], source, strlen(source)) != STOW_OK) {
    code = cli_fail_memory();
  }
  if (j->request.graphs.count == 2) {
    load->job.request.graphs.items = (const char**)j->request.graphs.items + side;
    load->job.request.graphs.count = 1;
  }
  load->job.request.files = &j->sources[side].data;
  load->job.request.file_count = 1;
  return code;
}

static cli_exit load_side(job* j, size_t side) {
  cli_view_load* load = &j->sides[side];
  cli_exit code = prepare_side(j, side);
  if (code == CLI_YES) {
    j->loaded[side] = true;
    code = cli_view_load_run(load);
  }
  if (code == CLI_BAD_INPUT && load->plan != NULL && j->for_count == 0) {
    cli_tell_more("without --for, '%s' is for '%s'; a plan as CSV needs no graph", load->plan,
                  j->files[1 - side]);
  }
  // what is wrong with a file is no answer to whether the arena grew
  return code == CLI_NO ? CLI_BAD_INPUT : code;
}

// ---------------------------------------------------------------------------------------------

static cli_exit write_diff(const job* j, const stow_diff* diff, cli_output* output) {
  stow_diag diag = cli_diag();
  stow_report_options options = cli_output_options(output);
  options.all = j->all;
  return cli_output_reported(
      stow_diff_write(diff, j->format, &options, cli_output_writer(output), &diag), &diag);
}

static cli_exit write_result(const job* j, const stow_diff* diff) {
  cli_output output;
  cli_exit code = cli_output_open(&output, j->request.output);
  code = code == CLI_YES ? write_diff(j, diff, &output) : code;
  return cli_output_end(&output, code);
}

static cli_exit compare(const job* j) {
  stow_diff* made;
  stow_diag diag = cli_diag();
  stow_status status = stow_diff_create(j->sides[0].picture, j->sides[1].picture, j->growth,
                                        stow_allocator_default(), &diag, &made);
  if (status != STOW_OK) {
    return cli_fail_diag(status, &diag);
  }
  cli_exit code = write_result(j, made);
  if (code == CLI_YES && stow_diff_is_too_large(made)) {
    code = CLI_NO;
  }
  stow_diff_destroy(made);
  return code;
}

static cli_exit run_job(job* j) {
  cli_exit code = check_together(j);
  for (size_t side = 0; side < 2; ++side) {
    stow_string_init(&j->sources[side], stow_allocator_default());
    code = code == CLI_YES ? load_side(j, side) : code;
  }
  code = code == CLI_YES ? compare(j) : code;
  for (size_t side = 0; side < 2; ++side) {
    if (j->loaded[side]) {
      cli_view_load_free(&j->sides[side]);
    }
    stow_string_free(&j->sources[side]);
  }
  return code;
}

static cli_exit run_diff(int argc, char** argv) {
  job j = {.request.capacity = STOW_NO_CAPACITY};
  cli_arguments arguments;
  cli_exit code = cli_parse(&cli_diff_command, argc, argv, handle, &j, &arguments);
  if (code == CLI_YES && !arguments.help) {
    j.files[0] = arguments.operands[0];
    j.files[1] = arguments.operands[1];
    code = run_job(&j);
  }
  cli_plan_request_free(&j.request);
  return code;
}

static void print_more(cli_output* output) {
  cli_print(output,
            "A (before) and B (after) are graphs, ONNX models, saved plans or plans written\nwith "
            "'stowage plan --format csv', in any mix. Graphs and models are planned;\n--graph may "
            "be given twice, for A and B. A saved plan is for the graph of --for,\notherwise for "
            "that of the other side. A CSV needs no graph, so it stays useful\nwhen the model "
            "changes.\n\nExit status: 0 if the arena did not "
            "grow, or not by more than --max-growth; 1 "
            "if\nit did. See docs/diff.md for details and an example for CI.\n");
}

static const cli_refusal without[] = {{"c-prefix", "nothing is written as C"},
                                      {"capacity", "see --max-growth"},
                                      {"explain", "see stowage plan"},
                                      {"hints", "see stowage plan"},
                                      {NULL, NULL}};

const cli_command cli_diff_command = {
    .name = "diff",
    .summary = "Shows what changed between two plans",
    .operand_count = 2,
    .required_operands = 2,
    .operands = {"A", "B"},
    .option_count = sizeof diff_options / sizeof diff_options[0],
    .options = diff_options,
    .also = &cli_plan_command,
    .without = without,
    .more_help = print_more,
    .run = run_diff,
};
