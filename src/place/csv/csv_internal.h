// State shared by the reader and the writer of CSV.
#ifndef STOWAGE_SRC_PLACE_CSV_CSV_INTERNAL_H_
#define STOWAGE_SRC_PLACE_CSV_CSV_INTERNAL_H_

#include <stowage/base.h>
#include <stowage/csv.h>

#include "base/alloc.h"

// A cursor over the cells of a CSV text.

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

// ---------------------------------------------------------------------------------------------

// What a column means.
typedef enum stowi_place_csv_role {
  STOWI_PLACE_CSV_ID,
  STOWI_PLACE_CSV_LOWER,
  STOWI_PLACE_CSV_UPPER,
  STOWI_PLACE_CSV_SIZE,
  STOWI_PLACE_CSV_ALIGNMENT,
  STOWI_PLACE_CSV_OFFSET,
  STOWI_PLACE_CSV_GAPS,
  STOWI_PLACE_CSV_OTHER
} stowi_place_csv_role;
#define STOWI_PLACE_CSV_ROLES STOWI_PLACE_CSV_OTHER

struct stow_csv {
  stow_allocator allocator;
  stow_str text;
  stow_problem* problem;
  STOWI_VEC(uint8_t) roles;                  // per column
  const char* names[STOWI_PLACE_CSV_ROLES];  // its name in the text; NULL if the column is missing
  bool end_is_inclusive;
  // Other columns' names, then ids, each followed by a NUL: string i is at starts.data[i].
  STOWI_VEC(char) bytes;
  STOWI_VEC(size_t) starts;
  size_t other_count;
};

// Appends the content of |cell|, with doubled quotes made single.
stow_status stowi_place_csv_keep(stow_csv* csv, const stowi_place_csv_cell* cell);
stow_str stowi_place_csv_string(const stow_csv* csv, size_t index);

// Fails at |cell|. The message begins with |who| and, unless it is NULL, the name of the column.
stow_status stowi_place_csv_fail(const stowi_place_csv_cell* cell, const char* who,
                                 const char* column, stow_diag* diag, stow_status status,
                                 const char* format, ...) STOW_PRINTF_LIKE(6, 7);

// For messages: `text`, truncated if long, without control bytes.
#define STOWI_PLACE_CSV_SHOWN_SIZE 48
void stowi_place_csv_show(stow_str text, char* shown);

// Reads the first row and sets roles, names and other columns.
stow_status stowi_place_csv_read_header(stow_csv* csv, stowi_place_csv_cursor* cursor,
                                        stow_diag* diag);

// |text| without leading and trailing blanks and tabs.
stow_str stowi_place_csv_trim(stow_str text);

#endif  // STOWAGE_SRC_PLACE_CSV_CSV_INTERNAL_H_
