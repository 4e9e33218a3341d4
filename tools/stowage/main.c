// stowage: the command. Finds the command that is asked for and runs it.
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "arguments/help.h"
#include "arguments/options.h"
#include "terminal/text.h"

static const cli_command* const commands[] = {
    &cli_plan_command,    &cli_fit_command,
#if STOWAGE_COMMAND_RUNS
    &cli_run_command,     &cli_export_command,
#endif
    &cli_solve_command,   &cli_check_command,  &cli_view_command, &cli_diff_command,
    &cli_inspect_command, &cli_fmt_command,    &cli_help_command};

size_t cli_command_count(void) { return sizeof commands / sizeof commands[0]; }

const cli_command* cli_command_at(size_t index) { return commands[index]; }

const cli_command* cli_command_find(const char* name) {
  for (size_t i = 0; i < cli_command_count(); ++i) {
    if (strcmp(commands[i]->name, name) == 0) {
      return commands[i];
    }
  }
  return NULL;
}

static const char* command_name_at(size_t index, const void* user) {
  (void)user;
  return commands[index]->name;
}

// Documents and errors of others name these.
static bool is_left_out(const char* name) {
  return !STOWAGE_COMMAND_RUNS && (strcmp(name, "run") == 0 || strcmp(name, "export") == 0);
}

cli_exit cli_fail_command(const char* name) {
  if (is_left_out(name)) {
    return cli_fail(CLI_USAGE, "this build of stowage plans only: it has no command '%s'", name);
  }
  const char* close = cli_closest(name, command_name_at, cli_command_count(), NULL);
  if (close != NULL) {
    return cli_fail(CLI_USAGE, "unknown command '%s': did you mean '%s'? (see: stowage help)", name,
                    close);
  }
  return cli_fail(CLI_USAGE, "unknown command '%s' (see: stowage help)", name);
}

static cli_exit fail_missing(void) {
  char names[160] = "";
  size_t used = 0;
  for (size_t i = 0; i < cli_command_count() && used < sizeof names; ++i) {
    const char* before = i == 0 ? "" : i + 1 == cli_command_count() ? " or " : ", ";
    used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", before, commands[i]->name);
  }
  return cli_fail(CLI_USAGE, "missing command; expected %s (see: stowage help)", names);
}

static cli_exit run(int argc, char** argv) {
  if (argc < 2) {
    return fail_missing();
  }
  const char* name = argv[1];
  if (strcmp(name, "--version") == 0) {
    return cli_print_version();
  }
  if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) {
    return cli_help_general();
  }
  if (name[0] == '-') {
    return cli_fail(CLI_USAGE, "unknown option '%s'; the command comes first (see: stowage help)",
                    name);
  }
  if (strcmp(name, "complete") == 0) {
    return cli_complete(argc - 2, argv + 2);
  }
  const cli_command* command = cli_command_find(name);
  return command != NULL ? command->run(argc - 2, argv + 2) : cli_fail_command(name);
}

int main(int argc, char** argv) {
  // A write beyond the largest size of files shall fail as one to a full disk does.
  (void)signal(SIGXFSZ, SIG_IGN);
  return (int)run(argc, argv);
}
