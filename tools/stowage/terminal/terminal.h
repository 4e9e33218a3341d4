// What the terminal behind a file descriptor can do.
#ifndef STOWAGE_TOOLS_TERMINAL_TERMINAL_H_
#define STOWAGE_TOOLS_TERMINAL_TERMINAL_H_

#include <stdbool.h>
#include <stddef.h>

// Columns that a line can have before it wraps; 80 where there is no terminal.
size_t cli_terminal_columns(int descriptor);
// Columns to fill: the terminal's, within reason; 80 where there is none.
size_t cli_terminal_width(int descriptor);
// Colours are for terminals only, and not where NO_COLOR is set (https://no-color.org) or TERM is
// `dumb`.
bool cli_terminal_colours(int descriptor);
// Whether a line can be written over: a terminal, and TERM is not `dumb`.
bool cli_terminal_rewrites(int descriptor);

#endif  // STOWAGE_TOOLS_TERMINAL_TERMINAL_H_
