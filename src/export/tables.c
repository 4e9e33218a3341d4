// NAME.h and NAME.c: the arena, and all that the steps of the plan are given, as constants.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "export/export.h"
#include "plan/api.h"

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

static void print_origin(stowi_export_out* out, const stowi_export* program) {
  stow_str graph = stow_graph_name(program->graph);
  stowi_export_put(out, "// Made by stowage %s from the graph ", stow_version());
  stowi_export_put_comment(out, graph);
  stowi_export_put(out, ", fingerprint %016" PRIx64 ".\n", stowi_plan_fingerprint(program->plan));
}

// `const float* digits_out_y(void)`, or `void digits_bind_out_y(float* bytes)` of what the caller
// has.
static void print_accessor(stowi_export_out* out, const stowi_export* program,
                           const stowi_export_port* port) {
  const char* type = c_type(stow_graph_type(program->graph, port->value)->dtype);
  const char* kind = port->is_output ? "out" : "in";
  if (port->is_external) {
    stowi_export_put(out, "void %s_bind_%s_%s(%s%s* bytes)", program->options.name, kind,
                     port->identifier, port->is_kept ? "const " : "", type);
  } else {
    stowi_export_put(out, "%s%s* %s_%s_%s(void)", port->is_output ? "const " : "", type,
                     program->options.name, kind, port->identifier);
  }
}

static const char* port_words(const stowi_export_port* port) {
  if (port->is_external) {
    return port->is_output ? ", written where it is bound"
           : port->is_kept ? ", read where it is bound"
                           : ", read and written where it is bound";
  }
  return port->is_output ? ""
         : port->is_kept ? ", kept from run to run"
                         : ", to be set before every run";
}

static void print_port(stowi_export_out* out, const stowi_export* program,
                       const stowi_export_port* port) {
  const stowi_exec_value* facts = &program->tables->values[port->value];
  stowi_export_put(out, "// %s ", port->is_output ? "output" : "input");
  stowi_export_put_comment(out, port->name);
  stowi_export_put(out, ": ");
  if (out->status == STOW_OK) {
    const stow_graph* graph =
        program->range == NULL ? program->graph : stowi_plan_formula_graph(program->range->formula);
    const stow_type* type =
        program->range == NULL ? facts->type : stow_graph_type(graph, port->value);
    out->status = stow_type_print(stow_graph_dims(graph), type, out->writer);
  }
  stowi_export_put(out, ", %s%" PRIu64 " bytes%s\n", program->range == NULL ? "" : "at most ",
                   stowi_export_bytes(program, port->value), port_words(port));
  print_accessor(out, program, port);
  stowi_export_put(out, ";\n");
}

#define RANGE_WORDS                                                                          \
  "\n// Bind a shape before the first run: it sets dims and places of tensors, so that the " \
  "pointers "                                                                                \
  "below\n// are others, and inputs must be set again."

void stowi_export_print_header(stowi_export_out* out, const stowi_export* program, size_t unused) {
  (void)unused;
  print_origin(out, program);
  stowi_export_put(
      out,
      "//\n// Set the inputs, run, read the outputs, which stay until the next run. There is "
      "one arena: one\n// run at a time.%s\n"
      "#ifndef %s_H_\n#define %s_H_\n\n#include <stdint.h>\n\n"
      "#include \"program/%s.h\"\n\n"
      "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n",
      program->range != NULL ? RANGE_WORDS
      : program->bound_count > 0
          ? " Bind memory before the first run; its bytes are used until others\n"
            "// are bound."
          : "",
      program->macro, program->macro, program->range == NULL ? "program" : "range");
  stowi_export_put(out, "#define %s_ARENA_SIZE %" PRIu64 "  // bytes\n\n", program->macro,
                   stowi_export_arena_bytes(program));
  if (program->range != NULL) {
    stowi_export_print_bind(out, program, false);
  }
  for (size_t i = 0; i < program->ports.count; ++i) {
    print_port(out, program, &program->ports.data[i]);
  }
  stowi_export_put(
      out,
      "\n// 0, or a stow_status; then the outputs mean nothing, and the text below says why.\n"
      "int %s_run(void);\n"
      "const char* %s_error(void);\n\n"
      "// The same for code that knows no names.\n"
      "extern const stow_program %s_program;\n%s%s%s\n"
      "#ifdef __cplusplus\n}  // extern \"C\"\n#endif\n\n"
      "#endif  // %s_H_\n",
      program->options.name, program->options.name, program->options.name,
      program->range == NULL ? "" : "extern const stow_program_range ",
      program->range == NULL ? "" : program->options.name,
      program->range == NULL ? "" : "_range;\n", program->macro);
}

// ---------------------------------------------------------------------------------------------
// Tensors

void stowi_export_put_tensor(stowi_export_out* out, const stowi_export* program, stow_value value) {
  const stowi_export_tensor* tensor = &program->tensors[value];
  stowi_export_put(out, "%s[%" PRIu32 "]", tensor->is_bound ? "bound" : "tensors", tensor->index);
}

static void print_place(stowi_export_out* out, const stowi_export* program, stow_value value) {
  const stowi_export_place* place = &program->places[value];
  if (place->is_external || (program->range != NULL && program->tensors[value].is_bound)) {
    stowi_export_put(out, "NULL");
  } else if (!place->is_there) {
    stowi_export_put(out, "arena");  // no elements, but never NULL: kernels add to pointers
  } else if (place->weight == SIZE_MAX) {
    stowi_export_put(out, "arena + %" PRIu64, place->offset);
  } else {
    stowi_export_put(out, "(unsigned char*)%s_w%" PRIu32 " + %" PRIu64, program->options.name,
                     program->weights.data[place->weight].value, place->offset);
  }
}

void stowi_export_put_dims(stowi_export_out* out, stow_dtype dtype, uint32_t rank,
                           const int64_t* dims, const int64_t* strides) {
  stowi_export_put(out, "%s, %" PRIu32 ", {", dtype_identifier(dtype), rank);
  for (uint32_t i = 0; i < rank; ++i) {
    stowi_export_put(out, "%s", i == 0 ? "" : ", ");
    stowi_export_put_int(out, dims[i]);
  }
  stowi_export_put(out, "%s}, {", rank == 0 ? "0" : "");
  for (uint32_t i = 0; strides != NULL && i < rank; ++i) {
    stowi_export_put(out, "%s", i == 0 ? "" : ", ");
    stowi_export_put_int(out, strides[i]);
  }
  stowi_export_put(out, "%s}", strides == NULL || rank == 0 ? "0" : "");
}

static void print_tensor(stowi_export_out* out, const stowi_export* program, stow_value value) {
  const stow_type* type = program->tables->values[value].type;
  stow_tensor tensor = {.dtype = type->dtype, .rank = type->rank};
  memcpy(tensor.dims, type->dims, sizeof(tensor.dims));
  stowi_exec_code_stride(program->plan, value, &tensor);
  bool is_pitched = tensor.rank > 0 && tensor.strides[0] != 0;
  stowi_export_put(out, "    {");
  print_place(out, program, value);
  stowi_export_put(out, ", ");
  stowi_export_put_dims(out, tensor.dtype, tensor.rank, tensor.dims,
                        is_pitched ? tensor.strides : NULL);
  stowi_export_put(out, "},  // %" PRIu32 " ", value);
  stowi_export_put_comment(out, stow_graph_value_name(program->graph, value));
  stowi_export_put(out, "\n");
}

static void print_tensors(stowi_export_out* out, const stowi_export* program, bool is_bound) {
  uint32_t count = program->tables->value_count;
  if ((is_bound ? program->bound_count : count - program->bound_count) == 0) {
    return;
  }
  stowi_export_put(out, "static %s[] = {\n",
                   is_bound ? "stow_tensor bound" : "const stow_tensor tensors");
  for (stow_value value = 0; value < count; ++value) {
    if (program->tensors[value].is_bound == is_bound) {
      print_tensor(out, program, value);
    }
  }
  stowi_export_put(out, "};\n\n");
}

// ---------------------------------------------------------------------------------------------
// Attributes

static void print_str(stowi_export_out* out, stow_str text) {
  stowi_export_put(out, "{");
  stowi_export_put_string(out, text);
  stowi_export_put(out, ", %zu}", text.size);
}

static bool is_list(const stow_attr* attr) {
  return (attr->kind == STOW_ATTR_INTS || attr->kind == STOW_ATTR_FLOATS ||
          attr->kind == STOW_ATTR_STRINGS) &&
         attr->count > 0;
}

#define ITEMS_PER_LINE 16

static void print_list(stowi_export_out* out, const char* id, size_t index, const stow_attr* attr) {
  const char* type = attr->kind == STOW_ATTR_INTS     ? "int64_t"
                     : attr->kind == STOW_ATTR_FLOATS ? "double"
                                                      : "stow_str";
  stowi_export_put(out, "static const %s attr_%s_%zu[] = {", type, id, index);
  for (size_t i = 0; i < attr->count; ++i) {
    stowi_export_put(out, "%s", i == 0 ? "" : i % ITEMS_PER_LINE == 0 ? ",\n    " : ", ");
    if (attr->kind == STOW_ATTR_INTS) {
      stowi_export_put_int(out, attr->ints[i]);
    } else if (attr->kind == STOW_ATTR_FLOATS) {
      stowi_export_put_float(out, attr->floats[i]);
    } else {
      print_str(out, attr->strings[i]);
    }
  }
  stowi_export_put(out, "};\n");
}

static void print_attr(stowi_export_out* out, const char* id, size_t index, const stow_attr* attr) {
  static const char* const kinds[] = {"INT",  "FLOAT",  "BOOL",   "STRING",
                                      "INTS", "FLOATS", "STRINGS"};
  static const char* const fields[] = {"i", "f", "b", "s", "ints", "floats", "strings"};
  stowi_export_put(out, "    {.name = ");
  print_str(out, attr->name);
  stowi_export_put(out, ", .kind = STOW_ATTR_%s", kinds[attr->kind]);
  if (is_list(attr)) {
    stowi_export_put(out, ", .count = %zu, .%s = attr_%s_%zu", attr->count, fields[attr->kind], id,
                     index);
  } else if (attr->kind == STOW_ATTR_INT) {
    stowi_export_put(out, ", .i = ");
    stowi_export_put_int(out, attr->i);
  } else if (attr->kind == STOW_ATTR_FLOAT) {
    stowi_export_put(out, ", .f = ");
    stowi_export_put_float(out, attr->f);
  } else if (attr->kind == STOW_ATTR_BOOL) {
    stowi_export_put(out, ", .b = %s", attr->b ? "true" : "false");
  } else if (attr->kind == STOW_ATTR_STRING) {
    stowi_export_put(out, ", .s = ");
    print_str(out, attr->s);
  }
  stowi_export_put(out, "},\n");
}

void stowi_export_print_attrs(stowi_export_out* out, const char* id, const stow_attr* attrs,
                              const uint16_t* ids, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    if (is_list(&attrs[i])) {
      print_list(out, id, i, &attrs[i]);
    }
  }
  if (count > 0) {
    stowi_export_put(out, "static const stow_attr attrs_%s[] = {\n", id);
    for (size_t i = 0; i < count; ++i) {
      print_attr(out, id, i, &attrs[i]);
    }
    stowi_export_put(out, "};\nstatic const uint16_t attr_ids_%s[] = {", id);
    for (size_t i = 0; i < count; ++i) {
      stowi_export_put(out, "%s%u", i == 0 ? "" : ", ", (unsigned)ids[i]);
    }
    stowi_export_put(out, "};\n");
  }
}

static void print_node_attrs(stowi_export_out* out, const stowi_export* program, stow_node node) {
  const stowi_exec_step* step = &program->tables->steps[node];
  char id[16];
  (void)snprintf(id, sizeof id, "%" PRIu32, node);
  stowi_export_print_attrs(out, id, step->attrs, step->attr_ids, step->attr_count);
}

// ---------------------------------------------------------------------------------------------
// Steps

stow_node stowi_export_next_call(const stowi_exec_code* code, size_t* at) {
  while (*at < code->count) {
    const stowi_exec_instruction* in = &code->instructions[(*at)++];
    if (in->action == STOWI_EXEC_CALL) {
      return in->node;
    }
  }
  return STOW_NODE_NONE;
}

static void print_kernels(stowi_export_out* out, const stowi_export* program) {
  bool is_used[STOW_OP_CORE_COUNT] = {false};
  size_t at = 0;
  for (stow_node node; (node = stowi_export_next_call(&program->code, &at)) != STOW_NODE_NONE;) {
    is_used[program->tables->steps[node].op] = true;
  }
  for (size_t i = 0; i < program->bodies.count; ++i) {
    const stowi_kernel_block_body* body = program->bodies.data[i];
    for (uint32_t step = 0; step < body->step_count; ++step) {
      is_used[body->steps[step].op] = true;
    }
  }
  for (stow_op op = 0; op < STOW_OP_CORE_COUNT; ++op) {
    if (is_used[op]) {
      stowi_export_put(out, "extern const stow_kernel stowi_kernel_%s;\n", stowi_export_op(op));
    }
  }
  stowi_export_put(out, "\n");
}

static void print_operands(stowi_export_out* out, const stowi_export* program) {
  size_t total = 0;
  size_t at = 0;
  for (stow_node node; (node = stowi_export_next_call(&program->code, &at)) != STOW_NODE_NONE;) {
    const stowi_exec_step* step = &program->tables->steps[node];
    if (step->operand_count == 0) {
      continue;
    }
    stowi_export_put(out,
                     total == 0 ? "static const stow_tensor* const operands[] = {\n    " : "    ");
    for (size_t k = 0; k < step->operand_count; ++k) {
      const char* space = k + 1 == step->operand_count ? "\n" : " ";
      if (step->operands[k] == STOW_VALUE_NONE) {
        stowi_export_put(out, "NULL,%s", space);
      } else {
        stowi_export_put(out, "&");
        stowi_export_put_tensor(out, program, step->operands[k]);
        stowi_export_put(out, ",%s", space);
      }
    }
    total += step->operand_count;
  }
  stowi_export_put(out, total == 0 ? "" : "};\n\n");
}

static void print_step(stowi_export_out* out, const stowi_export* program, stow_node node,
                       size_t first_operand) {
  const stowi_exec_step* step = &program->tables->steps[node];
  const char* op = stowi_export_op(step->op);
  stow_slot scratch = program->code.scratch[node];
  bool is_fixed = program->range == NULL;  // else it is found when it runs
  char label[STOWI_EXPORT_LABEL_SIZE];
  stowi_export_label(program->graph, node, label);
  stowi_export_put(out, "    {&stowi_kernel_%s, ", op);
  stowi_export_put_string(out, stow_str_of(label));
  if (step->operand_count == 0) {
    stowi_export_put(out, ", NULL, ");
  } else {
    stowi_export_put(out, ", operands + %zu, ", first_operand);
  }
  stowi_export_put(out, "&");
  stowi_export_put_tensor(out, program, step->result_count == 0 ? 0 : step->first_result);
  stowi_export_put(out, ", ");
  if (step->attr_count == 0) {
    stowi_export_put(out, "NULL, NULL, ");
  } else {
    stowi_export_put(out, "attrs_%" PRIu32 ", attr_ids_%" PRIu32 ", ", program->attrs[node],
                     program->attrs[node]);
  }
  if (scratch.size == 0 || !is_fixed) {
    stowi_export_put(out, "arena, 0, ");
  } else {
    stowi_export_put(out, "arena + %" PRIu64 ", %" PRIu64 ", ", scratch.offset, scratch.size);
  }
  bool is_blocks = stowi_export_blocks_of(program, node) != NULL;
  bool is_stream = stowi_export_stream_of(program, node) != NULL;
  stowi_export_put(out, "%zu, %zu, %zu, STOW_OP_%s, %" PRIu32 ", %" PRIu32 ", %" PRIu64 "u, ",
                   step->operand_count, step->result_count, step->attr_count, op, step->seed,
                   is_blocks || is_stream || !is_fixed ? 0 : program->code.variants[node],
                   step->packed);
  if (is_blocks) {
    stowi_export_put(out, "&%s_%" PRIu32, is_fixed ? "blocks" : "shaped", node);
  } else if (is_stream) {
    stowi_export_put(out, "&stream_%" PRIu32, node);
  } else {
    stowi_export_put(out, "NULL");
  }
  const stowi_exec_rows* by = program->code.rows == NULL ? NULL : &program->code.rows[node];
  stowi_export_put(out, ", %" PRIu64 "u, %" PRIu64 "u},\n", by == NULL ? 0 : by->rows,
                   by == NULL ? 0 : by->still);
}

// Where those of |node| begin.
static size_t first_operand_of(const stowi_export* program, stow_node node) {
  size_t first = 0;
  size_t at = 0;
  for (stow_node other; (other = stowi_export_next_call(&program->code, &at)) != node;) {
    first += program->tables->steps[other].operand_count;
  }
  return first;
}

// |name|: `steps`, or `steps_1` of a region.
static void print_steps(stowi_export_out* out, const stowi_export* program,
                        const stowi_exec_code* code, const char* name) {
  size_t at = 0;
  if (program->step_count == 0) {
    return;
  }
  stowi_export_put(out, "static const stow_program_step %s[] = {\n", name);
  for (stow_node node; (node = stowi_export_next_call(code, &at)) != STOW_NODE_NONE;) {
    print_step(out, program, node, first_operand_of(program, node));
  }
  stowi_export_put(out, "};\n\n");
}

static void print_all_steps(stowi_export_out* out, const stowi_export* program) {
  if (program->range == NULL) {
    print_steps(out, program, &program->code, "steps");
    return;
  }
  for (size_t r = 0; r < program->range->region_count; ++r) {
    const stowi_exec_code* code = &program->range->regions[r].code;
    char name[48];
    (void)snprintf(name, sizeof name, "steps_%zu", r);
    print_steps(out, program, code, name);
    if (program->step_count > 0) {
      stowi_export_print_rooms(out, program, code, r);
    }
  }
}

// What a run writes besides the arena.
static void print_state(stowi_export_out* out, const stowi_export* program) {
  size_t count = 1;
  size_t operands = 1;
  size_t at = 0;
  for (stow_node node; (node = stowi_export_next_call(&program->code, &at)) != STOW_NODE_NONE;) {
    const stowi_exec_step* step = &program->tables->steps[node];
    count = step->result_count > count ? step->result_count : count;
    operands = step->operand_count > operands ? step->operand_count : operands;
  }
  stowi_export_put(out,
                   "static stow_tensor results[%zu];\n"
                   "static stow_tensor* const result_list[] = {",
                   count);
  for (size_t i = 0; i < count; ++i) {
    stowi_export_put(out, "%s&results[%zu]", i == 0 ? "" : ", ", i);
  }
  stowi_export_put(out, "};\n");
  if (program->code.rows != NULL) {
    stowi_export_put(out,
                     "static stow_tensor row_operands[%zu];\n"
                     "static const stow_tensor* row_list[%zu];\n",
                     operands, operands);
  }
  stowi_export_put(
      out, "static stow_program_state state = {.results = result_list%s};\n\n",
      program->code.rows == NULL ? "" : ", .row_operands = row_operands, .row_list = row_list");
}

// ---------------------------------------------------------------------------------------------
// Ports

static size_t print_port_list(stowi_export_out* out, const stowi_export* program, bool is_output) {
  const stowi_export_port* ports = program->ports.data;
  const char* name = is_output ? "outputs" : "inputs";
  size_t count = 0;
  for (size_t i = 0; i < program->ports.count; ++i) {
    if (ports[i].is_output == is_output) {
      if (count++ == 0) {
        stowi_export_put(out, "static const stow_program_port %s[] = {\n", name);
      }
      stowi_export_put(out, "    {");
      print_str(out, ports[i].name);
      stowi_export_put(out, ", &");
      stowi_export_put_tensor(out, program, ports[i].value);
      stowi_export_put(out, "},\n");
    }
  }
  stowi_export_put(out, count == 0 ? "" : "};\n\n");
  return count;
}

// All that lies in the memory of |port|.
static void print_bind(stowi_export_out* out, const stowi_export* program, stow_value port) {
  if (program->range != NULL) {
    stowi_export_put(out, " {\n  stow_program_bind_memory(&%s_range, %" PRIu32 ", bytes);\n}\n\n",
                     program->options.name, stowi_export_port_memory(program, port));
    return;
  }
  stowi_export_put(out, " {\n  unsigned char* data = (unsigned char*)bytes;\n");
  for (stow_value value = 0; value < program->tables->value_count; ++value) {
    const stowi_export_place* place = &program->places[value];
    if (place->is_external && place->port == port) {
      stowi_export_put(out, "  ");
      stowi_export_put_tensor(out, program, value);
      stowi_export_put(out, ".data = data + %" PRIu64 ";\n", place->offset);
    }
  }
  stowi_export_put(out, "}\n\n");
}

static void print_ports(stowi_export_out* out, const stowi_export* program) {
  const stowi_export_port* ports = program->ports.data;
  for (size_t i = 0; i < program->ports.count; ++i) {
    print_accessor(out, program, &ports[i]);
    if (ports[i].is_external) {
      print_bind(out, program, ports[i].value);
    } else {
      stowi_export_put(out, " { return ");
      stowi_export_put_tensor(out, program, ports[i].value);
      stowi_export_put(out, ".data; }\n\n");
    }
  }
  stowi_export_put(out, "const char* %s_error(void) { return state.message; }\n\n",
                   program->options.name);
  size_t inputs = print_port_list(out, program, false);
  size_t outputs = print_port_list(out, program, true);
  stowi_export_put(out,
                   "const stow_program %s_program = {\n"
                   "    \"%s\", %s_ARENA_SIZE, %zu, %s, %zu, %s, %s_run, %s_error};\n",
                   program->options.name, program->options.name, program->macro, inputs,
                   inputs == 0 ? "NULL" : "inputs", outputs, outputs == 0 ? "NULL" : "outputs",
                   program->options.name, program->options.name);
}

static void print_run(stowi_export_out* out) {
  stowi_export_put(out,
                   "#define RUN(first, count)                                    \\\n"
                   "  do {                                                       \\\n"
                   "    if (!stow_program_run(&state, steps + (first), count)) { \\\n"
                   "      return (int)state.status;                              \\\n"
                   "    }                                                        \\\n"
                   "  } while (0)\n\n");
}

static uint64_t alignment_of(const stowi_export* program) {
  stow_formula_info info = {.struct_size = sizeof info};
  if (program->range == NULL) {
    return stowi_plan_alignment(program->plan);
  }
  (void)stow_formula_describe(program->range->formula, &info);
  return info.alignment > STOWI_EXPORT_ALIGNMENT ? info.alignment : STOWI_EXPORT_ALIGNMENT;
}

void stowi_export_print_tables(stowi_export_out* out, const stowi_export* program, size_t unused) {
  uint64_t size = stowi_export_arena_bytes(program);
  (void)unused;
  print_origin(out, program);
  stowi_export_put(out, "#include \"%s.h\"\n\n#include <math.h>\n#include <string.h>\n\n",
                   program->options.name);
  if (program->weights.count > 0) {
    stowi_export_put(out, "#include \"%s_weights.h\"\n", program->options.name);
  }
  stowi_export_put(
      out,
      "%s#include \"program/%s.h\"\n\n"
      "static _Alignas(%" PRIu64 ") unsigned char arena[%" PRIu64 "];\n\n",
      program->bodies.count == 0          ? ""
      : stowi_export_has_streams(program) ? "#include \"exec/kernels/blocks/stream.h\"\n"
      : program->range == NULL            ? "#include \"exec/kernels/blocks/blocks.h\"\n"
                                          : "#include \"program/blocks.h\"\n",
      program->has_regions ? "regions" : "steps", alignment_of(program), size == 0 ? 1 : size);
  print_tensors(out, program, false);
  print_tensors(out, program, true);
  for (stow_node node = 0; node < program->tables->node_count; ++node) {
    if (stowi_exec_code_calls(&program->code, program->tables, node) &&
        program->attrs[node] == node) {
      print_node_attrs(out, program, node);
    }
  }
  stowi_export_put(out, "\n");
  print_operands(out, program);
  print_kernels(out, program);
  stowi_export_print_blocks(out, program);
  stowi_export_print_streams(out, program);
  print_all_steps(out, program);
  print_state(out, program);
  if (program->range != NULL) {
    stowi_export_print_memories(out, program);
    stowi_export_print_range(out, program);
  } else {
    print_run(out);
  }
  stowi_export_print_flow(out, program);
  stowi_export_put(out, "\n");
  print_ports(out, program);
  if (program->range != NULL) {
    stowi_export_print_bind(out, program, true);
  }
}
