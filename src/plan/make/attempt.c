// One attempt at a plan: each stage is one call whose result the next one takes.
//
//     graph ─▶ schedule ─▶ views ─▶ lifetimes ─▶ sharing ─▶ windows ─▶ slots ─▶ problem ─▶ plan
#include <stdarg.h>
#include <string.h>

#include "base/alloc.h"
#include "base/diag.h"
#include "plan/make/make.h"

stow_status stowi_plan_make_fail(const stowi_plan_maker* maker, stow_status status,
                                 stow_value value, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  stowi_vfail(maker->diag, status, format, arguments);
  va_end(arguments);
  stowi_diag_value(maker->diag, value);
  return status;
}

stowi_plan_value_text stowi_plan_make_name(const stowi_plan_maker* maker, stow_value value) {
  return stowi_plan_name_value(value, stow_graph_value_name(maker->graph, value));
}

// ---------------------------------------------------------------------------------------------
// Analysis

// A given schedule is checked again: it may have been made for another graph.
stow_status stowi_plan_make_schedule(stowi_plan_maker* maker) {
  const stow_schedule* given = maker->choice.schedule;
  if (given == NULL) {
    return stow_schedule_create(maker->graph, maker->allocator, maker->diag, &maker->schedule);
  }
  return stow_schedule_create_order(maker->graph, stow_schedule_order(given),
                                    stow_schedule_count(given), maker->allocator, maker->diag,
                                    &maker->schedule);
}

stow_status stowi_plan_make_views(stowi_plan_maker* maker) {
  stowi_analysis_views_options options;
  stowi_analysis_views_options_init(&options);
  options.classic_only = maker->options.classic_views;
  options.f32_uniform = maker->options.f32_uniform;
  options.io = maker->options.io;
  options.inputs = maker->options.inputs;
  options.least_row = maker->options.reuse ? maker->choice.least_row : 0;
  return stowi_analysis_views_create(maker->graph, maker->effects, &options, maker->allocator,
                                     maker->diag, &maker->views);
}

static stow_status make_lifetimes(stowi_plan_maker* maker) {
  stowi_analysis_lifetimes_options options;
  stowi_analysis_lifetimes_options_init(&options);
  options.io = maker->options.io;
  options.rule_count = maker->options.rule_count;
  memcpy(options.rules, maker->options.rules, sizeof(options.rules));
  stowi_analysis_lifetimes_destroy(maker->lifetimes);
  maker->lifetimes = NULL;
  return stowi_analysis_lifetimes_create(maker->graph, maker->schedule, maker->views,
                                         maker->effects, &options, maker->allocator, maker->diag,
                                         &maker->lifetimes);
}

static stow_status analyse(stowi_plan_maker* maker) {
  STOW_TRY(stowi_plan_make_schedule(maker));
  STOW_TRY(stowi_plan_make_views(maker));
  STOW_TRY(make_lifetimes(maker));
  if (maker->options.reuse) {
    stowi_analysis_sharing_options options;
    stowi_analysis_sharing_options_init(&options);
    options.in_place = maker->choice.in_place;
    options.elide_copies = maker->choice.elide_copies;
    options.alignment = maker->options.alignment;
    STOW_TRY(stowi_analysis_sharing_apply(maker->views, maker->graph, maker->schedule,
                                          maker->effects, maker->lifetimes, &options,
                                          maker->allocator, maker->diag, &maker->sharing));
    STOW_TRY(stowi_analysis_sharing_taken(maker->sharing) == 0 ? STOW_OK : make_lifetimes(maker));
  }
  if (!maker->choice.windows) {
    return STOW_OK;
  }
  return stowi_analysis_windows_create(maker->views, maker->lifetimes, maker->allocator,
                                       maker->diag, &maker->windows);
}

// ---------------------------------------------------------------------------------------------
// The plan without offsets

static stowi_plan_params params_of(const stow_plan_options* options) {
  if (options->layout != NULL) {
    return options->allow_missing_params ? STOWI_PLAN_PARAMS_SHARED_OR_NONE
                                         : STOWI_PLAN_PARAMS_SHARED;
  }
  return options->params ? STOWI_PLAN_PARAMS_OWN : STOWI_PLAN_PARAMS_NONE;
}

static stow_status make_empty_plan(stowi_plan_maker* maker) {
  const stow_plan_options* options = &maker->options;
  STOW_TRY(stowi_plan_create(maker->graph, stow_str_of(options->strategy->name), maker->allocator,
                             maker->diag, &maker->plan));
  stow_plan* plan = maker->plan;
  plan->facts.alignment = options->alignment;
  plan->facts.tail_guard = options->tail_guard;
  plan->facts.capacity = options->capacity;
  plan->facts.kernels = stowi_effects_kernels_of(maker->effects);
  plan->facts.params = params_of(options);
  plan->facts.io = options->io;
  plan->facts.inputs = options->inputs;
  plan->facts.constants = options->constants;
  plan->facts.zero_size_slots = options->zero_size_slots;
  plan->facts.f32_uniform = options->f32_uniform;
  plan->facts.classic_views = options->classic_views;
  plan->facts.reuse = options->reuse && stowi_analysis_lifetimes_reuse_allowed(maker->lifetimes);
  plan->facts.in_place = maker->choice.in_place;
  plan->facts.elide_copies = maker->choice.elide_copies;
  plan->facts.least_row = maker->choice.least_row;
  if (options->rewrite != NULL) {
    memcpy(plan->facts.rewrite, options->rewrite, strlen(options->rewrite) + 1);
  }
  memcpy(plan->order, stow_schedule_order(maker->schedule), plan->step_count * sizeof(stow_node));
  maker->fixed = STOWI_ARRAY(maker->allocator, uint64_t, plan->value_count);
  return maker->fixed == NULL ? stowi_fail_memory(maker->diag) : STOW_OK;
}

// ---------------------------------------------------------------------------------------------

void stowi_plan_maker_init(stowi_plan_maker* maker, const stowi_plan_request* request,
                           stowi_plan_choice choice) {
  memset(maker, 0, sizeof(*maker));
  maker->graph = request->graph;
  maker->effects = request->effects;
  maker->options = request->options;
  maker->allocator = request->allocator;
  maker->diag = request->diag;
  maker->choice = choice;
}

stow_status stowi_plan_make_prepare(stowi_plan_maker* maker) {
  STOW_TRY(analyse(maker));
  STOW_TRY(make_empty_plan(maker));
  STOW_TRY(stowi_plan_make_slots(maker));
  STOW_TRY(stowi_plan_make_fixed(maker));
  if (maker->windows != NULL) {
    STOW_TRY(stowi_plan_set_windows(maker->plan, maker->windows, maker->diag));
  }
  return maker->sharing == NULL
             ? STOW_OK
             : stowi_plan_set_decisions(maker->plan, maker->sharing, maker->diag);
}

void stowi_plan_maker_free(stowi_plan_maker* maker) {
  STOWI_ARRAY_FREE(maker->allocator, maker->fixed, stow_graph_value_count(maker->graph));
  stow_placement_destroy(maker->placement);
  stow_problem_destroy(maker->problem);
  stowi_analysis_windows_destroy(maker->windows);
  stowi_analysis_sharing_destroy(maker->sharing);
  stowi_analysis_lifetimes_destroy(maker->lifetimes);
  stowi_analysis_views_destroy(maker->views);
  stow_schedule_destroy(maker->schedule);
  stow_plan_destroy(maker->plan);
}

stow_status stowi_plan_make_attempt(const stowi_plan_request* request, stowi_plan_choice choice,
                                    uint64_t below, uint64_t* out_bound, stow_plan** out_plan) {
  *out_plan = NULL;
  stowi_plan_maker maker;
  stowi_plan_maker_init(&maker, request, choice);
  stow_status status = stowi_plan_make_prepare(&maker);
  if (status == STOW_OK) {
    status = stowi_plan_make_bound(&maker, out_bound);
  }
  if (status == STOW_OK && *out_bound < below) {
    status = stowi_plan_make_place(&maker);
    if (status == STOW_OK) {
      *out_plan = maker.plan;
      maker.plan = NULL;
    }
  }
  stowi_plan_maker_free(&maker);
  return status;
}
