// Terminal width and colours. TIOCGWINSZ is no part of POSIX.1-2008, yet every system with
// terminals has it; where it is missing, 80 columns it is.
#include "terminal/terminal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define DEFAULT_WIDTH 80
#define MIN_WIDTH 40
#define MAX_WIDTH 120

size_t cli_terminal_columns(int descriptor) {
#ifdef TIOCGWINSZ
  struct winsize size;
  if (isatty(descriptor) && ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    return size.ws_col;
  }
#else
  (void)descriptor;
#endif
  return DEFAULT_WIDTH;
}

size_t cli_terminal_width(int descriptor) {
  size_t columns = cli_terminal_columns(descriptor);
  return columns < MIN_WIDTH ? MIN_WIDTH : columns > MAX_WIDTH ? MAX_WIDTH : columns;
}

bool cli_terminal_rewrites(int descriptor) {
  const char* term = getenv("TERM");
  return (term == NULL || strcmp(term, "dumb") != 0) && isatty(descriptor);
}

bool cli_terminal_colours(int descriptor) {
  const char* no_colour = getenv("NO_COLOR");
  bool is_refused = no_colour != NULL && no_colour[0] != '\0';
  return !is_refused && cli_terminal_rewrites(descriptor);
}
