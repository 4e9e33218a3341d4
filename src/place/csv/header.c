// The first row of a CSV text: the meaning of each column. Names are few, so they are compared one
// by one.
#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "place/csv/csv_internal.h"

// More columns suggest that the text is not a table, and each costs memory.
#define MAX_COLUMNS 4096

static const struct {
  const char* name;
  stowi_place_csv_role role;
} column_names[] = {{"id", STOWI_PLACE_CSV_ID},         {"buffer", STOWI_PLACE_CSV_ID},
                    {"buffer_id", STOWI_PLACE_CSV_ID},  {"lower", STOWI_PLACE_CSV_LOWER},
                    {"begin", STOWI_PLACE_CSV_LOWER},   {"start", STOWI_PLACE_CSV_LOWER},
                    {"upper", STOWI_PLACE_CSV_UPPER},   {"end", STOWI_PLACE_CSV_UPPER},
                    {"size", STOWI_PLACE_CSV_SIZE},     {"alignment", STOWI_PLACE_CSV_ALIGNMENT},
                    {"offset", STOWI_PLACE_CSV_OFFSET}, {"gaps", STOWI_PLACE_CSV_GAPS}};

// Sets |out_name| to our spelling of the name, or NULL.
static stowi_place_csv_role find_role(stow_str name, const char** out_name) {
  for (size_t i = 0; i < sizeof(column_names) / sizeof(column_names[0]); ++i) {
    if (stow_str_equal(name, stow_str_of(column_names[i].name))) {
      *out_name = column_names[i].name;
      return column_names[i].role;
    }
  }
  *out_name = NULL;
  return STOWI_PLACE_CSV_OTHER;
}

static stow_status add_other(stow_csv* csv, const stowi_place_csv_cell* cell, stow_diag* diag) {
  STOW_TRY(stowi_need_memory(stowi_place_csv_keep(csv, cell) == STOW_OK, diag));
  ++csv->other_count;
  return STOW_OK;
}

static stow_status add_known(stow_csv* csv, const stowi_place_csv_cell* cell,
                             stowi_place_csv_role role, const char* name, stow_diag* diag) {
  const char* earlier = csv->names[role];
  if (earlier != NULL && strcmp(earlier, name) == 0) {
    return stowi_place_csv_fail(cell, "header", name, diag, STOW_ERR_DUPLICATE,
                                "it is given twice");
  }
  if (earlier != NULL) {
    return stowi_place_csv_fail(cell, "header", name, diag, STOW_ERR_DUPLICATE,
                                "column `%s` means the same; keep one of them", earlier);
  }
  csv->names[role] = name;
  if (role == STOWI_PLACE_CSV_UPPER) {
    csv->end_is_inclusive = strcmp(name, "end") == 0;
  }
  return STOW_OK;
}

static stow_status add_column(stow_csv* csv, const stowi_place_csv_cell* cell, stow_diag* diag) {
  if (csv->roles.count == MAX_COLUMNS) {
    return stowi_place_csv_fail(cell, "header", NULL, diag, STOW_ERR_LIMIT, "more than %d columns",
                                MAX_COLUMNS);
  }
  STOW_TRY(stowi_need_memory(STOWI_VEC_RESERVE(csv->allocator, &csv->roles, 1) == STOW_OK, diag));
  const char* name;
  stowi_place_csv_role role = find_role(stowi_place_csv_trim(stowi_place_csv_content(cell)), &name);
  csv->roles.data[csv->roles.count++] = (uint8_t)role;
  return role == STOWI_PLACE_CSV_OTHER ? add_other(csv, cell, diag)
                                       : add_known(csv, cell, role, name, diag);
}

static stow_status check_complete(const stow_csv* csv, const stowi_place_csv_cell* first,
                                  stow_diag* diag) {
  static const char* const needed[] = {"`id`", "`lower`", "`upper` (or `end`)", "`size`"};
  char missing[80] = "";
  size_t used = 0;
  size_t count = 0;
  for (size_t role = STOWI_PLACE_CSV_ID; role <= STOWI_PLACE_CSV_SIZE; ++role) {
    if (csv->names[role] == NULL) {
      used += (size_t)snprintf(missing + used, sizeof(missing) - used, "%s%s",
                               count == 0 ? "" : ", ", needed[role]);
      ++count;
    }
  }
  if (count == 0) {
    return STOW_OK;
  }
  char shown[STOWI_PLACE_CSV_SHOWN_SIZE];
  stowi_place_csv_show(first->raw, shown);
  return stowi_place_csv_fail(
      first, "header", NULL, diag, STOW_ERR_SYNTAX,
      "column%s missing: %s; the first line must name the columns, and begins "
      "with %s",
      count == 1 ? "" : "s", missing, shown);
}

stow_status stowi_place_csv_read_header(stow_csv* csv, stowi_place_csv_cursor* cursor,
                                        stow_diag* diag) {
  stowi_place_csv_cell first = {{"", 0}, 1, 1, false, true};
  if (!stowi_place_csv_find_row(cursor)) {
    return stowi_place_csv_fail(&first, "header", NULL, diag, STOW_ERR_SYNTAX,
                                "the text is empty; expected column names: id,lower,upper,size");
  }
  stowi_place_csv_cell cell;
  do {
    const char* fault = stowi_place_csv_next(cursor, &cell);
    if (fault != NULL) {
      return stowi_place_csv_fail(&cell, "header", NULL, diag, STOW_ERR_SYNTAX, "invalid cell: %s",
                                  fault);
    }
    if (csv->roles.count == 0) {
      first = cell;
    }
    STOW_TRY(add_column(csv, &cell, diag));
  } while (!cell.is_last);
  return check_complete(csv, &first, diag);
}
