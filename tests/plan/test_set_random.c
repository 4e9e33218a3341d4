// Sets of random graphs: every plan passes its check, all pass that of the set, runs that take
// turns in one memory find everything that is kept, and damage is found.
#include <stdlib.h>
#include <stowage/set.h>
#include <string.h>

#include "analysis/api.h"
#include "plan/api.h"
#include "plan/plan_internal.h"
#include "support/random_graph.h"
#include "support/test.h"
#include "test_check_oracle.h"

#define MEMBERS_MAX 4
#define SEARCH_NODES 300
#define ORACLE_MAX_BYTES 60000

// What a case is made of, from one number.
typedef struct scene {
  uint64_t seed;
  test_random random;
  size_t count;
  uint64_t seeds[MEMBERS_MAX];
  stow_graph* graphs[MEMBERS_MAX];
  stow_effects* effects[MEMBERS_MAX];  // NULL in some
  stow_schedule* schedules[MEMBERS_MAX];
  stow_plan_options options;
  stow_set* set;
  bool placed;
  stow_diag diag;
} scene;

static uint64_t below(scene* s, uint64_t bound) { return test_random_below(&s->random, bound); }

static void choose_options(scene* s) {
  static const stow_io_policy policies[] = {STOW_IO_KEEP, STOW_IO_KEEP, STOW_IO_CONSUME,
                                            STOW_IO_EXTERNAL};
  static const stow_preset presets[] = {STOW_PRESET_DEFAULT, STOW_PRESET_DEFAULT, STOW_PRESET_RLX,
                                        STOW_PRESET_RLX_0_2_2};
  stow_plan_options* o = &s->options;
  stow_plan_options_init(o, presets[below(s, 4)]);
  o->nodes = SEARCH_NODES;
  o->order = below(s, 3) == 0 ? STOW_ORDER_AUTO : STOW_ORDER_GIVEN;
  o->order_nodes = SEARCH_NODES;
  if (below(s, 2) == 0) {
    return;
  }
  o->alignment = UINT64_C(1) << below(s, 8);
  o->tail_guard = below(s, 2) * below(s, 300);
  o->params = below(s, 5) != 0;
  o->inputs = below(s, 5) != 0;
  o->constants = below(s, 5) != 0;
  o->zero_size_slots = below(s, 2) == 0;
  o->f32_uniform = below(s, 4) == 0;
  o->reuse = below(s, 8) != 0;
  o->io = policies[below(s, 4)];
  o->strategy = stow_strategy_at(below(s, stow_strategy_count()));
}

// Some are graphs that the set already has, with other effects and in another order.
static stow_graph* make_graph(scene* s) {
  size_t i = s->count > 0 && below(s, 3) == 0 ? (size_t)below(s, s->count) : s->count;
  if (i == s->count) {
    s->seeds[i] = test_random_u64(&s->random);
  }
  test_random random = {s->seeds[i]};
  random_graph_options options = random_graph_everything(3 + test_random_below(&random, 25));
  options.regions = test_random_below(&random, 3) == 0;
  s->seeds[s->count] = s->seeds[i];
  return random_graph(&random, &options, stow_allocator_default());
}

static void add_graph(scene* s) {
  size_t i = s->count;
  size_t index;
  s->graphs[i] = make_graph(s);
  s->effects[i] =
      below(s, 3) != 0 ? random_effects(&s->random, s->graphs[i], stow_allocator_default()) : NULL;
  s->schedules[i] =
      below(s, 4) == 0 ? random_schedule(&s->random, s->graphs[i], stow_allocator_default()) : NULL;
  s->count += 1;
  CHECK(stow_set_add(s->set, s->graphs[i], s->effects[i], s->schedules[i], &s->diag, &index) ==
            STOW_OK &&
        index == i);
}

static scene scene_make(uint64_t seed) {
  scene s;
  memset(&s, 0, sizeof(s));
  stow_diag_init(&s.diag);
  s.seed = seed;
  s.random.state = seed;
  choose_options(&s);
  CHECK(stow_set_create(&s.options, stow_allocator_default(), &s.diag, &s.set) == STOW_OK);
  size_t count = 1 + below(&s, MEMBERS_MAX);
  while (s.count < count) {
    add_graph(&s);
  }
  s.placed = stow_set_place(s.set, &s.diag) == STOW_OK;
  return s;
}

static void scene_free(scene* s) {
  stow_set_destroy(s->set);
  for (size_t i = 0; i < s->count; ++i) {
    stow_schedule_destroy(s->schedules[i]);
    stow_effects_destroy(s->effects[i]);
    stow_graph_destroy(s->graphs[i]);
  }
}

static uint64_t case_count(uint64_t usual) { return test_is_long() ? usual * 50 : usual; }

static stow_status check_set(scene* s, const stow_plan* const* plans, stow_violation* out) {
  return stow_set_check(plans, (const stow_graph* const*)s->graphs,
                        (const stow_effects* const*)s->effects, s->count, stow_allocator_default(),
                        &s->diag, out);
}

static void plans_of(const scene* s, const stow_plan** out_plans) {
  for (size_t i = 0; i < s->count; ++i) {
    out_plans[i] = stow_set_plan(s->set, i);
  }
}

// A copy that can be damaged, by way of the saved text.
static stow_plan* copy_plan(scene* s, size_t index) {
  stow_string text;
  stow_plan* copy = NULL;
  stow_string_init(&text, stow_allocator_default());
  stowi_plan_write_saved(stow_set_plan(s->set, index), stow_string_writer(&text));
  stow_status status = stow_plan_read(text.data, text.size, NULL, s->graphs[index],
                                      stow_allocator_default(), &s->diag, &copy);
  test_check(status == STOW_OK, __FILE__, __LINE__, "seed %llu: %s", (unsigned long long)s->seed,
             s->diag.message);
  stow_string_free(&text);
  return copy;
}

// ---------------------------------------------------------------------------------------------
// Plans and sizes

static void check_plans(scene* s) {
  const stow_plan* plans[MEMBERS_MAX];
  plans_of(s, plans);
  for (size_t i = 0; i < s->count; ++i) {
    stow_plan* copy = copy_plan(s, i);
    bool pass = stow_plan_check(plans[i], s->graphs[i], s->effects[i], stow_allocator_default(),
                                &s->diag, NULL) == STOW_OK &&
                stow_plan_check(copy, s->graphs[i], s->effects[i], stow_allocator_default(),
                                &s->diag, NULL) == STOW_OK;
    test_check(pass, __FILE__, __LINE__, "seed %llu, graph %zu: %s", (unsigned long long)s->seed, i,
               s->diag.message);
    stow_plan_destroy(copy);
  }
  stow_violation violation = {.struct_size = sizeof(violation)};
  stow_status status = check_set(s, plans, &violation);
  test_check(status == STOW_OK && violation.fault == STOW_FAULT_NONE, __FILE__, __LINE__,
             "seed %llu: %s", (unsigned long long)s->seed, s->diag.message);
}

// Fixed offsets may cost anything; alone, a part of a root with state may be free for others.
static bool has_demands(const scene* s) {
  for (size_t i = 0; i < s->count; ++i) {
    for (stow_value v = 0; v < stow_graph_value_count(s->graphs[i]); ++v) {
      if (stowi_effects_offset(s->effects[i], v) != STOW_OFFSET_NONE ||
          stowi_effects_state(s->effects[i], v)) {
        return true;
      }
    }
  }
  return false;
}

// Rounding up may cost one alignment for each graph that is put on top of others.
static void check_sizes(scene* s, uint64_t* tight) {
  uint64_t arena = stow_set_arena_size(s->set);
  uint64_t sum = 0;
  uint64_t largest = 0;
  uint64_t bound = stowi_plan_set_lower_bound(s->set);
  for (size_t i = 0; i < s->count; ++i) {
    const stow_plan* plan = stow_set_plan(s->set, i);
    uint64_t size = stow_plan_arena_size(plan);
    largest = size > largest ? size : largest;
    sum += stow_set_alone(s->set, i) + stowi_plan_set_alignment(s->set);
    test_check(arena >= stow_plan_lower_bound(plan) && stow_plan_lower_bound(plan) <= size,
               __FILE__, __LINE__, "seed %llu, graph %zu: below its bound",
               (unsigned long long)s->seed, i);
  }
  bool right = arena == largest && arena >= bound && (has_demands(s) || arena <= sum);
  test_check(right, __FILE__, __LINE__, "seed %llu: arena %llu, bound %llu, sum %llu",
             (unsigned long long)s->seed, (unsigned long long)arena, (unsigned long long)bound,
             (unsigned long long)sum);
  *tight += arena == bound;
}

TEST(EverySetOfRandomGraphsPasses) {
  uint64_t placed = 0;
  uint64_t tight = 0;
  uint64_t shared = 0;
  uint64_t cases = case_count(1000);
  for (uint64_t seed = 1; seed <= cases; ++seed) {
    scene s = scene_make(seed);
    if (s.placed) {
      placed += 1;
      shared += stowi_plan_set_shared_count(s.set) != 0;
      check_plans(&s);
      check_sizes(&s, &tight);
    } else {
      bool excused = s.diag.status == STOW_ERR_CONFLICT || s.diag.status == STOW_ERR_TYPE;
      test_check(excused, __FILE__, __LINE__, "seed %llu: %s", (unsigned long long)seed,
                 s.diag.message);
    }
    scene_free(&s);
  }
  test_check(placed * 2 > cases && tight * 2 > placed && shared * 5 > placed, __FILE__, __LINE__,
             "%llu placed, %llu tight, %llu share", (unsigned long long)placed,
             (unsigned long long)tight, (unsigned long long)shared);
}

// ---------------------------------------------------------------------------------------------
// Runs that take turns

// What is known of the bytes of a kept root: a hash since the last run that had them.
typedef struct memo {
  bool known;
  uint64_t hash;
} memo;

typedef struct theatre {
  scene* s;
  const stow_plan* plans[MEMBERS_MAX];
  memo* memos[MEMBERS_MAX];  // by value
  oracle_memory* memory;
} theatre;

static bool is_kept(const scene* s, size_t i, stow_value v) {
  stow_op op = stow_graph_op(s->graphs[i], stow_graph_producer(s->graphs[i], v));
  return op == STOW_OP_PARAM || op == STOW_OP_CONSTANT || stowi_effects_state(s->effects[i], v);
}

// Whether |root| of graph |i| is a root and holds something kept.
static bool holds_kept(const theatre* t, size_t i, stow_value root) {
  stow_slot slot;
  if (!stow_plan_value_slot(t->plans[i], root, &slot) ||
      stow_plan_root(t->plans[i], root) != root) {
    return false;
  }
  for (stow_value v = 0; v < stow_graph_value_count(t->s->graphs[i]); ++v) {
    if (stow_plan_root(t->plans[i], v) == root && is_kept(t->s, i, v)) {
      return true;
    }
  }
  return false;
}

// The root of graph |j| that is the same as |root| of graph |i|. Random graphs have no data.
static stow_value same_resident(const theatre* t, size_t i, stow_value root, size_t j) {
  stow_str name = stow_graph_value_name(t->s->graphs[i], root);
  stow_slot x, y;
  stow_value other = name.size == 0 ? STOW_VALUE_NONE : stow_graph_find(t->s->graphs[j], name);
  bool same = other != STOW_VALUE_NONE && holds_kept(t, j, other) &&
              stow_plan_value_slot(t->plans[i], root, &x) &&
              stow_plan_value_slot(t->plans[j], other, &y) && x.size == y.size;
  return same ? other : STOW_VALUE_NONE;
}

static uint64_t hash_of(const theatre* t, size_t i, stow_value root) {
  stow_slot slot;
  stow_plan_value_slot(t->plans[i], root, &slot);
  return oracle_memory_hash(t->memory, slot.offset,
                            slot.size + stowi_plan_guard(t->plans[i], root));
}

// Everything that is known must still be there; graph |ran| (or none: |count|) may have changed its
// own.
static bool all_survived(const theatre* t, size_t ran) {
  for (size_t i = 0; i < t->s->count; ++i) {
    for (stow_value v = 0; v < stow_graph_value_count(t->s->graphs[i]); ++v) {
      bool changed =
          i == ran || (ran < t->s->count && same_resident(t, i, v, ran) != STOW_VALUE_NONE);
      if (t->memos[i][v].known && !changed && t->memos[i][v].hash != hash_of(t, i, v)) {
        return false;
      }
    }
  }
  return true;
}

// Remembers what graph |ran| left, also for others that share it.
static bool remember(theatre* t, size_t ran) {
  bool together = true;
  for (stow_value v = 0; v < stow_graph_value_count(t->s->graphs[ran]); ++v) {
    if (!holds_kept(t, ran, v)) {
      continue;
    }
    for (size_t j = 0; j < t->s->count; ++j) {
      stow_value same = j == ran ? v : same_resident(t, ran, v, j);
      if (same != STOW_VALUE_NONE) {
        stow_slot x, y;
        stow_plan_value_slot(t->plans[ran], v, &x);
        stow_plan_value_slot(t->plans[j], same, &y);
        together = together && x.offset == y.offset;
        t->memos[j][same] = (memo){true, hash_of(t, j, same)};
      }
    }
  }
  return together;
}

// Ten runs in any order. False, with the reason in |why|, if something was lost.
static bool play(theatre* t, char* why, size_t size) {
  for (size_t turn = 0; turn < 10; ++turn) {
    size_t i = (size_t)below(t->s, t->s->count);
    uint64_t branches = test_random_u64(&t->s->random);
    if (!oracle_take_turn(t->memory, t->plans[i], t->s->graphs[i], t->s->effects[i], branches, why,
                          size)) {
      return false;
    }
    if (!all_survived(t, i)) {
      strcpy(why, "thing that another graph keeps");
      return false;
    }
    if (!remember(t, i)) {
      strcpy(why, "value that is at two offsets");
      return false;
    }
  }
  return true;
}

static bool plays_well(scene* s, const stow_plan* const* plans, char* why, size_t size) {
  theatre t = {.s = s};
  uint64_t bytes = 0;
  for (size_t i = 0; i < s->count; ++i) {
    t.plans[i] = plans[i];
    t.memos[i] = (memo*)calloc(stow_graph_value_count(s->graphs[i]) + 1, sizeof(memo));
    bytes = plans[i]->arena_size > bytes ? plans[i]->arena_size : bytes;
  }
  t.memory = oracle_memory_create(bytes);
  bool well = play(&t, why, size);
  oracle_memory_destroy(t.memory);
  for (size_t i = 0; i < s->count; ++i) {
    free(t.memos[i]);
  }
  return well;
}

TEST(RunsThatTakeTurnsFindAllThatIsKept) {
  uint64_t played = 0;
  for (uint64_t seed = 1; seed <= case_count(400); ++seed) {
    scene s = scene_make(seed);
    if (s.placed && stow_set_arena_size(s.set) <= ORACLE_MAX_BYTES) {
      char why[200] = "";
      const stow_plan* plans[MEMBERS_MAX];
      plans_of(&s, plans);
      played += 1;
      test_check(plays_well(&s, plans, why, sizeof(why)), __FILE__, __LINE__,
                 "seed %llu: runs find a damaged %s", (unsigned long long)seed, why);
    }
    scene_free(&s);
  }
  CHECK(played > 100);
}

// ---------------------------------------------------------------------------------------------
// Damage

// Moves a root of one plan, with all its values; or drops a reserved range.
static bool damage(scene* s, stow_plan* plan) {
  stow_value victim = (stow_value)below(s, plan->value_count);
  stowi_plan_value* value = &plan->values[victim];
  if (plan->reserved_count > 0 && below(s, 3) == 0) {
    stowi_plan_span* span = &plan->reserved[below(s, plan->reserved_count)];
    span->end = span->offset + below(s, span->end - span->offset);
    return true;
  }
  if (value->root != victim || value->offset == STOW_OFFSET_NONE ||
      value->size > plan->arena_size) {
    return false;
  }
  uint64_t to = below(s, plan->arena_size - value->size + 1) >> value->alignment_log2
                                                                    << value->alignment_log2;
  if (plan->reserved_count > 0 && below(s, 2) == 0) {
    to = plan->reserved[below(s, plan->reserved_count)].offset;
  }
  uint64_t from = value->offset;
  for (stow_value v = 0; v < plan->value_count; ++v) {
    if (plan->values[v].root == victim && plan->values[v].offset != STOW_OFFSET_NONE) {
      plan->values[v].offset = plan->values[v].offset - from + to;
    }
  }
  return to != from;
}

// Whether the plans pass all checks.
static bool pass(scene* s, const stow_plan* const* plans) {
  for (size_t i = 0; i < s->count; ++i) {
    if (stow_plan_check(plans[i], s->graphs[i], s->effects[i], stow_allocator_default(), NULL,
                        NULL) != STOW_OK) {
      return false;
    }
  }
  return check_set(s, plans, NULL) == STOW_OK;
}

TEST(WhatTheChecksAcceptRuns) {
  uint64_t corruptions = 0;
  uint64_t refused_sets = 0;
  for (uint64_t seed = 1; seed <= case_count(600); ++seed) {
    scene s = scene_make(seed);
    if (s.placed && stow_set_arena_size(s.set) <= ORACLE_MAX_BYTES) {
      const stow_plan* plans[MEMBERS_MAX];
      plans_of(&s, plans);
      size_t victim = (size_t)below(&s, s.count);
      stow_plan* copy = copy_plan(&s, victim);
      plans[victim] = copy;
      if (damage(&s, copy)) {
        char why[200] = "";
        bool well = plays_well(&s, plans, why, sizeof(why));
        corruptions += !well;
        refused_sets += check_set(&s, plans, NULL) != STOW_OK;
        test_check(well || !pass(&s, plans), __FILE__, __LINE__,
                   "seed %llu: runs find a damaged %s, the checks nothing",
                   (unsigned long long)seed, why);
      }
      stow_plan_destroy(copy);
    }
    scene_free(&s);
  }
  CHECK(corruptions > 30);
  CHECK(refused_sets > 30);
}
