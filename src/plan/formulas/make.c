// Makes a formula plan: plans at the largest point, keeps the structure, and measures it at every
// point; likewise at a few smaller ones, where another order may need less. Then, as long as there
// is a point at which no structure holds, or all are notably above the load, plans there too.
// Structures that others can stand in for are dropped. Those that remain are planned again at their
// largest arenas and in their middles: another order may have a lower load there.
//
// A structure holds at a point if the plan that it gives there passes the plan checker: whatever
// ops, effects and sizes do at other shapes, only what is proven is used.
#include <string.h>

#include "base/diag.h"
#include "plan/formulas/formula.h"

#define DEFAULT_MOST_PLANS 8
// Structures of a range; more would mean that it has no structure.
#define MOST_REGIONS 64
// Plans that are made to look further: so many, and of so many nodes together.
#define MOST_LOOKS 8
#define LOOK_NODES 16384

enum { UNKNOWN, HOLDS, FAILS };

typedef struct atlas {
  stowi_plan_formula_maker* maker;
  stow_formula* formula;
  bool is_off[MOST_REGIONS];      // is not used
  uint8_t* proofs[MOST_REGIONS];  // by region and point
  uint64_t* least_load;           // by point, of all structures that hold
  bool* is_tried;                 // by point
  size_t improvements;
  stow_diag failure;  // why a structure last did not hold
} atlas;

void stow_formula_options_defaults(stow_formula_options* options) {
  size_t size = options->struct_size;
  stow_formula_options defaults = {.most_plans = DEFAULT_MOST_PLANS,
                                   .most_work = STOW_FORMULA_MAX_WORK};
  (void)stowi_fill_struct(options, &defaults, sizeof(defaults), "stow_formula_options", NULL);
  options->struct_size = size;
}

// ---------------------------------------------------------------------------------------------
// Planning at a point

static stow_status fix_kept(stowi_plan_formula_maker* maker, stow_effects* effects) {
  for (size_t i = 0; i < maker->kept_count; ++i) {
    STOW_TRY(
        stow_effects_set_offset(effects, maker->kept[i].value, maker->kept[i].offset, maker->diag));
  }
  return STOW_OK;
}

static stow_status plan_with(stowi_plan_formula_maker* maker, size_t point, stow_effects* effects,
                             stowi_plan_formula_region** out_region) {
  stow_formula* formula = maker->formula;
  stow_plan* plan;
  STOW_TRY(fix_kept(maker, effects));
  STOW_TRY(stow_plan_make(formula->graph, effects, &maker->options, maker->allocator, maker->diag,
                          &plan));
  stow_status status = stowi_plan_formula_region_create(maker, point, plan, effects, out_region);
  stow_plan_destroy(plan);
  return status;
}

static stow_status plan_point(atlas* a, size_t point) {
  stowi_plan_formula_maker* maker = a->maker;
  stow_formula* formula = a->formula;
  size_t index = formula->regions.count;
  if (index >= MOST_REGIONS) {
    return stowi_fail(maker->diag, STOW_ERR_LIMIT,
                      "the range falls into more than %d regions; divide it", MOST_REGIONS);
  }
  a->proofs[index] = STOWI_ARRAY_ZERO(maker->allocator, uint8_t, formula->point_count);
  STOW_TRY(
      stowi_need_memory(a->proofs[index] != NULL &&
                            STOWI_VEC_RESERVE(formula->allocator, &formula->regions, 1) == STOW_OK,
                        maker->diag));
  stow_effects* effects;
  stowi_plan_formula_region* region = NULL;
  STOW_TRY(stowi_plan_formula_bind(maker, point));
  STOW_TRY(stowi_plan_formula_begin_effects(&maker->effects, formula->graph, maker->allocator,
                                            maker->diag, &effects));
  stow_status status = plan_with(maker, point, effects, &region);
  stowi_plan_formula_end_effects(&maker->effects, effects);
  stowi_graph_twin_unbind(formula->twin);
  STOW_TRY(status);
  formula->regions.data[formula->regions.count++] = region;
  ++formula->plan_count;
  a->is_tried[point] = true;
  return stowi_plan_formula_measure(formula, region, maker->diag);
}

// ---------------------------------------------------------------------------------------------
// Proofs

static stow_status check_plan(atlas* a, stow_formula_walk* walk, stow_diag* diag) {
  stowi_plan_formula_maker* maker = a->maker;
  stow_graph* graph = a->formula->graph;
  stow_effects* effects;
  stow_plan* plan = NULL;
  STOW_TRY(
      stowi_plan_formula_begin_effects(&maker->effects, graph, maker->allocator, diag, &effects));
  stow_status status =
      stowi_plan_formula_plan_at(walk, graph, effects, maker->allocator, diag, &plan);
  if (status == STOW_OK) {
    status = stow_plan_check(plan, graph, effects, maker->allocator, diag, NULL);
  }
  stow_plan_destroy(plan);
  stowi_plan_formula_end_effects(&maker->effects, effects);
  return status;
}

// Whether |region| holds at the walk's point is noted; only lack of memory is a failure.
static stow_status prove(atlas* a, stow_formula_walk* walk, size_t index, size_t point) {
  stowi_plan_formula_region* region = a->formula->regions.data[index];
  STOW_TRY(stowi_plan_formula_bind(a->maker, point));
  stow_status status = STOW_ERR_VIOLATION;
  stow_diag_init(&a->failure);
  if (stowi_plan_formula_walk_region(walk, region, point)) {
    status = check_plan(a, walk, &a->failure);
  }
  if (status == STOW_ERR_OUT_OF_MEMORY) {
    return stowi_fail_memory(a->maker->diag);
  }
  a->proofs[index][point] = status == STOW_OK ? HOLDS : FAILS;
  region->arena[point] = status == STOW_OK ? region->arena[point] : UINT64_MAX;
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Choosing

// The first structure that is good enough, or else the smallest; UINT32_MAX if none holds.
static uint32_t choose(const atlas* a, size_t point) {
  const stow_formula* formula = a->formula;
  uint64_t load = UINT64_MAX;
  uint64_t arena = UINT64_MAX;
  for (size_t i = 0; i < formula->regions.count; ++i) {
    const stowi_plan_formula_region* region = formula->regions.data[i];
    if (region->arena[point] != UINT64_MAX) {
      load = region->load[point] < load ? region->load[point] : load;
      arena = !a->is_off[i] && region->arena[point] < arena ? region->arena[point] : arena;
    }
  }
  a->least_load[point] = load;
  uint64_t limit =
      arena > stowi_plan_formula_tolerable(load) ? arena : stowi_plan_formula_tolerable(load);
  for (size_t i = 0; i < formula->regions.count && arena != UINT64_MAX; ++i) {
    if (!a->is_off[i] && formula->regions.data[i]->arena[point] <= limit) {
      return (uint32_t)i;
    }
  }
  return UINT32_MAX;
}

// Chooses for all points; what is chosen is proven.
static stow_status assign_with(atlas* a, stow_formula_walk* walk) {
  stow_formula* formula = a->formula;
  for (size_t point = 0; point < formula->point_count; ++point) {
    uint32_t chosen = choose(a, point);
    while (chosen != UINT32_MAX && a->proofs[chosen][point] != HOLDS) {
      STOW_TRY(prove(a, walk, chosen, point));
      chosen = choose(a, point);
    }
    formula->region_at[point] = chosen;
  }
  return STOW_OK;
}

static stow_status assign(atlas* a) {
  stow_formula_walk* walk;
  STOW_TRY(stow_formula_walk_create(a->formula, a->maker->allocator, a->maker->diag, &walk));
  stow_status status = assign_with(a, walk);
  stow_formula_walk_destroy(walk);
  stowi_graph_twin_unbind(a->formula->twin);
  return status;
}

static uint64_t arena_at(const atlas* a, size_t point) {
  uint32_t region = a->formula->region_at[point];
  return region == UINT32_MAX ? UINT64_MAX : a->formula->regions.data[region]->arena[point];
}

static bool is_good(const atlas* a, size_t point) {
  return arena_at(a, point) <= stowi_plan_formula_tolerable(a->least_load[point]);
}

static bool is_larger_gap(const atlas* a, size_t point, size_t than) {
  double x = (double)arena_at(a, point) / ((double)a->least_load[point] + 1);
  double y = (double)arena_at(a, than) / ((double)a->least_load[than] + 1);
  return x > y;
}

// The next point to plan at: the highest at which nothing holds; then the highest that is not good,
// once, and then those with the largest gaps. SIZE_MAX: none.
static size_t next_point(const atlas* a) {
  size_t worst = SIZE_MAX;
  for (size_t point = a->formula->point_count; point-- > 0;) {
    if (a->formula->region_at[point] == UINT32_MAX) {
      return point;
    }
    if (!is_good(a, point) && !a->is_tried[point]) {
      bool is_first = worst == SIZE_MAX;
      bool by_gap = a->improvements % 2 == 1;
      worst = is_first || (by_gap && is_larger_gap(a, point, worst)) ? point : worst;
    }
  }
  return worst;
}

static stow_status improve(atlas* a, uint32_t most_plans) {
  for (;;) {
    STOW_TRY(assign(a));
    size_t point = next_point(a);
    bool is_needed = point != SIZE_MAX && a->formula->region_at[point] == UINT32_MAX;
    if (is_needed && a->is_tried[point]) {
      return stowi_fail(a->maker->diag, STOW_ERR_UNSUPPORTED,
                        "a plan made at one point of the range does not hold there: %s",
                        a->failure.message);
    }
    if (point == SIZE_MAX || (!is_needed && a->improvements >= most_plans)) {
      return STOW_OK;
    }
    a->improvements += is_needed ? 0 : 1;
    STOW_TRY(plan_point(a, point));
  }
}

// Plans where each symbol has so many eighths of its range; the symbol |largest|, if any, has its
// whole range.
static stow_status plan_eighths(atlas* a, int64_t eighths, size_t largest) {
  const stow_formula* formula = a->formula;
  int64_t* values = a->maker->values;
  size_t point;
  for (size_t i = 0; i < formula->symbol_count; ++i) {
    size_t last = formula->value_counts[i] - 1;
    size_t index = i == largest ? last : last * (size_t)eighths / 8;
    values[i] = stowi_plan_formula_value_at(formula, i, stowi_plan_formula_step(formula, i, index));
  }
  return stow_formula_find_point(formula, values, &point) == STOW_OK && !a->is_tried[point]
             ? plan_point(a, point)
             : STOW_OK;
}

// That another structure has a lower load is not known before it is there.
static stow_status plan_probes(atlas* a) {
  static const int64_t eighths[] = {0, 1, 4};
  for (size_t i = 0; i < sizeof(eighths) / sizeof(eighths[0]); ++i) {
    STOW_TRY(plan_eighths(a, eighths[i], SIZE_MAX));
  }
  for (size_t i = 0; i < a->formula->symbol_count && a->formula->symbol_count > 1; ++i) {
    STOW_TRY(plan_eighths(a, 0, i));
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Dropping

// Whether all points have as good an arena as |before|, or a good one.
static bool is_as_good(const atlas* a, const uint64_t* before) {
  for (size_t point = 0; point < a->formula->point_count; ++point) {
    if (arena_at(a, point) > before[point] && !is_good(a, point)) {
      return false;
    }
  }
  return true;
}

// The same if all that is not proven yet held, which costs no proof.
static bool may_be_as_good(atlas* a, const uint64_t* before) {
  for (size_t point = 0; point < a->formula->point_count; ++point) {
    a->formula->region_at[point] = choose(a, point);
  }
  return is_as_good(a, before);
}

static stow_status drop_with(atlas* a, uint64_t* before) {
  stow_formula* formula = a->formula;
  for (size_t point = 0; point < formula->point_count; ++point) {
    before[point] = arena_at(a, point);
  }
  // The last ones first: those of the largest points are proven at most of the others.
  for (size_t i = formula->regions.count; i-- > 0;) {
    a->is_off[i] = true;
    if (may_be_as_good(a, before)) {
      STOW_TRY(assign(a));
      a->is_off[i] = is_as_good(a, before);
    } else {
      a->is_off[i] = false;
    }
  }
  return assign(a);
}

static stow_status drop(atlas* a) {
  size_t count = a->formula->point_count;
  uint64_t* before = STOWI_ARRAY(a->maker->allocator, uint64_t, count);
  STOW_TRY(stowi_need_memory(before != NULL, a->maker->diag));
  stow_status status = drop_with(a, before);
  STOWI_ARRAY_FREE(a->maker->allocator, before, count);
  return status;
}

// ---------------------------------------------------------------------------------------------
// Looking further

static bool has_region(const atlas* a, size_t point, uint32_t region) {
  return a->formula->region_at[point] == region;
}

// The last point of the region with the largest arena; SIZE_MAX if it has none.
static size_t largest_of(const atlas* a, uint32_t region) {
  size_t largest = SIZE_MAX;
  for (size_t point = a->formula->point_count; point-- > 0;) {
    if (has_region(a, point, region) &&
        (largest == SIZE_MAX || arena_at(a, point) > arena_at(a, largest))) {
      largest = point;
    }
  }
  return largest;
}

static uint64_t distance(uint64_t x, uint64_t y) { return x > y ? x - y : y - x; }

// The last point of the region whose arena is closest to half of its largest.
static size_t middle_of(const atlas* a, uint32_t region, size_t largest) {
  uint64_t half = arena_at(a, largest) / 2;
  size_t middle = largest;
  for (size_t point = a->formula->point_count; point-- > 0;) {
    if (has_region(a, point, region) &&
        distance(arena_at(a, point), half) < distance(arena_at(a, middle), half)) {
      middle = point;
    }
  }
  return middle;
}

// SIZE_MAX: all have been tried.
static size_t next_look(const atlas* a) {
  for (uint32_t i = 0; i < a->formula->regions.count; ++i) {
    size_t largest = largest_of(a, i);
    if (largest == SIZE_MAX) {
      continue;
    }
    size_t middle = middle_of(a, i, largest);
    if (!a->is_tried[largest] || !a->is_tried[middle]) {
      return a->is_tried[largest] ? middle : largest;
    }
  }
  return SIZE_MAX;
}

static stow_status look_further(atlas* a, uint32_t most_plans) {
  uint64_t nodes = a->formula->step_count == 0 ? 1 : a->formula->step_count;
  uint64_t budget = LOOK_NODES / nodes < MOST_LOOKS ? LOOK_NODES / nodes : MOST_LOOKS;
  size_t point = next_look(a);
  for (; budget-- > 0 && point != SIZE_MAX && a->formula->regions.count < MOST_REGIONS / 2;
       point = next_look(a)) {
    STOW_TRY(plan_point(a, point));
    STOW_TRY(improve(a, most_plans));
  }
  return drop(a);
}

// ---------------------------------------------------------------------------------------------
// The end

// Regions that no point has are removed.
static void compact(atlas* a) {
  stow_formula* formula = a->formula;
  uint32_t number[MOST_REGIONS];
  bool is_used[MOST_REGIONS] = {false};
  size_t kept = 0;
  for (size_t point = 0; point < formula->point_count; ++point) {
    is_used[formula->region_at[point]] = true;
  }
  for (size_t i = 0; i < formula->regions.count; ++i) {
    number[i] = (uint32_t)kept;
    if (is_used[i]) {
      formula->regions.data[kept++] = formula->regions.data[i];
    } else {
      stowi_plan_formula_region_destroy(formula, formula->regions.data[i]);
    }
  }
  formula->regions.count = kept;
  for (size_t point = 0; point < formula->point_count; ++point) {
    formula->region_at[point] = number[formula->region_at[point]];
  }
}

// A load is that of the structure with the lowest one.
static stow_status finish(atlas* a) {
  stow_formula* formula = a->formula;
  for (size_t point = 0; point < formula->point_count; ++point) {
    formula->regions.data[formula->region_at[point]]->load[point] = a->least_load[point];
  }
  compact(a);
  return stowi_need_memory(stowi_plan_formula_make_boxes(formula) == STOW_OK, a->maker->diag);
}

// What effects are at shapes between points is not asked.
static stow_status check_effects(const atlas* a) {
  const stow_formula_effects* effects = &a->maker->effects;
  if (!a->formula->by_bounds || effects->begin == NULL || effects->is_same_everywhere) {
    return STOW_OK;
  }
  return stowi_fail(a->maker->diag, STOW_ERR_LIMIT,
                    "the ranges have more points than can be asked how much scratch kernels need "
                    "there; plan without kernels, or give smaller ranges or larger steps");
}

static stow_status run(atlas* a, uint32_t most_plans) {
  stowi_plan_formula_maker* maker = a->maker;
  size_t count = a->formula->point_count;
  maker->values = STOWI_ARRAY(maker->allocator, int64_t, a->formula->all_symbols);
  a->least_load = STOWI_ARRAY_ZERO(maker->allocator, uint64_t, count);
  a->is_tried = STOWI_ARRAY_ZERO(maker->allocator, bool, count);
  STOW_TRY(stowi_need_memory(maker->values != NULL && a->least_load != NULL && a->is_tried != NULL,
                             maker->diag));
  STOW_TRY(check_effects(a));
  STOW_TRY(stowi_plan_formula_survey(maker));
  STOW_TRY(plan_point(a, count - 1));
  STOW_TRY(plan_probes(a));
  STOW_TRY(improve(a, most_plans));
  STOW_TRY(drop(a));
  STOW_TRY(look_further(a, most_plans));
  STOW_TRY(finish(a));
  STOW_TRY(stowi_plan_formula_find_sums(a->formula, maker->diag));
  return a->formula->by_bounds ? stowi_plan_formula_find_bounds(a->formula, maker->diag) : STOW_OK;
}

static void release(atlas* a) {
  stowi_plan_formula_maker* maker = a->maker;
  size_t count = a->formula->point_count;
  for (size_t i = 0; i < MOST_REGIONS; ++i) {
    STOWI_ARRAY_FREE(maker->allocator, a->proofs[i], count);
  }
  STOWI_ARRAY_FREE(maker->allocator, maker->values, a->formula->all_symbols);
  STOWI_ARRAY_FREE(maker->allocator, a->least_load, count);
  STOWI_ARRAY_FREE(maker->allocator, a->is_tried, count);
  STOWI_ARRAY_FREE(maker->allocator, maker->scratch, maker->scratch_count);
  STOWI_ARRAY_FREE(maker->allocator, maker->kept, maker->kept_count);
}

stow_status stowi_plan_formula_load_options(const stow_formula_options* given,
                                            stow_formula_options* out, stow_plan_options* out_plan,
                                            stow_diag* diag) {
  stow_formula_options_init(out);
  if (given != NULL) {
    STOW_TRY(stowi_load_struct(out, given, sizeof(*out), "stow_formula_options", diag));
  }
  STOW_TRY(stowi_plan_options_load(out->plan, diag, out_plan));
  if (out_plan->schedule != NULL || out_plan->start != NULL ||
      out_plan->capacity != STOW_NO_CAPACITY) {
    return stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT,
                      "a formula plan cannot have a schedule, a start or a capacity");
  }
  out_plan->pack_params = false;  // what is kept lies at the bottom anyway
  out_plan->least_row = 0;        // places in roots are offsets alone
  return STOW_OK;
}

stow_status stow_formula_make(const stow_graph* graph, const stow_formula_options* options,
                              stow_allocator allocator, stow_diag* diag,
                              stow_formula** out_formula) {
  *out_formula = NULL;
  stow_formula_options asked;
  stowi_plan_formula_maker maker = {.allocator = allocator, .diag = diag};
  STOW_TRY(stowi_plan_formula_load_options(options, &asked, &maker.options, diag));
  stowi_plan_formula_limits limits = {.work = asked.most_work, .by_bounds = asked.by_bounds};
  STOW_TRY(stowi_plan_formula_create(graph, &limits, allocator, diag, &maker.formula));
  maker.effects = asked.effects;
  memcpy(maker.formula->strategy, maker.options.strategy->name,
         strlen(maker.options.strategy->name) + 1);
  atlas a = {.maker = &maker, .formula = maker.formula};
  stow_status status = run(&a, asked.most_plans);
  release(&a);
  if (status != STOW_OK) {
    stow_formula_destroy(maker.formula);
    return status;
  }
  *out_formula = maker.formula;
  return STOW_OK;
}
