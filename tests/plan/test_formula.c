// Formula plans against plans at every point: what a formula plan says of a point is a plan of the
// graph that is bound there, which the plan checker proves; and it is about as small.
#include <stdio.h>
#include <stdlib.h>
#include <stowage/formula.h>
#include <stowage/text.h>
#include <string.h>

#include "graph/api.h"
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

static stow_formula* make(const stow_graph* graph, const stow_formula_options* options) {
  stow_formula* formula = NULL;
  stow_diag diag;
  stow_diag_init(&diag);
  stow_status status = stow_formula_make(graph, options, heap(), &diag, &formula);
  test_check(status == STOW_OK, __FILE__, __LINE__, "%s", diag.message);
  return formula;
}

// The graph with the values of |point|, by binding a copy.
static stow_graph* bind(const stow_formula* formula, const stow_graph* graph, size_t point) {
  stow_str names[STOW_MAX_RANK];
  int64_t values[STOW_MAX_RANK];
  stow_graph* bound = NULL;
  stow_dim_range range;
  size_t count = stow_formula_symbol_count(formula);
  CHECK(stow_formula_point_values(formula, point, values));
  for (size_t i = 0; i < count; ++i) {
    names[i] = stow_formula_symbol(formula, i, &range);
  }
  CHECK(stowi_graph_copy(graph, heap(), NULL, &bound) == STOW_OK);
  stow_diag diag;
  stow_diag_init(&diag);
  stow_status status = stow_graph_bind(bound, names, values, count, &diag);
  test_check(status == STOW_OK, __FILE__, __LINE__, "%s", diag.message);
  return bound;
}

// Returns the bytes that the formula plan is above the plan made at this point.
static uint64_t check_point(const stow_formula* formula, const stow_graph* graph, size_t point,
                            bool compare) {
  stow_graph* bound = bind(formula, graph, point);
  stow_effects* effects = NULL;
  stow_plan* plan = NULL;
  stow_plan* own = NULL;
  stow_diag diag;
  stow_diag_init(&diag);
  CHECK(stow_effects_create(bound, heap(), &diag, &effects) == STOW_OK);
  stow_status status = stow_formula_at(formula, point, bound, effects, heap(), &diag, &plan);
  test_check(status == STOW_OK, __FILE__, __LINE__, "%s", diag.message);
  uint64_t more = 0;
  if (status == STOW_OK) {
    status = stow_plan_check(plan, bound, effects, heap(), &diag, NULL);
    test_check(status == STOW_OK, __FILE__, __LINE__, "%s", diag.message);
    stow_formula_point at = {.struct_size = sizeof(at)};
    CHECK(stow_formula_describe_point(formula, point, &at) == STOW_OK);
    CHECK(stow_plan_arena_size(plan) <= at.arena_size);
    CHECK(at.load <= at.arena_size);
  }
  if (status == STOW_OK && compare) {
    CHECK(stow_plan_make(bound, effects, NULL, heap(), &diag, &own) == STOW_OK);
    more = stow_plan_arena_size(plan) > stow_plan_arena_size(own)
               ? stow_plan_arena_size(plan) - stow_plan_arena_size(own)
               : 0;
  }
  stow_plan_destroy(own);
  stow_plan_destroy(plan);
  stow_effects_destroy(effects);
  stow_graph_destroy(bound);
  return more;
}

// All points are right, and none is more than |most| bytes above its own plan.
static void check_formula(const char* text, size_t regions, uint64_t most) {
  stow_module* module = parse(text);
  const stow_graph* graph = stow_module_graph(module, 0);
  stow_formula* formula = make(graph, NULL);
  if (formula != NULL) {
    stow_formula_info info = {.struct_size = sizeof(info)};
    CHECK(stow_formula_describe(formula, &info) == STOW_OK);
    CHECK_U64(info.region_count, regions);
    for (size_t point = 0; point < info.point_count; ++point) {
      uint64_t more = check_point(formula, graph, point, true);
      test_check(more <= most, __FILE__, __LINE__, "point %zu: %llu bytes more", point,
                 (unsigned long long)more);
    }
  }
  stow_formula_destroy(formula);
  stow_module_destroy(module);
}

TEST(OnePlanHoldsForAllLengths) {
  check_formula(
      "graph @g {\n"
      "  range ?seq = 1..40\n"
      "  %0 = input \"x\" : f32[?seq, 16]\n"
      "  %1 = param \"w\" : f32[16, 64]\n"
      "  %2 = matmul(%0, %1) : f32[?seq, 64]\n"
      "  %3 = relu(%2) : f32[?seq, 64]\n"
      "  %4 = param \"v\" : f32[64, 16]\n"
      "  %5 = matmul(%3, %4) : f32[?seq, 16]\n"
      "  %6 = add(%5, %0) : f32[?seq, 16]\n"
      "  return %6\n"
      "}\n",
      1, 0);
}

TEST(ConcatsAndSplitsMoveWithTheSizes) {
  check_formula(
      "graph @g {\n"
      "  range ?h = 1..12\n"
      "  range ?w = 8..64/8\n"
      "  %0 = input \"x\" : f32[1, 16, ?h, ?w]\n"
      "  %1 = relu(%0) : f32[1, 16, ?h, ?w]\n"
      "  %2, %3 = split(%1) {axis = 1} : f32[1, 8, ?h, ?w], f32[1, 8, ?h, ?w]\n"
      "  %4 = relu(%3) : f32[1, 8, ?h, ?w]\n"
      "  %5 = tanh(%4) : f32[1, 8, ?h, ?w]\n"
      "  %6 = concat(%2, %4, %5) {axis = 1} : f32[1, 24, ?h, ?w]\n"
      "  %7 = tanh(%6) : f32[1, 24, ?h, ?w]\n"
      "  return %7\n"
      "}\n",
      1, 1024);
}

TEST(TransposesThatBecomeViewsHaveARegion) {
  check_formula(
      "graph @g {\n"
      "  range ?seq = 1..20\n"
      "  %0 = input \"x\" : f32[?seq, 8, 4]\n"
      "  %1 = exp(%0) : f32[?seq, 8, 4]\n"
      "  %2 = transpose(%1) {perm = [1, 0, 2]} : f32[8, ?seq, 4]\n"
      "  %3 = tanh(%2) : f32[8, ?seq, 4]\n"
      "  return %3\n"
      "}\n",
      2, 0);
}
