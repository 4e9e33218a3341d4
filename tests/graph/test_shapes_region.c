// Tests of the shapes of if and loop. Graphs are written whole here, since regions hold nodes.
#include "graph/api.h"
#include "text_support.h"

// Reads a graph with |body| and returns the status.
static stow_status read_graph(const char* body, stow_diag* diag) {
  stow_string text;
  stow_string_init(&text, stow_allocator_default());
  CHECK(stow_string_append(&text, "graph @g {\n", 11) == STOW_OK);
  CHECK(stow_string_append(&text, body, strlen(body)) == STOW_OK);
  CHECK(stow_string_append(&text, "}\n", 2) == STOW_OK);
  stow_module* module = NULL;
  stow_diag_init(diag);
  stow_status status =
      stow_module_parse(text.data, text.size, NULL, NULL, stow_allocator_default(), diag, &module);
  stow_module_destroy(module);
  stow_string_free(&text);
  return status;
}

static void accepts(const char* body) {
  stow_diag diag;
  stow_status status = read_graph(body, &diag);
  test_check(status == STOW_OK, __FILE__, __LINE__, "%s", diag.message);
}

static void refuses(const char* body, const char* message) {
  stow_diag diag;
  CHECK(read_graph(body, &diag) == STOW_ERR_TYPE);
  CHECK_HAS(diag.message, message);
}

// ---------------------------------------------------------------------------------------------
// if

#define IF_INPUTS                  \
  "%0 = input \"c\" : bool[]\n"    \
  "%1 = input \"x\" : f32[2, 3]\n" \
  "%2 = input \"y\" : f32[3, 2]\n"

TEST(IfReturnsWhatBothBranchesYield) {
  accepts(IF_INPUTS
          "%5 = if(%0) { %3 = relu(%1) : f32[2, 3] yield %3 } else { %4 = neg(%1) : f32[2, 3] "
          "yield %4 } : f32[2, 3]\n return %5\n");
  accepts(IF_INPUTS
          "%3, %4 = if(%0) { yield %1, %2 } else { yield %1, %2 } : f32[2, 3], f32[3, 2]\n"
          "return %3, %4\n");
  accepts(
      "%0 = input \"c\" : bool[1]\n %1 = input \"x\" : f32[?s]\n"
      "%2 = if(%0) { yield %1 } else { yield %1 } : f32[?s]\n return %2\n");
}

TEST(IfRefusesBranchesThatDisagree) {
  refuses(IF_INPUTS "%3 = if(%0) { yield %1 } else { yield %0 } : f32[2, 3]\n return %3\n",
          "the branches yield different types for result 0");
  refuses(IF_INPUTS "%3 = if(%0) { yield %1 } else { yield %2 } : f32[2, 3]\n return %3\n",
          "result 0 is f32[3, 3], declared as f32[2, 3]");
  refuses(IF_INPUTS "%3 = if(%0) { yield %1 } else { yield %1, %2 } : f32[2, 3]\n return %3\n",
          "the first branch yields 1 values, but the second yields 2");
  refuses(IF_INPUTS "%3 = if(%0) { yield %1 } else { yield %1 } : f32[3, 2]\n return %3\n",
          "declared as f32[3, 2]");
}

TEST(ResultCountIsYieldCount) {
  refuses(IF_INPUTS "%3 = if(%0) { yield %1, %2 } else { yield %1, %2 } : f32[2, 3]\n return %3\n",
          "2");
  refuses(IF_INPUTS
          "%3, %4 = if(%0) { yield %1 } else { yield %1 } : f32[2, 3], f32[2, 3]\n return %3\n",
          "1");
}

TEST(IfNeedsASingleBool) {
  refuses(
      "%0 = input \"c\" : i8[]\n %1 = if(%0) { yield %0 } else { yield %0 } : i8[]\n"
      "return %1\n",
      "the condition must be a single bool");
  refuses(
      "%0 = input \"c\" : bool[2]\n %1 = if(%0) { yield %0 } else { yield %0 } : bool[2]\n"
      "return %1\n",
      "the condition must be a single bool");
}

TEST(BranchesHaveNoArguments) {
  refuses(IF_INPUTS
          "%4 = if(%0) { %3 = args() : f32[2, 3] yield %3 } else { yield %1 } : f32[2, 3]\n"
          "return %4\n",
          "a branch must not have arguments");
}

// ---------------------------------------------------------------------------------------------
// loop

#define LOOP_INPUTS             \
  "%0 = input \"n\" : i64[]\n"  \
  "%1 = input \"c\" : bool[]\n" \
  "%2 = input \"x\" : f32[4]\n" \
  "%3 = input \"y\" : f32[5]\n"
#define ARGS "%4, %5, %6 = args() : i64[], bool[], f32[4]\n"

TEST(LoopCarriesAndCollects) {
  accepts(LOOP_INPUTS "%8 = loop(%0, %1, %2) {" ARGS
                      "%7 = relu(%6) : f32[4] yield %5, %7 } : f32[4]\n return %8\n");
  accepts(LOOP_INPUTS
          "%8, %9 = loop(%0, _, %2) {" ARGS
          "%7 = relu(%6) : f32[4] yield %5, %7, %3 } : f32[4], f32[10, 5]\n return %8, %9\n");
  accepts(LOOP_INPUTS
          "%8, %9 = loop(_, %1, %2) {" ARGS
          "%7 = relu(%6) : f32[4] yield %5, %7, %7 } : f32[4], f32[?rounds, 4]\n return %8, %9\n");
  accepts(LOOP_INPUTS "%4 = loop(%0) { yield %1, %3 } : f32[7, 5]\n return %4\n");
}

TEST(LoopChecksItsControls) {
  refuses(LOOP_INPUTS "%7 = loop(%2, %1, %2) {" ARGS "yield %5, %6 } : f32[4]\n return %7\n",
          "operand 0 (trip count) must be i64[] or absent");
  refuses(LOOP_INPUTS "%7 = loop(%0, %0, %2) {" ARGS "yield %5, %6 } : f32[4]\n return %7\n",
          "operand 1 (condition) must be bool[] or absent");
  refuses(LOOP_INPUTS "%7 = loop(%0, %1, %2) {" ARGS "yield %4, %6 } : f32[4]\n return %7\n",
          "the body must yield the condition, bool[], first");
  refuses(LOOP_INPUTS
          "%7 = loop(%0, %1, %2) { %4, %5, %6 = args() : i64[], i64[], f32[4]\n yield %1, %6 }"
          " : f32[4]\n return %7\n",
          "the body's first arguments must be i64[] and bool[]");
}

TEST(LoopCountsArgumentsAndYields) {
  refuses(LOOP_INPUTS
          "%6 = loop(%0, %1, %2) { %4, %5 = args() : i64[], bool[]\n yield %5, %2 } : f32[4]\n"
          "return %6\n",
          "the body has 2 arguments, expected 3: iteration, condition and carried values");
  refuses(LOOP_INPUTS "%4 = loop(%0, %1, %2) { yield %1, %2 } : f32[4]\n return %4\n",
          "the body has 0 arguments, expected 3: iteration, condition and carried values");
  refuses(LOOP_INPUTS "%7 = loop(%0, %1, %2) {" ARGS "yield %5 } : f32[4]\n return %7\n",
          "the body yields 1 values, expected at least 2: the condition and carried values");
}

TEST(CarriedTypesMustAgree) {
  refuses(LOOP_INPUTS "%7 = loop(%0, %1, %3) {" ARGS "yield %5, %6 } : f32[5]\n return %7\n",
          "argument 2 of the body differs in type from operand 2");
  refuses(LOOP_INPUTS "%7 = loop(%0, %1, %2) {" ARGS "yield %5, %3 } : f32[4]\n return %7\n",
          "yield 1 of the body differs in type from operand 2");
  refuses(LOOP_INPUTS "%7 = loop(%0, %1, %2) {" ARGS "yield %5, %6 } : f32[5]\n return %7\n",
          "result 0 is f32[4], declared as f32[5]");
  refuses(LOOP_INPUTS "%7 = loop(%0, %1, _) {" ARGS "yield %5, %6 } : f32[4]\n return %7\n",
          "operand 2 is missing");
}

TEST(ScansNeedOneMoreDim) {
  refuses(LOOP_INPUTS "%7, %8 = loop(%0, %1, %2) {" ARGS
                      "yield %5, %6, %6 } : f32[4], f32[4]\n return %7\n",
          "result 1 is f32[4, 4], declared as f32[4]");
  refuses(LOOP_INPUTS "%7, %8 = loop(%0, %1, %2) {" ARGS
                      "yield %5, %6, %6 } : f32[4], f16[9, 4]\n return %7\n",
          "result 1 is f32[9, 4], declared as f16[9, 4]");
  refuses(LOOP_INPUTS "%7, %8 = loop(%0, %1, %2) {" ARGS
                      "yield %5, %6, %6 } : f32[4], f32[9, 5]\n return %7\n",
          "result 1 is f32[9, 4], declared as f32[9, 5]");
}

TEST(IfResultsAreLargeEnoughForEitherBranch) {
  static const char text[] =
      "graph @g {\n"
      "  %0 = input \"c\" : bool[]\n"
      "  %1 = input \"x\" : f32[2, ?n]\n"
      "  %2 = input \"y\" : f32[3, ?m]\n"
      "  %3 = if(%0) {\n"
      "    yield %1\n"
      "  } else {\n"
      "    yield %2\n"
      "  } : bounded f32[3, ?(max(m, n))]\n"
      "  return %3\n"
      "}\n";
  CHECK_ROUND_TRIP(text);
  stow_module* module = parse_text(text);
  REQUIRE(module != NULL);
  stow_graph* graph = stow_module_graph(module, 0);
  stow_str names[2] = {stow_str_of("n"), stow_str_of("m")};
  CHECK(stow_graph_bind(graph, names, (int64_t[]){7, 5}, 2, NULL) == STOW_OK);
  CHECK_U64(stow_graph_type(graph, 3)->dims[1], 7);
  CHECK(stow_graph_is_bounded(graph, 3));
  CHECK(stow_graph_verify(graph, NULL) == STOW_OK);
  stow_module_destroy(module);
}

#define COUNTED(trip, lead)              \
  "graph @g {\n"                         \
  "  %0 = constant \"n\" {data = [" trip \
  "]} : i64[]\n"                         \
  "  %1 = input \"c\" : bool[]\n"        \
  "  %2 = loop(%0, %1) {\n"              \
  "    yield %1, %1\n"                   \
  "  } : " lead                          \
  "\n"                                   \
  "  return %2\n"                        \
  "}\n"

TEST(AKnownTripCountBoundsWhatIsCollected) {
  CHECK_PRINTS_AS(COUNTED("6", "bool[6]"), COUNTED("6", "bounded bool[6]"));
  CHECK_ROUND_TRIP(COUNTED("6", "bounded bool[4]"));
  CHECK_ROUND_TRIP(COUNTED("-1", "bounded bool[0]"));
  CHECK_ROUND_TRIP(COUNTED("9223372036854775807", "bool[?rounds]"));
  refuses(
      "%0 = constant \"n\" {data = [6]} : i64[]\n %1 = input \"c\" : bool[]\n"
      "%2 = loop(%0, %1) { yield %1, %1 } : bool[7]\n return %2\n",
      "result 0 is bool[6], declared as bool[7]");
  refuses(
      "%0 = constant \"n\" {data = [6]} : i64[]\n %1 = input \"c\" : bool[]\n"
      "%2 = loop(%0) { yield %1, %1 } : bool[5]\n return %2\n",
      "result 0 is bool[6], declared as bool[5]");
}

TEST(WithoutAConditionTheTripCountIsExact) {
  CHECK_ROUND_TRIP(
      "graph @g {\n"
      "  %0 = constant \"n\" {data = [6]} : i64[]\n"
      "  %1 = input \"c\" : bool[]\n"
      "  %2 = loop(%0) {\n"
      "    yield %1, %1\n"
      "  } : bool[6]\n"
      "  return %2\n"
      "}\n");
}

TEST(WithoutATripCountIterationsDependOnData) {
  stow_module* module = parse_text(
      "graph @g { %0 = input \"c\" : bool[] %1 = loop() { yield %0, %0 } : bool[?n] return %1 }");
  REQUIRE(module != NULL);
  stow_graph* graph = stow_module_graph(module, 0);
  CHECK(stow_graph_is_data_dependent(graph, 1));
  CHECK(!stow_graph_is_bounded(graph, 1));
  stow_module_destroy(module);
}

// A body that carries an f32[?n] for an f32[2].
static const char carries_symbol[] =
    "graph @g {\n"
    "  %0 = input \"x\" : f32[2]\n"
    "  %1 = input \"y\" : f32[?n]\n"
    "  %5 = loop(_, _, %0) {\n"
    "    %2, %3, %4 = args() : i64[], bool[], f32[2]\n"
    "    yield %3, %1\n"
    "  } : f32[2]\n"
    "  return %5\n"
    "}\n";

TEST(CarriedTypesMayDifferUntilDimsAreBound) {
  CHECK_ROUND_TRIP(carries_symbol);
  for (int64_t n = 2; n < 4; ++n) {
    stow_module* module = parse_text(carries_symbol);
    REQUIRE(module != NULL);
    stow_diag diag;
    stow_diag_init(&diag);
    stow_str name = stow_str_of("n");
    stow_status status = stow_graph_bind(stow_module_graph(module, 0), &name, &n, 1, &diag);
    CHECK(status == (n == 2 ? STOW_OK : STOW_ERR_TYPE));
    CHECK(n == 2 || strstr(diag.message, "yield 1 of the body differs in type") != NULL);
    stow_module_destroy(module);
  }
}

TEST(CarriedTypesThatAlwaysDifferAreRefused) {
  refuses(
      "%0 = input \"x\" : f32[?n]\n %1 = input \"y\" : f32[?(n + 1)]\n"
      "%5 = loop(_, _, %0) { %2, %3, %4 = args() : i64[], bool[], f32[?n]\n yield %3, %1\n }"
      " : f32[?n]\n return %5\n",
      "yield 1 of the body differs in type from operand 2");
}

TEST(ARegionMayBeginWithALoop) {
  static const char text[] =
      "graph @g {\n"
      "  %0 = input \"c\" : bool[]\n"
      "  %1 = input \"x\" : f32[4]\n"
      "  %7 = if(%0) {\n"
      "    %6 = loop(_, _, %1) {\n"
      "      %2, %3, %4 = args() : i64[], bool[], f32[4]\n"
      "      %5 = relu(%4) : f32[4]\n"
      "      yield %3, %5\n"
      "    } : f32[4]\n"
      "    yield %6\n"
      "  } else {\n"
      "    yield %1\n"
      "  } : f32[4]\n"
      "  return %7\n"
      "}\n";
  stow_diag diag;
  stow_diag_init(&diag);
  stow_module* module = NULL;
  stow_status status = stow_module_parse(text, sizeof(text) - 1, NULL, NULL,
                                         stow_allocator_default(), &diag, &module);
  CHECK_TEXT(diag.message, "");
  REQUIRE(status == STOW_OK);
  stow_graph* graph = stow_module_graph(module, 0);
  stow_region branch = stow_graph_owned_region(graph, stow_graph_producer(graph, 7), 0);
  CHECK_U64(stowi_graph_region_args(graph, branch), STOW_NODE_NONE);
  CHECK(stow_graph_verify(graph, &diag) == STOW_OK);
  stow_module_destroy(module);
}

// ---------------------------------------------------------------------------------------------
// What is carried is bounded in each round where it is so before the first one or after one.

// |x|: how the initial value is marked, |y|: how the other operand of the yield is, which is
// computed as |next|; |arg|: how the rest is.
#define CARRYING(x, y, next, arg)                 \
  "graph @g {\n"                                  \
  "  %0 = input \"n\" : i64[]\n"                  \
  "  %1 = input \"c\" : bool[]\n"                 \
  "  %2 = input \"x\" : " x                       \
  "f32[4]\n"                                      \
  "  %3 = input \"y\" : " y                       \
  "f32[4]\n"                                      \
  "  %10 = loop(%0, %1, %2) {\n"                  \
  "    %4, %5, %6 = args() : i64[], bool[], " arg \
  "f32[4]\n"                                      \
  "    %7 = shape(%6) : i64[1]\n"                 \
  "    %8 = relu(%6) : " arg                      \
  "f32[4]\n"                                      \
  "    %9 = " next " : " arg                      \
  "f32[4]\n"                                      \
  "    yield %5, %9\n"                            \
  "  } : " arg                                    \
  "f32[4]\n"                                      \
  "  return %10\n"                                \
  "}\n"

static void check_shape_of_arg(const char* text, bool is_known) {
  stow_module* module = parse_text(text);
  REQUIRE(module != NULL);
  const stow_graph* graph = stow_module_graph(module, 0);
  CHECK(stow_graph_is_known(graph, 7) == is_known);
  CHECK(stow_graph_verify(graph, NULL) == STOW_OK);
  stow_module_destroy(module);
}

#define OF_ARG "prelu(%8, %3)"  // with the argument's dims
#define OF_Y "prelu(%3, %8)"

TEST(ArgumentsAreUpperBoundedIfTheInitialValueIs) {
  CHECK_ROUND_TRIP(CARRYING("", "", OF_ARG, ""));
  CHECK_PRINTS_AS(CARRYING("bounded ", "", OF_ARG, ""),
                  CARRYING("bounded ", "", OF_ARG, "bounded "));
  CHECK_ROUND_TRIP(CARRYING("bounded ", "", OF_ARG, "bounded "));
  check_shape_of_arg(CARRYING("", "", OF_ARG, ""), true);
  check_shape_of_arg(CARRYING("bounded ", "", OF_ARG, ""), false);
}

TEST(ArgumentsAreUpperBoundedIfTheYieldIs) {
  CHECK_PRINTS_AS(CARRYING("", "bounded ", OF_Y, ""), CARRYING("", "bounded ", OF_Y, "bounded "));
  check_shape_of_arg(CARRYING("", "bounded ", OF_Y, ""), false);
}

// Dims are carried one by one.
TEST(ArgumentsHaveTheUpperBoundedDimsOfWhatIsCarried) {
  CHECK_PRINTS_AS(
      "graph @g {\n"
      "  %0 = input \"n\" : i64[]\n"
      "  %1 = input \"c\" : bool[]\n"
      "  %2 = input \"x\" : bounded(1) f32[4, 5]\n"
      "  %8, %9 = loop(%0, %1, %2) {\n"
      "    %3, %4, %5 = args() : i64[], bool[], f32[4, 5]\n"
      "    %6 = relu(%5) : f32[4, 5]\n"
      "    %7 = shape(%6) : i64[2]\n"
      "    yield %4, %6, %6\n"
      "  } : f32[4, 5], f32[?s, 4, 5]\n"
      "  return %8, %9\n"
      "}\n",
      "graph @g {\n"
      "  %0 = input \"n\" : i64[]\n"
      "  %1 = input \"c\" : bool[]\n"
      "  %2 = input \"x\" : bounded(1) f32[4, 5]\n"
      "  %8, %9 = loop(%0, %1, %2) {\n"
      "    %3, %4, %5 = args() : i64[], bool[], bounded(1) f32[4, 5]\n"
      "    %6 = relu(%5) : bounded(1) f32[4, 5]\n"
      "    %7 = shape(%6) : i64[2]\n"
      "    yield %4, %6, %6\n"
      "  } : bounded(1) f32[4, 5], bounded(2) f32[?s, 4, 5]\n"
      "  return %8, %9\n"
      "}\n");
}

TEST(BranchesThatDifferInADimMakeThatDimAnUpperBound) {
  CHECK_PRINTS_AS(
      "graph @g {\n"
      "  %0 = input \"c\" : bool[]\n"
      "  %1 = input \"x\" : f32[4, 5, 6]\n"
      "  %2 = input \"y\" : bounded(2) f32[4, 3, 6]\n"
      "  %3 = if(%0) {\n"
      "    yield %1\n"
      "  } else {\n"
      "    yield %2\n"
      "  } : f32[4, 5, 6]\n"
      "  return %3\n"
      "}\n",
      "graph @g {\n"
      "  %0 = input \"c\" : bool[]\n"
      "  %1 = input \"x\" : f32[4, 5, 6]\n"
      "  %2 = input \"y\" : bounded(2) f32[4, 3, 6]\n"
      "  %3 = if(%0) {\n"
      "    yield %1\n"
      "  } else {\n"
      "    yield %2\n"
      "  } : bounded(1, 2) f32[4, 5, 6]\n"
      "  return %3\n"
      "}\n");
}

// Each of the two is yielded as the other: the second is bounded from the second round on.
TEST(BoundsSpreadFromOneArgumentToAnother) {
  CHECK_PRINTS_AS(
      "graph @g {\n"
      "  %0 = input \"n\" : i64[]\n"
      "  %1 = input \"x\" : bounded f32[4]\n"
      "  %2 = input \"y\" : f32[4]\n"
      "  %7, %8 = loop(%0, _, %1, %2) {\n"
      "    %3, %4, %5, %6 = args() : i64[], bool[], f32[4], f32[4]\n"
      "    yield %4, %6, %5\n"
      "  } : f32[4], f32[4]\n"
      "  return %7, %8\n"
      "}\n",
      "graph @g {\n"
      "  %0 = input \"n\" : i64[]\n"
      "  %1 = input \"x\" : bounded f32[4]\n"
      "  %2 = input \"y\" : f32[4]\n"
      "  %7, %8 = loop(%0, _, %1, %2) {\n"
      "    %3, %4, %5, %6 = args() : i64[], bool[], bounded f32[4], bounded f32[4]\n"
      "    yield %4, %6, %5\n"
      "  } : bounded f32[4], bounded f32[4]\n"
      "  return %7, %8\n"
      "}\n");
}

TEST(BindingDataDependentDimsMakesArgumentsUpperBounded) {
  stow_module* module = parse_text(
      "graph @g {\n"
      "  %0 = input \"n\" : i64[]\n"
      "  %1 = input \"one\" : i64[]\n"
      "  %2 = range(%1, %0, %1) : i64[?s]\n"
      "  %7 = loop(%0, _, %2) {\n"
      "    %3, %4, %5 = args() : i64[], bool[], i64[?s]\n"
      "    %6 = shape(%5) : i64[1]\n"
      "    yield %4, %5\n"
      "  } : i64[?s]\n"
      "  return %7\n"
      "}\n");
  REQUIRE(module != NULL);
  stow_graph* graph = stow_module_graph(module, 0);
  CHECK(!stow_graph_is_bounded(graph, 5) && stow_graph_is_known(graph, 6));
  stow_str name = stow_str_of("s");
  CHECK(stow_graph_bind(graph, &name, (int64_t[]){4}, 1, NULL) == STOW_OK);
  CHECK(stow_graph_is_bounded(graph, 5) && !stow_graph_is_known(graph, 6));
  CHECK(stow_graph_is_bounded(graph, 7));
  CHECK(stow_graph_verify(graph, NULL) == STOW_OK);
  stow_module_destroy(module);
}

static stow_status parse_carrying(stow_allocator allocator, void* user) {
  (void)user;
  static const char text[] = CARRYING("", "bounded ", OF_Y, "");
  stow_module* module = NULL;
  stow_status status =
      stow_module_parse(text, sizeof(text) - 1, NULL, NULL, allocator, NULL, &module);
  CHECK((module == NULL) == (status != STOW_OK));
  stow_module_destroy(module);
  return status;
}

TEST(BoundingArgumentsSurvivesEveryFailingAllocation) {
  CHECK(test_fault_sweep(parse_carrying, NULL) > 10);
}
