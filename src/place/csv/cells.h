// A cursor over the cells of a CSV text.
#ifndef STOWAGE_SRC_PLACE_CSV_CELLS_H_
#define STOWAGE_SRC_PLACE_CSV_CELLS_H_

#include <stowage/base.h>

typedef struct stowi_place_csv_cursor {
  stow_str text;
  size_t at;
  size_t line_at;  // where the line begins
  uint32_t line;   // 1-based
} stowi_place_csv_cursor;

typedef struct stowi_place_csv_cell {
  stow_str raw;     // as written, including quotes
  uint32_t line;    // where it begins
  uint32_t column;  // 1-based, in bytes; UINT32_MAX for anything beyond
  bool is_quoted;
  bool is_last;  // of its row
} stowi_place_csv_cell;

// At the first line, after a byte order mark.
stowi_place_csv_cursor stowi_place_csv_start(stow_str text);
// Skips empty lines; false at the end of the text.
bool stowi_place_csv_find_row(stowi_place_csv_cursor* cursor);
// The next cell of the row. Returns NULL, or what is wrong with it; line and column of |out_cell|
// are set in either case.
const char* stowi_place_csv_next(stowi_place_csv_cursor* cursor, stowi_place_csv_cell* out_cell);
// The cell's content, with doubled quotes still doubled.
stow_str stowi_place_csv_content(const stowi_place_csv_cell* cell);

#endif  // STOWAGE_SRC_PLACE_CSV_CELLS_H_
