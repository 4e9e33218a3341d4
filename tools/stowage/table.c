// Aligned columns. Widths start as the longest cell's; while the whole is too wide, the widest
// flexible column gives up a column, which is how a person would cut: long names first, short ones
// never.
#include "table.h"

#include "text.h"

#define GAP 2
#define LEAST_WIDTH 6

static void natural_widths(const cli_table* table, size_t widths[CLI_TABLE_COLUMNS]) {
  for (size_t c = 0; c < table->column_count; ++c) {
    widths[c] = cli_width(table->columns[c].title);
    for (size_t r = 0; r < table->row_count; ++r) {
      size_t width = cli_width(table->cells[r][c]);
      widths[c] = width > widths[c] ? width : widths[c];
    }
  }
}

static void fit_widths(const cli_table* table, size_t available, size_t widths[CLI_TABLE_COLUMNS]) {
  size_t total = GAP * (table->column_count - 1);
  for (size_t c = 0; c < table->column_count; ++c) {
    total += widths[c];
  }
  for (; total > available; --total) {
    size_t widest = table->column_count;
    for (size_t c = 0; c < table->column_count; ++c) {
      if (table->columns[c].flexible && widths[c] > LEAST_WIDTH &&
          (widest == table->column_count || widths[c] > widths[widest])) {
        widest = c;
      }
    }
    if (widest == table->column_count) {
      return;
    }
    --widths[widest];
  }
}

static void print_cell(cli_output* output, const cli_column* column, const char* text,
                       size_t width) {
  int padding = (int)(width - cli_width(text));
  cli_print(output, "%*s%s%*s", column->right ? padding : 0, "", text, column->right ? 0 : padding,
            "");
}

// The last column is never empty and stands to the right, so that no line ends in blanks.
void cli_table_print(cli_table* table, size_t indent, cli_output* output) {
  size_t widths[CLI_TABLE_COLUMNS];
  natural_widths(table, widths);
  fit_widths(table, output->width > indent ? output->width - indent : 0, widths);
  cli_print(output, "%*s%s", (int)indent, "", output->colours ? "\x1B[2m" : "");
  for (size_t c = 0; c < table->column_count; ++c) {
    cli_print(output, "%*s", c == 0 ? 0 : GAP, "");
    print_cell(output, &table->columns[c], table->columns[c].title, widths[c]);
  }
  cli_print(output, "%s\n", output->colours ? "\x1B[0m" : "");
  for (size_t r = 0; r < table->row_count; ++r) {
    cli_print(output, "%*s", (int)indent, "");
    for (size_t c = 0; c < table->column_count; ++c) {
      cli_cut(table->cells[r][c], widths[c]);
      cli_print(output, "%*s", c == 0 ? 0 : GAP, "");
      print_cell(output, &table->columns[c], table->cells[r][c], widths[c]);
    }
    cli_print(output, "\n");
  }
}
