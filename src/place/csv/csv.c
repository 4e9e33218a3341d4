// A problem read from CSV, and what its reader and writer share: strings and failures.
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "place/csv/csv_internal.h"

void stow_csv_destroy(stow_csv* csv) {
  if (csv != NULL) {
    stow_problem_destroy(csv->problem);
    STOWI_VEC_FREE(csv->allocator, &csv->roles);
    STOWI_VEC_FREE(csv->allocator, &csv->bytes);
    STOWI_VEC_FREE(csv->allocator, &csv->starts);
    STOWI_DELETE(csv->allocator, csv);
  }
}

const stow_problem* stow_csv_problem(const stow_csv* csv) { return csv->problem; }

stow_str stow_csv_id(const stow_csv* csv, size_t buffer) {
  return stowi_place_csv_string(csv, csv->other_count + buffer);
}

size_t stow_csv_other_count(const stow_csv* csv) { return csv->other_count; }

stow_str stow_csv_other(const stow_csv* csv, size_t index) {
  return stowi_place_csv_string(csv, index);
}

stow_status stowi_place_csv_keep(stow_csv* csv, const stowi_place_csv_cell* cell) {
  stow_str content = stowi_place_csv_content(cell);
  STOW_TRY(STOWI_VEC_RESERVE(csv->allocator, &csv->starts, 1));
  STOW_TRY(STOWI_VEC_RESERVE(csv->allocator, &csv->bytes, content.size + 1));
  char* to = csv->bytes.data + csv->bytes.count;
  size_t size = 0;
  for (size_t i = 0; i < content.size; ++i) {
    to[size++] = content.data[i];
    i += cell->is_quoted && content.data[i] == '"';  // the second of two
  }
  to[size] = '\0';
  csv->starts.data[csv->starts.count++] = csv->bytes.count;
  csv->bytes.count += size + 1;
  return STOW_OK;
}

stow_str stowi_place_csv_string(const stow_csv* csv, size_t index) {
  size_t start = csv->starts.data[index];
  size_t end = index + 1 < csv->starts.count ? csv->starts.data[index + 1] : csv->bytes.count;
  return (stow_str){csv->bytes.data + start, end - start - 1};
}

stow_str stowi_place_csv_trim(stow_str text) {
  while (text.size > 0 && (text.data[0] == ' ' || text.data[0] == '\t')) {
    ++text.data;
    --text.size;
  }
  while (text.size > 0 && (text.data[text.size - 1] == ' ' || text.data[text.size - 1] == '\t')) {
    --text.size;
  }
  return text;
}

void stowi_place_csv_show(stow_str text, char* shown) {
  size_t room = STOWI_PLACE_CSV_SHOWN_SIZE - sizeof("``...");
  bool is_cut = text.size > room;
  size_t size = is_cut ? room : text.size;
  while (is_cut && size > 0 && ((unsigned char)text.data[size] & 0xc0) == 0x80) {
    --size;  // do not cut inside a character
  }
  *shown++ = '`';
  for (size_t i = 0; i < size; ++i) {
    unsigned char c = (unsigned char)text.data[i];
    *shown++ = c < 0x20 || c == 0x7f ? '?' : text.data[i];
  }
  memcpy(shown, is_cut ? "...`" : "`", is_cut ? 5 : 2);
}

stow_status stowi_place_csv_fail(const stowi_place_csv_cell* cell, const char* who,
                                 const char* column, stow_diag* diag, stow_status status,
                                 const char* format, ...) {
  char message[STOW_DIAG_MESSAGE_SIZE];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(message, sizeof(message), format, arguments);
  va_end(arguments);
  if (column == NULL) {
    stowi_fail(diag, status, "%s: %s", who, message);
  } else {
    stowi_fail(diag, status, "%s, column `%s`: %s", who, column, message);
  }
  stowi_diag_at(diag, cell->line, cell->column);
  return status;
}
