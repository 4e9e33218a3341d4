// Tests of lifetime rules: each alone, with its condition, and those of callers.
#include <stdio.h>
#include <string.h>

#include "fixture.h"
#include "support/test.h"

// Lifetimes of |body| under the one rule |name|.
static void check_rule(const char* name, const char* body, const char* expected) {
  fixture f;
  fixture_init(&f);
  fixture_add_rule(&f, name);
  stow_status status = fixture_lifetimes(&f, body);
  if (test_check(status == STOW_OK, __FILE__, __LINE__, "%s: %s", name, f.diag.message)) {
    CHECK_TEXT(fixture_show_lifetimes(&f), expected);
  }
  fixture_free(&f);
}

TEST(TheTableIsInTheOrderOfThePresets) {
  static const char* const names[] = {"pin-output-ancestors", "packed-qkv",      "deferred-custom",
                                      "deferred-dequant",     "residual-chains", "i64-epilogue"};
  REQUIRE(stow_rule_count() == 6);
  for (size_t i = 0; i < 6; ++i) {
    CHECK_TEXT(stow_rule_at(i)->name, names[i]);
    CHECK(stow_rule_at(i)->summary[0] != '\0');
    CHECK(stow_rule_find(stow_str_of(names[i])) == stow_rule_at(i));
  }
  CHECK(stow_rule_at(6) == NULL);
  CHECK(stow_rule_find(stow_str_of("packed")) == NULL);
}

// ---------------------------------------------------------------------------------------------

TEST(PinnedOutputsKeepAllTheirAncestors) {
  const char* body =
      "  %0 = input \"x\" : f32[4]\n"
      "  %1 = relu(%0) : f32[4]\n"
      "  %2 = reshape(%1) : f32[2, 2]\n"
      "  %3 = relu(%2) : f32[2, 2]\n"
      "  %4 = relu(%1) : f32[4]\n"  // no ancestor
      "  return %3";
  check_rule("pin-output-ancestors", body, "0:[0,6) 1:[1,6) 2:[2,6) 3:[3,6) 4:[4,5)");
}

TEST(AncestorsIncludeSeveralResultsAndSkipMissingOperands) {
  check_rule("pin-output-ancestors",
             "  %0 = input \"x\" : f32[4]\n"
             "  %1, %2 = topk(%0) {k = 4} : f32[4], i64[4]\n"
             "  %3 = layer_norm(%1, _, %1) : f32[4]\n"
             "  %4 = relu(%3) : f32[4]\n"
             "  return %4",
             "0:[0,5) 1:[1,5) 2:[1,2) 3:[2,5) 4:[3,5)");
}

TEST(AncestorsGoThroughBranches) {
  check_rule("pin-output-ancestors",
             "  %0 = input \"c\" : bool[]\n"  // step 0
             "  %1 = input \"x\" : f32[4]\n"  // 1
             "  %2 = relu(%1) : f32[4]\n"     // 2
             "  %3 = not(%0) : bool[]\n"      // 3
             "  %7 = if(%3) {\n"
             "    %4 = relu(%2) : f32[4]\n"  // 4
             "    yield %4\n"                // 5
             "  } else {\n"
             "    %5 = relu(%1) : f32[4]\n"  // 6
             "    %6 = relu(%1) : f32[4]\n"  // 7: not yielded
             "    yield %5\n"                // 8
             "  } : f32[4]\n"                // 9
             "  %8 = relu(%7) : f32[4]\n"    // 10
             "  return %8",
             "0:[0,12) 1:[0,12) 2:[2,12) 3:[3,12) 4:[4,12) 5:[6,12) 6:[7,8) 7:[5,12) 8:[10,12)");
}

TEST(AncestorsOfALoopsArgumentAreInitialValuesAndYields) {
  check_rule("deferred-custom",
             "  %0 = input \"go\" : bool[]\n"    // step 0
             "  %1 = input \"x\" : f32[4]\n"     // 1
             "  %2 = relu(%1) : f32[4]\n"        // 2
             "  %3 = reshape(%2) : f32[2, 2]\n"  // 3: entered by copy
             "  %9 = loop(_, %0, %3) {\n"
             "    %4, %5, %6 = args() : i64[], bool[], f32[2, 2]\n"   // 4
             "    %7 = custom(%6) {name = \"onnx.F\"} : f32[2, 2]\n"  // 5
             "    %8 = relu(%7) : f32[2, 2]\n"                        // 6
             "    yield %5, %8\n"                                     // 7
             "  } : f32[2, 2]\n"                                      // 8
             "  return %9",
             "0:[0,10) 1:[0,10) 2:[2,10) 3:[3,10) 4:[4,5) 5:[4,10) 6:[4,10) 7:[4,10) 8:[4,10) "
             "9:[8,10)");
}

// ---------------------------------------------------------------------------------------------
// packed-qkv: %2 is a plain value of rank 5, %10 the attention at step 10, and %11 and %12 come
// later.

static void check_packed(const char* middle, const char* attention, const char* life_of_2) {
  fixture f;
  fixture_init(&f);
  fixture_add_rule(&f, "packed-qkv");
  f.views_options.classic_only = true;
  char body[2048];
  snprintf(body, sizeof(body), "%s%s%s%s", "  %0 = input \"x\" : f32[2, 4, 3, 2, 3]\n", middle,
           attention, "  %11 = relu(%10) : f32[2, 4, 2, 3]\n  return %11");
  stow_status status = fixture_lifetimes(&f, body);
  if (test_check(status == STOW_OK, __FILE__, __LINE__, "%s", f.diag.message)) {
    char life[64];
    snprintf(life, sizeof(life), "[%u,%u)",
             (unsigned)stowi_analysis_lifetimes_begin(f.lifetimes, 1),
             (unsigned)stowi_analysis_lifetimes_end(f.lifetimes, 1));
    CHECK_TEXT(life, life_of_2);
  }
  fixture_free(&f);
}

#define NARROW(id, of, start) \
  "  %" id " = narrow(%" of ") {axis = 2, start = " start ", len = 1} : f32[2, 4, 1, 2, 3]\n"
#define RESHAPE(id, of) "  %" id " = reshape(%" of ") : f32[2, 4, 2, 3]\n"
#define RESHAPES RESHAPE("6", "3") RESHAPE("7", "4") RESHAPE("8", "5")
#define PARENT                             \
  "  %1 = relu(%0) : f32[2, 4, 3, 2, 3]\n" \
  "  %2 = reshape(%1) : f32[2, 4, 3, 2, 3]\n"
#define ATTENTION \
  "  %9 = relu(%0) : f32[2, 4, 3, 2, 3]\n  %10 = attention(%6, %7, %8) : f32[2, 4, 2, 3]\n"

TEST(APackedParentAndItsRootLiveUntilTheAttention) {
  check_packed(PARENT NARROW("3", "2", "0") NARROW("4", "2", "1") NARROW("5", "2", "2") RESHAPES,
               ATTENTION, "[1,11)");
}

TEST(PiecesInAnotherOrderAreNotPacked) {
  check_packed(PARENT NARROW("3", "2", "1") NARROW("4", "2", "0") NARROW("5", "2", "2") RESHAPES,
               ATTENTION, "[1,6)");
  check_packed(PARENT NARROW("3", "2", "0") NARROW("4", "2", "1") NARROW("5", "2", "1") RESHAPES,
               ATTENTION, "[1,6)");
}

TEST(PiecesOfTwoParentsAreNotPacked) {
  check_packed(PARENT NARROW("3", "2", "0") NARROW("4", "2", "1") NARROW("5", "1", "2") RESHAPES,
               ATTENTION, "[1,6)");
}

#define CAST(id, of) "  %" id " = cast(%" of ") : f16[2, 4, 1, 2, 3]\n"
#define HALF(id, of) "  %" id " = reshape(%" of ") : f16[2, 4, 2, 3]\n"

TEST(PiecesMayBeCast) {
  check_rule("packed-qkv",
             "  %0 = input \"x\" : f32[2, 4, 3, 2, 3]\n"
             "  %1 = relu(%0) : f32[2, 4, 3, 2, 3]\n" NARROW("2", "1", "0") NARROW("3", "1", "1")
                 NARROW("4", "1", "2") CAST("5", "2") CAST("6", "3") CAST("7", "4") HALF("8", "5")
                     HALF("9", "6") HALF("10", "7")
             "  %11 = attention(%8, %9, %10) : f16[2, 4, 2, 3]\n"
             "  return %11",
             "0:[0,13) 1:[1,12) 2:[2,6) 3:[3,7) 4:[4,8) 5:[5,12) 6:[6,12) 7:[7,12) 8:[8,12) "
             "9:[9,12) 10:[10,12) 11:[11,13)");
}

TEST(WithoutAttentionNothingIsPacked) {
  check_packed(PARENT NARROW("3", "2", "0") NARROW("4", "2", "1") NARROW("5", "2", "2") RESHAPES,
               "  %9 = relu(%0) : f32[2, 4, 3, 2, 3]\n"
               "  %10 = custom(%6, %7, %8) {name = \"f\"} : f32[2, 4, 2, 3]\n",
               "[1,6)");
}

TEST(NegativeAxesAreNormalised) {
#define BACK(id, start) \
  "  %" id " = narrow(%2) {axis = -3, start = " start ", len = 1} : f32[2, 4, 1, 2, 3]\n"
  check_packed(PARENT BACK("3", "0") BACK("4", "1") BACK("5", "2") RESHAPES, ATTENTION, "[1,11)");
}

TEST(OtherNarrowsAndOtherValuesAreNotPacked) {
  check_packed(PARENT
               "  %3 = relu(%2) : f32[2, 4, 3, 2, 3]\n"
               "  %4 = custom(%3) {name = \"f\"} : f32[2, 4, 2, 3]\n"
               "  %5 = relu(%4) : f32[2, 4, 2, 3]\n"
               "  %6 = relu(%4) : f32[2, 4, 2, 3]\n"
               "  %7 = relu(%4) : f32[2, 4, 2, 3]\n"
               "  %8 = relu(%4) : f32[2, 4, 2, 3]\n",
               ATTENTION, "[1,4)");
  // Axis 1.
#define SIDE(id, start) \
  "  %" id " = narrow(%2) {axis = 1, start = " start ", len = 1} : f32[2, 1, 3, 2, 3]\n"
  check_packed(PARENT SIDE("3", "0") SIDE("4", "1") SIDE("5", "2")
                   "  %6 = reshape(%3) : f32[2, 3, 2, 3]\n"
                   "  %7 = reshape(%4) : f32[2, 3, 2, 3]\n"
                   "  %8 = reshape(%5) : f32[2, 3, 2, 3]\n",
               "  %9 = attention(%6, %7, %8) : f32[2, 3, 2, 3]\n"
               "  %10 = custom(%9) {name = \"f\"} : f32[2, 4, 2, 3]\n",
               "[1,6)");
}

TEST(DimTwoMustBeThree) {
  // Rank 5 with dim 2 of 4, pieces 0, 1, 2.
  fixture f;
  fixture_init(&f);
  fixture_add_rule(&f, "packed-qkv");
  REQUIRE(fixture_lifetimes(
              &f,
              "  %0 = input \"x\" : f32[2, 4, 4, 2, 3]\n"
              "  %1 = relu(%0) : f32[2, 4, 4, 2, 3]\n" NARROW("2", "1", "0") NARROW("3", "1", "1")
                  NARROW("4", "1", "2") RESHAPE("5", "2") RESHAPE("6", "3")
                      RESHAPE("7", "4") "  %8 = attention(%5, %6, %7) : f32[2, 4, 2, 3]\n"
                                        "  return %8") == STOW_OK);
  CHECK_U64(stowi_analysis_lifetimes_end(f.lifetimes, 1), 5);
  fixture_free(&f);
}

// ---------------------------------------------------------------------------------------------

TEST(DeferredCustomsKeepTheirFirstInputs) {
  const char* body =
      "  %0 = input \"x\" : f32[4]\n"
      "  %1 = relu(%0) : f32[4]\n"
      "  %2 = relu(%1) : f32[4]\n"
      "  %3 = relu(%0) : f32[4]\n"
      "  %4 = custom(%2, _, %3) {name = \"onnx.Foo\", num_inputs = 2} : f32[4]\n"
      "  %5 = custom(%4) {name = \"onnxFoo\"} : f32[4]\n"
      "  %6 = custom(%5) {name = \"acme.onnx.Foo\"} : f32[4]\n"
      "  %7 = custom(%6, %6) {name = \"onnx.\", num_inputs = 0} : f32[4]\n"
      "  return %7";
  check_rule("deferred-custom", body,
             "0:[0,9) 1:[1,9) 2:[2,9) 3:[3,5) 4:[4,6) 5:[5,7) 6:[6,8) 7:[7,9)");
}

TEST(DeferredCustomsWithoutACountKeepAllInputs) {
  check_rule("deferred-custom",
             "  %0 = input \"x\" : f32[4]\n"
             "  %1 = relu(%0) : f32[4]\n"
             "  %2 = relu(%0) : f32[4]\n"
             "  %3 = custom(%1, %2) {name = \"onnx.Foo\"} : f32[4]\n"
             "  %4 = custom(%3, %3) {name = \"onnx.Bar\", num_inputs = 9} : f32[4]\n"
             "  return %4",
             "0:[0,6) 1:[1,6) 2:[2,6) 3:[3,6) 4:[4,6)");
}

TEST(DeferredDequantsKeepOperandZero) {
  check_rule("deferred-dequant",
             "  %0 = input \"x\" : f32[4, 4]\n"
             "  %1 = relu(%0) : f32[4, 4]\n"
             "  %2 = reshape(%1) : f32[2, 8]\n"
             "  %3 = relu(%2) : f32[2, 8]\n"
             "  %4 = relu(%0) : f32[4, 4]\n"
             "  %5 = dequant_matmul(%3, %4) : f32[2, 4]\n"
             "  %6 = relu(%5) : f32[2, 4]\n"
             "  return %6",
             "0:[0,8) 1:[1,8) 2:[2,8) 3:[3,8) 4:[4,6) 5:[5,7) 6:[6,8)");
  check_rule("deferred-dequant",
             "  %0 = input \"x\" : f32[4, 4]\n"
             "  %1 = relu(%0) : f32[4, 4]\n"
             "  %2 = relu(%0) : f32[4, 4]\n"
             "  %3 = dequant_grouped_matmul(%1, %2, %2) : f32[2, 4]\n"
             "  %4 = relu(%3) : f32[2, 4]\n"
             "  return %4",
             "0:[0,6) 1:[1,6) 2:[2,4) 3:[3,5) 4:[4,6)");
}

// ---------------------------------------------------------------------------------------------

static void check_residual(const char* custom, const char* expected) {
  char body[1024];
  snprintf(body, sizeof(body), "%s%s%s",
           "  %0 = input \"x\" : f32[4, 4]\n"
           "  %1 = relu(%0) : f32[4, 4]\n"
           "  %2 = param \"s\" : f32[4]\n"
           "  %3 = relu(%2) : f32[4]\n"
           "  %4 = layer_norm(%1, %3) : f32[4, 4]\n"
           "  %5 = relu(%4) : f32[4, 4]\n"
           "  %6 = relu(%5) : f32[4, 4]\n"
           "  %7 = relu(%6) : f32[4, 4]\n"
           "  %8 = add(%6, %7) : f32[4, 4]\n"
           "  %9 = custom(%8) {name = \"",
           custom,
           "\"} : f32[4, 4]\n"
           "  return %9");
  check_rule("residual-chains", body, expected);
}

TEST(ResidualChainsOnlyBesideQuantizedCustoms) {
  const char* all =
      "0:[0,11) 1:[1,11) 2:[0,11) 3:[3,11) 4:[4,11) 5:[5,11) 6:[6,11) 7:[7,11) 8:[8,11) 9:[9,11)";
  check_residual("onnx.QMatMul", all);
  check_residual("onnx.ActCopy", all);
  check_residual("onnx.Other",
                 "0:[0,11) 1:[1,5) 2:[0,11) 3:[3,5) 4:[4,6) 5:[5,7) 6:[6,9) 7:[7,9) 8:[8,10) "
                 "9:[9,11)");
}

TEST(NormsKeepOnlyOperandZeroAndTheResult) {
  check_rule("residual-chains",
             "  %0 = input \"x\" : f32[4, 4]\n"
             "  %1 = relu(%0) : f32[4, 4]\n"
             "  %2 = relu(%1) : f32[4, 4]\n"
             "  %3 = param \"s\" : f32[4]\n"
             "  %4 = relu(%3) : f32[4]\n"
             "  %5 = layer_norm(%2, %4) : f32[4, 4]\n"
             "  %6 = custom(%5) {name = \"onnx.ActCopy\"} : f32[4, 4]\n"
             "  return %6",
             "0:[0,8) 1:[1,8) 2:[2,8) 3:[0,8) 4:[4,6) 5:[5,8) 6:[6,8)");
}

// ---------------------------------------------------------------------------------------------

static const char indices[] =
    "  %0 = input \"x\" : f32[2, 2, 2]\n"
    "  %1 = relu(%0) : f32[2, 2, 2]\n"
    "  %2 = cast(%1) : i64[2, 2, 2]\n"  // counts: cast
    "  %3 = neg(%2) : i64[2, 2, 2]\n"   // rank 3, another op
    "  %4 = reshape(%3) : i64[2, 4]\n"  // counts: rank 2
    "  %5 = custom(%0) {name = \"f\"} : f32[4]\n"
    "  %6 = custom(%5) {name = \"onnx.ConcatFromSequence\"} : f32[4]\n"
    "  %7 = relu(%0) : f32[2, 2, 2]\n"
    "  %8 = cast(%7) : i32[2, 2, 2]\n"
    "  %9 = custom(%2) {name = \"g\"} : i64[2, 2, 2]\n"
    "  %10 = relu(%7) : f32[2, 2, 2]\n"
    "  %11 = relu(%10) : f32[2, 2, 2]\n";

TEST(AnI64OutputForbidsReuse) {
  fixture f;
  fixture_init(&f);
  fixture_add_rule(&f, "i64-epilogue");
  char body[2048];
  snprintf(body, sizeof(body), "%s  return %%9", indices);
  REQUIRE(fixture_lifetimes(&f, body) == STOW_OK);
  CHECK(!stowi_analysis_lifetimes_reuse_allowed(f.lifetimes));
  CHECK_TEXT(fixture_show_lifetimes(&f),
             "0:[0,13) 1:[1,13) 2:[2,13) 3:[3,13) 4:[4,13) 5:[5,13) 6:[6,13) 7:[7,11) 8:[8,9) "
             "9:[9,13) 10:[10,12) 11:[11,12)");
  snprintf(body, sizeof(body), "%s  return %%11", indices);
  REQUIRE(fixture_lifetimes(&f, body) == STOW_OK);
  CHECK(stowi_analysis_lifetimes_reuse_allowed(f.lifetimes));
  CHECK_U64(stowi_analysis_lifetimes_end(f.lifetimes, 4), 5);
  fixture_free(&f);
}

// ---------------------------------------------------------------------------------------------
// Rules of a caller

static stow_status keep_relus(stow_rule_call* call, void* user) {
  const stow_graph* graph = stow_rule_graph(call);
  CHECK(stow_rule_root(call, 0) == 0);
  CHECK_U64(stow_schedule_count(stow_rule_schedule(call)), stow_graph_node_count(graph));
  ++*(int*)user;
  for (stow_node node = 0; node < stow_graph_node_count(graph); ++node) {
    if (stow_graph_op(graph, node) == STOW_OP_RELU) {
      stow_rule_extend(call, stow_graph_first_result(graph, node), STOW_STEP_END);
    }
  }
  stow_rule_extend(call, STOW_VALUE_NONE, STOW_STEP_END);
  stow_rule_extend_ancestors(call, STOW_VALUE_NONE);
  return STOW_OK;
}

static stow_status extend_to_node(stow_rule_call* call, void* user) {
  const uint32_t* pair = (const uint32_t*)user;
  stow_rule_extend(call, pair[0], pair[1]);
  return STOW_OK;
}

static stow_status ancestors_of(stow_rule_call* call, void* user) {
  stow_rule_extend_ancestors(call, *(const uint32_t*)user);
  return STOW_OK;
}

static stow_status give_up(stow_rule_call* call, void* user) {
  (void)call;
  return *(const stow_status*)user;
}

static const char small[] =
    "  %0 = input \"x\" : f32[4]\n"
    "  %1 = relu(%0) : f32[4]\n"
    "  %2 = neg(%1) : f32[4]\n"
    "  %3 = reshape(%2) : f32[2, 2]\n"
    "  %4 = neg(%3) : f32[2, 2]\n"
    "  %5 = neg(%4) : f32[2, 2]\n"
    "  return %5";

static stow_status run_rule(fixture* f, stow_status (*apply)(stow_rule_call*, void*), void* user) {
  stow_rule rule = {"mine", "a test's", apply, user};
  fixture_init(f);
  f->lifetimes_options.rule_count = 1;
  f->lifetimes_options.rules[0] = &rule;
  return fixture_lifetimes(f, small);
}

TEST(ACallersRuleWorksLikeABuiltInOne) {
  fixture f;
  int calls = 0;
  REQUIRE(run_rule(&f, keep_relus, &calls) == STOW_OK);
  CHECK_U64(calls, 1);
  CHECK_TEXT(fixture_show_lifetimes(&f), "0:[0,7) 1:[1,7) 2:[2,5) 3:[3,5) 4:[4,6) 5:[5,7)");
  fixture_free(&f);
}

// What is kept beyond a loop must be safe from the loop's next iterations.
TEST(ARuleThatKeepsWhatALoopMakesCoversItsBody) {
  fixture f;
  int calls = 0;
  stow_rule rule = {"mine", "a test's", keep_relus, &calls};
  fixture_init(&f);
  f.lifetimes_options.rule_count = 1;
  f.lifetimes_options.rules[0] = &rule;
  REQUIRE(fixture_lifetimes(&f,
                            "  %0 = input \"x\" : f32[4]\n"
                            "  %6 = loop(_, _, %0) {\n"
                            "    %1, %2, %3 = args() : i64[], bool[], f32[4]\n"
                            "    %4 = neg(%3) : f32[4]\n"
                            "    %5 = relu(%4) : f32[4]\n"
                            "    yield %2, %5\n"
                            "  } : f32[4]\n"
                            "  return %6") == STOW_OK);
  CHECK_TEXT(fixture_show_lifetimes(&f), "0:[0,7) 1:[1,2) 2:[1,5) 3:[1,7) 4:[2,4) 5:[1,7) 6:[5,7)");
  fixture_free(&f);
}

TEST(ARuleCanExtendToANode) {
  fixture f;
  uint32_t pair[2] = {3, 5};
  REQUIRE(run_rule(&f, extend_to_node, pair) == STOW_OK);
  CHECK_TEXT(fixture_show_lifetimes(&f), "0:[0,7) 1:[1,3) 2:[2,6) 3:[3,6) 4:[4,6) 5:[5,7)");
  fixture_free(&f);
}

TEST(ARuleThatNamesAMissingValueFails) {
  fixture f;
  uint32_t pair[2] = {6, 5};
  CHECK(run_rule(&f, extend_to_node, pair) == STOW_ERR_INVALID_ARGUMENT);
  CHECK_HAS(f.diag.message, "lifetime rule \"mine\" names value 6, out of range (the graph has 6)");
  CHECK(f.lifetimes == NULL);
  fixture_free(&f);
  pair[0] = 3;
  pair[1] = 77;
  CHECK(run_rule(&f, extend_to_node, pair) == STOW_ERR_INVALID_ARGUMENT);
  CHECK_HAS(f.diag.message, "lifetime rule \"mine\" names node 77, out of range (the graph has 6)");
  fixture_free(&f);
  pair[0] = 9;
  CHECK(run_rule(&f, ancestors_of, pair) == STOW_ERR_INVALID_ARGUMENT);
  fixture_free(&f);
}

TEST(ARuleThatFailsFailsTheCall) {
  fixture f;
  stow_status status = STOW_ERR_GAVE_UP;
  CHECK(run_rule(&f, give_up, &status) == STOW_ERR_GAVE_UP);
  CHECK_HAS(f.diag.message, "lifetime rule \"mine\" failed: gave up");
  fixture_free(&f);
  status = STOW_ERR_OUT_OF_MEMORY;
  CHECK(run_rule(&f, give_up, &status) == STOW_ERR_OUT_OF_MEMORY);
  fixture_free(&f);
}

// ---------------------------------------------------------------------------------------------

// Deep and wide enough that recursion or repeated walks would be noticed.
TEST(LongChainsAreWalkedOnceWithoutRecursion) {
  const uint32_t length = test_is_long() ? 1000000 : 100000;
  stow_diag diag;
  stow_diag_init(&diag);
  stow_allocator allocator = stow_allocator_default();
  stow_graph* graph = NULL;
  REQUIRE(stow_graph_create(stow_str_of("g"), NULL, allocator, &diag, &graph) == STOW_OK);
  stow_dim dims[2] = {2, 2};
  stow_type type = stow_type_make(STOW_F32, 2, dims);
  stow_value value = STOW_VALUE_NONE;
  CHECK(stow_graph_input(graph, "x", &type, &diag, &value) == STOW_OK);
  for (uint32_t i = 1; i < length; ++i) {
    stow_value operands[2] = {value, value};
    if (stow_graph_add(graph, STOW_OP_ADD, operands, 2, &diag, &value) != STOW_OK) {
      CHECK(false);
      break;
    }
    CHECK(i % 100 != 0 || stow_graph_add_output(graph, value, &diag) == STOW_OK);
  }
  stowi_analysis_views_options views_options;
  stowi_analysis_views_options_init(&views_options);
  stowi_analysis_lifetimes_options options;
  stowi_analysis_lifetimes_options_init(&options);
  options.rules[options.rule_count++] = stow_rule_at(0);
  stow_schedule* schedule = NULL;
  stowi_analysis_views* views = NULL;
  stowi_analysis_lifetimes* lifetimes = NULL;
  CHECK(stow_schedule_create(graph, allocator, &diag, &schedule) == STOW_OK);
  CHECK(stowi_analysis_views_create(graph, NULL, &views_options, allocator, &diag, &views) ==
        STOW_OK);
  CHECK(stowi_analysis_lifetimes_create(graph, schedule, views, NULL, &options, allocator, &diag,
                                        &lifetimes) == STOW_OK);
  CHECK_U64(stowi_analysis_lifetimes_end(lifetimes, 1), length + 1);
  stowi_analysis_lifetimes_destroy(lifetimes);
  stowi_analysis_views_destroy(views);
  stow_schedule_destroy(schedule);
  stow_graph_destroy(graph);
}
