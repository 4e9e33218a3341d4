// Solutions. First how high the arena is and how good that is; then, where nothing fits, the
// buffers that are the reason, largest first: one of them must shrink, move or live shorter.
#include "solve/solution.h"

#include <inttypes.h>
#include <string.h>

#include "files/file.h"
#include "graphs/info.h"
#include "plan/start.h"
#include "report/api.h"
#include "terminal/table.h"

#define REASON_ROWS 12  // shown to people; programs get them all

// ---------------------------------------------------------------------------------------------
// For people

static size_t count_fixed(const stow_problem* problem) {
  size_t fixed = 0;
  for (size_t i = 0; i < stow_problem_count(problem); ++i) {
    stow_buffer desc = {.struct_size = sizeof(desc)};
    stow_problem_describe_buffer(problem, i, &desc);
    fixed += desc.fixed_offset != STOW_PLACE_ANYWHERE;
  }
  return fixed;
}

static void print_title(const cli_solution* solution, cli_output* output) {
  char label[512];
  size_t count = stow_problem_count(solution->problem);
  size_t fixed = count_fixed(solution->problem);
  stowi_report_escape(stow_str_of(solution->label), label, sizeof label);
  cli_print(output, "%s%s%s\n  %zu buffer%s", cli_paint_start(output, CLI_BOLD), label,
            cli_paint_stop(output), count, cli_plural(count));
  if (fixed > 1 && fixed == count) {
    cli_print(output, ", all at fixed offsets");
  } else if (fixed > 0) {
    cli_print(output, ", %zu at %s", fixed, fixed == 1 ? "a fixed offset" : "fixed offsets");
  }
  cli_print(output, "\n\n");
}

static void print_sizes(const cli_solution* solution, cli_output* output) {
  uint64_t height = stow_placement_height(solution->placement);
  uint64_t bound = cli_placement_info(solution->placement).bound;
  cli_print_size(output, "height", height);
  cli_print(output, "\n");
  cli_print_size(output, "lower bound", bound);
  cli_print_gap(output, height, bound);
  cli_print_size(output, "peak load", solution->load.bytes);
  cli_print(output, "   at step %" PRIu64 "\n", solution->load.step);
  if (solution->capacity != STOW_PLACE_SMALLEST) {
    cli_print_capacity(output, solution->capacity, height);
  }
  if (solution->moves.started) {
    cli_print_moves(output, &solution->moves);
  }
  cli_print_outcome(output, &solution->facts);
  cli_print(output, "  %-15s %s\n", "strategy", solution->strategy->name);
  cli_print_search(output, &solution->facts);
  if (solution->stats) {
    char time[STOWI_REPORT_NUMBER];
    char rate[STOWI_REPORT_NUMBER];
    stowi_report_duration(solution->elapsed, time);
    cli_print(output, "  %-15s %s", "time", time);
    if (solution->facts.nodes > 0) {
      stowi_report_count(stowi_report_rate(solution->facts.nodes, solution->elapsed), rate);
      cli_print(output, ", %s nodes/s", rate);
    }
    cli_print(output, "\n");
  }
  cli_print(output, "  %-15s %syes%s: offsets and alignments proven\n", "checked",
            cli_paint_start(output, CLI_GOOD), cli_paint_stop(output));
}

enum { COL_ID, COL_STEPS, COL_BYTES, COL_SIZE, COL_SHARE, COL_COUNT };
static const cli_column reason_columns[COL_COUNT] = {{"id", false, CLI_FLEXIBLE},
                                                     {"steps", true, CLI_FIXED},
                                                     {"bytes", true, CLI_FIXED},
                                                     {"size", true, CLI_FIXED},
                                                     {"capacity", true, CLI_FIXED}};

static void add_sizes(const cli_solution* solution, uint64_t bytes, char (*row)[CLI_CELL_SIZE]) {
  snprintf(row[COL_BYTES], CLI_CELL_SIZE, "%" PRIu64, bytes);
  stowi_report_size(bytes, row[COL_SIZE]);
  if (solution->capacity == 0) {
    snprintf(row[COL_SHARE], CLI_CELL_SIZE, "-");
  } else {
    stowi_report_percent(bytes, solution->capacity, row[COL_SHARE]);
  }
}

static uint64_t size_of(const cli_solution* solution, size_t member) {
  stow_buffer desc = {.struct_size = sizeof(desc)};
  stow_problem_describe_buffer(solution->problem, solution->reason->set.buffers[member], &desc);
  return desc.size;
}

// The members that come first by size, then in order: |count| of them.
static void pick_largest(const cli_solution* solution, size_t* members, size_t count) {
  size_t used = 0;
  for (size_t i = 0; i < solution->reason->set.count; ++i) {
    size_t at = used < count ? used++ : count;
    while (at > 0 && size_of(solution, members[at - 1]) < size_of(solution, i)) {
      if (at < count) {
        members[at] = members[at - 1];
      }
      --at;
    }
    if (at < count) {
      members[at] = i;
    }
  }
}

static uint64_t add_member(const cli_solution* solution, size_t member, cli_table* table) {
  char(*row)[CLI_CELL_SIZE] = table->cells[table->row_count++];
  size_t buffer = solution->reason->set.buffers[member];
  stow_buffer desc = {.struct_size = sizeof(desc)};
  stow_problem_describe_buffer(solution->problem, buffer, &desc);
  stowi_report_escape(stow_csv_id(solution->csv, buffer), row[COL_ID], CLI_CELL_SIZE - 2);
  snprintf(row[COL_STEPS], CLI_CELL_SIZE, "%" PRIu64 "-%" PRIu64, desc.begin, desc.end - 1);
  add_sizes(solution, desc.size, row);
  return desc.size;
}

static void print_members(const cli_solution* solution, cli_output* output) {
  size_t count = solution->reason->set.count;
  size_t shown = count > REASON_ROWS ? REASON_ROWS : count;
  size_t members[REASON_ROWS];
  cli_table table = {.columns = reason_columns, .column_count = COL_COUNT};
  uint64_t rest = solution->reason->bytes;
  pick_largest(solution, members, shown);
  for (size_t i = 0; i < shown; ++i) {
    rest -= add_member(solution, members[i], &table);
  }
  if (count > shown) {
    char(*row)[CLI_CELL_SIZE] = table.cells[table.row_count++];
    snprintf(row[COL_ID], CLI_CELL_SIZE, "\xE2\x80\xA6 and %zu more", count - shown);
    add_sizes(solution, rest, row);
  }
  if (count > 1) {
    char(*row)[CLI_CELL_SIZE] = table.cells[table.row_count++];
    snprintf(row[COL_ID], CLI_CELL_SIZE, "sum");
    add_sizes(solution, solution->reason->bytes, row);
  }
  cli_table_print(&table, 2, output);
}

// Whether a buffer outside the set is at a fixed place: it is in the way all the same.
static bool is_hemmed_in(const cli_solution* solution) {
  const stow_explanation* set = &solution->reason->set;
  size_t fixed = count_fixed(solution->problem);
  for (size_t i = 0; i < set->count; ++i) {
    stow_buffer desc = {.struct_size = sizeof(desc)};
    stow_problem_describe_buffer(solution->problem, set->buffers[i], &desc);
    fixed -= desc.fixed_offset != STOW_PLACE_ANYWHERE;
  }
  return fixed > 0;
}

// Whether some of the set cannot lie anywhere, only at multiples.
static bool is_aligned(const cli_solution* solution) {
  const stow_explanation* set = &solution->reason->set;
  for (size_t i = 0; i < set->count; ++i) {
    stow_buffer desc = {.struct_size = sizeof(desc)};
    stow_problem_describe_buffer(solution->problem, set->buffers[i], &desc);
    if (desc.alignment > 1) {
      return true;
    }
  }
  return false;
}

static void print_load(const cli_solution* solution, cli_output* output) {
  const cli_reason* reason = solution->reason;
  if (reason->load.bytes == reason->bytes) {
    cli_print(output, "All of them are live at step %" PRIu64 ".\n", reason->load.step);
  } else {
    cli_print(output, "At most %" PRIu64 " B of them are live at once, at step %" PRIu64 ".\n",
              reason->load.bytes, reason->load.step);
  }
}

// Why the sum alone does not tell it, where it does not.
static void print_twist(const cli_solution* solution, cli_output* output) {
  const cli_reason* reason = solution->reason;
  if (reason->load.bytes > solution->capacity) {
    return;
  }
  if (reason->load.lower_bound > solution->capacity) {
    cli_print(output, "With alignments and fixed offsets that takes at least %" PRIu64 " B.\n",
              reason->load.lower_bound);
  } else if (is_hemmed_in(solution)) {
    cli_print(output, "That would fit, but not around the buffers at fixed offsets.\n");
  } else {
    cli_print(output, "That would fit, but no arrangement of them over all steps%s does.\n",
              is_aligned(solution) ? ", with alignments," : "");
  }
}

static void print_reason(const cli_solution* solution, cli_output* output) {
  const cli_reason* reason = solution->reason;
  bool is_one = reason->set.count == 1;
  cli_print(output, "\n%swhy%s: %s not fit in %" PRIu64 " B%s\n", cli_paint_start(output, CLI_BOLD),
            cli_paint_stop(output), is_one ? "this buffer does" : "these buffers do",
            solution->capacity, is_one ? "" : " together");
  print_members(solution, output);
  if (is_one && reason->load.bytes > solution->capacity) {
    return;  // too large: there is no more to it
  }
  cli_print(output, "\n");
  if (!is_one) {
    print_load(solution, output);
  }
  print_twist(solution, output);
  if (!reason->set.irreducible) {
    cli_print(output, "The search ended before the set was minimal.\n");
  } else if (!is_one) {
    cli_print(output, "Without any one of them the others fit.\n");
  }
}

void cli_solution_print(const cli_solution* solution, cli_output* output) {
  print_title(solution, output);
  print_sizes(solution, output);
  if (solution->reason->set.count > 0) {
    print_reason(solution, output);
  } else if (solution->reason->gave_up) {
    cli_print(output, "\nwhy: not found within the budget\n");
  }
}

// ---------------------------------------------------------------------------------------------
// For tables

// The file's name without folder and ending. A backslash takes its meaning from whatever Markdown
// would read as more than text, and ends no cell.
static void print_instance(const cli_solution* solution, cli_output* output) {
  char name[512];
  const char* base = cli_base_name(solution->label);
  size_t size = strlen(base);
  size -= size > 4 && cli_ends_with(base, ".csv") ? 4 : 0;
  stowi_report_escape((stow_str){base, size}, name, sizeof name);
  for (const char* at = name; *at != '\0'; ++at) {
    cli_print(output, strchr("\\|`*<[&", *at) != NULL ? "\\%c" : "%c", *at);
  }
}

void cli_solution_print_row(const cli_solution* solution, bool is_first, cli_output* output) {
  uint64_t height = stow_placement_height(solution->placement);
  uint64_t bound = cli_placement_info(solution->placement).bound;
  char above[STOWI_REPORT_NUMBER];
  if (is_first) {
    cli_print(output,
              "| instance | buffers | load | bound | height | %% above | outcome | nodes |%s\n"
              "| --- | ---: | ---: | ---: | ---: | ---: | --- | ---: |%s\n",
              solution->stats ? " seconds |" : "", solution->stats ? " ---: |" : "");
  }
  stowi_report_gap(height > bound ? height - bound : 0, bound, above);
  cli_print(output, "| ");
  print_instance(solution, output);
  cli_print(output, " | %zu | %" PRIu64 " | %" PRIu64 " | %" PRIu64 " | %.*s | %s | %" PRIu64 " |",
            stow_problem_count(solution->problem), solution->load.bytes, bound, height,
            (int)strcspn(above, " "), above, stow_outcome_text(solution->facts.outcome),
            solution->facts.nodes);
  if (solution->stats) {
    cli_print(output, " %" PRIu64 ".%03" PRIu64 " |", solution->elapsed / 1000000,
              solution->elapsed / 1000 % 1000);
  }
  cli_print(output, "\n");
}

// ---------------------------------------------------------------------------------------------
// For programs

static void print_json_numbers(const cli_solution* solution, cli_output* output) {
  uint64_t height = stow_placement_height(solution->placement);
  uint64_t bound = cli_placement_info(solution->placement).bound;
  cli_print(output, "  \"height\": %" PRIu64 ",\n  \"lower_bound\": %" PRIu64 ",\n", height, bound);
  cli_print(output, "  \"gap\": %" PRIu64 ",\n", height > bound ? height - bound : 0);
  cli_print(output, "  \"peak_load\": %" PRIu64 ",\n  \"peak_step\": %" PRIu64 ",\n",
            solution->load.bytes, solution->load.step);
  if (solution->capacity == STOW_PLACE_SMALLEST) {
    cli_print(output, "  \"capacity\": null,\n");
  } else {
    cli_print(output, "  \"capacity\": %" PRIu64 ",\n", solution->capacity);
  }
}

static void print_json_search(const cli_solution* solution, cli_output* output) {
  const cli_search_facts* facts = &solution->facts;
  cli_print(output, "  \"strategy\": \"%s\",\n  \"nodes\": %" PRIu64 ",\n",
            solution->strategy->name, facts->nodes);
  if (facts->stopped_by == NULL) {
    cli_print(output, "  \"stopped_by\": null,\n");
  } else {
    cli_print(output, "  \"stopped_by\": \"%s\",\n", facts->stopped_by);
  }
  cli_print(output, "  \"budget_spent\": %s,\n", cli_is_budget_spent(facts) ? "true" : "false");
  if (solution->stats) {
    cli_print(output,
              "  \"seconds\": %" PRIu64 ".%06" PRIu64 ",\n  \"nodes_per_second\": %" PRIu64 ",\n",
              solution->elapsed / 1000000, solution->elapsed % 1000000,
              stowi_report_rate(facts->nodes, solution->elapsed));
  }
}

static void print_json_start(const cli_solution* solution, cli_output* output) {
  if (solution->moves.started) {
    cli_print_json_moves(output, &solution->moves);
  }
}

static void print_json_reason(const cli_solution* solution, cli_output* output) {
  const cli_reason* reason = solution->reason;
  if (reason->set.count == 0) {
    cli_print(output, "  \"explanation\": null,\n");
    return;
  }
  cli_print(output,
            "  \"explanation\": {\"irreducible\": %s, \"bytes\": %" PRIu64
            ", \"peak_load\": %" PRIu64 ", \"peak_step\": %" PRIu64 ", \"buffers\": [",
            reason->set.irreducible ? "true" : "false", reason->bytes, reason->load.bytes,
            reason->load.step);
  for (size_t i = 0; i < reason->set.count; ++i) {
    stow_buffer desc = {.struct_size = sizeof(desc)};
    stow_problem_describe_buffer(solution->problem, reason->set.buffers[i], &desc);
    cli_print(output, "%s\n    {\"id\": ", i == 0 ? "" : ",");
    cli_print_json(output, stow_csv_id(solution->csv, reason->set.buffers[i]));
    cli_print(output, ", \"lower\": %" PRIu64 ", \"upper\": %" PRIu64 ", \"size\": %" PRIu64 "}",
              desc.begin, desc.end, desc.size);
  }
  cli_print(output, "\n  ]},\n");
}

static void print_json_placement(const cli_solution* solution, cli_output* output) {
  size_t count = stow_problem_count(solution->problem);
  cli_print(output, "  \"placement\": [");
  for (size_t i = 0; i < count; ++i) {
    cli_print(output, "%s\n    {\"id\": ", i == 0 ? "" : ",");
    cli_print_json(output, stow_csv_id(solution->csv, i));
    cli_print(output, ", \"offset\": %" PRIu64 "}", stow_placement_offset(solution->placement, i));
  }
  cli_print(output, "%s]\n", count == 0 ? "" : "\n  ");
}

void cli_solution_print_json(const cli_solution* solution, cli_output* output) {
  cli_print(output, "{\n  \"stowage_solve\": 1,\n  \"file\": ");
  cli_print_json(output, stow_str_of(solution->label));
  cli_print(output, ",\n  \"buffers\": %zu,\n  \"outcome\": \"%s\",\n",
            stow_problem_count(solution->problem), stow_outcome_text(solution->facts.outcome));
  print_json_numbers(solution, output);
  print_json_search(solution, output);
  print_json_start(solution, output);
  print_json_reason(solution, output);
  print_json_placement(solution, output);
  cli_print(output, "}\n");
}
