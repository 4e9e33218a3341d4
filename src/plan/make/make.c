// Makes a plan: attempts with more and with less sharing, in the given order and in a better one.
// The smallest arena wins.
//
// If sharing costs more in fragmentation than it saves, less of it is better. An attempt is placed
// only if its bound allows an improvement: in-place results do not raise the load, so mostly one
// attempt is enough. Another order is searched for only if the arena is above what every order
// needs.
#include "base/diag.h"
#include "plan/make/contest.h"
#include "plan/order/order.h"
#include "plan/start_rows.h"

// ---------------------------------------------------------------------------------------------
// Sharing

// Whether a copy was not elided because of a result in place.
static bool has_rival(const stow_plan* plan) {
  return stowi_plan_has_elision(plan, STOW_REASON_GIVEN_AWAY) ||
         stowi_plan_has_elision(plan, STOW_REASON_LARGER_ROOT);
}

// Whether the load may be lower without results in place: without windows, or with a guard, a root
// stays as large as it was.
static bool may_cost(const stow_plan_options* options) {
  return !options->windows || options->tail_guard != 0;
}

// The attempts in one order. Which there are follows from the first one and from bounds, not from
// which is the best so far, since that may depend on the budget.
static stow_status try_sharing(stowi_plan_contest* contest, stowi_plan_race* race,
                               const stow_schedule* schedule) {
  const stow_plan_options* options = &contest->request.options;
  stowi_plan_choice choice = {schedule, options->in_place, options->elide_copies, options->windows,
                              options->least_row};
  uint64_t bound;
  STOW_TRY(stowi_plan_contest_enter(contest, race, choice, &bound));
  // Rows that are apart occupy all bytes between them.
  if (stowi_plan_is_pitched(race->best)) {
    choice.least_row = 0;
    STOW_TRY(stowi_plan_contest_enter(contest, race, choice, &bound));
  }
  bool has_elisions = stowi_plan_has_elision(race->best, STOW_REASON_TAKEN);
  if (choice.in_place && has_rival(race->best)) {
    uint64_t elisions_bound;
    stowi_plan_choice elisions = choice;
    elisions.in_place = false;
    STOW_TRY(stowi_plan_contest_enter(contest, race, elisions, &elisions_bound));
  }
  if (has_elisions) {
    choice.elide_copies = false;
    STOW_TRY(stowi_plan_contest_enter(contest, race, choice, &bound));
  }
  if (choice.in_place && (may_cost(options) || stow_plan_arena_size(race->best) > bound)) {
    choice.elide_copies = false;
    choice.in_place = false;
    STOW_TRY(stowi_plan_contest_enter(contest, race, choice, &bound));
  }
  // Windows make the placement harder to search; without any, the search may get further.
  if (choice.windows &&
      (may_cost(options) || stow_plan_arena_size(race->best) > stow_plan_lower_bound(race->best))) {
    choice.elide_copies = choice.in_place = choice.windows = false;
    STOW_TRY(stowi_plan_contest_enter(contest, race, choice, &bound));
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Order

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

// With the views that there are if rows have |least_row| bytes at least. If some are pitched, the
// bound also holds for plans without: it is the lower of both.
static stow_status search_with(const stowi_plan_request* request, uint64_t least_row,
                               const stow_start* earlier, uint64_t arena,
                               stow_schedule** out_schedule, stow_ordering* out_ordering) {
  stowi_plan_maker maker;
  stowi_plan_maker_init(
      &maker, request,
      (stowi_plan_choice){.schedule = request->options.schedule, .least_row = least_row});
  stow_status status = search(&maker, earlier, arena, out_schedule, out_ordering);
  bool is_pitched = maker.views != NULL && stowi_analysis_views_are_pitched(maker.views);
  stowi_plan_maker_free(&maker);
  if (status != STOW_OK || !is_pitched) {
    return status;
  }
  stowi_plan_request bound = *request;
  stow_ordering dense = {.critical = STOW_NODE_NONE};
  stow_schedule* none = NULL;
  bound.options.order = STOW_ORDER_GIVEN;
  STOW_TRY(search_with(&bound, 0, NULL, arena, &none, &dense));
  stow_schedule_destroy(none);
  if (dense.any_bound < out_ordering->any_bound) {
    out_ordering->any_bound = dense.any_bound;
    out_ordering->critical = dense.critical;
  }
  return STOW_OK;
}

// Finds another order: that of an earlier plan, or, if |earlier| is NULL, one that is searched for.
static stow_status find_order(const stowi_plan_request* request, const stow_start* earlier,
                              uint64_t arena, stow_schedule** out_schedule,
                              stow_ordering* ordering) {
  stow_ordering found = {.critical = STOW_NODE_NONE};
  stow_status status =
      search_with(request, request->options.least_row, earlier, arena, out_schedule, &found);
  ordering->any_bound = found.any_bound;
  ordering->critical = found.critical;
  ordering->nodes = found.nodes;
  return status;
}

// Whether |plan| is about as good as the earlier one was: a search for an order brings nothing then
// that it did not bring before.
static bool is_settled(const stowi_plan_request* request, const stow_ordering* ordering,
                       const stow_plan* plan) {
  return ordering->nodes != 0 || ordering->any_bound >= stow_plan_arena_size(plan) ||
         stowi_plan_start_is_as_good(request->options.start, request->graph, plan);
}

// The orders tried beside the given one; attempts refer to them.
typedef struct orders {
  stow_schedule* earlier;
  stow_schedule* found;
} orders;

// Attempts in the order of the earlier plan.
static stow_status try_earlier(stowi_plan_contest* contest, orders* o, stow_ordering* ordering) {
  const stowi_plan_request* request = &contest->request;
  uint64_t arena = stow_plan_arena_size(contest->races[0].best);
  STOW_TRY(find_order(request, request->options.start, arena, &o->earlier, ordering));
  return o->earlier == NULL ? STOW_OK : try_sharing(contest, &contest->races[1], o->earlier);
}

// Attempts in an order that is searched for, which take the place of those in the earlier one if
// they are better.
static stow_status try_found(stowi_plan_contest* contest, orders* o, stow_ordering* ordering) {
  stowi_plan_race* other = &contest->races[1];
  stowi_plan_race race = {.count = 0};
  const stow_plan* best = stowi_plan_contest_best(contest);
  STOW_TRY(find_order(&contest->request, NULL, stow_plan_arena_size(best), &o->found, ordering));
  stow_status status = o->found == NULL ? STOW_OK : try_sharing(contest, &race, o->found);
  if (status == STOW_OK && race.best != NULL &&
      (other->best == NULL ||
       stow_plan_arena_size(race.best) < stow_plan_arena_size(other->best))) {
    stowi_plan_race moved = *other;
    *other = race;
    race = moved;
  }
  stow_plan_destroy(race.best);
  return status;
}

static stow_status try_orders(stowi_plan_contest* contest, orders* o, stow_ordering* ordering) {
  const stow_plan_options* options = &contest->request.options;
  if (options->order_nodes == 0) {
    return STOW_OK;
  }
  if (options->start != NULL && options->order == STOW_ORDER_AUTO) {
    STOW_TRY(try_earlier(contest, o, ordering));
    if (is_settled(&contest->request, ordering, stowi_plan_contest_best(contest))) {
      return STOW_OK;
    }
  }
  return try_found(contest, o, ordering);
}

static void describe_order(const stowi_plan_contest* contest, stow_ordering* ordering) {
  const stow_plan* other = contest->races[1].best;
  ordering->searched = ordering->nodes != 0;
  ordering->changed = stowi_plan_contest_is_reordered(contest);
  ordering->given_arena = stow_plan_arena_size(contest->races[0].best);
  ordering->other_arena = other == NULL ? 0 : stow_plan_arena_size(other);
}

// ---------------------------------------------------------------------------------------------

static stow_status hold(stowi_plan_contest* contest, stow_plan** out_plan) {
  orders o = {NULL, NULL};
  stow_ordering ordering = {.critical = STOW_NODE_NONE};
  STOW_TRY(try_sharing(contest, &contest->races[0], contest->request.options.schedule));
  stow_status status = try_orders(contest, &o, &ordering);
  if (status == STOW_OK) {
    status = stowi_plan_contest_go_on(contest);
  }
  if (status == STOW_OK) {
    describe_order(contest, &ordering);
    *out_plan = stowi_plan_contest_take(contest);
    (*out_plan)->ordering = ordering;
    status = stowi_plan_enlarge_scratch(*out_plan, contest->request.effects,
                                        (*out_plan)->arena_size, contest->request.diag);
  }
  if (status != STOW_OK) {
    stow_plan_destroy(*out_plan);
    *out_plan = NULL;
  }
  stow_schedule_destroy(o.earlier);
  stow_schedule_destroy(o.found);
  return status;
}

stow_status stow_plan_make(const stow_graph* graph, const stow_effects* effects,
                           const stow_plan_options* options, stow_allocator allocator,
                           stow_diag* diag, stow_plan** out_plan) {
  *out_plan = NULL;
  stowi_plan_contest contest = {
      .request = {.graph = graph, .effects = effects, .allocator = allocator, .diag = diag}};
  STOW_TRY(stowi_plan_options_load(options, diag, &contest.request.options));
  STOW_TRY(stowi_effects_verify_graph(effects, graph, diag));
  STOW_TRY(stow_graph_require_bound(graph, diag));
  stow_status status = hold(&contest, out_plan);
  stowi_plan_contest_free(&contest);
  return status;
}
