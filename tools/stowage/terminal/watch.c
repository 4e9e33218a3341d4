// The line goes to standard error, and only where that is a terminal: what a program reads never
// depends on the clock. It is rewritten in place and erased at the end.
#include "terminal/watch.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "report/api.h"
#include "terminal/terminal.h"

// ---------------------------------------------------------------------------------------------
// Signals

static volatile sig_atomic_t was_signalled;

static const int signals[] = {SIGINT, SIGTERM};
#define SIGNAL_COUNT (sizeof signals / sizeof signals[0])

static void set_action(int signal_number, void (*action)(int)) {
  struct sigaction now;
  if (sigaction(signal_number, NULL, &now) == 0 && now.sa_handler != SIG_IGN) {
    struct sigaction next;
    memset(&next, 0, sizeof next);
    next.sa_handler = action;
    next.sa_flags = SA_RESTART;
    sigemptyset(&next.sa_mask);
    (void)sigaction(signal_number, &next, NULL);
  }
}

static void let_go(void) {
  for (size_t i = 0; i < SIGNAL_COUNT; ++i) {
    set_action(signals[i], SIG_DFL);
  }
}

static void on_signal(int signal_number) {
  (void)signal_number;
  was_signalled = 1;
  let_go();
}

// ---------------------------------------------------------------------------------------------
// The line

#define FIRST_DRAW 250000  // microseconds: what is over by then needs no line
#define DRAW_EVERY 100000
#define ERASE "\r\x1B[K"

static uint64_t read_clock(clockid_t clock) {
  struct timespec time;
  if (clock_gettime(clock, &time) != 0) {
    return 0;
  }
  return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

uint64_t cli_clock_nanoseconds(void) { return read_clock(CLOCK_MONOTONIC); }

cli_time cli_time_now(void) {
  return (cli_time){read_clock(CLOCK_MONOTONIC), read_clock(CLOCK_PROCESS_CPUTIME_ID)};
}

cli_time cli_time_since(cli_time then) {
  cli_time now = cli_time_now();
  return (cli_time){now.clock - then.clock, now.processor - then.processor};
}

uint64_t cli_clock(void) { return cli_clock_nanoseconds() / 1000; }

void cli_watch_begin(cli_watch* watch) {
  bool draws = cli_terminal_rewrites(STDERR_FILENO);
  *watch = (cli_watch){.begun = cli_clock(),
                       .next_draw = FIRST_DRAW,
                       .width = draws ? cli_terminal_columns(STDERR_FILENO) : 0};
  was_signalled = 0;
  for (size_t i = 0; i < SIGNAL_COUNT; ++i) {
    set_action(signals[i], on_signal);
  }
}

uint64_t cli_watch_end(cli_watch* watch) {
  uint64_t elapsed = cli_clock() - watch->begun;
  let_go();
  if (watch->is_drawn) {
    fputs(ERASE, stderr);
    fflush(stderr);
    watch->is_drawn = false;
  }
  return elapsed;
}

bool cli_watch_is_signalled(void) { return was_signalled != 0; }

bool cli_watch_is_due(cli_watch* watch, uint64_t elapsed) {
  bool is_due = watch->width > 0 && elapsed >= watch->next_draw;
  watch->next_draw = is_due ? elapsed + DRAW_EVERY : watch->next_draw;
  return is_due;
}

// In the last column some terminals begin the next line.
size_t cli_watch_columns(const cli_watch* watch) { return watch->width > 1 ? watch->width - 1 : 1; }

void cli_watch_draw(cli_watch* watch, char* line) {
  stowi_report_cut(line, cli_watch_columns(watch));
  fprintf(stderr, ERASE "%s", line);
  fflush(stderr);
  watch->is_drawn = true;
}
