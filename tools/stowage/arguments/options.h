// Command lines: commands, their options, and how they are read. One table per command gives parser
// and help.
#ifndef STOWAGE_TOOLS_ARGUMENTS_OPTIONS_H_
#define STOWAGE_TOOLS_ARGUMENTS_OPTIONS_H_

#include <stowage/base.h>

#include "arguments/list.h"
#include "terminal/fail.h"

typedef struct cli_option {
  int id;             // the command's own
  char letter;        // '\0': none
  const char* name;   // without dashes
  const char* value;  // what the help calls its value; NULL: a switch
  const char* help;   // lines separated by LF, at most 52 columns
} cli_option;

// An option of another command that this one cannot take.
typedef struct cli_refusal {
  const char* name;
  const char* why;  // at most 61 columns
} cli_refusal;

#define CLI_OPERAND_NAMES 2
#define CLI_ANY_NUMBER SIZE_MAX

struct cli_output;

typedef struct cli_command {
  const char* name;
  const char* summary;                      // one line
  size_t operand_count;                     // at most; CLI_ANY_NUMBER: the last one may be repeated
  size_t required_operands;                 // at least
  const char* operands[CLI_OPERAND_NAMES];  // what they are called
  size_t option_count;
  const cli_option* options;
  const struct cli_command* also;  // whose options it takes as well; its own come first. NULL: none
  const cli_refusal* without;      // those it does not take, up to one without a name; NULL: none
  void (*more_help)(struct cli_output* output);  // printed after the options; may be NULL
  cli_exit (*run)(int argc, char** argv);        // without the command's name
} cli_command;

extern const cli_command cli_plan_command;
extern const cli_command cli_run_command;
extern const cli_command cli_export_command;
extern const cli_command cli_solve_command;
extern const cli_command cli_check_command;
extern const cli_command cli_diff_command;
extern const cli_command cli_fit_command;
extern const cli_command cli_fmt_command;
extern const cli_command cli_inspect_command;
extern const cli_command cli_view_command;
extern const cli_command cli_help_command;

// The options that a command takes, of other commands too. |index| is below the count; NULL where
// one is hidden: by an own option of that name, or because the command is without it.
size_t cli_option_count(const cli_command* command);
const cli_option* cli_option_at(const cli_command* command, size_t index);

// All of them, in the order of the help.
size_t cli_command_count(void);
const cli_command* cli_command_at(size_t index);
// NULL where there is none.
const cli_command* cli_command_find(const char* name);
// The complaint about a command that does not exist.
cli_exit cli_fail_command(const char* name);

typedef struct cli_arguments {
  size_t operand_count;
  char** operands;  // the beginning of argv, whose words have been read
  bool help;        // -h or --help was met: nothing after it was read, and the help is printed
} cli_arguments;

// Reads options (calling |handle| for each, in order) and operands, in any order; `--` ends the
// options. Operands are moved to the beginning of |argv|. Prints the help itself for -h and --help.
// Complains about anything else that the command does not know, or lacks.
cli_exit cli_parse(const cli_command* command, int argc, char** argv,
                   cli_exit (*handle)(void* user, const cli_option* option, const char* value),
                   void* user, cli_arguments* out_arguments);

// A word out of a fixed list, as an option's value: complains with the closest word, and the list.
cli_exit cli_fail_word(const char* option, const char* word,
                       const char* (*word_at)(size_t index, const void* user), size_t count,
                       const void* user);

// The same for a list of |names|: which of them |word| is. Complains.
cli_exit cli_read_word(const char* option, const char* word, const char* const* names, size_t count,
                       size_t* out_index);
cli_exit cli_set_text(const char** field, const char* value);
cli_exit cli_set_switch(bool* field);

// What is read must not be written, and only one of |count| |inputs| (NULL: not given) can be
// standard input. Complains.
cli_exit cli_check_files(const char* const* inputs, size_t count, const char* output);

// What files of a format are called.
typedef struct cli_ending {
  const char* ending;  // `.json`
  const char* format;  // as --format has it
} cli_ending;

// The one that |path| ends with; NULL: none.
const cli_ending* cli_find_ending(const char* path, const cli_ending* endings, size_t count);
// Complains where |path|, which gets text for people, ends as one of these does: without --format
// nobody means that. NULL: there is no path.
cli_exit cli_refuse_endings(const char* path, const cli_ending* endings, size_t count);

// Complains about the first of |given|, names of options, that is none of |names|.
cli_exit cli_require_only(const cli_list* given, const char* const* names, size_t count,
                          const char* reason);

#endif  // STOWAGE_TOOLS_ARGUMENTS_OPTIONS_H_
