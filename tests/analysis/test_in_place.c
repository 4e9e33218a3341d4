// Tests of results in place of operands.
#include <stdio.h>
#include <string.h>

#include "analysis/api.h"
#include "fixture.h"
#include "support/fault.h"
#include "support/test.h"

// What effects alone allow, or what |rows| allow too; with copy elision if |elisions|.
static stow_status apply_with(fixture* f, bool rows, bool elisions, uint64_t alignment,
                              stowi_analysis_sharing** out) {
  stowi_analysis_sharing_options options;
  stowi_analysis_sharing_options_init(&options);
  options.in_place = rows;
  options.elide_copies = elisions;
  options.alignment = alignment;
  return stowi_analysis_sharing_apply(f->views, f->graph, f->schedule, f->effects, f->lifetimes,
                                      &options, f->allocator, &f->diag, out);
}

static stow_status apply(fixture* f, size_t* out_count) {
  stowi_analysis_sharing* sharing;
  stow_status status = apply_with(f, false, false, 1, &sharing);
  if (status == STOW_OK) {
    *out_count = stowi_analysis_sharing_taken(sharing);
  }
  stowi_analysis_sharing_destroy(sharing);
  return status;
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

// |body|'s views after sharing: how many results are in place, and all views.
static void check_in_place_effects(const char* body, size_t expected_count, const char* expected) {
  fixture f;
  fixture_init(&f);
  check_prepared(&f, body, expected_count, expected);
}

#define IN_PLACE " with {overwrite = [0, 0]}\n"

TEST(AChainReusesTheSameBytes) {
  const char* body =
      "  %0 = input \"x\" : f32[4]\n"
      "  %1 = relu(%0) : f32[4]\n"
      "  %2 = relu(%1) : f32[4]" IN_PLACE
      "  %3 = reshape(%2) : f32[2, 2]\n"
      "  %4 = relu(%3) : f32[2, 2]" IN_PLACE
      "  %5 = narrow(%4) {axis = 0, start = 1, len = 1} : f32[1, 2]\n"
      "  return %5";
  check_in_place_effects(body, 2, "2=1+0 3=1+0 4=1+0 5=1+8");
  fixture f;
  fixture_init(&f);
  size_t count;
  REQUIRE(fixture_lifetimes(&f, body) == STOW_OK);
  REQUIRE(apply(&f, &count) == STOW_OK);
  CHECK(!stowi_analysis_views_is_noop(f.views, 2));
  CHECK(stowi_analysis_views_is_noop(f.views, 3));
  stowi_analysis_lifetimes_destroy(f.lifetimes);
  REQUIRE(stowi_analysis_lifetimes_create(f.graph, f.schedule, f.views, f.effects,
                                          &f.lifetimes_options, f.allocator, &f.diag,
                                          &f.lifetimes) == STOW_OK);
  CHECK_TEXT(fixture_show_lifetimes(&f), "0:[0,7) 1:[1,7) 2:[2,4) 3:[3,5) 4:[4,6) 5:[5,7)");
  fixture_free(&f);
}

TEST(ALaterReadOfAnyPartForbidsIt) {
  check_in_place_effects(
      "  %0 = input \"x\" : f32[4]\n"
      "  %1 = relu(%0) : f32[4]\n"
      "  %2 = narrow(%1) {axis = 0, start = 1, len = 1} : f32[1]\n"
      "  %3 = relu(%1) : f32[4]" IN_PLACE
      "  %4 = relu(%2) : f32[1]\n"
      "  return %3, %4",
      0, "2=1+4");
}

TEST(AHeldReadForbidsIt) {
  // %2 reads %1 until %3 has run, so %3 must not write there; %5 may be in place of %4, which
  // nothing else reads by then.
  check_in_place_effects(
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
      "  %2 = relu(%1) : f32[4]" IN_PLACE "  %3 = relu(%2) : f32[4]" IN_PLACE "  return %3";
  check_in_place_effects(body, 2, "2=1+0 3=1+0");
  fixture f;
  fixture_init(&f);
  f.lifetimes_options.rule_count = 1;
  f.lifetimes_options.rules[0] = &rule;
  check_prepared(&f, body, 1, "3=2+0");
}

TEST(TheSameOperandTwiceForbidsIt) {
  check_in_place_effects(
      "  %0 = input \"x\" : f32[4]\n"
      "  %1 = relu(%0) : f32[4]\n"
      "  %2 = reshape(%1) : f32[4]\n"
      "  %3 = add(%1, %2) : f32[4]" IN_PLACE "  return %3",
      0, "2=1+0");
}

TEST(TheFirstOperandThatFitsIsTaken) {
  check_in_place_effects(
      "  %0 = input \"x\" : f32[4]\n"
      "  %1 = relu(%0) : f32[4]\n"
      "  %2 = relu(%0) : f32[4]\n"
      "  %3 = add(%1, %2) : f32[4] with {overwrite = [0, 0, 0, 1]}\n"
      "  %4 = relu(%3) : f32[4]\n"
      "  return %4, %1",
      1, "3=2+0");
}

TEST(TwoResultsNeverTakeTheSameBytes) {
  check_in_place_effects(
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
  check_in_place_effects(body, 0, "");
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
      "  %2 = relu(%1) : f32[2, 2]" IN_PLACE "  %3 = relu(%2) : f32[2, 2]" IN_PLACE "  return %3";
  fixture f;
  fixture_init(&f);
  f.lifetimes_options.io = STOW_IO_CONSUME;
  f.views_options.io = STOW_IO_CONSUME;
  check_prepared(&f, body, 2, "1=0+0 2=0+0 3=0+0");
  f.views_options.inputs = false;
  check_prepared(&f, body, 1, "1=0+0 3=2+0");
}

TEST(FixedOwnStateAndExternalValuesAreNotOverwritten) {
#define CASE(root_clause, result_clause)                            \
  "  %0 = input \"x\" : f32[4]\n"                                   \
  "  %1 = relu(%0) : f32[4]" root_clause                            \
  "\n"                                                              \
  "  %2 = relu(%1) : f32[4] with {overwrite = [0, 0]" result_clause \
  "}\n"                                                             \
  "  return %2"
  check_in_place_effects(CASE("", ""), 1, "2=1+0");
  check_in_place_effects(CASE(" with {at = 64}", ""), 0, "");
  check_in_place_effects(CASE(" with {state = true}", ""), 0, "");
  check_in_place_effects(CASE(" with {storage = 32}", ""), 1, "2=1+0");
  check_in_place_effects(CASE(" with {align = 256}", ""), 1, "2=1+0");
  check_in_place_effects(CASE(" with {align = 256}", ", align = 256"), 1, "2=1+0");
  check_in_place_effects(CASE("", ", at = 64"), 0, "");
  check_in_place_effects(CASE("", ", own = true"), 0, "");
  check_in_place_effects(CASE("", ", state = true"), 0, "");
  check_in_place_effects(CASE("", ", storage = 32"), 0, "");
  check_in_place_effects(CASE("", ", io = \"external\""), 0, "");
  check_in_place_effects(CASE("", ", early = [0, 0]"), 0, "");
  check_in_place_effects(CASE("", ", hold = [0, -1]"), 0, "");
  check_in_place_effects(CASE("", ", inside = [0, 0, 0]"), 0, "2=1+0");
}

TEST(APartOfARootIsTaken) {
  check_in_place_effects(
      "  %0 = input \"x\" : f32[4]\n"
      "  %1 = relu(%0) : f32[4]\n"
      "  %2 = narrow(%1) {axis = 0, start = 0, len = 2} : f32[2]\n"
      "  %3 = relu(%2) : f32[2]" IN_PLACE "  return %3",
      1, "2=1+0 3=1+0");
}

TEST(NothingIsTakenWhereReuseIsForbidden) {
  fixture f;
  fixture_init(&f);
  fixture_add_rule(&f, "i64-epilogue");
  check_prepared(&f,
                 "  %0 = input \"x\" : i64[2, 2, 2]\n"
                 "  %1 = neg(%0) : i64[2, 2, 2]\n"
                 "  %2 = neg(%1) : i64[2, 2, 2]" IN_PLACE
                 "  %3 = input \"y\" : f32[4]\n"
                 "  %4 = relu(%3) : f32[4]\n"
                 "  %5 = relu(%4) : f32[4]" IN_PLACE "  return %2, %5",
                 0, "");
}

TEST(ValuesOfOuterRegionsAreNotOverwrittenInLoops) {
  check_in_place_effects(
      "  %0 = input \"go\" : bool[]\n"
      "  %1 = input \"x\" : f32[4]\n"
      "  %2 = relu(%1) : f32[4]\n"
      "  %6 = loop(_, %0) {\n"
      "    %3 = relu(%2) : f32[4]" IN_PLACE "    %4 = relu(%3) : f32[4]" IN_PLACE
      "    %5 = relu(%4) : f32[4]" IN_PLACE
      "    yield %0, %5\n"
      "  } : f32[7, 4]\n"
      "  return %6",
      2, "4=3+0 5=3+0");
}

TEST(ALoopsResultCanBeOverwritten) {
  check_in_place_effects(
      "  %0 = input \"go\" : bool[]\n"
      "  %1 = input \"x\" : f32[4]\n"
      "  %2 = relu(%1) : f32[4]\n"
      "  %3 = relu(%2) : f32[4]" IN_PLACE
      "  %7 = loop(_, %0, %3) {\n"
      "    %4, %5, %6 = args() : i64[], bool[], f32[4]\n"
      "    yield %5, %6\n"
      "  } : f32[4]\n"
      "  %8 = relu(%7) : f32[4]" IN_PLACE "  return %8",
      2, "3=2+0 6=2+0 7=2+0 8=2+0");
}

// ---------------------------------------------------------------------------------------------
// What rows allow, and the record

static const char* const reason_names[] = {
#define NAME(name, text) #name,
    STOW_REASON_LIST(NAME)
#undef NAME
};

// `2/1 READ_LATER @4` for all decisions of one kind: result, operand, reason, and the other value
// or node if there is one.
static const char* show_decisions(fixture* f, const stowi_analysis_sharing* sharing,
                                  stow_share share) {
  size_t used = 0;
  f->text[0] = '\0';
  for (size_t i = 0; i < stowi_analysis_sharing_count(sharing); ++i) {
    stow_decision d = stowi_analysis_sharing_at(sharing, i);
    if (d.share != share) {
      continue;
    }
    char other[32] = "";
    if (d.other_value != STOW_VALUE_NONE) {
      snprintf(other, sizeof(other), " %%%u", (unsigned)d.other_value);
    } else if (d.other_node != STOW_NODE_NONE) {
      snprintf(other, sizeof(other), " @%u", (unsigned)d.other_node);
    }
    used += (size_t)snprintf(f->text + used, sizeof(f->text) - used, "%s%u/%u %s%s",
                             used == 0 ? "" : ", ", (unsigned)d.result, (unsigned)d.operand,
                             reason_names[d.reason], other);
  }
  return f->text;
}

typedef struct record_case {
  fixture f;
  uint64_t alignment;
  bool elisions;
  stow_share share;
} record_case;

static void record_case_init(record_case* c) {
  fixture_init(&c->f);
  c->alignment = 1;
  c->elisions = false;
  c->share = STOW_SHARE_IN_PLACE;
}

static void check_case(record_case* c, const char* body, const char* decisions, const char* views) {
  fixture* f = &c->f;
  stowi_analysis_sharing* sharing = NULL;
  stow_status status = fixture_lifetimes(f, body);
  if (test_check(status == STOW_OK, __FILE__, __LINE__, "%s", f->diag.message) &&
      CHECK(apply_with(f, true, c->elisions, c->alignment, &sharing) == STOW_OK)) {
    CHECK_TEXT(show_decisions(f, sharing, c->share), decisions);
    CHECK_TEXT(fixture_show_views(f), views);
  }
  stowi_analysis_sharing_destroy(sharing);
  fixture_free(f);
}

static void check_record(const char* body, const char* decisions, const char* views) {
  record_case c;
  record_case_init(&c);
  check_case(&c, body, decisions, views);
}

#define X "  %0 = input \"x\" : f32[4]\n"
#define RELU(id, of) "  %" id " = relu(%" of ") : f32[4]\n"

TEST(AChainOfAnyLengthIsOneRoot) {
  check_record(X RELU("1", "0") RELU("2", "1") RELU("3", "2") RELU("4", "3") "  return %4",
               "1/0 KEPT, 2/1 TAKEN, 3/2 TAKEN, 4/3 TAKEN", "2=1+0 3=1+0 4=1+0");
}

TEST(LaterReadersAreNamed) {
  check_record(X RELU("1", "0") RELU("2", "1") RELU("3", "1") RELU("4", "1") "  return %2, %3, %4",
               "1/0 KEPT, 2/1 READ_LATER @4, 3/1 READ_LATER @4, 4/1 TAKEN", "4=1+0");
}

TEST(LaterReadersOfAViewAreNamed) {
  check_record(X RELU("1", "0") "  %2 = reshape(%1) : f32[2, 2]\n" RELU(
                   "3", "1") "  %4 = relu(%2) : f32[2, 2]\n  return %3, %4",
               "1/0 KEPT, 3/1 READ_LATER @4, 4/2 TAKEN", "2=1+0 4=1+0");
}

TEST(HeldValuesAreNotOverwritten) {
  check_record(X RELU("1", "0") "  %2 = relu(%1) : f32[4] with {hold = [0, 4]}\n" RELU("3", "1")
                   RELU("4", "0") "  return %2, %3, %4",
               "1/0 KEPT, 2/1 READ_LATER @3, 3/1 HELD, 4/0 KEPT", "");
  check_record(X RELU("1", "0") "  %2 = relu(%1) : f32[4] with {hold = [0, -1]}\n  return %2",
               "1/0 KEPT, 2/1 HELD", "");
}

TEST(AnOutputIsKeptButMayBeTheEndOfAChain) {
  check_record(X RELU("1", "0") RELU("2", "1") RELU("3", "2") "  return %2, %3",
               "1/0 KEPT, 2/1 TAKEN, 3/2 KEPT", "2=1+0");
}

TEST(ExternalStateFixedOwnAndEarlyResultsAreNotInPlace) {
#define ROOT(clause) \
  X "  %1 = relu(%0) : f32[4] with {" clause "}\n" RELU("2", "1") RELU("3", "2") "  return %3"
#define RESULT(clause) X RELU("1", "0") "  %2 = relu(%1) : f32[4] with {" clause "}\n  return %2"
  check_record(ROOT("state = true"), "1/0 STATE, 2/1 STATE, 3/2 TAKEN", "3=2+0");
  check_record(ROOT("at = 64"), "1/0 FIXED, 2/1 FIXED, 3/2 TAKEN", "3=2+0");
  check_record(ROOT("own = true"), "1/0 OWN, 2/1 TAKEN, 3/2 TAKEN", "2=1+0 3=1+0");
  check_record(RESULT("own = true"), "1/0 KEPT, 2/1 OWN", "");
  check_record(RESULT("state = true"), "1/0 KEPT, 2/1 STATE", "");
  check_record(RESULT("at = 64"), "1/0 KEPT, 2/1 FIXED", "");
  check_record(RESULT("io = \"external\""), "1/0 KEPT, 2/1 EXTERNAL", "");
  check_record(RESULT("early = [0, 0]"), "1/0 KEPT, 2/1 EARLY", "");
  check_record(RESULT("no_overwrite = [0, 0]"), "1/0 KEPT, 2/1 FORBIDDEN", "");
  check_record(RESULT("no_overwrite = [0, 0], overwrite = [0, 0]"), "1/0 KEPT, 2/1 FORBIDDEN", "");
  check_record(RESULT("storage = 32, overwrite = [0, 0]"), "1/0 KEPT, 2/1 TOO_SMALL", "");
  check_record(RESULT("inside = [0, 0, 0]"), "1/0 KEPT", "2=1+0");
}

TEST(ConsumedInputsInTheArenaAreOverwritten) {
  record_case c;
  record_case_init(&c);
  c.f.lifetimes_options.io = STOW_IO_CONSUME;
  c.f.views_options.io = STOW_IO_CONSUME;
  const char* body = X
      "  %1 = param \"w\" : f32[4]\n  %2 = add(%1, %0) : f32[4]\n  %3 = relu(%1) : f32[4]\n"
      "  return %2, %3";
  check_case(&c, body, "2/1 KEPT, 2/0 TAKEN, 3/1 KEPT", "2=0+0");
  c.f.views_options.inputs = false;
  check_case(&c, body, "2/1 KEPT, 2/0 EXTERNAL, 3/1 KEPT", "");
  c.f.lifetimes_options.io = STOW_IO_EXTERNAL;
  c.f.views_options.io = STOW_IO_EXTERNAL;
  check_case(&c, body, "2/1 EXTERNAL, 2/0 EXTERNAL, 3/1 EXTERNAL", "");
}

TEST(ElementwiseOpsMayReadTheSameBytesTwice) {
  check_record(X RELU("1", "0") "  %2 = reshape(%1) : f32[4]\n  %3 = add(%1, %2) : f32[4]\n"
                                "  return %3",
               "1/0 KEPT, 3/1 TAKEN, 3/2 ALREADY_VIEW %1", "2=1+0 3=1+0");
  check_record(X RELU("1", "0") "  %2 = mul(%1, %1) : f32[4]\n  return %2",
               "1/0 KEPT, 2/1 TAKEN, 2/1 ALREADY_VIEW %1", "2=1+0");
  check_record(X RELU("1", "0") "  %2 = mul(%1, %1) : f32[4] with {no_overwrite = [0, 0]}\n"
                                "  return %2",
               "1/0 KEPT, 2/1 FORBIDDEN, 2/1 SHARED %1", "");
}

#define HALVES                                                  \
  "  %0 = input \"x\" : f32[8]\n  %1 = relu(%0) : f32[8]\n"     \
  "  %2 = narrow(%1) {axis = 0, start = 0, len = 4} : f32[4]\n" \
  "  %3 = narrow(%1) {axis = 0, start = 4, len = 4} : f32[4]\n" \
  "  %4 = narrow(%1) {axis = 0, start = 2, len = 4} : f32[4]\n"

TEST(OtherOperandsInTheRootMustNotOverlap) {
  check_record(HALVES "  %5 = add(%3, %2) : f32[4]\n  return %5",
               "1/0 KEPT, 5/3 TAKEN, 5/2 ALREADY_VIEW %1", "2=1+0 3=1+16 4=1+8 5=1+16");
  check_record(HALVES "  %5 = add(%3, %4) : f32[4]\n  return %5",
               "1/0 KEPT, 5/3 SHARED %4, 5/4 SHARED %3", "2=1+0 3=1+16 4=1+8");
}

TEST(InPlaceResultsMustBeAligned) {
  record_case c;
  record_case_init(&c);
  c.alignment = 16;
  check_case(&c, HALVES "  %5 = relu(%3) : f32[4]\n  return %5", "1/0 KEPT, 5/3 TAKEN",
             "2=1+0 3=1+16 4=1+8 5=1+16");
  check_case(&c, HALVES "  %5 = relu(%4) : f32[4]\n  return %5", "1/0 KEPT, 5/4 MISALIGNED",
             "2=1+0 3=1+16 4=1+8");
  check_case(&c, HALVES "  %5 = relu(%3) : f32[4] with {align = 32}\n  return %5",
             "1/0 KEPT, 5/3 MISALIGNED", "2=1+0 3=1+16 4=1+8");
}

TEST(ARootInheritsTheAlignmentOfResultsInPlace) {
  fixture f;
  fixture_init(&f);
  stowi_analysis_sharing* sharing;
  REQUIRE(fixture_lifetimes(&f, X RELU("1", "0") "  %2 = relu(%1) : f32[4] with {align = 64}\n"
                                                 "  %3 = reshape(%2) : f32[4] with {align = 256}\n"
                                                 "  return %3") == STOW_OK);
  REQUIRE(apply_with(&f, true, false, 16, &sharing) == STOW_OK);
  CHECK_TEXT(fixture_show_views(&f), "2=1+0 3=1+0");
  CHECK_U64(stowi_analysis_views_alignment(f.views, 1), 256);
  CHECK_U64(stowi_analysis_views_alignment(f.views, 2), 64);
  CHECK_U64(stowi_analysis_views_alignment(f.views, 3), 256);
  stowi_analysis_sharing_destroy(sharing);
  fixture_free(&f);
}

TEST(TheRootWithLeastWasteIsTaken) {
  // %4's root is larger than %3.
  check_record(
      "  %0 = input \"x\" : f32[8]\n  %1 = relu(%0) : f32[8]\n"
      "  %2 = narrow(%1) {axis = 0, start = 0, len = 4} : f32[4]\n"
      "  %3 = narrow(%0) {axis = 0, start = 0, len = 4} : f32[4]\n"
      "  %4 = relu(%3) : f32[4]\n"
      "  %5 = add(%2, %4) : f32[4]\n  return %5",
      "1/0 KEPT, 4/3 KEPT, 5/2 ALREADY_VIEW %4, 5/4 TAKEN", "2=1+0 3=0+0 5=4+0");
}

TEST(DeclaredPairsComeFirst) {
  check_record(X "  %1 = relu(%0) : f32[4] with {storage = 64}\n" RELU(
                   "2", "0") "  %3 = add(%2, %1) : f32[4] with {overwrite = [0, 1]}\n  return %3",
               "1/0 KEPT, 2/0 KEPT, 3/2 ALREADY_VIEW %1, 3/1 TAKEN", "3=1+0");
}

TEST(ResultsOfANodeDoNotOverlap) {
  check_record(X RELU("1", "0") "  %2, %3 = custom(%1) {name = \"f\"} : f32[2], f32[4] with "
                                "{inside = [0, 0, 8], overwrite = [1, 0]}\n  return %3",
               "1/0 KEPT, 3/1 GIVEN_AWAY %2", "2=1+8");
}

TEST(ARootIsTakenByOneResult) {
  check_record(X RELU("1", "0") "  %2, %3 = custom(%1) {name = \"f\"} : f32[4], f32[2] with "
                                "{overwrite = [0, 0, 1, 0]}\n  return %3",
               "1/0 KEPT, 2/1 TAKEN, 3/1 GIVEN_AWAY %2", "2=1+0");
}

TEST(ASmallerResultBeginsAtItsOperand) {
  check_record(HALVES "  %5 = cast(%3) : f16[4]\n  %6 = relu(%5) : f16[4]\n  return %6",
               "1/0 KEPT, 5/3 TAKEN, 6/5 TAKEN", "2=1+0 3=1+16 4=1+8 5=1+16 6=1+16");
}

TEST(ViewsMoveWithTheirRoot) {
  check_record(HALVES
               "  %5 = relu(%3) : f32[4]\n"
               "  %6 = narrow(%5) {axis = 0, start = 1, len = 2} : f32[2]\n  return %6",
               "1/0 KEPT, 5/3 TAKEN", "2=1+0 3=1+16 4=1+8 5=1+16 6=1+20");
}

TEST(WithoutReuseDecisionsAreOnlyRecorded) {
  record_case c;
  record_case_init(&c);
  fixture_add_rule(&c.f, "i64-epilogue");
  check_case(&c,
             "  %0 = input \"x\" : i64[2, 2, 2]\n  %1 = neg(%0) : i64[2, 2, 2]\n"
             "  %2 = neg(%1) : i64[2, 2, 2]\n  return %2",
             "1/0 NO_REUSE, 2/1 NO_REUSE", "");
}

TEST(TheLastReaderInTheOrderIsInPlaceInBranches) {
  check_record(
      "  %0 = input \"c\" : bool[]\n  %1 = input \"x\" : f32[4]\n" RELU("2", "1")
      "  %5 = if(%0) {\n    %3 = relu(%2) : f32[4]\n    yield %3\n  } else {\n"
      "    %4 = relu(%2) : f32[4]\n    yield %4\n  } : f32[4]\n  return %5",
      "2/1 KEPT, 3/2 READ_LATER @5, 4/2 TAKEN", "4=2+0");
}

TEST(ALoopReadsOuterValuesAgain) {
  check_record(
      "  %0 = input \"go\" : bool[]\n  %1 = input \"x\" : f32[4]\n" RELU("2", "1")
      "  %5 = loop(_, %0) {\n    %3 = relu(%2) : f32[4]\n    %4 = relu(%3) : f32[4]\n"
      "    yield %0, %4\n  } : f32[7, 4]\n  return %5",
      "2/1 KEPT, 3/2 READ_LATER @3, 4/3 TAKEN", "4=3+0");
}

TEST(ElisionCandidatesAreSpared) {
  record_case c;
  record_case_init(&c);
  const char* body = X RELU("1", "0")
      RELU("2", "0") "  %3 = concat(%1, %2) {axis = 0} : f32[8]\n" RELU("4", "1") "  return %3, %4";
  check_case(&c, body, "1/0 KEPT, 2/0 KEPT, 4/1 TAKEN", "4=1+0");
  c.elisions = true;
  check_case(&c, body, "1/0 KEPT, 2/0 KEPT, 4/1 KEPT", "1=3+0 2=3+16");
}

TEST(OperandsNotElidedAreOverwrittenAfterAll) {
  // %1 and %2 are at both ends of %6: the room between them is too much while %3 is live, so only
  // one is elided. %6 is gone when %8 and %9 are made.
  record_case c;
  record_case_init(&c);
  c.elisions = true;
  const char* body = X RELU("1", "0") RELU("2", "0")
      "  %3 = custom(%0) {name = \"f\"} : f32[256]\n"
      "  %4 = custom(%3) {name = \"f\"} : f32[4]\n"
      "  %5 = custom(%4) {name = \"f\"} : f32[128]\n"
      "  %6 = concat(%1, %5, %2) {axis = 0} : f32[136]\n"
      "  %7 = custom(%6) {name = \"f\"} : f32[1]\n" RELU("8", "1") RELU("9", "2")
      "  return %7, %8, %9";
  check_case(&c, body, "1/0 KEPT, 2/0 KEPT, 8/1 TAKEN, 9/2 TAKEN", "1=6+0 5=6+16 8=6+0 9=2+0");
}

TEST(ViewsAreRecordedToo) {
  record_case c;
  record_case_init(&c);
  c.share = STOW_SHARE_VIEW;
  check_case(&c,
             "  %0 = input \"x\" : f32[4, 4]\n  %1 = reshape(%0) : f32[16]\n"
             "  %2 = narrow(%0) {axis = 1, start = 0, len = 2} : f32[4, 2]\n"
             "  %3 = reshape(%0) : f32[16] with {own = true}\n"
             "  %4 = reshape(%0) : f32[16] with {io = \"external\"}\n"
             "  return %1, %2, %3, %4",
             "1/0 TAKEN, 2/0 NOT_CONTIGUOUS, 3/0 OWN, 4/0 EXTERNAL", "1=0+0");
}

TEST(DecisionsAreSortedByStepAndHaveBytes) {
  fixture f;
  fixture_init(&f);
  stowi_analysis_sharing* sharing;
  REQUIRE(fixture_lifetimes(&f, HALVES "  %5 = cast(%2) : f16[4]\n  return %5") == STOW_OK);
  REQUIRE(apply_with(&f, true, false, 1, &sharing) == STOW_OK);
  REQUIRE(stowi_analysis_sharing_count(sharing) == 5);
  CHECK_U64(stowi_analysis_sharing_taken(sharing), 1);
  for (size_t i = 0; i + 1 < 5; ++i) {
    CHECK(stowi_analysis_sharing_at(sharing, i).node <=
          stowi_analysis_sharing_at(sharing, i + 1).node);
  }
  stow_decision last = stowi_analysis_sharing_at(sharing, 4);
  CHECK(last.share == STOW_SHARE_IN_PLACE && last.reason == STOW_REASON_TAKEN);
  CHECK_U64(last.bytes, 8);
  stowi_analysis_sharing_destroy(sharing);
  fixture_free(&f);
}

TEST(EveryKindAndReasonHasAText) {
  for (int i = 0; i < STOW_REASON_COUNT; ++i) {
    CHECK(strlen(stow_reason_text((stow_reason)i)) > 4);
  }
  CHECK_TEXT(stow_share_text(STOW_SHARE_HOME), "copy elision");
  CHECK_TEXT(stow_share_text(STOW_SHARE_COUNT), "?");
  CHECK_TEXT(stow_reason_text(STOW_REASON_COUNT), "?");
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
  stowi_analysis_sharing_options options;
  stowi_analysis_sharing_options_init(&options);
  stowi_analysis_sharing* sharing;
#define APPLY(v, s, e, l) \
  stowi_analysis_sharing_apply(v, g.graph, s, e, l, &options, g.allocator, &g.diag, &sharing)
  CHECK(APPLY(f.views, g.schedule, g.effects, g.lifetimes) == STOW_ERR_INVALID_ARGUMENT);
  CHECK(APPLY(g.views, g.schedule, f.effects, g.lifetimes) == STOW_ERR_INVALID_ARGUMENT);
  CHECK(APPLY(g.views, f.schedule, g.effects, g.lifetimes) == STOW_ERR_INVALID_ARGUMENT);
  CHECK(APPLY(g.views, g.schedule, g.effects, f.lifetimes) == STOW_ERR_INVALID_ARGUMENT);
  options.alignment = 48;
  CHECK(APPLY(g.views, g.schedule, g.effects, g.lifetimes) == STOW_ERR_INVALID_ARGUMENT);
  CHECK(sharing == NULL);
  options.alignment = 64;
  CHECK(APPLY(g.views, g.schedule, NULL, g.lifetimes) == STOW_OK);
  CHECK_U64(stowi_analysis_sharing_taken(sharing), 0);
  stowi_analysis_sharing_destroy(sharing);
#undef APPLY
  fixture_free(&f);
  fixture_free(&g);
}

static stow_status attempt_sharing(stow_allocator allocator, void* user) {
  const fixture* f = (const fixture*)user;
  stow_diag diag;
  stow_diag_init(&diag);
  stowi_analysis_views* views;
  stowi_analysis_sharing* sharing = NULL;
  stowi_analysis_sharing_options options;
  stowi_analysis_sharing_options_init(&options);
  stow_status status = stowi_analysis_views_create(f->graph, f->effects, &f->views_options,
                                                   allocator, &diag, &views);
  if (status == STOW_OK) {
    status = stowi_analysis_sharing_apply(views, f->graph, f->schedule, f->effects, f->lifetimes,
                                          &options, allocator, &diag, &sharing);
    CHECK((sharing != NULL) == (status == STOW_OK));
    CHECK(stowi_analysis_views_is_view(views, 2) == (status == STOW_OK));
    CHECK_U64(stowi_analysis_views_alignment(views, 1), status == STOW_OK ? 64 : 0);
  }
  stowi_analysis_sharing_destroy(sharing);
  stowi_analysis_views_destroy(views);
  return status;
}

TEST(EveryFailedAllocationIsReportedAndChangesNothing) {
  fixture f;
  fixture_init(&f);
  REQUIRE(fixture_lifetimes(&f,
                            "  %0 = input \"x\" : f32[4]\n"
                            "  %1 = relu(%0) : f32[4]\n"
                            "  %2 = relu(%1) : f32[4] with {align = 64}\n"
                            "  %3 = relu(%2) : f32[4]" IN_PLACE "  return %3") == STOW_OK);
  CHECK(test_fault_sweep(attempt_sharing, &f) > 10);
  fixture_free(&f);
}
