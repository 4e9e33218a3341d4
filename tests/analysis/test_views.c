// Tests of which values are views, where they are, and what is refused.
#include <stdio.h>
#include <string.h>

#include "fixture.h"
#include "support/fault.h"
#include "support/test.h"

static void check_views(const char* body, const char* expected) {
  fixture f;
  fixture_init(&f);
  if (test_check(fixture_views(&f, body) == STOW_OK, __FILE__, __LINE__, "%s", f.diag.message)) {
    CHECK_TEXT(fixture_show_views(&f), expected);
  }
  fixture_free(&f);
}

static void check_fails(const char* body, stow_status expected, const char* part) {
  fixture f;
  fixture_init(&f);
  stow_status status = fixture_views(&f, body);
  test_check(status == expected, __FILE__, __LINE__, "status %d, expected %d: %s", (int)status,
             (int)expected, f.diag.message);
  CHECK(f.views == NULL);
  CHECK_HAS(f.diag.message, part);
  fixture_free(&f);
}

static const char chain[] =
    "  %0 = input \"x\" : f32[100, 8]\n"
    "  %1 = reshape(%0) : f32[50, 16]\n"
    "  %2 = narrow(%1) {axis = 0, start = 10, len = 20} : f32[20, 16]\n"
    "  %3 = cast(%2) : f32[20, 16]\n"
    "  %4 = narrow(%3) {axis = 0, start = 2, len = 3} : f32[3, 16]\n"
    "  %5 = narrow(%3) {axis = 1, start = 2, len = 3} : f32[20, 3]\n"
    "  %6 = cast(%5) : f16[20, 3]\n"
    "  return %4, %6";

TEST(ChainsResolveToOneRootAndASummedOffset) {
  check_views(chain, "1=0+0 2=0+640 3=0+640 4=0+768");
}

TEST(SizesAreThoseOfTheValueItself) {
  fixture f;
  fixture_init(&f);
  REQUIRE(fixture_views(&f, chain) == STOW_OK);
  CHECK_U64(stowi_analysis_views_bytes(f.views, 0), 3200);
  CHECK_U64(stowi_analysis_views_bytes(f.views, 4), 192);
  CHECK_U64(stowi_analysis_views_bytes(f.views, 6), 120);
  CHECK(stowi_analysis_views_is_view(f.views, 4));
  CHECK(!stowi_analysis_views_is_view(f.views, 5));
  CHECK_U64(stowi_analysis_views_root(f.views, 4), 0);
  CHECK_U64(stowi_analysis_views_root(f.views, 5), 5);
  CHECK_U64(stowi_analysis_views_offset(f.views, 4), 768);
  CHECK_U64(stowi_analysis_views_alignment(f.views, 4), 0);
  fixture_free(&f);
}

TEST(PureViewsCompileToNothing) {
  fixture f;
  fixture_init(&f);
  REQUIRE(fixture_views(&f, chain) == STOW_OK);
  const bool noop[] = {false, true, true, true, true, false, false};
  for (stow_node node = 0; node < 7; ++node) {
    CHECK(stowi_analysis_views_is_noop(f.views, node) == noop[node]);
  }
  fixture_free(&f);
}

static const char extended[] =
    "  %0 = input \"x\" : f32[1, 6, 4]\n"
    "  %1 = narrow(%0) {axis = 1, start = 2, len = 3} : f32[1, 3, 4]\n"
    "  %2 = transpose(%0) {perm = [1, 0, 2]} : f32[6, 1, 4]\n"
    "  %3, %4 = split(%0) {axis = 1} : f32[1, 3, 4], f32[1, 3, 4]\n"
    "  %5 = transpose(%0) {perm = [0, 2, 1]} : f32[1, 4, 6]\n"
    "  %6 = narrow(%0) {axis = 0, start = 0, len = 1} : f32[1, 6, 4]\n"
    "  return %1, %2, %3, %4, %5, %6";

TEST(ExtendedViewsCanBeSwitchedOff) {
  check_views(extended, "1=0+32 2=0+0 3=0+0 4=0+48 6=0+0");
  fixture f;
  fixture_init(&f);
  f.views_options.classic_only = true;
  REQUIRE(fixture_views(&f, extended) == STOW_OK);
  CHECK_TEXT(fixture_show_views(&f), "6=0+0");
  fixture_free(&f);
}

TEST(AppendsShareTheCachesBytesButAreNotNoops) {
  const char* body =
      "  %0 = input \"cache\" : f32[8, 4]\n"
      "  %1 = input \"new\" : f32[1, 4]\n"
      "  %2 = kv_append(%0, %1) {axis = 0} : f32[8, 4]\n"
      "  %3 = narrow(%2) {axis = 0, start = 2, len = 1} : f32[1, 4]\n"
      "  return %2, %3";
  for (int classic = 0; classic < 2; ++classic) {
    fixture f;
    fixture_init(&f);
    f.views_options.classic_only = classic != 0;
    REQUIRE(fixture_views(&f, body) == STOW_OK);
    CHECK_TEXT(fixture_show_views(&f), "2=0+0 3=0+32");
    CHECK(!stowi_analysis_views_is_noop(f.views, 2));
    CHECK(stowi_analysis_views_is_noop(f.views, 3));
    fixture_free(&f);
  }
}

TEST(SubByteNarrowsAreViewsAtWholeBytesOnly) {
  const char* body =
      "  %0 = input \"x\" : i4[10]\n"
      "  %1 = narrow(%0) {axis = 0, start = 4, len = 3} : i4[3]\n"
      "  %2 = narrow(%0) {axis = 0, start = 3, len = 3} : i4[3]\n"
      "  %3 = reshape(%0) : i4[2, 5]\n"
      "  %4 = narrow(%3) {axis = 0, start = 1, len = 1} : i4[1, 5]\n"
      "  %5 = narrow(%0) {axis = 0, start = 10, len = 0} : i4[0]\n"
      "  return %1, %2, %4, %5";
  check_views(body, "1=0+2 3=0+0 5=0+5");
  fixture f;
  fixture_init(&f);
  f.views_options.f32_uniform = true;
  REQUIRE(fixture_views(&f, body) == STOW_OK);
  CHECK_TEXT(fixture_show_views(&f), "1=0+16 2=0+12 3=0+0 4=0+20 5=0+40");
  CHECK_U64(stowi_analysis_views_bytes(f.views, 0), 40);
  CHECK_U64(stowi_analysis_views_bytes(f.views, 1), 12);
  fixture_free(&f);
}

TEST(UniformSizesKeepWideElementsWide) {
  const char* body =
      "  %0 = input \"a\" : bool[10]\n"
      "  %1 = input \"b\" : f16[10]\n"
      "  %2 = input \"c\" : f32[10]\n"
      "  %3 = input \"d\" : i64[10]\n"
      "  %4 = input \"e\" : c128[10]\n"
      "  %5 = narrow(%0) {axis = 0, start = 3, len = 2} : bool[2]\n"
      "  %6 = narrow(%3) {axis = 0, start = 3, len = 2} : i64[2]\n"
      "  return %0, %1, %2, %3, %4, %5, %6";
  fixture f;
  fixture_init(&f);
  f.views_options.f32_uniform = true;
  REQUIRE(fixture_views(&f, body) == STOW_OK);
  const uint64_t bytes[] = {40, 40, 40, 80, 160, 8, 16};
  for (stow_value v = 0; v < 7; ++v) {
    CHECK_U64(stowi_analysis_views_bytes(f.views, v), bytes[v]);
  }
  CHECK_TEXT(fixture_show_views(&f), "5=0+12 6=3+24");
  fixture_free(&f);
}

TEST(ViewsMayHaveZeroBytes) {
  check_views(
      "  %0 = input \"past\" : f32[0, 8]\n"
      "  %1 = reshape(%0) : f32[8, 0]\n"
      "  %2 = narrow(%1) {axis = 0, start = 8, len = 0} : f32[0, 0]\n"
      "  return %2",
      "1=0+0 2=0+0");
}

// ---------------------------------------------------------------------------------------------
// Effects

TEST(OwnBytesEndAChainOfViews) {
  const char* body =
      "  %0 = input \"x\" : f32[8, 4]\n"
      "  %1 = narrow(%0) {axis = 0, start = 2, len = 4} : f32[4, 4] with {own = true}\n"
      "  %2 = narrow(%1) {axis = 0, start = 1, len = 1} : f32[1, 4]\n"
      "  return %2";
  check_views(body, "2=1+16");
  fixture f;
  fixture_init(&f);
  REQUIRE(fixture_views(&f, body) == STOW_OK);
  CHECK(!stowi_analysis_views_is_noop(f.views, 1));
  fixture_free(&f);
}

TEST(OneResultOfASplitCanHaveItsOwnBytes) {
  fixture f;
  fixture_init(&f);
  REQUIRE(
      fixture_views(&f,
                    "  %0 = input \"x\" : f32[4, 2]\n"
                    "  %1, %2 = split(%0) {axis = 0} : f32[2, 2], f32[2, 2] with {own = [1, 0]}\n"
                    "  return %1, %2") == STOW_OK);
  CHECK_TEXT(fixture_show_views(&f), "2=0+16");
  CHECK(!stowi_analysis_views_is_noop(f.views, 1));
  fixture_free(&f);
}

TEST(InsideMakesAViewThatIsNotANoop) {
  fixture f;
  fixture_init(&f);
  REQUIRE(fixture_views(&f,
                        "  %0 = input \"x\" : f32[8, 4]\n"
                        "  %1 = narrow(%0) {axis = 0, start = 4, len = 4} : f32[4, 4]\n"
                        "  %2 = narrow(%1) {axis = 1, start = 0, len = 1} : f32[4, 1] with {inside "
                        "= [0, 0, 48]}\n"
                        "  %3 = reshape(%1) : f32[16] with {inside = [0, 0, 0]}\n"
                        "  return %2, %3") == STOW_OK);
  CHECK_TEXT(fixture_show_views(&f), "1=0+64 2=0+112 3=0+64");
  CHECK(!stowi_analysis_views_is_noop(f.views, 2));
  CHECK(!stowi_analysis_views_is_noop(f.views, 3));
  fixture_free(&f);
}

TEST(InsideMustFitItsOperand) {
  check_fails(
      "  %0 = input \"x\" : f32[8]\n"
      "  %1 = relu(%0) : f32[8] with {inside = [0, 0, 4]}\n"
      "  return %1",
      STOW_ERR_CONFLICT, "%1, 32 bytes at offset 4, is not inside %0 \"x\", which has 32 bytes");
  check_fails(
      "  %0 = input \"x\" : f32[8]\n"
      "  %1 = relu(%0) : f32[8] with {inside = [0, 0, 9223372036854775807], storage = "
      "9223372036854775807}\n"
      "  return %1",
      STOW_ERR_CONFLICT,
      "%1, 9223372036854775807 bytes at offset 9223372036854775807, is not inside %0 \"x\", which "
      "has 32 bytes");
}

TEST(StorageReplacesTheSize) {
  fixture f;
  fixture_init(&f);
  f.views_options.f32_uniform = true;
  REQUIRE(fixture_views(&f,
                        "  %0 = input \"x\" : f16[8] with {storage = 100}\n"
                        "  %1 = relu(%0) : f16[8] with {storage = 3}\n"
                        "  return %1") == STOW_OK);
  CHECK_U64(stowi_analysis_views_bytes(f.views, 0), 100);
  CHECK_U64(stowi_analysis_views_bytes(f.views, 1), 3);
  fixture_free(&f);
  check_fails(
      "  %0 = input \"x\" : f32[8] with {storage = 24}\n"
      "  %1 = reshape(%0) : f32[2, 4]\n"
      "  return %1",
      STOW_ERR_CONFLICT, "%1, 32 bytes at offset 0, is not inside %0 \"x\", which has 24 bytes");
}

TEST(AFixedOffsetNeedsItsOwnBytes) {
  check_fails(
      "  %0 = input \"x\" : f32[8]\n"
      "  %1 = reshape(%0) : f32[2, 4] with {at = 64}\n"
      "  return %1",
      STOW_ERR_CONFLICT,
      "%1 has a fixed offset, but it is a view of %0 \"x\"; declare `own` for it");
  check_views(
      "  %0 = input \"x\" : f32[8]\n"
      "  %1 = reshape(%0) : f32[2, 4] with {at = 64, own = true}\n"
      "  return %1",
      "");
  check_fails(
      "  %0 = input \"x\" : f32[8] with {at = 64, io = \"external\"}\n"
      "  return %0",
      STOW_ERR_CONFLICT, "%0 \"x\" has a fixed offset, but its policy is external");
  for (int k = 0; k < 2; ++k) {  // results of region owners
    char text[400];
    char message[100];
    snprintf(text, sizeof(text),
             "  %%0 = input \"c\" : bool[]\n"
             "  %%1 = input \"x\" : f32[8]\n"
             "  %%2, %%3 = if(%%0) {\n"
             "    yield %%1, %%1\n"
             "  } else {\n"
             "    yield %%1, %%1\n"
             "  } : f32[8], f32[8] with {at = %s, io = \"external\"}\n"
             "  return %%%d",
             k == 0 ? "[64, -1]" : "[-1, 64]", 2 + k);
    snprintf(message, sizeof(message), "%%%d has a fixed offset, but its policy is external",
             2 + k);
    check_fails(text, STOW_ERR_CONFLICT, message);
  }
}

TEST(AViewsAlignmentMustFitItsOffset) {
  fixture f;
  fixture_init(&f);
  REQUIRE(fixture_views(&f,
                        "  %0 = input \"x\" : f32[64]\n"
                        "  %1 = narrow(%0) {axis = 0, start = 16, len = 8} : f32[8] with {align = "
                        "64}\n"
                        "  %2 = reshape(%0) : f32[8, 8] with {align = 16}\n"
                        "  return %1, %2") == STOW_OK);
  CHECK_U64(stowi_analysis_views_alignment(f.views, 0), 64);
  CHECK_U64(stowi_analysis_views_alignment(f.views, 1), 64);
  CHECK_U64(stowi_analysis_views_alignment(f.views, 2), 16);
  fixture_free(&f);
  check_fails(
      "  %0 = input \"x\" : f32[64]\n"
      "  %1 = narrow(%0) {axis = 0, start = 8, len = 8} : f32[8] with {align = 64}\n"
      "  return %1",
      STOW_ERR_CONFLICT,
      "%1 is a view at offset 32, which is not a multiple of its alignment 64; declare `own` for "
      "it");
  check_views(
      "  %0 = input \"x\" : f32[64]\n"
      "  %1 = narrow(%0) {axis = 0, start = 8, len = 8} : f32[8] with {align = 64, own = true}\n"
      "  return %1",
      "");
}

TEST(ExternalOutputsAreNeverViews) {
  const char* body =
      "  %0 = input \"x\" : f32[8]\n"
      "  %1 = reshape(%0) : f32[2, 4] with {io = \"external\"}\n"
      "  %2 = reshape(%1) : f32[4, 2]\n"
      "  %3 = reshape(%2) : f32[8]\n"
      "  return %1, %3";
  check_views(body, "2=1+0 3=1+0");
  fixture f;
  fixture_init(&f);
  f.views_options.io = STOW_IO_EXTERNAL;
  REQUIRE(fixture_views(&f, body) == STOW_OK);
  CHECK_TEXT(fixture_show_views(&f), "2=1+0");
  fixture_free(&f);
}

// ---------------------------------------------------------------------------------------------
// Loops

#define LOOP_HEAD                 \
  "  %0 = input \"x\" : f32[4]\n" \
  "  %1 = input \"go\" : bool[]\n"

TEST(ALoopsInitialValueArgumentAndResultAreOneRoot) {
  check_views(LOOP_HEAD
              "  %2 = relu(%0) : f32[4]\n"
              "  %7 = loop(_, %1, %2) {\n"
              "    %3, %4, %5 = args() : i64[], bool[], f32[4]\n"
              "    %6 = add(%5, %0) : f32[4]\n"
              "    yield %4, %6\n"
              "  } : f32[4]\n"
              "  return %7",
              "5=2+0 7=2+0");
}

// The same loop with |initial| instead of %2 and |more| readers; %5 is the argument.
static void check_loop(const char* initial, const char* tail, const char* expected) {
  char body[1024];
  snprintf(body, sizeof(body), "%s%s%s%s", LOOP_HEAD, initial,
           "  %7 = loop(_, %1, %2) {\n"
           "    %3, %4, %5 = args() : i64[], bool[], f32[4]\n"
           "    %6 = add(%5, %0) : f32[4]\n"
           "    yield %4, %6\n"
           "  } : f32[4]",
           tail);
  check_views(body, expected);
}

TEST(AnInitialValueWithOtherUsesIsCopied) {
  check_loop("  %2 = relu(%0) : f32[4]\n", "\n  return %7", "5=2+0 7=2+0");
  // Boundary values, views, outputs, other readers.
  check_loop("  %2 = input \"y\" : f32[4]\n", "\n  return %7", "7=5+0");
  check_loop("  %2 = reshape(%0) : f32[4]\n", "\n  return %7", "2=0+0 7=5+0");
  check_loop("  %2 = relu(%0) : f32[4]\n", "\n  return %7, %2", "7=5+0");
  check_loop("  %2 = relu(%0) : f32[4]\n", "\n  %8 = relu(%2) : f32[4]\n  return %7, %8", "7=5+0");
  // Effects on it.
  check_loop("  %2 = relu(%0) : f32[4] with {at = 64}\n", "\n  return %7", "7=5+0");
  check_loop("  %2 = relu(%0) : f32[4] with {state = true}\n", "\n  return %7", "7=5+0");
  check_loop("  %2 = relu(%0) : f32[4] with {own = true}\n", "\n  return %7", "7=5+0");
  check_loop("  %2 = relu(%0) : f32[4] with {storage = 32}\n", "\n  return %7", "7=5+0");
  check_loop("  %2 = relu(%0) : f32[4]\n", " with {hold = [2, -1]}\n  return %7", "7=5+0");
  // A result that must have its own bytes.
  check_loop("  %2 = relu(%0) : f32[4]\n", " with {own = true}\n  return %7", "5=2+0");
  check_loop("  %2 = relu(%0) : f32[4]\n", " with {io = \"external\"}\n  return %7", "5=2+0");
  check_loop("  %2 = relu(%0) : f32[4]\n", " with {storage = 64}\n  return %7", "5=2+0");
}

TEST(AValueCarriedTwiceIsCopied) {
  check_views(LOOP_HEAD
              "  %2 = relu(%0) : f32[4]\n"
              "  %7, %8 = loop(_, %1, %2, %2) {\n"
              "    %3, %4, %5, %6 = args() : i64[], bool[], f32[4], f32[4]\n"
              "    yield %4, %6, %5\n"
              "  } : f32[4], f32[4]\n"
              "  return %7, %8",
              "7=5+0 8=6+0");
}

TEST(AnInitialValueFromAnOuterRegionIsCopied) {
  check_views(LOOP_HEAD
              "  %2 = relu(%0) : f32[4]\n"
              "  %13 = loop(_, %1) {\n"
              "    %3, %4 = args() : i64[], bool[]\n"
              "    %5 = relu(%0) : f32[4]\n"
              "    %11, %12 = loop(_, %4, %2, %5) {\n"
              "      %6, %7, %8, %9 = args() : i64[], bool[], f32[4], f32[4]\n"
              "      %10 = add(%8, %9) : f32[4]\n"
              "      yield %7, %10, %9\n"
              "    } : f32[4], f32[4]\n"
              "    yield %4, %12\n"
              "  } : f32[3, 4]\n"
              "  return %13",
              "9=5+0 11=8+0 12=5+0");
}

TEST(AnArgumentAsInitialValueIsCopied) {
  check_views(LOOP_HEAD
              "  %2 = relu(%0) : f32[4]\n"
              "  %10 = loop(_, %1, %0) {\n"
              "    %3, %4, %5 = args() : i64[], bool[], f32[4]\n"
              "    %9 = loop(_, %4, %5) {\n"
              "      %6, %7, %8 = args() : i64[], bool[], f32[4]\n"
              "      yield %7, %2\n"
              "    } : f32[4]\n"
              "    yield %4, %9\n"
              "  } : f32[4]\n"
              "  return %10",
              "9=8+0 10=5+0");
}

TEST(BranchesMakeNoViews) {
  check_views(LOOP_HEAD
              "  %2 = if(%1) { yield %0 } else { yield %0 } : f32[4]\n"
              "  return %2",
              "");
}

TEST(BodyViewsFollowTheArgumentToItsRoot) {
  check_views(LOOP_HEAD
              "  %2 = relu(%0) : f32[4]\n"
              "  %8 = loop(_, %1, %2) {\n"
              "    %3, %4, %5 = args() : i64[], bool[], f32[4]\n"
              "    %6 = narrow(%5) {axis = 0, start = 2, len = 2} : f32[2]\n"
              "    %7 = concat(%6, %6) {axis = 0} : f32[4]\n"
              "    yield %4, %7\n"
              "  } : f32[4]\n"
              "  %9 = narrow(%8) {axis = 0, start = 1, len = 1} : f32[1]\n"
              "  return %9",
              "5=2+0 6=2+8 8=2+0 9=2+4");
}

// ---------------------------------------------------------------------------------------------
// Errors

TEST(UnboundDimsNameTheValueAndTheSymbols) {
  check_fails(
      "  %0 = input \"x\" : f32[4]\n"
      "  %1 = input \"y\" : f32[?(past + seq)]\n"
      "  return %0, %1",
      STOW_ERR_UNBOUND_DIM, "\"y\"");
}

TEST(OverflowNamesTheValue) {
  check_fails(
      "  %0 = input \"x\" : f32[4611686018427387904]\n"
      "  return %0",
      STOW_ERR_OVERFLOW, "%0 \"x\" : f32[4611686018427387904]: a size does not fit");
  fixture f;
  fixture_init(&f);
  f.views_options.f32_uniform = true;
  CHECK(fixture_views(&f,
                      "  %0 = input \"x\" : u8[4611686018427387904]\n"
                      "  return %0") == STOW_ERR_OVERFLOW);
  CHECK_U64(f.diag.value, 0);
  fixture_free(&f);
}

#define LOOP(args_clause, loop_clause)                          \
  "  %0 = input \"go\" : bool[]\n"                              \
  "  %1 = input \"x\" : f32[4]\n"                               \
  "  %2 = relu(%1) : f32[4]\n"                                  \
  "  %7 = loop(_, %0, %2) {\n"                                  \
  "    %3, %4, %5 = args() : i64[], bool[], f32[4]" args_clause \
  "\n"                                                          \
  "    %6 = relu(%5) : f32[4]\n"                                \
  "    yield %4, %6\n"                                          \
  "  } : f32[4]" loop_clause                                    \
  "\n"                                                          \
  "  return %7"

// Its bytes are written while those that it would share still hold another value.
TEST(EarlyWritesOfALoopShareNothing) {
  static const struct {
    const char* body;
    const char* views;
  } cases[] = {{LOOP("", ""), "5=2+0 7=2+0"},
               {LOOP("", " with {early = [0, 1]}"), "5=2+0"},
               {LOOP(" with {early = [0, 2]}", ""), "5=2+0 7=2+0"},
               {LOOP(" with {early = [2, 2]}", ""), "7=5+0"}};
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
    fixture f;
    fixture_init(&f);
    REQUIRE(fixture_views(&f, cases[i].body) == STOW_OK);
    CHECK_TEXT(fixture_show_views(&f), cases[i].views);
    fixture_free(&f);
  }
}

TEST(OptionsAndEffectsAreChecked) {
  fixture f;
  fixture_init(&f);
  f.views_options.io = (stow_io_policy)9;
  CHECK(fixture_views(&f, chain) == STOW_ERR_INVALID_ARGUMENT);
  CHECK_HAS(f.diag.message, "stowi_analysis_views_options.io: unknown policy 9");
  fixture_free(&f);

  fixture g;
  fixture_init(&g);
  stowi_analysis_views_options_init(&f.views_options);
  REQUIRE(fixture_views(&f, chain) == STOW_OK);
  REQUIRE(fixture_views(&g, extended) == STOW_OK);
  stowi_analysis_views* views;
  CHECK(stowi_analysis_views_create(f.graph, g.effects, &f.views_options, f.allocator, &f.diag,
                                    &views) == STOW_ERR_INVALID_ARGUMENT);
  CHECK_HAS(f.diag.message,
            "the effects were made for another graph, or the graph has grown since");
  CHECK(views == NULL);
  fixture_free(&f);
  fixture_free(&g);
}

TEST(AnOpenRegionIsRefused) {
  stow_diag diag;
  stow_diag_init(&diag);
  stow_graph* graph = NULL;
  stow_allocator allocator = stow_allocator_default();
  REQUIRE(stow_graph_create(stow_str_of("g"), NULL, allocator, &diag, &graph) == STOW_OK);
  REQUIRE(stow_graph_begin_region(graph, &diag) == STOW_OK);
  stowi_analysis_views_options options;
  stowi_analysis_views_options_init(&options);
  stowi_analysis_views* views;
  CHECK(stowi_analysis_views_create(graph, NULL, &options, allocator, &diag, &views) ==
        STOW_ERR_INVALID_ARGUMENT);
  CHECK_HAS(diag.message, "has no owner yet");
  stow_graph_destroy(graph);
}

static bool count_to_two(void* user, stow_value view, stow_value root, uint64_t offset) {
  (void)view;
  (void)root;
  (void)offset;
  return ++*(int*)user < 2;
}

TEST(IterationStopsWhenAsked) {
  fixture f;
  fixture_init(&f);
  REQUIRE(fixture_views(&f, chain) == STOW_OK);
  int calls = 0;
  stowi_analysis_views_each(f.views, count_to_two, &calls);
  CHECK_U64(calls, 2);
  fixture_free(&f);
  stowi_analysis_views_destroy(NULL);
}

static stow_status attempt_views(stow_allocator allocator, void* user) {
  const fixture* f = (const fixture*)user;
  stow_diag diag;
  stow_diag_init(&diag);
  stowi_analysis_views* views;
  stow_status status = stowi_analysis_views_create(f->graph, f->effects, &f->views_options,
                                                   allocator, &diag, &views);
  CHECK(diag.status == status);
  CHECK((status == STOW_OK) == (views != NULL));
  stowi_analysis_views_destroy(views);
  return status;
}

TEST(EveryFailedAllocationIsReportedAndLeaksNothing) {
  fixture f;
  fixture_init(&f);
  REQUIRE(fixture_effects(&f, LOOP_HEAD "  %2 = relu(%0) : f32[4] with {align = 128}\n"
                                        "  %7 = loop(_, %1, %2) {\n"
                                        "    %3, %4, %5 = args() : i64[], bool[], f32[4]\n"
                                        "    %6 = add(%5, %0) : f32[4]\n"
                                        "    yield %4, %6\n"
                                        "  } : f32[4]\n"
                                        "  return %7") == STOW_OK);
  CHECK_U64(test_fault_sweep(attempt_views, &f), 8);
  fixture_free(&f);
}
