// A graph and its text have the same plan: everything that a plan depends on is in the text.
#include "support/random_graph.h"
#include "support/random_ops.h"
#include "support/test.h"
#include "support/text_plan.h"

static void check_agrees(const stow_graph* graph, const stow_plan_options* options, int line,
                         unsigned long long seed) {
  char why[TEXT_PLAN_WHY] = "";
  test_check(text_plan_agrees(graph, options, why), __FILE__, line, "seed %llu: %s", seed, why);
}

static void check_random(uint64_t seed, random_ops* ops) {
  test_random random = {seed};
  random_graph_options shape = random_graph_everything(5 + test_random_below(&random, 30));
  shape.more = random_ops_add;
  shape.user = ops;
  stow_graph* graph = random_graph(&random, &shape, stow_allocator_default());
  stow_plan_options options = text_plan_model_options();
  options.nodes = options.order_nodes = 200;
  check_agrees(graph, &options, __LINE__, seed);
  options.params = options.constants = true;
  options.order = STOW_ORDER_GIVEN;
  check_agrees(graph, &options, __LINE__, seed);
  stow_graph_destroy(graph);
}

TEST(TextsOfRandomGraphsHaveTheirPlans) {
  random_ops* ops = random_ops_create();
  uint64_t count = test_is_long() ? 20000 : 300;
  for (uint64_t seed = 0; seed < count; ++seed) {
    check_random(seed, ops);
  }
  random_ops_destroy(ops);
}

// Adds a constant whose elements no attribute holds.
static stow_value add_data(stow_graph* graph, const char* name, stow_dtype dtype, stow_dim count,
                           const void* bytes, size_t size) {
  stow_type type = stow_type_make(dtype, 1, &count);
  stow_node node = STOW_NODE_NONE;
  stow_call* call = stow_graph_begin(graph, STOW_OP_CONSTANT);
  stow_call_name(call, 0, stow_str_of(name));
  stow_call_result_type(call, &type);
  stow_call_data(call, bytes, size, true);
  CHECK(stow_call_finish(call, NULL, &node) == STOW_OK);
  return stow_graph_first_result(graph, node);
}

static stow_value add_node(stow_graph* graph, stow_op op, const stow_value* operands,
                           size_t count) {
  stow_value value = STOW_VALUE_NONE;
  stow_diag diag;
  stow_diag_init(&diag);
  stow_status status = stow_graph_add(graph, op, operands, count, &diag, &value);
  test_check(status == STOW_OK, __FILE__, __LINE__, "%s", diag.message);
  return value;
}

// The reader of a resize can be in place of its result only if its dims are exact.
TEST(ScalesOfAResizeAreInItsText) {
  static const float scales[] = {1, 1, 2, 2};
  stow_graph* graph = NULL;
  REQUIRE(stow_graph_create(stow_str_of("g"), NULL, stow_allocator_default(), NULL, &graph) ==
          STOW_OK);
  stow_dim dims[] = {1, 4, 8, 8};
  stow_type image = stow_type_make(STOW_F32, 4, dims);
  stow_value x;
  REQUIRE(stow_graph_input(graph, "x", &image, NULL, &x) == STOW_OK);
  stow_value by = add_data(graph, "scales", STOW_F32, 4, scales, sizeof(scales));
  stow_value operands[] = {x, STOW_VALUE_NONE, by};
  stow_value large = add_node(graph, STOW_OP_RESIZE, operands, 3);
  stow_value result = add_node(graph, STOW_OP_RELU, &large, 1);
  CHECK(!stow_graph_is_bounded(graph, result));
  REQUIRE(stow_graph_add_output(graph, result, NULL) == STOW_OK);
  stow_plan_options options = text_plan_model_options();
  check_agrees(graph, &options, __LINE__, 0);
  stow_graph_destroy(graph);
}

// The new shape of the reshape is known only through what gather computes from data.
TEST(DataThatFoldsReadIsInTheText) {
  int64_t table[40];
  for (size_t i = 0; i < 40; ++i) {
    table[i] = (int64_t)i;
  }
  static const int64_t at[] = {4, 6};
  stow_graph* graph = NULL;
  REQUIRE(stow_graph_create(stow_str_of("g"), NULL, stow_allocator_default(), NULL, &graph) ==
          STOW_OK);
  stow_dim dims[] = {24};
  stow_type flat = stow_type_make(STOW_F32, 1, dims);
  stow_value x;
  REQUIRE(stow_graph_input(graph, "x", &flat, NULL, &x) == STOW_OK);
  stow_value from[] = {add_data(graph, "table", STOW_I64, 40, table, sizeof(table)),
                       add_data(graph, "at", STOW_I64, 2, at, sizeof(at))};
  stow_value reshaped[] = {add_node(graph, STOW_OP_RELU, &x, 1),
                           add_node(graph, STOW_OP_GATHER, from, 2)};
  stow_value matrix = add_node(graph, STOW_OP_RESHAPE, reshaped, 2);
  CHECK(!stow_graph_is_data_dependent(graph, matrix));
  REQUIRE(stow_graph_add_output(graph, add_node(graph, STOW_OP_EXP, &matrix, 1), NULL) == STOW_OK);
  stow_plan_options options = text_plan_model_options();
  check_agrees(graph, &options, __LINE__, 0);
  stow_graph_destroy(graph);
}
