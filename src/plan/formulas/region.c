// The structure of a plan: everything but numbers. Sizes and places become expressions; windows
// become parts, one for each set of values that are live together in a root; offsets become an
// orientation. If that has a cycle, which windows can cause, one buffer of it is placed again
// without windows.
#include <string.h>

#include "base/diag.h"
#include "base/sort.h"
#include "plan/formulas/formula.h"
#include "plan/make/make.h"

// A value of a root begins or ends.
typedef struct event {
  uint64_t key;  // root, then step
  stow_value value;
} event;

typedef struct builder {
  stowi_plan_formula_maker* maker;
  stow_formula* formula;
  stow_allocator allocator;
  stow_diag* diag;
  stow_plan* plan;
  stow_effects* effects;
  stowi_plan_formula_region* region;
  stow_dim* bytes;  // by value
  stow_dim* inner;
  event* events;
  size_t event_count;
  bool* is_whole;     // by value: a root without windows, whatever the plan says
  uint64_t* offsets;  // by buffer, at the point
  STOWI_VEC(stowi_plan_formula_part) parts;
  STOWI_VEC(uint32_t) terms;
  STOWI_VEC(stow_value) live;
} builder;

static stow_status need(const builder* b, stow_status status) {
  return stowi_need_memory(status == STOW_OK, b->diag);
}

// ---------------------------------------------------------------------------------------------
// Values

static stow_status copy_plan(builder* b) {
  const stow_formula* formula = b->formula;
  stowi_plan_formula_region* region = b->region;
  const stow_plan* plan = b->plan;
  region->facts = plan->facts;
  region->order = STOWI_ARRAY(formula->allocator, stow_node, formula->step_count);
  region->values =
      STOWI_ARRAY_ZERO(formula->allocator, stowi_plan_formula_value, formula->value_count);
  region->reserved = STOWI_ARRAY(formula->allocator, stowi_plan_span, plan->reserved_count);
  region->reserved_count = plan->reserved_count;
  STOW_TRY(stowi_need_memory(
      region->order != NULL && region->values != NULL && region->reserved != NULL, b->diag));
  memcpy(region->order, plan->order, formula->step_count * sizeof(stow_node));
  if (plan->reserved_count != 0) {
    memcpy(region->reserved, plan->reserved, plan->reserved_count * sizeof(stowi_plan_span));
  }
  for (stow_value v = 0; v < formula->value_count; ++v) {
    const stowi_plan_value* from = &plan->values[v];
    stowi_plan_formula_value* to = &region->values[v];
    *to = (stowi_plan_formula_value){.root = from->root,
                                     .begin = from->begin,
                                     .end = from->end,
                                     .alignment_log2 = from->alignment_log2,
                                     .has_slot = stowi_plan_has_slot(plan, v)};
    STOW_TRY(need(b, stowi_plan_formula_add_dim(b->formula, b->bytes[v], &to->bytes)));
    STOW_TRY(need(b, stowi_plan_formula_add_dim(b->formula, b->inner[v], &to->inner)));
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Buffers, as stowi_plan_add_buffers numbers them

static const stowi_plan_formula_kept* kept_of(const builder* b, stow_value value) {
  for (size_t i = 0; i < b->maker->kept_count; ++i) {
    if (b->maker->kept[i].value == value) {
      return &b->maker->kept[i];
    }
  }
  return NULL;
}

static bool is_buffer(const stow_plan* plan, stow_value v) {
  return !stowi_plan_is_view(plan, v) && stowi_plan_has_slot(plan, v);
}

static size_t count_buffers(const stow_plan* plan) {
  size_t count = plan->reserved_count;
  for (stow_value v = 0; v < plan->value_count; ++v) {
    count += is_buffer(plan, v) ? 1 : 0;
  }
  for (size_t i = 0; i < plan->scratch_count; ++i) {
    count += plan->scratch[i].need != 0 ? 1 : 0;
  }
  return count;
}

static bool is_shared_param(const stow_plan* plan, stow_value v) {
  return plan->values[v].kind == STOWI_PLAN_KIND_PARAM &&
         (plan->facts.params == STOWI_PLAN_PARAMS_SHARED ||
          plan->facts.params == STOWI_PLAN_PARAMS_SHARED_OR_NONE);
}

// A boundary value without bytes has a slot only as an address.
static uint64_t empty_size(const builder* b, stow_value v) {
  bool has_slot =
      b->plan->facts.zero_size_slots && b->plan->values[v].kind != STOWI_PLAN_KIND_COMPUTED;
  return has_slot ? b->plan->facts.alignment : 0;
}

static void add_root(builder* b, stow_value v) {
  stowi_plan_formula_region* region = b->region;
  const stowi_plan_value* value = &b->plan->values[v];
  const stowi_plan_formula_kept* kept = kept_of(b, v);
  size_t at = region->buffer_count++;
  uint64_t fixed =
      is_shared_param(b->plan, v) ? value->offset : stowi_effects_offset(b->effects, v);
  region->buffers[at] = (stowi_plan_formula_buffer){.kind = STOWI_PLAN_FORMULA_ROOT,
                                                    .id = v,
                                                    .size = region->values[v].bytes,
                                                    .guard = value->guard,
                                                    .empty_size = empty_size(b, v),
                                                    .most = kept == NULL ? 0 : kept->most};
  region->constraints[at] = (stowi_place_constraint){UINT64_C(1) << value->alignment_log2, fixed};
  b->offsets[at] = value->offset;
}

static stow_status add_scratch(builder* b, const stowi_plan_scratch* scratch) {
  stowi_plan_formula_region* region = b->region;
  const stowi_plan_formula_scratch* known =
      stowi_plan_formula_scratch_of(b->maker, scratch->node, scratch->index);
  if (known == NULL) {
    return stowi_fail(b->diag, STOW_ERR_CONFLICT,
                      "effects give node %u other scratch when they are asked again",
                      (unsigned)scratch->node);
  }
  size_t at = region->buffer_count++;
  region->buffers[at] = (stowi_plan_formula_buffer){.kind = STOWI_PLAN_FORMULA_SCRATCH,
                                                    .id = scratch->node,
                                                    .index = scratch->index,
                                                    .size = known->size};
  region->constraints[at] = (stowi_place_constraint){scratch->alignment, STOW_PLACE_ANYWHERE};
  b->offsets[at] = scratch->offset;
  return STOW_OK;
}

static stow_status add_reserved(builder* b, size_t index) {
  stowi_plan_formula_region* region = b->region;
  const stowi_plan_span* span = &b->plan->reserved[index];
  size_t at = region->buffer_count++;
  region->buffers[at] =
      (stowi_plan_formula_buffer){.kind = STOWI_PLAN_FORMULA_RESERVED, .id = (uint32_t)index};
  region->constraints[at] = (stowi_place_constraint){1, span->offset};
  b->offsets[at] = span->offset;
  return need(b, stowi_plan_formula_add_dim(b->formula, (stow_dim)(span->end - span->offset),
                                            &region->buffers[at].size));
}

static stow_status add_buffers(builder* b) {
  stowi_plan_formula_region* region = b->region;
  const stow_plan* plan = b->plan;
  size_t count = count_buffers(plan);
  region->buffers = STOWI_ARRAY_ZERO(b->formula->allocator, stowi_plan_formula_buffer, count + 1);
  region->constraints = STOWI_ARRAY_ZERO(b->formula->allocator, stowi_place_constraint, count);
  b->offsets = STOWI_ARRAY(b->allocator, uint64_t, count);
  region->buffer_count = count;  // for those who free it
  STOW_TRY(stowi_need_memory(
      region->buffers != NULL && region->constraints != NULL && b->offsets != NULL, b->diag));
  region->buffer_count = 0;
  stow_status status = STOW_OK;
  for (stow_value v = 0; v < plan->value_count; ++v) {
    if (is_buffer(plan, v)) {
      add_root(b, v);
    }
  }
  for (size_t i = 0; i < plan->scratch_count && status == STOW_OK; ++i) {
    if (plan->scratch[i].need != 0) {
      status = add_scratch(b, &plan->scratch[i]);
    }
  }
  for (size_t i = 0; i < plan->reserved_count && status == STOW_OK; ++i) {
    status = add_reserved(b, i);
  }
  region->buffer_count = count;
  return status;
}

// ---------------------------------------------------------------------------------------------
// Parts

static stow_status add_term(builder* b, uint32_t first, stow_dim dim) {
  uint32_t expr;
  STOW_TRY(need(b, stowi_plan_formula_add_dim(b->formula, dim, &expr)));
  for (size_t i = first; i < b->terms.count; ++i) {
    if (b->terms.data[i] == expr) {
      return STOW_OK;
    }
  }
  STOW_TRY(need(b, STOWI_VEC_RESERVE(b->allocator, &b->terms, 1)));
  b->terms.data[b->terms.count++] = expr;
  return STOW_OK;
}

static stow_status add_part(builder* b, stowi_plan_formula_part part) {
  STOW_TRY(need(b, STOWI_VEC_RESERVE(b->allocator, &b->parts, 1)));
  b->parts.data[b->parts.count++] = part;
  return STOW_OK;
}

// All of the buffer.
static stow_status add_whole(builder* b, uint32_t buffer, uint32_t begin, uint32_t end) {
  stowi_plan_formula_part part = {.buffer = buffer,
                                  .begin = begin,
                                  .end = end,
                                  .first_low = (uint32_t)b->terms.count,
                                  .at_bottom = true,
                                  .at_top = true};
  STOW_TRY(add_term(b, part.first_low, 0));
  part.first_high = (uint32_t)b->terms.count;
  STOW_TRY(need(b, STOWI_VEC_RESERVE(b->allocator, &b->terms, 1)));
  b->terms.data[b->terms.count++] = b->region->buffers[buffer].size;
  return add_part(b, part);
}

static stow_dim end_of(const builder* b, stow_value value) {
  return stow_dim_add(stow_graph_edit_dims(b->formula->graph), b->inner[value], b->bytes[value]);
}

// Whether the part is the one before it, at later steps.
static bool continues(const builder* b, const stowi_plan_formula_part* part) {
  const stowi_plan_formula_part* last =
      b->parts.count == 0 ? NULL : &b->parts.data[b->parts.count - 1];
  if (last == NULL || last->buffer != part->buffer || last->end != part->begin ||
      last->first_high - last->first_low != part->first_high - part->first_low ||
      part->first_low - last->first_low != b->terms.count - part->first_low) {
    return false;
  }
  size_t count = b->terms.count - part->first_low;
  return memcmp(&b->terms.data[last->first_low], &b->terms.data[part->first_low],
                count * sizeof(uint32_t)) == 0;
}

// What the live values occupy of |root|. A value that begins with it, or ends with it, decides.
static stow_status add_live(builder* b, stowi_plan_formula_part part, stow_value root) {
  for (size_t i = 0; i < b->live.count; ++i) {
    stow_dim end = end_of(b, b->live.data[i]);
    if (end == STOW_DIM_INVALID) {
      return stowi_plan_formula_fail_dim(b->formula, b->live.data[i], b->diag);
    }
    part.at_bottom |= b->inner[b->live.data[i]] == 0;
    part.at_top |= end == b->bytes[root];
  }
  part.first_low = (uint32_t)b->terms.count;
  if (part.at_bottom) {
    STOW_TRY(add_term(b, part.first_low, 0));
  }
  for (size_t i = 0; i < b->live.count && !part.at_bottom; ++i) {
    STOW_TRY(add_term(b, part.first_low, b->inner[b->live.data[i]]));
  }
  part.first_high = (uint32_t)b->terms.count;
  if (part.at_top) {
    STOW_TRY(add_term(b, part.first_high, b->bytes[root]));
  }
  for (size_t i = 0; i < b->live.count && !part.at_top; ++i) {
    STOW_TRY(add_term(b, part.first_high, end_of(b, b->live.data[i])));
  }
  if (continues(b, &part)) {
    b->parts.data[b->parts.count - 1].end = part.end;
    b->terms.count = part.first_low;
    return STOW_OK;
  }
  return add_part(b, part);
}

static stow_status toggle(builder* b, stow_value value) {
  for (size_t i = 0; i < b->live.count; ++i) {
    if (b->live.data[i] == value) {
      b->live.data[i] = b->live.data[--b->live.count];
      return STOW_OK;
    }
  }
  STOW_TRY(need(b, STOWI_VEC_RESERVE(b->allocator, &b->live, 1)));
  b->live.data[b->live.count++] = value;
  return STOW_OK;
}

// A part for each stretch of time in which the same values are live; none if none is.
static stow_status add_windows(builder* b, uint32_t buffer, stow_value root, size_t first) {
  uint32_t now = b->plan->values[root].begin;
  b->live.count = 0;
  for (size_t i = first; i < b->event_count && b->events[i].key >> 32 == root;) {
    uint32_t step = (uint32_t)b->events[i].key;
    if (step > now && b->live.count != 0) {
      STOW_TRY(add_live(b, (stowi_plan_formula_part){.buffer = buffer, .begin = now, .end = step},
                        root));
    }
    now = step;
    for (; i < b->event_count && b->events[i].key == ((uint64_t)root << 32 | step); ++i) {
      STOW_TRY(toggle(b, b->events[i].value));
    }
  }
  return STOW_OK;
}

static size_t first_event(const builder* b, stow_value root) {
  size_t low = 0;
  size_t high = b->event_count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (b->events[middle].key >> 32 < root) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

static stow_status make_events(builder* b) {
  const stow_plan* plan = b->plan;
  b->events = STOWI_ARRAY(b->allocator, event, 2 * (size_t)plan->value_count);
  STOW_TRY(stowi_need_memory(b->events != NULL, b->diag));
  for (stow_value v = 0; v < plan->value_count; ++v) {
    uint64_t root = plan->values[v].root;
    // A value that is empty at every point does not count.
    if (b->bytes[v] != 0 && plan->values[v].own_begin < plan->values[v].own_end) {
      b->events[b->event_count++] = (event){root << 32 | plan->values[v].own_begin, v};
      b->events[b->event_count++] = (event){root << 32 | plan->values[v].own_end, v};
    }
  }
  return need(b, stowi_sort_by_key(b->events, b->event_count, sizeof(event), b->allocator));
}

static uint32_t step_of(const builder* b, stow_node node) {
  uint32_t step = 0;
  while (b->plan->order[step] != node) {
    ++step;
  }
  return step;
}

static stow_status add_parts_of(builder* b, uint32_t buffer) {
  const stow_plan* plan = b->plan;
  const stowi_plan_formula_buffer* own = &b->region->buffers[buffer];
  switch (own->kind) {
    case STOWI_PLAN_FORMULA_ROOT: {
      const stowi_plan_value* root = &plan->values[own->id];
      bool has_windows = stow_plan_window_count(plan, own->id) != 0 && !b->is_whole[own->id];
      if (!plan->facts.reuse) {
        return add_whole(b, buffer, 0, plan->step_count + 1);
      }
      return has_windows ? add_windows(b, buffer, own->id, first_event(b, own->id))
                         : add_whole(b, buffer, root->begin, root->end);
    }
    case STOWI_PLAN_FORMULA_SCRATCH: {
      uint32_t step = step_of(b, own->id);
      return plan->facts.reuse ? add_whole(b, buffer, step, step + 1)
                               : add_whole(b, buffer, 0, plan->step_count + 1);
    }
    default: return add_whole(b, buffer, 0, plan->step_count + 1);
  }
}

static stow_status add_parts(builder* b) {
  b->parts.count = b->terms.count = 0;
  for (uint32_t i = 0; i < b->region->buffer_count; ++i) {
    b->region->buffers[i].first_part = (uint32_t)b->parts.count;
    STOW_TRY(add_parts_of(b, i));
  }
  b->region->buffers[b->region->buffer_count].first_part = (uint32_t)b->parts.count;
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// The orientation

// The smallest of the terms, or the largest, at the plan's point.
static bool limit_at(const builder* b, uint32_t first, uint32_t end, bool is_high, uint64_t* out) {
  size_t point = b->region->planned_at;
  for (uint32_t i = first; i < end; ++i) {
    const stowi_plan_formula_expr* expr = &b->formula->exprs.data[b->terms.data[i]];
    int64_t number = expr->table == NULL ? 0 : (int64_t)expr->table[point];
    if (expr->table == NULL && stow_dim_evaluate(stow_graph_dims(b->formula->graph), expr->dim,
                                                 b->maker->values, &number) != STOW_OK) {
      return false;
    }
    uint64_t bytes = number < 0 ? 0 : (uint64_t)number;
    bool is_further = i == first || (is_high ? bytes > *out : bytes < *out);
    *out = is_further ? bytes : *out;
  }
  return true;
}

static stow_status fill_parts(const builder* b, stowi_place_part* out) {
  for (size_t i = 0; i < b->parts.count; ++i) {
    const stowi_plan_formula_part* part = &b->parts.data[i];
    uint32_t end =
        i + 1 < b->parts.count ? b->parts.data[i + 1].first_low : (uint32_t)b->terms.count;
    out[i] = (stowi_place_part){.buffer = part->buffer,
                                .begin = part->begin,
                                .end = part->end,
                                .at_bottom = part->at_bottom,
                                .at_top = part->at_top};
    if (!limit_at(b, part->first_low, part->first_high, false, &out[i].low) ||
        !limit_at(b, part->first_high, end, true, &out[i].high)) {
      return stowi_fail(b->diag, STOW_ERR_OVERFLOW, "%s", stow_status_text(STOW_ERR_OVERFLOW));
    }
    const stowi_plan_formula_buffer* buffer = &b->region->buffers[part->buffer];
    out[i].high = out[i].high == 0 ? buffer->empty_size : out[i].high;
    out[i].high = buffer->most > out[i].high ? buffer->most : out[i].high;
    out[i].high += buffer->guard;
  }
  return STOW_OK;
}

static stow_status try_orient(builder* b, uint32_t* out_cycle) {
  size_t count = b->parts.count;
  stowi_place_part* parts = STOWI_ARRAY(b->allocator, stowi_place_part, count);
  STOW_TRY(stowi_need_memory(parts != NULL, b->diag));
  stow_status status = fill_parts(b, parts);
  if (status == STOW_OK) {
    status = stowi_place_orient(parts, count, b->offsets, b->region->buffer_count,
                                b->formula->allocator, b->diag, &b->region->orientation, out_cycle);
  }
  STOWI_ARRAY_FREE(b->allocator, parts, count);
  return status;
}

// Places the plan's buffers, some of them without windows, again.
static stow_status place_again(builder* b) {
  stow_problem* problem = NULL;
  stow_placement* placement = NULL;
  stowi_plan_request request = {b->formula->graph, b->effects, b->maker->options, b->allocator,
                                b->diag};
  stowi_plan_maker maker;
  stowi_plan_maker_init(&maker, &request, (stowi_plan_choice){0});
  maker.plan = b->plan;
  maker.fixed = STOWI_ARRAY(b->allocator, uint64_t, b->plan->value_count);
  stow_status status = stowi_need_memory(maker.fixed != NULL, b->diag);
  if (status == STOW_OK) {
    for (size_t i = 0; i < b->region->buffer_count; ++i) {
      if (b->region->buffers[i].kind == STOWI_PLAN_FORMULA_ROOT) {
        maker.fixed[b->region->buffers[i].id] = b->region->constraints[i].fixed_offset;
      }
    }
    stowi_plan_drop_windows(b->plan, b->is_whole);
  }
  if (status == STOW_OK) {
    status = stow_problem_create(b->allocator, b->diag, &problem);
  }
  if (status == STOW_OK) {
    status = stowi_plan_add_buffers(&maker, problem, 0, NULL);
  }
  if (status == STOW_OK) {
    status = stowi_plan_place(problem, &b->maker->options, NULL, b->plan->facts.reuse, b->allocator,
                              b->diag, &placement);
  }
  for (size_t i = 0; status == STOW_OK && i < b->region->buffer_count; ++i) {
    b->offsets[i] = stow_placement_offset(placement, i);
  }
  stow_placement_destroy(placement);
  stow_problem_destroy(problem);
  maker.plan = NULL;
  stowi_plan_maker_free(&maker);
  return status;
}

// What is kept between runs has its largest size, and all of it, at every point. Where the plan
// gave it less, others must not lie in the rest: they are placed again.
static stow_status keep_room(builder* b) {
  bool gives_more = false;
  for (size_t i = 0; i < b->region->buffer_count; ++i) {
    const stowi_plan_formula_buffer* buffer = &b->region->buffers[i];
    stowi_plan_value* root = &b->plan->values[buffer->id];
    if (buffer->kind == STOWI_PLAN_FORMULA_ROOT && buffer->most != 0) {
      gives_more = gives_more || buffer->most > root->size ||
                   stow_plan_window_count(b->plan, buffer->id) != 0;
      b->is_whole[buffer->id] = true;
      root->size = buffer->most > root->size ? buffer->most : root->size;
    }
  }
  return gives_more ? place_again(b) : STOW_OK;
}

static stow_status orient(builder* b) {
  STOW_TRY(keep_room(b));
  for (;;) {
    uint32_t cycle;
    STOW_TRY(add_parts(b));
    STOW_TRY(try_orient(b, &cycle));
    if (cycle == STOWI_PLACE_ORIENTED) {
      return STOW_OK;
    }
    b->is_whole[b->region->buffers[cycle].id] = true;
    STOW_TRY(place_again(b));
  }
}

static stow_status take_parts(builder* b) {
  stowi_plan_formula_region* region = b->region;
  region->part_count = b->parts.count;
  region->term_count = b->terms.count;
  region->parts =
      STOWI_ARRAY_ZERO(b->formula->allocator, stowi_plan_formula_part, b->parts.count + 1);
  region->terms = STOWI_ARRAY(b->formula->allocator, uint32_t, b->terms.count);
  STOW_TRY(stowi_need_memory(region->parts != NULL && region->terms != NULL, b->diag));
  if (b->parts.count != 0) {
    memcpy(region->parts, b->parts.data, b->parts.count * sizeof(stowi_plan_formula_part));
    memcpy(region->terms, b->terms.data, b->terms.count * sizeof(uint32_t));
  }
  region->parts[b->parts.count].first_low = (uint32_t)b->terms.count;
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------

static stow_status build(builder* b) {
  STOW_TRY(stowi_plan_formula_find_places(b->maker, b->plan, b->effects, b->bytes, b->inner));
  STOW_TRY(copy_plan(b));
  STOW_TRY(add_buffers(b));
  STOW_TRY(make_events(b));
  STOW_TRY(orient(b));
  return take_parts(b);
}

stow_status stowi_plan_formula_region_create(stowi_plan_formula_maker* maker, size_t point,
                                             stow_plan* plan, stow_effects* effects,
                                             stowi_plan_formula_region** out_region) {
  builder b = {.maker = maker,
               .formula = maker->formula,
               .allocator = maker->allocator,
               .diag = maker->diag,
               .plan = plan,
               .effects = effects};
  size_t count = plan->value_count;
  *out_region = NULL;
  b.region = STOWI_NEW(b.formula->allocator, stowi_plan_formula_region);
  b.bytes = STOWI_ARRAY(b.allocator, stow_dim, count);
  b.inner = STOWI_ARRAY(b.allocator, stow_dim, count);
  b.is_whole = STOWI_ARRAY_ZERO(b.allocator, bool, count);
  stow_status status = stowi_need_memory(
      b.region != NULL && b.bytes != NULL && b.inner != NULL && b.is_whole != NULL, b.diag);
  if (status == STOW_OK) {
    b.region->planned_at = point;
    status = build(&b);
  }
  STOWI_ARRAY_FREE(b.allocator, b.bytes, count);
  STOWI_ARRAY_FREE(b.allocator, b.inner, count);
  STOWI_ARRAY_FREE(b.allocator, b.is_whole, count);
  STOWI_ARRAY_FREE(b.allocator, b.events, 2 * count);
  STOWI_ARRAY_FREE(b.allocator, b.offsets, b.region == NULL ? 0 : b.region->buffer_count);
  STOWI_VEC_FREE(b.allocator, &b.parts);
  STOWI_VEC_FREE(b.allocator, &b.terms);
  STOWI_VEC_FREE(b.allocator, &b.live);
  if (status != STOW_OK) {
    stowi_plan_formula_region_destroy(b.formula, b.region);
    return status;
  }
  *out_region = b.region;
  return STOW_OK;
}
