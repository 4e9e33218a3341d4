// What runs the steps. Stretches of steps are run by a loop over the table; branches and loops of
// the model become those of C, with the copies that the executor makes: what a branch yields goes
// to its owner's results, and what a loop carries lies in one place, the argument's, where the
// initial value and what each round yields are copied to. All yields happen at once: one that is
// another argument, or a view of it, is moved to scratch before the first argument is written.
#include <inttypes.h>
#include <string.h>

#include "export/export.h"
#include "graphs/info.h"

typedef struct flow {
  const cli_export* export;
  cli_output* output;
  size_t first;  // of the steps that are still to be written
  size_t next;
  int depth;
} flow;

static void print_indent(const flow* f) { cli_print(f->output, "%*s", 2 + 2 * f->depth, ""); }

static void flush(flow* f) {
  if (f->next > f->first) {
    print_indent(f);
    cli_print(f->output, "RUN(%zu, %zu);\n", f->first, f->next - f->first);
  }
  f->first = f->next;
}

static stow_value result_of(const stow_graph* graph, stow_node node, size_t k) {
  return stow_graph_first_result(graph, node) + (stow_value)k;
}

// `&tensors[7]`, or NULL.
static void print_tensor(const flow* f, stow_value value) {
  if (value == STOW_VALUE_NONE) {
    cli_print(f->output, "NULL");
  } else {
    cli_print(f->output, "&tensors[%" PRIu32 "]", value);
  }
}

static uint64_t bytes_of(const flow* f, stow_value value) {
  uint64_t bytes = 0;
  (void)stow_type_bytes(stow_graph_type(f->export->graph, value), &bytes);
  return bytes;
}

static bool is_same_place(const flow* f, stow_value a, stow_value b) {
  const cli_place* x = &f->export->places[a];
  const cli_place* y = &f->export->places[b];
  return x->weight == y->weight && x->offset == y->offset;
}

static void print_copy(const flow* f, stow_value from, stow_value to) {
  uint64_t bytes = bytes_of(f, from);
  if (bytes > 0 && !is_same_place(f, from, to)) {
    print_indent(f);
    cli_print(f->output,
              "memmove(tensors[%" PRIu32 "].data, tensors[%" PRIu32 "].data, %" PRIu64 ");\n", to,
              from, bytes);
  }
}

// ---------------------------------------------------------------------------------------------
// Loops

static stow_value argument_of(const flow* f, const cli_body* body, size_t i) {
  return result_of(f->export->graph, body->args, body->carry.first_arg + i);
}

static stow_value yielded_by(const flow* f, const cli_body* body, size_t i) {
  return stow_graph_operands(f->export->graph, body->yield)[body->carry.first_yield + i];
}

// The operand whose bytes |value| is.
static stow_value parent_of(const stow_graph* graph, stow_value value) {
  stow_node node = stow_graph_producer(graph, value);
  stow_view view;
  return stow_graph_view(graph, node, value - stow_graph_first_result(graph, node), &view)
             ? stow_graph_operands(graph, node)[view.operand]
             : STOW_VALUE_NONE;
}

// Whether what is yielded for argument |i| is the bytes of another one that is carried.
static bool is_moved(const flow* f, const cli_body* body, size_t i) {
  const stow_graph* graph = f->export->graph;
  stow_value value = yielded_by(f, body, i);
  while (value != STOW_VALUE_NONE && stow_graph_producer(graph, value) != body->args) {
    value = parent_of(graph, value);
  }
  return value != STOW_VALUE_NONE && value >= argument_of(f, body, 0) &&
         value != argument_of(f, body, i);
}

static void print_moves(const flow* f, const cli_body* body, bool is_back) {
  uint64_t offset = f->export->nodes[body->yield].scratch.offset;
  for (size_t i = 0; i < body->carried; ++i) {
    uint64_t bytes = bytes_of(f, yielded_by(f, body, i));
    if (!is_moved(f, body, i) || bytes == 0) {
      continue;
    }
    print_indent(f);
    if (is_back) {
      cli_print(f->output, "memcpy(tensors[%" PRIu32 "].data, arena + %" PRIu64 ", %" PRIu64 ");\n",
                argument_of(f, body, i), offset, bytes);
    } else {
      cli_print(f->output, "memcpy(arena + %" PRIu64 ", tensors[%" PRIu32 "].data, %" PRIu64 ");\n",
                offset, yielded_by(f, body, i), bytes);
    }
    offset += (bytes + 63) / 64 * 64;
  }
}

// Calls |function| for each result of |loop| that collects what rounds yield.
static void print_collecting(const flow* f, stow_node loop, const cli_body* body,
                             const char* function, bool with_yield) {
  const stow_graph* graph = f->export->graph;
  for (size_t k = body->carried; k < stow_graph_result_count(graph, loop); ++k) {
    print_indent(f);
    cli_print(f->output, "if (!%s(&state, &loop_%" PRIu32 ", ", function, loop);
    char label[CLI_LABEL_SIZE];
    cli_node_label(f->export->graph, loop, label);
    cli_print_c_string(f->output, stow_str_of(label));
    cli_print(f->output, ", ");
    if (with_yield) {
      print_tensor(f, yielded_by(f, body, k));
      cli_print(f->output, ", ");
    }
    print_tensor(f, result_of(graph, loop, k));
    cli_print(f->output, ")) {\n%*sreturn (int)state.status;\n", 4 + 2 * f->depth, "");
    print_indent(f);
    cli_print(f->output, "}\n");
  }
}

static void begin_loop(flow* f, stow_node loop) {
  const stow_value* operands = stow_graph_operands(f->export->graph, loop);
  size_t count = stow_graph_operand_count(f->export->graph, loop);
  cli_body body = cli_body_of(f->export->graph, loop);
  print_indent(f);
  cli_print(f->output, "stow_program_loop loop_%" PRIu32 " = stow_program_loop_begin(&state, ",
            loop);
  print_tensor(f, count > 0 ? operands[0] : STOW_VALUE_NONE);
  cli_print(f->output, ", ");
  print_tensor(f, count > 1 ? operands[1] : STOW_VALUE_NONE);
  cli_print(f->output, ");\n");
  for (size_t i = 0; i < body.carried; ++i) {
    print_copy(f, operands[body.carry.first_operand + i], argument_of(f, &body, i));
  }
  print_indent(f);
  cli_print(f->output, "while (stow_program_loop_goes_on(&loop_%" PRIu32 ")) {\n", loop);
}

static void yield_loop(flow* f, stow_node loop) {
  cli_body body = cli_body_of(f->export->graph, loop);
  print_indent(f);
  cli_print(f->output, "bool condition_%" PRIu32 " = stow_program_is_true(", loop);
  print_tensor(f, stow_graph_operands(f->export->graph, body.yield)[0]);
  cli_print(f->output, ");\n");
  print_collecting(f, loop, &body, "stow_program_loop_collect", true);
  print_moves(f, &body, false);
  for (size_t i = 0; i < body.carried; ++i) {
    if (!is_moved(f, &body, i)) {
      print_copy(f, yielded_by(f, &body, i), argument_of(f, &body, i));
    }
  }
  print_moves(f, &body, true);
  print_indent(f);
  cli_print(f->output,
            "stow_program_loop_next(&state, &loop_%" PRIu32 ", condition_%" PRIu32 ");\n", loop,
            loop);
}

static void end_loop(flow* f, stow_node loop) {
  cli_body body = cli_body_of(f->export->graph, loop);
  print_indent(f);
  cli_print(f->output, "stow_program_loop_end(&state, &loop_%" PRIu32 ");\n", loop);
  print_collecting(f, loop, &body, "stow_program_loop_fills", false);
  for (size_t i = 0; i < body.carried; ++i) {
    print_copy(f, argument_of(f, &body, i),
               result_of(f->export->graph, loop, body.carry.first_result + i));
  }
}

static void print_args(flow* f, stow_node node) {
  stow_region region = stow_graph_node_region(f->export->graph, node);
  stow_node loop = cli_region_info(f->export->graph, region).owner;
  print_indent(f);
  cli_print(f->output, "stow_program_loop_args(&loop_%" PRIu32 ", ", loop);
  print_tensor(f, result_of(f->export->graph, node, 0));
  cli_print(f->output, ", ");
  print_tensor(f, result_of(f->export->graph, node, 1));
  cli_print(f->output, ");\n");
}

// ---------------------------------------------------------------------------------------------
// Regions

static void begin_region(flow* f, stow_region region) {
  const stow_graph* graph = f->export->graph;
  stow_node owner = cli_region_info(graph, region).owner;
  flush(f);
  if (stow_graph_op(graph, owner) == STOW_OP_LOOP) {
    begin_loop(f, owner);
  } else {
    bool is_first = stow_graph_owned_region(graph, owner, 0) == region;
    print_indent(f);
    cli_print(f->output, "if (%sstow_program_is_true(", is_first ? "" : "!");
    print_tensor(f, stow_graph_operands(graph, owner)[0]);
    cli_print(f->output, ")) {\n");
  }
  ++f->depth;
}

static void end_region(flow* f, stow_node yield) {
  const stow_graph* graph = f->export->graph;
  stow_node owner = cli_region_info(graph, stow_graph_node_region(graph, yield)).owner;
  flush(f);
  if (stow_graph_op(graph, owner) == STOW_OP_LOOP) {
    yield_loop(f, owner);
  } else {
    for (size_t k = 0; k < stow_graph_result_count(graph, owner); ++k) {
      print_copy(f, stow_graph_operands(graph, yield)[k], result_of(graph, owner, k));
    }
  }
  --f->depth;
  print_indent(f);
  cli_print(f->output, "}\n");
}

// Regions that |node| is in and |before| is not begin here, the outermost first.
static void enter(flow* f, stow_node node, stow_region outer) {
  stow_region begun[STOW_MAX_REGION_DEPTH];
  size_t count = 0;
  stow_region region = stow_graph_node_region(f->export->graph, node);
  while (region != outer && region != STOW_REGION_BODY && count < STOW_MAX_REGION_DEPTH) {
    begun[count++] = region;
    region = cli_region_info(f->export->graph, region).parent;
  }
  while (count-- > 0) {
    begin_region(f, begun[count]);
  }
}

static void print_node(flow* f, stow_node node) {
  switch (stow_graph_op(f->export->graph, node)) {
    case STOW_OP_ARGS:
      flush(f);
      print_args(f, node);
      break;
    case STOW_OP_YIELD: end_region(f, node); break;
    case STOW_OP_LOOP:
      flush(f);
      end_loop(f, node);
      break;
    default: f->next += f->export->nodes[node].step != SIZE_MAX;
  }
}

static void print_presets(const flow* f) {
  const cli_weight* weights = f->export->weights.items;
  for (size_t i = 0; i < f->export->weights.count; ++i) {
    if (weights[i].is_preset) {
      cli_print(f->output, "  memcpy(tensors[%" PRIu32 "].data, %s_w%" PRIu32 ", %zu);\n",
                weights[i].value, f->export->name, weights[i].value, weights[i].size);
    }
  }
}

void cli_export_print_flow(cli_output* output, const cli_export* export) {
  const stow_graph* graph = export->graph;
  const stow_node* order = stow_plan_order(export->plan);
  flow f = {.export = export, .output = output};
  stow_region inside = STOW_REGION_BODY;
  cli_print(output, "int %s_run(void) {\n  stow_program_begin(&state);\n", export->name);
  print_presets(&f);
  for (uint32_t step = 0; step < stow_plan_step_count(export->plan); ++step) {
    stow_node node = order[step];
    enter(&f, node, inside);
    print_node(&f, node);
    stow_region region = stow_graph_node_region(graph, node);
    inside = stow_graph_op(graph, node) == STOW_OP_YIELD ? cli_region_info(graph, region).parent
                                                         : region;
  }
  flush(&f);
  cli_print(output, "  return 0;\n}\n");
}
