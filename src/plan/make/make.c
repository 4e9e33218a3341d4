// Makes a plan: attempts with more and with less sharing, in the given order and in a better one.
// The smallest arena wins.
//
// If sharing costs more in fragmentation than it saves, less of it is better. An attempt is placed
// only if its bound allows an improvement: in-place results do not raise the load, so mostly one
// attempt is enough. Another order is searched for only if the arena is above what every order
// needs.
#include "plan/make/make.h"

#include "base/diag.h"
#include "plan/order/order.h"
#include "plan/start_rows.h"

// ---------------------------------------------------------------------------------------------
// Sharing

// Replaces |*best| by |other| if its arena is smaller. What only |*best| shared is then recorded as
// refused.
static stow_status keep_smaller(const stowi_plan_request* request, stow_plan** best,
                                stow_plan* other) {
  if (stow_plan_arena_size(other) >= stow_plan_arena_size(*best)) {
    stow_plan_destroy(other);
    return STOW_OK;
  }
  stow_status status = stowi_plan_add_refused(other, *best, request->diag);
  stow_plan_destroy(*best);
  *best = other;
  return status;
}

static stow_status try_less(const stowi_plan_request* request, stowi_plan_choice choice,
                            stow_plan** best, uint64_t* out_bound) {
  stow_plan* other;
  STOW_TRY(
      stowi_plan_make_attempt(request, choice, stow_plan_arena_size(*best), out_bound, &other));
  return other == NULL ? STOW_OK : keep_smaller(request, best, other);
}

static bool has_elision(const stow_plan* plan, stow_reason reason) {
  for (size_t i = 0; i < plan->decision_count; ++i) {
    if (plan->decisions[i].share == STOW_SHARE_HOME && plan->decisions[i].reason == reason) {
      return true;
    }
  }
  return false;
}

// Whether a copy was not elided because of a result in place.
static bool has_rival(const stow_plan* plan) {
  return has_elision(plan, STOW_REASON_GIVEN_AWAY) || has_elision(plan, STOW_REASON_LARGER_ROOT);
}

// Whether the load may be lower without results in place: without windows, or with a guard, a root
// stays as large as it was.
static bool may_cost(const stow_plan_options* options) {
  return !options->windows || options->tail_guard != 0;
}

static stow_status try_all(const stowi_plan_request* request, stowi_plan_choice choice,
                           stow_plan** plan) {
  const stow_plan_options* options = &request->options;
  uint64_t bound;
  STOW_TRY(stowi_plan_make_attempt(request, choice, UINT64_MAX, &bound, plan));
  if (choice.in_place && has_rival(*plan)) {
    uint64_t elisions_bound;
    stowi_plan_choice elisions = choice;
    elisions.in_place = false;
    STOW_TRY(try_less(request, elisions, plan, &elisions_bound));
  }
  if (has_elision(*plan, STOW_REASON_TAKEN)) {
    choice.elide_copies = false;
    STOW_TRY(try_less(request, choice, plan, &bound));
  }
  if (choice.in_place && (may_cost(options) || stow_plan_arena_size(*plan) > bound)) {
    choice.elide_copies = false;
    choice.in_place = false;
    STOW_TRY(try_less(request, choice, plan, &bound));
  }
  // Windows make the placement harder to search; without any, the search may get further.
  if (choice.windows && stow_plan_arena_size(*plan) > stow_plan_lower_bound(*plan)) {
    choice.elide_copies = choice.in_place = choice.windows = false;
    STOW_TRY(try_less(request, choice, plan, &bound));
  }
  return STOW_OK;
}

// The best attempt in one order.
static stow_status try_sharing(const stowi_plan_request* request, const stow_schedule* schedule,
                               stow_plan** out_plan) {
  const stow_plan_options* options = &request->options;
  stowi_plan_choice choice = {schedule, options->in_place, options->elide_copies, options->windows};
  *out_plan = NULL;
  stow_status status = try_all(request, choice, out_plan);
  if (status != STOW_OK) {
    stow_plan_destroy(*out_plan);
    *out_plan = NULL;
  }
  return status;
}

// ---------------------------------------------------------------------------------------------
// Order

// Whether |other| saves more than the margin.
static bool saves_enough(const stowi_plan_request* request, const stow_plan* plan,
                         const stow_plan* other) {
  uint64_t before = stow_plan_arena_size(plan);
  uint64_t after = stow_plan_arena_size(other);
  return after < before && before - after > request->options.order_margin;
}

// Takes the plan in |schedule|'s order if that is worth it. |*plan| is set in either case.
static stow_status try_order(const stowi_plan_request* request, const stow_schedule* schedule,
                             stow_ordering* ordering, stow_plan** plan) {
  stow_plan* other;
  STOW_TRY(try_sharing(request, schedule, &other));
  if (ordering->other_arena == 0 || stow_plan_arena_size(other) < ordering->other_arena) {
    ordering->other_arena = stow_plan_arena_size(other);
  }
  if (saves_enough(request, *plan, other)) {
    stow_plan* given = *plan;
    *plan = other;
    other = given;
    ordering->changed = true;
  }
  stow_plan_destroy(other);
  return STOW_OK;
}

// Searches for an order with the views before sharing: what can be shared depends on the order.
static stow_status search(stowi_plan_maker* maker, const stow_start* earlier, uint64_t arena,
                          stow_schedule** out_schedule, stow_ordering* out_ordering) {
  STOW_TRY(stowi_plan_make_schedule(maker));
  STOW_TRY(stowi_plan_make_views(maker));
  stowi_plan_order_request request = {maker->graph,    maker->effects,   maker->views,
                                      &maker->options, maker->allocator, maker->diag,
                                      earlier};
  return stowi_plan_find_order(&request, maker->schedule, arena, out_schedule, out_ordering);
}

// Tries another order: that of an earlier plan, or, if |earlier| is NULL, one that is searched for.
static stow_status try_other(const stowi_plan_request* request, const stow_start* earlier,
                             stow_ordering* ordering, stow_plan** plan) {
  stow_schedule* schedule = NULL;
  stow_ordering found = {.critical = STOW_NODE_NONE};
  stowi_plan_maker maker;
  stowi_plan_maker_init(&maker, request,
                        (stowi_plan_choice){.schedule = request->options.schedule});
  stow_status status = search(&maker, earlier, stow_plan_arena_size(*plan), &schedule, &found);
  stowi_plan_maker_free(&maker);
  ordering->any_bound = found.any_bound;
  ordering->critical = found.critical;
  ordering->nodes = found.nodes;
  if (status == STOW_OK && schedule != NULL) {
    status = try_order(request, schedule, ordering, plan);
  }
  stow_schedule_destroy(schedule);
  return status;
}

// Whether |plan| is about as good as the earlier one was: a search for an order brings nothing then
// that it did not bring before.
static bool is_settled(const stowi_plan_request* request, const stow_ordering* ordering,
                       const stow_plan* plan) {
  return ordering->nodes != 0 || ordering->any_bound >= stow_plan_arena_size(plan) ||
         stowi_plan_start_is_as_good(request->options.start, request->graph, plan);
}

static stow_status find_order(const stowi_plan_request* request, stow_plan** plan) {
  stow_ordering ordering = {.critical = STOW_NODE_NONE};
  uint64_t arena = stow_plan_arena_size(*plan);
  stow_status status = STOW_OK;
  bool is_open = request->options.order_nodes != 0;
  if (is_open && request->options.start != NULL && request->options.order == STOW_ORDER_AUTO) {
    status = try_other(request, request->options.start, &ordering, plan);
    is_open = status == STOW_OK && !is_settled(request, &ordering, *plan);
  }
  if (is_open) {
    status = try_other(request, NULL, &ordering, plan);
  }
  ordering.given_arena = arena;
  ordering.searched = ordering.nodes != 0;
  (*plan)->ordering = ordering;
  return status;
}

// ---------------------------------------------------------------------------------------------

// The search

static uint64_t smaller(uint64_t a, uint64_t b) { return a < b ? a : b; }

// The same request, with no more than the usual budget for an attempt.
static stowi_plan_request shorter(const stowi_plan_request* request) {
  stowi_plan_request result = *request;
  result.options.nodes = smaller(request->options.nodes, STOW_PLACE_DEFAULT_NODES);
  result.options.patience = smaller(request->options.patience, STOW_PLAN_DEFAULT_PATIENCE);
  return result;
}

// Replaces |*plan| by |longer|, which differs in its offsets only, if that is smaller or proves
// more.
static void keep_better(stow_plan** plan, stow_plan* longer) {
  stow_plan* before = *plan;
  if (longer->arena_size > before->arena_size) {
    stow_plan_destroy(longer);
    return;
  }
  stow_decision* decisions = longer->decisions;
  size_t count = longer->decision_count;
  longer->decisions = before->decisions;  // with what was refused on the way to it
  longer->decision_count = before->decision_count;
  before->decisions = decisions;
  before->decision_count = count;
  longer->ordering = before->ordering;
  *plan = longer;
  stow_plan_destroy(before);
}

// Searches for a lower placement of the best attempt. It repeats what was done so far, and goes on.
static stow_status search_longer(const stowi_plan_request* request, stow_plan** plan) {
  stow_schedule* schedule = NULL;
  stow_plan* longer = NULL;
  uint64_t bound;
  STOW_TRY(stow_schedule_create_order(request->graph, (*plan)->order, (*plan)->step_count,
                                      request->allocator, request->diag, &schedule));
  stowi_plan_choice choice = {schedule, (*plan)->facts.in_place, (*plan)->facts.elide_copies,
                              (*plan)->window_count != 0};
  stow_status status = stowi_plan_make_attempt(request, choice, UINT64_MAX, &bound, &longer);
  if (status == STOW_OK) {
    keep_better(plan, longer);
  }
  stow_schedule_destroy(schedule);
  return status;
}

static stow_status make(const stowi_plan_request* request, stow_plan** out_plan) {
  STOW_TRY(stow_graph_verify(request->graph, request->diag));
  STOW_TRY(stow_graph_require_bound(request->graph, request->diag));
  stowi_plan_request first = shorter(request);
  STOW_TRY(try_sharing(&first, request->options.schedule, out_plan));
  STOW_TRY(find_order(&first, out_plan));
  bool is_longer = request->options.nodes > first.options.nodes ||
                   request->options.patience > first.options.patience;
  bool is_open = (*out_plan)->facts.reuse && !(*out_plan)->search.stopped &&
                 (*out_plan)->arena_size > (*out_plan)->search.bound;
  return is_longer && is_open ? search_longer(request, out_plan) : STOW_OK;
}

stow_status stow_plan_make(const stow_graph* graph, const stow_effects* effects,
                           const stow_plan_options* options, stow_allocator allocator,
                           stow_diag* diag, stow_plan** out_plan) {
  *out_plan = NULL;
  stowi_plan_request request = {
      .graph = graph, .effects = effects, .allocator = allocator, .diag = diag};
  STOW_TRY(stowi_plan_options_load(options, diag, &request.options));
  stow_status status = make(&request, out_plan);
  if (status != STOW_OK) {
    stow_plan_destroy(*out_plan);
    *out_plan = NULL;
  }
  return status;
}
