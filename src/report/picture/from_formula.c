// Pictures of formula plans: the picture of one point, as of any plan, and, for page and data, all
// points. Their pictures are written as JSON and sorted into frames (range.h); what is not drawn of
// long ranges still has its place on the curves.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "plan/api.h"
#include "report/picture/picture.h"
#include "report/picture/range.h"

// Points that are drawn at most. The curves have all.
#define MOST_DRAWN 2048

typedef struct maker {
  const stow_picture_formula* from;
  stow_allocator allocator;
  stow_diag* diag;
  stow_formula_info info;
  size_t point;
  size_t symbol_count;
  uint64_t counts[STOW_MAX_RANK];   // values of each symbol,
  uint64_t strides[STOW_MAX_RANK];  // of which every so many is drawn
  stowi_report_range* range;
} maker;

// ---------------------------------------------------------------------------------------------
// The picture of a point

static void add_point_name(stow_picture* picture, const stow_formula* formula, size_t point) {
  int64_t values[STOW_MAX_RANK] = {0};
  stow_dim_range range;
  stow_string text;
  stow_string_init(&text, picture->allocator);
  stow_formula_point_values(formula, point, values);
  stow_status status = STOW_OK;
  for (size_t i = 0; i < stow_formula_symbol_count(formula) && status == STOW_OK; ++i) {
    char value[32];
    stow_str name = stow_formula_symbol(formula, i, &range);
    snprintf(value, sizeof value, "=%" PRId64, values[i]);
    status = stow_string_append(&text, ",", i == 0 ? 0 : 1);
    status = status == STOW_OK ? stow_string_append(&text, name.data, name.size) : status;
    status = status == STOW_OK ? stow_string_append(&text, value, strlen(value)) : status;
  }
  picture->broken = picture->broken || status != STOW_OK;
  picture->at = stowi_report_picture_intern(picture, (stow_str){text.data, text.size});
  stow_string_free(&text);
}

// The fingerprint is that of the graph with its ranges, the same at every point.
static stow_status draw(const maker* m, const stowi_plan_formula_stop* stop,
                        stow_picture* picture) {
  stow_picture_plan plan;
  stow_picture_plan_init(&plan);
  plan.graph = stop->bound;
  plan.plan = stop->plan;
  plan.effects = stop->effects;
  plan.source = m->from->source;
  plan.title = m->from->title;
  plan.is_model = m->from->is_model;
  add_point_name(picture, m->from->formula, stop->point);
  STOW_TRY(stowi_report_picture_take_plan(picture, &plan,
                                          stowi_plan_formula_graph(m->from->formula), m->diag));
  picture->facts.fingerprint = m->info.fingerprint;
  return STOW_OK;
}

typedef struct own_visit {
  const maker* maker;
  stow_picture* picture;
} own_visit;

static stow_status visit_own(void* user, const stowi_plan_formula_stop* stop, stow_diag* diag) {
  const own_visit* own = user;
  (void)diag;
  return draw(own->maker, stop, own->picture);
}

// ---------------------------------------------------------------------------------------------
// The pictures of all points

typedef struct other_draw {
  const maker* maker;
  const stowi_plan_formula_stop* stop;
} other_draw;

static stow_status draw_other(stow_picture* picture, const void* from, stow_diag* diag) {
  const other_draw* other = from;
  (void)diag;
  return draw(other->maker, other->stop, picture);
}

static stow_status visit_other(void* user, const stowi_plan_formula_stop* stop, stow_diag* diag) {
  maker* m = user;
  other_draw other = {m, stop};
  stow_picture* picture;
  stow_string text;
  STOW_TRY(stowi_report_picture_create(draw_other, &other, m->allocator, diag, &picture));
  stow_string_init(&text, m->allocator);
  stow_status status =
      stow_picture_write(picture, STOW_PICTURE_JSON, NULL, stow_string_writer(&text), diag);
  if (status == STOW_OK) {
    status = stowi_need_memory(
        stowi_report_range_add(m->range, (stow_str){text.data, text.size}) == STOW_OK, diag);
  }
  if (stop->point == m->point && status == STOW_OK) {
    m->range->own = (size_t)m->range->frame_of.data[m->range->frame_of.count - 1];
  }
  stow_string_free(&text);
  stow_picture_destroy(picture);
  return status;
}

// Every so many values of a symbol, its last one, and the one of the picture.
static bool is_drawn_step(const maker* m, size_t symbol, uint64_t step, uint64_t own) {
  return step % m->strides[symbol] == 0 || step + 1 == m->counts[symbol] || step == own;
}

static bool is_drawn(const maker* m, size_t point) {
  size_t own = m->point;
  for (size_t i = m->symbol_count; i-- > 0;) {
    if (!is_drawn_step(m, i, point % m->counts[i], own % m->counts[i])) {
      return false;
    }
    point /= (size_t)m->counts[i];
    own /= (size_t)m->counts[i];
  }
  return true;
}

static void find_strides(maker* m) {
  uint64_t drawn = 1;
  for (size_t i = 0; i < m->symbol_count; ++i) {
    stow_dim_range range;
    stow_formula_symbol(m->from->formula, i, &range);
    m->counts[i] = stow_dim_range_count(&range);
    m->strides[i] = 1;
    drawn *= m->counts[i];
  }
  while (drawn > MOST_DRAWN) {
    size_t most = 0;
    drawn = 1;
    for (size_t i = 1; i < m->symbol_count; ++i) {
      most = m->counts[i] / m->strides[i] > m->counts[most] / m->strides[most] ? i : most;
    }
    m->strides[most] *= 2;
    for (size_t i = 0; i < m->symbol_count; ++i) {
      drawn *= (m->counts[i] + m->strides[i] - 1) / m->strides[i];
    }
  }
}

static stow_status draw_points(maker* m) {
  STOWI_VEC(size_t) points = {0};
  stow_status status = STOW_OK;
  for (size_t i = 0; i < m->info.point_count && status == STOW_OK; ++i) {
    if (is_drawn(m, i)) {
      status = stowi_need_memory(STOWI_VEC_RESERVE(m->allocator, &points, 1) == STOW_OK, m->diag);
      if (status == STOW_OK) {
        points.data[points.count++] = i;
      }
    }
  }
  if (status == STOW_OK) {
    status = stowi_plan_formula_visit(m->from->formula, &m->from->effects, points.data,
                                      points.count, m->allocator, m->diag, visit_other, m);
  }
  STOWI_VEC_FREE(m->allocator, &points);
  stowi_report_range_finish(m->range);
  return status;
}

// ---------------------------------------------------------------------------------------------
// Facts, as JSON

static void write_symbols(const maker* m, stowi_report_out* out) {
  stowi_report_out_print(out, "\"symbols\":[");
  for (size_t i = 0; i < m->symbol_count; ++i) {
    stow_dim_range range;
    stow_str name = stow_formula_symbol(m->from->formula, i, &range);
    stowi_report_out_print(out, "%s{\"name\":", i == 0 ? "" : ",");
    stowi_report_out_json(out, name);
    stowi_report_out_print(out, ",\"min\":%" PRId64 ",\"max\":%" PRId64 ",\"step\":%" PRId64 "}",
                           range.min, range.max, range.step);
  }
  stowi_report_out_print(out, "],\n \"point\":%zu,\"largest\":%zu,\"worst\":%zu", m->point,
                         m->info.largest_point, m->info.worst_point);
}

static void write_values(stowi_report_out* out, const int64_t* values, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    stowi_report_out_print(out, "%s%" PRId64, i == 0 ? "[" : ",", values[i]);
  }
  stowi_report_out_print(out, "]");
}

static void write_boxes(const maker* m, size_t region, stowi_report_out* out) {
  int64_t first[STOW_MAX_RANK] = {0};
  int64_t last[STOW_MAX_RANK] = {0};
  stowi_report_out_print(out, ",\"boxes\":[");
  for (size_t i = 0; stow_formula_box(m->from->formula, region, i, first, last); ++i) {
    stowi_report_out_print(out, i == 0 ? "[" : ",[");
    write_values(out, first, m->symbol_count);
    stowi_report_out_print(out, ",");
    write_values(out, last, m->symbol_count);
    stowi_report_out_print(out, "]");
  }
  stowi_report_out_print(out, "]");
}

static void write_sums(const maker* m, size_t region, size_t count, stowi_report_out* out) {
  stow_string text;
  stow_string_init(&text, m->allocator);
  stowi_report_out_print(out, ",\"sums\":[");
  for (size_t i = 0; i < count && out->status == STOW_OK; ++i) {
    text.size = 0;
    out->status = stow_formula_write_sum(m->from->formula, region, i, stow_string_writer(&text));
    stowi_report_out_print(out, i == 0 ? "" : ",");
    stowi_report_out_json(out, (stow_str){text.data, text.size});
  }
  stowi_report_out_print(out, "]");
  stow_string_free(&text);
}

static void write_regions(const maker* m, stowi_report_out* out) {
  stowi_report_out_print(out, ",\n \"regions\":[");
  for (size_t i = 0; i < m->info.region_count; ++i) {
    stow_formula_region region = {.struct_size = sizeof region};
    stow_formula_describe_region(m->from->formula, i, &region);
    stowi_report_out_print(out, "%s{\"planned_at\":%zu,\"worst\":%zu,\"buffers\":%zu,\"pairs\":%zu",
                           i == 0 ? "" : ",\n  ", region.planned_at, region.worst_point,
                           region.buffer_count, region.edge_count);
    write_boxes(m, i, out);
    write_sums(m, i, region.sum_count, out);
    if (region.slack == UINT64_MAX) {
      stowi_report_out_print(out, ",\"slack\":null}");
    } else {
      stowi_report_out_print(out, ",\"slack\":%" PRIu64 "}", region.slack);
    }
  }
  stowi_report_out_print(out, "]");
}

typedef enum curve { CURVE_ARENA, CURVE_LOAD, CURVE_REGION, CURVE_COUNT } curve;

static void write_curves(const maker* m, uint64_t* numbers, stowi_report_out* out) {
  static const char* const names[] = {"arena", "load", "region"};
  for (int which = 0; which < CURVE_COUNT; ++which) {
    for (size_t i = 0; i < m->info.point_count; ++i) {
      stow_formula_point point = {.struct_size = sizeof point};
      stow_formula_describe_point(m->from->formula, i, &point);
      numbers[i] = which == CURVE_ARENA  ? point.arena_size
                   : which == CURVE_LOAD ? point.load
                                         : point.region;
    }
    stowi_report_out_print(out, ",\n \"%s\":", names[which]);
    stowi_report_range_write_series(numbers, m->info.point_count, m->allocator, out);
  }
}

// Of each symbol, the steps of its range that are drawn.
static void write_drawn(const maker* m, uint64_t* numbers, stowi_report_out* out) {
  size_t own[STOW_MAX_RANK] = {0};
  size_t rest = m->point;
  for (size_t i = m->symbol_count; i-- > 0;) {
    own[i] = rest % m->counts[i];
    rest /= (size_t)m->counts[i];
  }
  stowi_report_out_print(out, ",\n \"drawn\":[");
  for (size_t i = 0; i < m->symbol_count; ++i) {
    size_t count = 0;
    for (uint64_t step = 0; step < m->counts[i]; ++step) {
      if (is_drawn_step(m, i, step, own[i])) {
        numbers[count++] = step;
      }
    }
    stowi_report_out_print(out, i == 0 ? "" : ",");
    stowi_report_range_write_series(numbers, count, m->allocator, out);
  }
  stowi_report_out_print(out, "]");
}

static stow_status write_facts(const maker* m) {
  stowi_report_out out;
  uint64_t* numbers = STOWI_ARRAY(m->allocator, uint64_t, m->info.point_count);
  STOW_TRY(stowi_need_memory(numbers != NULL, m->diag));
  stow_status status =
      stowi_report_out_open(&out, stow_string_writer(&m->range->facts), NULL, m->diag);
  out.in_page = true;
  if (status == STOW_OK) {
    write_symbols(m, &out);
    write_curves(m, numbers, &out);
    write_regions(m, &out);
    write_drawn(m, numbers, &out);
    status = stowi_report_out_close(&out, m->diag);
  }
  STOWI_ARRAY_FREE(m->allocator, numbers, m->info.point_count);
  return status;
}

// ---------------------------------------------------------------------------------------------

static stow_status make_range(maker* m, stow_picture* picture) {
  m->range = STOWI_NEW(m->allocator, stowi_report_range);
  STOW_TRY(stowi_need_memory(m->range != NULL, m->diag));
  m->range->allocator = m->allocator;
  stow_string_init(&m->range->facts, m->allocator);
  picture->range = m->range;
  find_strides(m);
  STOW_TRY(write_facts(m));
  return draw_points(m);
}

static stow_status make(stow_picture* picture, const void* options, stow_diag* diag) {
  const stow_picture_formula* from = options;
  maker m = {.from = from,
             .allocator = picture->allocator,
             .diag = diag,
             .symbol_count = stow_formula_symbol_count(from->formula)};
  m.info.struct_size = sizeof m.info;
  STOW_TRY(stow_formula_describe(from->formula, &m.info));
  m.point = from->point == SIZE_MAX ? m.info.largest_point : from->point;
  if (m.point >= m.info.point_count) {
    return stowi_fail(diag, STOW_ERR_NOT_FOUND, "point %zu is out of range (%zu points)", m.point,
                      m.info.point_count);
  }
  if (m.info.largest_arena >= STOWI_REPORT_PICTURE_LIMIT) {
    return stowi_fail(diag, STOW_ERR_LIMIT,
                      "too large for a picture: sizes and steps must be below 2^53");
  }
  own_visit own = {&m, picture};
  STOW_TRY(stowi_plan_formula_visit(from->formula, &from->effects, &m.point, 1, m.allocator, diag,
                                    visit_own, &own));
  return from->is_one_point ? STOW_OK : make_range(&m, picture);
}

void stow_picture_formula_defaults(stow_picture_formula* from) {
  static const stow_picture_formula defaults = {.point = SIZE_MAX, .source = ""};
  stowi_init_struct(from, &defaults, sizeof defaults);
}

stow_status stow_picture_from_formula(const stow_picture_formula* from, stow_allocator allocator,
                                      stow_diag* diag, stow_picture** out_picture) {
  stow_picture_formula full;
  *out_picture = NULL;
  stow_picture_formula_init(&full);
  STOW_TRY(stowi_load_struct(&full, from, sizeof full, "stow_picture_formula", diag));
  if (full.formula == NULL) {
    return stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT, "formula is NULL");
  }
  return stowi_report_picture_create(make, &full, allocator, diag, out_picture);
}
