// Tests of lifetimes: the base rules, policies, effects and regions.
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "fixture.h"
#include "support/fault.h"
#include "support/test.h"

static void check_lifetimes(const char* body, const char* expected) {
  fixture f;
  fixture_init(&f);
  stow_status status = fixture_lifetimes(&f, body);
  if (test_check(status == STOW_OK, __FILE__, __LINE__, "%s", f.diag.message)) {
    CHECK_TEXT(fixture_show_lifetimes(&f), expected);
    CHECK(stowi_analysis_lifetimes_reuse_allowed(f.lifetimes));
  }
  fixture_free(&f);
}

TEST(AValueLivesFromItsBirthToItsLastRead) {
  check_lifetimes(
      "  %0 = input \"x\" : f32[4]\n"  // step 0
      "  %1 = relu(%0) : f32[4]\n"     // 1
      "  %2 = relu(%1) : f32[4]\n"     // 2
      "  %3 = add(%1, %2) : f32[4]\n"  // 3
      "  %4 = relu(%3) : f32[4]\n"     // 4, unread
      "  %5 = relu(%3) : f32[4]\n"     // 5
      "  return %5",
      "0:[0,7) 1:[1,4) 2:[2,4) 3:[3,6) 4:[4,5) 5:[5,7)");
}

TEST(BoundaryValuesLiveOverTheWholeRunWhereverTheyStand) {
  check_lifetimes(
      "  %0 = input \"x\" : f32[4]\n"
      "  %1 = relu(%0) : f32[4]\n"
      "  %2 = param \"w\" : f32[4]\n"
      "  %3 = constant \"c\" : f32[4]\n"
      "  %4 = add(%1, %2) : f32[4]\n"
      "  return %4",
      "0:[0,6) 1:[1,5) 2:[0,6) 3:[0,6) 4:[4,6)");
}

TEST(AReadOfAViewIsAReadOfTheViewAndOfItsRoot) {
  check_lifetimes(
      "  %0 = input \"x\" : f32[4]\n"
      "  %1 = relu(%0) : f32[4]\n"
      "  %2 = reshape(%1) : f32[2, 2]\n"  // read by %3 at step 3
      "  %3 = reshape(%2) : f32[4, 1]\n"  // read at step 5, and so is %1, but not %2
      "  %4 = relu(%0) : f32[4]\n"
      "  %5 = relu(%3) : f32[4, 1]\n"
      "  %6 = relu(%5) : f32[4, 1]\n"
      "  return %6",
      "0:[0,8) 1:[1,6) 2:[2,4) 3:[3,6) 4:[4,5) 5:[5,7) 6:[6,8)");
}

TEST(AnUnreadViewStillReadsItsRoot) {
  check_lifetimes(
      "  %0 = input \"x\" : f32[4]\n"
      "  %1 = relu(%0) : f32[4]\n"
      "  %2 = relu(%1) : f32[4]\n"
      "  %3 = reshape(%1) : f32[2, 2]\n"
      "  return %2",
      "0:[0,5) 1:[1,4) 2:[2,5) 3:[3,4)");
}

TEST(RootsOfOutputsLiveToTheEnd) {
  check_lifetimes(
      "  %0 = input \"x\" : f32[4]\n"
      "  %1 = relu(%0) : f32[4]\n"
      "  %2 = reshape(%1) : f32[2, 2]\n"
      "  %3 = reshape(%2) : f32[4, 1]\n"
      "  return %3",
      "0:[0,5) 1:[1,5) 2:[2,4) 3:[3,5)");
}

TEST(OneNodeMakesSeveralValuesAtOneStep) {
  check_lifetimes(
      "  %0 = input \"x\" : f32[4]\n"
      "  %1, %2 = topk(%0) {k = 2} : f32[2], i64[2]\n"
      "  %3 = relu(%1) : f32[2]\n"
      "  return %3",
      "0:[0,4) 1:[1,3) 2:[1,2) 3:[2,4)");
}

TEST(StepsComeFromTheSchedule) {
  fixture f;
  fixture_init(&f);
  REQUIRE(fixture_lifetimes(&f,
                            "  %0 = input \"x\" : f32[4]\n"
                            "  %1 = relu(%0) : f32[4]\n"
                            "  %2 = relu(%0) : f32[4]\n"
                            "  %3 = add(%1, %2) : f32[4]\n"
                            "  return %3") == STOW_OK);
  const stow_node order[] = {0, 2, 1, 3};
  stow_schedule* schedule;
  REQUIRE(stow_schedule_create_order(f.graph, order, 4, f.allocator, &f.diag, &schedule) ==
          STOW_OK);
  stowi_analysis_lifetimes_destroy(f.lifetimes);
  REQUIRE(stowi_analysis_lifetimes_create(f.graph, schedule, f.views, f.effects,
                                          &f.lifetimes_options, f.allocator, &f.diag,
                                          &f.lifetimes) == STOW_OK);
  CHECK_TEXT(fixture_show_lifetimes(&f), "0:[0,5) 1:[2,4) 2:[1,4) 3:[3,5)");
  stow_schedule_destroy(schedule);
  fixture_free(&f);
}

// ---------------------------------------------------------------------------------------------
// Policies and effects

TEST(AConsumedInputDiesAtItsLastRead) {
  const char* body =
      "  %0 = input \"x\" : f32[4]\n"
      "  %1 = param \"w\" : f32[4]\n"
      "  %2 = constant \"c\" : f32[4]\n"
      "  %3 = add(%0, %1) : f32[4]\n"
      "  %4 = input \"unread\" : f32[4]\n"
      "  %5 = input \"late\" : f32[4]\n"
      "  %6 = reshape(%5) : f32[2, 2]\n"
      "  %7 = relu(%3) : f32[4]\n"
      "  %8 = relu(%6) : f32[2, 2]\n"
      "  return %7, %8";
  fixture f;
  fixture_init(&f);
  f.lifetimes_options.io = STOW_IO_CONSUME;
  REQUIRE(fixture_lifetimes(&f, body) == STOW_OK);
  CHECK_TEXT(fixture_show_lifetimes(&f),
             "0:[0,4) 1:[0,10) 2:[0,10) 3:[3,8) 4:[0,5) 5:[0,9) 6:[6,9) 7:[7,10) 8:[8,10)");
  fixture_free(&f);
}

TEST(ConsumedByEffectAndKeptByEffect) {
  const char* body =
      "  %0 = input \"x\" : f32[4] with {io = \"consume\"}\n"
      "  %1 = input \"y\" : f32[4]\n"
      "  %2 = add(%0, %1) : f32[4]\n"
      "  %3 = relu(%2) : f32[4] with {io = \"consume\"}\n"
      "  return %3";
  check_lifetimes(body, "0:[0,3) 1:[0,5) 2:[2,4) 3:[3,5)");
}

TEST(AConsumedInputThatIsAnOutputLivesToTheEnd) {
  check_lifetimes(
      "  %0 = input \"x\" : f32[4] with {io = \"consume\"}\n"
      "  %1 = reshape(%0) : f32[2, 2]\n"
      "  %2 = relu(%1) : f32[2, 2]\n"
      "  return %1, %2",
      "0:[0,4) 1:[1,4) 2:[2,4)");
}

TEST(StateLivesOverTheWholeRun) {
  check_lifetimes(
      "  %0 = input \"x\" : f32[4]\n"
      "  %1 = relu(%0) : f32[4]\n"
      "  %2 = reshape(%1) : f32[2, 2] with {state = true}\n"
      "  %3 = relu(%2) : f32[2, 2]\n"
      "  return %3",
      "0:[0,5) 1:[0,5) 2:[0,5) 3:[3,5)");
}

TEST(AHeldOperandIsReadUntilLater) {
  check_lifetimes(
      "  %0 = input \"x\" : f32[4]\n"
      "  %1 = relu(%0) : f32[4]\n"
      "  %2 = reshape(%1) : f32[2, 2]\n"
      "  %3 = relu(%2) : f32[2, 2] with {hold = [0, 5]}\n"
      "  %4 = relu(%3) : f32[2, 2] with {hold = [0, -1]}\n"
      "  %5 = relu(%4) : f32[2, 2]\n"
      "  return %5",
      "0:[0,7) 1:[1,6) 2:[2,6) 3:[3,7) 4:[4,6) 5:[5,7)");
}

TEST(AnEarlyWriteMovesTheBirth) {
  check_lifetimes(
      "  %0 = input \"x\" : f32[4]\n"
      "  %1 = relu(%0) : f32[4]\n"
      "  %2 = relu(%1) : f32[4]\n"
      "  %3 = relu(%2) : f32[4] with {early = [0, 1]}\n"
      "  return %3",
      "0:[0,5) 1:[1,3) 2:[2,4) 3:[1,5)");
}

TEST(EffectsThatContradictTheScheduleAreRefused) {
  fixture f;
  fixture_init(&f);
  REQUIRE(fixture_lifetimes(&f,
                            "  %0 = input \"x\" : f32[4]\n"
                            "  %1 = relu(%0) : f32[4] with {hold = [0, 2]}\n"
                            "  %2 = relu(%0) : f32[4]\n"
                            "  %3 = add(%1, %2) : f32[4]\n"
                            "  return %3") == STOW_OK);
  const stow_node order[] = {0, 2, 1, 3};
  stow_schedule* schedule;
  REQUIRE(stow_schedule_create_order(f.graph, order, 4, f.allocator, &f.diag, &schedule) ==
          STOW_OK);
  stowi_analysis_lifetimes* lifetimes;
  CHECK(stowi_analysis_lifetimes_create(f.graph, schedule, f.views, f.effects, &f.lifetimes_options,
                                        f.allocator, &f.diag, &lifetimes) == STOW_ERR_CONFLICT);
  CHECK_HAS(f.diag.message,
            "relu %1 at step 2 holds an operand until relu %2, which runs at step 1");
  stow_schedule_destroy(schedule);
  fixture_free(&f);

  REQUIRE(fixture_lifetimes(&f,
                            "  %0 = input \"x\" : f32[4]\n"
                            "  %1 = relu(%0) : f32[4]\n"
                            "  %2 = relu(%0) : f32[4] with {early = [0, 1]}\n"
                            "  %3 = add(%1, %2) : f32[4]\n"
                            "  return %3") == STOW_OK);
  REQUIRE(stow_schedule_create_order(f.graph, order, 4, f.allocator, &f.diag, &schedule) ==
          STOW_OK);
  CHECK(stowi_analysis_lifetimes_create(f.graph, schedule, f.views, f.effects, &f.lifetimes_options,
                                        f.allocator, &f.diag, &lifetimes) == STOW_ERR_CONFLICT);
  CHECK_HAS(f.diag.message, "relu %2 at step 1 writes a result from relu %1");
  CHECK_U64(f.diag.line, 4);
  stow_schedule_destroy(schedule);
  fixture_free(&f);
}

// ---------------------------------------------------------------------------------------------
// Regions

TEST(BranchesShareBytesByPlainIntervals) {
  check_lifetimes(
      "  %0 = input \"c\" : bool[]\n"  // step 0
      "  %1 = input \"x\" : f32[4]\n"  // 1
      "  %2 = relu(%1) : f32[4]\n"     // 2
      "  %6 = if(%0) {\n"
      "    %3 = relu(%2) : f32[4]\n"  // 3
      "    yield %3\n"                // 4
      "  } else {\n"
      "    %4 = relu(%1) : f32[4]\n"  // 5
      "    %5 = relu(%4) : f32[4]\n"  // 6
      "    yield %5\n"                // 7
      "  } : f32[4]\n"                // 8
      "  %7 = relu(%6) : f32[4]\n"    // 9
      "  return %7",
      "0:[0,11) 1:[0,11) 2:[2,4) 3:[3,5) 4:[5,7) 5:[6,8) 6:[4,10) 7:[9,11)");
}

TEST(AnIfReadsItsConditionAtItsOwnStep) {
  check_lifetimes(
      "  %0 = input \"a\" : bool[]\n"
      "  %1 = not(%0) : bool[]\n"
      "  %2 = if(%1) { yield %0 } else { yield %0 } : bool[]\n"  // yields at 2 and 3, the if at 4
      "  return %2",
      "0:[0,6) 1:[1,5) 2:[2,6)");
}

TEST(AnOuterValueReadInALoopLivesToTheBodysEnd) {
  check_lifetimes(
      "  %0 = input \"go\" : bool[]\n"  // step 0
      "  %1 = input \"x\" : f32[4]\n"   // 1
      "  %2 = relu(%1) : f32[4]\n"      // 2: initial value
      "  %3 = relu(%1) : f32[4]\n"      // 3: read at 5
      "  %10 = loop(_, %0, %2) {\n"
      "    %4, %5, %6 = args() : i64[], bool[], f32[4]\n"  // 4
      "    %7 = add(%6, %3) : f32[4]\n"                    // 5
      "    %8 = relu(%7) : f32[4]\n"                       // 6
      "    %9 = relu(%8) : f32[4]\n"                       // 7
      "    yield %5, %9\n"                                 // 8
      "  } : f32[4]\n"                                     // 9
      "  %11 = relu(%10) : f32[4]\n"                       // 10
      "  return %11",
      "0:[0,12) 1:[0,12) 2:[2,11) 3:[3,9) 4:[4,5) 5:[4,9) 6:[4,10) 7:[5,7) 8:[6,8) 9:[7,9) "
      "10:[9,11) "
      "11:[10,12)");
}

TEST(AnInitialValueThatIsCopiedDiesWhereTheBodyBegins) {
  check_lifetimes(
      "  %0 = input \"go\" : bool[]\n"    // step 0
      "  %1 = input \"x\" : f32[4]\n"     // 1
      "  %2 = relu(%1) : f32[4]\n"        // 2
      "  %3 = reshape(%2) : f32[2, 2]\n"  // 3: a view cannot be shared
      "  %7 = loop(_, %0, %3) {\n"
      "    %4, %5, %6 = args() : i64[], bool[], f32[2, 2]\n"  // 4
      "    yield %5, %6\n"                                    // 5
      "  } : f32[2, 2]\n"                                     // 6
      "  %8 = relu(%7) : f32[2, 2]\n"                         // 7
      "  return %8",
      "0:[0,9) 1:[0,9) 2:[2,5) 3:[3,5) 4:[4,5) 5:[4,6) 6:[4,8) 7:[6,8) 8:[7,9)");
}

TEST(ACarriedResultWithItsOwnBytesIsCopiedAtTheLoop) {
  check_lifetimes(
      "  %0 = input \"go\" : bool[]\n"  // step 0
      "  %1 = input \"x\" : f32[4]\n"   // 1
      "  %2 = relu(%1) : f32[4]\n"      // 2
      "  %6 = loop(_, %0, %2) {\n"
      "    %3, %4, %5 = args() : i64[], bool[], f32[4]\n"  // 3
      "    yield %4, %5\n"                                 // 4
      "  } : f32[4] with {own = true}\n"                   // 5
      "  %7 = relu(%6) : f32[4]\n"                         // 6
      "  return %7",
      "0:[0,8) 1:[0,8) 2:[2,6) 3:[3,4) 4:[3,5) 5:[3,6) 6:[5,7) 7:[6,8)");
}

TEST(ScansAreBornWhereTheBodyBegins) {
  check_lifetimes(
      "  %0 = input \"go\" : bool[]\n"  // step 0
      "  %1 = input \"x\" : f32[4]\n"   // 1
      "  %5 = loop(_, %0) {\n"
      "    %2, %3 = args() : i64[], bool[]\n"  // 2
      "    %4 = relu(%1) : f32[4]\n"           // 3
      "    yield %3, %4\n"                     // 4
      "  } : f32[7, 4]\n"                      // 5
      "  return %5",
      "0:[0,7) 1:[0,7) 2:[2,3) 3:[2,5) 4:[3,5) 5:[2,7)");
  // Without `args` the first node of the body counts.
  check_lifetimes(
      "  %0 = input \"go\" : bool[]\n"
      "  %1 = input \"x\" : f32[4]\n"
      "  %3 = loop(_, %0) {\n"
      "    %2 = relu(%1) : f32[4]\n"
      "    yield %0, %2\n"
      "  } : f32[7, 4]\n"
      "  return %3",
      "0:[0,6) 1:[0,6) 2:[2,4) 3:[2,6)");
}

// Without `args` any node of the body may run first, also one of a nested region.
TEST(ABodyBeginsWithTheNodeThatRunsFirst) {
  fixture f;
  fixture_init(&f);
  REQUIRE(fixture_views(&f,
                        "  %0 = input \"go\" : bool[]\n"  // node 0
                        "  %1 = input \"x\" : f32[4]\n"   // 1
                        "  %2 = relu(%1) : f32[4]\n"      // 2
                        "  %7 = loop(_, %0) {\n"
                        "    %3 = relu(%1) : f32[4]\n"                         // 3
                        "    %4 = relu(%2) : f32[4]\n"                         // 4
                        "    %6 = loop(_, %0) {\n"                             //
                        "      %5 = relu(%1) : f32[4]\n"                       // 5
                        "      yield %0, %5\n"                                 // 6
                        "    } : f32[2, 4]\n"                                  // 7
                        "    yield %0, %3\n"                                   // 8
                        "  } : f32[7, 4]\n"                                    // 9
                        "  %8 = relu(%7) : f32[7, 4] with {early = [0, 3]}\n"  // 10
                        "  return %8") == STOW_OK);
  static const stow_node order[] = {0, 1, 2, 5, 6, 7, 4, 3, 8, 9, 10};
  REQUIRE(stow_schedule_create_order(f.graph, order, 11, f.allocator, &f.diag, &f.schedule) ==
          STOW_OK);
  REQUIRE(stowi_analysis_lifetimes_create(f.graph, f.schedule, f.views, f.effects,
                                          &f.lifetimes_options, f.allocator, &f.diag,
                                          &f.lifetimes) == STOW_OK);
  CHECK_TEXT(fixture_show_lifetimes(&f),
             "0:[0,12) 1:[0,12) 2:[2,9) 3:[7,9) 4:[6,7) 5:[3,5) 6:[3,6) 7:[3,11) 8:[3,12)");
  fixture_free(&f);
}

TEST(NestedLoopsKeepWhatEachReads) {
  check_lifetimes(
      "  %0 = input \"go\" : bool[]\n"  // step 0
      "  %1 = input \"x\" : f32[4]\n"   // 1
      "  %2 = relu(%1) : f32[4]\n"      // 2: read inside both loops
      "  %13 = loop(_, %0, %1) {\n"
      "    %3, %4, %5 = args() : i64[], bool[], f32[4]\n"  // 3
      "    %6 = relu(%5) : f32[4]\n"                       // 4: read inside the inner loop
      "    %7 = relu(%5) : f32[4]\n"                       // 5: carried by the inner loop
      "    %12 = loop(_, %4, %7) {\n"
      "      %8, %9, %10 = args() : i64[], bool[], f32[4]\n"  // 6
      "      %11 = custom(%2, %6) {name = \"f\"} : f32[4]\n"  // 7
      "      yield %9, %11\n"                                 // 8
      "    } : f32[4]\n"                                      // 9
      "    yield %4, %12\n"                                   // 10
      "  } : f32[4]\n"                                        // 11
      "  return %13",
      "0:[0,13) 1:[0,13) 2:[2,11) 3:[3,4) 4:[3,11) 5:[3,13) 6:[4,9) 7:[5,11) 8:[6,7) 9:[6,9) "
      "10:[6,10) 11:[7,9) 12:[9,11) 13:[11,13)");
}

TEST(AViewMadeInALoopKeepsItsOuterRoot) {
  check_lifetimes(
      "  %0 = input \"go\" : bool[]\n"  // step 0
      "  %1 = input \"x\" : f32[4]\n"   // 1
      "  %2 = relu(%1) : f32[4]\n"      // 2
      "  %5 = loop(_, %0) {\n"
      "    %3 = reshape(%2) : f32[2, 2]\n"  // 3
      "    %4 = relu(%3) : f32[2, 2]\n"     // 4
      "    yield %0, %4\n"                  // 5
      "  } : f32[7, 2, 2]\n"                // 6
      "  return %5",
      "0:[0,8) 1:[0,8) 2:[2,6) 3:[3,5) 4:[4,6) 5:[3,8)");
}

TEST(AConstantInsideALoopIsKeptForEveryRun) {
  check_lifetimes(
      "  %0 = input \"go\" : bool[]\n"  // step 0
      "  %3 = loop(_, %0) {\n"
      "    %1 = constant \"c\" : f32[4]\n"  // 1
      "    %2 = relu(%1) : f32[4]\n"        // 2
      "    yield %0, %2\n"                  // 3
      "  } : f32[7, 4]\n"                   // 4
      "  return %3",
      "0:[0,6) 1:[0,6) 2:[2,4) 3:[1,6)");
}

TEST(EffectsThatCrossALoopCoverItsBody) {
  check_lifetimes(
      "  %0 = input \"go\" : bool[]\n"                   // step 0
      "  %1 = input \"x\" : f32[4]\n"                    // 1
      "  %2 = relu(%1) : f32[4]\n"                       // 2
      "  %3 = relu(%2) : f32[4] with {hold = [0, 6]}\n"  // 3: until inside
      "  %8 = loop(_, %0) {\n"
      "    %4, %5 = args() : i64[], bool[]\n"                              // 4
      "    %6 = relu(%3) : f32[4]\n"                                       // 5
      "    %7 = relu(%6) : f32[4] with {early = [0, 3], hold = [0, 9]}\n"  // 6: from outside
      "    yield %5, %7\n"                                                 // 7
      "  } : f32[7, 4]\n"                                                  // 8
      "  %9 = relu(%8) : f32[7, 4]\n"                                      // 9
      "  %10 = relu(%9) : f32[7, 4] with {early = [0, 6]}\n"               // 10: from inside
      "  return %10",
      "0:[0,12) 1:[0,12) 2:[2,8) 3:[3,8) 4:[4,5) 5:[4,8) 6:[4,10) 7:[3,8) 8:[4,10) 9:[9,11) "
      "10:[4,12)");
}

// The next iterations write before the value is read for the last time; also into the root, if a
// view is held.
TEST(WhatIsHeldToTheEndInALoopCoversItsBody) {
  check_lifetimes(
      "  %0 = input \"go\" : bool[]\n"  // step 0
      "  %1 = input \"x\" : f32[4]\n"   // 1
      "  %9 = loop(_, %0) {\n"
      "    %2 = neg(%1) : f32[4]\n"  // 2
      "    %7 = loop(_, %0) {\n"
      "      %3 = neg(%1) : f32[4]\n"                           // 3
      "      %4 = neg(%3) : f32[4]\n"                           // 4
      "      %5 = reshape(%4) : f32[2, 2]\n"                    // 5
      "      %6 = neg(%5) : f32[2, 2] with {hold = [0, -1]}\n"  // 6
      "      yield %0, %6\n"                                    // 7
      "    } : f32[3, 2, 2]\n"                                  // 8
      "    %8 = neg(%2) : f32[4]\n"                             // 9
      "    yield %0, %8\n"                                      // 10
      "  } : f32[3, 4]\n"                                       // 11
      "  return %9",
      "0:[0,13) 1:[0,13) 2:[2,10) 3:[3,5) 4:[2,13) 5:[2,13) 6:[6,8) 7:[3,9) 8:[9,11) 9:[2,13)");
}

// ---------------------------------------------------------------------------------------------
// Arguments

TEST(AScheduleOfAnotherGraphIsRefused) {
  fixture f;
  fixture g;
  fixture_init(&f);
  fixture_init(&g);
  REQUIRE(fixture_lifetimes(&f,
                            "  %0 = input \"x\" : f32[4]\n"
                            "  %1 = relu(%0) : f32[4]\n"
                            "  %2 = relu(%1) : f32[4]\n"
                            "  return %2") == STOW_OK);
  REQUIRE(fixture_parse(&g,
                        "  %0 = input \"x\" : f32[4]\n"
                        "  %1 = relu(%0) : f32[4]\n"
                        "  %2 = relu(%0) : f32[4]\n"
                        "  return %1, %2") == STOW_OK);
  static const stow_node order[] = {0, 2, 1};
  stow_schedule* schedule;
  REQUIRE(stow_schedule_create_order(g.graph, order, 3, g.allocator, &g.diag, &schedule) ==
          STOW_OK);
  stowi_analysis_lifetimes* lifetimes;
  CHECK(stowi_analysis_lifetimes_create(f.graph, schedule, f.views, f.effects, &f.lifetimes_options,
                                        f.allocator, &f.diag, &lifetimes) == STOW_ERR_CONFLICT);
  CHECK_TEXT(f.diag.message,
             "relu %2 at step 1 runs before the maker of its operand, relu %1 at step 2");
  CHECK(lifetimes == NULL);
  stow_schedule_destroy(schedule);
  fixture_free(&f);
  fixture_free(&g);
}

TEST(ArgumentsThatDoNotBelongTogetherAreRefused) {
  fixture f;
  fixture g;
  fixture_init(&f);
  fixture_init(&g);
  REQUIRE(fixture_lifetimes(&f, "  %0 = input \"x\" : f32[4]\n  return %0") == STOW_OK);
  REQUIRE(fixture_lifetimes(&g,
                            "  %0 = input \"x\" : f32[4]\n"
                            "  %1 = relu(%0) : f32[4]\n"
                            "  return %1") == STOW_OK);
  stowi_analysis_lifetimes* lifetimes;
  const stowi_analysis_lifetimes_options* options = &f.lifetimes_options;
  CHECK(stowi_analysis_lifetimes_create(f.graph, f.schedule, g.views, NULL, options, f.allocator,
                                        &f.diag, &lifetimes) == STOW_ERR_INVALID_ARGUMENT);
  CHECK_HAS(f.diag.message, "the views were made for another graph, or the graph has grown since");
  CHECK(stowi_analysis_lifetimes_create(f.graph, g.schedule, f.views, NULL, options, f.allocator,
                                        &f.diag, &lifetimes) == STOW_ERR_INVALID_ARGUMENT);
  CHECK_HAS(f.diag.message, "the schedule has 2 steps, but the graph has 1 nodes");
  CHECK(stowi_analysis_lifetimes_create(f.graph, f.schedule, f.views, g.effects, options,
                                        f.allocator, &f.diag,
                                        &lifetimes) == STOW_ERR_INVALID_ARGUMENT);
  CHECK_HAS(f.diag.message,
            "the effects were made for another graph, or the graph has grown since");
  CHECK(lifetimes == NULL);
  fixture_free(&f);
  fixture_free(&g);
}

TEST(OptionsAreChecked) {
  fixture f;
  fixture_init(&f);
  const char* body = "  %0 = input \"x\" : f32[4]\n  return %0";
  f.lifetimes_options.io = (stow_io_policy)-1;
  CHECK(fixture_lifetimes(&f, body) == STOW_ERR_INVALID_ARGUMENT);
  stowi_analysis_lifetimes_options_init(&f.lifetimes_options);
  f.lifetimes_options.rule_count = STOW_MAX_RULES + 1;
  CHECK(fixture_lifetimes(&f, body) == STOW_ERR_LIMIT);
  CHECK_HAS(f.diag.message, "33 lifetime rules, the maximum is 32");
  f.lifetimes_options.rule_count = 1;
  CHECK(fixture_lifetimes(&f, body) == STOW_ERR_INVALID_ARGUMENT);
  CHECK_HAS(f.diag.message, "lifetime rule 0 is NULL");
  fixture_free(&f);
  stowi_analysis_lifetimes_destroy(NULL);
}

static stow_status attempt_lifetimes(stow_allocator allocator, void* user) {
  const fixture* f = (const fixture*)user;
  stow_diag diag;
  stow_diag_init(&diag);
  stowi_analysis_lifetimes* lifetimes;
  stow_status status =
      stowi_analysis_lifetimes_create(f->graph, f->schedule, f->views, f->effects,
                                      &f->lifetimes_options, allocator, &diag, &lifetimes);
  CHECK(diag.status == status);
  CHECK((status == STOW_OK) == (lifetimes != NULL));
  stowi_analysis_lifetimes_destroy(lifetimes);
  return status;
}

TEST(EveryFailedAllocationIsReportedAndLeaksNothing) {
  fixture f;
  fixture_init(&f);
  for (size_t i = 0; i < stow_rule_count(); ++i) {
    fixture_add_rule(&f, stow_rule_at(i)->name);
  }
  REQUIRE(fixture_lifetimes(&f,
                            "  %0 = input \"go\" : bool[]\n"
                            "  %1 = input \"x\" : f32[1, 2, 2, 4]\n"
                            "  %5 = loop(_, %0, %1) {\n"
                            "    %2, %3, %4 = args() : i64[], bool[], f32[1, 2, 2, 4]\n"
                            "    yield %3, %4\n"
                            "  } : f32[1, 2, 2, 4]\n"
                            "  %6 = attention(%5, %5, %5) : f32[1, 2, 2, 4]\n"
                            "  %7 = relu(%6) : f32[1, 2, 2, 4] with {overwrite = [0, 0]}\n"
                            "  return %7") == STOW_OK);
  CHECK_U64(test_fault_sweep(attempt_lifetimes, &f), 11);
  fixture_free(&f);
}

// Own lives as fixture_show_lifetimes shows lives.
static const char* show_own(fixture* f) {
  size_t used = 0;
  f->text[0] = '\0';
  for (stow_value v = 0; v < stow_graph_value_count(f->graph); ++v) {
    used += (size_t)snprintf(f->text + used, sizeof(f->text) - used, "%s%u:[%u,%u)",
                             used == 0 ? "" : " ", (unsigned)v,
                             (unsigned)stowi_analysis_lifetimes_own_begin(f->lifetimes, v),
                             (unsigned)stowi_analysis_lifetimes_own_end(f->lifetimes, v));
  }
  return f->text;
}

TEST(ARootsOwnLifetimeExcludesOtherValuesInIt) {
  fixture f;
  fixture_init(&f);
  REQUIRE(fixture_lifetimes(&f,
                            "  %0 = input \"x\" : f32[4]\n"
                            "  %1 = relu(%0) : f32[4]\n"
                            "  %2 = narrow(%1) {axis = 0, start = 1, len = 2} : f32[2]\n"
                            "  %3 = relu(%0) : f32[4]\n"
                            "  %4 = relu(%2) : f32[2]\n"
                            "  return %3, %4") == STOW_OK);
  CHECK_TEXT(fixture_show_lifetimes(&f), "0:[0,6) 1:[1,5) 2:[2,5) 3:[3,6) 4:[4,6)");
  CHECK_TEXT(show_own(&f), "0:[0,6) 1:[1,3) 2:[2,5) 3:[3,6) 4:[4,6)");
  fixture_free(&f);
}

TEST(ALoopsValuesOwnTheirPartsOfTheRun) {
  fixture f;
  fixture_init(&f);
  REQUIRE(fixture_lifetimes(&f,
                            "  %0 = input \"go\" : bool[]\n"
                            "  %1 = input \"x\" : f32[4]\n"
                            "  %2 = relu(%1) : f32[4]\n"
                            "  %7 = loop(_, %0, %2) {\n"
                            "    %3, %4, %5 = args() : i64[], bool[], f32[4]\n"
                            "    %6 = relu(%5) : f32[4]\n"
                            "    yield %4, %6\n"
                            "  } : f32[4]\n"
                            "  %8 = relu(%7) : f32[4]\n"
                            "  return %8") == STOW_OK);
  CHECK_TEXT(fixture_show_views(&f), "5=2+0 7=2+0");
  CHECK_TEXT(show_own(&f),
             "0:[0,9) 1:[0,9) 2:[2,4) 3:[3,4) 4:[3,6) 5:[3,7) 6:[4,6) 7:[6,8) 8:[7,9)");
  fixture_free(&f);
}
