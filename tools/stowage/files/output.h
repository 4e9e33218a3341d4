// Where a command's result goes: standard output, or a file that is replaced as a whole or not at
// all.
#ifndef STOWAGE_TOOLS_FILES_OUTPUT_H_
#define STOWAGE_TOOLS_FILES_OUTPUT_H_

#include <signal.h>
#include <stdio.h>
#include <stowage/report.h>

#include "terminal/fail.h"

typedef struct cli_output {
  FILE* file;
  const char* path;     // as given; NULL: standard output
  const char* label;    // what it is called in complaints
  stow_string target;   // the file to replace, links followed; empty where it is written in place
  stow_string scratch;  // the file beside it that is written first
  int error;            // the first errno of a failed write, or 0
  sigset_t held;        // the signal mask to go back to, once the file is in place
  size_t width;         // columns
  bool colours;
} cli_output;

// |path| NULL or `-`: standard output. Complains. Whatever it returns, end with cli_output_close.
cli_exit cli_output_open(cli_output* output, const char* path);
// The same for a file that is called |label| in complaints.
cli_exit cli_output_open_as(cli_output* output, const char* path, const char* label);
// An output that was not opened, to be closed.
void cli_output_init(cli_output* output);
// Writes out what was printed so far. False where a write failed, which is reported at close.
bool cli_output_flush(cli_output* output);
// Lets SIGHUP, SIGINT and SIGTERM wait until the mask |out_held| is set again.
void cli_hold_signals(sigset_t* out_held);
// Flushes and, where |keep| is set and nothing failed, puts the file in place; otherwise what was
// there stays. Complains where a write failed.
cli_exit cli_output_close(cli_output* output, bool keep);

// Closes it, and keeps it where |code| is CLI_YES. Returns |code|, or what closing comes to.
cli_exit cli_output_end(cli_output* output, cli_exit code);

// Failures are remembered and reported at close.
stow_writer cli_output_writer(cli_output* output);
void cli_print(cli_output* output, const char* format, ...) STOW_PRINTF_LIKE(2, 3);
// |text| as a JSON string, in quotes.
void cli_print_json(cli_output* output, stow_str text);
// As wide and as colourful as |output| can show.
stow_report_options cli_output_options(const cli_output* output);
// Complains of what failed while |output| was written, unless it was a write, which is reported at
// close. |diag| may be NULL.
cli_exit cli_output_reported(stow_status status, const stow_diag* diag);
// Remembers in the same way that a part of it could not be made, for want of memory.
void cli_output_lack_memory(cli_output* output);

#endif  // STOWAGE_TOOLS_FILES_OUTPUT_H_
