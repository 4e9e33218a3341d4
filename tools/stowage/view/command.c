// `stowage view`: a plan as a picture. The plan is made as `stowage plan` makes it, so the options
// of that command are taken too.
#include <string.h>
#include <unistd.h>

#include "arguments/options.h"
#include "files/file.h"
#include "files/output.h"
#include "view/load.h"

// Above those of `plan` and of models.
enum {
  OPT_AGAINST = 2000,
  OPT_ASCII,
  OPT_AT,
  OPT_COLOR,
  OPT_FORMAT,
  OPT_JSON,
  OPT_OUTPUT,
  OPT_PLAN,
  OPT_SVG,
  OPT_TRACE
};

static const cli_option view_options[] = {
    {OPT_OUTPUT, 'o', "output", "OUT",
     "write to OUT, which is replaced only on success; its\nname gives the format: .html, .svg, "
     ".json, .txt"},
    {OPT_FORMAT, 0, "format", "NAME",
     "html (the default): a self-contained page; json: its\ndata; svg, ascii, trace"},
    {OPT_SVG, 0, "svg", NULL, "the same as --format svg: a picture for papers"},
    {OPT_ASCII, 0, "ascii", NULL, "the same as --format ascii: for a terminal"},
    {OPT_TRACE, 0, "trace", NULL,
     "the same as --format trace: for ui.perfetto.dev or\nchrome://tracing"},
    {OPT_JSON, 0, "json", NULL, "the same as --format json"},
    {OPT_PLAN, 0, "plan", "PLAN",
     "show this saved plan of FILE; for a CSV, the same\nrows with offsets"},
    {OPT_AGAINST, 0, "against", "FILE|PLAN",
     "compare with another graph, model or CSV, made with\nthe same options; or with a saved plan "
     "of FILE, or\na plan as CSV"},
    {OPT_AT, 0, "at", "NAME=N,...",
     "of a range of shapes, the point to draw, or to begin\nwith; by default the one with the "
     "largest arena"},
    {OPT_COLOR, 0, "color", "WHEN",
     "colours of --ascii: auto (the default), on a\nterminal only; always; never"},
};

static const char* const format_names[] = {[STOW_PICTURE_HTML] = "html",
                                           [STOW_PICTURE_JSON] = "json",
                                           [STOW_PICTURE_SVG] = "svg",
                                           [STOW_PICTURE_TEXT] = "ascii",
                                           [STOW_PICTURE_TRACE] = "trace"};
#define FORMAT_COUNT (sizeof format_names / sizeof format_names[0])

typedef enum color { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER } color;
static const char* const color_names[] = {"auto", "always", "never"};
#define COLOR_COUNT (sizeof color_names / sizeof color_names[0])

typedef struct job {
  cli_view_load load;
  const char* output;  // NULL: standard output
  bool has_format;
  stow_picture_format format;
  color color;
  cli_list given;  // of const char*: options of `plan`, in order
} job;

// ---------------------------------------------------------------------------------------------
// The command line

static cli_exit set_format(job* j, const char* name) {
  size_t found;
  CLI_TRY(cli_read_word("format", name, format_names, FORMAT_COUNT, &found));
  if (j->has_format && j->format != (stow_picture_format)found) {
    return cli_fail(CLI_USAGE, "give one format: %s or %s", format_names[j->format], name);
  }
  j->has_format = true;
  j->format = (stow_picture_format)found;
  return CLI_YES;
}

static cli_exit set_color(job* j, const char* name) {
  size_t found;
  CLI_TRY(cli_read_word("color", name, color_names, COLOR_COUNT, &found));
  j->color = (color)found;
  return CLI_YES;
}

static cli_exit take_planning(job* j, const cli_option* option, const char* value) {
  return cli_list_add(&j->given, &option->name, sizeof option->name)
             ? cli_plan_request_take(&j->load.job.request, option, value)
             : cli_fail_memory();
}

static cli_exit handle(void* user, const cli_option* option, const char* value) {
  job* j = user;
  switch (option->id) {
    case OPT_AGAINST: return cli_set_text(&j->load.against, value);
    case OPT_AT: return cli_binds_add(&j->load.at, "at", value);
    case OPT_COLOR: return set_color(j, value);
    case OPT_FORMAT: return set_format(j, value);
    case OPT_ASCII:
    case OPT_JSON:
    case OPT_SVG:
    case OPT_TRACE: return set_format(j, option->name);
    case OPT_OUTPUT: return cli_set_text(&j->output, value);
    case OPT_PLAN: return cli_set_text(&j->load.plan, value);
    default: return take_planning(j, option, value);
  }
}

static cli_exit check_planning(const job* j) {
  static const char* const for_rows[] = {"capacity", "strategy", "nodes", "time", "no-reuse"};
  static const char* const for_plan[] = {"graph", "bind", "bind-rest", "value",
                                         "shape", "io",   "alias"};
  const cli_plan_request* request = &j->load.job.request;
  if (request->graphs.count > 1) {
    return cli_fail(CLI_USAGE, "--graph: a picture shows one graph; give it once");
  }
  const char* against = j->load.against;
  bool plans_other = against != NULL && cli_file_holds(against) == CLI_HOLDS_GRAPHS;
  if (cli_file_holds(request->files[0]) == CLI_HOLDS_BUFFERS && !plans_other) {
    bool places = j->load.plan == NULL || against != NULL;
    return cli_require_only(&j->given, for_rows, places ? 5 : 1, "FILE has buffers, not a graph");
  }
  if (j->load.plan != NULL && !plans_other) {
    return cli_require_only(&j->given, for_plan, sizeof for_plan / sizeof for_plan[0],
                            "the plan is given by --plan");
  }
  return CLI_YES;
}

static cli_exit check_files(const job* j) {
  const cli_plan_request* request = &j->load.job.request;
  const char* inputs[] = {request->files[0], j->load.plan, j->load.against, request->layout_from,
                          cli_plan_request_order_file(request)};
  return cli_check_files(inputs, sizeof inputs / sizeof inputs[0], j->output);
}

// A name tells the format, unless an option does. What is no file has no name that could.
static cli_exit guess_format(job* j) {
  static const cli_ending endings[] = {
      {".html", "html"}, {".json", "json"}, {".svg", "svg"}, {".txt", "ascii"}};
  if (j->has_format || j->output == NULL || cli_reads_once(j->output)) {
    return CLI_YES;
  }
  const cli_ending* found = cli_find_ending(j->output, endings, sizeof endings / sizeof endings[0]);
  return found != NULL
             ? set_format(j, found->format)
             : cli_fail(
                   CLI_USAGE,
                   "--output: '%s' does not end with .html, .json, .svg or .txt; give --format",
                   j->output);
}

// ---------------------------------------------------------------------------------------------

static cli_exit write_picture(const job* j, cli_output* output) {
  stow_diag diag = cli_diag();
  stow_report_options options = cli_output_options(output);
  return cli_output_reported(
      stow_picture_write(j->load.picture, j->format, &options, cli_output_writer(output), &diag),
      &diag);
}

static cli_exit write_result(const job* j) {
  cli_output output;
  cli_exit code = cli_output_open(&output, j->output);
  if (code == CLI_YES) {
    output.colours = j->color == COLOR_AUTO ? output.colours : j->color == COLOR_ALWAYS;
    code = write_picture(j, &output);
  }
  return cli_output_end(&output, code);
}

static cli_exit run_job(job* j) {
  CLI_TRY(check_files(j));
  CLI_TRY(guess_format(j));
  bool to_stdout = j->output == NULL || cli_is_stdin(j->output);
  if (j->format == STOW_PICTURE_HTML && to_stdout && isatty(STDOUT_FILENO)) {
    return cli_fail(
        CLI_USAGE, "HTML output needs -o FILE, such as -o plan.html; for the terminal use --ascii");
  }
  CLI_TRY(check_planning(j));
  CLI_TRY(cli_plan_request_check(&j->load.job.request));
  j->load.has_curves = j->load.has_hints =
      j->format == STOW_PICTURE_HTML || j->format == STOW_PICTURE_JSON;
  cli_exit code = cli_view_load_run(&j->load);
  code = code == CLI_YES ? write_result(j) : code;
  cli_view_load_free(&j->load);
  return code;
}

static cli_exit run_view(int argc, char** argv) {
  job j = {.load.job.request.capacity = STOW_NO_CAPACITY};
  cli_arguments arguments;
  cli_exit code = cli_parse(&cli_view_command, argc, argv, handle, &j, &arguments);
  if (code == CLI_YES && !arguments.help) {
    j.load.job.request.files = arguments.operands;
    j.load.job.request.file_count = 1;
    code = run_job(&j);
  }
  cli_list_free(&j.given, sizeof(const char*));
  cli_binds_free(&j.load.at);
  cli_plan_request_free(&j.load.job.request);
  return code;
}

static void print_more(cli_output* output) {
  cli_print(output,
            "For a CSV planning options are --capacity, --strategy, --nodes, --time "
            "and\n--no-reuse, as in 'stowage solve'.\n\nFILE is a graph, an ONNX model, or buffers "
            "as CSV (recognised by its name or "
            "its\nfirst line). A plan above the --capacity is still shown, with a line for it. "
            "See\ndocs/view.md for the pictures and docs/view-format.md for the data.\n");
}

static const cli_refusal without[] = {
    {"c-prefix", "nothing is written as C"}, {"explain", "see stowage plan"}, {NULL, NULL}};

const cli_command cli_view_command = {
    .name = "view",
    .summary = "Shows a plan as a picture",
    .operand_count = 1,
    .required_operands = 1,
    .operands = {"FILE"},
    .option_count = sizeof view_options / sizeof view_options[0],
    .options = view_options,
    .also = &cli_plan_command,
    .without = without,
    .more_help = print_more,
    .run = run_view,
};
