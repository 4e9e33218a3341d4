// `--rewrite LIST` and `--fold-limit X`: how graphs are rewritten before they are planned.
#ifndef STOWAGE_TOOLS_GRAPHS_REWRITE_H_
#define STOWAGE_TOOLS_GRAPHS_REWRITE_H_

#include <stowage/rewrite.h>

#include "terminal/fail.h"

typedef struct cli_rewrite {
  bool is_given;
  bool is_none;  // if it is
  uint32_t off;  // rules, as stow_rewrite_bit; if it is
  bool has_limit;
  double limit;
} cli_rewrite;

#define CLI_REWRITE_HELP                                                                         \
  "none; exact: other nodes that give the same outputs,\nbit for bit, in less memory; near: "    \
  "also nodes that\nround otherwise; exact,-fold without a rule (see\nbelow); by default exact " \
  "and qdq for a model,\notherwise none"
#define CLI_FOLD_LIMIT_HELP "folding makes weights at most X times as large; by\ndefault 2"

// Read an option's value. Complain.
cli_exit cli_rewrite_read(cli_rewrite* rewrite, const char* value);
cli_exit cli_rewrite_read_limit(cli_rewrite* rewrite, const char* value);

// Rewrites |graph|, whose file is called |label| in messages. Complains.
cli_exit cli_rewrite_graph(const stow_graph* graph, const stow_rewrite_options* options,
                           const char* label, stow_rewritten** out_rewritten);
stow_rewrite_options cli_rewrite_options(const cli_rewrite* rewrite);

// After a complaint about the value |name|: that it was rewritten away, if it was. |rewritten| may
// be NULL.
void cli_tell_rewritten(const stow_rewritten* rewritten, const stow_graph* graph, stow_str name);

#endif  // STOWAGE_TOOLS_GRAPHS_REWRITE_H_
