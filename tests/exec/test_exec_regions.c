// Branches and loops, each in all ways to run (exec_case_way).
#include <stdio.h>
#include <string.h>

#include "exec/exec_case.h"
#include "support/test.h"

// Calls |run| for a fresh case of |text| in each way.
static void in_every_way(const char* text, void (*run)(exec_case* c)) {
  for (int way = 0; way < EXEC_WAYS; ++way) {
    exec_case c;
    exec_case_begin(&c, text);
    exec_case_way(&c, way);
    if (test_check(exec_case_make(&c) == STOW_OK, __FILE__, __LINE__, "way %d: %s", way,
                   c.diag.message)) {
      run(&c);
    }
    exec_case_end(&c);
  }
}

static void runs(exec_case* c, int line) {
  stow_status status = stow_exec_run(c->exec, &c->diag);
  test_check(status == STOW_OK, __FILE__, line, "%s", c->diag.message);
}
#define RUNS(c) runs((c), __LINE__)

// ---------------------------------------------------------------------------------------------

static void run_both_branches(exec_case* c) {
  EXEC_SET(c, "x", float, 1, -2, 3, -4);
  EXEC_SET(c, "c", bool, true);
  RUNS(c);
  EXEC_GIVES(c, 0, float, -1, 2, -3, 4);
  EXEC_SET(c, "x", float, 1, -2, 3, -4);
  EXEC_SET(c, "c", bool, false);
  RUNS(c);
  EXEC_GIVES(c, 0, float, 2, -4, 6, -8);
}

TEST(TheConditionSelectsTheBranch) {
  in_every_way(
      "%0 = input \"x\" : f32[4]\n %1 = input \"c\" : bool[]\n"
      "%4 = if(%1) { %2 = neg(%0) : f32[4]\n yield %2 }"
      " else { %3 = add(%0, %0) : f32[4]\n yield %3 } : f32[4]\n return %4",
      run_both_branches);
}

static void run_passing(exec_case* c) {
  EXEC_SET(c, "x", float, 1, 2);
  EXEC_SET(c, "c", bool, true);
  RUNS(c);
  EXEC_GIVES(c, 0, float, 1, 2);
  EXEC_GIVES(c, 1, float, 3, 6);
}

TEST(BranchesMayYieldOuterValues) {
  in_every_way(
      "%0 = input \"x\" : f32[2]\n %1 = input \"c\" : bool[]\n %2 = add(%0, %0) : f32[2]\n"
      "%3 = if(%1) { yield %0 } else { yield %2 } : f32[2]\n"
      "%4 = add(%3, %2) : f32[2]\n return %3, %4",
      run_passing);
}

// ---------------------------------------------------------------------------------------------

#define POWERS                                             \
  "%0 = input \"n\" : i64[]\n %1 = input \"x\" : f32[2]\n" \
  "%6 = loop(%0, _, %1) {\n"                               \
  "  %2, %3, %4 = args() : i64[], bool[], f32[2]\n"        \
  "  %5 = add(%4, %4) : f32[2]\n  yield %3, %5 } : f32[2]\n return %6"

static void run_powers(exec_case* c) {
  EXEC_SET(c, "x", float, 1, 3);
  EXEC_SET(c, "n", int64_t, 5);
  RUNS(c);
  EXEC_GIVES(c, 0, float, 32, 96);
  EXEC_SET(c, "n", int64_t, 0);
  RUNS(c);
  EXEC_GIVES(c, 0, float, 1, 3);
  EXEC_SET(c, "n", int64_t, -7);
  RUNS(c);
  EXEC_GIVES(c, 0, float, 1, 3);
}

TEST(LoopsRunAsManyRoundsAsTheTripCount) { in_every_way(POWERS, run_powers); }

static void run_until(exec_case* c) {
  EXEC_SET(c, "x", float, 1);
  EXEC_SET(c, "limit", float, 20);
  EXEC_SET(c, "c", bool, true);
  RUNS(c);
  EXEC_GIVES(c, 0, float, 32);
  EXEC_SET(c, "c", bool, false);
  RUNS(c);
  EXEC_GIVES(c, 0, float, 1);
}

TEST(LoopsEndWhereTheConditionFails) {
  in_every_way(
      "%0 = input \"c\" : bool[]\n %1 = input \"x\" : f32[]\n %2 = input \"limit\" : f32[]\n"
      "%8 = loop(_, %0, %1) {\n"
      "  %3, %4, %5 = args() : i64[], bool[], f32[]\n"
      "  %6 = add(%5, %5) : f32[]\n  %7 = lt(%6, %2) : bool[]\n"
      "  yield %7, %6 } : f32[]\n return %8",
      run_until);
}

static void run_unasked(exec_case* c) {
  EXEC_SET(c, "n", int64_t, 5);
  EXEC_SET(c, "x", float, 0);
  RUNS(c);
  EXEC_GIVES(c, 0, float, 5);
}

// As ONNX's Loop says of input (trip_count, "").
TEST(LoopsWithoutAConditionIgnoreTheBodysCondition) {
  in_every_way(
      "%0 = input \"n\" : i64[]\n %1 = input \"x\" : f32[]\n"
      "%2 = constant \"last\" {data = [1]} : i64[]\n %3 = constant \"one\" {data = [1.0]} : f32[]\n"
      "%9 = loop(%0, _, %1) {\n"
      "  %4, %5, %6 = args() : i64[], bool[], f32[]\n"
      "  %7 = lt(%4, %2) : bool[]\n  %8 = add(%6, %3) : f32[]\n"
      "  yield %7, %8 } : f32[]\n return %9",
      run_unasked);
}

// ---------------------------------------------------------------------------------------------

static void run_swap(exec_case* c) {
  for (int64_t n = 0; n < 4; ++n) {
    EXEC_SET(c, "a", float, 1, 2);
    EXEC_SET(c, "b", float, 3, 4);
    EXEC_SET(c, "n", int64_t, n);
    RUNS(c);
    if (n % 2 == 0) {
      EXEC_GIVES(c, 0, float, 1, 2);
      EXEC_GIVES(c, 1, float, 3, 4);
    } else {
      EXEC_GIVES(c, 0, float, 3, 4);
      EXEC_GIVES(c, 1, float, 1, 2);
    }
  }
}

TEST(CarriedValuesCanSwap) {
  in_every_way(
      "%0 = input \"n\" : i64[]\n %1 = input \"a\" : f32[2]\n %2 = input \"b\" : f32[2]\n"
      "%7, %8 = loop(%0, _, %1, %2) {\n"
      "  %3, %4, %5, %6 = args() : i64[], bool[], f32[2], f32[2]\n"
      "  yield %4, %6, %5 } : f32[2], f32[2]\n return %7, %8",
      run_swap);
}

enum { MANY = 1040 };  // 65 lines of 64 bytes

static void run_large_swap(exec_case* c) {
  static float ones[MANY];
  static float twos[MANY];
  for (size_t i = 0; i < MANY; ++i) {
    ones[i] = 1;
    twos[i] = 2;
  }
  CHECK(exec_case_set(c, "a", ones, sizeof(ones)) == STOW_OK);
  CHECK(exec_case_set(c, "b", twos, sizeof(twos)) == STOW_OK);
  RUNS(c);
  exec_case_gives(c, 0, twos, sizeof(twos), __FILE__, __LINE__);
  exec_case_gives(c, 1, ones, sizeof(ones), __FILE__, __LINE__);
}

TEST(LargeCarriedValuesCanSwap) {
  in_every_way(
      "%0 = constant \"n\" {data = [3]} : i64[]\n %1 = input \"a\" : f32[1040]\n"
      "%2 = input \"b\" : f32[1040]\n"
      "%7, %8 = loop(%0, _, %1, %2) {\n"
      "  %3, %4, %5, %6 = args() : i64[], bool[], f32[1040], f32[1040]\n"
      "  yield %4, %6, %5 } : f32[1040], f32[1040]\n return %7, %8",
      run_large_swap);
}

static void run_rotation(exec_case* c) {
  EXEC_SET(c, "a", float, 1);
  EXEC_SET(c, "b", float, 2);
  EXEC_SET(c, "d", float, 3);
  EXEC_SET(c, "n", int64_t, 4);
  RUNS(c);
  EXEC_GIVES(c, 0, float, 2);
  EXEC_GIVES(c, 1, float, 3);
  EXEC_GIVES(c, 2, float, 1);
  EXEC_GIVES(c, 3, float, 1, 2, 3, 1);
}

TEST(ViewsOfCarriedValuesCanSwap) {
  in_every_way(
      "%0 = input \"n\" {data = [4]} : i64[]\n %1 = input \"a\" : f32[1]\n"
      "%2 = input \"b\" : f32[1]\n %3 = input \"d\" : f32[1]\n"
      "%11, %12, %13, %14 = loop(%0, _, %1, %2, %3) {\n"
      "  %4, %5, %6, %7, %8 = args() : i64[], bool[], f32[1], f32[1], f32[1]\n"
      "  %9 = reshape(%7) : f32[1, 1]\n  %10 = reshape(%9) : f32[1]\n"
      "  yield %5, %10, %8, %6, %6 } : f32[1], f32[1], f32[1], f32[4, 1]\n"
      "return %11, %12, %13, %14",
      run_rotation);
}

// ---------------------------------------------------------------------------------------------

static void run_scan(exec_case* c) {
  EXEC_SET(c, "x", float, 1, 10);
  RUNS(c);
  EXEC_GIVES(c, 0, float, 8, 80);
  EXEC_GIVES(c, 1, float, 1, 10, 2, 20, 4, 40);
  EXEC_GIVES(c, 2, int64_t, 0, 1, 2);
}

TEST(ScansCollectWhatRoundsYield) {
  in_every_way(
      "%0 = constant \"n\" {data = [3]} : i64[]\n %1 = input \"x\" : f32[2]\n"
      "%6, %7, %8 = loop(%0, _, %1) {\n"
      "  %2, %3, %4 = args() : i64[], bool[], f32[2]\n"
      "  %5 = add(%4, %4) : f32[2]\n  yield %3, %5, %4, %2 } : f32[2], f32[3, 2], i64[3]\n"
      "return %6, %7, %8",
      run_scan);
}

static void run_bytes(exec_case* c) {
  EXEC_SET(c, "few", int64_t, 2);
  RUNS(c);
  EXEC_GIVES(c, 0, bool, true, true, false);
}

TEST(ScansCollectSingleBytes) {
  in_every_way(
      "%0 = constant \"n\" {data = [3]} : i64[]\n %1 = input \"few\" : i64[]\n"
      "%5 = loop(%0, _) {\n"
      "  %2, %3 = args() : i64[], bool[]\n  %4 = lt(%2, %1) : bool[]\n"
      "  yield %3, %4 } : bool[3]\n return %5",
      run_bytes);
}

static void run_short_scan(exec_case* c) {
  EXEC_SET(c, "x", float, 1);
  EXEC_SET(c, "limit", float, 5);
  EXEC_SET(c, "c", bool, true);
  RUNS(c);
  EXEC_GIVES(c, 0, float, 1, 2, 4);
  stow_tensor tensor;
  EXEC_SET(c, "c", bool, false);
  RUNS(c);
  CHECK(stow_exec_value(c->exec, stow_graph_outputs(c->graph)[0], &c->diag, &tensor) == STOW_OK);
  CHECK_U64(tensor.dims[0], 0);
}

TEST(ScansHaveAsManyRoundsAsThereWere) {
  in_every_way(
      "%0 = input \"c\" : bool[]\n %1 = input \"x\" : f32[]\n %2 = input \"limit\" : f32[]\n"
      "%3 = constant \"n\" {data = [10]} : i64[]\n"
      "%9, %10 = loop(%3, %0, %1) {\n"
      "  %4, %5, %6 = args() : i64[], bool[], f32[]\n"
      "  %7 = add(%6, %6) : f32[]\n  %8 = lt(%7, %2) : bool[]\n"
      "  yield %8, %7, %6 } : f32[], f32[10]\n return %10",
      run_short_scan);
}

// Round i yields the first of two values where i is below "few", the second one else.
static void run_uneven(exec_case* c) {
  EXEC_SET(c, "a", float, 1, 2, 3);
  EXEC_SET(c, "b", float, 4, 5);
  EXEC_SET(c, "few", int64_t, 2);
  RUNS(c);
  EXEC_GIVES(c, 0, float, 1, 2, 3, 1, 2, 3);
  EXEC_SET(c, "few", int64_t, 0);
  RUNS(c);
  EXEC_GIVES(c, 0, float, 4, 5, 4, 5);
  EXEC_SET(c, "few", int64_t, 1);
  CHECK(stow_exec_run(c->exec, &c->diag) == STOW_ERR_TYPE);
  CHECK_HAS(c->diag.message, "round 1 yields f32[2] for %");
  CHECK_HAS(c->diag.message, "unlike earlier rounds");
}

TEST(ScansCollectOneShapeInAllRounds) {
  in_every_way(
      "%0 = constant \"n\" {data = [2]} : i64[]\n %1 = input \"few\" : i64[]\n"
      "%2 = input \"a\" : f32[3]\n %3 = input \"b\" : f32[2]\n"
      "%8 = loop(%0, _) {\n"
      "  %4, %5 = args() : i64[], bool[]\n  %6 = lt(%4, %1) : bool[]\n"
      "  %7 = if(%6) { yield %2 } else { yield %3 } : bounded f32[3]\n"
      "  yield %5, %7 } : bounded f32[2, 3]\n return %8",
      run_uneven);
}

// Tells dims that its result has no room for.
static stow_status run_boastful(stow_kernel_call* call) {
  memset(call->results[0]->data, 0, stow_tensor_bytes(call->results[0]));
  call->results[0]->dims[0] = 5;
  return STOW_OK;
}

TEST(YieldedValuesMustFit) {
  exec_case c;
  exec_case_begin(&c,
                  "%0 = input \"c\" : bool[]\n %1 = input \"x\" : f32[4]\n"
                  "%3 = if(%0) { %2 = custom(%1) {name = \"boastful\"} : bounded f32[4]\n"
                  " yield %2 } else { yield %1 } : bounded f32[4]\n return %3");
  stow_kernel kernel = {.struct_size = sizeof(kernel), .run = run_boastful};
  CHECK(stow_kernels_set_custom(c.kernels, stow_str_of("boastful"), &kernel, NULL) == STOW_OK);
  REQUIRE(exec_case_make(&c) == STOW_OK);
  EXEC_SET(&c, "x", float, 1, 2, 3, 4);
  EXEC_SET(&c, "c", bool, false);
  RUNS(&c);
  EXEC_GIVES(&c, 0, float, 1, 2, 3, 4);
  EXEC_SET(&c, "c", bool, true);
  CHECK(stow_exec_run(c.exec, &c.diag) == STOW_ERR_TYPE);
  CHECK_HAS(c.diag.message, "%3 is at most f32[4], but would become f32[5]");
  exec_case_end(&c);
}

TEST(MoreRoundsThanPlannedAreRefused) {
  exec_case c;
  exec_case_begin(&c,
                  "%0 = input \"n\" : i64[]\n %1 = input \"x\" : f32[2]\n"
                  "%6, %7 = loop(%0, _, %1) {\n"
                  "  %2, %3, %4 = args() : i64[], bool[], f32[2]\n"
                  "  %5 = add(%4, %4) : f32[2]\n  yield %3, %5, %4 } : f32[2], f32[?n, 2]\n"
                  "%8 = neg(%7) : f32[?n, 2]\n return %6, %7, %8");
  stow_str symbol = stow_str_of("n");
  int64_t most = 3;
  REQUIRE(stow_graph_bind(c.graph, &symbol, &most, 1, &c.diag) == STOW_OK);
  REQUIRE(exec_case_make(&c) == STOW_OK);
  EXEC_SET(&c, "x", float, 1, 2);
  EXEC_SET(&c, "n", int64_t, 2);
  RUNS(&c);
  EXEC_GIVES(&c, 1, float, 1, 2, 2, 4);
  EXEC_GIVES(&c, 2, float, -1, -2, -2, -4);
  EXEC_SET(&c, "n", int64_t, 4);
  CHECK(stow_exec_run(c.exec, &c.diag) == STOW_ERR_LIMIT);
  CHECK_HAS(c.diag.message, "room for 3 rounds");
  EXEC_SET(&c, "n", int64_t, 1);
  RUNS(&c);
  EXEC_GIVES(&c, 0, float, 2, 4);
  exec_case_end(&c);
}

// ---------------------------------------------------------------------------------------------

// Adds i to x in round i of the outer loop where i is below 2, and doubles x as often else.
static void run_nested(exec_case* c) {
  EXEC_SET(c, "x", float, 1);
  EXEC_SET(c, "two", int64_t, 2);
  EXEC_SET(c, "n", int64_t, 4);
  RUNS(c);
  // 1, then -1 (round 0), 1 (round 1), 4 (round 2, doubled twice), 32 (round 3, three times)
  EXEC_GIVES(c, 0, float, 32);
  EXEC_GIVES(c, 1, float, 1, -1, 1, 4);
}

TEST(RegionsNest) {
  in_every_way(
      "%0 = input \"n\" {data = [4]} : i64[]\n %1 = input \"x\" : f32[]\n"
      "%2 = input \"two\" : i64[]\n"
      "%14, %15 = loop(%0, _, %1) {\n"
      "  %3, %4, %5 = args() : i64[], bool[], f32[]\n"
      "  %6 = lt(%3, %2) : bool[]\n"
      "  %13 = if(%6) { %7 = neg(%5) : f32[]\n yield %7 } else {\n"
      "    %12 = loop(%3, _, %5) {\n"
      "      %8, %9, %10 = args() : i64[], bool[], f32[]\n"
      "      %11 = add(%10, %10) : f32[]\n yield %9, %11 } : f32[]\n"
      "    yield %12 } : f32[]\n"
      "  yield %4, %13, %5 } : f32[], f32[4]\n return %14, %15",
      run_nested);
}

static void run_bodies(exec_case* c) {
  EXEC_SET(c, "x", float, 3);
  RUNS(c);
  EXEC_GIVES(c, 0, float, 6, 6, 6);
}

TEST(BodiesWithoutArgumentsRun) {
  in_every_way(
      "%0 = constant \"n\" {data = [3]} : i64[]\n %1 = constant \"t\" {data = [1]} : bool[]\n"
      "%2 = input \"x\" : f32[]\n"
      "%4 = loop(%0) { %3 = add(%2, %2) : f32[]\n yield %1, %3 } : f32[3]\n return %4",
      run_bodies);
}

// What random numbers of a node begin with, round by round.
static uint64_t seeds[8];
static size_t seed_count;

static stow_status run_seeded(stow_kernel_call* call) {
  memcpy(call->results[0]->data, call->operands[0]->data, stow_tensor_bytes(call->results[0]));
  if (seed_count < 8) {
    seeds[seed_count++] = call->seed;
  }
  return STOW_OK;
}

TEST(EveryRoundHasItsOwnRandomNumbers) {
  exec_case c;
  exec_case_begin(&c,
                  "%0 = constant \"n\" {data = [2]} : i64[]\n %1 = input \"x\" : f32[]\n"
                  "%10 = loop(%0, _, %1) {\n"
                  "  %2, %3, %4 = args() : i64[], bool[], f32[]\n"
                  "  %9 = loop(%0, _, %4) {\n"
                  "    %5, %6, %7 = args() : i64[], bool[], f32[]\n"
                  "    %8 = custom(%7) {name = \"seeded\"} : f32[]\n yield %6, %8 } : f32[]\n"
                  "  yield %3, %9 } : f32[]\n return %10");
  stow_kernel kernel = {.struct_size = sizeof(kernel), .run = run_seeded};
  CHECK(stow_kernels_set_custom(c.kernels, stow_str_of("seeded"), &kernel, NULL) == STOW_OK);
  REQUIRE(exec_case_make(&c) == STOW_OK);
  EXEC_SET(&c, "x", float, 1);
  seed_count = 0;
  RUNS(&c);
  RUNS(&c);
  REQUIRE(seed_count == 8);
  for (size_t i = 0; i < 8; ++i) {
    for (size_t j = 0; j < i; ++j) {
      CHECK((seeds[i] == seeds[j]) == (i == j + 4));  // the second run has those of the first
    }
  }
  exec_case_end(&c);
}
