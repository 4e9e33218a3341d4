// Completion of command lines in shells.
#ifndef STOWAGE_TOOLS_ARGUMENTS_COMPLETE_H_
#define STOWAGE_TOOLS_ARGUMENTS_COMPLETE_H_

#include "terminal/fail.h"

// `stowage complete bash|zsh`, without the first two words: prints the script that the shell reads.
// No command of the help: packages install the scripts.
cli_exit cli_complete(int argc, char** argv);

#endif  // STOWAGE_TOOLS_ARGUMENTS_COMPLETE_H_
