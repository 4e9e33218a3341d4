// Budgets: what the attempts at a plan may spend together, which of them are searched longer, and
// that a larger budget is never worse.
#include <stdlib.h>

#include "base/diag.h"
#include "place/api.h"
#include "place/quest.h"
#include "plan/api.h"
#include "plan/describe.h"
#include "plan/plan_internal.h"
#include "plan/plan_support.h"
#include "support/random_graph.h"
#include "support/test.h"

// ---------------------------------------------------------------------------------------------
// Strategies that tests control

// A search that finds nothing in its first |hard_nodes| nodes without a gain; what it was given.
typedef struct watcher {
  uint64_t hard_nodes;
  uint64_t seed;    // not 0: |hard_nodes| differs between problems, up to what it is
  uint64_t budget;  // of the plan
  uint64_t spent;
  size_t calls;
  bool exceeds;  // a call was given more than was left
} watcher;

static bool go_on(void* user, const stow_place_progress* progress) {
  (void)user;
  (void)progress;
  return true;
}

// A number that only the problem and the seed determine.
static uint64_t hard_nodes_of(const watcher* w, const stow_problem* problem) {
  test_random random = {w->seed * 1000003 + stow_problem_count(problem)};
  stow_load load = {.struct_size = sizeof(load)};
  stow_diag diag;
  stow_diag_init(&diag);
  CHECK(stow_problem_load(problem, stow_allocator_default(), &diag, &load) == STOW_OK);
  random.state ^= load.bytes * 31 + load.pair_count;
  uint64_t most = UINT64_C(1) << test_random_below(&random, 20);
  return w->seed == 0 ? w->hard_nodes : test_random_below(&random, most + 1);
}

static stow_status place_watched(const stow_problem* problem, const stow_place_options* options,
                                 stow_allocator allocator, stow_diag* diag,
                                 stow_placement** out_placement) {
  watcher* w = options->user;
  uint64_t left = w->budget > w->spent ? w->budget - w->spent : 0;
  w->exceeds = w->exceeds || (w->budget != STOW_PLACE_NO_LIMIT && options->nodes > left);
  uint64_t most = options->nodes < options->patience ? options->nodes : options->patience;
  stow_place_options own = *options;
  own.nodes = w->seed == 0 ? options->nodes : 0;  // what is found does not depend on the rest
  own.reuse = options->reuse && most >= hard_nodes_of(w, problem);
  STOW_TRY(stow_strategy_find(stow_str_of("auto"))
               ->place(problem, &own, allocator, diag, out_placement));
  if (options->reuse && !own.reuse) {
    (*out_placement)->nodes = most;
    (*out_placement)->bound = 0;
  } else if (w->seed != 0 && options->reuse) {
    (*out_placement)->nodes = hard_nodes_of(w, problem);
  }
  w->spent += (*out_placement)->nodes;
  ++w->calls;
  return STOW_OK;
}

static const stow_strategy watched = {"watched", "auto, if it is patient", place_watched};

static stow_plan_options watched_options(watcher* w) {
  stow_plan_options options;
  stow_plan_options_init(&options, STOW_PRESET_DEFAULT);
  options.strategy = &watched;
  options.on_progress = go_on;
  options.user = w;
  w->budget = options.nodes;
  return options;
}

static uint64_t arena_of(const char* text, const stow_plan_options* options) {
  plan_case c = plan_make(text, options);
  uint64_t arena = c.plan == NULL ? 0 : stow_plan_arena_size(c.plan);
  plan_free(&c);
  return arena;
}

// In the given order both large values are live together.
static const char* const twins =
    "graph @twins {\n"
    "  %0 = input \"x\" : f32[1, 64]\n"
    "  %1 = expand(%0) : f32[16, 64]\n"
    "  %2 = expand(%0) : f32[16, 64]\n"
    "  %3 = reduce(%1) {axes = [0]} : f32[1, 64]\n"
    "  %4 = reduce(%2) {axes = [0]} : f32[1, 64]\n"
    "  %5 = add(%3, %4) : f32[1, 64]\n"
    "  return %5\n"
    "}\n";

TEST(AnAttemptFarAboveItsBoundIsSearchedLonger) {
  watcher w = {.hard_nodes = STOW_PLAN_DEFAULT_PATIENCE};
  stow_plan_options options = watched_options(&w);
  stow_plan_options plain;
  stow_plan_options_init(&plain, STOW_PRESET_DEFAULT);
  uint64_t best = arena_of(twins, &plain);
  CHECK_U64(arena_of(twins, &options), best);
  CHECK(!w.exceeds);
  w = (watcher){.hard_nodes = STOW_PLAN_DEFAULT_PATIENCE, .budget = options.nodes};
  options.patience = STOW_PLAN_DEFAULT_PATIENCE - 1;
  CHECK(arena_of(twins, &options) > best);
  CHECK(!w.exceeds);
}

// A short search sees no difference between the orders.
TEST(AnotherOrderIsSearchedLongerToo) {
  watcher w = {.hard_nodes = STOW_PLAN_DEFAULT_PATIENCE};
  stow_plan_options options = watched_options(&w);
  options.order = STOW_ORDER_AUTO;
  plan_case c = plan_make(twins, &options);
  REQUIRE(c.plan != NULL);
  CHECK(ordering_of(c.plan).changed);
  CHECK(stow_plan_arena_size(c.plan) < ordering_of(c.plan).given_arena);
  plan_prove(&c);
  plan_free(&c);
}

// Two of these are live at a time: a search may save most of the arena.
static const char* const chain =
    "graph @chain {\n"
    "  %0 = input \"x\" : f32[64]\n"
    "  %1 = exp(%0) : f32[64]\n"
    "  %2 = exp(%1) : f32[64]\n"
    "  %3 = exp(%2) : f32[64]\n"
    "  %4 = exp(%3) : f32[64]\n"
    "  %5 = exp(%4) : f32[64]\n"
    "  %6 = exp(%5) : f32[64]\n"
    "  return %6\n"
    "}\n";

TEST(MuchToSaveIsWorthMorePatience) {
  watcher w = {.hard_nodes = 4 * STOW_PLAN_DEFAULT_PATIENCE};
  stow_plan_options options = watched_options(&w);
  options.in_place = options.windows = false;
  uint64_t apart = 7 * 256;
  CHECK_U64(arena_of(chain, &options), 3 * 256);
  CHECK(!w.exceeds);
  w = (watcher){.hard_nodes = 20 * STOW_PLAN_DEFAULT_PATIENCE, .budget = options.nodes};
  CHECK_U64(arena_of(chain, &options), apart);
}

TEST(ASearchThatEndsByItselfIsNotRepeated) {
  watcher w = {0};
  stow_plan_options options = watched_options(&w);
  options.nodes = w.budget = options.patience = STOW_PLACE_NO_LIMIT;
  options.order = STOW_ORDER_AUTO;
  options.in_place = options.windows = false;
  CHECK(arena_of(twins, &options) > 0);
  CHECK(w.calls <= 2);
}

// ---------------------------------------------------------------------------------------------
// Random graphs

static stow_plan* plan_random(const stow_graph* graph, const stow_plan_options* options) {
  stow_diag diag;
  stow_diag_init(&diag);
  stow_plan* plan = NULL;
  stow_status status = stow_plan_make(graph, NULL, options, stow_allocator_default(), &diag, &plan);
  CHECK(status == STOW_OK || status == STOW_ERR_OVERFLOW);
  return plan;
}

static stow_graph* make_graph(test_random* random) {
  random_graph_options kind = random_graph_everything(20 + test_random_below(random, 60));
  kind.most = 4 + (stow_dim)test_random_below(random, 30);
  return random_graph(random, &kind, stow_allocator_default());
}

TEST(AttemptsShareOneBudget) {
  for (uint64_t seed = 0; seed < (test_is_long() ? 2000u : 60u); ++seed) {
    test_random random = {seed};
    stow_graph* graph = make_graph(&random);
    watcher w = {0};
    stow_plan_options options = watched_options(&w);
    options.nodes = w.budget = test_random_below(&random, 30000);
    options.patience = STOW_PLACE_NO_LIMIT;
    options.order = STOW_ORDER_AUTO;
    options.order_nodes = 5000;
    stow_plan* plan = plan_random(graph, &options);
    if (plan != NULL) {
      CHECK(!w.exceeds);
      CHECK_U64(search_of(plan).nodes, w.spent);
    }
    stow_plan_destroy(plan);
    stow_graph_destroy(graph);
  }
}

// Smaller is better; then fewer copies, then a proof.
static bool is_worse(const stow_plan* plan, const stow_plan* before) {
  if (plan->arena_size != before->arena_size) {
    return plan->arena_size > before->arena_size;
  }
  bool copies_less = plan->facts.elide_copies && !before->facts.elide_copies;
  return !copies_less && search_of(before).outcome == STOW_OUTCOME_OPTIMAL &&
         search_of(plan).outcome != STOW_OUTCOME_OPTIMAL;
}

TEST(ALargerBudgetIsNeverWorse) {
  static const uint64_t budgets[] = {0, 100, 400, 1500, 6000, 25000, STOW_PLAN_DEFAULT_NODES};
  for (uint64_t seed = 0; seed < (test_is_long() ? 2000u : 40u); ++seed) {
    test_random random = {seed};
    stow_graph* graph = make_graph(&random);
    stow_plan_options options;
    stow_plan_options_init(&options, STOW_PRESET_DEFAULT);
    options.alignment = UINT64_C(1) << test_random_below(&random, 7);
    stow_plan* before = NULL;
    stow_plan* usual = plan_random(graph, &options);
    options.patience = 100000;  // of the unlimited searches, so that the test ends
    for (size_t i = 0; i < sizeof(budgets) / sizeof(*budgets); ++i) {
      options.nodes = budgets[i];
      stow_plan* plan = plan_random(graph, &options);
      CHECK(plan == NULL || before == NULL || !is_worse(plan, before));
      stow_plan_destroy(before);
      before = plan;
    }
    CHECK(usual == NULL || before == NULL || !is_worse(before, usual));
    stow_plan_destroy(before);
    stow_plan_destroy(usual);
    stow_graph_destroy(graph);
  }
}

// Attempts find their placements after different numbers of nodes, so that the order in which they
// are searched and what each is given matter.
TEST(ALargerBudgetIsNeverWorseIfSearchesTakeLong) {
  size_t gains = 0;
  for (uint64_t seed = 1; seed <= (test_is_long() ? 3000u : 60u); ++seed) {
    test_random random = {seed};
    stow_graph* graph = make_graph(&random);
    uint64_t before = UINT64_MAX;
    uint64_t nodes = 0;
    for (size_t i = 0; i < 24; ++i) {
      watcher w = {.seed = seed};
      stow_plan_options options = watched_options(&w);
      options.order = STOW_ORDER_AUTO;
      options.order_nodes = 5000;
      options.nodes = w.budget = nodes;
      options.patience = STOW_PLACE_NO_LIMIT;
      stow_plan* plan = plan_random(graph, &options);
      if (plan != NULL) {
        CHECK(plan->arena_size <= before);
        gains += before != UINT64_MAX && plan->arena_size < before;
        before = plan->arena_size;
      }
      stow_plan_destroy(plan);
      nodes += 1 + nodes / 2 + test_random_below(&random, 3000);
    }
    watcher w = {.seed = seed};
    stow_plan_options usual = watched_options(&w);
    usual.order = STOW_ORDER_AUTO;
    usual.order_nodes = 5000;
    stow_plan* plan = plan_random(graph, &usual);
    CHECK(plan == NULL || nodes < STOW_PLAN_DEFAULT_NODES || before <= plan->arena_size);
    stow_plan_destroy(plan);
    stow_graph_destroy(graph);
  }
  CHECK(gains > 20);
}
