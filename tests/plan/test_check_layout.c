// The plan checker on what a plan states besides its slots: shared weights and facts.
#include <stowage/plan.h>
#include <string.h>

#include "plan/check_support.h"
#include "plan/plan_internal.h"
#include "plan/plan_support.h"
#include "support/fault.h"
#include "support/test.h"

TEST(ReservedRangesAreOccupied) {
  static const char other[] =
      "graph @back {\n"
      "  %0 = input \"x\" : f32[16, 16]\n"
      "  %1 = relu(%0) : f32[16, 16]\n"
      "  return %1\n"
      "}\n";
  plan_case forward = check_make(check_mlp, STOW_PRESET_DEFAULT);
  REQUIRE(forward.plan != NULL);
  stow_weight_layout* layout = NULL;
  CHECK(stow_weight_layout_create(forward.graph, forward.plan, stow_allocator_default(), NULL,
                                  &layout) == STOW_OK);
  stow_plan_options options = plan_plain(STOW_PRESET_BACKWARD);
  options.layout = layout;
  plan_case c = plan_make(other, &options);
  REQUIRE(c.plan != NULL && c.plan->reserved_count == 1);
  CHECK_FAULT(check_plan(&c), STOW_FAULT_NONE);
  c.plan->values[1].offset = c.plan->reserved[0].offset;
  stow_violation violation = check_plan(&c);
  CHECK_FAULT(violation, STOW_FAULT_OVERLAP);
  CHECK_HAS(c.diag.message, "a shared weight [");
  plan_free(&c);
  stow_weight_layout_destroy(layout);
  plan_free(&forward);
}

// Weight and gradient have the same size, so that neither graph nor plan alone distinguishes them.
static const char gradient[] =
    "graph @back {\n"
    "  %0 = param \"w\" : f32[16, 16]\n"
    "  %1 = input \"grad\" : f32[16, 16]\n"
    "  %2 = matmul(%1, %0) : f32[16, 16]\n"
    "  return %2\n"
    "}\n";

static const char weights[] =
    "graph @weights {\n"
    "  %0 = param \"w\" : f32[16, 16]\n"
    "  %1 = param \"unused\" : f32[16]\n"
    "  %2 = matmul(%0, %0) : f32[16, 16]\n"
    "  return %2\n"
    "}\n";

typedef struct shared_case {
  plan_case forward;
  stow_weight_layout* layout;
  plan_case back;
} shared_case;

static stow_violation check_layout(shared_case* s) {
  stow_violation violation = {.struct_size = sizeof(violation)};
  stow_status status =
      stow_plan_check_layout(s->back.plan, s->back.graph, s->layout, &s->back.diag, &violation);
  CHECK(status == (violation.fault == STOW_FAULT_NONE ? STOW_OK : STOW_ERR_VIOLATION));
  return violation;
}

static shared_case make_shared(void) {
  shared_case s = {.forward = check_make(weights, STOW_PRESET_RLX)};
  CHECK(stow_weight_layout_create(s.forward.graph, s.forward.plan, stow_allocator_default(), NULL,
                                  &s.layout) == STOW_OK);
  stow_plan_options options = plan_plain(STOW_PRESET_BACKWARD);
  options.layout = s.layout;
  s.back = plan_make(gradient, &options);
  CHECK_FAULT(check_plan(&s.back), STOW_FAULT_NONE);
  CHECK_FAULT(check_layout(&s), STOW_FAULT_NONE);
  return s;
}

static void free_shared(shared_case* s) {
  plan_free(&s->back);
  stow_weight_layout_destroy(s->layout);
  plan_free(&s->forward);
}

TEST(WeightSwappedWithAGradientIsCaught) {
  stow_plan_options options = plan_plain(STOW_PRESET_DEFAULT);
  shared_case s = {.forward = plan_make(weights, &options)};
  CHECK(stow_weight_layout_create(s.forward.graph, s.forward.plan, stow_allocator_default(), NULL,
                                  &s.layout) == STOW_OK);
  options = plan_plain(STOW_PRESET_BACKWARD);
  options.layout = s.layout;
  s.back = plan_make(gradient, &options);
  REQUIRE(s.back.plan != NULL);
  uint64_t at = s.back.plan->values[0].offset;
  s.back.plan->values[0].offset = s.back.plan->values[1].offset;
  s.back.plan->values[1].offset = at;
  CHECK_FAULT(check_plan(&s.back), STOW_FAULT_NONE);
  stow_violation violation = check_layout(&s);
  CHECK_FAULT(violation, STOW_FAULT_MOVED);
  CHECK_U64(violation.first, 0);
  CHECK_U64(s.back.diag.value, 0);
  CHECK_HAS(s.back.diag.message, "param %0 \"w\" is at offset 1024, but at 0 in the weight layout");
  CHECK_HAS(s.back.diag.message, "param %0 \"w\" is at offset 1024, but at 0 in the weight layout");
  free_shared(&s);
}

TEST(WeightsKeepSizeGuardAndLifetime) {
  shared_case s = make_shared();
  REQUIRE(s.back.plan != NULL);
  stowi_plan_value* w = &s.back.plan->values[0];
  w->size += 64;
  CHECK_FAULT(check_layout(&s), STOW_FAULT_SIZE);
  CHECK_HAS(s.back.diag.message, "has a slot of 1088 bytes, but 1024 in the weight layout");
  w->size -= 64;
  w->guard = 0;
  CHECK_FAULT(check_plan(&s.back), STOW_FAULT_FACT);
  CHECK_FAULT(check_layout(&s), STOW_FAULT_GUARD);
  CHECK_HAS(s.back.diag.message, "has a guard of 0 bytes, but 128 in the weight layout");
  w->guard = 128;
  w->end -= 1;
  CHECK_FAULT(check_layout(&s), STOW_FAULT_REUSED_TOO_EARLY);
  CHECK_HAS(s.back.diag.message, "whole run, [0, 4), but is given steps [0, 3)");
  w->end += 1;
  w->begin = 1;
  CHECK_FAULT(check_layout(&s), STOW_FAULT_BORN_TOO_LATE);
  w->begin = 0;
  CHECK_FAULT(check_layout(&s), STOW_FAULT_NONE);
  free_shared(&s);
}

TEST(WeightsThatNoParamNamesAreReserved) {
  shared_case s = make_shared();
  REQUIRE(s.back.plan != NULL && s.back.plan->reserved_count == 1);
  stowi_plan_span* span = &s.back.plan->reserved[0];
  span->end -= 1;
  CHECK_FAULT(check_layout(&s), STOW_FAULT_WEIGHT);
  CHECK_HAS(s.back.diag.message, "weight \"unused\" of the layout [");
  span->end += 1;
  span->offset += 1;
  CHECK_FAULT(check_layout(&s), STOW_FAULT_WEIGHT);
  span->offset -= 1;
  // A param without a slot claims nothing; its weight must still be free.
  s.back.plan->values[0].offset = STOW_OFFSET_NONE;
  CHECK_FAULT(check_layout(&s), STOW_FAULT_WEIGHT);
  CHECK_HAS(s.back.diag.message, "weight \"w\" of the layout");
  free_shared(&s);
}

TEST(ParamWithoutAWeightIsCaught) {
  shared_case s = make_shared();
  plan_case own = check_make(check_mlp, STOW_PRESET_DEFAULT);
  plan_case other = check_make(
      "graph @g {\n  %0 = param \"v\" : f32[16]\n  %1 = relu(%0) : f32[16]\n  return %1\n}\n",
      STOW_PRESET_DEFAULT);
  REQUIRE(s.back.plan != NULL && own.plan != NULL && other.plan != NULL);
  stow_violation violation = {.struct_size = sizeof(violation)};
  CHECK(stow_plan_check_layout(other.plan, other.graph, s.layout, &other.diag, &violation) ==
        STOW_ERR_VIOLATION);
  CHECK_FAULT(violation, STOW_FAULT_WEIGHT);
  CHECK_HAS(other.diag.message, "param %0 \"v\" has a slot, but");
  CHECK(stow_plan_check_layout(own.plan, s.back.graph, s.layout, &own.diag, &violation) ==
        STOW_ERR_VIOLATION);
  CHECK_FAULT(violation, STOW_FAULT_STALE);
  CHECK(stow_plan_check_layout(other.plan, other.graph, s.layout, NULL, NULL) ==
        STOW_ERR_VIOLATION);
  plan_free(&other);
  plan_free(&own);
  free_shared(&s);
}

TEST(ForwardPlanAgreesWithItsOwnLayout) {
  shared_case s = make_shared();
  REQUIRE(s.layout != NULL);
  CHECK(stow_plan_check_layout(s.forward.plan, s.forward.graph, s.layout, NULL, NULL) == STOW_OK);
  free_shared(&s);
}

// The plan's own allocator serves this check.
static stow_status attempt_check_layout(stow_allocator allocator, void* user) {
  const shared_case* s = (const shared_case*)user;
  stow_plan_options options = plan_plain(STOW_PRESET_BACKWARD);
  options.layout = s->layout;
  stow_plan* plan = NULL;
  stow_diag diag;
  stow_diag_init(&diag);
  stow_status status = stow_plan_make(s->back.graph, NULL, &options, allocator, &diag, &plan);
  if (status == STOW_OK) {
    status = stow_plan_check_layout(plan, s->back.graph, s->layout, &diag, NULL);
  }
  CHECK(diag.status == status);
  stow_plan_destroy(plan);
  return status;
}

TEST(OutOfMemoryIsReportedForALayoutToo) {
  shared_case s = make_shared();
  REQUIRE(s.back.plan != NULL);
  CHECK(test_fault_sweep(attempt_check_layout, &s) > 20);
  free_shared(&s);
}

// ---------------------------------------------------------------------------------------------
// Facts

TEST(WrongPeakIsCaught) {
  plan_case c = check_make(check_mlp, STOW_PRESET_DEFAULT);
  REQUIRE(c.plan != NULL);
  for (uint32_t step = 0; step <= c.plan->step_count; ++step) {
    uint32_t right = c.plan->peak_step;
    c.plan->peak_step = step;
    CHECK_FAULT(check_plan(&c), step == right ? STOW_FAULT_NONE : STOW_FAULT_FACT);
    c.plan->peak_step = right;
  }
  c.plan->peak_step = 5;
  stow_violation violation = check_plan(&c);
  CHECK_U64(violation.step, 3);
  CHECK_TEXT(c.diag.message,
             "the plan's peak step is 5, but the load is first highest at step 3, with 4096 bytes");
  plan_free(&c);
}

TEST(WrongLowerBoundIsCaught) {
  plan_case c = check_make(check_mlp, STOW_PRESET_DEFAULT);
  REQUIRE(c.plan != NULL);
  static const uint64_t wrong[] = {0, 4095, 4097, UINT64_MAX};
  for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); ++i) {
    c.plan->lower_bound = wrong[i];
    CHECK_FAULT(check_plan(&c), STOW_FAULT_FACT);
  }
  CHECK_HAS(c.diag.message,
            "the plan states a lower bound of 18446744073709551615 bytes, but it is 4096");
  plan_free(&c);
}

TEST(LifetimesOfValuesWithoutASlotAreChecked) {
  stow_plan_options options = plan_plain(STOW_PRESET_DEFAULT);
  options.params = false;
  plan_case c = plan_make(check_mlp, &options);
  REQUIRE(c.plan != NULL && !plan_has_slot(c.plan, 1));
  CHECK_FAULT(check_plan(&c), STOW_FAULT_NONE);
  c.plan->values[1].end = 2;
  CHECK_FAULT(check_plan(&c), STOW_FAULT_REUSED_TOO_EARLY);
  c.plan->values[1].end = 7;
  c.plan->values[1].begin = 1;
  CHECK_FAULT(check_plan(&c), STOW_FAULT_BORN_TOO_LATE);
  plan_free(&c);
}

// Padding counts, and a strategy that packs params does not make the bound any higher.
TEST(LowerBoundHoldsWithPackedParams) {
  stow_plan_options options = plan_plain(STOW_PRESET_DEFAULT);
  const char* text =
      "graph @g {\n"
      "  %0 = param \"a\" : u8[129]\n"
      "  %1 = param \"b\" : u8[100]\n"
      "  %2 = constant \"c\" : u8[1]\n"
      "  return %2\n"
      "}\n";
  plan_case c = plan_make(text, &options);
  options.pack_params = true;
  plan_case packed = plan_make(text, &options);
  REQUIRE(c.plan != NULL && packed.plan != NULL);
  CHECK_FAULT(check_plan(&c), STOW_FAULT_NONE);
  CHECK_FAULT(check_plan(&packed), STOW_FAULT_NONE);
  CHECK_U64(stow_plan_lower_bound(c.plan), 192 + 128 + 64 - 63);
  CHECK_U64(stow_plan_lower_bound(packed.plan), stow_plan_lower_bound(c.plan));
  plan_free(&packed);
  plan_free(&c);
}
