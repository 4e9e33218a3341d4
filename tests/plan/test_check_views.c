// The plan checker on values that share bytes: views, overwrites, appends, and carried values.
#include <stdio.h>
#include <stowage/plan.h>
#include <string.h>

#include "plan/check_support.h"
#include "plan/plan_internal.h"
#include "plan/plan_support.h"
#include "support/fault.h"
#include "support/test.h"

TEST(ReadsOfAViewAreReadsOfItsRoot) {
  plan_case c = check_make(check_mlp, STOW_PRESET_DEFAULT);
  REQUIRE(c.plan != NULL);
  c.plan->values[3].end = 5;  // %4 is read at step 5
  stow_violation violation = check_plan(&c);
  CHECK_FAULT(violation, STOW_FAULT_REUSED_TOO_EARLY);
  CHECK_U64(violation.first, 3);
  CHECK_U64(violation.step, 5);
  plan_free(&c);
}

TEST(ViewThatMovedIsCaught) {
  plan_case c = check_make(check_mlp, STOW_PRESET_DEFAULT);
  REQUIRE(c.plan != NULL);
  c.plan->values[4].offset += 64;
  stow_violation violation = check_plan(&c);
  CHECK_FAULT(violation, STOW_FAULT_VIEW_MOVED);
  CHECK_U64(violation.first, 4);
  CHECK_U64(violation.second, 3);
  CHECK_HAS(
      c.diag.message,
      "%4 \"half\" is at offset 3392, but must be 256 bytes into %3, which is at offset 3072");
  plan_free(&c);
}

TEST(ViewOfSomethingElseIsCaught) {
  plan_case c = check_make(check_mlp, STOW_PRESET_DEFAULT);
  REQUIRE(c.plan != NULL);
  c.plan->values[4].root = 2;
  CHECK_FAULT(check_plan(&c), STOW_FAULT_VIEW_MOVED);
  CHECK_TEXT(c.diag.message,
             "%4 \"half\" is claimed to be a view, but nothing places it in %2 \"h\"");
  c.plan->values[4].root = 4;
  CHECK_FAULT(check_plan(&c), STOW_FAULT_VIEW_MOVED);
  CHECK_HAS(c.diag.message, "must share an operand's bytes");
  c.plan->values[4].root = 60;
  CHECK_FAULT(check_plan(&c), STOW_FAULT_VIEW_MOVED);
  CHECK_HAS(c.diag.message, "%60, which does not exist");
  c.plan->values[4].root = 3;
  c.plan->values[3].root = 2;
  CHECK_FAULT(check_plan(&c), STOW_FAULT_VIEW_MOVED);
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
  plan_case c = check_make(text, STOW_PRESET_DEFAULT);
  REQUIRE(c.plan != NULL);
  CHECK_U64(c.plan->values[2].offset, c.plan->values[1].offset + 128);
  // A declared storage that hides the end of the root.
  CHECK(stow_effects_set_storage(c.effects, 1, 200, &c.diag) == STOW_OK);
  c.plan->values[1].size = 200;
  stow_violation violation = check_plan(&c);
  CHECK_FAULT(violation, STOW_FAULT_VIEW_OUTSIDE);
  CHECK_TEXT(c.diag.message, "%2 is 128 bytes at 128 in %1, which has only 200");
  c.plan->values[1].offset = STOW_OFFSET_NONE;
  c.plan->values[1].size = 0;
  CHECK_FAULT(check_plan(&c), STOW_FAULT_VIEW_OUTSIDE);
  CHECK_TEXT(c.diag.message, "%2 has a slot, but its root %1 has none");
  plan_free(&c);
}

// ---------------------------------------------------------------------------------------------
// Overwrites

static const char overwriting[] =
    "graph @g {\n"
    "  %0 = input \"x\" : f32[64]\n"
    "  %1 = relu(%0) : f32[64]\n"
    "  %2 = exp(%1) : f32[64] with {overwrite = [0, 0]}\n"
    "  %3 = neg(%2) : f32[64]\n"
    "  return %3\n"
    "}\n";

TEST(SafeOverwriteIsAccepted) {
  plan_case c = check_make(overwriting, STOW_PRESET_DEFAULT);
  REQUIRE(c.plan != NULL);
  CHECK_U64(c.plan->values[2].root, 1);
  plan_free(&c);
}

// The same, if the operand is read again later; the plan overwrites it nevertheless.
TEST(OverwriteOfAValueStillReadIsCaught) {
  static const char text[] =
      "graph @g {\n"
      "  %0 = input \"x\" : f32[64]\n"
      "  %1 \"h\" = relu(%0) : f32[64]\n"
      "  %2 = exp(%1) : f32[64] with {overwrite = [0, 0]}\n"
      "  %3 = add(%2, %1) : f32[64]\n"
      "  return %3\n"
      "}\n";
  plan_case c = check_make(text, STOW_PRESET_DEFAULT);
  REQUIRE(c.plan != NULL);
  CHECK_U64(c.plan->values[2].root, 2);
  c.plan->values[2].root = 1;
  c.plan->values[2].offset = c.plan->values[1].offset;
  stow_violation violation = check_plan(&c);
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
  plan_case c = check_make(text, STOW_PRESET_DEFAULT);
  REQUIRE(c.plan != NULL);
  c.plan->values[1].root = 0;
  c.plan->values[1].offset = c.plan->values[0].offset;
  CHECK_FAULT(check_plan(&c), STOW_FAULT_REUSED_TOO_EARLY);
  CHECK_TEXT(
      c.diag.message,
      "%1 is written in place of %0 \"x\" at step 1, but the next run needs those bytes unchanged");
  plan_free(&c);
}

// |clause_1| and |clause_2| are of %1 and of %2, which the plan puts in place of %1.
static void check_in_place(const char* clause_1, const char* type_2, const char* clause_2,
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
  plan_case c = check_make(text, STOW_PRESET_DEFAULT);
  REQUIRE(c.plan != NULL);
  CHECK_U64(c.plan->values[2].root, 2);
  c.plan->values[2].root = 1;
  if (c.plan->values[2].size != 0) {
    c.plan->values[2].offset = c.plan->values[1].offset;
  }
  c.plan->values[1].end = c.plan->values[2].end;
  stow_violation violation = check_plan(&c);
  CHECK_FAULT(violation, STOW_FAULT_OVERWRITE);
  CHECK_U64(violation.first, 2);
  CHECK_U64(violation.second, 1);
  CHECK_TEXT(c.diag.message, message);
  plan_free(&c);
}

TEST(OverwriteThatIsAllowedButNotPossibleIsCaught) {
  check_in_place("", "f32[64]", ", own = true", "%2 must have its own bytes, but is in %1");
  check_in_place("", "f32[64]", ", io = \"external\"", "%2 must have its own bytes, but is in %1");
  check_in_place("", "f32[64]", ", state = true", "%2 must have its own bytes, but is in %1");
  check_in_place("", "f32[64]", ", at = 4096", "%2 has a fixed offset, but is in %1");
  check_in_place(" with {at = 4096}", "f32[64]", "",
                 "%2 is written in place of a value with a fixed offset, %1");
}

TEST(OverwriteOfAValueWithoutASlotIsCaught) {
  static const char text[] =
      "graph @g {\n"
      "  %0 = input \"x\" : f32[64] with {io = \"consume\"}\n"
      "  %1 = relu(%0) : f32[64] with {overwrite = [0, 0]}\n"
      "  return %1\n"
      "}\n";
  stow_plan_options options = plan_plain(STOW_PRESET_DEFAULT);
  options.inputs = false;
  plan_case c = plan_make(text, &options);
  REQUIRE(c.plan != NULL);
  c.plan->values[1].root = 0;
  c.plan->values[1].offset = STOW_OFFSET_NONE;
  c.plan->values[1].size = 0;
  stow_violation violation = check_plan(&c);
  CHECK_FAULT(violation, STOW_FAULT_MISSING);
  CHECK_U64(violation.first, 1);
  CHECK_U64(violation.second, 0);
  CHECK_TEXT(c.diag.message,
             "%1 is computed and has no slot: it is written in place of %0 \"x\", which has none");
  plan_free(&c);
}

TEST(OverwriteWhileAnotherOperandReadsIsCaught) {
  static const char text[] =
      "graph @g {\n"
      "  %0 = input \"x\" : f32[64]\n"
      "  %1 = relu(%0) : f32[64]\n"
      "  %2 = reshape(%1) : f32[64]\n"
      "  %3 = custom(%1, %2) {name = \"f\"} : f32[64] with {overwrite = [0, 0]}\n"
      "  return %3\n"
      "}\n";
  plan_case c = check_make(text, STOW_PRESET_DEFAULT);
  REQUIRE(c.plan != NULL);
  c.plan->values[3].root = 1;
  c.plan->values[3].offset = c.plan->values[1].offset;
  c.plan->values[1].end = 5;
  CHECK_FAULT(check_plan(&c), STOW_FAULT_REUSED_TOO_EARLY);
  CHECK_HAS(c.diag.message, "while operand 1 still reads those bytes");
  plan_free(&c);
}

TEST(TwoResultsInPlaceOfOneOperandAreCaught) {
  static const char text[] =
      "graph @g {\n"
      "  %0 = input \"x\" : f32[64]\n"
      "  %1 = relu(%0) : f32[64]\n"
      "  %2, %3 = custom(%1) {name = \"two\"} : f32[64], f32[64] with {overwrite = [0, 0, 1, 0]}\n"
      "  return %2, %3\n"
      "}\n";
  plan_case c = check_make(text, STOW_PRESET_DEFAULT);
  REQUIRE(c.plan != NULL);
  for (stow_value value = 2; value <= 3; ++value) {
    c.plan->values[value].root = 1;
    c.plan->values[value].offset = c.plan->values[1].offset;
  }
  stow_violation violation = check_plan(&c);
  CHECK_FAULT(violation, STOW_FAULT_OVERLAP);
  CHECK_TEXT(c.diag.message, "%2 and %3 are both written into %1 at step 2");
  plan_free(&c);
}

// One of them is written from step 2 on, while %1 is read; that both are there is reported first.
TEST(AnEarlyResultInAnothersBytesIsCaught) {
  static const char text[] =
      "graph @g {\n"
      "  %0 = input \"x\" : f32[64]\n"
      "  %1 = relu(%0) : f32[64]\n"
      "  %2 = relu(%0) : f32[64]\n"
      "  %3, %4 = custom(%1) {name = \"two\"} : f32[64], f32[64]"
      " with {overwrite = [0, 0, 1, 0], early = [0, 2]}\n"
      "  return %2, %3, %4\n"
      "}\n";
  plan_case c = check_make(text, STOW_PRESET_DEFAULT);
  REQUIRE(c.plan != NULL);
  for (stow_value value = 3; value <= 4; ++value) {
    c.plan->values[value].root = 1;
    c.plan->values[value].offset = c.plan->values[1].offset;
  }
  CHECK_FAULT(check_plan(&c), STOW_FAULT_OVERLAP);
  CHECK_TEXT(c.diag.message, "%3 and %4 are both written into %1 at step 3");
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
  plan_case c = check_make(text, STOW_PRESET_DEFAULT);
  REQUIRE(c.plan != NULL);
  c.plan->order[2] = 3;
  c.plan->order[3] = 2;
  stow_violation violation = check_plan(&c);
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
  plan_case c = check_make(text, STOW_PRESET_DEFAULT);
  plan_free(&c);
}

// A loop reads until its last step, but not if the other branch was taken.
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
  plan_case c = check_make(text, STOW_PRESET_DEFAULT);
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
  plan_case c = check_make(text, STOW_PRESET_DEFAULT);
  REQUIRE(c.plan != NULL);
  // Now %3 is in the param.
  REQUIRE(stow_effects_place_inside(c.effects, 3, 0, 1, 0, &c.diag) == STOW_OK);
  for (stow_value value = 3; value <= 4; ++value) {
    c.plan->values[value].root = 2;
    c.plan->values[value].offset = c.plan->values[2].offset;
  }
  CHECK_FAULT(check_plan(&c), STOW_FAULT_REUSED_TOO_EARLY);
  CHECK_HAS(
      c.diag.message,
      "%4 is written in place of %2 \"w\" at step 4, but the next run needs those bytes unchanged");
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
  plan_case c = check_make(loop, STOW_PRESET_DEFAULT);
  REQUIRE(c.plan != NULL);
  CHECK_U64(c.plan->values[4].root, 1);
  CHECK_U64(c.plan->values[7].root, 1);
  // The root must last over the body, where the yield writes it.
  c.plan->values[1].end = 5;
  CHECK_FAULT(check_plan(&c), STOW_FAULT_REUSED_TOO_EARLY);
  plan_free(&c);
}

// The yield writes what the argument's bytes hold, which is the initial value's as well.
TEST(AnInitialValueInCarriedBytesMustNotBeReadAfterwards) {
  static const char text[] =
      "graph @g {\n"
      "  %0 = input \"x\" : f32[64]\n"
      "  %1 \"start\" = relu(%0) : f32[64]\n"
      "  %6 = loop(_, _, %1) {\n"
      "    %2, %3, %4 \"state\" = args() : i64[], bool[], f32[64]\n"
      "    %5 = relu(%4) : f32[64]\n"
      "    yield %3, %5\n"
      "  } : f32[64]\n"
      "  %7 = add(%6, %1) : f32[64]\n"
      "  return %7\n"
      "}\n";
  plan_case c = check_make(text, STOW_PRESET_DEFAULT);
  REQUIRE(c.plan != NULL);
  CHECK_U64(c.plan->values[4].root, 4);
  for (stow_value value = 4; value <= 6; value += 2) {
    c.plan->values[value].root = 1;
    c.plan->values[value].offset = c.plan->values[1].offset;
  }
  CHECK_FAULT(check_plan(&c), STOW_FAULT_REUSED_TOO_EARLY);
  CHECK_TEXT(c.diag.message,
             "%1 \"start\" is read at step 6 by %7 (add), but %4 \"state\" is written into its "
             "bytes at step 4");
  plan_free(&c);
}

TEST(NodesOutsideTheirRegionAreCaught) {
  plan_case c = check_make(loop, STOW_PRESET_DEFAULT);
  REQUIRE(c.plan != NULL);
  static const stow_node orders[][8] = {
      {0, 2, 3, 4, 5, 1, 6, 7},  // the initial value comes too late
      {0, 1, 3, 2, 4, 5, 6, 7},  // args is not first
      {0, 1, 2, 3, 4, 6, 5, 7},  // the loop before its body's end
  };
  for (size_t i = 0; i < 3; ++i) {
    memcpy(c.plan->order, orders[i], sizeof(orders[i]));
    CHECK_FAULT(check_plan(&c), STOW_FAULT_SCHEDULE);
  }
  plan_free(&c);
}

// Of one node each: steps are %0 0, %1 1, the first yield 2, the second 3, if 4.
TEST(SmallBranchesKeepTheirOrder) {
  static const char text[] =
      "graph @g {\n"
      "  %0 = input \"c\" : bool[]\n"
      "  %1 = input \"x\" : f32[64]\n"
      "  %2 = if(%0) {\n"
      "    yield %1\n"
      "  } else {\n"
      "    yield %1\n"
      "  } : f32[64]\n"
      "  return %2\n"
      "}\n";
  static const struct {
    stow_node order[5];
    const char* message;
  } cases[] = {
      {{0, 1, 3, 2, 4}, "%2 (if) runs at step 4 but its regions are out of order"},
      {{0, 1, 2, 4, 3}, "%2 (if) runs at step 3 before the end of its regions"},
  };
  plan_case c = check_make(text, STOW_PRESET_DEFAULT);
  REQUIRE(c.plan != NULL);
  for (size_t i = 0; i < 2; ++i) {
    memcpy(c.plan->order, cases[i].order, sizeof(cases[i].order));
    stow_violation violation = check_plan(&c);
    CHECK_FAULT(violation, STOW_FAULT_SCHEDULE);
    CHECK_U64(violation.first, 2);
    CHECK_TEXT(c.diag.message, cases[i].message);
  }
  // A yield makes no value.
  memcpy(c.plan->order, (stow_node[]){0, 1, 2, 2, 4}, sizeof(cases[0].order));
  CHECK_U64(check_plan(&c).first, STOW_VALUE_NONE);
  CHECK_U64(c.diag.node, 2);
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
  plan_case c = check_make(text, STOW_PRESET_DEFAULT);
  REQUIRE(c.plan != NULL);
  c.plan->values[1].end = 6;
  stow_violation violation = check_plan(&c);
  CHECK_FAULT(violation, STOW_FAULT_REUSED_TOO_EARLY);
  CHECK_U64(violation.first, 1);
  CHECK_U64(violation.step, 6);
  c.plan->values[1].end = 7;
  // Collected results are written from the first iteration on.
  c.plan->values[6].begin = 3;
  violation = check_plan(&c);
  CHECK_FAULT(violation, STOW_FAULT_BORN_TOO_LATE);
  CHECK_U64(violation.step, 2);
  plan_free(&c);
}

// A body without arguments may begin with any of its nodes. Collected results must be safe from the
// one that runs first in the next iteration.
TEST(CollectedResultsAreLiveFromTheFirstStep) {
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
  plan_case c = check_make(text, STOW_PRESET_DEFAULT);
  REQUIRE(c.plan != NULL);
  c.plan->order[1] = 2;
  c.plan->order[2] = 1;
  c.plan->values[1].begin = 2;
  c.plan->values[2].begin = 1;
  CHECK_FAULT(check_plan(&c), STOW_FAULT_NONE);
  c.plan->values[4].begin = 2;  // %1, the body's first node by id
  CHECK_FAULT(check_plan(&c), STOW_FAULT_BORN_TOO_LATE);
  plan_free(&c);
}

// What is held beyond the loop must be safe from the next iteration.
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
  plan_case c = check_make(text, STOW_PRESET_DEFAULT);
  REQUIRE(c.plan != NULL);
  CHECK_U64(c.plan->values[6].begin, 1);
  CHECK(c.plan->values[6].offset != c.plan->values[4].offset);
  c.plan->values[6].begin = 4;
  stow_violation violation = check_plan(&c);
  CHECK_FAULT(violation, STOW_FAULT_BORN_TOO_LATE);
  CHECK_U64(violation.first, 6);
  CHECK_U64(violation.step, 1);
  plan_free(&c);
}

TEST(CarryingInPlaceOfAnInputIsCaught) {
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
  plan_case c = check_make(text, STOW_PRESET_DEFAULT);
  REQUIRE(c.plan != NULL);
  CHECK_U64(c.plan->values[3].root, 3);
  c.plan->values[3].root = 0;
  c.plan->values[5].root = 0;
  c.plan->values[3].offset = c.plan->values[0].offset;
  c.plan->values[5].offset = c.plan->values[0].offset;
  CHECK_FAULT(check_plan(&c), STOW_FAULT_REUSED_TOO_EARLY);
  CHECK_HAS(
      c.diag.message,
      "%3 is written in place of %0 \"x\" at step 3, but the next run needs those bytes unchanged");
  plan_free(&c);
}

// ---------------------------------------------------------------------------------------------

static stow_status attempt_check(stow_allocator allocator, void* user) {
  const plan_case* c = (const plan_case*)user;
  return stow_plan_check(c->plan, c->graph, c->effects, allocator, NULL, NULL);
}

TEST(OutOfMemoryIsReported) {
  plan_case c = check_make(overwriting, STOW_PRESET_DEFAULT);
  REQUIRE(c.plan != NULL);
  CHECK(test_fault_sweep(attempt_check, &c) >= 8);
  plan_free(&c);
  c = check_make(loop, STOW_PRESET_DEFAULT);
  REQUIRE(c.plan != NULL);
  CHECK(test_fault_sweep(attempt_check, &c) >= 8);
  plan_free(&c);
}
