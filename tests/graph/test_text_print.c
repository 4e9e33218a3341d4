// Canonical texts print as they were read; all others print as the canonical text with the same
// meaning.
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>

#include "graph/text_support.h"

// ---------------------------------------------------------------------------------------------
// Canonical texts

static const char mlp[] =
    "graph @mlp {\n"
    "  %0 = input \"x\" : f32[100, 384]\n"
    "  %1 = param \"w1\" : f32[384, 384]\n"
    "  %2 = matmul(%0, %1) : f32[100, 384]\n"
    "  %3 \"hidden\" = reshape(%2) : f32[400, 96]\n"
    "  %4 = narrow(%3) {axis = 0, start = 8, len = 16} : f32[16, 96]\n"
    "  %5 = custom(%4, %0) {name = \"acme.mix\", num_inputs = 2} : f32[55, 3]\n"
    "  %6 \"vals\", %7 \"idx\" = topk(%4) {axis = 1, k = 5} : f32[16, 5], i64[16, 5]\n"
    "  return %5, %6\n"
    "}\n";

static const char branches[] =
    "graph @branches {\n"
    "  %0 = input \"x\" : f32[4]\n"
    "  %1 = input \"c\" : bool[]\n"
    "  %6, %7 = if(%1) {\n"
    "    %2 = relu(%0) : f32[4]\n"
    "    %3 = exp(%2) : f32[4]\n"
    "    yield %3, %2\n"
    "  } else {\n"
    "    %4 = gelu(%0) : f32[4]\n"
    "    %5 = exp(%4) : f32[4]\n"
    "    yield %5, %0\n"
    "  } : f32[4], f32[4]\n"
    "  %8 = add(%6, %7) : f32[4]\n"
    "  return %8\n"
    "}\n";

static const char loops[] =
    "graph @loops {\n"
    "  %0 = input \"x\" : f32[4]\n"
    "  %1 = input \"n\" : i64[]\n"
    "  %9 \"last\" = loop(%1, _, %0) {\n"
    "    %2, %3, %4 \"carried\" = args() : i64[], bool[], f32[4]\n"
    "    %8 = loop(_, %3, %4) {\n"
    "      %5, %6, %7 = args() : i64[], bool[], f32[4]\n"
    "      yield %6, %7\n"
    "    } : f32[4]\n"
    "    yield %3, %8\n"
    "  } : f32[4]\n"
    "  return %9\n"
    "}\n";

static const char symbols[] =
    "graph @symbols {\n"
    "  %0 = input \"a\" : f32[?batch, ?\"p2o.Dim.0\", ?(past + seq), 0]\n"
    "  %1 = input \"b\" : f16[?(2*a*b + a - 3), ?(max(a, b)), ?(min(a, b) - 1)]\n"
    "  %2 = input \"c\" : i4[?(ceil_div(a, b)), ?(floor_div(a, b) + floor_div(a, 2))]\n"
    "  %3 = input \"scalar\" : f8e4m3fn[]\n"
    "  return %0, %1, %2, %3, %3\n"
    "}\n";

static const char attributes[] =
    "graph @attributes {\n"
    "  %0 = input \"x\" : f32[4] with {io = \"consume\"}\n"
    "  %1 = constant \"c\" {data = [1, -2]} : i64[2]\n"
    "  %2 = constant \"d\" {data = [0x1.8p+0, -inf]} : f32[2]\n"
    "  %3 = param \"w\" {source = \"w.bin\", at = 64, bytes = 16} : f32[4]\n"
    "  %4, %5 = custom(%0, _, %3) {name = \"a\\\"\\\\\\n\\t\\r\\x00\\x7f\\xe2\", i = "
    "-9223372036854775808, "
    "f = 0x1p-1074, n = nan, b = true, off = false, ints = [1, 2], floats = [0x1p+0, inf], "
    "strings = [\"\", \"x y\", \"\\x01\"], none = [], \"odd name\" = 1, dotted.name = 2} : "
    "bounded f32[100, 6], i64[] with {scratch = [128, 64], align = [64, -1], own = true}\n"
    "  %6 \"quoted \\\"name\\\"\" = relu(%0) : f32[4] with {hold = [0, -1]}\n"
    "  return %4, %6\n"
    "}\n";

TEST(TheExampleOfTheSpecificationRoundTrips) { CHECK_ROUND_TRIP(mlp); }
TEST(BranchesRoundTrip) { CHECK_ROUND_TRIP(branches); }
TEST(NestedLoopsRoundTrip) { CHECK_ROUND_TRIP(loops); }
TEST(AttributesOfAllKindsRoundTrip) {
  // A byte above 127 prints unchanged.
  char text[2048];
  snprintf(text, sizeof(text), "%s", attributes);
  char* escape = strstr(text, "\\xe2");
  REQUIRE(escape != NULL);
  escape[0] = '\xe2';
  memmove(escape + 1, escape + 4, strlen(escape + 4) + 1);
  CHECK_PRINTS_AS(attributes, text);
  CHECK_ROUND_TRIP(text);
}

// The order of terms is that of the dims table; what matters is that it is stable.
TEST(SymbolicDimsAreStableAfterPrintingOnce) {
  stow_module* module = parse_text(symbols);
  REQUIRE(module != NULL);
  stow_string printed = print_module(module);
  CHECK_HAS(printed.data, "?batch, ?\"p2o.Dim.0\", ?(past + seq), 0]");
  CHECK_ROUND_TRIP(printed.data);
  stow_string_free(&printed);
  stow_module_destroy(module);
}

TEST(SomeGoldenGraphsRoundTrip) {
  CHECK_ROUND_TRIP(
      "graph @dequant {\n"
      "  %0 = input \"x\" : f32[4, 64]\n"
      "  %1 = relu(%0) : f32[4, 64]\n"
      "  %2 = param \"w\" : u8[512]\n"
      "  %3 = dequant_matmul(%1, %2) : f32[4, 32]\n"
      "  %4 = gelu(%3) : f32[4, 32]\n"
      "  return %4\n"
      "}\n");
  CHECK_ROUND_TRIP(
      "graph @empty_past {\n"
      "  %0 = input \"past_k\" : f32[1, 0, 8]\n"
      "  %1 = input \"x\" : f32[1, 1, 8]\n"
      "  %2 = concat(%0, %1) {axis = 1} : f32[1, 1, 8]\n"
      "  return %2\n"
      "}\n");
  CHECK_ROUND_TRIP(
      "graph @consts {\n"
      "  %0 = input \"x\" : f32[16]\n"
      "  %1 = constant \"c\" : f32[16]\n"
      "  %2 = add(%0, %1) : f32[16]\n"
      "  %3 = param \"late\" : f32[100]\n"
      "  %4 = relu(%2) : f32[16]\n"
      "  return %4\n"
      "}\n");
}

// ---------------------------------------------------------------------------------------------
// Texts that are not canonical

TEST(SpaceCommentsAndLineEndsDoNotMatter) {
  CHECK_PRINTS_AS(
      "\xef\xbb\xbf# first\r\ngraph@g{%0=input\"x\":f32[2,?n]# "
      "end\r\n\t%1=relu(%0)\r\n:f32[2,?n]return%1}",
      "graph @g {\n"
      "  %0 = input \"x\" : f32[2, ?n]\n"
      "  %1 = relu(%0) : f32[2, ?n]\n"
      "  return %1\n"
      "}\n");
}

TEST(AttributesEqualToTheirDefaultAreOmitted) {
  CHECK_PRINTS_AS(
      "graph @g {\n"
      "  %0 = input \"x\" : f32[2, 4]\n"
      "  %1 = softmax(%0) {axis = -1} : f32[2, 4]\n"
      "  %2 = softmax(%1) {axis = 0} : f32[2, 4]\n"
      "  %3 = elu(%2) {alpha = 1} : f32[2, 4]\n"
      "  %4 = elu(%3) {alpha = 2} : f32[2, 4]\n"
      "  %5 = relu(%4) {} : f32[2, 4] with {}\n"
      "  %6 = transpose(%5) {perm = []} : f32[4, 2]\n"
      "  %7 = reduce(%6) {op = \"sum\", keepdims = false, axes = [0]} : f32[2]\n"
      "  return %7\n"
      "}\n",
      "graph @g {\n"
      "  %0 = input \"x\" : f32[2, 4]\n"
      "  %1 = softmax(%0) : f32[2, 4]\n"
      "  %2 = softmax(%1) {axis = 0} : f32[2, 4]\n"
      "  %3 = elu(%2) : f32[2, 4]\n"
      "  %4 = elu(%3) {alpha = 0x1p+1} : f32[2, 4]\n"
      "  %5 = relu(%4) : f32[2, 4]\n"
      "  %6 = transpose(%5) : f32[4, 2]\n"
      "  %7 = reduce(%6) {keepdims = false, axes = [0]} : f32[2]\n"
      "  return %7\n"
      "}\n");
}

TEST(RequiredAttributesAreNeverOmitted) {
  CHECK_ROUND_TRIP(
      "graph @g {\n"
      "  %0 = input \"x\" : f32[2]\n"
      "  %1 = narrow(%0) {axis = 0, start = 0, len = 0} : f32[0]\n"
      "  return %1\n"
      "}\n");
}

TEST(ListsWithAFloatAreFloats) {
  CHECK_PRINTS_AS(
      "graph @g {\n"
      "  %0 = custom() {name = \"a\", l = [1, -2, 0.5, 3, -inf], m = [1.0], n = [-0]} : f32[]\n"
      "  return %0\n"
      "}\n",
      "graph @g {\n"
      "  %0 = custom() {name = \"a\", l = [0x1p+0, -0x1p+1, 0x1p-1, 0x1.8p+1, -inf], "
      "m = [0x1p+0], n = [0]} : f32[]\n"
      "  return %0\n"
      "}\n");
}

TEST(DimExpressionsAreNormalised) {
  CHECK_PRINTS_AS(
      "graph @g {\n"
      "  %0 = input \"x\" : f32[?((2)), ?(a - a + 3*(1 + 1)), ?( (a) ), ?(-5 + \"b\" + 6 - 1), "
      "?(a*(b + 1) - a), ?(min(3, max(2, 1))), ?min, ?(floor_div(7, 2)), ?(ceil_div(7, 2))]\n"
      "  return %0\n"
      "}\n",
      "graph @g {\n"
      "  %0 = input \"x\" : f32[2, 6, ?a, ?b, ?(a*b), 2, ?min, 3, 4]\n"
      "  return %0\n"
      "}\n");
}

TEST(DimConstantsReachInt64Min) {
  CHECK_ROUND_TRIP(
      "graph @g {\n"
      "  %0 = input \"x\" : f32[?(0 - 9223372036854775808*a), ?(a - 9223372036854775808)]\n"
      "  return %0\n"
      "}\n");
}

TEST(ASymbolMayHaveAFunctionsName) {
  CHECK_ROUND_TRIP(
      "graph @g {\n"
      "  %0 = input \"x\" : f32[?(max + min), ?floor_div, ?_, ?\"a b\"]\n"
      "  return %0\n"
      "}\n");
}

TEST(GraphsAreSeparatedByOneEmptyLine) {
  CHECK_PRINTS_AS(
      "graph @a { %0 = input \"x\" : f32[] return %0 } graph @\"b c\" { %0 = input \"x\" : f32[] "
      "return %0 } graph @a.b { %0 = input \"x\" : f32[] return %0 }",
      "graph @a {\n  %0 = input \"x\" : f32[]\n  return %0\n}\n\n"
      "graph @\"b c\" {\n  %0 = input \"x\" : f32[]\n  return %0\n}\n\n"
      "graph @a.b {\n  %0 = input \"x\" : f32[]\n  return %0\n}\n");
}

// ---------------------------------------------------------------------------------------------
// Graphs from calls

static stow_string print_graph(const stow_graph* graph) {
  stow_string out;
  stow_string_init(&out, stow_allocator_default());
  CHECK(stow_graph_print(graph, stow_string_writer(&out)) == STOW_OK);
  return out;
}

static stow_graph* new_graph(void) {
  stow_graph* graph = NULL;
  CHECK(stow_graph_create(stow_str_of("g"), NULL, stow_allocator_default(), NULL, &graph) ==
        STOW_OK);
  return graph;
}

// A param of one dim whose elements are bytes, and no attribute.
static stow_value add_data(stow_graph* graph, const char* name, stow_dtype dtype, stow_dim count,
                           const void* bytes, size_t size) {
  stow_type type = stow_type_make(dtype, 1, &count);
  stow_node node = STOW_NODE_NONE;
  stow_call* call = stow_graph_begin(graph, STOW_OP_PARAM);
  stow_call_name(call, 0, stow_str_of(name));
  stow_call_result_type(call, &type);
  stow_call_data(call, bytes, size, true);
  CHECK(stow_call_finish(call, NULL, &node) == STOW_OK);
  return stow_graph_first_result(graph, node);
}

static stow_value add_of(stow_graph* graph, stow_op op, stow_value a, stow_value b) {
  stow_value operands[] = {a, b};
  stow_value value = STOW_VALUE_NONE;
  stow_diag diag;
  stow_diag_init(&diag);
  stow_status status =
      stow_graph_add(graph, op, operands, b == STOW_VALUE_NONE ? 1 : 2, &diag, &value);
  test_check(status == STOW_OK, __FILE__, __LINE__, "%s", diag.message);
  return value;
}

// Prints |graph| with |output|, and destroys it; the text must parse and print as itself.
static void check_graph_prints(stow_graph* graph, stow_value output, const char* expected,
                               int line) {
  CHECK(stow_graph_add_output(graph, output, NULL) == STOW_OK);
  stow_string printed = print_graph(graph);
  test_check_text(printed.data, expected, __FILE__, line, "the printed graph");
  check_prints_as(expected, expected, __FILE__, line);
  stow_string_free(&printed);
  stow_graph_destroy(graph);
}

TEST(DataThatNothingDependsOnIsNotPrinted) {
  float data[100] = {0};
  stow_graph* graph = new_graph();
  stow_value c = add_data(graph, "c", STOW_F32, 100, data, sizeof(data));
  check_graph_prints(graph, add_of(graph, STOW_OP_EXP, c, STOW_VALUE_NONE),
                     "graph @g {\n"
                     "  %0 = param \"c\" : f32[100]\n"
                     "  %1 = exp(%0) : f32[100]\n"
                     "  return %1\n"
                     "}\n",
                     __LINE__);
}

TEST(DataThatTypesDependOnIsPrinted) {
  static const int64_t dims[] = {-1, 4};
  stow_graph* graph = new_graph();
  float zeros[8] = {0};
  stow_value x = add_data(graph, "x", STOW_F32, 8, zeros, sizeof(zeros));
  stow_value shape = add_data(graph, "shape", STOW_I64, 2, dims, sizeof(dims));
  stow_value wide = add_of(graph, STOW_OP_EXP, x, STOW_VALUE_NONE);
  check_graph_prints(graph, add_of(graph, STOW_OP_RESHAPE, wide, shape),
                     "graph @g {\n"
                     "  %0 = param \"x\" : f32[8]\n"
                     "  %1 = param \"shape\" {data = [-1, 4]} : i64[2]\n"
                     "  %2 = exp(%0) : f32[8]\n"
                     "  %3 = reshape(%2, %1) : f32[2, 4]\n"
                     "  return %3\n"
                     "}\n",
                     __LINE__);
}

TEST(DataThatKnownValuesDependOnIsPrintedExactly) {
  static const float numbers[] = {0.1f, -0.0f, 1e-45f, 3};
  static const unsigned char truths[] = {0, 1, 2, 1};
  stow_graph* graph = new_graph();
  stow_value f = add_data(graph, "f", STOW_F32, 4, numbers, sizeof(numbers));
  stow_value b = add_data(graph, "b", STOW_BOOL, 4, truths, sizeof(truths));
  add_of(graph, STOW_OP_NOT, b, STOW_VALUE_NONE);
  check_graph_prints(graph, add_of(graph, STOW_OP_NEG, f, STOW_VALUE_NONE),
                     "graph @g {\n"
                     "  %0 = param \"f\" {data = [0x1.99999ap-4, -0x0p+0, 0x1p-149, 0x1.8p+1]}"
                     " : f32[4]\n"
                     "  %1 = param \"b\" {data = [0, 1, 1, 1]} : bool[4]\n"
                     "  %2 = not(%1) : bool[4]\n"
                     "  %3 = neg(%0) : f32[4]\n"
                     "  return %3\n"
                     "}\n",
                     __LINE__);
}

// The readers may be gone: a branch that was chosen, a sum that was folded.
TEST(KnownInputDataIsPrintedEvenWithoutReaders) {
  static const unsigned char truth[] = {1};
  stow_graph* graph = new_graph();
  stow_type type = stow_type_make(STOW_BOOL, 0, NULL);
  stow_node node;
  stow_call* call = stow_graph_begin(graph, STOW_OP_INPUT);
  stow_call_name(call, 0, stow_str_of("c"));
  stow_call_result_type(call, &type);
  stow_call_data(call, truth, sizeof(truth), true);
  REQUIRE(stow_call_finish(call, NULL, &node) == STOW_OK);
  check_graph_prints(graph, stow_graph_first_result(graph, node),
                     "graph @g {\n"
                     "  %0 = input \"c\" {data = [1]} : bool[]\n"
                     "  return %0\n"
                     "}\n",
                     __LINE__);
}

TEST(DataThatNoListCanRepresentIsNotPrinted) {
  static const uint64_t large[] = {1, UINT64_MAX};
  static int64_t many[1025];
  static const int64_t at[] = {7};
  stow_graph* graph = new_graph();
  stow_value u = add_data(graph, "u", STOW_U64, 2, large, sizeof(large));
  stow_value m = add_data(graph, "m", STOW_I64, 1025, many, sizeof(many));
  stow_value i = add_data(graph, "i", STOW_I64, 1, at, sizeof(at));
  add_of(graph, STOW_OP_MAX, u, u);
  check_graph_prints(graph, add_of(graph, STOW_OP_GATHER, m, i),
                     "graph @g {\n"
                     "  %0 = param \"u\" : u64[2]\n"
                     "  %1 = param \"m\" : i64[1025]\n"
                     "  %2 = param \"i\" {data = [7]} : i64[1]\n"
                     "  %3 = max(%0, %0) : u64[2]\n"
                     "  %4 = gather(%1, %2) : i64[1]\n"
                     "  return %4\n"
                     "}\n",
                     __LINE__);
}

// Whether a symbol is 4 is known only once it is bound.
TEST(ShortDataThatABindingMayNeedIsPrinted) {
  static const int64_t four[] = {4};
  stow_graph* graph = new_graph();
  stow_dim n = stow_dim_symbol(stow_graph_edit_dims(graph), stow_str_of("n"));
  stow_type type = stow_type_make(STOW_F32, 1, &n);
  stow_value x;
  REQUIRE(stow_graph_input(graph, "x", &type, NULL, &x) == STOW_OK);
  stow_value by = add_data(graph, "four", STOW_I64, 1, four, sizeof(four));
  stow_value shape = add_of(graph, STOW_OP_SHAPE, x, STOW_VALUE_NONE);
  stow_value is_four = add_of(graph, STOW_OP_EQ, shape, by);
  REQUIRE(stow_graph_add_output(graph, is_four, NULL) == STOW_OK);
  stow_string printed = print_graph(graph);
  CHECK_HAS(printed.data, "%1 = param \"four\" {data = [4]} : i64[1]\n");
  stow_module* module = parse_text(printed.data);
  REQUIRE(module != NULL);
  stow_graph* parsed = stow_module_graph(module, 0);
  int64_t value = 4;
  stow_str name = stow_str_of("n");
  CHECK(!stow_graph_is_known(parsed, is_four));
  CHECK(stow_graph_bind(parsed, &name, &value, 1, NULL) == STOW_OK);
  CHECK(stow_graph_known(parsed, is_four, 0) == 1);
  stow_module_destroy(module);
  stow_string_free(&printed);
  stow_graph_destroy(graph);
}

TEST(InlineDataMayNameItsSource) {
  CHECK_ROUND_TRIP(
      "graph @g {\n"
      "  %0 = input \"x\" : f32[8]\n"
      "  %1 = param \"s\" {source = \"w.bin\", at = 16, bytes = 16, data = [2, 4]} : i64[2]\n"
      "  %2 = reshape(%0, %1) : f32[2, 4]\n"
      "  return %2\n"
      "}\n");
}

TEST(AGraphWithoutOutputsPrintsAnEmptyReturn) {
  stow_graph* graph = NULL;
  REQUIRE(stow_graph_create(stow_str_of(""), NULL, stow_allocator_default(), NULL, &graph) ==
          STOW_OK);
  stow_string printed = print_graph(graph);
  CHECK_TEXT(printed.data, "graph @\"\" {\n  return\n}\n");
  stow_string_free(&printed);
  stow_graph_destroy(graph);
}

TEST(PrintingAnOpenRegionFails) {
  stow_graph* graph = NULL;
  stow_value value = STOW_VALUE_NONE;
  stow_value inner = STOW_VALUE_NONE;
  stow_type type = stow_type_make(STOW_F32, 0, NULL);
  stow_string out;
  stow_string_init(&out, stow_allocator_default());
  REQUIRE(stow_graph_create(stow_str_of("g"), NULL, stow_allocator_default(), NULL, &graph) ==
          STOW_OK);
  CHECK(stow_graph_input(graph, "x", &type, NULL, &value) == STOW_OK);
  CHECK(stow_graph_begin_region(graph, NULL) == STOW_OK);
  CHECK(stow_graph_add(graph, STOW_OP_RELU, &value, 1, NULL, &inner) == STOW_OK);
  CHECK(stow_graph_print(graph, stow_string_writer(&out)) == STOW_ERR_INVALID_ARGUMENT);
  stow_string_free(&out);
  stow_graph_destroy(graph);
}

static stow_status declared_shape(stow_shape_call* call) {
  stow_type scalar = stow_type_make(STOW_F32, 0, NULL);
  for (size_t k = 0; k < stow_shape_result_count(call); ++k) {
    stow_shape_set_result(call, k, &scalar);
  }
  return STOW_OK;
}

TEST(OpsOfTheCallerCanHaveNoResultsAndManyRegions) {
  static const char text[] =
      "graph @g {\n"
      "  %0 = input \"x\" : f32[]\n"
      "  acme.store(%0) {where = 3} with {scratch = [8, 8]}\n"
      "  %2 = acme.pick(%0) {\n"
      "    yield\n"
      "  } else {\n"
      "    acme.store(%0)\n"
      "    %1 = relu(%0) : f32[]\n"
      "    yield\n"
      "  } else {\n"
      "    yield\n"
      "  } : f32[]\n"
      "  return %2\n"
      "}\n";
  stow_ops* ops = NULL;
  stow_op_desc desc;
  stow_module* module = NULL;
  stow_diag diag;
  stow_diag_init(&diag);
  REQUIRE(stow_ops_create(stow_allocator_default(), NULL, &ops) == STOW_OK);
  stow_op_desc_init(&desc);
  desc.name = "acme.store";
  desc.min_operands = desc.max_operands = 1;
  desc.min_results = desc.max_results = 0;
  desc.shape = declared_shape;
  desc.any_attrs = true;
  CHECK(stow_ops_register(ops, &desc, &diag, NULL) == STOW_OK);
  stow_op_desc_init(&desc);
  desc.name = "acme.pick";
  desc.min_operands = desc.max_operands = 1;
  desc.shape = declared_shape;
  desc.region_count = 3;
  desc.region_kind = STOW_REGION_BRANCH;
  CHECK(stow_ops_register(ops, &desc, &diag, NULL) == STOW_OK);
  stow_status status =
      stow_module_parse(text, strlen(text), NULL, ops, stow_allocator_default(), &diag, &module);
  CHECK_TEXT(diag.message, "");
  if (CHECK(status == STOW_OK)) {
    stow_string printed = print_module(module);
    CHECK_TEXT(printed.data, text);
    stow_string_free(&printed);
  }
  stow_module_destroy(module);
  stow_ops_destroy(ops);
}

// ---------------------------------------------------------------------------------------------
// Writers that fail

typedef struct limited {
  size_t left;
} limited;

static stow_status write_limited(void* user, const char* data, size_t size) {
  limited* writer = user;
  (void)data;
  if (size > writer->left) {
    return STOW_ERR_IO;
  }
  writer->left -= size;
  return STOW_OK;
}

static void check_stops_with_its_writer(const char* text) {
  stow_module* module = parse_text(text);
  REQUIRE(module != NULL);
  stow_string printed = print_module(module);
  for (size_t size = 0; size <= printed.size; ++size) {
    limited state = {size};
    stow_writer writer = {write_limited, &state};
    CHECK(stow_module_print(module, writer) == (size < printed.size ? STOW_ERR_IO : STOW_OK));
  }
  stow_string_free(&printed);
  stow_module_destroy(module);
}

TEST(PrintingStopsWhenTheWriterFails) {
  check_stops_with_its_writer(mlp);
  check_stops_with_its_writer(branches);
  check_stops_with_its_writer(loops);
  check_stops_with_its_writer(symbols);
  check_stops_with_its_writer(attributes);
}
