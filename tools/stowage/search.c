// Searches. The progress line goes to standard error, and only where that is a terminal: what a
// program reads never depends on the clock, unless the time limit ends a search. It is rewritten in
// place a few times a second and erased at the end.
#include "search.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "help.h"
#include "number.h"
#include "options.h"
#include "terminal.h"
#include "text.h"

// ---------------------------------------------------------------------------------------------
// Options

static const char* strategy_at(size_t index, const void* user) {
  (void)user;
  return stow_strategy_at(index)->name;
}

cli_exit cli_read_strategy(const char* value, const stow_strategy** out_strategy) {
  *out_strategy = stow_strategy_find(stow_str_of(value));
  return *out_strategy != NULL
             ? CLI_YES
             : cli_fail_word("strategy", value, strategy_at, stow_strategy_count(), NULL);
}

void cli_print_strategies(cli_output* output) {
  cli_print(output, "Strategies:\n");
  for (size_t i = 0; i < stow_strategy_count(); ++i) {
    cli_print_word(output, stow_strategy_at(i)->name, stow_strategy_at(i)->summary);
  }
}

cli_exit cli_budget_read_time(cli_budget* budget, const char* value) {
  budget->has_time = true;
  return cli_parse_duration("time", value, &budget->time);
}

cli_exit cli_parse_nodes(const char* option, const char* value, uint64_t* out_nodes) {
  if (strcmp(value, "unlimited") == 0) {
    *out_nodes = STOW_PLACE_NO_LIMIT;
    return CLI_YES;
  }
  return cli_parse_count(option, value, out_nodes);
}

cli_exit cli_budget_read_nodes(cli_budget* budget, const char* value) {
  budget->has_nodes = true;
  return cli_parse_nodes("nodes", value, &budget->nodes);
}

uint64_t cli_budget_nodes(const cli_budget* budget, uint64_t usual) {
  return budget->has_nodes ? budget->nodes : budget->has_time ? STOW_PLACE_NO_LIMIT : usual;
}

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
#define LINE_SIZE 256
#define ERASE "\r\x1B[K"

static uint64_t now(void) {
  struct timespec time;
  if (clock_gettime(CLOCK_MONOTONIC, &time) != 0) {
    return 0;
  }
  return (uint64_t)time.tv_sec * 1000000 + (uint64_t)time.tv_nsec / 1000;
}

// |exact|: heights in bytes to the last one, else in three digits.
static void format_line(const stow_place_progress* progress, uint64_t elapsed, bool exact,
                        char out[LINE_SIZE]) {
  char best[CLI_NUMBER_SIZE] = "none yet";
  char bound[CLI_NUMBER_SIZE];
  char gap[CLI_NUMBER_SIZE];
  char nodes[CLI_NUMBER_SIZE];
  char rate[CLI_NUMBER_SIZE];
  char time[CLI_NUMBER_SIZE];
  bool has_best = progress->best != UINT64_MAX;
  if (exact) {
    snprintf(bound, sizeof bound, "%" PRIu64, progress->bound);
    snprintf(best, sizeof best, has_best ? "%" PRIu64 : "none yet", progress->best);
  } else {
    cli_format_size(progress->bound, bound);
    if (has_best) {
      cli_format_size(progress->best, best);
    }
  }
  uint64_t above = progress->best > progress->bound ? progress->best - progress->bound : 0;
  cli_format_gap(has_best ? above : 0, progress->bound, gap);
  cli_format_count(progress->nodes, nodes);
  cli_format_count(cli_rate(progress->nodes, elapsed), rate);
  cli_format_duration(elapsed, time);
  snprintf(out, LINE_SIZE, "%-9s best %s bound %s gap %s %s nodes %s/s %s", progress->phase, best,
           bound, has_best ? gap : "?", nodes, rate, time);
}

static void draw(cli_search* search, const stow_place_progress* progress, uint64_t elapsed) {
  char line[LINE_SIZE];
  size_t columns = search->width > 1 ? search->width - 1
                                     : 1;  // in the last one some terminals begin the next line
  format_line(progress, elapsed, true, line);
  if (cli_width(line) > columns) {
    format_line(progress, elapsed, false, line);
  }
  line[LINE_SIZE - 4] = '\0';  // an ellipsis has room
  cli_cut(line, columns);
  fprintf(stderr, ERASE "%s", line);
  fflush(stderr);
  search->is_drawn = true;
}

// ---------------------------------------------------------------------------------------------
// A search

void cli_search_begin(cli_search* search, const cli_budget* budget, bool first_pass) {
  bool draws = cli_terminal_rewrites(STDERR_FILENO);
  *search = (cli_search){.time_limit = budget->has_time ? budget->time : UINT64_MAX,
                         .begun = now(),
                         .next_draw = FIRST_DRAW,
                         .width = draws ? cli_terminal_columns(STDERR_FILENO) : 0,
                         .first_pass = first_pass};
  was_signalled = 0;
  for (size_t i = 0; i < SIGNAL_COUNT; ++i) {
    set_action(signals[i], on_signal);
  }
}

void cli_search_end(cli_search* search) {
  search->elapsed = now() - search->begun;
  let_go();
  if (search->is_drawn) {
    fputs(ERASE, stderr);
    fflush(stderr);
    search->is_drawn = false;
  }
}

bool cli_search_progress(void* user, const stow_place_progress* progress) {
  cli_search* search = user;
  uint64_t elapsed = now() - search->begun;
  if (search->width > 0 && elapsed >= search->next_draw) {
    search->next_draw = elapsed + DRAW_EVERY;
    draw(search, progress, elapsed);
  }
  if (search->first_pass && progress->best == UINT64_MAX) {
    return true;
  }
  if (search->stopped_by == NULL && was_signalled != 0) {
    search->stopped_by = "a signal";
  } else if (search->stopped_by == NULL && elapsed >= search->time_limit) {
    search->stopped_by = "the time limit";
  }
  return search->stopped_by == NULL;
}
