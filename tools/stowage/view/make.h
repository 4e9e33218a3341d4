// How the data of pictures is made, and who draws them.
#ifndef STOWAGE_TOOLS_VIEW_MAKE_H_
#define STOWAGE_TOOLS_VIEW_MAKE_H_

#include <stowage/csv.h>
#include <stowage/effects.h>
#include <stowage/plan.h>

#include "output.h"
#include "search.h"
#include "view.h"

typedef struct cli_view_plan {
  const char* label;   // the file's name
  const char* origin;  // "graph" or "model"
  const stow_graph* graph;
  const stow_plan* plan;
  const stow_effects* effects;
  bool shared_params;  // their places come from another plan
} cli_view_plan;
// Complains. End with cli_view_free, whatever it returned.
cli_exit cli_view_from_plan(cli_view* view, const cli_view_plan* from);

typedef struct cli_view_csv {
  const char* file;
  const char* solved;             // the same rows with their offsets; NULL: they are placed here
  const stow_strategy* strategy;  // NULL: auto
  uint64_t capacity;              // STOW_NO_CAPACITY: none
  bool reuse;
  cli_budget budget;
} cli_view_csv;
// Reads and places buffers as `stowage solve` does. Complains. End with cli_view_free, whatever it
// returned.
cli_exit cli_view_from_csv(cli_view* view, const cli_view_csv* from);

// For a view of rows that have been placed: the lower bound as if none were fixed; and, where they
// are a plan that was written as CSV, its names, kinds and ids. Complains.
cli_exit cli_view_take_plan_rows(cli_view* view, const char* path);

// Writers. What fails is told when |output| is closed.
void cli_view_write_json(const cli_view* view, cli_output* output);
void cli_view_write_html(const cli_view* view, cli_output* output);
// These need memory, and complain.
cli_exit cli_view_write_svg(const cli_view* view, cli_output* output);
cli_exit cli_view_write_ascii(const cli_view* view, cli_output* output);
cli_exit cli_view_write_trace(const cli_view* view, cli_output* output);

// |text| in quotes, with no character that could end a script or a line of one. Bytes that are not
// UTF-8 become U+FFFD.
void cli_view_print_string(cli_output* output, stow_str text);

#endif  // STOWAGE_TOOLS_VIEW_MAKE_H_
