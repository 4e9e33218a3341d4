// Starts come from CSV, which has the names of buffers. A saved plan has none: its graph has them,
// so it must be of the graph that is planned.
#include "plan/start.h"

#include "files/file.h"
#include "plan/layout.h"
#include "terminal/lines.h"

static cli_exit fail_plan(const char* label, stow_status status, const stow_diag* diag) {
  if (status == STOW_ERR_STALE_PLAN) {
    return cli_fail(CLI_BAD_INPUT,
                    "--start: %s is a saved plan of another graph, and has no names; use one "
                    "written with --format csv",
                    label);
  }
  return cli_fail_at(label, status, diag);
}

static cli_exit read_plan(const stow_string* text, const char* label, const stow_graph* graph,
                          stow_start** out_start) {
  stow_plan* plan = NULL;
  stow_diag diag = cli_diag();
  stow_allocator allocator = stow_allocator_default();
  stow_status status =
      graph == NULL ? STOW_ERR_STALE_PLAN
                    : stow_plan_read(text->data, text->size, NULL, graph, allocator, &diag, &plan);
  if (status == STOW_OK) {
    status = stow_start_from_plan(plan, allocator, &diag, out_start);
  }
  stow_plan_destroy(plan);
  return status == STOW_OK ? CLI_YES : fail_plan(label, status, &diag);
}

static bool has_offsets(const stow_problem* problem) {
  size_t count = stow_problem_count(problem);
  for (size_t i = 0; i < count; ++i) {
    stow_buffer desc = {.struct_size = sizeof(desc)};
    stow_problem_describe_buffer(problem, i, &desc);
    if (desc.fixed_offset != STOW_PLACE_ANYWHERE) {
      return true;
    }
  }
  return count == 0;
}

static cli_exit read_csv(const stow_string* text, const char* label, stow_start** out_start) {
  stow_csv* csv = NULL;
  stow_diag diag = cli_diag();
  stow_str content = {text->data == NULL ? "" : text->data, text->size};
  stow_allocator allocator = stow_allocator_default();
  stow_status status = stow_csv_read(content, allocator, &diag, &csv);
  cli_exit code = status == STOW_OK ? CLI_YES : cli_fail_at(label, status, &diag);
  if (code == CLI_YES && !has_offsets(stow_csv_problem(csv))) {
    code = cli_fail(CLI_BAD_INPUT,
                    "--start: %s has no offsets; expected a plan or placement as CSV", label);
  }
  if (code == CLI_YES) {
    status = stow_start_from_csv(csv, allocator, &diag, out_start);
    code = status == STOW_OK ? CLI_YES : cli_fail_at(label, status, &diag);
  }
  stow_csv_destroy(csv);
  return code;
}

cli_exit cli_start_read(const char* path, const stow_graph* graph, stow_start** out_start) {
  const char* label = cli_file_label(path);
  stow_string text = cli_string();
  cli_exit code = cli_text_read(path, &text);
  if (code == CLI_YES && cli_plan_text_is_plan(&text)) {
    code = read_plan(&text, label, graph, out_start);
  } else if (code == CLI_YES) {
    code = read_csv(&text, label, out_start);
  }
  stow_string_free(&text);
  return code;
}

void cli_print_moves(cli_output* output, const stow_moves* moves) {
  size_t matched = moves->kept + moves->moved;
  size_t count = matched + moves->added;
  cli_print(output, "  %-15s ", "start");
  if (matched == 0) {
    cli_print(output, "no buffer matched, %zu new\n", moves->added);
    return;
  }
  cli_print(output, "%zu of %zu buffer%s matched: %zu kept, %zu moved", matched, count,
            cli_plural(count), moves->kept, moves->moved);
  cli_print(output, moves->added > 0 ? "; %zu new\n" : "\n", moves->added);
}

void cli_print_json_moves(cli_output* output, const stow_moves* moves) {
  cli_print(output,
            "  \"start\": {\"matched\": %zu, \"kept\": %zu, \"moved\": %zu, \"new\": %zu},\n",
            moves->kept + moves->moved, moves->kept, moves->moved, moves->added);
}
