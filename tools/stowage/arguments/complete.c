// Scripts for the completion of bash and zsh, made from the tables that the parser and the help
// use, so that an option is known to all of them or to none. Only the values of options that are
// words out of a list are told here.
#include <stowage/effects.h>
#include <stowage/place.h>
#include <stowage/plan.h>
#include <string.h>

#include "arguments/help.h"
#include "arguments/options.h"
#include "files/output.h"

// ---------------------------------------------------------------------------------------------
// Values

static const char* preset_at(size_t i) {
  return i < STOW_PRESET_COUNT ? stow_preset_name((stow_preset)i) : NULL;
}

static const char* strategy_at(size_t i) {
  return i < stow_strategy_count() ? stow_strategy_at(i)->name : NULL;
}

static const char* rule_at(size_t i) {
  return i < stow_rule_count() ? stow_rule_at(i)->name : NULL;
}

static const char* order_at(size_t i) {
  return i < STOW_ORDER_COUNT ? stow_order_text((stow_order)i) : NULL;
}

static const char* command_at(size_t i) {
  return i < cli_command_count() ? cli_command_at(i)->name : NULL;
}

#define MAX_WORDS 8

typedef struct word_list {
  const char* command;             // NULL: any
  const char* option;              // "": an operand
  const char* (*word_at)(size_t);  // NULL past the end; NULL: |words|
  const char* words[MAX_WORDS];    // up to NULL
} word_list;

static const word_list word_lists[] = {
    {"plan", "format", NULL, {"summary", "report", "plan", "json", "csv", "c", NULL}},
    {"run", "format", NULL, {"text", "json", NULL}},
    {"export", "format", NULL, {"text", "json", NULL}},
    {"solve", "format", NULL, {"summary", "markdown", "json", "csv", NULL}},
    {"view", "format", NULL, {"html", "json", "svg", "ascii", "trace", NULL}},
    {"diff", "format", NULL, {"text", "json", "markdown", NULL}},
    {"inspect", "format", NULL, {"text", "json", NULL}},
    {"view", "color", NULL, {"auto", "always", "never", NULL}},
    {"help", "", command_at, {NULL}},
    {NULL, "preset", preset_at, {NULL}},
    {NULL, "strategy", strategy_at, {NULL}},
    {NULL, "rule", rule_at, {NULL}},
    {NULL, "no-rule", rule_at, {NULL}},
    {NULL, "order", order_at, {NULL}},
    {NULL, "weights", NULL, {"arena", "file", NULL}},
    {NULL, "kernels", NULL, {"none", "stowage", "fastest", NULL}},
    {NULL, "rewrite", NULL, {"none", "exact", "near", NULL}},
    {NULL, "stream", NULL, {"off", "auto", NULL}},
    {NULL, "pack", NULL, {"never", "auto", "always", NULL}},
    {NULL, "hints", NULL, {"auto", "always", "never", NULL}},
    {NULL, "io", NULL, {"keep", "consume", "external", NULL}},
    {NULL, "nodes", NULL, {"unlimited", NULL}},
};

static const word_list* find_words(const char* command, const char* option) {
  for (size_t i = 0; i < sizeof word_lists / sizeof word_lists[0]; ++i) {
    const word_list* list = &word_lists[i];
    if ((list->command == NULL || strcmp(list->command, command) == 0) &&
        strcmp(list->option, option) == 0) {
      return list;
    }
  }
  return NULL;
}

static void print_words(cli_output* output, const word_list* list) {
  const char* word;
  for (size_t i = 0; (word = list->word_at != NULL ? list->word_at(i) : list->words[i]) != NULL;
       ++i) {
    cli_print(output, "%s%s", i == 0 ? "" : " ", word);
  }
}

// Whether a value, by what the help calls it, may be a file.
static bool is_file(const char* value) {
  static const char* const names[] = {"OUT",        "FILE",      "DIR",  "PLAN",
                                      "GRAPH|PLAN", "FILE|PLAN", "ORDER"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i) {
    if (strcmp(value, names[i]) == 0) {
      return true;
    }
  }
  return false;
}

// Ends of the names of files that a command reads; "": any.
static const char* extensions(const cli_command* command) {
  static const char* const ends[][2] = {
      {"solve", "csv"}, {"check", ""}, {"view", "stow onnx csv"}, {"diff", "stow onnx csv plan"}};
  for (size_t i = 0; i < sizeof ends / sizeof ends[0]; ++i) {
    if (strcmp(command->name, ends[i][0]) == 0) {
      return ends[i][1];
    }
  }
  return "stow onnx";
}

static bool takes_files(const cli_command* command) {
  return find_words(command->name, "") == NULL && command->operand_count > 0;
}

// ---------------------------------------------------------------------------------------------
// bash

// What a value of |option| is: `words='…'`, `files=1`.
static void print_bash_value(cli_output* output, const cli_command* command,
                             const cli_option* option) {
  const word_list* list = find_words(command->name, option->name);
  cli_print(output, "    '%s --%s'", command->name, option->name);
  if (option->letter != '\0') {
    cli_print(output, " | '%s -%c'", command->name, option->letter);
  }
  cli_print(output, ")\n      value=1\n");
  if (list != NULL) {
    cli_print(output, "      words='");
    print_words(output, list);
    cli_print(output, "'\n");
  }
  if (is_file(option->value)) {
    cli_print(output, "      files=1\n");
  }
  cli_print(output, "      ;;\n");
}

static void print_bash_values(cli_output* output) {
  cli_print(output, "  case \"$command $previous\" in\n");
  for (size_t c = 0; c < cli_command_count(); ++c) {
    const cli_command* command = cli_command_at(c);
    for (size_t i = 0; i < cli_option_count(command); ++i) {
      const cli_option* option = cli_option_at(command, i);
      if (option != NULL && option->value != NULL) {
        print_bash_value(output, command, option);
      }
    }
  }
  cli_print(output, "  esac\n");
}

static void print_bash_command(cli_output* output, const cli_command* command) {
  const word_list* operands = find_words(command->name, "");
  cli_print(output, "    %s)\n      options='--help", command->name);
  for (size_t i = 0; i < cli_option_count(command); ++i) {
    const cli_option* option = cli_option_at(command, i);
    if (option != NULL) {
      cli_print(output, " --%s", option->name);
    }
  }
  cli_print(output, "'\n");
  if (operands != NULL) {
    cli_print(output, "      words='");
    print_words(output, operands);
    cli_print(output, "'\n");
  } else if (takes_files(command)) {
    cli_print(output, "      files=1\n      ends=(%s)\n", extensions(command));
  }
  cli_print(output, "      ;;\n");
}

static void print_bash_commands(cli_output* output) {
  cli_print(output, "  case \"$command\" in\n");
  for (size_t c = 0; c < cli_command_count(); ++c) {
    print_bash_command(output, cli_command_at(c));
  }
  cli_print(output, "  esac\n");
}

// Bash parts `--format=json` into three words. Names are read line by line, and not split or
// expanded; what runs is as old as bash 3.2.
static const char bash_start[] =
    "# Completion of stowage in bash, made by: stowage complete bash\n"
    "_stowage_add() {\n"
    "  local word\n"
    "  while IFS= read -r word; do COMPREPLY+=(\"$word\"); done < <(compgen \"$@\")\n"
    "}\n"
    "\n"
    "_stowage_add_files() { # CURRENT END...\n"
    "  local current=$1 end\n"
    "  compopt -o filenames 2>/dev/null\n"
    "  shift\n"
    "  for end in \"$@\"; do _stowage_add -f -X \"!*.$end\" -- \"$current\"; done\n"
    "  if [ \"$#\" -gt 0 ]; then _stowage_add -d -- \"$current\"; fi\n"
    "  if [ \"$#\" -eq 0 ] || [ \"${#COMPREPLY[@]}\" -eq 0 ]; then\n"
    "    _stowage_add -f -- \"$current\"\n"
    "  fi\n"
    "}\n"
    "\n"
    "_stowage() {\n"
    "  local current=${COMP_WORDS[COMP_CWORD]} previous='' command='' at=$COMP_CWORD\n"
    "  local value='' words='' options='' files='' ends=()\n"
    "  COMPREPLY=()\n"
    "  if [ \"$current\" = = ]; then\n"
    "    current=''\n"
    "  elif [ \"$at\" -gt 1 ] && [ \"${COMP_WORDS[at - 1]}\" = = ]; then\n"
    "    at=$((at - 1))\n"
    "  fi\n"
    "  if [ \"$at\" -gt 0 ]; then previous=${COMP_WORDS[at - 1]}; fi\n"
    "  if [ \"$COMP_CWORD\" -gt 1 ]; then command=${COMP_WORDS[1]}; fi\n"
    "  if [ -z \"$command\" ]; then\n";

static const char bash_end[] =
    "  if [ -z \"$value\" ] && [ \"${current#-}\" != \"$current\" ]; then\n"
    "    words=$options files=''\n"
    "  fi\n"
    "  if [ -n \"$words\" ]; then _stowage_add -W \"$words\" -- \"$current\"; fi\n"
    "  if [ -n \"$files\" ]; then _stowage_add_files \"$current\" \"${ends[@]}\"; fi\n"
    "}\n"
    "complete -F _stowage stowage\n";

static void print_bash(cli_output* output) {
  cli_print(output, "%s    words='--help --version", bash_start);
  for (size_t i = 0; i < cli_command_count(); ++i) {
    cli_print(output, " %s", cli_command_at(i)->name);
  }
  cli_print(output, "' value=1\n  fi\n");
  print_bash_values(output);
  cli_print(output, "  if [ -z \"$value\" ]; then\n");
  print_bash_commands(output);
  cli_print(output, "  fi\n%s", bash_end);
}

// ---------------------------------------------------------------------------------------------
// zsh

// In single quotes, and in the brackets or between the colons of a specification.
static void print_zsh_text(cli_output* output, const char* text) {
  for (; *text != '\0'; ++text) {
    if (*text == '\'') {
      cli_print(output, "'\\''");
    } else if (strchr("[]:\\", *text) != NULL) {
      cli_print(output, "\\%c", *text);
    } else {
      cli_print(output, "%c", *text == '\n' ? ' ' : *text);
    }
  }
}

// `*.stow *.onnx` as one pattern.
static void print_zsh_files(cli_output* output, const char* ends) {
  if (ends[0] == '\0') {
    cli_print(output, "_files");
    return;
  }
  cli_print(output, "_files -g \"*.(");
  for (; *ends != '\0'; ++ends) {
    cli_print(output, "%c", *ends == ' ' ? '|' : *ends);
  }
  cli_print(output, ")(-.)\"");
}

static void print_zsh_value(cli_output* output, const cli_command* command,
                            const cli_option* option) {
  const word_list* list = find_words(command->name, option->name);
  bool file = is_file(option->value);
  cli_print(output, ":");
  print_zsh_text(output, option->value);
  cli_print(output, ":");
  if (list != NULL) {
    cli_print(output, file ? "{ compadd " : "(");
    print_words(output, list);
    cli_print(output, file ? "; _files }" : ")");
  } else if (file) {
    cli_print(output, "_files");
  }
}

static void print_zsh_option(cli_output* output, const cli_command* command,
                             const cli_option* option) {
  bool repeated = strstr(option->help, "repeated") != NULL || strstr(option->help, "twice") != NULL;
  const char* equals = option->value == NULL ? "" : "=";
  cli_print(output, "        '");
  if (option->letter != '\0') {
    cli_print(output, "(-%c --%s)'{-%c,--%s%s}'", option->letter, option->name, option->letter,
              option->name, equals);
  } else {
    cli_print(output, "%s--%s%s", repeated ? "*" : "", option->name, equals);
  }
  cli_print(output, "[");
  print_zsh_text(output, option->help);
  cli_print(output, "]");
  if (option->value != NULL) {
    print_zsh_value(output, command, option);
  }
  cli_print(output, "' \\\n");
}

static void print_zsh_operands(cli_output* output, const cli_command* command) {
  const word_list* words = find_words(command->name, "");
  bool any = command->operand_count == CLI_ANY_NUMBER;
  for (size_t i = 0; i < CLI_OPERAND_NAMES && command->operands[i] != NULL; ++i) {
    cli_print(output, " \\\n        '");
    cli_print(output, any ? "*" : "%zu", i + 1);
    cli_print(output, ":%s:", command->operands[i]);
    if (words != NULL) {
      cli_print(output, "(");
      print_words(output, words);
      cli_print(output, ")");
    } else {
      print_zsh_files(output, extensions(command));
    }
    cli_print(output, "'");
  }
  cli_print(output, "\n");
}

static void print_zsh_command(cli_output* output, const cli_command* command) {
  cli_print(output, "    %s)\n      _arguments -s -S \\\n", command->name);
  for (size_t i = 0; i < cli_option_count(command); ++i) {
    const cli_option* option = cli_option_at(command, i);
    if (option != NULL) {
      print_zsh_option(output, command, option);
    }
  }
  cli_print(output, "        '(-h --help)'{-h,--help}'[print the help and exit]'");
  print_zsh_operands(output, command);
  cli_print(output, "      ;;\n");
}

static void print_zsh(cli_output* output) {
  cli_print(output,
            "#compdef stowage\n"
            "# Completion of stowage in zsh, made by: stowage complete zsh\n"
            "_stowage() {\n"
            "  local -a commands\n"
            "  commands=(\n");
  for (size_t i = 0; i < cli_command_count(); ++i) {
    cli_print(output, "    '%s:", cli_command_at(i)->name);
    print_zsh_text(output, cli_command_at(i)->summary);
    cli_print(output, "'\n");
  }
  cli_print(output,
            "  )\n"
            "  if (( CURRENT == 2 )); then\n"
            "    _describe command commands\n"
            "    compadd -- --help --version\n"
            "    return\n"
            "  fi\n"
            "  local command=$words[2]\n"
            "  shift words\n"
            "  (( CURRENT -= 1 ))\n"
            "  case $command in\n");
  for (size_t i = 0; i < cli_command_count(); ++i) {
    print_zsh_command(output, cli_command_at(i));
  }
  cli_print(output, "  esac\n}\n_stowage \"$@\"\n");
}

// ---------------------------------------------------------------------------------------------

static const char* const shells[] = {"bash", "zsh"};

cli_exit cli_complete(int argc, char** argv) {
  bool zsh = argc == 1 && strcmp(argv[0], shells[1]) == 0;
  if (argc != 1 || (!zsh && strcmp(argv[0], shells[0]) != 0)) {
    return cli_fail(CLI_USAGE, "complete: missing shell; expected bash or zsh");
  }
  cli_output output;
  cli_exit code = cli_output_open(&output, NULL);
  if (code == CLI_YES) {
    (zsh ? print_zsh : print_bash)(&output);
  }
  return cli_output_close(&output, true);
}
