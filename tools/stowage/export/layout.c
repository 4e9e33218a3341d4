// Where everything is. Activations and scratch have slots in the arena; weights lie beside it, and
// what is only another look at a weight lies in it. What a program cannot do is refused here,
// before anything is written.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "export/export.h"
#include "graphs/info.h"

#define WEIGHT_FILE_BYTES (UINT64_C(2) << 20)  // about 6 MB of text: compilers cope

// ---------------------------------------------------------------------------------------------
// Names

const char* cli_op_identifier(stow_op op) {
  static const char* const names[] = {
#define STOW_OP(name, number, text) [number] = #name,
#include <stowage/ops.def>
#undef STOW_OP
  };
  return op < sizeof names / sizeof names[0] ? names[op] : NULL;
}

// ---------------------------------------------------------------------------------------------
// What no program has

static cli_exit refuse_value(const cli_export* export, stow_value value, const char* why) {
  char label[CLI_LABEL_SIZE];
  cli_value_label(export->graph, value, label);
  return cli_fail(CLI_BAD_INPUT, "%s: %s %s", export->run.job.source.label, label, why);
}

// A program has no shape functions: dims are the same in every run.
static cli_exit refuse_bounded(const cli_export* export) {
  for (stow_value value = 0; value < stow_graph_value_count(export->graph); ++value) {
    if (stow_graph_is_bounded(export->graph, value) ||
        stow_graph_is_data_dependent(export->graph, value)) {
      return refuse_value(export, value,
                          "has data-dependent dimensions; exported programs need static shapes");
    }
  }
  return CLI_YES;
}

// What a loop collects is moved as bytes.
static cli_exit refuse_loop(const cli_export* export, stow_node loop) {
  const stow_graph* graph = export->graph;
  cli_body body = cli_body_of(graph, loop);
  const stow_value* yields = stow_graph_operands(graph, body.yield);
  for (size_t k = body.carried; k < stow_graph_result_count(graph, loop); ++k) {
    const stow_type* type = stow_graph_type(graph, yields[body.carry.first_yield + k]);
    uint64_t elements;
    if (stow_type_elements(type, &elements) != STOW_OK ||
        elements % 8 * stow_dtype_bits(type->dtype) % 8 != 0) {
      return refuse_value(export, stow_graph_first_result(graph, loop) + (stow_value)k,
                          "collects elements that are not a whole number of bytes");
    }
  }
  return CLI_YES;
}

cli_body cli_body_of(const stow_graph* graph, stow_node loop) {
  stow_region region = stow_graph_owned_region(graph, loop, 0);
  cli_body body = {.args = cli_region_info(graph, region).args,
                   .yield = cli_region_info(graph, region).last,
                   .carry = stow_graph_op_desc(graph, loop)->carry};
  size_t operands = stow_graph_operand_count(graph, loop);
  if (body.args != STOW_NODE_NONE && operands > body.carry.first_operand) {
    body.carried = operands - body.carry.first_operand;
  }
  return body;
}

// ---------------------------------------------------------------------------------------------
// Nodes

static bool is_same_attr(const stow_attr* a, const stow_attr* b) {
  if (!stow_str_equal(a->name, b->name) || a->kind != b->kind || a->count != b->count) {
    return false;
  }
  switch (a->kind) {
    case STOW_ATTR_INT: return a->i == b->i;
    case STOW_ATTR_FLOAT: return memcmp(&a->f, &b->f, sizeof a->f) == 0;
    case STOW_ATTR_BOOL: return a->b == b->b;
    case STOW_ATTR_STRING: return stow_str_equal(a->s, b->s);
    case STOW_ATTR_INTS:
      return a->count == 0 || memcmp(a->ints, b->ints, a->count * sizeof *a->ints) == 0;
    default: return false;  // long lists are hardly ever the same
  }
}

static bool has_same_attrs(const stow_graph* graph, stow_node a, stow_node b) {
  size_t count = stow_graph_attr_count(graph, a);
  bool is_same = stow_graph_op(graph, a) == stow_graph_op(graph, b) &&
                 count == stow_graph_attr_count(graph, b);
  for (size_t i = 0; i < count && is_same; ++i) {
    is_same = is_same_attr(stow_graph_attr_at(graph, a, i), stow_graph_attr_at(graph, b, i));
  }
  return is_same;
}

#define LOOKED_BACK 64  // nodes whose attributes are compared: enough to find blocks that repeat

static stow_node find_same_attrs(const cli_export* export, stow_node node) {
  size_t looked = 0;
  for (stow_node other = node; other-- > 0 && looked < LOOKED_BACK;) {
    if (export->nodes[other].step != SIZE_MAX && export->nodes[other].attrs == other) {
      looked += stow_graph_op(export->graph, other) == stow_graph_op(export->graph, node);
      if (has_same_attrs(export->graph, other, node)) {
        return other;
      }
    }
  }
  return node;
}

static cli_exit add_kernel(cli_export* export, stow_node node) {
  stow_op op = stow_graph_op(export->graph, node);
  const char* name = cli_op_identifier(op);
  if (name == NULL || !cli_source_set_add_kernel(&export->library, name)) {
    return cli_fail(CLI_BAD_INPUT, "%s: no kernel for '%s'", export->run.job.source.label,
                    stow_graph_op_desc(export->graph, node)->name);
  }
  size_t results = stow_graph_result_count(export->graph, node);
  export->most_results = results > export->most_results ? results : export->most_results;
  return CLI_YES;
}

// Kernels are run in the order of the plan; attributes are written in the order of the nodes.
static cli_exit lay_out_nodes(cli_export* export) {
  const stow_graph* graph = export->graph;
  const stow_node* order = stow_plan_order(export->plan);
  uint32_t count = stow_plan_step_count(export->plan);
  cli_exit code = CLI_YES;
  for (stow_node node = 0; node < stow_graph_node_count(graph); ++node) {
    export->nodes[node] = (cli_node){.step = SIZE_MAX, .attrs = node};
  }
  for (uint32_t step = 0; step < count && code == CLI_YES; ++step) {
    stow_node node = order[step];
    stow_op op = stow_graph_op(graph, node);
    if (stow_kernels_get(NULL, op) != NULL) {
      export->nodes[node].step = export->step_count++;
      code = add_kernel(export, node);
    } else if (stow_graph_op_desc(graph, node)->region_count > 0) {
      export->has_regions = true;
      code = op == STOW_OP_LOOP ? refuse_loop(export, node) : CLI_YES;
    }
  }
  for (stow_node node = 0; node < stow_graph_node_count(graph); ++node) {
    if (export->nodes[node].step != SIZE_MAX) {
      export->nodes[node].attrs = find_same_attrs(export, node);
    }
  }
  return code;
}

// Of several pieces of a node's scratch the largest: what its kernel asked for is not larger.
static void lay_out_scratch(cli_export* export) {
  for (size_t i = 0; i < stow_plan_scratch_count(export->plan); ++i) {
    stow_node node;
    stow_slot slot;
    uint64_t alignment;
    stow_plan_scratch_slot(export->plan, i, &node, &slot, &alignment);
    if (slot.offset % 64 == 0 && slot.size > export->nodes[node].scratch.size) {
      export->nodes[node].scratch = slot;
    }
  }
}

// ---------------------------------------------------------------------------------------------
// Weights

static cli_exit add_weight(cli_export* export, stow_value value) {
  size_t size = 0;
  stow_slot slot;
  const void* data = stow_graph_data(export->graph, value, &size);
  const cli_feed* feed =
      data == NULL ? cli_find_feed(export->run.feeds.items, export->run.feeds.count, value) : NULL;
  if (feed != NULL) {
    data = feed->tensor.data;
    size = stow_tensor_bytes(&feed->tensor);
  }
  if (data == NULL || size == 0) {
    return CLI_YES;
  }
  cli_weight weight = {.value = value,
                       .data = data,
                       .size = size,
                       .is_preset = stow_plan_value_slot(export->plan, value, &slot)};
  if (!weight.is_preset) {
    export->places[value] =
        (cli_place){.is_there = true, .weight = export->weights.count, .offset = 0};
  }
  export->weight_bytes += size;
  return cli_list_add(&export->weights, &weight, sizeof weight) ? CLI_YES : cli_fail_memory();
}

static void mark_used(const cli_export* export, bool* used) {
  const stow_graph* graph = export->graph;
  for (stow_node node = 0; node < stow_graph_node_count(graph); ++node) {
    for (size_t k = 0; k < stow_graph_operand_count(graph, node); ++k) {
      stow_value operand = stow_graph_operands(graph, node)[k];
      if (operand != STOW_VALUE_NONE) {
        used[operand] = true;
      }
    }
  }
  for (size_t i = 0; i < stow_graph_output_count(graph); ++i) {
    used[stow_graph_outputs(graph)[i]] = true;
  }
}

static cli_exit lay_out_weights(cli_export* export) {
  const stow_graph* graph = export->graph;
  uint32_t count = stow_graph_value_count(graph);
  bool* used = calloc((size_t)count + 1, sizeof *used);
  if (used == NULL) {
    return cli_fail_memory();
  }
  mark_used(export, used);
  cli_exit code = CLI_YES;
  for (stow_value value = 0; value < count && code == CLI_YES; ++value) {
    if (used[value] && stow_graph_is_boundary(graph, value)) {
      code = add_weight(export, value);
    }
  }
  free(used);
  return code;
}

// A file is closed where the next weight would make it too large.
static void divide_weights(cli_export* export) {
  cli_weight* weights = export->weights.items;
  uint64_t filled = 0;
  export->file_count = export->weights.count > 0;
  for (size_t i = 0; i < export->weights.count; ++i) {
    if (filled > 0 && filled + weights[i].size > WEIGHT_FILE_BYTES) {
      ++export->file_count;
      filled = 0;
    }
    filled += weights[i].size;
    weights[i].file = export->file_count - 1;
  }
}

// ---------------------------------------------------------------------------------------------
// Values

// A view of what has no slot: bytes of its operand.
static bool follow_view(const cli_export* export, stow_value value, cli_place* out) {
  const stow_graph* graph = export->graph;
  stow_node node = stow_graph_producer(graph, value);
  stow_view view;
  if (!stow_graph_view(graph, node, value - stow_graph_first_result(graph, node), &view)) {
    return false;
  }
  stow_value parent = stow_graph_operands(graph, node)[view.operand];
  uint64_t bits = view.element_offset * stow_dtype_bits(stow_graph_type(graph, parent)->dtype);
  *out = export->places[parent];
  out->offset += bits / 8;
  return out->is_there;
}

static cli_exit lay_out_value(cli_export* export, stow_value value) {
  cli_place* place = &export->places[value];
  stow_slot slot;
  uint64_t bytes;
  if (place->is_there) {
    return CLI_YES;
  }
  if (stow_plan_value_slot(export->plan, value, &slot)) {
    *place = (cli_place){.is_there = true, .weight = SIZE_MAX, .offset = slot.offset};
    return CLI_YES;
  }
  if (follow_view(export, value, place) ||
      (stow_type_bytes(stow_graph_type(export->graph, value), &bytes) == STOW_OK && bytes == 0)) {
    return CLI_YES;
  }
  stow_node node = stow_graph_producer(export->graph, value);
  bool is_weight = stow_graph_is_boundary(export->graph, value) &&
                   stow_graph_op(export->graph, node) != STOW_OP_INPUT;
  return is_weight ? CLI_YES  // nothing uses it
                   : refuse_value(export, value, "has no slot in the arena");
}

cli_exit cli_export_lay_out(cli_export* export) {
  const stow_graph* graph = export->graph;
  export->places = calloc((size_t)stow_graph_value_count(graph) + 1, sizeof *export->places);
  export->nodes = calloc((size_t)stow_graph_node_count(graph) + 1, sizeof *export->nodes);
  if (export->places == NULL || export->nodes == NULL) {
    return cli_fail_memory();
  }
  cli_exit code = refuse_bounded(export);
  code = code == CLI_YES ? lay_out_nodes(export) : code;
  code = code == CLI_YES ? lay_out_weights(export) : code;
  for (stow_value value = 0; value < stow_graph_value_count(graph) && code == CLI_YES; ++value) {
    code = lay_out_value(export, value);
  }
  lay_out_scratch(export);
  divide_weights(export);
  return code;
}

void cli_export_free(cli_export* export) {
  cli_port* ports = export->ports.items;
  for (size_t i = 0; i < export->ports.count; ++i) {
    stow_string_free(&ports[i].name);
  }
  cli_list_free(&export->ports, sizeof(cli_port));
  cli_list_free(&export->weights, sizeof(cli_weight));
  free(export->places);
  free(export->nodes);
  cli_source_set_free(&export->library);
  cli_source_set_free(&export->tool);
  cli_folder_close(&export->folder);
}
