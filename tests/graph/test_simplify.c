// Tests of graphs without unused nodes.
#include <stowage/text.h>

#include "known_ops.h"
#include "support/random_graph.h"

static stow_graph* simplify(const stow_graph* graph) {
  stow_graph* simple = NULL;
  stow_diag diag;
  stow_diag_init(&diag);
  stow_status status = stow_graph_simplify(graph, stow_allocator_default(), &diag, &simple);
  test_check(status == STOW_OK, __FILE__, __LINE__, "%s", diag.message);
  return simple;
}

// Simplifies the graph of |text|, prints it, and simplifies it again, which must change nothing.
static void check_simplifies(const char* text, const char* expected, int line) {
  known_ops k = make_known_ops();
  stow_module* module = NULL;
  stow_diag diag;
  stow_diag_init(&diag);
  stow_status status =
      stow_module_parse(text, strlen(text), NULL, k.ops, stow_allocator_default(), &diag, &module);
  stow_graph* simple = status == STOW_OK ? simplify(stow_module_graph(module, 0)) : NULL;
  test_check(simple != NULL, __FILE__, line, "%s", diag.message);
  if (simple != NULL) {
    stow_string printed;
    stow_string_init(&printed, stow_allocator_default());
    CHECK(stow_graph_print(simple, stow_string_writer(&printed)) == STOW_OK);
    test_check_text(printed.data, expected, __FILE__, line, "the simplified graph");
    CHECK(stow_graph_verify(simple, NULL) == STOW_OK);
    stow_graph* again = simplify(simple);
    CHECK(again != NULL && stow_graph_fingerprint(again) == stow_graph_fingerprint(simple));
    stow_graph_destroy(again);
    stow_string_free(&printed);
  }
  stow_graph_destroy(simple);
  stow_module_destroy(module);
  stow_ops_destroy(k.ops);
}

#define SIMPLIFIES(text, expected) check_simplifies((text), (expected), __LINE__)

TEST(UnusedNodesAreDropped) {
  SIMPLIFIES(
      "graph @g {\n"
      "  %0 = input \"x\" : f32[?n]\n"
      "  %1 = input \"unused\" : f32[?m]\n"
      "  %2 = param \"dead\" : f32[4]\n"
      "  %3 = constant \"c\" {data = [1]} : f32[1]\n"
      "  %4 = exp(%2) : f32[4]\n"
      "  %5 \"y\" = add(%0, %3) : f32[?n] with {align = 128}\n"
      "  %6 = custom(%5) {name = \"log\"} : f32[1]\n"
      "  return %5, %5\n"
      "}\n",
      "graph @g {\n"
      "  %0 = input \"x\" : f32[?n]\n"
      "  %1 = input \"unused\" : f32[?m]\n"
      "  %2 = constant \"c\" {data = [1]} : f32[1]\n"
      "  %3 \"y\" = add(%0, %2) : f32[?n] with {align = 128}\n"
      "  return %3, %3\n"
      "}\n");
}

TEST(KnownIntegersBecomeConstants) {
  SIMPLIFIES(
      "graph @g {\n"
      "  %0 = input \"x\" : f32[2, 4]\n"
      "  %1 = t.shape(%0) : i64[2]\n"
      "  %2 \"next\" = t.next(%1) : i64[2]\n"
      "  %3 = t.next(%2) : i64[2]\n"
      "  %4 = t.reshape(%0, %2) : f32[3, 5]\n"
      "  return %4, %3\n"
      "}\n",
      "graph @g {\n"
      "  %0 = input \"x\" : f32[2, 4]\n"
      "  %1 = constant \"next\" {data = [3, 5]} : i64[2]\n"
      "  %2 = constant \"%3\" {data = [4, 6]} : i64[2]\n"
      "  %3 = t.reshape(%0, %1) : f32[3, 5]\n"
      "  return %3, %2\n"
      "}\n");
}

TEST(PartlyKnownValuesAreNotFolded) {
  static const char text[] =
      "graph @g {\n"
      "  %0 = input \"x\" : f32[?n, 4]\n"
      "  %1 = t.shape(%0) : i64[2]\n"
      "  %2 = t.evens(%1) : i64[2]\n"
      "  %3 = constant \"f\" {data = [0x1p+0]} : f32[1]\n"
      "  %4 = t.next(%3) : f32[1]\n"
      "  return %1, %2, %4\n"
      "}\n";
  SIMPLIFIES(text, text);
}

TEST(ConstantsReplaceNodesInTheirRegion) {
  SIMPLIFIES(
      "graph @g {\n"
      "  %0 = input \"c\" : bool[]\n"
      "  %1 = input \"x\" : f32[2]\n"
      "  %7 = if(%0) {\n"
      "    %2 = t.shape(%1) : i64[1]\n"
      "    %3 = t.next(%2) : i64[1]\n"
      "    yield %3\n"
      "  } else {\n"
      "    %4 = t.shape(%1) : i64[1]\n"
      "    %5 = silu(%4) : i64[1]\n"
      "    %6 = silu(%1) : f32[2]\n"
      "    yield %5\n"
      "  } : i64[1]\n"
      "  %11 = if(%0) {\n"
      "    %8 = silu(%1) : f32[2]\n"
      "    yield %8\n"
      "  } else {\n"
      "    %9 = silu(%1) : f32[2]\n"
      "    %10 = silu(%9) : f32[2]\n"
      "    yield %10\n"
      "  } : f32[2]\n"
      "  return %7\n"
      "}\n",
      "graph @g {\n"
      "  %0 = input \"c\" : bool[]\n"
      "  %1 = input \"x\" : f32[2]\n"
      "  %5 = if(%0) {\n"
      "    %2 = constant \"%3\" {data = [3]} : i64[1]\n"
      "    yield %2\n"
      "  } else {\n"
      "    %3 = constant \"%4\" {data = [2]} : i64[1]\n"
      "    %4 = silu(%3) : i64[1]\n"
      "    yield %4\n"
      "  } : i64[1]\n"
      "  return %5\n"
      "}\n");
}

TEST(LoopsKeepTheirArguments) {
  static const char text[] =
      "graph @g {\n"
      "  %0 = input \"x\" : f32[4]\n"
      "  %5 = loop(_, _, %0) {\n"
      "    %1, %2, %3 = args() : i64[], bool[], f32[4]\n"
      "    %4 = silu(%3) : f32[4]\n"
      "    yield %2, %4\n"
      "  } : f32[4]\n"
      "  return %5\n"
      "}\n";
  SIMPLIFIES(text, text);
}

TEST(WritesVisibleToTheCallerStay) {
  SIMPLIFIES(
      "graph @g {\n"
      "  %0 = input \"c\" : bool[]\n"
      "  %1 = input \"cache\" : f32[8, 2]\n"
      "  %2 = input \"rows\" : f32[1, 2]\n"
      "  %3 = silu(%1) : f32[8, 2]\n"
      "  %4 = kv_append(%3, %2) {axis = 0} : f32[8, 2]\n"
      "  %5 = reshape(%1) : f32[16, 1]\n"
      "  %6 = reshape(%2) : f32[2, 1]\n"
      "  if(%0) {\n"
      "    %7 = kv_append(%5, %6) {axis = 0} : f32[16, 1]\n"
      "    yield\n"
      "  } else {\n"
      "    %8 = silu(%2) : f32[1, 2]\n"
      "    yield\n"
      "  }\n"
      "  return %2\n"
      "}\n",
      "graph @g {\n"
      "  %0 = input \"c\" : bool[]\n"
      "  %1 = input \"cache\" : f32[8, 2]\n"
      "  %2 = input \"rows\" : f32[1, 2]\n"
      "  %3 = reshape(%1) : f32[16, 1]\n"
      "  %4 = reshape(%2) : f32[2, 1]\n"
      "  if(%0) {\n"
      "    %5 = kv_append(%3, %4) {axis = 0} : f32[16, 1]\n"
      "    yield\n"
      "  } else {\n"
      "    yield\n"
      "  }\n"
      "  return %2\n"
      "}\n");
}

TEST(ClausesNameTheSameValues) {
  SIMPLIFIES(
      "graph @g {\n"
      "  %0 = input \"x\" : f32[2]\n"
      "  %1 = silu(%0) : f32[2]\n"
      "  %2 = exp(%0) : f32[2] with {hold = [0, 4, 0, -1], scratch = [64, 64]}\n"
      "  %3 = exp(%2) : f32[2]\n"
      "  %4 = t.shape(%3) : i64[1]\n"
      "  return %2\n"
      "}\n",
      "graph @g {\n"
      "  %0 = input \"x\" : f32[2]\n"
      "  %1 = exp(%0) : f32[2] with {hold = [0, 3, 0, -1], scratch = [64, 64]}\n"
      "  %2 = exp(%1) : f32[2]\n"
      "  %3 = t.shape(%2) : i64[1]\n"
      "  return %1\n"
      "}\n");
}

TEST(DimsOfEveryKindAreTranslated) {
  static const char text[] =
      "graph @g {\n"
      "  %0 = input \"x\" : f32[?(2*a*b + 3), ?(floor_div(a, 2)), ?(ceil_div(a, b))]\n"
      "  %1 = input \"y\" : f32[?(min(a, b)), ?(max(a - 4, 0)), ?\"odd name\"]\n"
      "  return %0, %1\n"
      "}\n";
  SIMPLIFIES(text, text);
}

TEST(DataIsBorrowedAndSymbolsStay) {
  stow_graph* graph = make_graph();
  stow_type type = VECTOR(STOW_F32, 2);
  static const float weights[2] = {1, 2};
  stow_call* call = stow_graph_begin(graph, STOW_OP_PARAM);
  stow_call_name(call, 0, stow_str_of("w"));
  stow_call_result_type(call, &type);
  stow_call_data(call, weights, sizeof(weights), false);
  REQUIRE(stow_call_finish(call, NULL, NULL) == STOW_OK);
  CHECK(dim_named(graph, "later") < 0);
  CHECK(stow_graph_add_output(graph, 0, NULL) == STOW_OK);
  stow_graph* simple = simplify(graph);
  CHECK(stow_graph_data(simple, 0, NULL) == weights);
  CHECK_TEXT(stow_dims_symbol_name(stow_graph_dims(simple), 0).data, "later");
  stow_graph_destroy(simple);
  stow_graph_destroy(graph);
}

TEST(OpenRegionsAreRefused) {
  stow_graph* graph = make_graph();
  add_input(graph, "x", SCALAR(STOW_F32));
  begin_region(graph);
  stow_graph* simple = graph;
  CHECK(stow_graph_simplify(graph, stow_allocator_default(), NULL, &simple) ==
        STOW_ERR_INVALID_ARGUMENT);
  CHECK(simple == NULL);
  stow_graph_destroy(graph);
}

// ---------------------------------------------------------------------------------------------
// Random graphs

static bool same_type_text(const stow_graph* a, stow_value x, const stow_graph* b, stow_value y) {
  stow_string texts[2];
  stow_string_init(&texts[0], stow_allocator_default());
  stow_string_init(&texts[1], stow_allocator_default());
  CHECK(stow_type_print(stow_graph_dims(a), stow_graph_type(a, x), stow_string_writer(&texts[0])) ==
        STOW_OK);
  CHECK(stow_type_print(stow_graph_dims(b), stow_graph_type(b, y), stow_string_writer(&texts[1])) ==
        STOW_OK);
  bool is_same = strcmp(texts[0].data, texts[1].data) == 0;
  stow_string_free(&texts[0]);
  stow_string_free(&texts[1]);
  return is_same;
}

static void check_random(uint64_t seed) {
  test_random random = {seed};
  random_graph_options options = random_graph_everything(5 + test_random_below(&random, 40));
  stow_graph* graph = random_graph(&random, &options, stow_allocator_default());
  stow_graph* simple = simplify(graph);
  bool is_well = simple != NULL && stow_graph_verify(simple, NULL) == STOW_OK;
  is_well = is_well && stow_graph_output_count(simple) == stow_graph_output_count(graph);
  for (size_t i = 0; is_well && i < stow_graph_output_count(graph); ++i) {
    is_well =
        same_type_text(graph, stow_graph_outputs(graph)[i], simple, stow_graph_outputs(simple)[i]);
  }
  for (stow_value value = 0; is_well && value < stow_graph_value_count(simple); ++value) {
    stow_value old = stow_graph_find(graph, stow_graph_value_name(simple, value));
    is_well = old == STOW_VALUE_NONE || same_type_text(graph, old, simple, value);
  }
  stow_graph* again = is_well ? simplify(simple) : NULL;
  is_well =
      is_well && again != NULL && stow_graph_fingerprint(again) == stow_graph_fingerprint(simple);
  test_check(is_well, __FILE__, __LINE__, "seed %llu", (unsigned long long)seed);
  stow_graph_destroy(again);
  stow_graph_destroy(simple);
  stow_graph_destroy(graph);
}

TEST(RandomGraphsKeepTheirOutputsAndTypes) {
  uint64_t count = test_is_long() ? 20000 : 400;
  for (uint64_t seed = 0; seed < count; ++seed) {
    check_random(seed);
  }
}

static stow_status attempt(stow_allocator allocator, void* user) {
  stow_graph* simple;
  stow_status status = stow_graph_simplify((const stow_graph*)user, allocator, NULL, &simple);
  stow_graph_destroy(simple);
  return status;
}

TEST(RunningOutOfMemoryFailsCleanly) {
  test_random random = {7};
  random_graph_options options = random_graph_everything(40);
  stow_graph* graph = random_graph(&random, &options, stow_allocator_default());
  CHECK(test_fault_sweep(attempt, graph) > 10);
  stow_graph_destroy(graph);
  known_ops k = make_known_ops();
  graph = make_known_graph(&k);
  stow_value x = add_input(graph, "x", VECTOR(STOW_F32, 2));
  stow_value shape = add_unary(graph, k.next, add_unary(graph, k.shape, x));
  CHECK(stow_graph_add_output(graph, shape, NULL) == STOW_OK);
  CHECK(test_fault_sweep(attempt, graph) > 10);
  stow_graph_destroy(graph);
  stow_ops_destroy(k.ops);
}
