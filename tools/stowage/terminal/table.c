// Aligned columns. Widths start as the longest cell's; while the whole is too wide, the widest
// flexible column gives up a column, which is how a person would cut: long names first, short ones
// never.
#include "terminal/table.h"

#include "report/api.h"

#define GAP 2
#define LEAST_WIDTH 6
#define LEAST_PATH_WIDTH 24
#define CUT_PATH_WIDTH 12  // where nothing else is left to cut

static bool is_shown(const cli_table* table, size_t c) { return table->columns[c].title != NULL; }

static void natural_widths(const cli_table* table, size_t widths[CLI_TABLE_COLUMNS]) {
  for (size_t c = 0; c < table->column_count; ++c) {
    widths[c] = is_shown(table, c) ? stowi_report_width(table->columns[c].title) : 0;
    for (size_t r = 0; r < table->row_count && is_shown(table, c); ++r) {
      size_t width = stowi_report_width(table->cells[r][c]);
      widths[c] = width > widths[c] ? width : widths[c];
    }
  }
}

// The widest column of a kind that may give up more; column_count where there is none.
static size_t find_widest(const cli_table* table, const size_t widths[CLI_TABLE_COLUMNS],
                          cli_flex flex, size_t least) {
  size_t widest = table->column_count;
  for (size_t c = 0; c < table->column_count; ++c) {
    if (table->columns[c].flex == flex && widths[c] > least &&
        (widest == table->column_count || widths[c] > widths[widest])) {
      widest = c;
    }
  }
  return widest;
}

static void fit_widths(const cli_table* table, size_t available, size_t widths[CLI_TABLE_COLUMNS]) {
  size_t total = 0;
  for (size_t c = 0; c < table->column_count; ++c) {
    total += is_shown(table, c) ? (c == 0 ? 0 : GAP) + widths[c] : 0;
  }
  for (; total > available; --total) {
    size_t widest = find_widest(table, widths, CLI_PATHS, LEAST_PATH_WIDTH);
    if (widest == table->column_count) {
      widest = find_widest(table, widths, CLI_FLEXIBLE, LEAST_WIDTH);
    }
    if (widest == table->column_count) {
      widest = find_widest(table, widths, CLI_PATHS, CUT_PATH_WIDTH);
    }
    if (widest == table->column_count) {
      return;
    }
    --widths[widest];
  }
}

static void print_cell(cli_output* output, const cli_column* column, const char* text,
                       size_t width) {
  int padding = (int)(width - stowi_report_width(text));
  cli_print(output, "%*s%s%*s", column->right ? padding : 0, "", text, column->right ? 0 : padding,
            "");
}

static void print_titles(const cli_table* table, const size_t widths[CLI_TABLE_COLUMNS],
                         cli_output* output) {
  for (size_t c = 0; c < table->column_count; ++c) {
    if (is_shown(table, c)) {
      cli_print(output, "%*s", c == 0 ? 0 : GAP, "");
      print_cell(output, &table->columns[c], table->columns[c].title, widths[c]);
    }
  }
}

static void print_row(cli_table* table, size_t r, const size_t widths[CLI_TABLE_COLUMNS],
                      cli_output* output) {
  for (size_t c = 0; c < table->column_count; ++c) {
    if (!is_shown(table, c)) {
      continue;
    }
    if (table->columns[c].flex == CLI_PATHS) {
      stowi_report_cut_inside(table->cells[r][c], widths[c]);
    } else {
      stowi_report_cut(table->cells[r][c], widths[c]);
    }
    cli_print(output, "%*s", c == 0 ? 0 : GAP, "");
    print_cell(output, &table->columns[c], table->cells[r][c], widths[c]);
  }
}

// The first column is always shown; the last one is never empty and stands to the right, so that no
// line ends in blanks.
void cli_table_print(cli_table* table, size_t indent, cli_output* output) {
  size_t widths[CLI_TABLE_COLUMNS];
  natural_widths(table, widths);
  fit_widths(table, output->width > indent ? output->width - indent : 0, widths);
  cli_print(output, "%*s%s", (int)indent, "", output->colours ? "\x1B[2m" : "");
  print_titles(table, widths, output);
  cli_print(output, "%s\n", output->colours ? "\x1B[0m" : "");
  for (size_t r = 0; r < table->row_count; ++r) {
    cli_print(output, "%*s", (int)indent, "");
    print_row(table, r, widths, output);
    cli_print(output, "\n");
  }
}
