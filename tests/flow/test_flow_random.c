// Orders and bounds of thousands of tiny random flows against brute force.
#include <stdio.h>

#include "brute_flow.h"
#include "flow/api.h"
#include "support/test.h"

enum { TINY_TASKS = 9 };

static uint64_t flow_count(uint64_t usual) { return test_is_long() ? 20 * usual : usual; }

static stowi_flow_order_result order_of(const stowi_flow* flow, stowi_flow_task* order) {
  stowi_flow_order_options options;
  stowi_flow_order_options_init(&options);
  stowi_flow_order_result result;
  CHECK(stowi_flow_order(flow, &options, stow_allocator_default(), NULL, order, &result) ==
        STOW_OK);
  return result;
}

static bool is_given(const stowi_flow_task* order, int count) {
  for (int i = 0; i < count; ++i) {
    if (order[i] != (stowi_flow_task)i) {
      return false;
    }
  }
  return true;
}

// A random order of the tasks of |b|.
static void random_order(const brute_flow* b, test_random* random, stowi_flow_task* order) {
  uint32_t ran = 0;
  for (int i = 0; i < b->task_count; ++i) {
    int t = (int)test_random_below(random, (uint64_t)b->task_count);
    while (!brute_may_run(b, ran, t)) {
      t = (t + 1) % b->task_count;
    }
    order[i] = (stowi_flow_task)t;
    ran |= UINT32_C(1) << t;
  }
}

TEST(PeaksOfOrdersMatchTheNaiveModel) {
  test_random random = {1};
  for (uint64_t i = 0; i < flow_count(8000); ++i) {
    brute_flow b = brute_random(&random, BRUTE_TASKS, (unsigned)(i % BRUTE_KINDS));
    stowi_flow* flow = brute_build(&b, stow_allocator_default());
    stowi_flow_task order[BRUTE_TASKS];
    random_order(&b, &random, order);
    uint64_t peak;
    uint32_t place;
    CHECK(stowi_flow_peak(flow, order, stow_allocator_default(), NULL, &peak, &place) == STOW_OK);
    CHECK_U64(peak, brute_peak(&b, order));
    uint32_t ran = 0;
    for (uint32_t p = 0; p < place; ++p) {
      ran |= UINT32_C(1) << order[p];
    }
    CHECK_U64(brute_need(&b, ran, (int)order[place]), peak);
    stowi_flow_destroy(flow);
  }
}

TEST(BothBruteForcesAgree) {
  test_random random = {2};
  for (uint64_t i = 0; i < flow_count(300); ++i) {
    brute_flow b = brute_random(&random, 6, (unsigned)(i % BRUTE_KINDS));
    CHECK_U64(brute_optimum(&b), brute_optimum_of_orders(&b));
  }
}

TEST(OrdersOfTinyFlowsAreOptimal) {
  test_random random = {3};
  uint64_t improved = 0;
  for (uint64_t i = 0; i < flow_count(12000); ++i) {
    brute_flow b = brute_random(&random, TINY_TASKS, (unsigned)(i % BRUTE_KINDS));
    stowi_flow* flow = brute_build(&b, stow_allocator_default());
    stowi_flow_task given[BRUTE_TASKS];
    for (int t = 0; t < b.task_count; ++t) {
      given[t] = (stowi_flow_task)t;
    }
    stowi_flow_task order[BRUTE_TASKS];
    stowi_flow_order_result result = order_of(flow, order);
    uint64_t optimum = brute_optimum(&b);
    if (!test_check(result.peak == optimum, __FILE__, __LINE__,
                    "flow %llu of %d tasks: %llu, not %llu", (unsigned long long)i, b.task_count,
                    (unsigned long long)result.peak, (unsigned long long)optimum)) {
      stowi_flow_destroy(flow);
      return;
    }
    CHECK_U64(brute_peak(&b, order), result.peak);
    CHECK_U64(result.bound, optimum);
    CHECK(result.changed == (optimum < brute_peak(&b, given)));
    CHECK(result.changed != is_given(order, b.task_count));
    improved += result.changed;
    stowi_flow_destroy(flow);
  }
  CHECK(improved > flow_count(12000) / 10);
  printf("  %llu orders changed\n", (unsigned long long)improved);
}

// The lowest need of |task| in any order.
static uint64_t lowest_need(const brute_flow* b, int task) {
  static bool reached[UINT32_C(1) << BRUTE_TASKS];
  uint32_t all = (UINT32_C(1) << b->task_count) - 1;
  uint64_t lowest = UINT64_MAX;
  for (uint32_t ran = 0; ran <= all; ++ran) {
    reached[ran] = ran == 0;
  }
  for (uint32_t ran = 0; ran <= all; ++ran) {
    for (int t = 0; t < b->task_count && reached[ran]; ++t) {
      if (brute_may_run(b, ran, t)) {
        reached[ran | UINT32_C(1) << t] = true;
        uint64_t need = t == task ? brute_need(b, ran, t) : UINT64_MAX;
        lowest = need < lowest ? need : lowest;
      }
    }
  }
  return lowest;
}

TEST(BoundsHoldForEveryOrderAtTheCriticalTask) {
  test_random random = {4};
  uint64_t tight = 0;
  uint64_t count = flow_count(6000);
  for (uint64_t i = 0; i < count; ++i) {
    brute_flow b = brute_random(&random, TINY_TASKS, (unsigned)(i % BRUTE_KINDS));
    stowi_flow* flow = brute_build(&b, stow_allocator_default());
    uint64_t bound;
    stowi_flow_task critical;
    CHECK(stowi_flow_bound(flow, stow_allocator_default(), NULL, &bound, &critical) == STOW_OK);
    uint64_t optimum = brute_optimum(&b);
    CHECK(bound <= optimum);
    CHECK(bound <= lowest_need(&b, (int)critical));
    tight += bound == optimum;
    stowi_flow_task order[BRUTE_TASKS];
    stowi_flow_order_result result = order_of(flow, order);
    CHECK(result.critical == STOWI_FLOW_TASK_NONE ||
          result.bound <= lowest_need(&b, (int)result.critical));
    stowi_flow_destroy(flow);
  }
  printf("  %llu of %llu bounds are the optimum\n", (unsigned long long)tight,
         (unsigned long long)count);
}
