// Reads rows of a CSV text as buffers of a problem. One pass: the cells of a row are found first,
// so that an error can name the row by its id wherever the id's column is; then they are read. Ids
// are in a hash index to find duplicates. O(n) in the bytes of the text.
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "base/hash.h"
#include "base/text.h"
#include "place/csv/csv_internal.h"

#define WHO_SIZE 96

typedef struct reader {
  stow_csv* csv;
  stow_diag* diag;
  stowi_place_csv_cursor cursor;
  stowi_place_csv_cell cells[STOWI_PLACE_CSV_ROLES];  // of the row, for columns that exist
  size_t row;                                         // its number, from 1
  bool has_id;                                        // its id has been found
  stowi_index ids;
  stow_diag inner;  // the problem's message about a buffer or a window
} reader;

static bool has_column(const reader* r, stowi_place_csv_role role) {
  return r->csv->names[role] != NULL;
}

static stow_str content(const reader* r, stowi_place_csv_role role) {
  return stowi_place_csv_content(&r->cells[role]);
}

// The row by number and, if already found, id.
static void describe_row(const reader* r, char* who) {
  char shown[STOWI_PLACE_CSV_SHOWN_SIZE] = "";
  if (r->has_id) {
    stowi_place_csv_show(content(r, STOWI_PLACE_CSV_ID), shown);
  }
  snprintf(who, WHO_SIZE, "row %zu%s%s", r->row, r->has_id ? ", id " : "", shown);
}

// Fails at the row's cell of |role|: |what|, and what was found.
static stow_status fail_cell(const reader* r, stowi_place_csv_role role, stow_status status,
                             const char* what) {
  char who[WHO_SIZE];
  char shown[STOWI_PLACE_CSV_SHOWN_SIZE];
  describe_row(r, who);
  stowi_place_csv_show(content(r, role), shown);
  return stowi_place_csv_fail(&r->cells[role], who, r->csv->names[role], r->diag, status,
                              "%s, found %s", what, shown);
}

// ---------------------------------------------------------------------------------------------
// Cells

// Fails for a number that stowi_parse_u64 refused.
static stow_status fail_number(const reader* r, stowi_place_csv_role role, stow_str number) {
  bool is_negative = number.size > 1 && number.data[0] == '-';
  size_t i = is_negative ? 1 : 0;
  while (i < number.size && stowi_is_digit(number.data[i])) {
    ++i;
  }
  if (number.size == 0 || i < number.size) {
    return fail_cell(r, role, STOW_ERR_SYNTAX, "expected a whole number");
  }
  return is_negative
             ? fail_cell(r, role, STOW_ERR_INVALID_ARGUMENT, "expected 0 or more")
             : fail_cell(r, role, STOW_ERR_OVERFLOW, "expected a number of at most 64 bits");
}

static stow_status read_number(const reader* r, stowi_place_csv_role role, uint64_t* out_number) {
  stow_str number = stowi_place_csv_trim(content(r, role));
  return stowi_parse_u64(number, out_number) ? STOW_OK : fail_number(r, role, number);
}

// Sets [begin, end), whether the text's end is exclusive or inclusive.
static stow_status read_life(const reader* r, stow_buffer* desc) {
  STOW_TRY(read_number(r, STOWI_PLACE_CSV_LOWER, &desc->begin));
  STOW_TRY(read_number(r, STOWI_PLACE_CSV_UPPER, &desc->end));
  if (r->csv->end_is_inclusive) {
    if (desc->end == UINT64_MAX) {
      return fail_cell(r, STOWI_PLACE_CSV_UPPER, STOW_ERR_OVERFLOW,
                       "expected a step below 2^64 - 1");
    }
    ++desc->end;
  }
  if (desc->begin < desc->end) {
    return STOW_OK;
  }
  char what[100];
  snprintf(what, sizeof(what), "expected a step %s `%s` %" PRIu64,
           r->csv->end_is_inclusive ? "not before" : "after", r->csv->names[STOWI_PLACE_CSV_LOWER],
           desc->begin);
  return fail_cell(r, STOWI_PLACE_CSV_UPPER, STOW_ERR_INVALID_ARGUMENT, what);
}

static stow_status read_size(const reader* r, stow_buffer* desc) {
  STOW_TRY(read_number(r, STOWI_PLACE_CSV_SIZE, &desc->size));
  if (desc->size == 0) {
    return fail_cell(r, STOWI_PLACE_CSV_SIZE, STOW_ERR_INVALID_ARGUMENT, "expected 1 or more");
  }
  return STOW_OK;
}

static stow_status read_alignment(const reader* r, stow_buffer* desc) {
  if (!has_column(r, STOWI_PLACE_CSV_ALIGNMENT) ||
      stowi_place_csv_trim(content(r, STOWI_PLACE_CSV_ALIGNMENT)).size == 0) {
    return STOW_OK;
  }
  STOW_TRY(read_number(r, STOWI_PLACE_CSV_ALIGNMENT, &desc->alignment));
  if (desc->alignment == 0 || (desc->alignment & (desc->alignment - 1)) != 0) {
    return fail_cell(r, STOWI_PLACE_CSV_ALIGNMENT, STOW_ERR_INVALID_ARGUMENT,
                     "expected a power of two");
  }
  return STOW_OK;
}

static stow_status read_offset(const reader* r, stow_buffer* desc) {
  if (!has_column(r, STOWI_PLACE_CSV_OFFSET)) {
    return STOW_OK;
  }
  stow_str offset = stowi_place_csv_trim(content(r, STOWI_PLACE_CSV_OFFSET));
  if (offset.size == 0 || stow_str_equal(offset, stow_str_of("-1"))) {
    return STOW_OK;
  }
  uint64_t number;
  STOW_TRY(read_number(r, STOWI_PLACE_CSV_OFFSET, &number));
  if (number > INT64_MAX) {  // STOW_PLACE_ANYWHERE is reserved for the empty cell
    return fail_cell(r, STOWI_PLACE_CSV_OFFSET, STOW_ERR_OVERFLOW,
                     "expected a number of at most 63 bits");
  }
  if ((number & (desc->alignment - 1)) != 0) {
    char what[80];
    snprintf(what, sizeof(what), "expected a multiple of the alignment %" PRIu64, desc->alignment);
    return fail_cell(r, STOWI_PLACE_CSV_OFFSET, STOW_ERR_INVALID_ARGUMENT, what);
  }
  desc->fixed_offset = number;
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Gaps

// Splits |rest| at the first |separator|: what is before it goes to |out_head|. False, and
// unchanged, if there is none.
static bool cut(stow_str* rest, char separator, stow_str* out_head) {
  const char* at = rest->size == 0 ? NULL : memchr(rest->data, separator, rest->size);
  if (at == NULL) {
    return false;
  }
  *out_head = (stow_str){rest->data, (size_t)(at - rest->data)};
  *rest = (stow_str){at + 1, rest->size - out_head->size - 1};
  return true;
}

// FROM-TO or FROM-TO@LOW:HIGH.
static bool parse_gap(stow_str text, stow_window_desc* window) {
  stow_str from;
  stow_str to;
  stow_str low;
  if (!cut(&text, '-', &from) || !stowi_parse_u64(from, &window->begin)) {
    return false;
  }
  if (!cut(&text, '@', &to)) {
    return stowi_parse_u64(text, &window->end);
  }
  return stowi_parse_u64(to, &window->end) && cut(&text, ':', &low) &&
         stowi_parse_u64(low, &window->low) && stowi_parse_u64(text, &window->high);
}

static stow_status fail_gap(const reader* r, stow_str gap, stow_status status, const char* what) {
  char who[WHO_SIZE];
  char shown[STOWI_PLACE_CSV_SHOWN_SIZE];
  describe_row(r, who);
  stowi_place_csv_show(gap, shown);
  return stowi_place_csv_fail(&r->cells[STOWI_PLACE_CSV_GAPS], who,
                              r->csv->names[STOWI_PLACE_CSV_GAPS], r->diag, status, "%s: %s", shown,
                              what);
}

static stow_status add_gap(reader* r, stow_str gap) {
  stow_window_desc window;
  stow_window_desc_init(&window);
  if (!parse_gap(gap, &window)) {
    return fail_gap(r, gap, STOW_ERR_SYNTAX,
                    "expected FROM-TO or FROM-TO@LOW:HIGH, in numbers of at most 64 bits");
  }
  if (r->csv->end_is_inclusive) {
    if (window.end == UINT64_MAX) {
      return fail_gap(r, gap, STOW_ERR_OVERFLOW, "expected steps below 2^64 - 1");
    }
    ++window.end;
  }
  stow_status status = stow_problem_add_window(r->csv->problem, &window, &r->inner);
  if (status == STOW_OK || status == STOW_ERR_OUT_OF_MEMORY) {
    return status == STOW_OK ? STOW_OK : stowi_fail_memory(r->diag);
  }
  const char* colon = strstr(r->inner.message, ": ");  // after the buffer's number
  return fail_gap(r, gap, status, colon == NULL ? r->inner.message : colon + 2);
}

static stow_status read_gaps(reader* r) {
  if (!has_column(r, STOWI_PLACE_CSV_GAPS)) {
    return STOW_OK;
  }
  stow_str rest = content(r, STOWI_PLACE_CSV_GAPS);
  stow_str gap;
  while (cut(&rest, ' ', &gap)) {
    if (gap.size != 0) {
      STOW_TRY(add_gap(r, gap));
    }
  }
  return rest.size == 0 ? STOW_OK : add_gap(r, rest);
}

// ---------------------------------------------------------------------------------------------
// Rows

static stow_status fail_row(const reader* r, const stowi_place_csv_cell* cell, const char* format,
                            ...) STOW_PRINTF_LIKE(3, 4);

static stow_status fail_row(const reader* r, const stowi_place_csv_cell* cell, const char* format,
                            ...) {
  char who[WHO_SIZE];
  char message[120];
  describe_row(r, who);
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(message, sizeof(message), format, arguments);
  va_end(arguments);
  return stowi_place_csv_fail(cell, who, NULL, r->diag, STOW_ERR_SYNTAX, "%s", message);
}

static stow_status find_cells(reader* r) {
  size_t columns = r->csv->roles.count;
  stowi_place_csv_cell cell = {.is_last = false};
  r->has_id = false;
  ++r->row;
  size_t count = 0;
  for (; !cell.is_last; ++count) {
    const char* fault = stowi_place_csv_next(&r->cursor, &cell);
    if (fault != NULL) {
      return fail_row(r, &cell, "cell %zu: %s", count + 1, fault);
    }
    if (count == columns) {
      return fail_row(r, &cell, "expected %zu cells as in the header, found more", columns);
    }
    uint8_t role = r->csv->roles.data[count];
    if (role != STOWI_PLACE_CSV_OTHER) {
      r->cells[role] = cell;
      r->has_id = r->has_id || role == STOWI_PLACE_CSV_ID;
    }
  }
  if (count < columns) {
    return fail_row(r, &cell, "expected %zu cells as in the header, found %zu", columns, count);
  }
  return STOW_OK;
}

static bool equals_id(const void* context, uint32_t buffer, const void* key) {
  return stow_str_equal(stow_csv_id((const stow_csv*)context, buffer), *(const stow_str*)key);
}

// The line at which the row of |buffer| begins; only for messages.
static uint32_t line_of(const reader* r, size_t buffer) {
  stowi_place_csv_cursor cursor = stowi_place_csv_start(r->csv->text);
  stowi_place_csv_cell cell = {.line = 0};
  for (size_t row = 0; row <= buffer + 1 && stowi_place_csv_find_row(&cursor); ++row) {
    uint32_t line = cursor.line;
    do {
      stowi_place_csv_next(&cursor, &cell);
    } while (!cell.is_last);
    cell.line = line;
  }
  return cell.line;
}

static stow_status add_id(reader* r, size_t buffer) {
  STOW_TRY(
      stowi_need_memory(stowi_place_csv_keep(r->csv, &r->cells[STOWI_PLACE_CSV_ID]) == STOW_OK &&
                            stowi_index_reserve(&r->ids, r->csv->allocator) == STOW_OK,
                        r->diag));
  stow_str id = stow_csv_id(r->csv, buffer);
  uint64_t hash = stowi_hash_bytes(STOWI_HASH_SEED, id.data, id.size);
  uint32_t earlier = stowi_index_find(&r->ids, hash, equals_id, r->csv, &id);
  if (earlier != STOWI_INDEX_NONE) {
    char what[100];
    snprintf(what, sizeof(what),
             "expected a unique id, but row %" PRIu32 " in line %" PRIu32 " has the same",
             earlier + 1, line_of(r, earlier));
    return fail_cell(r, STOWI_PLACE_CSV_ID, STOW_ERR_DUPLICATE, what);
  }
  stowi_index_insert(&r->ids, hash, (uint32_t)buffer);
  return STOW_OK;
}

static stow_status add_buffer(reader* r, const stow_buffer* desc) {
  stow_status status = stow_problem_add(r->csv->problem, desc, &r->inner, NULL);
  switch (status) {
    case STOW_OK: return STOW_OK;
    case STOW_ERR_OVERFLOW:
      return fail_cell(
          r, STOWI_PLACE_CSV_SIZE, status,
          "expected sizes, padding and the highest fixed end to fit in 63 bits together");
    case STOW_ERR_OUT_OF_MEMORY: return stowi_fail_memory(r->diag);
    default: return fail_cell(r, STOWI_PLACE_CSV_ID, status, r->inner.message);
  }
}

static stow_status read_all(reader* r) {
  stow_csv* csv = r->csv;
  STOW_TRY(stow_problem_create(csv->allocator, r->diag, &csv->problem));
  STOW_TRY(stowi_place_csv_read_header(csv, &r->cursor, r->diag));
  while (stowi_place_csv_find_row(&r->cursor)) {
    stow_buffer desc;
    stow_buffer_init(&desc);
    STOW_TRY(find_cells(r));
    STOW_TRY(add_id(r, r->row - 1));
    STOW_TRY(read_life(r, &desc));
    STOW_TRY(read_size(r, &desc));
    STOW_TRY(read_alignment(r, &desc));
    STOW_TRY(read_offset(r, &desc));
    STOW_TRY(add_buffer(r, &desc));
    STOW_TRY(read_gaps(r));
  }
  return STOW_OK;
}

stow_status stow_csv_read(stow_str text, stow_allocator allocator, stow_diag* diag,
                          stow_csv** out_csv) {
  *out_csv = NULL;
  stow_csv* csv = STOWI_NEW(allocator, stow_csv);
  STOW_TRY(stowi_need_memory(csv != NULL, diag));
  csv->allocator = allocator;
  csv->text = text;
  reader r = {.csv = csv, .diag = diag, .cursor = stowi_place_csv_start(text)};
  stow_diag_init(&r.inner);
  stow_status status = read_all(&r);
  stowi_index_free(&r.ids, allocator);
  if (status != STOW_OK) {
    stow_csv_destroy(csv);
    return status;
  }
  *out_csv = csv;
  return STOW_OK;
}
