// `--bind NAME=N,NAME=MIN..MAX/STEP,…`: values and ranges for symbolic dimensions.
#ifndef STOWAGE_TOOLS_GRAPHS_BIND_H_
#define STOWAGE_TOOLS_GRAPHS_BIND_H_

#include <stowage/graph.h>

#include "arguments/list.h"
#include "terminal/fail.h"

typedef struct cli_bind {
  stow_str name;         // borrowed from the command line
  stow_dim_range range;  // of one value: a number
  bool used;             // some graph has this symbol
} cli_bind;

typedef struct cli_binds {
  cli_list list;        // of cli_bind, no name twice
  bool takes_unknown;   // NAME=? is a range, too
  bool allows_unknown;  // names that no graph has, also those of other options
} cli_binds;

// Reads `NAME=N,NAME=MIN..MAX,NAME=MIN..MAX/STEP`. Complains, also about a name that is given
// twice.
cli_exit cli_binds_add(cli_binds* binds, const char* option, const char* text);
void cli_binds_free(cli_binds* binds);

// Binds those symbols that |graph| has, or sets their ranges. Complains, with |label| as the file's
// name.
cli_exit cli_binds_apply(cli_binds* binds, const char* label, stow_graph* graph);
// Complains about a name that no graph so far had; |graph| is the one whose symbols are listed.
cli_exit cli_binds_require_used(const cli_binds* binds, const stow_graph* graph);
// The same where there are several graphs.
cli_exit cli_binds_require_any(const cli_binds* binds);
// Complains where |graph| has symbols without a value, with all of them.
// Whether it has symbols, and all of them have ranges.
bool cli_has_ranges(const stow_graph* graph);
cli_exit cli_require_bound(const char* label, const stow_graph* graph);

#endif  // STOWAGE_TOOLS_GRAPHS_BIND_H_
