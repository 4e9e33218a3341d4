// Copy elision of concat operands: each reason by an example.
#include <stdio.h>
#include <string.h>

#include "analysis/api.h"
#include "fixture.h"
#include "support/fault.h"
#include "support/test.h"

static const char* const reason_names[] = {
#define NAME(name, text) #name,
    STOW_REASON_LIST(NAME)
#undef NAME
};

typedef struct setup {
  fixture f;
  stowi_analysis_sharing_options options;
  stowi_analysis_sharing* sharing;
  char text[4096];
} setup;

static void setup_init(setup* s) {
  memset(s, 0, sizeof(*s));
  fixture_init(&s->f);
  stowi_analysis_sharing_options_init(&s->options);
  s->options.in_place = false;
}

static void setup_free(setup* s) {
  stowi_analysis_sharing_destroy(s->sharing);
  fixture_free(&s->f);
}

static stow_status setup_apply(setup* s) {
  fixture* f = &s->f;
  return stowi_analysis_sharing_apply(f->views, f->graph, f->schedule, f->effects, f->lifetimes,
                                      &s->options, f->allocator, &f->diag, &s->sharing);
}

// `2:TAKEN 3:OTHER_HOME(4)` for all operands of concats.
static const char* show_elisions(setup* s) {
  size_t used = 0;
  s->text[0] = '\0';
  for (size_t i = 0; i < stowi_analysis_sharing_count(s->sharing); ++i) {
    stow_decision d = stowi_analysis_sharing_at(s->sharing, i);
    if (d.share != STOW_SHARE_HOME) {
      continue;
    }
    used += (size_t)snprintf(s->text + used, sizeof(s->text) - used, "%s%u:%s",
                             used == 0 ? "" : " ", (unsigned)d.operand, reason_names[d.reason]);
    if (d.other_value != STOW_VALUE_NONE) {
      used +=
          (size_t)snprintf(s->text + used, sizeof(s->text) - used, "(%u)", (unsigned)d.other_value);
    }
  }
  return s->text;
}

static void check_with(setup* s, const char* body, const char* elisions, const char* views) {
  stow_status status = fixture_lifetimes(&s->f, body);
  if (test_check(status == STOW_OK, __FILE__, __LINE__, "%s", s->f.diag.message) &&
      CHECK(setup_apply(s) == STOW_OK)) {
    CHECK_TEXT(show_elisions(s), elisions);
    CHECK_TEXT(fixture_show_views(&s->f), views);
  }
  setup_free(s);
}

// The decisions for |body|, without in-place results, and all views after them.
static void check_elisions(const char* body, const char* elisions, const char* views) {
  setup s;
  setup_init(&s);
  check_with(&s, body, elisions, views);
}

// ---------------------------------------------------------------------------------------------
// Taken

TEST(OperandsAreBuiltInsideTheResult) {
  check_elisions(
      "  %0 = input \"x\" : f32[4]\n"
      "  %1 = relu(%0) : f32[4]\n"
      "  %2 = gelu(%0) : f32[4]\n"
      "  %3 = concat(%1, %2) : f32[8]\n"
      "  return %3",
      "1:TAKEN 2:TAKEN", "1=3+0 2=3+16");
}

TEST(OuterDimsOfOneAllowElision) {
  check_elisions(
      "  %0 = input \"x\" : f32[1, 4, 3]\n"
      "  %1 = relu(%0) : f32[1, 4, 3]\n"
      "  %2 = gelu(%0) : f32[1, 4, 3]\n"
      "  %3 = concat(%1, %2) {axis = -2} : f32[1, 8, 3]\n"
      "  return %3",
      "1:TAKEN 2:TAKEN", "1=3+0 2=3+48");
}

TEST(ViewsAndInPlaceChainsMoveAlong) {
  setup s;
  setup_init(&s);
  s.options.in_place = true;
  check_with(&s,
             "  %0 = input \"x\" : f32[4]\n"
             "  %1 = exp(%0) : f32[4]\n"
             "  %2 = relu(%1) : f32[4]\n"
             "  %3 = reshape(%2) : f32[2, 2]\n"
             "  %4 = relu(%3) : f32[2, 2]\n"
             "  %5 = reshape(%4) : f32[4]\n"
             "  %6 = concat(%0, %5) : f32[8]\n"
             "  return %6",
             "0:KEPT 5:TAKEN", "1=6+16 2=6+16 3=6+16 4=6+16 5=6+16");
}

TEST(NestedConcatsShareOneRoot) {
  check_elisions(
      "  %0 = input \"x\" : f32[4]\n"
      "  %1 = relu(%0) : f32[4]\n"
      "  %2 = exp(%1) : f32[4]\n"
      "  %3 = concat(%1, %2) : f32[8]\n"
      "  %4 = exp(%3) : f32[8]\n"
      "  %5 = concat(%4, %3) : f32[16]\n"
      "  %6 = exp(%5) : f32[16]\n"
      "  %7 = concat(%5, %6) : f32[32]\n"
      "  return %7",
      "1:TAKEN 2:TAKEN 4:TAKEN 3:TAKEN 5:TAKEN 6:TAKEN", "1=7+32 2=7+48 3=7+32 4=7+0 5=7+0 6=7+64");
}

// As torchvision writes DenseNet: each concat names everything before it.
TEST(OperandsThatAreAllOfAnEarlierConcatMoveAsOne) {
  check_elisions(
      "  %0 = input \"x\" : f32[4]\n"
      "  %1 = relu(%0) : f32[4]\n"
      "  %2 = exp(%1) : f32[4]\n"
      "  %3 = concat(%1, %2) : f32[8]\n"
      "  %4 = exp(%3) : f32[8]\n"
      "  %5 = concat(%1, %2, %4) : f32[16]\n"
      "  %6 = exp(%5) : f32[16]\n"
      "  %7 = concat(%6, %2, %1) : f32[24]\n"
      "  return %7",
      "1:TAKEN 2:TAKEN 1:TAKEN 2:TAKEN 4:TAKEN 6:TAKEN 2:OTHER_HOME(3) 1:OTHER_HOME(3)",
      "1=5+0 2=5+16 3=5+0 4=5+32 6=7+0");
}

// %4 could be in place of %3, but then %1 and %2 would be copied there.
// As in U-Net++: %1 is the first part of both concats, and %5 follows it where %2 was.
static const char two_concats[] =
    "  %0 = input \"x\" : f32[4]\n"
    "  %1 = relu(%0) : f32[4]\n"
    "  %2 = exp(%0) : f32[4]\n"
    "  %3 = concat(%1, %2) : f32[8]\n"
    "  %4 = reduce(%3) {op = \"sum\", axes = [0]} : f32[1]\n"
    "  %5 = tile(%4) {repeats = [4]} : f32[4]\n"
    "  %6 = exp(%5) : f32[4]\n"
    "  %7 = concat(%1, %6, %5) : f32[12]\n"
    "  return %7";

TEST(AnOperandOfTwoConcatsHasOnePlaceInBoth) {
  check_elisions(two_concats, "1:TAKEN 2:TAKEN 1:TAKEN 6:TAKEN 5:TAKEN",
                 "1=7+0 2=7+16 3=7+0 5=7+32 6=7+16");
}

// %7 is in place of %6 once %1, which is in both, is dead.
TEST(AJoinedConcatMayBeOverwrittenInTheEnd) {
  setup s;
  setup_init(&s);
  s.options.in_place = true;
  check_with(&s,
             "  %0 = input \"x\" : f32[4]\n"
             "  %1 = exp(%0) : f32[4]\n"
             "  %2 = exp(%1) : f32[4]\n"
             "  %3 = concat(%1, %2) : f32[8]\n"
             "  %4 = reduce(%3) {op = \"sum\", axes = [0]} : f32[1]\n"
             "  %5 = tile(%4) {repeats = [4]} : f32[4]\n"
             "  %6 = concat(%1, %5) : f32[8]\n"
             "  %7 = relu(%6) : f32[8]\n"
             "  return %7",
             "1:TAKEN 2:TAKEN 1:TAKEN 5:TAKEN", "1=6+0 2=6+16 3=6+0 5=6+16 7=6+0");
}

// %6 is made at the step at which %2 and %3, at whose bytes it is, are no longer needed.
TEST(AnOperandFollowsOthersAtOnce) {
  check_elisions(
      "  %0 = input \"x\" : f32[4]\n"
      "  %1 = relu(%0) : f32[4]\n"
      "  %2 = exp(%0) : f32[4]\n"
      "  %3 = exp(%2) : f32[4]\n"
      "  %4 = concat(%1, %2, %3) : f32[12]\n"
      "  %5 = reduce(%4) {op = \"sum\", axes = [0]} : f32[1]\n"
      "  %6 = tile(%5) {repeats = [8]} : f32[8]\n"
      "  %7 = concat(%1, %6) : f32[12]\n"
      "  return %7",
      "1:TAKEN 2:TAKEN 3:TAKEN 1:TAKEN 6:TAKEN", "1=7+0 2=7+16 3=7+32 4=7+0 6=7+16");
}

// The larger concat runs first.
TEST(ASmallerConcatIsBuiltInsideALargerOne) {
  check_elisions(
      "  %0 = input \"x\" : f32[4]\n"
      "  %1 = relu(%0) : f32[4]\n"
      "  %2 = exp(%0) : f32[4]\n"
      "  %3 = exp(%1) : f32[4]\n"
      "  %4 = concat(%2, %1, %3) : f32[12]\n"
      "  %5 = reduce(%4) {op = \"sum\", axes = [0]} : f32[1]\n"
      "  %6 = tile(%5) {repeats = [4]} : f32[4]\n"
      "  %7 = concat(%1, %6) : f32[8]\n"
      "  return %7",
      "2:TAKEN 1:TAKEN 3:TAKEN 1:TAKEN 6:TAKEN", "1=4+16 2=4+0 3=4+32 6=4+32 7=4+16");
}

TEST(AConcatWithBytesOfItsOwnJoinsNoOther) {
  check_elisions(
      "  %0 = input \"x\" : f32[4]\n"
      "  %1 = relu(%0) : f32[4]\n"
      "  %2 = exp(%0) : f32[4]\n"
      "  %3 = exp(%1) : f32[4]\n"
      "  %4 = concat(%2, %1, %3) : f32[12]\n"
      "  %5 = reduce(%4) {op = \"sum\", axes = [0]} : f32[1]\n"
      "  %6 = tile(%5) {repeats = [4]} : f32[4]\n"
      "  %7 = concat(%1, %6) : f32[8] with {own = true}\n"
      "  return %7",
      "2:TAKEN 1:TAKEN 3:TAKEN 1:OWN 6:TAKEN", "1=4+16 2=4+0 3=4+32 6=7+16");
}

// The operand is the last part of both, the larger one last or first; or the first part.
TEST(ConcatsJoinWhereverTheOperandIs) {
  check_elisions(
      "  %0 = input \"x\" : f32[4]\n"
      "  %1 = exp(%0) : f32[4]\n"
      "  %2 = relu(%0) : f32[4]\n"
      "  %3 = concat(%1, %2) : f32[8]\n"
      "  %4 = reduce(%3) {op = \"sum\", axes = [0]} : f32[1]\n"
      "  %5 = tile(%4) {repeats = [4]} : f32[4]\n"
      "  %6 = exp(%5) : f32[4]\n"
      "  %7 = concat(%5, %6, %2) : f32[12]\n"
      "  return %7",
      "1:TAKEN 2:TAKEN 5:TAKEN 6:TAKEN 2:TAKEN", "1=7+16 2=7+32 3=7+16 5=7+0 6=7+16");
  check_elisions(
      "  %0 = input \"x\" : f32[4]\n"
      "  %1 = exp(%0) : f32[4]\n"
      "  %2 = exp(%1) : f32[4]\n"
      "  %3 = relu(%0) : f32[4]\n"
      "  %4 = concat(%1, %2, %3) : f32[12]\n"
      "  %5 = reduce(%4) {op = \"sum\", axes = [0]} : f32[1]\n"
      "  %6 = tile(%5) {repeats = [4]} : f32[4]\n"
      "  %7 = concat(%6, %3) : f32[8]\n"
      "  return %7",
      "1:TAKEN 2:TAKEN 3:TAKEN 6:TAKEN 3:TAKEN", "1=4+0 2=4+16 3=4+32 6=4+16 7=4+16");
  check_elisions(
      "  %0 = input \"x\" : f32[4]\n"
      "  %1 = exp(%0) : f32[4]\n"
      "  %2 = relu(%0) : f32[4]\n"
      "  %3 = exp(%1) : f32[4]\n"
      "  %4 = concat(%2, %1, %3) : f32[12]\n"
      "  %5 = reduce(%4) {op = \"sum\", axes = [0]} : f32[1]\n"
      "  %6 = tile(%5) {repeats = [4]} : f32[4]\n"
      "  %7 = concat(%2, %6) : f32[8]\n"
      "  return %7",
      "2:TAKEN 1:TAKEN 3:TAKEN 2:TAKEN 6:TAKEN", "1=4+16 2=4+0 3=4+32 6=4+16 7=4+0");
}

// %6 would have to be where %2, a part of %3, still is.
TEST(ConcatsThatLiveTogetherDoNotJoin) {
  check_elisions(
      "  %0 = input \"x\" : f32[4]\n"
      "  %1 = relu(%0) : f32[4]\n"
      "  %2 = exp(%0) : f32[4]\n"
      "  %3 = concat(%1, %2) : f32[8]\n"
      "  %4 = reduce(%3) {op = \"sum\", axes = [0]} : f32[1]\n"
      "  %5 = tile(%4) {repeats = [4]} : f32[4]\n"
      "  %6 = exp(%5) : f32[4]\n"
      "  %7 = concat(%1, %6, %5) : f32[12]\n"
      "  return %7, %3",
      "1:TAKEN 2:TAKEN 1:OTHER_HOME(3) 6:TAKEN 5:TAKEN", "1=3+0 2=3+16 5=7+32 6=7+16");
}

// %6 is where %2 was, and %2 is read again after it is made.
TEST(AnOperandThatIsReadAgainKeepsItsBytes) {
  check_elisions(
      "  %0 = input \"x\" : f32[4]\n"
      "  %1 = relu(%0) : f32[4]\n"
      "  %2 = exp(%0) : f32[4]\n"
      "  %3 = concat(%1, %2) : f32[8]\n"
      "  %4 = reduce(%3) {op = \"sum\", axes = [0]} : f32[1]\n"
      "  %5 = tile(%4) {repeats = [4]} : f32[4]\n"
      "  %6 = exp(%5) : f32[4]\n"
      "  %7 = concat(%1, %6, %5) : f32[12]\n"
      "  %8 = relu(%2) : f32[4]\n"
      "  return %7, %8",
      "1:TAKEN 2:TAKEN 1:OTHER_HOME(3) 6:TAKEN 5:TAKEN", "1=3+0 2=3+16 5=7+32 6=7+16");
}

// Neither of [%1 %2] and [%2 %5] is inside the other.
TEST(ConcatsThatOverlapInPartDoNotJoin) {
  check_elisions(
      "  %0 = input \"x\" : f32[4]\n"
      "  %1 = relu(%0) : f32[4]\n"
      "  %2 = exp(%0) : f32[4]\n"
      "  %3 = concat(%1, %2) : f32[8]\n"
      "  %4 = reduce(%3) {op = \"sum\", axes = [0]} : f32[1]\n"
      "  %5 = tile(%4) {repeats = [4]} : f32[4]\n"
      "  %6 = concat(%2, %5) : f32[8]\n"
      "  return %6",
      "1:TAKEN 2:TAKEN 2:OTHER_HOME(3) 5:TAKEN", "1=3+0 2=3+16 5=6+16");
}

TEST(AConcatOfOperandsThatOutliveItIsNotOverwritten) {
  setup s;
  setup_init(&s);
  s.options.in_place = true;
  check_with(&s,
             "  %0 = input \"x\" : f32[4]\n"
             "  %1 = exp(%0) : f32[4]\n"
             "  %2 = custom(%1) {name = \"f\"} : f32[4]\n"
             "  %3 = concat(%1, %2) : f32[8]\n"
             "  %4 = exp(%3) : f32[8]\n"
             "  %5 = custom(%4) {name = \"f\"} : f32[4]\n"
             "  %6 = concat(%1, %2, %5) : f32[12]\n"
             "  %7 = exp(%6) : f32[12]\n"
             "  return %7",
             "1:TAKEN 2:TAKEN 1:TAKEN 2:TAKEN 5:TAKEN", "1=6+0 2=6+16 3=6+0 5=6+32 7=6+0");
}

TEST(ASkipOfAUNetIsBuiltInsideTheConcat) {
  check_elisions(
      "  %0 = input \"x\" : f32[1, 4, 4]\n"
      "  %1 = relu(%0) : f32[1, 4, 4]\n"
      "  %2 = custom(%1) {name = \"down\"} : f32[1, 4, 2]\n"
      "  %3 = exp(%2) : f32[1, 4, 2]\n"
      "  %4 = custom(%3) {name = \"up\"} : f32[1, 4, 4]\n"
      "  %5 = concat(%1, %4) {axis = 1} : f32[1, 8, 4]\n"
      "  %6 = exp(%5) : f32[1, 8, 4]\n"
      "  return %6",
      "1:TAKEN 4:TAKEN", "1=5+0 4=5+64");
}

TEST(AnOutputMayBeElided) {
  check_elisions(
      "  %0 = input \"x\" : f32[4]\n"
      "  %1 = relu(%0) : f32[4]\n"
      "  %2 = concat(%1, %1) : f32[8]\n"
      "  return %2, %1",
      "1:TAKEN 1:OTHER_HOME(2)", "1=2+0");
}

// ---------------------------------------------------------------------------------------------
// Refused, by what an operand is

TEST(NonContiguousOperandsAreCopied) {
  check_elisions(
      "  %0 = input \"x\" : f32[2, 4]\n"
      "  %1 = relu(%0) : f32[2, 4]\n"
      "  %2 = gelu(%0) : f32[2, 4]\n"
      "  %3 = concat(%1, %2) {axis = 1} : f32[2, 8]\n"
      "  %4 = relu(%3) : f32[2, 8]\n"
      "  %5 = concat(%4) {axis = 1} : f32[2, 8]\n"
      "  return %5",
      "1:NOT_CONTIGUOUS 2:NOT_CONTIGUOUS 4:TAKEN", "4=5+0");
}

TEST(SubByteOffsetsAreCopied) {
  check_elisions(
      "  %0 = input \"x\" : i4[3]\n"
      "  %1 = input \"y\" : i4[4]\n"
      "  %2 = relu(%0) : i4[3]\n"
      "  %3 = relu(%1) : i4[4]\n"
      "  %4 = concat(%2, %3) : i4[7]\n"
      "  %5 = relu(%1) : i4[4]\n"
      "  %6 = relu(%0) : i4[3]\n"
      "  %7 = concat(%5, %6) : i4[7]\n"
      "  return %4, %7",
      "2:NOT_CONTIGUOUS 3:NOT_CONTIGUOUS 5:TAKEN 6:TAKEN", "5=7+0 6=7+2");
}

// Elements of fewer than 32 bits take 32; others their own width.
TEST(OffsetsFollowUniformWidths) {
  setup s;
  setup_init(&s);
  s.f.views_options.f32_uniform = true;
  check_with(&s,
             "  %0 = input \"x\" : f16[4]\n"
             "  %1 = relu(%0) : f16[4]\n"
             "  %2 = gelu(%0) : f16[4]\n"
             "  %3 = concat(%1, %2) : f16[8]\n"
             "  %4 = input \"y\" : f64[4]\n"
             "  %5 = relu(%4) : f64[4]\n"
             "  %6 = gelu(%4) : f64[4]\n"
             "  %7 = concat(%5, %6) : f64[8]\n"
             "  return %3, %7",
             "1:TAKEN 2:TAKEN 5:TAKEN 6:TAKEN", "1=3+0 2=3+16 5=7+0 6=7+32");
}

TEST(OperandsAfterAnUpperBoundedOneAreCopied) {
  check_elisions(
      "  %0 = input \"x\" : f32[4]\n"
      "  %1 = relu(%0) : f32[4]\n"
      "  %2 = custom(%0) {name = \"some\"} : bounded f32[4]\n"
      "  %3 = relu(%0) : f32[4]\n"
      "  %4 = concat(%1, %2, %3) : f32[12]\n"
      "  return %4",
      "1:TAKEN 2:TAKEN 3:NOT_CONTIGUOUS", "1=4+0 2=4+16");
}

TEST(ElidedOperandsAreAligned) {
  setup s;
  setup_init(&s);
  s.options.alignment = 8;
  check_with(&s,
             "  %0 = input \"x\" : f32[3]\n"
             "  %1 = relu(%0) : f32[3]\n"
             "  %2 = gelu(%0) : f32[3]\n"
             "  %3 = concat(%1, %2) : f32[6]\n"
             "  return %3",
             "1:TAKEN 2:MISALIGNED", "1=3+0");
  check_elisions(
      "  %0 = input \"x\" : f32[4]\n"
      "  %1 = relu(%0) : f32[4]\n"
      "  %2 = gelu(%0) : f32[4] with {align = 16}\n"
      "  %3 = gelu(%0) : f32[4] with {align = 64}\n"
      "  %4 = concat(%1, %2, %3) : f32[12]\n"
      "  return %4",
      "1:TAKEN 2:TAKEN 3:MISALIGNED", "1=4+0 2=4+16");
}

// %2 would be aligned in %3, but not where %3 ends up in %5.
TEST(AnAlignmentHoldsInTheOutermostRoot) {
  check_elisions(
      "  %0 = input \"x\" : f32[4]\n"
      "  %1 = relu(%0) : f32[4] with {align = 64}\n"
      "  %2 = concat(%1, %0) : f32[8]\n"
      "  %3 = relu(%0) : f32[4]\n"
      "  %4 = concat(%3, %2) : f32[12]\n"
      "  return %4",
      "1:TAKEN 0:KEPT 3:TAKEN 2:MISALIGNED", "1=2+0 3=4+0");
}

TEST(BoundaryValuesAreCopied) {
  check_elisions(
      "  %0 = input \"x\" : f32[4]\n"
      "  %1 = param \"w\" : f32[4]\n"
      "  %2 = constant \"c\" : f32[4]\n"
      "  %3 = concat(%0, %1, %2) : f32[12]\n"
      "  return %3",
      "0:KEPT 1:KEPT 2:KEPT", "");
}

TEST(ValuesPinnedByEffectsAreCopied) {
  check_elisions(
      "  %0 = input \"x\" : f32[4]\n"
      "  %1 = relu(%0) : f32[4] with {own = true}\n"
      "  %2 = relu(%0) : f32[4] with {state = true}\n"
      "  %3 = relu(%0) : f32[4] with {at = 64}\n"
      "  %4 = relu(%0) : f32[4] with {io = \"external\"}\n"
      "  %5 = concat(%1, %2, %3, %4) : f32[16]\n"
      "  return %5, %4",
      "1:OWN 2:STATE 3:FIXED 4:EXTERNAL", "");
}

TEST(ARestrictedResultElidesNothing) {
  check_elisions(
      "  %0 = input \"x\" : f32[4]\n"
      "  %1 = relu(%0) : f32[4]\n"
      "  %2 = concat(%1) : f32[4] with {state = true}\n"
      "  %3 = concat(%1) : f32[4] with {at = 64}\n"
      "  %4 = concat(%1) : f32[4] with {io = \"external\"}\n"
      "  %5 = concat(%1) : f32[4] with {early = [0, 1]}\n"
      "  %6 = concat(%0, %1) : f32[8] with {storage = 64}\n"
      "  return %2, %3, %4, %5, %6",
      "1:STATE 1:FIXED 1:EXTERNAL 1:EARLY 0:NOT_CONTIGUOUS 1:NOT_CONTIGUOUS", "");
}

TEST(EarlyWritesAreCopied) {
  check_elisions(
      "  %0 = input \"x\" : f32[4]\n"
      "  %1 = relu(%0) : f32[4]\n"
      "  %2 = relu(%0) : f32[4] with {early = [0, 1]}\n"
      "  %3 = concat(%2, %1) : f32[8]\n"
      "  return %3",
      "2:EARLY 1:TAKEN", "1=3+16");
}

TEST(PartsOfARootAreCopied) {
  check_elisions(
      "  %0 = input \"x\" : f32[4]\n"
      "  %1 = relu(%0) : f32[4]\n"
      "  %2 = narrow(%1) {axis = 0, start = 0, len = 2} : f32[2]\n"
      "  %3 = concat(%2) : f32[2]\n"
      "  return %3",
      "2:LARGER_ROOT(1)", "2=1+0");
}

TEST(ValuesOfOtherRegionsAreCopied) {
  check_elisions(
      "  %0 = input \"c\" : bool[]\n"
      "  %1 = input \"x\" : f32[4]\n"
      "  %2 = relu(%1) : f32[4]\n"
      "  %5 = if(%0) {\n"
      "    %3 = relu(%1) : f32[4]\n"
      "    %4 = concat(%2, %3) : f32[8]\n"
      "    yield %4\n"
      "  } else {\n"
      "    yield %1\n"
      "  } : f32[8]\n"
      "  %6 = concat(%5) : f32[8]\n"
      "  return %6",
      "2:OTHER_REGION 3:TAKEN 5:OTHER_REGION", "3=4+16");
}

TEST(AConcatInPlaceElidesNothing) {
  check_elisions(
      "  %0 = input \"x\" : f32[4]\n"
      "  %1 = relu(%0) : f32[4]\n"
      "  %2 = concat(%1) : f32[4] with {overwrite = [0, 0]}\n"
      "  return %2",
      "1:ALREADY_VIEW(1)", "2=1+0");
}

// Sorted by operand at each step, in place before copy elision.
TEST(DecisionsAreInOrderOfTheirOperands) {
  setup s;
  setup_init(&s);
  REQUIRE(fixture_lifetimes(&s.f,
                            "  %0 = input \"x\" : f32[4]\n"
                            "  %1 = relu(%0) : f32[4]\n"
                            "  %2 = relu(%0) : f32[4]\n"
                            "  %3 = concat(%1, %2) : f32[8] with {overwrite = [0, 0, 0, 1]}\n"
                            "  return %3") == STOW_OK);
  REQUIRE(setup_apply(&s) == STOW_OK);
  static const stow_share shares[] = {STOW_SHARE_IN_PLACE, STOW_SHARE_HOME};
  REQUIRE(stowi_analysis_sharing_count(s.sharing) == 4);
  for (size_t i = 0; i < 4; ++i) {
    stow_decision d = stowi_analysis_sharing_at(s.sharing, i);
    CHECK_U64(d.operand, 1 + i / 2);
    CHECK(d.share == shares[i % 2]);
  }
  setup_free(&s);
}

TEST(WithoutReuseNothingMoves) {
  setup s;
  setup_init(&s);
  fixture_add_rule(&s.f, "i64-epilogue");
  check_with(&s,
             "  %0 = input \"x\" : i64[4]\n"
             "  %1 = abs(%0) : i64[4]\n"
             "  %2 = concat(%1) : i64[4]\n"
             "  return %2",
             "1:NO_REUSE", "");
}

// ---------------------------------------------------------------------------------------------
// Refused, for who writes later

// %4 overwrites %3's bytes, which would include %1, still read by %5.
TEST(AnOperandThatStaysLiveIsNotOverwrittenThroughTheResult) {
  check_elisions(
      "  %0 = input \"x\" : f32[4]\n"
      "  %1 = relu(%0) : f32[4]\n"
      "  %2 = relu(%0) : f32[4]\n"
      "  %3 = concat(%1, %2) : f32[8]\n"
      "  %4 = relu(%3) : f32[8] with {overwrite = [0, 0]}\n"
      "  %5 = relu(%1) : f32[4]\n"
      "  return %4, %5",
      "1:GIVEN_AWAY(4) 2:TAKEN", "2=3+16 4=3+0");
}

TEST(AResultThatStaysLiveIsNotOverwrittenThroughTheOperand) {
  check_elisions(
      "  %0 = input \"x\" : f32[4]\n"
      "  %1 = relu(%0) : f32[4]\n"
      "  %2 = concat(%1, %0) : f32[8]\n"
      "  %3 = relu(%1) : f32[4] with {overwrite = [0, 0]}\n"
      "  %4 = relu(%2) : f32[8]\n"
      "  return %3, %4",
      "1:TAKEN 0:KEPT", "1=2+0");
}

TEST(CachesAreCopied) {
  check_elisions(
      "  %0 = input \"x\" : f32[4, 2]\n"
      "  %1 = input \"n\" : f32[1, 2]\n"
      "  %2 = relu(%0) : f32[4, 2]\n"
      "  %3 = kv_append(%2, %1) {axis = 0} : f32[4, 2]\n"
      "  %4 = concat(%3) : f32[4, 2]\n"
      "  return %4",
      "3:GIVEN_AWAY(3)", "3=2+0");
}

// ---------------------------------------------------------------------------------------------
// Refused, for the load

// While %1 and %2 wait, the hole between them for %4 would be occupied; %3 makes that the peak.
TEST(AHoleThatRaisesThePeakIsRefused) {
  check_elisions(
      "  %0 = input \"x\" : f32[1]\n"
      "  %1 = custom(%0) {name = \"a\"} : f32[4]\n"
      "  %2 = custom(%0) {name = \"c\"} : f32[4]\n"
      "  %3 = custom(%0) {name = \"peak\"} : f32[64]\n"
      "  %4 = custom(%0) {name = \"b\"} : f32[16]\n"
      "  %5 = concat(%1, %4, %2) : f32[24]\n"
      "  return %5",
      "1:TAKEN 4:TAKEN 2:LOAD", "1=5+0 4=5+16");
}

TEST(AHoleBelowThePeakIsTaken) {
  check_elisions(
      "  %0 = input \"x\" : f32[1]\n"
      "  %1 = custom(%0) {name = \"a\"} : f32[4]\n"
      "  %2 = custom(%0) {name = \"c\"} : f32[4]\n"
      "  %3 = custom(%0) {name = \"other\"} : f32[4]\n"
      "  %4 = custom(%3) {name = \"b\"} : f32[16]\n"
      "  %5 = concat(%1, %4, %2) : f32[24]\n"
      "  return %5",
      "1:TAKEN 4:TAKEN 2:TAKEN", "1=5+0 2=5+80 4=5+16");
}

// Parses a concat of |waiting| operands that leave holes between them, so that all but the first
// two are retried, and |depth| concats around it, each of the one before alone.
static stow_status parse_nest(fixture* f, uint32_t waiting, uint32_t depth) {
  stow_string text;
  char line[96];
  stow_string_init(&text, f->allocator);
#define ADD(...)                                                                              \
  CHECK(stow_string_append(&text, line, (size_t)snprintf(line, sizeof(line), __VA_ARGS__)) == \
        STOW_OK)
  ADD("graph @t {\n  %%0 = input \"x\" : f32[1]\n");
  ADD("  %%1 = custom(%%0) {name = \"peak\"} : f32[%u]\n", waiting * 8);
  for (uint32_t i = 0; i < waiting; ++i) {
    ADD("  %%%u = custom(%%0) {name = \"a\"} : f32[1]\n", 2 + i);
  }
  ADD("  %%%u = concat(", 2 + waiting);
  for (uint32_t i = 0; i < waiting; ++i) {  // the even ones are made first
    ADD("%s%%%u", i == 0 ? "" : ", ", 2 + i / 2 + (i % 2 == 0 ? 0 : (waiting + 1) / 2));
  }
  ADD(") : f32[%u]\n", waiting);
  for (uint32_t i = 0; i < depth; ++i) {
    ADD("  %%%u = concat(%%%u) : f32[%u]\n", 3 + waiting + i, 2 + waiting + i, waiting);
  }
  ADD("  return %%%u\n}\n", 2 + waiting + depth);
#undef ADD
  stow_status status =
      stow_module_parse(text.data, text.size, NULL, NULL, f->allocator, &f->diag, &f->module);
  stow_string_free(&text);
  return status;
}

static uint32_t count_taken(uint32_t waiting, uint32_t depth) {
  uint32_t taken = 0;
  setup s;
  setup_init(&s);
  fixture* f = &s.f;
  stow_status status = parse_nest(f, waiting, depth);
  f->graph = status == STOW_OK ? stow_module_graph(f->module, 0) : NULL;
  if (test_check(status == STOW_OK, __FILE__, __LINE__, "%s", f->diag.message) &&
      CHECK(stow_effects_create(f->graph, f->allocator, &f->diag, &f->effects) == STOW_OK) &&
      CHECK(fixture_analyse(f) == STOW_OK) && CHECK(setup_apply(&s) == STOW_OK)) {
    for (size_t i = 0; i < stowi_analysis_sharing_count(s.sharing); ++i) {
      stow_decision d = stowi_analysis_sharing_at(s.sharing, i);
      taken += d.share == STOW_SHARE_HOME && d.reason == STOW_REASON_TAKEN;
    }
  }
  setup_free(&s);
  return taken;
}

// Each retry follows the concats that its own is inside of.
TEST(RetriesInDeepNestsAreBounded) {
  CHECK_U64(count_taken(400, 400), 800);
  uint32_t taken = count_taken(400, 16000);
  CHECK(taken < 16400);
  CHECK(taken > 16200);
}

TEST(ScratchCountsAsLoad) {
  check_elisions(
      "  %0 = input \"x\" : f32[1]\n"
      "  %1 = custom(%0) {name = \"a\"} : f32[4]\n"
      "  %2 = custom(%0) {name = \"c\"} : f32[4]\n"
      "  %3 = custom(%0) {name = \"other\"} : f32[1] with {scratch = [256, 4]}\n"
      "  %4 = custom(%0) {name = \"b\"} : f32[16]\n"
      "  %5 = concat(%1, %4, %2) : f32[24]\n"
      "  return %5",
      "1:TAKEN 4:TAKEN 2:LOAD", "1=5+0 4=5+16");
}

TEST(OverflowingLoadsAreRefused) {
  check_elisions(
      "  %0 = input \"x\" : i8[1152921504606846976]\n"
      "  %1 = abs(%0) : i8[1152921504606846976]\n"
      "  %2 = abs(%1) : i8[1152921504606846976]\n"
      "  %3 = concat(%2) : i8[1152921504606846976]\n"
      "  return %3",
      "2:LOAD", "");
}

// ---------------------------------------------------------------------------------------------

static const char all_of_it[] =
    "  %0 = input \"x\" : f32[1]\n"
    "  %1 = custom(%0) {name = \"a\"} : f32[4]\n"
    "  %2 = custom(%0) {name = \"c\"} : f32[4]\n"
    "  %3 = custom(%0) {name = \"peak\"} : f32[64] with {align = 64}\n"
    "  %4 = custom(%0) {name = \"b\"} : f32[16]\n"
    "  %5 = concat(%1, %4, %2) : f32[24]\n"
    "  %6 = relu(%5) : f32[24]\n"
    "  %7 = concat(%5, %6) : f32[48]\n"
    "  return %7";

typedef struct sweep {
  const char* body;
  const char* views;
} sweep;

static stow_status attempt(stow_allocator allocator, void* user) {
  const sweep* given = user;
  setup s;
  setup_init(&s);
  s.f.allocator = allocator;
  stow_status status = fixture_lifetimes(&s.f, given->body);
  if (status == STOW_OK) {
    status = setup_apply(&s);
    CHECK((s.sharing != NULL) == (status == STOW_OK));
    CHECK_TEXT(fixture_show_views(&s.f), status == STOW_OK ? given->views : "");
  }
  setup_free(&s);
  return status;
}

TEST(AFailedAllocationChangesNothing) {
  sweep nested = {all_of_it, "1=7+0 4=7+16 5=7+0 6=7+96"};
  sweep joined = {two_concats, "1=7+0 2=7+16 3=7+0 5=7+32 6=7+16"};
  CHECK(test_fault_sweep(attempt, &nested) > 20);
  CHECK(test_fault_sweep(attempt, &joined) > 20);
}
