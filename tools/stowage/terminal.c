// Terminal width and colours. TIOCGWINSZ is no part of POSIX.1-2008, yet every system with
// terminals has it; where it is missing, 80 columns it is.
#include "terminal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define DEFAULT_WIDTH 80
#define MIN_WIDTH 40
#define MAX_WIDTH 120

size_t cli_terminal_width(int descriptor) {
#ifdef TIOCGWINSZ
  struct winsize size;
  if (isatty(descriptor) && ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    return size.ws_col < MIN_WIDTH ? MIN_WIDTH : size.ws_col > MAX_WIDTH ? MAX_WIDTH : size.ws_col;
  }
#else
  (void)descriptor;
#endif
  return DEFAULT_WIDTH;
}

bool cli_terminal_colours(int descriptor) {
  const char* no_colour = getenv("NO_COLOR");
  const char* term = getenv("TERM");
  bool refused =
      (no_colour != NULL && no_colour[0] != '\0') || (term != NULL && strcmp(term, "dumb") == 0);
  return !refused && isatty(descriptor);
}
