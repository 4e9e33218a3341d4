// The plan checker, fault by fault: a right plan is damaged in one place, and the checker must name
// the damage, the values and the step.
#include <stdio.h>
#include <stdlib.h>
#include <stowage/plan.h>
#include <string.h>

#include "plan/plan_internal.h"
#include "plan/plan_support.h"
#include "support/fault.h"
#include "support/test.h"

static stow_violation check(plan_case* c) {
  stow_violation violation;
  stow_status status = stow_plan_check(c->plan, c->graph, c->effects, stow_allocator_default(),
                                       &c->diag, &violation);
  CHECK(status == (violation.fault == STOW_FAULT_NONE ? STOW_OK : STOW_ERR_VIOLATION));
  return violation;
}

static plan_case make(const char* text, stow_preset preset) {
  stow_plan_options options = plan_options(preset);
  plan_case c = plan_make(text, &options);
  if (c.plan != NULL) {
    stow_violation violation = check(&c);
    test_check(violation.fault == STOW_FAULT_NONE, __FILE__, __LINE__, "%s", c.diag.message);
  }
  return c;
}

#define CHECK_FAULT(violation, kind) \
  CHECK_TEXT(stow_fault_text((violation).fault), stow_fault_text(kind))

// Steps are ids here. %2 and %3 are 1,024 bytes each, %4 is half of %3.
static const char mlp[] =
    "graph @mlp {\n"
    "  %0 = input \"x\" : f32[16, 16]\n"
    "  %1 = param \"w\" : f32[16, 16]\n"
    "  %2 \"h\" = matmul(%0, %1) : f32[16, 16]\n"
    "  %3 = relu(%2) : f32[16, 16]\n"
    "  %4 \"half\" = narrow(%3) {axis = 0, start = 4, len = 8} : f32[8, 16]\n"
    "  %5 = exp(%4) : f32[8, 16]\n"
    "  return %5\n"
    "}\n";

TEST(EveryFaultHasAText) {
  for (int fault = 0; fault < STOW_FAULT_COUNT; ++fault) {
    CHECK(strlen(stow_fault_text((stow_fault)fault)) > 3);
  }
  CHECK_TEXT(stow_fault_text(STOW_FAULT_COUNT), "?");
}

TEST(RightPlansOfEveryPresetPass) {
  for (int preset = 0; preset < STOW_PRESET_COUNT; ++preset) {
    plan_case c = make(mlp, (stow_preset)preset);
    plan_free(&c);
  }
}

TEST(ViolationAndDiagnosticMayBeLeftOut) {
  plan_case c = make(mlp, STOW_PRESET_DEFAULT);
  REQUIRE(c.plan != NULL);
  CHECK(stow_plan_check(c.plan, c.graph, NULL, stow_allocator_default(), NULL, NULL) == STOW_OK);
  c.plan->arena_size += 1;
  CHECK(stow_plan_check(c.plan, c.graph, NULL, stow_allocator_default(), NULL, NULL) ==
        STOW_ERR_VIOLATION);
  plan_free(&c);
}

// ---------------------------------------------------------------------------------------------

TEST(PlanOfAnotherGraphIsStale) {
  plan_case c = make(mlp, STOW_PRESET_DEFAULT);
  plan_case other =
      make("graph @g {\n  %0 = input \"x\" : f32[1]\n  return %0\n}\n", STOW_PRESET_DEFAULT);
  REQUIRE(c.plan != NULL && other.plan != NULL);
  stow_violation violation;
  CHECK(stow_plan_check(c.plan, other.graph, NULL, stow_allocator_default(), &c.diag, &violation) ==
        STOW_ERR_VIOLATION);
  CHECK_FAULT(violation, STOW_FAULT_STALE);
  CHECK_HAS(c.diag.message, "fingerprint");
  other.plan->fingerprint = c.plan->fingerprint;
  CHECK(stow_plan_check(other.plan, c.graph, NULL, stow_allocator_default(), &c.diag, &violation) ==
        STOW_ERR_VIOLATION);
  CHECK_FAULT(violation, STOW_FAULT_STALE);
  CHECK_HAS(c.diag.message, "the plan has 1 values, the graph has 6");
  plan_free(&c);
  plan_free(&other);
}

TEST(EffectsOfAnotherGraphAreRefused) {
  plan_case c = make(mlp, STOW_PRESET_DEFAULT);
  plan_case same = make(mlp, STOW_PRESET_DEFAULT);
  plan_case larger = make(
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
    stow_violation violation;
    CHECK(stow_plan_check(c.plan, c.graph, others[i], stow_allocator_default(), &c.diag,
                          &violation) == STOW_ERR_INVALID_ARGUMENT);
    CHECK_HAS(c.diag.message, "the effects are of another graph");
    CHECK_FAULT(violation, STOW_FAULT_NONE);
  }
  plan_free(&c);
  plan_free(&same);
  plan_free(&larger);
}

TEST(NodeBeforeItsOperandIsCaught) {
  plan_case c = make(mlp, STOW_PRESET_DEFAULT);
  REQUIRE(c.plan != NULL);
  c.plan->order[2] = 3;
  c.plan->order[3] = 2;
  stow_violation violation = check(&c);
  CHECK_FAULT(violation, STOW_FAULT_SCHEDULE);
  CHECK_U64(violation.first, 2);
  CHECK_U64(violation.step, 2);
  CHECK_TEXT(c.diag.message, "%3 (relu) reads %2 \"h\" at step 2, which is made at step 3");
  plan_free(&c);
}

TEST(OrderThatIsNoPermutationIsCaught) {
  plan_case c = make(mlp, STOW_PRESET_DEFAULT);
  REQUIRE(c.plan != NULL);
  c.plan->order[5] = 4;
  CHECK_FAULT(check(&c), STOW_FAULT_SCHEDULE);
  CHECK_TEXT(c.diag.message, "%4 (narrow) runs at step 5 for the second time");
  c.plan->order[5] = 6;
  CHECK_FAULT(check(&c), STOW_FAULT_SCHEDULE);
  CHECK_TEXT(c.diag.message, "step 5 runs node 6, the graph has 6 nodes");
  c.plan->order[5] = 5;
  c.plan->step_count = 5;
  CHECK_FAULT(check(&c), STOW_FAULT_SCHEDULE);
  CHECK_TEXT(c.diag.message, "the plan has 5 steps, the graph has 6 nodes");
  c.plan->step_count = 6;
  plan_free(&c);
}

TEST(OverlapNamesBothPartiesAndTheFirstCommonStep) {
  plan_case c = make(mlp, STOW_PRESET_DEFAULT);
  REQUIRE(c.plan != NULL);
  c.plan->values[3].offset = c.plan->values[2].offset;
  c.plan->values[4].offset = c.plan->values[3].offset + 256;
  stow_violation violation = check(&c);
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

TEST(GuardsAreNobodysBytes) {
  plan_case c = make(mlp, STOW_PRESET_RLX);
  REQUIRE(c.plan != NULL);
  // Right behind the input, in its guard; everything lives to the end in this preset.
  c.plan->values[2].offset = c.plan->values[0].offset + 1024;
  CHECK_FAULT(check(&c), STOW_FAULT_OVERLAP);
  plan_free(&c);
}

TEST(WithoutReuseNothingMayShareBytes) {
  stow_plan_options options = plan_options(STOW_PRESET_DEFAULT);
  plan_case c = make(mlp, STOW_PRESET_DEFAULT);
  REQUIRE(c.plan != NULL);
  CHECK(options.reuse);
  CHECK_U64(c.plan->values[5].offset, c.plan->values[2].offset);
  c.plan->facts.reuse = false;
  stow_violation violation = check(&c);
  CHECK_FAULT(violation, STOW_FAULT_OVERLAP);
  CHECK_HAS(c.diag.message, "in a plan without reuse");
  plan_free(&c);
}

TEST(LifeThatEndsBeforeTheLastReadIsCaught) {
  plan_case c = make(mlp, STOW_PRESET_DEFAULT);
  REQUIRE(c.plan != NULL);
  c.plan->values[2].end = 3;
  stow_violation violation = check(&c);
  CHECK_FAULT(violation, STOW_FAULT_REUSED_TOO_EARLY);
  CHECK_U64(violation.first, 2);
  CHECK_U64(violation.step, 3);
  CHECK_TEXT(c.diag.message,
             "%2 \"h\" is read at step 3 by %3 (relu), but it lives over steps [2, 3)");
  plan_free(&c);
}

TEST(ReadsOfAViewAreReadsOfItsRoot) {
  plan_case c = make(mlp, STOW_PRESET_DEFAULT);
  REQUIRE(c.plan != NULL);
  c.plan->values[3].end = 5;  // %4 is read at step 5
  stow_violation violation = check(&c);
  CHECK_FAULT(violation, STOW_FAULT_REUSED_TOO_EARLY);
  CHECK_U64(violation.first, 3);
  CHECK_U64(violation.step, 5);
  plan_free(&c);
}

TEST(OutputsAreReadByTheCaller) {
  plan_case c = make(mlp, STOW_PRESET_DEFAULT);
  REQUIRE(c.plan != NULL);
  c.plan->values[5].end = 6;
  stow_violation violation = check(&c);
  CHECK_FAULT(violation, STOW_FAULT_REUSED_TOO_EARLY);
  CHECK_U64(violation.step, 6);
  CHECK_TEXT(c.diag.message, "%5 is read at step 6 by the caller, but it lives over steps [5, 6)");
  plan_free(&c);
}

TEST(BoundaryValuesLiveOverTheWholeRun) {
  plan_case c = make(mlp, STOW_PRESET_DEFAULT);
  REQUIRE(c.plan != NULL);
  c.plan->values[0].end = 3;
  CHECK_FAULT(check(&c), STOW_FAULT_REUSED_TOO_EARLY);
  CHECK_TEXT(c.diag.message,
             "%0 \"x\" must live over the whole run, [0, 7), and is given steps [0, 3)");
  c.plan->facts.io = STOW_IO_CONSUME;
  c.plan->peak_step = 2;
  c.plan->lower_bound = 3072;
  CHECK_FAULT(check(&c), STOW_FAULT_NONE);
  c.plan->values[0].end = 2;
  CHECK_FAULT(check(&c), STOW_FAULT_REUSED_TOO_EARLY);
  c.plan->values[0].end = 3;
  c.plan->values[1].end = 3;  // only inputs are consumed
  CHECK_FAULT(check(&c), STOW_FAULT_REUSED_TOO_EARLY);
  plan_free(&c);
}

TEST(WriteBeforeBirthIsCaught) {
  plan_case c = make(mlp, STOW_PRESET_DEFAULT);
  REQUIRE(c.plan != NULL);
  c.plan->values[2].begin = 3;
  stow_violation violation = check(&c);
  CHECK_FAULT(violation, STOW_FAULT_BORN_TOO_LATE);
  CHECK_TEXT(c.diag.message,
             "%2 \"h\" is written at step 2 by %2 (matmul), but it lives over steps [3, 4)");
  c.plan->values[2].begin = 2;
  c.plan->values[4].begin = 2;
  CHECK_FAULT(check(&c), STOW_FAULT_BORN_TOO_LATE);
  CHECK_TEXT(c.diag.message, "%3 lives over steps [3, 6), its view %4 \"half\" over [2, 6)");
  plan_free(&c);
}

TEST(ViewThatMovedIsCaught) {
  plan_case c = make(mlp, STOW_PRESET_DEFAULT);
  REQUIRE(c.plan != NULL);
  c.plan->values[4].offset += 64;
  stow_violation violation = check(&c);
  CHECK_FAULT(violation, STOW_FAULT_VIEW_MOVED);
  CHECK_U64(violation.first, 4);
  CHECK_U64(violation.second, 3);
  CHECK_HAS(c.diag.message, "and must lie 256 bytes into %3");
  plan_free(&c);
}

TEST(ViewOfSomethingElseIsCaught) {
  plan_case c = make(mlp, STOW_PRESET_DEFAULT);
  REQUIRE(c.plan != NULL);
  c.plan->values[4].root = 2;
  CHECK_FAULT(check(&c), STOW_FAULT_VIEW_MOVED);
  CHECK_TEXT(c.diag.message,
             "%4 \"half\" is claimed to be a view, but nothing puts it in %2 \"h\"");
  c.plan->values[4].root = 4;
  CHECK_FAULT(check(&c), STOW_FAULT_VIEW_MOVED);
  CHECK_HAS(c.diag.message, "must share an operand's bytes");
  c.plan->values[4].root = 60;
  CHECK_FAULT(check(&c), STOW_FAULT_VIEW_MOVED);
  CHECK_HAS(c.diag.message, "%60, which does not exist");
  c.plan->values[4].root = 3;
  c.plan->values[3].root = 2;
  CHECK_FAULT(check(&c), STOW_FAULT_VIEW_MOVED);
  plan_free(&c);
}

TEST(ViewOutsideItsRootIsCaught) {
  static const char text[] =
      "graph @g {\n"
      "  %0 = input \"x\" : f32[64]\n"
      "  %1 = relu(%0) : f32[64]\n"
      "  %2 = custom(%1) {name = \"cut\"} : f32[32] with {inside = [0, 0, 128]}\n"
      "  return %2\n"
      "}\n";
  plan_case c = make(text, STOW_PRESET_DEFAULT);
  REQUIRE(c.plan != NULL);
  CHECK_U64(c.plan->values[2].offset, c.plan->values[1].offset + 128);
  // A declared storage that hides the end of the root.
  CHECK(stow_effects_set_storage(c.effects, 1, 200, &c.diag) == STOW_OK);
  c.plan->values[1].size = 200;
  stow_violation violation = check(&c);
  CHECK_FAULT(violation, STOW_FAULT_VIEW_OUTSIDE);
  CHECK_TEXT(c.diag.message, "%2 is 128 bytes at 128 in %1, which has 200");
  c.plan->values[1].offset = STOW_OFFSET_NONE;
  c.plan->values[1].size = 0;
  CHECK_FAULT(check(&c), STOW_FAULT_VIEW_OUTSIDE);
  CHECK_TEXT(c.diag.message, "%2 has a slot and its root %1 has none");
  plan_free(&c);
}

TEST(MisalignedOffsetIsCaught) {
  plan_case c = make(mlp, STOW_PRESET_DEFAULT);
  REQUIRE(c.plan != NULL);
  c.plan->values[2].offset += 8;
  CHECK_FAULT(check(&c), STOW_FAULT_MISALIGNED);
  CHECK_HAS(c.diag.message, "no multiple of its own alignment 64");
  c.plan->values[2].alignment_log2 = 3;
  CHECK_FAULT(check(&c), STOW_FAULT_MISALIGNED);
  CHECK_HAS(c.diag.message, "no multiple of its needed alignment 64");
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
  plan_case c = make(text, STOW_PRESET_DEFAULT);
  REQUIRE(c.plan != NULL);
  CHECK_U64(c.plan->values[2].offset, 4096);
  c.plan->values[2].offset = 8192;
  c.plan->arena_size = 8192 + 256;
  CHECK_FAULT(check(&c), STOW_FAULT_MOVED);
  CHECK_TEXT(c.diag.message, "%2 lies at offset 8192 and is fixed at 4096");
  c.plan->values[2].offset = 4096;
  c.plan->arena_size = 4096 + 256;
  c.plan->arena_alignment = 512;
  CHECK_FAULT(check(&c), STOW_FAULT_MISALIGNED);
  CHECK_HAS(c.diag.message, "needs an alignment of 1024, the arena has only 512");
  plan_free(&c);
}

TEST(SmallGuardIsCaught) {
  plan_case c = make(mlp, STOW_PRESET_RLX);
  REQUIRE(c.plan != NULL);
  c.plan->values[1].guard = 127;
  stow_violation violation = check(&c);
  CHECK_FAULT(violation, STOW_FAULT_GUARD);
  CHECK_U64(violation.first, 1);
  CHECK_TEXT(c.diag.message, "%1 \"w\" has a guard of 127 bytes and needs 128");
  plan_free(&c);
}

TEST(FootprintAboveTheArenaIsCaught) {
  plan_case c = make(mlp, STOW_PRESET_DEFAULT);
  REQUIRE(c.plan != NULL);
  uint64_t size = c.plan->arena_size;
  c.plan->arena_size = size - 1;
  CHECK_FAULT(check(&c), STOW_FAULT_OUTSIDE_ARENA);
  c.plan->arena_size = size + 1;
  CHECK_FAULT(check(&c), STOW_FAULT_ARENA_SIZE);
  c.plan->arena_size = size;
  c.plan->values[2].offset = UINT64_MAX - 63;  // the end needs more than 64 bits
  CHECK_FAULT(check(&c), STOW_FAULT_OUTSIDE_ARENA);
  plan_free(&c);
}

TEST(WrongSizeIsCaught) {
  plan_case c = make(mlp, STOW_PRESET_DEFAULT);
  REQUIRE(c.plan != NULL);
  c.plan->values[2].size = 1020;
  stow_violation violation = check(&c);
  CHECK_FAULT(violation, STOW_FAULT_SIZE);
  CHECK_TEXT(c.diag.message, "%2 \"h\" has a slot of 1020 bytes and needs 1024");
  plan_free(&c);
}

TEST(MissingSlotIsCaught) {
  plan_case c = make(mlp, STOW_PRESET_DEFAULT);
  REQUIRE(c.plan != NULL);
  static const stow_value values[] = {0, 1, 2, 4};
  for (size_t i = 0; i < 4; ++i) {
    stowi_plan_value saved = c.plan->values[values[i]];
    c.plan->values[values[i]].offset = STOW_OFFSET_NONE;
    c.plan->values[values[i]].size = 0;
    stow_violation violation = check(&c);
    CHECK_FAULT(violation, STOW_FAULT_MISSING);
    CHECK_U64(violation.first, values[i]);
    c.plan->values[values[i]] = saved;
  }
  CHECK_HAS(c.diag.message, "%4 \"half\" needs 512 bytes and has no slot");
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
  plan_case c = make(text, STOW_PRESET_RLX);
  REQUIRE(c.plan != NULL);
  CHECK_U64(c.plan->values[0].size, 64);
  CHECK(!plan_has_slot(c.plan, 2));
  c.plan->values[0].size = 32;
  CHECK_FAULT(check(&c), STOW_FAULT_SIZE);
  c.plan->values[0].offset = STOW_OFFSET_NONE;
  c.plan->values[0].size = 0;
  CHECK_FAULT(check(&c), STOW_FAULT_MISSING);
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
  plan_case c = make(with_scratch, STOW_PRESET_DEFAULT);
  REQUIRE(c.plan != NULL && c.plan->scratch_count == 3);
  stowi_plan_scratch saved = c.plan->scratch[1];
  c.plan->scratch[1].size = 49;
  stow_violation violation = check(&c);
  CHECK_FAULT(violation, STOW_FAULT_SIZE);
  CHECK_U64(violation.first, STOW_VALUE_NONE);
  CHECK_U64(violation.first_scratch, 1);
  CHECK_TEXT(c.diag.message, "scratch of %1 (relu) at step 1: bytes 49, needed 50");
  c.plan->scratch[1] = saved;
  c.plan->scratch[1].alignment = 64;
  CHECK_FAULT(check(&c), STOW_FAULT_MISALIGNED);
  c.plan->scratch[1] = saved;
  c.plan->scratch[1].offset += 64;
  CHECK_FAULT(check(&c), STOW_FAULT_MISALIGNED);
  c.plan->scratch[1] = saved;
  c.plan->scratch[1].offset = c.plan->arena_size / 128 * 128 + 128;
  CHECK_FAULT(check(&c), STOW_FAULT_OUTSIDE_ARENA);
  c.plan->scratch[1] = saved;
  c.plan->scratch[1].node = 2;
  CHECK_FAULT(check(&c), STOW_FAULT_MISSING);
  c.plan->scratch[1] = saved;
  c.plan->scratch_count = 2;
  CHECK_FAULT(check(&c), STOW_FAULT_MISSING);
  CHECK_TEXT(c.diag.message, "the plan lists 2 pieces of scratch, the effects 3");
  c.plan->scratch_count = 3;
  plan_free(&c);
}

TEST(ScratchOverAnOperandIsAnOverlap) {
  plan_case c = make(with_scratch, STOW_PRESET_DEFAULT);
  REQUIRE(c.plan != NULL);
  c.plan->scratch[2].offset = c.plan->values[1].offset;
  stow_violation violation = check(&c);
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
  plan_case c = make(text, STOW_PRESET_DEFAULT);
  REQUIRE(c.plan != NULL);
  c.plan->values[1].end = 4;
  stow_violation violation = check(&c);
  CHECK_FAULT(violation, STOW_FAULT_REUSED_TOO_EARLY);
  CHECK_U64(violation.step, 4);
  c.plan->values[1].end = 5;
  c.plan->values[4].begin = 3;
  violation = check(&c);
  CHECK_FAULT(violation, STOW_FAULT_BORN_TOO_LATE);
  CHECK_U64(violation.step, 2);
  plan_free(&c);
}

TEST(EffectsOrderNodesToo) {
  static const char text[] =
      "graph @g {\n"
      "  %0 = input \"x\" : f32[64]\n"
      "  %1 = relu(%0) : f32[64] with {hold = [0, 2]}\n"
      "  %2 = exp(%0) : f32[64]\n"
      "  %3 = neg(%0) : f32[64]\n"
      "  %4 = abs(%0) : f32[64] with {early = [0, 3]}\n"
      "  return %1, %2, %3, %4\n"
      "}\n";
  plan_case c = make(text, STOW_PRESET_DEFAULT);
  REQUIRE(c.plan != NULL);
  c.plan->order[1] = 2;
  c.plan->order[2] = 1;
  CHECK_FAULT(check(&c), STOW_FAULT_SCHEDULE);
  CHECK_HAS(c.diag.message, "%1 (relu) runs at step 2 after the node until which it holds");
  c.plan->order[1] = 1;
  c.plan->order[2] = 2;
  c.plan->order[3] = 4;
  c.plan->order[4] = 3;
  CHECK_FAULT(check(&c), STOW_FAULT_SCHEDULE);
  CHECK_HAS(c.diag.message, "%4 (abs) runs at step 3 before the node from which on a result");
  plan_free(&c);
}

static const char overwriting[] =
    "graph @g {\n"
    "  %0 = input \"x\" : f32[64]\n"
    "  %1 = relu(%0) : f32[64]\n"
    "  %2 = exp(%1) : f32[64] with {overwrite = [0, 0]}\n"
    "  %3 = neg(%2) : f32[64]\n"
    "  return %3\n"
    "}\n";

TEST(SafeOverwriteIsAccepted) {
  plan_case c = make(overwriting, STOW_PRESET_DEFAULT);
  REQUIRE(c.plan != NULL);
  CHECK_U64(c.plan->values[2].root, 1);
  plan_free(&c);
}

// The same, where the operand is read again later; the plan is told to overwrite all the same.
TEST(OverwriteOfWhatIsStillReadIsCaught) {
  static const char text[] =
      "graph @g {\n"
      "  %0 = input \"x\" : f32[64]\n"
      "  %1 \"h\" = relu(%0) : f32[64]\n"
      "  %2 = exp(%1) : f32[64] with {overwrite = [0, 0]}\n"
      "  %3 = add(%2, %1) : f32[64]\n"
      "  return %3\n"
      "}\n";
  plan_case c = make(text, STOW_PRESET_DEFAULT);
  REQUIRE(c.plan != NULL);
  CHECK_U64(c.plan->values[2].root, 2);
  c.plan->values[2].root = 1;
  c.plan->values[2].offset = c.plan->values[1].offset;
  stow_violation violation = check(&c);
  CHECK_FAULT(violation, STOW_FAULT_REUSED_TOO_EARLY);
  CHECK_U64(violation.first, 1);
  CHECK_U64(violation.second, 2);
  CHECK_U64(violation.step, 3);
  CHECK_TEXT(c.diag.message,
             "%1 \"h\" is read at step 3 by %3 (add), but %2 is written into its bytes at step 2");
  plan_free(&c);
}

TEST(OverwriteOfABoundaryValueIsCaught) {
  static const char text[] =
      "graph @g {\n"
      "  %0 = input \"x\" : f32[64]\n"
      "  %1 = relu(%0) : f32[64] with {overwrite = [0, 0]}\n"
      "  return %1\n"
      "}\n";
  plan_case c = make(text, STOW_PRESET_DEFAULT);
  REQUIRE(c.plan != NULL);
  c.plan->values[1].root = 0;
  c.plan->values[1].offset = c.plan->values[0].offset;
  CHECK_FAULT(check(&c), STOW_FAULT_REUSED_TOO_EARLY);
  CHECK_TEXT(c.diag.message,
             "%1 is written over %0 \"x\" at step 1, which the next run must find untouched");
  plan_free(&c);
}

// |clause_1| and |clause_2| are of %1 and of %2, which the plan is told to write over %1.
static void check_laid_over(const char* clause_1, const char* type_2, const char* clause_2,
                            const char* message) {
  char text[512];
  snprintf(text, sizeof(text),
           "graph @g {\n"
           "  %%0 = input \"x\" : f32[64]\n"
           "  %%1 = relu(%%0) : f32[64]%s\n"
           "  %%2 = custom(%%1) {name = \"f\"} : %s with {overwrite = [0, 0]%s}\n"
           "  return %%2\n"
           "}\n",
           clause_1, type_2, clause_2);
  plan_case c = make(text, STOW_PRESET_DEFAULT);
  REQUIRE(c.plan != NULL);
  CHECK_U64(c.plan->values[2].root, 2);
  c.plan->values[2].root = 1;
  if (c.plan->values[2].size != 0) {
    c.plan->values[2].offset = c.plan->values[1].offset;
  }
  c.plan->values[1].end = c.plan->values[2].end;
  stow_violation violation = check(&c);
  CHECK_FAULT(violation, STOW_FAULT_VIEW_MOVED);
  CHECK_U64(violation.first, 2);
  CHECK_U64(violation.second, 1);
  CHECK_TEXT(c.diag.message, message);
  plan_free(&c);
}

TEST(OverwriteThatIsAllowedButNotPossibleIsCaught) {
  check_laid_over("", "f32[64]", ", own = true",
                  "%2 must have bytes of its own and is laid over %1");
  check_laid_over("", "f32[64]", ", io = \"external\"",
                  "%2 must have bytes of its own and is laid over %1");
  check_laid_over("", "f32[64]", ", state = true",
                  "%2 must have bytes of its own and is laid over %1");
  check_laid_over("", "f32[32]", "", "%2 has another size than what it is laid over, %1");
  check_laid_over("", "f32[64]", ", at = 4096", "%2 has a fixed offset and is laid over %1");
  check_laid_over(" with {at = 4096}", "f32[64]", "",
                  "%2 is laid over what has a fixed offset, %1");
}

TEST(OverwriteOfWhatHasNoSlotIsCaught) {
  static const char text[] =
      "graph @g {\n"
      "  %0 = input \"x\" : f32[64] with {io = \"consume\"}\n"
      "  %1 = relu(%0) : f32[64] with {overwrite = [0, 0]}\n"
      "  return %1\n"
      "}\n";
  stow_plan_options options = plan_options(STOW_PRESET_DEFAULT);
  options.inputs = false;
  plan_case c = plan_make(text, &options);
  REQUIRE(c.plan != NULL);
  c.plan->values[1].root = 0;
  c.plan->values[1].offset = STOW_OFFSET_NONE;
  c.plan->values[1].size = 0;
  stow_violation violation = check(&c);
  CHECK_FAULT(violation, STOW_FAULT_MISSING);
  CHECK_U64(violation.first, 1);
  CHECK_U64(violation.second, 0);
  CHECK_TEXT(c.diag.message,
             "%1 is computed and has no slot: it is written over %0 \"x\", which has none");
  plan_free(&c);
}

TEST(OverwriteWhileAnotherOperandReadsIsCaught) {
  static const char text[] =
      "graph @g {\n"
      "  %0 = input \"x\" : f32[64]\n"
      "  %1 = relu(%0) : f32[64]\n"
      "  %2 = reshape(%1) : f32[64]\n"
      "  %3 = mul(%1, %2) : f32[64] with {overwrite = [0, 0]}\n"
      "  return %3\n"
      "}\n";
  plan_case c = make(text, STOW_PRESET_DEFAULT);
  REQUIRE(c.plan != NULL);
  c.plan->values[3].root = 1;
  c.plan->values[3].offset = c.plan->values[1].offset;
  c.plan->values[1].end = 5;
  CHECK_FAULT(check(&c), STOW_FAULT_REUSED_TOO_EARLY);
  CHECK_HAS(c.diag.message, "while operand 1 still reads those bytes");
  plan_free(&c);
}

TEST(TwoResultsOverOneOperandAreCaught) {
  static const char text[] =
      "graph @g {\n"
      "  %0 = input \"x\" : f32[64]\n"
      "  %1 = relu(%0) : f32[64]\n"
      "  %2, %3 = custom(%1) {name = \"two\"} : f32[64], f32[64] with {overwrite = [0, 0, 1, 0]}\n"
      "  return %2, %3\n"
      "}\n";
  plan_case c = make(text, STOW_PRESET_DEFAULT);
  REQUIRE(c.plan != NULL);
  for (stow_value value = 2; value <= 3; ++value) {
    c.plan->values[value].root = 1;
    c.plan->values[value].offset = c.plan->values[1].offset;
  }
  stow_violation violation = check(&c);
  CHECK_FAULT(violation, STOW_FAULT_OVERLAP);
  CHECK_TEXT(c.diag.message, "%2 and %3 are both written into %1 at step 2");
  plan_free(&c);
}

// ---------------------------------------------------------------------------------------------
// Caches and regions

TEST(ReaderAfterAnAppendIsAScheduleFault) {
  static const char text[] =
      "graph @g {\n"
      "  %0 = input \"cache\" : f32[4, 8]\n"
      "  %1 = input \"new\" : f32[1, 8]\n"
      "  %2 = relu(%0) : f32[4, 8]\n"
      "  %3 = kv_append(%0, %1) {axis = 0} : f32[4, 8]\n"
      "  return %2, %3\n"
      "}\n";
  plan_case c = make(text, STOW_PRESET_DEFAULT);
  REQUIRE(c.plan != NULL);
  c.plan->order[2] = 3;
  c.plan->order[3] = 2;
  stow_violation violation = check(&c);
  CHECK_FAULT(violation, STOW_FAULT_SCHEDULE);
  CHECK_U64(violation.first, 0);
  CHECK_U64(violation.second, 3);
  CHECK_HAS(c.diag.message, "%0 \"cache\" is read at step 3 by %2 (relu), but %3 is written into");
  plan_free(&c);
}

TEST(BranchesExcludeEachOther) {
  static const char text[] =
      "graph @g {\n"
      "  %0 = input \"cache\" : f32[4, 8]\n"
      "  %1 = input \"new\" : f32[1, 8]\n"
      "  %2 = input \"which\" : bool[]\n"
      "  %7 = if(%2) {\n"
      "    %3 = kv_append(%0, %1) {axis = 0} : f32[4, 8]\n"
      "    %4 = exp(%3) : f32[4, 8]\n"
      "    yield %4\n"
      "  } else {\n"
      "    %5 = relu(%0) : f32[4, 8]\n"
      "    %6 = kv_append(%0, %1) {axis = 0} : f32[4, 8]\n"
      "    yield %5\n"
      "  } : f32[4, 8]\n"
      "  return %7\n"
      "}\n";
  plan_case c = make(text, STOW_PRESET_DEFAULT);
  plan_free(&c);
}

// A loop reads until its last step, but not where the other branch was taken.
TEST(ALoopInOneBranchDoesNotReadInTheOther) {
  static const char text[] =
      "graph @g {\n"
      "  %0 = input \"cache\" : f32[4, 8]\n"
      "  %1 = input \"new\" : f32[1, 8]\n"
      "  %2 = input \"which\" : bool[]\n"
      "  %6 = if(%2) {\n"
      "    %3 = kv_append(%0, %1) {axis = 0} : f32[4, 8]\n"
      "    yield %2\n"
      "  } else {\n"
      "    %5 = loop(_, %2) {\n"
      "      %4 = relu(%0) : f32[4, 8]\n"
      "      yield %2, %4\n"
      "    } : f32[2, 4, 8]\n"
      "    yield %2\n"
      "  } : bool[]\n"
      "  return %6\n"
      "}\n";
  plan_case c = make(text, STOW_PRESET_DEFAULT);
  plan_free(&c);
}

TEST(AnAppendIntoAParamIsCaught) {
  static const char text[] =
      "graph @g {\n"
      "  %0 = input \"x\" : f32[4, 8]\n"
      "  %1 = input \"new\" : f32[1, 8]\n"
      "  %2 = param \"w\" : f32[4, 8]\n"
      "  %3 = custom(%0, %2) {name = \"f\"} : f32[4, 8] with {inside = [0, 0, 0]}\n"
      "  %4 = kv_append(%3, %1) {axis = 0} : f32[4, 8]\n"
      "  return %4\n"
      "}\n";
  plan_case c = make(text, STOW_PRESET_DEFAULT);
  REQUIRE(c.plan != NULL);
  // Now %3 lies in the param.
  REQUIRE(stow_effects_place_inside(c.effects, 3, 0, 1, 0, &c.diag) == STOW_OK);
  for (stow_value value = 3; value <= 4; ++value) {
    c.plan->values[value].root = 2;
    c.plan->values[value].offset = c.plan->values[2].offset;
  }
  CHECK_FAULT(check(&c), STOW_FAULT_REUSED_TOO_EARLY);
  CHECK_HAS(c.diag.message, "%4 is written over %2 \"w\" at step 4, which the next run must find");
  plan_free(&c);
}

// Steps: %0 0, %1 1, args 2, relu 3, neg 4, yield 5, loop 6, exp 7.
static const char loop[] =
    "graph @g {\n"
    "  %0 = input \"x\" : f32[64]\n"
    "  %1 \"start\" = relu(%0) : f32[64]\n"
    "  %7 = loop(_, _, %1) {\n"
    "    %2, %3, %4 \"state\" = args() : i64[], bool[], f32[64]\n"
    "    %5 = relu(%4) : f32[64]\n"
    "    %6 = add(%5, %0) : f32[64]\n"
    "    yield %3, %6\n"
    "  } : f32[64]\n"
    "  %8 = exp(%7) : f32[64]\n"
    "  return %8\n"
    "}\n";

TEST(CarriedValuesShareOneRoot) {
  plan_case c = make(loop, STOW_PRESET_DEFAULT);
  REQUIRE(c.plan != NULL);
  CHECK_U64(c.plan->values[4].root, 1);
  CHECK_U64(c.plan->values[7].root, 1);
  // The root must last over the body, where the yield writes it.
  c.plan->values[1].end = 5;
  CHECK_FAULT(check(&c), STOW_FAULT_REUSED_TOO_EARLY);
  plan_free(&c);
}

TEST(NodesOutsideTheirRegionAreCaught) {
  plan_case c = make(loop, STOW_PRESET_DEFAULT);
  REQUIRE(c.plan != NULL);
  static const stow_node orders[][8] = {
      {0, 2, 3, 4, 5, 1, 6, 7},  // the initial value comes too late
      {0, 1, 3, 2, 4, 5, 6, 7},  // args is not first
      {0, 1, 2, 3, 4, 6, 5, 7},  // the loop before its body's end
  };
  for (size_t i = 0; i < 3; ++i) {
    memcpy(c.plan->order, orders[i], sizeof(orders[i]));
    CHECK_FAULT(check(&c), STOW_FAULT_SCHEDULE);
  }
  plan_free(&c);
}

TEST(OuterValuesLiveToTheEndOfTheBody) {
  static const char text[] =
      "graph @g {\n"
      "  %0 = input \"x\" : f32[64]\n"
      "  %1 \"outer\" = relu(%0) : f32[64]\n"
      "  %6 = loop(_, _) {\n"
      "    %2 = exp(%1) : f32[64]\n"
      "    %3 = neg(%2) : f32[64]\n"
      "    %4 = abs(%3) : f32[64]\n"
      "    %5 = custom(%4) {name = \"more\"} : bool[]\n"
      "    yield %5, %4\n"
      "  } : f32[3, 64]\n"
      "  return %6\n"
      "}\n";
  plan_case c = make(text, STOW_PRESET_DEFAULT);
  REQUIRE(c.plan != NULL);
  c.plan->values[1].end = 6;
  stow_violation violation = check(&c);
  CHECK_FAULT(violation, STOW_FAULT_REUSED_TOO_EARLY);
  CHECK_U64(violation.first, 1);
  CHECK_U64(violation.step, 6);
  c.plan->values[1].end = 7;
  // What is collected is written from the first round on.
  c.plan->values[6].begin = 3;
  violation = check(&c);
  CHECK_FAULT(violation, STOW_FAULT_BORN_TOO_LATE);
  CHECK_U64(violation.step, 2);
  plan_free(&c);
}

// A body without arguments may begin with any of its nodes. What is collected must be safe from the
// one that runs first in the next round.
TEST(WhatIsCollectedLivesFromTheFirstStepThatRuns) {
  static const char text[] =
      "graph @g {\n"
      "  %0 = input \"x\" : f32[64]\n"
      "  %4 = loop(_, _) {\n"
      "    %1 = exp(%0) : f32[64]\n"
      "    %2 = neg(%0) : f32[64]\n"
      "    %3 = custom(%1, %2) {name = \"more\"} : bool[]\n"
      "    yield %3, %2\n"
      "  } : f32[3, 64]\n"
      "  return %4\n"
      "}\n";
  plan_case c = make(text, STOW_PRESET_DEFAULT);
  REQUIRE(c.plan != NULL);
  c.plan->order[1] = 2;
  c.plan->order[2] = 1;
  c.plan->values[1].begin = 2;
  c.plan->values[2].begin = 1;
  CHECK_FAULT(check(&c), STOW_FAULT_NONE);
  c.plan->values[4].begin = 2;  // %1, the body's first node by id
  CHECK_FAULT(check(&c), STOW_FAULT_BORN_TOO_LATE);
  plan_free(&c);
}

// What is held beyond the loop must be safe from the next round.
TEST(WhatIsHeldToTheEndInALoopIsCheckedOverItsBody) {
  static const char text[] =
      "graph @g {\n"
      "  %0 = input \"x\" : f32[64]\n"
      "  %8 = loop(_, _, %0) {\n"
      "    %1, %2, %3 = args() : i64[], bool[], f32[64]\n"
      "    %4 = relu(%3) : f32[64]\n"
      "    %5 = relu(%4) : f32[64]\n"
      "    %6 = relu(%5) : f32[64]\n"
      "    %7 = relu(%6) : f32[64] with {hold = [0, -1]}\n"
      "    yield %2, %7\n"
      "  } : f32[64]\n"
      "  return %8\n"
      "}\n";
  plan_case c = make(text, STOW_PRESET_DEFAULT);
  REQUIRE(c.plan != NULL);
  CHECK_U64(c.plan->values[6].begin, 1);
  CHECK(c.plan->values[6].offset != c.plan->values[4].offset);
  c.plan->values[6].begin = 4;
  stow_violation violation = check(&c);
  CHECK_FAULT(violation, STOW_FAULT_BORN_TOO_LATE);
  CHECK_U64(violation.first, 6);
  CHECK_U64(violation.step, 1);
  plan_free(&c);
}

TEST(CarryingOverAnInputIsCaught) {
  static const char text[] =
      "graph @g {\n"
      "  %0 = input \"x\" : f32[64]\n"
      "  %5 = loop(_, _, %0) {\n"
      "    %1, %2, %3 = args() : i64[], bool[], f32[64]\n"
      "    %4 = relu(%3) : f32[64]\n"
      "    yield %2, %4\n"
      "  } : f32[64]\n"
      "  return %5\n"
      "}\n";
  plan_case c = make(text, STOW_PRESET_DEFAULT);
  REQUIRE(c.plan != NULL);
  CHECK_U64(c.plan->values[3].root, 3);
  c.plan->values[3].root = 0;
  c.plan->values[5].root = 0;
  c.plan->values[3].offset = c.plan->values[0].offset;
  c.plan->values[5].offset = c.plan->values[0].offset;
  CHECK_FAULT(check(&c), STOW_FAULT_REUSED_TOO_EARLY);
  CHECK_HAS(c.diag.message, "which the next run must find untouched");
  plan_free(&c);
}

// ---------------------------------------------------------------------------------------------
// Shared weights

TEST(ReservedStretchesAreOccupied) {
  static const char other[] =
      "graph @back {\n"
      "  %0 = input \"x\" : f32[16, 16]\n"
      "  %1 = relu(%0) : f32[16, 16]\n"
      "  return %1\n"
      "}\n";
  plan_case forward = make(mlp, STOW_PRESET_DEFAULT);
  REQUIRE(forward.plan != NULL);
  stow_weight_layout* layout = NULL;
  CHECK(stow_weight_layout_create(forward.graph, forward.plan, stow_allocator_default(), NULL,
                                  &layout) == STOW_OK);
  stow_plan_options options = plan_options(STOW_PRESET_BACKWARD);
  options.layout = layout;
  plan_case c = plan_make(other, &options);
  REQUIRE(c.plan != NULL && c.plan->reserved_count == 1);
  CHECK_FAULT(check(&c), STOW_FAULT_NONE);
  c.plan->values[1].offset = c.plan->reserved[0].offset;
  stow_violation violation = check(&c);
  CHECK_FAULT(violation, STOW_FAULT_OVERLAP);
  CHECK_HAS(c.diag.message, "a shared weight [");
  plan_free(&c);
  stow_weight_layout_destroy(layout);
  plan_free(&forward);
}

// Weight and gradient have the same size, so that neither graph nor plan alone tells them apart.
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
  stow_violation violation;
  stow_status status =
      stow_plan_check_layout(s->back.plan, s->back.graph, s->layout, &s->back.diag, &violation);
  CHECK(status == (violation.fault == STOW_FAULT_NONE ? STOW_OK : STOW_ERR_VIOLATION));
  return violation;
}

static shared_case make_shared(void) {
  shared_case s = {.forward = make(weights, STOW_PRESET_RLX)};
  CHECK(stow_weight_layout_create(s.forward.graph, s.forward.plan, stow_allocator_default(), NULL,
                                  &s.layout) == STOW_OK);
  stow_plan_options options = plan_options(STOW_PRESET_BACKWARD);
  options.layout = s.layout;
  s.back = plan_make(gradient, &options);
  CHECK_FAULT(check(&s.back), STOW_FAULT_NONE);
  CHECK_FAULT(check_layout(&s), STOW_FAULT_NONE);
  return s;
}

static void free_shared(shared_case* s) {
  plan_free(&s->back);
  stow_weight_layout_destroy(s->layout);
  plan_free(&s->forward);
}

TEST(WeightSwappedWithAGradientIsCaught) {
  stow_plan_options options = plan_options(STOW_PRESET_DEFAULT);
  shared_case s = {.forward = plan_make(weights, &options)};
  CHECK(stow_weight_layout_create(s.forward.graph, s.forward.plan, stow_allocator_default(), NULL,
                                  &s.layout) == STOW_OK);
  options = plan_options(STOW_PRESET_BACKWARD);
  options.layout = s.layout;
  s.back = plan_make(gradient, &options);
  REQUIRE(s.back.plan != NULL);
  uint64_t at = s.back.plan->values[0].offset;
  s.back.plan->values[0].offset = s.back.plan->values[1].offset;
  s.back.plan->values[1].offset = at;
  CHECK_FAULT(check(&s.back), STOW_FAULT_NONE);
  stow_violation violation = check_layout(&s);
  CHECK_FAULT(violation, STOW_FAULT_MOVED);
  CHECK_U64(violation.first, 0);
  CHECK_U64(s.back.diag.value, 0);
  CHECK_HAS(s.back.diag.message, "param %0 \"w\" lies at offset ");
  CHECK_HAS(s.back.diag.message, ", the weight layout has it at 0");
  free_shared(&s);
}

TEST(WeightsKeepSizeGuardAndLife) {
  shared_case s = make_shared();
  REQUIRE(s.back.plan != NULL);
  stowi_plan_value* w = &s.back.plan->values[0];
  w->size += 64;
  CHECK_FAULT(check_layout(&s), STOW_FAULT_SIZE);
  CHECK_HAS(s.back.diag.message, "has a slot of 1088 bytes, in the weight layout of 1024");
  w->size -= 64;
  w->guard = 0;
  CHECK_FAULT(check(&s.back), STOW_FAULT_FACT);
  CHECK_FAULT(check_layout(&s), STOW_FAULT_GUARD);
  CHECK_HAS(s.back.diag.message, "has a guard of 0 bytes, in the weight layout of 128");
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
  stowi_span* span = &s.back.plan->reserved[0];
  span->end -= 1;
  CHECK_FAULT(check_layout(&s), STOW_FAULT_WEIGHT);
  CHECK_HAS(s.back.diag.message, "weight \"unused\" of the layout [");
  span->end += 1;
  span->offset += 1;
  CHECK_FAULT(check_layout(&s), STOW_FAULT_WEIGHT);
  span->offset -= 1;
  // A param without a slot claims nothing; its weight must be free all the same.
  s.back.plan->values[0].offset = STOW_OFFSET_NONE;
  CHECK_FAULT(check_layout(&s), STOW_FAULT_WEIGHT);
  CHECK_HAS(s.back.diag.message, "weight \"w\" of the layout");
  free_shared(&s);
}

TEST(ParamOfNoWeightIsCaught) {
  shared_case s = make_shared();
  plan_case own = make(mlp, STOW_PRESET_DEFAULT);
  plan_case other =
      make("graph @g {\n  %0 = param \"v\" : f32[16]\n  %1 = relu(%0) : f32[16]\n  return %1\n}\n",
           STOW_PRESET_DEFAULT);
  REQUIRE(s.back.plan != NULL && own.plan != NULL && other.plan != NULL);
  stow_violation violation;
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

// ---------------------------------------------------------------------------------------------
// Facts

TEST(WrongPeakIsCaught) {
  plan_case c = make(mlp, STOW_PRESET_DEFAULT);
  REQUIRE(c.plan != NULL);
  for (uint32_t step = 0; step <= c.plan->step_count; ++step) {
    uint32_t right = c.plan->peak_step;
    c.plan->peak_step = step;
    CHECK_FAULT(check(&c), step == right ? STOW_FAULT_NONE : STOW_FAULT_FACT);
    c.plan->peak_step = right;
  }
  c.plan->peak_step = 5;
  stow_violation violation = check(&c);
  CHECK_U64(violation.step, 3);
  CHECK_TEXT(c.diag.message,
             "the plan says that the load is highest at step 5, but it first is at step 3, with "
             "4096 bytes");
  plan_free(&c);
}

TEST(WrongLowerBoundIsCaught) {
  plan_case c = make(mlp, STOW_PRESET_DEFAULT);
  REQUIRE(c.plan != NULL);
  static const uint64_t wrong[] = {0, 4095, 4097, UINT64_MAX};
  for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); ++i) {
    c.plan->lower_bound = wrong[i];
    CHECK_FAULT(check(&c), STOW_FAULT_FACT);
  }
  CHECK_HAS(c.diag.message, "but the lower bound is 4096");
  plan_free(&c);
}

TEST(LifetimesOfValuesWithoutASlotAreChecked) {
  stow_plan_options options = plan_options(STOW_PRESET_DEFAULT);
  options.params = false;
  plan_case c = plan_make(mlp, &options);
  REQUIRE(c.plan != NULL && !plan_has_slot(c.plan, 1));
  CHECK_FAULT(check(&c), STOW_FAULT_NONE);
  c.plan->values[1].end = 2;
  CHECK_FAULT(check(&c), STOW_FAULT_REUSED_TOO_EARLY);
  c.plan->values[1].end = 7;
  c.plan->values[1].begin = 1;
  CHECK_FAULT(check(&c), STOW_FAULT_BORN_TOO_LATE);
  plan_free(&c);
}

// Padding counts, and a strategy that packs params does not make the bound any higher.
TEST(LowerBoundHoldsWithPackedParams) {
  stow_plan_options options = plan_options(STOW_PRESET_DEFAULT);
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
  CHECK_FAULT(check(&c), STOW_FAULT_NONE);
  CHECK_FAULT(check(&packed), STOW_FAULT_NONE);
  CHECK_U64(stow_plan_lower_bound(c.plan), 192 + 128 + 64 - 63);
  CHECK_U64(stow_plan_lower_bound(packed.plan), stow_plan_lower_bound(c.plan));
  plan_free(&packed);
  plan_free(&c);
}

// ---------------------------------------------------------------------------------------------
// By way of the saved text

static void check_text(const plan_case* c, const char* from, const char* to, stow_fault fault) {
  stow_plan* plan = NULL;
  stow_diag diag;
  stow_violation violation;
  stow_diag_init(&diag);
  char* text = plan_text(c->plan, stow_plan_write);
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

TEST(DamagedTextsAreReadButNotAccepted) {
  plan_case c = make(mlp, STOW_PRESET_RLX);
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

// ---------------------------------------------------------------------------------------------
// Many

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

// ---------------------------------------------------------------------------------------------

static stow_status attempt_check(stow_allocator allocator, void* user) {
  const plan_case* c = (const plan_case*)user;
  return stow_plan_check(c->plan, c->graph, c->effects, allocator, NULL, NULL);
}

// The plan's own allocator serves this check.
static stow_status attempt_check_layout(stow_allocator allocator, void* user) {
  const shared_case* s = (const shared_case*)user;
  stow_plan_options options = plan_options(STOW_PRESET_BACKWARD);
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

TEST(OutOfMemoryIsReported) {
  plan_case c = make(overwriting, STOW_PRESET_DEFAULT);
  REQUIRE(c.plan != NULL);
  CHECK(test_fault_sweep(attempt_check, &c) >= 8);
  plan_free(&c);
  c = make(loop, STOW_PRESET_DEFAULT);
  REQUIRE(c.plan != NULL);
  CHECK(test_fault_sweep(attempt_check, &c) >= 8);
  plan_free(&c);
}
