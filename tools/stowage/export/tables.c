// NAME.h and NAME.c: the arena, and all that the steps of the plan are given, as constants.
#include <inttypes.h>
#include <string.h>

#include "export/export.h"
#include "graphs/info.h"

// ---------------------------------------------------------------------------------------------
// Types

static const char* c_type(stow_dtype dtype) {
  static const char* const words[] = {"uint8_t", "uint8_t", "uint16_t", "uint32_t", "uint64_t"};
  uint32_t bits = stow_dtype_bits(dtype);
  size_t width = bits < 8 ? 0 : bits == 8 ? 1 : bits == 16 ? 2 : bits == 32 ? 3 : 4;
  switch (stow_dtype_kind_of(dtype)) {
    case STOW_KIND_COMPLEX: return bits == 64 ? "float" : "double";
    case STOW_KIND_FLOAT: return bits == 32 ? "float" : bits == 64 ? "double" : words[width];
    case STOW_KIND_SIGNED: return width == 0 ? words[0] : words[width] + 1;  // without the `u`
    default: return words[width];
  }
}

// `STOW_F32`
static const char* dtype_identifier(stow_dtype dtype) {
  switch (dtype) {
#define NAME(name, number, text, bits, kind) \
  case STOW_##name: return "STOW_" #name;
    STOW_DTYPE_LIST(NAME)
#undef NAME
    default: return "STOW_DTYPE_COUNT";
  }
}

// ---------------------------------------------------------------------------------------------
// NAME.h

static void print_origin(cli_output* output, const cli_export* export) {
  stow_str graph = stow_graph_name(export->graph);
  cli_print(output, "// Made by stowage %s from the graph ", stow_version());
  cli_print_c_comment(output, graph);
  cli_print(output, ", fingerprint %016" PRIx64 ".\n", cli_plan_info(export->plan).fingerprint);
}

static void print_accessor(cli_output* output, const cli_export* export, const cli_port* port) {
  stow_dtype dtype = stow_graph_type(export->graph, port->value)->dtype;
  cli_print(output, "%s%s* %s_%s_%s(void)", port->is_output ? "const " : "", c_type(dtype),
            export->name, port->is_output ? "out" : "in", port->identifier);
}

static void print_port(cli_output* output, const cli_export* export, const cli_port* port) {
  const stow_type* type = stow_graph_type(export->graph, port->value);
  char text[CLI_TYPE_TEXT_SIZE];
  uint64_t bytes = 0;
  (void)stow_type_bytes(type, &bytes);
  cli_format_type(type, stow_graph_dims(export->graph), text);
  cli_print(output, "// %s ", port->is_output ? "output" : "input");
  cli_print_c_comment(output, (stow_str){port->name.data, port->name.size});
  cli_print(output, ": %s, %" PRIu64 " bytes%s\n", text, bytes,
            port->is_output ? ""
            : port->is_kept ? ", kept from run to run"
                            : ", to be set before every run");
  print_accessor(output, export, port);
  cli_print(output, ";\n");
}

void cli_export_print_header(cli_output* output, const void* user) {
  const cli_export* export = user;
  const cli_port* ports = export->ports.items;
  print_origin(output, export);
  cli_print(output,
            "//\n// Set the inputs, run, read the outputs, which stay until the next run. There is "
            "one arena: one\n// run at a time.\n"
            "#ifndef %s_H_\n#define %s_H_\n\n#include <stdint.h>\n\n"
            "#include \"program/program.h\"\n\n"
            "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n",
            export->macro, export->macro);
  cli_print(output, "#define %s_ARENA_SIZE %" PRIu64 "  // bytes\n\n", export->macro,
            stow_plan_arena_size(export->plan));
  for (size_t i = 0; i < export->ports.count; ++i) {
    print_port(output, export, &ports[i]);
  }
  cli_print(
      output,
      "\n// 0, or a stow_status; then the outputs mean nothing, and the text below says why.\n"
      "int %s_run(void);\n"
      "const char* %s_error(void);\n\n"
      "// The same for code that knows no names.\n"
      "extern const stow_program %s_program;\n\n"
      "#ifdef __cplusplus\n}  // extern \"C\"\n#endif\n\n"
      "#endif  // %s_H_\n",
      export->name, export->name, export->name, export->macro);
}

// ---------------------------------------------------------------------------------------------
// Tensors

static void print_place(cli_output* output, const cli_export* export, stow_value value) {
  const cli_place* place = &export->places[value];
  const cli_weight* weights = export->weights.items;
  if (!place->is_there) {
    cli_print(output, "arena");  // no elements, but never NULL: kernels add to pointers
  } else if (place->weight == SIZE_MAX) {
    cli_print(output, "arena + %" PRIu64, place->offset);
  } else {
    cli_print(output, "(unsigned char*)%s_w%" PRIu32 " + %" PRIu64, export->name,
              weights[place->weight].value, place->offset);
  }
}

static void print_tensors(cli_output* output, const cli_export* export) {
  cli_print(output, "static const stow_tensor tensors[] = {\n");
  for (stow_value value = 0; value < stow_graph_value_count(export->graph); ++value) {
    const stow_type* type = stow_graph_type(export->graph, value);
    cli_print(output, "    {");
    print_place(output, export, value);
    cli_print(output, ", %s, %" PRIu32 ", {", dtype_identifier(type->dtype), type->rank);
    for (uint32_t i = 0; i < type->rank; ++i) {
      cli_print(output, "%s", i == 0 ? "" : ", ");
      cli_print_c_int(output, type->dims[i]);
    }
    cli_print(output, "%s}, {0}},  // %" PRIu32 " ", type->rank == 0 ? "0" : "", value);
    cli_print_c_comment(output, stow_graph_value_name(export->graph, value));
    cli_print(output, "\n");
  }
  cli_print(output, "};\n\n");
}

// ---------------------------------------------------------------------------------------------
// Attributes: as given, then the defaults of those that are not, as the executor has them.

static size_t list_attrs(const stow_graph* graph, stow_node node, size_t index,
                         const stow_attr** out) {
  const stow_ops* ops = stow_graph_ops(graph);
  stow_op op = stow_graph_op(graph, node);
  size_t given = stow_graph_attr_count(graph, node);
  size_t count = given;
  *out = index < given ? stow_graph_attr_at(graph, node, index) : NULL;
  for (size_t i = 0; i < stow_ops_attr_count(ops, op); ++i) {
    bool is_required;
    const stow_attr* attr = stow_ops_attr(ops, op, i, &is_required);
    bool is_given = is_required;
    for (size_t k = 0; k < given && !is_given; ++k) {
      is_given = stow_str_equal(stow_graph_attr_at(graph, node, k)->name, attr->name);
    }
    if (!is_given) {
      *out = count == index ? attr : *out;
      ++count;
    }
  }
  return count;
}

static size_t count_attrs(const stow_graph* graph, stow_node node) {
  const stow_attr* unused;
  return list_attrs(graph, node, SIZE_MAX, &unused);
}

static void print_str(cli_output* output, stow_str text) {
  cli_print(output, "{");
  cli_print_c_string(output, text);
  cli_print(output, ", %zu}", text.size);
}

static bool is_list(const stow_attr* attr) {
  return (attr->kind == STOW_ATTR_INTS || attr->kind == STOW_ATTR_FLOATS ||
          attr->kind == STOW_ATTR_STRINGS) &&
         attr->count > 0;
}

#define ITEMS_PER_LINE 16

static void print_list(cli_output* output, stow_node node, size_t index, const stow_attr* attr) {
  const char* type = attr->kind == STOW_ATTR_INTS     ? "int64_t"
                     : attr->kind == STOW_ATTR_FLOATS ? "double"
                                                      : "stow_str";
  cli_print(output, "static const %s attr_%" PRIu32 "_%zu[] = {", type, node, index);
  for (size_t i = 0; i < attr->count; ++i) {
    cli_print(output, "%s", i == 0 ? "" : i % ITEMS_PER_LINE == 0 ? ",\n    " : ", ");
    if (attr->kind == STOW_ATTR_INTS) {
      cli_print_c_int(output, attr->ints[i]);
    } else if (attr->kind == STOW_ATTR_FLOATS) {
      cli_print_c_float(output, attr->floats[i]);
    } else {
      print_str(output, attr->strings[i]);
    }
  }
  cli_print(output, "};\n");
}

static void print_attr(cli_output* output, stow_node node, size_t index, const stow_attr* attr) {
  static const char* const kinds[] = {"INT",  "FLOAT",  "BOOL",   "STRING",
                                      "INTS", "FLOATS", "STRINGS"};
  static const char* const fields[] = {"i", "f", "b", "s", "ints", "floats", "strings"};
  cli_print(output, "    {.name = ");
  print_str(output, attr->name);
  cli_print(output, ", .kind = STOW_ATTR_%s", kinds[attr->kind]);
  if (is_list(attr)) {
    cli_print(output, ", .count = %zu, .%s = attr_%" PRIu32 "_%zu", attr->count, fields[attr->kind],
              node, index);
  } else if (attr->kind == STOW_ATTR_INT) {
    cli_print(output, ", .i = ");
    cli_print_c_int(output, attr->i);
  } else if (attr->kind == STOW_ATTR_FLOAT) {
    cli_print(output, ", .f = ");
    cli_print_c_float(output, attr->f);
  } else if (attr->kind == STOW_ATTR_BOOL) {
    cli_print(output, ", .b = %s", attr->b ? "true" : "false");
  } else if (attr->kind == STOW_ATTR_STRING) {
    cli_print(output, ", .s = ");
    print_str(output, attr->s);
  }
  cli_print(output, "},\n");
}

static void print_attrs(cli_output* output, const cli_export* export, stow_node node) {
  const stow_attr* attr;
  size_t count = count_attrs(export->graph, node);
  for (size_t i = 0; i < count; ++i) {
    list_attrs(export->graph, node, i, &attr);
    if (is_list(attr)) {
      print_list(output, node, i, attr);
    }
  }
  if (count > 0) {
    cli_print(output, "static const stow_attr attrs_%" PRIu32 "[] = {\n", node);
    for (size_t i = 0; i < count; ++i) {
      list_attrs(export->graph, node, i, &attr);
      print_attr(output, node, i, attr);
    }
    cli_print(output, "};\n");
  }
}

// ---------------------------------------------------------------------------------------------
// Steps

static void print_kernels(cli_output* output, const cli_export* export) {
  for (stow_op op = 0; op < STOW_OP_CORE_COUNT; ++op) {
    bool is_used = false;
    for (stow_node node = 0; node < stow_graph_node_count(export->graph) && !is_used; ++node) {
      is_used = export->nodes[node].step != SIZE_MAX && stow_graph_op(export->graph, node) == op;
    }
    if (is_used) {
      cli_print(output, "extern const stow_kernel stowi_kernel_%s;\n", cli_op_identifier(op));
    }
  }
  cli_print(output, "\n");
}

static size_t print_operands(cli_output* output, const cli_export* export) {
  const stow_node* order = stow_plan_order(export->plan);
  size_t total = 0;
  for (uint32_t step = 0; step < stow_plan_step_count(export->plan); ++step) {
    stow_node node = order[step];
    size_t count = stow_graph_operand_count(export->graph, node);
    if (export->nodes[node].step == SIZE_MAX || count == 0) {
      continue;
    }
    cli_print(output, total == 0 ? "static const stow_tensor* const operands[] = {\n    " : "    ");
    for (size_t k = 0; k < count; ++k) {
      stow_value operand = stow_graph_operands(export->graph, node)[k];
      const char* space = k + 1 == count ? "\n" : " ";
      if (operand == STOW_VALUE_NONE) {
        cli_print(output, "NULL,%s", space);
      } else {
        cli_print(output, "&tensors[%" PRIu32 "],%s", operand, space);
      }
    }
    total += count;
  }
  cli_print(output, total == 0 ? "" : "};\n\n");
  return total;
}

static void print_step(cli_output* output, const cli_export* export, stow_node node,
                       size_t first_operand) {
  const stow_graph* graph = export->graph;
  const cli_node* entry = &export->nodes[node];
  const char* op = cli_op_identifier(stow_graph_op(graph, node));
  size_t operands = stow_graph_operand_count(graph, node);
  size_t results = stow_graph_result_count(graph, node);
  size_t attrs = count_attrs(graph, node);
  char label[CLI_LABEL_SIZE];
  cli_node_label(graph, node, label);
  cli_print(output, "    {&stowi_kernel_%s, ", op);
  cli_print_c_string(output, stow_str_of(label));
  if (operands == 0) {
    cli_print(output, ", NULL, ");
  } else {
    cli_print(output, ", operands + %zu, ", first_operand);
  }
  cli_print(output, "tensors + %" PRIu32 ", ",
            results == 0 ? 0 : stow_graph_first_result(graph, node));
  if (attrs == 0) {
    cli_print(output, "NULL, ");
  } else {
    cli_print(output, "attrs_%" PRIu32 ", ", entry->attrs);
  }
  if (entry->scratch.size == 0) {
    cli_print(output, "arena, 0, ");
  } else {
    cli_print(output, "arena + %" PRIu64 ", %" PRIu64 ", ", entry->scratch.offset,
              entry->scratch.size);
  }
  cli_print(output, "%zu, %zu, %zu, STOW_OP_%s, %" PRIu32 "},\n", operands, results, attrs, op,
            node);
}

static void print_steps(cli_output* output, const cli_export* export) {
  const stow_node* order = stow_plan_order(export->plan);
  size_t first_operand = 0;
  if (export->step_count == 0) {
    return;
  }
  cli_print(output, "static const stow_program_step steps[] = {\n");
  for (uint32_t step = 0; step < stow_plan_step_count(export->plan); ++step) {
    stow_node node = order[step];
    if (export->nodes[node].step != SIZE_MAX) {
      print_step(output, export, node, first_operand);
      first_operand += stow_graph_operand_count(export->graph, node);
    }
  }
  cli_print(output, "};\n\n");
}

// What a run writes besides the arena.
static void print_state(cli_output* output, const cli_export* export) {
  size_t count = export->most_results == 0 ? 1 : export->most_results;
  cli_print(output,
            "static stow_tensor results[%zu];\n"
            "static stow_tensor* const result_list[] = {",
            count);
  for (size_t i = 0; i < count; ++i) {
    cli_print(output, "%s&results[%zu]", i == 0 ? "" : ", ", i);
  }
  cli_print(output, "};\nstatic stow_program_state state = {.results = result_list};\n\n");
}

// ---------------------------------------------------------------------------------------------
// Ports

static size_t print_port_list(cli_output* output, const cli_export* export, bool is_output) {
  const cli_port* ports = export->ports.items;
  const char* name = is_output ? "outputs" : "inputs";
  size_t count = 0;
  for (size_t i = 0; i < export->ports.count; ++i) {
    if (ports[i].is_output == is_output) {
      if (count++ == 0) {
        cli_print(output, "static const stow_program_port %s[] = {\n", name);
      }
      cli_print(output, "    {");
      print_str(output, (stow_str){ports[i].name.data, ports[i].name.size});
      cli_print(output, ", &tensors[%" PRIu32 "]},\n", ports[i].value);
    }
  }
  cli_print(output, count == 0 ? "" : "};\n\n");
  return count;
}

static void print_ports(cli_output* output, const cli_export* export) {
  const cli_port* ports = export->ports.items;
  for (size_t i = 0; i < export->ports.count; ++i) {
    print_accessor(output, export, &ports[i]);
    cli_print(output, " { return tensors[%" PRIu32 "].data; }\n\n", ports[i].value);
  }
  cli_print(output, "const char* %s_error(void) { return state.message; }\n\n", export->name);
  size_t inputs = print_port_list(output, export, false);
  size_t outputs = print_port_list(output, export, true);
  cli_print(output,
            "const stow_program %s_program = {\n"
            "    \"%s\", %s_ARENA_SIZE, %zu, %s, %zu, %s, %s_run, %s_error};\n",
            export->name, export->name, export->macro, inputs, inputs == 0 ? "NULL" : "inputs",
            outputs, outputs == 0 ? "NULL" : "outputs", export->name, export->name);
}

void cli_export_print_tables(cli_output* output, const void* user) {
  const cli_export* export = user;
  uint64_t size = stow_plan_arena_size(export->plan);
  print_origin(output, export);
  cli_print(output, "#include \"%s.h\"\n\n#include <math.h>\n#include <string.h>\n\n",
            export->name);
  if (export->weights.count > 0) {
    cli_print(output, "#include \"%s_weights.h\"\n", export->name);
  }
  cli_print(output,
            "#include \"program/%s.h\"\n\n"
            "static _Alignas(%" PRIu64 ") unsigned char arena[%" PRIu64 "];\n\n",
            export->has_regions ? "regions" : "steps", cli_plan_info(export->plan).alignment,
            size == 0 ? 1 : size);
  print_tensors(output, export);
  for (stow_node node = 0; node < stow_graph_node_count(export->graph); ++node) {
    if (export->nodes[node].step != SIZE_MAX && export->nodes[node].attrs == node) {
      print_attrs(output, export, node);
    }
  }
  cli_print(output, "\n");
  print_operands(output, export);
  print_kernels(output, export);
  print_steps(output, export);
  print_state(output, export);
  cli_print(output,
            "#define RUN(first, count)                                    \\\n"
            "  do {                                                       \\\n"
            "    if (!stow_program_run(&state, steps + (first), count)) { \\\n"
            "      return (int)state.status;                              \\\n"
            "    }                                                        \\\n"
            "  } while (0)\n\n");
  cli_export_print_flow(output, export);
  cli_print(output, "\n");
  print_ports(output, export);
}
