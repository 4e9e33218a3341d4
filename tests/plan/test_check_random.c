// The plan checker against random graphs: what the planner makes passes, what is damaged does not,
// and a run on tagged bytes agrees.
#include <stdio.h>
#include <stdlib.h>
#include <stowage/plan.h>
#include <string.h>

#include "plan/api.h"
#include "plan/plan_internal.h"
#include "support/random_graph.h"
#include "support/test.h"
#include "test_check_oracle.h"

// What a case is made of, from one number.
typedef struct scene {
  uint64_t seed;
  test_random random;
  stow_graph* graph;
  stow_effects* effects;  // NULL in some
  stow_schedule* schedule;
  stow_plan* forward;
  stow_weight_layout* layout;
  stow_plan_options options;
  stow_plan* plan;  // NULL if the effects contradict each other
  stow_diag diag;
} scene;

#define SEARCH_NODES 300  // enough for every strategy to do something specific

static uint64_t below(scene* s, uint64_t bound) { return test_random_below(&s->random, bound); }

// Weights of another graph that has params of the same names.
static void share_weights(scene* s, const random_graph_options* graph_options) {
  stow_plan_options options;
  stow_plan_options_init(&options, STOW_PRESET_DEFAULT);
  options.nodes = SEARCH_NODES;
  options.pack_params = below(s, 2) == 0;
  options.tail_guard = below(s, 2) * 100;
  options.f32_uniform = s->options.f32_uniform;
  stow_graph* other = random_graph(&s->random, graph_options, stow_allocator_default());
  if (stow_plan_make(other, NULL, &options, stow_allocator_default(), NULL, &s->forward) ==
      STOW_OK) {
    stow_weight_layout_create(other, s->forward, stow_allocator_default(), NULL, &s->layout);
    s->options.layout = s->layout;
    s->options.allow_missing_params = true;
  }
  stow_graph_destroy(other);
}

static void choose_options(scene* s, const random_graph_options* graph_options) {
  static const stow_io_policy policies[] = {STOW_IO_KEEP, STOW_IO_KEEP, STOW_IO_CONSUME,
                                            STOW_IO_EXTERNAL};
  stow_plan_options* o = &s->options;
  stow_preset preset = (stow_preset)below(s, STOW_PRESET_COUNT);
  stow_plan_options_init(o, preset);
  o->nodes = SEARCH_NODES;
  if (preset == STOW_PRESET_BACKWARD) {
    share_weights(s, graph_options);
  }
  if (below(s, 2) == 0) {
    return;
  }
  o->alignment = UINT64_C(1) << below(s, 9);
  o->tail_guard = below(s, 2) * below(s, 300);
  o->params = below(s, 4) != 0;
  o->inputs = below(s, 4) != 0;
  o->constants = below(s, 4) != 0;
  o->zero_size_slots = below(s, 2) == 0;
  o->f32_uniform = s->layout == NULL && below(s, 4) == 0;
  o->classic_views = below(s, 3) == 0;
  o->reuse = below(s, 6) != 0;
  o->pack_params = below(s, 4) == 0;
  o->io = policies[below(s, 4)];
  o->strategy = stow_strategy_at(below(s, stow_strategy_count()));
  for (size_t i = 0; i < stow_rule_count(); ++i) {
    if (below(s, 4) == 0) {
      stow_plan_options_add_rule(o, stow_rule_at(i));
    }
  }
}

static scene scene_make(uint64_t seed) {
  scene s;
  memset(&s, 0, sizeof(s));
  stow_diag_init(&s.diag);
  s.seed = seed;
  s.random.state = seed;
  random_graph_options graph_options = random_graph_everything(3 + below(&s, 40));
  graph_options.regions = below(&s, 3) != 0;
  s.graph = random_graph(&s.random, &graph_options, stow_allocator_default());
  if (below(&s, 3) != 0) {
    s.effects = random_effects(&s.random, s.graph, stow_allocator_default());
  }
  choose_options(&s, &graph_options);
  if (below(&s, 3) == 0) {
    s.schedule = random_schedule(&s.random, s.graph, stow_allocator_default());
    s.options.schedule = s.schedule;
  }
  stow_plan_make(s.graph, s.effects, &s.options, stow_allocator_default(), &s.diag, &s.plan);
  return s;
}

static void scene_free(scene* s) {
  stow_plan_destroy(s->plan);
  stow_weight_layout_destroy(s->layout);
  stow_plan_destroy(s->forward);
  stow_schedule_destroy(s->schedule);
  stow_effects_destroy(s->effects);
  stow_graph_destroy(s->graph);
}

static stow_status check(scene* s, const stow_plan* plan, stow_violation* out) {
  return stow_plan_check(plan, s->graph, s->effects, stow_allocator_default(), &s->diag, out);
}

// Both branches of every if, in several combinations.
static bool oracle_agrees(scene* s, const stow_plan* plan, char* why, size_t size) {
  static const uint64_t choices[] = {0, UINT64_MAX, UINT64_C(0x5555555555555555),
                                     UINT64_C(0x33cc33cc33cc33cc)};
  size_t count = stow_graph_region_count(s->graph) > 1 ? 4 : 1;
  for (size_t i = 0; i < count; ++i) {
    if (!oracle_run(plan, s->graph, s->effects, choices[i], why, size)) {
      return false;
    }
  }
  return true;
}

#define ORACLE_MAX_BYTES 200000

static uint64_t case_count(uint64_t usual) { return test_is_long() ? usual * 50 : usual; }

// A copy that can be damaged, by way of the saved text.
static stow_plan* copy_plan(scene* s) {
  stow_string text;
  stow_plan* copy = NULL;
  stow_string_init(&text, stow_allocator_default());
  stowi_plan_write_saved(s->plan, stow_string_writer(&text));
  stow_status status = stow_plan_read(text.data, text.size, NULL, s->graph,
                                      stow_allocator_default(), &s->diag, &copy);
  test_check(status == STOW_OK, __FILE__, __LINE__, "seed %llu: %s", (unsigned long long)s->seed,
             s->diag.message);
  stow_string_free(&text);
  return copy;
}

// ---------------------------------------------------------------------------------------------

TEST(EveryPlanOfARandomGraphPasses) {
  uint64_t planned = 0;
  uint64_t cases = case_count(2000);
  for (uint64_t seed = 1; seed <= cases; ++seed) {
    scene s = scene_make(seed);
    if (s.plan != NULL) {
      char why[200] = "";
      stow_violation violation = {.struct_size = sizeof(violation)};
      planned += 1;
      stow_status status = check(&s, s.plan, &violation);
      bool passes = test_check(status == STOW_OK && violation.fault == STOW_FAULT_NONE, __FILE__,
                               __LINE__, "seed %llu: %s", (unsigned long long)seed, s.diag.message);
      if (passes && stow_plan_arena_size(s.plan) <= ORACLE_MAX_BYTES) {
        test_check(oracle_agrees(&s, s.plan, why, sizeof(why)), __FILE__, __LINE__,
                   "seed %llu: a run finds a damaged %s", (unsigned long long)seed, why);
      }
    } else {
      test_check(s.diag.status == STOW_ERR_CONFLICT || s.diag.status == STOW_ERR_TYPE, __FILE__,
                 __LINE__, "seed %llu: %s", (unsigned long long)seed, s.diag.message);
    }
    scene_free(&s);
  }
  CHECK(planned * 2 > cases);
}

TEST(SavedPlansPassToo) {
  for (uint64_t seed = 1; seed <= case_count(200); ++seed) {
    scene s = scene_make(seed);
    if (s.plan != NULL) {
      stow_plan* copy = copy_plan(&s);
      if (copy != NULL) {
        test_check(check(&s, copy, NULL) == STOW_OK, __FILE__, __LINE__, "seed %llu: %s",
                   (unsigned long long)seed, s.diag.message);
      }
      stow_plan_destroy(copy);
    }
    scene_free(&s);
  }
}

// ---------------------------------------------------------------------------------------------
// Damage

// What the header states follows from the rest: any other number is wrong.
TEST(WrongFactsAreAlwaysCaught) {
  for (uint64_t seed = 1; seed <= case_count(500); ++seed) {
    scene s = scene_make(seed);
    stow_plan* copy = s.plan == NULL ? NULL : copy_plan(&s);
    if (copy != NULL) {
      stow_violation violation = {.struct_size = sizeof(violation)};
      copy->peak_step =
          (copy->peak_step + 1 + (uint32_t)below(&s, copy->step_count)) % (copy->step_count + 1);
      bool caught = check(&s, copy, &violation) != STOW_OK && violation.fault == STOW_FAULT_FACT;
      test_check(caught, __FILE__, __LINE__, "seed %llu: peak at %u", (unsigned long long)seed,
                 copy->peak_step);
      copy->peak_step = s.plan->peak_step;
      copy->lower_bound += below(&s, 2) == 0 ? 1 + below(&s, 1000) : UINT64_MAX - below(&s, 64);
      caught = check(&s, copy, &violation) != STOW_OK && violation.fault == STOW_FAULT_FACT;
      test_check(caught, __FILE__, __LINE__, "seed %llu: bound %llu", (unsigned long long)seed,
                 (unsigned long long)copy->lower_bound);
    }
    stow_plan_destroy(copy);
    scene_free(&s);
  }
}

// A param that moves away from its weight is found, whatever else the plan does. Few params of two
// random graphs agree in name and size.
static uint64_t move_params(scene* s) {
  uint64_t moved = 0;
  for (stow_value v = 0; v < s->plan->value_count; ++v) {
    stowi_plan_value* value = &s->plan->values[v];
    if (value->kind == STOWI_PLAN_KIND_PARAM && value->offset != STOW_OFFSET_NONE) {
      stow_violation violation = {.struct_size = sizeof(violation)};
      value->offset += 64;
      stow_plan_check_layout(s->plan, s->graph, s->layout, &s->diag, &violation);
      CHECK(violation.fault == STOW_FAULT_MOVED && violation.first == v);
      value->offset -= 64;
      moved += 1;
    }
  }
  return moved;
}

TEST(SharedWeightsStayWhereTheyAre) {
  uint64_t moved = 0;
  for (uint64_t seed = 1; seed <= case_count(2000); ++seed) {
    scene s = scene_make(seed);
    if (s.plan != NULL && s.layout != NULL) {
      test_check(stow_plan_check_layout(s.plan, s.graph, s.layout, &s.diag, NULL) == STOW_OK,
                 __FILE__, __LINE__, "seed %llu: %s", (unsigned long long)seed, s.diag.message);
      moved += move_params(&s);
    }
    scene_free(&s);
  }
  CHECK(moved > 5);
}

// What |root| occupies at |step|, including windows; false if that is nothing.
static bool occupies(const stow_plan* plan, stow_value root, uint32_t step, uint64_t* low,
                     uint64_t* high) {
  const stowi_plan_value* value = &plan->values[root];
  if (value->root != root || value->offset == STOW_OFFSET_NONE ||
      (plan->facts.reuse && (step < value->begin || step >= value->end))) {
    return false;
  }
  *low = value->offset;
  *high = value->offset + value->size + value->guard;
  for (size_t i = 0; i < plan->window_count; ++i) {
    const stow_window* w = &plan->windows[i].window;
    if (plan->windows[i].root == root && w->begin <= step && step < w->end) {
      *low = value->offset + w->low;
      *high = value->offset + w->high;
    }
  }
  return *low < *high;
}

// The simplest way to find two live footprints that overlap.
static bool has_overlap(const stow_plan* plan) {
  for (uint32_t step = 0; step <= plan->step_count; ++step) {
    for (stow_value a = 0; a < plan->value_count; ++a) {
      uint64_t low, high, other_low, other_high;
      for (stow_value b = 0; occupies(plan, a, step, &low, &high) && b < a; ++b) {
        if (occupies(plan, b, step, &other_low, &other_high) && low < other_high &&
            other_low < high) {
          return true;
        }
      }
    }
  }
  return false;
}

// Moves a root with its views; somewhere else or right onto another one.
static bool move_root(scene* s, stow_plan* plan) {
  stow_value victim = (stow_value)below(s, plan->value_count);
  stow_value other = (stow_value)below(s, plan->value_count);
  stowi_plan_value* value = &plan->values[victim];
  if (value->root != victim || value->offset == STOW_OFFSET_NONE ||
      plan->values[other].offset == STOW_OFFSET_NONE || value->size > plan->arena_size) {
    return false;
  }
  uint64_t to =
      below(s, 2) == 0 ? plan->values[other].offset : below(s, plan->arena_size - value->size + 1);
  uint64_t alignment = UINT64_C(1) << value->alignment_log2;
  to &= ~(alignment - 1);
  for (stow_value v = 0; v < plan->value_count; ++v) {
    if (plan->values[v].root == victim && v != victim &&
        plan->values[v].offset != STOW_OFFSET_NONE) {
      plan->values[v].offset = plan->values[v].offset - value->offset + to;
    }
  }
  value->offset = to;
  return true;
}

TEST(MovingAValueOntoALiveOneIsAlwaysCaught) {
  uint64_t overlaps = 0;
  uint64_t corruptions = 0;
  for (uint64_t seed = 1; seed <= case_count(2000); ++seed) {
    scene s = scene_make(seed);
    stow_plan* copy = s.plan == NULL ? NULL : copy_plan(&s);
    if (copy != NULL && move_root(&s, copy)) {
      char why[200] = "";
      stow_violation violation = {.struct_size = sizeof(violation)};
      stow_status status = check(&s, copy, &violation);
      if (has_overlap(copy)) {
        overlaps += 1;
        test_check(status == STOW_ERR_VIOLATION, __FILE__, __LINE__, "seed %llu: overlap missed",
                   (unsigned long long)seed);
      }
      if (copy->arena_size <= ORACLE_MAX_BYTES && !oracle_agrees(&s, copy, why, sizeof(why))) {
        corruptions += 1;
        test_check(status == STOW_ERR_VIOLATION, __FILE__, __LINE__,
                   "seed %llu: a run finds a damaged %s, the checker nothing",
                   (unsigned long long)seed, why);
      }
    }
    stow_plan_destroy(copy);
    scene_free(&s);
  }
  CHECK(overlaps > 100);
  CHECK(corruptions > 100);
}

// One number of the plan changed, of any kind.
static void damage_anything(scene* s, stow_plan* plan) {
  stow_value victim = (stow_value)below(s, plan->value_count);
  stowi_plan_value* value = &plan->values[victim];
  switch (below(s, 9)) {
    case 0: value->root = (stow_value)below(s, plan->value_count + 1); break;
    case 1:
      value->offset = below(s, 2) == 0 ? STOW_OFFSET_NONE : below(s, plan->arena_size + 64);
      value->size = value->offset == STOW_OFFSET_NONE ? 0 : value->size;
      break;
    case 2: value->size = below(s, 200); break;
    case 3: value->begin = (uint32_t)below(s, plan->step_count + 2); break;
    case 4: value->end = (uint32_t)below(s, plan->step_count + 2); break;
    case 5: value->guard = below(s, 200); break;
    case 6: {
      uint32_t at = (uint32_t)below(s, plan->step_count);
      uint32_t to = (uint32_t)below(s, plan->step_count);
      stow_node node = plan->order[at];
      plan->order[at] = plan->order[to];
      plan->order[to] = node;
      break;
    }
    case 7: plan->arena_size += below(s, 3) - 1; break;
    default:
      if (plan->scratch_count > 0) {
        stowi_plan_scratch* scratch = &plan->scratch[below(s, plan->scratch_count)];
        scratch->offset = below(s, plan->arena_size + 1);
      }
      break;
  }
}

// The oracle cannot run everything: it takes the order of regions and roots for granted.
static bool can_run(const scene* s, const stow_plan* plan) {
  if (plan->arena_size > ORACLE_MAX_BYTES) {
    return false;
  }
  for (stow_value value = 0; value < plan->value_count; ++value) {
    if (plan->values[value].root >= plan->value_count) {
      return false;
    }
  }
  if (stow_graph_region_count(s->graph) == 1) {
    return true;
  }
  for (uint32_t step = 0; step < plan->step_count; ++step) {
    if (plan->order[step] != s->plan->order[step]) {
      return false;
    }
  }
  return true;
}

TEST(WhatTheCheckerAcceptsRuns) {
  uint64_t refused = 0;
  uint64_t corruptions = 0;
  for (uint64_t seed = 1; seed <= case_count(2000); ++seed) {
    scene s = scene_make(seed);
    stow_plan* copy = s.plan == NULL ? NULL : copy_plan(&s);
    if (copy != NULL) {
      char why[200] = "";
      for (uint64_t times = 1 + below(&s, 2); times > 0; --times) {
        damage_anything(&s, copy);
      }
      bool accepted = check(&s, copy, NULL) == STOW_OK;
      refused += accepted ? 0 : 1;
      if (can_run(&s, copy) && !oracle_agrees(&s, copy, why, sizeof(why))) {
        corruptions += 1;
        test_check(!accepted, __FILE__, __LINE__,
                   "seed %llu: a run finds a damaged %s, the checker nothing",
                   (unsigned long long)seed, why);
      }
    }
    stow_plan_destroy(copy);
    scene_free(&s);
  }
  CHECK(refused > 500);
  CHECK(corruptions > 100);
}

// Without rules lifetimes are exact: a root's cannot lose a single step.
TEST(LifetimesOfTheDefaultPresetAreTight) {
  uint64_t shortened = 0;
  for (uint64_t seed = 1; seed <= case_count(500); ++seed) {
    scene s = scene_make(seed);
    stow_plan* copy = s.plan == NULL || s.options.rule_count > 0 ? NULL : copy_plan(&s);
    for (stow_value v = 0; copy != NULL && v < copy->value_count; ++v) {
      stowi_plan_value* value = &copy->values[v];
      // An input that is consumed and never read still has a lifetime, up to its own node.
      bool is_unread = value->kind == STOWI_PLAN_KIND_INPUT && value->end <= copy->step_count &&
                       copy->order[value->end - 1] == stow_graph_producer(s.graph, v);
      if (value->root != v || value->offset == STOW_OFFSET_NONE || copy->facts.params > 1 ||
          is_unread) {
        continue;
      }
      stow_violation violation = {.struct_size = sizeof(violation)};
      shortened += 2;
      value->end -= 1;
      test_check(
          check(&s, copy, &violation) != STOW_OK && violation.fault == STOW_FAULT_REUSED_TOO_EARLY,
          __FILE__, __LINE__, "seed %llu: %%%u may end at %u", (unsigned long long)seed, v,
          value->end);
      value->end += 1;
      value->begin += 1;
      stow_status status = check(&s, copy, &violation);
      test_check(status != STOW_OK && (violation.fault == STOW_FAULT_BORN_TOO_LATE ||
                                       violation.fault == STOW_FAULT_REUSED_TOO_EARLY),
                 __FILE__, __LINE__, "seed %llu: %%%u may begin at %u", (unsigned long long)seed, v,
                 value->begin);
      value->begin -= 1;
    }
    stow_plan_destroy(copy);
    scene_free(&s);
  }
  CHECK(shortened > 1000);
}

// An order is wrong for the checker exactly if it is for the scheduler (which then fails to plan).
TEST(OrdersAreJudgedAsTheSchedulerJudgesThem) {
  uint64_t refused = 0;
  for (uint64_t seed = 1; seed <= case_count(1000); ++seed) {
    scene s = scene_make(seed);
    stow_plan* copy = s.plan == NULL ? NULL : copy_plan(&s);
    if (copy != NULL) {
      uint32_t at = (uint32_t)below(&s, copy->step_count);
      uint32_t to =
          below(&s, 2) == 0 ? (at + 1) % copy->step_count : (uint32_t)below(&s, copy->step_count);
      stow_node node = copy->order[at];
      copy->order[at] = copy->order[to];
      copy->order[to] = node;
      stow_schedule* schedule = NULL;
      stow_violation violation = {.struct_size = sizeof(violation)};
      bool possible =
          stow_schedule_create_order(s.graph, copy->order, copy->step_count,
                                     stow_allocator_default(), &s.diag, &schedule) == STOW_OK;
      refused += possible ? 0 : 1;
      check(&s, copy, &violation);
      // Effects may forbid what the graph allows, and give a cache bytes that no append writes
      // into.
      bool graph_decides = s.effects == NULL && s.options.io != STOW_IO_EXTERNAL;
      bool agrees = !graph_decides || (violation.fault == STOW_FAULT_SCHEDULE) == !possible;
      test_check(agrees, __FILE__, __LINE__, "seed %llu: order %s: %s", (unsigned long long)seed,
                 possible ? "possible" : "impossible", s.diag.message);
      stow_schedule_destroy(schedule);
    }
    stow_plan_destroy(copy);
    scene_free(&s);
  }
  CHECK(refused > 100);
}
