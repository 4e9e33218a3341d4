// A command line around a program, to try it where there are files.
#ifndef STOWAGE_PROGRAM_TOOL_H_
#define STOWAGE_PROGRAM_TOOL_H_

#include "program/program.h"

// What main returns. See the text it prints for --help.
int stow_program_tool(const stow_program* program, int argc, char** argv);

#endif  // STOWAGE_PROGRAM_TOOL_H_
