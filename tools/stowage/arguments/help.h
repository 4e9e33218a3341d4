// Help texts, made from the commands' own tables, and completion in shells.
#ifndef STOWAGE_TOOLS_ARGUMENTS_HELP_H_
#define STOWAGE_TOOLS_ARGUMENTS_HELP_H_

#include "arguments/options.h"
#include "files/output.h"
#include "terminal/fail.h"

// To standard output.
cli_exit cli_help_general(void);
cli_exit cli_help_for(const cli_command* command);
cli_exit cli_print_version(void);

// One line of a list of words: the word, and what it means, in as many lines as 80 columns need.
void cli_print_word(cli_output* output, const char* word, const char* meaning);

// `stowage complete bash|zsh`, without the first two words: prints the script that the shell reads.
// No command of the help: packages install the scripts.
cli_exit cli_complete(int argc, char** argv);

#endif  // STOWAGE_TOOLS_ARGUMENTS_HELP_H_
