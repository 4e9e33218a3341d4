// Shorthands for tests that build graphs. Those without a diagnostic parameter check that they
// succeed.
#ifndef STOWAGE_TESTS_GRAPH_GRAPH_SUPPORT_H_
#define STOWAGE_TESTS_GRAPH_GRAPH_SUPPORT_H_

#include <stowage/graph.h>
#include <string.h>

#include "support/fault.h"
#include "support/test.h"

// A type of up to 3 dims.
static inline stow_type type_of(stow_dtype dtype, uint32_t rank, stow_dim a, stow_dim b,
                                stow_dim c) {
  stow_dim dims[3] = {a, b, c};
  return stow_type_make(dtype, rank, dims);
}

#define SCALAR(dtype) type_of((dtype), 0, 0, 0, 0)
#define VECTOR(dtype, a) type_of((dtype), 1, (a), 0, 0)
#define MATRIX(dtype, a, b) type_of((dtype), 2, (a), (b), 0)
#define CUBE(dtype, a, b, c) type_of((dtype), 3, (a), (b), (c))

static inline stow_graph* make_graph(void) {
  stow_graph* graph = NULL;
  CHECK(stow_graph_create(stow_str_of("g"), NULL, stow_allocator_default(), NULL, &graph) ==
        STOW_OK);
  return graph;
}

static inline stow_value add_input(stow_graph* graph, const char* name, stow_type type) {
  stow_value value;
  stow_diag diag;
  stow_diag_init(&diag);
  CHECK(stow_graph_input(graph, name, &type, &diag, &value) == STOW_OK);
  CHECK_TEXT(diag.message, "");
  return value;
}

static inline stow_value add_param(stow_graph* graph, const char* name, stow_type type) {
  stow_value value;
  CHECK(stow_graph_param(graph, name, &type, NULL, &value) == STOW_OK);
  return value;
}

static inline stow_value add_unary(stow_graph* graph, stow_op op, stow_value operand) {
  stow_value value;
  stow_diag diag;
  stow_diag_init(&diag);
  CHECK(stow_graph_add(graph, op, &operand, 1, &diag, &value) == STOW_OK);
  CHECK_TEXT(diag.message, "");
  return value;
}

static inline stow_value add_binary(stow_graph* graph, stow_op op, stow_value a, stow_value b) {
  stow_value value;
  stow_value operands[2] = {a, b};
  stow_diag diag;
  stow_diag_init(&diag);
  CHECK(stow_graph_add(graph, op, operands, 2, &diag, &value) == STOW_OK);
  CHECK_TEXT(diag.message, "");
  return value;
}

static inline stow_value add_reshape(stow_graph* graph, stow_value operand, stow_type type) {
  stow_call* call = stow_graph_begin(graph, STOW_OP_RESHAPE);
  stow_call_operand(call, operand);
  stow_call_result_type(call, &type);
  stow_node node;
  CHECK(stow_call_finish(call, NULL, &node) == STOW_OK);
  return stow_graph_first_result(graph, node);
}

static inline stow_value add_kv_append(stow_graph* graph, stow_value cache, stow_value rows) {
  stow_call* call = stow_graph_begin(graph, STOW_OP_KV_APPEND);
  stow_call_operand(call, cache);
  stow_call_operand(call, rows);
  stow_call_attr_int(call, "axis", 0);
  stow_node node;
  stow_diag diag;
  stow_diag_init(&diag);
  CHECK(stow_call_finish(call, &diag, &node) == STOW_OK);
  CHECK_TEXT(diag.message, "");
  return stow_graph_first_result(graph, node);
}

static inline void begin_region(stow_graph* graph) {
  CHECK(stow_graph_begin_region(graph, NULL) == STOW_OK);
}

static inline void end_region(stow_graph* graph, size_t count, stow_value a, stow_value b) {
  stow_value yields[2] = {a, b};
  stow_diag diag;
  stow_diag_init(&diag);
  CHECK(stow_graph_end_region(graph, yields, count, &diag) == STOW_OK);
  CHECK_TEXT(diag.message, "");
}

// Finishes and checks status and a part of the message.
#define CHECK_REFUSED(call, expected_status, part)                               \
  do {                                                                           \
    stow_diag refused_diag;                                                      \
    stow_diag_init(&refused_diag);                                               \
    CHECK_U64(stow_call_finish((call), &refused_diag, NULL), (expected_status)); \
    CHECK_HAS(refused_diag.message, (part));                                     \
  } while (0)

#endif  // STOWAGE_TESTS_GRAPH_GRAPH_SUPPORT_H_
