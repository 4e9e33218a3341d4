// Inputs and outputs: what they are called in the model and in C, and whether they outlive a run.
#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "export/export.h"
#include "plan/api.h"

static bool is_taken(const stowi_export* program, bool is_output, const char* identifier) {
  for (size_t i = 0; i < program->ports.count; ++i) {
    const stowi_export_port* port = &program->ports.data[i];
    if (port->is_output == is_output && strcmp(port->identifier, identifier) == 0) {
      return true;
    }
  }
  return false;
}

// `x`, or `x_2` where there is an x already.
static void make_identifier(const stowi_export* program, bool is_output, stow_str name,
                            char out[STOWI_EXPORT_NAME_SIZE]) {
  stowi_export_identifier(name, out);
  size_t size = strlen(out);
  for (unsigned number = 2; is_taken(program, is_output, out); ++number) {
    (void)snprintf(out + size, STOWI_EXPORT_NAME_SIZE - size, "_%u", number);
  }
}

// Whether a run leaves its bytes alone: it lives to the end, or where the caller keeps it, and
// nothing but views lies over it.
static bool is_kept_in(const stowi_export* program, const stow_plan* plan, stow_value input) {
  const stow_graph* graph = program->graph;
  bool is_kept = program->places[input].is_external ||
                 stowi_plan_end(plan, input) > stow_plan_step_count(plan);
  for (stow_value value = input + 1; value < program->tables->value_count && is_kept; ++value) {
    stow_node node = stow_graph_producer(graph, value);
    is_kept = stow_plan_root(plan, value) != input ||
              (program->tables->values[value].parent != STOW_VALUE_NONE &&
               !stow_graph_op_desc(graph, node)->writes_view);
  }
  return is_kept;
}

static bool is_kept(const stowi_export* program, stow_value input) {
  bool is_kept = is_kept_in(program, program->plan, input);
  for (size_t r = 0; program->range != NULL && r < program->range->region_count; ++r) {
    is_kept = is_kept && is_kept_in(program, program->range->regions[r].plan, input);
  }
  return is_kept;
}

// Whether it is bound by itself: not with the port of the same value before it.
static bool is_external(const stowi_export* program, stow_value value) {
  bool is_first = true;
  for (size_t i = 0; i < program->ports.count && is_first; ++i) {
    is_first = program->ports.data[i].value != value;
  }
  bool is_outside = program->range == NULL
                        ? program->places[value].is_external && program->places[value].port == value
                        : stowi_export_port_memory(program, value) != 0;
  return is_first && is_outside;
}

static stow_status add_port(stowi_export* program, stow_value value, bool is_output, stow_str name,
                            stow_diag* diag) {
  STOW_TRY(stowi_need_memory(STOWI_VEC_RESERVE(program->allocator, &program->ports, 1) == STOW_OK,
                             diag));
  stowi_export_port port = {.value = value,
                            .is_output = is_output,
                            .is_kept = !is_output && is_kept(program, value),
                            .is_external = is_external(program, value),
                            .name = name};
  make_identifier(program, is_output, name, port.identifier);
  program->ports.data[program->ports.count++] = port;
  return STOW_OK;
}

stow_status stowi_export_find_ports(stowi_export* program, stow_diag* diag) {
  const stow_graph* graph = program->graph;
  for (stow_value value = 0; value < program->tables->value_count; ++value) {
    // An input whose value is known is no longer one.
    if (program->tables->values[value].is_input && stow_graph_data(graph, value, NULL) == NULL) {
      STOW_TRY(add_port(program, value, false, stow_graph_value_name(graph, value), diag));
    }
  }
  for (size_t i = 0; i < stow_graph_output_count(graph); ++i) {
    stow_value value = stow_graph_outputs(graph)[i];
    STOW_TRY(add_port(program, value, true, program->options.output_names[i], diag));
  }
  return STOW_OK;
}
