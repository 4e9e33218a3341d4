// Pictures of placements: buffers out of a CSV, placed here or taken from the same rows with
// offsets. Either way the checker proves the placement first.
#include "files/file.h"
#include "view/load.h"

// As many nodes as `stowage solve` may spend.
#define USUAL_NODES 20000000

typedef struct rows {
  const char* label;
  stow_string text;
  stow_csv* csv;
  const stow_problem* problem;  // owned by |csv|
} rows;

typedef struct maker {
  const cli_view_csv* from;
  rows rows;
  cli_list offsets;  // of uint64_t, by row
  uint64_t height;
  stow_placement* placement;  // NULL: offsets were given
} maker;

static cli_exit open_rows(rows* r, const char* path) {
  r->label = cli_file_label(path);
  stow_string_init(&r->text, stow_allocator_default());
  CLI_TRY(cli_text_read(path, &r->text));
  stow_diag diag = cli_diag();
  stow_str text = {r->text.data == NULL ? "" : r->text.data, r->text.size};
  stow_status status = stow_csv_read(text, stow_allocator_default(), &diag, &r->csv);
  if (status != STOW_OK) {
    return cli_fail_at(r->label, status, &diag);
  }
  r->problem = stow_csv_problem(r->csv);
  return CLI_YES;
}

static void close_rows(rows* r) {
  stow_csv_destroy(r->csv);
  stow_string_free(&r->text);
}

static cli_exit add_offset(maker* m, size_t row, uint64_t offset) {
  stow_buffer desc = {.struct_size = sizeof(desc)};
  stow_problem_describe_buffer(m->rows.problem, row, &desc);
  uint64_t end = offset + desc.size + desc.guard;
  m->height = end > m->height ? end : m->height;
  return cli_list_add(&m->offsets, &offset, sizeof offset) ? CLI_YES : cli_fail_memory();
}

// ---------------------------------------------------------------------------------------------
// Offsets

static const stow_strategy* strategy_of(const cli_view_csv* from) {
  return from->strategy != NULL ? from->strategy : stow_strategy_find(stow_str_of("auto"));
}

static cli_exit place(maker* m) {
  cli_search search;
  stow_place_options options;
  stow_place_options_init(&options);
  options.reuse = m->from->reuse;
  options.capacity = m->from->capacity;
  options.nodes = cli_budget_nodes(&m->from->budget, USUAL_NODES);
  options.on_progress = cli_search_progress;
  options.user = &search;
  stow_diag diag = cli_diag();
  cli_search_begin(&search, &m->from->budget, true);
  stow_status status = strategy_of(m->from)->place(m->rows.problem, &options,
                                                   stow_allocator_default(), &diag, &m->placement);
  cli_search_end(&search);
  cli_exit code = status == STOW_OK ? CLI_YES : cli_fail_at(m->rows.label, status, &diag);
  for (size_t i = 0; i < stow_problem_count(m->rows.problem) && code == CLI_YES; ++i) {
    code = add_offset(m, i, stow_placement_offset(m->placement, i));
  }
  return code;
}

static cli_exit take_offset(maker* m, const rows* solved, size_t row) {
  stow_buffer desc = {.struct_size = sizeof(desc)};
  stow_str id = stow_csv_id(solved->csv, row);
  int width = id.size > 100 ? 100 : (int)id.size;
  stow_problem_describe_buffer(solved->problem, row, &desc);
  if (!stow_str_equal(id, stow_csv_id(m->rows.csv, row))) {
    return cli_fail(CLI_BAD_INPUT, "%s: row %zu, id `%.*s`: %s has a different id there",
                    solved->label, row + 1, width, id.data, m->rows.label);
  }
  if (desc.fixed_offset == STOW_PLACE_ANYWHERE) {
    return cli_fail(CLI_BAD_INPUT, "%s: row %zu, id `%.*s`: no offset", solved->label, row + 1,
                    width, id.data);
  }
  return add_offset(m, row, desc.fixed_offset);
}

static cli_exit take_offsets(maker* m) {
  rows solved = {0};
  cli_exit code = open_rows(&solved, m->from->solved);
  size_t count = stow_problem_count(m->rows.problem);
  if (code == CLI_YES && stow_problem_count(solved.problem) != count) {
    code = cli_fail(CLI_BAD_INPUT, "%s has %zu rows, but %s has %zu", solved.label,
                    stow_problem_count(solved.problem), m->rows.label, count);
  }
  for (size_t i = 0; i < count && code == CLI_YES; ++i) {
    code = take_offset(m, &solved, i);
  }
  close_rows(&solved);
  return code;
}

static cli_exit prove(const maker* m) {
  stow_diag diag = cli_diag();
  stow_status status = stow_placement_check(m->rows.problem, m->offsets.items, m->offsets.count,
                                            m->height, stow_allocator_default(), &diag, NULL);
  if (status == STOW_ERR_VIOLATION) {
    return cli_fail(CLI_NO, "%s: the placement is wrong: %s",
                    m->from->solved != NULL ? cli_file_label(m->from->solved) : m->rows.label,
                    cli_diag_text(status, &diag));
  }
  return status == STOW_OK ? CLI_YES : cli_fail_diag(status, &diag);
}

// ---------------------------------------------------------------------------------------------

static cli_exit draw(const maker* m, stow_picture** out_picture) {
  stow_picture_rows from;
  stow_picture_rows_init(&from);
  from.csv = m->rows.csv;
  from.placement = m->placement;
  from.offsets = m->placement == NULL ? m->offsets.items : NULL;
  from.strategy = m->placement == NULL ? NULL : strategy_of(m->from)->name;
  from.source = m->rows.label;
  from.title = cli_base_name(m->rows.label);
  from.capacity = m->from->capacity;
  from.reuse = m->from->reuse;
  from.plan = (stow_str){m->rows.text.data, m->from->is_plan ? m->rows.text.size : 0};
  stow_diag diag = cli_diag();
  stow_status status = stow_picture_from_rows(&from, stow_allocator_default(), &diag, out_picture);
  return status == STOW_OK ? CLI_YES : cli_fail_at(m->rows.label, status, &diag);
}

cli_exit cli_view_from_csv(const cli_view_csv* from, stow_picture** out_picture) {
  maker m = {.from = from};
  cli_exit code = open_rows(&m.rows, from->file);
  if (code == CLI_YES) {
    code = from->solved != NULL ? take_offsets(&m) : place(&m);
  }
  code = code == CLI_YES ? prove(&m) : code;
  code = code == CLI_YES ? draw(&m, out_picture) : code;
  stow_placement_destroy(m.placement);
  cli_list_free(&m.offsets, sizeof(uint64_t));
  close_rows(&m.rows);
  return code;
}
