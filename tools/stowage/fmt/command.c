// `stowage fmt`: the canonical form of a graph file.
#include <stowage/text.h>

#include "arguments/options.h"
#include "files/file.h"
#include "files/output.h"
#include "graphs/model.h"

enum { OPT_CHECK, OPT_KEEP_ALL, OPT_OUTPUT };

static const cli_option fmt_options[] = {
    {OPT_OUTPUT, 'o', "output", "OUT", "write to OUT, which may be FILE itself"},
    {OPT_CHECK, 0, "check", NULL, "write nothing; exit with 1 if FILE is not in\ncanonical form"},
    CLI_BIND_OPTION,
    CLI_MODEL_OPTIONS,
    {OPT_KEEP_ALL, 0, "keep-all", NULL, "keep nodes of a model whose results are known or\nunused"},
};

typedef struct job {
  const char* output;
  bool check;
  bool keep_all;
  cli_model_request model;
} job;

static cli_exit handle(void* user, const cli_option* option, const char* value) {
  job* j = user;
  cli_exit code;
  if (cli_model_request_take(&j->model, option, value, &code)) {
    return code;
  }
  if (option->id == OPT_CHECK) {
    j->check = true;
  } else if (option->id == OPT_KEEP_ALL) {
    j->keep_all = true;
  } else {
    j->output = value;
  }
  return CLI_YES;
}

static cli_exit parse(const cli_input* input, stow_module** out_module) {
  const stow_string* text = &input->bytes;
  stow_diag diag = cli_diag();
  stow_status status = stow_module_parse(text->data == NULL ? "" : text->data, text->size, NULL,
                                         NULL, stow_allocator_default(), &diag, out_module);
  return status == STOW_OK ? CLI_YES : cli_input_fail(input, status, &diag);
}

// What is printed: the graphs of a text, or that of a model.
typedef struct printed {
  const stow_module* module;
  const stow_graph* graph;
} printed;

static stow_status print(const printed* what, stow_writer writer) {
  return what->graph != NULL ? stow_graph_print(what->graph, writer)
                             : stow_module_print(what->module, writer);
}

static cli_exit write_to(const printed* what, const char* path) {
  cli_output output;
  cli_exit code = cli_output_open(&output, path);
  if (code == CLI_YES) {
    stow_status status = print(what, cli_output_writer(&output));
    code = cli_output_reported(status, NULL);
  }
  return cli_output_end(&output, code);
}

// The first line in which the two differ.
static size_t differing_line(const stow_string* a, const stow_string* b) {
  size_t line = 1;
  for (size_t i = 0; i < a->size && i < b->size && a->data[i] == b->data[i]; ++i) {
    line += a->data[i] == '\n';
  }
  return line;
}

static cli_exit compare(const stow_module* module, const stow_string* text, const char* label) {
  stow_string canonical = cli_string();
  cli_exit code = CLI_YES;
  if (stow_module_print(module, stow_string_writer(&canonical)) != STOW_OK) {
    code = cli_fail_memory();
  } else if (!stow_str_equal((stow_str){text->data, text->size},
                             (stow_str){canonical.data, canonical.size})) {
    code =
        cli_fail(CLI_NO, "%s:%zu: not in canonical form", label, differing_line(text, &canonical));
  }
  stow_string_free(&canonical);
  return code;
}

static cli_exit run_model(const job* j, cli_input* input) {
  cli_model model;
  stow_graph* graph = NULL;
  const char* label = cli_file_label(input->path);
  if (j->check) {
    return cli_fail(CLI_USAGE, "--check needs a text; %s is a model", label);
  }
  if (j->output != NULL && cli_same_file(input->path, j->output)) {
    return cli_fail(CLI_USAGE, "--output: '%s' is the input file", j->output);
  }
  cli_exit code = cli_model_open(&model, input);
  code = code == CLI_YES ? cli_model_import(&model, &j->model, label, j->keep_all) : code;
  code = code == CLI_YES ? cli_model_graph(&model, label, &graph) : code;
  if (code == CLI_YES) {
    code = write_to(&(printed){.graph = graph}, j->output);
  }
  cli_model_close(&model);
  return code;
}

static cli_exit run_text(const job* j, cli_input* input) {
  const char* label = cli_file_label(input->path);
  cli_exit code = cli_model_request_refuse(&j->model, label);
  if (code == CLI_YES && (j->model.binds.list.count != 0 || j->keep_all)) {
    code = cli_fail(CLI_USAGE, "--%s needs an ONNX model; %s is a text",
                    j->keep_all ? "keep-all" : "bind", label);
  }
  code = code == CLI_YES ? cli_input_read(input) : code;
  stow_module* module = NULL;
  code = code == CLI_YES ? parse(input, &module) : code;
  if (code == CLI_YES) {
    code = j->check ? compare(module, &input->bytes, label)
                    : write_to(&(printed){.module = module}, j->output);
  }
  stow_module_destroy(module);
  return code;
}

static cli_exit run_job(const job* j, const char* file) {
  if (j->check && j->output != NULL) {
    return cli_fail(CLI_USAGE, "--check writes nothing and takes no --output");
  }
  cli_input input;
  cli_exit code = cli_input_open(&input, file);
  if (code == CLI_YES) {
    code = input.is_model ? run_model(j, &input) : run_text(j, &input);
  }
  cli_input_close(&input);
  return code;
}

static cli_exit run_fmt(int argc, char** argv) {
  job j = {0};
  cli_arguments arguments;
  cli_exit code = cli_parse(&cli_fmt_command, argc, argv, handle, &j, &arguments);
  if (code == CLI_YES && !arguments.help) {
    code = run_job(&j, arguments.operands[0]);
  }
  cli_model_request_free(&j.model);
  return code;
}

static void print_more(cli_output* output) {
  cli_print(output,
            "Comments are not part of a graph and are not kept.\n"
            "\nThe text of a model has the model's plan if planned with --weights file "
            "and\n--order auto.\n");
}

const cli_command cli_fmt_command = {
    .name = "fmt",
    .summary = "Prints graphs, or a model, as canonical text",
    .operand_count = 1,
    .required_operands = 1,
    .operands = {"FILE"},
    .option_count = sizeof fmt_options / sizeof fmt_options[0],
    .options = fmt_options,
    .more_help = print_more,
    .run = run_fmt,
};
