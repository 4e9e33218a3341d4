// Importing control flow.
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

static void graph_begin(import_model* m, const char* name) {
  onnx_attr_begin(&m->w, name, 5);
  onnx_begin(&m->w, ONNX_ATTR_G);
}

static void graph_end(import_model* m) {
  onnx_end(&m->w);
  onnx_attr_end(&m->w);
}

// A branch with one node of one input.
static void branch(import_model* m, const char* name, const char* op, const char* input,
                   const char* output) {
  graph_begin(m, name);
  onnx_node(&m->w, op, input, output);
  import_output(m, output);
  graph_end(m);
}

// ---------------------------------------------------------------------------------------------
// If

static void if_of(import_model* m, const char* then_op, const char* else_op) {
  import_input(m, "c", ONNX_BOOL, "");
  import_input(m, "x", ONNX_FLOAT, "2 3");
  onnx_node_begin(&m->w, "If", "c", "y");
  branch(m, "then_branch", then_op, "x", "t");
  branch(m, "else_branch", else_op, "x", "t");
  onnx_node_end(&m->w);
  import_output(m, "y");
}

TEST(AnIfBecomesTwoRegions) {
  BEGIN
  if_of(&m, "Relu", "Abs");
  RUN(STOW_OK);
  CHECK_TEXT(import_type(&m, "y"), "f32[2, 3]");
  CHECK_HAS(m.text, "if(");
  CHECK_HAS(m.text, "\"t#2\"");
  import_end(&m);
}

TEST(AKnownConditionTakesOneBranch) {
  BEGIN
  if_of(&m, "Relu", "NoSuchOp");
  CHECK(stow_import_request_value(m.request, stow_str_of("c"), (int64_t[]){1}, 1, NULL) == STOW_OK);
  RUN(STOW_OK);
  REQUIRE(m.graph != NULL);
  CHECK(strstr(m.text, "if(") == NULL);
  CHECK_HAS(m.text, "relu");
  CHECK_TEXT(stow_graph_value_name(m.graph, stow_graph_outputs(m.graph)[0]).data, "y");
  CHECK_U64(stow_import_issue_count(m.import), 0);
  import_end(&m);
}

static void check_unsupported_branch(const char* then_op, const char* else_op) {
  BEGIN
  if_of(&m, then_op, else_op);
  onnx_node(&m.w, "Relu", "x", "z");
  import_output(&m, "z");
  RUN(STOW_OK);
  CHECK(m.graph == NULL);
  CHECK_U64(import_count(&m, STOW_IMPORT_UNSUPPORTED), 1);
  CHECK_U64(import_count(&m, STOW_IMPORT_SKIPPED), 0);
  import_end(&m);
}

TEST(ABranchThatIsNotSupportedLeavesTheRestAlone) {
  check_unsupported_branch("NoSuchOp", "Abs");
  check_unsupported_branch("Abs", "NoSuchOp");
}

TEST(UnusedNodesThatFailDoNotPreventTheGraph) {
  BEGIN
  import_input(&m, "x", ONNX_FLOAT, "2 3");
  onnx_node(&m.w, "NoSuchOp", "x", "y");
  onnx_node(&m.w, "Relu", "x", "z");
  import_output(&m, "z");
  RUN(STOW_OK);
  CHECK(m.graph != NULL);
  CHECK_U64(import_count(&m, STOW_IMPORT_UNSUPPORTED), 1);
  import_end(&m);
}

// i64[1, 1, 3, at most 8], without its dim 1 if that is 1: torch.squeeze as it is exported.
static void squeeze_of_bounded(import_model* m, const char* dims) {
  import_input(m, "x", ONNX_FLOAT, dims);
  import_constant(m, "front", (int64_t[]){0, 1}, 2);
  import_constant(m, "one", (int64_t[]){1}, 1);
  onnx_node(&m->w, "NonZero", "x", "at");
  onnx_node(&m->w, "Unsqueeze", "at front", "y");
  onnx_node(&m->w, "Shape", "y", "shape");
  onnx_node(&m->w, "Gather", "shape one", "size");
  onnx_node(&m->w, "Equal", "size one", "is_one");
  onnx_node_begin(&m->w, "If", "is_one", "z");
  branch(m, "then_branch", "Squeeze", "y one", "t");
  branch(m, "else_branch", "Identity", "y", "t");
  onnx_node_end(&m->w);
  onnx_node(&m->w, "Neg", "z", "out");
  import_output(m, "out");
}

TEST(AnExactDimOfAnUpperBoundedTensorDecidesAnIf) {
  BEGIN
  squeeze_of_bounded(&m, "1 1 8");
  RUN(STOW_OK);
  REQUIRE(m.graph != NULL);
  CHECK(strstr(m.text, "if(") == NULL);
  CHECK_TEXT(import_type(&m, "out"), "i64[1, 3, 8]");
  stow_value out = stow_graph_find(m.graph, stow_str_of("out"));
  CHECK(!stow_graph_is_bounded_dim(m.graph, out, 0) && !stow_graph_is_bounded_dim(m.graph, out, 1));
  CHECK(stow_graph_is_bounded_dim(m.graph, out, 2));
  CHECK_U64(stow_import_issue_count(m.import), 1);  // at is an upper bound
  import_end(&m);
}

// The same while the size of x is open.
TEST(AnExactDimDecidesAnIfBeforeSymbolsHaveValues) {
  BEGIN
  squeeze_of_bounded(&m, "1 1 n");
  RUN(STOW_OK);
  REQUIRE(m.graph != NULL);
  CHECK(strstr(m.text, "if(") == NULL);
  CHECK_TEXT(import_type(&m, "out"), "i64[1, 3, ?n]");
  import_end(&m);
}

// The branches want |a| and |b| to have as many elements as x.
static void if_of_sizes(import_model* m, const char* a, const char* b) {
  import_input(m, "c", ONNX_BOOL, "");
  import_input(m, "x", ONNX_FLOAT, "4");
  import_input(m, "a", ONNX_FLOAT, a);
  import_input(m, "b", ONNX_FLOAT, b);
  onnx_node_begin(&m->w, "If", "c", "y");
  branch(m, "then_branch", "Add", "x a", "t");
  branch(m, "else_branch", "Sub", "x b", "t");
  onnx_node_end(&m->w);
  import_output(m, "y");
}

TEST(ABranchThatCannotRunLeavesTheOther) {
  BEGIN
  if_of_sizes(&m, "3", "4");
  RUN(STOW_OK);
  CHECK_TEXT(import_type(&m, "y"), "f32[4]");
  CHECK(strstr(m.text, "if(") == NULL);
  CHECK_HAS(m.text, "sub(");
  CHECK_HAS(import_reason(&m, STOW_IMPORT_BRANCH), "only the else branch fits");
  import_end(&m);
}

// f32[n, 4] without its dim 0 if that is 1, as torch.squeeze is exported.
static void squeeze_of_range(import_model* m, stow_dim_range range) {
  import_input(m, "x", ONNX_FLOAT, "n 4");
  import_constant(m, "zero", (int64_t[]){0}, 1);
  import_constant(m, "one", (int64_t[]){1}, 1);
  onnx_node(&m->w, "Shape", "x", "shape");
  onnx_node(&m->w, "Gather", "shape zero", "size");
  onnx_node(&m->w, "Equal", "size one", "is_one");
  onnx_node_begin(&m->w, "If", "is_one", "y");
  branch(m, "then_branch", "Squeeze", "x zero", "t");
  branch(m, "else_branch", "Relu", "x", "t");
  onnx_node_end(&m->w);
  import_output(m, "y");
  CHECK(stow_import_request_bind_range(m->request, stow_str_of("n"), &range, NULL) == STOW_OK);
}

TEST(ARangeThatDoesNotDecideAnIfMustBeDivided) {
  BEGIN
  squeeze_of_range(&m, (stow_dim_range){1, 8, 1});
  RUN(STOW_ERR_TYPE);
  CHECK_HAS(m.diag.message,
            "node \"y\" (If): its branch depends on \"n\"; dividing its range at 2");
  CHECK_TEXT(m.diag.split_symbol, "n");
  CHECK(m.diag.split_at == 2);
  import_end(&m);
}

TEST(PartsOfARangeDecideAnIf) {
  BEGIN
  squeeze_of_range(&m, (stow_dim_range){2, 8, 1});
  RUN(STOW_OK);
  CHECK_TEXT(import_type(&m, "y"), "f32[?n, 4]");
  import_end(&m);
  import_begin(&m);
  squeeze_of_range(&m, (stow_dim_range){1, 1, 1});
  RUN(STOW_OK);
  CHECK_TEXT(import_type(&m, "y"), "f32[4]");
  import_end(&m);
}

// A branch that fits at one point of the range is not one that cannot run.
TEST(ABranchThatFitsAPartOfARangeIsNotLeftOut) {
  BEGIN
  if_of_sizes(&m, "n", "4");
  stow_dim_range range = {3, 4, 1};
  CHECK(stow_import_request_bind_range(m.request, stow_str_of("n"), &range, NULL) == STOW_OK);
  RUN(STOW_ERR_TYPE);
  CHECK_TEXT(m.diag.split_symbol, "n");
  CHECK(m.diag.split_at == 4);
  import_end(&m);
}

TEST(WhatFollowsFromDimsWithRangesHasNone) {
  stow_dim_range range = {1, 8, 1};
  BEGIN
  import_input(&m, "x", ONNX_FLOAT, "n");
  import_input(&m, "y", ONNX_FLOAT, "n+1");
  onnx_node(&m.w, "Concat", "x y", "z");
  import_output(&m, "x");
  import_output(&m, "y");
  CHECK(stow_import_request_bind_range(m.request, stow_str_of("n"), &range, NULL) == STOW_OK);
  CHECK(stow_import_request_bind_range(m.request, stow_str_of("n+1"), &range, NULL) == STOW_OK);
  CHECK(stow_import_request_bind_range(m.request, stow_str_of("n"), &range, NULL) ==
        STOW_ERR_DUPLICATE);
  range.max = 0;
  CHECK(stow_import_request_bind_range(m.request, stow_str_of("m"), &range, NULL) ==
        STOW_ERR_INVALID_ARGUMENT);
  (void)import_run(&m, false);
  CHECK_HAS(m.diag.message, "dim \"n+1\" follows from those in its name");
  import_end(&m);
}

TEST(BranchesThatBothCannotRunAreAnError) {
  BEGIN
  if_of_sizes(&m, "3", "5");
  RUN(STOW_ERR_TYPE);
  CHECK_HAS(m.diag.message, "node \"y\" (If): node \"t\" (Sub): ");
  import_end(&m);
}

TEST(BranchesOfDifferentTypesNeedAKnownCondition) {
  BEGIN
  import_input(&m, "c", ONNX_BOOL, "");
  import_input(&m, "x", ONNX_FLOAT, "2 3");
  import_input(&m, "i", ONNX_INT32, "2 3");
  onnx_node_begin(&m.w, "If", "c", "y");
  branch(&m, "then_branch", "Abs", "x", "t");
  branch(&m, "else_branch", "Abs", "i", "t");
  onnx_node_end(&m.w);
  import_output(&m, "y");
  RUN(STOW_OK);
  CHECK(m.graph == NULL);
  CHECK_HAS(import_reason(&m, STOW_IMPORT_NEEDS_VALUE),
            "branches that make f32[2, 3] and i32[2, 3] of result 0");
  import_end(&m);
}

// ---------------------------------------------------------------------------------------------
// Loop

// Adds |x| to what is carried, of dims |carried|, and collects it.
static void loop_body(import_model* m, const char* carry_op, const char* carried) {
  graph_begin(m, "body");
  import_input(m, "i", ONNX_INT64, "");
  import_input(m, "go", ONNX_BOOL, "");
  import_input(m, "s", ONNX_FLOAT, carried);
  onnx_node(&m->w, carry_op, "s x", "s2");
  onnx_node(&m->w, "Relu", "s2", "each");
  import_output(m, "go");
  import_output(m, "s2");
  import_output(m, "each");
  graph_end(m);
}

static void loop_carrying(import_model* m, const char* inputs, const char* carry_op,
                          const char* dims, const char* carried) {
  static const int64_t five = 5;
  import_constant(m, "n", &five, SIZE_MAX);
  import_input(m, "c", ONNX_BOOL, "");
  import_input(m, "x", ONNX_FLOAT, dims);
  import_input(m, "s0", ONNX_FLOAT, carried);
  onnx_node_begin(&m->w, "Loop", inputs, "last all");
  loop_body(m, carry_op, carried);
  onnx_node_end(&m->w);
  import_output(m, "last");
  import_output(m, "all");
}

static void loop_of(import_model* m, const char* inputs, const char* carry_op, const char* dims) {
  loop_carrying(m, inputs, carry_op, dims, "2");
}

TEST(ALoopCollectsAsManyRoundsAsItsTripCount) {
  BEGIN
  loop_of(&m, "n - s0", "Add", "2");
  RUN(STOW_OK);
  CHECK_TEXT(import_type(&m, "last"), "f32[2]");
  CHECK_TEXT(import_type(&m, "all"), "f32[5, 2]");
  CHECK_U64(import_count(&m, STOW_IMPORT_BOUNDED), 0);
  import_end(&m);
}

TEST(AConditionMakesTheTripCountABound) {
  BEGIN
  loop_of(&m, "n c s0", "Add", "2");
  RUN(STOW_OK);
  CHECK_TEXT(import_type(&m, "all"), "f32[5, 2]");
  CHECK_U64(import_count(&m, STOW_IMPORT_BOUNDED), 1);
  CHECK_HAS(import_reason(&m, STOW_IMPORT_BOUNDED), "all: ");
  import_end(&m);
}

TEST(WithoutATripCountTheRoundsNeedAShape) {
  BEGIN
  loop_of(&m, "- c s0", "Add", "2");
  RUN(STOW_OK);
  CHECK_TEXT(import_type(&m, "all"), "f32[?\"all.0\", 2]");
  CHECK_HAS(import_reason(&m, STOW_IMPORT_NEEDS_SHAPE), "all: ");
  import_end(&m);
}

TEST(ALoopThatNeverEndsIsNotSupported) {
  BEGIN
  loop_of(&m, "- - s0", "Add", "2");
  RUN(STOW_OK);
  CHECK(m.graph == NULL);
  CHECK_HAS(import_reason(&m, STOW_IMPORT_UNSUPPORTED),
            "neither a trip count nor a condition, and so never ends");
  import_end(&m);
}

TEST(ADataDependentDimCanBeBoundByName) {
  BEGIN
  loop_of(&m, "- c s0", "Add", "2");
  CHECK(stow_import_request_bind(m.request, stow_str_of("all.0"), 9, NULL) == STOW_OK);
  RUN(STOW_OK);
  CHECK_TEXT(import_type(&m, "all"), "f32[9, 2]");
  CHECK_U64(import_count(&m, STOW_IMPORT_NEEDS_SHAPE), 0);
  import_end(&m);
}

TEST(ACarriedTypeThatChangesIsNotSupported) {
  BEGIN
  loop_of(&m, "n - s0", "Add", "4 2");
  RUN(STOW_OK);
  CHECK(m.graph == NULL);
  CHECK_HAS(import_reason(&m, STOW_IMPORT_UNSUPPORTED),
            "\"s0\" is f32[2] before an iteration and f32[4, 2] after it");
  import_end(&m);
}

TEST(ACarriedTypeThatOnlyABindingCanTellIsTheInitialOne) {
  BEGIN
  loop_carrying(&m, "n - s0", "Add", "N", "1");
  RUN(STOW_OK);
  CHECK_TEXT(import_type(&m, "last"), "f32[1]");
  CHECK_TEXT(import_type(&m, "all"), "f32[5, ?N]");
  CHECK_U64(import_count(&m, STOW_IMPORT_UNSUPPORTED), 0);
  stow_str name = stow_str_of("N");
  CHECK(stow_graph_bind(m.graph, &name, (int64_t[]){3}, 1, NULL) == STOW_ERR_TYPE);
  CHECK(stow_graph_bind(m.graph, &name, (int64_t[]){1}, 1, NULL) == STOW_OK);
  CHECK_TEXT(import_type(&m, "all"), "f32[5, 1]");
  import_end(&m);
}

TEST(ABodyThatIsNotSupportedPoisonsTheLoop) {
  BEGIN
  loop_of(&m, "n - s0", "NoSuchOp", "2");
  RUN(STOW_OK);
  CHECK(m.graph == NULL);
  CHECK_U64(import_count(&m, STOW_IMPORT_UNSUPPORTED), 1);
  CHECK_U64(import_count(&m, STOW_IMPORT_SKIPPED), 1);
  import_end(&m);
}

// ---------------------------------------------------------------------------------------------
// Scan

static void scan_of(import_model* m, int64_t in_axis, int64_t in_direction, int64_t out_axis,
                    int64_t out_direction) {
  import_input(m, "s0", ONNX_FLOAT, "2");
  import_input(m, "x", ONNX_FLOAT, in_axis == 0 ? "7 2" : "2 7");
  onnx_node_begin(&m->w, "Scan", "s0 x", "last all");
  onnx_attr_int(&m->w, "num_scan_inputs", 1);
  onnx_attr_ints(&m->w, "scan_input_axes", &in_axis, 1);
  onnx_attr_ints(&m->w, "scan_input_directions", &in_direction, 1);
  onnx_attr_ints(&m->w, "scan_output_axes", &out_axis, 1);
  onnx_attr_ints(&m->w, "scan_output_directions", &out_direction, 1);
  graph_begin(m, "body");
  import_input(m, "s", ONNX_FLOAT, "2");
  import_input(m, "slice", ONNX_FLOAT, "2");
  onnx_node(&m->w, "Add", "s slice", "s2");
  onnx_node(&m->w, "Relu", "s2", "each");
  import_output(m, "s2");
  import_output(m, "each");
  graph_end(m);
  onnx_node_end(&m->w);
  import_output(m, "last");
  import_output(m, "all");
}

static void check_scan(int64_t in_axis, int64_t in_direction, int64_t out_axis,
                       int64_t out_direction, const char* all) {
  BEGIN
  scan_of(&m, in_axis, in_direction, out_axis, out_direction);
  RUN(STOW_OK);
  CHECK_TEXT(import_type(&m, "last"), "f32[2]");
  CHECK_TEXT(import_type(&m, "all"), all);
  CHECK_U64(import_count(&m, STOW_IMPORT_BOUNDED), 0);
  import_end(&m);
}

TEST(AScanIsALoopOverSlices) {
  check_scan(0, 0, 0, 0, "f32[7, 2]");
  check_scan(1, 1, 0, 0, "f32[7, 2]");
  check_scan(-1, 0, 1, 0, "f32[2, 7]");
  check_scan(-1, 0, -1, 1, "f32[2, 7]");
  check_scan(0, 0, 0, 1, "f32[7, 2]");
}

TEST(AnAxisOfAScanThatIsOutOfRangeIsAnError) {
  BEGIN
  scan_of(&m, 2, 0, 0, 0);
  RUN(STOW_ERR_TYPE);
  CHECK_HAS(m.diag.message, "scan_input_axes");
  import_end(&m);
}

// Opset 8: a batch of 3 before all.
static void scan_batch_of(import_model* m, const char* inputs, const char* op) {
  import_input(m, "lengths", ONNX_INT64, "3");
  import_input(m, "s0", ONNX_FLOAT, "3 2");
  import_input(m, "x", ONNX_FLOAT, "3 7 2");
  onnx_node_begin(&m->w, "Scan", inputs, "last all");
  onnx_attr_int(&m->w, "num_scan_inputs", 1);
  onnx_attr_ints(&m->w, "directions", (int64_t[]){1}, 1);
  graph_begin(m, "body");
  import_input(m, "s", ONNX_FLOAT, "2");
  import_input(m, "slice", ONNX_FLOAT, "2");
  onnx_node(&m->w, op, "s slice", "s2");
  onnx_node(&m->w, "Relu", "s2", "each");
  import_output(m, "s2");
  import_output(m, "each");
  graph_end(m);
  onnx_node_end(&m->w);
  import_output(m, "last");
  import_output(m, "all");
}

static void begin_opset_8(import_model* m) {
  import_begin(m);
  onnx_writer_free(&m->w);
  memset(&m->w, 0, sizeof(m->w));
  onnx_model_begin(&m->w, 3, 8);
}

TEST(AScanOfABatchIsALoopOfLoops) {
  import_model m;
  begin_opset_8(&m);
  scan_batch_of(&m, "- s0 x", "Add");
  RUN(STOW_OK);
  CHECK_TEXT(import_type(&m, "last"), "f32[3, 2]");
  CHECK_TEXT(import_type(&m, "all"), "f32[3, 7, 2]");
  CHECK_U64(stow_import_issue_count(m.import), 0);
  import_end(&m);
}

static void check_lengths(const int64_t* lengths, bool is_well) {
  import_model m;
  begin_opset_8(&m);
  scan_batch_of(&m, "lengths s0 x", "Add");
  if (lengths != NULL) {
    CHECK(stow_import_request_value(m.request, stow_str_of("lengths"), lengths, 3, NULL) ==
          STOW_OK);
  }
  RUN(STOW_OK);
  CHECK((m.graph != NULL) == is_well);
  CHECK_TEXT(import_reason(&m, STOW_IMPORT_UNSUPPORTED),
             is_well ? "" : "last: sequences of different lengths are not supported");
  import_end(&m);
}

TEST(SequencesOfABatchMustBeAsLongAsTheAxis) {
  check_lengths((int64_t[]){7, 7, 7}, true);
  check_lengths((int64_t[]){7, 6, 7}, false);
  check_lengths(NULL, false);
}

TEST(ABodyThatIsNotSupportedPoisonsTheScanOfABatch) {
  import_model m;
  begin_opset_8(&m);
  scan_batch_of(&m, "- s0 x", "NoSuchOp");
  RUN(STOW_OK);
  CHECK(m.graph == NULL);
  CHECK_U64(import_count(&m, STOW_IMPORT_UNSUPPORTED), 1);
  import_end(&m);
}

TEST(AScanWithoutABatchAxisIsAnError) {
  import_model m;
  begin_opset_8(&m);
  import_input(&m, "x", ONNX_FLOAT, "");
  onnx_node(&m.w, "Scan", "- x", "y");
  import_output(&m, "y");
  RUN(STOW_ERR_TYPE);
  CHECK_HAS(m.diag.message, "input 1 has no batch axis");
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
    status = stow_import_model(model, NULL, allocator, NULL, &import);
  }
  stow_import_destroy(import);
  stow_model_close(model);
  return status;
}

TEST(EveryFailingAllocationInALoopIsReported) {
  BEGIN
  loop_of(&m, "n c s0", "Add", "2");
  onnx_model_end(&m.w);
  CHECK(test_fault_sweep(attempt, &m) > 20);
  import_end(&m);
}

TEST(EveryFailingAllocationInAnIfIsReported) {
  BEGIN
  if_of(&m, "Relu", "NoSuchOp");
  onnx_model_end(&m.w);
  CHECK(test_fault_sweep(attempt, &m) > 20);
  import_end(&m);
}

TEST(EveryFailingAllocationInAChoiceIsReported) {
  BEGIN
  if_of_sizes(&m, "3", "4");
  onnx_model_end(&m.w);
  CHECK(test_fault_sweep(attempt, &m) > 20);
  import_end(&m);
}

TEST(EveryFailingAllocationInAScanIsReported) {
  BEGIN
  scan_of(&m, 1, 1, 1, 1);
  onnx_model_end(&m.w);
  CHECK(test_fault_sweep(attempt, &m) > 20);
  import_end(&m);
}

TEST(EveryFailingAllocationInAScanOfABatchIsReported) {
  import_model m;
  begin_opset_8(&m);
  scan_batch_of(&m, "- s0 x", "Add");
  onnx_model_end(&m.w);
  CHECK(test_fault_sweep(attempt, &m) > 20);
  import_end(&m);
}
