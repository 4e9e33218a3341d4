// What runs for a while: its clock, the line that shows how it does, and the signals that end it.
#ifndef STOWAGE_TOOLS_TERMINAL_WATCH_H_
#define STOWAGE_TOOLS_TERMINAL_WATCH_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct cli_watch {
  uint64_t begun;      // the clock then, in microseconds
  uint64_t next_draw;  // microseconds from then on
  size_t width;        // of the terminal; 0: nothing is drawn
  bool is_drawn;
} cli_watch;

// Microseconds of a clock that only goes forward, and the same in nanoseconds.
uint64_t cli_clock(void);
uint64_t cli_clock_nanoseconds(void);

// Nanoseconds by that clock, and those that processors have worked for this process.
typedef struct cli_time {
  uint64_t clock;
  uint64_t processor;  // in all threads together
} cli_time;

cli_time cli_time_now(void);
// What has passed since then.
cli_time cli_time_since(cli_time then);

// Starts the clock and catches SIGINT and SIGTERM, unless they are ignored: the first of them is
// remembered, the second ends the program.
void cli_watch_begin(cli_watch* watch);
// Erases the line and lets go of the signals. Returns the microseconds since the begin.
uint64_t cli_watch_end(cli_watch* watch);
bool cli_watch_is_signalled(void);

// Whether a line should be drawn, |elapsed| microseconds after the begin; a few times a second.
bool cli_watch_is_due(cli_watch* watch, uint64_t elapsed);
// Columns that a line may have.
size_t cli_watch_columns(const cli_watch* watch);
// Draws |line| in the place of the one before. It is cut where it is too long, and needs room for
// two bytes more than it holds.
void cli_watch_draw(cli_watch* watch, char* line);

#endif  // STOWAGE_TOOLS_TERMINAL_WATCH_H_
