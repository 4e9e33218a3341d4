// Reading command lines. Written here rather than left to getopt_long, which is no part of POSIX,
// suggests nothing, and abbreviates: a script that says --no-in would change its meaning with the
// next option.
#include "arguments/options.h"

#include <stdio.h>
#include <string.h>

#include "arguments/help.h"
#include "files/file.h"
#include "terminal/text.h"

size_t cli_option_count(const cli_command* command) {
  return command->option_count + (command->also != NULL ? command->also->option_count : 0);
}

// NULL where the command takes it, or does not know it.
static const cli_refusal* find_refusal(const cli_command* command, const char* name) {
  const cli_refusal* refusal = command->without;
  while (refusal != NULL && refusal->name != NULL && strcmp(refusal->name, name) != 0) {
    ++refusal;
  }
  return refusal == NULL || refusal->name == NULL ? NULL : refusal;
}

const cli_option* cli_option_at(const cli_command* command, size_t index) {
  if (index < command->option_count) {
    return &command->options[index];
  }
  const cli_option* option = &command->also->options[index - command->option_count];
  bool hidden = find_refusal(command, option->name) != NULL;
  for (size_t i = 0; i < command->option_count; ++i) {
    hidden = hidden || strcmp(command->options[i].name, option->name) == 0;
  }
  return hidden ? NULL : option;
}

static const char* option_name_at(size_t index, const void* user) {
  const cli_command* command = user;
  const cli_option* option =
      index < cli_option_count(command) ? cli_option_at(command, index) : NULL;
  return option != NULL ? option->name : "help";
}

static cli_exit fail_option(const cli_command* command, const char* name, const char* argument) {
  const cli_refusal* refusal = find_refusal(command, name);
  if (refusal != NULL) {
    return cli_fail(CLI_USAGE, "--%s is an option of stowage %s: %s (see: stowage help %s)", name,
                    command->also->name, refusal->why, command->name);
  }
  const char* close = cli_closest(name, option_name_at, cli_option_count(command) + 1, command);
  if (close != NULL) {
    return cli_fail(CLI_USAGE, "unknown option '%s': did you mean '--%s'? (see: stowage help %s)",
                    argument, close, command->name);
  }
  return cli_fail(CLI_USAGE, "unknown option '%s' (see: stowage help %s)", argument, command->name);
}

static const cli_option* find_option(const cli_command* command, stow_str name) {
  for (size_t i = 0; i < cli_option_count(command); ++i) {
    const cli_option* option = cli_option_at(command, i);
    if (option != NULL && stow_str_equal(name, stow_str_of(option->name))) {
      return option;
    }
  }
  return NULL;
}

static const cli_option* find_letter(const cli_command* command, char letter) {
  for (size_t i = 0; i < cli_option_count(command); ++i) {
    const cli_option* option = cli_option_at(command, i);
    if (option != NULL && option->letter == letter && letter != '\0') {
      return option;
    }
  }
  return NULL;
}

typedef struct parser {
  const cli_command* command;
  int argc;
  char** argv;
  int next;
  cli_exit (*handle)(void* user, const cli_option* option, const char* value);
  void* user;
  cli_arguments* out;
} parser;

// |attached| is the value that stood in the same argument; NULL where there was none.
static cli_exit take_option(parser* p, const cli_option* option, const char* attached) {
  if (option->value == NULL) {
    return attached == NULL
               ? p->handle(p->user, option, NULL)
               : cli_fail(CLI_USAGE, "--%s takes no value, got '%s'", option->name, attached);
  }
  if (attached != NULL) {
    return p->handle(p->user, option, attached);
  }
  // `--graph --align 64` is a forgotten value rather than a graph of that name; `--graph=--align`
  // says otherwise.
  if (p->next == p->argc || strncmp(p->argv[p->next], "--", 2) == 0) {
    return cli_fail(CLI_USAGE, "--%s needs a value: --%s %s", option->name, option->name,
                    option->value);
  }
  return p->handle(p->user, option, p->argv[p->next++]);
}

static cli_exit take_long(parser* p, const char* argument) {
  const char* name = argument + 2;
  const char* equals = strchr(name, '=');
  size_t size = equals == NULL ? strlen(name) : (size_t)(equals - name);
  stow_str key = {name, size};
  if (stow_str_equal(key, stow_str_of("help")) && equals == NULL) {
    p->out->help = true;
    return CLI_YES;
  }
  const cli_option* option = find_option(p->command, key);
  if (option == NULL) {
    char word[64];
    snprintf(word, sizeof word, "%.*s", (int)(size < sizeof word ? size : sizeof word - 1), name);
    return fail_option(p->command, word, argument);
  }
  return take_option(p, option, equals == NULL ? NULL : equals + 1);
}

static cli_exit take_short(parser* p, const char* argument) {
  if (strcmp(argument, "-h") == 0) {
    p->out->help = true;
    return CLI_YES;
  }
  const cli_option* option = find_letter(p->command, argument[1]);
  if (option == NULL) {
    return fail_option(p->command, argument + 1, argument);
  }
  return take_option(p, option, argument[2] == '\0' ? NULL : argument + 2);
}

static cli_exit take_operand(parser* p, char* argument) {
  if (p->out->operand_count == p->command->operand_count) {
    return cli_fail(CLI_USAGE, "unexpected argument '%s' (see: stowage help %s)", argument,
                    p->command->name);
  }
  p->out->operands[p->out->operand_count++] = argument;
  return CLI_YES;
}

cli_exit cli_parse(const cli_command* command, int argc, char** argv,
                   cli_exit (*handle)(void* user, const cli_option* option, const char* value),
                   void* user, cli_arguments* out_arguments) {
  *out_arguments = (cli_arguments){.operands = argv};
  parser p = {command, argc, argv, 0, handle, user, out_arguments};
  bool only_operands = false;
  cli_exit code = CLI_YES;
  while (code == CLI_YES && p.next < argc && !out_arguments->help) {
    char* argument = argv[p.next++];
    if (only_operands || argument[0] != '-' || argument[1] == '\0') {
      code = take_operand(&p, argument);
    } else if (strcmp(argument, "--") == 0) {
      only_operands = true;
    } else {
      code = argument[1] == '-' ? take_long(&p, argument) : take_short(&p, argument);
    }
  }
  if (code == CLI_YES && out_arguments->help) {
    return cli_help_for(command);
  }
  size_t got = out_arguments->operand_count;
  if (code == CLI_YES && got < command->required_operands) {
    return cli_fail(CLI_USAGE, "%s needs %s (see: stowage help %s)", command->name,
                    command->operands[got], command->name);
  }
  return code;
}

cli_exit cli_fail_word(const char* option, const char* word,
                       const char* (*word_at)(size_t index, const void* user), size_t count,
                       const void* user) {
  char known[1024] = "";
  size_t used = 0;
  for (size_t i = 0; i < count && used < sizeof known; ++i) {
    int size =
        snprintf(known + used, sizeof known - used, "%s%s", i == 0 ? "" : ", ", word_at(i, user));
    used += size > 0 ? (size_t)size : 0;
  }
  const char* close = cli_closest(word, word_at, count, user);
  if (close != NULL) {
    return cli_fail(CLI_USAGE, "--%s: unknown '%s'; did you mean '%s'? Expected one of: %s", option,
                    word, close, known);
  }
  return cli_fail(CLI_USAGE, "--%s: unknown '%s'; expected one of: %s", option, word, known);
}

static const char* name_at(size_t index, const void* user) {
  return ((const char* const*)user)[index];
}

cli_exit cli_read_word(const char* option, const char* word, const char* const* names, size_t count,
                       size_t* out_index) {
  for (size_t i = 0; i < count; ++i) {
    if (strcmp(word, names[i]) == 0) {
      *out_index = i;
      return CLI_YES;
    }
  }
  return cli_fail_word(option, word, name_at, count, names);
}

cli_exit cli_set_text(const char** field, const char* value) {
  *field = value;
  return CLI_YES;
}

cli_exit cli_set_switch(bool* field) {
  *field = true;
  return CLI_YES;
}

cli_exit cli_check_files(const char* const* inputs, size_t count, const char* output) {
  size_t on_stdin = 0;
  for (size_t i = 0; i < count; ++i) {
    on_stdin += inputs[i] != NULL && cli_is_stdin(inputs[i]);
    if (inputs[i] != NULL && output != NULL && cli_same_file(inputs[i], output)) {
      return cli_fail(CLI_USAGE, "--output: '%s' is an input file", output);
    }
  }
  return on_stdin > 1 ? cli_fail(CLI_USAGE, "only one file can be standard input") : CLI_YES;
}

cli_exit cli_require_only(const cli_list* given, const char* const* names, size_t count,
                          const char* reason) {
  const char* const* options = given->items;
  for (size_t i = 0; i < given->count; ++i) {
    size_t k = 0;
    while (k < count && strcmp(options[i], names[k]) != 0) {
      ++k;
    }
    if (k == count) {
      return cli_fail(CLI_USAGE, "--%s has no effect here: %s", options[i], reason);
    }
  }
  return CLI_YES;
}

const cli_ending* cli_find_ending(const char* path, const cli_ending* endings, size_t count) {
  size_t size = strlen(path);
  for (size_t i = 0; i < count; ++i) {
    size_t length = strlen(endings[i].ending);
    if (size > length && strcmp(path + size - length, endings[i].ending) == 0) {
      return &endings[i];
    }
  }
  return NULL;
}

cli_exit cli_refuse_endings(const char* path, const cli_ending* endings, size_t count) {
  const cli_ending* found = path == NULL ? NULL : cli_find_ending(path, endings, count);
  return found == NULL ? CLI_YES
                       : cli_fail(CLI_USAGE, "--output: '%s' would contain text; add --format %s",
                                  path, found->format);
}
