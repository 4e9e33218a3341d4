// Rows of a plan that was written as CSV: names, kinds and ids, which mean nothing to who places
// buffers. The text has been read by stow_csv_read before, so rows are well formed; here cells are
// only found again. O(bytes).
#include <string.h>

#include "base/diag.h"
#include "base/text.h"
#include "report/picture/picture.h"

enum { COL_ID, COL_KIND, COL_NAME, COL_COUNT };
#define NO_COLUMN SIZE_MAX

typedef struct reader {
  stow_str text;
  size_t at;
  stow_string cells[COL_COUNT];
  size_t columns[COL_COUNT];  // which cell of a row; NO_COLUMN: none
  stow_string cell;
} reader;

static bool is_line_end(char c) { return c == '\n' || c == '\r'; }

// Appends the quoted cell at |at|, without its quotes.
static bool read_quoted(reader* r) {
  bool good = true;
  for (++r->at; r->at < r->text.size && good; ++r->at) {
    const char* c = r->text.data + r->at;
    if (*c == '"') {
      if (r->at + 1 == r->text.size || c[1] != '"') {
        ++r->at;
        break;
      }
      ++r->at;  // a quote is written twice
    }
    good = stow_string_append(&r->cell, c, 1) == STOW_OK;
  }
  return good;
}

// Reads one cell; the separator behind it stays.
static bool read_cell(reader* r) {
  r->cell.size = 0;
  if (r->at < r->text.size && r->text.data[r->at] == '"') {
    return read_quoted(r);
  }
  size_t start = r->at;
  while (r->at < r->text.size && r->text.data[r->at] != ',' && !is_line_end(r->text.data[r->at])) {
    ++r->at;
  }
  return stow_string_append(&r->cell, r->text.data + start, r->at - start) == STOW_OK;
}

// Reads a row, handing every cell to |take|. False where memory is out.
static bool read_row(reader* r, bool (*take)(reader* r, size_t column)) {
  for (size_t column = 0;; ++column) {
    if (!read_cell(r) || !take(r, column)) {
      return false;
    }
    if (r->at == r->text.size || r->text.data[r->at] != ',') {
      return true;
    }
    ++r->at;
  }
}

static void skip_line_ends(reader* r) {
  while (r->at < r->text.size && is_line_end(r->text.data[r->at])) {
    ++r->at;
  }
}

static stow_str str_of(const stow_string* string) {
  return (stow_str){string->size == 0 ? "" : string->data, string->size};
}

static bool take_title(reader* r, size_t column) {
  static const char* const titles[COL_COUNT] = {"id", "kind", "name"};
  for (size_t i = 0; i < COL_COUNT; ++i) {
    if (stow_str_equal(str_of(&r->cell), stow_str_of(titles[i]))) {
      r->columns[i] = column;
    }
  }
  return true;
}

// A `\` that begins no escape is itself.
static stow_status unescape(stow_str text, stow_string* out) {
  const char* end = text.data + text.size;
  for (const char* at = text.data; at < end;) {
    char c = *at;
    if (!stowi_unescape(&at, end, &c)) {
      ++at;
    }
    STOW_TRY(stow_string_append(out, &c, 1));
  }
  return STOW_OK;
}

static bool take_cell(reader* r, size_t column) {
  for (size_t i = 0; i < COL_COUNT; ++i) {
    if (r->columns[i] == column) {
      r->cells[i].size = 0;
      stow_status status = i == COL_NAME
                               ? unescape(str_of(&r->cell), &r->cells[i])
                               : stow_string_append(&r->cells[i], r->cell.data, r->cell.size);
      if (status != STOW_OK) {
        return false;
      }
    }
  }
  return true;
}

// `7`, or the node of `scratch.12.0`.
static void find_key(stow_str id, uint32_t* out_key) {
  static const char scratch[] = "scratch.";
  size_t skipped = sizeof scratch - 1;
  if (id.size > skipped && memcmp(id.data, scratch, skipped) == 0) {
    const char* start = id.data + skipped;
    const char* end = memchr(start, '.', id.size - skipped);
    id = (stow_str){start, end == NULL ? 0 : (size_t)(end - start)};
  }
  uint64_t key;
  bool is_key = stowi_parse_u64(id, &key) && key <= UINT32_MAX;
  *out_key = is_key ? (uint32_t)key : *out_key;
}

static stowi_report_picture_kind find_kind(stow_str text) {
  for (size_t i = 0; i < STOWI_REPORT_PICTURE_KIND_COUNT; ++i) {
    if (stow_str_equal(text, stow_str_of(stowi_report_picture_kind_text(i)))) {
      return (stowi_report_picture_kind)i;
    }
  }
  return STOWI_REPORT_PICTURE_ACTIVATION;
}

static bool name_rows(reader* r, stow_picture* picture) {
  static const char mark[] = "\xEF\xBB\xBF";
  bool good = true;
  r->at = r->text.size >= 3 && memcmp(r->text.data, mark, 3) == 0 ? 3 : 0;
  skip_line_ends(r);
  good = read_row(r, take_title);
  if (r->columns[COL_NAME] == NO_COLUMN || r->columns[COL_KIND] == NO_COLUMN) {
    return good;
  }
  picture->facts.steps =
      picture->facts.last_step - (picture->facts.last_step > 0);  // outputs live past it
  skip_line_ends(r);
  for (size_t row = 0; good && row < picture->buffers.count && r->at < r->text.size; ++row) {
    good = read_row(r, take_cell);
    if (good) {
      stowi_report_picture_buffer* buffer = &picture->buffers.data[row];
      buffer->name = stowi_report_picture_intern_name(picture, str_of(&r->cells[COL_NAME]));
      buffer->kind = find_kind(str_of(&r->cells[COL_KIND]));
      find_key(str_of(&r->cells[COL_ID]), &buffer->key);
    }
    skip_line_ends(r);
  }
  return good && !picture->broken;
}

stow_status stowi_report_picture_take_names(stow_picture* picture, stow_str text, stow_diag* diag) {
  reader r = {.text = text, .columns = {NO_COLUMN, NO_COLUMN, NO_COLUMN}};
  stow_string_init(&r.cell, picture->allocator);
  for (size_t i = 0; i < COL_COUNT; ++i) {
    stow_string_init(&r.cells[i], picture->allocator);
  }
  bool named = name_rows(&r, picture);
  for (size_t i = 0; i < COL_COUNT; ++i) {
    stow_string_free(&r.cells[i]);
  }
  stow_string_free(&r.cell);
  return named ? STOW_OK : stowi_fail_memory(diag);
}
