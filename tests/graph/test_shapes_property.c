// Property tests of shapes: windows counted one by one, broadcasting by its definition, and the
// promise that inferring with symbols and then binding gives what inferring with numbers gives.
#include <stowage/graph.h>
#include <string.h>

#include "support/test.h"

static uint32_t next_random(uint64_t* state) {
  *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (uint32_t)(*state >> 33);
}

static uint32_t below(uint64_t* state, uint32_t limit) { return next_random(state) % limit; }

static stow_graph* new_graph(void) {
  stow_graph* graph = NULL;
  CHECK(stow_graph_create(stow_str_of("g"), NULL, stow_allocator_default(), NULL, &graph) ==
        STOW_OK);
  return graph;
}

// ---------------------------------------------------------------------------------------------
// Windows

typedef struct window_case {
  int64_t in, kernel, stride, begin, end, dilation;
  bool ceil_mode;
} window_case;

static window_case make_window(uint64_t* state) {
  window_case made = {.in = 1 + below(state, 12),
                      .kernel = 1 + below(state, 4),
                      .stride = 1 + below(state, 4),
                      .begin = below(state, 3),
                      .end = below(state, 3),
                      .dilation = 1 + below(state, 3),
                      .ceil_mode = below(state, 2) == 1};
  return made;
}

// Tries every start. -1 where not even one window fits.
static int64_t count_windows(const window_case* w) {
  int64_t covered = (w->kernel - 1) * w->dilation + 1;
  int64_t padded = w->begin + w->in + w->end;
  if (covered > padded + (w->ceil_mode ? w->stride - 1 : 0)) {
    return -1;
  }
  int64_t count = 0;
  for (int64_t start = 0; start < padded; start += w->stride) {
    bool is_inside = start + covered <= padded;
    // One that hangs over does so by less than a stride, and begins within data or first pad.
    bool hangs = w->ceil_mode && start < w->begin + w->in && start - w->stride + covered < padded;
    bool counts = w->ceil_mode ? (is_inside ? start < w->begin + w->in : hangs) : is_inside;
    count += counts;
  }
  return count;
}

// A pool over [1, 1, in], whose last dim is |in|.
static stow_status add_pool(stow_graph* graph, const window_case* w, stow_dim in,
                            stow_value* out_value) {
  stow_dim dims[] = {1, 1, in};
  stow_type type = stow_type_make(STOW_F32, 3, dims);
  stow_value x = STOW_VALUE_NONE;
  CHECK(stow_graph_input(graph, "x", &type, NULL, &x) == STOW_OK);
  stow_call* call = stow_graph_begin(graph, STOW_OP_POOL);
  stow_call_operand(call, x);
  int64_t pads[] = {w->begin, w->end};
  stow_call_attr_ints(call, "kernel", &w->kernel, 1);
  stow_call_attr_ints(call, "strides", &w->stride, 1);
  stow_call_attr_ints(call, "dilations", &w->dilation, 1);
  stow_call_attr_ints(call, "pads", pads, 2);
  stow_call_attr_bool(call, "ceil_mode", w->ceil_mode);
  stow_node node = STOW_NODE_NONE;
  stow_status status = stow_call_finish(call, NULL, &node);
  *out_value = status == STOW_OK ? stow_graph_first_result(graph, node) : STOW_VALUE_NONE;
  return status;
}

static void check_window(uint64_t* state) {
  window_case made = make_window(state);
  int64_t expected = count_windows(&made);
  stow_graph* numbers = new_graph();
  stow_graph* symbols = new_graph();
  stow_value value;
  stow_status status = add_pool(numbers, &made, made.in, &value);
  CHECK(status == (expected < 0 ? STOW_ERR_TYPE : STOW_OK));
  if (status == STOW_OK) {
    CHECK_U64(stow_graph_type(numbers, value)->dims[2], expected);
  }
  stow_str name = stow_str_of("s");
  stow_dim s = stow_dim_symbol(stow_graph_edit_dims(symbols), name);
  CHECK(add_pool(symbols, &made, s, &value) == STOW_OK);
  status = stow_graph_bind(symbols, &name, &made.in, 1, NULL);
  CHECK(status == (expected < 0 ? STOW_ERR_TYPE : STOW_OK));
  if (status == STOW_OK) {
    CHECK_U64(stow_graph_type(symbols, value)->dims[2], expected);
  }
  stow_graph_destroy(numbers);
  stow_graph_destroy(symbols);
}

TEST(WindowCountsMatchTheDefinitionForNumbersAndSymbols) {
  uint64_t state = 11;
  int cases = test_is_long() ? 100000 : 1500;
  for (int i = 0; i < cases; ++i) {
    check_window(&state);
  }
}

// ---------------------------------------------------------------------------------------------
// Broadcasting

static stow_type random_type(uint64_t* state) {
  stow_dim dims[4];
  uint32_t rank = below(state, 5);
  for (uint32_t i = 0; i < rank; ++i) {
    dims[i] = below(state, 3) == 0 ? 1 : below(state, 3) + 1;
  }
  return stow_type_make(STOW_F32, rank, dims);
}

static stow_dim from_end(const stow_type* type, uint32_t i) {
  return i < type->rank ? type->dims[type->rank - 1 - i] : 1;
}

// A dim of the result is what both give, with 1 giving way; all must agree.
static bool broadcast(const stow_type* a, const stow_type* b, stow_type* out) {
  *out = stow_type_make(STOW_F32, 0, NULL);
  out->rank = a->rank > b->rank ? a->rank : b->rank;
  for (uint32_t i = 0; i < out->rank; ++i) {
    stow_dim x = from_end(a, i);
    stow_dim y = from_end(b, i);
    if (x != 1 && y != 1 && x != y) {
      return false;
    }
    out->dims[out->rank - 1 - i] = x == 1 ? y : x;
  }
  return true;
}

static void check_broadcast(uint64_t* state) {
  stow_type a = random_type(state);
  stow_type b = random_type(state);
  stow_type expected;
  bool fits = broadcast(&a, &b, &expected);
  stow_graph* graph = new_graph();
  stow_value operands[2];
  CHECK(stow_graph_input(graph, "a", &a, NULL, &operands[0]) == STOW_OK);
  CHECK(stow_graph_input(graph, "b", &b, NULL, &operands[1]) == STOW_OK);
  stow_value sum = STOW_VALUE_NONE;
  stow_status status = stow_graph_add(graph, STOW_OP_ADD, operands, 2, NULL, &sum);
  CHECK(status == (fits ? STOW_OK : STOW_ERR_TYPE));
  if (status == STOW_OK) {
    CHECK(stow_type_equal(stow_graph_type(graph, sum), &expected));
  }
  stow_graph_destroy(graph);
}

TEST(BroadcastingMatchesTheDefinition) {
  uint64_t state = 13;
  int cases = test_is_long() ? 200000 : 3000;
  for (int i = 0; i < cases; ++i) {
    check_broadcast(&state);
  }
}
