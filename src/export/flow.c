// The program's code as C: stretches of calls are run by a loop over the table of steps, jumps
// become `if` and `while`, and each other instruction a line.
#include <inttypes.h>

#include "export/export.h"

typedef struct flow {
  const stowi_export* program;
  stowi_export_out* out;
  const stowi_exec_code* code;
  const stowi_export_region* region;  // NULL: there is no range
  size_t first;                       // of the steps that are still to be written
  size_t next;
  size_t depth;
  uint32_t ends[STOW_MAX_REGION_DEPTH];  // where blocks do
} flow;

static void put_indent(const flow* f) {
  stowi_export_put(f->out, "%*s", 2 + 2 * (int)f->depth, "");
}

static size_t region_number(const flow* f) {
  return (size_t)(f->region - f->program->range->regions);
}

static void flush(flow* f) {
  if (f->next > f->first) {
    put_indent(f);
    if (f->region != NULL) {
      stowi_export_put(f->out, "RUN(%zu, %zu, %zu);\n", region_number(f), f->first,
                       f->next - f->first);
    } else {
      stowi_export_put(f->out, "RUN(%zu, %zu);\n", f->first, f->next - f->first);
    }
  }
  f->first = f->next;
}

// `&tensors[7]`, or NULL.
static void put_tensor(const flow* f, stow_value value) {
  if (value == STOW_VALUE_NONE) {
    stowi_export_put(f->out, "NULL");
  } else {
    stowi_export_put(f->out, "&");
    stowi_export_put_tensor(f->out, f->program, value);
  }
}

// ---------------------------------------------------------------------------------------------
// Instructions

static uint64_t bytes_of(const flow* f, const stowi_exec_instruction* in) {
  return stowi_export_bytes(f->program, in->from);
}

// `, 64);`
static void put_bytes(const flow* f, const stowi_exec_instruction* in) {
  if (f->region == NULL) {
    stowi_export_put(f->out, ", %" PRIu64 ");\n", bytes_of(f, in));
  } else {
    stowi_export_put(f->out, ", stow_tensor_bytes(&");
    stowi_export_put_tensor(f->out, f->program, in->from);
    stowi_export_put(f->out, "));\n");
  }
}

// `tensors[7].data`
static void put_data(const flow* f, stow_value value) {
  stowi_export_put_tensor(f->out, f->program, value);
  stowi_export_put(f->out, ".data");
}

static bool is_same_place(const stowi_export_place* a, const stowi_export_place* b) {
  return a->weight == b->weight && a->is_external == b->is_external && a->port == b->port &&
         a->offset == b->offset;
}

static void put_copy(const flow* f, const stowi_exec_instruction* in) {
  const stowi_export_place* places = f->program->places;
  bool moves = f->region != NULL || !is_same_place(&places[in->from], &places[in->to]);
  if (bytes_of(f, in) > 0 && moves) {
    put_indent(f);
    stowi_export_put(f->out, "memmove(");
    put_data(f, in->to);
    stowi_export_put(f->out, ", ");
    put_data(f, in->from);
    put_bytes(f, in);
  }
}

// `arena + 128`: scratch of a yield.
static void put_scratch(const flow* f, const stowi_exec_instruction* in) {
  uint64_t at = in->at + STOWI_EXEC_DIMS_SIZE;
  if (f->region == NULL) {
    stowi_export_put(f->out, "arena + %" PRIu64, f->code->scratch[in->node].offset + at);
  } else {
    stowi_export_put(f->out, "arena + numbers[%" PRIu32 "] + %" PRIu64,
                     f->region->rooms[in->node].at, at);
  }
}

// Dims are the same in every run of a shape, so only elements are moved aside.
static void put_aside(const flow* f, const stowi_exec_instruction* in) {
  if (bytes_of(f, in) == 0) {
    return;
  }
  put_indent(f);
  stowi_export_put(f->out, "memcpy(");
  if (in->action == STOWI_EXEC_BACK) {
    put_data(f, in->to);
    stowi_export_put(f->out, ", ");
    put_scratch(f, in);
  } else {
    put_scratch(f, in);
    stowi_export_put(f->out, ", ");
    put_data(f, in->from);
  }
  put_bytes(f, in);
}

// A call of a function that may fail, which a result that collects rounds needs.
static void put_collecting(const flow* f, const stowi_exec_instruction* in) {
  bool is_append = in->action == STOWI_EXEC_APPEND;
  char label[STOWI_EXPORT_LABEL_SIZE];
  stowi_export_label(f->program->graph, stow_graph_producer(f->program->graph, in->to), label);
  put_indent(f);
  stowi_export_put(f->out, "if (!stow_program_loop_%s(&state, &loop_%" PRIu32 ", ",
                   is_append ? "collect" : "fills", in->loop);
  stowi_export_put_string(f->out, stow_str_of(label));
  stowi_export_put(f->out, ", ");
  if (is_append) {
    put_tensor(f, in->from);
    stowi_export_put(f->out, ", ");
  }
  put_tensor(f, in->to);
  stowi_export_put(f->out, ")) {\n%*sreturn (int)state.status;\n", 4 + 2 * (int)f->depth, "");
  put_indent(f);
  stowi_export_put(f->out, "}\n");
}

// A line with |before|, the loop's number, and up to two tensors.
static void put_loop(const flow* f, const stowi_exec_instruction* in) {
  put_indent(f);
  switch (in->action) {
    case STOWI_EXEC_BEGIN:
      stowi_export_put(f->out, "stow_program_loop loop_%" PRIu32 " = ", in->loop);
      stowi_export_put(f->out, "stow_program_loop_begin(&state, ");
      put_tensor(f, in->from);
      stowi_export_put(f->out, ", ");
      put_tensor(f, in->to);
      break;
    case STOWI_EXEC_ARGS:
      stowi_export_put(f->out, "stow_program_loop_args(&loop_%" PRIu32 ", ", in->loop);
      put_tensor(f, in->to);
      stowi_export_put(f->out, ", ");
      put_tensor(f, in->to + 1);
      break;
    case STOWI_EXEC_COND:
      stowi_export_put(f->out, "loop_%" PRIu32 ".condition = stow_program_is_true(", in->loop);
      put_tensor(f, in->from);
      break;
    case STOWI_EXEC_NEXT:
      stowi_export_put(f->out, "stow_program_loop_next(&state, &loop_%" PRIu32, in->loop);
      break;
    default: stowi_export_put(f->out, "stow_program_loop_end(&state, &loop_%" PRIu32, in->loop);
  }
  stowi_export_put(f->out, ");\n");
}

static void open_block(flow* f, const stowi_exec_instruction* in) {
  put_indent(f);
  if (in->action == STOWI_EXEC_WHILE) {
    stowi_export_put(f->out, "while (stow_program_loop_goes_on(&loop_%" PRIu32, in->loop);
  } else {
    stowi_export_put(f->out, "if (%sstow_program_is_true(", in->is_wanted ? "" : "!");
    put_tensor(f, in->from);
  }
  stowi_export_put(f->out, ")) {\n");
  f->ends[f->depth++] = in->target;
}

static void close_blocks(flow* f, size_t at) {
  while (f->depth > 0 && f->ends[f->depth - 1] == at) {
    --f->depth;
    put_indent(f);
    stowi_export_put(f->out, "}\n");
  }
}

static void put_instruction(flow* f, const stowi_exec_instruction* in) {
  switch (in->action) {
    case STOWI_EXEC_REST: return;
    case STOWI_EXEC_CALL: ++f->next; return;
    case STOWI_EXEC_COPY: put_copy(f, in); return;
    case STOWI_EXEC_ASIDE:
    case STOWI_EXEC_BACK: put_aside(f, in); return;
    case STOWI_EXEC_APPEND:
    case STOWI_EXEC_CLOSE: put_collecting(f, in); return;
    case STOWI_EXEC_IF:
    case STOWI_EXEC_WHILE: open_block(f, in); return;
    default: put_loop(f, in);
  }
}

// ---------------------------------------------------------------------------------------------

static void put_presets(const flow* f) {
  const char* name = f->program->options.name;
  for (size_t i = 0; i < f->program->weights.count; ++i) {
    const stowi_export_weight* weight = &f->program->weights.data[i];
    if (weight->is_preset) {
      stowi_export_put(f->out, "  memcpy(");
      put_data(f, weight->value);
      stowi_export_put(f->out, ", %s_w%" PRIu32 ", %zu);\n", name, weight->value, weight->size);
    }
  }
}

// Nothing runs before the caller has given memory.
static void put_bound_check(const flow* f, const stowi_export_port* port) {
  stowi_export_put(f->out, "  if (");
  if (f->program->range != NULL) {
    stowi_export_put(f->out, "!stow_program_has_memory(&%s_range, &", f->program->options.name);
    stowi_export_put_tensor(f->out, f->program, port->value);
    stowi_export_put(f->out, ", ");
    stowi_export_put_string(f->out, port->name);
    stowi_export_put(f->out, ")) {\n    return (int)state.status;\n  }\n");
    return;
  }
  put_data(f, port->value);
  stowi_export_put(f->out, " == NULL) {\n    (void)stow_program_fail(&state, STOW_ERR_NOT_FOUND, ");
  stowi_export_put_string(f->out, port->name);
  stowi_export_put(f->out, ", \"no memory is bound\");\n    return (int)state.status;\n  }\n");
}

static void put_bound_checks(const flow* f) {
  for (size_t i = 0; i < f->program->ports.count; ++i) {
    if (f->program->ports.data[i].is_external) {
      put_bound_check(f, &f->program->ports.data[i]);
    }
  }
}

static void put_code(flow* f) {
  for (size_t i = 0; i < f->code->count; ++i) {
    const stowi_exec_instruction* in = &f->code->instructions[i];
    bool is_run = in->action == STOWI_EXEC_CALL || in->action == STOWI_EXEC_REST;
    bool is_end = f->depth > 0 && f->ends[f->depth - 1] == i;
    if (!is_run || is_end) {
      flush(f);
    }
    close_blocks(f, i);
    put_instruction(f, in);
  }
  flush(f);
  stowi_export_put(f->out, "  return 0;\n}\n");
}

// A function for each region, and one that calls that of the shape.
static void put_regions(stowi_export_out* out, const stowi_export* program) {
  const stowi_export_range* range = program->range;
  for (size_t r = 0; r < range->region_count; ++r) {
    flow f = {.program = program,
              .out = out,
              .code = &range->regions[r].code,
              .region = &range->regions[r]};
    stowi_export_put(out, "static int run_%zu(void) {\n", r);
    put_code(&f);
    stowi_export_put(out, "\n");
  }
  flow f = {.program = program, .out = out};
  stowi_export_put(
      out,
      "int %s_run(void) {\n  stow_program_begin(&state);\n"
      "  if (!stow_program_is_bound(&%s_range)) {\n    return (int)state.status;\n  }\n",
      program->options.name, program->options.name);
  put_bound_checks(&f);
  put_presets(&f);
  stowi_export_put(out, "  switch (region) {\n");
  for (size_t r = 0; r + 1 < range->region_count; ++r) {
    stowi_export_put(out, "    case %zu: return run_%zu();\n", r, r);
  }
  stowi_export_put(out, "    default: return run_%zu();\n  }\n}\n", range->region_count - 1);
}

void stowi_export_print_flow(stowi_export_out* out, const stowi_export* program) {
  if (program->range != NULL) {
    put_regions(out, program);
    return;
  }
  flow f = {.program = program, .out = out, .code = &program->code};
  stowi_export_put(out, "int %s_run(void) {\n  stow_program_begin(&state);\n",
                   program->options.name);
  put_bound_checks(&f);
  put_presets(&f);
  put_code(&f);
}
