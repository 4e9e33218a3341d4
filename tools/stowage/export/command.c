// `stowage export`: read, bind, plan and prove as `stowage run` does, then write instead of
// running. Everything that can be wrong with a model is found before the first file is written.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "arguments/number.h"
#include "arguments/options.h"
#include "export/export.h"
#include "files/file.h"
#include "report/api.h"

// Above those of `plan` and of models.
enum { OPT_FORCE = 4000, OPT_FORMAT, OPT_INPUT, OPT_INPUTS, OPT_NAME, OPT_OUTPUT, OPT_RANDOM };

static const cli_option export_options[] = {
    {OPT_OUTPUT, 'o', "output", "DIR",
     "the directory of the program: new, empty, or that of\nan earlier export"},
    {OPT_NAME, 0, "name", "NAME", "the name of its files and functions; by default that\nof FILE"},
    {OPT_INPUT, 0, "input", "NAME=FILE",
     "data of a param that has none in FILE, or an array\nwith the shape of an input: .npy, .npz, "
     ".pb, or raw\nbytes; may be repeated"},
    {OPT_INPUTS, 0, "inputs", "FILE",
     "the same by name: a .npz, or a directory of .npy and\n.pb files"},
    {OPT_RANDOM, 0, "random", "SEED", "random numbers for params without data"},
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
  return cli_is_identifier(value)
             ? CLI_YES
             : cli_fail(CLI_USAGE,
                        "--name: '%s' is not a program name; expected a letter, then letters, "
                        "digits and _, at most %d in all, and not the name of another of its files",
                        value, CLI_IDENTIFIER_SIZE - 17);
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
    case OPT_RANDOM:
      request->has_seed = true;
      return cli_parse_count(option->name, value, &request->seed);
    default: return cli_plan_request_take(&export->run.job.request, option, value);
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
  cli_identifier(base, export->name);
  if (export->asked_name != NULL) {
    snprintf(export->name, sizeof export->name, "%s", export->asked_name);
  } else if (!cli_is_identifier(export->name)) {
    char rest[CLI_IDENTIFIER_SIZE];
    memcpy(rest, export->name, sizeof rest);
    snprintf(export->name, sizeof export->name, "model_%.40s", rest);
  }
  cli_capitals(export->name, export->macro);
}

// Reads, plans and lays out.
static cli_exit prepare(cli_export* export) {
  cli_run* run = &export->run;
  run->job.request.no_params = run->job.request.no_constants = true;
  cli_exit code = cli_plan_request_check(&run->job.request);
  code = code == CLI_YES ? cli_run_read_inputs(run) : code;
  code = code == CLI_YES ? cli_run_plan(run) : code;
  code = code == CLI_YES ? cli_run_match_weights(run) : code;
  if (code == CLI_YES &&
      (!cli_source_set_create(&export->library) || !cli_source_set_create(&export->tool))) {
    code = cli_fail_memory();
  }
  if (code != CLI_YES) {
    return code;
  }
  export->graph = run->job.graph;
  export->plan = run->job.plan;
  find_name(export);
  CLI_TRY(cli_export_lay_out(export));
  CLI_TRY(cli_export_find_ports(export));
  bool is_there =
      cli_source_set_add(&export->library, "program/program.h") &&
      cli_source_set_add(&export->library, "program/steps.h") &&
      (!export->has_regions || cli_source_set_add(&export->library, "program/regions.h")) &&
      cli_source_set_add(&export->tool, "program/tool.h") &&
      cli_source_set_add(&export->tool, "LICENSE");
  return is_there ? CLI_YES : cli_fail(CLI_BROKEN, "internal error: a source is missing");
}

// ---------------------------------------------------------------------------------------------
// Writing

typedef struct made_file {
  bool has_name;  // the program's, before the rest
  const char* rest;
  void (*print)(cli_output* output, const void* user);
} made_file;

static const made_file made_files[] = {
    {true, ".h", cli_export_print_header},
    {true, ".c", cli_export_print_tables},
    {true, "_weights.h", cli_export_print_weights_header},
    {false, "main.c", cli_export_print_main},
    {false, "Makefile", cli_export_print_makefile},
    {false, "README", cli_export_print_readme},
};

static bool is_needed(const cli_export* export, const made_file* file) {
  return file->print != cli_export_print_weights_header || export->weights.count > 0;
}

static bool is_source(const cli_export* export, size_t row) {
  return export->library.has[row] || export->tool.has[row];
}

static void print_source(cli_output* output, const void* user) {
  const cli_sources_row* row = user;
  stow_writer writer = cli_output_writer(output);
  (void)writer.write(writer.user, row->text, row->size);  // a failure is kept, and told at the end
}

// Notes, or writes, a file.
static cli_exit visit_file(cli_export* export, bool is_writing, const char* file,
                           void (*print)(cli_output* output, const void* user), const void* user) {
  if (is_writing) {
    return cli_folder_write(&export->folder, file, print, user);
  }
  return cli_folder_add(&export->folder, file) ? CLI_YES : cli_fail_memory();
}

static cli_exit visit(cli_export* export, bool is_writing) {
  char name[CLI_FILE_NAME_SIZE];
  cli_exit code = CLI_YES;
  for (size_t i = 0; i < sizeof made_files / sizeof made_files[0] && code == CLI_YES; ++i) {
    if (is_needed(export, &made_files[i])) {
      snprintf(name, sizeof name, "%s%s", made_files[i].has_name ? export->name : "",
               made_files[i].rest);
      code = visit_file(export, is_writing, name, made_files[i].print, export);
    }
  }
  for (size_t i = 0; i < export->file_count && code == CLI_YES; ++i) {
    cli_weight_file file = {export, i};
    cli_weight_file_name(export, i, name);
    code = visit_file(export, is_writing, name, cli_export_print_weights, &file);
  }
  for (size_t i = 0; i < cli_sources_count && code == CLI_YES; ++i) {
    if (is_source(export, i)) {
      code = visit_file(export, is_writing, cli_sources[i].name, print_source, &cli_sources[i]);
    }
  }
  return code;
}

// ---------------------------------------------------------------------------------------------
// What is told

static void print_json(const cli_export* export, cli_output* output) {
  const cli_port* ports = export->ports.items;
  cli_print(output, "{\"name\": \"%s\", \"folder\": ", export->name);
  cli_print_json(output, stow_str_of(export->folder.path));
  cli_print(output,
            ", \"files\": %zu, \"source_bytes\": %" PRIu64 ", \"arena_bytes\": %" PRIu64
            ", \"weight_bytes\": %" PRIu64 ", \"steps\": %zu,\n \"ports\": [",
            export->folder.stage.written, export->folder.stage.bytes,
            stow_plan_arena_size(export->plan), export->weight_bytes, export->step_count);
  for (size_t i = 0; i < export->ports.count; ++i) {
    char type[CLI_TYPE_TEXT_SIZE];
    cli_format_type(stow_graph_type(export->graph, ports[i].value), stow_graph_dims(export->graph),
                    type);
    cli_print(output, "%s\n  {\"name\": ", i == 0 ? "" : ",");
    cli_print_json(output, (stow_str){ports[i].name.data, ports[i].name.size});
    cli_print(output, ", \"function\": \"%s_%s_%s\", \"type\": \"%s\", \"output\": %s}",
              export->name, ports[i].is_output ? "out" : "in", ports[i].identifier, type,
              ports[i].is_output ? "true" : "false");
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
  print_bytes(output, "arena", stow_plan_arena_size(export->plan), ", static");
  print_bytes(output, "weights", export->weight_bytes, ", const");
  print_bytes(output, "source", export->folder.stage.bytes, "");
  cli_print(output, "  %-8s %zu\n", "steps", export->step_count);
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
  CLI_TRY(visit(export, false));
  CLI_TRY(cli_folder_open(&export->folder));
  CLI_TRY(visit(export, true));
  CLI_TRY(cli_folder_finish(&export->folder));
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
  cli_export_free(&export);
  cli_run_free(&export.run);
  return code;
}

static void print_more(cli_output* output) {
  cli_print(output,
            "Planning options are those of 'stowage plan' that apply to a program. Its inputs\nand "
            "outputs are in the arena, its weights outside it.\n\nExit status: 0 if it was "
            "written; 3 if the model cannot be exported, such as one\nwith data-dependent "
            "dimensions; 5 if files are in the way. See docs/export.md.\n");
}

static const char* const without[] = {
    "c-prefix",     "explain",     "layout-from", "weights", "no-params", "no-inputs",
    "no-constants", "pack-params", "f32-uniform", "io",      NULL};

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
