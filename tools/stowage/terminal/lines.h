// Lines that summaries have in common: what, bytes, and how much that is; what came of a search.
#ifndef STOWAGE_TOOLS_TERMINAL_LINES_H_
#define STOWAGE_TOOLS_TERMINAL_LINES_H_

#include <stowage/place.h>

#include "files/output.h"

typedef enum cli_paint { CLI_PLAIN, CLI_BOLD, CLI_GOOD, CLI_BAD } cli_paint;
// What starts and stops the paint; "" where the output has no colours.
const char* cli_paint_start(const cli_output* output, cli_paint paint);
const char* cli_paint_stop(const cli_output* output);

// "s" for any number but 1.
const char* cli_plural(uint64_t count);

// The start of a line: `  arena  18223104 B  17.3 MiB`.
void cli_print_size(cli_output* output, const char* what, uint64_t bytes);
// Ends it with `   saved 6160384 B (25.3 %)`.
void cli_print_share(cli_output* output, const char* what, uint64_t bytes, uint64_t whole);
// Ends it with `   gap 4096 B (0.05 %)`, of what is |height| where |bound| is proven.
void cli_print_gap(cli_output* output, uint64_t height, uint64_t bound);
// A whole line: `  capacity  1048576 B  1.00 MiB   fits, 64 B to spare`.
void cli_print_capacity(cli_output* output, uint64_t capacity, uint64_t height);

// What a search came to, and what ended it.
typedef struct cli_search_facts {
  stow_outcome outcome;
  bool has_capacity;
  uint64_t nodes;
  uint64_t budget;         // in nodes
  const char* stopped_by;  // "the time limit", "a signal"; NULL: it ended by itself
} cli_search_facts;
// A whole line: `  outcome  optimal: no placement is lower`.
void cli_print_outcome(cli_output* output, const cli_search_facts* facts);
// A whole line: `  search  20000000 nodes: the budget is spent`.
void cli_print_search(cli_output* output, const cli_search_facts* facts);
// Whether it ended without an answer for want of nodes.
bool cli_is_budget_spent(const cli_search_facts* facts);

#endif  // STOWAGE_TOOLS_TERMINAL_LINES_H_
