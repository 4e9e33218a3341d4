// Plans that change their sizes: what stowi_plan_resize makes of a plan has no two buffers that
// overlap, at any size, for random graphs; and what stowi_plan_mover_to makes of a formula plan at
// a point is stow_formula_at's, slot by slot.
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <stowage/formula.h>
#include <stowage/text.h>
#include <string.h>

#include "graph/api.h"
#include "plan/api.h"
#include "plan/plan_internal.h"
#include "support/fault.h"
#include "support/test.h"

static stow_allocator heap(void) { return stow_allocator_default(); }

typedef struct text {
  char data[8192];
  size_t size;
} text;

static void put(text* t, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  t->size += (size_t)vsnprintf(t->data + t->size, sizeof(t->data) - t->size, format, arguments);
  va_end(arguments);
}

#define MOST_NODES 14

// Values are f32[?n, c] with different widths: what is in place for one n is so for all.
static void write_graph(text* t, uint64_t seed) {
  test_random random = {seed};
  size_t count = 3 + (size_t)test_random_below(&random, MOST_NODES - 3);
  uint64_t widths[MOST_NODES + 1];
  t->size = 0;
  put(t, "graph @g {\n range ?n = 1..70\n%%0 = input \"x\" : f32[?n, 8]\n");
  widths[0] = 8;
  for (size_t i = 1; i <= count; ++i) {
    size_t a = (size_t)test_random_below(&random, i);
    size_t b = (size_t)test_random_below(&random, i);
    uint64_t kind = test_random_below(&random, 3);
    uint64_t scratch = test_random_below(&random, 3) * 100;
    widths[i] = widths[a];
    if (kind == 0 && widths[a] == widths[b]) {
      put(t, "%%%zu = add(%%%zu, %%%zu) : f32[?n, %llu]", i, a, b, (unsigned long long)widths[i]);
    } else if (kind == 1) {
      widths[i] = 1 + test_random_below(&random, 40);
      put(t, "%%%zu = custom(%%%zu) {name = \"wider\"} : f32[?n, %llu]", i, a,
          (unsigned long long)widths[i]);
    } else {
      put(t, "%%%zu = relu(%%%zu) : f32[?n, %llu]", i, a, (unsigned long long)widths[i]);
    }
    if (scratch != 0) {
      put(t, " with {scratch = [%llu, 64]}", (unsigned long long)scratch);
    }
    put(t, "\n");
  }
  put(t, "return %%%zu\n}\n", count);
}

// Values are f32[h, ?n, 4], and parts of others along the first dim.
static void write_parts(text* t, uint64_t seed) {
  test_random random = {seed};
  size_t count = 3 + (size_t)test_random_below(&random, MOST_NODES - 3);
  uint64_t heights[MOST_NODES + 1] = {1};
  t->size = 0;
  put(t, "graph @g {\n range ?n = 1..70\n%%0 = input \"x\" : f32[1, ?n, 4]\n");
  for (size_t i = 1; i <= count; ++i) {
    size_t a = (size_t)test_random_below(&random, i);
    uint64_t kind = test_random_below(&random, 4);
    uint64_t start = test_random_below(&random, heights[a]);
    heights[i] = heights[a];
    if (kind == 0) {
      heights[i] = 1 + test_random_below(&random, 5);
      put(t, "%%%zu = custom(%%%zu) {name = \"higher\"}", i, a);
    } else if (kind == 1) {
      put(t, "%%%zu = relu(%%%zu)", i, a);
    } else {
      heights[i] = 1 + test_random_below(&random, heights[a] - start);
      put(t, "%%%zu = narrow(%%%zu) {axis = 0, start = %llu, len = %llu}", i, a,
          (unsigned long long)start, (unsigned long long)heights[i]);
    }
    put(t, " : f32[%llu, ?n, 4]\n", (unsigned long long)heights[i]);
  }
  put(t, "return %%%zu\n}\n", count);
}

static stow_module* parse(const char* data, size_t size) {
  stow_module* module = NULL;
  stow_diag diag;
  stow_diag_init(&diag);
  stow_status status = stow_module_parse(data, size, "test.stow", NULL, heap(), &diag, &module);
  test_check(status == STOW_OK, __FILE__, __LINE__, "%s\n%s", diag.message, data);
  return module;
}

typedef struct bytes {
  uint64_t low, high;
  uint32_t begin, end;
} bytes;

// A result in the root of an operand is a part of it, or in place of it, as the op allows at these
// sizes.
static bool is_allowed(const stow_plan* plan, const stow_graph* graph, stow_value value) {
  stow_node node = stow_graph_producer(graph, value);
  const stowi_plan_value* own = &plan->values[value];
  stow_view view;
  bool is_view = stow_graph_view(graph, node, 0, &view);
  for (size_t k = 0; k < stow_graph_operand_count(graph, node); ++k) {
    const stowi_plan_value* operand = &plan->values[stow_graph_operands(graph, node)[k]];
    uint64_t distance = is_view && view.operand == k ? 4 * view.element_offset : 0;
    bool may = is_view || stow_graph_in_place(graph, node, 0, k) != STOW_IN_PLACE_NEVER;
    if (may && operand->root == own->root && own->offset == operand->offset + distance) {
      return true;
    }
  }
  return false;
}

// Every two buffers that are live together, and every value in its root.
static void check_plan(const stow_plan* plan, const stow_graph* graph, uint64_t seed, int64_t n) {
  bytes all[2 * MOST_NODES + 2];
  size_t count = 0;
  for (stow_value v = 0; v < plan->value_count; ++v) {
    const stowi_plan_value* value = &plan->values[v];
    uint64_t size = 0;
    CHECK(stow_type_bytes(stow_graph_type(graph, v), &size) == STOW_OK);
    const stowi_plan_value* root = &plan->values[value->root];
    CHECK(value->size >= size && value->offset >= root->offset &&
          value->offset + size <= root->offset + root->size);
    CHECK(value->root == v ? value->offset % plan->facts.alignment == 0
                           : is_allowed(plan, graph, v));
    bytes own = {value->offset, value->offset + size, plan->values[value->root].begin,
                 plan->values[value->root].end};
    if (value->root == v) {
      all[count++] = own;
    }
  }
  for (size_t i = 0; i < plan->scratch_count; ++i) {
    const stowi_plan_scratch* scratch = &plan->scratch[i];
    CHECK(scratch->size >= scratch->need && scratch->offset % 64 == 0);
    all[count++] =
        (bytes){scratch->offset, scratch->offset + scratch->size, scratch->step, scratch->step + 1};
  }
  for (size_t i = 0; i < count; ++i) {
    CHECK(all[i].high <= plan->arena_size);
    for (size_t k = 0; k < i; ++k) {
      bool is_together = all[i].begin < all[k].end && all[k].begin < all[i].end;
      bool overlaps = all[i].low < all[k].high && all[k].low < all[i].high;
      test_check(!is_together || !overlaps, __FILE__, __LINE__, "seed %llu, %lld rows: overlap",
                 (unsigned long long)seed, (long long)n);
    }
  }
}

// Planned for 61 rows, checked for others.
static void check_seed(uint64_t seed, void (*write)(text* t, uint64_t seed)) {
  static text t;
  write(&t, seed);
  stow_module* module = parse(t.data, t.size);
  stowi_graph_twin* twin = NULL;
  stow_effects* effects = NULL;
  stow_plan* plan = NULL;
  stowi_plan_resizer* resizer = NULL;
  stow_diag diag;
  int64_t n = 61;
  stow_diag_init(&diag);
  REQUIRE(stowi_graph_twin_create(stow_module_graph(module, 0), heap(), &diag, &twin) == STOW_OK);
  const stow_graph* graph = stowi_graph_twin_graph(twin);
  REQUIRE(stowi_graph_twin_bind(twin, &n, &diag) == STOW_OK);
  REQUIRE(stow_effects_create(graph, heap(), &diag, &effects) == STOW_OK);
  REQUIRE(stow_plan_make(graph, effects, NULL, heap(), &diag, &plan) == STOW_OK);
  REQUIRE(stowi_plan_resizer_create(plan, graph, effects, heap(), &diag, &resizer) == STOW_OK);
  for (n = 1; n <= 70; n = n * 2 + 1) {
    CHECK(stowi_graph_twin_bind(twin, &n, &diag) == STOW_OK);
    CHECK(stowi_plan_resize(resizer, &diag) == STOW_OK);
    check_plan(plan, graph, seed, n);
    stow_plan* own = NULL;
    CHECK(stow_plan_make(graph, effects, NULL, heap(), &diag, &own) == STOW_OK);
    CHECK(plan->arena_size >= stow_plan_lower_bound(own));
    stow_plan_destroy(own);
  }
  stowi_plan_resizer_destroy(resizer);
  stow_plan_destroy(plan);
  stow_effects_destroy(effects);
  stowi_graph_twin_destroy(twin);
  stow_module_destroy(module);
}

TEST(ResizedPlansAreRight) {
  for (uint64_t seed = 1; seed <= (test_is_long() ? 5000U : 300U); ++seed) {
    check_seed(seed, write_graph);
    check_seed(seed, write_parts);
  }
}

// ---------------------------------------------------------------------------------------------

static void compare_plans(const stow_plan* a, const stow_plan* b) {
  CHECK_U64(a->arena_size, b->arena_size);
  CHECK_U64(a->scratch_count, b->scratch_count);
  CHECK_U64(a->window_count, b->window_count);
  for (stow_value v = 0; v < a->value_count; ++v) {
    CHECK(a->values[v].offset == b->values[v].offset && a->values[v].size == b->values[v].size &&
          a->values[v].root == b->values[v].root);
  }
  for (size_t i = 0; i < a->scratch_count && i < b->scratch_count; ++i) {
    CHECK(a->scratch[i].offset == b->scratch[i].offset && a->scratch[i].size == b->scratch[i].size);
  }
}

// Points in any order; a formula plan of several regions is made of graphs with transposes.
TEST(MovedPlansAreThoseOfTheirPoints) {
  static const char transposed[] =
      "graph @g {\n range ?n = 1..40\n%0 = input \"x\" : f32[?n, 8]\n"
      "%1 = transpose(%0) {perm = [1, 0]} : f32[8, ?n]\n%2 = relu(%1) : f32[8, ?n]\n"
      "%3 = concat(%2, %1) {axis = 0} : f32[16, ?n]\nreturn %3\n}\n";
  for (uint64_t seed = 0; seed <= 20; ++seed) {
    static text t;
    write_graph(&t, seed);
    stow_module* module = seed == 0 ? parse(transposed, strlen(transposed)) : parse(t.data, t.size);
    stow_graph* source = stow_module_graph(module, 0);
    stow_formula* formula = NULL;
    stowi_graph_twin* twin = NULL;
    stow_effects* effects = NULL;
    stowi_plan_mover* mover = NULL;
    int64_t n = 1;
    REQUIRE(stow_formula_make(source, NULL, heap(), NULL, &formula) == STOW_OK);
    REQUIRE(stowi_graph_twin_create(source, heap(), NULL, &twin) == STOW_OK);
    REQUIRE(stowi_graph_twin_bind(twin, &n, NULL) == STOW_OK);
    const stow_graph* graph = stowi_graph_twin_graph(twin);
    REQUIRE(stow_effects_create(graph, heap(), NULL, &effects) == STOW_OK);
    REQUIRE(stowi_plan_mover_create(formula, graph, effects, heap(), NULL, &mover) == STOW_OK);
    test_random random = {seed};
    for (int i = 0; i < 60; ++i) {
      size_t point = (size_t)test_random_below(&random, stow_formula_point_count(formula));
      const stow_plan* moved = NULL;
      stow_plan* plan = NULL;
      n = (int64_t)point + 1;
      CHECK(stowi_graph_twin_bind(twin, &n, NULL) == STOW_OK);
      REQUIRE(stowi_plan_mover_to(mover, point, NULL, &moved) == STOW_OK);
      REQUIRE(stow_formula_at(formula, point, graph, effects, heap(), NULL, &plan) == STOW_OK);
      compare_plans(moved, plan);
      stow_plan_destroy(plan);
    }
    stowi_plan_mover_destroy(mover);
    stow_effects_destroy(effects);
    stowi_graph_twin_destroy(twin);
    stow_formula_destroy(formula);
    stow_module_destroy(module);
  }
}
