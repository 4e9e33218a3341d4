// Outputs that may lie in the bytes of an input, found in a graph, and as `--alias` has them.
#ifndef STOWAGE_TOOLS_PLAN_ALIAS_PAIRS_H_
#define STOWAGE_TOOLS_PLAN_ALIAS_PAIRS_H_

#include <stowage/graph.h>
#include <stowage/plan.h>

#include "arguments/list.h"

typedef struct cli_alias_pair {
  stow_value output;
  stow_value input;
  size_t group;  // the same for pairs whose names differ in the same way: `present.` and `past.`
} cli_alias_pair;

// Pairs with the same number, one after the other.
typedef struct cli_alias_group {
  const cli_alias_pair* pairs;
  size_t count;
} cli_alias_group;

// Appends a pair for each output whose op can work in place of an input, unless it does in |plan|,
// group by group. False where memory is out.
bool cli_alias_pairs_find(const stow_graph* graph, const stow_plan* plan, cli_list* out_pairs);
// The group that begins at |first|.
cli_alias_group cli_alias_group_at(const cli_list* pairs, size_t first);
// Appends the options that ask for it: `--alias 'present.*=past.*'`, `--alias y=x`; nothing if they
// would be many. False where memory is out.
bool cli_alias_group_write(const cli_alias_group* group, const stow_graph* graph,
                           stow_string* text);

// Whether |value| goes by its name, also between the quotes of a shell.
bool cli_has_plain_name(const stow_graph* graph, stow_value value);

#endif  // STOWAGE_TOOLS_PLAN_ALIAS_PAIRS_H_
