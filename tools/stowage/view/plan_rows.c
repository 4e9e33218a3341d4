// Rows of a plan that was written as CSV: names, kinds and ids, which mean nothing to who places
// buffers; and the bound of rows that are all where they are. The text has been read by
// stow_csv_read before, so rows are well formed; here cells are only found again. O(bytes).
#include <string.h>

#include "file.h"
#include "make.h"
#include "number.h"
#include "text.h"

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

static bool take_cell(reader* r, size_t column) {
  for (size_t i = 0; i < COL_COUNT; ++i) {
    if (r->columns[i] == column) {
      r->cells[i].size = 0;
      stow_status status = i == COL_NAME
                               ? cli_unescape(str_of(&r->cell), &r->cells[i])
                               : stow_string_append(&r->cells[i], r->cell.data, r->cell.size);
      if (status != STOW_OK) {
        return false;
      }
    }
  }
  return true;
}

// `7`, or the node of `scratch.12.0`.
static bool find_key(stow_str id, uint32_t* out_key) {
  static const char scratch[] = "scratch.";
  size_t skipped = sizeof scratch - 1;
  if (id.size > skipped && memcmp(id.data, scratch, skipped) == 0) {
    const char* start = id.data + skipped;
    const char* end = memchr(start, '.', id.size - skipped);
    id = (stow_str){start, end == NULL ? 0 : (size_t)(end - start)};
  }
  return cli_parse_id(id, out_key);
}

static cli_view_kind find_kind(stow_str text) {
  for (size_t i = 0; i < CLI_VIEW_KIND_COUNT; ++i) {
    if (stow_str_equal(text, stow_str_of(cli_view_kind_text(i)))) {
      return (cli_view_kind)i;
    }
  }
  return CLI_VIEW_ACTIVATION;
}

static void name_buffer(const reader* r, cli_view* view, size_t row) {
  cli_view_buffer* buffer = &((cli_view_buffer*)view->buffers.items)[row];
  buffer->name = cli_view_intern_name(view, str_of(&r->cells[COL_NAME]));
  buffer->kind = find_kind(str_of(&r->cells[COL_KIND]));
  (void)find_key(str_of(&r->cells[COL_ID]), &buffer->key);
}

static bool name_rows(reader* r, cli_view* view) {
  static const char mark[] = "\xEF\xBB\xBF";
  bool good = true;
  r->at = r->text.size >= 3 && memcmp(r->text.data, mark, 3) == 0 ? 3 : 0;
  skip_line_ends(r);
  good = read_row(r, take_title);
  if (r->columns[COL_NAME] == NO_COLUMN || r->columns[COL_KIND] == NO_COLUMN) {
    return good;
  }
  skip_line_ends(r);
  for (size_t row = 0; good && row < view->buffers.count && r->at < r->text.size; ++row) {
    good = read_row(r, take_cell);
    if (good) {
      name_buffer(r, view, row);
    }
    skip_line_ends(r);
  }
  return good && !view->broken;
}

static cli_exit take_names(cli_view* view, const char* path) {
  stow_string text;
  reader r = {.columns = {NO_COLUMN, NO_COLUMN, NO_COLUMN}};
  stow_string_init(&text, stow_allocator_default());
  stow_string_init(&r.cell, stow_allocator_default());
  for (size_t i = 0; i < COL_COUNT; ++i) {
    stow_string_init(&r.cells[i], stow_allocator_default());
  }
  cli_exit code = cli_text_read(path, &text);
  r.text = str_of(&text);
  if (code == CLI_YES && !name_rows(&r, view)) {
    code = cli_fail_memory();
  }
  for (size_t i = 0; i < COL_COUNT; ++i) {
    stow_string_free(&r.cells[i]);
  }
  stow_string_free(&r.cell);
  stow_string_free(&text);
  return code;
}

// ---------------------------------------------------------------------------------------------
// The bound

static stow_status add_windows(stow_problem* problem, const cli_view* view,
                               const cli_view_buffer* buffer, stow_diag* diag) {
  stow_status status = STOW_OK;
  for (size_t i = 0; i < buffer->window_count && status == STOW_OK; ++i) {
    const cli_view_window* window = &cli_view_windows(view)[buffer->first_window + i];
    stow_window_desc desc;
    stow_window_desc_init(&desc);
    desc.begin = window->begin;
    desc.end = window->end;
    desc.low = window->low;
    desc.high = window->high;
    status = stow_problem_add_window(problem, &desc, diag);
  }
  return status;
}

static stow_status add_buffer(stow_problem* problem, const cli_view* view,
                              const cli_view_buffer* buffer, stow_diag* diag) {
  stow_buffer desc;
  stow_buffer_init(&desc);
  desc.size = buffer->size;
  desc.guard = buffer->guard;
  desc.begin = buffer->begin;
  desc.end = buffer->end;
  desc.alignment = buffer->alignment;
  stow_status status = stow_problem_add(problem, &desc, diag, NULL);
  return status == STOW_OK ? add_windows(problem, view, buffer, diag) : status;
}

static cli_exit find_bound(cli_view* view) {
  stow_diag diag;
  stow_diag_init(&diag);
  stow_load load = {0};
  stow_problem* problem = NULL;
  stow_status status = stow_problem_create(stow_allocator_default(), &diag, &problem);
  for (size_t i = 0; i < view->buffers.count && status == STOW_OK; ++i) {
    status = add_buffer(problem, view, &cli_view_buffers(view)[i], &diag);
  }
  if (status == STOW_OK) {
    status = stow_problem_load(problem, stow_allocator_default(), &diag, &load);
  }
  stow_problem_destroy(problem);
  view->facts.bound = load.lower_bound;
  return status == STOW_OK ? CLI_YES : cli_fail_diag(status, &diag);
}

cli_exit cli_view_take_plan_rows(cli_view* view, const char* path) {
  cli_exit code = find_bound(view);
  return code == CLI_YES ? take_names(view, path) : code;
}
