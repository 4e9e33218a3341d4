// Searches: options, and the line of one that runs. Nothing depends on the clock, unless the time
// limit ends a search.
#include "arguments/search.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "arguments/help.h"
#include "arguments/number.h"
#include "arguments/options.h"
#include "report/api.h"

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

bool cli_budget_is_given(const cli_budget* budget) { return budget->has_nodes || budget->has_time; }

uint64_t cli_budget_nodes(const cli_budget* budget, uint64_t usual) {
  return budget->has_nodes ? budget->nodes : budget->has_time ? STOW_PLACE_NO_LIMIT : usual;
}

cli_budget cli_budget_after(const cli_budget* budget, uint64_t elapsed) {
  cli_budget rest = *budget;
  rest.time = budget->time > elapsed ? budget->time - elapsed : 0;
  return rest;
}

// ---------------------------------------------------------------------------------------------
// The line

#define LINE_SIZE 256

// |exact|: heights in bytes to the last one, else in three digits.
static void format_line(const stow_place_progress* progress, uint64_t elapsed, bool exact,
                        char out[LINE_SIZE]) {
  char best[STOWI_REPORT_NUMBER] = "none yet";
  char bound[STOWI_REPORT_NUMBER];
  char gap[STOWI_REPORT_NUMBER];
  char nodes[STOWI_REPORT_NUMBER];
  char rate[STOWI_REPORT_NUMBER];
  char time[STOWI_REPORT_NUMBER];
  bool has_best = progress->best != UINT64_MAX;
  if (exact) {
    snprintf(bound, sizeof bound, "%" PRIu64, progress->bound);
    snprintf(best, sizeof best, has_best ? "%" PRIu64 : "none yet", progress->best);
  } else {
    stowi_report_size(progress->bound, bound);
    if (has_best) {
      stowi_report_size(progress->best, best);
    }
  }
  uint64_t above = progress->best > progress->bound ? progress->best - progress->bound : 0;
  stowi_report_gap(has_best ? above : 0, progress->bound, gap);
  stowi_report_count(progress->nodes, nodes);
  stowi_report_count(stowi_report_rate(progress->nodes, elapsed), rate);
  stowi_report_duration(elapsed, time);
  snprintf(out, LINE_SIZE, "%-9s best %s bound %s gap %s %s nodes %s/s %s", progress->phase, best,
           bound, has_best ? gap : "?", nodes, rate, time);
}

// ---------------------------------------------------------------------------------------------
// A search

void cli_search_begin(cli_search* search, const cli_budget* budget, bool first_pass) {
  *search = (cli_search){.time_limit = budget->has_time ? budget->time : UINT64_MAX,
                         .first_pass = first_pass};
  cli_watch_begin(&search->watch);
}

void cli_search_end(cli_search* search) { search->elapsed = cli_watch_end(&search->watch); }

bool cli_search_progress(void* user, const stow_place_progress* progress) {
  cli_search* search = user;
  uint64_t elapsed = cli_clock() - search->watch.begun;
  if (cli_watch_is_due(&search->watch, elapsed)) {
    char line[LINE_SIZE];
    format_line(progress, elapsed, true, line);
    if (stowi_report_width(line) > cli_watch_columns(&search->watch)) {
      format_line(progress, elapsed, false, line);
    }
    line[LINE_SIZE - 4] = '\0';  // an ellipsis has room
    cli_watch_draw(&search->watch, line);
  }
  if (search->first_pass && progress->best == UINT64_MAX) {
    return true;
  }
  if (search->stopped_by == NULL && cli_watch_is_signalled()) {
    search->stopped_by = "a signal";
  } else if (search->stopped_by == NULL && elapsed >= search->time_limit) {
    search->stopped_by = "the time limit";
  }
  return search->stopped_by == NULL;
}
