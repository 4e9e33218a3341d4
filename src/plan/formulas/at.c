// The plan at a point: an ordinary one, of the graph that is bound there (move.c), with bounds.
#include "base/diag.h"
#include "plan/formulas/formula.h"
#include "plan/make/make.h"

// Bounds, totals and peak, as for any plan.
static stow_status judge(stow_plan* plan, const stow_graph* bound, const stow_effects* effects,
                         stow_diag* diag) {
  stowi_plan_request request = {bound, effects, {0}, plan->allocator, diag};
  stowi_plan_maker maker;
  stowi_plan_maker_init(&maker, &request, (stowi_plan_choice){0});
  maker.plan = plan;
  maker.fixed = STOWI_ARRAY(plan->allocator, uint64_t, plan->value_count);
  STOW_TRY(stowi_need_memory(maker.fixed != NULL, diag));
  bool shares = plan->facts.params == STOWI_PLAN_PARAMS_SHARED ||
                plan->facts.params == STOWI_PLAN_PARAMS_SHARED_OR_NONE;
  for (stow_value v = 0; v < plan->value_count; ++v) {
    bool is_shared =
        shares && plan->values[v].kind == STOWI_PLAN_KIND_PARAM && stowi_plan_has_slot(plan, v);
    maker.fixed[v] = is_shared ? plan->values[v].offset : stowi_effects_offset(effects, v);
  }
  stow_status status = stowi_plan_make_judge(&maker);
  maker.plan = NULL;
  stowi_plan_maker_free(&maker);
  return status;
}

static stow_status fill(stow_formula_walk* walk, const stow_graph* bound,
                        const stow_effects* effects, stow_plan* plan, stow_diag* diag) {
  STOW_TRY(stowi_plan_formula_place(walk, effects, plan, diag));
  plan->ordering.given_arena = plan->arena_size;
  STOW_TRY(judge(plan, bound, effects, diag));
  return stowi_plan_enlarge_scratch(plan, effects, plan->arena_size, diag);
}

stow_status stowi_plan_formula_plan_at(stow_formula_walk* walk, const stow_graph* bound,
                                       const stow_effects* effects, stow_allocator allocator,
                                       stow_diag* diag, stow_plan** out_plan) {
  stow_plan* plan;
  *out_plan = NULL;
  STOW_TRY(stowi_plan_formula_begin_plan(walk, bound, effects, allocator, diag, &plan));
  stow_status status = fill(walk, bound, effects, plan, diag);
  if (status != STOW_OK) {
    stow_plan_destroy(plan);
    return status;
  }
  *out_plan = plan;
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
