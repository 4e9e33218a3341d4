// From files to pictures: what is asked for is read, planned or placed, proven, and made a view.
#ifndef STOWAGE_TOOLS_VIEW_LOAD_H_
#define STOWAGE_TOOLS_VIEW_LOAD_H_

#include <stowage/report.h>

#include "plan/job.h"

// What a file holds, by its name and its beginning. Standard input holds graphs or a model, and so
// does a pipe unless its name says otherwise.
typedef enum cli_holds { CLI_HOLDS_GRAPHS, CLI_HOLDS_BUFFERS, CLI_HOLDS_PLAN } cli_holds;
cli_holds cli_file_holds(const char* path);

// What two views are made of.
typedef struct cli_view_load {
  cli_plan_job job;        // of FILE; its request is the command line's
  cli_plan_job other_job;  // of --against, where that is another file of graphs
  stow_string other_path;  // of that file
  stow_plan* other_plan;   // of --against, where that is a saved plan
  const char* plan;        // --plan; NULL: none
  const char* against;     // --against; NULL: none
  cli_binds at;            // --at
  bool has_hints;          // FILE's plan may have some
  bool has_curves;         // of a range, more than one point is shown
  bool is_diff;            // rows are plans, and a saved plan goes by its own file
  stow_picture* picture;
  stow_picture* other;
} cli_view_load;

// Complains. End with cli_view_load_free, whatever it returned; the request of |job| is not freed.
cli_exit cli_view_load_run(cli_view_load* load);
void cli_view_load_free(cli_view_load* load);

typedef struct cli_view_csv {
  const char* file;
  const char* solved;             // the same rows with their offsets; NULL: they are placed here
  const stow_strategy* strategy;  // NULL: auto
  uint64_t capacity;              // STOW_NO_CAPACITY: none
  bool reuse;
  bool is_plan;  // the rows are a plan that was written as CSV
  cli_budget budget;
} cli_view_csv;
// Reads and places buffers as `stowage solve` does. Complains.
cli_exit cli_view_from_csv(const cli_view_csv* from, stow_picture** out_picture);

#endif  // STOWAGE_TOOLS_VIEW_LOAD_H_
