// Reads saved formula plans: one pass over lines in the order in which they are written. Strict, as
// for saved plans: what was read is written to the same bytes.
//
// The text is checked as far as evaluation relies on it: numbers are within their lists, buffers
// lie above those that come before them, boxes cover every point once. Whether the plan is right is
// for stow_formula_check.
#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bits.h"
#include "base/checked.h"
#include "base/diag.h"
#include "plan/formats/facts.h"
#include "plan/formulas/formula.h"

typedef struct reader {
  stowi_plan_scan scan;
  stow_formula* formula;
  stow_allocator allocator;
  stowi_plan_facts facts;
  stowi_plan_formula_region* region;  // being read; owned by the formula
  STOWI_VEC(stowi_plan_span) spans;
  STOWI_VEC(stowi_plan_formula_buffer) buffers;
  STOWI_VEC(stowi_place_constraint) constraints;
  STOWI_VEC(stowi_plan_formula_part) parts;
  STOWI_VEC(uint32_t) terms;
  STOWI_VEC(stowi_place_edge) edges;
} reader;

static stow_status fail(const reader* r, const char* text) {
  return stowi_plan_scan_fail(&r->scan, stowi_plan_scan_here(&r->scan), STOW_ERR_SYNTAX, "%s",
                              text);
}

static stow_status need(const reader* r, stow_status status) {
  return stowi_need_memory(status == STOW_OK, r->scan.diag);
}

// A number below |count|.
static stow_status read_index(reader* r, size_t count, const char* what, uint32_t* out) {
  return count == 0 ? stowi_plan_scan_expected(&r->scan, "nothing: there are none")
                    : stowi_plan_scan_u32(&r->scan, (uint32_t)(count - 1), what, out);
}

static stow_status read_comma(reader* r) { return stowi_plan_scan_literal(&r->scan, ","); }

static stow_status read_u64(reader* r, uint64_t max, const char* what, uint64_t* out) {
  STOW_TRY(read_comma(r));
  return stowi_plan_scan_u64(&r->scan, max, what, out);
}

static stow_status read_yes(reader* r, bool* out) {
  STOW_TRY(read_comma(r));
  *out = stowi_plan_scan_skip(&r->scan, "yes");
  return *out || stowi_plan_scan_skip(&r->scan, "no")
             ? STOW_OK
             : stowi_plan_scan_expected(&r->scan, "`yes` or `no`");
}

static stow_status read_expr_number(reader* r, uint32_t* out) {
  STOW_TRY(read_comma(r));
  return read_index(r, r->formula->exprs.count, "an expression", out);
}

// ---------------------------------------------------------------------------------------------
// Expressions

// An expression is as it is printed, so that the text can be written again.
static stow_status require_printed(const reader* r, stow_dim dim, stow_str text) {
  stow_string printed;
  stow_string_init(&printed, r->allocator);
  stow_status status =
      stow_dim_print(stow_graph_dims(r->formula->graph), dim, stow_string_writer(&printed));
  status = need(r, status);
  if (status == STOW_OK && !stow_str_equal((stow_str){printed.data, printed.size}, text)) {
    status = fail(r, "expected an expression as stowage writes it");
  }
  stow_string_free(&printed);
  return status;
}

static stow_status read_expr(reader* r) {
  stow_str text = stowi_plan_scan_rest(&r->scan);
  stow_formula* formula = r->formula;
  stow_diag found;
  stow_diag_init(&found);
  stow_dim dim;
  stow_status status = stowi_graph_parse_dim(formula->graph, text, r->allocator, &found, &dim);
  if (status == STOW_ERR_OUT_OF_MEMORY) {
    return stowi_fail_memory(r->scan.diag);
  }
  if (status != STOW_OK) {
    return stowi_plan_scan_fail(&r->scan, stowi_plan_scan_here(&r->scan), STOW_ERR_SYNTAX, "%s",
                                found.message);
  }
  STOW_TRY(require_printed(r, dim, text));
  size_t before = formula->exprs.count;
  uint32_t expr;
  STOW_TRY(need(r, stowi_plan_formula_add_dim(formula, dim, &expr)));
  if (formula->exprs.count == before) {
    return fail(r, "the expression is there already");
  }
  r->scan.at += text.size;
  return stowi_plan_scan_end_line(&r->scan);
}

static stow_status fill_table(reader* r, uint64_t* table) {
  size_t count = r->formula->point_count;
  for (size_t at = 0; at < count;) {
    uint64_t size;
    uint64_t times;
    if (at != 0) {
      STOW_TRY(read_comma(r));
    }
    STOW_TRY(stowi_plan_scan_u64(&r->scan, INT64_MAX, "a size", &size));
    STOW_TRY(stowi_plan_scan_literal(&r->scan, "*"));
    STOW_TRY(stowi_plan_scan_u64(&r->scan, count - at, "a number of points", &times));
    if (times == 0 || (at != 0 && table[at - 1] == size)) {
      return fail(r, "expected each size once in a row, at 1 point or more");
    }
    for (; times > 0; --times) {
      table[at++] = size;
    }
  }
  return stowi_plan_scan_end_line(&r->scan);
}

static stow_status read_table(reader* r) {
  stow_formula* formula = r->formula;
  uint64_t* table = STOWI_ARRAY(r->allocator, uint64_t, formula->point_count);
  STOW_TRY(stowi_need_memory(table != NULL, r->scan.diag));
  stow_status status = fill_table(r, table);
  if (status == STOW_OK) {
    size_t before = formula->exprs.count;
    uint32_t expr;
    status = need(r, stowi_plan_formula_add_table(formula, table, &expr));
    if (status == STOW_OK && formula->exprs.count == before) {
      status = fail(r, "the table is there already");
    }
  }
  STOWI_ARRAY_FREE(r->allocator, table, formula->point_count);
  return status;
}

static stow_status read_exprs(reader* r) {
  for (;;) {
    if (stowi_plan_scan_skip(&r->scan, "# expr=")) {
      STOW_TRY(read_expr(r));
    } else if (stowi_plan_scan_skip(&r->scan, "# table=")) {
      STOW_TRY(read_table(r));
    } else {
      return STOW_OK;
    }
  }
}

// ---------------------------------------------------------------------------------------------
// Regions

static stow_status read_box(reader* r) {
  stow_formula* formula = r->formula;
  stowi_plan_formula_box box = {.region = (uint32_t)(formula->regions.count - 1)};
  for (size_t i = 0; i < formula->symbol_count; ++i) {
    uint64_t most = formula->value_counts[i] - 1;
    STOW_TRY(i == 0 ? STOW_OK : read_comma(r));
    STOW_TRY(stowi_plan_scan_u64(&r->scan, most, "a step of the range", &box.first[i]));
    STOW_TRY(stowi_plan_scan_literal(&r->scan, ".."));
    STOW_TRY(stowi_plan_scan_u64(&r->scan, most, "a step of the range", &box.last[i]));
    if (box.last[i] < box.first[i]) {
      return fail(r, "the box is empty");
    }
  }
  STOW_TRY(need(r, STOWI_VEC_RESERVE(formula->allocator, &formula->boxes, 1)));
  formula->boxes.data[formula->boxes.count++] = box;
  return stowi_plan_scan_end_line(&r->scan);
}

// All numbers below |count|, each once.
static stow_status read_permutation(reader* r, const char* key, size_t count, uint32_t* out) {
  stowi_bits seen;
  if (!stowi_bits_init(&seen, (uint32_t)count, r->allocator)) {
    return stowi_fail_memory(r->scan.diag);
  }
  stow_status status = stowi_plan_scan_literal(&r->scan, key);
  for (size_t i = 0; i < count && status == STOW_OK; ++i) {
    status = i == 0 ? STOW_OK : read_comma(r);
    status = status == STOW_OK ? read_index(r, count, "a number of the list", &out[i]) : status;
    if (status == STOW_OK && stowi_bits_has(&seen, out[i])) {
      status = fail(r, "a number is there twice");
    } else if (status == STOW_OK) {
      stowi_bits_add(&seen, out[i]);
    }
  }
  stowi_bits_free(&seen, r->allocator);
  return status == STOW_OK ? stowi_plan_scan_end_line(&r->scan) : status;
}

static stow_status read_value(reader* r, stow_value v) {
  const stow_formula* formula = r->formula;
  stowi_plan_formula_value* value = &r->region->values[v];
  uint32_t last = formula->step_count + 1;
  uint64_t begin, end, alignment;
  STOW_TRY(stowi_plan_scan_literal(&r->scan, "# value="));
  STOW_TRY(read_index(r, formula->value_count, "a value of the graph", &value->root));
  STOW_TRY(read_expr_number(r, &value->bytes));
  STOW_TRY(read_expr_number(r, &value->inner));
  STOW_TRY(read_u64(r, last, "a step", &begin));
  STOW_TRY(read_u64(r, last, "a step", &end));
  STOW_TRY(read_u64(r, 62, "the logarithm of an alignment", &alignment));
  STOW_TRY(read_yes(r, &value->has_slot));
  value->begin = (uint32_t)begin;
  value->end = (uint32_t)end;
  value->alignment_log2 = (uint8_t)alignment;
  if (begin >= end) {
    return fail(r, "the lifetime is empty");
  }
  return stowi_plan_scan_end_line(&r->scan);
}

static stow_status read_spans(reader* r) {
  r->spans.count = 0;
  while (stowi_plan_scan_skip(&r->scan, "# span=")) {
    stowi_plan_span span;
    STOW_TRY(stowi_plan_scan_u64(&r->scan, INT64_MAX, "an offset", &span.offset));
    STOW_TRY(read_u64(r, INT64_MAX, "an end", &span.end));
    if (span.end < span.offset) {
      return fail(r, "the range is empty");
    }
    STOW_TRY(need(r, STOWI_VEC_RESERVE(r->allocator, &r->spans, 1)));
    r->spans.data[r->spans.count++] = span;
    STOW_TRY(stowi_plan_scan_end_line(&r->scan));
  }
  return STOW_OK;
}

static stow_status read_buffer(reader* r, stowi_plan_formula_kind kind) {
  const stow_formula* formula = r->formula;
  stowi_plan_formula_buffer buffer = {.kind = kind};
  stowi_place_constraint constraint = {1, STOW_PLACE_ANYWHERE};
  size_t ids = kind == STOWI_PLAN_FORMULA_ROOT      ? formula->value_count
               : kind == STOWI_PLAN_FORMULA_SCRATCH ? formula->step_count
                                                    : r->spans.count;
  uint64_t index;
  STOW_TRY(read_index(r, ids, "what the buffer is for", &buffer.id));
  STOW_TRY(read_u64(r, UINT32_MAX - 1, "a number of scratch", &index));
  STOW_TRY(read_expr_number(r, &buffer.size));
  STOW_TRY(read_u64(r, INT64_MAX, "a guard", &buffer.guard));
  STOW_TRY(read_u64(r, INT64_MAX, "a size", &buffer.empty_size));
  STOW_TRY(read_u64(r, INT64_MAX, "a size", &buffer.most));
  STOW_TRY(read_u64(r, UINT64_C(1) << 62, "an alignment", &constraint.alignment));
  if (!stowi_is_power_of_two(constraint.alignment)) {
    return fail(r, "the alignment must be a power of two");
  }
  if (stowi_plan_scan_sees(&r->scan, ",")) {
    STOW_TRY(read_u64(r, INT64_MAX, "an offset", &constraint.fixed_offset));
  }
  buffer.index = (uint32_t)index;
  STOW_TRY(need(r, STOWI_VEC_RESERVE(r->allocator, &r->buffers, 1)));
  STOW_TRY(need(r, STOWI_VEC_RESERVE(r->allocator, &r->constraints, 1)));
  r->buffers.data[r->buffers.count++] = buffer;
  r->constraints.data[r->constraints.count++] = constraint;
  return stowi_plan_scan_end_line(&r->scan);
}

static stow_status read_buffers(reader* r) {
  static const char* const keys[] = {"# root=", "# scratch=", "# reserved="};
  r->buffers.count = r->constraints.count = 0;
  for (int kind = 0; kind < 3; ++kind) {
    while (stowi_plan_scan_skip(&r->scan, keys[kind])) {
      STOW_TRY(read_buffer(r, (stowi_plan_formula_kind)kind));
    }
  }
  return STOW_OK;
}

static stow_status read_terms(reader* r) {
  STOW_TRY(stowi_plan_scan_literal(&r->scan, ":"));
  do {
    uint32_t expr;
    STOW_TRY(read_index(r, r->formula->exprs.count, "an expression", &expr));
    STOW_TRY(need(r, STOWI_VEC_RESERVE(r->allocator, &r->terms, 1)));
    r->terms.data[r->terms.count++] = expr;
  } while (stowi_plan_scan_skip(&r->scan, ","));
  return STOW_OK;
}

static stow_status read_part(reader* r, uint32_t last_buffer) {
  stowi_plan_formula_part part;
  uint64_t begin, end;
  uint32_t last = r->formula->step_count + 1;
  STOW_TRY(read_index(r, r->buffers.count, "a buffer", &part.buffer));
  STOW_TRY(read_u64(r, last, "a step", &begin));
  STOW_TRY(read_u64(r, last, "a step", &end));
  STOW_TRY(read_yes(r, &part.at_bottom));
  STOW_TRY(read_yes(r, &part.at_top));
  if (part.buffer < last_buffer || begin >= end) {
    return fail(r, "expected parts in order of buffers, none of them empty");
  }
  part.begin = (uint32_t)begin;
  part.end = (uint32_t)end;
  part.first_low = (uint32_t)r->terms.count;
  STOW_TRY(read_terms(r));
  part.first_high = (uint32_t)r->terms.count;
  STOW_TRY(read_terms(r));
  STOW_TRY(need(r, STOWI_VEC_RESERVE(r->allocator, &r->parts, 1)));
  r->parts.data[r->parts.count++] = part;
  return stowi_plan_scan_end_line(&r->scan);
}

static stow_status read_parts(reader* r) {
  r->parts.count = r->terms.count = 0;
  while (stowi_plan_scan_skip(&r->scan, "# part=")) {
    uint32_t last = r->parts.count == 0 ? 0 : r->parts.data[r->parts.count - 1].buffer;
    STOW_TRY(read_part(r, last));
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Lists into arrays of the region

static stow_status take_lists(reader* r) {
  stowi_plan_formula_region* region = r->region;
  stow_allocator allocator = r->formula->allocator;
  size_t buffers = r->buffers.count;
  size_t parts = r->parts.count;
  region->buffers = STOWI_ARRAY_ZERO(allocator, stowi_plan_formula_buffer, buffers + 1);
  region->constraints = STOWI_ARRAY(allocator, stowi_place_constraint, buffers);
  region->buffer_count = buffers;
  region->parts = STOWI_ARRAY_ZERO(allocator, stowi_plan_formula_part, parts + 1);
  region->part_count = parts;
  region->terms = STOWI_ARRAY(allocator, uint32_t, r->terms.count);
  region->term_count = r->terms.count;
  region->reserved = STOWI_ARRAY(allocator, stowi_plan_span, r->spans.count);
  region->reserved_count = r->spans.count;
  STOW_TRY(stowi_need_memory(region->buffers != NULL && region->constraints != NULL &&
                                 region->parts != NULL && region->terms != NULL &&
                                 region->reserved != NULL,
                             r->scan.diag));
  for (size_t i = 0; i < buffers; ++i) {
    region->buffers[i] = r->buffers.data[i];
    region->constraints[i] = r->constraints.data[i];
  }
  for (size_t i = 0; i < r->spans.count; ++i) {
    region->reserved[i] = r->spans.data[i];
  }
  for (size_t i = 0; i < r->terms.count; ++i) {
    region->terms[i] = r->terms.data[i];
  }
  size_t part = 0;
  for (size_t i = 0; i <= buffers; ++i) {
    region->buffers[i].first_part = (uint32_t)part;
    for (; part < parts && r->parts.data[part].buffer == i; ++part) {
      region->parts[part] = r->parts.data[part];
    }
  }
  region->parts[parts].first_low = (uint32_t)r->terms.count;
  return STOW_OK;
}

static stow_status make_orientation(reader* r) {
  stowi_plan_formula_region* region = r->region;
  stow_allocator allocator = r->formula->allocator;
  stowi_place_orientation* o = STOWI_NEW(allocator, stowi_place_orientation);
  region->orientation = o;
  STOW_TRY(stowi_need_memory(o != NULL, r->scan.diag));
  o->allocator = allocator;
  o->buffer_count = region->buffer_count;
  o->part_count = region->part_count;
  o->buffer_of = STOWI_ARRAY(allocator, uint32_t, o->part_count);
  o->order = STOWI_ARRAY(allocator, uint32_t, o->buffer_count);
  o->first_edge = STOWI_ARRAY_ZERO(allocator, size_t, o->buffer_count + 1);
  STOW_TRY(stowi_need_memory(o->buffer_of != NULL && o->order != NULL && o->first_edge != NULL,
                             r->scan.diag));
  for (size_t i = 0; i < o->part_count; ++i) {
    o->buffer_of[i] = region->parts[i].buffer;
  }
  return read_permutation(r, "# rank=", o->buffer_count, o->order);
}

// Edges are in order of the upper buffer's rank, and the lower one's is less.
static stow_status read_edge(reader* r, const uint32_t* rank, uint32_t* last) {
  const stowi_plan_formula_region* region = r->region;
  stowi_place_edge edge;
  STOW_TRY(read_index(r, region->part_count, "a part", &edge.above));
  STOW_TRY(read_comma(r));
  STOW_TRY(read_index(r, region->part_count, "a part", &edge.below));
  uint32_t above = rank[region->parts[edge.above].buffer];
  if (above < *last || rank[region->parts[edge.below].buffer] >= above) {
    return fail(r, "expected pairs in order of the upper buffer's rank, above one of a lower rank");
  }
  *last = above;
  STOW_TRY(need(r, STOWI_VEC_RESERVE(r->allocator, &r->edges, 1)));
  r->edges.data[r->edges.count++] = edge;
  ++region->orientation->first_edge[above + 1];
  return stowi_plan_scan_end_line(&r->scan);
}

static stow_status read_edges(reader* r) {
  stowi_place_orientation* o = r->region->orientation;
  uint32_t* rank = STOWI_ARRAY(r->allocator, uint32_t, o->buffer_count);
  STOW_TRY(stowi_need_memory(rank != NULL, r->scan.diag));
  for (uint32_t i = 0; i < o->buffer_count; ++i) {
    rank[o->order[i]] = i;
  }
  stow_status status = STOW_OK;
  uint32_t last = 0;
  r->edges.count = 0;
  while (status == STOW_OK && stowi_plan_scan_skip(&r->scan, "# above=")) {
    status = read_edge(r, rank, &last);
  }
  STOWI_ARRAY_FREE(r->allocator, rank, o->buffer_count);
  STOW_TRY(status);
  for (size_t i = 0; i < o->buffer_count; ++i) {
    o->first_edge[i + 1] += o->first_edge[i];
  }
  o->edges = STOWI_ARRAY(o->allocator, stowi_place_edge, r->edges.count);
  o->edge_count = r->edges.count;
  STOW_TRY(stowi_need_memory(o->edges != NULL, r->scan.diag));
  for (size_t i = 0; i < r->edges.count; ++i) {
    o->edges[i] = r->edges.data[i];
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------

static stow_status begin_region(reader* r) {
  stow_formula* formula = r->formula;
  STOW_TRY(need(r, STOWI_VEC_RESERVE(formula->allocator, &formula->regions, 1)));
  r->region = STOWI_NEW(formula->allocator, stowi_plan_formula_region);
  STOW_TRY(stowi_need_memory(r->region != NULL, r->scan.diag));
  formula->regions.data[formula->regions.count++] = r->region;
  r->region->facts = r->facts;
  r->region->order = STOWI_ARRAY(formula->allocator, stow_node, formula->step_count);
  r->region->values =
      STOWI_ARRAY_ZERO(formula->allocator, stowi_plan_formula_value, formula->value_count);
  return stowi_need_memory(r->region->order != NULL && r->region->values != NULL, r->scan.diag);
}

static stow_status read_region(reader* r) {
  const stow_formula* formula = r->formula;
  uint32_t point;
  STOW_TRY(begin_region(r));
  STOW_TRY(read_index(r, formula->point_count, "a point", &point));
  STOW_TRY(read_yes(r, &r->region->facts.in_place));
  STOW_TRY(read_yes(r, &r->region->facts.elide_copies));
  const stowi_plan_facts* own = &r->region->facts;
  if (formula->regions.count == 1 &&
      (own->in_place != r->facts.in_place || own->elide_copies != r->facts.elide_copies)) {
    return fail(r, "expected the first region as the options say");
  }
  STOW_TRY(stowi_plan_scan_end_line(&r->scan));
  r->region->planned_at = point;
  while (stowi_plan_scan_skip(&r->scan, "# box=")) {
    STOW_TRY(read_box(r));
  }
  STOW_TRY(read_permutation(r, "# order=", formula->step_count, r->region->order));
  for (stow_value v = 0; v < formula->value_count; ++v) {
    STOW_TRY(read_value(r, v));
  }
  STOW_TRY(read_spans(r));
  STOW_TRY(read_buffers(r));
  STOW_TRY(read_parts(r));
  STOW_TRY(take_lists(r));
  STOW_TRY(make_orientation(r));
  return read_edges(r);
}

// Points of boxes, which must be all of them, each once.
static stow_status fill_regions(reader* r) {
  stow_formula* formula = r->formula;
  memset(formula->region_at, 0xff, formula->point_count * sizeof(uint32_t));
  for (size_t i = 0; i < formula->boxes.count; ++i) {
    const stowi_plan_formula_box* box = &formula->boxes.data[i];
    for (size_t point = 0; point < formula->point_count; ++point) {
      if (!stowi_plan_formula_is_in_box(formula, box, point)) {
        continue;
      }
      if (formula->region_at[point] != UINT32_MAX) {
        return fail(r, "two boxes overlap");
      }
      formula->region_at[point] = box->region;
    }
  }
  for (size_t point = 0; point < formula->point_count; ++point) {
    if (formula->region_at[point] == UINT32_MAX) {
      return fail(r, "a point of the range is in no box");
    }
  }
  return STOW_OK;
}

static stow_status measure(reader* r) {
  stow_formula* formula = r->formula;
  for (size_t i = 0; i < formula->regions.count; ++i) {
    STOW_TRY(stowi_plan_formula_measure(formula, formula->regions.data[i], r->scan.diag));
  }
  for (size_t point = 0; point < formula->point_count; ++point) {
    if (formula->regions.data[formula->region_at[point]]->arena[point] == UINT64_MAX) {
      return fail(r, "a size is too large, or a fixed offset too small, at a point of the range");
    }
  }
  STOW_TRY(stowi_plan_formula_find_sums(formula, r->scan.diag));
  return formula->by_bounds ? stowi_plan_formula_find_bounds(formula, r->scan.diag) : STOW_OK;
}

// A plan by bounds says how many values of each symbol its sample has at most.
static stow_status create(reader* r, const stow_graph* graph) {
  stowi_plan_formula_limits limits = {.work = STOW_FORMULA_MAX_WORK};
  if (stowi_plan_scan_skip(&r->scan, "# values=")) {
    uint64_t most;
    STOW_TRY(
        stowi_plan_scan_u64(&r->scan, STOWI_PLAN_FORMULA_MOST_VALUES, "a number of values", &most));
    if (most < STOWI_PLAN_FORMULA_FEWEST_VALUES) {
      return fail(r, "expected at least 4 values of each symbol");
    }
    STOW_TRY(stowi_plan_scan_end_line(&r->scan));
    limits = (stowi_plan_formula_limits){0, true, (size_t)most};
  }
  return stowi_plan_formula_create(graph, &limits, r->allocator, r->scan.diag, &r->formula);
}

static stow_status read_formula(reader* r, const stow_graph* graph) {
  stow_str strategy;
  STOW_TRY(stowi_plan_scan_literal(&r->scan, "# stowage_formula=1"));
  STOW_TRY(stowi_plan_scan_end_line(&r->scan));
  STOW_TRY(stowi_plan_read_graph(&r->scan, graph, r->allocator));
  STOW_TRY(stowi_plan_read_strategy(&r->scan, &strategy));
  STOW_TRY(create(r, graph));
  memcpy(r->formula->strategy, strategy.data, strategy.size);
  STOW_TRY(stowi_plan_read_facts(&r->scan, &r->facts));
  if (r->facts.least_row != 0) {
    return stowi_plan_scan_expected(&r->scan, "a plan of a range without least_row");
  }
  STOW_TRY(read_exprs(r));
  if (!stowi_plan_scan_sees(&r->scan, "# region=")) {
    return stowi_plan_scan_expected(&r->scan, "an expression or a region");
  }
  while (stowi_plan_scan_skip(&r->scan, "# region=")) {
    STOW_TRY(read_region(r));
  }
  STOW_TRY(stowi_plan_read_end(&r->scan));
  STOW_TRY(fill_regions(r));
  return measure(r);
}

stow_status stow_formula_read(const char* text, size_t size, const char* file_name,
                              const stow_graph* graph, stow_allocator allocator, stow_diag* diag,
                              stow_formula** out_formula) {
  *out_formula = NULL;
  reader r;
  memset(&r, 0, sizeof(r));
  stowi_plan_scan_init(&r.scan, text, size, file_name, diag);
  r.allocator = allocator;
  stow_status status = read_formula(&r, graph);
  STOWI_VEC_FREE(allocator, &r.spans);
  STOWI_VEC_FREE(allocator, &r.buffers);
  STOWI_VEC_FREE(allocator, &r.constraints);
  STOWI_VEC_FREE(allocator, &r.parts);
  STOWI_VEC_FREE(allocator, &r.terms);
  STOWI_VEC_FREE(allocator, &r.edges);
  if (status != STOW_OK) {
    stow_formula_destroy(r.formula);
    return status;
  }
  *out_formula = r.formula;
  return STOW_OK;
}
