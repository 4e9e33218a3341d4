// What values and nodes are called in messages and tables.
#ifndef STOWAGE_TOOLS_GRAPHS_LABEL_H_
#define STOWAGE_TOOLS_GRAPHS_LABEL_H_

#include <stowage/graph.h>

#define CLI_LABEL_SIZE 224
// `%7`, or `%7 "hidden"`
void cli_value_label(const stow_graph* graph, stow_value value, char out[CLI_LABEL_SIZE]);
// `hidden`, or `%7` where it has no name
void cli_value_name(const stow_graph* graph, stow_value value, char out[CLI_LABEL_SIZE]);
// `node 7 (relu) %7 "hidden"`, or `node 7 (yield)` where it has no result
void cli_node_label(const stow_graph* graph, stow_node node, char out[CLI_LABEL_SIZE]);

#endif  // STOWAGE_TOOLS_GRAPHS_LABEL_H_
