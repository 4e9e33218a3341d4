// Pictures of placements: buffers out of a CSV, with the offsets that they were given.
#include "base/diag.h"
#include "place/api.h"
#include "report/picture/picture.h"

typedef struct maker {
  stow_picture* picture;
  const stow_picture_rows* from;
  const stow_problem* problem;
  uint64_t height;
} maker;

static uint64_t offset_of(const maker* m, size_t row) {
  return m->from->placement != NULL ? stow_placement_offset(m->from->placement, row)
                                    : m->from->offsets[row];
}

static void add_windows(maker* m, size_t row) {
  stow_picture* picture = m->picture;
  for (size_t i = 0; i < stow_problem_window_count(m->problem, row); ++i) {
    stow_window_desc window = {.struct_size = sizeof(window)};
    stow_problem_describe_window(m->problem, row, i, &window);
    stowi_report_picture_window item = {row, window.begin, window.end, window.low, window.high};
    STOWI_REPORT_PICTURE_ADD(picture, &picture->windows, item);
  }
}

static void add_buffer(maker* m, size_t row) {
  stow_picture* picture = m->picture;
  stow_buffer desc = {.struct_size = sizeof(desc)};
  stow_problem_describe_buffer(m->problem, row, &desc);
  bool is_fixed = desc.fixed_offset != STOW_PLACE_ANYWHERE;
  size_t windows = stow_problem_window_count(m->problem, row);
  stowi_report_picture_buffer buffer = {
      .id = STOWI_REPORT_PICTURE_NONE,
      .key = (uint32_t)row,
      .name = stowi_report_picture_intern(picture, stow_csv_id(m->from->csv, row)),
      .op = STOWI_REPORT_PICTURE_NONE,
      .type = STOWI_REPORT_PICTURE_NONE,
      .kind = STOWI_REPORT_PICTURE_BUFFER,
      .flags = (is_fixed ? STOWI_REPORT_PICTURE_FIXED : 0u) |
               (windows > 0 ? STOWI_REPORT_PICTURE_WINDOWS : 0u),
      .offset = offset_of(m, row),
      .size = desc.size,
      .guard = desc.guard,
      .begin = desc.begin,
      .end = desc.end,
      .made = desc.begin,
      .alignment = desc.alignment,
      .first_window = picture->windows.count,
      .window_count = windows};
  stowi_report_picture_facts* facts = &picture->facts;
  uint64_t top = buffer.offset + desc.size + desc.guard;
  m->height = top > m->height ? top : m->height;
  facts->first_step = row == 0 || desc.begin < facts->first_step ? desc.begin : facts->first_step;
  facts->last_step = desc.end > facts->last_step ? desc.end : facts->last_step;
  facts->alignment = desc.alignment > facts->alignment ? desc.alignment : facts->alignment;
  facts->unshared += desc.size;
  add_windows(m, row);
  STOWI_REPORT_PICTURE_ADD(picture, &picture->buffers, buffer);
}

static stow_status add_facts(maker* m, stow_diag* diag) {
  stowi_report_picture_facts* facts = &m->picture->facts;
  const stow_placement* placement = m->from->placement;
  stow_load load = {.struct_size = sizeof(load)};
  STOW_TRY(stow_problem_load(m->problem, m->picture->allocator, diag, &load));
  facts->arena = m->height;
  facts->bound = placement != NULL ? stowi_place_placement_bound(placement) : load.lower_bound;
  facts->outcome = stow_outcome_text(placement != NULL ? stow_placement_outcome(placement)
                                     : m->height <= load.lower_bound ? STOW_OUTCOME_OPTIMAL
                                                                     : STOW_OUTCOME_FEASIBLE);
  facts->saved = facts->unshared > m->height ? facts->unshared - m->height : 0;
  facts->capacity =
      m->from->capacity == STOW_NO_CAPACITY ? STOWI_REPORT_PICTURE_NO_NUMBER : m->from->capacity;
  facts->steps = facts->last_step - facts->first_step;
  facts->busy_step = facts->first_step;
  facts->reuse = m->from->reuse;
  return STOW_OK;
}

static stow_status add_free(stow_problem* problem, const stow_problem* from, size_t row,
                            stow_diag* diag) {
  stow_buffer desc = {.struct_size = sizeof(desc)};
  stow_problem_describe_buffer(from, row, &desc);
  desc.fixed_offset = STOW_PLACE_ANYWHERE;
  STOW_TRY(stow_problem_add(problem, &desc, diag, NULL));
  for (size_t i = 0; i < stow_problem_window_count(from, row); ++i) {
    stow_window_desc window = {.struct_size = sizeof(window)};
    stow_problem_describe_window(from, row, i, &window);
    STOW_TRY(stow_problem_add_window(problem, &window, diag));
  }
  return STOW_OK;
}

// The bound as if no row had an offset.
static stow_status find_bound(maker* m, stow_diag* diag) {
  stow_allocator allocator = m->picture->allocator;
  stow_load load = {.struct_size = sizeof load};
  stow_problem* problem = NULL;
  stow_status status = stow_problem_create(allocator, diag, &problem);
  for (size_t i = 0; i < stow_problem_count(m->problem) && status == STOW_OK; ++i) {
    status = add_free(problem, m->problem, i, diag);
  }
  status = status == STOW_OK ? stow_problem_load(problem, allocator, diag, &load) : status;
  stow_problem_destroy(problem);
  m->picture->facts.bound = load.lower_bound;
  return status;
}

static stow_status make(stow_picture* picture, const void* options, stow_diag* diag) {
  const stow_picture_rows* from = options;
  maker m = {.picture = picture, .from = from, .problem = stow_csv_problem(from->csv)};
  picture->origin = "csv";
  picture->facts.alignment = 1;
  picture->title = stowi_report_picture_intern(
      picture, stow_str_of(from->title != NULL ? from->title : from->source));
  picture->source = stowi_report_picture_intern(picture, stow_str_of(from->source));
  if (from->strategy != NULL) {
    picture->facts.strategy = stowi_report_picture_intern(picture, stow_str_of(from->strategy));
  }
  for (size_t i = 0; i < stow_problem_count(m.problem); ++i) {
    add_buffer(&m, i);
  }
  STOW_TRY(add_facts(&m, diag));
  STOW_TRY(stowi_report_picture_finish(picture, diag));
  if (from->plan.size == 0) {
    return STOW_OK;
  }
  STOW_TRY(find_bound(&m, diag));
  return stowi_report_picture_take_names(picture, from->plan, diag);
}

void stow_picture_rows_defaults(stow_picture_rows* from) {
  static const stow_picture_rows defaults = {
      .source = "", .capacity = STOW_NO_CAPACITY, .reuse = true, .plan = {"", 0}};
  stowi_init_struct(from, &defaults, sizeof defaults);
}

stow_status stow_picture_from_rows(const stow_picture_rows* from, stow_allocator allocator,
                                   stow_diag* diag, stow_picture** out_picture) {
  stow_picture_rows full;
  *out_picture = NULL;
  stow_picture_rows_init(&full);
  STOW_TRY(stowi_load_struct(&full, from, sizeof full, "stow_picture_rows", diag));
  if (full.csv == NULL || (full.placement == NULL) == (full.offsets == NULL)) {
    return stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT,
                      "csv is NULL, or not one of placement and offsets is given");
  }
  return stowi_report_picture_create(make, &full, allocator, diag, out_picture);
}
