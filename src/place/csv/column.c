// The cells of a column that has no meaning for placement. The text is walked again: O(its bytes).
#include "base/diag.h"
#include "place/api.h"
#include "place/csv/csv_internal.h"

#define NO_COLUMN SIZE_MAX

static size_t find_column(const stow_csv* csv, stow_str name) {
  size_t other = 0;
  for (size_t i = 0; i < csv->roles.count; ++i) {
    if (csv->roles.data[i] == STOWI_PLACE_CSV_OTHER) {
      if (stow_str_equal(stowi_place_csv_trim(stow_csv_other(csv, other)), name)) {
        return i;
      }
      ++other;
    }
  }
  return NO_COLUMN;
}

// The cell of |column| in the next row, which there is: the text has been read without errors.
static stowi_place_csv_cell next_cell(stowi_place_csv_cursor* cursor, size_t column) {
  stowi_place_csv_cell found;
  stowi_place_csv_cell cell;
  stowi_place_csv_find_row(cursor);
  size_t i = 0;
  do {
    stowi_place_csv_next(cursor, &cell);
    found = i++ <= column ? cell : found;
  } while (!cell.is_last);
  return found;
}

bool stowi_place_csv_has_column(const stow_csv* csv, stow_str name) {
  return find_column(csv, name) != NO_COLUMN;
}

stow_status stowi_place_csv_each(const stow_csv* csv, stow_str name, stowi_place_csv_take take,
                                 void* user) {
  size_t column = find_column(csv, name);
  stowi_place_csv_cursor cursor = stowi_place_csv_start(csv->text);
  if (column == NO_COLUMN) {
    return STOW_OK;
  }
  next_cell(&cursor, column);
  for (size_t row = 0; row < stow_problem_count(csv->problem); ++row) {
    stowi_place_csv_cell cell = next_cell(&cursor, column);
    STOW_TRY(take(user, row, stowi_place_csv_content(&cell), cell.is_quoted));
  }
  return STOW_OK;
}
