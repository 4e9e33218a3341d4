// What `stowage plan` was asked for, and how that becomes planning options.
#ifndef STOWAGE_TOOLS_PLAN_REQUEST_H_
#define STOWAGE_TOOLS_PLAN_REQUEST_H_

#include <stowage/effects.h>
#include <stowage/exec.h>
#include <stowage/plan.h>

#include "arguments/list.h"
#include "arguments/options.h"
#include "arguments/search.h"
#include "graphs/io_policy.h"
#include "graphs/model.h"
#include "graphs/rewrite.h"
#include "plan/shares.h"
#include "request/api.h"
#include "terminal/fail.h"

// name, text
#define CLI_FORMAT_LIST(X) \
  X(SUMMARY, "summary")    \
  X(REPORT, "report")      \
  X(PLAN, "plan")          \
  X(JSON, "json")          \
  X(CSV, "csv")            \
  X(C, "c")

typedef enum cli_format {
#define CLI_FORMAT_ENUM(name, text) CLI_FORMAT_##name,
  CLI_FORMAT_LIST(CLI_FORMAT_ENUM)
#undef CLI_FORMAT_ENUM
      CLI_FORMAT_COUNT
} cli_format;

// Whether other options are tried to make the arena smaller: within a budget, not at all, or
// whatever it takes.
typedef enum cli_hints { CLI_HINTS_AUTO, CLI_HINTS_NEVER, CLI_HINTS_ALWAYS } cli_hints;

// `--rule NAME`, `--no-rule NAME`
typedef struct cli_rule_switch {
  const stow_rule* rule;
  bool on;
} cli_rule_switch;

typedef struct cli_plan_request {
  char** files;  // at least one
  size_t file_count;
  cli_list graphs;          // of const char*, in order; empty: the only one of each file
  const char* layout_from;  // NULL: none
  const char* start;        // NULL: none
  const char* output;       // NULL: standard output
  const char* c_prefix;     // NULL: the graph's name
  cli_format format;
  bool has_format;
  bool has_alignment;
  uint64_t alignment;
  bool has_guard;
  uint64_t guard;
  uint64_t capacity;  // STOW_NO_CAPACITY: none
  bool f32_uniform;
  bool no_reuse;
  bool no_params;
  bool no_inputs;
  bool no_constants;
  bool pack_params;
  bool no_in_place;
  bool keep_copies;
  bool no_pitch;
  bool explain;
  const char* order;  // "given", "auto", a file; NULL: not given
  uint64_t margin;
  bool has_order_nodes;
  uint64_t order_nodes;
  cli_io_policies io;
  const stow_strategy* strategy;  // NULL: not given
  cli_budget budget;
  cli_model_request model;
  stowi_request_choices choices;
  cli_hints hints;
  cli_list rules;  // of cli_rule_switch, in order
} cli_plan_request;

// Reads the command line. Complains. End with cli_plan_request_free, whatever it returned.
cli_exit cli_plan_request_read(cli_plan_request* request, int argc, char** argv,
                               cli_arguments* out_arguments);
// Takes one option of the command line into |user|, a cli_plan_request; the callback of
// cli_parse. Afterwards, what single options cannot tell. Both complain.
cli_exit cli_plan_request_take(void* user, const cli_option* option, const char* value);
cli_exit cli_plan_request_check(const cli_plan_request* request);
void cli_plan_request_free(cli_plan_request* request);

// The preset, then everything that was given, then the environment. No layout yet.
cli_exit cli_plan_request_options(const cli_plan_request* request, stow_plan_options* out_options);
// Options for the forward graph that a backward plan takes its weights from: as a plan of that
// graph would have them with the same command line, but for the preset, which is the default one,
// and params, which always get slots.
cli_exit cli_plan_request_forward_options(const cli_plan_request* request,
                                          stow_plan_options* out_options);

// Where the order of a graph comes from. What is exported from elsewhere stands in whatever order;
// who writes a graph by hand means it so, and who follows another planner does.
cli_order_kind cli_plan_request_order(const cli_plan_request* request, bool is_model);
// Whether to look for hints. Not where the plan follows another planner or plan, whose options are
// not free, nor under a time limit, which each plan would have again.
bool cli_plan_request_has_hints(const cli_plan_request* request);
// The file that it comes from; NULL: none.
const char* cli_plan_request_order_file(const cli_plan_request* request);

// Whether several graphs are to be planned for one arena.
bool cli_plan_request_is_set(const cli_plan_request* request);
// What a file holds already need not be in the arena as well: a model's weights are mapped.
void cli_plan_request_place_weights(cli_plan_request* request, bool is_model);

// Writes |plan| as |format|, which is not the summary.
stow_status cli_plan_write(const stow_plan* plan, cli_format format, const char* c_prefix,
                           stow_writer writer, stow_diag* diag);

// `stowage plan`, without its name.
cli_exit cli_plan_run(int argc, char** argv);

#endif  // STOWAGE_TOOLS_PLAN_REQUEST_H_
