// Making a plan: each stage is one call whose result the next one takes.
//
//     graph ─▶ schedule ─▶ views ─▶ lifetimes ─▶ slots ─▶ problem ─▶ placement ─▶ plan
//
// Roots become buffers in id order, then scratch, then reserved stretches, so that the placer's
// ties between equal sizes break by id. O(n log n) as far as the strategy is.
#include "plan/make.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "base/alloc.h"
#include "base/diag.h"

stow_status stowi_make_fail(const stowi_maker* maker, stow_status status, stow_value value,
                            const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  stowi_vfail(maker->diag, status, format, arguments);
  va_end(arguments);
  stowi_diag_value(maker->diag, value);
  return status;
}

stowi_value_text stowi_make_name(const stowi_maker* maker, stow_value value) {
  return stowi_name_value(value, stow_graph_value_name(maker->graph, value));
}

// ---------------------------------------------------------------------------------------------
// Analysis

// A given schedule is checked again: it may have been made for another graph.
static stow_status make_schedule(stowi_maker* maker) {
  const stow_schedule* given = maker->options.schedule;
  if (given == NULL) {
    return stow_schedule_create(maker->graph, maker->allocator, maker->diag, &maker->schedule);
  }
  return stow_schedule_create_order(maker->graph, stow_schedule_order(given),
                                    stow_schedule_count(given), maker->allocator, maker->diag,
                                    &maker->schedule);
}

static stow_status make_views(stowi_maker* maker) {
  stow_views_options options;
  stow_views_options_init(&options);
  options.classic_only = maker->options.classic_views;
  options.f32_uniform = maker->options.f32_uniform;
  options.io = maker->options.io;
  options.inputs = maker->options.inputs;
  return stow_views_create(maker->graph, maker->effects, &options, maker->allocator, maker->diag,
                           &maker->views);
}

static stow_status make_lifetimes(stowi_maker* maker) {
  stow_lifetimes_options options;
  stow_lifetimes_options_init(&options);
  options.io = maker->options.io;
  options.rule_count = maker->options.rule_count;
  memcpy(options.rules, maker->options.rules, sizeof(options.rules));
  stow_lifetimes_destroy(maker->lifetimes);
  maker->lifetimes = NULL;
  return stow_lifetimes_create(maker->graph, maker->schedule, maker->views, maker->effects,
                               &options, maker->allocator, maker->diag, &maker->lifetimes);
}

static stow_status analyse(stowi_maker* maker) {
  STOW_TRY(make_schedule(maker));
  STOW_TRY(make_views(maker));
  STOW_TRY(make_lifetimes(maker));
  if (!maker->options.reuse || stow_effects_overwrite_count(maker->effects) == 0) {
    return STOW_OK;
  }
  size_t merged = 0;
  STOW_TRY(stow_views_apply_overwrites(maker->views, maker->graph, maker->schedule, maker->effects,
                                       maker->lifetimes, maker->diag, &merged));
  return merged == 0 ? STOW_OK : make_lifetimes(maker);
}

// ---------------------------------------------------------------------------------------------
// The plan without offsets

static stowi_params params_of(const stow_plan_options* options) {
  if (options->layout != NULL) {
    return options->allow_missing_params ? STOWI_PARAMS_SHARED_OR_NONE : STOWI_PARAMS_SHARED;
  }
  return options->params ? STOWI_PARAMS_OWN : STOWI_PARAMS_NONE;
}

static stow_status make_empty_plan(stowi_maker* maker) {
  const stow_plan_options* options = &maker->options;
  STOW_TRY(stowi_plan_create(maker->graph, stow_str_of(options->strategy->name), maker->allocator,
                             maker->diag, &maker->plan));
  stow_plan* plan = maker->plan;
  plan->facts.alignment = options->alignment;
  plan->facts.tail_guard = options->tail_guard;
  plan->facts.capacity = options->capacity;
  plan->facts.params = params_of(options);
  plan->facts.io = options->io;
  plan->facts.inputs = options->inputs;
  plan->facts.constants = options->constants;
  plan->facts.zero_size_slots = options->zero_size_slots;
  plan->facts.f32_uniform = options->f32_uniform;
  plan->facts.classic_views = options->classic_views;
  plan->facts.reuse = options->reuse && stow_lifetimes_reuse_allowed(maker->lifetimes);
  memcpy(plan->order, stow_schedule_order(maker->schedule), plan->step_count * sizeof(stow_node));
  maker->fixed = STOWI_ARRAY(maker->allocator, uint64_t, plan->value_count);
  return maker->fixed == NULL ? stowi_fail_memory(maker->diag) : STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// The problem

static bool is_buffer(const stow_plan* plan, stow_value v) {
  return !stowi_plan_is_view(plan, v) && stowi_plan_has_slot(plan, v);
}

// Buffers are numbered in the order of adding; take_offsets counts along.
static stow_status add_buffer(stowi_maker* maker, const stow_buffer_desc* desc) {
  size_t buffer;
  return stow_problem_add(maker->problem, desc, maker->diag, &buffer);
}

static stow_status add_value(stowi_maker* maker, stow_value v) {
  const stowi_plan_value* value = &maker->plan->values[v];
  stow_buffer_desc desc;
  stow_buffer_desc_init(&desc);
  desc.size = value->size;
  desc.guard = value->guard;
  desc.begin = value->begin;
  desc.end = value->end;
  desc.alignment = UINT64_C(1) << value->alignment_log2;
  desc.fixed_offset = maker->fixed[v];
  stow_status status = add_buffer(maker, &desc);
  if (status != STOW_ERR_OVERFLOW) {
    return status;
  }
  stowi_value_text name = stowi_make_name(maker, v);
  return stowi_make_fail(maker, status, v, "%s: %" PRIu64 STOWI_TOO_LARGE, name.text, value->size);
}

static stow_status add_scratch(stowi_maker* maker, const stowi_plan_scratch* scratch) {
  stow_buffer_desc desc;
  stow_buffer_desc_init(&desc);
  desc.size = scratch->size;
  desc.begin = scratch->step;
  desc.end = (uint64_t)scratch->step + 1;
  desc.alignment = scratch->alignment;
  stow_status status = add_buffer(maker, &desc);
  if (status == STOW_ERR_OVERFLOW) {
    stowi_fail(maker->diag, status, "scratch of node %" PRIu32 ": %" PRIu64 STOWI_TOO_LARGE,
               scratch->node, scratch->size);
    stowi_diag_node(maker->diag, scratch->node);
  }
  return status;
}

static stow_status add_reserved(stowi_maker* maker, const stowi_span* span) {
  stow_buffer_desc desc;
  stow_buffer_desc_init(&desc);
  desc.size = span->end - span->offset;
  desc.end = (uint64_t)maker->plan->step_count + 1;
  desc.fixed_offset = span->offset;
  return add_buffer(maker, &desc);
}

static stow_status make_problem(stowi_maker* maker) {
  const stow_plan* plan = maker->plan;
  STOW_TRY(stow_problem_create(maker->allocator, maker->diag, &maker->problem));
  for (stow_value v = 0; v < plan->value_count; ++v) {
    if (is_buffer(plan, v)) {
      STOW_TRY(add_value(maker, v));
    }
  }
  for (size_t i = 0; i < plan->scratch_count; ++i) {
    if (plan->scratch[i].size != 0) {
      STOW_TRY(add_scratch(maker, &plan->scratch[i]));
    }
  }
  for (size_t i = 0; i < plan->reserved_count; ++i) {
    STOW_TRY(add_reserved(maker, &plan->reserved[i]));
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// The placement

static void take_offsets(stowi_maker* maker) {
  stow_plan* plan = maker->plan;
  size_t buffer = 0;
  for (stow_value v = 0; v < plan->value_count; ++v) {
    if (is_buffer(plan, v)) {
      plan->values[v].offset = stow_placement_offset(maker->placement, buffer++);
    }
  }
  for (stow_value v = 0; v < plan->value_count; ++v) {
    if (stowi_plan_is_view(plan, v) && stowi_plan_has_slot(plan, v)) {
      plan->values[v].offset =
          plan->values[plan->values[v].root].offset + stow_views_offset(maker->views, v);
    }
  }
  for (size_t i = 0; i < plan->scratch_count; ++i) {
    if (plan->scratch[i].size != 0) {
      plan->scratch[i].offset = stow_placement_offset(maker->placement, buffer++);
    }
  }
  plan->arena_size = stow_placement_height(maker->placement);
}

// Packing is a choice of this plan. Another placement may do without, so params that were only
// packed are not fixed where a bound is concerned.
static bool is_packed(const stowi_maker* maker) {
  return maker->options.pack_params && maker->options.layout == NULL;
}

static void take_search(stowi_maker* maker) {
  stow_search* search = &maker->plan->search;
  bool is_bound = maker->plan->facts.reuse && !is_packed(maker);
  search->bound = is_bound ? stow_placement_bound(maker->placement) : 0;
  search->nodes = stow_placement_nodes(maker->placement);
  search->stopped = stow_placement_stopped(maker->placement);
}

// The capacity is not handed on: a plan is as small as can be found, also where that is too large.
static stow_status place(stowi_maker* maker) {
  stow_place_options options;
  stow_place_options_init(&options);
  options.reuse = maker->plan->facts.reuse;
  options.nodes = maker->options.nodes;
  options.on_progress = maker->options.on_progress;
  options.user = maker->options.user;
  STOW_TRY(maker->options.strategy->place(maker->problem, &options, maker->allocator, maker->diag,
                                          &maker->placement));
  if (stow_placement_count(maker->placement) != stow_problem_count(maker->problem)) {
    return stowi_fail(maker->diag, STOW_ERR_INVALID_ARGUMENT,
                      "strategy %s placed %zu of %zu buffers", maker->options.strategy->name,
                      stow_placement_count(maker->placement), stow_problem_count(maker->problem));
  }
  take_offsets(maker);
  take_search(maker);
  return STOW_OK;
}

static stow_status unpack_params(stowi_maker* maker) {
  const stow_plan* plan = maker->plan;
  for (stow_value v = 0; v < plan->value_count; ++v) {
    if (plan->values[v].kind == STOWI_KIND_PARAM) {
      maker->fixed[v] = stow_effects_offset(maker->effects, v);
    }
  }
  stow_problem_destroy(maker->problem);
  maker->problem = NULL;
  return make_problem(maker);
}

static stow_status judge_load(stowi_maker* maker) {
  if (is_packed(maker)) {
    STOW_TRY(unpack_params(maker));
  }
  stow_load load;
  STOW_TRY(stow_problem_load(maker->problem, maker->allocator, maker->diag, &load));
  maker->plan->lower_bound = load.lower_bound;
  maker->plan->peak_step = (uint32_t)load.step;
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------

static stow_status make(stowi_maker* maker) {
  STOW_TRY(stow_graph_verify(maker->graph, maker->diag));
  STOW_TRY(stow_graph_require_bound(maker->graph, maker->diag));
  STOW_TRY(analyse(maker));
  STOW_TRY(make_empty_plan(maker));
  STOW_TRY(stowi_make_slots(maker));
  STOW_TRY(stowi_make_fixed(maker));
  STOW_TRY(make_problem(maker));
  STOW_TRY(place(maker));
  STOW_TRY(judge_load(maker));
  return stowi_plan_finish(maker->plan, maker->diag);
}

stow_status stow_plan_make(const stow_graph* graph, const stow_effects* effects,
                           const stow_plan_options* options, stow_allocator allocator,
                           stow_diag* diag, stow_plan** out_plan) {
  *out_plan = NULL;
  stowi_maker maker;
  memset(&maker, 0, sizeof(maker));
  maker.graph = graph;
  maker.effects = effects;
  maker.allocator = allocator;
  maker.diag = diag;
  STOW_TRY(stowi_plan_options_load(options, diag, &maker.options));
  stow_status status = make(&maker);
  if (status == STOW_OK) {
    *out_plan = maker.plan;
    maker.plan = NULL;
  }
  STOWI_ARRAY_FREE(allocator, maker.fixed, stow_graph_value_count(graph));
  stow_placement_destroy(maker.placement);
  stow_problem_destroy(maker.problem);
  stow_lifetimes_destroy(maker.lifetimes);
  stow_views_destroy(maker.views);
  stow_schedule_destroy(maker.schedule);
  stow_plan_destroy(maker.plan);
  return status;
}
