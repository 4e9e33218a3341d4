// `--rewrite LIST` and `--fold-limit X`: how graphs are rewritten before they are planned.
#ifndef STOWAGE_TOOLS_GRAPHS_REWRITE_H_
#define STOWAGE_TOOLS_GRAPHS_REWRITE_H_

#include <stowage/rewrite.h>

#include "terminal/fail.h"

#define CLI_REWRITE_HELP                                                                         \
  "none; exact: other nodes that give the same outputs,\nbit for bit, in less memory; near: "    \
  "also nodes that\nround otherwise; exact,-fold without a rule (see\nbelow); by default exact " \
  "and qdq for a model,\notherwise none"
#define CLI_STREAM_HELP                                                                           \
  "off (the default); auto: compute images row by row\nwhere that makes the arena smaller, in "   \
  "more time;\nwith --capacity only if nothing else fits; N: with\nabout as many bytes as for N " \
  "rows at a time"
#define CLI_FOLD_LIMIT_HELP "folding makes weights at most X times as large; by\ndefault 2"

// Rewrites |graph|, whose file is called |label| in messages. Complains.
cli_exit cli_rewrite_graph(const stow_graph* graph, const stow_rewrite_options* options,
                           const char* label, stow_rewritten** out_rewritten);

// After a complaint about the value |name|: that it was rewritten away, if it was. |rewritten| may
// be NULL.
void cli_tell_rewritten(const stow_rewritten* rewritten, const stow_graph* graph, stow_str name);

#endif  // STOWAGE_TOOLS_GRAPHS_REWRITE_H_
