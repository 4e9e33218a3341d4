// The plan checker on results in place, copy elision, and windows.
#include <stdio.h>
#include <stowage/plan.h>
#include <string.h>

#include "plan/check_support.h"
#include "plan/plan_edit.h"
#include "plan/plan_internal.h"
#include "plan/plan_support.h"
#include "support/fault.h"
#include "support/test.h"

// A plan without any sharing, whose own lifetimes are known.
static plan_case plain(const char* text) {
  stow_plan_options options = plan_options(STOW_PRESET_DEFAULT);
  options.in_place = false;
  options.elide_copies = false;
  options.windows = false;
  return plan_make(text, &options);
}

static stow_violation finish(plan_case* c, plan_edit* edit, bool windows) {
  plan_edit_lives(edit);
  if (windows) {
    plan_edit_windows(edit);
  }
  plan_edit_place(edit);
  return check_plan(c);
}

// ---------------------------------------------------------------------------------------------
// In place

// Puts %value in place of %operand, |inner| bytes in, in a plan of |text|; and the verdict.
static stow_violation lay(plan_case* c, const char* text, stow_value value, stow_value operand,
                          uint64_t inner) {
  *c = plain(text);
  plan_edit edit = plan_edit_start(c->plan, c->graph, c->effects);
  CHECK(plan_edit_put(&edit, value, operand, inner));
  return finish(c, &edit, true);
}

static const char chain[] =
    "graph @g {\n"
    "  %0 = input \"x\" : f32[64]\n"
    "  %1 \"h\" = custom(%0) {name = \"f\"} : f32[64]\n"
    "  %2 = relu(%1) : f32[64]\n"
    "  %3 = custom(%2) {name = \"f\"} : f32[64]\n"
    "  return %3\n"
    "}\n";

TEST(TheOpTableAllowsAResultInPlace) {
  plan_case c;
  CHECK_FAULT(lay(&c, chain, 2, 1, 0), STOW_FAULT_NONE);
  CHECK_U64(c.plan->values[2].root, 1);
  CHECK_U64(c.plan->arena_size, 3 * 256);
  // A plan that states a feature is off must not use it.
  c.plan->facts.in_place = false;
  stow_violation violation = check_plan(&c);
  CHECK_FAULT(violation, STOW_FAULT_OVERWRITE);
  CHECK_U64(violation.first, 2);
  CHECK_U64(violation.second, 1);
  CHECK_U64(violation.step, 2);
  CHECK_TEXT(
      c.diag.message,
      "%2 is written in place of %1 \"h\" at step 2, which neither the op nor the effects allow");
  CHECK(stow_effects_allow_in_place(c.effects, 2, 0, 0, NULL) == STOW_OK);
  CHECK_FAULT(check_plan(&c), STOW_FAULT_NONE);
  plan_free(&c);
}

TEST(EffectsForbidWhatTheOpTableAllows) {
  plan_case c;
  CHECK_FAULT(lay(&c, chain, 2, 1, 0), STOW_FAULT_NONE);
  CHECK(stow_effects_allow_in_place(c.effects, 2, 0, 0, NULL) == STOW_OK);
  CHECK(stow_effects_forbid_in_place(c.effects, 2, 0, 0, NULL) == STOW_OK);
  CHECK_FAULT(check_plan(&c), STOW_FAULT_OVERWRITE);
  plan_free(&c);
}

TEST(InPlaceResultsThatNothingAllowsAreCaught) {
  plan_case c;
  CHECK_FAULT(lay(&c, chain, 3, 2, 0), STOW_FAULT_OVERWRITE);
  CHECK_TEXT(c.diag.message,
             "%3 is written in place of %2 at step 3, which neither the op nor the effects allow");
  plan_free(&c);
}

TEST(AnOverwrittenOperandMustNotBeReadLater) {
  static const char text[] =
      "graph @g {\n"
      "  %0 = input \"x\" : f32[64]\n"
      "  %1 \"h\" = custom(%0) {name = \"f\"} : f32[64]\n"
      "  %2 = relu(%1) : f32[64]\n"
      "  %3 = add(%2, %1) : f32[64]\n"
      "  return %3\n"
      "}\n";
  plan_case c;
  stow_violation violation = lay(&c, text, 2, 1, 0);
  CHECK_FAULT(violation, STOW_FAULT_REUSED_TOO_EARLY);
  CHECK_TEXT(c.diag.message,
             "%1 \"h\" is read at step 3 by %3 (add), but %2 is written into its bytes at step 2");
  plan_free(&c);
  CHECK_FAULT(lay(&c, text, 3, 1, 0), STOW_FAULT_NONE);
  plan_free(&c);
}

// relu is elementwise, so add(x, x) in place of x is allowed; a norm only alone.
TEST(ElementwiseOpsMayReadTheSameBytesTwice) {
  static const char text[] =
      "graph @g {\n"
      "  %0 = input \"x\" : f32[64]\n"
      "  %1 = custom(%0) {name = \"f\"} : f32[64]\n"
      "  %2 = add(%1, %1) : f32[64]\n"
      "  return %2\n"
      "}\n";
  plan_case c;
  CHECK_FAULT(lay(&c, text, 2, 1, 0), STOW_FAULT_NONE);
  c.plan->facts.in_place = false;
  CHECK(stow_effects_allow_in_place(c.effects, 2, 0, 0, NULL) == STOW_OK);
  stow_violation violation = check_plan(&c);
  CHECK_FAULT(violation, STOW_FAULT_REUSED_TOO_EARLY);
  CHECK_TEXT(c.diag.message,
             "%2 is written in place of %1 at step 2, while operand 1 still reads those bytes");
  plan_free(&c);
}

// %1 is 512 bytes, %2 its upper half.
static const char halves[] =
    "graph @g {\n"
    "  %0 = input \"x\" : f32[64]\n"
    "  %1 = custom(%0) {name = \"f\"} : f32[128]\n"
    "  %2 = narrow(%1) {axis = 0, start = 64, len = 64} : f32[64]\n"
    "  %3 = narrow(%1) {axis = 0, start = 0, len = 64} : f32[64]\n"
    "  %4 = add(%2, %3) : f32[64]\n"
    "  %5 = custom(%4) {name = \"f\"} : f32[64]\n"
    "  return %5\n"
    "}\n";

TEST(OperandsElsewhereInTheRootAreNotOverwritten) {
  plan_case c;
  CHECK_FAULT(lay(&c, halves, 4, 2, 0), STOW_FAULT_NONE);
  CHECK_U64(c.plan->values[4].offset, c.plan->values[1].offset + 256);
  plan_free(&c);
  CHECK_FAULT(lay(&c, halves, 4, 3, 0), STOW_FAULT_NONE);
  plan_free(&c);
}

// %2 is in the middle of what %3 overwrites: nothing of it, or one byte.
TEST(AnOperandOfOneByteIsOverwrittenAndAnEmptyOneIsNot) {
  static const char* const texts[] = {
      "graph @g {\n"
      "  %0 = input \"x\" : u8[64]\n"
      "  %1 = relu(%0) : u8[64]\n"
      "  %2 = narrow(%1) {axis = 0, start = 16, len = 0} : u8[0]\n"
      "  %3 = custom(%1, %2) {name = \"f\"} : u8[64] with {overwrite = [0, 0]}\n"
      "  return %3\n"
      "}\n",
      "graph @g {\n"
      "  %0 = input \"x\" : u8[64]\n"
      "  %1 = relu(%0) : u8[64]\n"
      "  %2 = narrow(%1) {axis = 0, start = 16, len = 1} : u8[1]\n"
      "  %3 = custom(%1, %2) {name = \"f\"} : u8[64] with {overwrite = [0, 0]}\n"
      "  return %3\n"
      "}\n"};
  for (size_t i = 0; i < 2; ++i) {
    plan_case c;
    CHECK_FAULT(lay(&c, texts[i], 3, 1, 0), i == 0 ? STOW_FAULT_NONE : STOW_FAULT_REUSED_TOO_EARLY);
    plan_free(&c);
  }
}

TEST(AnInPlaceResultBeginsAtTheFirstByte) {
  plan_case c;
  CHECK_FAULT(lay(&c, halves, 4, 3, 64), STOW_FAULT_OVERWRITE);
  CHECK_HAS(c.diag.message, "but not from its first byte");
  plan_free(&c);
}

TEST(AnInPlaceResultMustFitInItsOperand) {
  static const char text[] =
      "graph @g {\n"
      "  %0 = input \"x\" : f32[64]\n"
      "  %1 = custom(%0) {name = \"f\"} : f32[128]\n"
      "  %2 = narrow(%1) {axis = 0, start = 0, len = 64} : f32[64]\n"
      "  %3 = custom(%2) {name = \"f\"} : f32[128] with {overwrite = [0, 0]}\n"
      "  return %3\n"
      "}\n";
  plan_case c;
  CHECK_FAULT(lay(&c, text, 3, 2, 0), STOW_FAULT_OVERWRITE);
  CHECK_HAS(c.diag.message, "which has fewer bytes");
  plan_free(&c);
}

TEST(InPlaceResultsAreAligned) {
  static const char text[] =
      "graph @g {\n"
      "  %0 = input \"x\" : f32[64]\n"
      "  %1 = custom(%0) {name = \"f\"} : f32[64]\n"
      "  %2 = narrow(%1) {axis = 0, start = 1, len = 32} : f32[32]\n"
      "  %3 = relu(%2) : f32[32]\n"
      "  return %3\n"
      "}\n";
  plan_case c;
  stow_violation violation = lay(&c, text, 3, 2, 0);
  CHECK_FAULT(violation, STOW_FAULT_MISALIGNED);
  CHECK_U64(violation.first, 3);
  plan_free(&c);
}

// ---------------------------------------------------------------------------------------------
// Copy elision

// Steps are ids. %4 is %1, %2 and %1 again.
static const char joined[] =
    "graph @g {\n"
    "  %0 = input \"x\" : f32[64]\n"
    "  %1 \"a\" = custom(%0) {name = \"f\"} : f32[64]\n"
    "  %2 \"b\" = custom(%0) {name = \"f\"} : f32[32]\n"
    "  %3 \"c\" = custom(%2) {name = \"f\"} : f32[16]\n"
    "  %4 \"all\" = concat(%1, %2, %1) {axis = 0} : f32[160]\n"
    "  %5 = custom(%4, %3) {name = \"f\"} : f32[16]\n"
    "  return %5\n"
    "}\n";

TEST(OperandsOfConcatMayBeInsideTheResult) {
  plan_case c = plain(joined);
  plan_edit edit = plan_edit_start(c.plan, c.graph, c.effects);
  CHECK(plan_edit_put(&edit, 1, 4, 0) && plan_edit_put(&edit, 2, 4, 256));
  CHECK_FAULT(finish(&c, &edit, true), STOW_FAULT_NONE);
  CHECK_U64(c.plan->values[1].root, 4);
  CHECK_U64(c.plan->values[4].begin, 1);
  c.plan->facts.elide_copies = false;
  stow_violation violation = check_plan(&c);
  CHECK_FAULT(violation, STOW_FAULT_HOME);
  CHECK_U64(violation.first, 1);
  CHECK_U64(violation.second, 4);
  CHECK_TEXT(c.diag.message,
             "%1 \"a\" is inside %4 \"all\", in bytes that step 4 copies an operand into");
  plan_free(&c);
}

TEST(AnOperandAtTheWrongPlaceIsCaught) {
  plan_case c = plain(joined);
  plan_edit edit = plan_edit_start(c.plan, c.graph, c.effects);
  CHECK(plan_edit_put(&edit, 2, 4, 320));
  stow_violation violation = finish(&c, &edit, true);
  CHECK_FAULT(violation, STOW_FAULT_HOME);
  CHECK_U64(violation.first, 2);
  CHECK_U64(violation.second, 4);
  plan_free(&c);
}

// %1 belongs in %2, and is after it.
TEST(AFirstOperandOutsideTheResultIsCaught) {
  static const char text[] =
      "graph @g {\n"
      "  %0 = input \"x\" : f32[64]\n"
      "  %1 = custom(%0) {name = \"f\"} : f32[64]\n"
      "  %2 = concat(%1, %0) {axis = 0} : f32[128]\n"
      "  %3 = concat(%2, %0) {axis = 0} : f32[192]\n"
      "  return %3\n"
      "}\n";
  plan_case c = plain(text);
  plan_edit edit = plan_edit_start(c.plan, c.graph, c.effects);
  CHECK(plan_edit_put(&edit, 2, 3, 0) && plan_edit_put(&edit, 1, 3, 512));
  stow_violation violation = finish(&c, &edit, false);
  CHECK_FAULT(violation, STOW_FAULT_HOME);
  CHECK_TEXT(c.diag.message, "%1 is inside %2, but does not belong there");
  plan_free(&c);
}

// If no axis is given it is the first.
TEST(OperandsAlongTheFirstAxisAreContiguous) {
  static const char text[] =
      "graph @g {\n"
      "  %0 = input \"x\" : f32[2, 16]\n"
      "  %1 = custom(%0) {name = \"f\"} : f32[2, 16]\n"
      "  %2 = concat(%1, %0) : f32[4, 16]\n"
      "  return %2\n"
      "}\n";
  plan_case c = plain(text);
  plan_edit edit = plan_edit_start(c.plan, c.graph, c.effects);
  CHECK(plan_edit_put(&edit, 1, 2, 0));
  CHECK_FAULT(finish(&c, &edit, true), STOW_FAULT_NONE);
  plan_free(&c);
}

TEST(AnOperandOfOneByteAtTheWrongPlaceIsCaught) {
  static const char text[] =
      "graph @g {\n"
      "  %0 = input \"x\" : u8[127]\n"
      "  %1 = custom(%0) {name = \"f\"} : u8[1]\n"
      "  %2 = concat(%1, %0) {axis = 0} : u8[128]\n"
      "  return %2\n"
      "}\n";
  plan_case c = plain(text);
  plan_edit edit = plan_edit_start(c.plan, c.graph, c.effects);
  CHECK(plan_edit_put(&edit, 1, 2, 64));
  CHECK_FAULT(finish(&c, &edit, true), STOW_FAULT_HOME);
  plan_free(&c);
}

TEST(OnlyOperandsAreInsideAConcat) {
  plan_case c = plain(joined);
  plan_edit edit = plan_edit_start(c.plan, c.graph, c.effects);
  CHECK(plan_edit_put(&edit, 3, 4, 0));
  CHECK_FAULT(finish(&c, &edit, true), STOW_FAULT_VIEW_MOVED);
  CHECK_TEXT(c.diag.message,
             "%3 \"c\" is claimed to be a view, but nothing places it in %4 \"all\"");
  plan_free(&c);
}

TEST(InputsAreNotElided) {
  static const char text[] =
      "graph @g {\n"
      "  %0 = input \"x\" : f32[64] with {io = \"consume\"}\n"
      "  %1 = reshape(%0) : f32[64]\n"
      "  %2 = custom() {name = \"f\"} : f32[64]\n"
      "  %3 = concat(%1, %2) {axis = 0} : f32[128]\n"
      "  return %3\n"
      "}\n";
  plan_case c = plain(text);
  plan_edit edit = plan_edit_start(c.plan, c.graph, c.effects);
  CHECK(plan_edit_put(&edit, 1, 3, 0));
  stow_violation violation = finish(&c, &edit, true);
  CHECK_FAULT(violation, STOW_FAULT_VIEW_MOVED);
  CHECK_U64(violation.first, 0);
  plan_free(&c);
}

TEST(OperandsAlongAnInnerAxisAreNotContiguous) {
  static const char* const axes[] = {"1", "-1"};
  for (size_t i = 0; i < 2; ++i) {
    char text[400];
    snprintf(text, sizeof(text),
             "graph @g {\n"
             "  %%0 = input \"x\" : f32[2, 16]\n"
             "  %%1 = custom(%%0) {name = \"f\"} : f32[2, 16]\n"
             "  %%2 = concat(%%1, %%0) {axis = %s} : f32[2, 32]\n"
             "  return %%2\n"
             "}\n",
             axes[i]);
    plan_case c = plain(text);
    plan_edit edit = plan_edit_start(c.plan, c.graph, c.effects);
    CHECK(plan_edit_put(&edit, 1, 2, 0));
    stow_violation violation = finish(&c, &edit, true);
    CHECK_FAULT(violation, STOW_FAULT_OVERWRITE);
    CHECK_U64(violation.first, 2);
    CHECK_U64(violation.second, 1);
    plan_free(&c);
  }
}

TEST(ConcatsOfConcatsShareOneRoot) {
  static const char text[] =
      "graph @g {\n"
      "  %0 = input \"x\" : f32[64]\n"
      "  %1 = custom(%0) {name = \"f\"} : f32[64]\n"
      "  %2 = custom(%1) {name = \"f\"} : f32[64]\n"
      "  %3 = concat(%1, %2) {axis = 0} : f32[128]\n"
      "  %4 = custom(%3) {name = \"f\"} : f32[64]\n"
      "  %5 = relu(%4) : f32[64]\n"
      "  %6 = concat(%5, %3) {axis = 0} : f32[192]\n"
      "  return %6\n"
      "}\n";
  plan_case c = plain(text);
  plan_edit edit = plan_edit_start(c.plan, c.graph, c.effects);
  CHECK(plan_edit_put(&edit, 1, 3, 0) && plan_edit_put(&edit, 2, 3, 256));
  CHECK(plan_edit_put(&edit, 3, 6, 256) && plan_edit_put(&edit, 5, 4, 0));
  CHECK(plan_edit_put(&edit, 4, 6, 0));
  CHECK_FAULT(finish(&c, &edit, true), STOW_FAULT_NONE);
  for (stow_value v = 1; v <= 6; ++v) {
    CHECK_U64(c.plan->values[v].root, 6);
  }
  CHECK_U64(c.plan->arena_size, 256 + 768);
  plan_free(&c);
}

// %2, built inside the concat, is overwritten by relu before the concat runs.
TEST(AnElidedOperandMustNotBeOverwrittenBeforeTheConcat) {
  static const char text[] =
      "graph @g {\n"
      "  %0 = input \"x\" : f32[64]\n"
      "  %1 = custom(%0) {name = \"f\"} : f32[64]\n"
      "  %2 = relu(%1) : f32[64]\n"
      "  %3 = concat(%1, %2) {axis = 0} : f32[128]\n"
      "  return %3\n"
      "}\n";
  plan_case c = plain(text);
  plan_edit edit = plan_edit_start(c.plan, c.graph, c.effects);
  CHECK(plan_edit_put(&edit, 2, 1, 0) && plan_edit_put(&edit, 1, 3, 0));
  stow_violation violation = finish(&c, &edit, true);
  CHECK(violation.fault == STOW_FAULT_HOME || violation.fault == STOW_FAULT_REUSED_TOO_EARLY);
  plan_free(&c);
}

TEST(AnElidedOperandMustNotNeedItsOwnBytes) {
  static const char* const clauses[] = {"own = true", "state = true", "at = 4096",
                                        "early = [0, 1]"};
  static const stow_fault faults[] = {STOW_FAULT_HOME, STOW_FAULT_REUSED_TOO_EARLY, STOW_FAULT_HOME,
                                      STOW_FAULT_NONE};
  for (size_t i = 0; i < 4; ++i) {
    char text[600];
    snprintf(text, sizeof(text),
             "graph @g {\n"
             "  %%0 = input \"x\" : f32[64]\n"
             "  %%1 = custom(%%0) {name = \"f\"} : f32[64]\n"
             "  %%2 = custom(%%0) {name = \"f\"} : f32[64] with {%s}\n"
             "  %%3 = concat(%%1, %%2) {axis = 0} : f32[128]\n"
             "  return %%3\n"
             "}\n",
             clauses[i]);
    plan_case c = plain(text);
    plan_edit edit = plan_edit_start(c.plan, c.graph, c.effects);
    CHECK(plan_edit_put(&edit, 1, 3, 0) && plan_edit_put(&edit, 2, 3, 256));
    CHECK_FAULT(finish(&c, &edit, false), faults[i]);
    plan_free(&c);
  }
}

// An operand whose storage is larger than its elements would reach into the next one's place.
TEST(AnElidedOperandHasNoMoreBytesThanItsElements) {
  static const struct {
    const char* type;
    const char* clause;
    stow_fault fault;
  } cases[] = {{"f32[64]", "", STOW_FAULT_NONE},
               {"f32[64]", " with {storage = 257}", STOW_FAULT_HOME},
               {"i4[129]", "", STOW_FAULT_NONE},
               {"i4[129]", " with {storage = 66}", STOW_FAULT_HOME}};
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
    char text[400];
    snprintf(text, sizeof(text),
             "graph @g {\n"
             "  %%0 = custom() {name = \"f\"} : %s%s\n"
             "  %%1 = custom(%%0) {name = \"f\"} : %s\n"
             "  %%2 = concat(%%0, %%1) {axis = 0} : %s\n"
             "  return %%2\n"
             "}\n",
             cases[i].type, cases[i].clause, cases[i].type, i < 2 ? "f32[128]" : "i4[258]");
    plan_case c = plain(text);
    plan_edit edit = plan_edit_start(c.plan, c.graph, c.effects);
    CHECK(plan_edit_put(&edit, 0, 2, 0));
    CHECK_FAULT(finish(&c, &edit, true), cases[i].fault);
    plan_free(&c);
  }
}

// %3 belongs to the first byte of its half, where half of an element of %1 still is.
TEST(AnElidedOperandBeginsAtAWholeByte) {
  static const char* const texts[] = {
      "graph @g {\n"
      "  %0 = custom() {name = \"f\"} : i4[128]\n"
      "  %1 = custom() {name = \"f\"} : i4[64]\n"
      "  %2 = concat(%0, %1) {axis = 0} : i4[192]\n"
      "  return %2\n"
      "}\n",
      "graph @g {\n"
      "  %0 = custom() {name = \"f\"} : i4[129]\n"
      "  %1 = custom() {name = \"f\"} : i4[64]\n"
      "  %2 = concat(%0, %1) {axis = 0} : i4[193]\n"
      "  return %2\n"
      "}\n"};
  for (size_t i = 0; i < 2; ++i) {
    plan_case c = plain(texts[i]);
    plan_edit edit = plan_edit_start(c.plan, c.graph, c.effects);
    CHECK(plan_edit_put(&edit, 1, 2, 64));
    CHECK_FAULT(finish(&c, &edit, true), i == 0 ? STOW_FAULT_NONE : STOW_FAULT_HOME);
    plan_free(&c);
  }
}

// Of the bytes of %5, one part is the first half or one byte more, the other the second half. They
// are written at one step, or the first after the second.
TEST(OneSharedByteIsCaught) {
  static const struct {
    const char* parts;
    stow_value first, second;
    int size;
    stow_fault fault;
  } cases[] = {
      {"%%1, %%2 = custom(%%0) {name = \"f\"} : u8[%d], u8[128]", 1, 2, 128, STOW_FAULT_NONE},
      {"%%1, %%2 = custom(%%0) {name = \"f\"} : u8[%d], u8[128]", 1, 2, 129, STOW_FAULT_OVERLAP},
      {"%%1 = custom(%%0) {name = \"f\"} : u8[128]\n"
       "  %%2 = custom(%%0) {name = \"f\"} : u8[%d]",
       2, 1, 128, STOW_FAULT_NONE},
      {"%%1 = custom(%%0) {name = \"f\"} : u8[128]\n"
       "  %%2 = custom(%%0) {name = \"f\"} : u8[%d]",
       2, 1, 129, STOW_FAULT_REUSED_TOO_EARLY},
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
    char parts[200], text[600];
    snprintf(parts, sizeof(parts), cases[i].parts, cases[i].size);
    snprintf(text, sizeof(text),
             "graph @g {\n"
             "  %%0 = input \"x\" : u8[64]\n"
             "  %s\n"
             "  %%3 = concat(%%%u) {axis = 0} : u8[%d]\n"
             "  %%4 = narrow(%%3) {axis = 0, start = 0, len = 128} : u8[128]\n"
             "  %%5 = concat(%%4, %%%u) {axis = 0} : u8[256]\n"
             "  return %%5\n"
             "}\n",
             parts, (unsigned)cases[i].first, cases[i].size, (unsigned)cases[i].second);
    plan_case c = plain(text);
    plan_edit edit = plan_edit_start(c.plan, c.graph, c.effects);
    CHECK(plan_edit_put(&edit, cases[i].first, 3, 0) && plan_edit_put(&edit, 3, 5, 0) &&
          plan_edit_put(&edit, cases[i].second, 5, 128));
    CHECK_FAULT(finish(&c, &edit, true), cases[i].fault);
    plan_free(&c);
  }
}

// The concat copies %0 and %1 into bytes of %2, of which %4 is the second third.
TEST(CopiesOverwriteWhatWasThere) {
  static const char text[] =
      "graph @g {\n"
      "  %0 = input \"x\" : f32[64]\n"
      "  %1 = input \"y\" : f32[64]\n"
      "  %2 = custom(%0) {name = \"f\"} : f32[192]\n"
      "  %3 = narrow(%2) {axis = 0, start = 128, len = 64} : f32[64]\n"
      "  %4 = narrow(%2) {axis = 0, start = 64, len = 64} : f32[64]\n"
      "  %5 = relu(%3) : f32[64]\n"
      "  %6 = concat(%0, %1, %5) {axis = 0} : f32[192]\n"
      "  %7 = custom(%6, %4) {name = \"f\"} : f32[64]\n"
      "  return %7\n"
      "}\n";
  plan_case c = plain(text);
  plan_edit edit = plan_edit_start(c.plan, c.graph, c.effects);
  CHECK(plan_edit_put(&edit, 5, 3, 0) && plan_edit_put(&edit, 6, 2, 0));
  CHECK_FAULT(finish(&c, &edit, false), STOW_FAULT_REUSED_TOO_EARLY);
  CHECK_TEXT(c.diag.message,
             "%4 is read at step 7 by %7 (custom), but %6 is written into its bytes at step 6");
  plan_free(&c);
}

// %6 is overwritten only by %8, which comes with %12 and %13 inside its bytes: if such writes end
// earlier, the search must not take their end for that of all. %7 is overwritten by the last of
// all.
TEST(AWriteIsFoundAmongOthersInsideIt) {
  static const char* const messages[] = {
      "%6 is read at step 15 by %15 (custom), but %8 is written into its bytes at step 8",
      "%7 is read at step 15 by %15 (custom), but %14 is written into its bytes at step 14"};
  static const char format[] =
      "graph @g {\n"
      "  %%0 = input \"x\" : f32[64]\n"
      "  %%1 = custom(%%0) {name = \"f\"} : f32[256]\n"
      "  %%2 = narrow(%%1) {axis = 0, start = 0, len = 64} : f32[64]\n"
      "  %%3 = narrow(%%1) {axis = 0, start = 128, len = 64} : f32[64]\n"
      "  %%4 = narrow(%%1) {axis = 0, start = 192, len = 64} : f32[64]\n"
      "  %%5 = relu(%%2) : f32[64]\n"
      "  %%6 = relu(%%3) : f32[64]\n"
      "  %%7 = relu(%%4) : f32[64]\n"
      "  %%8 = concat(%%0, %%0, %%0, %%7) {axis = 0} : f32[256]\n"
      "  %%9 = narrow(%%8) {axis = 0, start = 0, len = 64} : f32[64]\n"
      "  %%10 = narrow(%%8) {axis = 0, start = 64, len = 64} : f32[64]\n"
      "  %%11 = narrow(%%8) {axis = 0, start = 192, len = 64} : f32[64]\n"
      "  %%12 = relu(%%9) : f32[64]\n"
      "  %%13 = relu(%%10) : f32[64]\n"
      "  %%14 = relu(%%11) : f32[64]\n"
      "  %%15 = custom(%%%u, %%12, %%13, %%14) {name = \"f\"} : f32[64]\n"
      "  return %%15\n"
      "}\n";
  for (stow_value read = 6; read <= 7; ++read) {
    char text[1200];
    snprintf(text, sizeof(text), format, (unsigned)read);
    plan_case c = plain(text);
    plan_edit edit = plan_edit_start(c.plan, c.graph, c.effects);
    CHECK(plan_edit_put(&edit, 5, 2, 0) && plan_edit_put(&edit, 6, 3, 0) &&
          plan_edit_put(&edit, 7, 4, 0) && plan_edit_put(&edit, 8, 1, 0) &&
          plan_edit_put(&edit, 12, 9, 0) && plan_edit_put(&edit, 13, 10, 0) &&
          plan_edit_put(&edit, 14, 11, 0));
    CHECK_FAULT(finish(&c, &edit, false), STOW_FAULT_REUSED_TOO_EARLY);
    CHECK_TEXT(c.diag.message, messages[read - 6]);
    plan_free(&c);
  }
}

// What is copied around an empty operand may share a byte; it is one node that writes it.
TEST(CopiesThatShareAByteAreNotADoubleWrite) {
  static const char text[] =
      "graph @g {\n"
      "  %0 = input \"x\" : i4[129]\n"
      "  %1 = input \"none\" : i4[0]\n"
      "  %2 = input \"y\" : i4[127]\n"
      "  %3 = custom(%0) {name = \"f\"} : i4[128]\n"
      "  %4 = concat(%0, %1, %2, %3) {axis = 0} : i4[384]\n"
      "  return %4\n"
      "}\n";
  plan_case c = plain(text);
  plan_edit edit = plan_edit_start(c.plan, c.graph, c.effects);
  CHECK(plan_edit_put(&edit, 3, 4, 128));
  CHECK_FAULT(finish(&c, &edit, true), STOW_FAULT_NONE);
  plan_free(&c);
  stow_plan_options options = plan_options(STOW_PRESET_DEFAULT);
  c = plan_make(text, &options);
  plan_prove(&c);
  plan_free(&c);
}

// The result is written from step 1 on, where its operand would be built.
TEST(AResultWrittenEarlyElidesNothing) {
  static const char text[] =
      "graph @g {\n"
      "  %0 = input \"x\" : f32[64]\n"
      "  %1 = custom(%0) {name = \"f\"} : f32[64]\n"
      "  %2 = custom(%1) {name = \"f\"} : f32[64]\n"
      "  %3 = concat(%2, %0) {axis = 0} : f32[128] with {early = [0, 1]}\n"
      "  return %3\n"
      "}\n";
  plan_case c = plain(text);
  plan_edit edit = plan_edit_start(c.plan, c.graph, c.effects);
  CHECK(plan_edit_put(&edit, 2, 3, 0));
  CHECK_FAULT(finish(&c, &edit, false), STOW_FAULT_OVERLAP);
  CHECK_TEXT(c.diag.message, "%2 and %3 are both written into %3 at step 2");
  plan_free(&c);
}

// ---------------------------------------------------------------------------------------------
// Windows

// %2 is 64 bytes in place of the 512 of %1, and lives long; %3 fits in what it leaves.
static const char shrinking[] =
    "graph @g {\n"
    "  %0 = input \"x\" : f32[16]\n"
    "  %1 = custom(%0) {name = \"f\"} : f32[128]\n"
    "  %2 = custom(%1) {name = \"f\"} : f32[16]\n"
    "  %3 = custom(%0) {name = \"f\"} : f32[112]\n"
    "  %4 = custom(%2, %3) {name = \"f\"} : f32[16]\n"
    "  return %4\n"
    "}\n";

static plan_case shrunk(plan_edit* edit) {
  plan_case c = plain(shrinking);
  *edit = plan_edit_start(c.plan, c.graph, c.effects);
  CHECK(stow_effects_allow_in_place(c.effects, 2, 0, 0, NULL) == STOW_OK);
  CHECK(plan_edit_put(edit, 2, 1, 0));
  CHECK_FAULT(finish(&c, edit, true), STOW_FAULT_NONE);
  return c;
}

TEST(TheRestOfASmallerRootIsFree) {
  plan_edit edit;
  plan_case c = shrunk(&edit);
  REQUIRE(c.plan->window_count == 1);
  CHECK_U64(c.plan->windows[0].window.begin, 3);
  CHECK_U64(c.plan->windows[0].window.high, 64);
  CHECK(c.plan->values[3].offset < c.plan->values[1].offset + 512);
  // Without the window, it is not.
  c.plan->window_count = 0;
  CHECK_FAULT(check_plan(&c), STOW_FAULT_OVERLAP);
  c.plan->window_count = 1;
  plan_free(&c);
}

TEST(AValueOutsideItsRootsWindowIsCaught) {
  plan_edit edit;
  plan_case c = shrunk(&edit);
  REQUIRE(c.plan->window_count == 1);
  c.plan->windows[0].window.high = 60;
  stow_violation violation = check_plan(&c);
  CHECK_FAULT(violation, STOW_FAULT_WINDOW);
  CHECK_U64(violation.first, 2);
  CHECK_U64(violation.second, 1);
  CHECK_U64(violation.step, 3);
  CHECK_TEXT(c.diag.message,
             "%2 is bytes [0, 64) of %1, which occupies only [0, 60) over steps [3, 5)");
  c.plan->windows[0].window.high = 64;
  c.plan->windows[0].window.begin = 2;  // while %1 is read
  violation = check_plan(&c);
  CHECK_FAULT(violation, STOW_FAULT_WINDOW);
  CHECK_U64(violation.first, 1);
  plan_free(&c);
}

TEST(InvalidWindowsAreCaught) {
  plan_edit edit;
  plan_case c = shrunk(&edit);
  REQUIRE(c.plan->window_count == 1);
  const stowi_plan_window right = c.plan->windows[0];
  const stowi_plan_window wrong[] = {
      {2, right.window},  {77, right.window}, {1, {3, 3, 0, 64}},  {1, {0, 5, 0, 64}},
      {1, {3, 6, 0, 64}}, {1, {3, 5, 64, 0}}, {1, {3, 5, 0, 513}},
  };
  for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); ++i) {
    c.plan->windows[0] = wrong[i];
    CHECK_FAULT(check_plan(&c), STOW_FAULT_WINDOW);
  }
  CHECK_TEXT(c.diag.message, "%1 has a window [0, 513) over steps [3, 5), which is outside it");
  c.plan->windows[0] = right;
  c.plan->values[1].guard = 64;
  CHECK_FAULT(check_plan(&c), STOW_FAULT_WINDOW);
  CHECK_HAS(c.diag.message, "but it has a guard");
  plan_free(&c);
}

TEST(WindowsOutOfOrderAreCaught) {
  plan_case c = plain(joined);
  plan_edit edit = plan_edit_start(c.plan, c.graph, c.effects);
  CHECK(plan_edit_put(&edit, 1, 4, 0) && plan_edit_put(&edit, 2, 4, 256));
  CHECK_FAULT(finish(&c, &edit, true), STOW_FAULT_NONE);
  REQUIRE(c.plan->window_count >= 2);
  stowi_plan_window first = c.plan->windows[0];
  c.plan->windows[0] = c.plan->windows[1];
  c.plan->windows[1] = first;
  CHECK_FAULT(check_plan(&c), STOW_FAULT_WINDOW);
  CHECK_HAS(c.diag.message, "which comes after a later one");
  plan_free(&c);
}

TEST(WithoutReuseThereAreNoWindows) {
  plan_edit edit;
  plan_case c = shrunk(&edit);
  c.plan->facts.reuse = false;
  CHECK_FAULT(check_plan(&c), STOW_FAULT_WINDOW);
  plan_free(&c);
}

TEST(WindowsCountForPeakAndBound) {
  plan_edit edit;
  plan_case c = shrunk(&edit);
  CHECK_U64(c.plan->peak_step, 4);
  CHECK_U64(c.plan->lower_bound, 64 + 64 + 448 + 64);
  c.plan->peak_step = 3;
  CHECK_FAULT(check_plan(&c), STOW_FAULT_FACT);
  c.plan->peak_step = 4;
  c.plan->lower_bound = 64 + 512 + 448 + 64;
  CHECK_FAULT(check_plan(&c), STOW_FAULT_FACT);
  plan_free(&c);
}

TEST(OperandsAfterAnUpperBoundedOneAreNotElided) {
  static const char* const texts[] = {
      "graph @g {\n"
      "  %0 = custom() {name = \"f\"} : f32[64]\n"
      "  %1 = custom() {name = \"f\"} : f32[64]\n"
      "  %2 = concat(%0, %1) {axis = 0} : f32[128]\n"
      "  return %2\n"
      "}\n",
      "graph @g {\n"
      "  %0 = custom() {name = \"f\"} : bounded f32[64]\n"
      "  %1 = custom() {name = \"f\"} : f32[64]\n"
      "  %2 = concat(%0, %1) {axis = 0} : f32[128]\n"
      "  return %2\n"
      "}\n"};
  for (size_t i = 0; i < 2; ++i) {
    plan_case c = plain(texts[i]);
    c.plan->facts.elide_copies = true;
    plan_edit edit = plan_edit_start(c.plan, c.graph, c.effects);
    CHECK(plan_edit_put(&edit, 1, 2, 256));
    CHECK_FAULT(finish(&c, &edit, true), i == 0 ? STOW_FAULT_NONE : STOW_FAULT_HOME);
    plan_free(&c);
  }
}

// ---------------------------------------------------------------------------------------------

static stow_status attempt_check(stow_allocator allocator, void* user) {
  const plan_case* c = (const plan_case*)user;
  return stow_plan_check(c->plan, c->graph, c->effects, allocator, NULL, NULL);
}

TEST(OutOfMemoryIsReportedForSharingToo) {
  plan_case c = plain(joined);
  plan_edit edit = plan_edit_start(c.plan, c.graph, c.effects);
  CHECK(plan_edit_put(&edit, 1, 4, 0) && plan_edit_put(&edit, 2, 4, 256));
  CHECK_FAULT(finish(&c, &edit, true), STOW_FAULT_NONE);
  CHECK(test_fault_sweep(attempt_check, &c) >= 20);
  plan_free(&c);
}
