// Tests of which results are views, by cases and against a brute-force walk over elements.
#include <string.h>

#include "graph/shape_cases.h"
#include "support/test.h"

typedef struct expected_view {
  bool is_view;
  size_t operand;
  uint64_t offset;
  bool extended;
} expected_view;

// Result |k| of |node|, the last node of the graph.
static void check_view(const char* operands, const char* node, const char* results, size_t k,
                       expected_view expected, int line) {
  stow_diag diag;
  stow_module* module = shape_case_parse(operands, node, results, stow_allocator_default(), &diag);
  if (!test_check(module != NULL, __FILE__, line, "%s: %s", node, diag.message)) {
    return;
  }
  const stow_graph* graph = stow_module_graph(module, 0);
  stow_view view;
  bool is_view = stow_graph_view(graph, stow_graph_node_count(graph) - 1, k, &view);
  test_check(is_view == expected.is_view, __FILE__, line, "%s: view is %d", node, is_view);
  if (is_view && expected.is_view) {
    test_check(view.operand == expected.operand, __FILE__, line, "%s: operand", node);
    test_check(view.extended == expected.extended, __FILE__, line, "%s: extended", node);
    test_check_u64(view.element_offset, expected.offset, __FILE__, line, node);
  }
  stow_module_destroy(module);
}

#define CLASSIC(operands, node, results, offset) \
  check_view(operands, node, results, 0, (expected_view){true, 0, (offset), false}, __LINE__)
#define EXTENDED(operands, node, results, k, offset) \
  check_view(operands, node, results, (k), (expected_view){true, 0, (offset), true}, __LINE__)
#define COPIES(operands, node, results, k) \
  check_view(operands, node, results, (k), (expected_view){false, 0, 0, false}, __LINE__)

TEST(ReshapeIsAlwaysAView) {
  CLASSIC("f32[4, 6]", "reshape(%0)", "f32[24]", 0);
  CLASSIC("f32[0]", "reshape(%0)", "f32[0, 3]", 0);
}

TEST(CastIsAViewWithinADtype) {
  CLASSIC("f32[4]", "cast(%0)", "f32[4]", 0);
  COPIES("f32[4]", "cast(%0)", "i32[4]", 0);
}

TEST(NarrowIsAViewIfContiguous) {
  CLASSIC("f32[8, 4, 2]", "narrow(%0) {axis = 0, start = 3, len = 2}", "f32[2, 4, 2]", 24);
  CLASSIC("f32[8]", "narrow(%0) {axis = -1, start = 5, len = 3}", "f32[3]", 5);
  EXTENDED("f32[1, 1, 8, 4]", "narrow(%0) {axis = 2, start = 3, len = 2}", "f32[1, 1, 2, 4]", 0,
           12);
  EXTENDED("f32[1, 8]", "narrow(%0) {axis = -1, start = 3, len = 2}", "f32[1, 2]", 0, 3);
  COPIES("f32[2, 8]", "narrow(%0) {axis = 1, start = 0, len = 2}", "f32[2, 2]", 0);
  COPIES("f32[1, 2, 8]", "narrow(%0) {axis = 2, start = 0, len = 8}", "f32[1, 2, 8]", 0);
}

TEST(TransposeIsAViewIfOnlyOnesMove) {
  EXTENDED("f32[1, 8, 4]", "transpose(%0) {perm = [1, 0, 2]}", "f32[8, 1, 4]", 0, 0);
  EXTENDED("f32[8, 1, 4, 1]", "transpose(%0) {perm = [3, 0, 2, 1]}", "f32[1, 8, 4, 1]", 0, 0);
  EXTENDED("f32[8, 4]", "transpose(%0) {perm = [0, 1]}", "f32[8, 4]", 0, 0);
  EXTENDED("f32[]", "transpose(%0)", "f32[]", 0, 0);
  COPIES("f32[8, 4]", "transpose(%0)", "f32[4, 8]", 0);
  COPIES("f32[8, 1, 4]", "transpose(%0)", "f32[4, 1, 8]", 0);
}

TEST(SplitPartsAreViewsLikeNarrows) {
  const char* sizes = "split(%0) {axis = 1, sizes = [2, 1, 3]}";
  EXTENDED("f32[6, 2]", "split(%0)", "f32[3, 2]; f32[3, 2]", 0, 0);
  EXTENDED("f32[6, 2]", "split(%0)", "f32[3, 2]; f32[3, 2]", 1, 6);
  EXTENDED("f32[1, 6, 5]", sizes, "f32[1, 2, 5]; f32[1, 1, 5]; f32[1, 3, 5]", 1, 10);
  EXTENDED("f32[1, 6, 5]", sizes, "f32[1, 2, 5]; f32[1, 1, 5]; f32[1, 3, 5]", 2, 15);
  COPIES("f32[2, 6]", sizes, "f32[2, 2]; f32[2, 1]; f32[2, 3]", 0);
  const char* parts = "split(%0) {parts = 4}";
  EXTENDED("f32[5, 3]", parts, "f32[2, 3]; f32[2, 3]; f32[1, 3]; f32[0, 3]", 2, 12);
  EXTENDED("f32[5, 3]", parts, "f32[2, 3]; f32[2, 3]; f32[1, 3]; f32[0, 3]", 3, 15);
}

TEST(KvAppendIsItsCache) {
  CLASSIC("f32[1, 8, 4]; f32[1, 1, 4]", "kv_append(%0, %1) {axis = 1}", "f32[1, 8, 4]", 0);
}

TEST(OtherOpsMakeTheirOwnBytes) {
  COPIES("f32[4]", "relu(%0)", "f32[4]", 0);
  COPIES("f32[4]", "expand(%0)", "f32[4]", 0);
  COPIES("f32[4]", "concat(%0)", "f32[4]", 0);
  COPIES("f32[4]", "pad(%0) {pads = [0, 0]}", "f32[4]", 0);
}

TEST(UnboundDimsGiveNoView) {
  COPIES("f32[?s, 4]", "narrow(%0) {axis = 0, start = 1, len = 1}", "f32[1, 4]", 0);
  COPIES("f32[?s]", "reshape(%0)", "f32[1, ?s]", 0);
}

TEST(PartsOfUpperBoundedValuesAreViewsOnlyAtTheStart) {
  const char* bounded = "f32[4, 9]; i64[2, 36] := nonzero(%0)";
  EXTENDED(bounded, "split(%1)", "i64[1, 36]; i64[1, 36]", 0, 0);
  COPIES(bounded, "split(%1)", "i64[1, 36]; i64[1, 36]", 1);
  CLASSIC(bounded, "narrow(%1) {axis = 0, start = 0, len = 1}", "i64[1, 36]", 0);
  COPIES(bounded, "narrow(%1) {axis = 0, start = 1, len = 1}", "i64[1, 36]", 0);
  COPIES(bounded, "slice(%1) {starts = [1], ends = [2], axes = [0]}", "i64[1, 36]", 0);
}

TEST(OverflowingOffsetsGiveNoView) {
  COPIES("f32[4611686018427387904, 4611686018427387904]",
         "narrow(%0) {axis = 0, start = 4611686018427387903, len = 1}",
         "f32[1, 4611686018427387904]", 0);
}

// ---------------------------------------------------------------------------------------------
// Against brute force

static uint32_t next_random(uint64_t* state) {
  *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (uint32_t)(*state >> 33);
}

#define MAX_ELEMENTS 256

static uint64_t count_of(const stow_type* type) {
  uint64_t count = 0;
  CHECK(stow_type_elements(type, &count) == STOW_OK);
  return count;
}

// Where in the operand, counted in elements, each element of the result comes from. Result
// dim i runs over operand dim perm[i], from starts[i].
static void walk(const stow_type* from, const stow_type* to, const uint32_t* perm,
                 const int64_t* starts, uint64_t* sources) {
  uint64_t strides[STOW_MAX_RANK];
  uint64_t stride = 1;
  for (uint32_t i = from->rank; i-- > 0;) {
    strides[i] = stride;
    stride *= (uint64_t)from->dims[i];
  }
  for (uint64_t element = 0; element < count_of(to); ++element) {
    uint64_t rest = element;
    uint64_t source = 0;
    for (uint32_t i = to->rank; i-- > 0;) {
      uint64_t index = rest % (uint64_t)to->dims[i];
      rest /= (uint64_t)to->dims[i];
      source += (index + (uint64_t)starts[i]) * strides[perm[i]];
    }
    sources[element] = source;
  }
}

// Whether the sources are consecutive; then the result could be a view at the first.
static bool is_run(const uint64_t* sources, uint64_t count) {
  for (uint64_t i = 1; i < count; ++i) {
    if (sources[i] != sources[i - 1] + 1) {
      return false;
    }
  }
  return true;
}

typedef struct random_case {
  stow_type from;
  uint32_t perm[STOW_MAX_RANK];
  int64_t starts[STOW_MAX_RANK];
  bool is_narrow;
  uint32_t axis;
  int64_t len;
} random_case;

static random_case make_case(uint64_t* state) {
  random_case made;
  memset(&made, 0, sizeof(made));
  stow_dim dims[4];
  uint32_t rank = 1 + next_random(state) % 4;
  for (uint32_t i = 0; i < rank; ++i) {
    dims[i] = 1 + (next_random(state) % 2) * (next_random(state) % 4);
    made.perm[i] = i;
  }
  made.from = stow_type_make(STOW_F32, rank, dims);
  made.is_narrow = next_random(state) % 2 == 0;
  made.axis = next_random(state) % rank;
  if (made.is_narrow) {
    made.starts[made.axis] = next_random(state) % (uint32_t)dims[made.axis];
    int64_t room = dims[made.axis] - made.starts[made.axis];
    made.len = 1 + next_random(state) % (uint32_t)room;
    return made;
  }
  for (uint32_t i = rank - 1; i > 0; --i) {
    uint32_t j = next_random(state) % (i + 1);
    uint32_t swap = made.perm[i];
    made.perm[i] = made.perm[j];
    made.perm[j] = swap;
  }
  return made;
}

static stow_node add_case(stow_graph* graph, const random_case* made) {
  stow_value x = STOW_VALUE_NONE;
  CHECK(stow_graph_input(graph, "x", &made->from, NULL, &x) == STOW_OK);
  stow_call* call = stow_graph_begin(graph, made->is_narrow ? STOW_OP_NARROW : STOW_OP_TRANSPOSE);
  stow_call_operand(call, x);
  if (made->is_narrow) {
    stow_call_attr_int(call, "axis", made->axis);
    stow_call_attr_int(call, "start", made->starts[made->axis]);
    stow_call_attr_int(call, "len", made->len);
  } else {
    int64_t perm[STOW_MAX_RANK];
    for (uint32_t i = 0; i < made->from.rank; ++i) {
      perm[i] = made->perm[i];
    }
    stow_call_attr_ints(call, "perm", perm, made->from.rank);
  }
  stow_node node = STOW_NODE_NONE;
  CHECK(stow_call_finish(call, NULL, &node) == STOW_OK);
  return node;
}

static void check_random_case(uint64_t* state) {
  random_case made = make_case(state);
  stow_graph* graph = NULL;
  REQUIRE(stow_graph_create(stow_str_of("g"), NULL, stow_allocator_default(), NULL, &graph) ==
          STOW_OK);
  stow_node node = add_case(graph, &made);
  const stow_type* to = stow_graph_type(graph, stow_graph_first_result(graph, node));
  uint64_t sources[MAX_ELEMENTS];
  walk(&made.from, to, made.perm, made.starts, sources);
  stow_view view;
  bool is_view = stow_graph_view(graph, node, 0, &view);
  bool could_be = is_run(sources, count_of(to));
  if (is_view) {
    CHECK(could_be);
    CHECK_U64(view.element_offset, sources[0]);
    CHECK(view.extended == !(made.is_narrow && made.axis == 0));
  } else if (!made.is_narrow) {
    CHECK(!could_be);  // a transpose that happens to be a run always is a view
  }
  stow_graph_destroy(graph);
}

TEST(ViewsAreRunsOfTheirOperand) {
  uint64_t state = 7;
  int cases = test_is_long() ? 200000 : 2000;
  for (int i = 0; i < cases; ++i) {
    check_random_case(&state);
  }
}
