// Writes a problem's CSV with the offsets of a placement. The text is walked again, cell by cell,
// and copied except for the cells of the column `offset`: so columns that the reader ignores are
// preserved. O(n) in the bytes of the text.
#include <inttypes.h>

#include "base/diag.h"
#include "base/text.h"
#include "place/api.h"
#include "place/csv/csv_internal.h"

typedef struct row {
  stow_str before;  // all but the end of the line, or what precedes the cell of `offset`
  stow_str after;   // what follows that cell
} row;

// The text has already been read without errors.
static row next_row(const stow_csv* csv, stowi_place_csv_cursor* cursor) {
  const char* start = csv->text.data + cursor->at;
  row result = {{start, 0}, {"", 0}};
  const char* after = NULL;
  stowi_place_csv_cell cell = {.is_last = false};
  for (size_t column = 0; column < csv->roles.count && !cell.is_last; ++column) {
    stowi_place_csv_next(cursor, &cell);
    if (csv->roles.data[column] == STOWI_PLACE_CSV_OFFSET) {
      result.before.size = (size_t)(cell.raw.data - start);
      after = cell.raw.data + cell.raw.size;
    }
  }
  const char* end = cell.raw.data + cell.raw.size;
  if (after == NULL) {
    result.before.size = (size_t)(end - start);
  } else {
    result.after = (stow_str){after, (size_t)(end - after)};
  }
  return result;
}

static stow_status write_header(const stow_csv* csv, stowi_place_csv_cursor* cursor,
                                stow_writer writer) {
  stowi_place_csv_find_row(cursor);
  const char* start = csv->text.data + cursor->at;
  stowi_place_csv_cell cell;
  do {
    stowi_place_csv_next(cursor, &cell);
  } while (!cell.is_last);
  stow_str line = {start, (size_t)(cell.raw.data + cell.raw.size - start)};
  STOW_TRY(stowi_put_str(writer, line));
  return stowi_put(writer, csv->names[STOWI_PLACE_CSV_OFFSET] == NULL ? ",offset\n" : "\n");
}

static stow_status write_row(const stow_csv* csv, stowi_place_csv_cursor* cursor, uint64_t offset,
                             stow_writer writer) {
  stowi_place_csv_find_row(cursor);
  row line = next_row(csv, cursor);
  bool is_added = csv->names[STOWI_PLACE_CSV_OFFSET] == NULL;
  STOW_TRY(stowi_put_str(writer, line.before));
  STOW_TRY(stowi_printf(writer, is_added ? ",%" PRIu64 : "%" PRIu64, offset));
  STOW_TRY(stowi_put_str(writer, line.after));
  return stowi_put(writer, "\n");
}

stow_status stow_csv_write(const stow_csv* csv, const stow_placement* placement, stow_writer writer,
                           stow_diag* diag) {
  size_t count = stow_problem_count(csv->problem);
  if (stowi_place_placement_count(placement) != count) {
    return stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT,
                      "the placement has %zu buffers, but the CSV has %zu rows",
                      stowi_place_placement_count(placement), count);
  }
  stowi_place_csv_cursor cursor = stowi_place_csv_start(csv->text);
  stow_status status = write_header(csv, &cursor, writer);
  for (size_t i = 0; i < count && status == STOW_OK; ++i) {
    status = write_row(csv, &cursor, stow_placement_offset(placement, i), writer);
  }
  return status == STOW_OK ? STOW_OK : stowi_fail(diag, status, "writing CSV failed");
}
