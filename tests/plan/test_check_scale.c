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
    stow_violation violation;
    stow_plan_check(m.plan, m.graph, NULL, stow_allocator_default(), NULL, &violation);
    bool expected = collides(m.plan, victim);
    CHECK((violation.fault == STOW_FAULT_OVERLAP) == expected);
    m.plan->values[victim].offset = saved;
  }
  many_free(&m);
}

TEST(CollisionsAmongThousandsAreFound) {
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
