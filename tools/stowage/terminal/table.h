// Small tables in aligned columns that fit the terminal.
#ifndef STOWAGE_TOOLS_TERMINAL_TABLE_H_
#define STOWAGE_TOOLS_TERMINAL_TABLE_H_

#include "files/output.h"

#define CLI_TABLE_COLUMNS 9  // at most
#define CLI_TABLE_ROWS 40
#define CLI_CELL_SIZE 256

// What happens to a column where the table is too wide.
typedef enum cli_flex {
  CLI_FIXED,
  CLI_FLEXIBLE,  // it is cut
  CLI_PATHS      // it is cut before others are, inside: both ends of a path tell something
} cli_flex;

typedef struct cli_column {
  const char* title;  // NULL: the column is not shown
  bool right;         // numbers
  cli_flex flex;
} cli_column;

typedef struct cli_table {
  const cli_column* columns;  // the last one to the right
  size_t column_count;
  size_t row_count;
  char cells[CLI_TABLE_ROWS][CLI_TABLE_COLUMNS][CLI_CELL_SIZE];  // escaped text
} cli_table;

// Titles, then rows, indented by |indent|; no line is wider than the output unless every flexible
// column is at its least.
void cli_table_print(cli_table* table, size_t indent, cli_output* output);

#endif  // STOWAGE_TOOLS_TERMINAL_TABLE_H_
