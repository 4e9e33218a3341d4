// `--layout-from`: where the weights of a backward plan come from. Also: which graph a saved plan
// is for.
#ifndef STOWAGE_TOOLS_PLAN_LAYOUT_H_
#define STOWAGE_TOOLS_PLAN_LAYOUT_H_

#include <stowage/exec.h>
#include <stowage/plan.h>
#include <stowage/rewrite.h>

#include "graphs/bind.h"
#include "graphs/io_policy.h"
#include "graphs/source.h"

// Reads a saved plan's text. Complains, also where it is empty, begins with a byte order mark or
// has CRLF line ends.
cli_exit cli_plan_text_read(const char* path, stow_string* text);
// Whether it is one at all, by its first line.
bool cli_plan_text_is_plan(const stow_string* text);
// Whether it is a saved plan of a range.
bool cli_plan_text_is_formula(const stow_string* text);
// The graph that |source| has of the name in the saved plan's `# graph=` line. Complains.
cli_exit cli_plan_text_graph(const stow_string* text, const char* plan_label,
                             const cli_source* source, stow_graph** out_graph);
// Whether the saved plan says that its params lie in a shared layout.
bool cli_plan_text_shares_params(const stow_string* text);
// How the kernels whose scratch it has are prepared; 0 threads: it has none.
stow_prepare_options cli_plan_text_kernels(const stow_string* text);

// Whether the plan is for a rewritten graph, and how it was rewritten. Complains, also where other
// rules did that.
cli_exit cli_plan_text_rewrite(const stow_string* text, const char* label, bool* out_is_rewritten,
                               stow_rewrite_options* out_options);

// A plan that gives the layout, and its graph. The graph is bound in passing; the plan is proven.
typedef struct cli_layout_source {
  stow_graph* graph;  // owned by the source
  stow_string text;   // of the saved plan; empty where the graph is planned here
  const char* plan_label;
} cli_layout_source;

// Finds |graph_or_plan|'s graph (and saved plan), binds it; complains. End with
// cli_layout_source_close, whatever it returned.
cli_exit cli_layout_source_open(cli_layout_source* from, const char* graph_or_plan,
                                cli_binds* binds, const cli_source* source);
void cli_layout_source_close(cli_layout_source* from);
// Plans the graph with |options| or reads the saved plan, proves it, and takes the layout of its
// weights.
cli_exit cli_layout_make(const cli_layout_source* from, const stow_plan_options* options,
                         const cli_io_policies* io, const cli_source* source,
                         stow_weight_layout** out_layout);

#endif  // STOWAGE_TOOLS_PLAN_LAYOUT_H_
