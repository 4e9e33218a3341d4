// `stowage fmt`: the canonical form of a graph file.
#include <stowage/text.h>

#include "file.h"
#include "help.h"
#include "output.h"
#include "source.h"

enum { OPT_CHECK, OPT_OUTPUT };

static const cli_option fmt_options[] = {
    {OPT_OUTPUT, 'o', "output", "OUT", "write to OUT, which may be FILE itself"},
    {OPT_CHECK, 0, "check", NULL,
     "write nothing; exit with 1 where FILE is not in\ncanonical form"},
};

typedef struct job {
  const char* output;
  bool check;
} job;

static cli_exit handle(void* user, const cli_option* option, const char* value) {
  job* j = user;
  if (option->id == OPT_CHECK) {
    j->check = true;
  } else {
    j->output = value;
  }
  return CLI_YES;
}

static cli_exit parse(const stow_string* text, const char* label, stow_module** out_module) {
  stow_diag diag;
  stow_diag_init(&diag);
  stow_status status = stow_module_parse(text->data == NULL ? "" : text->data, text->size, label,
                                         NULL, stow_allocator_default(), &diag, out_module);
  return status == STOW_OK ? CLI_YES : cli_fail_diag(status, &diag);
}

static cli_exit write_module(const stow_module* module, const char* path) {
  cli_output output;
  cli_exit code = cli_output_open(&output, path);
  if (code == CLI_YES) {
    stow_status status = stow_module_print(module, cli_output_writer(&output));
    if (status != STOW_OK && status != STOW_ERR_IO) {
      code = cli_fail(cli_exit_of(status), "%s", stow_status_text(status));
    }
  }
  cli_exit closed = cli_output_close(&output, code == CLI_YES);
  return code != CLI_YES ? code : closed;
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
  stow_string canonical;
  stow_string_init(&canonical, stow_allocator_default());
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

static cli_exit run_job(const job* j, const char* file) {
  stow_module* module = NULL;
  stow_string text;
  stow_string_init(&text, stow_allocator_default());
  cli_exit code = cli_file_read(file, &text);
  if (code == CLI_YES) {
    code = parse(&text, cli_file_label(file), &module);
  }
  if (code == CLI_YES) {
    code =
        j->check ? compare(module, &text, cli_file_label(file)) : write_module(module, j->output);
  }
  stow_module_destroy(module);
  stow_string_free(&text);
  return code;
}

static cli_exit run_fmt(int argc, char** argv) {
  job j = {0};
  cli_arguments arguments;
  cli_exit code = cli_parse(&cli_fmt_command, argc, argv, handle, &j, &arguments);
  if (code == CLI_YES && arguments.help) {
    return cli_help_for(&cli_fmt_command);
  }
  if (code == CLI_YES && j.check && j.output != NULL) {
    return cli_fail(CLI_USAGE, "--check writes nothing, so it takes no --output");
  }
  return code == CLI_YES ? run_job(&j, arguments.operands[0]) : code;
}

static void print_more(cli_output* output) {
  cli_print(output, "Comments are not part of a graph and are not kept.\n");
}

const cli_command cli_fmt_command = {
    .name = "fmt",
    .summary = "Prints graphs in canonical form",
    .operand_count = 1,
    .required_operands = 1,
    .operands = {"FILE"},
    .option_count = sizeof fmt_options / sizeof fmt_options[0],
    .options = fmt_options,
    .more_help = print_more,
    .run = run_fmt,
};
