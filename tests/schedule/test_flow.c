// What flows take and refuse, and the promises of the search: ties, budgets, stopping, memory.
#include <stowage/flow.h>
#include <string.h>

#include "brute_flow.h"
#include "flow_families.h"
#include "support/fault.h"
#include "support/test.h"

// ---------------------------------------------------------------------------------------------
// Flows by hand

static stow_flow* new_flow(void) {
  stow_flow* flow = NULL;
  CHECK(stow_flow_create(stow_allocator_default(), NULL, &flow) == STOW_OK);
  return flow;
}

static stow_task add_task(stow_flow* flow, uint64_t scratch) {
  stow_task task;
  CHECK(stow_flow_add_task(flow, scratch, NULL, &task) == STOW_OK);
  return task;
}

static stow_block add_block(stow_flow* flow, uint64_t bytes) {
  stow_block_desc desc;
  stow_block_desc_init(&desc);
  desc.bytes = bytes;
  stow_block block;
  CHECK(stow_flow_add_block(flow, &desc, NULL, &block) == STOW_OK);
  return block;
}

static stow_block made_by(stow_flow* flow, stow_task task, uint64_t bytes) {
  stow_block block = add_block(flow, bytes);
  CHECK(stow_flow_makes(flow, task, block, NULL) == STOW_OK);
  return block;
}

static void reads(stow_flow* flow, stow_task task, stow_block block) {
  CHECK(stow_flow_reads(flow, task, block, NULL) == STOW_OK);
}

static uint64_t peak_of(const stow_flow* flow, const stow_task* order, uint32_t* place) {
  uint64_t peak;
  CHECK(stow_flow_peak(flow, order, stow_allocator_default(), NULL, &peak, place) == STOW_OK);
  return peak;
}

static stow_flow_order_result order_with(const stow_flow* flow,
                                         const stow_flow_order_options* options, stow_task* order) {
  stow_flow_order_result result;
  CHECK(stow_flow_order(flow, options, stow_allocator_default(), NULL, order, &result) == STOW_OK);
  return result;
}

// Two branches, each large in the middle and small at the end; given breadth first.
static stow_flow* two_branches(void) {
  stow_flow* flow = new_flow();
  stow_block input = add_block(flow, 1);
  for (stow_task t = 0; t < 5; ++t) {
    add_task(flow, 0);
  }
  for (stow_task i = 0; i < 2; ++i) {
    stow_block large = made_by(flow, i, 100);
    stow_block small = made_by(flow, 2 + i, 1);
    reads(flow, i, input);
    reads(flow, 2 + i, large);
    reads(flow, 4, small);
  }
  return flow;
}

TEST(ABranchIsFinishedBeforeTheNext) {
  stow_flow* flow = two_branches();
  stow_flow_order_options options;
  stow_flow_order_options_init(&options);
  stow_task order[5];
  uint32_t place;
  CHECK_U64(peak_of(flow, NULL, &place), 201);
  CHECK_U64(place, 1);
  stow_flow_order_result result = order_with(flow, &options, order);
  CHECK_U64(result.peak, 102);
  CHECK_U64(result.bound, 102);
  CHECK(result.changed);
  CHECK_U64(peak_of(flow, order, &place), 102);
  stow_flow_destroy(flow);
}

TEST(WhatIsEnoughEndsTheSearch) {
  stow_flow* flow = two_branches();
  stow_flow_order_options options;
  stow_flow_order_options_init(&options);
  options.enough = 201;
  stow_task order[5];
  stow_flow_order_result result = order_with(flow, &options, order);
  CHECK_U64(result.peak, 201);
  CHECK(!result.changed);
  for (stow_task i = 0; i < 5; ++i) {
    CHECK_U64(order[i], i);
  }
  stow_flow_destroy(flow);
}

TEST(WithoutNodesTheGivenOrderIsKept) {
  stow_flow* flow = two_branches();
  stow_flow_order_options options;
  stow_flow_order_options_init(&options);
  options.nodes = 0;
  stow_task order[5];
  stow_flow_order_result result = order_with(flow, &options, order);
  CHECK_U64(result.peak, 201);
  CHECK(!result.changed && !result.stopped);
  CHECK(result.bound <= 102);
  stow_flow_destroy(flow);
}

static bool stop_at_once(void* user, const stow_flow_order_progress* progress) {
  *(uint64_t*)user += 1;
  CHECK(progress->phase != NULL && progress->bound <= progress->best);
  return false;
}

TEST(TheCallbackStopsTheSearch) {
  stow_flow* flow = flow_family_make(FLOW_LAYERED, 200, 1, stow_allocator_default());
  uint64_t calls = 0;
  stow_flow_order_options options;
  stow_flow_order_options_init(&options);
  options.on_progress = stop_at_once;
  options.user = &calls;
  stow_task order[300];
  stow_flow_order_result result = order_with(flow, &options, order);
  CHECK(result.stopped);
  CHECK_U64(calls, 1);
  uint32_t place;
  CHECK_U64(peak_of(flow, order, &place), result.peak);
  stow_flow_destroy(flow);
}

TEST(ABoundNamesItsTask) {
  stow_flow* flow = two_branches();
  uint64_t bound;
  stow_task critical;
  CHECK(stow_flow_bound(flow, stow_allocator_default(), NULL, &bound, &critical) == STOW_OK);
  CHECK_U64(bound, 102);  // a branch, and of the other what it reads, its middle or its end
  CHECK(critical < 4);
  stow_flow_destroy(flow);
}

TEST(NothingNeedsNothing) {
  stow_flow* flow = new_flow();
  stow_flow_order_options options;
  stow_flow_order_options_init(&options);
  stow_task order[1];
  uint32_t place;
  CHECK_U64(peak_of(flow, NULL, &place), 0);
  stow_flow_order_result result = order_with(flow, &options, order);
  CHECK_U64(result.peak, 0);
  CHECK(result.critical == STOW_TASK_NONE && !result.changed);
  stow_flow_destroy(flow);
  stow_flow_destroy(NULL);
}

// ---------------------------------------------------------------------------------------------
// The model, case by case

TEST(AResultLiesOverWhatDiesWithItsTask) {
  stow_flow* flow = new_flow();
  stow_block input = add_block(flow, 10);
  stow_task task = add_task(flow, 0);
  stow_task later = add_task(flow, 0);
  stow_block made = made_by(flow, task, 8);
  reads(flow, task, input);
  reads(flow, later, made);
  CHECK(stow_flow_over(flow, task, made, input, NULL) == STOW_OK);
  uint32_t place;
  CHECK_U64(peak_of(flow, NULL, &place), 10);
  reads(flow, later, input);  // now it lives on
  CHECK_U64(peak_of(flow, NULL, &place), 18);
  stow_flow_destroy(flow);
}

TEST(PartsNeedNothingWhileTheirWholeExists) {
  stow_flow* flow = new_flow();
  stow_task a = add_task(flow, 0);
  stow_task b = add_task(flow, 0);
  stow_task join = add_task(flow, 0);
  stow_task end = add_task(flow, 0);
  stow_block left = made_by(flow, a, 10);
  stow_block right = made_by(flow, b, 20);
  stow_block whole = made_by(flow, join, 30);
  reads(flow, join, left);
  reads(flow, join, right);
  reads(flow, end, whole);
  uint32_t place;
  CHECK_U64(peak_of(flow, NULL, &place), 60);
  CHECK(stow_flow_absorbs(flow, whole, left, NULL) == STOW_OK);
  CHECK_U64(peak_of(flow, NULL, &place), 50);
  CHECK(stow_flow_absorbs(flow, whole, right, NULL) == STOW_OK);
  CHECK_U64(peak_of(flow, NULL, &place), 30);
  stow_flow_destroy(flow);
}

// ---------------------------------------------------------------------------------------------
// What is refused

TEST(WhatDoesNotFitIsRefusedAndChangesNothing) {
  stow_flow* flow = new_flow();
  stow_block input = add_block(flow, 10);
  stow_task first = add_task(flow, 0);
  stow_task second = add_task(flow, 0);
  stow_block made = made_by(flow, second, 8);
  reads(flow, second, input);
  const stow_status bad = STOW_ERR_INVALID_ARGUMENT;
  CHECK(stow_flow_makes(flow, 2, input, NULL) == bad);
  CHECK(stow_flow_makes(flow, first, 2, NULL) == bad);
  CHECK(stow_flow_makes(flow, first, made, NULL) == bad);  // a second maker
  CHECK(stow_flow_reads(flow, first, made, NULL) == bad);  // before its maker
  CHECK(stow_flow_reads(flow, second, made, NULL) == STOW_OK);
  CHECK(stow_flow_follows(flow, first, second, NULL) == bad);
  CHECK(stow_flow_follows(flow, first, first, NULL) == bad);
  CHECK(stow_flow_over(flow, first, made, input, NULL) == bad);  // does not make it
  CHECK(stow_flow_over(flow, second, made, made, NULL) == bad);  // its own result is no read
  CHECK(stow_flow_absorbs(flow, made, made, NULL) == bad);
  CHECK(stow_flow_absorbs(flow, input, made, NULL) == bad);  // no maker that reads it
  CHECK(stow_flow_absorbs(flow, made, input, NULL) == bad);  // 10 bytes in 8
  CHECK_U64(stow_flow_task_count(flow), 2);
  CHECK_U64(stow_flow_block_count(flow), 2);
  uint32_t place;
  CHECK_U64(peak_of(flow, NULL, &place), 18);
  stow_flow_destroy(flow);
}

TEST(ALaterMakerMustSuitItsReaders) {
  stow_flow* flow = new_flow();
  stow_task first = add_task(flow, 0);
  stow_task second = add_task(flow, 0);
  stow_block block = add_block(flow, 4);
  reads(flow, first, block);
  stow_diag diag;
  stow_diag_init(&diag);
  CHECK(stow_flow_makes(flow, second, block, &diag) == STOW_ERR_INVALID_ARGUMENT);
  CHECK_HAS(diag.message, "task 0 reads block 0");
  CHECK(stow_flow_makes(flow, first, block, NULL) == STOW_OK);  // reading it says nothing
  stow_flow_destroy(flow);
}

TEST(ATaskDoesNotMakeAPartAndItsWhole) {
  stow_flow* flow = new_flow();
  stow_task task = add_task(flow, 0);
  stow_block part = add_block(flow, 4);
  stow_block whole = made_by(flow, task, 4);
  reads(flow, task, part);
  CHECK(stow_flow_absorbs(flow, whole, part, NULL) == STOW_OK);
  CHECK(stow_flow_absorbs(flow, whole, part, NULL) == STOW_ERR_INVALID_ARGUMENT);
  CHECK(stow_flow_makes(flow, task, part, NULL) == STOW_ERR_INVALID_ARGUMENT);
  stow_flow_destroy(flow);
}

TEST(SixtyThreeBitsAreTheLimit) {
  stow_flow* flow = new_flow();
  add_task(flow, INT64_MAX - 5);
  stow_block_desc desc;
  stow_block_desc_init(&desc);
  desc.bytes = 6;
  stow_block block;
  CHECK(stow_flow_add_block(flow, &desc, NULL, &block) == STOW_ERR_OVERFLOW);
  CHECK_U64(stow_flow_block_count(flow), 0);
  desc.bytes = 5;
  CHECK(stow_flow_add_block(flow, &desc, NULL, &block) == STOW_OK);
  stow_task task;
  CHECK(stow_flow_add_task(flow, 1, NULL, &task) == STOW_ERR_OVERFLOW);
  desc.struct_size = 4096;
  CHECK(stow_flow_add_block(flow, &desc, NULL, &block) == STOW_ERR_INVALID_ARGUMENT);
  uint32_t place;
  CHECK_U64(peak_of(flow, NULL, &place), INT64_MAX - 5);
  stow_flow_destroy(flow);
}

TEST(OrdersThatAreNoneAreRefused) {
  stow_flow* flow = two_branches();
  const stow_task orders[3][5] = {{0, 1, 2, 3, 3}, {0, 1, 2, 3, 5}, {2, 0, 1, 3, 4}};
  const char* const says[3] = {"twice", "names task 5", "before a task that it needs"};
  for (int i = 0; i < 3; ++i) {
    stow_diag diag;
    stow_diag_init(&diag);
    uint64_t peak = 1;
    CHECK(stow_flow_peak(flow, orders[i], stow_allocator_default(), &diag, &peak, NULL) ==
          STOW_ERR_CONFLICT);
    CHECK_HAS(diag.message, says[i]);
    CHECK_U64(peak, 0);
  }
  stow_flow_destroy(flow);
}

// ---------------------------------------------------------------------------------------------
// Memory

static stow_status order_family(stow_allocator allocator, void* user) {
  const stow_flow_order_options* options = (const stow_flow_order_options*)user;
  const flow_family families[] = {FLOW_LAYERED, FLOW_PARALLEL, FLOW_DENSE, FLOW_STRAYS};
  for (size_t i = 0; i < sizeof(families) / sizeof(*families); ++i) {
    stow_flow* flow = flow_family_make(families[i], 30, 3, allocator);
    if (flow == NULL) {
      return STOW_ERR_OUT_OF_MEMORY;
    }
    stow_task order[200];
    stow_flow_order_result result;
    uint64_t bytes;
    stow_task critical;
    stow_status status = stow_flow_order(flow, options, allocator, NULL, order, &result);
    CHECK(status == STOW_OK || result.peak == 0);
    if (status == STOW_OK) {
      status = stow_flow_bound(flow, allocator, NULL, &bytes, &critical);
    }
    if (status == STOW_OK) {
      status = stow_flow_peak(flow, order, allocator, NULL, &bytes, NULL);
    }
    stow_flow_destroy(flow);
    if (status != STOW_OK) {
      return status;
    }
  }
  return STOW_OK;
}

// Few nodes: beams and windows are tried too.
TEST(EveryFailingAllocationIsReported) {
  stow_flow_order_options options;
  stow_flow_order_options_init(&options);
  options.nodes = 700;
  CHECK(test_fault_sweep(order_family, &options) > 500);
}
