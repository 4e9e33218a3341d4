// Cells of a CSV text (RFC 4180), in place: one pass, every byte read once, nothing copied. Lines
// end in LF or CRLF. A carriage return elsewhere outside quotes and a NUL byte anywhere are
// refused: they would not survive writing, or other programs.
#include <string.h>

#include "place/csv/csv_internal.h"

stowi_place_csv_cursor stowi_place_csv_start(stow_str text) {
  static const char mark[] = "\xef\xbb\xbf";
  bool has_mark = text.size >= 3 && memcmp(text.data, mark, 3) == 0;
  stowi_place_csv_cursor cursor = {text, has_mark ? 3 : 0, has_mark ? 3 : 0, 1};
  return cursor;
}

static bool sees(const stowi_place_csv_cursor* cursor, size_t ahead, char c) {
  return cursor->text.size - cursor->at > ahead && cursor->text.data[cursor->at + ahead] == c;
}

static void start_line(stowi_place_csv_cursor* cursor) {
  cursor->line += cursor->line < UINT32_MAX;
  cursor->line_at = cursor->at;
}

// Skips LF or CRLF if one is next.
static bool skip_line_end(stowi_place_csv_cursor* cursor) {
  size_t size = sees(cursor, 0, '\n') ? 1 : sees(cursor, 0, '\r') && sees(cursor, 1, '\n') ? 2 : 0;
  cursor->at += size;
  if (size != 0) {
    start_line(cursor);
  }
  return size != 0;
}

bool stowi_place_csv_find_row(stowi_place_csv_cursor* cursor) {
  while (skip_line_end(cursor)) {
  }
  return cursor->at < cursor->text.size;
}

static void skip_plain(stowi_place_csv_cursor* cursor) {
  const char* data = cursor->text.data;
  size_t at = cursor->at;
  for (; at < cursor->text.size; ++at) {
    char c = data[at];
    if (c == ',' || c == '\n' || c == '\r' || c == '\0') {
      break;
    }
  }
  cursor->at = at;
}

// From quote to quote.
static const char* skip_quoted(stowi_place_csv_cursor* cursor) {
  for (++cursor->at; cursor->at < cursor->text.size; ++cursor->at) {
    char c = cursor->text.data[cursor->at];
    if (c == '\0') {
      return "it has a NUL byte";
    }
    if (c == '"') {
      if (!sees(cursor, 1, '"')) {
        ++cursor->at;
        return NULL;
      }
      ++cursor->at;
    }
    if (c == '\n') {
      ++cursor->at;
      start_line(cursor);
      --cursor->at;
    }
  }
  return "its closing quote is missing";
}

static const char* skip_cell_end(stowi_place_csv_cursor* cursor, stowi_place_csv_cell* cell) {
  cell->is_last = cursor->at == cursor->text.size || skip_line_end(cursor);
  if (cell->is_last) {
    return NULL;
  }
  if (sees(cursor, 0, ',')) {
    ++cursor->at;
    return NULL;
  }
  if (sees(cursor, 0, '\0')) {
    return "it has a NUL byte";
  }
  return cell->is_quoted ? "it continues after its closing quote"
                         : "it has a carriage return that does not end the line";
}

const char* stowi_place_csv_next(stowi_place_csv_cursor* cursor, stowi_place_csv_cell* out_cell) {
  size_t start = cursor->at;
  size_t column = start - cursor->line_at + 1;
  out_cell->line = cursor->line;
  out_cell->column = column < UINT32_MAX ? (uint32_t)column : UINT32_MAX;
  out_cell->is_quoted = sees(cursor, 0, '"');
  out_cell->is_last = false;
  const char* fault = NULL;
  if (out_cell->is_quoted) {
    fault = skip_quoted(cursor);
  } else {
    skip_plain(cursor);
  }
  out_cell->raw = (stow_str){cursor->text.data + start, cursor->at - start};
  return fault != NULL ? fault : skip_cell_end(cursor, out_cell);
}

stow_str stowi_place_csv_content(const stowi_place_csv_cell* cell) {
  stow_str content = cell->raw;
  if (cell->is_quoted) {
    ++content.data;
    content.size -= 2;
  }
  return content;
}
