// Tests of storage, getters, names and regions.
#include <stowage/text.h>

#include "graph/api.h"
#include "graph/graph_internal.h"
#include "graph_support.h"

TEST(EmptyGraphHasOnlyABody) {
  stow_graph* graph = make_graph();
  CHECK_TEXT(stow_graph_name(graph).data, "g");
  CHECK(stow_graph_ops(graph) == NULL);
  CHECK_U64(stow_graph_node_count(graph), 0);
  CHECK_U64(stow_graph_value_count(graph), 0);
  CHECK_U64(stow_graph_output_count(graph), 0);
  CHECK_U64(stow_graph_region_count(graph), 1);
  CHECK_U64(stowi_graph_region_owner(graph, STOW_REGION_BODY), STOW_NODE_NONE);
  CHECK_U64(stowi_graph_region_parent(graph, STOW_REGION_BODY), STOW_REGION_ID_NONE);
  CHECK_U64(stowi_graph_region_first(graph, STOW_REGION_BODY), STOW_NODE_NONE);
  CHECK_U64(stowi_graph_region_last(graph, STOW_REGION_BODY), STOW_NODE_NONE);
  CHECK_U64(stow_graph_find(graph, stow_str_of("x")), STOW_VALUE_NONE);
  stow_graph_destroy(graph);
  stow_graph_destroy(NULL);
}

TEST(GettersReturnWhatWasBuilt) {
  stow_graph* graph = make_graph();
  stow_value x = add_input(graph, "x", MATRIX(STOW_F32, 4, 3));
  stow_value w = add_param(graph, "w", MATRIX(STOW_F32, 3, 5));
  stow_value y = add_binary(graph, STOW_OP_MATMUL, x, w);
  stow_call* call = stow_graph_begin(graph, STOW_OP_TOPK);
  stow_call_operand(call, y);
  stow_call_attr_int(call, "k", 2);
  stow_call_attr_int(call, "axis", 1);
  int64_t sizes[2] = {64, 16};
  stow_attr scratch = {
      .name = stow_str_of("scratch"), .kind = STOW_ATTR_INTS, .count = 2, .ints = sizes};
  stow_call_with(call, &scratch);
  stow_call_name(call, 1, stow_str_of("indices"));
  stow_call_bounded(call, 0);
  stow_call_line(call, 7);
  stow_node topk;
  REQUIRE(stow_call_finish(call, NULL, &topk) == STOW_OK);
  CHECK(stow_graph_add_output(graph, 4, NULL) == STOW_OK);
  CHECK(stow_graph_add_output(graph, 4, NULL) == STOW_OK);

  CHECK_U64(stow_graph_node_count(graph), 4);
  CHECK_U64(stow_graph_value_count(graph), 5);
  CHECK_U64(stow_graph_op(graph, topk), STOW_OP_TOPK);
  CHECK_TEXT(stow_graph_op_desc(graph, 2)->name, "matmul");
  CHECK_U64(stow_graph_operand_count(graph, 2), 2);
  CHECK_U64(stow_graph_operands(graph, 2)[1], w);
  CHECK_U64(stow_graph_operand_count(graph, topk), 1);
  CHECK_U64(stow_graph_result_count(graph, 2), 1);
  CHECK_U64(stow_graph_result_count(graph, topk), 2);
  CHECK_U64(stow_graph_first_result(graph, topk), 3);
  CHECK_U64(stow_graph_line(graph, topk), 7);
  CHECK_U64(stow_graph_attr_count(graph, topk), 2);
  CHECK_TEXT(stow_graph_attr_at(graph, topk, 1)->name.data, "axis");
  CHECK_U64(stow_graph_attr(graph, topk, "k")->i, 2);
  CHECK(stow_graph_attr(graph, topk, "largest")->b);
  CHECK(stow_graph_attr(graph, topk, "size") == NULL);
  CHECK_U64(stowi_graph_with_count(graph, topk), 1);
  CHECK_U64(stowi_graph_with_at(graph, topk, 0)->ints[1], 16);
  CHECK_U64(stowi_graph_with_count(graph, 2), 0);
  CHECK_U64(stow_graph_type(graph, 4)->dtype, STOW_I64);
  CHECK_U64(stow_graph_type(graph, y)->dims[1], 5);
  CHECK_TEXT(stow_graph_value_name(graph, 4).data, "indices");
  CHECK_TEXT(stow_graph_value_name(graph, 3).data, "");
  CHECK_U64(stow_graph_producer(graph, 4), topk);
  CHECK(stow_graph_is_bounded(graph, 3) && !stow_graph_is_bounded(graph, 4));
  CHECK(stow_graph_is_boundary(graph, x) && stow_graph_is_boundary(graph, w));
  CHECK(!stow_graph_is_boundary(graph, y));
  CHECK_U64(stow_graph_find(graph, stow_str_of("indices")), 4);
  CHECK_U64(stow_graph_find(graph, stow_str_of("")), STOW_VALUE_NONE);
  CHECK_U64(stow_graph_output_count(graph), 2);
  CHECK_U64(stow_graph_outputs(graph)[1], 4);
  CHECK_U64(stowi_graph_region_last(graph, STOW_REGION_BODY), topk);
  CHECK(stow_graph_data(graph, w, NULL) == NULL);
  stow_graph_destroy(graph);
}

TEST(EqualTypesAndAttributesAreStoredOnce) {
  stow_graph* graph = make_graph();
  stow_value x = add_input(graph, "x", MATRIX(STOW_F32, 4, 3));
  for (int i = 0; i < 100; ++i) {
    stow_call* call = stow_graph_begin(graph, STOW_OP_SOFTMAX);
    stow_call_operand(call, x);
    stow_call_attr_int(call, "axis", 1);
    CHECK(stow_call_finish(call, NULL, NULL) == STOW_OK);
  }
  CHECK_U64(graph->types.list.count, 1);
  CHECK_U64(graph->attrs.list.count, 1);
  CHECK(stow_graph_type(graph, 1) == stow_graph_type(graph, 100));
  stow_graph_destroy(graph);
}

TEST(AttributesOfEveryKindAreCopied) {
  stow_graph* graph = make_graph();
  char text[] = "acme";
  int64_t ints[] = {1, -2};
  double floats[] = {0.5, -0.0};
  stow_str strings[] = {{"a", 1}, {"b\0c", 3}};
  stow_attr attrs[] = {
      {.name = stow_str_of("name"), .kind = STOW_ATTR_STRING, .s = {text, 4}},
      {.name = stow_str_of("i"), .kind = STOW_ATTR_INT, .i = INT64_MIN},
      {.name = stow_str_of("f"), .kind = STOW_ATTR_FLOAT, .f = 1.5},
      {.name = stow_str_of("b"), .kind = STOW_ATTR_BOOL, .b = true},
      {.name = stow_str_of("is"), .kind = STOW_ATTR_INTS, .count = 2, .ints = ints},
      {.name = stow_str_of("fs"), .kind = STOW_ATTR_FLOATS, .count = 2, .floats = floats},
      {.name = stow_str_of("ss"), .kind = STOW_ATTR_STRINGS, .count = 2, .strings = strings},
      {.name = stow_str_of("none"), .kind = STOW_ATTR_STRINGS, .count = 0},
  };
  stow_type type = SCALAR(STOW_F32);
  for (int round = 0; round < 2; ++round) {
    stow_call* call = stow_graph_begin(graph, STOW_OP_CUSTOM);
    for (size_t i = 0; i < sizeof(attrs) / sizeof(attrs[0]); ++i) {
      stow_call_attr(call, &attrs[i]);
    }
    stow_call_result_type(call, &type);
    REQUIRE(stow_call_finish(call, NULL, NULL) == STOW_OK);
  }
  memset(text, '?', sizeof(text) - 1);
  ints[0] = 99;
  floats[0] = 99;
  strings[1] = stow_str_of("?");
  for (stow_node node = 0; node < 2; ++node) {
    CHECK_U64(stow_graph_attr_count(graph, node), 8);
    CHECK_TEXT(stow_graph_attr(graph, node, "name")->s.data, "acme");
    CHECK(stow_graph_attr(graph, node, "i")->i == INT64_MIN);
    CHECK(stow_graph_attr(graph, node, "f")->f == 1.5);
    CHECK(stow_graph_attr(graph, node, "b")->b);
    CHECK(stow_graph_attr(graph, node, "is")->ints[0] == 1);
    CHECK(stow_graph_attr(graph, node, "fs")->floats[0] == 0.5);
    CHECK_U64(stow_graph_attr(graph, node, "ss")->strings[1].size, 3);
    CHECK(memcmp(stow_graph_attr(graph, node, "ss")->strings[1].data, "b\0c", 4) == 0);
    CHECK_U64(stow_graph_attr(graph, node, "none")->kind, STOW_ATTR_INTS);
  }
  CHECK_U64(graph->attrs.list.count, 8);
  stow_graph_destroy(graph);
}

TEST(AttributesAreEqualByNameKindAndValue) {
  double floats[2] = {0.0, -0.0};
  int64_t ints[2] = {1, 2};
  stow_str strings[2] = {{"a", 1}, {"b", 1}};
  stow_str name = stow_str_of("n");
  stow_attr attrs[] = {
      {.name = name, .kind = STOW_ATTR_INT, .i = 1},
      {.name = stow_str_of("m"), .kind = STOW_ATTR_INT, .i = 1},
      {.name = name, .kind = STOW_ATTR_INT, .i = 2},
      {.name = name, .kind = STOW_ATTR_FLOAT, .f = 0.0},
      {.name = name, .kind = STOW_ATTR_FLOAT, .f = -0.0},
      {.name = name, .kind = STOW_ATTR_BOOL, .b = true},
      {.name = name, .kind = STOW_ATTR_STRING, .s = strings[0]},
      {.name = name, .kind = STOW_ATTR_INTS, .count = 1, .ints = ints},
      {.name = name, .kind = STOW_ATTR_INTS, .count = 2, .ints = ints},
      {.name = name, .kind = STOW_ATTR_INTS, .count = 1, .ints = ints + 1},
      {.name = name, .kind = STOW_ATTR_FLOATS, .count = 1, .floats = floats},
      {.name = name, .kind = STOW_ATTR_FLOATS, .count = 1, .floats = floats + 1},
      {.name = name, .kind = STOW_ATTR_STRINGS, .count = 1, .strings = strings},
      {.name = name, .kind = STOW_ATTR_STRINGS, .count = 1, .strings = strings + 1},
  };
  size_t count = sizeof(attrs) / sizeof(attrs[0]);
  for (size_t i = 0; i < count; ++i) {
    for (size_t k = 0; k < count; ++k) {
      CHECK(stowi_graph_attr_equal(&attrs[i], &attrs[k]) == (i == k));
      CHECK((stowi_graph_attr_hash(1, &attrs[i]) == stowi_graph_attr_hash(1, &attrs[k])) ==
            (i == k));
    }
  }
}

// No test can make 2^32 of anything; this one pretends to have.
TEST(RunningOutOfIdsIsALimit) {
  stow_graph* graph = make_graph();
  stow_value x = add_input(graph, "x", VECTOR(STOW_F32, 8));
  size_t* counters[] = {&graph->nodes.count, &graph->operands.count, &graph->types.list.count,
                        &graph->regions.count};
  for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]); ++i) {
    size_t count = *counters[i];
    *counters[i] = STOWI_GRAPH_ID_LIMIT - 1;
    stow_diag diag;
    stow_diag_init(&diag);
    stow_type type = VECTOR(STOW_F32, 3);
    stow_status status = counters[i] == &graph->regions.count
                             ? stow_graph_begin_region(graph, &diag)
                         : counters[i] == &graph->types.list.count
                             ? stow_graph_input(graph, "y", &type, &diag, NULL)
                             : stow_graph_add(graph, STOW_OP_RELU, &x, 1, &diag, NULL);
    *counters[i] = count;
    test_check(status == STOW_ERR_LIMIT, __FILE__, __LINE__, "counter %zu: %s", i, diag.message);
  }
  stow_graph_destroy(graph);
}

TEST(NamesAreUniqueOverTheGraph) {
  stow_graph* graph = make_graph();
  stow_value x = add_input(graph, "x", VECTOR(STOW_F32, 8));
  stow_type type = VECTOR(STOW_F32, 8);
  stow_diag diag;
  stow_diag_init(&diag);
  stow_value value = 3;
  CHECK(stow_graph_param(graph, "x", &type, &diag, &value) == STOW_ERR_DUPLICATE);
  CHECK_TEXT(diag.message, "param: the name \"x\" is taken by %0");
  CHECK_U64(value, STOW_VALUE_NONE);

  stow_call* call = stow_graph_begin(graph, STOW_OP_SPLIT);
  stow_type half = VECTOR(STOW_F32, 4);
  stow_call_operand(call, x);
  stow_call_result_type(call, &half);
  stow_call_result_type(call, &half);
  stow_call_name(call, 0, stow_str_of("twin"));
  stow_call_name(call, 1, stow_str_of("twin"));
  CHECK_REFUSED(call, STOW_ERR_DUPLICATE, "the name \"twin\" is taken by %1");
  CHECK_U64(stow_graph_find(graph, stow_str_of("twin")), STOW_VALUE_NONE);

  call = stow_graph_begin(graph, STOW_OP_RELU);
  stow_call_operand(call, x);
  stow_call_name(call, 0, stow_str_of("a"));
  stow_call_name(call, 0, stow_str_of("b"));
  CHECK_REFUSED(call, STOW_ERR_DUPLICATE, "\"b\"");

  call = stow_graph_begin(graph, STOW_OP_RELU);
  stow_call_operand(call, x);
  stow_call_name(call, 0, stow_str_of("a"));
  CHECK(stow_call_finish(call, NULL, NULL) == STOW_OK);
  CHECK_U64(stow_graph_find(graph, stow_str_of("a")), 1);
  CHECK_U64(stow_graph_find(graph, stow_str_of("b")), STOW_VALUE_NONE);
  CHECK_U64(stow_graph_value_count(graph), 2);
  stow_graph_destroy(graph);
}

TEST(OutputsMustExistInTheBody) {
  stow_graph* graph = make_graph();
  stow_value c = add_input(graph, "c", SCALAR(STOW_BOOL));
  stow_diag diag;
  stow_diag_init(&diag);
  CHECK(stow_graph_add_output(graph, 1, &diag) == STOW_ERR_INVALID_ARGUMENT);
  CHECK_HAS(diag.message, "output %1 does not exist");
  begin_region(graph);
  stow_value inner = add_unary(graph, STOW_OP_NOT, c);
  CHECK(stow_graph_add_output(graph, inner, &diag) == STOW_ERR_INVALID_ARGUMENT);
  CHECK_HAS(diag.message, "output %1 is defined inside a region");
  CHECK_U64(diag.value, inner);
  CHECK_U64(stow_graph_output_count(graph), 0);
  stow_graph_destroy(graph);
}

// then { relu } else { if { a } else { b } }
TEST(NestedRegionsHaveOwnersAndParents) {
  stow_graph* graph = make_graph();
  stow_value c = add_input(graph, "c", SCALAR(STOW_BOOL));
  stow_value x = add_input(graph, "x", VECTOR(STOW_F32, 4));
  begin_region(graph);  // 1
  stow_value then_value = add_unary(graph, STOW_OP_RELU, x);
  end_region(graph, 1, then_value, 0);
  begin_region(graph);  // 2
  begin_region(graph);  // 3
  end_region(graph, 1, x, 0);
  begin_region(graph);  // 4
  stow_value deep = add_unary(graph, STOW_OP_TANH, x);
  end_region(graph, 1, deep, 0);
  stow_value inner = add_unary(graph, STOW_OP_IF, c);
  end_region(graph, 1, inner, 0);
  stow_value outer = add_unary(graph, STOW_OP_IF, c);
  REQUIRE(outer != STOW_VALUE_NONE);

  stow_node owner = stow_graph_producer(graph, outer);
  stow_node inner_owner = stow_graph_producer(graph, inner);
  CHECK_U64(stow_graph_region_count(graph), 5);
  CHECK_U64(stow_graph_owned_region(graph, owner, 0), 1);
  CHECK_U64(stow_graph_owned_region(graph, owner, 1), 2);
  CHECK_U64(stow_graph_owned_region(graph, owner, 2), STOW_REGION_ID_NONE);
  CHECK_U64(stow_graph_owned_region(graph, inner_owner, 0), 3);
  CHECK_U64(stow_graph_owned_region(graph, inner_owner, 1), 4);
  CHECK_U64(stow_graph_owned_region(graph, 0, 0), STOW_REGION_ID_NONE);
  CHECK_U64(stowi_graph_region_owner(graph, 2), owner);
  CHECK_U64(stowi_graph_region_owner(graph, 4), inner_owner);
  CHECK_U64(stowi_graph_region_parent(graph, 2), 0);
  CHECK_U64(stowi_graph_region_parent(graph, 3), 2);
  CHECK_U64(stowi_graph_region_first(graph, 1), 2);
  CHECK_U64(stowi_graph_region_last(graph, 1), 3);
  // region 2 has no node of its own before region 3's only node, a yield
  CHECK_U64(stowi_graph_region_first(graph, 2), 4);
  CHECK_U64(stowi_graph_region_first(graph, 3), 4);
  CHECK_U64(stowi_graph_region_last(graph, 3), 4);
  CHECK_U64(stowi_graph_region_last(graph, 2), 8);
  CHECK_U64(stow_graph_node_region(graph, 8), 2);
  CHECK_U64(stow_graph_op(graph, 8), STOW_OP_YIELD);
  CHECK_U64(stow_graph_operands(graph, 8)[0], inner);
  CHECK_U64(stow_graph_result_count(graph, 8), 0);
  CHECK_U64(stow_graph_node_region(graph, owner), 0);
  // a region owner's results come after the values of its regions
  CHECK_U64(outer, 5);
  CHECK(stow_graph_add_output(graph, outer, NULL) == STOW_OK);
  CHECK(stow_graph_verify(graph, NULL) == STOW_OK);
  stow_graph_destroy(graph);
}

TEST(LoopBodiesHaveArguments) {
  stow_graph* graph = make_graph();
  stow_value trip = add_input(graph, "trip", SCALAR(STOW_I64));
  stow_value x = add_input(graph, "x", VECTOR(STOW_F32, 4));
  begin_region(graph);
  stow_call* call = stow_graph_begin(graph, STOW_OP_ARGS);
  stow_type types[3] = {SCALAR(STOW_I64), SCALAR(STOW_BOOL), VECTOR(STOW_F32, 4)};
  for (size_t i = 0; i < 3; ++i) {
    stow_call_result_type(call, &types[i]);
  }
  stow_node args;
  REQUIRE(stow_call_finish(call, NULL, &args) == STOW_OK);
  stow_value first = stow_graph_first_result(graph, args);
  stow_value next = add_unary(graph, STOW_OP_RELU, first + 2);
  end_region(graph, 2, first + 1, next);
  stow_diag diag;
  stow_diag_init(&diag);
  call = stow_graph_begin(graph, STOW_OP_LOOP);
  stow_call_operand(call, trip);
  stow_call_operand(call, STOW_VALUE_NONE);
  stow_call_operand(call, x);
  stow_call_result_type(call, &types[2]);
  stow_node loop;
  REQUIRE(stow_call_finish(call, &diag, &loop) == STOW_OK);
  CHECK_U64(stow_graph_result_count(graph, loop), 1);
  CHECK_U64(stowi_graph_region_first(graph, 1), args);
  CHECK(stow_graph_add_output(graph, stow_graph_first_result(graph, loop), NULL) == STOW_OK);
  CHECK(stow_graph_verify(graph, &diag) == STOW_OK);
  stow_graph_destroy(graph);
}

TEST(RegionsNestToALimit) {
  stow_graph* graph = make_graph();
  for (int i = 0; i < STOW_MAX_REGION_DEPTH; ++i) {
    begin_region(graph);
  }
  stow_diag diag;
  stow_diag_init(&diag);
  CHECK(stow_graph_begin_region(graph, &diag) == STOW_ERR_LIMIT);
  CHECK_HAS(diag.message, "64");
  CHECK_U64(stow_graph_region_count(graph), STOW_MAX_REGION_DEPTH + 1);
  stow_graph_destroy(graph);
}

TEST(PoolPiecesNeverMoveAndAreAligned) {
  stow_allocator allocator = stow_allocator_default();
  stowi_pool pool;
  memset(&pool, 0, sizeof(pool));
  test_random random = {5};
  unsigned char* pieces[400];
  size_t sizes[400];
  for (size_t i = 0; i < 400; ++i) {
    sizes[i] = test_random_below(&random, i % 50 == 0 ? 100000 : 200);
    size_t alignment = (size_t)1 << test_random_below(&random, 5);
    pieces[i] = (unsigned char*)stowi_pool_alloc(&pool, allocator, sizes[i], alignment);
    REQUIRE(pieces[i] != NULL);
    CHECK(((uintptr_t)pieces[i] & (alignment - 1)) == 0);
    memset(pieces[i], (int)(i & 0xff), sizes[i]);
  }
  for (size_t i = 0; i < 400; ++i) {
    for (size_t k = 0; k < sizes[i]; ++k) {
      if (pieces[i][k] != (i & 0xff)) {
        CHECK(pieces[i][k] == (i & 0xff));
        break;
      }
    }
  }
  CHECK(stowi_pool_alloc(&pool, allocator, SIZE_MAX, 1) == NULL);
  stow_str out = {NULL, 0};
  CHECK(stowi_pool_copy_str(&pool, allocator, (stow_str){"x", SIZE_MAX}, &out) ==
        STOW_ERR_OUT_OF_MEMORY);
  CHECK(out.data == NULL);
  stowi_pool_free(&pool, allocator);
}

// A chain of |count| relus with names and attributes; bytes that the heap then holds.
static size_t heap_of_chain(size_t count) {
  test_heap heap;
  memset(&heap, 0, sizeof(heap));
  stow_graph* graph;
  if (!CHECK(stow_graph_create(stow_str_of("chain"), NULL, test_heap_allocator(&heap), NULL,
                               &graph) == STOW_OK)) {
    return 0;
  }
  stow_value x = add_input(graph, "x", MATRIX(STOW_F32, 16, 16));
  for (size_t i = 0; i < count; ++i) {
    stow_call* call = stow_graph_begin(graph, STOW_OP_SOFTMAX);
    stow_call_operand(call, x);
    stow_call_attr_int(call, "axis", (int64_t)(i % 2));
    stow_node node;
    if (stow_call_finish(call, NULL, &node) != STOW_OK) {
      CHECK(false);
      break;
    }
    x = stow_graph_first_result(graph, node);
  }
  CHECK(stow_graph_add_output(graph, x, NULL) == STOW_OK);
  CHECK(stow_graph_verify(graph, NULL) == STOW_OK);
  CHECK_U64(stow_graph_node_count(graph), count + 1);
  CHECK(heap.allocations < 200);
  size_t bytes = heap.live_bytes;
  stow_graph_destroy(graph);
  CHECK_U64(heap.live_blocks, 0);
  return bytes;
}

TEST(LargeGraphsAreCompactAndNeedNoAllocationPerNode) {
  size_t count = test_is_long() ? 1000000 : 50000;
  CHECK(heap_of_chain(count) / count < 80);
}

static stow_status create_graph(stow_allocator allocator, void* user) {
  (void)user;
  stow_graph* graph;
  stow_status status = stow_graph_create(stow_str_of("g"), NULL, allocator, NULL, &graph);
  CHECK((graph != NULL) == (status == STOW_OK));
  stow_graph_destroy(graph);
  return status;
}

TEST(CreateSurvivesEveryFailingAllocation) { CHECK(test_fault_sweep(create_graph, NULL) >= 4); }

static stow_status build_regions(stow_allocator allocator, void* user) {
  (void)user;
  stow_graph* graph;
  stow_status status = stow_graph_create(stow_str_of("g"), NULL, allocator, NULL, &graph);
  if (status != STOW_OK) {
    return status;
  }
  stow_type flag = SCALAR(STOW_BOOL);
  stow_value c;
  stow_value result;
  status = stow_graph_input(graph, "c", &flag, NULL, &c);
  for (int i = 0; i < 12 && status == STOW_OK; ++i) {
    for (int branch = 0; branch < 2 && status == STOW_OK; ++branch) {
      status = stow_graph_begin_region(graph, NULL);
      uint32_t nodes = stow_graph_node_count(graph);
      if (status == STOW_OK) {
        status = stow_graph_end_region(graph, &c, 1, NULL);
        CHECK(stow_graph_node_count(graph) == nodes + (status == STOW_OK));
        CHECK((graph->depth == 0) == (status == STOW_OK));
      }
    }
    if (status == STOW_OK) {
      status = stow_graph_add(graph, STOW_OP_IF, &c, 1, NULL, &result);
      CHECK(graph->frames[0].closed_count == (status == STOW_OK ? 0 : 2));
    }
  }
  if (status == STOW_OK) {
    status = stow_graph_add_output(graph, result, NULL);
  }
  if (status == STOW_OK) {
    status = stow_graph_verify(graph, NULL);
  }
  stow_graph_destroy(graph);
  return status;
}

TEST(RegionsSurviveEveryFailingAllocation) { CHECK(test_fault_sweep(build_regions, NULL) > 10); }

TEST(RegionsAreDescribedInOneStruct) {
  stow_module* module = NULL;
  const char* text =
      "graph @g {\n"
      "  %0 = input \"x\" : f32[4]\n"
      "  return %0\n"
      "}\n";
  REQUIRE(stow_module_parse(text, strlen(text), NULL, NULL, stow_allocator_default(), NULL,
                            &module) == STOW_OK);
  const stow_graph* graph = stow_module_graph(module, 0);
  stow_region_info info = {.struct_size = sizeof(info)};
  CHECK(stow_graph_describe_region(graph, 0, &info) == STOW_OK);
  CHECK(info.owner == STOW_NODE_NONE && info.parent == STOW_REGION_ID_NONE);
  CHECK(info.args == STOW_NODE_NONE);
  CHECK(stow_graph_describe_region(graph, 1, &info) == STOW_ERR_NOT_FOUND);
  stow_module_destroy(module);
}
