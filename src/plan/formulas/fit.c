// The points of a range that fit into a capacity. Those whose arena is not above it do. The next
// larger ones after the last of them are planned for themselves, with the capacity, since a plan of
// their own may be smaller, or the search may prove that none is small enough.
#include "base/diag.h"
#include "plan/formulas/formula.h"

// Points in a row that are proven not to fit, after which no more are planned.
#define ENOUGH 3
// Points that are planned at most.
#define MOST_PLANNED 16

typedef struct fitter {
  stow_formula* formula;
  const stow_formula_options* asked;
  stow_plan_options options;
  stowi_graph_twin* twin;
  int64_t* values;
  stow_allocator allocator;
  stow_diag* diag;
} fitter;

// A plan that does not fit proves something if no order needs less than the capacity, or its order
// is the only one and no placement of it fits.
static stow_fit_kind judge(const fitter* f, const stow_plan* plan) {
  stow_fit fit = {.struct_size = sizeof(fit)};
  stow_ordering ordering = {.struct_size = sizeof(ordering)};
  stow_plan_describe_fit(plan, &fit);
  stow_plan_describe_ordering(plan, &ordering);
  if (fit.fits) {
    return STOW_FIT_OWN;
  }
  bool is_ruled_out = ordering.any_bound > f->options.capacity ||
                      (!fit.possible && f->options.order == STOW_ORDER_GIVEN);
  return is_ruled_out ? STOW_FIT_NO : STOW_FIT_UNKNOWN;
}

static stow_status plan_point(fitter* f, size_t point, stow_fit_point* out) {
  const stow_formula_effects* source = &f->asked->effects;
  const stow_graph* graph = stowi_graph_twin_graph(f->twin);
  stow_effects* effects;
  stow_plan* plan = NULL;
  stowi_plan_formula_values(f->formula, point, f->values);
  STOW_TRY(stowi_graph_twin_bind(f->twin, f->values, f->diag));
  STOW_TRY(stowi_plan_formula_begin_effects(source, graph, f->allocator, f->diag, &effects));
  stow_status status = stow_plan_make(graph, effects, &f->options, f->allocator, f->diag, &plan);
  if (status == STOW_OK) {
    out->kind = judge(f, plan);
    out->arena_size = stow_plan_arena_size(plan);
  }
  stow_plan_destroy(plan);
  stowi_plan_formula_end_effects(source, effects);
  return status;
}

static stow_status search(fitter* f, size_t first, stow_fit_point* out) {
  size_t planned = 0;
  size_t ruled_out = 0;
  for (size_t point = first; point < f->formula->point_count; ++point) {
    if (planned == MOST_PLANNED || (ruled_out >= ENOUGH && out[point].kind == STOW_FIT_LOAD)) {
      continue;
    }
    STOW_TRY(plan_point(f, point, &out[point]));
    ++planned;
    ruled_out = out[point].kind == STOW_FIT_NO ? ruled_out + 1 : 0;
  }
  return STOW_OK;
}

// By the formula plan alone. Returns the point after the last one that fits.
static size_t compare(const stow_formula* formula, uint64_t capacity, stow_fit_point* out) {
  size_t next = 0;
  for (size_t point = 0; point < formula->point_count; ++point) {
    stow_formula_point at = {.struct_size = sizeof(at)};
    stow_formula_describe_point(formula, point, &at);
    out[point].arena_size = at.arena_size;
    out[point].load = at.load;
    out[point].kind = at.arena_size <= capacity ? STOW_FIT_YES
                      : at.load > capacity      ? STOW_FIT_LOAD
                                                : STOW_FIT_UNKNOWN;
    next = at.arena_size <= capacity ? point + 1 : next;
  }
  return next;
}

stow_status stow_formula_fit(stow_formula* formula, uint64_t capacity,
                             const stow_formula_options* options, stow_allocator allocator,
                             stow_diag* diag, stow_fit_point* out_points, size_t* out_largest) {
  stow_formula_options asked;
  fitter f = {.formula = formula, .asked = &asked, .allocator = allocator, .diag = diag};
  *out_largest = SIZE_MAX;
  STOW_TRY(stowi_plan_formula_load_options(options, &asked, &f.options, diag));
  if (formula->by_bounds) {
    return stowi_fail(diag, STOW_ERR_LIMIT,
                      "the ranges have too many points to look at each; give smaller ranges or "
                      "larger steps");
  }
  size_t next = compare(formula, capacity, out_points);
  f.options.capacity = capacity;
  STOW_TRY(stowi_graph_twin_create(formula->graph, allocator, diag, &f.twin));
  f.values = STOWI_ARRAY(allocator, int64_t, formula->all_symbols);
  stow_status status = stowi_need_memory(f.values != NULL, diag);
  status = status == STOW_OK ? search(&f, next, out_points) : status;
  STOWI_ARRAY_FREE(allocator, f.values, formula->all_symbols);
  stowi_graph_twin_destroy(f.twin);
  for (size_t point = 0; status == STOW_OK && point < formula->point_count; ++point) {
    bool fits = out_points[point].kind == STOW_FIT_YES || out_points[point].kind == STOW_FIT_OWN;
    *out_largest = fits ? point : *out_largest;
  }
  return status;
}
