// The exact search of a stretch, forwards and backwards, against brute force; and that it leaves
// its state unchanged.
#include <string.h>

#include "brute_flow.h"
#include "flow/exact.h"
#include "flow/search.h"
#include "flow/state.h"
#include "support/fault.h"
#include "support/test.h"

enum { TINY_TASKS = 9 };

typedef struct bench {
  test_heap heap;
  stowi_flow* flow;
  stowi_flow_net net;
  stowi_flow_state state;
  stowi_flow_task order[BRUTE_TASKS];
} bench;

static void open(bench* b, const brute_flow* brute) {
  memset(b, 0, sizeof(*b));
  stow_allocator allocator = test_heap_allocator(&b->heap);
  b->flow = brute_build(brute, allocator);
  CHECK(stowi_flow_net_open(&b->net, b->flow, allocator, NULL) == STOW_OK);
  CHECK(stowi_flow_state_open(&b->state, &b->net, NULL) == STOW_OK);
  stowi_flow_given_order(b->order, b->net.task_count);
}

static void close(bench* b) {
  stowi_flow_state_close(&b->state);
  stowi_flow_net_close(&b->net);
  stowi_flow_destroy(b->flow);
  CHECK_U64(b->heap.live_blocks, 0);
}

static stowi_flow_exact_result run(bench* b, uint64_t floor, uint64_t limit, bool backwards) {
  stowi_flow_exact_task task = {floor, limit, UINT64_MAX, backwards};
  stowi_flow_exact_result result;
  uint64_t bytes = b->state.bytes;
  stowi_flow_stretch stretch = {b->order, b->net.task_count};
  CHECK(stowi_flow_exact(&b->state, stretch, &task, &result) == STOW_OK);
  CHECK_U64(b->state.bytes, bytes);
  return result;
}

TEST(BothDirectionsFindTheOptimum) {
  test_random random = {5};
  for (uint64_t i = 0; i < (test_is_long() ? 100000 : 6000); ++i) {
    brute_flow brute = brute_random(&random, TINY_TASKS, (unsigned)(i % BRUTE_KINDS));
    uint64_t optimum = brute_optimum(&brute);
    for (int backwards = 0; backwards < 2; ++backwards) {
      bench b;
      open(&b, &brute);
      stowi_flow_exact_result result = run(&b, 0, UINT64_MAX, backwards == 1);
      CHECK(result.verdict == STOWI_FLOW_ORDER_FOUND);
      CHECK_U64(brute_peak(&brute, b.order), optimum);
      CHECK_U64(result.bound, optimum);
      close(&b);
    }
  }
}

TEST(SearchRespectsLimitAndFloor) {
  test_random random = {6};
  for (uint64_t i = 0; i < 2000; ++i) {
    brute_flow brute = brute_random(&random, TINY_TASKS, (unsigned)(i % BRUTE_KINDS));
    uint64_t optimum = brute_optimum(&brute);
    bool backwards = i % 3 == 0;
    bench b;
    open(&b, &brute);
    if (optimum > 0) {
      stowi_flow_exact_result none = run(&b, 0, optimum, backwards);
      CHECK(none.verdict == STOWI_FLOW_ORDER_NONE);
      CHECK_U64(none.bound, optimum);
    }
    uint64_t floor = optimum + test_random_below(&random, 5);
    stowi_flow_exact_result result = run(&b, floor, UINT64_MAX, backwards);
    CHECK(result.verdict == STOWI_FLOW_ORDER_FOUND);
    CHECK_U64(result.bound, 0);
    CHECK(brute_peak(&brute, b.order) <= floor);
    close(&b);
  }
}

TEST(ASpentBudgetLeavesAValidBound) {
  test_random random = {7};
  for (uint64_t i = 0; i < 2000; ++i) {
    brute_flow brute = brute_random(&random, TINY_TASKS, (unsigned)(i % BRUTE_KINDS));
    bench b;
    open(&b, &brute);
    stowi_flow_exact_task task = {0, UINT64_MAX, test_random_below(&random, 60), i % 2 == 1};
    stowi_flow_exact_result result;
    stowi_flow_stretch stretch = {b.order, b.net.task_count};
    CHECK(stowi_flow_exact(&b.state, stretch, &task, &result) == STOW_OK);
    CHECK(result.bound <= brute_optimum(&brute));
    CHECK(result.nodes <= task.nodes + b.net.task_count);
    close(&b);
  }
}

// A state after a random set, reached by running and taking back at random, agrees with the naive
// model about every task that may run.
TEST(StatesDependOnlyOnTheSet) {
  test_random random = {8};
  for (uint64_t i = 0; i < 2000; ++i) {
    brute_flow brute = brute_random(&random, BRUTE_TASKS, (unsigned)(i % BRUTE_KINDS));
    bench b;
    open(&b, &brute);
    uint32_t ran = 0;
    for (int step = 0; step < 40; ++step) {
      stowi_flow_task t = (stowi_flow_task)test_random_below(&random, b.net.task_count);
      CHECK(stowi_flow_state_is_ready(&b.state, t) == brute_may_run(&brute, ran, (int)t));
      if (stowi_flow_state_is_ready(&b.state, t)) {
        CHECK_U64(stowi_flow_state_need(&b.state, t), brute_need(&brute, ran, (int)t));
        stowi_flow_state_run(&b.state, t);
        ran |= UINT32_C(1) << t;
      } else if (stowi_flow_state_is_last(&b.state, t)) {
        stowi_flow_state_take_back(&b.state, t);
        ran &= ~(UINT32_C(1) << t);
      }
    }
    close(&b);
  }
}

// Stray tasks that can run late are what the reduction is for: some read nothing.
TEST(TheReductionKeepsABestOrder) {
  test_random random = {9};
  uint64_t changed = 0;
  for (uint64_t i = 0; i < (test_is_long() ? 200000 : 10000); ++i) {
    brute_flow brute = brute_random(&random, TINY_TASKS, (unsigned)(i % BRUTE_KINDS));
    bench b;
    open(&b, &brute);
    bool is_changed;
    CHECK(stowi_flow_reduce(&b.net, b.order, &is_changed) == STOW_OK);
    changed += is_changed;
    stowi_flow_state_reset(&b.state);
    run(&b, 0, UINT64_MAX, i % 2 == 1);
    CHECK_U64(brute_peak(&brute, b.order), brute_optimum(&brute));
    close(&b);
  }
  CHECK(changed > 1000);
}

// Task 4 may be in place of block 2 only once block 3, which contains it, is gone: task 5, its last
// reader, must not be delayed. Rare among random flows.
TEST(TasksThatUncoverAReadAreNotDelayed) {
  brute_flow brute = {.task_count = 9,
                      .block_count = 11,
                      .pair_count = 6,
                      .scratch = {[2] = 16, [4] = 16},
                      .blocks = {{3, false, -1, 0x00, -1},
                                 {8, true, -1, 0x05, 2},
                                 {8, false, 0, 0x12, 3},
                                 {8, false, 1, 0x20, -1},
                                 {10, false, 2, 0x58, -1},
                                 {10, false, 4, 0x00, -1},
                                 {0, false, 5, 0x00, -1},
                                 {4, true, 6, 0x00, -1},
                                 {8, false, 6, 0x00, -1},
                                 {5, false, 7, 0x00, -1},
                                 {1, true, 8, 0x00, -1}},
                      .pairs = {{0, 2, 1}, {2, 4, 1}, {4, 5, 2}, {4, 5, 4}, {5, 6, 3}, {6, 8, 4}}};
  bench b;
  open(&b, &brute);
  run(&b, 0, UINT64_MAX, true);
  CHECK_U64(brute_peak(&brute, b.order), brute_optimum(&brute));
  close(&b);
}
