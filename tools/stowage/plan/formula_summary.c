// The summary of a formula plan.
#include <inttypes.h>
#include <stdio.h>

#include "plan/formula.h"
#include "report/api.h"

#define TABLE_ROWS 12

static void print_value(const stow_formula* formula, size_t symbol, int64_t first, int64_t last,
                        char* out, size_t capacity, size_t* used) {
  stow_dim_range range;
  stow_str name = stow_formula_symbol(formula, symbol, &range);
  char escaped[128];
  stowi_report_escape(name, escaped, sizeof escaped);
  int written = snprintf(out + *used, capacity - *used, "%s%s=%" PRId64, *used == 0 ? "" : ",",
                         escaped, first);
  *used += written > 0 ? (size_t)written : 0;
  if (last != first && *used < capacity) {
    written = snprintf(out + *used, capacity - *used, "..%" PRId64, last);
    *used += written > 0 ? (size_t)written : 0;
  }
}

void cli_formula_point_text(const stow_formula* formula, size_t point, char* out, size_t capacity) {
  int64_t values[STOW_MAX_RANK] = {0};
  size_t used = 0;
  stow_formula_point_values(formula, point, values);
  for (size_t i = 0; i < stow_formula_symbol_count(formula) && used < capacity; ++i) {
    print_value(formula, i, values[i], values[i], out, capacity, &used);
  }
}

void cli_formula_box_text(const stow_formula* formula, size_t region, size_t box, char* out,
                          size_t capacity) {
  int64_t first[STOW_MAX_RANK] = {0};
  int64_t last[STOW_MAX_RANK] = {0};
  size_t used = 0;
  stow_formula_box(formula, region, box, first, last);
  for (size_t i = 0; i < stow_formula_symbol_count(formula) && used < capacity; ++i) {
    print_value(formula, i, first[i], last[i], out, capacity, &used);
  }
}

void cli_formula_print(const stow_formula* formula, const cli_plan_job* job, cli_output* output) {
  stow_formula_info info = {.struct_size = sizeof info};
  stow_formula_describe(formula, &info);
  char text[512];
  cli_print(output, "%zu points, %zu regions, %zu plans, %zu buffers, largest %" PRIu64 "\n",
            info.point_count, info.region_count, info.plan_count, info.buffer_count,
            info.largest_arena);
  stow_formula_point worst = {.struct_size = sizeof worst};
  stow_formula_describe_point(formula, info.worst_point, &worst);
  cli_formula_point_text(formula, info.worst_point, text, sizeof text);
  cli_print(output, "worst %s: %" PRIu64 " over %" PRIu64 " = %.3f %%\n", text, worst.arena_size,
            worst.load, 100.0 * (double)(worst.arena_size - worst.load) / (double)(worst.load + 1));
  for (size_t i = 0; i < info.region_count; ++i) {
    stow_formula_region region = {.struct_size = sizeof region};
    stow_formula_describe_region(formula, i, &region);
    cli_formula_point_text(formula, region.planned_at, text, sizeof text);
    cli_print(output,
              "region %zu: %zu points, %zu boxes, %zu buffers, %zu edges, planned at %s:", i,
              region.point_count, region.box_count, region.buffer_count, region.edge_count, text);
    for (size_t k = 0; k < region.box_count && k < 6; ++k) {
      cli_formula_box_text(formula, i, k, text, sizeof text);
      cli_print(output, " %s", text);
    }
    stow_formula_describe_point(formula, region.worst_point, &worst);
    cli_formula_point_text(formula, region.worst_point, text, sizeof text);
    cli_print(output, "\n    worst %s: %" PRIu64 " over %" PRIu64 " = %.3f %%\n", text,
              worst.arena_size, worst.load,
              100.0 * (double)(worst.arena_size - worst.load) / (double)(worst.load + 1));
  }
  (void)job;
}
