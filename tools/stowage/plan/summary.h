// The summary: a plan for people.
#ifndef STOWAGE_TOOLS_PLAN_SUMMARY_H_
#define STOWAGE_TOOLS_PLAN_SUMMARY_H_

#include <stowage/graph.h>
#include <stowage/plan.h>
#include <stowage/rewrite.h>

#include "files/output.h"
#include "graphs/label.h"
#include "graphs/model.h"
#include "plan/shares.h"

// What `--stream auto` tries one after the other, with a capacity until something fits: the graph
// as it is, in another order, rewritten, with rows that stream, with single rows.
typedef enum cli_rung {
  CLI_GIVEN,
  CLI_ORDERED,
  CLI_REWRITTEN,
  CLI_STREAMED,
  CLI_STREAMED_SINGLY,
  CLI_RUNGS
} cli_rung;
typedef struct cli_rungs {
  uint64_t arenas[CLI_RUNGS];  // 0: not tried
  uint64_t before;             // the arena without rows that stream; 0: none do
} cli_rungs;

typedef struct cli_summary {
  const char* label;  // the file's name
  const stow_graph* graph;
  const stow_plan* plan;             // checked
  const stow_weight_layout* layout;  // NULL: none
  const cli_model* model;            // where the graph comes from; NULL: a text
  cli_shares shares;                 // of the plan
  const stow_rewritten* rewritten;   // NULL: the graph is as it was read
  cli_order_kind order;
  cli_rungs rungs;
  bool capacity;           // whether to tell if it fits
  uint64_t budget;         // of the search, in nodes
  const char* stopped_by;  // what stopped the search, where something did
} cli_summary;

void cli_summary_print(const cli_summary* summary, cli_output* output);
// `packed  42467328 B  40.5 MiB  RAM in a run, const in an export`: weights that are copied
// once for their kernels, if there are any.
void cli_summary_print_packed(const stow_plan* plan, cli_output* output);
// `weights  36392 B  35.5 KiB  in the arena`, by the plan's slots; |outside| if none has one.
void cli_summary_print_weights(const stow_graph* graph, const stow_plan* plan, const char* outside,
                               cli_output* output);
// `folded  79664640 B  76.0 MiB  of the weights, made at start`, if there are any.
void cli_summary_print_folded(const stow_graph* graph, cli_output* output);

// Bytes of values and scratch that live at the plan's peak.
uint64_t cli_peak_load(const stow_plan* plan);
// The |most| largest values there: `%1 "w1" (802816 bytes), …`.
void cli_largest_at_peak(const stow_graph* graph, const stow_plan* plan, size_t most, char* out,
                         size_t capacity);

// What a value is called where its graph is not seen as text: its name alone, if it has one.
void cli_summary_name(const cli_summary* summary, stow_value value, char out[CLI_LABEL_SIZE]);

// `--explain` (explain.c): what shares bytes, what does not, and why; and what is known of orders.
// Goes after the summary. Large graphs have thousands of decisions: of each kind the largest are
// shown, and how many more there are.
void cli_explain_print(const cli_summary* summary, cli_output* output);

#endif  // STOWAGE_TOOLS_PLAN_SUMMARY_H_
