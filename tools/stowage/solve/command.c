// `stowage solve`: read buffers from a CSV, place them, prove the placement, write it, one file
// after the other. Where nothing fits, find out why. What is written has been proven by the
// checker.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "arguments/list.h"
#include "arguments/number.h"
#include "arguments/options.h"
#include "arguments/search.h"
#include "exec/threads/pool.h"
#include "files/file.h"
#include "files/output.h"
#include "graphs/info.h"
#include "plan/start.h"
#include "solve/certificate.h"
#include "solve/solution.h"

// A search here is the whole purpose, so it may spend more than one that a plan is made with.
#define USUAL_NODES 20000000

enum {
  OPT_CAPACITY,
  OPT_CERTIFICATE,
  OPT_FORMAT,
  OPT_IGNORE_OFFSETS,
  OPT_NODES,
  OPT_NO_EXPLAIN,
  OPT_OUTPUT,
  OPT_START,
  OPT_THREADS,
  OPT_STATS,
  OPT_STRATEGY,
  OPT_TIME
};

static const cli_option solve_options[] = {
    {OPT_CAPACITY, 0, "capacity", "SIZE",
     "search for a placement within SIZE, or a proof that\nthere is none; by default for the "
     "lowest"},
    {OPT_OUTPUT, 'o', "output", "OUT",
     "write the rows with their offsets to OUT, which is\nreplaced only on success"},
    {OPT_FORMAT, 0, "format", "NAME", "what to print: summary (the default), markdown,\njson, csv"},
    {OPT_CERTIFICATE, 0, "certificate", "OUT", "write what proves the lower bound to OUT, as JSON"},
    {OPT_STRATEGY, 0, "strategy", "NAME", "how buffers are placed (see below)"},
    {OPT_NODES, 0, "nodes", "N",
     "the node budget of the search: 100k, 5M, unlimited;\nby default 20M, unless --time is given"},
    {OPT_TIME, 0, "time", "DURATION", "end the search after 500ms, 10s, 2m, 1.5h"},
    {OPT_THREADS, 0, "threads", "N", "threads that search; by default 1"},
    {OPT_START, 0, "start", "FILE",
     "start from an earlier placement: a CSV file with\noffsets, which buffers keep if they can"},
    {OPT_IGNORE_OFFSETS, 0, "ignore-offsets", NULL,
     "place all buffers again, including those with an\noffset"},
    {OPT_NO_EXPLAIN, 0, "no-explain", NULL, "if nothing fits, do not search for the reason"},
    {OPT_STATS, 0, "stats", NULL, "show time and nodes per second, also in files"},
};

typedef enum format {
  FORMAT_SUMMARY,
  FORMAT_MARKDOWN,
  FORMAT_JSON,
  FORMAT_CSV,
  FORMAT_COUNT
} format;
static const char* const format_names[] = {"summary", "markdown", "json", "csv"};

typedef struct job {
  // What was asked for.
  const char* file;
  size_t number;            // of the file, from 0
  cli_output* print;        // standard output
  const char* output;       // NULL: none
  const char* certificate;  // NULL: none
  const char* start;        // NULL: none
  uint32_t threads;         // 0: the same as 1
  bool has_format;
  format format;
  uint64_t capacity;
  const stow_strategy* strategy;
  cli_budget budget;
  bool ignore_offsets;
  bool no_explain;
  bool stats;
  // What a run owns.
  stow_string text;
  stow_csv* csv;
  stow_problem* loose;          // the same buffers without fixed offsets; NULL: not asked for
  const stow_problem* problem;  // one of these two
  cli_list starts;              // of uint64_t: earlier offsets of the buffers; empty: none
  stow_load load;
  stow_placement* placement;
  cli_reason reason;
  cli_search search;
} job;

// ---------------------------------------------------------------------------------------------
// The command line

static cli_exit read_format(job* j, const char* value) {
  size_t found;
  CLI_TRY(cli_read_word("format", value, format_names, FORMAT_COUNT, &found));
  j->has_format = true;
  j->format = (format)found;
  return CLI_YES;
}

static cli_exit handle(void* user, const cli_option* option, const char* value) {
  job* j = user;
  switch (option->id) {
    case OPT_CAPACITY: return cli_parse_capacity(value, &j->capacity);
    case OPT_CERTIFICATE: return cli_set_text(&j->certificate, value);
    case OPT_FORMAT: return read_format(j, value);
    case OPT_IGNORE_OFFSETS: return cli_set_switch(&j->ignore_offsets);
    case OPT_NODES: return cli_budget_read_nodes(&j->budget, value);
    case OPT_NO_EXPLAIN: return cli_set_switch(&j->no_explain);
    case OPT_START: return cli_set_text(&j->start, value);
    case OPT_STATS: return cli_set_switch(&j->stats);
    case OPT_STRATEGY: return cli_read_strategy(value, &j->strategy);
    case OPT_THREADS: return cli_parse_threads(value, &j->threads);
    case OPT_TIME: return cli_budget_read_time(&j->budget, value);
    default: j->output = value; return CLI_YES;
  }
}

// `-o -` is standard output, which then has no room for anything else.
static cli_exit check_output(job* j) {
  if (j->output == NULL) {
    return CLI_YES;
  }
  if (cli_is_stdin(j->output) && j->has_format && j->format != FORMAT_CSV) {
    return cli_fail(CLI_USAGE, "--output - and --format %s both write to standard output",
                    format_names[j->format]);
  }
  if (cli_is_stdin(j->output)) {
    j->format = FORMAT_CSV;
    j->output = NULL;
    return CLI_YES;
  }
  static const cli_ending others[] = {{".json", "json"}, {".md", "markdown"}};
  const cli_ending* other = cli_find_ending(j->output, others, 2);
  if (other != NULL) {
    return cli_fail(CLI_USAGE,
                    "--output: '%s' would contain CSV; use --format %s on standard output",
                    j->output, other->format);
  }
  return cli_same_file(j->file, j->output)
             ? cli_fail(CLI_USAGE, "--output: '%s' is the input file", j->output)
             : CLI_YES;
}

static cli_exit check_certificate(const job* j) {
  const char* path = j->certificate;
  if (path == NULL) {
    return CLI_YES;
  }
  if (cli_is_stdin(path)) {
    return cli_fail(CLI_USAGE, "--certificate: expected a file; standard output has the %s",
                    format_names[j->format]);
  }
  if (j->output != NULL && (strcmp(path, j->output) == 0 || cli_same_file(path, j->output))) {
    return cli_fail(CLI_USAGE, "--certificate and --output both write '%s'", path);
  }
  return cli_same_file(j->file, path)
             ? cli_fail(CLI_USAGE, "--certificate: '%s' is the input file", path)
             : CLI_YES;
}

static cli_exit check_together(job* j, const cli_arguments* arguments) {
  j->file = arguments->operands[0];
  if (j->start != NULL && cli_is_stdin(j->start) && cli_is_stdin(j->file)) {
    return cli_fail(CLI_USAGE, "FILE and --start cannot both be standard input");
  }
  CLI_TRY(check_output(j));
  CLI_TRY(check_certificate(j));
  if (arguments->operand_count == 1) {
    return CLI_YES;
  }
  const char* alone = j->output != NULL        ? "output"
                      : j->certificate != NULL ? "certificate"
                      : j->start != NULL       ? "start"
                                               : NULL;
  if (alone != NULL) {
    return cli_fail(CLI_USAGE, "--%s takes one FILE, not %zu", alone, arguments->operand_count);
  }
  if (j->format == FORMAT_JSON || j->format == FORMAT_CSV) {
    return cli_fail(CLI_USAGE,
                    "--format %s takes one FILE, not %zu; summary and markdown take several",
                    format_names[j->format], arguments->operand_count);
  }
  return cli_check_files((const char* const*)arguments->operands, arguments->operand_count, NULL);
}

// ---------------------------------------------------------------------------------------------
// Reading

static void note_other_columns(const job* j) {
  char names[1024] = "";
  size_t used = 0;
  size_t count = stow_csv_other_count(j->csv);
  for (size_t i = 0; i < count && used < sizeof names; ++i) {
    stow_str name = stow_csv_other(j->csv, i);
    name = name.size > 0 ? name : stow_str_of("(no name)");
    int width = name.size > 200 ? 200 : (int)name.size;
    int size =
        snprintf(names + used, sizeof names - used, "%s%.*s", i == 0 ? "" : ", ", width, name.data);
    used += size > 0 ? (size_t)size : 0;
  }
  if (count > 0) {
    cli_note("%s: ignored column%s: %s", cli_file_label(j->file), cli_plural(count), names);
  }
}

// Appends |buffer| of |from|, with its windows.
static stow_status copy_buffer(const stow_problem* from, size_t buffer, bool keep_offset,
                               stow_problem* to, stow_diag* diag) {
  stow_buffer desc = {.struct_size = sizeof(desc)};
  size_t added;
  stow_problem_describe_buffer(from, buffer, &desc);
  desc.fixed_offset = keep_offset ? desc.fixed_offset : STOW_PLACE_ANYWHERE;
  stow_status status = stow_problem_add(to, &desc, diag, &added);
  for (size_t i = 0; i < stow_problem_window_count(from, buffer) && status == STOW_OK; ++i) {
    stow_window_desc window = {.struct_size = sizeof(window)};
    stow_problem_describe_window(from, buffer, i, &window);
    status = stow_problem_add_window(to, &window, diag);
  }
  return status;
}

static stow_status ignore_offsets(job* j, stow_diag* diag) {
  const stow_problem* fixed = stow_csv_problem(j->csv);
  stow_status status = stow_problem_create(stow_allocator_default(), diag, &j->loose);
  for (size_t i = 0; i < stow_problem_count(fixed) && status == STOW_OK; ++i) {
    status = copy_buffer(fixed, i, false, j->loose, diag);
  }
  j->problem = j->loose;
  return status;
}

static cli_exit read_problem(job* j) {
  CLI_TRY(cli_text_read(j->file, &j->text));
  stow_diag diag = cli_diag();
  stow_str text = {j->text.data == NULL ? "" : j->text.data, j->text.size};
  stow_status status = stow_csv_read(text, stow_allocator_default(), &diag, &j->csv);
  if (status == STOW_OK) {
    note_other_columns(j);
    j->problem = stow_csv_problem(j->csv);
    status = j->ignore_offsets ? ignore_offsets(j, &diag) : STOW_OK;
  }
  if (status == STOW_OK) {
    j->load.struct_size = sizeof(j->load);
    status = stow_problem_load(j->problem, stow_allocator_default(), &diag, &j->load);
  }
  return status == STOW_OK ? CLI_YES : cli_fail_at(cli_file_label(j->file), status, &diag);
}

static cli_exit match_start(job* j, const stow_start* start, const stow_start* now) {
  uint64_t unknown = STOW_PLACE_ANYWHERE;
  for (size_t i = 0; i < stow_start_count(now); ++i) {
    if (!cli_list_add(&j->starts, &unknown, sizeof unknown)) {
      return cli_fail_memory();
    }
  }
  stow_diag diag = cli_diag();
  stow_status status =
      stow_start_match(start, now, stow_allocator_default(), &diag, j->starts.items);
  return status == STOW_OK ? CLI_YES : cli_fail_diag(status, &diag);
}

static cli_exit read_start(job* j) {
  if (j->start == NULL) {
    return CLI_YES;
  }
  stow_start* start = NULL;
  stow_start* now = NULL;
  stow_diag diag = cli_diag();
  cli_exit code = cli_start_read(j->start, NULL, &start);
  if (code == CLI_YES) {
    stow_status status = stow_start_from_csv(j->csv, stow_allocator_default(), &diag, &now);
    code = status == STOW_OK ? match_start(j, start, now) : cli_fail_diag(status, &diag);
  }
  stow_start_destroy(now);
  stow_start_destroy(start);
  return code;
}

// ---------------------------------------------------------------------------------------------
// Placing

static stow_place_options place_options(job* j, cli_search* search) {
  stow_place_options options;
  stow_place_options_init(&options);
  options.capacity = j->capacity;
  options.nodes = cli_budget_nodes(&j->budget, USUAL_NODES);
  options.on_progress = cli_search_progress;
  options.user = search;
  options.start = j->starts.items;
  return options;
}

// `row 2, id `b`` of a buffer.
#define ROW_SIZE 192
static void format_row(const job* j, size_t buffer, char out[ROW_SIZE]) {
  stow_str id = stow_csv_id(j->csv, buffer);
  int width = id.size > 100 ? 100 : (int)id.size;
  snprintf(out, ROW_SIZE, "row %zu, id `%.*s`", buffer + 1, width, id.data);
}

static cli_exit fail_pair(const job* j, size_t a, size_t b, uint64_t step) {
  stow_buffer first = {.struct_size = sizeof(first)};
  stow_buffer second = {.struct_size = sizeof(second)};
  char first_row[ROW_SIZE];
  char second_row[ROW_SIZE];
  stow_problem_describe_buffer(j->problem, a < b ? a : b, &first);
  stow_problem_describe_buffer(j->problem, a < b ? b : a, &second);
  format_row(j, a < b ? a : b, first_row);
  format_row(j, a < b ? b : a, second_row);
  return cli_fail(CLI_BAD_INPUT,
                  "%s: %s, column `offset`: at %" PRIu64 " it overlaps %s, at %" PRIu64
                  ": both are live at step %" PRIu64,
                  cli_file_label(j->file), second_row, second.fixed_offset, first_row,
                  first.fixed_offset, step);
}

// The library tells fixed buffers that collide by number; whoever wrote the file knows rows and
// ids. The checker finds a pair when it is shown only what is fixed.
static cli_exit fail_conflict(const job* j, const stow_diag* told) {
  cli_list numbers = {0};
  cli_list offsets = {0};
  stow_problem* fixed = NULL;
  stow_placement_violation found = {.struct_size = sizeof(found), .fault = STOW_PLACEMENT_OK};
  stow_status status = stow_problem_create(stow_allocator_default(), NULL, &fixed);
  for (size_t i = 0; i < stow_problem_count(j->problem) && status == STOW_OK; ++i) {
    stow_buffer desc = {.struct_size = sizeof(desc)};
    stow_problem_describe_buffer(j->problem, i, &desc);
    if (desc.fixed_offset != STOW_PLACE_ANYWHERE) {
      status = copy_buffer(j->problem, i, true, fixed, NULL);
      bool added = cli_list_add(&numbers, &i, sizeof i) &&
                   cli_list_add(&offsets, &desc.fixed_offset, sizeof desc.fixed_offset);
      status = added ? status : STOW_ERR_OUT_OF_MEMORY;
    }
  }
  if (status == STOW_OK) {
    (void)stow_placement_check(fixed, offsets.items, offsets.count, UINT64_MAX,
                               stow_allocator_default(), NULL, &found);
  }
  const size_t* number = numbers.items;
  cli_exit code = found.fault == STOW_PLACEMENT_OVERLAP
                      ? fail_pair(j, number[found.first], number[found.second], found.step)
                      : cli_fail_at(cli_file_label(j->file), STOW_ERR_CONFLICT, told);
  stow_problem_destroy(fixed);
  cli_list_free(&numbers, sizeof(size_t));
  cli_list_free(&offsets, sizeof(uint64_t));
  return code;
}

static cli_exit place(job* j) {
  stow_place_options options = place_options(j, &j->search);
  stow_diag diag = cli_diag();
  stowi_exec_workers* workers = NULL;
  stow_status status = STOW_OK;
  if (j->threads > 1) {
    status = stowi_exec_workers_create(j->threads, stow_allocator_default(), &diag, &workers);
    options.splitter = (stow_splitter){stowi_exec_workers_split, workers};
    options.workers = j->threads;
  }
  cli_search_begin(&j->search, &j->budget, true);
  if (status == STOW_OK) {
    status =
        j->strategy->place(j->problem, &options, stow_allocator_default(), &diag, &j->placement);
  }
  cli_search_end(&j->search);
  stowi_exec_workers_destroy(workers);
  if (status == STOW_ERR_CONFLICT) {
    return fail_conflict(j, &diag);
  }
  return status == STOW_OK ? CLI_YES : cli_fail_at(cli_file_label(j->file), status, &diag);
}

static cli_exit prove(const job* j) {
  size_t count = cli_placement_info(j->placement).count;
  cli_list offsets = {0};
  for (size_t i = 0; i < count; ++i) {
    uint64_t offset = stow_placement_offset(j->placement, i);
    if (!cli_list_add(&offsets, &offset, sizeof offset)) {
      cli_list_free(&offsets, sizeof offset);
      return cli_fail_memory();
    }
  }
  stow_diag diag = cli_diag();
  stow_status status =
      stow_placement_check(j->problem, offsets.items, count, stow_placement_height(j->placement),
                           stow_allocator_default(), &diag, NULL);
  cli_list_free(&offsets, sizeof(uint64_t));
  if (status == STOW_ERR_VIOLATION) {
    return cli_fail(CLI_NO, "internal error: the placement is wrong: %s",
                    cli_diag_text(status, &diag));
  }
  return status == STOW_OK ? CLI_YES : cli_fail_diag(status, &diag);
}

// What the set of an explanation weighs, all together and at once.
static stow_status weigh_reason(job* j, stow_diag* diag) {
  stow_problem* part = NULL;
  stow_status status = stow_problem_create(stow_allocator_default(), diag, &part);
  for (size_t i = 0; i < j->reason.set.count && status == STOW_OK; ++i) {
    stow_buffer desc = {.struct_size = sizeof(desc)};
    stow_problem_describe_buffer(j->problem, j->reason.set.buffers[i], &desc);
    j->reason.bytes += desc.size;
    status = copy_buffer(j->problem, j->reason.set.buffers[i], true, part, diag);
  }
  if (status == STOW_OK) {
    j->reason.load.struct_size = sizeof(j->reason.load);
    status = stow_problem_load(part, stow_allocator_default(), diag, &j->reason.load);
  }
  stow_problem_destroy(part);
  return status;
}

// That the search for a reason gives up is no failure: the answer is known.
static cli_exit explain(job* j) {
  cli_search search;
  stow_place_options options = place_options(j, &search);
  stow_diag diag = cli_diag();
  cli_search_begin(&search, &j->budget, false);
  j->reason.set.struct_size = sizeof(j->reason.set);
  stow_status status =
      stow_place_explain(j->problem, &options, stow_allocator_default(), &diag, &j->reason.set);
  cli_search_end(&search);
  status = status == STOW_OK ? weigh_reason(j, &diag) : status;
  j->reason.gave_up = status == STOW_ERR_GAVE_UP;
  return status == STOW_OK || j->reason.gave_up
             ? CLI_YES
             : cli_fail_at(cli_file_label(j->file), status, &diag);
}

// ---------------------------------------------------------------------------------------------
// Writing

// Tabs and ends of lines belong to a CSV; a lone carriage return moves to the start of a line.
static bool is_control(const char* at, const char* end) {
  bool ends_line = *at == '\n' || (*at == '\r' && at + 1 < end && at[1] == '\n');
  return ((unsigned char)*at < ' ' && *at != '\t' && !ends_line) || *at == 0x7f;
}

static bool has_control(const stow_string* text) {
  for (const char *at = text->data, *end = at + text->size; at < end; ++at) {
    if (is_control(at, end)) {
      return true;
    }
  }
  return false;
}

// Passes a CSV on with control characters as \xHH and backslashes doubled, so that ids stay
// distinct.
static stow_status write_escaped(void* user, const char* data, size_t size) {
  const stow_writer* writer = user;
  const char* from = data;
  for (const char *at = data, *end = data + size; at < end; ++at) {
    if (*at != '\\' && !is_control(at, end)) {
      continue;
    }
    char escape[8];
    int length = snprintf(escape, sizeof escape, *at == '\\' ? "\\\\" : "\\x%02x", (unsigned)*at);
    stow_status status = writer->write(writer->user, from, (size_t)(at - from));
    status = status == STOW_OK ? writer->write(writer->user, escape, (size_t)length) : status;
    if (status != STOW_OK) {
      return status;
    }
    from = at + 1;
  }
  return writer->write(writer->user, from, (size_t)(data + size - from));
}

static cli_exit print_rows(const job* j, cli_output* output) {
  stow_diag diag = cli_diag();
  stow_writer plain = cli_output_writer(output);
  stow_writer writer = has_control(&j->text) ? (stow_writer){write_escaped, &plain} : plain;
  stow_status status = stow_csv_write(j->csv, j->placement, writer, &diag);
  return cli_output_reported(status, &diag);
}

static cli_exit write_rows(const job* j) {
  cli_output output;
  cli_exit code = cli_output_open(&output, j->output);
  return cli_output_end(&output, code == CLI_YES ? print_rows(j, &output) : code);
}

static stow_moves count_moves(const job* j) {
  stow_moves moves = {.started = j->start != NULL};
  const uint64_t* starts = j->starts.items;
  for (size_t i = 0; i < j->starts.count; ++i) {
    bool is_known = starts[i] != STOW_PLACE_ANYWHERE;
    bool is_kept = starts[i] == stow_placement_offset(j->placement, i);
    moves.kept += is_known && is_kept;
    moves.moved += is_known && !is_kept;
    moves.added += !is_known;
  }
  return moves;
}

static cli_solution describe(const job* j) {
  cli_solution solution = {.label = cli_file_label(j->file),
                           .csv = j->csv,
                           .problem = j->problem,
                           .load = j->load,
                           .strategy = j->strategy,
                           .capacity = j->capacity,
                           .placement = j->placement,
                           .reason = &j->reason,
                           .stats = j->stats,
                           .moves = count_moves(j),
                           .elapsed = j->search.elapsed};
  solution.facts = (cli_search_facts){
      .outcome = stow_placement_outcome(j->placement),
      .has_capacity = j->capacity != STOW_PLACE_SMALLEST,
      .nodes = cli_placement_info(j->placement).nodes,
      .budget = cli_budget_nodes(&j->budget, USUAL_NODES),
      .stopped_by = cli_placement_info(j->placement).stopped ? j->search.stopped_by : NULL};
  return solution;
}

// A write that failed is reported when the output is closed.
static cli_exit print_solution(const job* j) {
  cli_solution solution = describe(j);
  cli_exit code = CLI_YES;
  if (j->format == FORMAT_CSV) {
    code = print_rows(j, j->print);
  } else if (j->format == FORMAT_JSON) {
    cli_solution_print_json(&solution, j->print);
  } else if (j->format == FORMAT_MARKDOWN) {
    cli_solution_print_row(&solution, j->number == 0, j->print);
  } else {
    solution.stats = j->stats || isatty(STDOUT_FILENO);
    cli_print(j->print, j->number == 0 ? "" : "\n");
    cli_solution_print(&solution, j->print);
  }
  return cli_output_flush(j->print) ? code : CLI_BROKEN;
}

static cli_exit fail_capacity(const job* j) {
  uint64_t height = stow_placement_height(j->placement);
  uint64_t bound = cli_placement_info(j->placement).bound;
  const char* label = cli_file_label(j->file);
  if (stow_placement_outcome(j->placement) == STOW_OUTCOME_INFEASIBLE) {
    return cli_fail(
        CLI_NO, "%s: does not fit: %" PRIu64 " bytes available, but no placement is below %" PRIu64,
        label, j->capacity, bound);
  }
  return cli_fail(CLI_GAVE_UP,
                  "%s: gave up: %" PRIu64
                  " bytes available, the best placement found needs %" PRIu64
                  ", and none can be below %" PRIu64,
                  label, j->capacity, height, bound);
}

static cli_exit write_certificate(const job* j) {
  cli_solution solution = describe(j);
  return cli_certificate_write(&solution, j->ignore_offsets, j->certificate);
}

// A placement that does not fit is shown on standard output, but never replaces a file; the bound
// holds all the same. Files come first: a reader of standard output that goes away must not cost a
// long search.
static cli_exit write_result(const job* j) {
  bool fits = stow_placement_height(j->placement) <= j->capacity;
  cli_exit code = j->output != NULL && fits ? write_rows(j) : CLI_YES;
  code = code == CLI_YES && j->certificate != NULL ? write_certificate(j) : code;
  code = code == CLI_YES ? print_solution(j) : code;
  return code != CLI_YES || fits ? code : fail_capacity(j);
}

// ---------------------------------------------------------------------------------------------

static bool explains(const job* j) {
  bool prints_reasons = j->format == FORMAT_SUMMARY || j->format == FORMAT_JSON;
  return prints_reasons && !j->no_explain &&
         stow_placement_outcome(j->placement) == STOW_OUTCOME_INFEASIBLE;
}

static cli_exit run_job(job* j) {
  stow_string_init(&j->text, stow_allocator_default());
  cli_exit code = read_problem(j);
  code = code == CLI_YES ? read_start(j) : code;
  code = code == CLI_YES ? place(j) : code;
  code = code == CLI_YES ? prove(j) : code;
  code = code == CLI_YES && explains(j) ? explain(j) : code;
  code = code == CLI_YES ? write_result(j) : code;
  stow_explanation_free(&j->reason.set, stow_allocator_default());
  stow_placement_destroy(j->placement);
  cli_list_free(&j->starts, sizeof(uint64_t));
  stow_problem_destroy(j->loose);
  stow_csv_destroy(j->csv);
  stow_string_free(&j->text);
  return code;
}

// What several files come to: the first that cannot be solved ends the run; otherwise they do not
// fit if one of them does not, whatever is not known of the others.
static cli_exit run_jobs(const job* wanted, const cli_arguments* arguments) {
  cli_output output;
  cli_exit all = cli_output_open(&output, NULL);
  for (size_t i = 0; i < arguments->operand_count; ++i) {
    job j = *wanted;
    j.file = arguments->operands[i];
    j.number = i;
    j.print = &output;
    cli_exit code = run_job(&j);
    if (code != CLI_YES && code != CLI_NO && code != CLI_GAVE_UP) {
      all = code;
      break;
    }
    all = all == CLI_NO || code == CLI_YES ? all : code;
  }
  cli_exit closed = cli_output_close(&output, true);
  return closed != CLI_YES ? closed : all;
}

static cli_exit run_solve(int argc, char** argv) {
  job j = {.capacity = STOW_PLACE_SMALLEST, .strategy = stow_strategy_find(stow_str_of("auto"))};
  cli_arguments arguments;
  cli_exit code = cli_parse(&cli_solve_command, argc, argv, handle, &j, &arguments);
  if (code != CLI_YES || arguments.help) {
    return code;
  }
  CLI_TRY(check_together(&j, &arguments));
  return run_jobs(&j, &arguments);
}

static void print_more(cli_output* output) {
  cli_print_strategies(output);
  cli_print(output,
            "\n"
            "auto suits most problems. exact proves optimality where it can; first-fit,\n"
            "best-fit, portfolio, skyline and compact are quick passes; local-search, lns\n"
            "and beam improve on them until the budget ends. A node is one attempt to place a\n"
            "buffer.\n"
            "\n"
            "FILE has a line per buffer below a header: id, lower, upper, size, and\noptionally "
            "alignment, offset (fixed) and gaps. The buffer is live over the steps\nlower <= t < "
            "upper; with a column end instead of upper, lower <= t <= end.\n"
            "A SIZE is a number of bytes, or one with kB, MB, GB (1000) or KiB, MiB, GiB\n"
            "(1024).\n"
            "\n"
            "Several files are solved one after the other, each within the budget; summary\nand "
            "markdown, a table with a row per file, take them.\n"
            "\n"
            "Ctrl-C ends the search and keeps its best placement; a second one ends the\nprogram. "
            "Exit status: 0 if there is a placement (within the capacity), 1 if none\ncan be "
            "within the capacity, 4 if none was found; of several files 1 if that\nholds for one "
            "of them, else 4 likewise.\n");
}

const cli_command cli_solve_command = {
    .name = "solve",
    .summary = "Places the buffers of CSV files",
    .operand_count = CLI_ANY_NUMBER,
    .required_operands = 1,
    .operands = {"FILE"},
    .option_count = sizeof solve_options / sizeof solve_options[0],
    .options = solve_options,
    .more_help = print_more,
    .run = run_solve,
};
