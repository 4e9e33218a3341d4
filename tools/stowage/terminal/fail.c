// Exit codes and error messages. A message may quote names and paths, which may hold any byte: it
// is escaped as a whole, so that a hostile file can neither fake a second line nor reach the
// terminal's controls.
#include "terminal/fail.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "report/api.h"

stow_diag cli_diag(void) {
  stow_diag diag;
  stow_diag_init(&diag);
  return diag;
}

stow_string cli_string(void) {
  stow_string string;
  stow_string_init(&string, stow_allocator_default());
  return string;
}

cli_exit cli_exit_of(stow_status status) {
  switch (status) {
    case STOW_OK: return CLI_YES;
    case STOW_ERR_VIOLATION: return CLI_NO;
    case STOW_ERR_GAVE_UP: return CLI_GAVE_UP;
    case STOW_ERR_OUT_OF_MEMORY:
    case STOW_ERR_IO: return CLI_BROKEN;
    // What was wrong with an option has been found before the library was asked, so the rest is
    // about input.
    case STOW_ERR_INVALID_ARGUMENT:
    case STOW_ERR_OVERFLOW:
    case STOW_ERR_SYNTAX:
    case STOW_ERR_TYPE:
    case STOW_ERR_NOT_FOUND:
    case STOW_ERR_DUPLICATE:
    case STOW_ERR_UNBOUND_DIM:
    case STOW_ERR_LIMIT:
    case STOW_ERR_STALE_PLAN:
    case STOW_ERR_CONFLICT:
    case STOW_ERR_DATA_DEPENDENT:
    case STOW_ERR_UNSUPPORTED: return CLI_BAD_INPUT;
  }
  return CLI_BAD_INPUT;
}

static void print_message(const char* prefix, const char* format, va_list arguments) {
  char message[8192];
  char escaped[2 * sizeof message];
  if (vsnprintf(message, sizeof message, format, arguments) < 0) {
    message[0] = '\0';
  }
  stowi_report_escape(stow_str_of(message), escaped, sizeof escaped);
  fprintf(stderr, "%s%s\n", prefix, escaped);
}

cli_exit cli_fail(cli_exit code, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  print_message("stowage: ", format, arguments);
  va_end(arguments);
  return code;
}

void cli_note(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  print_message("stowage: note: ", format, arguments);
  va_end(arguments);
}

void cli_tell_more(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  print_message("  ", format, arguments);
  va_end(arguments);
}

cli_exit cli_fail_memory(void) { return cli_fail(CLI_BROKEN, "out of memory"); }

const char* cli_diag_text(stow_status status, const stow_diag* diag) {
  return diag != NULL && diag->message[0] != '\0' ? diag->message : stow_status_text(status);
}

cli_exit cli_fail_at(const char* label, stow_status status, const stow_diag* diag) {
  const char* text = cli_diag_text(status, diag);
  return status == STOW_ERR_OUT_OF_MEMORY ? cli_fail_memory()
         : diag->line == 0                ? cli_fail(cli_exit_of(status), "%s: %s", label, text)
                           : cli_fail(cli_exit_of(status), "%s:%" PRIu32 ":%" PRIu32 ": %s", label,
                                      diag->line, diag->column, text);
}

cli_exit cli_fail_diag(stow_status status, const stow_diag* diag) {
  return cli_fail(cli_exit_of(status), "%s", cli_diag_text(status, diag));
}
