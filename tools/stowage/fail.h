// Exit codes, and the one way in which the command complains: `stowage: …`, one line on stderr.
#ifndef STOWAGE_TOOLS_FAIL_H_
#define STOWAGE_TOOLS_FAIL_H_

#include <stowage/base.h>

typedef enum cli_exit {
  CLI_YES = 0,        // done; the plan is right; it fits; outputs are as they should be
  CLI_NO = 1,         // the plan is wrong, or does not fit; outputs differ
  CLI_USAGE = 2,      // the command line is wrong
  CLI_BAD_INPUT = 3,  // a file's content is wrong
  CLI_GAVE_UP = 4,    // no answer within the budget
  CLI_BROKEN = 5      // out of memory, or a file cannot be read or written
} cli_exit;

// The only place where the library's statuses become exit codes.
cli_exit cli_exit_of(stow_status status);

// Prints the message and returns |code|. Control characters are escaped, so that it stays one line.
cli_exit cli_fail(cli_exit code, const char* format, ...) STOW_PRINTF_LIKE(2, 3);
cli_exit cli_fail_memory(void);
// A further line of the message before, indented.
void cli_tell_more(const char* format, ...) STOW_PRINTF_LIKE(1, 2);
// Prints something worth knowing that is no failure.
void cli_note(const char* format, ...) STOW_PRINTF_LIKE(1, 2);
// The library's own words; its text for the status where it left none.
cli_exit cli_fail_diag(stow_status status, const stow_diag* diag);
const char* cli_diag_text(stow_status status, const stow_diag* diag);

#endif  // STOWAGE_TOOLS_FAIL_H_
