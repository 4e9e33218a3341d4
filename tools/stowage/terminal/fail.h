// Exit codes, and the one way in which the command complains: `stowage: …`, one line on stderr.
#ifndef STOWAGE_TOOLS_TERMINAL_FAIL_H_
#define STOWAGE_TOOLS_TERMINAL_FAIL_H_

#include <stowage/base.h>

typedef enum cli_exit {
  CLI_YES = 0,        // done; the plan is right; it fits; outputs are as they should be
  CLI_NO = 1,         // the plan is wrong, or does not fit; outputs differ
  CLI_USAGE = 2,      // the command line is wrong
  CLI_BAD_INPUT = 3,  // a file's content is wrong
  CLI_GAVE_UP = 4,    // no answer within the budget
  CLI_BROKEN = 5      // out of memory, or a file cannot be read or written
} cli_exit;

// Returns from the enclosing function where |expression| is not CLI_YES. Only for functions that
// own nothing yet.
#define CLI_TRY(expression)               \
  do {                                    \
    cli_exit cli_try_code = (expression); \
    if (cli_try_code != CLI_YES) {        \
      return cli_try_code;                \
    }                                     \
  } while (0)

// A diagnostic and a string to be filled.
stow_diag cli_diag(void);
stow_string cli_string(void);

// The only place where the library's statuses become exit codes.
cli_exit cli_exit_of(stow_status status);

// Prints the message and returns |code|. Control characters are escaped, so that it stays one line.
cli_exit cli_fail(cli_exit code, const char* format, ...) STOW_PRINTF_LIKE(2, 3);
cli_exit cli_fail_memory(void);
// A further line of the message before, indented.
void cli_tell_more(const char* format, ...) STOW_PRINTF_LIKE(1, 2);
// Prints something worth knowing that is no failure.
void cli_note(const char* format, ...) STOW_PRINTF_LIKE(1, 2);
// The library's own words; its text for the status where it left none, or |diag| is NULL.
cli_exit cli_fail_diag(stow_status status, const stow_diag* diag);
// The same after `LABEL:LINE:COLUMN: `, for messages that leave the position to its fields.
cli_exit cli_fail_at(const char* label, stow_status status, const stow_diag* diag);
const char* cli_diag_text(stow_status status, const stow_diag* diag);

#endif  // STOWAGE_TOOLS_TERMINAL_FAIL_H_
