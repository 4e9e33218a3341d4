// `stowage help`, `--help` and `--version`. What an option does is said once, in its command's
// table; here it is only laid out, for 80 columns.
#include "arguments/help.h"

#include <stdio.h>
#include <string.h>

#define HELP_WIDTH 80
#define HELP_COLUMN 27
#define WORD_COLUMN 25

void cli_print_word(cli_output* output, const char* word, const char* meaning) {
  const size_t room = HELP_WIDTH - WORD_COLUMN;
  cli_print(output, "  %-*s", WORD_COLUMN - 2, word);
  while (strlen(meaning) > room) {
    size_t size = room;
    while (size > 0 && meaning[size] != ' ') {
      --size;
    }
    if (size == 0) {
      break;  // one very long word
    }
    cli_print(output, "%.*s\n%*s", (int)size, meaning, WORD_COLUMN, "");
    meaning += size + 1;
  }
  cli_print(output, "%s\n", meaning);
}

// |text|'s lines, the first where the cursor is, the others at HELP_COLUMN.
static void print_lines(cli_output* output, const char* text) {
  for (;;) {
    size_t size = strcspn(text, "\n");
    cli_print(output, "%.*s\n", (int)size, text);
    if (text[size] == '\0') {
      return;
    }
    text += size + 1;
    cli_print(output, "%*s", HELP_COLUMN, "");
  }
}

static void print_option(cli_output* output, char letter, const char* name, const char* value,
                         const char* help) {
  char left[80];
  int size = snprintf(left, sizeof left, "  %c%c%c --%s%s%s", letter == '\0' ? ' ' : '-',
                      letter == '\0' ? ' ' : letter, letter == '\0' ? ' ' : ',', name,
                      value == NULL ? "" : " ", value == NULL ? "" : value);
  cli_print(output, "%s", left);
  if (size >= HELP_COLUMN - 1) {
    cli_print(output, "\n%*s", HELP_COLUMN, "");
  } else {
    cli_print(output, "%*s", HELP_COLUMN - size, "");
  }
  print_lines(output, help);
}

// Where planning options come from, and which of them do not.
static void print_also(cli_output* output, const cli_command* command) {
  if (command->also == NULL) {
    return;
  }
  cli_print(output, "\nThe options of 'stowage %s' apply too, except:\n", command->also->name);
  for (const cli_refusal* refusal = command->without; refusal->name != NULL; ++refusal) {
    cli_print(output, "  --%-14s %s\n", refusal->name, refusal->why);
  }
}

static void print_command(cli_output* output, const cli_command* command) {
  cli_print(output, "usage: stowage %s%s", command->name,
            command->option_count > 0 ? " [OPTION]..." : "");
  for (size_t i = 0; i < CLI_OPERAND_NAMES && command->operands[i] != NULL; ++i) {
    bool optional = i >= command->required_operands;
    cli_print(output, " %s%s%s", optional ? "[" : "", command->operands[i], optional ? "]" : "");
  }
  cli_print(output, command->operand_count == CLI_ANY_NUMBER ? "..." : "");
  cli_print(output, "\n\n%s.\n\nOptions:\n", command->summary);
  for (size_t i = 0; i < command->option_count; ++i) {
    const cli_option* option = &command->options[i];
    print_option(output, option->letter, option->name, option->value, option->help);
  }
  print_option(output, 'h', "help", NULL, "print this and exit");
  print_also(output, command);
  if (command->more_help != NULL) {
    cli_print(output, "\n");
    command->more_help(output);
  }
}

static void print_general(cli_output* output) {
  cli_print(output,
            "usage: stowage COMMAND [ARGUMENT]...\n"
            "       stowage --version\n"
            "\n"
            "Plans the memory of tensor programs: every tensor gets an offset in one arena%s.\n"
            "\n"
            "Commands:\n",
            cli_command_find("run") != NULL ? ";\nand runs them there" : "");
  for (size_t i = 0; i < cli_command_count(); ++i) {
    const cli_command* command = cli_command_at(i);
    bool optional = command->required_operands == 0;
    char synopsis[64];
    const char* second = command->operands[1];
    snprintf(synopsis, sizeof synopsis, "%s %s%s%s%s%s%s", command->name, optional ? "[" : "",
             command->operands[0], optional ? "]" : "", second == NULL ? "" : " ",
             second == NULL ? "" : second, command->operand_count == CLI_ANY_NUMBER ? "..." : "");
    cli_print(output, "  %-18s %s\n", synopsis, command->summary);
  }
  cli_print(output,
            "\n"
            "FILE is an ONNX model or graphs in the .stow text format, or, for solve and\n"
            "view, buffers as CSV; - is standard input.\n"
            "\n"
            "Exit status: 0 yes; 1 no: the plan is wrong, or does not fit, or outputs differ;\n"
            "2 wrong usage; 3 bad input; 4 gave up; 5 out of memory, or a file cannot be read\n"
            "or written.\n"
            "\n"
            "See 'stowage help COMMAND' and stowage(1).\n");
}

cli_exit cli_help_general(void) {
  cli_output output;
  cli_exit code = cli_output_open(&output, NULL);
  if (code == CLI_YES) {
    print_general(&output);
  }
  return cli_output_close(&output, true);
}

cli_exit cli_help_for(const cli_command* command) {
  cli_output output;
  cli_exit code = cli_output_open(&output, NULL);
  if (code == CLI_YES) {
    print_command(&output, command);
  }
  return cli_output_close(&output, true);
}

cli_exit cli_print_version(void) {
  cli_output output;
  cli_exit code = cli_output_open(&output, NULL);
  if (code == CLI_YES) {
    cli_print(&output, "stowage %s\n", stow_version());
  }
  return cli_output_close(&output, true);
}

static cli_exit no_options(void* user, const cli_option* option, const char* value) {
  (void)user;
  (void)option;
  (void)value;
  return CLI_YES;
}

static cli_exit run_help(int argc, char** argv) {
  cli_arguments arguments;
  CLI_TRY(cli_parse(&cli_help_command, argc, argv, no_options, NULL, &arguments));
  if (arguments.help) {
    return CLI_YES;
  }
  if (arguments.operand_count == 0) {
    return cli_help_general();
  }
  const cli_command* command = cli_command_find(arguments.operands[0]);
  return command != NULL ? cli_help_for(command) : cli_fail_command(arguments.operands[0]);
}

const cli_command cli_help_command = {
    .name = "help",
    .summary = "Shows what a command does, and its options",
    .operand_count = 1,
    .operands = {"COMMAND"},
    .run = run_help,
};
