// Importing straight-line models: inputs, weights, names, order, requests, issues.
#include <string.h>

#include "onnx/import_model.h"
#include "support/fault.h"
#include "support/test.h"

#define BEGIN     \
  import_model m; \
  import_begin(&m);
#define RUN(expected)                                                  \
  do {                                                                 \
    stow_status run_status = import_run(&m, false);                    \
    test_check(run_status == (expected), __FILE__, __LINE__, "%s: %s", \
               stow_status_text(run_status), m.diag.message);          \
  } while (0)

static void ask_bind(import_model* m, const char* symbol, int64_t value) {
  CHECK(stow_import_request_bind(m->request, stow_str_of(symbol), value, NULL) == STOW_OK);
}

// x -> Relu -> y -> Relu -> z
static void chain(import_model* m, const char* dims) {
  import_input(m, "x", ONNX_FLOAT, dims);
  onnx_node(&m->w, "Relu", "x", "y");
  onnx_node(&m->w, "Relu", "y", "z");
  import_output(m, "z");
}

// ---------------------------------------------------------------------------------------------
// Symbols

TEST(DimsBecomeSymbolsAndBindingsNumbers) {
  BEGIN
  chain(&m, "batch 3 ? 8");
  ask_bind(&m, "batch", 2);
  RUN(STOW_OK);
  CHECK_TEXT(import_type(&m, "z"), "f32[2, 3, ?\"x.2\", 8]");
  CHECK_U64(stow_import_issue_count(m.import), 0);
  import_end(&m);
}

TEST(TheRestOfTheSymbolsCanBeBoundAtOnce) {
  BEGIN
  chain(&m, "batch 3 ?");
  ask_bind(&m, "x.2", 7);
  CHECK(stow_import_request_bind_rest(m.request, 1, NULL) == STOW_OK);
  RUN(STOW_OK);
  CHECK_TEXT(import_type(&m, "z"), "f32[1, 3, 7]");
  import_end(&m);
}

static void add_symbols(import_model* m) {
  import_input(m, "x", ONNX_FLOAT, "n ? 3 total");
  import_input(m, "z", ONNX_FLOAT, "n m");
  onnx_node(&m->w, "Relu", "x", "y");
  import_output(m, "y");
}

TEST(SymbolsWithoutAValueAreListedInTheOrderOfTheInputs) {
  BEGIN
  add_symbols(&m);
  ask_bind(&m, "total", 5);
  RUN(STOW_OK);
  size_t symbol_count;
  const stow_str* symbols = stow_import_symbols(m.import, &symbol_count);
  CHECK_U64(symbol_count, 3);
  CHECK(stow_str_equal(symbols[0], stow_str_of("n")));
  CHECK(stow_str_equal(symbols[1], stow_str_of("x.1")));
  CHECK(stow_str_equal(symbols[2], stow_str_of("m")));
  import_end(&m);
}

TEST(NegativeDimsCountAsUnknown) {
  BEGIN
  chain(&m, "-1 3");
  RUN(STOW_OK);
  CHECK_TEXT(import_type(&m, "z"), "f32[?\"x.0\", 3]");
  import_end(&m);
}

// Some writers call every dim that they do not know `?`.
TEST(DimsCalledByAQuestionMarkAreUnnamed) {
  BEGIN
  chain(&m, "?? 3 ??");
  ask_bind(&m, "x.2", 7);
  RUN(STOW_OK);
  CHECK_TEXT(import_type(&m, "z"), "f32[?\"x.0\", 3, 7]");
  import_end(&m);
}

TEST(AQuestionMarkBindsTheUnnamedDimsThatAreLeft) {
  BEGIN
  import_input(&m, "other", ONNX_FLOAT, "n");
  chain(&m, "?? 3 ? ?");
  ask_bind(&m, "x.2", 7);
  ask_bind(&m, "?", 5);
  RUN(STOW_OK);
  CHECK_TEXT(import_type(&m, "z"), "f32[5, 3, 7, 5]");
  CHECK_TEXT(import_type(&m, "other"), "f32[?n]");
  import_end(&m);
}

TEST(AQuestionMarkNeedsAnUnnamedDim) {
  BEGIN
  chain(&m, "n 3");
  ask_bind(&m, "?", 5);
  RUN(STOW_ERR_NOT_FOUND);
  CHECK_HAS(m.diag.message, "the model has no symbol \"?\"");
  import_end(&m);
}

static void two_inputs(import_model* m, const char* second) {
  import_input(m, "p", ONNX_FLOAT, "past seq");
  onnx_begin(&m->w, ONNX_GRAPH_INPUT);
  onnx_string(&m->w, ONNX_VALUE_NAME, "x");
  onnx_begin(&m->w, ONNX_VALUE_TYPE);
  onnx_begin(&m->w, 1);
  onnx_int(&m->w, 1, ONNX_FLOAT);
  onnx_begin(&m->w, 2);
  onnx_begin(&m->w, 1);
  onnx_string(&m->w, 2, second);
  for (int i = 0; i < 5; ++i) {
    onnx_end(&m->w);
  }
  import_output(m, "x");
  import_output(m, "p");
}

TEST(ADimMayBeNamedAsASumOfOthers) {
  BEGIN
  two_inputs(&m, "past + 2*seq");
  ask_bind(&m, "seq", 3);
  RUN(STOW_OK);
  CHECK_TEXT(import_type(&m, "x"), "f32[?(past + 6)]");
  import_end(&m);
}

TEST(TheRestDoesNotBindSuchADim) {
  BEGIN
  two_inputs(&m, "past + seq");
  CHECK(stow_import_request_bind_rest(m.request, 4, NULL) == STOW_OK);
  RUN(STOW_OK);
  CHECK_TEXT(import_type(&m, "x"), "f32[8]");
  import_end(&m);
}

TEST(AValueGivenForSuchADimMustBeTheSum) {
  BEGIN
  two_inputs(&m, "past + seq");
  ask_bind(&m, "past", 3);
  ask_bind(&m, "past + seq", 8);
  CHECK(stow_import_request_bind_rest(m.request, 4, NULL) == STOW_OK);
  RUN(STOW_ERR_CONFLICT);
  CHECK_HAS(m.diag.message, "dim \"past + seq\" is given 8, but its expression is 7");
  import_end(&m);
}

TEST(AnExpressionOfUnknownSymbolsIsAName) {
  BEGIN
  two_inputs(&m, "past / other");
  ask_bind(&m, "past / other", 5);
  RUN(STOW_OK);
  CHECK_TEXT(import_type(&m, "x"), "f32[5]");
  import_end(&m);
}

TEST(BindingAnUnknownSymbolIsAnError) {
  BEGIN
  chain(&m, "batch 3");
  ask_bind(&m, "bacth", 2);
  RUN(STOW_ERR_NOT_FOUND);
  CHECK_HAS(m.diag.message, "no symbol \"bacth\"; did you mean \"batch\"?");
  import_end(&m);
}

TEST(BindingAnUnknownSymbolListsTheSymbols) {
  BEGIN
  chain(&m, "batch ?");
  ask_bind(&m, "sequence_length", 2);
  RUN(STOW_ERR_NOT_FOUND);
  CHECK_HAS(m.diag.message, "its symbols are \"batch\", \"x.1\"");
  import_end(&m);
}

TEST(UnknownNamesCanBeAllowed) {
  BEGIN
  chain(&m, "batch 3");
  ask_bind(&m, "batch", 2);
  ask_bind(&m, "past", 7);
  CHECK(stow_import_request_value(m.request, stow_str_of("rate"), &(int64_t){1}, 1, NULL) ==
        STOW_OK);
  CHECK(stow_import_request_shape(m.request, stow_str_of("boxes"), &(int64_t){9}, 1, NULL) ==
        STOW_OK);
  stow_import_request_set_flags(m.request, STOW_IMPORT_ALLOW_UNKNOWN);
  RUN(STOW_OK);
  CHECK_TEXT(import_type(&m, "x"), "f32[2, 3]");
  import_end(&m);
}

TEST(BindingInAModelWithoutSymbolsIsAnError) {
  BEGIN
  chain(&m, "2");
  ask_bind(&m, "batch", 2);
  RUN(STOW_ERR_NOT_FOUND);
  CHECK_HAS(m.diag.message, "it has no symbols");
  import_end(&m);
}

TEST(ShapesOfInputsBindTheirSymbols) {
  BEGIN
  chain(&m, "batch 3");
  CHECK(stow_import_request_shape(m.request, stow_str_of("x"), (int64_t[]){5, 3}, 2, NULL) ==
        STOW_OK);
  RUN(STOW_OK);
  CHECK_TEXT(import_type(&m, "z"), "f32[5, 3]");
  import_end(&m);
}

TEST(ShapesThatContradictTheFileAreErrors) {
  BEGIN
  chain(&m, "batch 3");
  CHECK(stow_import_request_shape(m.request, stow_str_of("x"), (int64_t[]){5, 4}, 2, NULL) ==
        STOW_OK);
  RUN(STOW_ERR_CONFLICT);
  CHECK_HAS(m.diag.message, "dim 1 of input \"x\" is 3, but it is given 4");
  import_end(&m);
}

TEST(AnInputWithoutAShapeNeedsOne) {
  BEGIN
  chain(&m, NULL);
  RUN(STOW_OK);
  CHECK(m.graph == NULL);
  CHECK_HAS(import_reason(&m, STOW_IMPORT_NEEDS_SHAPE), "x: no shape is declared");
  CHECK_U64(import_count(&m, STOW_IMPORT_SKIPPED), 2);
  import_end(&m);
}

TEST(AGivenShapeTakesItsPlace) {
  BEGIN
  chain(&m, NULL);
  CHECK(stow_import_request_shape(m.request, stow_str_of("x"), (int64_t[]){5, 3}, 2, NULL) ==
        STOW_OK);
  RUN(STOW_OK);
  CHECK_TEXT(import_type(&m, "z"), "f32[5, 3]");
  import_end(&m);
}

TEST(StringsAreNotSupported) {
  BEGIN
  import_input(&m, "x", ONNX_STRING, "3");
  onnx_node(&m.w, "Identity", "x", "y");
  import_output(&m, "y");
  RUN(STOW_OK);
  CHECK(m.graph == NULL);
  CHECK_HAS(import_reason(&m, STOW_IMPORT_UNSUPPORTED), "x: strings are not supported");
  import_end(&m);
}

// ---------------------------------------------------------------------------------------------
// Weights

TEST(UsedInitializersBecomeParamsWithTheirBytes) {
  BEGIN
  import_input(&m, "x", ONNX_FLOAT, "2 3");
  import_f32_zeros(&m, ONNX_GRAPH_INITIALIZER, "w", (int64_t[]){2, 3}, 2);
  import_f32_zeros(&m, ONNX_GRAPH_INITIALIZER, "unused", (int64_t[]){9}, 1);
  onnx_node(&m.w, "Add", "x w", "y");
  import_output(&m, "y");
  stow_import_request_set_flags(m.request, STOW_IMPORT_KEEP_ALL);
  RUN(STOW_OK);
  REQUIRE(m.graph != NULL);
  stow_value w = stow_graph_find(m.graph, stow_str_of("w"));
  REQUIRE(w != STOW_VALUE_NONE);
  CHECK_U64(stow_graph_op(m.graph, stow_graph_producer(m.graph, w)), STOW_OP_PARAM);
  size_t size;
  const uint8_t* data = (const uint8_t*)stow_graph_data(m.graph, w, &size);
  CHECK_U64(size, 24);
  CHECK(data >= m.w.data && data < m.w.data + m.w.size);
  CHECK_TEXT(import_type(&m, "unused"), "none");
  import_end(&m);
}

TEST(AnInitializerListedAsInputIsAParam) {
  BEGIN
  import_input(&m, "w", ONNX_FLOAT, "2 3");
  import_f32_zeros(&m, ONNX_GRAPH_INITIALIZER, "w", (int64_t[]){2, 3}, 2);
  onnx_node(&m.w, "Relu", "w", "y");
  import_output(&m, "y");
  RUN(STOW_OK);
  CHECK_HAS(m.text, "param \"w\"");
  import_end(&m);
}

TEST(OutputsMayBeInputsInitializersAndTwice) {
  BEGIN
  import_input(&m, "x", ONNX_FLOAT, "2");
  import_f32_zeros(&m, ONNX_GRAPH_INITIALIZER, "w", (int64_t[]){2}, 1);
  import_output(&m, "w");
  import_output(&m, "x");
  import_output(&m, "x");
  RUN(STOW_OK);
  REQUIRE(m.graph != NULL);
  CHECK_U64(stow_graph_output_count(m.graph), 3);
  import_end(&m);
}

TEST(AnOutputKeepsItsNameWhereItIsTheSameTensor) {
  BEGIN
  import_input(&m, "x", ONNX_FLOAT, "2");
  onnx_node(&m.w, "Identity", "x", "y");
  import_output(&m, "y");
  RUN(STOW_OK);
  REQUIRE(m.graph != NULL);
  stow_value y = stow_graph_outputs(m.graph)[0];
  CHECK_TEXT(stow_graph_value_name(m.graph, y).data, "y");
  import_end(&m);
}

// ---------------------------------------------------------------------------------------------
// Order and names

TEST(NodesAreSortedWhereTheFileDoesNot) {
  BEGIN
  import_input(&m, "x", ONNX_FLOAT, "2");
  onnx_node(&m.w, "Relu", "b", "c");
  onnx_node(&m.w, "Relu", "a", "b");
  onnx_node(&m.w, "Relu", "x", "a");
  import_output(&m, "c");
  RUN(STOW_OK);
  CHECK_TEXT(import_type(&m, "c"), "f32[2]");
  import_end(&m);
}

TEST(ACycleIsAnErrorThatNamesANodeOnIt) {
  BEGIN
  import_input(&m, "x", ONNX_FLOAT, "2");
  onnx_node(&m.w, "Add", "x b", "a");
  onnx_node(&m.w, "Relu", "a", "b");
  import_output(&m, "b");
  RUN(STOW_ERR_SYNTAX);
  CHECK_HAS(m.diag.message, "\"a\" (Add) needs its own result");
  import_end(&m);
}

// A weight of two floats in another file.
static void external_weight(import_model* m, const char* name, const char* file) {
  onnx_tensor_begin(&m->w, ONNX_GRAPH_INITIALIZER, name, ONNX_FLOAT, (const int64_t[]){2}, 1);
  onnx_external(&m->w, "location", file);
  onnx_int(&m->w, ONNX_TENSOR_LOCATION, 1);
  onnx_tensor_end(&m->w);
}

TEST(MissingExternalDataIsReportedOncePerFile) {
  BEGIN
  import_input(&m, "x", ONNX_FLOAT, "2");
  external_weight(&m, "a", "one.bin");
  external_weight(&m, "b", "one.bin");
  external_weight(&m, "c", "other.bin");
  onnx_node(&m.w, "Sum", "x a b c", "y");
  import_output(&m, "y");
  RUN(STOW_OK);
  REQUIRE(m.graph != NULL);
  CHECK_U64(import_count(&m, STOW_IMPORT_NO_DATA), 2);
  CHECK_HAS(import_reason(&m, STOW_IMPORT_NO_DATA), "external data \"one.bin\"");
  import_end(&m);
}

TEST(ATensorWithoutProducerIsAnError) {
  BEGIN
  import_input(&m, "x", ONNX_FLOAT, "2");
  onnx_node(&m.w, "Add", "x nowhere", "y");
  import_output(&m, "y");
  RUN(STOW_ERR_SYNTAX);
  CHECK_HAS(m.diag.message, "node \"y\" (Add): input 1 is \"nowhere\", which no node produces");
  import_end(&m);
}

TEST(AnOutputWithoutProducerIsAnError) {
  BEGIN
  import_input(&m, "x", ONNX_FLOAT, "2");
  import_output(&m, "y");
  RUN(STOW_ERR_SYNTAX);
  CHECK_HAS(m.diag.message, "output \"y\" is not produced by any node");
  import_end(&m);
}

TEST(AnOutputWithoutProducerSuggestsTheNearestName) {
  BEGIN
  import_input(&m, "x", ONNX_FLOAT, "2");
  onnx_node(&m.w, "Relu", "x", "scores");
  import_output(&m, "score");
  RUN(STOW_ERR_SYNTAX);
  CHECK_HAS(m.diag.message,
            "output \"score\" is not produced by any node; did you mean \"scores\"?");
  import_end(&m);
}

TEST(AModelWithoutOutputsIsAnError) {
  BEGIN
  import_input(&m, "x", ONNX_FLOAT, "2");
  onnx_node(&m.w, "Relu", "x", "y");
  RUN(STOW_ERR_SYNTAX);
  CHECK_HAS(m.diag.message, "the model has no outputs");
  import_end(&m);
}

TEST(AnEmptyModelIsAnError) {
  BEGIN
  RUN(STOW_ERR_SYNTAX);
  CHECK_HAS(m.diag.message, "no nodes and no outputs");
  import_end(&m);
}

TEST(ATensorMadeTwiceIsAnError) {
  BEGIN
  import_input(&m, "x", ONNX_FLOAT, "2");
  onnx_node(&m.w, "Relu", "x", "y");
  onnx_node(&m.w, "Abs", "x", "y");
  import_output(&m, "y");
  RUN(STOW_ERR_DUPLICATE);
  CHECK_HAS(m.diag.message, "\"y\"");
  CHECK_HAS(m.diag.message, "(Abs)");
  import_end(&m);
}

TEST(TypesThatDoNotFitNameTheNode) {
  BEGIN
  import_input(&m, "x", ONNX_FLOAT, "2");
  import_input(&m, "y", ONNX_FLOAT, "3");
  onnx_node(&m.w, "Add", "x y", "z");
  import_output(&m, "z");
  RUN(STOW_ERR_TYPE);
  CHECK_HAS(m.diag.message, "node \"z\" (Add): add(");
  CHECK_HAS(m.diag.message, "(inputs: \"x\", \"y\")");
  import_end(&m);
}

// ---------------------------------------------------------------------------------------------
// Values

TEST(AListOfNumbersFillsAnInput) {
  BEGIN
  import_input(&m, "n", ONNX_INT32, "count");
  onnx_node(&m.w, "Abs", "n", "y");
  import_output(&m, "y");
  CHECK(stow_import_request_value(m.request, stow_str_of("n"), (int64_t[]){4, -5}, 2, NULL) ==
        STOW_OK);
  RUN(STOW_OK);
  REQUIRE(m.graph != NULL);
  stow_value n = stow_graph_find(m.graph, stow_str_of("n"));
  CHECK_TEXT(import_type(&m, "n"), "i32[2]");
  int32_t numbers[2];
  size_t size;
  const void* data = stow_graph_data(m.graph, n, &size);
  REQUIRE(data != NULL && size == 8);
  memcpy(numbers, data, 8);
  CHECK(numbers[0] == 4 && numbers[1] == -5);
  import_end(&m);
}

TEST(ANumberThatTheElementTypeCannotHoldIsRefused) {
  BEGIN
  import_input(&m, "n", ONNX_INT8, "2");
  onnx_node(&m.w, "Abs", "n", "y");
  import_output(&m, "y");
  CHECK(stow_import_request_value(m.request, stow_str_of("n"), (int64_t[]){300}, 1, NULL) ==
        STOW_OK);
  RUN(STOW_ERR_TYPE);
  CHECK_HAS(m.diag.message, "cannot hold");
  import_end(&m);
}

TEST(AValueForAnUnknownInputIsAnError) {
  BEGIN
  chain(&m, "2");
  CHECK(stow_import_request_value(m.request, stow_str_of("y"), (int64_t[]){1}, 1, NULL) == STOW_OK);
  RUN(STOW_ERR_NOT_FOUND);
  CHECK_HAS(m.diag.message, "\"y\", which is not an input");
  import_end(&m);
}

TEST(AShapeForAnUnknownTensorIsAnError) {
  BEGIN
  chain(&m, "2");
  CHECK(stow_import_request_shape(m.request, stow_str_of("q"), (int64_t[]){1}, 1, NULL) == STOW_OK);
  RUN(STOW_ERR_NOT_FOUND);
  CHECK_HAS(m.diag.message, "\"q\"");
  import_end(&m);
}

TEST(BytesBindTheSymbolsOfAnInput) {
  BEGIN
  chain(&m, "rows cols");
  float zeros[6] = {0};
  stow_type type = stow_type_make(STOW_F32, 2, (stow_dim[]){2, 3});
  CHECK(stow_import_request_value_bytes(m.request, stow_str_of("x"), &type, zeros, sizeof(zeros),
                                        NULL) == STOW_OK);
  RUN(STOW_OK);
  CHECK_TEXT(import_type(&m, "z"), "f32[2, 3]");
  import_end(&m);
}

TEST(AValueOfAnotherTypeIsRefused) {
  BEGIN
  chain(&m, "rows cols");
  int32_t zeros[6] = {0};
  stow_type type = stow_type_make(STOW_I32, 2, (stow_dim[]){2, 3});
  CHECK(stow_import_request_value_bytes(m.request, stow_str_of("x"), &type, zeros, sizeof(zeros),
                                        NULL) == STOW_OK);
  RUN(STOW_ERR_TYPE);
  CHECK_HAS(m.diag.message, "is i32[2, 3], not f32[2, 3]");
  import_end(&m);
}

// ---------------------------------------------------------------------------------------------
// Ops that are not known

TEST(OneRunReportsAllThatIsNotSupported) {
  BEGIN
  import_input(&m, "x", ONNX_FLOAT, "2");
  onnx_node(&m.w, "NoSuchOp", "x", "a");
  onnx_node(&m.w, "NorThis", "x", "b");
  onnx_node(&m.w, "Add", "a b", "c");
  onnx_node(&m.w, "Relu", "x", "d");
  import_output(&m, "c");
  import_output(&m, "d");
  RUN(STOW_OK);
  CHECK(m.graph == NULL);
  CHECK_U64(import_count(&m, STOW_IMPORT_UNSUPPORTED), 2);
  CHECK_U64(import_count(&m, STOW_IMPORT_SKIPPED), 1);
  CHECK_HAS(import_reason(&m, STOW_IMPORT_UNSUPPORTED), "a: unknown op");
  import_end(&m);
}

TEST(AnUnknownOpIsCustomWhereTheFileDeclaresItsType) {
  BEGIN
  import_input(&m, "x", ONNX_FLOAT, "n 2");
  onnx_node_begin(&m.w, "Strange", "x", "y");
  onnx_string(&m.w, ONNX_NODE_DOMAIN, "acme");
  onnx_attr_int(&m.w, "depth", 3);
  onnx_node_end(&m.w);
  onnx_value(&m.w, ONNX_GRAPH_OUTPUT, "y", ONNX_FLOAT16, "n 7");
  ask_bind(&m, "n", 4);
  RUN(STOW_OK);
  CHECK_TEXT(import_type(&m, "y"), "f16[4, 7]");
  CHECK_HAS(m.text, "name = \"acme.Strange\"");
  CHECK_HAS(m.text, "depth = 3");
  CHECK_U64(import_count(&m, STOW_IMPORT_CUSTOM), 1);
  import_end(&m);
}

TEST(AnUnknownOpIsCustomWhereAShapeIsGiven) {
  BEGIN
  import_input(&m, "x", ONNX_FLOAT, "2");
  onnx_node(&m.w, "Strange", "x", "y");
  import_output(&m, "y");
  CHECK(stow_import_request_shape(m.request, stow_str_of("y"), (int64_t[]){6, 5}, 2, NULL) ==
        STOW_OK);
  RUN(STOW_OK);
  CHECK_TEXT(import_type(&m, "y"), "f32[6, 5]");
  CHECK_HAS(m.text, "name = \"onnx.Strange\"");
  import_end(&m);
}

// ---------------------------------------------------------------------------------------------
// Declarations

TEST(ADeclaredTypeThatDiffersIsAnIssue) {
  BEGIN
  chain(&m, "2 3");
  onnx_value(&m.w, ONNX_GRAPH_VALUE_INFO, "y", ONNX_FLOAT, "2 4");
  RUN(STOW_OK);
  CHECK_HAS(import_reason(&m, STOW_IMPORT_DECLARED_OTHER),
            "y: the file declares f32[2, 4], but it is f32[2, 3]");
  CHECK_U64(import_count(&m, STOW_IMPORT_DECLARED_OTHER), 1);
  import_end(&m);
}

TEST(DeclaredSymbolsFollowTheBinding) {
  BEGIN
  chain(&m, "n 3");
  onnx_value(&m.w, ONNX_GRAPH_VALUE_INFO, "y", ONNX_FLOAT, "n ?");
  ask_bind(&m, "n", 2);
  RUN(STOW_OK);
  CHECK_U64(stow_import_issue_count(m.import), 0);
  import_end(&m);
}

// ---------------------------------------------------------------------------------------------
// Failures

static stow_status attempt(stow_allocator allocator, void* user) {
  const import_model* m = (const import_model*)user;
  stow_model* model = NULL;
  stow_import_request* request = NULL;
  stow_import* import = NULL;
  stow_status status = stow_onnx_open_memory(m->w.data, m->w.size, NULL, allocator, NULL, &model);
  if (status == STOW_OK) {
    status = stow_import_request_create(allocator, NULL, &request);
  }
  if (status == STOW_OK) {
    status = stow_import_request_bind(request, stow_str_of("n"), 2, NULL);
  }
  if (status == STOW_OK) {
    status = stow_import_request_value(request, stow_str_of("k"), (int64_t[]){7}, 1, NULL);
  }
  if (status == STOW_OK) {
    status = stow_import_request_shape(request, stow_str_of("s"), (int64_t[]){7, 7}, 2, NULL);
  }
  if (status == STOW_OK) {
    status = stow_import_model(model, request, allocator, NULL, &import);
  }
  stow_import_destroy(import);
  stow_import_request_destroy(request);
  stow_model_close(model);
  return status;
}

TEST(EveryFailingAllocationIsReported) {
  BEGIN
  import_input(&m, "x", ONNX_FLOAT, "n 3 ?");
  import_input(&m, "k", ONNX_INT64, "4");
  import_f32_zeros(&m, ONNX_GRAPH_INITIALIZER, "w", (int64_t[]){3, 1}, 2);
  import_constant(&m, "c", (int64_t[]){1, 2}, 2);
  onnx_node(&m.w, "Relu", "b", "y");
  onnx_node(&m.w, "Add", "x w", "b");
  onnx_node(&m.w, "Strange", "x", "s");
  onnx_node(&m.w, "Stranger", "x", "t");
  onnx_node(&m.w, "Relu", "t", "u");
  onnx_value(&m.w, ONNX_GRAPH_VALUE_INFO, "y", ONNX_FLOAT, "5 3 8");
  import_output(&m, "y");
  import_output(&m, "s");
  import_output(&m, "k");
  import_output(&m, "c");
  onnx_model_end(&m.w);
  CHECK(test_fault_sweep(attempt, &m) > 20);
  import_end(&m);
}
