// Graphs out of a `.stow` file, chosen by name, or out of an ONNX model.
#ifndef STOWAGE_TOOLS_GRAPHS_SOURCE_H_
#define STOWAGE_TOOLS_GRAPHS_SOURCE_H_

#include <stowage/graph.h>
#include <stowage/text.h>

#include "graphs/model.h"
#include "terminal/fail.h"

typedef struct cli_source {
  const char* label;    // the file's name in messages
  stow_module* module;  // NULL: it is a model
  cli_model model;
  stow_graph* graph;  // of the model
} cli_source;

// Reads and parses, or imports. Complains. End with cli_source_close, whatever it returned.
cli_exit cli_source_open(cli_source* source, const char* path, const cli_model_request* request);
// Whether it is a model. Its symbols have been bound when it was imported.
bool cli_source_is_model(const cli_source* source);
void cli_source_close(cli_source* source);

// NULL where there is none.
stow_graph* cli_source_named(const cli_source* source, stow_str name);
// The same; a leading `@` is fine.
stow_graph* cli_source_find(const cli_source* source, const char* name);
// The graph |name|, or the only one where |name| is NULL. Complains with the list of what there is.
cli_exit cli_source_choose(const cli_source* source, const char* name, stow_graph** out_graph);
// "forward, backward", cut to |capacity|.
void cli_source_names(const cli_source* source, char* out, size_t capacity);

// Gives symbols of |graph| their values, where it is not that of a model. Complains.
cli_exit cli_source_bind(const cli_source* source, cli_binds* binds, stow_graph* graph);
// Complains about names to bind that nothing has.
cli_exit cli_source_require_used(const cli_source* source, const cli_binds* binds,
                                 const stow_graph* graph);
// Complains where dims of |graph| are not numbers.
cli_exit cli_source_require_bound(const cli_source* source, const stow_graph* graph);
// The same; notes where outputs are empty because |request| gives a dim the value 0.
cli_exit cli_source_require_sizes(const cli_source* source, const cli_model_request* request,
                                  const stow_graph* graph);

// A failure that concerns a graph: `FILE:LINE: …` where the line of the node is known.
cli_exit cli_fail_graph(const char* label, const stow_graph* graph, stow_status status,
                        const stow_diag* diag);

// A saved plan that could not be read for |graph|: as cli_fail_at, with a hint where other values
// of its symbols may be the reason.
cli_exit cli_fail_saved(const char* label, const stow_graph* graph, stow_status status,
                        const stow_diag* diag);

#endif  // STOWAGE_TOOLS_GRAPHS_SOURCE_H_
