// Matrices whose dims are expressions of two symbols, and what is done with them at random.
#include "random_range.h"

#include <stdio.h>
#include <stowage/graph.h>

#include "support/test.h"

typedef struct random_net {
  test_random* random;
  stow_graph* graph;
  stow_dims* dims;
  stow_dim shapes[6];
  stow_value values[64];
  size_t count;
} random_net;

static stow_value pick(const random_net* n) {
  return n->values[test_random_below(n->random, n->count)];
}

static stow_dim dim_of(const random_net* n, stow_value value, uint32_t axis) {
  return stow_graph_type(n->graph, value)->dims[axis];
}

// Adds what was begun, if it fits; it need not.
static void finish(random_net* n, stow_call* call) {
  stow_node node;
  if (stow_call_finish(call, NULL, &node) == STOW_OK) {
    for (size_t k = 0; k < stow_graph_result_count(n->graph, node) && n->count < 64; ++k) {
      n->values[n->count++] = stow_graph_first_result(n->graph, node) + (stow_value)k;
    }
  }
}

static void add_input(random_net* n, int index) {
  char name[16];
  snprintf(name, sizeof name, "x%d", index);
  stow_dim dims[] = {n->shapes[test_random_below(n->random, 6)],
                     n->shapes[test_random_below(n->random, 6)]};
  stow_type type =
      stow_type_make(test_random_below(n->random, 4) == 0 ? STOW_U8 : STOW_F32, 2, dims);
  CHECK(stow_graph_input(n->graph, name, &type, NULL, &n->values[n->count++]) == STOW_OK);
}

static void add_slice(random_net* n, stow_value x) {
  int64_t start = (int64_t)test_random_below(n->random, 5) - 3;
  int64_t end = (int64_t)test_random_below(n->random, 4) == 0 ? 3 : INT64_MAX;
  int64_t axis = 0;
  stow_call* call = stow_graph_begin(n->graph, STOW_OP_SLICE);
  stow_call_operand(call, x);
  stow_call_attr_ints(call, "starts", &start, 1);
  stow_call_attr_ints(call, "ends", &end, 1);
  stow_call_attr_ints(call, "axes", &axis, 1);
  finish(n, call);
}

static void add_concat(random_net* n, stow_value x) {
  stow_call* call = stow_graph_begin(n->graph, STOW_OP_CONCAT);
  stow_call_operand(call, x);
  for (size_t i = 0; i < n->count; ++i) {
    stow_value y = n->values[n->count - 1 - i];
    if (y != x && dim_of(n, y, 1) == dim_of(n, x, 1) && test_random_below(n->random, 3) != 0 &&
        stow_graph_type(n->graph, x)->dtype == stow_graph_type(n->graph, y)->dtype) {
      stow_call_operand(call, y);
    }
  }
  stow_call_attr_int(call, "axis", 0);
  finish(n, call);
}

static void add_split(random_net* n, stow_value x) {
  if (dim_of(n, x, 0) != n->shapes[2] && dim_of(n, x, 0) != 16) {
    return;  // it is not even at every point
  }
  stow_call* call = stow_graph_begin(n->graph, STOW_OP_SPLIT);
  stow_call_operand(call, x);
  stow_call_attr_int(call, "axis", 0);
  stow_call_result_count(call, 2);
  finish(n, call);
}

static void add_transpose(random_net* n, stow_value x) {
  int64_t perm[] = {1, 0};
  stow_call* call = stow_graph_begin(n->graph, STOW_OP_TRANSPOSE);
  stow_call_operand(call, x);
  stow_call_attr_ints(call, "perm", perm, 2);
  finish(n, call);
}

static void add_add(random_net* n, stow_value x) {
  for (size_t i = 0; i < n->count; ++i) {
    stow_value y = n->values[(x + i + 1) % n->count];
    if (stow_type_equal(stow_graph_type(n->graph, x), stow_graph_type(n->graph, y))) {
      stow_call* call = stow_graph_begin(n->graph, STOW_OP_ADD);
      stow_call_operand(call, x);
      stow_call_operand(call, y);
      finish(n, call);
      return;
    }
  }
}

static void add_node(random_net* n) {
  stow_value x = pick(n);
  switch (test_random_below(n->random, 7)) {
    case 0: add_slice(n, x); return;
    case 1: add_concat(n, x); return;
    case 2: add_split(n, x); return;
    case 3: add_transpose(n, x); return;
    case 4: add_add(n, x); return;
    default: {
      stow_call* call = stow_graph_begin(n->graph, STOW_OP_RELU);
      stow_call_operand(call, x);
      if (test_random_below(n->random, 5) == 0) {
        int64_t wanted[] = {(int64_t)(1 + test_random_below(n->random, 300)), 16};
        stow_attr scratch = stow_attr_named("scratch", STOW_ATTR_INTS);
        scratch.ints = wanted;
        scratch.count = 2;
        stow_call_with(call, &scratch);
      }
      finish(n, call);
    }
  }
}

stow_graph* random_range_graph(test_random* random, stow_dim_range of_s, stow_dim_range of_t,
                               stow_allocator allocator) {
  random_net n = {.random = random};
  CHECK(stow_graph_create(stow_str_of("random"), NULL, allocator, NULL, &n.graph) == STOW_OK);
  n.dims = stow_graph_edit_dims(n.graph);
  stow_dim s = stow_dim_symbol(n.dims, stow_str_of("s"));
  stow_dim t = stow_dim_symbol(n.dims, stow_str_of("t"));
  of_s.min += (int64_t)test_random_below(random, 3);
  CHECK(stow_dims_set_range(n.dims, 0, &of_s) == STOW_OK);
  CHECK(stow_dims_set_range(n.dims, 1, &of_t) == STOW_OK);
  n.shapes[0] = s;
  n.shapes[1] = t;
  n.shapes[2] = stow_dim_mul(n.dims, s, 2);
  n.shapes[3] = stow_dim_add(n.dims, s, t);
  n.shapes[4] = 16;
  n.shapes[5] = stow_dim_mul(n.dims, s, t);
  for (int i = 0; i < 3; ++i) {
    add_input(&n, i);
  }
  for (size_t i = 4 + test_random_below(random, 20); i > 0 && n.count < 60; --i) {
    add_node(&n);
  }
  for (size_t i = 0; i < 2; ++i) {
    CHECK(stow_graph_add_output(n.graph, n.values[n.count - 1 - test_random_below(random, 3)],
                                NULL) == STOW_OK);
  }
  return n.graph;
}
