// `stowage fit`: the largest value of a symbol with which a graph fits into a capacity. The range
// is planned as `stowage plan` plans it, so the options of that command are taken too.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "arguments/options.h"
#include "files/output.h"
#include "plan/formula.h"
#include "report/api.h"
#include "terminal/lines.h"

// Above those of `plan` and of models.
enum { OPT_JSON = 2000 };

static const cli_option fit_options[] = {
    {OPT_JSON, 0, "json", NULL, "the answer as one JSON object"},
};

#define SHOWN_LARGER 4

typedef struct job {
  cli_plan_job plan;
  bool json;
} job;

// What was found.
typedef struct answer {
  const stow_formula* formula;
  stow_fit_point* points;
  size_t count;
  size_t largest;  // SIZE_MAX: none
} answer;

static cli_exit handle(void* user, const cli_option* option, const char* value) {
  job* j = user;
  if (option->id == OPT_JSON) {
    j->json = true;
    return CLI_YES;
  }
  return cli_plan_request_take(&j->plan.request, option, value);
}

// ---------------------------------------------------------------------------------------------
// The answer

static const char* verdict(stow_fit_kind kind) {
  switch (kind) {
    case STOW_FIT_YES: return "fits";
    case STOW_FIT_OWN: return "fits, with a plan made for it alone";
    case STOW_FIT_NO: return "does not fit: proven";
    case STOW_FIT_LOAD: return "not searched: its load is above the capacity";
    case STOW_FIT_UNKNOWN: return "not found";
  }
  return "unknown";
}

static size_t first_larger(const answer* a) { return a->largest == SIZE_MAX ? 0 : a->largest + 1; }

static void print_point(const answer* a, const char* what, size_t point, cli_output* output) {
  char text[512];
  const stow_fit_point* at = &a->points[point];
  cli_formula_point_text(a->formula, point, text, sizeof text);
  cli_print(output, "  %-15s %s: %s; arena %" PRIu64 " B, load %" PRIu64 " B\n", what, text,
            verdict(at->kind), at->arena_size, at->load);
}

static void print_larger(const answer* a, cli_output* output) {
  size_t first = first_larger(a);
  size_t unknown = 0;
  size_t rest = first + SHOWN_LARGER < a->count ? first + SHOWN_LARGER : a->count;
  for (size_t point = first; point < rest; ++point) {
    print_point(a, point == first ? "larger" : "", point, output);
  }
  for (size_t point = rest; point < a->count; ++point) {
    unknown += a->points[point].kind == STOW_FIT_UNKNOWN ? 1 : 0;
  }
  if (rest < a->count) {
    cli_print(output, "  %-15s and %zu more: ", "", a->count - rest);
    if (unknown == 0) {
      cli_print(output, "their loads are above the capacity\n");
    } else {
      cli_print(output, "%zu may fit, the loads of the others are above the capacity\n", unknown);
    }
  }
}

static void print_answer(const answer* a, const job* j, cli_output* output) {
  stow_formula_info info = {.struct_size = sizeof info};
  char name[256];
  char label[512];
  stow_formula_describe(a->formula, &info);
  stowi_report_escape(info.graph_name, name, sizeof name);
  stowi_report_escape(stow_str_of(j->plan.source.label), label, sizeof label);
  cli_print(output, "%s@%s%s in %s\n\n", cli_paint_start(output, CLI_BOLD), name,
            cli_paint_stop(output), label);
  cli_print_size(output, "capacity", j->plan.request.capacity);
  cli_print(output, "\n");
  if (a->largest == SIZE_MAX) {
    cli_print(output, "  %-15s none\n", "largest");
  } else {
    print_point(a, "largest", a->largest, output);
  }
  print_larger(a, output);
}

static void print_json_point(const answer* a, size_t point, cli_output* output) {
  static const char* const words[] = {"fits", "fits alone", "no", "load", "unknown"};
  int64_t value = 0;
  stow_formula_point_values(a->formula, point, &value);
  cli_print(output,
            "{\"at\": %" PRId64 ", \"verdict\": \"%s\", \"arena_size\": %" PRIu64
            ", \"load\": %" PRIu64 "}",
            value, words[a->points[point].kind], a->points[point].arena_size,
            a->points[point].load);
}

static void print_json(const answer* a, const job* j, cli_output* output) {
  stow_formula_info info = {.struct_size = sizeof info};
  stow_dim_range range;
  stow_formula_describe(a->formula, &info);
  cli_print(output, "{\n  \"graph\": ");
  cli_print_json(output, info.graph_name);
  cli_print(output, ",\n  \"symbol\": ");
  cli_print_json(output, stow_formula_symbol(a->formula, 0, &range));
  cli_print(output,
            ",\n  \"min\": %" PRId64 ",\n  \"max\": %" PRId64 ",\n  \"step\": %" PRId64
            ",\n  \"capacity\": %" PRIu64 ",\n  \"largest\": ",
            range.min, range.max, range.step, j->plan.request.capacity);
  if (a->largest == SIZE_MAX) {
    cli_print(output, "null");
  } else {
    print_json_point(a, a->largest, output);
  }
  cli_print(output, ",\n  \"larger\": [");
  for (size_t point = first_larger(a); point < a->count; ++point) {
    cli_print(output, point == first_larger(a) ? "\n    " : ",\n    ");
    print_json_point(a, point, output);
  }
  cli_print(output, "\n  ]\n}\n");
}

// ---------------------------------------------------------------------------------------------

// Nothing fits: proven for all, or not.
static cli_exit code_of(const answer* a, const char* label) {
  if (a->largest != SIZE_MAX) {
    return CLI_YES;
  }
  for (size_t i = 0; i < a->count; ++i) {
    if (a->points[i].kind != STOW_FIT_NO) {
      return cli_fail(CLI_GAVE_UP, "%s: no value of the range was found to fit", label);
    }
  }
  return cli_fail(CLI_NO, "%s: no value of the range fits", label);
}

static cli_exit write_answer(const answer* a, const job* j) {
  cli_output output;
  cli_exit code = cli_output_open(&output, j->plan.request.output);
  if (code == CLI_YES) {
    if (j->json) {
      print_json(a, j, &output);
    } else {
      print_answer(a, j, &output);
    }
  }
  return cli_output_end(&output, code);
}

static cli_exit find(job* j, cli_formula* f) {
  CLI_TRY(cli_formula_make(f, &j->plan));
  answer a = {.formula = f->formula, .count = stow_formula_point_count(f->formula)};
  stow_diag diag = cli_diag();
  a.points = calloc(a.count, sizeof *a.points);
  if (a.points == NULL) {
    return cli_fail_memory();
  }
  stow_status status = stow_formula_fit(f->formula, j->plan.request.capacity, &f->options,
                                        stow_allocator_default(), &diag, a.points, &a.largest);
  cli_exit code = status == STOW_OK    ? write_answer(&a, j)
                  : f->code != CLI_YES ? f->code
                                       : cli_fail_diag(status, &diag);
  code = code == CLI_YES ? code_of(&a, j->plan.source.label) : code;
  free(a.points);
  return code;
}

static cli_exit run_job(job* j) {
  if (j->plan.request.capacity == STOW_NO_CAPACITY) {
    return cli_fail(CLI_USAGE, "give --capacity SIZE, what there is room for");
  }
  CLI_TRY(cli_plan_request_check(&j->plan.request));
  j->plan.takes_ranges = true;
  cli_formula f = {0};
  cli_exit code = cli_plan_job_make(&j->plan);
  if (code == CLI_YES && j->plan.plan != NULL) {
    code = cli_fail(CLI_USAGE,
                    "every symbol has one value; give one a range, such as --bind NAME=1..512");
  }
  size_t ranges = 0;
  for (size_t i = 0; code == CLI_YES && i < j->plan.request.model.binds.list.count; ++i) {
    const cli_bind* bind = (const cli_bind*)j->plan.request.model.binds.list.items + i;
    ranges += bind->range.min != bind->range.max ? 1 : 0;
  }
  if (code == CLI_YES && ranges > 1) {
    code = cli_fail(CLI_USAGE, "--bind: %zu symbols have ranges; give all but one a value", ranges);
  }
  code = code == CLI_YES ? find(j, &f) : code;
  cli_formula_free(&f);
  cli_plan_job_close(&j->plan);
  return code;
}

static cli_exit run_fit(int argc, char** argv) {
  job j = {.plan.request = {.capacity = STOW_NO_CAPACITY}};
  cli_arguments arguments;
  j.plan.request.model.binds.takes_unknown = true;
  cli_exit code = cli_parse(&cli_fit_command, argc, argv, handle, &j, &arguments);
  if (code == CLI_YES && !arguments.help) {
    j.plan.request.files = arguments.operands;
    j.plan.request.file_count = 1;
    code = run_job(&j);
  }
  cli_plan_request_free(&j.plan.request);
  return code;
}

static void print_more(cli_output* output) {
  cli_print(output,
            "One symbol of --bind has a range, NAME=MIN..MAX or MIN..MAX/STEP, or NAME=?,\n"
            "which is 1..1024. The largest of its values that fits is shown, and why larger\n"
            "ones do not. Exit status: 0 if a value fits, 1 if it is proven that none does, 4\n"
            "if none was found.\n");
}

static const cli_refusal without[] = {{"format", "see --json"},
                                      {"c-prefix", "nothing is written as C"},
                                      {"explain", "see stowage plan"},
                                      {"hints", "see stowage plan"},
                                      {NULL, NULL}};

const cli_command cli_fit_command = {
    .name = "fit",
    .summary = "Finds the largest shape that fits into a capacity",
    .operand_count = 1,
    .required_operands = 1,
    .operands = {"FILE"},
    .option_count = sizeof fit_options / sizeof fit_options[0],
    .options = fit_options,
    .also = &cli_plan_command,
    .without = without,
    .more_help = print_more,
    .run = run_fit,
};
