// Results that take over the bytes of an operand.
#include <stdio.h>
#include <string.h>

#include "fixture.h"
#include "support/fault.h"
#include "support/test.h"

static stow_status apply(fixture* f, size_t* out_count) {
  return stow_views_apply_overwrites(f->views, f->graph, f->schedule, f->effects, f->lifetimes,
                                     &f->diag, out_count);
}

static void check_prepared(fixture* f, const char* body, size_t expected_count,
                           const char* expected) {
  size_t count = 99;
  stow_status status = fixture_lifetimes(f, body);
  if (test_check(status == STOW_OK, __FILE__, __LINE__, "%s", f->diag.message)) {
    CHECK(apply(f, &count) == STOW_OK);
    CHECK_U64(count, expected_count);
    CHECK_TEXT(fixture_show_views(f), expected);
  }
  fixture_free(f);
}

// |body|'s views after overwrites: how many were applied, and all views.
static void check_overwrites(const char* body, size_t expected_count, const char* expected) {
  fixture f;
  fixture_init(&f);
  check_prepared(&f, body, expected_count, expected);
}

#define OVER " with {overwrite = [0, 0]}\n"

TEST(AChainTakesOverTheSameBytes) {
  const char* body =
      "  %0 = input \"x\" : f32[4]\n"
      "  %1 = relu(%0) : f32[4]\n"
      "  %2 = relu(%1) : f32[4]" OVER
      "  %3 = reshape(%2) : f32[2, 2]\n"
      "  %4 = relu(%3) : f32[2, 2]" OVER
      "  %5 = narrow(%4) {axis = 0, start = 1, len = 1} : f32[1, 2]\n"
      "  return %5";
  check_overwrites(body, 2, "2=1+0 3=1+0 4=1+0 5=1+8");
  fixture f;
  fixture_init(&f);
  size_t count;
  REQUIRE(fixture_lifetimes(&f, body) == STOW_OK);
  REQUIRE(apply(&f, &count) == STOW_OK);
  CHECK(!stow_views_is_noop(f.views, 2));
  CHECK(stow_views_is_noop(f.views, 3));
  stow_lifetimes_destroy(f.lifetimes);
  REQUIRE(stow_lifetimes_create(f.graph, f.schedule, f.views, f.effects, &f.lifetimes_options,
                                f.allocator, &f.diag, &f.lifetimes) == STOW_OK);
  CHECK_TEXT(fixture_show_lifetimes(&f), "0:[0,7) 1:[1,7) 2:[2,4) 3:[3,5) 4:[4,6) 5:[5,7)");
  fixture_free(&f);
}

TEST(ALaterReadOfAnyPartForbidsIt) {
  check_overwrites(
      "  %0 = input \"x\" : f32[4]\n"
      "  %1 = relu(%0) : f32[4]\n"
      "  %2 = narrow(%1) {axis = 0, start = 1, len = 1} : f32[1]\n"
      "  %3 = relu(%1) : f32[4]" OVER
      "  %4 = relu(%2) : f32[1]\n"
      "  return %3, %4",
      0, "2=1+4");
}

TEST(AReadThatIsStillUnderWayForbidsIt) {
  // %2 reads %1 until %3 has run, so %3 must not write there; %5 may write over %4, which nobody
  // else reads by then.
  check_overwrites(
      "  %0 = input \"x\" : f32[4]\n"
      "  %1 = relu(%0) : f32[4]\n"
      "  %2 = relu(%1) : f32[4] with {hold = [0, 3]}\n"
      "  %3 = relu(%1) : f32[4] with {overwrite = [0, 0], hold = [0, 4]}\n"
      "  %4 = relu(%2) : f32[4]\n"
      "  %5 = relu(%4) : f32[4] with {hold = [0, 6]}\n"
      "  %6 = relu(%0) : f32[4]\n"
      "  %7 = relu(%4) : f32[4] with {overwrite = [0, 0]}\n"
      "  return %3, %5, %6, %7",
      1, "7=4+0");
}

static stow_status read_1_at_2(stow_rule_call* call, void* user) {
  (void)user;
  stow_rule_extend(call, 1, 2);
  return STOW_OK;
}

TEST(AReadThatARuleAddsForbidsIt) {
  static const stow_rule rule = {"late", "reads %1 at step 2", read_1_at_2, NULL};
  const char* body =
      "  %0 = input \"x\" : f32[4]\n"
      "  %1 = relu(%0) : f32[4]\n"
      "  %2 = relu(%1) : f32[4]" OVER "  %3 = relu(%2) : f32[4]" OVER "  return %3";
  check_overwrites(body, 2, "2=1+0 3=1+0");
  fixture f;
  fixture_init(&f);
  f.lifetimes_options.rule_count = 1;
  f.lifetimes_options.rules[0] = &rule;
  check_prepared(&f, body, 1, "3=2+0");
}

TEST(TheSameOperandTwiceForbidsIt) {
  check_overwrites(
      "  %0 = input \"x\" : f32[4]\n"
      "  %1 = relu(%0) : f32[4]\n"
      "  %2 = reshape(%1) : f32[4]\n"
      "  %3 = add(%1, %2) : f32[4]" OVER "  return %3",
      0, "2=1+0");
}

TEST(TheFirstOperandThatFitsIsTaken) {
  check_overwrites(
      "  %0 = input \"x\" : f32[4]\n"
      "  %1 = relu(%0) : f32[4]\n"
      "  %2 = relu(%0) : f32[4]\n"
      "  %3 = add(%1, %2) : f32[4] with {overwrite = [0, 0, 0, 1]}\n"
      "  %4 = relu(%3) : f32[4]\n"
      "  return %4, %1",
      1, "3=2+0");
}

TEST(TwoResultsNeverTakeTheSameBytes) {
  check_overwrites(
      "  %0 = input \"x\" : f32[4]\n"
      "  %1 = relu(%0) : f32[4]\n"
      "  %2, %3 = custom(%1) {name = \"f\"} : f32[4], f32[4] with {overwrite = [0, 0, 1, 0]}\n"
      "  %4 = relu(%3) : f32[4]\n"
      "  return %4",
      1, "2=1+0");
}

TEST(BoundaryValuesAreOnlyOverwrittenWhereConsumed) {
  const char* body =
      "  %0 = input \"x\" : f32[4]\n"
      "  %1 = param \"w\" : f32[4]\n"
      "  %2 = add(%0, %1) : f32[4] with {overwrite = [0, 1, 0, 0]}\n"
      "  return %2";
  check_overwrites(body, 0, "");
  fixture f;
  fixture_init(&f);
  f.lifetimes_options.io = STOW_IO_CONSUME;
  f.views_options.io = STOW_IO_CONSUME;
  check_prepared(&f, body, 1, "2=0+0");
  f.lifetimes_options.io = STOW_IO_EXTERNAL;
  f.views_options.io = STOW_IO_EXTERNAL;
  check_prepared(&f, body, 0, "");
}

TEST(InputsOutsideTheArenaAreNotOverwritten) {
  const char* body =
      "  %0 = input \"x\" : f32[4]\n"
      "  %1 = reshape(%0) : f32[2, 2]\n"
      "  %2 = relu(%1) : f32[2, 2]" OVER "  %3 = relu(%2) : f32[2, 2]" OVER "  return %3";
  fixture f;
  fixture_init(&f);
  f.lifetimes_options.io = STOW_IO_CONSUME;
  f.views_options.io = STOW_IO_CONSUME;
  check_prepared(&f, body, 2, "1=0+0 2=0+0 3=0+0");
  f.views_options.inputs = false;
  check_prepared(&f, body, 1, "1=0+0 3=2+0");
}

TEST(WhatIsFixedOwnStateOrExternalStays) {
#define CASE(root_clause, result_clause)                            \
  "  %0 = input \"x\" : f32[4]\n"                                   \
  "  %1 = relu(%0) : f32[4]" root_clause                            \
  "\n"                                                              \
  "  %2 = relu(%1) : f32[4] with {overwrite = [0, 0]" result_clause \
  "}\n"                                                             \
  "  return %2"
  check_overwrites(CASE("", ""), 1, "2=1+0");
  check_overwrites(CASE(" with {at = 64}", ""), 0, "");
  check_overwrites(CASE(" with {state = true}", ""), 0, "");
  check_overwrites(CASE(" with {storage = 32}", ""), 0, "");
  check_overwrites(CASE(" with {align = 256}", ""), 0, "");
  check_overwrites(CASE(" with {align = 256}", ", align = 256"), 1, "2=1+0");
  check_overwrites(CASE("", ", at = 64"), 0, "");
  check_overwrites(CASE("", ", own = true"), 0, "");
  check_overwrites(CASE("", ", state = true"), 0, "");
  check_overwrites(CASE("", ", storage = 32"), 0, "");
  check_overwrites(CASE("", ", io = \"external\""), 0, "");
  check_overwrites(CASE("", ", early = [0, 0]"), 0, "");
  check_overwrites(CASE("", ", hold = [0, -1]"), 0, "");
  check_overwrites(CASE("", ", inside = [0, 0, 0]"), 0, "2=1+0");
}

TEST(APartOfARootIsNotTaken) {
  check_overwrites(
      "  %0 = input \"x\" : f32[4]\n"
      "  %1 = relu(%0) : f32[4]\n"
      "  %2 = narrow(%1) {axis = 0, start = 0, len = 2} : f32[2]\n"
      "  %3 = relu(%2) : f32[2]" OVER "  return %3",
      0, "2=1+0");
}

TEST(NothingIsTakenWhereReuseIsForbidden) {
  fixture f;
  fixture_init(&f);
  fixture_add_rule(&f, "i64-epilogue");
  check_prepared(&f,
                 "  %0 = input \"x\" : i64[2, 2, 2]\n"
                 "  %1 = neg(%0) : i64[2, 2, 2]\n"
                 "  %2 = neg(%1) : i64[2, 2, 2]" OVER
                 "  %3 = input \"y\" : f32[4]\n"
                 "  %4 = relu(%3) : f32[4]\n"
                 "  %5 = relu(%4) : f32[4]" OVER "  return %2, %5",
                 0, "");
}

TEST(ValuesOfOuterRegionsAreNotOverwrittenInLoops) {
  check_overwrites(
      "  %0 = input \"go\" : bool[]\n"
      "  %1 = input \"x\" : f32[4]\n"
      "  %2 = relu(%1) : f32[4]\n"
      "  %6 = loop(_, %0) {\n"
      "    %3 = relu(%2) : f32[4]" OVER "    %4 = relu(%3) : f32[4]" OVER
      "    %5 = relu(%4) : f32[4]" OVER
      "    yield %0, %5\n"
      "  } : f32[7, 4]\n"
      "  return %6",
      2, "4=3+0 5=3+0");
}

TEST(ALoopsResultCanBeOverwritten) {
  check_overwrites(
      "  %0 = input \"go\" : bool[]\n"
      "  %1 = input \"x\" : f32[4]\n"
      "  %2 = relu(%1) : f32[4]\n"
      "  %3 = relu(%2) : f32[4]" OVER
      "  %7 = loop(_, %0, %3) {\n"
      "    %4, %5, %6 = args() : i64[], bool[], f32[4]\n"
      "    yield %5, %6\n"
      "  } : f32[4]\n"
      "  %8 = relu(%7) : f32[4]" OVER "  return %8",
      2, "3=2+0 6=2+0 7=2+0 8=2+0");
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
  size_t count;
  CHECK(stow_views_apply_overwrites(f.views, g.graph, g.schedule, g.effects, g.lifetimes, &f.diag,
                                    &count) == STOW_ERR_INVALID_ARGUMENT);
  CHECK(stow_views_apply_overwrites(g.views, g.graph, g.schedule, f.effects, g.lifetimes, &f.diag,
                                    &count) == STOW_ERR_INVALID_ARGUMENT);
  CHECK(stow_views_apply_overwrites(g.views, g.graph, f.schedule, g.effects, g.lifetimes, &f.diag,
                                    &count) == STOW_ERR_INVALID_ARGUMENT);
  CHECK(stow_views_apply_overwrites(g.views, g.graph, g.schedule, g.effects, f.lifetimes, &f.diag,
                                    &count) == STOW_ERR_INVALID_ARGUMENT);
  CHECK(stow_views_apply_overwrites(g.views, g.graph, g.schedule, NULL, g.lifetimes, &f.diag,
                                    &count) == STOW_OK);
  CHECK_U64(count, 0);
  fixture_free(&f);
  fixture_free(&g);
}

static stow_status attempt_overwrites(stow_allocator allocator, void* user) {
  const fixture* f = (const fixture*)user;
  stow_diag diag;
  stow_diag_init(&diag);
  stow_views* views;
  size_t count = 0;
  stow_status status =
      stow_views_create(f->graph, f->effects, &f->views_options, allocator, &diag, &views);
  if (status == STOW_OK) {
    status = stow_views_apply_overwrites(views, f->graph, f->schedule, f->effects, f->lifetimes,
                                         &diag, &count);
    CHECK_U64(count, status == STOW_OK ? 2 : 0);
    CHECK(stow_views_is_view(views, 2) == (status == STOW_OK));
  }
  stow_views_destroy(views);
  return status;
}

TEST(EveryFailedAllocationIsReportedAndChangesNothing) {
  fixture f;
  fixture_init(&f);
  REQUIRE(fixture_lifetimes(&f,
                            "  %0 = input \"x\" : f32[4]\n"
                            "  %1 = relu(%0) : f32[4]\n"
                            "  %2 = relu(%1) : f32[4]" OVER "  %3 = relu(%2) : f32[4]" OVER
                            "  return %3") == STOW_OK);
  CHECK_U64(test_fault_sweep(attempt_overwrites, &f), 10);
  fixture_free(&f);
}
