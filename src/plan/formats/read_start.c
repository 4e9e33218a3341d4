// Reads the buffers of an earlier plan or placement from CSV: a plan's, with names and kinds, or
// that of a solved problem, whose ids are names.
#include "base/diag.h"
#include "base/text.h"
#include "place/api.h"
#include "plan/start_rows.h"

typedef struct reader {
  stow_start* start;
  stow_string name;  // of one row
} reader;

// Appends the content of a cell, with doubled quotes made single.
static stow_status append_cell(stow_string* out, stow_str cell, bool is_quoted) {
  for (size_t i = 0; i < cell.size; ++i) {
    STOW_TRY(stow_string_append(out, cell.data + i, 1));
    i += is_quoted && cell.data[i] == '"';  // the second of two
  }
  return STOW_OK;
}

// Decodes escapes where they are. A `\` that begins none is itself.
static void unescape(stow_string* name) {
  const char* end = name->data + name->size;
  size_t size = 0;
  for (const char* at = name->data; at < end;) {
    char c = *at;
    if (!stowi_unescape(&at, end, &c)) {
      ++at;
    }
    name->data[size++] = c;
  }
  name->size = size;
}

static stow_status take_name(void* user, size_t row, stow_str cell, bool is_quoted) {
  reader* r = user;
  r->name.size = 0;
  STOW_TRY(append_cell(&r->name, cell, is_quoted));
  if (r->name.size > 0) {
    unescape(&r->name);
  }
  return stowi_plan_start_set_name(r->start, row, r->name.data, r->name.size);
}

static stow_status take_kind(void* user, size_t row, stow_str cell, bool is_quoted) {
  stowi_plan_start_row* out = &((reader*)user)->start->rows[row];
  (void)is_quoted;
  for (unsigned kind = 0; kind < STOWI_PLAN_KIND_COUNT; ++kind) {
    if (stow_str_equal(cell, stow_str_of(stowi_plan_kind_text((stowi_plan_kind)kind)))) {
      out->kind = (uint8_t)kind;
    }
  }
  if (stow_str_equal(cell, stow_str_of("scratch"))) {
    out->kind = STOWI_PLAN_START_SCRATCH;
  } else if (stow_str_equal(cell, stow_str_of("reserved"))) {
    out->kind = STOWI_PLAN_START_RESERVED;
  }
  return STOW_OK;
}

static stow_status take_rows(reader* r, const stow_csv* csv) {
  const stow_problem* problem = stow_csv_problem(csv);
  bool has_names = stowi_place_csv_has_column(csv, stow_str_of("name"));
  for (size_t i = 0; i < r->start->count; ++i) {
    stow_buffer desc = {.struct_size = sizeof(desc)};
    stow_problem_describe_buffer(problem, i, &desc);
    r->start->rows[i].size = desc.size;
    r->start->rows[i].offset = desc.fixed_offset;
    if (!has_names) {
      stow_str id = stow_csv_id(csv, i);
      STOW_TRY(stowi_plan_start_set_name(r->start, i, id.data, id.size));
    }
  }
  STOW_TRY(stowi_place_csv_each(csv, stow_str_of("name"), take_name, r));
  STOW_TRY(stowi_place_csv_each(csv, stow_str_of("kind"), take_kind, r));
  for (size_t i = 0; i < r->start->count; ++i) {
    stow_buffer desc = {.struct_size = sizeof(desc)};
    const stowi_plan_start_row* row = &r->start->rows[i];
    stow_problem_describe_buffer(problem, i, &desc);
    r->start->steps[i] = (stowi_plan_start_step){row->name_at, row->name_size, desc.begin};
  }
  return STOW_OK;
}

stow_status stow_start_from_csv(const stow_csv* csv, stow_allocator allocator, stow_diag* diag,
                                stow_start** out_start) {
  *out_start = NULL;
  size_t count = stow_problem_count(stow_csv_problem(csv));
  reader r = {.start = stowi_plan_start_new(count, count, allocator)};
  stow_string_init(&r.name, allocator);
  stow_status status = r.start == NULL ? STOW_ERR_OUT_OF_MEMORY : take_rows(&r, csv);
  stow_string_free(&r.name);
  if (status != STOW_OK) {
    stow_start_destroy(r.start);
    return stowi_fail_memory(diag);
  }
  *out_start = r.start;
  return STOW_OK;
}
