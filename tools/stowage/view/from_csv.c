// Pictures of placements: buffers out of a CSV, placed here or taken from the same rows with
// offsets. Either way the checker proves the placement first.
#include <inttypes.h>
#include <string.h>

#include "file.h"
#include "make.h"

// As many nodes as `stowage solve` may spend.
#define USUAL_NODES 20000000

typedef struct rows {
  const char* label;
  stow_string text;
  stow_csv* csv;
  const stow_problem* problem;  // owned by |csv|
} rows;

typedef struct maker {
  cli_view* view;
  const cli_view_csv* from;
  rows rows;
  cli_list offsets;  // of uint64_t, by row
  uint64_t height;
  stow_placement* placement;  // NULL: offsets were given
} maker;

static cli_exit fail_rows(const rows* r, stow_status status, const stow_diag* diag) {
  const char* text = cli_diag_text(status, diag);
  if (status == STOW_ERR_OUT_OF_MEMORY) {
    return cli_fail_memory();
  }
  return diag->line == 0 ? cli_fail(cli_exit_of(status), "%s: %s", r->label, text)
                         : cli_fail(cli_exit_of(status), "%s:%" PRIu32 ":%" PRIu32 ": %s", r->label,
                                    diag->line, diag->column, text);
}

static cli_exit open_rows(rows* r, const char* path) {
  r->label = cli_file_label(path);
  stow_string_init(&r->text, stow_allocator_default());
  cli_exit code = cli_text_read(path, &r->text);
  if (code != CLI_YES) {
    return code;
  }
  stow_diag diag;
  stow_diag_init(&diag);
  stow_str text = {r->text.data == NULL ? "" : r->text.data, r->text.size};
  stow_status status = stow_csv_read(text, stow_allocator_default(), &diag, &r->csv);
  if (status != STOW_OK) {
    return fail_rows(r, status, &diag);
  }
  r->problem = stow_csv_problem(r->csv);
  return CLI_YES;
}

static void close_rows(rows* r) {
  stow_csv_destroy(r->csv);
  stow_string_free(&r->text);
}

static cli_exit add_offset(maker* m, size_t row, uint64_t offset) {
  stow_buffer desc;
  stow_problem_buffer(m->rows.problem, row, &desc);
  uint64_t end = offset + desc.size + desc.guard;
  m->height = end > m->height ? end : m->height;
  return cli_list_add(&m->offsets, &offset, sizeof offset) ? CLI_YES : cli_fail_memory();
}

// ---------------------------------------------------------------------------------------------
// Offsets

static cli_exit place(maker* m) {
  const stow_strategy* strategy =
      m->from->strategy != NULL ? m->from->strategy : stow_strategy_find(stow_str_of("auto"));
  cli_search search;
  stow_place_options options;
  stow_place_options_init(&options);
  options.reuse = m->from->reuse;
  options.capacity = m->from->capacity;
  options.nodes = cli_budget_nodes(&m->from->budget, USUAL_NODES);
  options.on_progress = cli_search_progress;
  options.user = &search;
  stow_diag diag;
  stow_diag_init(&diag);
  cli_search_begin(&search, &m->from->budget, true);
  stow_status status =
      strategy->place(m->rows.problem, &options, stow_allocator_default(), &diag, &m->placement);
  cli_search_end(&search);
  cli_exit code = status == STOW_OK ? CLI_YES : fail_rows(&m->rows, status, &diag);
  for (size_t i = 0; i < stow_problem_count(m->rows.problem) && code == CLI_YES; ++i) {
    code = add_offset(m, i, stow_placement_offset(m->placement, i));
  }
  m->view->facts.strategy = cli_view_intern(m->view, stow_str_of(strategy->name));
  return code;
}

static cli_exit take_offset(maker* m, const rows* solved, size_t row) {
  stow_buffer desc;
  stow_str id = stow_csv_id(solved->csv, row);
  int width = id.size > 100 ? 100 : (int)id.size;
  stow_problem_buffer(solved->problem, row, &desc);
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
  stow_diag diag;
  stow_diag_init(&diag);
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
// The picture

static void add_buffer(maker* m, size_t row) {
  cli_view* view = m->view;
  stow_buffer desc;
  stow_problem_buffer(m->rows.problem, row, &desc);
  cli_view_buffer buffer = {.id = CLI_VIEW_NONE,
                            .key = (uint32_t)row,
                            .name = cli_view_intern(view, stow_csv_id(m->rows.csv, row)),
                            .op = CLI_VIEW_NONE,
                            .type = CLI_VIEW_NONE,
                            .kind = CLI_VIEW_BUFFER,
                            .flags = desc.fixed_offset != STOW_PLACE_ANYWHERE ? CLI_VIEW_FIXED : 0u,
                            .offset = ((const uint64_t*)m->offsets.items)[row],
                            .size = desc.size,
                            .guard = desc.guard,
                            .begin = desc.begin,
                            .end = desc.end,
                            .made = desc.begin,
                            .alignment = desc.alignment,
                            .first_window = view->windows.count,
                            .window_count = stow_problem_window_count(m->rows.problem, row)};
  buffer.flags |= buffer.window_count > 0 ? CLI_VIEW_WINDOWS : 0u;
  for (size_t i = 0; i < buffer.window_count; ++i) {
    stow_window_desc window;
    stow_problem_get_window(m->rows.problem, row, i, &window);
    cli_view_window item = {view->buffers.count, window.begin, window.end, window.low, window.high};
    cli_view_add(view, &view->windows, &item, sizeof item);
  }
  cli_view_facts* facts = &view->facts;
  facts->first_step = row == 0 || desc.begin < facts->first_step ? desc.begin : facts->first_step;
  facts->last_step = desc.end > facts->last_step ? desc.end : facts->last_step;
  facts->alignment = desc.alignment > facts->alignment ? desc.alignment : facts->alignment;
  facts->unshared += desc.size;
  cli_view_add(view, &view->buffers, &buffer, sizeof buffer);
}

static cli_exit add_facts(maker* m) {
  cli_view_facts* facts = &m->view->facts;
  stow_load load;
  stow_diag diag;
  stow_diag_init(&diag);
  stow_status status = stow_problem_load(m->rows.problem, stow_allocator_default(), &diag, &load);
  if (status != STOW_OK) {
    return fail_rows(&m->rows, status, &diag);
  }
  facts->arena = m->height;
  facts->bound = m->placement != NULL ? stow_placement_bound(m->placement) : load.lower_bound;
  facts->outcome = stow_outcome_text(m->placement != NULL ? stow_placement_outcome(m->placement)
                                     : m->height <= load.lower_bound ? STOW_OUTCOME_OPTIMAL
                                                                     : STOW_OUTCOME_FEASIBLE);
  facts->saved = facts->unshared > m->height ? facts->unshared - m->height : 0;
  facts->capacity = m->from->capacity == STOW_NO_CAPACITY ? CLI_VIEW_NO_NUMBER : m->from->capacity;
  facts->steps = facts->last_step - facts->first_step;
  facts->busy_step = facts->first_step;
  facts->reuse = m->from->reuse;
  return CLI_YES;
}

cli_exit cli_view_from_csv(cli_view* view, const cli_view_csv* from) {
  maker m = {.view = view, .from = from};
  cli_view_init(view);
  view->origin = "csv";
  view->facts.alignment = 1;
  cli_exit code = open_rows(&m.rows, from->file);
  if (code == CLI_YES) {
    const char* slash = strrchr(m.rows.label, '/');
    view->title = cli_view_intern(view, stow_str_of(slash != NULL ? slash + 1 : m.rows.label));
    view->source = cli_view_intern(view, stow_str_of(m.rows.label));
    code = from->solved != NULL ? take_offsets(&m) : place(&m);
  }
  if (code == CLI_YES) {
    code = prove(&m);
  }
  for (size_t i = 0; code == CLI_YES && i < m.offsets.count; ++i) {
    add_buffer(&m, i);
  }
  if (code == CLI_YES) {
    code = add_facts(&m);
  }
  if (code == CLI_YES) {
    code = cli_view_finish(view, m.rows.label);
  }
  stow_placement_destroy(m.placement);
  cli_list_free(&m.offsets, sizeof(uint64_t));
  close_rows(&m.rows);
  return code;
}
