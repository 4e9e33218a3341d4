// Tests of binding symbols to values.
#include "graph/graph_internal.h"
#include "graph_support.h"

typedef struct fixture {
  stow_graph* graph;
  stow_dim batch, past, seq;
  stow_value x, y, joined, flat;
} fixture;

// x : f32[?batch, ?past], y : f32[?batch, ?seq], joined : f32[?batch, ?(past + seq)], flattened
static fixture make_fixture(void) {
  fixture f;
  f.graph = make_graph();
  stow_dims* dims = stow_graph_edit_dims(f.graph);
  f.batch = stow_dim_symbol(dims, stow_str_of("batch"));
  f.past = stow_dim_symbol(dims, stow_str_of("past"));
  f.seq = stow_dim_symbol(dims, stow_str_of("seq"));
  f.x = add_input(f.graph, "x", MATRIX(STOW_F32, f.batch, f.past));
  f.y = add_input(f.graph, "y", MATRIX(STOW_F32, f.batch, f.seq));
  stow_call* call = stow_graph_begin(f.graph, STOW_OP_CONCAT);
  stow_call_operand(call, f.x);
  stow_call_operand(call, f.y);
  stow_call_attr_int(call, "axis", 1);
  stow_node node;
  CHECK(stow_call_finish(call, NULL, &node) == STOW_OK);
  f.joined = stow_graph_first_result(f.graph, node);
  f.flat =
      add_reshape(f.graph, f.joined,
                  VECTOR(STOW_F32, stow_dim_mul(dims, f.batch, stow_dim_add(dims, f.past, f.seq))));
  CHECK(stow_graph_add_output(f.graph, f.flat, NULL) == STOW_OK);
  return f;
}

static stow_status bind_one(stow_graph* graph, const char* name, int64_t value, stow_diag* diag) {
  stow_str names[1] = {stow_str_of(name)};
  return stow_graph_bind(graph, names, &value, 1, diag);
}

TEST(BindingReplacesSymbolsEverywhere) {
  fixture f = make_fixture();
  stow_diag diag;
  stow_diag_init(&diag);
  CHECK(stow_graph_require_bound(f.graph, &diag) == STOW_ERR_UNBOUND_DIM);
  CHECK_HAS(diag.message, "%0 \"x\" : f32[?batch, ?past] has unbound dims: batch, past");
  CHECK_U64(diag.value, f.x);
  stow_str names[3] = {stow_str_of("seq"), stow_str_of("batch"), stow_str_of("past")};
  int64_t values[3] = {3, 2, 5};
  CHECK(stow_graph_bind(f.graph, names, values, 3, &diag) == STOW_OK);
  stow_type expected = MATRIX(STOW_F32, 2, 8);
  CHECK(stow_type_equal(stow_graph_type(f.graph, f.joined), &expected));
  expected = VECTOR(STOW_F32, 16);
  CHECK(stow_type_equal(stow_graph_type(f.graph, f.flat), &expected));
  CHECK(stow_graph_require_bound(f.graph, NULL) == STOW_OK);
  CHECK(stow_graph_verify(f.graph, NULL) == STOW_OK);
  stow_graph_destroy(f.graph);
}

TEST(UnboundSymbolsStay) {
  fixture f = make_fixture();
  CHECK(bind_one(f.graph, "past", 4, NULL) == STOW_OK);
  CHECK(bind_one(f.graph, "batch", 2, NULL) == STOW_OK);
  stow_dims* dims = stow_graph_edit_dims(f.graph);
  const stow_type* joined = stow_graph_type(f.graph, f.joined);
  CHECK(joined->dims[0] == 2);
  CHECK(joined->dims[1] == stow_dim_add(dims, f.seq, 4));
  stow_diag diag;
  stow_diag_init(&diag);
  CHECK(stow_graph_require_bound(f.graph, &diag) == STOW_ERR_UNBOUND_DIM);
  CHECK_HAS(diag.message, "%1 \"y\" : f32[2, ?seq] has unbound dims: seq");
  CHECK_U64(diag.value, f.y);
  stow_graph_destroy(f.graph);
}

TEST(BindingsAreChecked) {
  fixture f = make_fixture();
  stow_diag diag;
  stow_diag_init(&diag);
  CHECK(bind_one(f.graph, "head", 4, &diag) == STOW_ERR_NOT_FOUND);
  CHECK_HAS(diag.message, "unknown dim \"head\"");
  CHECK(bind_one(f.graph, "seq", -4, &diag) == STOW_ERR_INVALID_ARGUMENT);
  CHECK_HAS(diag.message, "dim \"seq\" is -4, expected 0 or more");
  stow_str names[2] = {stow_str_of("seq"), stow_str_of("seq")};
  int64_t values[2] = {1, 2};
  CHECK(stow_graph_bind(f.graph, names, values, 2, &diag) == STOW_ERR_DUPLICATE);
  CHECK_HAS(diag.message, "dim \"seq\" is given twice");
  CHECK(stow_graph_type(f.graph, f.y)->dims[1] == f.seq);
  // a pending failure of dim arithmetic does not fail binding or verification
  stow_dims* dims = stow_graph_edit_dims(f.graph);
  CHECK(stow_dim_floor_div(dims, 1, 0) == STOW_DIM_INVALID);
  CHECK(stow_graph_bind(f.graph, NULL, NULL, 0, &diag) == STOW_OK);
  CHECK(stow_dim_floor_div(dims, 1, 0) == STOW_DIM_INVALID);
  CHECK(stow_graph_verify(f.graph, &diag) == STOW_OK);
  stow_graph_destroy(f.graph);
}

TEST(BindingThatBreaksAShapeNamesItAndChangesNothing) {
  fixture f = make_fixture();
  stow_value w = add_input(f.graph, "w", MATRIX(STOW_F32, 7, 3));
  stow_value product = add_binary(f.graph, STOW_OP_MATMUL, f.x, w);
  uint64_t before = stow_graph_fingerprint(f.graph);
  stow_diag diag;
  stow_diag_init(&diag);
  CHECK(bind_one(f.graph, "past", 6, &diag) == STOW_ERR_TYPE);
  CHECK_HAS(diag.message, "matmul(%0 : f32[?batch, 6], %4 : f32[7, 3]): ");
  CHECK_U64(diag.node, stow_graph_producer(f.graph, product));
  CHECK_U64(stow_graph_fingerprint(f.graph), before);
  CHECK(bind_one(f.graph, "past", 7, &diag) == STOW_OK);
  CHECK(stow_graph_fingerprint(f.graph) != before);
  stow_graph_destroy(f.graph);
}

TEST(NegativeDimsAreErrors) {
  fixture f = make_fixture();
  stow_dims* dims = stow_graph_edit_dims(f.graph);
  stow_value z = add_input(f.graph, "z", VECTOR(STOW_F32, stow_dim_sub(dims, f.seq, f.past)));
  stow_str names[2] = {stow_str_of("seq"), stow_str_of("past")};
  int64_t values[2] = {3, 5};
  stow_diag diag;
  stow_diag_init(&diag);
  CHECK(stow_graph_bind(f.graph, names, values, 2, &diag) == STOW_ERR_TYPE);
  CHECK_HAS(diag.message, "%4 \"z\" : f32[");
  CHECK_HAS(diag.message, "cannot be bound: a dim would be negative or divide by zero");
  CHECK_U64(diag.value, z);
  values[0] = 5;
  CHECK(stow_graph_bind(f.graph, names, values, 2, &diag) == STOW_OK);
  CHECK_U64(stow_graph_type(f.graph, z)->dims[0], 0);
  stow_graph_destroy(f.graph);
}

TEST(OverflowIsAnError) {
  fixture f = make_fixture();
  stow_dims* dims = stow_graph_edit_dims(f.graph);
  add_input(f.graph, "z", VECTOR(STOW_F32, stow_dim_mul(dims, f.seq, f.seq)));
  stow_diag diag;
  stow_diag_init(&diag);
  CHECK(bind_one(f.graph, "seq", INT64_MAX / 2, &diag) == STOW_ERR_OVERFLOW);
  CHECK(stow_graph_type(f.graph, f.y)->dims[1] == f.seq);
  stow_graph_destroy(f.graph);
}

TEST(SourcesMustFitTheBoundType) {
  stow_graph* graph = make_graph();
  stow_dim n = stow_dim_symbol(stow_graph_edit_dims(graph), stow_str_of("n"));
  stow_type type = VECTOR(STOW_F32, n);
  stow_call* call = stow_graph_begin(graph, STOW_OP_PARAM);
  stow_call_name(call, 0, stow_str_of("w"));
  stow_call_result_type(call, &type);
  stow_call_attr_string(call, "source", stow_str_of("w.bin"));
  stow_call_attr_int(call, "at", 0);
  stow_call_attr_int(call, "bytes", 16);
  REQUIRE(stow_call_finish(call, NULL, NULL) == STOW_OK);
  stow_diag diag;
  stow_diag_init(&diag);
  CHECK(bind_one(graph, "n", 5, &diag) == STOW_ERR_TYPE);
  CHECK_HAS(diag.message, "the source has 16 bytes, which does not match f32[5]");
  CHECK(bind_one(graph, "n", 4, &diag) == STOW_OK);
  stow_graph_destroy(graph);
}

TEST(EmptyGraphsCanBeBoundAndThenGrow) {
  stow_graph* graph = make_graph();
  CHECK(stow_graph_bind(graph, NULL, NULL, 0, NULL) == STOW_OK);
  add_input(graph, "x", SCALAR(STOW_F32));
  CHECK(stow_graph_bind(graph, NULL, NULL, 0, NULL) == STOW_OK);
  add_unary(graph, STOW_OP_RELU, 0);
  stow_graph_destroy(graph);
}

TEST(RegionsAreInferredAgain) {
  stow_graph* graph = make_graph();
  stow_dim n = stow_dim_symbol(stow_graph_edit_dims(graph), stow_str_of("n"));
  stow_value c = add_input(graph, "c", SCALAR(STOW_BOOL));
  stow_value x = add_input(graph, "x", VECTOR(STOW_F32, n));
  begin_region(graph);
  end_region(graph, 1, add_unary(graph, STOW_OP_RELU, x), 0);
  begin_region(graph);
  end_region(graph, 1, x, 0);
  stow_value y = add_unary(graph, STOW_OP_IF, c);
  CHECK(bind_one(graph, "n", 9, NULL) == STOW_OK);
  CHECK_U64(stow_graph_type(graph, y)->dims[0], 9);
  stow_graph_destroy(graph);
}

static stow_status bind_attempt(stow_allocator allocator, void* user) {
  (void)user;
  stow_graph* graph;
  stow_status status = stow_graph_create(stow_str_of("g"), NULL, allocator, NULL, &graph);
  if (status != STOW_OK) {
    return status;
  }
  stow_dims* dims = stow_graph_edit_dims(graph);
  stow_dim n = stow_dim_symbol(dims, stow_str_of("n"));
  stow_dim m = stow_dim_symbol(dims, stow_str_of("m"));
  stow_type type = MATRIX(STOW_F32, stow_dim_mul(dims, n, m), stow_dim_add(dims, n, 1));
  stow_value x;
  status = stow_graph_input(graph, "x", &type, NULL, &x);
  static const int64_t data[] = {3, 5};
  stow_type pair = VECTOR(STOW_I64, 2);
  stow_call* call = stow_graph_begin(graph, STOW_OP_CONSTANT);
  stow_call_name(call, 0, stow_str_of("k"));
  stow_call_result_type(call, &pair);
  stow_call_data(call, data, sizeof(data), false);
  status = status == STOW_OK ? stow_call_finish(call, NULL, NULL) : status;
  for (int64_t i = 0; i < 12 && status == STOW_OK; ++i) {
    stow_value operands[2] = {x, x};
    status = stow_graph_add(graph, STOW_OP_CONCAT, operands, 2, NULL, &x);
  }
  if (status == STOW_OK) {
    uint64_t before = stow_graph_fingerprint(graph);
    status = bind_one(graph, "n", 3, NULL);
    CHECK((stow_graph_fingerprint(graph) == before) == (status != STOW_OK));
    CHECK(status != STOW_OK || stow_graph_type(graph, x)->dims[1] == 4);
  }
  stow_graph_destroy(graph);
  return status;
}

TEST(BindingSurvivesEveryFailingAllocation) { CHECK(test_fault_sweep(bind_attempt, NULL) > 20); }
