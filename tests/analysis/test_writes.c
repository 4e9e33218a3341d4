// Tests of effects that contradict what ops write into bytes that others read.
#include "fixture.h"
#include "support/fault.h"
#include "support/test.h"

// |body| is refused with |message|, which points at |node| and |value|.
static void check_refused(const char* body, stow_node node, stow_value value, const char* message) {
  fixture f;
  fixture_init(&f);
  CHECK(fixture_lifetimes(&f, body) == STOW_ERR_CONFLICT);
  CHECK_TEXT(f.diag.message, message);
  CHECK_U64(f.diag.node, node);
  CHECK_U64(f.diag.value, value);
  CHECK(f.lifetimes == NULL);
  fixture_free(&f);
}

static void check_accepted(const char* body) {
  fixture f;
  fixture_init(&f);
  stow_status status = fixture_lifetimes(&f, body);
  test_check(status == STOW_OK, __FILE__, __LINE__, "%s", f.diag.message);
  fixture_free(&f);
}

// ---------------------------------------------------------------------------------------------
// Ops that write into an operand

#define CACHE(reader_clause, append_clause)                       \
  "  %0 = input \"cache\" : f32[4, 8]\n"                          \
  "  %1 = input \"new\" : f32[1, 8]\n"                            \
  "  %2 = relu(%0) : f32[4, 8]" reader_clause                     \
  "\n"                                                            \
  "  %3 = relu(%2) : f32[4, 8]\n"                                 \
  "  %4 = kv_append(%0, %1) {axis = 0} : f32[4, 8]" append_clause \
  "\n"                                                            \
  "  %5 = relu(%4) : f32[4, 8]\n"                                 \
  "  return %3, %5"

TEST(HeldOperandsMustNotBeOverwritten) {
  check_accepted(CACHE(" with {hold = [0, 3]}", ""));
  check_refused(
      CACHE(" with {hold = [0, 4]}", ""), 2, 0,
      "relu %2 holds %0 \"cache\" until step 4, but kv_append %4 writes into its bytes at "
      "step 4");
  check_refused(
      CACHE(" with {hold = [0, 5]}", ""), 2, 0,
      "relu %2 holds %0 \"cache\" until step 5, but kv_append %4 writes into its bytes at "
      "step 4");
  check_refused(
      CACHE(" with {hold = [0, -1]}", ""), 2, 0,
      "relu %2 holds %0 \"cache\" until step 6, but kv_append %4 writes into its bytes at "
      "step 4");
  check_accepted(CACHE(" with {hold = [0, -1]}", " with {own = true}"));
}

TEST(ResultsOfAWriteMayBeHeld) {
  check_accepted(
      "  %0 = input \"cache\" : f32[4, 8]\n"
      "  %1 = input \"new\" : f32[1, 8]\n"
      "  %2 = kv_append(%0, %1) {axis = 0} : f32[4, 8]\n"
      "  %3 = relu(%2) : f32[4, 8] with {hold = [0, -1]}\n"
      "  return %3");
}

TEST(AnAppendThatStartsEarlyWritesIntoWhatItReads) {
  check_refused(CACHE("", " with {early = [0, 3]}"), 4, 0,
                "kv_append %4 reads %0 \"cache\" at step 4, but kv_append %4 writes into its bytes "
                "from step 3 on");
  check_refused(CACHE("", " with {early = [0, 3, 0, 2]}"), 2, 0,
                "relu %2 reads %0 \"cache\" at step 2, but kv_append %4 writes into its bytes from "
                "step 2 on");
  check_accepted(CACHE("", " with {own = true, early = [0, 3]}"));
}

// The cache is part of something else.
#define PLACED(kind, reader, type)                                             \
  "  %0 = " kind                                                               \
  " \"w\" : f32[8, 8]\n"                                                       \
  "  %1 = input \"new\" : f32[1, 8]\n"                                         \
  "  %2 = custom(%0) {name = \"f\"} : f32[4, 8] with {inside = [0, 0, 128]}\n" \
  "  %3 = kv_append(%2, %1) {axis = 0} : f32[4, 8]\n"                          \
  "  %4 = relu(" reader ") : " type                                            \
  "\n"                                                                         \
  "  return %4"

TEST(HoldsOfAPlacedCacheEndWhenItIsWritten) {
  check_accepted(PLACED("input", "%3", "f32[4, 8]"));
  check_refused(
      PLACED("input", "%0", "f32[8, 8]"), 4, 0,
      "relu %4 reads %0 \"w\" at step 4, but kv_append %3 writes into its bytes at step 3");
}

TEST(ParamsAndConstantsAreNotWritten) {
  check_refused(PLACED("param", "%3", "f32[4, 8]"), 3, 2,
                "kv_append %3 writes into %2, which is in %0 \"w\": a param or constant");
  check_refused(PLACED("constant", "%3", "f32[4, 8]"), 3, 2,
                "kv_append %3 writes into %2, which is in %0 \"w\": a param or constant");
}

TEST(AnAppendReadsNothingElseOfWhatItWrites) {
  check_refused(
      "  %0 = input \"x\" : f32[8, 8]\n"
      "  %1 = custom(%0) {name = \"f\"} : f32[4, 8] with {inside = [0, 0, 0]}\n"
      "  %2 = custom(%0) {name = \"f\"} : f32[1, 8] with {inside = [0, 0, 224]}\n"
      "  %3 = kv_append(%1, %2) {axis = 0} : f32[4, 8]\n"
      "  return %3",
      3, 1, "kv_append %3 writes into %1, which is in %0 \"x\": bytes that it also reads");
}

TEST(TheCallerReadsOutputs) {
  check_refused(
      "  %0 = input \"x\" : f32[4, 8]\n"
      "  %1 = input \"new\" : f32[1, 8]\n"
      "  %2 = relu(%0) : f32[4, 8]\n"
      "  %3 = custom(%2) {name = \"f\"} : f32[4, 8] with {inside = [0, 0, 0]}\n"
      "  %4 = kv_append(%3, %1) {axis = 0} : f32[4, 8]\n"
      "  return %2, %4",
      STOW_NODE_NONE, 2,
      "the caller reads %2 at step 5, but kv_append %4 writes into its bytes at step 4");
}

// ---------------------------------------------------------------------------------------------
// Regions

#define LOOP(body_clause, after_clause)               \
  "  %0 = input \"go\" : bool[]\n"                    \
  "  %1 = input \"x\" : f32[4]\n"                     \
  "  %7 = loop(_, %0, %1) {\n"                        \
  "    %2, %3, %4 = args() : i64[], bool[], f32[4]\n" \
  "    %5 = relu(%4) : f32[4]" body_clause            \
  "\n"                                                \
  "    %6 = relu(%5) : f32[4]\n"                      \
  "    yield %3, %6\n"                                \
  "  } : f32[4]\n"                                    \
  "  %8 = relu(%7) : f32[4]" after_clause             \
  "\n"                                                \
  "  return %8"

TEST(ALoopWritesTheNextIterationsValues) {
  check_accepted(LOOP(" with {hold = [0, 6]}", " with {hold = [0, -1]}"));
  check_refused(
      LOOP(" with {hold = [0, 8]}", ""), 3, 4,
      "relu %5 holds %4 until step 7, but yield at node 5 writes into its bytes at step 5");
  check_refused(
      LOOP(" with {hold = [0, -1]}", ""), 3, 4,
      "relu %5 holds %4 until step 8, but yield at node 5 writes into its bytes at step 5");
}

TEST(ALoopReadsOuterBytesInEveryIteration) {
  check_refused(
      "  %0 = input \"go\" : bool[]\n"
      "  %1 = input \"x\" : f32[4, 8]\n"
      "  %2 = input \"new\" : f32[1, 8]\n"
      "  %5 = loop(_, %0) {\n"
      "    %3 = custom(%1) {name = \"f\"} : f32[4, 8] with {inside = [0, 0, 0]}\n"
      "    %4 = kv_append(%3, %2) {axis = 0} : f32[4, 8]\n"
      "    yield %0, %4\n"
      "  } : f32[3, 4, 8]\n"
      "  return %5",
      3, 1,
      "custom %3 reads %1 \"x\" until step 5, but kv_append %4 writes into its bytes at step 4");
}

#define BRANCHES(before, reader)                          \
  "  %0 = input \"cache\" : f32[4, 8]\n"                  \
  "  %1 = input \"new\" : f32[1, 8]\n"                    \
  "  %2 = input \"which\" : bool[]\n"                     \
  "  %3 = relu(%0) : f32[4, 8]" before                    \
  "\n"                                                    \
  "  %7 = if(%2) {\n"                                     \
  "    %4 = kv_append(%0, %1) {axis = 0} : f32[4, 8]\n"   \
  "    yield %4\n"                                        \
  "  } else {\n"                                          \
  "    %5 = custom(%0) {name = \"f\"} : f32[4, 8]" reader \
  "\n"                                                    \
  "    %6 = kv_append(%5, %1) {axis = 0} : f32[4, 8]\n"   \
  "    yield %6\n"                                        \
  "  } : f32[4, 8]\n"                                     \
  "  return %3, %7"

TEST(OnlyOneBranchRuns) {
  check_accepted(BRANCHES("", " with {inside = [0, 0, 0]}"));
  check_refused(
      BRANCHES(" with {hold = [0, 5]}", " with {inside = [0, 0, 0]}"), 3, 0,
      "relu %3 holds %0 \"cache\" until step 6, but kv_append %4 writes into its bytes at "
      "step 4");
  // A loop in the other branch reads again and again, but never after the write.
  check_accepted(
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
      "  %7 = relu(%1) : f32[1, 8] with {hold = [0, -1]}\n"
      "  return %6, %7");
}

// A view stands for what was there when its parent was made, even if the write of the other branch
// has an earlier step.
#define VIEW_IN_THE_OTHER_BRANCH(clause)             \
  "  %0 = input \"cache\" : f32[4]\n"                \
  "  %1 = input \"new\" : f32[1]\n"                  \
  "  %2 = input \"which\" : bool[]\n"                \
  "  %6 = if(%2) {\n"                                \
  "    %3 = kv_append(%0, %1) {axis = 0} : f32[4]\n" \
  "    yield %1\n"                                   \
  "  } else {\n"                                     \
  "    %4 = reshape(%0) : f32[2, 2]\n"               \
  "    %5 = relu(%4) : f32[2, 2]" clause             \
  "\n"                                               \
  "    yield %1\n"                                   \
  "  } : f32[1]\n"                                   \
  "  %7 = relu(%1) : f32[1] with {hold = [0, -1]}\n" \
  "  return %6, %7"

TEST(AHeldViewIsHeldInBothBranchesToo) {
  check_accepted(VIEW_IN_THE_OTHER_BRANCH(""));
  check_refused(VIEW_IN_THE_OTHER_BRANCH(" with {hold = [0, -1]}"), 6, 4,
                "relu %5 holds %4 until step 10, but kv_append %3 writes into its bytes at step 3");
  check_refused(VIEW_IN_THE_OTHER_BRANCH(" with {hold = [0, 7]}"), 6, 4,
                "relu %5 holds %4 until step 9, but kv_append %3 writes into its bytes at step 3");
}

TEST(AYieldIsFoundByTheLineOfItsOwner) {
  fixture f;
  fixture_init(&f);
  CHECK(fixture_lifetimes(&f,
                          "  %0 = input \"x\" : f32[4]\n"
                          "  %1 = input \"which\" : bool[]\n"
                          "  %5 = if(%1) {\n"
                          "    %2 = relu(%0) : f32[4]\n"
                          "    %3 = custom(%2) {name = \"f\"} : f32[4] with {inside = [0, 0, 0]}\n"
                          "    %4 = kv_append(%3, %0) {axis = 0} : f32[4]\n"
                          "    yield %2\n"
                          "  } else {\n"
                          "    yield %0\n"
                          "  } : f32[4]\n"
                          "  return %5") == STOW_ERR_CONFLICT);
  CHECK_TEXT(
      f.diag.message,
      "yield at node 5 reads %2 at step 5, but kv_append %4 writes into its bytes at step 4");
  CHECK_U64(f.diag.line, 4);  // of the if
  fixture_free(&f);
}

// ---------------------------------------------------------------------------------------------

static stow_status attempt(stow_allocator allocator, void* user) {
  const fixture* f = (const fixture*)user;
  stow_diag diag;
  stow_diag_init(&diag);
  stowi_analysis_lifetimes* lifetimes;
  stow_status status =
      stowi_analysis_lifetimes_create(f->graph, f->schedule, f->views, f->effects,
                                      &f->lifetimes_options, allocator, &diag, &lifetimes);
  CHECK(diag.status == status);
  stowi_analysis_lifetimes_destroy(lifetimes);
  return status;
}

TEST(EveryFailedAllocationIsReportedAndLeaksNothing) {
  fixture f;
  fixture_init(&f);
  REQUIRE(fixture_lifetimes(&f, LOOP(" with {hold = [0, 6]}", "")) == STOW_OK);
  CHECK(test_fault_sweep(attempt, &f) > 4);
  fixture_free(&f);
}
