// Searches: what they may spend, the line that shows how they do, and what ends them early. The
// library knows no clock, terminal or signal; here they are.
#ifndef STOWAGE_TOOLS_ARGUMENTS_SEARCH_H_
#define STOWAGE_TOOLS_ARGUMENTS_SEARCH_H_

#include <stowage/place.h>

#include "files/output.h"
#include "terminal/fail.h"
#include "terminal/watch.h"

// `--strategy NAME`. Complains.
cli_exit cli_read_strategy(const char* value, const stow_strategy** out_strategy);
// The list of them for the help.
void cli_print_strategies(cli_output* output);

// `--time` and `--nodes`, as given.
typedef struct cli_budget {
  bool has_time;
  uint64_t time;  // microseconds
  bool has_nodes;
  uint64_t nodes;
} cli_budget;

// A number of nodes, or `unlimited`. Complains in the name of |option|.
cli_exit cli_parse_nodes(const char* option, const char* value, uint64_t* out_nodes);
// Complain.
cli_exit cli_budget_read_time(cli_budget* budget, const char* value);
cli_exit cli_budget_read_nodes(cli_budget* budget, const char* value);
// Whether nodes or a time were given.
bool cli_budget_is_given(const cli_budget* budget);
// The nodes that a search may spend: as given, |usual| where nothing is, and no limit where only
// the time is limited.
uint64_t cli_budget_nodes(const cli_budget* budget, uint64_t usual);
// What is left of the time after |elapsed| microseconds. Nodes stay as they are.
cli_budget cli_budget_after(const cli_budget* budget, uint64_t elapsed);

// A search that runs.
typedef struct cli_search {
  uint64_t time_limit;  // microseconds; UINT64_MAX: none
  uint64_t elapsed;     // microseconds, when it has ended
  cli_watch watch;
  bool first_pass;         // a first placement is waited for, whatever happens
  const char* stopped_by;  // "the time limit", "a signal"; NULL: nothing asked it to stop
} cli_search;

// Starts the clock and catches SIGINT and SIGTERM, unless they are ignored. The first of them ends
// the search with what it has; the second ends the program.
void cli_search_begin(cli_search* search, const cli_budget* budget, bool first_pass);
// Erases the line and lets go of the signals.
void cli_search_end(cli_search* search);
// The callback of stow_place_options; |user| is the cli_search.
bool cli_search_progress(void* user, const stow_place_progress* progress);

#endif  // STOWAGE_TOOLS_ARGUMENTS_SEARCH_H_
