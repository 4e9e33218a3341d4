// Tests of what flows accept and refuse, and of the search's contract: ties, budgets, stopping,
// memory.
#include <string.h>

#include "brute_flow.h"
#include "flow/api.h"
#include "flow_families.h"
#include "support/fault.h"
#include "support/test.h"

// ---------------------------------------------------------------------------------------------
// Flows by hand

static stowi_flow* new_flow(void) {
  stowi_flow* flow = NULL;
  CHECK(stowi_flow_create(stow_allocator_default(), NULL, &flow) == STOW_OK);
  return flow;
}

static stowi_flow_task add_task(stowi_flow* flow, uint64_t scratch) {
  stowi_flow_task task;
  CHECK(stowi_flow_add_task(flow, scratch, NULL, &task) == STOW_OK);
  return task;
}

static stowi_flow_block add_block(stowi_flow* flow, uint64_t bytes) {
  stowi_flow_block_desc desc;
  stowi_flow_block_desc_init(&desc);
  desc.bytes = bytes;
  stowi_flow_block block;
  CHECK(stowi_flow_add_block(flow, &desc, NULL, &block) == STOW_OK);
  return block;
}

static stowi_flow_block made_by(stowi_flow* flow, stowi_flow_task task, uint64_t bytes) {
  stowi_flow_block block = add_block(flow, bytes);
  CHECK(stowi_flow_makes(flow, task, block, NULL) == STOW_OK);
  return block;
}

static void reads(stowi_flow* flow, stowi_flow_task task, stowi_flow_block block) {
  CHECK(stowi_flow_reads(flow, task, block, NULL) == STOW_OK);
}

static uint64_t peak_of(const stowi_flow* flow, const stowi_flow_task* order, uint32_t* place) {
  uint64_t peak;
  CHECK(stowi_flow_peak(flow, order, stow_allocator_default(), NULL, &peak, place) == STOW_OK);
  return peak;
}

static stowi_flow_order_result order_with(const stowi_flow* flow,
                                          const stowi_flow_order_options* options,
                                          stowi_flow_task* order) {
  stowi_flow_order_result result;
  CHECK(stowi_flow_order(flow, options, stow_allocator_default(), NULL, order, &result) == STOW_OK);
  return result;
}

// Two branches, each large in the middle and small at the end; given breadth first.
static stowi_flow* two_branches(void) {
  stowi_flow* flow = new_flow();
  stowi_flow_block input = add_block(flow, 1);
  for (stowi_flow_task t = 0; t < 5; ++t) {
    add_task(flow, 0);
  }
  for (stowi_flow_task i = 0; i < 2; ++i) {
    stowi_flow_block large = made_by(flow, i, 100);
    stowi_flow_block small = made_by(flow, 2 + i, 1);
    reads(flow, i, input);
    reads(flow, 2 + i, large);
    reads(flow, 4, small);
  }
  return flow;
}

TEST(ABranchIsFinishedBeforeTheNext) {
  stowi_flow* flow = two_branches();
  stowi_flow_order_options options;
  stowi_flow_order_options_init(&options);
  stowi_flow_task order[5];
  uint32_t place;
  CHECK_U64(peak_of(flow, NULL, &place), 201);
  CHECK_U64(place, 1);
  stowi_flow_order_result result = order_with(flow, &options, order);
  CHECK_U64(result.peak, 102);
  CHECK_U64(result.bound, 102);
  CHECK(result.changed);
  CHECK_U64(peak_of(flow, order, &place), 102);
  stowi_flow_destroy(flow);
}

TEST(AGoodEnoughPeakEndsTheSearch) {
  stowi_flow* flow = two_branches();
  stowi_flow_order_options options;
  stowi_flow_order_options_init(&options);
  options.enough = 201;
  stowi_flow_task order[5];
  stowi_flow_order_result result = order_with(flow, &options, order);
  CHECK_U64(result.peak, 201);
  CHECK(!result.changed);
  for (stowi_flow_task i = 0; i < 5; ++i) {
    CHECK_U64(order[i], i);
  }
  stowi_flow_destroy(flow);
}

TEST(WithoutNodesTheGivenOrderIsKept) {
  stowi_flow* flow = two_branches();
  stowi_flow_order_options options;
  stowi_flow_order_options_init(&options);
  options.nodes = 0;
  stowi_flow_task order[5];
  stowi_flow_order_result result = order_with(flow, &options, order);
  CHECK_U64(result.peak, 201);
  CHECK(!result.changed && !result.stopped);
  CHECK(result.bound <= 102);
  stowi_flow_destroy(flow);
}

static bool stop_at_once(void* user, const stowi_flow_order_progress* progress) {
  *(uint64_t*)user += 1;
  CHECK(progress->phase != NULL && progress->bound <= progress->best);
  return false;
}

TEST(TheCallbackStopsTheSearch) {
  stowi_flow* flow = flow_family_make(FLOW_LAYERED, 200, 1, stow_allocator_default());
  uint64_t calls = 0;
  stowi_flow_order_options options;
  stowi_flow_order_options_init(&options);
  options.on_progress = stop_at_once;
  options.user = &calls;
  stowi_flow_task order[300];
  stowi_flow_order_result result = order_with(flow, &options, order);
  CHECK(result.stopped);
  CHECK_U64(calls, 1);
  uint32_t place;
  CHECK_U64(peak_of(flow, order, &place), result.peak);
  stowi_flow_destroy(flow);
}

TEST(ABoundNamesItsTask) {
  stowi_flow* flow = two_branches();
  uint64_t bound;
  stowi_flow_task critical;
  CHECK(stowi_flow_bound(flow, stow_allocator_default(), NULL, &bound, &critical) == STOW_OK);
  CHECK_U64(bound, 102);  // a branch, and of the other what it reads, its middle or its end
  CHECK(critical < 4);
  stowi_flow_destroy(flow);
}

TEST(EmptyFlowNeedsNoBytes) {
  stowi_flow* flow = new_flow();
  stowi_flow_order_options options;
  stowi_flow_order_options_init(&options);
  stowi_flow_task order[1];
  uint32_t place;
  CHECK_U64(peak_of(flow, NULL, &place), 0);
  stowi_flow_order_result result = order_with(flow, &options, order);
  CHECK_U64(result.peak, 0);
  CHECK(result.critical == STOWI_FLOW_TASK_NONE && !result.changed);
  stowi_flow_destroy(flow);
  stowi_flow_destroy(NULL);
}

// ---------------------------------------------------------------------------------------------
// The model, case by case

TEST(AResultIsInPlaceOfAReadThatDies) {
  stowi_flow* flow = new_flow();
  stowi_flow_block input = add_block(flow, 10);
  stowi_flow_task task = add_task(flow, 0);
  stowi_flow_task later = add_task(flow, 0);
  stowi_flow_block made = made_by(flow, task, 8);
  reads(flow, task, input);
  reads(flow, later, made);
  CHECK(stowi_flow_in_place(flow, task, made, input, NULL) == STOW_OK);
  uint32_t place;
  CHECK_U64(peak_of(flow, NULL, &place), 10);
  reads(flow, later, input);  // now it stays live
  CHECK_U64(peak_of(flow, NULL, &place), 18);
  stowi_flow_destroy(flow);
}

TEST(PartsNeedNothingWhileTheirWholeExists) {
  stowi_flow* flow = new_flow();
  stowi_flow_task a = add_task(flow, 0);
  stowi_flow_task b = add_task(flow, 0);
  stowi_flow_task join = add_task(flow, 0);
  stowi_flow_task end = add_task(flow, 0);
  stowi_flow_block left = made_by(flow, a, 10);
  stowi_flow_block right = made_by(flow, b, 20);
  stowi_flow_block whole = made_by(flow, join, 30);
  reads(flow, join, left);
  reads(flow, join, right);
  reads(flow, end, whole);
  uint32_t place;
  CHECK_U64(peak_of(flow, NULL, &place), 60);
  CHECK(stowi_flow_absorbs(flow, whole, left, NULL) == STOW_OK);
  CHECK_U64(peak_of(flow, NULL, &place), 50);
  CHECK(stowi_flow_absorbs(flow, whole, right, NULL) == STOW_OK);
  CHECK_U64(peak_of(flow, NULL, &place), 30);
  stowi_flow_destroy(flow);
}

// ---------------------------------------------------------------------------------------------
// What is refused

TEST(InvalidAdditionsAreRefusedAndChangeNothing) {
  stowi_flow* flow = new_flow();
  stowi_flow_block input = add_block(flow, 10);
  stowi_flow_task first = add_task(flow, 0);
  stowi_flow_task second = add_task(flow, 0);
  stowi_flow_block made = made_by(flow, second, 8);
  reads(flow, second, input);
  const stow_status bad = STOW_ERR_INVALID_ARGUMENT;
  CHECK(stowi_flow_makes(flow, 2, input, NULL) == bad);
  CHECK(stowi_flow_makes(flow, first, 2, NULL) == bad);
  CHECK(stowi_flow_makes(flow, first, made, NULL) == bad);  // a second maker
  CHECK(stowi_flow_reads(flow, first, made, NULL) == bad);  // before its maker
  CHECK(stowi_flow_reads(flow, second, made, NULL) == STOW_OK);
  CHECK(stowi_flow_follows(flow, first, second, NULL) == bad);
  CHECK(stowi_flow_follows(flow, first, first, NULL) == bad);
  CHECK(stowi_flow_in_place(flow, first, made, input, NULL) == bad);  // does not make it
  CHECK(stowi_flow_in_place(flow, second, made, made, NULL) ==
        bad);  // its own result is not a read
  CHECK(stowi_flow_absorbs(flow, made, made, NULL) == bad);
  CHECK(stowi_flow_absorbs(flow, input, made, NULL) == bad);  // its maker does not read it
  CHECK(stowi_flow_absorbs(flow, made, input, NULL) == bad);  // 10 bytes in 8
  CHECK_U64(stowi_flow_task_count(flow), 2);
  CHECK_U64(stowi_flow_block_count(flow), 2);
  uint32_t place;
  CHECK_U64(peak_of(flow, NULL, &place), 18);
  stowi_flow_destroy(flow);
}

TEST(AMakerMustPrecedeItsReaders) {
  stowi_flow* flow = new_flow();
  stowi_flow_task first = add_task(flow, 0);
  stowi_flow_task second = add_task(flow, 0);
  stowi_flow_block block = add_block(flow, 4);
  reads(flow, first, block);
  stow_diag diag;
  stow_diag_init(&diag);
  CHECK(stowi_flow_makes(flow, second, block, &diag) == STOW_ERR_INVALID_ARGUMENT);
  CHECK_HAS(diag.message, "task 0 reads block 0");
  CHECK(stowi_flow_makes(flow, first, block, NULL) == STOW_OK);  // reading it says nothing
  stowi_flow_destroy(flow);
}

TEST(ATaskDoesNotMakeAPartAndItsWhole) {
  stowi_flow* flow = new_flow();
  stowi_flow_task task = add_task(flow, 0);
  stowi_flow_block part = add_block(flow, 4);
  stowi_flow_block whole = made_by(flow, task, 4);
  reads(flow, task, part);
  CHECK(stowi_flow_absorbs(flow, whole, part, NULL) == STOW_OK);
  CHECK(stowi_flow_absorbs(flow, whole, part, NULL) == STOW_ERR_INVALID_ARGUMENT);
  CHECK(stowi_flow_makes(flow, task, part, NULL) == STOW_ERR_INVALID_ARGUMENT);
  stowi_flow_destroy(flow);
}

TEST(SixtyThreeBitsAreTheLimit) {
  stowi_flow* flow = new_flow();
  add_task(flow, INT64_MAX - 5);
  stowi_flow_block_desc desc;
  stowi_flow_block_desc_init(&desc);
  desc.bytes = 6;
  stowi_flow_block block;
  CHECK(stowi_flow_add_block(flow, &desc, NULL, &block) == STOW_ERR_OVERFLOW);
  CHECK_U64(stowi_flow_block_count(flow), 0);
  desc.bytes = 5;
  CHECK(stowi_flow_add_block(flow, &desc, NULL, &block) == STOW_OK);
  stowi_flow_task task;
  CHECK(stowi_flow_add_task(flow, 1, NULL, &task) == STOW_ERR_OVERFLOW);
  uint32_t place;
  CHECK_U64(peak_of(flow, NULL, &place), INT64_MAX - 5);
  stowi_flow_destroy(flow);
}

TEST(InvalidOrdersAreRefused) {
  stowi_flow* flow = two_branches();
  const stowi_flow_task orders[3][5] = {{0, 1, 2, 3, 3}, {0, 1, 2, 3, 5}, {2, 0, 1, 3, 4}};
  const char* const says[3] = {"twice", "names task 5", "before a task that it needs"};
  for (int i = 0; i < 3; ++i) {
    stow_diag diag;
    stow_diag_init(&diag);
    uint64_t peak = 1;
    CHECK(stowi_flow_peak(flow, orders[i], stow_allocator_default(), &diag, &peak, NULL) ==
          STOW_ERR_CONFLICT);
    CHECK_HAS(diag.message, says[i]);
    CHECK_U64(peak, 0);
  }
  stowi_flow_destroy(flow);
}

// ---------------------------------------------------------------------------------------------
// Memory

static stow_status order_family(stow_allocator allocator, void* user) {
  const stowi_flow_order_options* options = (const stowi_flow_order_options*)user;
  const flow_family families[] = {FLOW_LAYERED, FLOW_PARALLEL, FLOW_DENSE, FLOW_STRAYS};
  for (size_t i = 0; i < sizeof(families) / sizeof(*families); ++i) {
    stowi_flow* flow = flow_family_make(families[i], 30, 3, allocator);
    if (flow == NULL) {
      return STOW_ERR_OUT_OF_MEMORY;
    }
    stowi_flow_task order[200];
    stowi_flow_order_result result;
    uint64_t bytes;
    stowi_flow_task critical;
    stow_status status = stowi_flow_order(flow, options, allocator, NULL, order, &result);
    CHECK(status == STOW_OK || result.peak == 0);
    if (status == STOW_OK) {
      status = stowi_flow_bound(flow, allocator, NULL, &bytes, &critical);
    }
    if (status == STOW_OK) {
      status = stowi_flow_peak(flow, order, allocator, NULL, &bytes, NULL);
    }
    stowi_flow_destroy(flow);
    if (status != STOW_OK) {
      return status;
    }
  }
  return STOW_OK;
}

// Few nodes: beams and windows are tried too.
TEST(EveryFailingAllocationIsReported) {
  stowi_flow_order_options options;
  stowi_flow_order_options_init(&options);
  options.nodes = 700;
  CHECK(test_fault_sweep(order_family, &options) > 500);
}
