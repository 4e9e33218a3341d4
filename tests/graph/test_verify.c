// Tests of whole-graph checks: outputs, regions, and reads of overwritten bytes.
#include "graph/graph_internal.h"
#include "graph_support.h"

static void check_verify(const stow_graph* graph, stow_status status, const char* part) {
  stow_diag diag;
  stow_diag_init(&diag);
  CHECK_U64(stow_graph_verify(graph, &diag), status);
  CHECK_HAS(diag.message, part);
}

static void check_verified(const stow_graph* graph) {
  stow_diag diag;
  stow_diag_init(&diag);
  CHECK_U64(stow_graph_verify(graph, &diag), STOW_OK);
  CHECK_TEXT(diag.message, "");
}

TEST(GraphsNeedAnOutputAndClosedOwnedRegions) {
  stow_graph* graph = make_graph();
  check_verify(graph, STOW_ERR_INVALID_ARGUMENT, "the graph has no output");
  stow_value x = add_input(graph, "x", SCALAR(STOW_BOOL));
  CHECK(stow_graph_add_output(graph, x, NULL) == STOW_OK);
  check_verified(graph);
  begin_region(graph);
  check_verify(graph, STOW_ERR_INVALID_ARGUMENT, "1 region is left open");
  begin_region(graph);
  check_verify(graph, STOW_ERR_INVALID_ARGUMENT, "2 regions are left open");
  stow_graph_destroy(graph);

  graph = make_graph();
  x = add_input(graph, "x", SCALAR(STOW_BOOL));
  CHECK(stow_graph_add_output(graph, x, NULL) == STOW_OK);
  begin_region(graph);
  end_region(graph, 0, 0, 0);
  check_verify(graph, STOW_ERR_INVALID_ARGUMENT, "1 region(s) have no owner");
  stow_graph_destroy(graph);
}

TEST(TypesMustBeAsInferred) {
  stow_graph* graph = make_graph();
  stow_value x = add_input(graph, "x", VECTOR(STOW_F32, 4));
  stow_value y = add_unary(graph, STOW_OP_RELU, x);
  stow_value z = add_input(graph, "z", VECTOR(STOW_F32, 5));
  CHECK(stow_graph_add_output(graph, y, NULL) == STOW_OK);
  graph->value_types.data[y] = graph->value_types.data[z];  // no call can do this
  stow_diag diag;
  stow_diag_init(&diag);
  CHECK_U64(stow_graph_verify(graph, &diag), STOW_ERR_TYPE);
  CHECK_HAS(diag.message, "relu(%0 : f32[4]): result 0 is f32[4], declared as f32[5]");
  CHECK_U64(diag.node, 1);
  stow_graph_destroy(graph);
}

// ---------------------------------------------------------------------------------------------
// Writes

typedef struct cache {
  stow_graph* graph;
  stow_value cache, rows, condition;
} cache;

static cache make_cache(void) {
  cache c;
  c.graph = make_graph();
  c.cache = add_input(c.graph, "cache", MATRIX(STOW_F32, 8, 4));
  c.rows = add_input(c.graph, "rows", MATRIX(STOW_F32, 1, 4));
  c.condition = add_input(c.graph, "condition", SCALAR(STOW_BOOL));
  return c;
}

TEST(ReadsBeforeTheWriteAndOfItsResultAreAllowed) {
  cache c = make_cache();
  add_unary(c.graph, STOW_OP_RELU, c.cache);
  stow_value first = add_kv_append(c.graph, c.cache, c.rows);
  add_unary(c.graph, STOW_OP_RELU, add_reshape(c.graph, first, VECTOR(STOW_F32, 32)));
  stow_value second = add_kv_append(c.graph, first, c.rows);
  CHECK(stow_graph_add_output(c.graph, second, NULL) == STOW_OK);
  check_verified(c.graph);
  stow_graph_destroy(c.graph);
}

TEST(ReadingTheWrittenOperandIsRefused) {
  cache c = make_cache();
  stow_value after = add_kv_append(c.graph, c.cache, c.rows);
  stow_value read = add_unary(c.graph, STOW_OP_RELU, c.cache);
  CHECK(stow_graph_add_output(c.graph, after, NULL) == STOW_OK);
  stow_diag diag;
  stow_diag_init(&diag);
  CHECK_U64(stow_graph_verify(c.graph, &diag), STOW_ERR_CONFLICT);
  CHECK_TEXT(diag.message, "relu %4 reads %0 \"cache\", whose bytes kv_append %3 has overwritten");
  CHECK_U64(diag.node, stow_graph_producer(c.graph, read));
  CHECK_U64(diag.value, c.cache);
  stow_graph_destroy(c.graph);
}

TEST(ReadingAnotherViewOfTheSameBytesIsRefused) {
  cache c = make_cache();
  stow_value flat = add_reshape(c.graph, c.cache, VECTOR(STOW_F32, 32));
  stow_value after = add_kv_append(c.graph, c.cache, c.rows);
  add_unary(c.graph, STOW_OP_RELU, flat);
  CHECK(stow_graph_add_output(c.graph, after, NULL) == STOW_OK);
  check_verify(c.graph, STOW_ERR_CONFLICT, "reads %3, whose bytes kv_append %4");
  stow_graph_destroy(c.graph);
}

TEST(WritingTheSameOperandTwiceIsRefused) {
  cache c = make_cache();
  add_kv_append(c.graph, c.cache, c.rows);
  stow_value again = add_kv_append(c.graph, c.cache, c.rows);
  CHECK(stow_graph_add_output(c.graph, again, NULL) == STOW_OK);
  check_verify(c.graph, STOW_ERR_CONFLICT, "kv_append %4 reads %0");
  stow_graph_destroy(c.graph);
}

TEST(ReturningTheWrittenOperandIsRefused) {
  cache c = make_cache();
  stow_value after = add_kv_append(c.graph, c.cache, c.rows);
  CHECK(stow_graph_add_output(c.graph, after, NULL) == STOW_OK);
  CHECK(stow_graph_add_output(c.graph, c.cache, NULL) == STOW_OK);
  check_verify(c.graph, STOW_ERR_CONFLICT, "the graph returns %0 \"cache\"");
  stow_graph_destroy(c.graph);
}

TEST(WritingIntoParamsIsRefused) {
  cache c = make_cache();
  stow_value weights = add_param(c.graph, "w", VECTOR(STOW_F32, 32));
  stow_value view = add_reshape(c.graph, weights, MATRIX(STOW_F32, 8, 4));
  stow_value after = add_kv_append(c.graph, view, c.rows);
  CHECK(stow_graph_add_output(c.graph, after, NULL) == STOW_OK);
  check_verify(c.graph, STOW_ERR_CONFLICT, "kv_append %5 writes into %4: a param or constant");
  stow_graph_destroy(c.graph);
}

TEST(WritingBytesIntoThemselvesIsRefused) {
  cache c = make_cache();
  stow_call* call = stow_graph_begin(c.graph, STOW_OP_NARROW);
  stow_call_operand(call, c.cache);
  stow_call_attr_int(call, "axis", 0);
  stow_call_attr_int(call, "start", 2);
  stow_call_attr_int(call, "len", 1);
  stow_node narrow;
  REQUIRE(stow_call_finish(call, NULL, &narrow) == STOW_OK);
  stow_value after = add_kv_append(c.graph, c.cache, stow_graph_first_result(c.graph, narrow));
  CHECK(stow_graph_add_output(c.graph, after, NULL) == STOW_OK);
  check_verify(c.graph, STOW_ERR_CONFLICT, "bytes that it also reads");
  stow_graph_destroy(c.graph);
}

TEST(OneBranchMayReadWhatTheOtherWrites) {
  cache c = make_cache();
  begin_region(c.graph);
  end_region(c.graph, 1, add_kv_append(c.graph, c.cache, c.rows), 0);
  begin_region(c.graph);
  end_region(c.graph, 1, add_unary(c.graph, STOW_OP_RELU, c.cache), 0);
  stow_value result = add_unary(c.graph, STOW_OP_IF, c.condition);
  CHECK(stow_graph_add_output(c.graph, result, NULL) == STOW_OK);
  check_verified(c.graph);
  add_unary(c.graph, STOW_OP_TANH, c.cache);
  check_verify(c.graph, STOW_ERR_CONFLICT, "tanh %6 reads %0 \"cache\", whose bytes kv_append %3");
  stow_graph_destroy(c.graph);
}

TEST(BothBranchesMayWrite) {
  cache c = make_cache();
  for (int i = 0; i < 2; ++i) {
    begin_region(c.graph);
    begin_region(c.graph);
    end_region(c.graph, 1, add_kv_append(c.graph, c.cache, c.rows), 0);
    begin_region(c.graph);
    end_region(c.graph, 1, add_kv_append(c.graph, c.cache, c.rows), 0);
    end_region(c.graph, 1, add_unary(c.graph, STOW_OP_IF, c.condition), 0);
  }
  stow_value result = add_unary(c.graph, STOW_OP_IF, c.condition);
  CHECK(stow_graph_add_output(c.graph, result, NULL) == STOW_OK);
  check_verified(c.graph);
  CHECK(stow_graph_add_output(c.graph, c.cache, NULL) == STOW_OK);
  check_verify(c.graph, STOW_ERR_CONFLICT, "the graph returns %0");
  stow_graph_destroy(c.graph);
}

TEST(AReadAfterAnInnerIfIsRefused) {
  cache c = make_cache();
  begin_region(c.graph);
  begin_region(c.graph);
  end_region(c.graph, 1, add_kv_append(c.graph, c.cache, c.rows), 0);
  begin_region(c.graph);
  end_region(c.graph, 1, c.cache, 0);
  add_unary(c.graph, STOW_OP_IF, c.condition);
  end_region(c.graph, 1, c.cache, 0);
  begin_region(c.graph);
  end_region(c.graph, 1, c.cache, 0);
  stow_value result = add_unary(c.graph, STOW_OP_IF, c.condition);
  CHECK(stow_graph_add_output(c.graph, result, NULL) == STOW_OK);
  check_verify(c.graph, STOW_ERR_CONFLICT, "yield at node 7 reads %0");
  stow_graph_destroy(c.graph);
}

// loop(_, condition, cache) whose body writes into |target|, or its argument for STOW_VALUE_NONE.
static stow_graph* make_loop(stow_value target) {
  cache c = make_cache();
  begin_region(c.graph);
  stow_call* call = stow_graph_begin(c.graph, STOW_OP_ARGS);
  stow_type types[3] = {SCALAR(STOW_I64), SCALAR(STOW_BOOL), MATRIX(STOW_F32, 8, 4)};
  for (size_t i = 0; i < 3; ++i) {
    stow_call_result_type(call, &types[i]);
  }
  stow_node node;
  CHECK(stow_call_finish(call, NULL, &node) == STOW_OK);
  stow_value first = stow_graph_first_result(c.graph, node);
  stow_value next = add_kv_append(c.graph, target == STOW_VALUE_NONE ? first + 2 : target, c.rows);
  end_region(c.graph, 2, first + 1, next);
  call = stow_graph_begin(c.graph, STOW_OP_LOOP);
  stow_call_operand(call, STOW_VALUE_NONE);
  stow_call_operand(call, c.condition);
  stow_call_operand(call, c.cache);
  stow_call_result_type(call, &types[2]);
  stow_diag diag;
  stow_diag_init(&diag);
  CHECK(stow_call_finish(call, &diag, &node) == STOW_OK);
  CHECK_TEXT(diag.message, "");
  CHECK(stow_graph_add_output(c.graph, stow_graph_first_result(c.graph, node), NULL) == STOW_OK);
  return c.graph;
}

TEST(LoopsMayWriteOnlyIntoCarriedValues) {
  stow_graph* graph = make_loop(STOW_VALUE_NONE);
  check_verified(graph);
  stow_graph_destroy(graph);
  graph = make_loop(0);
  check_verify(graph, STOW_ERR_CONFLICT, "bytes from outside the loop that it is in");
  stow_graph_destroy(graph);
}

// ---------------------------------------------------------------------------------------------
// Against brute force: straight-line programs over a few buffers, run on version counters

typedef struct reference {
  stow_value root[64];
  int version[64];
  int current[64];
} reference;

static void check_random_program(uint64_t seed) {
  test_random random = {seed};
  stow_graph* graph = make_graph();
  reference r;
  memset(&r, 0, sizeof(r));
  stow_value rows = add_input(graph, "rows", MATRIX(STOW_F32, 1, 4));
  add_input(graph, "a", MATRIX(STOW_F32, 8, 4));
  add_input(graph, "b", MATRIX(STOW_F32, 8, 4));
  for (stow_value v = 0; v < 3; ++v) {
    r.root[v] = v;
  }
  bool is_good = true;
  size_t steps = 3 + test_random_below(&random, 12);
  for (size_t i = 0; i < steps; ++i) {
    stow_value v = 1 + (stow_value)test_random_below(&random, stow_graph_value_count(graph) - 1);
    is_good = is_good && r.version[v] == r.current[r.root[v]];
    uint64_t choice = test_random_below(&random, 4);
    stow_value made = choice == 0  ? add_unary(graph, STOW_OP_RELU, v)
                      : choice < 3 ? add_reshape(graph, v, MATRIX(STOW_F32, 8, 4))
                                   : add_kv_append(graph, v, rows);
    r.root[made] = choice == 0 ? made : r.root[v];
    if (choice == 3) {
      r.current[r.root[v]] += 1;
    }
    r.version[made] = r.current[r.root[made]];
  }
  stow_value output = stow_graph_value_count(graph) - 1;
  CHECK(stow_graph_add_output(graph, output, NULL) == STOW_OK);
  CHECK_U64(stow_graph_verify(graph, NULL), is_good ? STOW_OK : STOW_ERR_CONFLICT);
  stow_graph_destroy(graph);
}

TEST(RandomProgramsAreJudgedAsByBruteForce) {
  uint64_t cases = test_is_long() ? 20000 : 800;
  for (uint64_t seed = 0; seed < cases; ++seed) {
    check_random_program(seed);
  }
}

// ---------------------------------------------------------------------------------------------

static stow_status verify_attempt(stow_allocator allocator, void* user) {
  (void)user;
  stow_graph* graph;
  stow_status status = stow_graph_create(stow_str_of("g"), NULL, allocator, NULL, &graph);
  if (status != STOW_OK) {
    return status;
  }
  stow_type cache_type = MATRIX(STOW_F32, 8, 4);
  stow_type rows_type = MATRIX(STOW_F32, 1, 4);
  stow_value x = 0;
  stow_value rows = 0;
  status = stow_graph_input(graph, "cache", &cache_type, NULL, &x);
  if (status == STOW_OK) {
    status = stow_graph_input(graph, "rows", &rows_type, NULL, &rows);
  }
  for (int i = 0; i < 10 && status == STOW_OK; ++i) {
    stow_call* call = stow_graph_begin(graph, STOW_OP_KV_APPEND);
    stow_call_operand(call, x);
    stow_call_operand(call, rows);
    stow_call_attr_int(call, "axis", 0);
    stow_node node;
    status = stow_call_finish(call, NULL, &node);
    x = status == STOW_OK ? stow_graph_first_result(graph, node) : x;
  }
  if (status == STOW_OK) {
    status = stow_graph_add_output(graph, x, NULL);
  }
  if (status == STOW_OK) {
    status = stow_graph_verify(graph, NULL);
  }
  stow_graph_destroy(graph);
  return status;
}

TEST(VerifyingSurvivesEveryFailingAllocation) {
  CHECK(test_fault_sweep(verify_attempt, NULL) > 20);
}
