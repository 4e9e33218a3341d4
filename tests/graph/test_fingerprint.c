// The fingerprint changes with everything that a plan depends on, and with nothing else.
#include "graph_support.h"

// One difference from the plain graph.
typedef enum change {
  PLAIN,
  // the same fingerprint
  OTHER_GRAPH_NAME,
  OTHER_LINE,
  OTHER_DATA,
  EXPLICIT_DEFAULT,
  MORE_SYMBOLS,
  FAILED_CALL,
  // another fingerprint
  FIRST_OTHER,
  OTHER_OP = FIRST_OTHER,
  OTHER_OPERAND,
  OTHER_ATTR,
  OTHER_WITH,
  OTHER_WITH_VALUE,
  OTHER_TYPE,
  OTHER_DIM,
  OTHER_NAME,
  OTHER_BOUNDED,
  OTHER_OUTPUT,
  TWO_OUTPUTS,
  OTHER_REGION,
  CHANGE_COUNT
} change;

static void add_if(stow_graph* graph, stow_value condition, stow_value x, bool is_outside) {
  stow_value yield = x;
  begin_region(graph);
  if (!is_outside) {
    yield = add_unary(graph, STOW_OP_RELU, x);
  }
  end_region(graph, 1, yield, 0);
  begin_region(graph);
  if (is_outside) {
    yield = add_unary(graph, STOW_OP_RELU, x);
  } else {
    yield = x;
  }
  end_region(graph, 1, yield, 0);
  add_unary(graph, STOW_OP_IF, condition);
}

static stow_graph* build(change what) {
  stow_graph* graph = NULL;
  CHECK(stow_graph_create(stow_str_of(what == OTHER_GRAPH_NAME ? "other" : "g"), NULL,
                          stow_allocator_default(), NULL, &graph) == STOW_OK);
  stow_dims* dims = stow_graph_edit_dims(graph);
  if (what == MORE_SYMBOLS) {
    stow_dim_add(dims, stow_dim_symbol(dims, stow_str_of("m")),
                 stow_dim_symbol(dims, stow_str_of("k")));
  }
  stow_dim n = stow_dim_symbol(dims, stow_str_of(what == OTHER_DIM ? "k" : "n"));
  stow_value x = add_input(graph, what == OTHER_NAME ? "y" : "x",
                           MATRIX(what == OTHER_TYPE ? STOW_F16 : STOW_F32, n, 4));
  stow_value c = add_input(graph, "c", SCALAR(STOW_BOOL));
  stow_value relu = add_unary(graph, STOW_OP_RELU, x);
  stow_call* call = stow_graph_begin(graph, STOW_OP_CONSTANT);
  stow_type two = VECTOR(STOW_I32, 2);
  int64_t numbers[2] = {1, what == OTHER_DATA ? 3 : 2};
  stow_call_name(call, 0, stow_str_of("k"));
  stow_call_result_type(call, &two);
  stow_call_attr_ints(call, "data", numbers, 2);
  CHECK(stow_call_finish(call, NULL, NULL) == STOW_OK);
  if (what == FAILED_CALL) {
    CHECK(stow_graph_add(graph, STOW_OP_ADD, &x, 1, NULL, NULL) != STOW_OK);
  }
  call = stow_graph_begin(graph, what == OTHER_OP ? STOW_OP_RMS_NORM : STOW_OP_LAYER_NORM);
  stow_call_operand(call, what == OTHER_OPERAND ? x : relu);
  if (what == EXPLICIT_DEFAULT) {
    stow_call_attr_int(call, "axis", -1);
  }
  stow_call_attr_float(call, "epsilon", what == OTHER_ATTR ? 0.25 : 0.5);
  stow_attr with = {
      .name = stow_str_of("align"), .kind = STOW_ATTR_INT, .i = what == OTHER_WITH_VALUE ? 2 : 1};
  if (what != OTHER_WITH) {
    stow_call_with(call, &with);
  }
  if (what == OTHER_BOUNDED) {
    stow_call_bounded(call, 0);
  }
  stow_call_line(call, what == OTHER_LINE ? 5 : 4);
  stow_node node;
  CHECK(stow_call_finish(call, NULL, &node) == STOW_OK);
  add_if(graph, c, x, what == OTHER_REGION);
  stow_value output = stow_graph_first_result(graph, node);
  CHECK(stow_graph_add_output(graph, what == OTHER_OUTPUT ? relu : output, NULL) == STOW_OK);
  if (what == TWO_OUTPUTS) {
    CHECK(stow_graph_add_output(graph, output, NULL) == STOW_OK);
  }
  return graph;
}

TEST(FingerprintCoversEverythingAPlanDependsOn) {
  uint64_t seen[CHANGE_COUNT];
  for (int what = 0; what < CHANGE_COUNT; ++what) {
    stow_graph* graph = build((change)what);
    seen[what] = stow_graph_fingerprint(graph);
    stow_graph_destroy(graph);
    for (int other = 0; other < what; ++other) {
      bool same = what < FIRST_OTHER;
      test_check((seen[what] == seen[other]) == same, __FILE__, __LINE__, "change %d and %d", what,
                 other);
    }
  }
}

// Saved plans contain this number: it may change only with a new version of the plan format.
TEST(FingerprintIsTheSameOnEveryMachine) {
  stow_graph* graph = build(PLAIN);
  CHECK_U64(stow_graph_fingerprint(graph), UINT64_C(8994466847977445685));
  stow_graph_destroy(graph);
}
