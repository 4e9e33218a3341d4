// Random graphs with nodes of every op, planned with every combination of memory-saving features,
// in every preset: the checker finds nothing, a run on tagged bytes agrees, saving and reading
// changes nothing, and no feature costs bytes.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan/describe.h"
#include "plan/feature_scene.h"
#include "plan/plan_internal.h"
#include "support/random_graph.h"
#include "support/test.h"
#include "test_check_oracle.h"

#define SEARCH_NODES 300
#define ORDER_NODES 2000
#define MAX_NODES 32
#define GRAPHS 2000
#define GRAPHS_WITH_ALL 500  // that are planned in all ways, in the long version

typedef enum order_kind { GIVEN, AUTO, RANDOM, AUTO_OF_RANDOM, ORDER_KINDS } order_kind;

// What the plans that are compared with each other have in common.
typedef struct setting {
  stow_preset preset;
  stow_io_policy io;
  const stow_strategy* strategy;  // NULL: the preset's
  uint64_t alignment;             // 0: the preset's
} setting;

typedef struct tally {
  uint64_t graphs;
  uint64_t plans;
  uint64_t refused;  // effects contradict each other
  uint64_t runs;     // plans that were run
  uint64_t shared;   // plans with results in place or elided copies
  uint64_t windowed;
  uint64_t smaller;    // than without features, in the same order
  uint64_t reordered;  // by auto
} tally;

// Of one setting of one graph.
typedef struct series {
  feature_scene* s;
  setting setting;
  tally* t;
  uint64_t arena[FEATURE_ALL + 1][ORDER_KINDS];  // UINT64_MAX: no plan
  uint64_t bound;                                // for any order, with all features
} series;

// ---------------------------------------------------------------------------------------------
// One plan

static void say_where(const series* x, unsigned features, order_kind order, char* out,
                      size_t size) {
  snprintf(out, size, "seed %llu, %s, io %d, %s, alignment %llu, features %u, order %d",
           (unsigned long long)x->s->seed, stow_preset_name(x->setting.preset), (int)x->setting.io,
           x->setting.strategy == NULL ? "-" : x->setting.strategy->name,
           (unsigned long long)x->setting.alignment, features, (int)order);
}

static stow_plan_options options_of(const series* x, unsigned features, order_kind order) {
  stow_plan_options options;
  stow_plan_options_init(&options, x->setting.preset);
  options.io = x->setting.io;
  options.patience = SEARCH_NODES;  // of each attempt: none takes nodes from another
  options.order_nodes = ORDER_NODES;
  options.strategy = x->setting.strategy == NULL ? options.strategy : x->setting.strategy;
  options.alignment = x->setting.alignment == 0 ? options.alignment : x->setting.alignment;
  if (x->setting.preset == STOW_PRESET_BACKWARD && x->s->layout != NULL) {
    options.layout = x->s->layout;
    options.allow_missing_params = true;
  }
  feature_set(&options, features);
  options.order = order == AUTO || order == AUTO_OF_RANDOM ? STOW_ORDER_AUTO : STOW_ORDER_GIVEN;
  options.schedule = order == RANDOM || order == AUTO_OF_RANDOM ? x->s->schedule : NULL;
  return options;
}

static void check_saved(const series* x, const stow_plan* plan, const char* where) {
  stow_plan* copy = feature_copy(x->s, plan);
  if (copy != NULL) {
    stow_string before = feature_text(plan);
    stow_string after = feature_text(copy);
    test_check(strcmp(before.data, after.data) == 0, __FILE__, __LINE__, "%s: read differently",
               where);
    test_check(feature_check(x->s, copy, NULL) == STOW_OK, __FILE__, __LINE__, "%s: read: %s",
               where, x->s->diag.message);
    stow_string_free(&before);
    stow_string_free(&after);
  }
  stow_plan_destroy(copy);
}

static bool shares(const stow_plan* plan) {
  for (size_t i = 0; i < stow_plan_decision_count(plan); ++i) {
    stow_decision d = decision_of(plan, i);
    if (d.reason == STOW_REASON_TAKEN && d.share != STOW_SHARE_VIEW) {
      return true;
    }
  }
  return false;
}

static void prove(series* x, const stow_plan* plan, const char* where) {
  char why[200] = "";
  test_check(feature_check(x->s, plan, NULL) == STOW_OK, __FILE__, __LINE__, "%s: %s", where,
             x->s->diag.message);
  test_check(plan->lower_bound <= plan->arena_size, __FILE__, __LINE__,
             "%s: %llu bytes are below the bound", where, (unsigned long long)plan->arena_size);
  if (x->setting.preset == STOW_PRESET_BACKWARD && x->s->layout != NULL) {
    test_check(
        stow_plan_check_layout(plan, x->s->graph, x->s->layout, &x->s->diag, NULL) == STOW_OK,
        __FILE__, __LINE__, "%s: %s", where, x->s->diag.message);
  }
  check_saved(x, plan, where);
  x->t->plans += 1;
  x->t->shared += shares(plan) ? 1 : 0;
  x->t->windowed += plan->window_count > 0 ? 1 : 0;
  x->t->reordered += ordering_of(plan).changed ? 1 : 0;
  if (feature_can_run(plan)) {
    x->t->runs += 1;
    test_check(feature_runs(x->s, plan, why, sizeof(why)), __FILE__, __LINE__,
               "%s: a run finds a damaged %s", where, why);
  }
}

// If the given order has a plan, auto has one too. Effects may give a param more bytes than the
// weight layout has for it.
static void check_refused(series* x, stow_status status, unsigned features, order_kind order,
                          const char* where) {
  bool is_auto = order == AUTO && x->arena[features][GIVEN] != UINT64_MAX;
  bool is_resized = status == STOW_ERR_TYPE && x->s->effects != NULL && x->s->layout != NULL;
  x->t->refused += 1;
  test_check(status == STOW_ERR_CONFLICT || status == STOW_ERR_INVALID_ARGUMENT || is_resized,
             __FILE__, __LINE__, "%s: %s", where, x->s->diag.message);
  test_check(!is_auto, __FILE__, __LINE__, "%s: only auto: %s", where, x->s->diag.message);
}

static void make_one(series* x, unsigned features, order_kind order) {
  char where[200];
  stow_plan* plan = NULL;
  if (x->s->schedule == NULL && (order == RANDOM || order == AUTO_OF_RANDOM)) {
    return;
  }
  say_where(x, features, order, where, sizeof(where));
  stow_plan_options options = options_of(x, features, order);
  stow_status status = stow_plan_make(x->s->graph, x->s->effects, &options,
                                      stow_allocator_default(), &x->s->diag, &plan);
  if (plan == NULL) {
    check_refused(x, status, features, order, where);
    return;
  }
  prove(x, plan, where);
  x->arena[features][order] = plan->arena_size;
  uint64_t bound = ordering_of(plan).any_bound;
  x->bound = features == FEATURE_ALL && bound > x->bound ? bound : x->bound;
  test_check(bound <= plan->arena_size, __FILE__, __LINE__, "%s: %llu bytes, any order needs %llu",
             where, (unsigned long long)plan->arena_size, (unsigned long long)bound);
  stow_plan_destroy(plan);
}

// ---------------------------------------------------------------------------------------------
// A series

static series series_start(feature_scene* s, setting how, tally* t) {
  series x = {.s = s, .setting = how, .t = t};
  memset(x.arena, 0xff, sizeof(x.arena));
  return x;
}

static void check_not_above(const series* x, unsigned features, order_kind order, uint64_t limit,
                            const char* what) {
  char where[200];
  say_where(x, features, order, where, sizeof(where));
  if (x->arena[features][order] != UINT64_MAX && limit != UINT64_MAX) {
    test_check(x->arena[features][order] <= limit, __FILE__, __LINE__, "%s: %llu bytes, %s %llu",
               where, (unsigned long long)x->arena[features][order], what,
               (unsigned long long)limit);
  }
}

static void compare(const series* x) {
  for (unsigned features = 0; features <= FEATURE_ALL; ++features) {
    for (int order = 0; order < ORDER_KINDS; ++order) {
      uint64_t arena = x->arena[features][order];
      char where[200];
      say_where(x, features, (order_kind)order, where, sizeof(where));
      test_check(arena >= x->bound, __FILE__, __LINE__, "%s: %llu bytes, any order needs %llu",
                 where, (unsigned long long)arena, (unsigned long long)x->bound);
    }
    check_not_above(x, features, GIVEN, x->arena[0][GIVEN], "without");
    check_not_above(x, features, RANDOM, x->arena[0][RANDOM], "without");
    check_not_above(x, features, AUTO, x->arena[features][GIVEN], "given");
    check_not_above(x, features, AUTO_OF_RANDOM, x->arena[features][RANDOM], "given");
    bool both = x->arena[0][GIVEN] != UINT64_MAX && x->arena[features][GIVEN] != UINT64_MAX;
    x->t->smaller += both && x->arena[features][GIVEN] < x->arena[0][GIVEN] ? 1 : 0;
  }
}

static void try_some(series* x) {
  unsigned features = 1 + (unsigned)test_random_below(&x->s->random, FEATURE_ALL);
  make_one(x, 0, GIVEN);
  make_one(x, features, GIVEN);
  make_one(x, features, AUTO);
  make_one(x, features, RANDOM);
  if (features != FEATURE_ALL) {
    make_one(x, FEATURE_ALL, GIVEN);
  }
  switch (test_random_below(&x->s->random, 3)) {
    case 0: make_one(x, FEATURE_ALL, AUTO); break;
    case 1:
      make_one(x, 0, RANDOM);
      make_one(x, features, AUTO_OF_RANDOM);
      break;
    default: make_one(x, 0, AUTO); break;
  }
  compare(x);
}

static void try_all(series* x) {
  for (unsigned features = 0; features <= FEATURE_ALL; ++features) {
    for (int order = 0; order < ORDER_KINDS; ++order) {
      make_one(x, features, (order_kind)order);
    }
  }
  compare(x);
}

static setting random_setting(feature_scene* s, unsigned number) {
  static const stow_io_policy policies[] = {STOW_IO_KEEP, STOW_IO_CONSUME, STOW_IO_EXTERNAL};
  setting how = {(stow_preset)(number % STOW_PRESET_COUNT),
                 policies[number / STOW_PRESET_COUNT % 3], NULL, 0};
  if (test_random_below(&s->random, 3) == 0) {
    how.strategy = stow_strategy_at(test_random_below(&s->random, stow_strategy_count()));
  }
  if (test_random_below(&s->random, 2) == 0) {
    how.alignment = UINT64_C(1) << test_random_below(&s->random, 6);
  }
  return how;
}

// ---------------------------------------------------------------------------------------------

#define SETTINGS (STOW_PRESET_COUNT * 3)

static void report(const tally* t) {
  printf(
      "%llu graphs; %llu plans, %llu that share, %llu with windows, %llu reordered, %llu smaller; "
      "%llu refused; %llu runs of %llu steps\n",
      (unsigned long long)t->graphs, (unsigned long long)t->plans, (unsigned long long)t->shared,
      (unsigned long long)t->windowed, (unsigned long long)t->reordered,
      (unsigned long long)t->smaller, (unsigned long long)t->refused, (unsigned long long)t->runs,
      (unsigned long long)oracle_steps());
}

TEST(EveryCombinationIsCorrectAndNoneCostsBytes) {
  tally t;
  memset(&t, 0, sizeof(t));
  random_ops* ops = random_ops_create();
  for (uint64_t seed = 1; seed <= GRAPHS; ++seed) {
    feature_scene s = feature_scene_make(seed, ops, MAX_NODES, true);
    bool all = test_is_long() && seed <= GRAPHS_WITH_ALL;
    t.graphs += 1;
    for (unsigned number = 0; all && number < SETTINGS; ++number) {
      series x = series_start(&s, random_setting(&s, number), &t);
      try_all(&x);
    }
    series x = series_start(&s, random_setting(&s, (unsigned)seed % SETTINGS), &t);
    try_some(&x);
    feature_scene_free(&s);
  }
  random_ops_destroy(ops);
  report(&t);
  CHECK(t.runs > 8000);
  CHECK(t.shared > 3000);
  CHECK(t.windowed > 1000);
  CHECK(t.reordered > 500);
  CHECK(t.smaller > 500);
}

// ---------------------------------------------------------------------------------------------

// The presets that follow RLX share nothing that RLX does not.
TEST(PresetsThatFollowRlxAreWithoutFeatures) {
  static const stow_preset presets[] = {STOW_PRESET_RLX, STOW_PRESET_RLX_0_2_2};
  random_ops* ops = random_ops_create();
  uint64_t compared = 0;
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    feature_scene s = feature_scene_make(seed, ops, MAX_NODES, false);
    stow_plan_options options;
    stow_plan_options_init(&options, presets[seed % 2]);
    stow_plan* as_it_is = NULL;
    stow_plan* without = NULL;
    stow_plan_make(s.graph, NULL, &options, stow_allocator_default(), &s.diag, &as_it_is);
    feature_set(&options, 0);
    options.order = STOW_ORDER_GIVEN;
    stow_plan_make(s.graph, NULL, &options, stow_allocator_default(), &s.diag, &without);
    if (as_it_is != NULL && without != NULL) {
      stow_string a = feature_text(as_it_is);
      stow_string b = feature_text(without);
      CHECK_TEXT(a.data, b.data);
      CHECK(!shares(as_it_is) && as_it_is->window_count == 0);
      compared += 1;
      stow_string_free(&a);
      stow_string_free(&b);
    }
    stow_plan_destroy(as_it_is);
    stow_plan_destroy(without);
    feature_scene_free(&s);
  }
  CHECK_U64(compared, 300);
  random_ops_destroy(ops);
}

// Ops added to the table without a case would silently be left out.
TEST(EveryOpOfTheTableIsInRandomGraphs) {
  static size_t count[STOW_OP_CORE_COUNT];
  random_ops* ops = random_ops_create();
  for (uint64_t seed = 1; seed <= GRAPHS; ++seed) {
    feature_scene s = feature_scene_make(seed, ops, MAX_NODES, true);
    for (stow_node node = 0; node < stow_graph_node_count(s.graph); ++node) {
      count[stow_graph_op(s.graph, node)] += 1;
    }
    feature_scene_free(&s);
  }
  size_t least = SIZE_MAX;
  for (stow_op op = 0; op < STOW_OP_CORE_COUNT; ++op) {
    least = count[op] < least ? count[op] : least;
    test_check(count[op] >= 10, __FILE__, __LINE__, "%s: %zu times", stow_ops_get(NULL, op)->name,
               count[op]);
  }
  printf("%d ops, each %zu times or more\n", (int)STOW_OP_CORE_COUNT, least);
  random_ops_destroy(ops);
}
