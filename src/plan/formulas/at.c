// The plan at a point: an ordinary one, of the graph that is bound there. Nothing is decided here;
// what does not hold at the point is found by the plan checker.
#include <string.h>

#include "base/diag.h"
#include "plan/formulas/formula.h"
#include "plan/make/make.h"

typedef struct writer {
  stow_formula_walk* walk;
  const stowi_plan_formula_region* region;
  const stow_effects* effects;
  stow_diag* diag;
  stow_plan* plan;
  STOWI_VEC(stowi_plan_window) windows;
} writer;

// ---------------------------------------------------------------------------------------------
// Slots

static void place_roots(writer* w) {
  const stowi_plan_formula_region* region = w->region;
  for (size_t i = 0; i < region->buffer_count; ++i) {
    const stowi_plan_formula_buffer* buffer = &region->buffers[i];
    uint64_t size = stowi_plan_formula_size(w->walk, buffer);
    if (buffer->kind != STOWI_PLAN_FORMULA_ROOT || size == 0) {
      continue;
    }
    stowi_plan_value* value = &w->plan->values[buffer->id];
    value->offset = w->walk->offsets[i];
    value->size = size;
    value->guard = buffer->guard;
  }
}

// Far from the end of the address space.
#define LARGEST (UINT64_C(1) << 61)

static stow_status fill_values(writer* w) {
  const stowi_plan_formula_region* region = w->region;
  stow_plan* plan = w->plan;
  for (stow_value v = 0; v < plan->value_count; ++v) {
    const stowi_plan_formula_value* from = &region->values[v];
    stowi_plan_value* to = &plan->values[v];
    to->root = from->root;
    to->begin = from->begin;
    to->end = from->end;
    to->alignment_log2 = from->alignment_log2;
    if (from->root != v && from->has_slot && stowi_plan_has_slot(plan, from->root)) {
      uint64_t inner = stowi_plan_formula_number(w->walk, from->inner);
      uint64_t bytes = stowi_plan_formula_number(w->walk, from->bytes);
      if (inner > LARGEST || bytes > LARGEST) {
        return stowi_fail(w->diag, STOW_ERR_OVERFLOW, "%%%u lies outside of every arena",
                          (unsigned)v);
      }
      to->offset = plan->values[from->root].offset + inner;
      to->size = bytes;
    }
  }
  return STOW_OK;
}

// The place of a piece of scratch in the region's buffers; SIZE_MAX: it has none.
static size_t find_scratch(const stowi_plan_formula_region* region, stow_node node,
                           uint32_t index) {
  for (size_t i = 0; i < region->buffer_count; ++i) {
    const stowi_plan_formula_buffer* buffer = &region->buffers[i];
    if (buffer->kind == STOWI_PLAN_FORMULA_SCRATCH && buffer->id == node &&
        buffer->index == index) {
      return i;
    }
  }
  return SIZE_MAX;
}

static stow_status fill_scratch(writer* w) {
  stow_plan* plan = w->plan;
  size_t count = stowi_effects_scratch_count(w->effects);
  STOW_TRY(stowi_plan_set_scratch_count(plan, count, w->diag));
  uint32_t* steps = STOWI_ARRAY(plan->allocator, uint32_t, plan->step_count);
  STOW_TRY(stowi_need_memory(steps != NULL, w->diag));
  for (uint32_t step = 0; step < plan->step_count; ++step) {
    steps[plan->order[step]] = step;
  }
  stow_status status = STOW_OK;
  for (size_t i = 0; i < count; ++i) {
    stowi_effects_scratch_entry wanted = stowi_effects_scratch(w->effects, i);
    stowi_plan_scratch* scratch = &plan->scratch[i];
    uint64_t common = plan->facts.alignment;
    scratch->node = wanted.node;
    scratch->index = i > 0 && scratch[-1].node == wanted.node ? scratch[-1].index + 1 : 0;
    scratch->step = steps[wanted.node];
    scratch->size = scratch->need = wanted.bytes;
    scratch->alignment = wanted.alignment > common ? wanted.alignment : common;
    size_t at =
        wanted.bytes == 0 ? SIZE_MAX : find_scratch(w->region, scratch->node, scratch->index);
    if (at == SIZE_MAX && wanted.bytes != 0) {
      status = stowi_fail(w->diag, STOW_ERR_VIOLATION,
                          "node %u needs %llu bytes of scratch, for which the region has no place",
                          (unsigned)wanted.node, (unsigned long long)wanted.bytes);
      break;
    }
    scratch->offset = at == SIZE_MAX ? 0 : w->walk->offsets[at];
  }
  STOWI_ARRAY_FREE(plan->allocator, steps, plan->step_count);
  return status;
}

static stow_status fill_reserved(writer* w) {
  size_t count = w->region->reserved_count;
  STOW_TRY(stowi_plan_set_reserved_count(w->plan, count, w->diag));
  if (count != 0) {
    memcpy(w->plan->reserved, w->region->reserved, count * sizeof(stowi_plan_span));
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Windows

static stow_status add_window(writer* w, stow_value root, stow_window window) {
  uint64_t size = w->plan->values[root].size;
  if (window.begin >= window.end || (window.low == 0 && window.high == size)) {
    return STOW_OK;
  }
  stowi_plan_window* last = w->windows.count == 0 ? NULL : &w->windows.data[w->windows.count - 1];
  if (last != NULL && last->root == root && last->window.end == window.begin &&
      last->window.low == window.low && last->window.high == window.high) {
    last->window.end = window.end;
    return STOW_OK;
  }
  STOW_TRY(
      stowi_need_memory(STOWI_VEC_RESERVE(w->plan->allocator, &w->windows, 1) == STOW_OK, w->diag));
  w->windows.data[w->windows.count++] = (stowi_plan_window){root, window};
  return STOW_OK;
}

// Between parts a root occupies nothing.
static stow_status add_windows(writer* w, size_t buffer) {
  const stowi_plan_formula_region* region = w->region;
  stow_value root = region->buffers[buffer].id;
  const stowi_plan_value* value = &w->plan->values[root];
  uint32_t at = value->begin;
  if (!stowi_plan_has_slot(w->plan, root) || value->guard != 0) {
    return STOW_OK;
  }
  for (size_t i = region->buffers[buffer].first_part; i < region->buffers[buffer + 1].first_part;
       ++i) {
    const stowi_plan_formula_part* part = &region->parts[i];
    stow_window own = {part->begin, part->end, w->walk->low[i], w->walk->high[i]};
    own.high = own.high > value->size ? value->size : own.high;
    own = own.low >= own.high ? (stow_window){own.begin, own.end, 0, 0} : own;
    STOW_TRY(add_window(w, root, (stow_window){at, part->begin, 0, 0}));
    STOW_TRY(add_window(w, root, own));
    at = part->end;
  }
  return add_window(w, root, (stow_window){at, value->end, 0, 0});
}

static stow_status fill_windows(writer* w) {
  const stowi_plan_formula_region* region = w->region;
  stow_status status = STOW_OK;
  for (size_t i = 0; i < region->buffer_count && region->facts.reuse && status == STOW_OK; ++i) {
    if (region->buffers[i].kind == STOWI_PLAN_FORMULA_ROOT) {
      status = add_windows(w, i);
    }
  }
  if (status == STOW_OK) {
    status = stowi_plan_set_window_count(w->plan, w->windows.count, w->diag);
  }
  if (status == STOW_OK && w->windows.count != 0) {
    memcpy(w->plan->windows, w->windows.data, w->windows.count * sizeof(stowi_plan_window));
  }
  STOWI_VEC_FREE(w->plan->allocator, &w->windows);
  return status;
}

// ---------------------------------------------------------------------------------------------

static uint64_t highest_end(const stow_plan* plan) {
  uint64_t highest = 0;
  for (stow_value v = 0; v < plan->value_count; ++v) {
    if (stowi_plan_has_slot(plan, v)) {
      uint64_t end = stowi_plan_footprint_end(&plan->values[v]);
      highest = end > highest ? end : highest;
    }
  }
  for (size_t i = 0; i < plan->scratch_count; ++i) {
    uint64_t end = plan->scratch[i].offset + plan->scratch[i].size;
    highest = plan->scratch[i].size != 0 && end > highest ? end : highest;
  }
  for (size_t i = 0; i < plan->reserved_count; ++i) {
    highest = plan->reserved[i].end > highest ? plan->reserved[i].end : highest;
  }
  return highest;
}

// Bounds, totals and peak, as for any plan.
static stow_status judge(writer* w, const stow_graph* bound) {
  stow_plan* plan = w->plan;
  stowi_plan_request request = {bound, w->effects, {0}, plan->allocator, w->diag};
  stowi_plan_maker maker;
  stowi_plan_maker_init(&maker, &request, (stowi_plan_choice){0});
  maker.plan = plan;
  maker.fixed = STOWI_ARRAY(plan->allocator, uint64_t, plan->value_count);
  STOW_TRY(stowi_need_memory(maker.fixed != NULL, w->diag));
  bool shares = plan->facts.params == STOWI_PLAN_PARAMS_SHARED ||
                plan->facts.params == STOWI_PLAN_PARAMS_SHARED_OR_NONE;
  for (stow_value v = 0; v < plan->value_count; ++v) {
    bool is_shared =
        shares && plan->values[v].kind == STOWI_PLAN_KIND_PARAM && stowi_plan_has_slot(plan, v);
    maker.fixed[v] = is_shared ? plan->values[v].offset : stowi_effects_offset(w->effects, v);
  }
  stow_status status = stowi_plan_make_judge(&maker);
  maker.plan = NULL;
  stowi_plan_maker_free(&maker);
  return status;
}

static stow_status fill(writer* w, const stow_graph* bound) {
  stow_plan* plan = w->plan;
  plan->facts = w->region->facts;
  plan->facts.kernels = stowi_effects_kernels_of(w->effects);
  memcpy(plan->order, w->region->order, plan->step_count * sizeof(stow_node));
  place_roots(w);
  STOW_TRY(fill_values(w));
  STOW_TRY(fill_scratch(w));
  STOW_TRY(fill_reserved(w));
  STOW_TRY(fill_windows(w));
  plan->arena_size = plan->ordering.given_arena = highest_end(plan);
  STOW_TRY(judge(w, bound));
  return stowi_plan_enlarge_scratch(plan, w->effects, plan->arena_size, w->diag);
}

stow_status stowi_plan_formula_plan_at(stow_formula_walk* walk, const stow_graph* bound,
                                       const stow_effects* effects, stow_allocator allocator,
                                       stow_diag* diag, stow_plan** out_plan) {
  writer w = {.walk = walk, .region = walk->region, .effects = effects, .diag = diag};
  *out_plan = NULL;
  STOW_TRY(
      stowi_plan_create(bound, stow_str_of(walk->formula->strategy), allocator, diag, &w.plan));
  stow_status status = fill(&w, bound);
  if (status != STOW_OK) {
    stow_plan_destroy(w.plan);
    return status;
  }
  *out_plan = w.plan;
  return STOW_OK;
}

stow_status stow_formula_at(const stow_formula* formula, size_t point, const stow_graph* bound,
                            const stow_effects* effects, stow_allocator allocator, stow_diag* diag,
                            stow_plan** out_plan) {
  *out_plan = NULL;
  if (point >= formula->point_count) {
    return stowi_fail(diag, STOW_ERR_NOT_FOUND, "point %zu is out of range (%zu points)", point,
                      formula->point_count);
  }
  if (stow_graph_value_count(bound) != formula->value_count ||
      stow_graph_node_count(bound) != formula->step_count) {
    return stowi_fail(diag, STOW_ERR_STALE_PLAN, "the formula plan was made for another graph");
  }
  stow_formula_walk* walk;
  STOW_TRY(stow_formula_walk_create(formula, allocator, diag, &walk));
  stow_formula_walk_to(walk, point);
  stow_status status = stowi_plan_formula_plan_at(walk, bound, effects, allocator, diag, out_plan);
  stow_formula_walk_destroy(walk);
  return status;
}

// ---------------------------------------------------------------------------------------------
// One point after another

typedef struct traveller {
  const stow_formula* formula;
  const stow_formula_effects* effects;
  stow_allocator allocator;
  stow_diag* diag;
  stowi_plan_formula_visitor visit;
  void* user;
  stowi_graph_twin* twin;
  stow_formula_walk* walk;
  int64_t* values;  // of all symbols
} traveller;

static stow_status visit_point(const traveller* t, size_t point) {
  const stow_graph* bound = stowi_graph_twin_graph(t->twin);
  stow_effects* effects;
  stow_plan* plan = NULL;
  stowi_plan_formula_values(t->formula, point, t->values);
  STOW_TRY(stowi_graph_twin_bind(t->twin, t->values, t->diag));
  STOW_TRY(stowi_plan_formula_begin_effects(t->effects, bound, t->allocator, t->diag, &effects));
  stow_formula_walk_to(t->walk, point);
  stow_status status =
      stowi_plan_formula_plan_at(t->walk, bound, effects, t->allocator, t->diag, &plan);
  if (status == STOW_OK) {
    stowi_plan_formula_stop stop = {point, bound, effects, plan};
    status = t->visit(t->user, &stop, t->diag);
  }
  stow_plan_destroy(plan);
  stowi_plan_formula_end_effects(t->effects, effects);
  return status;
}

static stow_status travel(traveller* t, const size_t* points, size_t count) {
  t->values = STOWI_ARRAY(t->allocator, int64_t, t->formula->all_symbols);
  STOW_TRY(stowi_need_memory(t->values != NULL, t->diag));
  STOW_TRY(stowi_graph_twin_create(t->formula->graph, t->allocator, t->diag, &t->twin));
  STOW_TRY(stow_formula_walk_create(t->formula, t->allocator, t->diag, &t->walk));
  for (size_t i = 0; i < count; ++i) {
    STOW_TRY(visit_point(t, points[i]));
  }
  return STOW_OK;
}

stow_status stowi_plan_formula_visit(const stow_formula* formula,
                                     const stow_formula_effects* effects, const size_t* points,
                                     size_t count, stow_allocator allocator, stow_diag* diag,
                                     stowi_plan_formula_visitor visit, void* user) {
  traveller t = {formula, effects, allocator, diag, visit, user, NULL, NULL, NULL};
  stow_status status = travel(&t, points, count);
  stow_formula_walk_destroy(t.walk);
  stowi_graph_twin_destroy(t.twin);
  STOWI_ARRAY_FREE(allocator, t.values, formula->all_symbols);
  return status;
}
