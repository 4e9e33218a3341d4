// Ops for tests of known values: small rows with fold functions, registered by the test.
#ifndef STOWAGE_TESTS_GRAPH_KNOWN_OPS_H_
#define STOWAGE_TESTS_GRAPH_KNOWN_OPS_H_

#include "graph_support.h"

typedef struct known_ops {
  stow_ops* ops;
  stow_op shape;    // the operand's dims
  stow_op next;     // each element plus 1, of any dtype
  stow_op evens;    // the elements with an even index; the others stay unknown
  stow_op reshape;  // operand 0 with the dims that attribute `dims` or operand 1 gives
  stow_op find;     // i64[elements], upper-bounded
} known_ops;

static inline stow_status shape_of_shape(stow_shape_call* call) {
  stow_dim rank = stow_shape_operand(call, 0)->rank;
  stow_type type = stow_type_make(STOW_I64, 1, &rank);
  stow_shape_set_result(call, 0, &type);
  return STOW_OK;
}

static inline stow_status fold_shape(stow_shape_call* call) {
  const stow_type* type = stow_shape_operand(call, 0);
  for (uint32_t i = 0; i < type->rank; ++i) {
    stow_fold_set(call, 0, i, type->dims[i]);
  }
  return STOW_OK;
}

static inline stow_status shape_same(stow_shape_call* call) {
  stow_shape_set_result(call, 0, stow_shape_operand(call, 0));
  return STOW_OK;
}

static inline stow_status fold_next(stow_shape_call* call) {
  uint64_t count;
  (void)stow_type_elements(stow_shape_declared(call, 0), &count);
  for (size_t i = 0; i < count; ++i) {
    double number;
    if (stow_shape_known_float(call, 0, i, &number)) {
      stow_fold_set_float(call, 0, i, number + 1);
    }
    stow_dim dim = stow_shape_known(call, 0, i);
    stow_fold_set(call, 0, i, stow_dim_add(stow_shape_dims(call), dim, 1));
  }
  return STOW_OK;
}

static inline stow_status fold_evens(stow_shape_call* call) {
  for (size_t i = 0; i < STOW_MAX_KNOWN; i += 2) {
    stow_fold_set(call, 0, i, stow_shape_known(call, 0, i));
  }
  return STOW_OK;
}

static inline stow_status shape_reshape(stow_shape_call* call) {
  stow_dim dims[STOW_MAX_RANK];
  size_t count;
  stow_status status = stow_shape_list(call, "dims", 1, dims, STOW_MAX_RANK, &count);
  if (status != STOW_OK) {
    return status;
  }
  const stow_type* list = stow_shape_operand(call, 1);
  if (count == SIZE_MAX && (list == NULL || !stow_dim_is_const(list->dims[0]))) {
    return stow_shape_fail_unknown(call, "the rank is not known");
  }
  uint32_t rank = count == SIZE_MAX ? (uint32_t)list->dims[0] : (uint32_t)count;
  for (uint32_t i = 0; i < rank; ++i) {
    dims[i] = count == SIZE_MAX && dims[i] == STOW_DIM_INVALID ? stow_shape_data_dim(call, 0, i)
                                                               : dims[i];
  }
  stow_type type = stow_type_make(stow_shape_operand(call, 0)->dtype, rank, dims);
  stow_shape_set_result(call, 0, &type);
  return STOW_OK;
}

static inline stow_status shape_find(stow_shape_call* call) {
  stow_dim count = 1;
  const stow_type* type = stow_shape_operand(call, 0);
  for (uint32_t i = 0; i < type->rank; ++i) {
    count = stow_dim_mul(stow_shape_dims(call), count, type->dims[i]);
  }
  stow_type result = stow_type_make(STOW_I64, 1, &count);
  stow_shape_set_bounded(call, 0);
  stow_shape_set_result(call, 0, &result);
  return STOW_OK;
}

static inline stow_op register_op(stow_ops* ops, const char* name, size_t most,
                                  stow_status (*shape)(stow_shape_call*),
                                  stow_status (*fold)(stow_shape_call*)) {
  stow_op_desc desc;
  stow_op_desc_init(&desc);
  desc.name = name;
  desc.min_operands = 1;
  desc.max_operands = most;
  desc.shape = shape;
  desc.fold = fold;
  stow_op op = STOW_OP_NONE;
  CHECK(stow_ops_register(ops, &desc, NULL, &op) == STOW_OK);
  return op;
}

static inline known_ops make_known_ops(void) {
  known_ops k;
  CHECK(stow_ops_create(stow_allocator_default(), NULL, &k.ops) == STOW_OK);
  k.shape = register_op(k.ops, "t.shape", 1, shape_of_shape, fold_shape);
  k.next = register_op(k.ops, "t.next", 1, shape_same, fold_next);
  k.evens = register_op(k.ops, "t.evens", 1, shape_same, fold_evens);
  k.reshape = register_op(k.ops, "t.reshape", 2, shape_reshape, NULL);
  k.find = register_op(k.ops, "t.find", 1, shape_find, NULL);
  stow_attr dims = {.name = stow_str_of("dims"), .kind = STOW_ATTR_INTS};
  CHECK(stow_ops_add_attr(k.ops, k.reshape, &dims, false, NULL) == STOW_OK);
  return k;
}

// Returns NULL and fails the running test on error.
static inline stow_graph* make_known_graph(const known_ops* k) {
  stow_graph* graph = NULL;
  CHECK(stow_graph_create(stow_str_of("g"), k->ops, stow_allocator_default(), NULL, &graph) ==
        STOW_OK);
  return graph;
}

static inline stow_dim dim_named(stow_graph* graph, const char* name) {
  return stow_dim_symbol(stow_graph_edit_dims(graph), stow_str_of(name));
}

static inline stow_value add_ints(stow_graph* graph, stow_op op, const char* name, stow_dtype dtype,
                                  const int64_t* numbers, size_t count) {
  stow_type type = VECTOR(dtype, (stow_dim)count);
  stow_call* call = stow_graph_begin(graph, op);
  stow_call_name(call, 0, stow_str_of(name));
  stow_call_result_type(call, &type);
  stow_call_attr_ints(call, "data", numbers, count);
  stow_node node;
  return CHECK(stow_call_finish(call, NULL, &node) == STOW_OK)
             ? stow_graph_first_result(graph, node)
             : STOW_VALUE_NONE;
}

#endif  // STOWAGE_TESTS_GRAPH_KNOWN_OPS_H_
