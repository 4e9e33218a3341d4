// The summary of a formula plan: how large the arena is, as numbers and as a formula; how far it is
// above the load, and where; what the regions are; a table of points.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "plan/formula.h"
#include "plan/summary.h"
#include "report/api.h"
#include "terminal/lines.h"
#include "terminal/table.h"

#define TABLE_ROWS 14
#define SHOWN_BOXES 4
#define SHOWN_SUMS 4
#define LONGEST_SUM 160

// ---------------------------------------------------------------------------------------------
// Points and boxes as text

static void add_value(const stow_formula* formula, size_t symbol, int64_t first, int64_t last,
                      char* out, size_t capacity) {
  stow_dim_range range;
  char name[128];
  size_t used = strlen(out);
  stowi_report_escape(stow_formula_symbol(formula, symbol, &range), name, sizeof name);
  snprintf(out + used, capacity - used, "%s%s=%" PRId64, used == 0 ? "" : ",", name, first);
  used = strlen(out);
  if (last != first) {
    snprintf(out + used, capacity - used, "..%" PRId64, last);
    used = strlen(out);
    if (range.step != 1) {
      snprintf(out + used, capacity - used, "/%" PRId64, range.step);
    }
  }
}

void cli_formula_point_text(const stow_formula* formula, size_t point, char* out, size_t capacity) {
  int64_t values[STOW_MAX_RANK] = {0};
  out[0] = '\0';
  stow_formula_point_values(formula, point, values);
  for (size_t i = 0; i < stow_formula_symbol_count(formula); ++i) {
    add_value(formula, i, values[i], values[i], out, capacity);
  }
}

void cli_formula_box_text(const stow_formula* formula, size_t region, size_t box, char* out,
                          size_t capacity) {
  int64_t first[STOW_MAX_RANK] = {0};
  int64_t last[STOW_MAX_RANK] = {0};
  out[0] = '\0';
  stow_formula_box(formula, region, box, first, last);
  for (size_t i = 0; i < stow_formula_symbol_count(formula); ++i) {
    add_value(formula, i, first[i], last[i], out, capacity);
  }
}

static void range_text(const stow_formula* formula, char* out, size_t capacity) {
  out[0] = '\0';
  for (size_t i = 0; i < stow_formula_symbol_count(formula); ++i) {
    stow_dim_range range;
    stow_formula_symbol(formula, i, &range);
    add_value(formula, i, range.min, range.max, out, capacity);
  }
}

static stow_formula_point point_of(const stow_formula* formula, size_t point) {
  stow_formula_point found = {.struct_size = sizeof found};
  stow_formula_describe_point(formula, point, &found);
  return found;
}

// ---------------------------------------------------------------------------------------------
// Regions

// A sum as C and people write it: without the mark of symbols.
static bool print_sum(const stow_formula* formula, size_t region, size_t sum, cli_output* output) {
  stow_string text;
  stow_string_init(&text, stow_allocator_default());
  bool fits = stow_formula_write_sum(formula, region, sum, stow_string_writer(&text)) == STOW_OK &&
              text.size <= LONGEST_SUM;
  if (fits) {
    bool has_brackets = text.size > 2 && text.data[1] == '(';
    size_t skip = text.data[0] != '?' ? 0 : has_brackets ? 2 : 1;
    cli_print(output, "%.*s", (int)(text.size - skip - (has_brackets ? 1 : 0)), text.data + skip);
  } else {
    cli_print(output, "…");
  }
  stow_string_free(&text);
  return fits;
}

static void print_sums(const stow_formula* formula, size_t region, cli_output* output) {
  stow_formula_region info = {.struct_size = sizeof info};
  stow_formula_describe_region(formula, region, &info);
  size_t shown = info.sum_count < SHOWN_SUMS ? info.sum_count : SHOWN_SUMS;
  bool is_whole = info.slack != UINT64_MAX && shown == info.sum_count;
  cli_print(output, "    arena         %s", info.sum_count > 1 || !is_whole ? "max(" : "");
  for (size_t i = 0; i < shown; ++i) {
    cli_print(output, "%s", i == 0 ? "" : ",\n                      ");
    print_sum(formula, region, i, output);
  }
  cli_print(output, "%s%s",
            is_whole     ? ""
            : shown == 0 ? "…"
                         : ", …",
            info.sum_count > 1 || !is_whole ? ")" : "");
  if (is_whole && info.slack != 0) {
    cli_print(output, ", or up to %" PRIu64 " B less", info.slack);
  }
  cli_print(output, "\n");
}

static void print_region(const stow_formula* formula, size_t region, cli_output* output) {
  char text[512];
  char gap[STOWI_REPORT_NUMBER];
  stow_formula_region info = {.struct_size = sizeof info};
  stow_formula_describe_region(formula, region, &info);
  cli_print(output, "  %-15s", region == 0 ? "regions" : "");
  for (size_t i = 0; i < info.box_count && i < SHOWN_BOXES; ++i) {
    cli_formula_box_text(formula, region, i, text, sizeof text);
    cli_print(output, "%s%s", i == 0 ? " " : "; ", text);
  }
  if (info.box_count > SHOWN_BOXES) {
    cli_print(output, "; and %zu more", info.box_count - SHOWN_BOXES);
  }
  cli_formula_point_text(formula, info.planned_at, text, sizeof text);
  cli_print(output, "\n    planned at    %s: %zu buffers, %zu pairs, one below the other\n", text,
            info.buffer_count, info.edge_count);
  stow_formula_point worst = point_of(formula, info.worst_point);
  stowi_report_gap(worst.arena_size - worst.load, worst.load, gap);
  cli_formula_point_text(formula, info.worst_point, text, sizeof text);
  cli_print(output, "    largest gap   %s at %s\n", gap, text);
  print_sums(formula, region, output);
}

// ---------------------------------------------------------------------------------------------
// The table

// Whether the point is an end of the range, or of a region.
static bool is_border(const stow_formula* formula, size_t point, size_t count) {
  size_t region = point_of(formula, point).region;
  return point == 0 || point + 1 == count || point_of(formula, point - 1).region != region ||
         point_of(formula, point + 1).region != region;
}

// Ends and borders first, as far as there is room; then points in between, evenly.
static size_t choose_points(const stow_formula* formula, size_t* out) {
  size_t count = stow_formula_point_count(formula);
  size_t borders = 0;
  bool has_one_symbol = stow_formula_symbol_count(formula) == 1;
  size_t chosen = 0;
  for (size_t i = 0; i < count && has_one_symbol; ++i) {
    borders += is_border(formula, i, count) ? 1 : 0;
  }
  bool shows_borders = has_one_symbol && borders <= TABLE_ROWS / 2;
  for (size_t i = 0; i < count; ++i) {
    size_t rows = TABLE_ROWS - (shows_borders ? borders : 0);
    bool is_even = count <= rows || i * (rows - 1) / (count - 1) !=
                                        (i == 0 ? SIZE_MAX : (i - 1) * (rows - 1) / (count - 1));
    bool is_shown = is_even || i + 1 == count || (shows_borders && is_border(formula, i, count));
    if (is_shown && chosen < CLI_TABLE_ROWS) {
      out[chosen++] = i;
    }
  }
  return chosen;
}

static void print_table(const stow_formula* formula, uint64_t largest, cli_output* output) {
  static const cli_column columns[] = {
      {"at", false, CLI_FLEXIBLE}, {"arena", true, CLI_FIXED},      {"load", true, CLI_FIXED},
      {"gap", true, CLI_FIXED},    {"of largest", true, CLI_FIXED}, {"region", true, CLI_FIXED}};
  cli_table table = {.columns = columns, .column_count = 6};
  size_t points[CLI_TABLE_ROWS];
  table.row_count = choose_points(formula, points);
  for (size_t i = 0; i < table.row_count; ++i) {
    stow_formula_point point = point_of(formula, points[i]);
    cli_formula_point_text(formula, points[i], table.cells[i][0], CLI_CELL_SIZE);
    snprintf(table.cells[i][1], CLI_CELL_SIZE, "%" PRIu64, point.arena_size);
    snprintf(table.cells[i][2], CLI_CELL_SIZE, "%" PRIu64, point.load);
    stowi_report_gap(point.arena_size - point.load, point.load, table.cells[i][3]);
    stowi_report_percent(point.arena_size, largest, table.cells[i][4]);
    snprintf(table.cells[i][5], CLI_CELL_SIZE, "%zu", point.region);
  }
  cli_table_print(&table, 2, output);
}

// ---------------------------------------------------------------------------------------------

// Of a plan by bounds: what holds at any shape.
static void print_bounds(const stow_formula_info* info, cli_output* output) {
  char gap[STOWI_REPORT_NUMBER];
  uint64_t above = info->gap_arena > info->gap_load ? info->gap_arena - info->gap_load : 0;
  stowi_report_gap(above, info->gap_load, gap);
  cli_print(output,
            "  %-15s arena of at most %" PRIu64 " B at any shape; gap of at most %s, or %" PRIu64
            " B\n",
            "by bounds", info->arena_bound, gap, above);
}

void cli_formula_print(const stow_formula* formula, const cli_plan_job* job, cli_output* output) {
  stow_formula_info info = {.struct_size = sizeof info};
  char text[512];
  char gap[STOWI_REPORT_NUMBER];
  char label[512];
  stow_formula_describe(formula, &info);
  stowi_report_escape(info.graph_name, text, sizeof text);
  stowi_report_escape(stow_str_of(job->source.label), label, sizeof label);
  cli_print(output, "%s@%s%s in %s\n", cli_paint_start(output, CLI_BOLD), text,
            cli_paint_stop(output), label);
  range_text(formula, text, sizeof text);
  uint32_t nodes = stow_graph_node_count(job->graph);
  uint32_t values = stow_graph_value_count(job->graph);
  cli_print(output, "  %s: ", text);
  if (info.by_bounds && info.shape_count == UINT64_MAX) {
    cli_print(output, "more than 2^64 shapes, of which ");
  } else if (info.by_bounds) {
    cli_print(output, "%" PRIu64 " shapes, of which ", info.shape_count);
  }
  cli_print(output, "%zu point%s%s\n  %" PRIu32 " node%s, %" PRIu32 " value%s: %zu buffer%s\n\n",
            info.point_count, cli_plural(info.point_count), info.by_bounds ? " are looked at" : "",
            nodes, cli_plural(nodes), values, cli_plural(values), info.buffer_count,
            cli_plural(info.buffer_count));
  cli_formula_point_text(formula, info.largest_point, text, sizeof text);
  cli_print_size(output, "largest arena", info.largest_arena);
  cli_print(output, "   at %s, aligned to %" PRIu64 " B\n", text, info.alignment);
  stow_formula_point worst = point_of(formula, info.worst_point);
  stowi_report_gap(worst.arena_size - worst.load, worst.load, gap);
  cli_formula_point_text(formula, info.worst_point, text, sizeof text);
  cli_print(output, "  %-15s %s at %s: %" PRIu64 " B above the load of %" PRIu64 " B\n",
            "largest gap", gap, text, worst.arena_size - worst.load, worst.load);
  if (info.by_bounds) {
    print_bounds(&info, output);
  }
  for (size_t i = 0; i < info.region_count; ++i) {
    print_region(formula, i, output);
  }
  cli_print(output, "  %-15s yes: every pair for all sizes, %sand the plan at every point\n\n",
            "checked", info.by_bounds ? "views and places for all shapes, " : "");
  print_table(formula, info.largest_arena, output);
}
