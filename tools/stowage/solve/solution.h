// What `stowage solve` found, for people and for programs.
#ifndef STOWAGE_TOOLS_SOLVE_SOLUTION_H_
#define STOWAGE_TOOLS_SOLVE_SOLUTION_H_

#include <stowage/csv.h>
#include <stowage/plan.h>

#include "files/output.h"
#include "terminal/lines.h"

// Buffers that cannot lie within the capacity together.
typedef struct cli_reason {
  stow_explanation set;  // no buffers: there is no explanation
  bool gave_up;          // it was looked for in vain
  uint64_t bytes;        // of all of them
  stow_load load;        // of them alone
} cli_reason;

typedef struct cli_solution {
  const char* label;  // the file's name
  const stow_csv* csv;
  const stow_problem* problem;
  stow_load load;
  const stow_strategy* strategy;
  uint64_t capacity;  // STOW_PLACE_SMALLEST: none
  const stow_placement* placement;
  const cli_reason* reason;
  stow_moves moves;  // from the start, if there was one
  cli_search_facts facts;
  bool stats;        // tell the time, which differs from run to run
  uint64_t elapsed;  // microseconds
} cli_solution;

void cli_solution_print(const cli_solution* solution, cli_output* output);
void cli_solution_print_json(const cli_solution* solution, cli_output* output);
// A row of a Markdown table, below its head if it is the first.
void cli_solution_print_row(const cli_solution* solution, bool is_first, cli_output* output);

#endif  // STOWAGE_TOOLS_SOLVE_SOLUTION_H_
