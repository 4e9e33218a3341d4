// Plans by bounds, which look at a sample of a range, against all of its shapes: the plan must be
// correct at each, and no arena or gap may be above its bound.
#include <stdio.h>
#include <stowage/formula.h>
#include <stowage/text.h>
#include <string.h>

#include "base/diag.h"
#include "graph/api.h"
#include "plan/formulas/formula.h"
#include "random_range.h"
#include "support/fault.h"
#include "support/test.h"

static stow_allocator heap(void) { return stow_allocator_default(); }

static stow_module* parse(const char* text) {
  stow_module* module = NULL;
  stow_diag diag;
  stow_diag_init(&diag);
  stow_status status =
      stow_module_parse(text, strlen(text), "test.stow", NULL, heap(), &diag, &module);
  test_check(status == STOW_OK, __FILE__, __LINE__, "%s", diag.message);
  return module;
}

// All ranges are too large; the sample has four values of a symbol with more.
static stow_formula_options by_bounds(const stow_plan_options* plan) {
  stow_formula_options options;
  stow_formula_options_init(&options);
  options.plan = plan;
  options.by_bounds = true;
  options.most_work = 1;
  return options;
}

static stow_formula* make(const stow_graph* graph, const stow_plan_options* plan) {
  stow_formula_options options = by_bounds(plan);
  stow_formula* formula = NULL;
  stow_diag diag;
  stow_diag_init(&diag);
  stow_status status = stow_formula_make(graph, &options, heap(), &diag, &formula);
  test_check(status == STOW_OK, __FILE__, __LINE__, "%s", diag.message);
  return formula;
}

// ---------------------------------------------------------------------------------------------
// Every shape

// The region whose boxes have these values; exactly one has.
static size_t region_of(const stow_formula* formula, const int64_t* values) {
  size_t found = SIZE_MAX;
  size_t times = 0;
  int64_t first[STOW_MAX_RANK];
  int64_t last[STOW_MAX_RANK];
  for (size_t r = 0; r < formula->regions.count; ++r) {
    for (size_t b = 0; stow_formula_box(formula, r, b, first, last); ++b) {
      bool is_inside = true;
      for (size_t i = 0; i < formula->symbol_count; ++i) {
        is_inside = is_inside && values[i] >= first[i] && values[i] <= last[i];
      }
      found = is_inside ? r : found;
      times += is_inside ? 1 : 0;
    }
  }
  CHECK_U64(times, 1);
  return found;
}

static void check_shape(const stow_formula* formula, const stow_graph* graph, const int64_t* values,
                        bool has_gaps) {
  stow_str names[STOW_MAX_RANK];
  int64_t all[STOW_MAX_RANK] = {0};
  stow_graph* bound = NULL;
  stow_effects* effects = NULL;
  stow_plan* plan = NULL;
  stow_diag diag;
  stow_diag_init(&diag);
  for (size_t i = 0; i < formula->symbol_count; ++i) {
    names[i] = stow_formula_symbol(formula, i, NULL);
    all[formula->symbols[i]] = values[i];
  }
  CHECK(stowi_graph_copy(graph, heap(), NULL, &bound) == STOW_OK);
  CHECK(stow_graph_bind(bound, names, values, formula->symbol_count, &diag) == STOW_OK);
  CHECK(stow_effects_create(bound, heap(), &diag, &effects) == STOW_OK);
  stow_status status = stowi_plan_formula_at_shape(formula, region_of(formula, values), all, bound,
                                                   effects, heap(), &diag, &plan);
  status = status == STOW_OK ? stow_plan_check(plan, bound, effects, heap(), &diag, NULL) : status;
  test_check(status == STOW_OK, __FILE__, __LINE__, "at %lld: %s", (long long)values[0],
             diag.message);
  if (status == STOW_OK) {
    stow_formula_info info = {.struct_size = sizeof(info)};
    stow_formula_describe(formula, &info);
    double arena = (double)stow_plan_arena_size(plan);
    double gap = arena / ((double)stow_plan_lower_bound(plan) + 1);
    CHECK(stow_plan_arena_size(plan) <= info.arena_bound);
    CHECK(!has_gaps || gap <= (double)info.gap_arena / ((double)info.gap_load + 1));
  }
  stow_plan_destroy(plan);
  stow_effects_destroy(effects);
  stow_graph_destroy(bound);
}

// |has_gaps|: the load of the plan's structure is that of its values.
static void check_shapes(const stow_formula* formula, const stow_graph* graph, bool has_gaps) {
  int64_t values[STOW_MAX_RANK] = {0};
  uint64_t count = 0;
  for (size_t i = 0; i < formula->symbol_count; ++i) {
    values[i] = formula->ranges[i].min;
  }
  for (size_t at = 0; at < formula->symbol_count; ++count) {
    check_shape(formula, graph, values, has_gaps);
    at = 0;
    while (at < formula->symbol_count &&
           (values[at] += formula->ranges[at].step) > formula->ranges[at].max) {
      values[at] = formula->ranges[at].min;
      ++at;
    }
  }
  CHECK_U64(count, formula->shape_count);
}

// True if it could be proven.
static bool check_formula(const stow_graph* graph, const stow_plan_options* plan) {
  stow_formula* formula = make(graph, plan);
  if (formula == NULL) {
    return false;
  }
  stow_diag diag;
  stow_diag_init(&diag);
  stow_status status = stow_formula_check(formula, NULL, heap(), &diag);
  // Between points the structures may not hold; that is found.
  test_check(status == STOW_OK || status == STOW_ERR_UNSUPPORTED || status == STOW_ERR_VIOLATION,
             __FILE__, __LINE__, "%s", diag.message);
  stow_formula_info info = {.struct_size = sizeof(info)};
  stow_formula_describe(formula, &info);
  CHECK(info.by_bounds && info.point_count < info.shape_count);
  if (status == STOW_OK) {
    check_shapes(formula, graph, true);
  }
  stow_formula_destroy(formula);
  return status == STOW_OK;
}

static void check_text(const char* text) {
  stow_module* module = parse(text);
  CHECK(check_formula(stow_module_graph(module, 0), NULL));
  stow_module_destroy(module);
}

static const char mlp[] =
    "graph @g {\n"
    "  range ?seq = 1..400\n"
    "  %0 = input \"x\" : f32[?seq, 16]\n"
    "  %1 = param \"w\" : f32[16, 64]\n"
    "  %2 = matmul(%0, %1) : f32[?seq, 64]\n"
    "  %3 = relu(%2) : f32[?seq, 64]\n"
    "  %4 = param \"v\" : f32[64, 16]\n"
    "  %5 = matmul(%3, %4) : f32[?seq, 16]\n"
    "  %6 = add(%5, %0) : f32[?seq, 16]\n"
    "  return %6\n"
    "}\n";

TEST(OnePlanHoldsForAllLengths) { check_text(mlp); }

TEST(ConcatsAndSplitsMoveWithTheSizes) {
  check_text(
      "graph @g {\n"
      "  range ?h = 1..40\n"
      "  range ?w = 8..256/8\n"
      "  %0 = input \"x\" : f32[1, 16, ?h, ?w]\n"
      "  %1 = relu(%0) : f32[1, 16, ?h, ?w]\n"
      "  %2, %3 = split(%1) {axis = 1} : f32[1, 8, ?h, ?w], f32[1, 8, ?h, ?w]\n"
      "  %4 = relu(%3) : f32[1, 8, ?h, ?w]\n"
      "  %5 = tanh(%4) : f32[1, 8, ?h, ?w]\n"
      "  %6 = concat(%2, %4, %5) {axis = 1} : f32[1, 24, ?h, ?w]\n"
      "  %7 = tanh(%6) : f32[1, 24, ?h, ?w]\n"
      "  return %7\n"
      "}\n");
}

TEST(TransposesThatBecomeViewsHaveARegion) {
  check_text(
      "graph @g {\n"
      "  range ?seq = 1..300\n"
      "  %0 = input \"x\" : f32[?seq, 8, 4]\n"
      "  %1 = exp(%0) : f32[?seq, 8, 4]\n"
      "  %2 = transpose(%1) {perm = [1, 0, 2]} : f32[8, ?seq, 4]\n"
      "  %3 = tanh(%2) : f32[8, ?seq, 4]\n"
      "  return %3\n"
      "}\n");
}

TEST(CachesMayBeEmpty) {
  check_text(
      "graph @g {\n"
      "  range ?past = 0..200\n"
      "  range ?len = 1..9\n"
      "  %0 = input \"x\" : f32[2, ?len, 8]\n"
      "  %1 = input \"keys\" : f32[2, ?past, 8]\n"
      "  %2 = concat(%1, %0) {axis = 1} : f32[2, ?(past + len), 8]\n"
      "  %3 = tanh(%2) : f32[2, ?(past + len), 8]\n"
      "  return %3\n"
      "}\n");
}

TEST(RandomGraphsAreRightAtEveryShape) {
  uint64_t seeds = test_is_long() ? 400 : 24;
  uint64_t proven = 0;
  for (uint64_t seed = 0; seed < seeds; ++seed) {
    test_random random = {seed};
    stow_graph* graph =
        random_range_graph(&random, (stow_dim_range){0, 33, 1}, (stow_dim_range){1, 17, 2}, heap());
    stow_plan_options plan;
    stow_plan_options_init(&plan, STOW_PRESET_DEFAULT);
    plan.nodes = 2000;
    plan.alignment = UINT64_C(1) << test_random_below(&random, 7);
    plan.tail_guard = test_random_below(&random, 4) == 0 ? 8 : 0;
    plan.order_nodes = 1000;
    proven += check_formula(graph, &plan) ? 1 : 0;
    stow_graph_destroy(graph);
  }
  CHECK(proven >= seeds / 4);
}

// ---------------------------------------------------------------------------------------------
// What is wrong between points

// An expression that is |dim| at all points, and more where |symbol| is between the last two values
// of the sample.
static stow_dim raised(const stow_formula* formula, stow_dim dim) {
  stow_dims* dims = stow_graph_edit_dims(formula->graph);
  size_t last = formula->value_counts[0] - 1;
  int64_t low = formula->ranges[0].min + (int64_t)formula->samples[0][last - 1];
  int64_t high = formula->ranges[0].min + (int64_t)formula->samples[0][last];
  stow_dim symbol = stow_dim_symbol(dims, stow_dims_symbol_name(dims, formula->symbols[0]));
  stow_dim above = stow_dim_max(dims, stow_dim_sub(dims, symbol, low), 0);
  stow_dim below = stow_dim_sub(dims, stow_dim_of_int(dims, high), symbol);
  stow_dim more = stow_dim_max(dims, stow_dim_min(dims, above, below), 0);
  return stow_dim_add(dims, dim, stow_dim_mul(dims, more, 64));
}

TEST(WrongSizesAndPlacesBetweenPointsAreFound) {
  stow_module* module = parse(
      "graph @g {\n"
      "  range ?seq = 16..1600/16\n"
      "  %0 = input \"x\" : f32[?seq, 4]\n"
      "  %1 = relu(%0) : f32[?seq, 4]\n"
      "  %2 = tanh(%0) : f32[?seq, 4]\n"
      "  %3 = concat(%1, %2) {axis = 0} : f32[?(2*seq), 4]\n"
      "  %4 = tanh(%3) : f32[?(2*seq), 4]\n"
      "  return %4\n"
      "}\n");
  size_t changed = 0;
  stow_formula* formula = make(stow_module_graph(module, 0), NULL);
  REQUIRE(formula != NULL);
  CHECK(stow_formula_check(formula, NULL, heap(), NULL) == STOW_OK);
  for (size_t i = 0; i < formula->exprs.count; ++i) {
    stow_dim before = formula->exprs.data[i].dim;
    if (before >= 0) {
      continue;
    }
    ++changed;
    formula->exprs.data[i].dim = raised(formula, before);
    stow_diag diag;
    stow_diag_init(&diag);
    stow_status status = stow_formula_check(formula, NULL, heap(), &diag);
    test_check(status == STOW_ERR_UNSUPPORTED || status == STOW_ERR_VIOLATION, __FILE__, __LINE__,
               "expression %zu: %s", i, diag.message);
    formula->exprs.data[i].dim = before;
  }
  CHECK(changed >= 2);
  stow_formula_destroy(formula);
  stow_module_destroy(module);
}

// The param lies at a fixed offset, and sizes do not grow with the symbol.
TEST(RoomBelowFixedOffsetsIsProven) {
  stow_module* module = parse(
      "graph @g {\n"
      "  range ?n = 2..30000\n"
      "  %0 = input \"x\" : f32[?(max(n, 40000 - n)), 16]\n"
      "  %1 = param \"w\" : f32[16, 64]\n"
      "  %2 = matmul(%0, %1) : f32[?(max(n, 40000 - n)), 64]\n"
      "  return %2\n"
      "}\n");
  stow_formula* formula = make(stow_module_graph(module, 0), NULL);
  REQUIRE(formula != NULL);
  stow_diag diag;
  stow_diag_init(&diag);
  stow_status status = stow_formula_check(formula, NULL, heap(), &diag);
  CHECK(status == STOW_ERR_UNSUPPORTED);
  CHECK_HAS(diag.message, "room below fixed offsets");
  stow_formula_destroy(formula);
  stow_module_destroy(module);
}

TEST(ABoundThatIsTooLowIsFound) {
  stow_module* module = parse(mlp);
  stow_formula* formula = make(stow_module_graph(module, 0), NULL);
  REQUIRE(formula != NULL);
  --formula->bound.arena;
  CHECK(stow_formula_check(formula, NULL, heap(), NULL) == STOW_ERR_VIOLATION);
  stow_formula_destroy(formula);
  stow_module_destroy(module);
}

TEST(ChangedTextNeverPassesAsAWrongPlan) {
  size_t passed = 0;
  size_t tried = 0;
  for (uint64_t seed = 0; seed < (test_is_long() ? 60 : 6); ++seed) {
    test_random random = {seed};
    stow_graph* graph =
        random_range_graph(&random, (stow_dim_range){0, 23, 1}, (stow_dim_range){1, 17, 4}, heap());
    stow_formula* formula = make(graph, NULL);
    REQUIRE(formula != NULL);
    stow_string text;
    stow_string_init(&text, heap());
    CHECK(stow_formula_write(formula, STOW_PLAN_SAVED, stow_string_writer(&text)) == STOW_OK);
    for (size_t i = 0; i < 100; ++i, ++tried) {
      size_t at = test_random_below(&random, text.size);
      char before = text.data[at];
      text.data[at] = (char)('0' + test_random_below(&random, 10));
      stow_formula* read = NULL;
      if (before != text.data[at] &&
          stow_formula_read(text.data, text.size, NULL, graph, heap(), NULL, &read) == STOW_OK &&
          stow_formula_check(read, NULL, heap(), NULL) == STOW_OK) {
        check_shapes(read, graph, false);  // it may keep more than it must
        ++passed;
      }
      stow_formula_destroy(read);
      text.data[at] = before;
    }
    stow_string_free(&text);
    stow_formula_destroy(formula);
    stow_graph_destroy(graph);
  }
  CHECK(passed < tried / 10);
}

// ---------------------------------------------------------------------------------------------
// Others

TEST(WhatIsReadIsWrittenAgain) {
  stow_module* module = parse(mlp);
  const stow_graph* graph = stow_module_graph(module, 0);
  stow_formula* formula = make(graph, NULL);
  stow_formula* read = NULL;
  stow_string texts[2];
  REQUIRE(formula != NULL);
  stow_string_init(&texts[0], heap());
  stow_string_init(&texts[1], heap());
  CHECK(stow_formula_write(formula, STOW_PLAN_SAVED, stow_string_writer(&texts[0])) == STOW_OK);
  CHECK(stow_formula_read(texts[0].data, texts[0].size, NULL, graph, heap(), NULL, &read) ==
        STOW_OK);
  REQUIRE(read != NULL);
  CHECK(stow_formula_write(read, STOW_PLAN_SAVED, stow_string_writer(&texts[1])) == STOW_OK);
  CHECK(texts[0].size == texts[1].size && memcmp(texts[0].data, texts[1].data, texts[0].size) == 0);
  CHECK(stow_formula_check(read, NULL, heap(), NULL) == STOW_OK);
  CHECK_U64(read->bound.arena, formula->bound.arena);
  CHECK_U64(read->bound.gap_arena, formula->bound.gap_arena);
  stow_string_free(&texts[0]);
  stow_string_free(&texts[1]);
  stow_formula_destroy(read);
  stow_formula_destroy(formula);
  stow_module_destroy(module);
}

TEST(PointsAreTheSample) {
  stow_module* module = parse(mlp);
  stow_formula* formula = make(stow_module_graph(module, 0), NULL);
  REQUIRE(formula != NULL);
  const int64_t between = 200;
  const int64_t last = 400;
  size_t point;
  CHECK(stow_formula_find_point(formula, &between, &point) == STOW_ERR_NOT_FOUND);
  CHECK(stow_formula_find_point(formula, &last, &point) == STOW_OK && point == 3 &&
        stow_formula_point_count(formula) == 4);
  stow_fit_point points[4];
  CHECK(stow_formula_fit(formula, 1000, NULL, heap(), NULL, points, &point) == STOW_ERR_LIMIT);
  stow_formula_destroy(formula);
  stow_module_destroy(module);
}

static stow_status begin_clauses(void* user, const stow_graph* bound, stow_allocator allocator,
                                 stow_diag* diag, stow_effects** out_effects) {
  (void)user;
  return stow_effects_create(bound, allocator, diag, out_effects);
}

TEST(EffectsMustBeTheSameEverywhere) {
  stow_module* module = parse(mlp);
  const stow_graph* graph = stow_module_graph(module, 0);
  stow_formula_options options = by_bounds(NULL);
  stow_formula* formula = NULL;
  stow_diag diag;
  stow_diag_init(&diag);
  options.effects.begin = begin_clauses;
  CHECK(stow_formula_make(graph, &options, heap(), &diag, &formula) == STOW_ERR_LIMIT);
  CHECK_HAS(diag.message, "plan without kernels");
  options.effects.is_same_everywhere = true;
  CHECK(stow_formula_make(graph, &options, heap(), &diag, &formula) == STOW_OK);
  CHECK(stow_formula_check(formula, &options.effects, heap(), NULL) == STOW_OK);
  options.effects.is_same_everywhere = false;
  CHECK(stow_formula_check(formula, &options.effects, heap(), NULL) == STOW_ERR_UNSUPPORTED);
  stow_formula_destroy(formula);
  stow_module_destroy(module);
}

TEST(BranchesAreRefused) {
  stow_module* module = parse(
      "graph @g {\n"
      "  range ?n = 2..900\n"
      "  %0 = input \"c\" : bool[]\n"
      "  %1 = input \"x\" : f32[?n]\n"
      "  %4 = if(%0) {\n"
      "    %2 = relu(%1) : f32[?n]\n"
      "    yield %2\n"
      "  } else {\n"
      "    %3 = tanh(%1) : f32[?n]\n"
      "    yield %3\n"
      "  } : f32[?n]\n"
      "  return %4\n"
      "}\n");
  stow_formula* formula = make(stow_module_graph(module, 0), NULL);
  REQUIRE(formula != NULL);
  stow_diag diag;
  stow_diag_init(&diag);
  CHECK(stow_formula_check(formula, NULL, heap(), &diag) == STOW_ERR_UNSUPPORTED);
  CHECK_HAS(diag.message, "a branch or a loop is not proven for all shapes");
  stow_formula_destroy(formula);
  stow_module_destroy(module);
}

static stow_status attempt(stow_allocator allocator, void* user) {
  const stow_graph* graph = (const stow_graph*)user;
  stow_formula* formula = NULL;
  stow_plan_options plan;
  stow_plan_options_init(&plan, STOW_PRESET_DEFAULT);
  plan.nodes = 10;
  stow_formula_options options = by_bounds(&plan);
  stow_status status = stow_formula_make(graph, &options, allocator, NULL, &formula);
  if (status == STOW_OK) {
    status = stow_formula_check(formula, NULL, allocator, NULL);
  }
  stow_formula_destroy(formula);
  return status;
}

TEST(FailedAllocationsAreReported) {
  stow_module* module = parse(
      "graph @g {\n"
      "  range ?s = 2..6\n"
      "  %0 = input \"x\" : f32[?s, 16]\n"
      "  %1 = relu(%0) : f32[?s, 16]\n"
      "  %2 = concat(%1, %1) {axis = 0} : f32[?(2*s), 16]\n"
      "  return %2\n"
      "}\n");
  CHECK(test_fault_sweep(attempt, stow_module_graph(module, 0)) > 100);
  stow_module_destroy(module);
}
