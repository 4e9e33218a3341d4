// Inputs and outputs: what they are called in the model and in C, and whether they outlive a run.
#include <stdio.h>
#include <string.h>

#include "export/export.h"
#include "graphs/info.h"

static bool is_taken(const cli_export* export, bool is_output, stow_str name,
                     const char* identifier) {
  const cli_port* ports = export->ports.items;
  for (size_t i = 0; i < export->ports.count; ++i) {
    stow_str own = {ports[i].name.data, ports[i].name.size};
    if (ports[i].is_output == is_output &&
        (identifier != NULL ? strcmp(ports[i].identifier, identifier) == 0
                            : stow_str_equal(own, name))) {
      return true;
    }
  }
  return false;
}

// `x`, or `x_2` where there is an x already.
static void make_identifier(const cli_export* export, bool is_output, stow_str name,
                            char out[CLI_IDENTIFIER_SIZE]) {
  cli_identifier(name, out);
  size_t size = strlen(out);
  for (unsigned number = 2; is_taken(export, is_output, name, out); ++number) {
    snprintf(out + size, CLI_IDENTIFIER_SIZE - size, "_%u", number);
  }
}

// Whether a run leaves its bytes alone: it lives to the end, and nothing but views lies over it.
static bool is_kept(const cli_export* export, stow_value input) {
  const stow_plan* plan = export->plan;
  const stow_graph* graph = export->graph;
  bool is_kept = cli_plan_value(plan, input).end > stow_plan_step_count(plan);
  for (stow_value value = input + 1; value < stow_graph_value_count(graph) && is_kept; ++value) {
    stow_node node = stow_graph_producer(graph, value);
    stow_view view;
    is_kept = stow_plan_root(plan, value) != input ||
              (stow_graph_view(graph, node, value - stow_graph_first_result(graph, node), &view) &&
               !stow_graph_op_desc(graph, node)->writes_view);
  }
  return is_kept;
}

static cli_exit add_port(cli_export* export, stow_value value, bool is_output, stow_str name) {
  cli_port port = {
      .value = value, .is_output = is_output, .is_kept = !is_output && is_kept(export, value)};
  stow_string_init(&port.name, stow_allocator_default());
  make_identifier(export, is_output, name, port.identifier);
  if (stow_string_append(&port.name, name.data, name.size) != STOW_OK ||
      !cli_list_add(&export->ports, &port, sizeof port)) {
    stow_string_free(&port.name);
    return cli_fail_memory();
  }
  return CLI_YES;
}

// An input whose value is known is no longer one.
static bool is_input(const stow_graph* graph, stow_node node) {
  return stow_graph_op(graph, node) == STOW_OP_INPUT &&
         stow_graph_data(graph, stow_graph_first_result(graph, node), NULL) == NULL;
}

cli_exit cli_export_find_ports(cli_export* export) {
  const stow_graph* graph = export->graph;
  cli_exit code = CLI_YES;
  for (stow_node node = 0; node < stow_graph_node_count(graph) && code == CLI_YES; ++node) {
    if (is_input(graph, node)) {
      stow_value value = stow_graph_first_result(graph, node);
      code = add_port(export, value, false, stow_graph_value_name(graph, value));
    }
  }
  for (size_t i = 0; i < stow_graph_output_count(graph) && code == CLI_YES; ++i) {
    stow_str name = cli_run_output_name(&export->run, i);
    code = add_port(export, stow_graph_outputs(graph)[i], true, name);
  }
  return code;
}
