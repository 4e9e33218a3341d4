// A formula plan as one JSON object (RFC 8259): keys in a fixed order, a line for each region and
// each point.
#include <inttypes.h>

#include "base/diag.h"
#include "base/text.h"
#include "plan/formulas/formula.h"

static stow_status write_values(const int64_t* values, size_t count, stow_writer writer) {
  STOW_TRY(stowi_put(writer, "["));
  for (size_t i = 0; i < count; ++i) {
    STOW_TRY(stowi_printf(writer, "%s%" PRId64, i == 0 ? "" : ", ", values[i]));
  }
  return stowi_put(writer, "]");
}

static stow_status write_point(const stow_formula* formula, const char* key, size_t point,
                               stow_writer writer) {
  int64_t values[STOW_MAX_RANK];
  stow_formula_point_values(formula, point, values);
  STOW_TRY(stowi_printf(writer, "\"%s\": ", key));
  return write_values(values, formula->symbol_count, writer);
}

static stow_status write_symbols(const stow_formula* formula, stow_writer writer) {
  STOW_TRY(stowi_put(writer, "  \"symbols\": ["));
  for (size_t i = 0; i < formula->symbol_count; ++i) {
    stow_dim_range range;
    stow_str name = stow_formula_symbol(formula, i, &range);
    STOW_TRY(stowi_put(writer, i == 0 ? "\n    {\"name\": " : ",\n    {\"name\": "));
    STOW_TRY(stowi_put_json(writer, name, false));
    STOW_TRY(stowi_printf(writer,
                          ", \"min\": %" PRId64 ", \"max\": %" PRId64 ", \"step\": %" PRId64 "}",
                          range.min, range.max, range.step));
  }
  return stowi_put(writer, "\n  ],\n");
}

static stow_status write_sums(const stow_formula* formula, size_t number, stow_writer writer) {
  const stowi_plan_formula_region* region = formula->regions.data[number];
  STOW_TRY(region->slack == UINT64_MAX
               ? stowi_put(writer, ", \"slack\": null, \"arena\": [")
               : stowi_printf(writer, ", \"slack\": %" PRIu64 ", \"arena\": [", region->slack));
  for (size_t i = 0; i < region->sum_count; ++i) {
    stow_string text;
    stow_string_init(&text, formula->allocator);
    stow_status status = stow_formula_write_sum(formula, number, i, stow_string_writer(&text));
    if (status == STOW_OK) {
      status = stowi_put(writer, i == 0 ? "" : ", ");
    }
    if (status == STOW_OK) {
      status = stowi_put_json(writer, (stow_str){text.data, text.size}, false);
    }
    stow_string_free(&text);
    STOW_TRY(status);
  }
  return stowi_put(writer, "]");
}

static stow_status write_region(const stow_formula* formula, size_t number, stow_writer writer) {
  stow_formula_region info = {.struct_size = sizeof(info)};
  STOW_TRY(stow_formula_describe_region(formula, number, &info));
  STOW_TRY(stowi_put(writer, number == 0 ? "\n    {" : ",\n    {"));
  STOW_TRY(write_point(formula, "planned_at", info.planned_at, writer));
  STOW_TRY(stowi_printf(writer, ", \"points\": %zu, \"buffers\": %zu, \"edges\": %zu, \"boxes\": [",
                        info.point_count, info.buffer_count, info.edge_count));
  for (size_t i = 0; i < info.box_count; ++i) {
    int64_t first[STOW_MAX_RANK];
    int64_t last[STOW_MAX_RANK];
    stow_formula_box(formula, number, i, first, last);
    STOW_TRY(stowi_put(writer, i == 0 ? "{\"first\": " : ", {\"first\": "));
    STOW_TRY(write_values(first, formula->symbol_count, writer));
    STOW_TRY(stowi_put(writer, ", \"last\": "));
    STOW_TRY(write_values(last, formula->symbol_count, writer));
    STOW_TRY(stowi_put(writer, "}"));
  }
  STOW_TRY(stowi_put(writer, "]"));
  STOW_TRY(write_sums(formula, number, writer));
  return stowi_put(writer, "}");
}

static stow_status write_points(const stow_formula* formula, stow_writer writer) {
  STOW_TRY(stowi_put(writer, "  \"points\": ["));
  for (size_t i = 0; i < formula->point_count; ++i) {
    stow_formula_point point = {.struct_size = sizeof(point)};
    STOW_TRY(stow_formula_describe_point(formula, i, &point));
    STOW_TRY(stowi_put(writer, i == 0 ? "\n    {" : ",\n    {"));
    STOW_TRY(write_point(formula, "at", i, writer));
    STOW_TRY(stowi_printf(writer,
                          ", \"region\": %zu, \"arena_size\": %" PRIu64 ", \"load\": %" PRIu64 "}",
                          point.region, point.arena_size, point.load));
  }
  return stowi_put(writer, "\n  ]\n}\n");
}

// Of a plan by bounds: points are a sample of its shapes.
static stow_status write_bounds(const stow_formula_info* info, stow_writer writer) {
  return stowi_printf(writer,
                      "  \"bounds\": {\"shapes\": %" PRIu64 ", \"arena_size\": %" PRIu64
                      ", \"gap_arena\": %" PRIu64 ", \"gap_load\": %" PRIu64 "},\n",
                      info->shape_count, info->arena_bound, info->gap_arena, info->gap_load);
}

stow_status stowi_plan_formula_write_json(const stow_formula* formula, stow_writer writer) {
  stow_formula_info info = {.struct_size = sizeof(info)};
  STOW_TRY(stow_formula_describe(formula, &info));
  STOW_TRY(stowi_put(writer, "{\n  \"stowage_formula\": 1,\n  \"graph\": "));
  STOW_TRY(stowi_put_json(writer, info.graph_name, false));
  STOW_TRY(stowi_printf(writer,
                        ",\n  \"fingerprint\": \"%016" PRIx64 "\",\n  \"arena_alignment\": %" PRIu64
                        ",\n  \"largest_arena\": %" PRIu64 ",\n  ",
                        info.fingerprint, info.alignment, info.largest_arena));
  STOW_TRY(write_point(formula, "largest_at", info.largest_point, writer));
  STOW_TRY(stowi_put(writer, ",\n  "));
  STOW_TRY(write_point(formula, "largest_gap_at", info.worst_point, writer));
  STOW_TRY(stowi_put(writer, ",\n"));
  STOW_TRY(info.by_bounds ? write_bounds(&info, writer) : STOW_OK);
  STOW_TRY(write_symbols(formula, writer));
  STOW_TRY(stowi_put(writer, "  \"regions\": ["));
  for (size_t i = 0; i < formula->regions.count; ++i) {
    STOW_TRY(write_region(formula, i, writer));
  }
  STOW_TRY(stowi_put(writer, "\n  ],\n"));
  return write_points(formula, writer);
}
