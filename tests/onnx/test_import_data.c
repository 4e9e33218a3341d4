// Shapes that depend on data, bounds, and constants of every kind.
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

static void ask_shape(import_model* m, const char* tensor, const int64_t* dims, size_t rank) {
  CHECK(stow_import_request_shape(m->request, stow_str_of(tensor), dims, rank, NULL) == STOW_OK);
}

// ---------------------------------------------------------------------------------------------
// Shapes that depend on data

// y = x reshaped as the input s says, z = relu(y)
static void reshape_by_input(import_model* m, const char* dims) {
  import_input(m, "x", ONNX_FLOAT, "12");
  import_input(m, "s", ONNX_INT64, dims);
  onnx_node(&m->w, "Reshape", "x s", "y");
  onnx_node(&m->w, "Relu", "y", "z");
  import_output(m, "z");
}

TEST(DimsThatDependOnDataAreSymbolsOfTheTensor) {
  BEGIN
  reshape_by_input(&m, "2");
  RUN(STOW_OK);
  CHECK(m.graph != NULL);
  CHECK_HAS(import_reason(&m, STOW_IMPORT_NEEDS_SHAPE), "y: dims of f32[?\"y.0\", ");
  CHECK_U64(import_count(&m, STOW_IMPORT_NEEDS_SHAPE), 1);
  import_end(&m);
}

TEST(AGivenShapeSettlesThem) {
  BEGIN
  reshape_by_input(&m, "2");
  ask_shape(&m, "y", (int64_t[]){3, 4}, 2);
  RUN(STOW_OK);
  CHECK_TEXT(import_type(&m, "z"), "f32[3, 4]");
  CHECK_U64(stow_import_issue_count(m.import), 0);
  import_end(&m);
}

TEST(AGivenValueSettlesThemToo) {
  BEGIN
  reshape_by_input(&m, "2");
  CHECK(stow_import_request_value(m.request, stow_str_of("s"), (int64_t[]){6, -1}, 2, NULL) ==
        STOW_OK);
  RUN(STOW_OK);
  CHECK_TEXT(import_type(&m, "z"), "f32[6, 2]");
  import_end(&m);
}

TEST(AnUnknownRankNeedsAShape) {
  BEGIN
  reshape_by_input(&m, "rank");
  RUN(STOW_OK);
  CHECK(m.graph == NULL);
  CHECK_HAS(import_reason(&m, STOW_IMPORT_NEEDS_SHAPE), "y: ");
  CHECK_U64(import_count(&m, STOW_IMPORT_SKIPPED), 1);
  import_end(&m);
}

TEST(AGivenShapeSettlesAnUnknownRank) {
  BEGIN
  reshape_by_input(&m, "rank");
  ask_shape(&m, "y", (int64_t[]){3, 4}, 2);
  RUN(STOW_OK);
  CHECK_TEXT(import_type(&m, "z"), "f32[3, 4]");
  import_end(&m);
}

TEST(AShapeThatContradictsTheInferredOneIsAnError) {
  BEGIN
  import_input(&m, "x", ONNX_FLOAT, "12");
  onnx_node(&m.w, "Relu", "x", "y");
  import_output(&m, "y");
  ask_shape(&m, "y", (int64_t[]){11}, 1);
  RUN(STOW_ERR_CONFLICT);
  CHECK_HAS(m.diag.message, "node \"y\" (Relu): ");
  CHECK_HAS(m.diag.message, "f32[12]");
  CHECK_HAS(m.diag.message, "f32[11]");
  import_end(&m);
}

// ---------------------------------------------------------------------------------------------
// Bounds

static void nonzero(import_model* m) {
  import_input(m, "x", ONNX_FLOAT, "3 4");
  onnx_node(&m->w, "NonZero", "x", "at");
  onnx_node(&m->w, "Abs", "at", "y");
  onnx_node(&m->w, "Shape", "y", "shape");
  import_output(m, "y");
  import_output(m, "shape");
}

TEST(BoundsAreReportedOnceAndInherited) {
  BEGIN
  nonzero(&m);
  stow_import_request_set_flags(m.request, STOW_IMPORT_KEEP_ALL);
  RUN(STOW_OK);
  REQUIRE(m.graph != NULL);
  CHECK_TEXT(import_type(&m, "at"), "i64[2, 12]");
  CHECK_U64(import_count(&m, STOW_IMPORT_BOUNDED), 1);
  CHECK_HAS(import_reason(&m, STOW_IMPORT_BOUNDED), "at: i64[2, 12] is an upper bound");
  CHECK(stow_graph_is_bounded(m.graph, stow_graph_find(m.graph, stow_str_of("y"))));
  CHECK(!stow_graph_is_bounded(m.graph, stow_graph_find(m.graph, stow_str_of("shape"))));
  import_end(&m);
}

TEST(AGivenShapeTightensABound) {
  BEGIN
  nonzero(&m);
  ask_shape(&m, "at", (int64_t[]){2, 5}, 2);
  RUN(STOW_OK);
  CHECK_TEXT(import_type(&m, "y"), "i64[2, 5]");
  import_end(&m);
}

// ---------------------------------------------------------------------------------------------
// Constants

static void constant_attr_end(import_model* m) {
  onnx_node_end(&m->w);
  import_output(m, "c");
}

TEST(AConstantMayBeAnInt) {
  BEGIN
  onnx_node_begin(&m.w, "Constant", "", "c");
  onnx_attr_int(&m.w, "value_int", 7);
  constant_attr_end(&m);
  RUN(STOW_OK);
  CHECK_TEXT(import_type(&m, "c"), "i64[]");
  import_end(&m);
}

TEST(AConstantMayBeInts) {
  BEGIN
  onnx_node_begin(&m.w, "Constant", "", "c");
  onnx_attr_ints(&m.w, "value_ints", (int64_t[]){7, 8, 9}, 3);
  constant_attr_end(&m);
  RUN(STOW_OK);
  REQUIRE(m.graph != NULL);
  CHECK_TEXT(import_type(&m, "c"), "i64[3]");
  int64_t numbers[3];
  memcpy(numbers, stow_graph_data(m.graph, stow_graph_outputs(m.graph)[0], NULL), 24);
  CHECK(numbers[0] == 7 && numbers[2] == 9);
  import_end(&m);
}

TEST(AConstantMayBeAFloat) {
  BEGIN
  onnx_node_begin(&m.w, "Constant", "", "c");
  onnx_attr_float(&m.w, "value_float", 0.5f);
  constant_attr_end(&m);
  RUN(STOW_OK);
  CHECK_TEXT(import_type(&m, "c"), "f32[]");
  import_end(&m);
}

TEST(AConstantOfStringsIsNotSupported) {
  BEGIN
  onnx_node_begin(&m.w, "Constant", "", "c");
  onnx_attr_string(&m.w, "value_string", "text");
  constant_attr_end(&m);
  RUN(STOW_OK);
  CHECK(m.graph == NULL);
  CHECK_HAS(import_reason(&m, STOW_IMPORT_UNSUPPORTED), "c: strings are not supported");
  import_end(&m);
}

TEST(AConstantWithoutAValueIsAnError) {
  BEGIN
  onnx_node(&m.w, "Constant", "", "c");
  import_output(&m, "c");
  RUN(STOW_ERR_SYNTAX);
  CHECK_HAS(m.diag.message, "needs a value");
  import_end(&m);
}

static void sparse(import_model* m, int64_t first, int64_t second) {
  float values[2] = {1, 2};
  int64_t two = 2;
  int64_t indices[2] = {first, second};
  onnx_begin(&m->w, ONNX_GRAPH_SPARSE);
  onnx_tensor_raw(&m->w, 1, "w", ONNX_FLOAT, &two, 1, values, sizeof(values));
  onnx_tensor_raw(&m->w, 2, "", ONNX_INT64, &two, 1, indices, sizeof(indices));
  onnx_packed_ints(&m->w, 3, (int64_t[]){2, 3}, 2);
  onnx_end(&m->w);
  onnx_node(&m->w, "Relu", "w", "y");
  import_output(m, "y");
}

TEST(SparseInitializersBecomeDense) {
  BEGIN
  sparse(&m, 1, 5);
  RUN(STOW_OK);
  REQUIRE(m.graph != NULL);
  stow_value w = stow_graph_find(m.graph, stow_str_of("w"));
  REQUIRE(w != STOW_VALUE_NONE);
  CHECK_TEXT(import_type(&m, "w"), "f32[2, 3]");
  float dense[6];
  memcpy(dense, stow_graph_data(m.graph, w, NULL), sizeof(dense));
  CHECK(dense[0] == 0 && dense[1] == 1 && dense[5] == 2);
  import_end(&m);
}

TEST(SparseIndicesOutOfRangeAreAnError) {
  BEGIN
  sparse(&m, 1, 6);
  RUN(STOW_ERR_SYNTAX);
  CHECK_HAS(m.diag.message, "initializer \"w\"");
  import_end(&m);
}

TEST(AnInitializerCanBeReplaced) {
  BEGIN
  import_i64(&m, ONNX_GRAPH_INITIALIZER, "s", (int64_t[]){3, 4}, 2);
  import_input(&m, "x", ONNX_FLOAT, "12");
  onnx_node(&m.w, "Reshape", "x s", "y");
  import_output(&m, "y");
  CHECK(stow_import_request_value(m.request, stow_str_of("s"), (int64_t[]){2, 6}, 2, NULL) ==
        STOW_OK);
  RUN(STOW_OK);
  CHECK_TEXT(import_type(&m, "y"), "f32[2, 6]");
  import_end(&m);
}

TEST(AValueThatReplacesAnInitializerHasItsType) {
  BEGIN
  import_i64(&m, ONNX_GRAPH_INITIALIZER, "s", (int64_t[]){3, 4}, 2);
  import_input(&m, "x", ONNX_FLOAT, "12");
  onnx_node(&m.w, "Reshape", "x s", "y");
  import_output(&m, "y");
  const int32_t numbers[] = {2, 6};
  stow_type type = stow_type_make(STOW_I32, 1, (stow_dim[]){2});
  CHECK(stow_import_request_value_bytes(m.request, stow_str_of("s"), &type, numbers,
                                        sizeof(numbers), NULL) == STOW_OK);
  RUN(STOW_ERR_TYPE);
  CHECK_HAS(m.diag.message, "the value given for \"s\" is i32[2], not i64[2]");
  import_end(&m);
}

TEST(ASparseInitializerIsReplacedByADenseValue) {
  BEGIN
  sparse(&m, 1, 5);
  CHECK(stow_import_request_value(m.request, stow_str_of("w"), (int64_t[]){1, 2, 3, 4, 5, 6}, 6,
                                  NULL) == STOW_OK);
  RUN(STOW_OK);
  CHECK_TEXT(import_type(&m, "w"), "f32[2, 3]");
  import_end(&m);
}

TEST(DeepNestingIsRefused) {
  BEGIN
  import_input(&m, "c", ONNX_BOOL, "");
  import_input(&m, "x", ONNX_FLOAT, "2");
  for (int i = 0; i < 60; ++i) {
    onnx_node_begin(&m.w, "If", "c", "y");
    onnx_attr_begin(&m.w, "then_branch", 5);
    onnx_begin(&m.w, ONNX_ATTR_G);
  }
  for (int i = 0; i < 60; ++i) {
    onnx_end(&m.w);
    onnx_attr_end(&m.w);
    onnx_node_end(&m.w);
  }
  import_output(&m, "y");
  stow_status status = import_run(&m, false);
  CHECK(status == STOW_ERR_LIMIT || status == STOW_ERR_SYNTAX);
  import_end(&m);
}

static stow_status attempt(stow_allocator allocator, void* user) {
  const import_model* m = (const import_model*)user;
  stow_model* model = NULL;
  stow_import* import = NULL;
  stow_status status = stow_onnx_open_memory(m->w.data, m->w.size, NULL, allocator, NULL, &model);
  if (status == STOW_OK) {
    status = stow_import_model(model, m->request, allocator, NULL, &import);
  }
  stow_import_destroy(import);
  stow_model_close(model);
  return status;
}

TEST(EveryFailingAllocationOfAGivenShapeIsReported) {
  BEGIN
  nonzero(&m);
  ask_shape(&m, "at", (int64_t[]){2, 5}, 2);
  onnx_model_end(&m.w);
  CHECK(test_fault_sweep(attempt, &m) > 20);
  import_end(&m);
}

TEST(EveryFailingAllocationOfSparseWeightsIsReported) {
  BEGIN
  sparse(&m, 1, 5);
  onnx_model_end(&m.w);
  CHECK(test_fault_sweep(attempt, &m) > 20);
  import_end(&m);
}
