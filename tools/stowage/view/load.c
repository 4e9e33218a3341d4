// Loading. A plan is made exactly as `stowage plan` makes it, or read as `stowage check` reads it;
// buffers are placed as `stowage solve` does. Nothing is drawn that has not been proven.
#include "load.h"

#include <stdio.h>
#include <string.h>

#include "file.h"
#include "make.h"

// ---------------------------------------------------------------------------------------------
// What a file holds

static bool ends_with(const char* text, const char* end) {
  size_t size = strlen(text);
  size_t end_size = strlen(end);
  return size >= end_size && strcmp(text + size - end_size, end) == 0;
}

cli_holds cli_file_holds(const char* path) {
  char start[1024] = "";
  FILE* file = cli_reads_once(path) || ends_with(path, ".onnx") ? NULL : fopen(path, "rb");
  if (file != NULL) {
    start[fread(start, 1, sizeof start - 1, file)] = '\0';
    fclose(file);
  }
  if (strncmp(start, "# stowage_plan=", 15) == 0) {
    return CLI_HOLDS_PLAN;
  }
  bool rows = ends_with(path, ".csv") || cli_is_csv(start);
  return rows ? CLI_HOLDS_BUFFERS : CLI_HOLDS_GRAPHS;
}

// ---------------------------------------------------------------------------------------------
// Plans

static cli_exit view_plan(const cli_plan_job* job, const stow_plan* plan, const char* label,
                          bool shared_params, cli_view* view) {
  return cli_view_from_plan(
      view, &(cli_view_plan){.label = label,
                             .origin = cli_source_is_model(&job->source) ? "model" : "graph",
                             .graph = job->graph,
                             .plan = plan,
                             .effects = job->effects,
                             .shared_params = shared_params});
}

static cli_exit load_saved(cli_view_load* load) {
  stow_string text;
  stow_string_init(&text, stow_allocator_default());
  const char* label = cli_file_label(load->plan);
  cli_exit code = cli_plan_text_read(load->plan, &text);
  if (code == CLI_YES) {
    code = cli_plan_job_find(&load->job, &text, label);
  }
  if (code == CLI_YES) {
    code = cli_plan_job_read(&load->job, &text, label, &load->job.plan);
  }
  bool shared = code == CLI_YES && cli_plan_text_shares_params(&text);
  stow_string_free(&text);
  return code == CLI_YES
             ? view_plan(&load->job, load->job.plan, load->job.source.label, shared, &load->view)
             : code;
}

static cli_exit load_made(cli_plan_job* job, cli_view* view) {
  cli_exit code = cli_plan_job_make(job);
  return code == CLI_YES ? view_plan(job, job->plan, job->source.label, job->layout != NULL, view)
                         : code;
}

static cli_exit load_other_saved(cli_view_load* load) {
  stow_string text;
  stow_string_init(&text, stow_allocator_default());
  const char* label = cli_file_label(load->against);
  cli_exit code = cli_plan_text_read(load->against, &text);
  if (code == CLI_YES) {
    code = cli_plan_job_read(&load->job, &text, label, &load->other_plan);
  }
  bool shared = code == CLI_YES && cli_plan_text_shares_params(&text);
  stow_string_free(&text);
  return code == CLI_YES ? view_plan(&load->job, load->other_plan, label, shared, &load->other)
                         : code;
}

// Made as FILE's plan is, with the same request.
static cli_exit load_other_made(cli_view_load* load) {
  stow_string* path = &load->other_path;
  if (stow_string_append(path, load->against, strlen(load->against)) != STOW_OK) {
    return cli_fail_memory();
  }
  load->other_job.request.files = &path->data;
  load->other_job.request.file_count = 1;
  return load_made(&load->other_job, &load->other);
}

// ---------------------------------------------------------------------------------------------
// Buffers

static cli_exit load_buffers(const cli_view_load* load, const char* file, const char* solved,
                             cli_view* view) {
  const cli_plan_request* request = &load->job.request;
  return cli_view_from_csv(view, &(cli_view_csv){.file = file,
                                                 .solved = solved,
                                                 .strategy = request->strategy,
                                                 .capacity = request->capacity,
                                                 .reuse = !request->no_reuse,
                                                 .budget = request->budget});
}

static cli_exit load_other(cli_view_load* load) {
  switch (cli_file_holds(load->against)) {
    case CLI_HOLDS_PLAN:
      return load_other_saved(load);
    case CLI_HOLDS_GRAPHS:
      return load_other_made(load);
    case CLI_HOLDS_BUFFERS:
      break;
  }
  return load_buffers(load, load->against, NULL, &load->other);
}

static cli_exit check_kinds(const cli_view_load* load, cli_holds holds) {
  const char* file = load->job.request.files[0];
  bool rows = holds == CLI_HOLDS_BUFFERS;
  if (holds == CLI_HOLDS_PLAN) {
    return cli_fail(CLI_USAGE, "'%s' is a saved plan: give its graph as FILE, and --plan %s", file,
                    file);
  }
  if (load->plan != NULL && rows != (cli_file_holds(load->plan) == CLI_HOLDS_BUFFERS)) {
    return cli_fail(CLI_USAGE, "--plan: '%s' is not %s, which '%s' needs", load->plan,
                    rows ? "a CSV of buffers" : "a saved plan", file);
  }
  if (load->against != NULL && rows && cli_file_holds(load->against) == CLI_HOLDS_PLAN) {
    return cli_fail(CLI_USAGE, "--against: '%s' is a saved plan, which needs its graph as FILE",
                    load->against);
  }
  return CLI_YES;
}

cli_exit cli_view_load_run(cli_view_load* load) {
  const char* file = load->job.request.files[0];
  cli_holds holds = cli_file_holds(file);
  cli_view_init(&load->view);
  cli_view_init(&load->other);
  stow_string_init(&load->other_path, stow_allocator_default());
  load->other_job.request = load->job.request;
  cli_exit code = check_kinds(load, holds);
  if (code != CLI_YES) {
    return code;
  }
  bool rows = holds == CLI_HOLDS_BUFFERS;
  code = rows                 ? load_buffers(load, file, load->plan, &load->view)
         : load->plan != NULL ? load_saved(load)
                              : load_made(&load->job, &load->view);
  if (code != CLI_YES || load->against == NULL) {
    return code;
  }
  code = load_other(load);
  bool mixed = rows != (cli_file_holds(load->against) == CLI_HOLDS_BUFFERS);
  if (code == CLI_YES && mixed) {
    // of a plan as CSV: rows are called what the graph's tensors are
    code = cli_view_take_plan_rows(rows ? &load->view : &load->other, rows ? file : load->against);
  }
  return code == CLI_YES ? cli_view_compare(&load->view, &load->other) : code;
}

void cli_view_load_free(cli_view_load* load) {
  cli_view_free(&load->view);
  cli_view_free(&load->other);
  stow_string_free(&load->other_path);
  stow_plan_destroy(load->other_plan);
  cli_plan_job_close(&load->other_job);
  cli_plan_job_close(&load->job);
}
