// Tests of describing nodes: what is refused, and that a refusal changes nothing.
#include "graph/graph_internal.h"
#include "graph_support.h"

typedef struct fixture {
  stow_graph* graph;
  stow_value a, b;  // f32[4, 3], f32[4, 5]
} fixture;

static fixture make_fixture(void) {
  fixture f;
  f.graph = make_graph();
  f.a = add_input(f.graph, "a", MATRIX(STOW_F32, 4, 3));
  f.b = add_input(f.graph, "b", MATRIX(STOW_F32, 4, 5));
  return f;
}

TEST(ShapeErrorsNameOpOperandsAndTypes) {
  fixture f = make_fixture();
  stow_value operands[2] = {f.a, f.b};
  stow_value out = 7;
  stow_diag diag;
  stow_diag_init(&diag);
  CHECK(stow_graph_add(f.graph, STOW_OP_MATMUL, operands, 2, &diag, &out) == STOW_ERR_TYPE);
  CHECK_HAS(diag.message, "matmul(%0 : f32[4, 3], %1 : f32[4, 5]): ");
  CHECK_U64(out, STOW_VALUE_NONE);
  CHECK_U64(stow_graph_node_count(f.graph), 2);
  stow_graph_destroy(f.graph);
}

TEST(LinesAreReported) {
  fixture f = make_fixture();
  stow_call* call = stow_graph_begin(f.graph, STOW_OP_RELU);
  stow_call_line(call, 12);
  stow_diag diag;
  stow_diag_init(&diag);
  CHECK(stow_call_finish(call, &diag, NULL) == STOW_ERR_TYPE);
  CHECK_TEXT(diag.message, "relu: takes 1 operand, got 0");
  CHECK_U64(diag.line, 12);
  stow_graph_destroy(f.graph);
}

TEST(InferringLeavesTheCallOpen) {
  fixture f = make_fixture();
  stow_call* call = stow_graph_begin(f.graph, STOW_OP_CONCAT);
  stow_call_operand(call, f.a);
  stow_call_operand(call, f.b);
  stow_call_attr_int(call, "axis", 1);
  stow_type joined = MATRIX(STOW_F32, 4, 8);
  const stow_type* types = NULL;
  size_t count = 0;
  for (int i = 0; i < 2; ++i) {
    REQUIRE(stow_call_infer(call, NULL, &types, &count) == STOW_OK);
    REQUIRE(count == 1);
    CHECK(stow_type_equal(&types[0], &joined));
    CHECK_U64(stow_graph_node_count(f.graph), 2);
  }
  stow_node node;
  REQUIRE(stow_call_finish(call, NULL, &node) == STOW_OK);
  CHECK_U64(stow_graph_node_count(f.graph), 3);
  stow_diag diag;
  stow_diag_init(&diag);
  CHECK(stow_call_infer(call, &diag, &types, &count) == STOW_ERR_INVALID_ARGUMENT);
  CHECK_TEXT(diag.message, "no call is open; it has been finished");
  CHECK(types == NULL && count == 0);
  stow_graph_destroy(f.graph);
}

TEST(TypesCanBeDeclaredAfterInferenceFails) {
  fixture f = make_fixture();
  stow_dim n = stow_dim_symbol(stow_graph_edit_dims(f.graph), stow_str_of("n"));
  stow_type open = MATRIX(STOW_F32, 4, n);
  stow_value x = add_input(f.graph, "x", open);
  stow_call* call = stow_graph_begin(f.graph, STOW_OP_SQUEEZE);
  stow_call_operand(call, x);
  const stow_type* types = &open;
  size_t count = 1;
  CHECK(stow_call_infer(call, NULL, &types, &count) == STOW_ERR_DATA_DEPENDENT);
  CHECK(types == NULL && count == 0);
  stow_call_result_type(call, &open);
  REQUIRE(stow_call_infer(call, NULL, &types, &count) == STOW_OK && count == 1);
  CHECK(stow_type_equal(&types[0], &open));
  stow_node node;
  CHECK(stow_call_finish(call, NULL, &node) == STOW_OK);
  stow_graph_destroy(f.graph);
}

TEST(InferFailsLikeFinish) {
  fixture f = make_fixture();
  stow_call* call = stow_graph_begin(f.graph, STOW_OP_MATMUL);
  stow_call_operand(call, f.a);
  stow_call_operand(call, f.b);
  stow_diag inferred;
  stow_diag finished;
  stow_diag_init(&inferred);
  stow_diag_init(&finished);
  const stow_type* types;
  size_t count;
  CHECK(stow_call_infer(call, &inferred, &types, &count) == STOW_ERR_TYPE);
  CHECK(stow_call_finish(call, &finished, NULL) == STOW_ERR_TYPE);
  CHECK_HAS(finished.message, "matmul(%0 : f32[4, 3], %1 : f32[4, 5]): ");
  CHECK_TEXT(inferred.message, finished.message);
  stow_graph_destroy(f.graph);
}

TEST(LongOperandListsAreTruncated) {
  fixture f = make_fixture();
  stow_call* call = stow_graph_begin(f.graph, STOW_OP_CONCAT);
  for (int i = 0; i < 100; ++i) {
    stow_call_operand(call, i % 2 == 0 ? f.a : f.b);
  }
  stow_diag diag;
  stow_diag_init(&diag);
  CHECK(stow_call_finish(call, &diag, NULL) == STOW_ERR_TYPE);
  CHECK_HAS(diag.message, "concat(%0 : f32[4, 3], %1 : f32[4, 5], ");
  CHECK_HAS(diag.message, "...): ");
  stow_graph_destroy(f.graph);
}

TEST(OperandCountsAreChecked) {
  fixture f = make_fixture();
  stow_call* call = stow_graph_begin(f.graph, STOW_OP_ADD);
  stow_call_operand(call, f.a);
  CHECK_REFUSED(call, STOW_ERR_TYPE, "add: takes 2 operands, got 1");
  call = stow_graph_begin(f.graph, STOW_OP_CONCAT);
  CHECK_REFUSED(call, STOW_ERR_TYPE, "concat: takes at least 1 operand, got 0");
  call = stow_graph_begin(f.graph, STOW_OP_CLIP);
  for (int i = 0; i < 4; ++i) {
    stow_call_operand(call, f.a);
  }
  CHECK_REFUSED(call, STOW_ERR_TYPE, "clip: takes 1 to 3 operands, got 4");
  call = stow_graph_begin(f.graph, STOW_OP_ADD);
  stow_call_operand(call, f.a);
  stow_call_operand(call, STOW_VALUE_NONE);
  CHECK_REFUSED(call, STOW_ERR_TYPE, "add: operand 1 is missing");
  stow_graph_destroy(f.graph);
}

TEST(MissingOptionalOperandsAreKept) {
  fixture f = make_fixture();
  stow_value top = add_input(f.graph, "top", SCALAR(STOW_F32));
  stow_call* call = stow_graph_begin(f.graph, STOW_OP_CLIP);
  stow_call_operand(call, f.a);
  stow_call_operand(call, STOW_VALUE_NONE);
  stow_call_operand(call, top);
  stow_node node;
  REQUIRE(stow_call_finish(call, NULL, &node) == STOW_OK);
  CHECK_U64(stow_graph_operand_count(f.graph, node), 3);
  CHECK_U64(stow_graph_operands(f.graph, node)[1], STOW_VALUE_NONE);
  stow_graph_destroy(f.graph);
}

TEST(MissingOperandsAreShownInErrors) {
  fixture f = make_fixture();
  stow_value flag = add_input(f.graph, "flag", SCALAR(STOW_BOOL));
  stow_call* call = stow_graph_begin(f.graph, STOW_OP_CLIP);
  stow_call_operand(call, f.a);
  stow_call_operand(call, STOW_VALUE_NONE);
  stow_call_operand(call, flag);
  CHECK_REFUSED(call, STOW_ERR_TYPE, "clip(%0 : f32[4, 3], _, %2 : bool[]): ");
  stow_graph_destroy(f.graph);
}

TEST(ForwardReferencesAreRefused) {
  fixture f = make_fixture();
  stow_call* call = stow_graph_begin(f.graph, STOW_OP_RELU);
  stow_call_operand(call, 2);
  CHECK_REFUSED(call, STOW_ERR_INVALID_ARGUMENT,
                "relu: operand 0 is %2, which does not exist yet: the graph has 2 values");
  stow_graph_destroy(f.graph);
}

TEST(ValuesOfClosedRegionsAreNotVisible) {
  fixture f = make_fixture();
  stow_value c = add_input(f.graph, "c", SCALAR(STOW_BOOL));
  begin_region(f.graph);
  stow_value inner = add_unary(f.graph, STOW_OP_RELU, f.a);
  end_region(f.graph, 1, inner, 0);
  begin_region(f.graph);
  stow_call* call = stow_graph_begin(f.graph, STOW_OP_RELU);
  stow_call_operand(call, inner);
  CHECK_REFUSED(
      call, STOW_ERR_INVALID_ARGUMENT,
      "relu: operand 0 is %3, which is defined inside a region and not visible outside it");
  stow_diag diag;
  stow_diag_init(&diag);
  CHECK(stow_graph_end_region(f.graph, &inner, 1, &diag) == STOW_ERR_INVALID_ARGUMENT);
  CHECK_HAS(diag.message,
            "yield: operand 0 is %3, which is defined inside a region and not visible outside it");
  end_region(f.graph, 1, f.a, 0);
  add_unary(f.graph, STOW_OP_IF, c);
  stow_graph_destroy(f.graph);
}

TEST(TheFirstErrorIsKept) {
  fixture f = make_fixture();
  stow_call* call = stow_graph_begin(f.graph, STOW_OP_RELU);
  stow_call_operand(call, 100);
  stow_type bad = {STOW_F32, 99, {0}};
  stow_call_result_type(call, &bad);
  stow_call_attr_int(call, "nonsense", 1);
  stow_call_attr_float(call, "nonsense", 1);
  stow_call_attr_bool(call, "nonsense", true);
  stow_attr empty = {.kind = STOW_ATTR_INT};
  stow_call_with(call, &empty);
  stow_call_name(call, 0, stow_str_of("n"));
  stow_call_bounded(call, 0);
  stow_call_data(call, NULL, 1, false);
  CHECK_REFUSED(call, STOW_ERR_INVALID_ARGUMENT, "operand 0 is %100");
  CHECK_REFUSED(call, STOW_ERR_INVALID_ARGUMENT, "no call is open");
  stow_graph_destroy(f.graph);
}

TEST(BeginningAnotherCallIsAnError) {
  fixture f = make_fixture();
  uint32_t count = stow_graph_node_count(f.graph);
  stow_call* first = stow_graph_begin(f.graph, STOW_OP_RELU);
  stow_call_operand(first, f.a);
  stow_call* second = stow_graph_begin(f.graph, STOW_OP_TANH);
  stow_call_operand(second, f.a);
  CHECK_REFUSED(second, STOW_ERR_CONFLICT, "while another call is open");
  CHECK_REFUSED(first, STOW_ERR_INVALID_ARGUMENT, "no call is open");
  CHECK_U64(stow_graph_node_count(f.graph), count);
  stow_graph_destroy(f.graph);
}

TEST(ACancelledCallMakesRoomForAnother) {
  fixture f = make_fixture();
  stow_graph_cancel(f.graph);  // none is open
  stow_call* call = stow_graph_begin(f.graph, STOW_OP_RELU);
  stow_call_operand(call, 100);
  stow_graph_cancel(f.graph);
  call = stow_graph_begin(f.graph, STOW_OP_TANH);
  stow_call_operand(call, f.a);
  stow_node node;
  CHECK(stow_call_finish(call, NULL, &node) == STOW_OK);
  CHECK_U64(stow_graph_op(f.graph, node), STOW_OP_TANH);
  stow_graph_destroy(f.graph);
}

TEST(UnknownOpsAndYieldAreRefused) {
  fixture f = make_fixture();
  stow_call* call = stow_graph_begin(f.graph, 100000);
  stow_call_attr_int(call, "axis", 0);
  CHECK_REFUSED(call, STOW_ERR_INVALID_ARGUMENT, "unknown op: 100000");
  CHECK_REFUSED(stow_graph_begin(f.graph, STOW_OP_YIELD), STOW_ERR_INVALID_ARGUMENT,
                "yield: cannot be added by hand; stow_graph_end_region adds it");
  stow_diag diag;
  stow_diag_init(&diag);
  CHECK(stow_graph_end_region(f.graph, NULL, 0, &diag) == STOW_ERR_INVALID_ARGUMENT);
  CHECK_HAS(diag.message, "yield: no region is open");
  begin_region(f.graph);
  stow_value none = STOW_VALUE_NONE;
  CHECK(stow_graph_end_region(f.graph, &none, 1, &diag) == STOW_ERR_INVALID_ARGUMENT);
  CHECK_HAS(diag.message, "yield: operand 0 is missing");
  stow_graph_destroy(f.graph);
}

TEST(AttributesAreCheckedAgainstTheSchema) {
  fixture f = make_fixture();
  stow_call* call = stow_graph_begin(f.graph, STOW_OP_NARROW);
  stow_call_operand(call, f.a);
  stow_call_attr_int(call, "axis", 0);
  stow_call_attr_int(call, "start", 0);
  CHECK_REFUSED(call, STOW_ERR_INVALID_ARGUMENT, "narrow: needs attribute \"len\"");
  call = stow_graph_begin(f.graph, STOW_OP_SOFTMAX);
  stow_call_attr_int(call, "axes", 0);
  CHECK_REFUSED(call, STOW_ERR_INVALID_ARGUMENT, "softmax: has no attribute \"axes\"");
  call = stow_graph_begin(f.graph, STOW_OP_SOFTMAX);
  stow_call_attr_float(call, "axis", 0);
  CHECK_REFUSED(call, STOW_ERR_TYPE, "softmax: attribute \"axis\" must be an integer, not a float");
  call = stow_graph_begin(f.graph, STOW_OP_SOFTMAX);
  stow_call_attr_int(call, "axis", 0);
  stow_call_attr_int(call, "axis", 1);
  CHECK_REFUSED(call, STOW_ERR_DUPLICATE, "softmax: attribute \"axis\" is given twice");
  call = stow_graph_begin(f.graph, STOW_OP_SOFTMAX);
  stow_call_attr_int(call, "", 0);
  CHECK_REFUSED(call, STOW_ERR_INVALID_ARGUMENT, "an attribute has no name");
  call = stow_graph_begin(f.graph, STOW_OP_GELU);
  stow_call_attr_ints(call, "approximate", NULL, 0);
  CHECK_REFUSED(call, STOW_ERR_TYPE, "must be a string, not a list of integers");
  stow_graph_destroy(f.graph);
}

TEST(IntegersStandForFloats) {
  fixture f = make_fixture();
  stow_call* call = stow_graph_begin(f.graph, STOW_OP_ELU);
  stow_call_operand(call, f.a);
  stow_call_attr_int(call, "alpha", 2);
  stow_node node;
  REQUIRE(stow_call_finish(call, NULL, &node) == STOW_OK);
  CHECK_U64(stow_graph_attr(f.graph, node, "alpha")->kind, STOW_ATTR_FLOAT);
  CHECK(stow_graph_attr(f.graph, node, "alpha")->f == 2.0);
  stow_graph_destroy(f.graph);
}

TEST(CustomOpsTakeAnyAttributeUpToALimit) {
  fixture f = make_fixture();
  stow_type type = SCALAR(STOW_F32);
  stow_call* call = stow_graph_begin(f.graph, STOW_OP_CUSTOM);
  stow_call_attr_string(call, "name", stow_str_of("acme.mix"));
  for (int i = 1; i < STOW_MAX_ATTRS; ++i) {
    char name[] = "a000";
    name[1] = (char)('0' + i / 100);
    name[2] = (char)('0' + i / 10 % 10);
    name[3] = (char)('0' + i % 10);
    stow_call_attr_int(call, name, i);
  }
  stow_call_result_type(call, &type);
  stow_node node;
  REQUIRE(stow_call_finish(call, NULL, &node) == STOW_OK);
  CHECK_U64(stow_graph_attr_count(f.graph, node), STOW_MAX_ATTRS);
  CHECK_U64(stow_graph_attr(f.graph, node, "a777")->i, 777);
  call = stow_graph_begin(f.graph, STOW_OP_CUSTOM);
  for (size_t i = 0; i < STOW_MAX_ATTRS; ++i) {
    stow_call_attr(call, stow_graph_attr_at(f.graph, node, i));
  }
  stow_call_attr_int(call, "last", 0);
  CHECK_REFUSED(call, STOW_ERR_LIMIT, "custom: has too many attributes, the maximum is 1024");
  stow_graph_destroy(f.graph);
}

TEST(DeclaredTypesAreCheckedAndRequired) {
  fixture f = make_fixture();
  stow_type wrong = MATRIX(STOW_F32, 4, 4);
  stow_call* call = stow_graph_begin(f.graph, STOW_OP_RELU);
  stow_call_operand(call, f.a);
  stow_call_result_type(call, &wrong);
  CHECK_REFUSED(call, STOW_ERR_TYPE,
                "relu(%0 : f32[4, 3]): result 0 is f32[4, 3], declared as f32[4, 4]");
  call = stow_graph_begin(f.graph, STOW_OP_RESHAPE);
  stow_call_operand(call, f.a);
  CHECK_REFUSED(call, STOW_ERR_TYPE,
                "reshape(%0 : f32[4, 3]): the type of result 0 must be declared");
  call = stow_graph_begin(f.graph, STOW_OP_INPUT);
  stow_call_name(call, 0, stow_str_of("x"));
  CHECK_REFUSED(call, STOW_ERR_TYPE, "input: needs 1 declared result type, got none");
  call = stow_graph_begin(f.graph, STOW_OP_RELU);
  stow_call_operand(call, f.a);
  stow_call_result_type(call, &wrong);
  stow_call_result_type(call, &wrong);
  CHECK_REFUSED(call, STOW_ERR_TYPE, "relu: needs 1 result type, got 2");
  stow_graph_destroy(f.graph);
}

TEST(TypesOutOfRangeAreRefused) {
  fixture f = make_fixture();
  stow_type types[3] = {VECTOR(STOW_F32, 1), VECTOR(STOW_DTYPE_COUNT, 1), VECTOR(STOW_F32, -77)};
  types[0].rank = STOW_MAX_RANK + 1;
  for (size_t i = 0; i < 3; ++i) {
    stow_call* call = stow_graph_begin(f.graph, STOW_OP_INPUT);
    stow_call_name(call, 0, stow_str_of("x"));
    stow_call_result_type(call, &types[i]);
    CHECK_REFUSED(call, STOW_ERR_INVALID_ARGUMENT,
                  "input: declared type 0 has a rank, dtype or dim that is out of range");
  }
  stow_graph_destroy(f.graph);
}

TEST(FailedDimArithmeticFailsTheNextNode) {
  fixture f = make_fixture();
  stow_dims* dims = stow_graph_edit_dims(f.graph);
  stow_dim bad = stow_dim_mul(dims, INT64_MAX, INT64_MAX);
  stow_type type = VECTOR(STOW_F32, bad);
  stow_diag diag;
  stow_diag_init(&diag);
  CHECK(stow_graph_input(f.graph, "x", &type, &diag, NULL) == STOW_ERR_OVERFLOW);
  CHECK_U64(stow_dims_status(dims), STOW_OK);
  bad = stow_dim_floor_div(dims, 1, 0);
  type = VECTOR(STOW_F32, 1);
  CHECK(stow_graph_input(f.graph, "x", &type, &diag, NULL) != STOW_OK);
  CHECK_HAS(diag.message, "input: a dim could not be computed");
  CHECK(stow_graph_input(f.graph, "x", &type, &diag, NULL) == STOW_OK);
  stow_graph_destroy(f.graph);
}

TEST(BoundaryValuesNeedNames) {
  fixture f = make_fixture();
  stow_type type = SCALAR(STOW_F32);
  stow_diag diag;
  stow_diag_init(&diag);
  CHECK(stow_graph_constant(f.graph, NULL, &type, &diag, NULL) == STOW_ERR_INVALID_ARGUMENT);
  CHECK_TEXT(diag.message, "constant: needs a name");
  CHECK(stow_graph_constant(f.graph, "k", &type, &diag, NULL) == STOW_OK);
  stow_graph_destroy(f.graph);
}

TEST(ResultNumbersAreChecked) {
  fixture f = make_fixture();
  stow_call* call = stow_graph_begin(f.graph, STOW_OP_RELU);
  stow_call_operand(call, f.a);
  stow_call_name(call, 1, stow_str_of("n"));
  CHECK_REFUSED(call, STOW_ERR_INVALID_ARGUMENT, "relu: names result 1, out of range (1 results)");
  call = stow_graph_begin(f.graph, STOW_OP_RELU);
  stow_call_operand(call, f.a);
  stow_call_bounded(call, 2);
  CHECK_REFUSED(call, STOW_ERR_INVALID_ARGUMENT,
                "relu: marks result 2 as bounded, out of range (1 results)");
  for (uint32_t axis = stow_graph_type(f.graph, f.a)->rank; axis != 0;
       axis = axis + 1 == 0 ? 0 : UINT32_MAX) {
    call = stow_graph_begin(f.graph, STOW_OP_RELU);
    stow_call_operand(call, f.a);
    stow_call_bounded_dim(call, 0, axis);
    CHECK_REFUSED(call, STOW_ERR_INVALID_ARGUMENT, "relu: marks dim ");
  }
  stow_graph_destroy(f.graph);
}

TEST(RegionsNeedTheRightOwner) {
  fixture f = make_fixture();
  stow_value c = add_input(f.graph, "c", SCALAR(STOW_BOOL));
  stow_diag diag;
  stow_diag_init(&diag);
  CHECK(stow_graph_add(f.graph, STOW_OP_IF, &c, 1, &diag, NULL) == STOW_ERR_INVALID_ARGUMENT);
  CHECK_TEXT(diag.message, "if: needs 2 regions, got 0");
  begin_region(f.graph);
  end_region(f.graph, 1, f.a, 0);
  CHECK(stow_graph_add(f.graph, STOW_OP_IF, &c, 1, &diag, NULL) == STOW_ERR_INVALID_ARGUMENT);
  CHECK_TEXT(diag.message, "if: needs 2 regions, got 1");
  CHECK(stow_graph_add(f.graph, STOW_OP_RELU, &f.a, 1, &diag, NULL) == STOW_ERR_INVALID_ARGUMENT);
  CHECK_HAS(diag.message, "relu: owns no regions");
  begin_region(f.graph);
  end_region(f.graph, 1, c, 0);
  CHECK(stow_graph_add(f.graph, STOW_OP_IF, &c, 1, &diag, NULL) == STOW_ERR_TYPE);
  CHECK_HAS(diag.message, "if(%2 : bool[]): ");
  stow_graph_destroy(f.graph);
}

TEST(ArgsComeFirstInARegion) {
  fixture f = make_fixture();
  stow_type type = SCALAR(STOW_I64);
  stow_call* call = stow_graph_begin(f.graph, STOW_OP_ARGS);
  stow_call_result_type(call, &type);
  CHECK_REFUSED(call, STOW_ERR_INVALID_ARGUMENT, "args: must be the first node of a region");
  begin_region(f.graph);
  add_unary(f.graph, STOW_OP_RELU, f.a);
  call = stow_graph_begin(f.graph, STOW_OP_ARGS);
  stow_call_result_type(call, &type);
  CHECK_REFUSED(call, STOW_ERR_INVALID_ARGUMENT, "args: must be the first node of a region");
  stow_graph_destroy(f.graph);
}

TEST(OnlyConstantsAreBoundaryValuesInRegions) {
  fixture f = make_fixture();
  begin_region(f.graph);
  stow_type type = SCALAR(STOW_F32);
  stow_diag diag;
  stow_diag_init(&diag);
  CHECK(stow_graph_input(f.graph, "x", &type, &diag, NULL) == STOW_ERR_INVALID_ARGUMENT);
  CHECK_HAS(diag.message,
            "input: cannot be inside a region; of boundary values only a constant can");
  CHECK(stow_graph_param(f.graph, "x", &type, &diag, NULL) == STOW_ERR_INVALID_ARGUMENT);
  CHECK(stow_graph_constant(f.graph, "x", &type, &diag, NULL) == STOW_OK);
  stow_graph_destroy(f.graph);
}

// ---------------------------------------------------------------------------------------------
// Rows of a caller's own: what the shape function does wrong is found

static stow_status shape_nothing(stow_shape_call* call) {
  (void)call;
  return STOW_OK;
}

static stow_status shape_too_many(stow_shape_call* call) {
  stow_type type = SCALAR(STOW_F32);
  stow_shape_set_result(call, 0, &type);
  stow_shape_set_result(call, 1, &type);
  return STOW_OK;
}

static stow_status shape_bad_dim(stow_shape_call* call) {
  stow_type type = VECTOR(STOW_F32, -1000);
  stow_shape_set_result(call, 0, &type);
  return STOW_OK;
}

static stow_status shape_silent(stow_shape_call* call) {
  (void)call;
  return STOW_ERR_OVERFLOW;
}

static stow_status shape_overflow(stow_shape_call* call) {
  stow_type type = VECTOR(STOW_F32, stow_dim_mul(stow_shape_dims(call), INT64_MAX, 2));
  stow_shape_set_result(call, 0, &type);
  return STOW_OK;
}

static stow_status shape_negative(stow_shape_call* call) {
  stow_type type = VECTOR(STOW_F32, stow_dim_floor_div(stow_shape_dims(call), 1, 0));
  stow_shape_set_result(call, 0, &type);
  return STOW_OK;
}

static stow_status shape_explains(stow_shape_call* call) {
  if (stow_dim_floor_div(stow_shape_dims(call), 1, 0) == STOW_DIM_INVALID) {
    stow_shape_fail(call, "stride %d is not a stride", 0);
    return stow_shape_fail(call, "never seen");
  }
  return STOW_OK;
}

static void check_row(stow_status (*shape)(stow_shape_call*), stow_status status,
                      const char* message) {
  stow_ops* ops;
  REQUIRE(stow_ops_create(stow_allocator_default(), NULL, &ops) == STOW_OK);
  stow_op_desc desc;
  stow_op_desc_init(&desc);
  desc.name = "acme.op";
  desc.shape = shape;
  stow_op op;
  stow_graph* graph;
  REQUIRE(stow_ops_register(ops, &desc, NULL, &op) == STOW_OK);
  REQUIRE(stow_graph_create(stow_str_of("g"), ops, stow_allocator_default(), NULL, &graph) ==
          STOW_OK);
  CHECK(stow_graph_ops(graph) == ops);
  stow_diag diag;
  stow_diag_init(&diag);
  CHECK_U64(stow_graph_add(graph, op, NULL, 0, &diag, NULL), status);
  CHECK_TEXT(diag.message, message);
  CHECK_U64(stow_graph_node_count(graph), 0);
  CHECK_U64(stow_dims_status(stow_graph_dims(graph)), STOW_OK);
  stow_graph_destroy(graph);
  stow_ops_destroy(ops);
}

TEST(WrongShapeFunctionsAreReported) {
  check_row(shape_nothing, STOW_ERR_TYPE, "acme.op(): result 0 has no type");
  check_row(shape_too_many, STOW_ERR_TYPE,
            "acme.op(): the shape function sets result 1, out of range (1 results)");
  check_row(shape_bad_dim, STOW_ERR_TYPE,
            "acme.op(): result 0 has a rank, dtype or dim that is out of range");
  check_row(shape_silent, STOW_ERR_OVERFLOW, "acme.op(): a size does not fit in 64 bits");
  check_row(shape_overflow, STOW_ERR_OVERFLOW,
            "acme.op(): a dim of a result cannot be computed: a size does not fit in 64 bits");
  check_row(shape_negative, STOW_ERR_TYPE,
            "acme.op(): a dim of a result cannot be computed: it is negative, or a division by "
            "zero");
  check_row(shape_explains, STOW_ERR_TYPE, "acme.op(): stride 0 is not a stride");
}

// Calls every query, also with indices that are out of range.
static stow_status shape_curious(stow_shape_call* call) {
  CHECK_U64(stow_shape_operand_count(call), 2);
  CHECK(stow_shape_operand(call, 0)->dtype == STOW_F32);
  CHECK(stow_shape_operand(call, 1) == NULL);
  CHECK(stow_shape_operand(call, 2) == NULL);
  CHECK_U64(stow_shape_attr_int(call, "size", 9), 5);
  CHECK_U64(stow_shape_attr_int(call, "scale", 9), 9);
  CHECK_U64(stow_shape_attr_int(call, "must", 9), 3);
  CHECK_U64(stow_shape_attr_int(call, "nothing", 9), 9);
  CHECK(stow_shape_attr_bool(call, "flag", false));
  CHECK(stow_shape_attr_bool(call, "size", true));
  CHECK_U64(stow_shape_attr(call, "weights")->count, 2);
  CHECK(stow_shape_attr(call, "weights")->floats[1] == 2.0);
  CHECK_U64(stow_shape_result_count(call), 2);
  CHECK(stow_shape_declared(call, 1)->dtype == STOW_I8);
  CHECK(stow_shape_declared(call, 2) == NULL);
  CHECK_U64(stow_shape_region_arg_count(call, 0), 0);
  CHECK(stow_shape_region_arg(call, 0, 0) == NULL);
  CHECK_U64(stow_shape_yield_count(call, 0), 0);
  CHECK(stow_shape_yield(call, 0, 0) == NULL);
  stow_shape_set_result(call, 0, stow_shape_declared(call, 0));
  stow_shape_set_result(call, 1, stow_shape_declared(call, 1));
  return STOW_OK;
}

static bool view_of_nothing(const stow_shape_call* call, size_t k, stow_view* out_view) {
  out_view->operand = k;  // operand 1 is missing
  return stow_shape_operand_count(call) == 2;
}

static stow_op register_curious(stow_ops* ops) {
  stow_op_desc desc;
  stow_op_desc_init(&desc);
  desc.name = "acme.curious";
  desc.shape = shape_curious;
  desc.view = view_of_nothing;
  desc.typing = STOW_TYPING_CHECKED;
  desc.min_operands = 1;
  desc.max_operands = 3;
  desc.max_results = 2;
  stow_op op = STOW_OP_NONE;
  CHECK(stow_ops_register(ops, &desc, NULL, &op) == STOW_OK);
  double floats[1] = {0.5};
  stow_attr attrs[5] = {
      {.name = stow_str_of("size"), .kind = STOW_ATTR_INT, .i = 5},
      {.name = stow_str_of("flag"), .kind = STOW_ATTR_BOOL, .b = true},
      {.name = stow_str_of("scale"), .kind = STOW_ATTR_FLOAT, .f = 1},
      {.name = stow_str_of("weights"), .kind = STOW_ATTR_FLOATS, .count = 1, .floats = floats},
      {.name = stow_str_of("must"), .kind = STOW_ATTR_INT},
  };
  for (size_t i = 0; i < 5; ++i) {
    CHECK(stow_ops_add_attr(ops, op, &attrs[i], i == 4, NULL) == STOW_OK);
  }
  return op;
}

TEST(ShapeFunctionsSeeTheWholeCall) {
  stow_ops* ops;
  REQUIRE(stow_ops_create(stow_allocator_default(), NULL, &ops) == STOW_OK);
  stow_op op = register_curious(ops);
  stow_graph* graph;
  REQUIRE(stow_graph_create(stow_str_of("g"), ops, stow_allocator_default(), NULL, &graph) ==
          STOW_OK);
  stow_value x = add_input(graph, "x", VECTOR(STOW_F32, 2));
  stow_call* call = stow_graph_begin(graph, op);
  int64_t weights[2] = {1, 2};
  stow_type types[2] = {VECTOR(STOW_F32, 2), SCALAR(STOW_I8)};
  stow_call_operand(call, x);
  stow_call_operand(call, STOW_VALUE_NONE);
  stow_call_attr_ints(call, "weights", weights, 2);
  stow_call_attr_int(call, "must", 3);
  stow_call_result_type(call, &types[0]);
  stow_call_result_type(call, &types[1]);
  stow_node node;
  stow_diag diag;
  stow_diag_init(&diag);
  CHECK(stow_call_finish(call, &diag, &node) == STOW_OK);
  CHECK_TEXT(diag.message, "");
  CHECK(stow_graph_attr(graph, node, "must")->i == 3);
  CHECK(stow_graph_add_output(graph, 1, NULL) == STOW_OK);
  CHECK(stow_graph_verify(graph, &diag) == STOW_OK);
  stow_view view;
  CHECK(stow_graph_view(graph, node, 0, &view));
  CHECK(!stow_graph_view(graph, node, 1, &view));
  CHECK(!stow_graph_view(graph, node, 2, &view));
  CHECK(!stow_graph_view(graph, 0, 0, &view));

  call = stow_graph_begin(graph, op);
  stow_call_operand(call, x);
  for (int i = 0; i < 3; ++i) {
    stow_call_result_type(call, &types[0]);
  }
  stow_call_attr_int(call, "must", 3);
  CHECK_REFUSED(call, STOW_ERR_TYPE, "acme.curious: has 1 to 2 results, got 3");
  stow_graph_destroy(graph);
  stow_ops_destroy(ops);
}

TEST(ViewsNeedNumbers) {
  stow_graph* graph = make_graph();
  stow_dim n = stow_dim_symbol(stow_graph_edit_dims(graph), stow_str_of("n"));
  stow_value x = add_input(graph, "x", MATRIX(STOW_F32, n, 4));
  stow_value y = add_input(graph, "y", MATRIX(STOW_F32, 3, 4));
  stow_value rx = add_reshape(graph, x, MATRIX(STOW_F32, 4, n));
  stow_value ry = add_reshape(graph, y, VECTOR(STOW_F32, 12));
  stow_view view;
  CHECK(!stow_graph_view(graph, stow_graph_producer(graph, rx), 0, &view));
  CHECK(stow_graph_view(graph, stow_graph_producer(graph, ry), 0, &view));
  CHECK_U64(view.operand, 0);
  stow_graph_destroy(graph);
}

// ---------------------------------------------------------------------------------------------

// Names, attributes, data, dims and results in one node each.
static stow_status build(stow_allocator allocator, void* user) {
  (void)user;
  stow_graph* graph;
  stow_status status = stow_graph_create(stow_str_of("g"), NULL, allocator, NULL, &graph);
  if (status != STOW_OK) {
    return status;
  }
  static const unsigned char weights[4096] = {1, 2, 3};
  stow_dims* dims = stow_graph_edit_dims(graph);
  stow_dim n = stow_dim_symbol(dims, stow_str_of("n"));
  stow_type symbolic = MATRIX(STOW_F32, stow_dim_add(dims, n, 1), 4);
  stow_type large = VECTOR(STOW_U8, 4096);
  stow_value x = 0;
  stow_node node;
  status = stow_graph_input(graph, "x", &symbolic, NULL, &x);
  for (int copy = 0; copy < 2 && status == STOW_OK; ++copy) {
    stow_call* call = stow_graph_begin(graph, STOW_OP_PARAM);
    stow_call_name(call, 0, stow_str_of(copy ? "copied" : "borrowed"));
    stow_call_result_type(call, &large);
    stow_call_data(call, weights, sizeof(weights), copy != 0);
    status = stow_call_finish(call, NULL, NULL);
  }
  if (status == STOW_OK) {
    stow_type small = VECTOR(STOW_I8, 3);
    int64_t numbers[3] = {1, -2, 3};
    stow_call* call = stow_graph_begin(graph, STOW_OP_CONSTANT);
    stow_call_name(call, 0, stow_str_of("k"));
    stow_call_result_type(call, &small);
    stow_call_attr_ints(call, "data", numbers, 3);
    status = stow_call_finish(call, NULL, NULL);
  }
  for (int i = 0; i < 20 && status == STOW_OK; ++i) {
    uint32_t nodes = stow_graph_node_count(graph);
    stow_call* call = stow_graph_begin(graph, STOW_OP_CONCAT);
    stow_call_operand(call, x);
    stow_call_operand(call, x);
    stow_call_attr_int(call, "axis", i % 2);
    stow_call_with(call, &(stow_attr){.name = stow_str_of("k"), .kind = STOW_ATTR_INT, .i = i});
    stow_call_bounded(call, 0);
    char name[] = "c_";
    name[1] = (char)('a' + i);
    stow_call_name(call, 0, stow_str_of(name));
    status = stow_call_finish(call, NULL, &node);
    CHECK((node == STOW_NODE_NONE) == (status != STOW_OK));
    CHECK_U64(stow_graph_node_count(graph), nodes + (status == STOW_OK));
    CHECK((stow_graph_find(graph, stow_str_of(name)) == STOW_VALUE_NONE) == (status != STOW_OK));
    if (status == STOW_ERR_OUT_OF_MEMORY) {  // nothing is left half done: the same call works now
      call = stow_graph_begin(graph, STOW_OP_RELU);
      stow_call_operand(call, x);
      stow_call_name(call, 0, stow_str_of(name));
      CHECK(stow_call_finish(call, NULL, &node) == STOW_OK);
      CHECK_U64(stow_graph_find(graph, stow_str_of(name)), stow_graph_first_result(graph, node));
      stow_diag diag;
      stow_diag_init(&diag);
      stow_graph_add_output(graph, x, NULL);
      CHECK(stow_graph_verify(graph, &diag) == STOW_OK);
      CHECK_TEXT(diag.message, "");
    }
  }
  stow_graph_destroy(graph);
  return status;
}

TEST(BuildingSurvivesEveryFailingAllocation) { CHECK(test_fault_sweep(build, NULL) > 30); }

static stow_status build_floats(stow_allocator allocator, void* user) {
  const stow_ops* ops = (const stow_ops*)user;
  stow_op op = stow_ops_find(ops, stow_str_of("acme.curious"));
  stow_graph* graph;
  stow_status status = stow_graph_create(stow_str_of("g"), ops, allocator, NULL, &graph);
  if (status != STOW_OK) {
    return status;
  }
  stow_type types[2] = {VECTOR(STOW_F32, 2), SCALAR(STOW_I8)};
  stow_value x;
  status = stow_graph_input(graph, "x", &types[0], NULL, &x);
  if (status == STOW_OK) {
    int64_t weights[2] = {1, 2};
    stow_call* call = stow_graph_begin(graph, op);
    stow_call_operand(call, x);
    stow_call_operand(call, STOW_VALUE_NONE);
    stow_call_attr_ints(call, "weights", weights, 2);
    stow_call_attr_int(call, "must", 3);
    stow_call_result_type(call, &types[0]);
    stow_call_result_type(call, &types[1]);
    status = stow_call_finish(call, NULL, NULL);
  }
  stow_graph_destroy(graph);
  return status;
}

TEST(ConvertingListsSurvivesEveryFailingAllocation) {
  stow_ops* ops;
  REQUIRE(stow_ops_create(stow_allocator_default(), NULL, &ops) == STOW_OK);
  register_curious(ops);
  CHECK(test_fault_sweep(build_floats, ops) > 5);
  stow_ops_destroy(ops);
}
