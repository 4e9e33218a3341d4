// Labels. Names are escaped, and cut where they are long.
#include "graphs/label.h"

#include <inttypes.h>
#include <stdio.h>

#include "report/api.h"

#define NAME_SIZE 160  // within a label

void cli_value_label(const stow_graph* graph, stow_value value, char out[CLI_LABEL_SIZE]) {
  char name[NAME_SIZE];
  stowi_report_escape(stow_graph_value_name(graph, value), name, sizeof name);
  const char* quote = name[0] == '\0' ? "" : "\"";
  snprintf(out, CLI_LABEL_SIZE, "%%%" PRIu32 "%s%s%s%s", value, name[0] == '\0' ? "" : " ", quote,
           name, quote);
}

void cli_value_name(const stow_graph* graph, stow_value value, char out[CLI_LABEL_SIZE]) {
  stowi_report_escape(stow_graph_value_name(graph, value), out, CLI_LABEL_SIZE - 2);
  if (out[0] == '\0') {
    cli_value_label(graph, value, out);
  }
}

void cli_node_label(const stow_graph* graph, stow_node node, char out[CLI_LABEL_SIZE]) {
  char result[CLI_LABEL_SIZE] = "";
  if (stow_graph_result_count(graph, node) > 0) {
    cli_value_label(graph, stow_graph_first_result(graph, node), result);
  }
  snprintf(out, CLI_LABEL_SIZE, "node %" PRIu32 " (%.40s)%s%.*s", node,
           stow_graph_op_name(graph, node), result[0] == '\0' ? "" : " ", CLI_LABEL_SIZE - 64,
           result);
}
