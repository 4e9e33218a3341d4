// The checker of formula plans. Three things are proven, each by code of its own:
//   regions       every point is in one box of one region
//   orientation   in each region, of every two parts that are live together one is above the other,
//                 by a chain of kept pairs; the pairs have no cycle. So offsets are right for sizes
//                 of any kind
//   points        at every point, the plan is correct for the graph that is bound there, by the
//   plan
//                 checker; at the ends of regions the graph is bound again, by inference, and must
//                 have the types that evaluation gives. What is kept between runs never moves
//   everywhere    of a plan by bounds: what holds at its points holds at all other shapes
//
// For the orientation, what is live at a step is sorted by the order that the region claims. If
// each is followed by one that is above it, all pairs are oriented: a chain passes through the very
// parts that are live. A birth makes two such neighbours, a death one. O(parts × chains between
// neighbours + points × the plan checker).
#include "plan/formulas/formula.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "base/sort.h"
#include "effects/api.h"
#include "graph/api.h"
#include "plan/check/everywhere.h"

typedef struct checker {
  const stow_formula* formula;
  const stow_formula_effects* effects;
  stow_allocator allocator;
  stow_diag* diag;
  stowi_graph_twin* twin;
  int64_t* values;    // of all symbols
  uint64_t* kept_at;  // by value: the offset of what is kept; STOW_OFFSET_NONE: not seen yet
  bool* is_border;    // by point: an end of a region
  // Of a shape between points, until the next one is checked.
  stow_effects* shape_effects;
} checker;

// ---------------------------------------------------------------------------------------------
// Faults

// Point |point_count| is the shape that |values| of the checker have.
static void values_at(const checker* c, size_t point, int64_t* out) {
  if (!stow_formula_point_values(c->formula, point, out)) {
    for (size_t i = 0; i < c->formula->symbol_count; ++i) {
      out[i] = c->values[c->formula->symbols[i]];
    }
  }
}

static void name_point(const checker* c, size_t point, char* out, size_t capacity) {
  int64_t values[STOW_MAX_RANK] = {0};
  size_t used = 0;
  out[0] = '\0';
  values_at(c, point, values);
  for (size_t i = 0; i < stow_formula_symbol_count(c->formula) && used < capacity; ++i) {
    stow_dim_range range;
    stow_str name = stow_formula_symbol(c->formula, i, &range);
    int size = (int)(name.size < 60 ? name.size : 60);
    int written = snprintf(out + used, capacity - used, "%s%.*s=%" PRId64, i == 0 ? "" : ",", size,
                           name.data, values[i]);
    used += written > 0 ? (size_t)written : 0;
  }
}

static stow_status point_fault(const checker* c, size_t point, const char* what) {
  char text[160];
  char message[512];
  name_point(c, point, text, sizeof text);
  snprintf(message, sizeof message, "%s", what);
  return stowi_fail(c->diag, STOW_ERR_VIOLATION, "at %s: %s", text, message);
}

// ---------------------------------------------------------------------------------------------
// Regions

static bool is_in_box(const stow_formula* formula, const stowi_plan_formula_box* box,
                      size_t point) {
  for (size_t i = formula->symbol_count; i-- > 0;) {
    size_t count = formula->value_counts[i];
    size_t step = point % count;
    if (step < box->first[i] || step > box->last[i]) {
      return false;
    }
    point /= count;
  }
  return true;
}

static stow_status check_point_region(const checker* c, size_t point) {
  const stow_formula* formula = c->formula;
  size_t found = 0;
  for (size_t i = 0; i < formula->boxes.count; ++i) {
    const stowi_plan_formula_box* box = &formula->boxes.data[i];
    if (is_in_box(formula, box, point)) {
      ++found;
      if (box->region >= formula->regions.count || box->region != formula->region_at[point]) {
        return point_fault(c, point, "the region is not that of its box");
      }
    }
  }
  if (found != 1) {
    return point_fault(
        c, point, found == 0 ? "no region has this point" : "more than one region has this point");
  }
  return STOW_OK;
}

static stow_status check_regions(const checker* c) {
  const stow_formula* formula = c->formula;
  for (size_t point = 0; point < formula->point_count; ++point) {
    STOW_TRY(check_point_region(c, point));
  }
  for (size_t point = 0; point < formula->point_count; ++point) {
    bool is_end = point == 0 || point + 1 == formula->point_count ||
                  formula->region_at[point] != formula->region_at[point - 1] ||
                  formula->region_at[point] != formula->region_at[point + 1];
    c->is_border[point] = is_end;
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Orientation

typedef struct compass {
  const checker* c;
  const stowi_plan_formula_region* region;
  size_t number;
  uint32_t* place;  // by buffer
  uint32_t* live;   // parts, by place
  size_t live_count;
  size_t* leaving;     // by part: its edges in |by_below|; one more entry ends the last
  uint32_t* by_below;  // upper parts
  uint32_t* seen;      // by part
  uint32_t* stack;
  uint32_t search;
} compass;

static stow_status orientation_fault(const compass* o, const char* what, size_t a, size_t b) {
  return stowi_fail(o->c->diag, STOW_ERR_VIOLATION, "region %zu: %s: parts %zu and %zu", o->number,
                    what, a, b);
}

static stow_status check_order(compass* o) {
  const stowi_plan_formula_region* region = o->region;
  const stowi_place_orientation* given = region->orientation;
  if (given->buffer_count != region->buffer_count || given->part_count != region->part_count) {
    return orientation_fault(o, "the orientation is of other buffers", given->buffer_count,
                             given->part_count);
  }
  memset(o->place, 0xff, region->buffer_count * sizeof(uint32_t));
  for (size_t i = 0; i < region->buffer_count; ++i) {
    uint32_t buffer = given->order[i];
    if (buffer >= region->buffer_count || o->place[buffer] != UINT32_MAX) {
      return orientation_fault(o, "the order of buffers is not one", i, buffer);
    }
    o->place[buffer] = (uint32_t)i;
  }
  for (size_t i = 0; i < region->part_count; ++i) {
    if (given->buffer_of[i] != region->parts[i].buffer) {
      return orientation_fault(o, "a part is of another buffer", i, given->buffer_of[i]);
    }
  }
  return STOW_OK;
}

// Each edge goes up, and is where evaluation reads it.
static stow_status check_edges(compass* o) {
  const stowi_plan_formula_region* region = o->region;
  const stowi_place_orientation* given = region->orientation;
  size_t at = 0;
  for (size_t place = 0; place < region->buffer_count; ++place) {
    if (given->first_edge[place] != at || given->first_edge[place + 1] < at ||
        given->first_edge[place + 1] > given->edge_count) {
      return orientation_fault(o, "edges are out of order", place, at);
    }
    for (; at < given->first_edge[place + 1]; ++at) {
      stowi_place_edge edge = given->edges[at];
      if (edge.below >= region->part_count || edge.above >= region->part_count) {
        return orientation_fault(o, "an edge has no part", edge.below, edge.above);
      }
      if (region->parts[edge.above].buffer != given->order[place] ||
          o->place[region->parts[edge.below].buffer] >= place) {
        return orientation_fault(o, "an edge does not go up", edge.below, edge.above);
      }
    }
  }
  return at == given->edge_count ? STOW_OK
                                 : orientation_fault(o, "edges are left", at, given->edge_count);
}

// What a part claims to be at every point. One that claims to begin at 0 is evaluated so.
static stow_status check_claims(compass* o) {
  const stowi_plan_formula_region* region = o->region;
  for (size_t i = 0; i < region->part_count; ++i) {
    const stowi_plan_formula_part* part = &region->parts[i];
    if (part->buffer >= region->buffer_count || part->first_low >= part->first_high ||
        part->first_high >= part[1].first_low || part[1].first_low > region->term_count ||
        part->begin >= part->end) {
      return orientation_fault(o, "a part is not one", i, i);
    }
    bool has_end = part->first_high + 1 == part[1].first_low &&
                   region->terms[part->first_high] == region->buffers[part->buffer].size;
    if (part->at_top && !has_end) {
      return orientation_fault(o, "a part does not end where it claims to", i, i);
    }
  }
  return STOW_OK;
}

static void sort_by_below(compass* o) {
  const stowi_place_orientation* given = o->region->orientation;
  memset(o->leaving, 0, (o->region->part_count + 1) * sizeof(size_t));
  for (size_t i = 0; i < given->edge_count; ++i) {
    ++o->leaving[given->edges[i].below + 1];
  }
  for (size_t i = 0; i < o->region->part_count; ++i) {
    o->leaving[i + 1] += o->leaving[i];
  }
  for (size_t i = given->edge_count; i-- > 0;) {
    // From the back, so that |leaving| ends where each part begins: shifted by one entry.
    o->by_below[--o->leaving[given->edges[i].below + 1]] = given->edges[i].above;
  }
  for (size_t i = 0; i < o->region->part_count; ++i) {
    o->leaving[i] = o->leaving[i + 1];
  }
  o->leaving[o->region->part_count] = given->edge_count;
}

static void push(compass* o, size_t* count, uint32_t part) {
  if (o->seen[part] != o->search) {
    o->seen[part] = o->search;
    o->stack[(*count)++] = part;
  }
}

// Whether a chain leads from |below| to |above|: offset + low of |above| is not below offset + high
// of |below|, whatever the sizes. Every part on the stack is known to be above |below|.
static bool is_above(compass* o, uint32_t below, uint32_t above) {
  const stowi_plan_formula_part* parts = o->region->parts;
  const stowi_plan_formula_buffer* buffers = o->region->buffers;
  uint32_t last = o->place[parts[above].buffer];
  size_t count = 0;
  ++o->search;
  uint32_t own = parts[below].buffer;
  for (uint32_t p = buffers[own].first_part; p < buffers[own + 1].first_part; ++p) {
    for (size_t e = o->leaving[p]; (p == below || parts[p].at_top) && e < o->leaving[p + 1]; ++e) {
      push(o, &count, o->by_below[e]);
    }
  }
  while (count > 0) {
    uint32_t at = o->stack[--count];
    uint32_t buffer = parts[at].buffer;
    if (at == above || (buffer == parts[above].buffer && parts[at].at_bottom)) {
      return true;
    }
    for (uint32_t p = buffers[buffer].first_part;
         o->place[buffer] < last && p < buffers[buffer + 1].first_part; ++p) {
      bool may_leave = p == at || parts[at].at_bottom || parts[p].at_top;
      for (size_t e = o->leaving[p]; may_leave && e < o->leaving[p + 1]; ++e) {
        push(o, &count, o->by_below[e]);
      }
    }
  }
  return false;
}

static stow_status check_pair(compass* o, size_t lower) {
  if (lower + 1 >= o->live_count || is_above(o, o->live[lower], o->live[lower + 1])) {
    return STOW_OK;
  }
  return orientation_fault(o, "two that are live together are not above each other", o->live[lower],
                           o->live[lower + 1]);
}

typedef struct event {
  uint64_t key;  // step, then ends before begins
  uint32_t part;
} event;

static stow_status step(compass* o, const event* e) {
  const stowi_plan_formula_part* parts = o->region->parts;
  uint32_t place = o->place[parts[e->part].buffer];
  size_t at = 0;
  while (at < o->live_count && o->place[parts[o->live[at]].buffer] < place) {
    ++at;
  }
  if ((e->key & 1) == 0) {
    --o->live_count;
    for (size_t i = at; i < o->live_count; ++i) {
      o->live[i] = o->live[i + 1];
    }
    return at == 0 ? STOW_OK : check_pair(o, at - 1);
  }
  if (at < o->live_count && parts[o->live[at]].buffer == parts[e->part].buffer) {
    return orientation_fault(o, "two parts of a buffer are live together", o->live[at], e->part);
  }
  for (size_t i = o->live_count++; i > at; --i) {
    o->live[i] = o->live[i - 1];
  }
  o->live[at] = e->part;
  STOW_TRY(check_pair(o, at));
  return at == 0 ? STOW_OK : check_pair(o, at - 1);
}

static stow_status sweep(compass* o, event* events) {
  const stowi_plan_formula_region* region = o->region;
  size_t count = 2 * region->part_count;
  for (uint32_t i = 0; i < region->part_count; ++i) {
    events[2 * i] = (event){(uint64_t)region->parts[i].begin << 1 | 1, i};
    events[2 * i + 1] = (event){(uint64_t)region->parts[i].end << 1, i};
  }
  STOW_TRY(stowi_need_memory(
      stowi_sort_by_key(events, count, sizeof(event), o->c->allocator) == STOW_OK, o->c->diag));
  for (size_t i = 0; i < count; ++i) {
    STOW_TRY(step(o, &events[i]));
  }
  return STOW_OK;
}

static stow_status check_orientation(const checker* c, size_t number) {
  const stowi_plan_formula_region* region = c->formula->regions.data[number];
  stow_allocator allocator = c->allocator;
  size_t parts = region->part_count;
  size_t edges = region->orientation->edge_count;
  compass o = {.c = c, .region = region, .number = number};
  o.place = STOWI_ARRAY(allocator, uint32_t, region->buffer_count);
  o.live = STOWI_ARRAY(allocator, uint32_t, parts);
  o.leaving = STOWI_ARRAY(allocator, size_t, parts + 1);
  o.by_below = STOWI_ARRAY(allocator, uint32_t, edges);
  o.seen = STOWI_ARRAY_ZERO(allocator, uint32_t, parts);
  o.stack = STOWI_ARRAY(allocator, uint32_t, parts);
  event* events = STOWI_ARRAY(allocator, event, 2 * parts);
  bool complete = o.place != NULL && o.live != NULL && o.leaving != NULL && o.by_below != NULL &&
                  o.seen != NULL && o.stack != NULL && events != NULL;
  stow_status status = stowi_need_memory(complete, c->diag);
  status = status == STOW_OK ? check_order(&o) : status;
  status = status == STOW_OK ? check_edges(&o) : status;
  status = status == STOW_OK ? check_claims(&o) : status;
  if (status == STOW_OK) {
    sort_by_below(&o);
    status = sweep(&o, events);
  }
  STOWI_ARRAY_FREE(allocator, o.place, region->buffer_count);
  STOWI_ARRAY_FREE(allocator, o.live, parts);
  STOWI_ARRAY_FREE(allocator, o.leaving, parts + 1);
  STOWI_ARRAY_FREE(allocator, o.by_below, edges);
  STOWI_ARRAY_FREE(allocator, o.seen, parts);
  STOWI_ARRAY_FREE(allocator, o.stack, parts);
  STOWI_ARRAY_FREE(allocator, events, 2 * parts);
  return status;
}

// ---------------------------------------------------------------------------------------------
// Points

// The graph at the point, by inference, has the types that evaluation gives.
static stow_status check_types(const checker* c, size_t point) {
  const stow_formula* formula = c->formula;
  stow_str names[STOW_MAX_RANK];
  int64_t values[STOW_MAX_RANK];
  stow_graph* bound = NULL;
  stow_dim_range range;
  for (size_t i = 0; i < formula->symbol_count; ++i) {
    names[i] = stow_formula_symbol(formula, i, &range);
  }
  values_at(c, point, values);
  STOW_TRY(stowi_graph_copy(formula->graph, c->allocator, c->diag, &bound));
  stow_status status = stow_graph_bind(bound, names, values, formula->symbol_count, c->diag);
  const stow_graph* twin = stowi_graph_twin_graph(c->twin);
  for (stow_value v = 0; v < formula->value_count && status == STOW_OK; ++v) {
    if (!stow_type_equal(stow_graph_type(bound, v), stow_graph_type(twin, v))) {
      char text[400];
      snprintf(text, sizeof text, "%.160s has type %.100s, not %.100s",
               stowi_graph_describe_value(twin, v).text,
               stowi_graph_describe_type(bound, stow_graph_type(bound, v)).text,
               stowi_graph_describe_type(twin, stow_graph_type(twin, v)).text);
      status = point_fault(c, point, text);
    }
  }
  stow_graph_destroy(bound);
  return status;
}

// Ops infer the types that evaluation gives.
static stow_status check_graph(const checker* c, size_t point) {
  stow_diag found;
  stow_diag_init(&found);
  stow_status status = stow_graph_verify(stowi_graph_twin_graph(c->twin), &found);
  return status == STOW_OK || status == STOW_ERR_OUT_OF_MEMORY
             ? status
             : point_fault(c, point, found.message);
}

static bool is_kept(const stow_plan* plan, const stow_effects* effects, stow_value value) {
  uint8_t kind = plan->values[value].kind;
  return plan->values[value].root == value && plan->values[value].offset != STOW_OFFSET_NONE &&
         (kind == STOWI_PLAN_KIND_PARAM || kind == STOWI_PLAN_KIND_CONSTANT ||
          stowi_effects_state(effects, value) || stowi_effects_is_handed_on(effects, value));
}

static stow_status check_kept(const checker* c, size_t point, const stow_plan* plan,
                              const stow_effects* effects) {
  for (stow_value v = 0; v < plan->value_count; ++v) {
    if (!is_kept(plan, effects, v)) {
      continue;
    }
    if (c->kept_at[v] == STOW_OFFSET_NONE) {
      c->kept_at[v] = plan->values[v].offset;
    }
    if (c->kept_at[v] != plan->values[v].offset) {
      char text[400];
      snprintf(text, sizeof text,
               "%.200s is kept between runs, but moves from %" PRIu64 " to %" PRIu64,
               stowi_graph_describe_value(c->formula->graph, v).text, c->kept_at[v],
               plan->values[v].offset);
      return point_fault(c, point, text);
    }
  }
  return STOW_OK;
}

static stow_status check_plan(const checker* c, size_t point, const stow_plan* plan,
                              const stow_effects* effects) {
  stow_diag found;
  stow_diag_init(&found);
  const stow_graph* graph = stowi_graph_twin_graph(c->twin);
  stow_status status = stow_plan_check(plan, graph, effects, c->allocator, &found, NULL);
  if (status == STOW_ERR_VIOLATION) {
    return point_fault(c, point, found.message);
  }
  STOW_TRY(status);
  STOW_TRY(check_kept(c, point, plan, effects));
  stow_formula_point stated = {.struct_size = sizeof(stated)};
  if (point == c->formula->point_count) {
    stated.arena_size = c->formula->bound.arena;
  } else {
    STOW_TRY(stow_formula_describe_point(c->formula, point, &stated));
  }
  if (stated.arena_size < stow_plan_arena_size(plan) || stated.load > stated.arena_size) {
    return point_fault(c, point, "the arena is larger than it is stated to be");
  }
  return STOW_OK;
}

static stow_status begin_effects(const checker* c, stow_effects** out_effects) {
  const stow_graph* graph = stowi_graph_twin_graph(c->twin);
  *out_effects = NULL;
  return c->effects->begin == NULL
             ? stow_effects_create(graph, c->allocator, c->diag, out_effects)
             : c->effects->begin(c->effects->user, graph, c->allocator, c->diag, out_effects);
}

static void end_effects(const checker* c, stow_effects* effects) {
  if (c->effects->begin == NULL || c->effects->end == NULL) {
    stow_effects_destroy(effects);
  } else if (effects != NULL) {
    c->effects->end(c->effects->user, effects);
  }
}

// The plan at a point, or at a shape of |region|.
static stow_status plan_at(const checker* c, size_t point, size_t region,
                           const stow_effects* effects, stow_diag* diag, stow_plan** out_plan) {
  const stow_graph* graph = stowi_graph_twin_graph(c->twin);
  return point < c->formula->point_count
             ? stow_formula_at(c->formula, point, graph, effects, c->allocator, diag, out_plan)
             : stowi_plan_formula_at_shape(c->formula, region, c->values, graph, effects,
                                           c->allocator, diag, out_plan);
}

// |values| of the checker are those of the point.
static stow_status check_with(const checker* c, size_t point, size_t region,
                              const stow_effects* effects) {
  stow_plan* plan = NULL;
  stow_diag found;
  stow_diag_init(&found);
  stow_status status = plan_at(c, point, region, effects, &found, &plan);
  if (status == STOW_ERR_OUT_OF_MEMORY) {
    status = stowi_fail_memory(c->diag);
  } else if (status != STOW_OK) {
    status = point_fault(c, point, found.message);
  }
  status = status == STOW_OK ? check_plan(c, point, plan, effects) : status;
  stow_plan_destroy(plan);
  return status;
}

static stow_status check_point(const checker* c, size_t point) {
  stow_effects* effects = NULL;
  int64_t values[STOW_MAX_RANK];
  stow_formula_point_values(c->formula, point, values);
  memset(c->values, 0, c->formula->all_symbols * sizeof(int64_t));
  for (size_t i = 0; i < c->formula->symbol_count; ++i) {
    c->values[c->formula->symbols[i]] = values[i];
  }
  STOW_TRY(stowi_graph_twin_bind(c->twin, c->values, c->diag));
  STOW_TRY(c->is_border[point] ? check_types(c, point) : STOW_OK);
  STOW_TRY(check_graph(c, point));
  STOW_TRY(begin_effects(c, &effects));
  stow_status status = check_with(c, point, 0, effects);
  end_effects(c, effects);
  return status;
}

static stow_status check_shape(void* user, size_t region, const int64_t* values,
                               stowi_plan_checked_shape* out_shape) {
  checker* c = user;
  size_t point = c->formula->point_count;
  end_effects(c, c->shape_effects);
  c->shape_effects = NULL;
  memcpy(c->values, values, c->formula->all_symbols * sizeof(int64_t));
  STOW_TRY(stowi_graph_twin_bind(c->twin, c->values, c->diag));
  STOW_TRY(check_types(c, point));
  STOW_TRY(check_graph(c, point));
  STOW_TRY(begin_effects(c, &c->shape_effects));
  *out_shape = (stowi_plan_checked_shape){region, c->values, stowi_graph_twin_graph(c->twin),
                                          c->shape_effects};
  return check_with(c, point, region, c->shape_effects);
}

static stow_status check_everywhere(checker* c) {
  stowi_plan_check_shapes shapes = {check_shape, c};
  if (c->effects->begin != NULL && !c->effects->is_same_everywhere) {
    return stowi_fail(c->diag, STOW_ERR_UNSUPPORTED,
                      "a plan by bounds holds only if effects are the same at every shape");
  }
  stow_status status = stowi_plan_check_everywhere(c->formula, &shapes, c->allocator, c->diag);
  end_effects(c, c->shape_effects);
  c->shape_effects = NULL;
  return status;
}

// ---------------------------------------------------------------------------------------------

static stow_status run(checker* c) {
  const stow_formula* formula = c->formula;
  STOW_TRY(stowi_graph_twin_create(formula->graph, c->allocator, c->diag, &c->twin));
  c->values = STOWI_ARRAY(c->allocator, int64_t, formula->all_symbols);
  c->kept_at = STOWI_ARRAY(c->allocator, uint64_t, formula->value_count);
  c->is_border = STOWI_ARRAY_ZERO(c->allocator, bool, formula->point_count);
  STOW_TRY(
      stowi_need_memory(c->values != NULL && c->kept_at != NULL && c->is_border != NULL, c->diag));
  memset(c->kept_at, 0xff, formula->value_count * sizeof(uint64_t));
  STOW_TRY(check_regions(c));
  for (size_t i = 0; i < formula->regions.count; ++i) {
    STOW_TRY(check_orientation(c, i));
  }
  for (size_t point = 0; point < formula->point_count; ++point) {
    STOW_TRY(check_point(c, point));
  }
  return formula->by_bounds ? check_everywhere(c) : STOW_OK;
}

stow_status stow_formula_check(const stow_formula* formula, const stow_formula_effects* effects,
                               stow_allocator allocator, stow_diag* diag) {
  static const stow_formula_effects clauses = {NULL, NULL, NULL, true};
  checker c = {.formula = formula,
               .effects = effects == NULL ? &clauses : effects,
               .allocator = allocator,
               .diag = diag};
  stow_status status = run(&c);
  stowi_graph_twin_destroy(c.twin);
  STOWI_ARRAY_FREE(allocator, c.values, formula->all_symbols);
  STOWI_ARRAY_FREE(allocator, c.kept_at, formula->value_count);
  STOWI_ARRAY_FREE(allocator, c.is_border, formula->point_count);
  return status;
}
