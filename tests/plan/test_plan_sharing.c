// Windows and decisions from the analysis, copied into a plan and written.
#include <stdlib.h>
#include <stowage/csv.h>
#include <string.h>

#include "analysis/api.h"
#include "place/api.h"
#include "plan/api.h"
#include "plan/describe.h"
#include "plan/make/make.h"
#include "plan/plan_support.h"
#include "support/fault.h"
#include "support/test.h"

static const char* const shared_text =
    "graph @shared {\n"
    "  %0 = input \"x\" : f32[16]\n"
    "  %1 = relu(%0) : f32[16]\n"
    "  %2 = exp(%1) : f32[16]\n"
    "  %3 = narrow(%2) {axis = 0, start = 4, len = 8} : f32[8]\n"
    "  %4 = exp(%3) : f32[8]\n"
    "  %5 = exp(%0) : f32[16]\n"
    "  return %4, %5\n"
    "}\n";

typedef struct analysis {
  stow_module* module;
  stow_graph* graph;
  stow_schedule* schedule;
  stowi_analysis_views* views;
  stowi_analysis_lifetimes* lifetimes;
  stowi_analysis_sharing* sharing;
  stowi_analysis_windows* windows;
} analysis;

static stow_status make_lifetimes(analysis* a) {
  stowi_analysis_lifetimes_options options;
  stowi_analysis_lifetimes_options_init(&options);
  stowi_analysis_lifetimes_destroy(a->lifetimes);
  a->lifetimes = NULL;
  return stowi_analysis_lifetimes_create(a->graph, a->schedule, a->views, NULL, &options,
                                         stow_allocator_default(), NULL, &a->lifetimes);
}

static analysis analyse(void) {
  analysis a;
  memset(&a, 0, sizeof(a));
  stow_allocator allocator = stow_allocator_default();
  stowi_analysis_views_options views_options;
  stowi_analysis_views_options_init(&views_options);
  stowi_analysis_sharing_options options;
  stowi_analysis_sharing_options_init(&options);
  a.graph = plan_parse(shared_text, &a.module);
  CHECK(stow_schedule_create(a.graph, allocator, NULL, &a.schedule) == STOW_OK);
  CHECK(stowi_analysis_views_create(a.graph, NULL, &views_options, allocator, NULL, &a.views) ==
        STOW_OK);
  CHECK(make_lifetimes(&a) == STOW_OK);
  CHECK(stowi_analysis_sharing_apply(a.views, a.graph, a.schedule, NULL, a.lifetimes, &options,
                                     allocator, NULL, &a.sharing) == STOW_OK);
  CHECK(make_lifetimes(&a) == STOW_OK);
  CHECK(stowi_analysis_windows_create(a.views, a.lifetimes, allocator, NULL, &a.windows) ==
        STOW_OK);
  return a;
}

static void analysis_free(analysis* a) {
  stowi_analysis_windows_destroy(a->windows);
  stowi_analysis_sharing_destroy(a->sharing);
  stowi_analysis_lifetimes_destroy(a->lifetimes);
  stowi_analysis_views_destroy(a->views);
  stow_schedule_destroy(a->schedule);
  stow_module_destroy(a->module);
}

// A plan in which roots are placed one after the other. NULL if out of memory.
static stow_plan* plan_of(const analysis* a, stow_allocator allocator) {
  stow_plan* plan = NULL;
  if (stowi_plan_create(a->graph, stow_str_of("none"), allocator, NULL, &plan) != STOW_OK) {
    return NULL;
  }
  plan->facts.reuse = true;
  plan->facts.alignment = 1;
  plan->facts.capacity = STOW_NO_CAPACITY;
  for (stow_value v = 0; v < plan->value_count; ++v) {
    stowi_plan_value* value = &plan->values[v];
    value->root = stowi_analysis_views_root(a->views, v);
    value->begin = stowi_analysis_lifetimes_begin(a->lifetimes, v);
    value->end = stowi_analysis_lifetimes_end(a->lifetimes, v);
    value->size = stowi_analysis_views_bytes(a->views, v);
    value->offset = value->root * UINT64_C(64) + stowi_analysis_views_offset(a->views, v);
  }
  return plan;
}

// %2 is in place of %1, and %4 of %3, which is a part of %2: from step 5 on only its bytes are in
// use.
TEST(WindowsAreCopied) {
  analysis a = analyse();
  stow_plan* plan = plan_of(&a, stow_allocator_default());
  REQUIRE(plan != NULL);
  CHECK(stowi_plan_set_windows(plan, a.windows, NULL) == STOW_OK);
  CHECK_U64(stow_plan_root(plan, 4), 1);
  CHECK(plan->window_count > 0);
  for (size_t i = 0; i < plan->window_count; ++i) {
    const stowi_plan_window* last = i == 0 ? NULL : &plan->windows[i - 1];
    CHECK(stowi_plan_window_fault(plan, last, &plan->windows[i]) == NULL);
  }
  stow_slot whole = stow_plan_occupied_slot(plan, 1, 2);
  CHECK_U64(whole.offset, 64);
  CHECK_U64(whole.size, 64);
  stow_slot part = stow_plan_occupied_slot(plan, 1, 5);
  CHECK_U64(part.offset, 64 + 16);
  CHECK_U64(part.size, 32);
  stow_plan_destroy(plan);
  analysis_free(&a);
}

TEST(WindowsAreOnlyForRootsWithSlotsAndNoGuard) {
  analysis a = analyse();
  for (int round = 0; round < 3; ++round) {
    stow_plan* plan = plan_of(&a, stow_allocator_default());
    REQUIRE(plan != NULL);
    if (round == 0) {
      plan->values[1].guard = 64;
    } else if (round == 1) {
      plan->values[1].offset = STOW_OFFSET_NONE;
    } else {
      plan->facts.reuse = false;
    }
    CHECK(stowi_plan_set_windows(plan, a.windows, NULL) == STOW_OK);
    CHECK_U64(plan->window_count, 0);
    stow_plan_destroy(plan);
  }
  analysis_free(&a);
}

TEST(DecisionsAreCopiedAndWritten) {
  analysis a = analyse();
  stow_plan* plan = plan_of(&a, stow_allocator_default());
  REQUIRE(plan != NULL);
  CHECK(stowi_plan_set_decisions(plan, a.sharing, NULL) == STOW_OK);
  CHECK_U64(stow_plan_decision_count(plan), stowi_analysis_sharing_count(a.sharing));
  CHECK(stow_plan_decision_count(plan) >= 4);
  for (size_t i = 0; i < stow_plan_decision_count(plan); ++i) {
    stow_decision actual = decision_of(plan, i);
    stow_decision expected = stowi_analysis_sharing_at(a.sharing, i);
    CHECK_U64(actual.share, expected.share);
    CHECK_U64(actual.reason, expected.reason);
    CHECK_U64(actual.result, expected.result);
    CHECK_U64(actual.operand, expected.operand);
  }
  plan->decisions[0].reason = STOW_REASON_READ_LATER;
  plan->decisions[0].other_node = 5;
  plan->ordering = (stow_ordering){0, true, true, 400, 300, 200, 4, 12345};
  CHECK(stowi_plan_finish(plan, NULL) == STOW_OK);
  char* json = plan_text(plan, stowi_plan_write_json);
  CHECK_HAS(json,
            "    {\"share\": \"in_place\", \"node\": 1, \"result\": 1, \"operand\": 0, \"bytes\": "
            "64, \"taken\": false, \"reason\": \"read_later\", \"other\": {\"node\": 5}},\n");
  CHECK_HAS(json,
            "    {\"share\": \"in_place\", \"node\": 2, \"result\": 2, \"operand\": 1, \"bytes\": "
            "64, \"taken\": true, \"reason\": \"taken\", \"other\": null},\n");
  CHECK_HAS(json,
            "\"ordering\": {\"searched\": true, \"changed\": true, \"given_arena\": 400, "
            "\"other_arena\": 300, \"any_bound\": 200, \"critical\": 4, \"nodes\": 12345},\n");
  CHECK_HAS(json, "}\n  ],\n  \"hints\": []\n}\n");
  free(json);
  plan->decisions[0].reason = STOW_REASON_SHARED;
  plan->decisions[0].other_value = 3;
  json = plan_text(plan, stowi_plan_write_json);
  CHECK_HAS(json, "\"reason\": \"shared\", \"other\": {\"value\": 3}},\n");
  free(json);
  stow_plan_destroy(plan);
  analysis_free(&a);
}

static stow_status take_over(stow_allocator allocator, void* user) {
  const analysis* a = (const analysis*)user;
  stow_diag diag;
  stow_diag_init(&diag);
  stow_plan* plan = plan_of(a, allocator);
  stow_status status = STOW_ERR_OUT_OF_MEMORY;
  if (plan != NULL) {
    status = stowi_plan_set_windows(plan, a->windows, &diag);
    status = status == STOW_OK ? stowi_plan_set_decisions(plan, a->sharing, &diag) : status;
    CHECK(diag.status == status);
  }
  stow_plan_destroy(plan);
  return status;
}

TEST(CopyingSurvivesFailingAllocations) {
  analysis a = analyse();
  CHECK(test_fault_sweep(take_over, &a) >= 8);
  analysis_free(&a);
}

// ---------------------------------------------------------------------------------------------
// Whole plans

// %2 in place of %1; %3 and %4 built inside %5, %6 in place of that; of %6 only a part is left for
// %8.
static const char* const block =
    "graph @block {\n"
    "  %0 = input \"x\" : f32[64]\n"
    "  %1 = relu(%0) : f32[64]\n"
    "  %2 = exp(%1) : f32[64]\n"
    "  %3 = relu(%2) : f32[64]\n"
    "  %4 = exp(%3) : f32[64]\n"
    "  %5 = concat(%3, %4) {axis = 0} : f32[128]\n"
    "  %6 = relu(%5) : f32[128]\n"
    "  %7 = narrow(%6) {axis = 0, start = 64, len = 64} : f32[64]\n"
    "  %8 = exp(%7) : f32[64]\n"
    "  %9 = exp(%8) : f32[64] with {scratch = [512, 1]}\n"
    "  return %9\n"
    "}\n";

static size_t count_windows(const stow_plan* plan) {
  size_t count = 0;
  for (stow_value v = 0; v < stow_plan_value_count(plan); ++v) {
    count += stow_plan_window_count(plan, v);
  }
  return count;
}

static uint64_t peak_load(const stow_plan* plan) {
  uint64_t load = stowi_plan_peak_scratch(plan);
  for (size_t i = 0; i < stowi_plan_peak_count(plan); ++i) {
    load += stow_plan_occupied_slot(plan, stow_plan_peak_value(plan, i), stowi_plan_peak_step(plan))
                .size;
  }
  return load;
}

TEST(PlansThatShareAreWrittenAndReadBack) {
  stow_plan_options options = plan_options(STOW_PRESET_DEFAULT);
  plan_case c = plan_make(block, &options);
  REQUIRE(c.plan != NULL);
  CHECK(count_windows(c.plan) > 0);
  CHECK(stow_plan_root(c.plan, 3) > 3 || stow_plan_root(c.plan, 4) > 4);
  CHECK(stow_plan_decision_count(c.plan) > 0);
  plan_prove(&c);
  char* saved = plan_text(c.plan, stowi_plan_write_saved);
  CHECK_HAS(saved, "\n# in_place=yes\n# elide_copies=yes\n");
  CHECK_HAS(saved, "\n# window.");
  free(saved);
  plan_free(&c);
}

static bool is_same_question(stow_decision a, stow_decision b) {
  return a.node == b.node && a.share == b.share && a.result == b.result && a.operand == b.operand;
}

// Operands that are named twice have two decisions.
static const char* const twice_text =
    "graph @twice {\n"
    "  %0 = input \"x\" : f32[64]\n"
    "  %1 = relu(%0) : f32[64]\n"
    "  %2 = exp(%1) : f32[64]\n"
    "  %3 = add(%2, %2) : f32[64]\n"
    "  %4 = exp(%1) : f32[64]\n"
    "  %5 = concat(%3, %4, %3) {axis = 0} : f32[192]\n"
    "  %6 = reshape(%5) : f32[3, 64]\n"
    "  %7 = relu(%6) : f32[3, 64]\n"
    "  return %7\n"
    "}\n";

TEST(SharingGivenUpForASmallerArenaIsRecordedInOrder) {
  stow_plan_options options = plan_options(STOW_PRESET_DEFAULT);
  plan_case fuller = plan_make(twice_text, &options);
  stow_plan_options plain = plan_plain(STOW_PRESET_DEFAULT);
  plan_case less = plan_make(twice_text, &plain);
  REQUIRE(fuller.plan != NULL && less.plan != NULL);
  size_t own = less.plan->decision_count;
  CHECK(own < fuller.plan->decision_count);
  CHECK(stowi_plan_add_refused(less.plan, fuller.plan, NULL) == STOW_OK);
  CHECK_U64(stow_plan_decision_count(less.plan), stow_plan_decision_count(fuller.plan));
  size_t refused = 0;
  size_t views = 0;
  for (size_t i = 0; i < stow_plan_decision_count(less.plan); ++i) {
    stow_decision now = decision_of(less.plan, i);
    stow_decision before = decision_of(fuller.plan, i);
    CHECK(is_same_question(now, before));
    CHECK((now.reason == STOW_REASON_TAKEN) == (now.share == STOW_SHARE_VIEW));
    CHECK((now.reason == STOW_REASON_ARENA) ==
          (before.reason == STOW_REASON_TAKEN && before.share != STOW_SHARE_VIEW));
    refused += now.reason == STOW_REASON_ARENA ? 1 : 0;
    views += now.share == STOW_SHARE_VIEW ? 1 : 0;
  }
  CHECK(refused > 1);
  CHECK_U64(views, own);
  plan_free(&less);
  plan_free(&fuller);
}

static const char* const chain_text =
    "graph @chain {\n"
    "  %0 = input \"x\" : f32[16]\n"
    "  %1 = relu(%0) : f32[16]\n"
    "  %2 = exp(%1) : f32[16]\n"
    "  return %2\n"
    "}\n";

TEST(NoOrderIsSearchedIfEveryOneNeedsTheArena) {
  stow_plan_options options = plan_options(STOW_PRESET_DEFAULT);
  options.order = STOW_ORDER_AUTO;
  plan_case c = plan_make(chain_text, &options);
  REQUIRE(c.plan != NULL);
  stow_ordering ordering = ordering_of(c.plan);
  CHECK_U64(ordering.any_bound, stow_plan_arena_size(c.plan));
  CHECK_U64(ordering.given_arena, stow_plan_arena_size(c.plan));
  CHECK(!ordering.searched && !ordering.changed);
  CHECK_U64(ordering.nodes, 0);
  plan_free(&c);
}

TEST(CsvOfAPlanIsTheProblemItSolves) {
  stow_plan_options options = plan_options(STOW_PRESET_DEFAULT);
  plan_case c = plan_make(block, &options);
  REQUIRE(c.plan != NULL);
  char* written = plan_text(c.plan, stowi_plan_write_csv);
  stow_csv* csv = NULL;
  stow_allocator allocator = stow_allocator_default();
  CHECK(stow_csv_read(stow_str_of(written), allocator, NULL, &csv) == STOW_OK);
  REQUIRE(csv != NULL);
  const stow_problem* problem = stow_csv_problem(csv);
  stow_load load = {.struct_size = sizeof(load)};
  CHECK(stow_problem_load(problem, allocator, NULL, &load) == STOW_OK);
  CHECK_U64(load.step, stowi_plan_peak_step(c.plan));
  CHECK_U64(load.bytes, peak_load(c.plan));
  stow_place_options place_options;
  stow_place_options_init(&place_options);
  stow_placement* placement = NULL;
  CHECK(stowi_place_first_fit(problem, &place_options, allocator, NULL, &placement) == STOW_OK);
  CHECK_U64(stow_placement_height(placement), stow_plan_arena_size(c.plan));
  stow_placement_destroy(placement);
  stow_csv_destroy(csv);
  free(written);
  plan_free(&c);
}

// A result in place of a concat's only operand with bytes is not an elided copy if copies are made.
TEST(AConcatIsInPlaceWithoutElision) {
  stow_plan_options options = plan_options(STOW_PRESET_DEFAULT);
  options.elide_copies = false;
  plan_case c = plan_make(
      "graph @g {\n"
      "  %0 = input \"x\" : f32[6]\n"
      "  %1 = custom(%0) {name = \"f\"} : f32[2, 3]\n"
      "  %2 = custom(%0) {name = \"f\"} : f32[0, 3]\n"
      "  %3 = concat(%1, %2) {axis = 0} : f32[2, 3]\n"
      "  return %3\n"
      "}\n",
      &options);
  REQUIRE(c.plan != NULL);
  CHECK(stow_plan_root(c.plan, 3) == stow_plan_root(c.plan, 1));
  plan_prove(&c);
  plan_free(&c);
}

// Storage beyond the elements makes two operands more than the very same bytes.
TEST(OperandsOfUnequalStorageAreNotOverwrittenTogether) {
  stow_plan_options options = plan_options(STOW_PRESET_DEFAULT);
  plan_case c = plan_make(
      "graph @g {\n"
      "  %0 = input \"x\" : f32[6]\n"
      "  %1 = custom(%0) {name = \"f\"} : f32[2, 3] with {storage = 63}\n"
      "  %2 = reshape(%1) : f32[2, 3]\n"
      "  %3 = add(%1, %2) : f32[2, 3]\n"
      "  return %3\n"
      "}\n",
      &options);
  REQUIRE(c.plan != NULL);
  CHECK(stow_plan_root(c.plan, 3) == 3);
  plan_prove(&c);
  plan_free(&c);
}

// A cache that is made in every iteration and held after the loop is written again in the next
// iteration, as it must be.
TEST(ACacheOfALoopCanBeHeldAfterIt) {
  stow_plan_options options = plan_options(STOW_PRESET_DEFAULT);
  plan_case c = plan_make(
      "graph @g {\n"
      "  %0 = input \"x\" : f32[8]\n"
      "  %1 = input \"n\" : i64[]\n"
      "  loop(%1, _) {\n"
      "    %2, %3 = args() : i64[], bool[]\n"
      "    %4 = custom(%0) {name = \"f\"} : f32[9, 4]\n"
      "    %5 = custom(%0) {name = \"f\"} : f32[1, 4]\n"
      "    %6 = kv_append(%4, %5) {axis = 0} : f32[9, 4]\n"
      "    %7 = custom(%6) {name = \"f\"} : bool[] with {hold = [0, -1]}\n"
      "    yield %7\n"
      "  }\n"
      "  return %0\n"
      "}\n",
      &options);
  REQUIRE(c.plan != NULL);
  plan_prove(&c);
  plan_free(&c);
}

// ---------------------------------------------------------------------------------------------
// What is said of all orders must hold for the plan at hand

static void check_bound(const char* text, uint64_t arena) {
  stow_plan_options options = plan_options(STOW_PRESET_DEFAULT);
  options.alignment = 4;
  plan_case c = plan_make(text, &options);
  REQUIRE(c.plan != NULL);
  CHECK_U64(stow_plan_arena_size(c.plan), arena);
  CHECK(ordering_of(c.plan).any_bound <= arena);
  CHECK(ordering_of(c.plan).any_bound > 0);
  plan_prove(&c);
  plan_free(&c);
}

TEST(BoundsAllowForConcatsInsideLaterOnes) {
  check_bound(
      "graph @g {\n"
      "  %0 = custom() {name = \"f\"} : f32[64]\n"
      "  %1 = custom() {name = \"f\"} : f32[64]\n"
      "  %2 = concat(%0, %1) {axis = 0} : f32[128]\n"
      "  %3 = custom() {name = \"f\"} : f32[64]\n"
      "  %4 = concat(%0, %1, %3) {axis = 0} : f32[192]\n"
      "  %5 = custom(%2, %4) {name = \"f\"} : f32[8]\n"
      "  return %5\n"
      "}\n",
      (192 + 8) * 4);
}

TEST(BoundsAllowForElisionThroughViews) {
  check_bound(
      "graph @g {\n"
      "  %0 = custom() {name = \"f\"} : f32[64]\n"
      "  %1, %2 = split(%0) {axis = 0, sizes = [24, 40]} : f32[24], f32[40]\n"
      "  %3 = custom() {name = \"f\"} : f32[64]\n"
      "  %4 = concat(%1, %2, %3) {axis = 0} : f32[128]\n"
      "  return %4\n"
      "}\n",
      128 * 4);
}

TEST(BoundsCountPlacesInElements) {
  check_bound(
      "graph @g {\n"
      "  %0 = custom() {name = \"f\"} : f32[16] with {storage = 80}\n"
      "  %1 = custom() {name = \"f\"} : f32[240]\n"
      "  %2 = concat(%0, %1) {axis = 0} : f32[256]\n"
      "  return %2\n"
      "}\n",
      256 * 4 + 80);
}

TEST(AConcatOfOneIsContiguousAlongAnyAxis) {
  stow_plan_options options = plan_options(STOW_PRESET_DEFAULT);
  options.in_place = false;
  plan_case c = plan_make(
      "graph @g {\n"
      "  %0 = input \"none\" : f32[3, 0]\n"
      "  %1 = custom() {name = \"f\"} : f32[3, 16]\n"
      "  %2 = concat(%0, %1) {axis = 1} : f32[3, 16]\n"
      "  return %2\n"
      "}\n",
      &options);
  REQUIRE(c.plan != NULL);
  CHECK_U64(stow_plan_root(c.plan, 1), 2);
  CHECK(ordering_of(c.plan).any_bound <= stow_plan_arena_size(c.plan));
  plan_prove(&c);
  plan_free(&c);
}
