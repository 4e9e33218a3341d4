// Tests of making plans: options, effects, capacity, fixed offsets, policies, orders, and random
// graphs.
#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "place/api.h"
#include "plan/api.h"
#include "plan/describe.h"
#include "plan/plan_support.h"
#include "support/fault.h"
#include "support/test.h"

static const char* const mlp =
    "graph @mlp {\n"
    "  %0 = input \"x\" : f32[4, 16]\n"
    "  %1 = param \"w1\" : f32[16, 64]\n"
    "  %2 = matmul(%0, %1) : f32[4, 64]\n"
    "  %3 = constant \"half\" : f32[64]\n"
    "  %4 \"hidden\" = mul(%2, %3) : f32[4, 64]\n"
    "  %5 = param \"w2\" : f32[64, 16]\n"
    "  %6 = matmul(%4, %5) : f32[4, 16]\n"
    "  return %6\n"
    "}\n";

TEST(PlansOutliveTheirGraph) {
  stow_plan_options options = plan_plain(STOW_PRESET_DEFAULT);
  plan_case c = plan_make(mlp, &options);
  REQUIRE(c.plan != NULL);
  uint64_t fingerprint = stow_graph_fingerprint(c.graph);
  stow_effects_destroy(c.effects);
  stow_module_destroy(c.module);
  c.effects = NULL;
  c.module = NULL;
  CHECK_TEXT(stowi_plan_graph_name(c.plan).data, "mlp");
  CHECK_TEXT(stowi_plan_value_name(c.plan, 4).data, "hidden");
  CHECK_U64(stowi_plan_value_name(c.plan, 2).size, 0);
  CHECK_U64(stowi_plan_value_name(c.plan, 99).size, 0);
  CHECK_TEXT(stowi_plan_strategy_name(c.plan).data, "first-fit");
  CHECK_U64(stowi_plan_dtype(c.plan, 3), STOW_F32);
  CHECK_U64(stowi_plan_fingerprint(c.plan), fingerprint);
  CHECK_U64(stow_plan_value_count(c.plan), 7);
  CHECK_U64(stow_plan_step_count(c.plan), 7);
  CHECK_U64(stow_plan_order(c.plan)[6], 6);
  CHECK_U64(stowi_plan_pool_count(c.plan), 1);
  plan_free(&c);
}

TEST(GettersPastTheEndReturnDefaults) {
  stow_plan_options options = plan_plain(STOW_PRESET_DEFAULT);
  plan_case c = plan_make(mlp, &options);
  REQUIRE(c.plan != NULL);
  stow_slot slot = {1, 1, 1};
  CHECK(!stow_plan_value_slot(c.plan, 7, &slot));
  CHECK_U64(slot.offset, 0);
  CHECK_U64(slot.size, 0);
  CHECK_U64(slot.pool, 0);
  CHECK_U64(stow_plan_root(c.plan, 7), STOW_VALUE_NONE);
  CHECK_U64(stowi_plan_guard(c.plan, 7), 0);
  CHECK_U64(stowi_plan_value_alignment(c.plan, 7), 1);
  CHECK_U64(stowi_plan_begin(c.plan, 7), 0);
  CHECK_U64(stowi_plan_end(c.plan, 7), 0);
  CHECK_U64(stowi_plan_dtype(c.plan, 7), STOW_DTYPE_COUNT);
  CHECK_U64(stow_plan_peak_value(c.plan, 1000), STOW_VALUE_NONE);
  stow_node node = 0;
  uint64_t alignment = 1;
  stow_plan_scratch_slot(c.plan, 0, &node, &slot, &alignment);
  CHECK_U64(node, STOW_NODE_NONE);
  CHECK_U64(slot.size, 0);
  plan_free(&c);
  stow_plan_destroy(NULL);
}

TEST(PlanOfAnotherGraphIsStale) {
  stow_plan_options options = plan_plain(STOW_PRESET_DEFAULT);
  plan_case c = plan_make(mlp, &options);
  char* other = plan_replace(mlp, "hidden", "concealed");
  stow_module* module = NULL;
  stow_graph* graph = plan_parse(other, &module);
  stow_diag diag;
  stow_diag_init(&diag);
  REQUIRE(c.plan != NULL && graph != NULL);
  CHECK(stowi_plan_require(c.plan, c.graph, &diag) == STOW_OK);
  CHECK(stowi_plan_require(c.plan, graph, &diag) == STOW_ERR_STALE_PLAN);
  char fingerprint[32];
  snprintf(fingerprint, sizeof(fingerprint), "%016" PRIx64, stowi_plan_fingerprint(c.plan));
  CHECK_HAS(diag.message, fingerprint);
  snprintf(fingerprint, sizeof(fingerprint), "%016" PRIx64, stow_graph_fingerprint(graph));
  CHECK_HAS(diag.message, fingerprint);
  stow_module_destroy(module);
  free(other);
  plan_free(&c);
}

TEST(ReuseOffSharesNothing) {
  stow_plan_options options = plan_plain(STOW_PRESET_DEFAULT);
  options.reuse = false;
  plan_case c = plan_make(mlp, &options);
  REQUIRE(c.plan != NULL);
  CHECK(!stowi_plan_reuse(c.plan));
  CHECK_U64(stow_plan_arena_size(c.plan), 256 + 4096 + 1024 + 256 + 1024 + 4096 + 256);
  plan_prove(&c);
  plan_free(&c);
}

TEST(ExcludedBoundaryValuesAndTheirViewsHaveNoSlot) {
  const char* text =
      "graph @excluded {\n"
      "  %0 = input \"x\" : f32[16]\n"
      "  %1 = param \"w\" : f32[16]\n"
      "  %2 = constant \"c\" : f32[16]\n"
      "  %3 = reshape(%0) : f32[4, 4]\n"
      "  %4 = reshape(%1) : f32[4, 4]\n"
      "  %5 = reshape(%2) : f32[4, 4]\n"
      "  %6 = add(%3, %4) : f32[4, 4]\n"
      "  %7 = add(%6, %5) : f32[4, 4]\n"
      "  return %7\n"
      "}\n";
  for (unsigned mask = 0; mask < 8; ++mask) {
    stow_plan_options options = plan_options(STOW_PRESET_RLX);
    options.inputs = (mask & 1) != 0;
    options.params = (mask & 2) != 0;
    options.constants = (mask & 4) != 0;
    plan_case c = plan_make(text, &options);
    REQUIRE(c.plan != NULL);
    CHECK(plan_has_slot(c.plan, 0) == options.inputs && plan_has_slot(c.plan, 3) == options.inputs);
    CHECK(plan_has_slot(c.plan, 1) == options.params && plan_has_slot(c.plan, 4) == options.params);
    CHECK(plan_has_slot(c.plan, 2) == options.constants);
    CHECK(plan_has_slot(c.plan, 5) == options.constants);
    CHECK(plan_has_slot(c.plan, 6) && plan_has_slot(c.plan, 7));
    CHECK_U64(stowi_plan_guard(c.plan, 0), options.inputs ? 128 : 0);
    CHECK_U64(stow_plan_root(c.plan, 3), 0);
    CHECK_U64(stowi_plan_value_alignment(c.plan, 3), options.inputs ? 64 : 1);
    plan_prove(&c);
    plan_free(&c);
  }
}

TEST(GuardIsAtLeastTheAlignment) {
  stow_plan_options options = plan_options(STOW_PRESET_RLX);
  options.alignment = 512;
  plan_case c = plan_make(mlp, &options);
  REQUIRE(c.plan != NULL);
  CHECK_U64(stowi_plan_guard(c.plan, 0), 512);
  CHECK_U64(stowi_plan_guard(c.plan, 4), 0);
  options.tail_guard = 0;
  plan_case without = plan_make(mlp, &options);
  CHECK_U64(stowi_plan_guard(without.plan, 0), 0);
  plan_free(&without);
  plan_free(&c);
}

TEST(ViewsOfZeroBytesHaveASlotOfZeroBytes) {
  stow_plan_options options = plan_plain(STOW_PRESET_DEFAULT);
  plan_case c = plan_make(
      "graph @zero {\n"
      "  %0 = input \"past\" : f32[1, 0, 8]\n"
      "  %1 = reshape(%0) : f32[0, 8]\n"
      "  %2 = input \"x\" : f32[4, 8]\n"
      "  %3 = narrow(%2) {axis = 0, start = 2, len = 0} : f32[0, 8]\n"
      "  %4 = relu(%1) : f32[0, 8]\n"
      "  %5 = reshape(%4) : f32[8, 0]\n"
      "  return %3, %5\n"
      "}\n",
      &options);
  REQUIRE(c.plan != NULL);
  CHECK_U64(plan_slot(c.plan, 0).size, 64);
  CHECK_U64(plan_slot(c.plan, 1).size, 0);
  CHECK_U64(plan_offset(c.plan, 1), plan_offset(c.plan, 0));
  CHECK_U64(plan_slot(c.plan, 3).size, 0);
  CHECK_U64(plan_offset(c.plan, 3), plan_offset(c.plan, 2) + 64);
  CHECK(!plan_has_slot(c.plan, 4) && !plan_has_slot(c.plan, 5));
  CHECK_U64(stowi_plan_total_unshared(c.plan), 64 + 128);
  plan_prove(&c);
  plan_free(&c);
}

TEST(UniformElementsHaveFourBytesOrTheirWidth) {
  stow_plan_options options = plan_plain(STOW_PRESET_DEFAULT);
  options.f32_uniform = true;
  plan_case c = plan_make(
      "graph @uniform {\n"
      "  %0 = input \"bytes\" : u8[32]\n"
      "  %1 = narrow(%0) {axis = 0, start = 8, len = 16} : u8[16]\n"
      "  %2 = input \"longs\" : i64[32]\n"
      "  %3 = narrow(%2) {axis = 0, start = 8, len = 16} : i64[16]\n"
      "  %4 = input \"nibbles\" : u4[32]\n"
      "  %5 = input \"halves\" : f16[3]\n"
      "  %6 = input \"pairs\" : c128[2]\n"
      "  return %1, %3\n"
      "}\n",
      &options);
  REQUIRE(c.plan != NULL);
  CHECK_U64(plan_slot(c.plan, 0).size, 128);
  CHECK_U64(plan_offset(c.plan, 1) - plan_offset(c.plan, 0), 32);
  CHECK_U64(plan_slot(c.plan, 1).size, 64);
  CHECK_U64(plan_slot(c.plan, 2).size, 256);
  CHECK_U64(plan_offset(c.plan, 3) - plan_offset(c.plan, 2), 64);
  CHECK_U64(plan_slot(c.plan, 4).size, 128);
  CHECK_U64(plan_slot(c.plan, 5).size, 12);
  CHECK_U64(plan_slot(c.plan, 6).size, 32);
  plan_prove(&c);
  plan_free(&c);
}

// ---------------------------------------------------------------------------------------------
// The peak and the capacity

TEST(PeakListsLiveValuesLargestFirst) {
  stow_plan_options options = plan_plain(STOW_PRESET_DEFAULT);
  plan_case c = plan_make(mlp, &options);
  REQUIRE(c.plan != NULL);
  // Boundary values: 256 + 4096 + 256 + 4096; %2 and %4 live together at step 4.
  CHECK_U64(stow_plan_lower_bound(c.plan), 256 + 4096 + 256 + 4096 + 1024 + 1024);
  CHECK_U64(stowi_plan_peak_step(c.plan), 4);
  static const stow_value expected[] = {1, 5, 2, 4, 0, 3};
  REQUIRE(stowi_plan_peak_count(c.plan) == 6);
  for (size_t i = 0; i < 6; ++i) {
    CHECK_U64(stow_plan_peak_value(c.plan, i), expected[i]);
  }
  CHECK_U64(stowi_plan_peak_scratch(c.plan), 0);
  CHECK_U64(stow_plan_arena_size(c.plan), stow_plan_lower_bound(c.plan));
  plan_free(&c);
}

TEST(PlanThatFitsSaysSo) {
  stow_plan_options options = plan_plain(STOW_PRESET_DEFAULT);
  plan_case c = plan_make(mlp, &options);
  REQUIRE(c.plan != NULL);
  stow_fit fit = fit_of(c.plan);
  CHECK(fit.fits);
  CHECK_U64(fit.required, 10752);
  CHECK(fit.available == STOW_NO_CAPACITY);
  CHECK_U64(fit.excess, 0);
  CHECK_U64(fit.value, STOW_VALUE_NONE);
  plan_free(&c);
  options.capacity = 10752;
  c = plan_make(mlp, &options);
  CHECK(fit_of(c.plan).fits);
  plan_prove(&c);
  plan_free(&c);
}

TEST(PlanThatDoesNotFitNamesTheValueBornAtTheHighestLoad) {
  stow_plan_options options = plan_plain(STOW_PRESET_DEFAULT);
  options.capacity = 9800;
  plan_case c = plan_make(mlp, &options);
  REQUIRE(c.plan != NULL);
  // w1 0, w2 4096, %2 8192, hidden 9216, x 10240, half 10496. The input is above, but at its step
  // there is room for it; hidden is born at the peak.
  stow_fit fit = fit_of(c.plan);
  CHECK(!fit.fits);
  CHECK_U64(fit.required, 10752);
  CHECK_U64(fit.available, 9800);
  CHECK_U64(fit.excess, 952);
  CHECK(!fit.possible);
  CHECK_U64(fit.step, stowi_plan_peak_step(c.plan));
  CHECK_U64(fit.step, stowi_plan_begin(c.plan, fit.value));
  CHECK_U64(fit.value, 4);
  CHECK_U64(fit.value_bytes, 1024);
  CHECK_U64(fit.largest_hole, 9800 - 9216);
  plan_prove(&c);
  plan_free(&c);
}

TEST(FitIsPossibleDownToTheLowerBound) {
  stow_plan_options options = plan_plain(STOW_PRESET_DEFAULT);
  options.reuse = false;  // so that the plan is larger than it need be
  plan_case c = plan_make(mlp, &options);
  REQUIRE(c.plan != NULL);
  CHECK(fit_of(c.plan).fits && fit_of(c.plan).possible);
  uint64_t bound = stow_plan_lower_bound(c.plan);
  CHECK(stow_plan_arena_size(c.plan) > bound);
  plan_free(&c);
  for (uint64_t below = 0; below < 2; ++below) {
    options.capacity = bound - below;
    c = plan_make(mlp, &options);
    REQUIRE(c.plan != NULL);
    CHECK(!fit_of(c.plan).fits);
    CHECK(fit_of(c.plan).possible == (below == 0));
    plan_free(&c);
  }
}

TEST(HolesAreCountedWithoutTheValueItself) {
  stow_plan_options options = plan_plain(STOW_PRESET_DEFAULT);
  options.alignment = 1;
  options.capacity = 100;
  plan_case c = plan_make(
      "graph @holes {\n"
      "  %0 = input \"a\" : u8[64] with {at = 64}\n"
      "  %1 = input \"b\" : u8[32] with {at = 32}\n"
      "  return %0\n"
      "}\n",
      &options);
  REQUIRE(c.plan != NULL);
  stow_fit fit = fit_of(c.plan);
  CHECK_U64(fit.value, 0);
  CHECK_U64(fit.value_bytes, 64);
  CHECK_U64(fit.excess, 28);
  CHECK_U64(fit.largest_hole, 36);
  plan_prove(&c);
  plan_free(&c);
}

TEST(ScratchAloneMayNotFit) {
  stow_plan_options options = plan_plain(STOW_PRESET_DEFAULT);
  options.capacity = 2000;
  plan_case c = plan_make(
      "graph @scratch {\n"
      "  %0 = input \"x\" : f32[256]\n"
      "  %1 = relu(%0) : f32[256] with {scratch = [32, 1]}\n"
      "  %2 = relu(%1) : f32[256] with {scratch = [16, 1, 8, 1]}\n"
      "  return %2\n"
      "}\n",
      &options);
  REQUIRE(c.plan != NULL);
  stow_fit fit = fit_of(c.plan);
  CHECK(!fit.fits);
  CHECK_U64(fit.value, 2);  // values go before scratch
  plan_free(&c);
  options.capacity = 2050;
  c = plan_make(
      "graph @scratch {\n"
      "  %0 = input \"x\" : f32[256]\n"
      "  %1 = reshape(%0) : f32[16, 16] with {scratch = [32, 1]}\n"
      "  %2 = relu(%1) : f32[16, 16] with {scratch = [24, 1, 16, 1]}\n"
      "  return %2\n"
      "}\n",
      &options);
  REQUIRE(c.plan != NULL);
  // x 0, %2 1024, then at step 2 the scratch of 24 at 2048 and that of 16 at 2112
  fit = fit_of(c.plan);
  CHECK(!fit.fits);
  CHECK_U64(fit.value, STOW_VALUE_NONE);
  CHECK_U64(fit.step, 2);
  CHECK_U64(fit.value_bytes, 24);
  CHECK_U64(fit.largest_hole, 2);
  plan_prove(&c);
  plan_free(&c);
}

// ---------------------------------------------------------------------------------------------
// Fixed places

TEST(PackedParamsAreStackedAtTheBottom) {
  stow_plan_options options = plan_options(STOW_PRESET_RLX);
  options.pack_params = true;
  plan_case c = plan_make(
      "graph @packed {\n"
      "  %0 = input \"x\" : f32[1024]\n"
      "  %1 = param \"small\" : f32[3]\n"
      "  %2 = param \"large\" : f32[100]\n"
      "  %3 = param \"same\" : f32[3]\n"
      "  %4 = param \"empty\" : f32[0]\n"
      "  %5 = relu(%0) : f32[1024]\n"
      "  return %5\n"
      "}\n",
      &options);
  REQUIRE(c.plan != NULL);
  CHECK_U64(plan_offset(c.plan, 2), 0);
  CHECK_U64(plan_offset(c.plan, 4), 576);   // 400 + 128, up to 64; its slot has 64 bytes
  CHECK_U64(plan_offset(c.plan, 1), 768);   // 576 + 64 + 128
  CHECK_U64(plan_offset(c.plan, 3), 960);   // 768 + 12 + 128, up to 64
  CHECK_U64(plan_offset(c.plan, 0), 1152);  // 960 + 12 + 128, up to 64
  plan_prove(&c);
  plan_free(&c);
}

TEST(PackedParamsHaveTheSameOffsetsInEveryModel) {
  stow_plan_options options = plan_plain(STOW_PRESET_DEFAULT);
  options.pack_params = true;
  plan_case a = plan_make(mlp, &options);
  char* text = plan_replace(mlp, "f32[4, 16]\n", "f32[900, 16]\n");
  char* larger =
      plan_replace(text, "%2 = matmul(%0, %1) : f32[4, 64]", "%2 = matmul(%0, %1) : f32[900, 64]");
  char* larger2 = plan_replace(larger, "mul(%2, %3) : f32[4, 64]", "mul(%2, %3) : f32[900, 64]");
  char* whole =
      plan_replace(larger2, "matmul(%4, %5) : f32[4, 16]", "matmul(%4, %5) : f32[900, 16]");
  plan_case b = plan_make(whole, &options);
  REQUIRE(a.plan != NULL && b.plan != NULL);
  CHECK_U64(plan_offset(a.plan, 1), plan_offset(b.plan, 1));
  CHECK_U64(plan_offset(a.plan, 5), plan_offset(b.plan, 5));
  CHECK_U64(plan_offset(b.plan, 5), 4096);
  free(whole);
  free(larger2);
  free(larger);
  free(text);
  plan_free(&b);
  plan_free(&a);
}

TEST(FixedOffsetIsKept) {
  stow_plan_options options = plan_plain(STOW_PRESET_DEFAULT);
  plan_case c = plan_make(
      "graph @fixed {\n"
      "  %0 = input \"x\" : f32[16]\n"
      "  %1 = relu(%0) : f32[16] with {at = 1024}\n"
      "  %2 = relu(%1) : f32[16] with {at = 0}\n"
      "  return %2\n"
      "}\n",
      &options);
  REQUIRE(c.plan != NULL);
  CHECK_U64(plan_offset(c.plan, 1), 1024);
  CHECK_U64(plan_offset(c.plan, 2), 0);
  CHECK_U64(plan_offset(c.plan, 0), 64);
  CHECK_U64(stow_plan_arena_size(c.plan), 1088);
  CHECK_U64(stow_plan_lower_bound(c.plan), 1088);
  plan_prove(&c);
  plan_free(&c);
}

TEST(OverlappingFixedOffsetsAreNamed) {
  stow_plan_options options = plan_plain(STOW_PRESET_DEFAULT);
  plan_case c = plan_try(
      "graph @fixed {\n"
      "  %0 = input \"x\" : f32[32] with {at = 64}\n"
      "  %1 \"y\" = relu(%0) : f32[32] with {at = 128}\n"
      "  return %1\n"
      "}\n",
      &options);
  CHECK(c.status == STOW_ERR_CONFLICT);
  CHECK_HAS(c.diag.message, "%0 \"x\", fixed at 64, and %1 \"y\", fixed at 128");
  plan_free(&c);
}

TEST(FixedBytesMayBeSharedOverTimeUnlessReuseIsOff) {
  const char* text =
      "graph @fixed {\n"
      "  %0 = input \"x\" : f32[16]\n"
      "  %1 = relu(%0) : f32[16] with {at = 256}\n"
      "  %2 = relu(%1) : f32[16]\n"
      "  %3 = relu(%2) : f32[16] with {at = 256}\n"
      "  return %3\n"
      "}\n";
  stow_plan_options options = plan_plain(STOW_PRESET_DEFAULT);
  plan_case c = plan_make(text, &options);
  plan_free(&c);
  options.reuse = false;
  c = plan_try(text, &options);
  CHECK(c.status == STOW_ERR_CONFLICT);
  CHECK_HAS(c.diag.message, "%1, fixed at 256, and %3, fixed at 256");
  plan_free(&c);
}

TEST(MisalignedFixedOffsetIsAConflict) {
  stow_plan_options options = plan_plain(STOW_PRESET_DEFAULT);
  plan_case c = plan_try(
      "graph @fixed {\n"
      "  %0 = input \"x\" : f32[16]\n"
      "  %1 \"y\" = relu(%0) : f32[16] with {at = 32}\n"
      "  return %1\n"
      "}\n",
      &options);
  CHECK(c.status == STOW_ERR_CONFLICT);
  CHECK_HAS(c.diag.message, "%1 \"y\" must be at 32, which is not a multiple of its alignment 64");
  CHECK_U64(c.diag.value, 1);
  plan_free(&c);
}

TEST(TooLargeSizesAreAnOverflow) {
  stow_plan_options options = plan_plain(STOW_PRESET_DEFAULT);
  const char* text =
      "graph @huge {\n"
      "  %0 = param \"a\" : u8[4611686018427387904]\n"
      "  %1 = param \"b\" : u8[4611686018427387904]\n"
      "  %2 = param \"c\" : u8[9223372036854775807]\n"
      "  return %1\n"
      "}\n";
  plan_case c = plan_try(text, &options);
  CHECK(c.status == STOW_ERR_OVERFLOW);
  CHECK_TEXT(c.diag.message,
             "%1 \"b\": 4611686018427387904 bytes do not fit in a 63-bit address space with "
             "everything else");
  CHECK_U64(c.diag.value, 1);
  plan_free(&c);
  options.pack_params = true;
  c = plan_try(text, &options);
  CHECK(c.status == STOW_ERR_OVERFLOW);
  CHECK_HAS(c.diag.message, "packing the params");
  plan_free(&c);
}

TEST(TooLargeFixedOffsetIsAnOverflow) {
  stow_plan_options options = plan_plain(STOW_PRESET_DEFAULT);
  plan_case c = plan_try(
      "graph @far {\n"
      "  %0 = input \"x\" : f32[16] with {at = 9223372036854775744}\n"
      "  return %0\n"
      "}\n",
      &options);
  CHECK(c.status == STOW_ERR_OVERFLOW);
  CHECK_HAS(c.diag.message, "%0 \"x\", fixed at 9223372036854775744: 64 bytes do not fit");
  CHECK_U64(c.diag.value, 0);
  plan_free(&c);
}

TEST(TooLargeScratchIsAnOverflow) {
  stow_plan_options options = plan_plain(STOW_PRESET_DEFAULT);
  plan_case c = plan_try(
      "graph @huge {\n"
      "  %0 = input \"x\" : f32[16]\n"
      "  %1 = relu(%0) : f32[16] with {scratch = [9223372036854775807, 1]}\n"
      "  return %1\n"
      "}\n",
      &options);
  CHECK(c.status == STOW_ERR_OVERFLOW);
  CHECK_HAS(c.diag.message, "scratch of node 1: 9223372036854775807 bytes do not fit");
  CHECK_U64(c.diag.node, 1);
  plan_free(&c);
}

// ---------------------------------------------------------------------------------------------
// Effects and policies

TEST(ScratchLivesDuringItsStep) {
  stow_plan_options options = plan_plain(STOW_PRESET_DEFAULT);
  plan_case c = plan_make(
      "graph @scratch {\n"
      "  %0 = input \"x\" : f32[16]\n"
      "  %1 = relu(%0) : f32[16] with {scratch = [1000, 16, 8, 256]}\n"
      "  %2 = relu(%1) : f32[16] with {scratch = [900, 1]}\n"
      "  return %2\n"
      "}\n",
      &options);
  REQUIRE(c.plan != NULL);
  REQUIRE(stow_plan_scratch_count(c.plan) == 3);
  stow_slot slots[3];
  uint64_t alignments[3];
  static const stow_node nodes[] = {1, 1, 2};
  for (size_t i = 0; i < 3; ++i) {
    stow_node node = STOW_NODE_NONE;
    stow_plan_scratch_slot(c.plan, i, &node, &slots[i], &alignments[i]);
    CHECK_U64(node, nodes[i]);
    CHECK_U64(slots[i].offset % alignments[i], 0);
  }
  CHECK_U64(slots[0].size, 1000);
  CHECK_U64(alignments[0], 64);
  CHECK_U64(alignments[1], 256);
  CHECK_U64(slots[0].offset, slots[2].offset);  // of different steps: shared
  CHECK_U64(stowi_plan_alignment(c.plan), 256);
  CHECK_U64(stowi_plan_peak_step(c.plan), 1);
  CHECK_U64(stowi_plan_peak_scratch(c.plan), 1008);
  plan_prove(&c);
  plan_free(&c);
}

TEST(ValueAlignmentAndStorageAreRespected) {
  stow_plan_options options = plan_plain(STOW_PRESET_DEFAULT);
  plan_case c = plan_make(
      "graph @storage {\n"
      "  %0 = input \"x\" : f32[16]\n"
      "  %1 = relu(%0) : f32[16] with {align = 4096, storage = 100}\n"
      "  %2 = relu(%1) : f32[16] with {align = 16}\n"
      "  %3 = reshape(%2) : f32[4, 4] with {align = 512}\n"
      "  return %3\n"
      "}\n",
      &options);
  REQUIRE(c.plan != NULL);
  CHECK_U64(plan_offset(c.plan, 1) % 4096, 0);
  CHECK_U64(plan_slot(c.plan, 1).size, 100);
  CHECK_U64(stowi_plan_value_alignment(c.plan, 1), 4096);
  CHECK_U64(stowi_plan_value_alignment(c.plan, 0), 64);
  CHECK_U64(stowi_plan_value_alignment(c.plan, 2), 512);  // asked for by its view
  CHECK_U64(stowi_plan_alignment(c.plan), 4096);
  plan_prove(&c);
  plan_free(&c);
}

TEST(InPlaceResultTakesItsOperandsBytes) {
  const char* text =
      "graph @overwrite {\n"
      "  %0 = input \"x\" : f32[16]\n"
      "  %1 = relu(%0) : f32[16]\n"
      "  %2 = relu(%1) : f32[16] with {overwrite = [0, 0]}\n"
      "  %3 = relu(%2) : f32[16] with {overwrite = [0, 0]}\n"
      "  return %3\n"
      "}\n";
  stow_plan_options options = plan_plain(STOW_PRESET_DEFAULT);
  plan_case c = plan_make(text, &options);
  REQUIRE(c.plan != NULL);
  CHECK_U64(stow_plan_arena_size(c.plan), 128);
  CHECK_U64(stow_plan_root(c.plan, 3), 1);
  CHECK_U64(plan_offset(c.plan, 3), plan_offset(c.plan, 1));
  plan_prove(&c);
  plan_free(&c);
  options.reuse = false;
  c = plan_make(text, &options);
  REQUIRE(c.plan != NULL);
  CHECK_U64(stow_plan_arena_size(c.plan), 256);
  plan_prove(&c);
  plan_free(&c);
}

TEST(ImpossibleOverwriteIsNotAnError) {
  stow_plan_options options = plan_plain(STOW_PRESET_DEFAULT);
  plan_case c = plan_make(
      "graph @overwrite {\n"
      "  %0 = input \"x\" : f32[16]\n"
      "  %1 = relu(%0) : f32[16] with {overwrite = [0, 0]}\n"
      "  return %1\n"
      "}\n",
      &options);
  REQUIRE(c.plan != NULL);
  CHECK_U64(stow_plan_root(c.plan, 1), 1);
  plan_prove(&c);
  plan_free(&c);
}

TEST(ResultsAreNotInPlaceOfInputsWithoutASlot) {
  const char* text =
      "graph @overwrite {\n"
      "  %0 = input \"x\" : f32[16]\n"
      "  %1 = relu(%0) : f32[16] with {overwrite = [0, 0]}\n"
      "  return %1\n"
      "}\n";
  stow_plan_options options = plan_plain(STOW_PRESET_DEFAULT);
  options.io = STOW_IO_CONSUME;
  plan_case c = plan_make(text, &options);
  REQUIRE(c.plan != NULL);
  CHECK_U64(stow_plan_root(c.plan, 1), 0);
  plan_prove(&c);
  plan_free(&c);
  options.inputs = false;
  c = plan_make(text, &options);
  REQUIRE(c.plan != NULL);
  CHECK(!plan_has_slot(c.plan, 0));
  CHECK(plan_has_slot(c.plan, 1));
  CHECK_U64(stow_plan_root(c.plan, 1), 1);
  plan_prove(&c);
  plan_free(&c);
}

TEST(ConsumedInputsAreReused) {
  const char* text =
      "graph @consume {\n"
      "  %0 = input \"x\" : f32[16]\n"
      "  %1 = relu(%0) : f32[16]\n"
      "  %2 = relu(%1) : f32[16]\n"
      "  return %2\n"
      "}\n";
  stow_plan_options options = plan_plain(STOW_PRESET_DEFAULT);
  plan_case c = plan_make(text, &options);
  CHECK_U64(stow_plan_arena_size(c.plan), 192);
  plan_free(&c);
  options.io = STOW_IO_CONSUME;
  c = plan_make(text, &options);
  REQUIRE(c.plan != NULL);
  CHECK_U64(stow_plan_arena_size(c.plan), 128);
  CHECK_U64(stowi_plan_end(c.plan, 0), 2);
  plan_prove(&c);
  plan_free(&c);
}

TEST(ExternalValuesHaveNoSlot) {
  const char* text =
      "graph @external {\n"
      "  %0 = input \"x\" : f32[16]\n"
      "  %1 = param \"w\" : f32[16] with {io = \"keep\"}\n"
      "  %2 = add(%0, %1) : f32[16]\n"
      "  %3 = relu(%2) : f32[16]\n"
      "  %4 = reshape(%3) : f32[4, 4]\n"
      "  return %3\n"
      "}\n";
  stow_plan_options options = plan_plain(STOW_PRESET_DEFAULT);
  options.io = STOW_IO_EXTERNAL;
  plan_case c = plan_make(text, &options);
  REQUIRE(c.plan != NULL);
  CHECK(!plan_has_slot(c.plan, 0));
  CHECK(plan_has_slot(c.plan, 1));  // its own policy
  CHECK(plan_has_slot(c.plan, 2));
  CHECK(!plan_has_slot(c.plan, 3) && !plan_has_slot(c.plan, 4));
  CHECK_U64(stow_plan_arena_size(c.plan), 128);
  plan_prove(&c);
  plan_free(&c);
}

TEST(PlanOfAnEmptyGraphIsEmpty) {
  stow_plan_options options = plan_plain(STOW_PRESET_DEFAULT);
  options.io = STOW_IO_EXTERNAL;
  plan_case c =
      plan_make("graph @none {\n  %0 = input \"x\" : f32[16]\n  return %0\n}\n", &options);
  REQUIRE(c.plan != NULL);
  CHECK_U64(stow_plan_arena_size(c.plan), 0);
  CHECK_U64(stow_plan_lower_bound(c.plan), 0);
  CHECK_U64(stowi_plan_peak_count(c.plan), 0);
  CHECK_U64(stowi_plan_alignment(c.plan), 64);
  plan_prove(&c);
  plan_free(&c);
}

TEST(UnboundDimsAreNamed) {
  stow_plan_options options = plan_plain(STOW_PRESET_DEFAULT);
  plan_case c = plan_try(
      "graph @unbound {\n"
      "  %0 = input \"x\" : f32[?batch, 4]\n"
      "  %1 = relu(%0) : f32[?batch, 4]\n"
      "  return %1\n"
      "}\n",
      &options);
  CHECK(c.status == STOW_ERR_UNBOUND_DIM);
  CHECK_HAS(c.diag.message, "batch");
  CHECK(c.plan == NULL);
  plan_free(&c);
}

TEST(BranchesOfAnIfShareTheirBytes) {
  stow_plan_options options = plan_plain(STOW_PRESET_DEFAULT);
  plan_case c = plan_make(
      "graph @branch {\n"
      "  %0 = input \"x\" : f32[64]\n"
      "  %1 = input \"c\" : bool[]\n"
      "  %4 = if(%1) {\n"
      "    %2 = relu(%0) : f32[64]\n"
      "    yield %2\n"
      "  } else {\n"
      "    %3 = exp(%0) : f32[64]\n"
      "    yield %3\n"
      "  } : f32[64]\n"
      "  return %4\n"
      "}\n",
      &options);
  REQUIRE(c.plan != NULL);
  plan_prove(&c);
  plan_free(&c);
}

TEST(ResultsOfAnIfHaveRoomForEitherBranch) {
  stow_plan_options options = plan_plain(STOW_PRESET_DEFAULT);
  plan_case c = plan_make(
      "graph @branch {\n"
      "  %0 = input \"x\" : f32[64]\n"
      "  %1 = input \"y\" : f32[16]\n"
      "  %2 = input \"c\" : bool[]\n"
      "  %5 = if(%2) {\n"
      "    %3 = relu(%0) : f32[64]\n"
      "    yield %3\n"
      "  } else {\n"
      "    %4 = exp(%1) : f32[16]\n"
      "    yield %4\n"
      "  } : bounded f32[64]\n"
      "  %6 = neg(%5) : f32[64]\n"
      "  return %6\n"
      "}\n",
      &options);
  REQUIRE(c.plan != NULL);
  stow_slot slot;
  CHECK(stow_plan_value_slot(c.plan, 5, &slot));
  CHECK_U64(slot.size, 256);
  plan_prove(&c);
  plan_free(&c);
}

// ---------------------------------------------------------------------------------------------
// Schedules and strategies

TEST(GivenOrderIsKept) {
  const char* text =
      "graph @order {\n"
      "  %0 = input \"x\" : f32[16]\n"
      "  %1 = relu(%0) : f32[16]\n"
      "  %2 = exp(%0) : f32[16]\n"
      "  %3 = add(%1, %2) : f32[16]\n"
      "  return %3\n"
      "}\n";
  static const stow_node order[] = {0, 2, 1, 3};
  stow_module* module = NULL;
  stow_graph* graph = plan_parse(text, &module);
  REQUIRE(graph != NULL);
  stow_schedule* schedule = NULL;
  stow_allocator allocator = stow_allocator_default();
  CHECK(stow_schedule_create_order(graph, order, 4, allocator, NULL, &schedule) == STOW_OK);
  stow_plan_options options = plan_plain(STOW_PRESET_DEFAULT);
  options.schedule = schedule;
  plan_case c = plan_make(text, &options);
  REQUIRE(c.plan != NULL);
  CHECK(memcmp(stow_plan_order(c.plan), order, sizeof(order)) == 0);
  CHECK_U64(stowi_plan_begin(c.plan, 2), 1);
  CHECK_U64(stowi_plan_begin(c.plan, 1), 2);
  plan_prove(&c);
  plan_free(&c);
  plan_case other = plan_try(mlp, &options);  // has other nodes
  CHECK(other.status != STOW_OK);
  CHECK(other.plan == NULL);
  plan_free(&other);
  stow_schedule_destroy(schedule);
  stow_module_destroy(module);
}

TEST(EveryStrategyMakesACorrectPlan) {
  for (size_t i = 0; i < stow_strategy_count(); ++i) {
    stow_plan_options options = plan_options(STOW_PRESET_RLX);
    options.strategy = stow_strategy_at(i);
    plan_case c = plan_make(mlp, &options);
    REQUIRE(c.plan != NULL);
    CHECK_TEXT(stowi_plan_strategy_name(c.plan).data, options.strategy->name);
    plan_prove(&c);
    plan_free(&c);
  }
}

static stow_status place_another(const stow_problem* problem, const stow_place_options* options,
                                 stow_allocator allocator, stow_diag* diag,
                                 stow_placement** out_placement) {
  (void)problem;
  stow_problem* other = NULL;
  stow_status status = stow_problem_create(allocator, diag, &other);
  if (status == STOW_OK) {
    status = stowi_place_first_fit(other, options, allocator, diag, out_placement);
  }
  stow_problem_destroy(other);
  return status;
}

// The options that a strategy was given.
typedef struct seen_options {
  uint64_t nodes;
  uint64_t capacity;
  size_t calls;
} seen_options;

static bool count_call(void* user, const stow_place_progress* progress) {
  seen_options* seen = user;
  ++seen->calls;
  return progress->best == UINT64_MAX;
}

static stow_status place_watched(const stow_problem* problem, const stow_place_options* options,
                                 stow_allocator allocator, stow_diag* diag,
                                 stow_placement** out_placement) {
  seen_options* seen = options->user;
  seen->nodes = options->nodes;
  seen->capacity = options->capacity;
  return stowi_place_first_fit(problem, options, allocator, diag, out_placement);
}

TEST(StrategyGetsBudgetAndCallbackButNoCapacity) {
  static const stow_strategy watched = {"watched", "as first-fit", place_watched};
  seen_options seen = {0};
  stow_plan_options options = plan_plain(STOW_PRESET_DEFAULT);
  options.strategy = &watched;
  options.capacity = 1 << 20;
  options.nodes = 77;
  options.on_progress = count_call;
  options.user = &seen;
  plan_case c = plan_make(mlp, &options);
  REQUIRE(c.plan != NULL);
  CHECK_U64(seen.nodes, 77);
  CHECK(seen.capacity == STOW_PLACE_SMALLEST);
  CHECK(seen.calls > 0);
  CHECK(search_of(c.plan).stopped);
  plan_prove(&c);
  plan_free(&c);
}

TEST(SearchReportsOutcomeAndBound) {
  stow_plan_options options = plan_plain(STOW_PRESET_DEFAULT);
  plan_case c = plan_make(mlp, &options);
  REQUIRE(c.plan != NULL);
  uint64_t arena = stow_plan_arena_size(c.plan);
  stow_search search = search_of(c.plan);
  CHECK_U64(search.outcome, STOW_OUTCOME_OPTIMAL);
  CHECK_U64(search.bound, arena);
  CHECK(!search.stopped);
  plan_free(&c);
  options.capacity = arena - 1;
  c = plan_make(mlp, &options);
  REQUIRE(c.plan != NULL);
  CHECK_U64(search_of(c.plan).outcome, STOW_OUTCOME_INFEASIBLE);
  CHECK_U64(stow_plan_arena_size(c.plan), arena);
  plan_free(&c);
  options.reuse = false;
  options.capacity = arena;
  c = plan_make(mlp, &options);
  REQUIRE(c.plan != NULL);
  CHECK_U64(search_of(c.plan).bound, arena);  // reuse is a choice that no bound relies on
  CHECK_U64(search_of(c.plan).outcome, STOW_OUTCOME_GAVE_UP);
  plan_free(&c);
  options.capacity = STOW_NO_CAPACITY;
  c = plan_make(mlp, &options);
  REQUIRE(c.plan != NULL);
  CHECK_U64(search_of(c.plan).outcome, STOW_OUTCOME_FEASIBLE);
  plan_free(&c);
}

TEST(InvalidPlacementOfAStrategyIsRefused) {
  static const stow_strategy wrong = {"wrong", "places nothing", place_another};
  stow_plan_options options = plan_plain(STOW_PRESET_DEFAULT);
  options.strategy = &wrong;
  plan_case c = plan_try(mlp, &options);
  CHECK(c.status == STOW_ERR_INVALID_ARGUMENT);
  CHECK_HAS(c.diag.message, "strategy wrong placed 0 of 7 buffers");
  plan_free(&c);
}

// ---------------------------------------------------------------------------------------------
// Random graphs

typedef struct builder {
  test_random random;
  char* text;
  size_t size;
  size_t capacity;
} builder;

static void put(builder* b, const char* format, ...) __attribute__((format(printf, 2, 3)));
static void put(builder* b, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int size = vsnprintf(b->text + b->size, b->capacity - b->size, format, arguments);
  va_end(arguments);
  b->size += (size_t)size;
}

static void put_effects(builder* b) {
  switch (test_random_below(&b->random, 8)) {
    case 0:
      put(b, " with {scratch = [%u, %u]}", 1 + (unsigned)test_random_below(&b->random, 500),
          1u << test_random_below(&b->random, 9));
      break;
    case 1: put(b, " with {align = %u}", 1u << test_random_below(&b->random, 10)); break;
    case 2: put(b, " with {overwrite = [0, 0]}"); break;
    default: break;
  }
}

// All values have 48 elements, so that any op accepts any operand.
static char* random_graph(uint64_t seed) {
  builder b = {{seed}, (char*)calloc(1, 8192), 0, 8192};
  unsigned count = 3 + (unsigned)test_random_below(&b.random, 30);
  static const char* const boundary[] = {"input", "param", "constant"};
  put(&b, "graph @random {\n  %%0 = input \"x\" : f32[48]\n");
  for (unsigned i = 1; i < count; ++i) {
    unsigned operand = (unsigned)test_random_below(&b.random, i);
    switch (test_random_below(&b.random, 6)) {
      case 0:
        put(&b, "  %%%u = %s \"b%u\" : f32[48]", i, boundary[test_random_below(&b.random, 3)], i);
        break;
      case 1: put(&b, "  %%%u = reshape(%%%u) : f32[48]", i, operand); break;
      case 2:
        put(&b, "  %%%u = add(%%%u, %%%u) : f32[48]", i, operand,
            (unsigned)test_random_below(&b.random, i));
        put_effects(&b);
        break;
      default:
        put(&b, "  %%%u = relu(%%%u) : f32[48]", i, operand);
        put_effects(&b);
        break;
    }
    put(&b, "\n");
  }
  put(&b, "  return %%%u, %%%u\n}\n", count - 1, (unsigned)test_random_below(&b.random, count));
  return b.text;
}

static stow_plan_options random_options(test_random* random) {
  stow_plan_options options = plan_options((stow_preset)test_random_below(random, 3));
  options.alignment = UINT64_C(1) << test_random_below(random, 9);
  options.reuse = test_random_below(random, 4) != 0;
  options.params = test_random_below(random, 4) != 0;
  options.inputs = test_random_below(random, 4) != 0;
  options.pack_params = test_random_below(random, 4) == 0;
  options.f32_uniform = test_random_below(random, 4) == 0;
  options.tail_guard = test_random_below(random, 2) == 0 ? 0 : test_random_below(random, 300);
  options.strategy = stow_strategy_at((size_t)test_random_below(random, stow_strategy_count()));
  options.nodes = 300;
  options.patience = test_random_below(random, 2) == 0 ? STOW_PLACE_NO_LIMIT : 100;
  options.io = test_random_below(random, 4) == 0 ? STOW_IO_CONSUME : STOW_IO_KEEP;
  if (test_random_below(random, 2) == 0) {
    options.capacity = test_random_below(random, 4000);
  }
  return options;
}

// By brute force: load at each step, and what exceeds the capacity.
static uint64_t brute_load(const stow_plan* plan, uint32_t step) {
  uint64_t load = 0;
  for (stow_value v = 0; v < stow_plan_value_count(plan); ++v) {
    if (stow_plan_root(plan, v) == v && plan_has_slot(plan, v) &&
        stowi_plan_begin(plan, v) <= step && step < stowi_plan_end(plan, v)) {
      load += plan_slot(plan, v).size + stowi_plan_guard(plan, v);
    }
  }
  for (size_t i = 0; i < stow_plan_scratch_count(plan); ++i) {
    stow_node node;
    stow_slot slot;
    uint64_t alignment;
    stow_plan_scratch_slot(plan, i, &node, &slot, &alignment);
    if (step < stow_plan_step_count(plan) && stow_plan_order(plan)[step] == node) {
      load += slot.size;
    }
  }
  return load;
}

static void check_peak(const stow_plan* plan) {
  uint64_t highest = 0;
  uint32_t at = 0;
  for (uint32_t step = 0; step <= stow_plan_step_count(plan); ++step) {
    uint64_t load = brute_load(plan, step);
    if (load > highest) {
      highest = load;
      at = step;
    }
  }
  CHECK_U64(stowi_plan_peak_step(plan), at);
  CHECK(stow_plan_lower_bound(plan) >= highest);
  CHECK(stow_plan_lower_bound(plan) <= stow_plan_arena_size(plan));
  uint64_t listed = stowi_plan_peak_scratch(plan);
  for (size_t i = 0; i < stowi_plan_peak_count(plan); ++i) {
    stow_value v = stow_plan_peak_value(plan, i);
    listed += plan_slot(plan, v).size + stowi_plan_guard(plan, v);
  }
  CHECK_U64(listed, highest);
}

// Whether byte |at| is used at |step| by a value other than |without|.
static bool is_used(const stow_plan* plan, uint64_t at, uint32_t step, stow_value without) {
  for (stow_value v = 0; v < stow_plan_value_count(plan); ++v) {
    stow_slot slot = plan_slot(plan, v);
    if (v != without && stow_plan_root(plan, v) == v && plan_has_slot(plan, v) &&
        stowi_plan_begin(plan, v) <= step && step < stowi_plan_end(plan, v) && slot.offset <= at &&
        at < slot.offset + slot.size + stowi_plan_guard(plan, v)) {
      return true;
    }
  }
  for (size_t i = 0; i < stow_plan_scratch_count(plan); ++i) {
    stow_node node;
    stow_slot slot;
    uint64_t alignment;
    stow_plan_scratch_slot(plan, i, &node, &slot, &alignment);
    if (stow_plan_order(plan)[step] == node && slot.offset <= at && at < slot.offset + slot.size) {
      return true;
    }
  }
  return false;
}

static uint64_t load_at(const stow_plan* plan, uint32_t step) {
  uint64_t load = 0;
  for (stow_value v = 0; v < stow_plan_value_count(plan); ++v) {
    if (stow_plan_root(plan, v) == v && plan_has_slot(plan, v) &&
        stowi_plan_begin(plan, v) <= step && step < stowi_plan_end(plan, v)) {
      load += plan_slot(plan, v).size + stowi_plan_guard(plan, v);
    }
  }
  for (size_t i = 0; i < stow_plan_scratch_count(plan); ++i) {
    stow_node node;
    stow_slot slot;
    uint64_t alignment;
    stow_plan_scratch_slot(plan, i, &node, &slot, &alignment);
    load += stow_plan_order(plan)[step] == node ? slot.size : 0;
  }
  return load;
}

static void check_fit(const stow_plan* plan) {
  stow_fit fit = fit_of(plan);
  CHECK(fit.fits == (stow_plan_arena_size(plan) <= fit.available));
  if (fit.fits || fit.value == STOW_VALUE_NONE) {
    return;
  }
  stow_slot slot = plan_slot(plan, fit.value);
  CHECK(slot.offset + slot.size + stowi_plan_guard(plan, fit.value) > fit.available);
  CHECK(fit.possible == (search_of(plan).bound <= fit.available));
  CHECK_U64(fit.step, stowi_plan_begin(plan, fit.value));
  uint64_t most = load_at(plan, fit.step);
  for (stow_value v = 0; v < stow_plan_value_count(plan); ++v) {
    bool is_above =
        stow_plan_root(plan, v) == v && plan_has_slot(plan, v) &&
        plan_offset(plan, v) + plan_slot(plan, v).size + stowi_plan_guard(plan, v) > fit.available;
    uint64_t load = load_at(plan, stowi_plan_begin(plan, v));
    CHECK(!is_above || load < most || (load == most && stowi_plan_begin(plan, v) > fit.step) ||
          (stowi_plan_begin(plan, v) == fit.step && v >= fit.value));
  }
  uint64_t hole = 0;
  uint64_t run = 0;
  for (uint64_t at = 0; at < fit.available; ++at) {
    run = is_used(plan, at, fit.step, fit.value) ? 0 : run + 1;
    hole = run > hole ? run : hole;
  }
  CHECK_U64(fit.largest_hole, hole);
}

TEST(RandomPlansAreProven) {
  unsigned cases = test_is_long() ? 20000 : 300;
  for (uint64_t seed = 0; seed < cases; ++seed) {
    char* text = random_graph(seed);
    test_random random = {seed ^ 0xabcdef};
    stow_plan_options options = random_options(&random);
    plan_case c = plan_make(text, &options);
    if (c.plan != NULL) {
      plan_prove(&c);
      check_peak(c.plan);
      check_fit(c.plan);
    }
    plan_free(&c);
    free(text);
  }
}

TEST(PlanningTwiceGivesTheSameBytes) {
  for (uint64_t seed = 500; seed < 520; ++seed) {
    char* text = random_graph(seed);
    stow_plan_options options = plan_options(STOW_PRESET_RLX);
    plan_case a = plan_make(text, &options);
    plan_case b = plan_make(text, &options);
    REQUIRE(a.plan != NULL && b.plan != NULL);
    char* first = plan_text(a.plan, stowi_plan_write_saved);
    char* second = plan_text(b.plan, stowi_plan_write_saved);
    CHECK_TEXT(first, second);
    free(second);
    free(first);
    plan_free(&b);
    plan_free(&a);
    free(text);
  }
}

// ---------------------------------------------------------------------------------------------
// Failing allocations

typedef struct make_input {
  const plan_case* c;
  const stow_plan_options* options;
} make_input;

static stow_status make_attempt(stow_allocator allocator, void* user) {
  const make_input* input = (const make_input*)user;
  stow_plan* plan = (stow_plan*)user;
  stow_diag diag;
  stow_diag_init(&diag);
  stow_status status =
      stow_plan_make(input->c->graph, input->c->effects, input->options, allocator, &diag, &plan);
  CHECK((status == STOW_OK) == (plan != NULL));
  CHECK(diag.status == status);
  stow_plan_destroy(plan);
  return status;
}

TEST(MakingSurvivesFailingAllocations) {
  stow_plan_options options = plan_options(STOW_PRESET_RLX);
  options.pack_params = true;
  options.capacity = 100;
  plan_case c = plan_make(
      "graph @faults {\n"
      "  %0 = input \"x\" : f32[16]\n"
      "  %1 = param \"a\" : f32[16]\n"
      "  %2 = param \"b\" : f32[16] with {at = 8192}\n"
      "  %3 = add(%0, %1) : f32[16] with {scratch = [100, 1]}\n"
      "  %4 = add(%3, %2) : f32[16] with {overwrite = [0, 0]}\n"
      "  %5 = reshape(%4) : f32[4, 4]\n"
      "  return %5\n"
      "}\n",
      &options);
  make_input input = {&c, &options};
  CHECK(test_fault_sweep(make_attempt, &input) > 20);
  plan_free(&c);
}

TEST(PlansAndValuesAreDescribedInOneStruct) {
  plan_case c = plan_make(
      "graph @chain {\n"
      "  %0 = input \"x\" : f32[16]\n"
      "  %1 = relu(%0) : f32[16]\n"
      "  return %1\n"
      "}\n",
      NULL);
  REQUIRE(c.plan != NULL);
  stow_plan_info info = {.struct_size = sizeof(info)};
  CHECK(stow_plan_describe(c.plan, &info) == STOW_OK);
  CHECK_U64(info.struct_size, sizeof(info));
  CHECK(stow_str_equal(info.graph_name, stow_str_of("chain")));
  CHECK_U64(info.fingerprint, stow_graph_fingerprint(c.graph));
  CHECK_U64(info.arena_size, stow_plan_arena_size(c.plan));
  CHECK_U64(info.lower_bound, stow_plan_lower_bound(c.plan));
  CHECK_U64(info.total_unshared, 128);
  CHECK_U64(info.saved, info.total_unshared - info.arena_size);
  CHECK(info.reuse && info.pool_count == 1 && info.value_count == 2 && info.step_count == 2);
  CHECK(info.alignment == 64 && info.peak_count > 0 && info.peak_scratch == 0);
  // A caller with a shorter struct gets what it has room for, and nothing behind it is touched.
  stow_plan_info shorter = {.struct_size = offsetof(stow_plan_info, alignment), .alignment = 99};
  CHECK(stow_plan_describe(c.plan, &shorter) == STOW_OK);
  CHECK(shorter.arena_size == info.arena_size && shorter.alignment == 99);
  info.struct_size = sizeof(info) + 1;
  CHECK(stow_plan_describe(c.plan, &info) == STOW_ERR_INVALID_ARGUMENT);

  stow_plan_value value = {.struct_size = sizeof(value)};
  CHECK(stow_plan_describe_value(c.plan, 0, &value) == STOW_OK);
  CHECK(stow_str_equal(value.name, stow_str_of("x")) && value.dtype == STOW_F32);
  CHECK(value.begin == 0 && value.end > 1 && value.alignment == 64 && value.guard == 0);
  CHECK(stow_plan_describe_value(c.plan, 2, &value) == STOW_ERR_NOT_FOUND);
  plan_free(&c);
}
