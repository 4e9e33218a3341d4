// Loading. A plan is made exactly as `stowage plan` makes it, or read as `stowage check` reads it;
// buffers are placed as `stowage solve` does. Nothing is drawn that has not been proven.
#include "view/load.h"

#include <stdio.h>
#include <string.h>

#include "files/file.h"
#include "plan/formula.h"

// ---------------------------------------------------------------------------------------------
// What a file holds

cli_holds cli_file_holds(const char* path) {
  char start[1024] = "";
  FILE* file = cli_reads_once(path) || cli_ends_with(path, ".onnx") ? NULL : fopen(path, "rb");
  if (file != NULL) {
    start[fread(start, 1, sizeof start - 1, file)] = '\0';
    fclose(file);
  }
  if (strncmp(start, "# stowage_plan=", 15) == 0) {
    return CLI_HOLDS_PLAN;
  }
  bool rows = cli_ends_with(path, ".csv") || cli_is_csv(start);
  return rows ? CLI_HOLDS_BUFFERS : CLI_HOLDS_GRAPHS;
}

// ---------------------------------------------------------------------------------------------
// Plans

static bool ring_of(const void* prepared, stow_node node, uint64_t bytes, size_t index,
                    stow_ring* out_ring) {
  return stow_prepared_ring((const stow_prepared*)prepared, node, bytes, index, out_ring);
}

// |file|: what a model goes by, since exporters call all graphs the same.
static cli_exit draw_plan(const cli_plan_job* job, const stow_plan* plan, const char* file,
                          const char* label, bool shares_params, stow_picture** out_picture) {
  stow_picture_plan from;
  stow_picture_plan_init(&from);
  from.graph = job->graph;
  from.plan = plan;
  from.effects = job->effects;
  from.source = label;
  from.is_model = cli_source_is_model(&job->source);
  from.title = from.is_model ? cli_base_name(file) : NULL;
  from.has_shared_params = shares_params;
  from.ring = job->prepared == NULL ? NULL : ring_of;
  from.ring_user = job->prepared;
  stow_diag diag = cli_diag();
  stow_status status = stow_picture_from_plan(&from, stow_allocator_default(), &diag, out_picture);
  return status == STOW_OK ? CLI_YES : cli_fail_at(label, status, &diag);
}

static cli_exit load_saved(cli_view_load* load) {
  bool shares_params;
  CLI_TRY(cli_plan_job_load(&load->job, load->plan, &shares_params, &load->job.plan));
  const char* file = load->job.source.label;
  return draw_plan(&load->job, load->job.plan, file,
                   load->is_diff ? cli_file_label(load->plan) : file, shares_params,
                   &load->picture);
}

static cli_exit draw_made(cli_plan_job* job, bool has_hints, stow_picture** out_picture) {
  CLI_TRY(has_hints ? cli_plan_job_add_hints(job) : CLI_YES);
  return draw_plan(job, job->plan, job->source.label, job->source.label, job->layout != NULL,
                   out_picture);
}

// ---------------------------------------------------------------------------------------------
// Plans of ranges

// The symbol of |formula| with this name; SIZE_MAX: none has it.
static size_t find_symbol(const stow_formula* formula, stow_str name) {
  stow_dim_range range;
  for (size_t i = 0; i < stow_formula_symbol_count(formula); ++i) {
    if (stow_str_equal(stow_formula_symbol(formula, i, &range), name)) {
      return i;
    }
  }
  return SIZE_MAX;
}

// The point of --at; SIZE_MAX: it was not given.
static cli_exit find_point(const stow_formula* formula, const cli_binds* at, size_t* out_point) {
  int64_t values[STOW_MAX_RANK] = {0};
  bool has_value[STOW_MAX_RANK] = {false};
  stow_dim_range range;
  *out_point = SIZE_MAX;
  for (size_t i = 0; i < at->list.count; ++i) {
    const cli_bind* bind = (const cli_bind*)at->list.items + i;
    size_t symbol = find_symbol(formula, bind->name);
    if (symbol == SIZE_MAX || bind->range.min != bind->range.max) {
      return cli_fail(CLI_USAGE, "--at: '%.*s' %s", (int)bind->name.size, bind->name.data,
                      symbol == SIZE_MAX ? "has no range" : "needs one value");
    }
    values[symbol] = bind->range.min;
    has_value[symbol] = true;
  }
  for (size_t i = 0; at->list.count > 0 && i < stow_formula_symbol_count(formula); ++i) {
    stow_str name = stow_formula_symbol(formula, i, &range);
    if (!has_value[i]) {
      return cli_fail(CLI_USAGE, "--at: '%.*s' has a range too; give its value", (int)name.size,
                      name.data);
    }
  }
  return at->list.count == 0 || stow_formula_find_point(formula, values, out_point) == STOW_OK
             ? CLI_YES
             : cli_fail(CLI_USAGE, "--at: the range does not have this point");
}

static cli_exit draw_formula(cli_view_load* load, const cli_formula* f) {
  const cli_plan_job* job = &load->job;
  stow_picture_formula from;
  stow_picture_formula_init(&from);
  CLI_TRY(find_point(f->formula, &load->at, &from.point));
  from.formula = f->formula;
  from.effects = f->options.effects;
  from.is_one_point = !load->has_curves;
  from.source = job->source.label;
  from.is_model = cli_source_is_model(&job->source);
  from.title = from.is_model ? cli_base_name(job->source.label) : NULL;
  if (from.point == SIZE_MAX && from.is_one_point) {
    stow_formula_info info = {.struct_size = sizeof info};
    char text[512];
    stow_formula_describe(f->formula, &info);
    cli_formula_point_text(f->formula, info.largest_point, text, sizeof text);
    cli_note("drawn at %s, where the arena is largest; --at gives another point", text);
  }
  stow_diag diag = cli_diag();
  stow_status status =
      stow_picture_from_formula(&from, stow_allocator_default(), &diag, &load->picture);
  return status == STOW_OK ? CLI_YES : cli_fail_at(job->source.label, status, &diag);
}

static cli_exit load_formula(cli_view_load* load) {
  if (load->against != NULL) {
    return cli_fail(CLI_USAGE,
                    "--against is for one shape; give each symbol one value with --bind NAME=N");
  }
  if (load->job.request.capacity != STOW_NO_CAPACITY) {
    return cli_fail(CLI_USAGE, "--capacity is for one shape; for a range use stowage fit");
  }
  cli_formula f;
  cli_exit code = cli_formula_make(&f, &load->job);
  code = code == CLI_YES ? draw_formula(load, &f) : code;
  cli_formula_free(&f);
  return code;
}

// FILE's plan: of one shape, or of a range.
static cli_exit load_own(cli_view_load* load) {
  cli_plan_job* job = &load->job;
  job->takes_ranges = !load->is_diff;
  CLI_TRY(cli_plan_job_make(job));
  if (job->plan == NULL) {
    return load_formula(load);
  }
  if (load->at.list.count > 0) {
    return cli_fail(CLI_USAGE, "--at: every symbol has one value; give one a range with --bind");
  }
  return draw_made(job, load->has_hints, &load->picture);
}

static cli_exit load_other_saved(cli_view_load* load) {
  bool shares_params;
  const char* label = cli_file_label(load->against);
  CLI_TRY(cli_plan_job_load(&load->job, load->against, &shares_params, &load->other_plan));
  return draw_plan(&load->job, load->other_plan, label, label, shares_params, &load->other);
}

// Made as FILE's plan is, with the same request.
static cli_exit load_other_made(cli_view_load* load) {
  stow_string* path = &load->other_path;
  if (stow_string_append(path, load->against, strlen(load->against)) != STOW_OK) {
    return cli_fail_memory();
  }
  load->other_job.request.files = &path->data;
  load->other_job.request.file_count = 1;
  CLI_TRY(cli_plan_job_make(&load->other_job));
  return draw_made(&load->other_job, false, &load->other);
}

// ---------------------------------------------------------------------------------------------
// Buffers

static cli_exit load_buffers(const cli_view_load* load, const char* file, const char* solved,
                             bool is_plan, stow_picture** out_picture) {
  const cli_plan_request* request = &load->job.request;
  return cli_view_from_csv(&(cli_view_csv){.file = file,
                                           .solved = solved,
                                           .strategy = request->strategy,
                                           .capacity = request->capacity,
                                           .reuse = !request->no_reuse,
                                           .is_plan = is_plan,
                                           .budget = request->budget},
                           out_picture);
}

static cli_exit load_other(cli_view_load* load, bool is_mixed) {
  switch (cli_file_holds(load->against)) {
    case CLI_HOLDS_PLAN: return load_other_saved(load);
    case CLI_HOLDS_GRAPHS: return load_other_made(load);
    case CLI_HOLDS_BUFFERS: break;
  }
  return load_buffers(load, load->against, NULL, is_mixed, &load->other);
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
  bool rows = holds == CLI_HOLDS_BUFFERS;
  stow_string_init(&load->other_path, stow_allocator_default());
  load->other_job.request = load->job.request;
  CLI_TRY(check_kinds(load, holds));
  if (load->at.list.count > 0 && (rows || load->plan != NULL)) {
    return cli_fail(CLI_USAGE, "--at is for ranges of --bind, which are planned");
  }
  // of a plan as CSV: rows are called what the graph's tensors are
  bool is_mixed =
      load->against != NULL && rows != (cli_file_holds(load->against) == CLI_HOLDS_BUFFERS);
  CLI_TRY(rows ? load_buffers(load, file, load->plan, is_mixed || load->is_diff, &load->picture)
          : load->plan != NULL ? load_saved(load)
                               : load_own(load));
  if (load->against == NULL) {
    return CLI_YES;
  }
  CLI_TRY(load_other(load, is_mixed));
  stow_diag diag = cli_diag();
  stow_status status = stow_picture_compare(load->picture, load->other, &diag);
  return status == STOW_OK ? CLI_YES : cli_fail_diag(status, &diag);
}

void cli_view_load_free(cli_view_load* load) {
  stow_picture_destroy(load->picture);
  stow_picture_destroy(load->other);
  stow_string_free(&load->other_path);
  stow_plan_destroy(load->other_plan);
  cli_plan_job_close(&load->other_job);
  cli_plan_job_close(&load->job);
}
