// Shapes that are given: for results of every kind of node, and against what is inferred.
#include <string.h>

#include "onnx/import_model.h"
#include "support/fault.h"
#include "support/test.h"

#define BEGIN     \
  import_model m; \
  import_begin(&m);
#define RUN_AS(expected, is_ended)                                     \
  do {                                                                 \
    stow_status run_status = import_run(&m, (is_ended));               \
    test_check(run_status == (expected), __FILE__, __LINE__, "%s: %s", \
               stow_status_text(run_status), m.diag.message);          \
  } while (0)
#define RUN(expected) RUN_AS(expected, false)

static void ask_shape(import_model* m, const char* tensor, const int64_t* dims, size_t rank) {
  CHECK(stow_import_request_shape(m->request, stow_str_of(tensor), dims, rank, NULL) == STOW_OK);
}

static void graph_begin(import_model* m, const char* name) {
  onnx_attr_begin(&m->w, name, 5);
  onnx_begin(&m->w, ONNX_ATTR_G);
}

static void graph_end(import_model* m) {
  onnx_end(&m->w);
  onnx_attr_end(&m->w);
}

static void branch(import_model* m, const char* name, const char* op, const char* inputs) {
  graph_begin(m, name);
  onnx_node(&m->w, op, inputs, "t");
  import_output(m, "t");
  graph_end(m);
}

// ---------------------------------------------------------------------------------------------
// If

// Branches reshape x as s says, or as it is.
static void if_of(import_model* m, const char* else_op, const char* else_inputs) {
  import_input(m, "c", ONNX_BOOL, "");
  import_input(m, "x", ONNX_FLOAT, "12");
  import_input(m, "s", ONNX_INT64, "2");
  import_input(m, "y0", ONNX_FLOAT, "3 4");
  onnx_node_begin(&m->w, "If", "c", "y");
  branch(m, "then_branch", "Reshape", "x s");
  branch(m, "else_branch", else_op, else_inputs);
  onnx_node_end(&m->w);
  import_output(m, "y");
}

TEST(TheShapeOfAnIfIsThatOfItsBranches) {
  BEGIN
  if_of(&m, "Reshape", "x s");
  ask_shape(&m, "y", (int64_t[]){3, 4}, 2);
  RUN(STOW_OK);
  CHECK_TEXT(import_type(&m, "y"), "f32[3, 4]");
  CHECK_U64(stow_import_issue_count(m.import), 1);
  CHECK_TEXT(import_reason(&m, STOW_IMPORT_CONDITION), "c: its value decides which branch runs");
  import_end(&m);
}

TEST(ABranchThatIsKnownKeepsItsShape) {
  BEGIN
  if_of(&m, "Relu", "y0");
  ask_shape(&m, "y", (int64_t[]){3, 4}, 2);
  RUN(STOW_OK);
  CHECK_TEXT(import_type(&m, "y"), "f32[3, 4]");
  import_end(&m);
}

TEST(TheShapeOfABranchThatIsTakenIsThatOfTheIf) {
  BEGIN
  if_of(&m, "Relu", "y0");
  ask_shape(&m, "y", (int64_t[]){2, 6}, 2);
  CHECK(stow_import_request_value(m.request, stow_str_of("c"), (int64_t[]){1}, 1, NULL) == STOW_OK);
  RUN(STOW_OK);
  CHECK_TEXT(import_type(&m, "y"), "f32[2, 6]");
  import_end(&m);
}

TEST(AShapeThatNoBranchHasIsAnError) {
  BEGIN
  if_of(&m, "Relu", "y0");
  ask_shape(&m, "y", (int64_t[]){5, 4}, 2);
  CHECK(stow_import_request_value(m.request, stow_str_of("c"), (int64_t[]){0}, 1, NULL) == STOW_OK);
  RUN(STOW_ERR_CONFLICT);
  CHECK_HAS(m.diag.message, "f32[5, 4]");
  CHECK_HAS(m.diag.message, "f32[3, 4]");
  import_end(&m);
}

TEST(BranchesOfDifferentRankNameTheInputThatChooses) {
  BEGIN
  if_of(&m, "Relu", "x");
  RUN(STOW_OK);
  CHECK(m.graph == NULL);
  CHECK_HAS(import_reason(&m, STOW_IMPORT_NEEDS_VALUE), "and f32[12] of result 0");
  CHECK_HAS(import_reason(&m, STOW_IMPORT_NEEDS_VALUE), "c: the value of input \"c\" decides");
  import_end(&m);
}

TEST(AConditionOfSeveralInputsNamesAll) {
  BEGIN
  import_input(&m, "a", ONNX_BOOL, "");
  import_input(&m, "b", ONNX_BOOL, "");
  import_input(&m, "x", ONNX_FLOAT, "12");
  import_input(&m, "z", ONNX_FLOAT, "3 4");
  onnx_node(&m.w, "And", "a b", "c");
  onnx_node_begin(&m.w, "If", "c", "y");
  branch(&m, "then_branch", "Relu", "x");
  branch(&m, "else_branch", "Relu", "z");
  onnx_node_end(&m.w);
  import_output(&m, "y");
  RUN(STOW_OK);
  CHECK_HAS(import_reason(&m, STOW_IMPORT_NEEDS_VALUE), "make f32[12] and f32[3, 4]");
  CHECK_U64(import_count(&m, STOW_IMPORT_NEEDS_VALUE), 2);
  CHECK_TEXT(stow_import_issue_at(m.import, 0)->tensor.data, "a");
  CHECK_TEXT(stow_import_issue_at(m.import, 1)->tensor.data, "b");
  import_end(&m);
}

TEST(AConditionOfDimsNamesNoInput) {
  BEGIN
  import_input(&m, "x", ONNX_FLOAT, "? 4");
  import_constant(&m, "one", (int64_t[]){1}, 1);
  onnx_node_begin(&m.w, "Shape", "x", "rows");
  onnx_attr_int(&m.w, "end", 1);
  onnx_node_end(&m.w);
  onnx_node(&m.w, "Equal", "rows one", "c");
  onnx_node_begin(&m.w, "If", "c", "y");
  branch(&m, "then_branch", "Relu", "x");
  branch(&m, "else_branch", "Shape", "x");
  onnx_node_end(&m.w);
  import_output(&m, "y");
  RUN(STOW_OK);
  CHECK(m.graph == NULL);
  CHECK_HAS(import_reason(&m, STOW_IMPORT_NEEDS_VALUE), ": dims without a value decide");
  CHECK_U64(stow_import_issue_at(m.import, 0)->tensor.size, 0);
  size_t symbol_count;
  const stow_str* symbols = stow_import_symbols(m.import, &symbol_count);
  CHECK_U64(symbol_count, 1);
  CHECK(stow_str_equal(symbols[0], stow_str_of("x.0")));
  import_end(&m);
}

// ---------------------------------------------------------------------------------------------
// Loop and Scan

static void loop_of(import_model* m) {
  import_input(m, "c", ONNX_BOOL, "");
  import_input(m, "x", ONNX_FLOAT, "2");
  onnx_node_begin(&m->w, "Loop", "- c", "all");
  graph_begin(m, "body");
  import_input(m, "i", ONNX_INT64, "");
  import_input(m, "go", ONNX_BOOL, "");
  onnx_node(&m->w, "Relu", "x", "each");
  import_output(m, "go");
  import_output(m, "each");
  graph_end(m);
  onnx_node_end(&m->w);
  import_output(m, "all");
}

TEST(TheShapeOfALoopSettlesItsRounds) {
  BEGIN
  loop_of(&m);
  ask_shape(&m, "all", (int64_t[]){9, 2}, 2);
  RUN(STOW_OK);
  CHECK_TEXT(import_type(&m, "all"), "f32[9, 2]");
  CHECK_U64(import_count(&m, STOW_IMPORT_NEEDS_SHAPE), 0);
  import_end(&m);
}

TEST(AShapeThatALoopCannotHaveIsAnError) {
  BEGIN
  loop_of(&m);
  ask_shape(&m, "all", (int64_t[]){9, 3}, 2);
  RUN(STOW_ERR_CONFLICT);
  CHECK_HAS(m.diag.message, "node \"all\" (Loop): the shape that is given does not fit");
  import_end(&m);
}

static void scan_of(import_model* m) {
  import_input(m, "x", ONNX_FLOAT, "7 2");
  onnx_node_begin(&m->w, "Scan", "x", "all");
  onnx_attr_int(&m->w, "num_scan_inputs", 1);
  graph_begin(m, "body");
  import_input(m, "slice", ONNX_FLOAT, "2");
  onnx_node(&m->w, "Relu", "slice", "each");
  import_output(m, "each");
  graph_end(m);
  onnx_node_end(&m->w);
  import_output(m, "all");
}

TEST(TheShapeOfAScanMustFit) {
  BEGIN
  scan_of(&m);
  ask_shape(&m, "all", (int64_t[]){7, 2}, 2);
  RUN(STOW_OK);
  CHECK_TEXT(import_type(&m, "all"), "f32[7, 2]");
  import_end(&m);
}

TEST(AShapeThatAScanCannotHaveIsAnError) {
  BEGIN
  scan_of(&m);
  ask_shape(&m, "all", (int64_t[]){8, 2}, 2);
  RUN(STOW_ERR_CONFLICT);
  CHECK_HAS(m.diag.message, "the shape given for \"all\" is [8, 2], but it is f32[7, 2]");
  import_end(&m);
}

// ---------------------------------------------------------------------------------------------
// Functions, constants, weights

// F(a, b) -> y = op(a) or op(a, b); its y is not the model's.
static void function_of(import_model* m, const char* op, const char* inputs) {
  import_input(m, "x", ONNX_FLOAT, "12");
  import_input(m, "s", ONNX_INT64, "2");
  onnx_node(&m->w, "Relu", "x", "y");
  onnx_node_begin(&m->w, "F", "y s", "z");
  onnx_string(&m->w, ONNX_NODE_DOMAIN, "acme");
  onnx_node_end(&m->w);
  import_output(m, "z");
  onnx_model_end(&m->w);
  onnx_begin(&m->w, ONNX_MODEL_FUNCTION);
  onnx_string(&m->w, 1, "F");
  onnx_string(&m->w, 10, "acme");
  onnx_string(&m->w, 4, "a");
  onnx_string(&m->w, 4, "b");
  onnx_string(&m->w, 5, "y");
  onnx_begin(&m->w, 7);
  onnx_string(&m->w, ONNX_NODE_OP, op);
  onnx_string(&m->w, ONNX_NODE_INPUT, "a");
  if (strcmp(inputs, "a b") == 0) {
    onnx_string(&m->w, ONNX_NODE_INPUT, "b");
  }
  onnx_string(&m->w, ONNX_NODE_OUTPUT, "y");
  onnx_end(&m->w);
  onnx_end(&m->w);
}

TEST(TheShapeOfACallIsThatOfTheFunctionsResult) {
  BEGIN
  function_of(&m, "Reshape", "a b");
  ask_shape(&m, "z", (int64_t[]){3, 4}, 2);
  RUN_AS(STOW_OK, true);
  CHECK_TEXT(import_type(&m, "z"), "f32[3, 4]");
  CHECK_U64(stow_import_issue_count(m.import), 0);
  import_end(&m);
}

TEST(AShapeOfTheModelsTensorIsNotThatOfAFunctions) {
  BEGIN
  function_of(&m, "Reshape", "a b");
  ask_shape(&m, "y", (int64_t[]){12}, 1);
  ask_shape(&m, "z", (int64_t[]){3, 4}, 2);
  RUN_AS(STOW_OK, true);
  CHECK_TEXT(import_type(&m, "z"), "f32[3, 4]");
  import_end(&m);
}

TEST(NeitherIsThatOfAnUnknownOpInAFunction) {
  BEGIN
  function_of(&m, "Mystery", "a");
  ask_shape(&m, "y", (int64_t[]){12}, 1);
  ask_shape(&m, "z", (int64_t[]){3, 4}, 2);
  RUN_AS(STOW_OK, true);
  CHECK_TEXT(import_type(&m, "z"), "f32[3, 4]");
  CHECK_U64(import_count(&m, STOW_IMPORT_CUSTOM), 1);
  import_end(&m);
}

TEST(AShapeThatACallCannotHaveIsAnError) {
  BEGIN
  function_of(&m, "Relu", "a");
  ask_shape(&m, "z", (int64_t[]){13}, 1);
  RUN_AS(STOW_ERR_CONFLICT, true);
  CHECK_HAS(m.diag.message, "f32[13]");
  import_end(&m);
}

TEST(TheShapeOfAConstantCannotBeGiven) {
  BEGIN
  import_constant(&m, "c", (int64_t[]){1, 2}, 2);
  import_output(&m, "c");
  ask_shape(&m, "c", (int64_t[]){3}, 1);
  RUN(STOW_ERR_CONFLICT);
  CHECK_HAS(m.diag.message, "the shape given for \"c\" is [3], but it is i64[2]");
  import_end(&m);
}

TEST(TheShapeOfAWeightCannotBeGiven) {
  BEGIN
  import_f32_zeros(&m, ONNX_GRAPH_INITIALIZER, "w", (int64_t[]){2}, 1);
  onnx_node(&m.w, "Relu", "w", "y");
  import_output(&m, "y");
  ask_shape(&m, "w", (int64_t[]){3}, 1);
  RUN(STOW_ERR_CONFLICT);
  CHECK_HAS(m.diag.message, "the shape given for \"w\" is [3], but it is f32[2]");
  import_end(&m);
}

TEST(AGivenShapeLeavesNoNodeBehind) {
  BEGIN
  import_input(&m, "x", ONNX_FLOAT, "12");
  import_input(&m, "s", ONNX_INT64, "2");
  onnx_node(&m.w, "Reshape", "x s", "y");
  import_output(&m, "y");
  ask_shape(&m, "y", (int64_t[]){3, 4}, 2);
  stow_import_request_set_flags(m.request, STOW_IMPORT_KEEP_ALL);
  RUN(STOW_OK);
  REQUIRE(m.graph != NULL);
  CHECK_U64(stow_graph_node_count(m.graph), 3);
  import_end(&m);
}

TEST(AShapeOfANameThatIsNearSuggestsIt) {
  BEGIN
  import_input(&m, "x", ONNX_FLOAT, "12");
  onnx_node(&m.w, "Relu", "x", "hidden");
  import_output(&m, "hidden");
  ask_shape(&m, "hiden", (int64_t[]){12}, 1);
  RUN(STOW_ERR_NOT_FOUND);
  CHECK_HAS(m.diag.message, "did you mean \"hidden\"?");
  import_end(&m);
}

TEST(AValueForAnUnknownInputListsTheInputs) {
  BEGIN
  import_input(&m, "pixel_values", ONNX_FLOAT, "12");
  onnx_node(&m.w, "Relu", "pixel_values", "y");
  import_output(&m, "y");
  CHECK(stow_import_request_value(m.request, stow_str_of("mask"), (int64_t[]){1}, 1, NULL) ==
        STOW_OK);
  RUN(STOW_ERR_NOT_FOUND);
  CHECK_HAS(m.diag.message, "its inputs are \"pixel_values\"");
  import_end(&m);
}

// ---------------------------------------------------------------------------------------------
// Failures

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

TEST(EveryFailingAllocationOfALentShapeIsReported) {
  BEGIN
  if_of(&m, "Reshape", "x s");
  ask_shape(&m, "y", (int64_t[]){3, 4}, 2);
  onnx_model_end(&m.w);
  CHECK(test_fault_sweep(attempt, &m) > 20);
  import_end(&m);
}
