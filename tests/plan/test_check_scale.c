// The plan checker on plans of many values.
#include <stowage/plan.h>

#include "plan/plan_internal.h"
#include "plan/plan_support.h"
#include "support/test.h"

typedef struct many {
  stow_graph* graph;
  stow_plan* plan;
} many;

// |count| values of 64 bytes, each read |distance| nodes later, or all of them by the last node.
static many make_many(uint32_t count, uint32_t distance) {
  many m = {NULL, NULL};
  stow_diag diag;
  stow_diag_init(&diag);
  stow_dim dim = 16;
  stow_type type = stow_type_make(STOW_F32, 1, &dim);
  stow_allocator allocator = stow_allocator_default();
  stow_graph_create(stow_str_of("many"), NULL, allocator, &diag, &m.graph);
  for (uint32_t i = 0; i <= count; ++i) {
    stow_call* call = stow_graph_begin(m.graph, STOW_OP_CUSTOM);
    stow_call_attr_string(call, "name", stow_str_of("x"));
    stow_call_result_type(call, &type);
    if (distance > 0 && i >= distance) {
      stow_call_operand(call, i - distance);
    }
    for (uint32_t k = 0; i == count && k < count; ++k) {
      if (distance == 0) {
        stow_call_operand(call, k);
      }
    }
    CHECK(stow_call_finish(call, &diag, NULL) == STOW_OK);
  }
  stow_graph_add_output(m.graph, count, &diag);
  stow_plan_options options = plan_options(STOW_PRESET_DEFAULT);
  stow_status status = stow_plan_make(m.graph, NULL, &options, allocator, &diag, &m.plan);
  test_check(status == STOW_OK, __FILE__, __LINE__, "%s", diag.message);
  return m;
}

static void many_free(many* m) {
  stow_plan_destroy(m->plan);
  stow_graph_destroy(m->graph);
}

static bool collides(const stow_plan* plan, stow_value victim) {
  const stowi_plan_value* x = &plan->values[victim];
  for (stow_value other = 0; other < plan->value_count; ++other) {
    const stowi_plan_value* y = &plan->values[other];
    if (other != victim && x->begin < y->end && y->begin < x->end &&
        x->offset < y->offset + y->size && y->offset < x->offset + x->size) {
      return true;
    }
  }
  return false;
}

static void damage_many(uint32_t count, uint32_t distance, uint32_t times) {
  many m = make_many(count, distance);
  test_random random = {count};
  for (uint32_t i = 0; i < times && m.plan != NULL; ++i) {
    stow_value victim = (stow_value)test_random_below(&random, m.plan->value_count);
    uint64_t saved = m.plan->values[victim].offset;
    m.plan->values[victim].offset = 64 * test_random_below(&random, m.plan->arena_size / 64);
    stow_violation violation = {.struct_size = sizeof(violation)};
    stow_plan_check(m.plan, m.graph, NULL, stow_allocator_default(), NULL, &violation);
    bool expected = collides(m.plan, victim);
    CHECK((violation.fault == STOW_FAULT_OVERLAP) == expected);
    m.plan->values[victim].offset = saved;
  }
  many_free(&m);
}

TEST(OverlapsAmongThousandsAreFound) {
  damage_many(5000, 0, 20);
  damage_many(5000, 1500, 20);
  damage_many(300, 7, 300);
}

TEST(AMillionLiveTogetherAreChecked) {
  many m = make_many(test_is_long() ? 1000000 : 100000, 0);
  REQUIRE(m.plan != NULL);
  CHECK(stow_plan_check(m.plan, m.graph, NULL, stow_allocator_default(), NULL, NULL) == STOW_OK);
  many_free(&m);
}

// ---------------------------------------------------------------------------------------------
// Many writes into one root

// One value after the other, each in place of the previous one by relu; all of them also inside one
// concat, where |parts| such chains end.
static many make_chains(uint32_t parts, uint32_t length) {
  many m = {NULL, NULL};
  stow_diag diag;
  stow_diag_init(&diag);
  stow_dim dim = 16;
  stow_type type = stow_type_make(STOW_F32, 1, &dim);
  stow_allocator allocator = stow_allocator_default();
  stow_graph_create(stow_str_of("chains"), NULL, allocator, &diag, &m.graph);
  for (uint32_t i = 0; i < parts * length; ++i) {
    bool is_first = i % length == 0;
    stow_call* call = stow_graph_begin(m.graph, is_first ? STOW_OP_CUSTOM : STOW_OP_RELU);
    if (is_first) {
      stow_call_attr_string(call, "name", stow_str_of("x"));
      stow_call_result_type(call, &type);
    } else {
      stow_call_operand(call, i - 1);
    }
    CHECK(stow_call_finish(call, &diag, NULL) == STOW_OK);
  }
  stow_call* call = stow_graph_begin(m.graph, STOW_OP_CONCAT);
  for (uint32_t part = 0; part < parts; ++part) {
    stow_call_operand(call, part * length + length - 1);
  }
  stow_call_attr_int(call, "axis", 0);
  CHECK(stow_call_finish(call, &diag, NULL) == STOW_OK);
  stow_graph_add_output(m.graph, parts * length, &diag);
  stow_plan_options options = plan_options(STOW_PRESET_DEFAULT);
  options.in_place = false;
  options.elide_copies = false;
  options.windows = false;
  stow_status status = stow_plan_make(m.graph, NULL, &options, allocator, &diag, &m.plan);
  test_check(status == STOW_OK, __FILE__, __LINE__, "%s", diag.message);
  return m;
}

// All in the concat's root, which is alone in the arena.
static void share_chains(stow_plan* plan, uint32_t parts, uint32_t length) {
  stow_value root = parts * length;
  plan->facts.in_place = true;
  plan->facts.elide_copies = true;
  for (stow_value v = 0; v < root; ++v) {
    plan->values[v].root = root;
    plan->values[v].offset = (uint64_t)(v / length) * 64;
  }
  plan->values[root].offset = 0;
  plan->values[root].begin = 0;
  plan->arena_size = (uint64_t)parts * 64;
  plan->lower_bound = plan->arena_size;
  plan->peak_step = 0;
}

static void check_chains(uint32_t parts, uint32_t length) {
  many m = make_chains(parts, length);
  REQUIRE(m.plan != NULL);
  share_chains(m.plan, parts, length);
  stow_diag diag;
  stow_diag_init(&diag);
  stow_status status =
      stow_plan_check(m.plan, m.graph, NULL, stow_allocator_default(), &diag, NULL);
  test_check(status == STOW_OK, __FILE__, __LINE__, "%s", diag.message);
  // The first of the last chain is in the first chain's bytes, after those were last written.
  stow_violation violation = {.struct_size = sizeof(violation)};
  m.plan->values[(parts - 1) * length].offset = 0;
  stow_plan_check(m.plan, m.graph, NULL, stow_allocator_default(), NULL, &violation);
  CHECK(parts == 1 ? violation.fault == STOW_FAULT_NONE : violation.fault != STOW_FAULT_NONE);
  many_free(&m);
}

// No pair of writes may be compared.
TEST(ManyWritesIntoOneRootAreChecked) {
  check_chains(1, 50000);
  check_chains(200, 250);
  check_chains(50000, 1);
}
