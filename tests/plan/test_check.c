// The plan checker, fault by fault: a correct plan is damaged in one place, and the checker must
// name the damage, the values and the step.
#include <stdlib.h>
#include <stowage/plan.h>
#include <string.h>

#include "plan/api.h"
#include "plan/check_support.h"
#include "plan/plan_internal.h"
#include "plan/plan_support.h"
#include "support/test.h"

TEST(EveryFaultHasAText) {
  for (int fault = 0; fault < STOW_FAULT_COUNT; ++fault) {
    CHECK(strlen(stow_fault_text((stow_fault)fault)) > 3);
  }
  CHECK_TEXT(stow_fault_text(STOW_FAULT_COUNT), "?");
}

TEST(CorrectPlansOfEveryPresetPass) {
  for (int preset = 0; preset < STOW_PRESET_COUNT; ++preset) {
    plan_case c = check_make(check_mlp, (stow_preset)preset);
    plan_free(&c);
  }
}

TEST(ViolationAndDiagnosticMayBeNull) {
  plan_case c = check_make(check_mlp, STOW_PRESET_DEFAULT);
  REQUIRE(c.plan != NULL);
  CHECK(stow_plan_check(c.plan, c.graph, NULL, stow_allocator_default(), NULL, NULL) == STOW_OK);
  c.plan->arena_size += 1;
  CHECK(stow_plan_check(c.plan, c.graph, NULL, stow_allocator_default(), NULL, NULL) ==
        STOW_ERR_VIOLATION);
  plan_free(&c);
}

// ---------------------------------------------------------------------------------------------

TEST(PlanOfAnotherGraphIsStale) {
  plan_case c = check_make(check_mlp, STOW_PRESET_DEFAULT);
  plan_case other =
      check_make("graph @g {\n  %0 = input \"x\" : f32[1]\n  return %0\n}\n", STOW_PRESET_DEFAULT);
  REQUIRE(c.plan != NULL && other.plan != NULL);
  stow_violation violation = {.struct_size = sizeof(violation)};
  CHECK(stow_plan_check(c.plan, other.graph, NULL, stow_allocator_default(), &c.diag, &violation) ==
        STOW_ERR_VIOLATION);
  CHECK_FAULT(violation, STOW_FAULT_STALE);
  CHECK_HAS(c.diag.message, "fingerprint");
  other.plan->fingerprint = c.plan->fingerprint;
  CHECK(stow_plan_check(other.plan, c.graph, NULL, stow_allocator_default(), &c.diag, &violation) ==
        STOW_ERR_VIOLATION);
  CHECK_FAULT(violation, STOW_FAULT_STALE);
  CHECK_HAS(c.diag.message, "the plan has 1 values, but the graph has 6");
  plan_free(&c);
  plan_free(&other);
}

TEST(EffectsOfAnotherGraphAreRefused) {
  plan_case c = check_make(check_mlp, STOW_PRESET_DEFAULT);
  plan_case same = check_make(check_mlp, STOW_PRESET_DEFAULT);
  plan_case larger = check_make(
      "graph @g {\n"
      "  %0 = input \"x\" : f32[1]\n"
      "  %1, %2, %3, %4, %5, %6 = custom(%0) {name = \"f\"} : f32[1], f32[1], f32[1], f32[1], "
      "f32[1], f32[1]\n"
      "  %7 = relu(%6) : f32[1]\n  %8 = relu(%7) : f32[1]\n  %9 = relu(%8) : f32[1]\n"
      "  %10 = relu(%9) : f32[1]\n  %11 = relu(%10) : f32[1]\n"
      "  %12 = relu(%11) : f32[1] with {hold = [0, 13]}\n  %13 = relu(%12) : f32[1]\n"
      "  return %13\n}\n",
      STOW_PRESET_DEFAULT);
  REQUIRE(c.plan != NULL && same.plan != NULL && larger.plan != NULL);
  const stow_effects* others[] = {same.effects, larger.effects};
  for (size_t i = 0; i < 2; ++i) {
    stow_violation violation = {.struct_size = sizeof(violation)};
    CHECK(stow_plan_check(c.plan, c.graph, others[i], stow_allocator_default(), &c.diag,
                          &violation) == STOW_ERR_INVALID_ARGUMENT);
    CHECK_HAS(c.diag.message,
              "the effects were made for another graph, or the graph has grown since");
    CHECK_FAULT(violation, STOW_FAULT_NONE);
  }
  plan_free(&c);
  plan_free(&same);
  plan_free(&larger);
}

TEST(NodeBeforeItsOperandIsCaught) {
  plan_case c = check_make(check_mlp, STOW_PRESET_DEFAULT);
  REQUIRE(c.plan != NULL);
  c.plan->order[2] = 3;
  c.plan->order[3] = 2;
  stow_violation violation = check_plan(&c);
  CHECK_FAULT(violation, STOW_FAULT_SCHEDULE);
  CHECK_U64(violation.first, 2);
  CHECK_U64(violation.step, 2);
  CHECK_TEXT(c.diag.message, "%3 (relu) reads %2 \"h\" at step 2, but it is made at step 3");
  plan_free(&c);
}

TEST(OrderThatIsNotAPermutationIsCaught) {
  plan_case c = check_make(check_mlp, STOW_PRESET_DEFAULT);
  REQUIRE(c.plan != NULL);
  c.plan->order[5] = 4;
  stow_violation violation = check_plan(&c);
  CHECK_FAULT(violation, STOW_FAULT_SCHEDULE);
  CHECK_U64(violation.first, 4);
  CHECK_U64(c.diag.node, 4);
  CHECK_TEXT(c.diag.message, "%4 (narrow) runs at step 5 for the second time");
  c.plan->order[5] = 6;
  CHECK_FAULT(check_plan(&c), STOW_FAULT_SCHEDULE);
  CHECK_TEXT(c.diag.message, "step 5 runs node 6, out of range (6 nodes)");
  c.plan->order[5] = 5;
  c.plan->step_count = 5;
  CHECK_FAULT(check_plan(&c), STOW_FAULT_SCHEDULE);
  CHECK_TEXT(c.diag.message, "the plan has 5 steps, but the graph has 6 nodes");
  c.plan->step_count = 6;
  plan_free(&c);
}

TEST(OverlapNamesBothPartiesAndTheFirstCommonStep) {
  plan_case c = check_make(check_mlp, STOW_PRESET_DEFAULT);
  REQUIRE(c.plan != NULL);
  c.plan->values[3].offset = c.plan->values[2].offset;
  c.plan->values[4].offset = c.plan->values[3].offset + 256;
  stow_violation violation = check_plan(&c);
  CHECK_FAULT(violation, STOW_FAULT_OVERLAP);
  CHECK_U64(violation.first, 2);
  CHECK_U64(violation.second, 3);
  CHECK_U64(violation.step, 3);
  CHECK_HAS(c.diag.message, "%2 \"h\" [");
  CHECK_HAS(c.diag.message, ") and %3 [");
  CHECK_HAS(c.diag.message, "overlap and are both live at step 3");
  CHECK_U64(c.diag.value, 2);
  plan_free(&c);
}

TEST(GuardsBelongToNoValue) {
  plan_case c = check_make(check_mlp, STOW_PRESET_RLX);
  REQUIRE(c.plan != NULL);
  // Right after the input, in its guard; everything lives to the end in this preset.
  c.plan->values[2].offset = c.plan->values[0].offset + 1024;
  CHECK_FAULT(check_plan(&c), STOW_FAULT_OVERLAP);
  plan_free(&c);
}

TEST(WithoutReuseNothingMayShareBytes) {
  stow_plan_options options = plan_plain(STOW_PRESET_DEFAULT);
  plan_case c = check_make(check_mlp, STOW_PRESET_DEFAULT);
  REQUIRE(c.plan != NULL);
  CHECK(options.reuse);
  CHECK_U64(c.plan->values[5].offset, c.plan->values[2].offset);
  c.plan->facts.reuse = false;
  stow_violation violation = check_plan(&c);
  CHECK_FAULT(violation, STOW_FAULT_OVERLAP);
  CHECK_HAS(c.diag.message, "in a plan without reuse");
  plan_free(&c);
}

TEST(LifetimeThatEndsBeforeTheLastReadIsCaught) {
  plan_case c = check_make(check_mlp, STOW_PRESET_DEFAULT);
  REQUIRE(c.plan != NULL);
  c.plan->values[2].end = 3;
  stow_violation violation = check_plan(&c);
  CHECK_FAULT(violation, STOW_FAULT_REUSED_TOO_EARLY);
  CHECK_U64(violation.first, 2);
  CHECK_U64(violation.step, 3);
  CHECK_TEXT(c.diag.message,
             "%2 \"h\" is read at step 3 by %3 (relu), but it is live over steps [2, 3)");
  plan_free(&c);
}

TEST(OutputsAreReadByTheCaller) {
  plan_case c = check_make(check_mlp, STOW_PRESET_DEFAULT);
  REQUIRE(c.plan != NULL);
  c.plan->values[5].end = 6;
  stow_violation violation = check_plan(&c);
  CHECK_FAULT(violation, STOW_FAULT_REUSED_TOO_EARLY);
  CHECK_U64(violation.step, 6);
  CHECK_TEXT(c.diag.message,
             "%5 is read at step 6 by the caller, but it is live over steps [5, 6)");
  plan_free(&c);
}

TEST(BoundaryValuesLiveOverTheWholeRun) {
  plan_case c = check_make(check_mlp, STOW_PRESET_DEFAULT);
  REQUIRE(c.plan != NULL);
  c.plan->values[0].end = 3;
  CHECK_FAULT(check_plan(&c), STOW_FAULT_REUSED_TOO_EARLY);
  CHECK_TEXT(c.diag.message,
             "%0 \"x\" must be live over the whole run, [0, 7), but is given steps [0, 3)");
  c.plan->facts.io = STOW_IO_CONSUME;
  c.plan->peak_step = 2;
  c.plan->lower_bound = 3072;
  CHECK_FAULT(check_plan(&c), STOW_FAULT_NONE);
  c.plan->values[0].end = 2;
  CHECK_FAULT(check_plan(&c), STOW_FAULT_REUSED_TOO_EARLY);
  c.plan->values[0].end = 3;
  c.plan->values[1].end = 3;  // only inputs are consumed
  CHECK_FAULT(check_plan(&c), STOW_FAULT_REUSED_TOO_EARLY);
  plan_free(&c);
}

TEST(WriteBeforeBirthIsCaught) {
  plan_case c = check_make(check_mlp, STOW_PRESET_DEFAULT);
  REQUIRE(c.plan != NULL);
  c.plan->values[2].begin = 3;
  stow_violation violation = check_plan(&c);
  CHECK_FAULT(violation, STOW_FAULT_BORN_TOO_LATE);
  CHECK_TEXT(c.diag.message,
             "%2 \"h\" is written at step 2 by %2 (matmul), but it is live over steps [3, 4)");
  c.plan->values[2].begin = 2;
  c.plan->values[4].begin = 2;
  CHECK_FAULT(check_plan(&c), STOW_FAULT_BORN_TOO_LATE);
  CHECK_TEXT(c.diag.message, "%3 is live over steps [3, 6), but its view %4 \"half\" over [2, 6)");
  plan_free(&c);
}

TEST(MisalignedOffsetIsCaught) {
  plan_case c = check_make(check_mlp, STOW_PRESET_DEFAULT);
  REQUIRE(c.plan != NULL);
  c.plan->values[2].offset += 8;
  CHECK_FAULT(check_plan(&c), STOW_FAULT_MISALIGNED);
  CHECK_HAS(c.diag.message,
            "%2 \"h\" is at offset 2056, which is not a multiple of its own alignment 64");
  c.plan->values[2].alignment_log2 = 3;
  CHECK_FAULT(check_plan(&c), STOW_FAULT_MISALIGNED);
  CHECK_HAS(c.diag.message,
            "%2 \"h\" is at offset 2056, which is not a multiple of its needed alignment 64");
  plan_free(&c);
}

TEST(DeclaredAlignmentAndPlaceAreKept) {
  static const char text[] =
      "graph @g {\n"
      "  %0 = input \"x\" : f32[64]\n"
      "  %1 = relu(%0) : f32[64] with {align = 1024}\n"
      "  %2 = exp(%1) : f32[64] with {at = 4096}\n"
      "  return %2\n"
      "}\n";
  plan_case c = check_make(text, STOW_PRESET_DEFAULT);
  REQUIRE(c.plan != NULL);
  CHECK_U64(c.plan->values[2].offset, 4096);
  c.plan->values[2].offset = 8192;
  c.plan->arena_size = 8192 + 256;
  CHECK_FAULT(check_plan(&c), STOW_FAULT_MOVED);
  CHECK_TEXT(c.diag.message, "%2 is at offset 8192, but is fixed at 4096");
  c.plan->values[2].offset = 4096;
  c.plan->arena_size = 4096 + 256;
  c.plan->arena_alignment = 512;
  CHECK_FAULT(check_plan(&c), STOW_FAULT_MISALIGNED);
  CHECK_HAS(c.diag.message, "needs an alignment of 1024, but the arena has only 512");
  plan_free(&c);
}

TEST(SmallGuardIsCaught) {
  plan_case c = check_make(check_mlp, STOW_PRESET_RLX);
  REQUIRE(c.plan != NULL);
  c.plan->values[1].guard = 127;
  stow_violation violation = check_plan(&c);
  CHECK_FAULT(violation, STOW_FAULT_GUARD);
  CHECK_U64(violation.first, 1);
  CHECK_TEXT(c.diag.message, "%1 \"w\" has a guard of 127 bytes, but needs 128");
  plan_free(&c);
}

TEST(FootprintAboveTheArenaIsCaught) {
  plan_case c = check_make(check_mlp, STOW_PRESET_DEFAULT);
  REQUIRE(c.plan != NULL);
  uint64_t size = c.plan->arena_size;
  c.plan->arena_size = size - 1;
  CHECK_FAULT(check_plan(&c), STOW_FAULT_OUTSIDE_ARENA);
  c.plan->arena_size = size + 1;
  CHECK_FAULT(check_plan(&c), STOW_FAULT_ARENA_SIZE);
  c.plan->arena_size = size;
  c.plan->values[2].offset = UINT64_MAX - 63;  // the end needs more than 64 bits
  CHECK_FAULT(check_plan(&c), STOW_FAULT_OUTSIDE_ARENA);
  plan_free(&c);
}

TEST(WrongSizeIsCaught) {
  plan_case c = check_make(check_mlp, STOW_PRESET_DEFAULT);
  REQUIRE(c.plan != NULL);
  c.plan->values[2].size = 1020;
  stow_violation violation = check_plan(&c);
  CHECK_FAULT(violation, STOW_FAULT_SIZE);
  CHECK_TEXT(c.diag.message, "%2 \"h\" has a slot of 1020 bytes, but needs 1024");
  plan_free(&c);
}

TEST(MissingSlotIsCaught) {
  plan_case c = check_make(check_mlp, STOW_PRESET_DEFAULT);
  REQUIRE(c.plan != NULL);
  static const stow_value values[] = {0, 1, 2, 4};
  for (size_t i = 0; i < 4; ++i) {
    stowi_plan_value saved = c.plan->values[values[i]];
    c.plan->values[values[i]].offset = STOW_OFFSET_NONE;
    c.plan->values[values[i]].size = 0;
    stow_violation violation = check_plan(&c);
    CHECK_FAULT(violation, STOW_FAULT_MISSING);
    CHECK_U64(violation.first, values[i]);
    c.plan->values[values[i]] = saved;
  }
  CHECK_HAS(c.diag.message,
            "%4 \"half\" needs 512 bytes, but has no slot: it is a view whose root has one");
  plan_free(&c);
}

TEST(EmptyBoundaryValueNeedsItsAddress) {
  static const char text[] =
      "graph @g {\n"
      "  %0 = input \"cache\" : f32[0, 8]\n"
      "  %1 = constant \"k\" : f32[4]\n"
      "  %2 = relu(%0) : f32[0, 8]\n"
      "  return %2, %1\n"
      "}\n";
  plan_case c = check_make(text, STOW_PRESET_RLX);
  REQUIRE(c.plan != NULL);
  CHECK_U64(c.plan->values[0].size, 64);
  CHECK(!plan_has_slot(c.plan, 2));
  c.plan->values[0].size = 32;
  CHECK_FAULT(check_plan(&c), STOW_FAULT_SIZE);
  c.plan->values[0].offset = STOW_OFFSET_NONE;
  c.plan->values[0].size = 0;
  CHECK_FAULT(check_plan(&c), STOW_FAULT_MISSING);
  plan_free(&c);
}

// ---------------------------------------------------------------------------------------------
// Effects

static const char with_scratch[] =
    "graph @g {\n"
    "  %0 = input \"x\" : f32[64]\n"
    "  %1 = relu(%0) : f32[64] with {scratch = [100, 32, 50, 128]}\n"
    "  %2 = exp(%1) : f32[64] with {scratch = [256, 64]}\n"
    "  return %2\n"
    "}\n";

TEST(ScratchIsCheckedLikeAValue) {
  plan_case c = check_make(with_scratch, STOW_PRESET_DEFAULT);
  REQUIRE(c.plan != NULL && c.plan->scratch_count == 3);
  stowi_plan_scratch saved = c.plan->scratch[1];
  c.plan->scratch[1].size = 49;
  stow_violation violation = check_plan(&c);
  CHECK_FAULT(violation, STOW_FAULT_SIZE);
  CHECK_U64(violation.first, STOW_VALUE_NONE);
  CHECK_U64(violation.first_scratch, 1);
  CHECK_TEXT(c.diag.message, "scratch of %1 (relu) at step 1: bytes 49, expected 50");
  c.plan->scratch[1] = saved;
  c.plan->scratch[1].alignment = 64;
  CHECK_FAULT(check_plan(&c), STOW_FAULT_MISALIGNED);
  c.plan->scratch[1] = saved;
  c.plan->scratch[1].offset += 64;
  CHECK_FAULT(check_plan(&c), STOW_FAULT_MISALIGNED);
  c.plan->scratch[1] = saved;
  c.plan->scratch[1].offset = c.plan->arena_size / 128 * 128 + 128;
  CHECK_FAULT(check_plan(&c), STOW_FAULT_OUTSIDE_ARENA);
  c.plan->scratch[1] = saved;
  c.plan->scratch[1].node = 2;
  CHECK_FAULT(check_plan(&c), STOW_FAULT_MISSING);
  c.plan->scratch[1] = saved;
  c.plan->scratch_count = 2;
  CHECK_FAULT(check_plan(&c), STOW_FAULT_MISSING);
  CHECK_TEXT(c.diag.message, "the plan lists 2 pieces of scratch, but the effects list 3");
  c.plan->scratch_count = 3;
  plan_free(&c);
}

TEST(ScratchInAnOperandIsAnOverlap) {
  plan_case c = check_make(with_scratch, STOW_PRESET_DEFAULT);
  REQUIRE(c.plan != NULL);
  c.plan->scratch[2].offset = c.plan->values[1].offset;
  stow_violation violation = check_plan(&c);
  CHECK_FAULT(violation, STOW_FAULT_OVERLAP);
  CHECK_U64(violation.first, 1);
  CHECK_U64(violation.second, STOW_VALUE_NONE);
  CHECK_U64(violation.second_scratch, 2);
  CHECK_U64(violation.step, 2);
  CHECK_HAS(c.diag.message, "and scratch of %2 (exp) [");
  plan_free(&c);
}

TEST(HeldOperandsAndEarlyWritesLiveLonger) {
  static const char text[] =
      "graph @g {\n"
      "  %0 = input \"x\" : f32[64]\n"
      "  %1 = relu(%0) : f32[64]\n"
      "  %2 = exp(%1) : f32[64] with {hold = [0, 4]}\n"
      "  %3 = neg(%2) : f32[64]\n"
      "  %4 = abs(%3) : f32[64] with {early = [0, 2]}\n"
      "  return %4\n"
      "}\n";
  plan_case c = check_make(text, STOW_PRESET_DEFAULT);
  REQUIRE(c.plan != NULL);
  c.plan->values[1].end = 4;
  stow_violation violation = check_plan(&c);
  CHECK_FAULT(violation, STOW_FAULT_REUSED_TOO_EARLY);
  CHECK_U64(violation.step, 4);
  c.plan->values[1].end = 5;
  c.plan->values[4].begin = 3;
  violation = check_plan(&c);
  CHECK_FAULT(violation, STOW_FAULT_BORN_TOO_LATE);
  CHECK_U64(violation.step, 2);
  plan_free(&c);
}

TEST(EffectsConstrainTheOrder) {
  static const char text[] =
      "graph @g {\n"
      "  %0 = input \"x\" : f32[64]\n"
      "  %1 = relu(%0) : f32[64] with {hold = [0, 2]}\n"
      "  %2 = exp(%0) : f32[64]\n"
      "  %3 = neg(%0) : f32[64]\n"
      "  %4 = abs(%0) : f32[64] with {early = [0, 3]}\n"
      "  return %1, %2, %3, %4\n"
      "}\n";
  plan_case c = check_make(text, STOW_PRESET_DEFAULT);
  REQUIRE(c.plan != NULL);
  c.plan->order[1] = 2;
  c.plan->order[2] = 1;
  CHECK_FAULT(check_plan(&c), STOW_FAULT_SCHEDULE);
  CHECK_HAS(c.diag.message, "%1 (relu) runs at step 2 after the node until which it holds");
  c.plan->order[1] = 1;
  c.plan->order[2] = 2;
  c.plan->order[3] = 4;
  c.plan->order[4] = 3;
  CHECK_FAULT(check_plan(&c), STOW_FAULT_SCHEDULE);
  CHECK_HAS(c.diag.message,
            "%4 (abs) runs at step 3 before the node from which on its result is written");
  plan_free(&c);
}

// ---------------------------------------------------------------------------------------------
// By way of the saved text

static void check_text(const plan_case* c, const char* from, const char* to, stow_fault fault) {
  stow_plan* plan = NULL;
  stow_diag diag;
  stow_violation violation = {.struct_size = sizeof(violation)};
  stow_diag_init(&diag);
  char* text = plan_text(c->plan, stowi_plan_write_saved);
  char* damaged = plan_replace(text, from, to);
  stow_status status = stow_plan_read(damaged, strlen(damaged), NULL, c->graph,
                                      stow_allocator_default(), &diag, &plan);
  if (test_check(status == STOW_OK, __FILE__, __LINE__, "%s", diag.message)) {
    stow_plan_check(plan, c->graph, c->effects, stow_allocator_default(), &diag, &violation);
    CHECK_FAULT(violation, fault);
  }
  stow_plan_destroy(plan);
  free(damaged);
  free(text);
}

TEST(DamagedPlansAreReadButFailTheCheck) {
  plan_case c = check_make(check_mlp, STOW_PRESET_RLX);
  REQUIRE(c.plan != NULL);
  check_text(&c, "# life.2=2,", "# life.2=3,", STOW_FAULT_BORN_TOO_LATE);
  check_text(&c, "# life.5=5,7", "# life.5=5,6", STOW_FAULT_REUSED_TOO_EARLY);
  check_text(&c, "# view.4=%3", "# view.4=%2", STOW_FAULT_VIEW_MOVED);
  check_text(&c, "# guard.0=128", "# guard.0=64", STOW_FAULT_GUARD);
  check_text(&c, "# f32_uniform=no", "# f32_uniform=yes", STOW_FAULT_NONE);
  check_text(&c, "# tail_guard=128", "# tail_guard=256", STOW_FAULT_GUARD);
  check_text(&c, "# peak_step=5", "# peak_step=4", STOW_FAULT_FACT);
  check_text(&c, "# lower_bound=", "# lower_bound=1", STOW_FAULT_FACT);
  plan_free(&c);
}
