#include "graphs/rewrite.h"

#include <inttypes.h>

#include "arguments/options.h"
#include "graphs/source.h"

cli_exit cli_rewrite_graph(const stow_graph* graph, const stow_rewrite_options* options,
                           const char* label, stow_rewritten** out_rewritten) {
  stow_diag diag = cli_diag();
  stow_status status = stow_rewrite(graph, options, stow_allocator_default(), &diag, out_rewritten);
  return status == STOW_OK ? CLI_YES : cli_fail_graph(label, graph, status, &diag);
}

void cli_tell_rewritten(const stow_rewritten* rewritten, const stow_graph* graph, stow_str name) {
  stow_value value = rewritten == NULL ? STOW_VALUE_NONE : stow_graph_find(graph, name);
  if (value == STOW_VALUE_NONE ||
      stow_graph_find(stow_rewritten_graph(rewritten), name) != STOW_VALUE_NONE) {
    return;
  }
  stow_rewrite_rule rule = stow_rewritten_removed_by(rewritten, value);
  const char* how = rule == STOW_REWRITE_FOLD         ? "was folded into a weight"
                    : rule == STOW_REWRITE_RULE_COUNT ? "has the elements of another value"
                    : rule == STOW_REWRITE_DEAD       ? "is needed by no output"
                                                      : "was rewritten away";
  const char* option = rule == STOW_REWRITE_STREAM ? "--stream off" : "--rewrite none";
  cli_tell_more("%%%" PRIu32 " \"%.*s\" %s; keep it with %s", value, (int)name.size, name.data, how,
                option);
}
