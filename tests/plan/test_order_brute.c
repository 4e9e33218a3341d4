// The whole chain of choosing an order against brute force: tiny graphs, planned in every order. No
// order needs less than the bound; the chosen order is never worse than the given one, and mostly
// as good as the best.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan/describe.h"
#include "plan/feature_scene.h"
#include "plan/plan_internal.h"
#include "support/test.h"

#define MAX_NODES 24
#define MAX_COMPUTED 8

// ---------------------------------------------------------------------------------------------
// Graphs in which the order matters

static uint64_t below(test_random* random, uint64_t bound) {
  return test_random_below(random, bound);
}

static stow_value add(stow_graph* graph, stow_call* call) {
  stow_node node;
  return stow_call_finish(call, NULL, &node) == STOW_OK ? stow_graph_first_result(graph, node)
                                                        : STOW_VALUE_NONE;
}

// Recent values are read more often, but all of them sometimes: that gives branches and joins.
static stow_value pick(test_random* random, const stow_value* values, size_t count) {
  size_t reach = below(random, 2) == 0 || count < 4 ? count : 4;
  return values[count - 1 - below(random, reach)];
}

static stow_value add_step(test_random* random, stow_graph* graph, const stow_value* values,
                           size_t count) {
  static const stow_op ops[] = {STOW_OP_RELU, STOW_OP_CONCAT, STOW_OP_NARROW};
  uint64_t kind = below(random, 8);
  stow_dim dim = 8 * (stow_dim)(1 + below(random, 12));
  stow_type type = stow_type_make(STOW_F32, 1, &dim);
  stow_call* call = stow_graph_begin(graph, kind < 3 ? ops[kind] : STOW_OP_CUSTOM);
  stow_value first = pick(random, values, count);
  stow_call_operand(call, first);
  if (kind == 1) {
    stow_call_operand(call, pick(random, values, count));
    stow_call_attr_int(call, "axis", 0);
  } else if (kind == 2) {
    stow_call_attr_int(call, "axis", 0);
    stow_call_attr_int(call, "start", 0);
    stow_call_attr_int(call, "len", stow_graph_type(graph, first)->dims[0] / 2);
  } else if (kind > 2) {
    for (uint64_t more = below(random, 3); more > 0; --more) {
      stow_call_operand(call, pick(random, values, count));
    }
    stow_call_attr_string(call, "name", stow_str_of("acme.mix"));
    stow_call_result_type(call, &type);
  }
  return add(graph, call);
}

static stow_graph* branching_graph(test_random* random) {
  stow_graph* graph = NULL;
  stow_value values[MAX_NODES];
  size_t count = 0;
  stow_dim dim = 16;
  stow_type type = stow_type_make(STOW_F32, 1, &dim);
  CHECK(stow_graph_create(stow_str_of("tiny"), NULL, stow_allocator_default(), NULL, &graph) ==
        STOW_OK);
  CHECK(stow_graph_input(graph, "x", &type, NULL, &values[count++]) == STOW_OK);
  size_t wanted = 5 + below(random, MAX_COMPUTED - 4);
  while (count < wanted + 1) {
    stow_value value = add_step(random, graph, values, count);
    if (value != STOW_VALUE_NONE) {
      values[count++] = value;
    }
  }
  for (uint64_t outputs = 1 + below(random, 2); outputs > 0; --outputs) {
    CHECK(stow_graph_add_output(graph, values[count - outputs], NULL) == STOW_OK);
  }
  return graph;
}

// ---------------------------------------------------------------------------------------------
// All orders

typedef struct search {
  const stow_graph* graph;
  stow_plan_options options;
  uint32_t count;
  stow_node order[MAX_NODES];
  bool done[MAX_NODES];
  size_t tried;
  size_t most;  // orders
  uint64_t least_arena;
  uint64_t least_load;
} search;

static bool is_ready(const search* x, stow_node node) {
  const stow_value* operands = stow_graph_operands(x->graph, node);
  for (size_t k = 0; k < stow_graph_operand_count(x->graph, node); ++k) {
    if (operands[k] != STOW_VALUE_NONE && !x->done[stow_graph_producer(x->graph, operands[k])]) {
      return false;
    }
  }
  return true;
}

static void try_order(search* x) {
  stow_schedule* schedule = NULL;
  stow_plan* plan = NULL;
  stow_schedule_create_order(x->graph, x->order, x->count, stow_allocator_default(), NULL,
                             &schedule);
  x->options.schedule = schedule;
  if (schedule != NULL && stow_plan_make(x->graph, NULL, &x->options, stow_allocator_default(),
                                         NULL, &plan) == STOW_OK) {
    uint64_t load = stow_plan_lower_bound(plan);
    x->least_arena = plan->arena_size < x->least_arena ? plan->arena_size : x->least_arena;
    x->least_load = load < x->least_load ? load : x->least_load;
  }
  stow_plan_destroy(plan);
  stow_schedule_destroy(schedule);
}

// Boundary nodes run first: their positions change nothing.
static void try_orders(search* x, uint32_t step) {
  if (x->tried > x->most) {
    return;
  }
  if (step == x->count) {
    x->tried += 1;
    if (x->least_arena > 0) {
      try_order(x);
    }
    return;
  }
  for (stow_node node = 0; node < x->count; ++node) {
    if (!x->done[node] && is_ready(x, node)) {
      x->done[node] = true;
      x->order[step] = node;
      try_orders(x, step + 1);
      x->done[node] = false;
    }
  }
}

static uint32_t start_with_boundary(search* x) {
  uint32_t step = 0;
  for (stow_node node = 0; node < x->count; ++node) {
    stow_op op = stow_graph_op(x->graph, node);
    if (op == STOW_OP_INPUT || op == STOW_OP_PARAM || op == STOW_OP_CONSTANT) {
      x->done[node] = true;
      x->order[step++] = node;
    }
  }
  return step;
}

// False if there are too many, or only one.
static bool try_all_orders(search* x) {
  uint32_t first = start_with_boundary(x);
  if (x->count - first > MAX_COMPUTED) {
    return false;
  }
  x->least_arena = 0;  // only counts
  try_orders(x, first);
  if (x->tried < 2 || x->tried > x->most) {
    return false;
  }
  x->tried = 0;
  x->least_arena = x->least_load = UINT64_MAX;
  try_orders(x, first);
  return true;
}

// ---------------------------------------------------------------------------------------------

typedef struct tally {
  uint64_t graphs;
  uint64_t orders;
  uint64_t arena_equal;  // to the best of all orders
  uint64_t load_equal;
  uint64_t gains;       // the best order is better than the given one
  uint64_t found;       // and so is the chosen one
  uint64_t tight;       // the bound is the lowest load
  uint64_t full;        // graphs that were planned with all features
  uint64_t full_equal;  // of them, arena of the best
} tally;

static stow_plan* plan_of(const stow_graph* graph, stow_plan_options options, stow_order order) {
  stow_plan* plan = NULL;
  options.order = order;
  options.schedule = NULL;
  stow_status status = stow_plan_make(graph, NULL, &options, stow_allocator_default(), NULL, &plan);
  CHECK(status == STOW_OK);
  return plan;
}

static void compare(const search* x, uint64_t seed, tally* t) {
  stow_plan* given = plan_of(x->graph, x->options, STOW_ORDER_GIVEN);
  stow_plan* chosen = plan_of(x->graph, x->options, STOW_ORDER_AUTO);
  if (given != NULL && chosen != NULL) {
    uint64_t bound = ordering_of(chosen).any_bound;
    uint64_t arena = chosen->arena_size;
    test_check(bound <= x->least_load, __FILE__, __LINE__,
               "seed %llu: an order needs %llu, below %llu", (unsigned long long)seed,
               (unsigned long long)x->least_load, (unsigned long long)bound);
    test_check(arena <= given->arena_size, __FILE__, __LINE__, "seed %llu: %llu, given %llu",
               (unsigned long long)seed, (unsigned long long)arena,
               (unsigned long long)given->arena_size);
    test_check(arena >= x->least_arena, __FILE__, __LINE__,
               "seed %llu: %llu, but no order has that", (unsigned long long)seed,
               (unsigned long long)arena);
    t->graphs += 1;
    t->orders += x->tried;
    t->arena_equal += arena == x->least_arena ? 1 : 0;
    t->load_equal += chosen->lower_bound == x->least_load ? 1 : 0;
    t->gains += x->least_arena < given->arena_size ? 1 : 0;
    t->found += x->least_arena < given->arena_size && arena == x->least_arena ? 1 : 0;
    t->tight += bound == x->least_load ? 1 : 0;
    bool full = x->options.in_place && x->options.elide_copies && x->options.windows;
    t->full += full ? 1 : 0;
    t->full_equal += full && arena == x->least_arena ? 1 : 0;
  }
  stow_plan_destroy(given);
  stow_plan_destroy(chosen);
}

static void try_graph(const stow_graph* graph, test_random* random, uint64_t seed, tally* t) {
  search x = {.graph = graph, .count = stow_graph_node_count(graph)};
  x.most = test_is_long() ? 3000 : 300;
  stow_plan_options_init(&x.options, STOW_PRESET_DEFAULT);
  x.options.alignment = below(random, 2) == 0 ? 1 : 16;
  x.options.io = below(random, 2) == 0 ? STOW_IO_CONSUME : STOW_IO_KEEP;
  x.options.nodes = 1000;
  unsigned some = (unsigned)below(random, FEATURE_ALL + 1);
  feature_set(&x.options, seed % 2 == 0 ? FEATURE_ALL : some);
  if (x.count <= MAX_NODES && stow_graph_region_count(graph) == 1 && try_all_orders(&x)) {
    compare(&x, seed, t);
  }
}

static void report(const tally* t) {
  printf(
      "%llu graphs, %llu orders: arena of the best in %llu (with all features %llu of %llu), load "
      "in %llu, bound tight in %llu; %llu of %llu gains found\n",
      (unsigned long long)t->graphs, (unsigned long long)t->orders,
      (unsigned long long)t->arena_equal, (unsigned long long)t->full_equal,
      (unsigned long long)t->full, (unsigned long long)t->load_equal, (unsigned long long)t->tight,
      (unsigned long long)t->found, (unsigned long long)t->gains);
}

TEST(OrdersOfBranchingGraphsAreAsGoodAsTheBest) {
  tally t;
  memset(&t, 0, sizeof(t));
  for (uint64_t seed = 1; seed <= (test_is_long() ? 3000 : 500); ++seed) {
    test_random random = {seed};
    stow_graph* graph = branching_graph(&random);
    try_graph(graph, &random, seed, &t);
    stow_graph_destroy(graph);
  }
  report(&t);
  CHECK(t.graphs > 100);
  CHECK(t.gains > 20);
  CHECK(t.arena_equal * 100 >= t.graphs * 95);
}

TEST(OrdersOfGraphsWithEveryOpAreAsGoodAsTheBest) {
  tally t;
  memset(&t, 0, sizeof(t));
  random_ops* ops = random_ops_create();
  for (uint64_t seed = 1; seed <= (test_is_long() ? 6000 : 800); ++seed) {
    feature_scene s = feature_scene_make(seed, ops, 10, false);
    try_graph(s.graph, &s.random, seed, &t);
    feature_scene_free(&s);
  }
  random_ops_destroy(ops);
  report(&t);
  CHECK(t.graphs > 100);
  CHECK(t.gains > 10);
  CHECK(t.arena_equal * 100 >= t.graphs * 95);
}
