// Tests of types while a graph runs: with the graph's own types they are those of the graph, for
// every op; with smaller ones they are what the op gives for those.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/in_place_cases.h"
#include "graph/shape_cases.h"
#include "support/test.h"

#define MOST 64

typedef struct actual {
  stow_type types[MOST];
  const stow_type* operands[MOST];
  const void* data[MOST];
  stow_type results[MOST];
  stow_diag diag;
} actual;

static void* memory(void) {
  static unsigned char bytes[STOW_INFER_MEMORY];
  memset(bytes, 0xa5, sizeof(bytes));
  return bytes;
}

// The graph's own types and data as those of the run.
static void take_operands(actual* a, const stow_graph* graph, stow_node node) {
  memset(a, 0, sizeof(*a));
  for (size_t k = 0; k < stow_graph_operand_count(graph, node) && k < MOST; ++k) {
    stow_value value = stow_graph_operands(graph, node)[k];
    if (value != STOW_VALUE_NONE) {
      a->types[k] = *stow_graph_type(graph, value);
      a->operands[k] = &a->types[k];
      a->data[k] = stow_graph_data(graph, value, NULL);
    }
  }
}

static stow_status infer(actual* a, const stow_graph* graph, stow_node node) {
  stow_diag_init(&a->diag);
  return stow_graph_infer_actual(graph, node, a->operands, a->data, memory(), STOW_INFER_MEMORY,
                                 &a->diag, a->results);
}

static void check_same_types(const in_place_case* c, const stow_graph* graph) {
  static actual a;
  stow_node node = stow_graph_node_count(graph) - 1;
  if (stow_graph_require_bound(graph, NULL) != STOW_OK ||
      stow_graph_op_desc(graph, node)->region_count != 0) {
    return;
  }
  take_operands(&a, graph, node);
  stow_status status = infer(&a, graph, node);
  if (!test_check(status == STOW_OK, __FILE__, __LINE__, "%s: %s", c->node, a.diag.message)) {
    return;
  }
  for (size_t k = 0; k < stow_graph_result_count(graph, node); ++k) {
    stow_value value = stow_graph_first_result(graph, node) + (stow_value)k;
    test_check(stow_type_equal(&a.results[k], stow_graph_type(graph, value)), __FILE__, __LINE__,
               "%s: result %zu has another type", c->node, k);
  }
}

TEST(ActualTypesEqualTheGraphsIfOperandsDo) {
  for (size_t i = 0; i < OVER_CASE_COUNT; ++i) {
    const in_place_case* c = &in_place_cases[i];
    stow_diag diag;
    stow_module* module =
        shape_case_parse(c->operands, c->node, c->results, stow_allocator_default(), &diag);
    if (module != NULL) {
      check_same_types(c, stow_module_graph(module, 0));
    }
    stow_module_destroy(module);
  }
}

// The type of result 0 if operand |k| has dim |axis| of |size|, and operand 1 the elements |data|
// unless that is NULL; or the message.
static const char* shrunk(const char* operands, const char* node, const char* results, size_t k,
                          size_t axis, int64_t size, const void* data) {
  static actual a;
  static char text[STOW_DIAG_MESSAGE_SIZE];
  stow_diag diag;
  stow_module* module = shape_case_parse(operands, node, results, stow_allocator_default(), &diag);
  if (!test_check(module != NULL, __FILE__, __LINE__, "%s", diag.message)) {
    return "";
  }
  const stow_graph* graph = stow_module_graph(module, 0);
  stow_node last = stow_graph_node_count(graph) - 1;
  take_operands(&a, graph, last);
  a.types[k].dims[axis] = size;
  a.data[1] = data != NULL ? data : a.data[1];
  stow_status status = infer(&a, graph, last);
  stow_string out;
  stow_string_init(&out, stow_allocator_default());
  if (status == STOW_OK) {
    (void)stow_type_print(stow_graph_dims(graph), &a.results[0], stow_string_writer(&out));
  }
  snprintf(text, sizeof(text), "%s", status == STOW_OK ? out.data : a.diag.message);
  stow_string_free(&out);
  stow_module_destroy(module);
  return text;
}

#define BOUNDED "i64[9]; i64[1, 9] := nonzero(%0)"

TEST(UpperBoundedDimsBecomeExact) {
  CHECK_TEXT(shrunk(BOUNDED, "transpose(%1)", "i64[9, 1]", 0, 1, 4, NULL), "i64[4, 1]");
  CHECK_TEXT(shrunk(BOUNDED, "concat(%1, %1) {axis = 1}", "i64[1, 18]", 0, 1, 4, NULL),
             "i64[1, 13]");
  CHECK_TEXT(shrunk(BOUNDED, "slice(%1) {starts = [-3], ends = [99], axes = [1]}", "i64[1, 9]", 0,
                    1, 2, NULL),
             "i64[1, 2]");
  CHECK_TEXT(shrunk(BOUNDED, "shape(%1)", "i64[2]", 0, 1, 4, NULL), "i64[2]");
}

TEST(AvailableElementsGiveDims) {
  int64_t three[] = {3, -1};
  CHECK_TEXT(shrunk("f32[12]; i64[2]", "reshape(%0, %1)", "f32[3, 4]", 0, 0, 12, three),
             "f32[3, 4]");
  int64_t size[] = {2};
  CHECK_TEXT(shrunk("bounded f32[9]; i64[1]", "expand(%0, %1)", "f32[9]", 0, 0, 1, size), "f32[2]");
}

TEST(DimsComputedByTheOpStayUpperBounded) {
  CHECK_TEXT(shrunk("f32[9, 2]", "nonzero(%0)", "i64[2, 18]", 0, 0, 3, NULL), "i64[2, 6]");
}

TEST(DimsAboveThePlannedOnesAreRefused) {
  CHECK_HAS(shrunk("f32[9]", "relu(%0)", "f32[9]", 0, 0, 10, NULL),
            "relu: dim 0 of result 0 is 10, above the planned maximum 9");
}

TEST(DimsBelowExactOnesAreRefused) {
  CHECK_HAS(shrunk("f32[9, 2]", "relu(%0)", "f32[9, 2]", 0, 0, 8, NULL),
            "relu: dim 0 of result 0 is 8, planned as exactly 9");
  CHECK_HAS(shrunk("bounded(1) f32[9, 2]", "relu(%0)", "f32[9, 2]", 0, 0, 8, NULL),
            "relu: dim 0 of result 0 is 8, planned as exactly 9");
  CHECK_TEXT(shrunk("bounded(0) f32[9, 2]", "relu(%0)", "f32[9, 2]", 0, 0, 8, NULL), "f32[8, 2]");
}

TEST(OperandsThatDoNotFitAreRefused) {
  CHECK_HAS(shrunk("f32[9]; f32[9]", "add(%0, %1)", "f32[9]", 0, 0, 4, NULL), "add(");
}

TEST(TooSmallAWorkspaceIsAnError) {
  static actual a;
  stow_diag diag;
  stow_module* module = shape_case_parse("f32[9]", "slice(%0) {starts = [-3], ends = [-1]}",
                                         "f32[2]", stow_allocator_default(), &diag);
  REQUIRE(module != NULL);
  const stow_graph* graph = stow_module_graph(module, 0);
  stow_node node = stow_graph_node_count(graph) - 1;
  take_operands(&a, graph, node);
  for (size_t size = 0; size < 4096; size += 8) {
    stow_status status = stow_graph_infer_actual(graph, node, a.operands, a.data, memory(), size,
                                                 &a.diag, a.results);
    CHECK(status == STOW_OK || status == STOW_ERR_OUT_OF_MEMORY);
  }
  stow_module_destroy(module);
}
