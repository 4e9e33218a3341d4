// A command line around a program for a range of shapes.
#ifndef STOWAGE_PROGRAM_RANGE_TOOL_H_
#define STOWAGE_PROGRAM_RANGE_TOOL_H_

#include "program/range.h"

// What main returns. See the text it prints for --help.
int stow_program_range_tool(const stow_program_range* range, int argc, char** argv);

#endif  // STOWAGE_PROGRAM_RANGE_TOOL_H_
