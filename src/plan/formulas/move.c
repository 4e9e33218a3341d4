// A formula plan at one point after another: its numbers go into a plan, one for each region, which
// otherwise stays as it is. Nothing is decided here; what does not hold at a point is found by the
// plan checker. O(values + buffers + windows); allocates nothing but what a region needs at first.
#include <string.h>

#include "base/diag.h"
#include "plan/api.h"
#include "plan/formulas/formula.h"
#include "plan/make/make.h"

struct stowi_plan_mover {
  stow_allocator allocator;
  const stow_graph* graph;
  const stow_effects* effects;
  stow_formula_walk* walk;
  size_t region_count;
  stow_plan** plans;  // by region; NULL: not yet visited
  stowi_plan_gaps gaps;
};

// ---------------------------------------------------------------------------------------------
// Slots

static void place_roots(stow_formula_walk* walk, stow_plan* plan) {
  const stowi_plan_formula_region* region = walk->region;
  for (size_t i = 0; i < region->buffer_count; ++i) {
    const stowi_plan_formula_buffer* buffer = &region->buffers[i];
    if (buffer->kind == STOWI_PLAN_FORMULA_ROOT) {
      uint64_t size = stowi_plan_formula_size(walk, buffer);
      stowi_plan_value* value = &plan->values[buffer->id];
      value->offset = size == 0 ? STOW_OFFSET_NONE : walk->offsets[i];
      value->size = size;
      value->guard = size == 0 ? 0 : buffer->guard;
    }
  }
}

// Far from the end of the address space.
#define LARGEST (UINT64_C(1) << 61)

static stow_status place_values(stow_formula_walk* walk, stow_plan* plan, stow_diag* diag) {
  const stowi_plan_formula_region* region = walk->region;
  for (stow_value v = 0; v < plan->value_count; ++v) {
    const stowi_plan_formula_value* from = &region->values[v];
    stowi_plan_value* to = &plan->values[v];
    if (from->root == v || !from->has_slot) {
      continue;
    }
    to->offset = STOW_OFFSET_NONE;
    to->size = 0;
    if (stowi_plan_has_slot(plan, from->root)) {
      uint64_t inner = stowi_plan_formula_number(walk, from->inner);
      uint64_t bytes = stowi_plan_formula_number(walk, from->bytes);
      if (inner > LARGEST || bytes > LARGEST) {
        return stowi_fail(diag, STOW_ERR_OVERFLOW, "%%%u lies outside of every arena", (unsigned)v);
      }
      to->offset = plan->values[from->root].offset + inner;
      to->size = bytes;
    }
  }
  return STOW_OK;
}

static bool is_scratch_before(const stowi_plan_formula_buffer* buffer,
                              const stowi_plan_scratch* scratch) {
  return buffer->kind == STOWI_PLAN_FORMULA_ROOT ||
         (buffer->kind == STOWI_PLAN_FORMULA_SCRATCH &&
          (buffer->id < scratch->node ||
           (buffer->id == scratch->node && buffer->index < scratch->index)));
}

// Both lists are in order of nodes.
static stow_status place_scratch(stow_formula_walk* walk, const stow_effects* effects,
                                 stow_plan* plan, stow_diag* diag) {
  const stowi_plan_formula_region* region = walk->region;
  size_t at = 0;
  for (size_t i = 0; i < plan->scratch_count; ++i) {
    stowi_plan_scratch* scratch = &plan->scratch[i];
    uint64_t bytes = stowi_effects_scratch(effects, i).bytes;
    while (at < region->buffer_count && is_scratch_before(&region->buffers[at], scratch)) {
      ++at;
    }
    const stowi_plan_formula_buffer* buffer = &region->buffers[at];
    bool has_place = at < region->buffer_count && buffer->kind == STOWI_PLAN_FORMULA_SCRATCH &&
                     buffer->id == scratch->node && buffer->index == scratch->index;
    if (bytes != 0 && !has_place) {
      return stowi_fail(diag, STOW_ERR_VIOLATION,
                        "node %u needs %llu bytes of scratch, for which the region has no place",
                        (unsigned)scratch->node, (unsigned long long)bytes);
    }
    scratch->size = scratch->need = bytes;
    scratch->offset = bytes == 0 ? 0 : walk->offsets[at];
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Windows

static void add_window(stow_plan* plan, stow_value root, stow_window window) {
  uint64_t size = plan->values[root].size;
  if (window.begin >= window.end || (window.low == 0 && window.high == size)) {
    return;
  }
  stowi_plan_window* last = plan->window_count == 0 ? NULL : &plan->windows[plan->window_count - 1];
  if (last != NULL && last->root == root && last->window.end == window.begin &&
      last->window.low == window.low && last->window.high == window.high) {
    last->window.end = window.end;
    return;
  }
  plan->windows[plan->window_count++] = (stowi_plan_window){root, window};
}

// Between parts a root occupies nothing.
static void add_windows(const stow_formula_walk* walk, stow_plan* plan, size_t buffer) {
  const stowi_plan_formula_region* region = walk->region;
  stow_value root = region->buffers[buffer].id;
  const stowi_plan_value* value = &plan->values[root];
  uint32_t at = value->begin;
  if (!stowi_plan_has_slot(plan, root) || value->guard != 0) {
    return;
  }
  for (size_t i = region->buffers[buffer].first_part; i < region->buffers[buffer + 1].first_part;
       ++i) {
    const stowi_plan_formula_part* part = &region->parts[i];
    stow_window own = {part->begin, part->end, walk->low[i], walk->high[i]};
    own.high = own.high > value->size ? value->size : own.high;
    own = own.low >= own.high ? (stow_window){own.begin, own.end, 0, 0} : own;
    add_window(plan, root, (stow_window){at, part->begin, 0, 0});
    add_window(plan, root, own);
    at = part->end;
  }
  add_window(plan, root, (stow_window){at, value->end, 0, 0});
}

static void place_windows(const stow_formula_walk* walk, stow_plan* plan) {
  const stowi_plan_formula_region* region = walk->region;
  plan->window_count = 0;
  for (size_t i = 0; i < region->buffer_count && region->facts.reuse; ++i) {
    if (region->buffers[i].kind == STOWI_PLAN_FORMULA_ROOT) {
      add_windows(walk, plan, i);
    }
  }
}

// ---------------------------------------------------------------------------------------------
// A plan

static void copy_values(const stowi_plan_formula_region* region, stow_plan* plan) {
  for (stow_value v = 0; v < plan->value_count; ++v) {
    const stowi_plan_formula_value* from = &region->values[v];
    stowi_plan_value* to = &plan->values[v];
    to->root = from->root;
    to->begin = from->begin;
    to->end = from->end;
    to->alignment_log2 = from->alignment_log2;
  }
}

static stow_status copy_scratch(const stow_effects* effects, stow_plan* plan, stow_diag* diag) {
  size_t count = stowi_effects_scratch_count(effects);
  STOW_TRY(stowi_plan_set_scratch_count(plan, count, diag));
  uint32_t* steps = STOWI_ARRAY(plan->allocator, uint32_t, plan->step_count);
  STOW_TRY(stowi_need_memory(steps != NULL, diag));
  for (uint32_t step = 0; step < plan->step_count; ++step) {
    steps[plan->order[step]] = step;
  }
  for (size_t i = 0; i < count; ++i) {
    stowi_effects_scratch_entry wanted = stowi_effects_scratch(effects, i);
    stowi_plan_scratch* scratch = &plan->scratch[i];
    uint64_t common = plan->facts.alignment;
    scratch->node = wanted.node;
    scratch->index = i > 0 && scratch[-1].node == wanted.node ? scratch[-1].index + 1 : 0;
    scratch->step = steps[wanted.node];
    scratch->alignment = wanted.alignment > common ? wanted.alignment : common;
  }
  STOWI_ARRAY_FREE(plan->allocator, steps, plan->step_count);
  return STOW_OK;
}

static stow_status copy_reserved(const stowi_plan_formula_region* region, stow_plan* plan,
                                 stow_diag* diag) {
  size_t count = region->reserved_count;
  STOW_TRY(stowi_plan_set_reserved_count(plan, count, diag));
  if (count != 0) {
    memcpy(plan->reserved, region->reserved, count * sizeof(stowi_plan_span));
  }
  return STOW_OK;
}

stow_status stowi_plan_formula_begin_plan(const stow_formula_walk* walk, const stow_graph* bound,
                                          const stow_effects* effects, stow_allocator allocator,
                                          stow_diag* diag, stow_plan** out_plan) {
  const stowi_plan_formula_region* region = walk->region;
  stow_plan* plan;
  *out_plan = NULL;
  STOW_TRY(stowi_plan_create(bound, stow_str_of(walk->formula->strategy), allocator, diag, &plan));
  plan->facts = region->facts;
  plan->facts.kernels = stowi_effects_kernels_of(effects);
  memcpy(plan->order, region->order, plan->step_count * sizeof(stow_node));
  copy_values(region, plan);
  stow_status status = copy_scratch(effects, plan, diag);
  status = status == STOW_OK ? copy_reserved(region, plan, diag) : status;
  if (status == STOW_OK) {
    status = stowi_plan_set_window_count(plan, 2 * region->part_count + region->buffer_count, diag);
  }
  if (status != STOW_OK) {
    stow_plan_destroy(plan);
    return status;
  }
  *out_plan = plan;
  return STOW_OK;
}

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

stow_status stowi_plan_formula_place(stow_formula_walk* walk, const stow_effects* effects,
                                     stow_plan* plan, stow_diag* diag) {
  if (stowi_effects_scratch_count(effects) != plan->scratch_count) {
    return stowi_fail(diag, STOW_ERR_CONFLICT, "effects have other scratch than before");
  }
  place_roots(walk, plan);
  STOW_TRY(place_values(walk, plan, diag));
  STOW_TRY(place_scratch(walk, effects, plan, diag));
  place_windows(walk, plan);
  plan->arena_size = highest_end(plan);
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------

void stowi_plan_mover_destroy(stowi_plan_mover* mover) {
  if (mover == NULL) {
    return;
  }
  stow_allocator allocator = mover->allocator;
  for (size_t i = 0; mover->plans != NULL && i < mover->region_count; ++i) {
    stow_plan_destroy(mover->plans[i]);
  }
  stowi_free(allocator, (void*)mover->plans, mover->region_count, sizeof(stow_plan*));
  stowi_plan_gaps_free(&mover->gaps, allocator);
  stow_formula_walk_destroy(mover->walk);
  STOWI_DELETE(allocator, mover);
}

stow_status stowi_plan_mover_create(const stow_formula* formula, const stow_graph* bound,
                                    const stow_effects* effects, stow_allocator allocator,
                                    stow_diag* diag, stowi_plan_mover** out_mover) {
  *out_mover = NULL;
  stowi_plan_mover* mover = STOWI_NEW(allocator, stowi_plan_mover);
  STOW_TRY(stowi_need_memory(mover != NULL, diag));
  mover->allocator = allocator;
  mover->graph = bound;
  mover->effects = effects;
  stow_status status = stow_formula_walk_create(formula, allocator, diag, &mover->walk);
  if (status == STOW_OK) {
    mover->region_count = formula->regions.count;
    mover->plans = (stow_plan**)stowi_alloc(allocator, mover->region_count, sizeof(stow_plan*));
    status = stowi_need_memory(mover->plans != NULL, diag);
  }
  if (status != STOW_OK) {
    stowi_plan_mover_destroy(mover);
    return status;
  }
  memset((void*)mover->plans, 0, mover->region_count * sizeof(stow_plan*));
  *out_mover = mover;
  return STOW_OK;
}

stow_status stowi_plan_mover_to(stowi_plan_mover* mover, size_t point, stow_diag* diag,
                                const stow_plan** out_plan) {
  stow_formula_walk* walk = mover->walk;
  stow_plan** plan = &mover->plans[walk->formula->region_at[point]];
  *out_plan = NULL;
  (void)stow_formula_walk_to(walk, point);
  if (*plan == NULL) {
    STOW_TRY(stowi_plan_formula_begin_plan(walk, mover->graph, mover->effects, mover->allocator,
                                           diag, plan));
  }
  STOW_TRY(stowi_plan_formula_place(walk, mover->effects, *plan, diag));
  STOW_TRY(stowi_plan_enlarge_scratch_in(*plan, mover->effects, (*plan)->arena_size, &mover->gaps,
                                         mover->allocator, diag));
  *out_plan = *plan;
  return STOW_OK;
}
