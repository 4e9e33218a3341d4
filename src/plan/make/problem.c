// The problem of a plan without offsets, and the placement that solves it.
//
// Roots become buffers in id order, then scratch, then reserved ranges, so that the placer breaks
// ties between equal sizes by id. O(n log n) besides the strategy.
#include <inttypes.h>

#include "base/alloc.h"
#include "base/diag.h"
#include "place/api.h"
#include "plan/make/make.h"
#include "plan/start_rows.h"

// ---------------------------------------------------------------------------------------------
// The problem

static bool is_buffer(const stow_plan* plan, stow_value v) {
  return !stowi_plan_is_view(plan, v) && stowi_plan_has_slot(plan, v);
}

// Where a plan's buffers go.
typedef struct target {
  const stowi_plan_maker* maker;
  stow_problem* problem;
  uint64_t shift;     // of its steps
  const bool* apart;  // by value: those placed separately; NULL: none
  bool whole_run;     // everything is live from the first step to the last
} target;

static bool is_added(const target* t, stow_value v) {
  return is_buffer(t->maker->plan, v) && (t->apart == NULL || !t->apart[v]);
}

// Adds a buffer that is live over steps [begin, end) of the plan. Buffers are numbered in the order
// of adding; stowi_plan_take_offsets counts along.
static stow_status add_buffer(const target* t, stow_buffer* desc, uint32_t begin, uint32_t end) {
  size_t buffer;
  desc->begin = t->shift + (t->whole_run ? 0 : begin);
  desc->end = t->shift + (t->whole_run ? t->maker->plan->step_count + UINT64_C(1) : end);
  return stow_problem_add(t->problem, desc, t->maker->diag, &buffer);
}

static stow_status add_windows(const target* t, stow_value root) {
  size_t count = stow_plan_window_count(t->maker->plan, root);
  for (size_t i = 0; i < count; ++i) {
    stow_window window = stow_plan_window_at(t->maker->plan, root, i);
    stow_window_desc desc;
    stow_window_desc_init(&desc);
    desc.begin = t->shift + window.begin;
    desc.end = t->shift + window.end;
    desc.low = window.low;
    desc.high = window.high;
    STOW_TRY(stow_problem_add_window(t->problem, &desc, t->maker->diag));
  }
  return STOW_OK;
}

static stow_status add_value(const target* t, stow_value v) {
  const stowi_plan_maker* maker = t->maker;
  const stowi_plan_value* value = &maker->plan->values[v];
  stow_buffer desc;
  stow_buffer_init(&desc);
  desc.size = value->size;
  desc.guard = value->guard;
  desc.alignment = UINT64_C(1) << value->alignment_log2;
  desc.fixed_offset = maker->fixed[v];
  stow_status status = add_buffer(t, &desc, value->begin, value->end);
  if (status == STOW_OK) {
    return add_windows(t, v);
  }
  if (status != STOW_ERR_OVERFLOW) {
    return status;
  }
  stowi_plan_value_text name = stowi_plan_make_name(maker, v);
  return stowi_plan_make_fail(maker, status, v, "%s: %" PRIu64 STOWI_PLAN_TOO_LARGE, name.text,
                              value->size);
}

static stow_status add_scratch(const target* t, const stowi_plan_scratch* scratch) {
  stow_buffer desc;
  stow_buffer_init(&desc);
  desc.size = scratch->need;
  desc.alignment = scratch->alignment;
  stow_status status = add_buffer(t, &desc, scratch->step, scratch->step + 1);
  if (status == STOW_ERR_OVERFLOW) {
    stow_diag* diag = t->maker->diag;
    stowi_fail(diag, status, "scratch of node %" PRIu32 ": %" PRIu64 STOWI_PLAN_TOO_LARGE,
               scratch->node, scratch->need);
    stowi_diag_node(diag, scratch->node);
  }
  return status;
}

stow_status stowi_plan_add_buffers(const stowi_plan_maker* maker, stow_problem* problem,
                                   uint64_t shift, const bool* apart) {
  const stow_plan* plan = maker->plan;
  target t = {maker, problem, shift, apart, apart != NULL && !plan->facts.reuse};
  for (stow_value v = 0; v < plan->value_count; ++v) {
    if (is_added(&t, v)) {
      STOW_TRY(add_value(&t, v));
    }
  }
  for (size_t i = 0; i < plan->scratch_count; ++i) {
    if (plan->scratch[i].need != 0) {
      STOW_TRY(add_scratch(&t, &plan->scratch[i]));
    }
  }
  for (size_t i = 0; i < plan->reserved_count; ++i) {
    const stowi_plan_span* span = &plan->reserved[i];
    stow_buffer desc;
    stow_buffer_init(&desc);
    desc.size = span->end - span->offset;
    desc.fixed_offset = span->offset;
    STOW_TRY(add_buffer(&t, &desc, 0, t.maker->plan->step_count + 1));
  }
  return STOW_OK;
}

static stow_status make_problem(stowi_plan_maker* maker) {
  stow_problem_destroy(maker->problem);
  maker->problem = NULL;
  STOW_TRY(stow_problem_create(maker->allocator, maker->diag, &maker->problem));
  return stowi_plan_add_buffers(maker, maker->problem, 0, NULL);
}

// ---------------------------------------------------------------------------------------------
// The placement

size_t stowi_plan_take_offsets(stowi_plan_maker* maker, const stow_placement* placement,
                               size_t first, const bool* apart) {
  stow_plan* plan = maker->plan;
  target t = {maker, NULL, 0, apart, false};
  size_t buffer = first;
  for (stow_value v = 0; v < plan->value_count; ++v) {
    if (is_added(&t, v)) {
      plan->values[v].offset = stow_placement_offset(placement, buffer++);
    }
  }
  for (stow_value v = 0; v < plan->value_count; ++v) {
    if (stowi_plan_is_view(plan, v) && stowi_plan_has_slot(plan, v)) {
      plan->values[v].offset =
          plan->values[plan->values[v].root].offset + stowi_analysis_views_offset(maker->views, v);
    }
  }
  for (size_t i = 0; i < plan->scratch_count; ++i) {
    if (plan->scratch[i].need != 0) {
      plan->scratch[i].offset = stow_placement_offset(placement, buffer++);
    }
  }
  return buffer + plan->reserved_count;
}

// Packing is a choice of this plan. Another placement may do without, so params that are only
// packed do not count as fixed for a bound.
static bool is_packed(const stowi_plan_maker* maker) {
  return maker->options.pack_params && maker->options.layout == NULL;
}

// The capacity is not passed on: a plan is as small as can be found, even if that is too large.
stow_status stowi_plan_place(const stow_problem* problem, const stow_plan_options* asked,
                             const uint64_t* start, bool reuse, stow_allocator allocator,
                             stow_diag* diag, stow_placement** out_placement) {
  stow_place_options options;
  stow_place_options_init(&options);
  options.reuse = reuse;
  options.nodes = asked->nodes;
  options.patience = asked->patience;
  options.on_progress = asked->on_progress;
  options.user = asked->user;
  options.start = start;
  STOW_TRY(asked->strategy->place(problem, &options, allocator, diag, out_placement));
  size_t placed = stowi_place_placement_count(*out_placement);
  size_t count = stow_problem_count(problem);
  return placed == count
             ? STOW_OK
             : stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT, "strategy %s placed %zu of %zu buffers",
                          asked->strategy->name, placed, count);
}

// Places with the earlier offsets of the buffers of |now|, and then counts which have moved.
static stow_status place_again(stowi_plan_maker* maker, stow_start* now, uint64_t* earlier) {
  STOW_TRY(stow_start_match(maker->options.start, now, maker->allocator, maker->diag, earlier));
  STOW_TRY(stowi_plan_place(maker->problem, &maker->options, earlier, maker->plan->facts.reuse,
                            maker->allocator, maker->diag, &maker->placement));
  for (size_t i = 0; i < now->count; ++i) {
    now->rows[i].offset = stow_placement_offset(maker->placement, i);
  }
  maker->plan->moves = stowi_plan_count_moves(now, earlier);
  return STOW_OK;
}

static stow_status place_from_start(stowi_plan_maker* maker) {
  stow_start* now = NULL;
  STOW_TRY(stow_start_from_plan(maker->plan, maker->allocator, maker->diag, &now));
  size_t count = stow_start_count(now);
  uint64_t* earlier = STOWI_ARRAY(maker->allocator, uint64_t, count);
  stow_status status =
      earlier == NULL ? stowi_fail_memory(maker->diag) : place_again(maker, now, earlier);
  STOWI_ARRAY_FREE(maker->allocator, earlier, count);
  stow_start_destroy(now);
  return status;
}

static stow_status place(stowi_plan_maker* maker) {
  STOW_TRY(maker->options.start != NULL
               ? place_from_start(maker)
               : stowi_plan_place(maker->problem, &maker->options, NULL, maker->plan->facts.reuse,
                                  maker->allocator, maker->diag, &maker->placement));
  stowi_plan_take_offsets(maker, maker->placement, 0, NULL);
  maker->plan->arena_size = stow_placement_height(maker->placement);
  stow_search* search = &maker->plan->search;
  bool is_bound = maker->plan->facts.reuse && !is_packed(maker);
  search->bound = is_bound ? stowi_place_placement_bound(maker->placement) : 0;
  search->nodes = stowi_place_placement_nodes(maker->placement);
  search->stopped = stowi_place_placement_stopped(maker->placement);
  return STOW_OK;
}

static stow_status unpack_params(stowi_plan_maker* maker) {
  const stow_plan* plan = maker->plan;
  for (stow_value v = 0; v < plan->value_count; ++v) {
    if (plan->values[v].kind == STOWI_PLAN_KIND_PARAM) {
      maker->fixed[v] = stowi_effects_offset(maker->effects, v);
    }
  }
  return make_problem(maker);
}

static stow_status judge(stowi_plan_maker* maker) {
  stow_load load = {.struct_size = sizeof(load)};
  STOW_TRY(stow_problem_load(maker->problem, maker->allocator, maker->diag, &load));
  maker->plan->lower_bound = load.lower_bound;
  maker->plan->peak_step = (uint32_t)load.step;
  return STOW_OK;
}

stow_status stowi_plan_make_bound(stowi_plan_maker* maker, uint64_t* out_bound) {
  STOW_TRY(make_problem(maker));
  STOW_TRY(judge(maker));
  *out_bound = maker->plan->lower_bound;
  return STOW_OK;
}

stow_status stowi_plan_make_place(stowi_plan_maker* maker) {
  STOW_TRY(place(maker));
  if (is_packed(maker)) {
    STOW_TRY(unpack_params(maker));
    STOW_TRY(judge(maker));
  }
  return stowi_plan_finish(maker->plan, maker->diag);
}

stow_status stowi_plan_make_judge(stowi_plan_maker* maker) {
  uint64_t bound;
  STOW_TRY(stowi_plan_make_bound(maker, &bound));
  return stowi_plan_finish(maker->plan, maker->diag);
}
