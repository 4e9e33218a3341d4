// `stowage export`: read, bind, plan and prove as `stowage run` does, then write instead of
// running.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arguments/number.h"
#include "arguments/options.h"
#include "export/api.h"
#include "export/folder.h"
#include "files/file.h"
#include "plan/formula.h"
#include "report/api.h"
#include "run/run.h"

typedef struct cli_export {
  cli_run run;
  const char* asked_name;  // NULL: after the file
  char name[STOWI_EXPORT_NAME_SIZE];
  bool json;
  cli_formula formula;  // of a range
  stowi_export* program;
  cli_folder folder;
} cli_export;

// Above those of `plan` and of models.
enum {
  OPT_FORCE = 4000,
  OPT_FORMAT,
  OPT_INPUT,
  OPT_INPUTS,
  OPT_NAME,
  OPT_OUTPUT,
  OPT_PLAN,
  OPT_RANDOM
};

static const cli_option export_options[] = {
    {OPT_OUTPUT, 'o', "output", "DIR",
     "the directory of the program: new, empty, or that of\nan earlier export"},
    {OPT_NAME, 0, "name", "NAME", "the name of its files and functions; by default that\nof FILE"},
    {OPT_INPUT, 0, "input", "NAME=FILE",
     "data of a param that has none in FILE, or an array\nwith the shape of an input: .npy, .npz, "
     ".pb, or raw\nbytes; may be repeated"},
    {OPT_INPUTS, 0, "inputs", "FILE",
     "the same by name: a .npz, or a directory of .npy and\n.pb files"},
    {OPT_RANDOM, 0, "random", "SEED", "random numbers for weights of a .stow graph"},
    {OPT_PLAN, 0, "plan", "PLAN", "take this plan, saved by 'stowage run' or 'plan'"},
    {OPT_FORCE, 0, "force", NULL, "replace files that are not from an export"},
    {OPT_FORMAT, 0, "format", "NAME", "of the report: text (the default) or json"},
};

static const char* const format_names[] = {"text", "json"};

static cli_exit read_format(cli_export* export, const char* value) {
  size_t found;
  CLI_TRY(cli_read_word("format", value, format_names, 2, &found));
  export->json = found == 1;
  return CLI_YES;
}

static cli_exit read_name(cli_export* export, const char* value) {
  export->asked_name = value;
  return stowi_export_is_name(value)
             ? CLI_YES
             : cli_fail(CLI_USAGE,
                        "--name: '%s' is not a program name; expected a letter, then letters, "
                        "digits and _, at most %d in all, and not the name of another of its files",
                        value, STOWI_EXPORT_NAME_SIZE - 17);
}

static cli_exit handle(void* user, const cli_option* option, const char* value) {
  cli_export* export = user;
  cli_run_request* request = &export->run.request;
  switch (option->id) {
    case OPT_FORCE: export->folder.force = true; return CLI_YES;
    case OPT_FORMAT: return read_format(export, value);
    case OPT_INPUT: return cli_given_add(&request->inputs, option->name, "FILE", value);
    case OPT_INPUTS: request->inputs_from = value; return CLI_YES;
    case OPT_NAME: return read_name(export, value);
    case OPT_OUTPUT: export->folder.path = value; return CLI_YES;
    case OPT_PLAN: return cli_set_text(&request->plan, value);
    case OPT_RANDOM:
      request->has_seed = true;
      return cli_parse_count(option->name, value, &request->seed);
    default: return cli_run_take_planning(&export->run, option, value);
  }
}

// ---------------------------------------------------------------------------------------------
// What there is to write

// After the file, without folders and ending: models are often all called the same inside.
static void find_name(cli_export* export) {
  const char* path = export->run.job.request.files[0];
  stow_str base = stow_str_of(cli_is_stdin(path) ? "model" : cli_base_name(path));
  const char* dot = strrchr(base.data, '.');
  base.size = dot == NULL || dot == base.data ? base.size : (size_t)(dot - base.data);
  stowi_export_identifier(base, export->name);
  if (export->asked_name != NULL) {
    snprintf(export->name, sizeof export->name, "%s", export->asked_name);
  } else if (!stowi_export_is_name(export->name)) {
    char rest[STOWI_EXPORT_NAME_SIZE];
    memcpy(rest, export->name, sizeof rest);
    snprintf(export->name, sizeof export->name, "model_%.40s", rest);
  }
}

static const void* find_weight(void* user, stow_value value, size_t* out_size) {
  const cli_run* run = user;
  const cli_feed* feed = cli_find_feed(run->feeds.items, run->feeds.count, value);
  if (feed == NULL && run->folded != NULL) {
    return stow_folded_weight(run->folded, value, out_size);
  }
  *out_size = feed == NULL ? 0 : stow_tensor_bytes(&feed->tensor);
  return feed == NULL ? NULL : feed->tensor.data;
}

static cli_exit make_program(cli_export* export) {
  cli_run* run = &export->run;
  size_t count = stow_graph_output_count(run->job.graph);
  stow_str* names = calloc(count + 1, sizeof *names);
  if (names == NULL) {
    return cli_fail_memory();
  }
  for (size_t i = 0; i < count; ++i) {
    names[i] = cli_run_output_name(run, i);
  }
  stowi_export_options options = {
      .name = export->name, .output_names = names, .weight = find_weight, .user = run};
  stow_diag diag = cli_diag();
  stow_allocator heap = stow_allocator_default();
  stow_status status =
      run->job.plan != NULL
          ? stowi_export_create(run->job.prepared, run->job.plan, &options, heap, &diag,
                                &export->program)
          : stowi_export_create_range(export->formula.prepared, export->formula.formula, &options,
                                      heap, &diag, &export->program);
  free(names);
  return status == STOW_OK ? CLI_YES
                           : cli_fail_graph(run->job.source.label, run->job.graph, status, &diag);
}

// Weights are arrays: theirs is one shape.
static cli_exit check_weights(const cli_plan_job* job) {
  const stow_graph* graph = job->graph;
  for (stow_value value = 0; value < stow_graph_value_count(graph); ++value) {
    const stow_type* type = stow_graph_type(graph, value);
    bool is_input = stow_graph_op(graph, stow_graph_producer(graph, value)) == STOW_OP_INPUT;
    for (uint32_t i = 0; i < type->rank && stow_graph_is_boundary(graph, value); ++i) {
      if (!is_input && !stow_dim_is_const(type->dims[i])) {
        stow_diag diag = cli_diag();
        snprintf(diag.message, sizeof diag.message,
                 "%%%" PRIu32 " has dims of the range; weights of a program have one shape", value);
        return cli_fail_graph(job->source.label, graph, STOW_ERR_UNSUPPORTED, &diag);
      }
    }
  }
  return CLI_YES;
}

// One plan for all shapes.
static cli_exit plan_range(cli_export* export) {
  const cli_plan_job* job = &export->run.job;
  stow_formula_info info = {.struct_size = sizeof info};
  CLI_TRY(check_weights(job));
  CLI_TRY(cli_formula_make(&export->formula, job));
  (void)stow_formula_describe(export->formula.formula, &info);
  return info.largest_arena <= job->request.capacity
             ? CLI_YES
             : cli_fail(CLI_NO,
                        "%s: the largest shape needs an arena of %" PRIu64
                        " bytes, above the capacity of %" PRIu64
                        "; stowage fit finds the largest that fits",
                        job->source.label, info.largest_arena, job->request.capacity);
}

// Reads, plans and lays out.
static cli_exit prepare(cli_export* export) {
  cli_run* run = &export->run;
  run->job.request.no_params = run->job.request.no_constants = true;
  CLI_TRY(cli_run_check_planning(run));
  CLI_TRY(cli_run_read_inputs(run));
  run->job.takes_ranges = run->request.plan == NULL;
  CLI_TRY(cli_run_plan(run));
  CLI_TRY(run->job.plan == NULL ? plan_range(export) : CLI_YES);
  CLI_TRY(cli_run_match_weights(run));
  CLI_TRY(cli_run_fold(run));
  find_name(export);
  return make_program(export);
}

// ---------------------------------------------------------------------------------------------
// Writing

typedef struct written_file {
  const stowi_export* program;
  size_t index;
} written_file;

static void print_file(cli_output* output, const void* user) {
  const written_file* file = user;
  // A failure is kept by the output, and told at the end.
  (void)stowi_export_file_write(file->program, file->index, cli_output_writer(output));
}

static cli_exit write_files(cli_export* export) {
  size_t count = stowi_export_file_count(export->program);
  for (size_t i = 0; i < count; ++i) {
    if (!cli_folder_add(&export->folder, stowi_export_file_name(export->program, i))) {
      return cli_fail_memory();
    }
  }
  CLI_TRY(cli_folder_open(&export->folder));
  for (size_t i = 0; i < count; ++i) {
    written_file file = {export->program, i};
    CLI_TRY(cli_folder_write(&export->folder, stowi_export_file_name(export->program, i),
                             print_file, &file));
  }
  return cli_folder_finish(&export->folder);
}

// ---------------------------------------------------------------------------------------------
// What is told

static void print_json(const cli_export* export, cli_output* output) {
  const stow_graph* graph = export->run.job.graph;
  size_t count;
  const stowi_export_port* ports = stowi_export_ports(export->program, &count);
  cli_print(output, "{\"name\": \"%s\", \"folder\": ", export->name);
  cli_print_json(output, stow_str_of(export->folder.path));
  cli_print(output,
            ", \"files\": %zu, \"source_bytes\": %" PRIu64 ", \"arena_bytes\": %" PRIu64
            ", \"external_bytes\": %" PRIu64 ", \"weight_bytes\": %" PRIu64 ", \"steps\": %zu,",
            export->folder.stage.written, export->folder.stage.bytes,
            stowi_export_arena_bytes(export->program), stowi_export_external_bytes(export->program),
            stowi_export_weight_bytes(export->program), stowi_export_step_count(export->program));
  if (export->run.job.plan == NULL) {
    cli_print(output, " \"shapes\": %zu,", stowi_export_shape_count(export->program));
  }
  cli_print(output, "\n \"ports\": [");
  for (size_t i = 0; i < count; ++i) {
    char type[CLI_TYPE_TEXT_SIZE];
    cli_format_type(stow_graph_type(graph, ports[i].value), stow_graph_dims(graph), type);
    cli_print(output, "%s\n  {\"name\": ", i == 0 ? "" : ",");
    cli_print_json(output, ports[i].name);
    cli_print(output,
              ", \"function\": \"%s_%s%s_%s\", \"type\": \"%s\", \"output\": %s, "
              "\"external\": %s}",
              export->name, ports[i].is_external ? "bind_" : "", ports[i].is_output ? "out" : "in",
              ports[i].identifier, type, ports[i].is_output ? "true" : "false",
              ports[i].is_external ? "true" : "false");
  }
  cli_print(output, "]}\n");
}

static void print_bytes(cli_output* output, const char* what, uint64_t bytes, const char* more) {
  char text[STOWI_REPORT_NUMBER];
  stowi_report_size(bytes, text);
  cli_print(output, "  %-8s %" PRIu64 " bytes (%s)%s\n", what, bytes, text, more);
}

static void print_text(const cli_export* export, cli_output* output) {
  cli_print(output, "%s: %zu files in %s\n", export->name, export->folder.stage.written,
            export->folder.path);
  print_bytes(output, "arena", stowi_export_arena_bytes(export->program), ", static");
  uint64_t external = stowi_export_external_bytes(export->program);
  if (external > 0) {
    print_bytes(output, "external", external, ", in the caller's memory");
  }
  print_bytes(output, "weights", stowi_export_weight_bytes(export->program), ", const");
  print_bytes(output, "source", export->folder.stage.bytes, "");
  cli_print(output, "  %-8s %zu\n", "steps", stowi_export_step_count(export->program));
  if (export->run.job.plan == NULL) {
    char text[256];
    size_t shapes = stowi_export_shape_count(export->program);
    cli_formula_point_text(export->formula.formula, shapes - 1, text, sizeof text);
    cli_print(output, "  %-8s %zu\n", "shapes", shapes);
    cli_print(output, "Build and try it:\n  make -C %s && %s/%s --bind %s --random 1\n",
              export->folder.path, export->folder.path, export->name, text);
    return;
  }
  cli_print(output, "Build and try it:\n  make -C %s && %s/%s --random 1\n", export->folder.path,
            export->folder.path, export->name);
}

static cli_exit report(const cli_export* export) {
  cli_output output;
  cli_exit code = cli_output_open(&output, NULL);
  if (code == CLI_YES) {
    (export->json ? print_json : print_text)(export, &output);
  }
  return cli_output_close(&output, true);
}

static cli_exit run_export(cli_export* export) {
  if (export->folder.path == NULL || export->folder.path[0] == '\0') {
    return cli_fail(CLI_USAGE, "missing output directory: -o DIR");
  }
  CLI_TRY(prepare(export));
  CLI_TRY(write_files(export));
  return report(export);
}

static cli_exit run_command(int argc, char** argv) {
  cli_export export = {
      .run = {.job.request.capacity = STOW_NO_CAPACITY, .request = {.threads = 1}}};
  cli_arguments arguments;
  cli_exit code = cli_parse(&cli_export_command, argc, argv, handle, &export, &arguments);
  if (code == CLI_YES && !arguments.help) {
    export.run.job.request.files = arguments.operands;
    export.run.job.request.file_count = 1;
    code = run_export(&export);
  }
  stowi_export_destroy(export.program);
  cli_formula_free(&export.formula);
  cli_folder_close(&export.folder);
  cli_run_free(&export.run);
  return code;
}

static void print_more(cli_output* output) {
  cli_print(output,
            "Inputs and outputs are in the arena, unless --io or --no-inputs says otherwise;\nthen "
            "the program has functions that bind them to memory.\n\n"
            "With a range, as in --bind length=1..128, the program runs every shape of it,\n"
            "in one arena.\n\nExit status: 0 if it was "
            "written; 3 if the model cannot be exported, such as one\nwith data-dependent "
            "dimensions; 5 if files are in the way. See docs/export.md.\n");
}

#define OUTSIDE "weights are constants outside the arena"

static const cli_refusal without[] = {{"c-prefix", "names begin with --name"},
                                      {"explain", "see stowage plan"},
                                      {"f32-uniform", "kernels need elements of their own width"},
                                      {"hints", "see stowage plan"},
                                      {"layout-from", OUTSIDE},
                                      {"no-constants", OUTSIDE " anyway"},
                                      {"no-params", OUTSIDE " anyway"},
                                      {"pack-params", OUTSIDE},
                                      {"weights", OUTSIDE},
                                      {NULL, NULL}};

const cli_command cli_export_command = {
    .name = "export",
    .summary = "Writes a model as a C program with a static arena",
    .operand_count = 1,
    .required_operands = 1,
    .operands = {"FILE"},
    .option_count = sizeof export_options / sizeof export_options[0],
    .options = export_options,
    .also = &cli_plan_command,
    .without = without,
    .more_help = print_more,
    .run = run_command,
};
