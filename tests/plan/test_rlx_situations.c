// Situations that RLX's own tests and users care about, with their exact numbers.
#include <stdlib.h>
#include <string.h>

#include "plan/api.h"
#include "plan/plan_support.h"
#include "support/test.h"

static const char* const share =
    "graph @share {\n"
    "  %0 = input \"x\" : f32[100, 384]\n"
    "  %1 = param \"w1\" : f32[384, 384]\n"
    "  %2 = param \"w2\" : f32[384, 384]\n"
    "  %3 = matmul(%0, %1) : f32[100, 384]\n"
    "  %4 = matmul(%3, %2) : f32[100, 384]\n"
    "  return %4\n"
    "}\n";

static const char* const chain =
    "graph @chain {\n"
    "  %0 = input \"x\" : f32[64, 256]\n"
    "  %1 = relu(%0) : f32[64, 256]\n"
    "  %2 = exp(%1) : f32[64, 256]\n"
    "  %3 = gelu(%2) : f32[64, 256]\n"
    "  %4 = softmax(%3) : f32[64, 256]\n"
    "  %5 = relu(%4) : f32[64, 256]\n"
    "  return %5\n"
    "}\n";

TEST(ReportMatchesRlx) {
  stow_plan_options options = plan_options(STOW_PRESET_RLX);
  plan_case c = plan_make(share, &options);
  REQUIRE(c.plan != NULL);
  char* report = plan_text(c.plan, stowi_plan_write_report);
  CHECK_TEXT(report,
             "# arena_size=1640832 total_unshared=1640448 saved=0\n"
             "# offset\tsize\tnode\n"
             "0\t589824\t%1\n"
             "589952\t589824\t%2\n"
             "1179904\t153600\t%0\n"
             "1333632\t153600\t%3\n"
             "1487232\t153600\t%4\n");
  free(report);
  plan_free(&c);
}

TEST(DeadValuesShareTheirBytes) {
  stow_plan_options options = plan_options(STOW_PRESET_RLX_0_2_2);
  plan_case c = plan_make(chain, &options);
  REQUIRE(c.plan != NULL);
  CHECK_U64(stow_plan_arena_size(c.plan), 3 * 65536);
  CHECK_U64(stowi_plan_total_unshared(c.plan), 6 * 65536);
  CHECK_U64(stowi_plan_saved(c.plan), 3 * 65536);
  CHECK_U64(plan_offset(c.plan, 1), plan_offset(c.plan, 3));
  CHECK_U64(plan_offset(c.plan, 3), plan_offset(c.plan, 5));
  CHECK_U64(plan_offset(c.plan, 2), plan_offset(c.plan, 4));
  CHECK(plan_offset(c.plan, 1) != plan_offset(c.plan, 2));
  plan_prove(&c);
  plan_free(&c);
}

TEST(PinnedAncestorsOfOutputsShareNothing) {
  stow_plan_options options = plan_options(STOW_PRESET_RLX);
  plan_case c = plan_make(chain, &options);
  REQUIRE(c.plan != NULL);
  CHECK_U64(stow_plan_arena_size(c.plan), 393344);  // 6 values and one guard of 128
  CHECK_U64(stowi_plan_guard(c.plan, 0), 128);
  CHECK_U64(stowi_plan_guard(c.plan, 1), 0);
  plan_prove(&c);
  plan_free(&c);
}

TEST(ViewIsAtTheOffsetOfItsBytes) {
  stow_plan_options options = plan_options(STOW_PRESET_RLX);
  plan_case c = plan_make(
      "graph @views {\n"
      "  %0 = input \"x\" : f32[8, 4]\n"
      "  %1 = param \"w\" : f32[4, 4]\n"
      "  %2 = matmul(%0, %1) : f32[8, 4]\n"
      "  %3 = reshape(%2) : f32[32]\n"
      "  %4 = cast(%3) : f32[32]\n"
      "  %5 = narrow(%4) {axis = 0, start = 8, len = 16} : f32[16]\n"
      "  return %5\n"
      "}\n",
      &options);
  REQUIRE(c.plan != NULL);
  stow_slot root = plan_slot(c.plan, 2);
  CHECK_U64(root.size, 128);
  CHECK_U64(plan_offset(c.plan, 3), root.offset);
  CHECK_U64(plan_offset(c.plan, 4), root.offset);
  CHECK_U64(plan_offset(c.plan, 5), root.offset + 8 * 4);
  CHECK_U64(plan_slot(c.plan, 5).size, 64);
  CHECK_U64(stow_plan_root(c.plan, 5), 2);
  CHECK_U64(stowi_plan_value_alignment(c.plan, 2), 64);
  CHECK_U64(stowi_plan_value_alignment(c.plan, 4), 64);
  CHECK_U64(stowi_plan_value_alignment(c.plan, 5), 32);
  CHECK_U64(stowi_plan_total_unshared(c.plan), 640);
  CHECK_U64(stowi_plan_saved(c.plan), 64);
  plan_prove(&c);
  plan_free(&c);
}

TEST(ValuesLiveTogetherNeverOverlap) {
  stow_plan_options options = plan_plain(STOW_PRESET_DEFAULT);
  plan_case c = plan_make(
      "graph @overlap {\n"
      "  %0 = input \"x\" : f32[100, 384]\n"
      "  %1 = param \"w\" : f32[384, 384]\n"
      "  %2 = matmul(%0, %1) : f32[100, 384]\n"
      "  %3 = add(%2, %0) : f32[100, 384]\n"
      "  return %3\n"
      "}\n",
      &options);
  REQUIRE(c.plan != NULL);
  CHECK_U64(plan_offset(c.plan, 1), 0);
  CHECK_U64(plan_offset(c.plan, 0), 589824);
  CHECK_U64(plan_offset(c.plan, 2), 743424);
  CHECK_U64(plan_offset(c.plan, 3), 897024);
  CHECK_U64(stow_plan_arena_size(c.plan), 1050624);
  CHECK_U64(stow_plan_lower_bound(c.plan), 1050624);
  plan_prove(&c);
  plan_free(&c);
}

TEST(EmptyInputHasAnAddress) {
  const char* text =
      "graph @empty_past {\n"
      "  %0 = input \"past_k\" : f32[1, 0, 8]\n"
      "  %1 = input \"x\" : f32[1, 1, 8]\n"
      "  %2 = concat(%0, %1) {axis = 1} : f32[1, 1, 8]\n"
      "  return %2\n"
      "}\n";
  stow_plan_options options = plan_options(STOW_PRESET_RLX);
  plan_case c = plan_make(text, &options);
  REQUIRE(c.plan != NULL);
  CHECK_U64(plan_offset(c.plan, 0), 0);
  CHECK_U64(plan_slot(c.plan, 0).size, 64);
  CHECK_U64(stowi_plan_guard(c.plan, 0), 128);
  CHECK_U64(plan_offset(c.plan, 1), 192);
  plan_prove(&c);
  plan_free(&c);

  options.zero_size_slots = false;
  c = plan_make(text, &options);
  REQUIRE(c.plan != NULL);
  CHECK(!plan_has_slot(c.plan, 0));
  plan_prove(&c);
  plan_free(&c);
}

TEST(IntegerOutputTurnsReuseOff) {
  const char* text =
      "graph @i64_output {\n"
      "  %0 = input \"wave\" : f32[1024]\n"
      "  %1 = input \"dur\" : i64[8]\n"
      "  %2 = relu(%0) : f32[1024]\n"
      "  %3 = exp(%2) : f32[1024]\n"
      "  %4 = relu(%3) : f32[1024]\n"
      "  return %4, %1\n"
      "}\n";
  stow_plan_options options = plan_options(STOW_PRESET_RLX);
  stow_plan_options_remove_rule(&options, stow_rule_find(stow_str_of("pin-output-ancestors")));
  plan_case c = plan_make(text, &options);
  REQUIRE(c.plan != NULL);
  CHECK(!stowi_plan_reuse(c.plan));
  CHECK(plan_offset(c.plan, 2) != plan_offset(c.plan, 4));
  plan_free(&c);

  stow_plan_options_remove_rule(&options, stow_rule_find(stow_str_of("i64-epilogue")));
  c = plan_make(text, &options);
  REQUIRE(c.plan != NULL);
  CHECK(stowi_plan_reuse(c.plan));
  CHECK_U64(plan_offset(c.plan, 2), plan_offset(c.plan, 4));
  plan_free(&c);
}

// ---------------------------------------------------------------------------------------------
// Training: a forward and a backward plan over one set of weights, in one arena.

static const char* const forward =
    "graph @forward {\n"
    "  %0 = input \"x\" : f32[4, 64]\n"
    "  %1 = param \"w1\" : f32[64, 64]\n"
    "  %2 = param \"w2\" : f32[64, 32]\n"
    "  %3 = matmul(%0, %1) : f32[4, 64]\n"
    "  %4 = relu(%3) : f32[4, 64]\n"
    "  %5 = matmul(%4, %2) : f32[4, 32]\n"
    "  return %5\n"
    "}\n";

// d(loss)/dx, from the weights and the gradient of the forward's result.
static const char* const backward =
    "graph @backward {\n"
    "  %0 = input \"grad\" : f32[4, 32]\n"
    "  %1 = param \"w2\" : f32[64, 32]\n"
    "  %2 = transpose(%1) {perm = [1, 0]} : f32[32, 64]\n"
    "  %3 = matmul(%0, %2) : f32[4, 64]\n"
    "  %4 = param \"w1\" : f32[64, 64]\n"
    "  %5 = transpose(%4) {perm = [1, 0]} : f32[64, 64]\n"
    "  %6 = matmul(%3, %5) : f32[4, 64]\n"
    "  return %6\n"
    "}\n";

static stow_weight_layout* layout_of(const plan_case* c) {
  stow_weight_layout* layout = NULL;
  stow_diag diag;
  stow_diag_init(&diag);
  CHECK(stow_weight_layout_create(c->graph, c->plan, stow_allocator_default(), &diag, &layout) ==
        STOW_OK);
  return layout;
}

TEST(BackwardWeightsAreAtTheForwardOffsets) {
  stow_plan_options options = plan_options(STOW_PRESET_RLX);
  plan_case f = plan_make(forward, &options);
  REQUIRE(f.plan != NULL);
  stow_weight_layout* layout = layout_of(&f);
  options = plan_plain(STOW_PRESET_BACKWARD);
  options.layout = layout;
  plan_case b = plan_make(backward, &options);
  REQUIRE(b.plan != NULL);
  CHECK_U64(plan_offset(f.plan, 1), 0);
  CHECK_U64(plan_offset(f.plan, 2), 16384 + 128);
  CHECK_U64(plan_offset(b.plan, 4), plan_offset(f.plan, 1));  // w1
  CHECK_U64(plan_offset(b.plan, 1), plan_offset(f.plan, 2));  // w2
  CHECK_U64(plan_slot(b.plan, 4).size, 16384);
  CHECK_U64(plan_slot(b.plan, 1).size, 8192);
  CHECK_U64(stowi_plan_guard(b.plan, 4), 128);
  CHECK(stow_plan_arena_size(b.plan) >= stowi_plan_weight_layout_size(layout));
  CHECK(plan_offset(b.plan, 5) >= 16384 + 128 + 8192 + 128);  // the largest value is above both
  plan_prove(&f);
  plan_prove(&b);
  plan_free(&b);
  stow_weight_layout_destroy(layout);
  plan_free(&f);
}

// Offsets of the backward plan's buffers: as planned, or with the activations placed from 0 as if
// there were no weights, which then overlap them.
static stow_status check_in_one_arena(const plan_case* f, const plan_case* b,
                                      const plan_case* alone) {
  stow_problem* problem = NULL;
  stow_allocator allocator = stow_allocator_default();
  stow_diag diag;
  stow_diag_init(&diag);
  uint64_t offsets[16];
  size_t count = 0;
  CHECK(stow_problem_create(allocator, &diag, &problem) == STOW_OK);
  for (stow_value v = 0; v < stow_plan_value_count(b->plan); ++v) {
    bool is_param = stow_graph_op(b->graph, stow_graph_producer(b->graph, v)) == STOW_OP_PARAM;
    stow_value in_forward = stow_graph_find(f->graph, stow_graph_value_name(b->graph, v));
    const stow_plan* from = is_param ? f->plan : alone->plan;
    stow_slot slot = plan_slot(from, is_param ? in_forward : v);
    stow_buffer desc;
    stow_buffer_init(&desc);
    desc.size = slot.size;
    desc.begin = stowi_plan_begin(b->plan, v);
    desc.end = stowi_plan_end(b->plan, v);
    size_t buffer;
    CHECK(stow_problem_add(problem, &desc, &diag, &buffer) == STOW_OK);
    offsets[count++] = slot.offset;
  }
  stow_status status =
      stow_placement_check(problem, offsets, count, UINT64_MAX, allocator, &diag, NULL);
  stow_problem_destroy(problem);
  return status;
}

TEST(WeightsAddedToAFinishedBackwardPlanCorruptIt) {
  stow_plan_options options = plan_plain(STOW_PRESET_DEFAULT);
  plan_case f = plan_make(forward, &options);
  REQUIRE(f.plan != NULL);
  stow_weight_layout* layout = layout_of(&f);
  options = plan_plain(STOW_PRESET_BACKWARD);
  plan_case alone = plan_make(backward, &options);  // RLX's way: activations from 0
  options.layout = layout;
  plan_case around = plan_make(backward, &options);
  REQUIRE(alone.plan != NULL && around.plan != NULL);
  CHECK_U64(plan_offset(alone.plan, 5), 0);
  CHECK(check_in_one_arena(&f, &around, &alone) == STOW_ERR_VIOLATION);
  CHECK(check_in_one_arena(&f, &around, &around) == STOW_OK);
  plan_free(&around);
  plan_free(&alone);
  stow_weight_layout_destroy(layout);
  plan_free(&f);
}

// The checker finds it too, in a saved plan whose activations were moved into the weights.
TEST(CheckerRefusesActivationsInWeights) {
  stow_plan_options options = plan_plain(STOW_PRESET_DEFAULT);
  plan_case f = plan_make(forward, &options);
  REQUIRE(f.plan != NULL);
  stow_weight_layout* layout = layout_of(&f);
  options = plan_plain(STOW_PRESET_BACKWARD);
  options.layout = layout;
  plan_case b = plan_make(backward, &options);
  REQUIRE(b.plan != NULL);
  char* saved = plan_text(b.plan, stowi_plan_write_saved);
  char* without = plan_replace(saved, "24576\t16384\t%5\n", "");
  char* in_place = plan_replace(without, "0\t16384\t%4\n", "0\t16384\t%4\n0\t16384\t%5\n");
  stow_plan* wrong = NULL;
  stow_diag diag;
  stow_diag_init(&diag);
  stow_violation violation = {.struct_size = sizeof(violation)};
  CHECK(stow_plan_read(in_place, strlen(in_place), NULL, b.graph, stow_allocator_default(), &diag,
                       &wrong) == STOW_OK);
  REQUIRE(wrong != NULL);
  CHECK(stow_plan_check(wrong, b.graph, b.effects, stow_allocator_default(), &diag, &violation) ==
        STOW_ERR_VIOLATION);
  CHECK_U64(violation.fault, STOW_FAULT_OVERLAP);
  stow_plan_destroy(wrong);
  free(in_place);
  free(without);
  free(saved);
  plan_free(&b);
  stow_weight_layout_destroy(layout);
  plan_free(&f);
}
