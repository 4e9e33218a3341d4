// What shapes change, as tables of NAME.c, and the function that binds one.
#include <inttypes.h>
#include <string.h>

#include "base/diag.h"
#include "export/export.h"

#define ITEMS_PER_LINE 12

// `static const TYPE NAME[] = {` …; `{0}` where there are none, which C has no arrays for.
static void begin(stowi_export_out* out, const char* type, const char* name, size_t number) {
  if (number == SIZE_MAX) {
    stowi_export_put(out, "static const %s %s[] = {", type, name);
  } else {
    stowi_export_put(out, "static const %s %s_%zu[] = {", type, name, number);
  }
}

static void end(stowi_export_out* out, size_t count) {
  stowi_export_put(out, count == 0 ? "{0}};\n" : "};\n");
}

static void separate(stowi_export_out* out, size_t i) {
  stowi_export_put(out, i == 0 ? "" : i % ITEMS_PER_LINE == 0 ? ",\n    " : ", ");
}

static void print_code(stowi_export_out* out, const stowi_export_instructions* words,
                       const char* name, size_t number) {
  begin(out, "uint32_t", name, number);
  for (size_t i = 0; i < words->code.count; ++i) {
    separate(out, i);
    stowi_export_put(out, "%" PRIu32, words->code.data[i]);
  }
  stowi_export_put(out, words->code.count == 0 ? "0};\n" : "};\n");
}

static void print_longs(stowi_export_out* out, const stowi_export_range* range) {
  begin(out, "int64_t", "longs", SIZE_MAX);
  for (size_t i = 0; i < range->longs.count; ++i) {
    separate(out, i);
    stowi_export_put_int(out, range->longs.data[i]);
  }
  stowi_export_put(out, range->longs.count == 0 ? "0};\n" : "};\n");
}

static void print_cells(stowi_export_out* out, const stowi_export_range* range) {
  begin(out, "uint32_t", "cells", SIZE_MAX);
  for (size_t i = 0; i < range->cells.count; ++i) {
    separate(out, i);
    stowi_export_put(out, "%" PRIu32, range->cells.data[i]);
  }
  stowi_export_put(out, range->cells.count == 0 ? "0};\n" : "};\n");
}

static void print_memory(stowi_export_out* out, const stowi_export* program) {
  const stowi_export_range* range = program->range;
  stowi_export_put(out, "static unsigned char* memories[] = {arena");
  for (size_t i = 0; i < range->memories.count; ++i) {
    size_t weight = range->memories.data[i].weight;
    if (weight == SIZE_MAX) {
      stowi_export_put(out, ", NULL");
    } else {
      stowi_export_put(out, ", (unsigned char*)%s_w%" PRIu32, program->options.name,
                       program->weights.data[weight].value);
    }
  }
  stowi_export_put(out, "};\n");
}

void stowi_export_print_memories(stowi_export_out* out, const stowi_export* program) {
  print_memory(out, program);
  stowi_export_put(out,
                   "static int64_t numbers[%" PRIu32
                   "];\n"
                   "static uint32_t region = UINT32_MAX;\n\n",
                   program->range->number_count == 0 ? 1 : program->range->number_count);
}

// ---------------------------------------------------------------------------------------------
// Scratch

void stowi_export_print_rooms(stowi_export_out* out, const stowi_export* program,
                              const stowi_exec_code* code, size_t region) {
  const stowi_export_range* range = program->range;
  size_t at = 0;
  size_t count = 0;
  begin(out, "stow_program_room", "rooms", region);
  for (stow_node node; (node = stowi_export_next_call(code, &at)) != STOW_NODE_NONE; ++count) {
    const stowi_export_room* room = &range->regions[region].rooms[node];
    const stowi_export_prices* prices = &range->prices[node];
    separate(out, count);
    stowi_export_put(out, "{%" PRIu32 ", %" PRIu32 ", %" PRIu32 ", %zu, %" PRIu32 "}", room->at,
                     room->size, room->above, prices->first, prices->count);
  }
  end(out, count);
  stowi_export_put(out, "\n");
}

static void print_prices(stowi_export_out* out, const stowi_export* program) {
  const stowi_export_range* range = program->range;
  begin(out, "stow_program_price", "prices", SIZE_MAX);
  size_t count = 0;
  for (stow_node node = 0; node < program->tables->node_count; ++node) {
    for (uint32_t i = 0; i < range->prices[node].count; ++i, ++count) {
      separate(out, count);
      stowi_export_put(out, "{%" PRIu32 ", %" PRIu32 "}", range->prices[node].variants[i],
                       stowi_export_price_number(range, node, i));
    }
  }
  end(out, count);
}

// ---------------------------------------------------------------------------------------------
// Tensors

static size_t print_dims(stowi_export_out* out, const stowi_export* program) {
  const stowi_export_range* range = program->range;
  const stow_graph* graph = stowi_plan_formula_graph(range->formula);
  size_t count = 0;
  begin(out, "stow_program_dim", "dims", SIZE_MAX);
  for (stow_value value = 0; value < program->tables->value_count; ++value) {
    const stow_type* type = stow_graph_type(graph, value);
    for (uint32_t i = 0; i < type->rank; ++i) {
      if (!stow_dim_is_const(type->dims[i])) {
        size_t k = 0;
        while (range->dims.data[k].dim != type->dims[i]) {
          ++k;
        }
        separate(out, count++);
        stowi_export_put(out, "{%" PRIu32 ", %" PRIu32 ", %" PRIu32 "}",
                         program->tensors[value].index, i, range->dims.data[k].number);
      }
    }
  }
  end(out, count);
  return count;
}

static void print_places(stowi_export_out* out, const stowi_export* program, size_t number) {
  const stowi_export_region* region = &program->range->regions[number];
  size_t count = 0;
  begin(out, "stow_program_place", "places", number);
  for (stow_value value = 0; value < program->tables->value_count; ++value) {
    if (program->tensors[value].is_bound) {
      separate(out, count++);
      stowi_export_put(out, "{%" PRIu32 ", %" PRIu32 ", %" PRIu32 "}",
                       program->tensors[value].index, region->spots[value].memory,
                       region->spots[value].number);
    }
  }
  end(out, count);
}

// ---------------------------------------------------------------------------------------------
// Shapes

static void print_symbols(stowi_export_out* out, const stowi_export_range* range) {
  begin(out, "stow_program_symbol", "symbols", SIZE_MAX);
  for (size_t i = 0; i < range->symbol_count; ++i) {
    stow_dim_range own;
    stow_str name = stow_formula_symbol(range->formula, i, &own);
    stowi_export_put(out, "%s{{", i == 0 ? "" : ", ");
    stowi_export_put_string(out, name);
    stowi_export_put(out, ", %zu}, %" PRId64 ", %" PRId64 ", %" PRId64 "}", name.size, own.min,
                     own.max, own.step);
  }
  stowi_export_put(out, "};\n");
}

static size_t print_boxes(stowi_export_out* out, const stowi_export_range* range) {
  int64_t first[STOW_MAX_RANK];
  int64_t last[STOW_MAX_RANK];
  size_t count = 0;
  begin(out, "int64_t", "boxes", SIZE_MAX);
  for (size_t r = 0; r < range->region_count; ++r) {
    for (size_t box = 0; stow_formula_box(range->formula, r, box, first, last); ++box, ++count) {
      stowi_export_put(out, "%s%zu", count == 0 ? "" : ",\n    ", r);
      for (size_t i = 0; i < range->symbol_count; ++i) {
        stowi_export_put(out, ", %" PRId64 ", %" PRId64, first[i], last[i]);
      }
    }
  }
  stowi_export_put(out, "};\n");
  return count;
}

static void print_regions(stowi_export_out* out, const stowi_export_range* range) {
  begin(out, "stow_program_region", "regions", SIZE_MAX);
  for (size_t r = 0; r < range->region_count; ++r) {
    stowi_export_put(out, "%s{{code_%zu, %zu, longs, cells}, places_%zu}", r == 0 ? "" : ", ", r,
                     range->regions[r].words.code.count, r);
  }
  stowi_export_put(out, "};\n");
}

void stowi_export_print_range(stowi_export_out* out, const stowi_export* program) {
  const stowi_export_range* range = program->range;
  size_t places = 0;
  for (stow_value value = 0; value < program->tables->value_count; ++value) {
    places += program->tensors[value].is_bound;
  }
  stowi_export_put(out, "// What follows from the shape (program/numbers.h).\n");
  print_longs(out, range);
  print_cells(out, range);
  print_code(out, &range->words, "code", SIZE_MAX);
  for (size_t r = 0; r < range->region_count; ++r) {
    print_code(out, &range->regions[r].words, "code", r);
    print_places(out, program, r);
  }
  print_prices(out, program);
  print_symbols(out, range);
  print_regions(out, range);
  size_t boxes = print_boxes(out, range);
  size_t dims = print_dims(out, program);
  stowi_export_put(out,
                   "const stow_program_range %s_range = {\n"
                   "    .program = &%s_program, .symbol_count = %zu, .symbols = symbols,\n"
                   "    .formula = {code, %zu, longs, cells}, .regions = regions,\n"
                   "    .box_count = %zu, .boxes = boxes, .dim_count = %zu, .dims = dims,\n"
                   "    .place_count = %zu, .prices = prices, .tensors = bound,\n"
                   "    .memories = memories, .numbers = numbers, .region = &region,\n"
                   "    .state = &state%s};\n\n",
                   program->options.name, program->options.name, range->symbol_count,
                   range->words.code.count, boxes, dims, places,
                   range->blocks.count == 0
                       ? ""
                       : ",\n    .blocks = stow_program_make_blocks, .blocks_room = &blocks_room");
  if (program->step_count > 0) {
    stowi_export_put(
        out,
        "#define RUN(region, first, count)                                                  \\\n"
        "  do {                                                                             \\\n"
        "    if (!stow_program_run_bound(&%s_range, steps_##region + (first),               \\\n"
        "                                rooms_##region + (first), count)) {                \\\n"
        "      return (int)state.status;                                                    \\\n"
        "    }                                                                              \\\n"
        "  } while (0)\n\n",
        program->options.name);
  }
}

// ---------------------------------------------------------------------------------------------
// NAME_bind

// `at_length`, or `at_length_2` where there is one already.
static void put_argument(stowi_export_out* out, const stowi_export_range* range, size_t symbol) {
  char identifier[STOWI_EXPORT_NAME_SIZE];
  size_t same = 1;
  stowi_export_identifier(stow_formula_symbol(range->formula, symbol, NULL), identifier);
  for (size_t i = 0; i < symbol; ++i) {
    char other[STOWI_EXPORT_NAME_SIZE];
    stowi_export_identifier(stow_formula_symbol(range->formula, i, NULL), other);
    same += strcmp(identifier, other) == 0;
  }
  stowi_export_put(out, "at_%s", identifier);
  if (same > 1) {
    stowi_export_put(out, "_%zu", same);
  }
}

static void put_arguments(stowi_export_out* out, const stowi_export_range* range,
                          const char* before) {
  for (size_t i = 0; i < range->symbol_count; ++i) {
    stowi_export_put(out, "%s%s", i == 0 ? "" : ", ", before);
    put_argument(out, range, i);
  }
}

static void put_range(stowi_export_out* out, const stowi_export_range* range, size_t symbol) {
  stow_dim_range own;
  stow_str name = stow_formula_symbol(range->formula, symbol, &own);
  stowi_export_put_comment(out, name);
  stowi_export_put(out, " = %" PRId64 "..%" PRId64, own.min, own.max);
  if (own.step != 1) {
    stowi_export_put(out, "/%" PRId64, own.step);
  }
}

void stowi_export_print_bind(stowi_export_out* out, const stowi_export* program, bool defines) {
  const stowi_export_range* range = program->range;
  if (!defines) {
    stowi_export_put(out, "// Binds a shape: ");
    for (size_t i = 0; i < range->symbol_count; ++i) {
      stowi_export_put(out, "%s", i == 0 ? "" : ",\n// ");
      put_range(out, range, i);
    }
    stowi_export_put(out,
                     ".\n// 0, or a stow_status if a value is none of these; nothing changes "
                     "then.\n");
  }
  stowi_export_put(out, "int %s_bind(", program->options.name);
  put_arguments(out, range, "int64_t ");
  if (!defines) {
    stowi_export_put(out, ");\n\n");
    return;
  }
  stowi_export_put(out, ") {\n  const int64_t values[] = {");
  put_arguments(out, range, "");
  stowi_export_put(out, "};\n  return (int)stow_program_bind(&%s_range, values);\n}\n",
                   program->options.name);
}
